"""From cleaned records to the OD matrix: one streaming pass, bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.arrays import Bools, Ints
from tripcloak.errors import EmptyInputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.hierarchy.tiling import OUTSIDE, Tiling
from tripcloak.matrix import Flows, Numbering, ODMatrix, Points, PointSource, flows_from_trips
from tripcloak.trips.canonical import Canonical
from tripcloak.trips.cleaning import DUPLICATE, OUTSIDE_TILING, CleaningReport
from tripcloak.trips.duplicates import find_duplicates
from tripcloak.trips.spool import Spool

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

BATCH = 1 << 18
DEGREE = 1e7
"""Raw coordinates wait as integers of 1e-7 degree: about a centimetre, half the room of a double."""

END_COLUMNS = ("o_lat", "o_lon", "d_lat", "d_lon")


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedTrips:
    """The matrix of an input, and what became of its rows."""

    matrix: ODMatrix
    cleaning: CleaningReport
    canonical: Canonical


def code_trips(
    con: duckdb.DuckDBPyConnection,
    canonical: Canonical,
    tiling: Tiling,
    *,
    memory: int = 2 << 30,
    folder: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> CodedTrips:
    """Return the OD matrix of the records behind the view ``canonical``.

    Parameters
    ----------
    con
        The connection that holds the view.
    tiling
        How places become tiles.
    memory
        Bytes the growing columns may hold before they move to ``folder``.
    progress
        Called with the number of rows read so far.
    """
    coder = _Coder(canonical, tiling, Spool(_columns(canonical), memory=memory // 4, folder=folder))
    relation = con.sql(f"select {', '.join(_selected(canonical))} from canonical")
    for batch in relation.to_arrow_reader(BATCH):
        coder.add(batch)
        if progress is not None:
            progress(int(coder.rows_by_reason.sum()))
    return coder.finish(memory)


def _columns(canonical: Canonical) -> dict[str, Any]:
    """Return the columns kept per trip, and their types."""
    columns: dict[str, Any] = {"origin": np.int32, "destination": np.int32}
    if canonical.endpoints == "points":
        columns |= dict.fromkeys(END_COLUMNS, np.int32)
    if canonical.has_person:
        columns["person"] = np.int32
    if canonical.has_weight:
        columns["weight"] = np.float64
    if canonical.has_trips:
        columns["trips"] = np.int64
    if canonical.has_mark:
        columns["mark"] = np.uint64
    return columns


def _selected(canonical: Canonical) -> list[str]:
    """Return the SQL columns the pass needs.

    A person becomes a 64-bit hash here: should two ever collide they count as one, which can only
    make a group look smaller than it is.
    """
    names = ["reason", *(END_COLUMNS if canonical.endpoints == "points" else ("o_id", "d_id"))]
    if canonical.has_person:
        names += ["hash(person) as person", "person is null as nobody"]
    names += [name for name in ("weight", "trips", "mark") if name in _columns(canonical)]
    return names


class _Coder:
    """Takes batches of the canonical view and ends as a matrix."""

    def __init__(self, canonical: Canonical, tiling: Tiling, spool: Spool) -> None:
        self.canonical = canonical
        self.tiling = tiling
        self.spool = spool
        self.origins, self.destinations, self.people = Numbering(), Numbering(), Numbering()
        self.rows_by_reason = np.zeros(256, dtype=np.int64)

    def add(self, batch: pa.RecordBatch) -> None:
        """Clean, code and keep one batch."""
        reason = batch.column("reason").to_numpy(zero_copy_only=False)
        self.rows_by_reason += np.bincount(reason, minlength=256)
        kept = reason == 0
        if not kept.all():
            batch = batch.filter(kept)
        origin, destination = self._tile_keys(batch)
        inside = (origin != OUTSIDE) & (destination != OUTSIDE)
        if not inside.all():
            self.rows_by_reason[OUTSIDE_TILING] += np.count_nonzero(~inside)
            self.rows_by_reason[0] -= np.count_nonzero(~inside)
            batch, origin, destination = batch.filter(inside), origin[inside], destination[inside]
        rows = {"origin": self.origins.add(origin), "destination": self.destinations.add(destination)}
        for name in END_COLUMNS if self.canonical.endpoints == "points" else ():
            rows[name] = np.rint(_numpy(batch, name) * DEGREE)
        if self.canonical.has_person:
            person = self.people.add(_numpy(batch, "person"))
            rows["person"] = np.where(_numpy(batch, "nobody"), np.int32(-1), person)
        for name in ("weight", "trips", "mark"):
            if name in self.spool:
                rows[name] = _numpy(batch, name)
        self.spool.append(**rows)

    def finish(self, memory: int) -> CodedTrips:
        """Return the matrix of everything added."""
        duplicate = None
        if self.canonical.has_mark and len(self.spool):
            duplicate = find_duplicates(self.spool, memory=memory)
            repeats = int(np.count_nonzero(duplicate))
            self.rows_by_reason[DUPLICATE] += repeats
            self.rows_by_reason[0] -= repeats
        cleaning = CleaningReport.from_rows(self.rows_by_reason, self.canonical)
        if self.rows_by_reason[0] <= 0:
            raise EmptyInputError(cleaning.why_empty())
        origins, origin_tile = self._tree(self.origins)
        destinations, destination_tile = self._tree(self.destinations)
        rows = _Rows(self.spool, origin_tile, destination_tile, duplicate)
        matrix = ODMatrix(
            origins=origins,
            destinations=destinations,
            flows=rows.flows(memory),
            each_trip_is_a_person=self.canonical.people_once,
            points=rows.points() if self.canonical.endpoints == "points" else None,
        )
        return CodedTrips(matrix=matrix, cleaning=cleaning, canonical=self.canonical)

    def _tile_keys(self, batch: pa.RecordBatch) -> tuple[Ints, Ints]:
        if self.canonical.endpoints == "points":
            o_lat, o_lon, d_lat, d_lon = (_numpy(batch, name) for name in END_COLUMNS)
            return self.tiling.encode(o_lat, o_lon), self.tiling.encode(d_lat, d_lon)
        return self._id_keys(batch.column("o_id")), self._id_keys(batch.column("d_id"))

    def _id_keys(self, ids: Any) -> Ints:
        coded = ids.dictionary_encode()
        keys = self.tiling.keys(coded.dictionary.to_pylist())
        return keys[coded.indices.to_numpy(zero_copy_only=False)]

    def _tree(self, numbering: Numbering) -> tuple[Hierarchy, Ints]:
        """Return one axis' hierarchy, and the tile of every number."""
        keys = numbering.keys
        hierarchy = self.tiling.hierarchy(np.sort(keys))
        return hierarchy, self.tiling.tiles(keys, hierarchy).astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The spooled trips, with the tile of every number and the rows to leave out."""

    spool: Spool
    origin_tile: Ints
    destination_tile: Ints
    duplicate: Bools | None

    def flows(self, memory: int) -> Flows:
        """Return the flows, origin range by origin range so that each sort fits the memory."""
        # About what sorting needs per row: codes, key, order, and the sorted copies.
        passes = 1 + (len(self.spool) * 96) // max(memory, 1)
        if passes == 1:
            return self._range(None)
        sizes = np.zeros(len(self.origin_tile), dtype=np.int64)
        for (origin,) in self.spool.chunks("origin"):
            sizes += np.bincount(self.origin_tile[origin], minlength=len(sizes))
        share = np.cumsum(sizes) * passes // (len(self.spool) + 1)
        parts = [self._range(share == number) for number in range(passes) if (share == number).any()]
        return Flows.join(parts)

    def _range(self, wanted: Bools | None) -> Flows:
        names = ["origin", "destination", *(n for n in ("person", "weight", "trips") if n in self.spool)]
        parts: dict[str, list[Ints]] = {name: [] for name in names}
        for start, columns in self._chunks(names):
            columns["origin"] = self.origin_tile[columns["origin"]]
            columns["destination"] = self.destination_tile[columns["destination"]]
            stay = self._stay(start, len(columns["origin"]))
            if wanted is not None:
                inside = wanted[columns["origin"]]
                stay = inside if stay is None else stay & inside
            for name, column in columns.items():
                parts[name].append(column if stay is None else column[stay])
        joined = {name: np.concatenate(parts.pop(name)) for name in names}
        return flows_from_trips(joined.pop("origin"), joined.pop("destination"), **joined)

    def points(self) -> PointSource:
        """Return a source of the raw ends of all trips."""
        weighted = "weight" in self.spool
        names = ["origin", "destination", *END_COLUMNS, *(["weight"] if weighted else [])]

        def chunks() -> Iterator[Points]:
            for start, columns in self._chunks(names):
                stay = self._stay(start, len(columns["origin"]))
                kept = columns if stay is None else {name: column[stay] for name, column in columns.items()}
                yield Points(
                    self.origin_tile[kept["origin"]],
                    self.destination_tile[kept["destination"]],
                    *(kept[name] / DEGREE for name in END_COLUMNS),
                    kept["weight"] if weighted else None,
                )

        return chunks

    def _chunks(self, names: list[str]) -> Iterator[tuple[int, dict[str, Ints]]]:
        start = 0
        for columns in self.spool.chunks(*names):
            yield start, dict(zip(names, columns, strict=True))
            start += len(columns[0])

    def _stay(self, start: int, rows: int) -> Bools | None:
        return None if self.duplicate is None else ~self.duplicate[start : start + rows]


def _numpy(batch: pa.RecordBatch, name: str) -> Any:
    return batch.column(name).to_numpy(zero_copy_only=False)
