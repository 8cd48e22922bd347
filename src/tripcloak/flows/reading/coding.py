"""From cleaned records to the OD matrix: one streaming pass, bounded memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tripcloak.engines.choice import ROWS, Engine
from tripcloak.engines.spool import Spool
from tripcloak.engines.work import Stage
from tripcloak.flows.model import (
    NOBODY,
    FlowParts,
    Flows,
    FlowsInBlocks,
    KeyedRecords,
    Numbering,
    ODMatrix,
    PlaceCounts,
    WeightsSeen,
    WeightsTold,
    kept_flows,
    represented_by,
)
from tripcloak.flows.model.kept import KeptZones
from tripcloak.flows.reading.coded_rows import DEGREE, END_COLUMNS, CodedRows, occurring_slots
from tripcloak.flows.reading.keyed import UNTIMED, RecordDigests, point_words
from tripcloak.flows.reading.reach import clock_sql
from tripcloak.flows.reading.repeats import REPEATED, find_repeated, note_on_people, uneven_people
from tripcloak.flows.reading.tallies import PlacesSeen, Tally
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import EmptyInputError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.memory import Budget
from tripcloak.hierarchy import Hierarchy, Slots
from tripcloak.hierarchy.holding import keys_within
from tripcloak.hierarchy.tiling import OUTSIDE, Tiling
from tripcloak.hierarchy.time import DAY, Days
from tripcloak.records.cleaning import (
    MISSING_START,
    OUTSIDE_PERIOD,
    OUTSIDE_TILING,
    CleaningReport,
)
from tripcloak.records.period import Period, look_at_times
from tripcloak.records.trips import Canonical
from tripcloak.records.whereabouts import Whereabouts, look_at_places

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

BATCH = 1 << 18
USUAL_ENGINE = Engine(None, Budget(3 << 30))
SOME = 1 << 12
"""Start times that are looked at in a batch."""
MINUTE = 60_000_000
"""Microseconds."""

PLACE_COLUMNS = ("o_place", "d_place")


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedTrips:
    """The matrix of an input, and what became of its rows."""

    matrix: ODMatrix
    cleaning: CleaningReport
    canonical: Canonical
    notes: tuple[str, ...] = ()
    """What a reader should know about how the input was read, and about the weights in it."""
    where: Whereabouts | None = None
    when: Period | None = None
    records: KeyedRecords | None = None
    """The records behind the matrix, where a key was given to know them by."""
    segments: tuple[ODMatrix, ...] = ()
    """Those of segments that were counted in the same pass, with the tiles of the whole."""

    def __repr__(self) -> str:
        return f"<CodedTrips: {mask_small(self.cleaning.kept, self.cleaning.word)}>"


def code_trips(
    con: duckdb.DuckDBPyConnection,
    canonical: Canonical,
    tiling: Tiling,
    *,
    repeats: bool = False,
    weights: bool = False,
    engine: Engine = USUAL_ENGINE,
    kept: KeptZones | None = None,
    **how: Any,
) -> CodedTrips:
    """Return the OD matrix of the records behind the view ``canonical``; see :func:`gather_trips`.

    Parameters
    ----------
    repeats
        Whether to keep how many trips each traveller makes in each flow.
    weights
        Whether to keep how much population each traveller stands for in each flow.
    kept
        Zones that the hierarchies must have, whatever occurs.
    """
    gathered = gather_trips(con, canonical, tiling, engine=engine, **how)
    return gathered.finish(engine, (repeats, weights), kept)


def gather_trips(
    con: duckdb.DuckDBPyConnection,
    canonical: Canonical,
    tiling: Tiling,
    *,
    slots: Slots | None = None,
    outside: int = OUTSIDE_TILING,
    keyed: bytes | None = None,
    engine: Engine = USUAL_ENGINE,
    progress: Callable[[int], None] | None = None,
) -> GatheredTrips:
    """Return the records behind the view ``canonical`` in codes; the connection is not needed after that.

    Parameters
    ----------
    con
        The connection that holds the view.
    tiling
        How places become tiles.
    slots
        Slots of time, where it is an axis. They follow the clock of the data's time zone: where the clock
        is put back, the repeated hour shares its slots. Trips outside their period are dropped.
    outside
        The reason under which trips with an end in no tile are counted.
    keyed
        The key by which every record is known again; without one, records are not kept.
    engine
        Where flows are counted, and how much memory that may take.
    progress
        Called with the number of rows read so far.
    """
    columns = row_columns(canonical) | ({} if slots is None else {"slot": np.int64})
    columns |= {} if keyed is None else {"record": np.uint64}
    stage = engine.stage(ROWS)
    gathered = GatheredTrips(canonical, tiling, _spool(columns, engine, stage), slots, outside)
    gathered.digests = None if keyed is None else RecordDigests(keyed)
    # Their text, and not the engine's hash of it, which another version of the engine may take otherwise.
    who = [] if keyed is None or not canonical.has_person else ["person::varchar as who"]
    if stage is not None and stage.is_done:
        gathered.take_up(stage.facts(), stage.arrays())
        gathered.clean(engine.budget.arrays)
        return gathered
    for batch in con.sql(
        f"select {', '.join(selected_columns(canonical, slots) + who)} from canonical"
    ).to_arrow_reader(BATCH):
        gathered.add(batch)
        if progress is not None:
            progress(gathered.tally.total)
    gathered.uneven = uneven_people(canonical)
    if stage is not None and engine.for_rows(len(gathered.spool)) == "parts":
        gathered.spool.flush()
        stage.finish(*gathered.state())
    gathered.clean(engine.budget.arrays)
    return gathered


def _spool(columns: dict[str, Any], engine: Engine, stage: Stage | None) -> Spool:
    """Return where rows wait: in a stage of the run, where there is one, with those that it has already."""
    memory = engine.budget.arrays // 4
    if stage is None:
        return Spool(columns, memory=memory, folder=engine.folder)
    if stage.is_done:
        return Spool.reopened(columns, stage.folder, stage.facts()["rows"])
    stage.begin()
    return Spool(columns, memory=memory, kept=stage.folder)


def row_columns(canonical: Canonical) -> dict[str, Any]:
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
    if "refund" in canonical.names:
        columns["refund"] = np.bool_
    if canonical.has_file:
        columns["file"] = np.int32
    return columns


def selected_columns(canonical: Canonical, slots: Slots | None) -> list[str]:
    """Return the SQL columns the pass needs.

    A person becomes a 64-bit hash here: should two ever collide they count as one, which can only
    make a group look smaller than it is. The same goes for places.
    """
    names = ["reason", *(END_COLUMNS if canonical.endpoints == "points" else ("o_id", "d_id"))]
    if canonical.has_person:
        names += ["hash(person) as person", "person is null as nobody"]
    if canonical.has_places:
        names += [f"hash({end}) as {end}, {end} is null as {end}_unknown" for end in PLACE_COLUMNS]
    if canonical.has_start:
        names.append(f"coalesce(epoch_us(start_time), {UNTIMED}) as began")
    names += [
        name for name in ("weight", "trips", "mark", "refund", "file") if name in row_columns(canonical)
    ]
    names += [] if slots is None else [f"{clock_sql(canonical.timezone or 'UTC')} as clock"]
    return names


class NumberedTree(NamedTuple):
    """The hierarchy of one axis, and the tile of every number that places were given while they were read."""

    tree: Hierarchy
    tiles: Ints


class GatheredTrips:
    """Takes batches of the canonical view and ends as a matrix."""

    def __init__(
        self, canonical: Canonical, tiling: Tiling, spool: Spool, slots: Slots | None, outside: int
    ) -> None:
        self.canonical = canonical
        self.outside = outside
        self.tiling = tiling
        self.spool = spool
        self.slots = slots
        self.origins, self.destinations, self.people = Numbering(), Numbering(), Numbering()
        self.places = PlacesSeen(), PlacesSeen()
        self.tally = Tally(canonical.files if canonical.has_file else 1)
        self.began: list[Ints] = []
        self.digests: RecordDigests | None = None
        self.uneven: dict[str, int] = {}
        self.n_people = 0
        self.duplicate: Bools | None = None
        self.people_by_reason: dict[int, set[int]] = defaultdict(set)

    def add(self, batch: pa.RecordBatch) -> None:
        """Clean, code and keep one batch."""
        reason = batch.column("reason").to_numpy(zero_copy_only=False)
        self.tally.add(reason, self._file(batch))
        kept = reason == 0
        if not kept.all():
            self._note_people(batch, reason)
            batch = batch.filter(kept)
        if self.slots is not None:
            batch = self._drop(batch, batch.column("clock").is_valid(), MISSING_START)
            batch = self._within(batch, self.slots.period)
        origin, destination = self._tile_keys(batch)
        inside = (origin != OUTSIDE) & (destination != OUTSIDE)
        if not inside.all():
            batch = self._drop(batch, inside, self.outside)
            origin, destination = origin[inside], destination[inside]
        rows = {"origin": self.origins.add(origin), "destination": self.destinations.add(destination)}
        for name in END_COLUMNS if self.canonical.endpoints == "points" else ():
            rows[name] = np.rint(_numpy(batch, name) * DEGREE)
        if self.canonical.has_person:
            person = self.people.add(_numpy(batch, "person"))
            rows["person"] = np.where(_numpy(batch, "nobody"), np.int32(-1), person)
        for seen, end, tile in zip(self.places, PLACE_COLUMNS, ("origin", "destination"), strict=True):
            if self.canonical.has_places:
                seen.add(rows[tile], _numpy(batch, end), _numpy(batch, f"{end}_unknown"))
        for name in ("weight", "trips", "mark", "refund", "file", "segment"):
            if name in self.spool:
                rows[name] = _numpy(batch, name)
        if self.canonical.has_start:
            # A copy: a view would hold the whole batch, with all its columns.
            self.began.append(_numpy(batch, "began")[:: max(1, len(batch) // SOME)].copy())
        if self.slots is not None:
            rows["slot"] = self.slots.number(_numpy(batch, "clock") // MINUTE)
        if self.digests is not None:
            rows["record"] = self._digests(batch, rows, self.digests)
        self.spool.append(**rows)

    def state(self) -> tuple[dict[str, Any], dict[str, Ints]]:
        """Return what a later run must know to go on from here: plain values, and arrays."""
        facts = {"rows": len(self.spool), "people": len(self.people), "uneven": self.uneven}
        arrays = {
            "origins": self.origins.keys,
            "destinations": self.destinations.keys,
            "tally": np.array(self.tally.by_file),
            "began": np.concatenate([*self.began, np.empty(0, np.int64)]),
        }
        for reason, people in self.people_by_reason.items():
            arrays[f"people_{reason}"] = np.array(sorted(people), dtype=np.uint64)
        for end, seen in zip(PLACE_COLUMNS, self.places, strict=True):
            arrays |= {f"{end}_{name}": keys for name, keys in seen.state().items()}
        return facts, arrays

    def take_up(self, facts: dict[str, Any], arrays: dict[str, Ints]) -> None:
        """Go on from where an earlier run stood when all rows had been added."""
        self.n_people, self.uneven = facts["people"], facts["uneven"]
        self.origins.add(arrays["origins"])
        self.destinations.add(arrays["destinations"])
        self.tally.take_up(arrays["tally"])
        self.began = [arrays["began"]]
        for name, people in arrays.items():
            if name.startswith("people_"):
                self.people_by_reason[int(name.removeprefix("people_"))] = set(people.tolist())
        for end, seen in zip(PLACE_COLUMNS, self.places, strict=True):
            seen.take_up(arrays[f"{end}_places"], arrays[f"{end}_pairs"])

    def _digests(self, batch: pa.RecordBatch, rows: dict[str, Ints], digests: RecordDigests) -> Ints:
        """Return a digest of every row of a batch, of nothing that depends on the request."""
        points = self.canonical.endpoints == "points"
        return digests.of_rows(
            (point_words(rows["o_lat"], rows["o_lon"]), point_words(rows["d_lat"], rows["d_lon"]))
            if points
            else (digests.of_texts(batch.column("o_id")), digests.of_texts(batch.column("d_id"))),
            points=points,
            person=digests.of_people(batch.column("who"), rows["person"]) if "person" in rows else None,
            began=_numpy(batch, "began") if self.canonical.has_start else None,
            trips=rows.get("trips"),
        )

    def _within(self, batch: pa.RecordBatch, period: Days | None) -> pa.RecordBatch:
        """Return the rows of trips that begin in a period."""
        if period is None:
            return batch
        day = _numpy(batch, "clock") // (MINUTE * DAY)
        return self._drop(batch, (day >= period.first) & (day <= period.last), OUTSIDE_PERIOD)

    def _drop(self, batch: pa.RecordBatch, stay: Any, reason: int) -> pa.RecordBatch:
        """Return the rows that stay, and count the others under a reason."""
        kept = batch.filter(stay)
        if len(kept) < len(batch):
            gone = ~np.asarray(stay)
            self._note_people(batch, np.where(gone, reason, 0))
            self.tally.move(reason, gone, self._file(batch))
        return kept

    def _file(self, batch: pa.RecordBatch) -> Ints | None:
        return _numpy(batch, "file") if self.canonical.has_file else None

    def _note_people(self, batch: pa.RecordBatch, reason: Ints) -> None:
        """Keep whose rows are dropped; rows of nobody in particular are nobody's."""
        if not self.canonical.has_person:
            return
        person, known = _numpy(batch, "person"), ~_numpy(batch, "nobody")
        for number in np.unique(reason[reason > 0]).tolist():
            self.people_by_reason[number].update(np.unique(person[known & (reason == number)]).tolist())

    def _people(self, repeated: Ints | None) -> dict[int, int] | None:
        """Return how many different people lost rows, by reason; None where nobody is told apart."""
        if not self.canonical.has_person:
            return None
        lost = {number: len(people) for number, people in self.people_by_reason.items()}
        if repeated is None:
            return lost
        if not repeated.any():
            return lost | dict.fromkeys(REPEATED, 0)
        again: dict[int, set[int]] = {reason: set() for reason in REPEATED}
        start = 0
        for (person,) in self.spool.chunks("person"):
            rows = repeated[start : start + len(person)]
            for reason, people in again.items():
                people.update(np.unique(person[rows == reason]).tolist())
            start += len(person)
        return lost | {reason: len(people - {NOBODY}) for reason, people in again.items()}

    def _without_id(self, duplicate: Bools | None) -> list[int] | None:
        """Return how many kept rows of each file are nobody's; None where nobody is told apart."""
        if not self.canonical.has_person:
            return None
        found = np.zeros(len(self.tally.by_file), dtype=np.int64)
        start = 0
        for person, *file in self.spool.chunks(*(name for name in ("person", "file") if name in self.spool)):
            nobody = person == NOBODY
            if duplicate is not None:
                nobody &= ~duplicate[start : start + len(person)]
            start += len(person)
            found += np.bincount(file[0][nobody], minlength=len(found)) if file else np.count_nonzero(nobody)
        return [int(n) for n in found]

    def _repeated(self, memory: int) -> Ints | None:
        """Return why each row goes beside another one, after counting them; None where none can be told."""
        if not self.canonical.has_mark or not len(self.spool):
            return None
        repeated, start = find_repeated(self.spool, memory=memory), 0
        if not repeated.any():
            return repeated
        # All chunks have a mark, and a file where there are several.
        for chunk in self.spool.chunks("file" if "file" in self.spool else "mark"):
            why = repeated[start : start + len(chunk[0])]
            for reason in REPEATED:
                self.tally.move(reason, why == reason, chunk[0] if "file" in self.spool else None)
            start += len(why)
        return repeated

    def clean(self, memory: int) -> None:
        """Find out what became of all rows, within so many bytes; the last that needs the connection."""
        # The table of ids is not needed any more, and may be as large as all flows.
        self.n_people, self.people = max(self.n_people, len(self.people)), Numbering()
        repeated = self._repeated(memory // 2)
        # Where there are none all rows stay, and none is looked at for it.
        self.duplicate = None if repeated is None or not repeated.any() else repeated > 0
        self.cleaning = CleaningReport.from_rows(
            self.tally.by_file, self.canonical, self._people(repeated), self._without_id(self.duplicate)
        )
        if self.cleaning.kept <= 0:
            raise EmptyInputError(self.cleaning.why_empty())

    def finish(self, engine: Engine, parts: tuple[bool, bool], kept: KeptZones | None = None) -> CodedTrips:
        """Return the matrix of everything added, once that is clean."""
        memory, columns = engine.budget.arrays, engine.columns(len(self.spool))
        axes = self.trees(kept)
        slots = None if self.slots is None else occurring_slots(self.spool)
        rows = CodedRows(self.spool, axes[0].tiles, axes[1].tiles, self.duplicate, slots)
        flow_of = None
        if columns is not None and columns.is_done:
            flows = kept_flows(columns)
        elif columns is not None:
            flows = rows.flows(memory // 2, parts, columns, engine.folder)
        else:
            flow_of = None if self.digests is None else rows.room_for_flows()
            flows = rows.flows(memory, parts, None, engine.folder, flow_of)
        times = None if slots is None or self.slots is None else self.slots.hierarchy(slots)
        blocks = None if columns is None else FlowsInBlocks.of(flows)
        return self.coded(rows, axes, times, flows, rows.weights(self.n_people), blocks, flow_of)

    def trees(self, kept: KeptZones | None) -> tuple[NumberedTree, NumberedTree]:
        """Return the hierarchies of the origins and of the destinations."""
        return (
            self._tree(self.origins, () if kept is None else kept.in_trees("origin")),
            self._tree(self.destinations, () if kept is None else kept.in_trees("destination")),
        )

    def coded(
        self,
        rows: CodedRows,
        axes: tuple[NumberedTree, NumberedTree],
        times: Hierarchy | None,
        flows: Flows,
        seen: WeightsSeen | WeightsTold | None,
        parts: FlowParts | None = None,
        flow_of: Ints | None = None,
    ) -> CodedTrips:
        """Return the matrix of flows that were counted, and all that is to be known beside it."""
        matrix = ODMatrix(
            origins=axes[0].tree,
            destinations=axes[1].tree,
            flows=flows,
            each_trip_is_a_person=self.canonical.people_once,
            points=rows.points() if self.canonical.endpoints == "points" else None,
            times=times,
            places=self._places(*axes),
            represented=represented_by(flows, seen),
            id_is=self.canonical.id_is,
            parts=parts,
        )
        notes = (*self.canonical.notes, *note_on_people(self.canonical, self.cleaning, seen, self.uneven))
        return CodedTrips(
            matrix=matrix,
            cleaning=self.cleaning,
            canonical=self.canonical,
            notes=notes,
            where=self._where(),
            when=self._when(),
            records=None if self.digests is None else rows.records(matrix, self.digests, flow_of),
        )

    def _where(self) -> Whereabouts | None:
        if self.canonical.endpoints != "points":
            return None
        return look_at_places(lambda: self.spool.chunks(*END_COLUMNS), len(self.spool), DEGREE)

    def _when(self) -> Period | None:
        began = np.concatenate(self.began) if self.began else np.empty(0, dtype=np.int64)
        return look_at_times(began[began != UNTIMED], self.canonical.timezone or "UTC")

    def _places(self, *axes: NumberedTree) -> PlaceCounts | None:
        if not self.canonical.has_places:
            return None
        return PlaceCounts(*(seen.below(*axis) for seen, axis in zip(self.places, axes, strict=True)))

    def _tile_keys(self, batch: pa.RecordBatch) -> tuple[Ints, Ints]:
        if self.canonical.endpoints == "points":
            o_lat, o_lon, d_lat, d_lon = (_numpy(batch, name) for name in END_COLUMNS)
            return self.tiling.encode(o_lat, o_lon), self.tiling.encode(d_lat, d_lon)
        return self._id_keys(batch.column("o_id")), self._id_keys(batch.column("d_id"))

    def _id_keys(self, ids: Any) -> Ints:
        coded = ids.dictionary_encode()
        keys = self.tiling.keys(coded.dictionary.to_pylist())
        found: Ints = keys[coded.indices.to_numpy(zero_copy_only=False)]
        return found

    def _tree(self, numbering: Numbering, zones: Sequence[str]) -> NumberedTree:
        """Return one axis' hierarchy, which has these zones too, and the tile of every number."""
        keys = numbering.keys
        also = keys_within(self.tiling, zones)
        hierarchy = self.tiling.hierarchy(np.union1d(keys, also))
        tiles = self.tiling.tiles(keys, hierarchy).astype(np.int32)
        if len(also):
            seen = hierarchy.sum_below(np.bincount(tiles, minlength=hierarchy.n_tiles) > 0)
            hierarchy = replace(hierarchy, zones=replace(hierarchy.zones, tiles_observed=seen))
        return NumberedTree(hierarchy, tiles)


def _numpy(batch: pa.RecordBatch, name: str) -> Any:
    return batch.column(name).to_numpy(zero_copy_only=False)
