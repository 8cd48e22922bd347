"""The coded trips that wait in a spool, and the flows, points and records that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.engines.spool import Spool
from tripcloak.flows.model import (
    NOBODY,
    Flows,
    FlowsKept,
    KeyedRecords,
    ODMatrix,
    TripEnds,
    TripEndSource,
    WeightsSeen,
    flows_from_trips,
    gather_flows,
)
from tripcloak.flows.reading.keyed import RecordDigests
from tripcloak.ground.arrays import Bools, Ints

DEGREE = 1e7
"""Raw coordinates wait as integers of 1e-7 degree: about a centimetre, half the room of a double."""

SAMPLED = 1 << 18
"""Rows looked at to part them evenly."""

NOT_KNOWN = -1
"""Stands for the flow of a row of which it is not told."""

END_COLUMNS = ("o_lat", "o_lon", "d_lat", "d_lon")


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The spooled trips, with the tile of every number, the rows to leave out, and the slots in order."""

    spool: Spool
    origin_tile: Ints
    destination_tile: Ints
    duplicate: Bools | None
    slots: Ints | None

    def flows(
        self,
        memory: int,
        wanted: tuple[bool, bool],
        kept: FlowsKept | None = None,
        folder: Path | None = None,
        flow_of: Ints | None = None,
    ) -> Flows:
        """Return the flows, one range of origins after the other so that each sort fits the memory.

        Parameters
        ----------
        memory
            Bytes that making the flows of one range may take.
        wanted
            Whether to keep how many trips each traveller makes in each flow, and the population.
        kept
            Where the flows go, range by range; all into memory by default.
        folder
            Where rows wait for their range, if they do not fit in memory.
        flow_of
            An array for the flow of every row that stays; left as it is where they are made in ranges.
        """
        # About what sorting takes per row at its peak, measured: codes, key, order, and the sorted copies.
        each = 130 + 40 * ((wanted[0] and "trips" in self.spool) + wanted[1])
        parts = 1 + (len(self.spool) * each) // max(memory, 1)
        rows = [self._tiles()] if parts == 1 else self._parted(parts, memory, folder)
        found = (self._made(chunks, wanted, flow_of if parts == 1 else None) for chunks in rows)
        return Flows.join(list(found)) if kept is None else gather_flows(found, kept)

    @property
    def _names(self) -> list[str]:
        return [
            "origin",
            "destination",
            *(n for n in ("slot", "person", "weight", "trips") if n in self.spool),
        ]

    def _tiles(self, *only: str) -> Iterator[list[Ints]]:
        """Yield the rows that stay, with tiles in place of numbers; origin and destination first."""
        names = list(only) or self._names
        for start, columns in self._chunks(names):
            columns["origin"] = self.origin_tile[columns["origin"]]
            columns["destination"] = self.destination_tile[columns["destination"]]
            if "slot" in columns:
                columns["slot"] = self._slot_tiles(columns["slot"])
            stay = self._stay(start, len(columns["origin"]))
            yield [columns[name] if stay is None else columns[name][stay] for name in names]

    def _parted(self, parts: int, memory: int, folder: Path | None) -> Iterator[Iterator[list[Ints]]]:
        """Yield the rows that stay in at most so many parts of about one size, ranges of pairs of tiles."""
        edges = self._edges(parts)
        kinds = {name: self.spool.dtype(name) for name in self._names} | {"origin": np.int32}
        kinds |= {} if self.slots is None else {"slot": np.int32}
        made = [Spool(kinds, memory=memory // (4 * parts), folder=folder) for _ in range(len(edges) + 1)]
        for columns in self._tiles():
            of_row = np.searchsorted(edges, _pairs(*columns[:2]), side="right").astype(np.uint16)
            order = np.argsort(of_row, kind="stable")
            ends = np.searchsorted(of_row[order], np.arange(len(made) + 1))
            for number, part in enumerate(made):
                rows = order[ends[number] : ends[number + 1]]
                part.append(**{name: c[rows] for name, c in zip(self._names, columns, strict=True)})
        while made:
            part = made.pop(0)
            if len(part):
                yield part.chunks(*part.names)
            part.close()

    def _edges(self, parts: int) -> Ints:
        """Return pairs of tiles that part the rows about evenly; a pair is never parted."""
        step = 1 + len(self.spool) // SAMPLED
        ends = self._tiles("origin", "destination")
        sample = np.sort(np.concatenate([_pairs(o[::step], d[::step]) for o, d in ends]))
        return np.unique(sample[np.arange(1, parts) * len(sample) // parts])

    def _made(self, chunks: Iterable[list[Ints]], wanted: tuple[bool, bool], flow_of: Ints | None) -> Flows:
        """Return the flows of rows."""
        parts: list[list[Ints]] = [[] for _ in self._names]
        for columns in chunks:
            for gathered, column in zip(parts, columns, strict=True):
                gathered.append(column)
        joined = {name: np.concatenate(parts.pop(0)) for name in self._names}
        ends = joined.pop("origin"), joined.pop("destination")
        return flows_from_trips(*ends, repeats=wanted[0], weights=wanted[1], flow_of=flow_of, **joined)

    def weights(self, people: int) -> WeightsSeen | None:
        """Return the weights of all people, given how many numbers they have; None without weights."""
        if "weight" not in self.spool:
            return None
        seen = WeightsSeen(people)
        for weight, *person in self.spool.chunks(*(n for n in ("weight", "person") if n in self.spool)):
            seen.add(person[0] if person else np.full(len(weight), NOBODY), weight)
        return seen

    def room_for_flows(self) -> Ints:
        """Return an array for the flow of every row that stays, of which none is known yet."""
        gone = 0 if self.duplicate is None else int(np.count_nonzero(self.duplicate))
        return np.full(len(self.spool) - gone, NOT_KNOWN, dtype=np.int32)

    def records(self, matrix: ODMatrix, digests: RecordDigests, flow_of: Ints | None = None) -> KeyedRecords:
        """Return the records behind the matrix.

        Parameters
        ----------
        flow_of
            The flow of every row that stays, if :meth:`flows` told it; else it is looked up.
        """
        joined = {name: self._staying(name) for name in ("record", "person", "trips") if name in self.spool}
        flow = self._found(matrix) if flow_of is None or NOT_KNOWN in flow_of[:1] else flow_of
        return digests.numbered(
            joined.pop("record"), flow, number=joined.get("person"), trips=joined.get("trips")
        )

    def _staying(self, name: str) -> Ints:
        """Return one column of the rows that stay."""
        column = self.spool.column(name)
        return column if self.duplicate is None else column[~self.duplicate]

    def _found(self, matrix: ODMatrix) -> Ints:
        """Return the flow of every row that stays, found in the matrix."""
        parts = []
        for start, columns in self._chunks([n for n in ("origin", "destination", "slot") if n in self.spool]):
            ends = self.origin_tile[columns["origin"]], self.destination_tile[columns["destination"]]
            slot = None if self.slots is None else self._slot_tiles(columns["slot"])
            stay = self._stay(start, len(columns["origin"]))
            flow = matrix.find(*ends, slot).astype(np.int32)
            parts.append(flow if stay is None else flow[stay])
        return np.concatenate(parts)

    def points(self) -> TripEndSource:
        """Return a source of the raw ends of all trips."""
        extra = [name for name in ("weight", "slot") if name in self.spool]
        names = ["origin", "destination", *END_COLUMNS, *extra]

        def chunks() -> Iterator[TripEnds]:
            for start, columns in self._chunks(names):
                stay = self._stay(start, len(columns["origin"]))
                kept = columns if stay is None else {name: column[stay] for name, column in columns.items()}
                row: list[Any] = [
                    self.origin_tile[kept["origin"]],
                    self.destination_tile[kept["destination"]],
                    *(kept[name] / DEGREE for name in END_COLUMNS),
                    kept.get("weight"),
                    self._slot_tiles(kept["slot"]) if "slot" in kept else None,
                ]
                yield TripEnds(*row)

        return chunks

    def _slot_tiles(self, slot: Ints) -> Ints:
        assert self.slots is not None
        return np.searchsorted(self.slots, slot).astype(np.int32)

    def _chunks(self, names: list[str]) -> Iterator[tuple[int, dict[str, Ints]]]:
        start = 0
        for columns in self.spool.chunks(*names):
            yield start, dict(zip(names, columns, strict=True))
            start += len(columns[0])

    def _stay(self, start: int, rows: int) -> Bools | None:
        return None if self.duplicate is None else ~self.duplicate[start : start + rows]


def _pairs(origin: Ints, destination: Ints) -> Ints:
    """Return numbers that sort as pairs of tiles do."""
    return (origin.astype(np.int64) << 32) | destination


def occurring_slots(spool: Spool) -> Ints:
    """Return the slots that occur, ascending: the order of the tiles of a hierarchy of time."""
    parts = [np.unique(slot) for (slot,) in spool.chunks("slot")]
    return np.unique(np.concatenate(parts))
