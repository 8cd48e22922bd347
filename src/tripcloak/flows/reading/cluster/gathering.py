"""The driver's side: what the cluster counted becomes the matrix, part by part."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tripcloak.engines.choice import Engine
from tripcloak.engines.spark import Cluster, Waiting, plain_spark_errors
from tripcloak.engines.spool import Spool
from tripcloak.flows.model import FlowParts, Flows, Numbering, Represented, WeightsTold, gather_flows
from tripcloak.flows.model.kept import KeptZones
from tripcloak.flows.reading.cluster import dealing as dealt
from tripcloak.flows.reading.cluster.counting import (
    CountingPlan,
    FlowsPart,
    Repeated,
    WeightsPart,
    count_part,
)
from tripcloak.flows.reading.cluster.dealing import (
    DealingPlan,
    Parts,
    TileTable,
    deal_rows,
    row_dtype,
)
from tripcloak.flows.reading.cluster.merging import ascending_people, joined_flows
from tripcloak.flows.reading.cluster.parting import (
    EndsOnCluster,
    FlowsOnCluster,
    Ranges,
    RowsOfRange,
    is_neither,
    is_of_segments,
)
from tripcloak.flows.reading.cluster.reading import CodingPlan, plan_reading, read_rows
from tripcloak.flows.reading.cluster.seen import Seen
from tripcloak.flows.reading.coded_rows import DEGREE, CodedRows
from tripcloak.flows.reading.coding import CodedTrips, GatheredTrips
from tripcloak.flows.reading.repeats import REPEATED, uneven_people
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import EmptyInputError, InputError
from tripcloak.hierarchy import Slots
from tripcloak.hierarchy.tiling import Tiling
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.segments import Segment
from tripcloak.records.source import TripSource
from tripcloak.records.trips import Canonical
from tripcloak.records.whereabouts import Whereabouts, look_wherever


def gather_on_cluster(
    cluster: Cluster,
    canonical: Canonical,
    source: TripSource,
    tiling: Tiling,
    *,
    slots: Slots | None,
    outside: int,
    engine: Engine,
    wanted: tuple[bool, bool],
    kept: KeptZones | None = None,
    stays: bool = False,
    segments: Sequence[Segment] = (),
    progress: Callable[[int], None] | None = None,
) -> ClusterTrips:
    """Return an input as a cluster has read and counted it.

    Parameters
    ----------
    cluster
        The machines that read and count.
    canonical, source
        What is in the input, and what is wanted of it.
    tiling, slots, outside
        How places become tiles and times slots; the reason for ends in no tile.
    engine
        Where the driver keeps flows.
    wanted
        Whether to keep how many trips each traveller makes in each flow, and the population.
    kept
        Zones that the hierarchies must have, whatever occurs.
    stays
        Whether the flows stay on the cluster too, to be worked on there.
    segments
        Parts of the input whose flows are wanted besides, each by itself.
    progress
        Called with the number of rows that were read.
    """
    plan, tasks = plan_reading(canonical, source, tiling, slots, outside, segments)
    with plain_spark_errors():
        coded = cluster.spread(tasks, read_rows, plan)
        try:
            seen: Seen = coded.joined(_seen, Seen.join)
            if seen.failed:
                raise InputError(seen.failed[0])
            if progress is not None:
                progress(int(seen.tally.sum()))
            gathered = ClusterTrips(canonical, tiling, slots, outside, seen)
            if seen.rows:
                gathered.count(cluster, coded, plan, engine, wanted, kept, stays=stays)
        finally:
            coded.let_go()
    gathered.uneven = uneven_people(canonical)
    gathered.clean(0)
    return gathered


def _seen(coded: tuple[Seen, bytes]) -> Seen:
    return coded[0]


class ClusterTrips(GatheredTrips):
    """Rows that were counted on a cluster: what was seen of them, flows, and the raw ends for measures."""

    def __init__(
        self, canonical: Canonical, tiling: Tiling, slots: Slots | None, outside: int, seen: Seen
    ) -> None:
        super().__init__(canonical, tiling, Spool({}, memory=0), slots, outside)
        self.seen = seen
        self.origins.add(seen.origins)
        self.destinations.add(seen.destinations)
        self.tally.take_up(seen.tally)
        self.began = [seen.began]
        for reason, people in seen.people.items():
            self.people_by_reason[reason] = set(people.tolist())
        numbered = zip(self.places, (self.origins, self.destinations), seen.places, strict=True)
        for places, numbering, pairs in numbered:
            tiles = numbering.find(np.ascontiguousarray(pairs[:, 0]))
            places.add(tiles, np.ascontiguousarray(pairs[:, 1]), np.zeros(len(pairs), bool))
        self.weights: list[WeightsPart] = []
        self.without_id = np.zeros(len(self.tally.by_file), np.int64)
        self.parts: FlowParts | None = None
        self.ends: EndsOnCluster | None = None
        self.ranges = Ranges(np.empty(0, np.int64))
        """Where the flows of every range of pairs begin."""
        self.segments: tuple[Flows, ...] = ()
        """The flows of every segment that was asked for."""

    def count(
        self,
        cluster: Cluster,
        coded: Waiting,
        plan: CodingPlan,
        engine: Engine,
        wanted: tuple[bool, bool],
        kept: KeptZones | None,
        *,
        stays: bool,
    ) -> None:
        """Let the cluster count the coded rows; take in the flows, and raw ends unless these stay there."""
        self.axes = self.trees(kept)
        dealing = self._dealing(plan)
        counting = CountingPlan(
            dealing=dealing, files=len(self.without_id), repeats=wanted[0], weights=wanted[1]
        )
        if counting.ends is not None and not stays:
            kinds = {name: counting.ends[name] for name in counting.ends.names or ()}
            self.spool = Spool(kinds, memory=engine.budget.arrays // 4, folder=engine.folder)
        counted = coded.dealt(deal_rows, dealing, len(dealing), count_part, counting)
        cluster.stays.append(counted)
        no_range = np.full(dealing.people_parts, -1)
        self.ranges = Ranges(np.concatenate([dealing.parts.shared, no_range]))
        told = counted.told(is_neither if stays else None)
        self.flows = self._gathered(self._placed(self._parts(told, counting)), engine)
        if plan.segments:
            parts = joined_flows(_of_segments(counted.told_again(is_of_segments)))
            apart = _each_segment(self._gathered(parts, engine), len(plan.segments), counting.slots)
            self.segments = tuple(self._gathered(iter([flows]), engine) for flows in apart)
        if stays:
            self.parts = FlowsOnCluster(counted, dealt.PART_ROWS, self.ranges)
            if counting.ends is not None:
                self.ends = EndsOnCluster(counted, counting.ends, self.ranges)

    def _dealing(self, plan: CodingPlan) -> DealingPlan:
        """Return how the rows are dealt out."""
        tables = [
            TileTable.of(numbering.keys, axis.tiles)
            for numbering, axis in zip((self.origins, self.destinations), self.axes, strict=True)
        ]
        ends = [
            table.find(keys).astype(np.int64) for table, keys in zip(tables, self.seen.pairs.T, strict=True)
        ]
        parts = Parts.of((ends[0] << 32) | ends[1], max(self.seen.rows, 1), dealt.PART_ROWS)
        by_person = self.canonical.has_weight and self.canonical.has_person
        return DealingPlan(
            origins=tables[0],
            destinations=tables[1],
            slots=None if self.slots is None else self.seen.slots,
            parts=parts,
            people_parts=1 + len(parts) // 4 if by_person else 0,
            dtype=row_dtype(plan.columns, plan.columns),
        )

    def _gathered(self, flows: Iterator[Flows], engine: Engine) -> Flows:
        """Return flows that come range by range, where the driver keeps them."""
        columns = engine.columns(self.seen.rows)
        return Flows.join(list(flows)) if columns is None else gather_flows(flows, columns)

    def _placed(self, parts: Iterator[FlowsPart]) -> Iterator[Flows]:
        """Yield the flows of every range, and note where they begin."""
        # Ranges as they come, and whether several parts hold one.
        several: dict[int, bool] = {}

        def noted() -> Iterator[FlowsPart]:
            for part in parts:
                several[part.range] = part.range in several
                yield part

        start = 0
        for n, flows in enumerate(joined_flows(noted())):
            number, shared = list(several.items())[n]
            slots = np.zeros(1, np.int32) if flows.slot is None else flows.slot
            self.ranges.rows[number] = RowsOfRange(start, slots if shared else None)
            start += len(flows.trips)
            yield flows

    def _parts(self, told: Iterator[tuple[str, bytes]], plan: CountingPlan) -> Iterator[FlowsPart]:
        """Yield the parts of flows, with people by number, and keep the rest of what is told."""
        people = Numbering()
        for kind, pickled in told:
            if kind == "flows":
                yield _numbered(pickled, people)
            elif kind == "ends":
                ends = np.frombuffer(pickled, plan.ends)
                self.spool.append(**{name: ends[name] for name in self.spool.names})
            elif kind == "weights":
                self.weights.append(pickle.loads(pickled))
            else:
                self._take_repeated(pickle.loads(pickled))

    def _take_repeated(self, repeated: Repeated) -> None:
        rows = np.array(self.tally.by_file) * 0
        for reason, moved in zip(REPEATED, repeated.moved, strict=True):
            rows[:, reason] += moved
            rows[:, 0] -= moved
        self.tally.take_up(rows)
        self.without_id += repeated.without_id
        for reason, people in repeated.people.items():
            self.people_by_reason[reason].update(people.tolist())

    def clean(self, memory: int) -> None:
        """Find out what became of all rows."""
        lost = {number: len(people) for number, people in self.people_by_reason.items()}
        has_person = self.canonical.has_person
        self.cleaning = CleaningReport.from_rows(
            self.tally.by_file,
            _ReadThere(self.canonical, self.seen.broken),
            lost if has_person else None,
            [int(n) for n in self.without_id] if has_person else None,
        )
        if self.cleaning.kept <= 0:
            raise EmptyInputError(self.cleaning.why_empty())

    def finish(self, engine: Engine, parts: tuple[bool, bool], kept: KeptZones | None = None) -> CodedTrips:
        """Return the matrix of everything counted, once that is clean."""
        tiles = [np.arange(axis.tree.n_tiles, dtype=np.int32) for axis in self.axes]
        slots = None if self.slots is None else np.arange(len(self.seen.slots))
        gone = self.spool.column("gone") if "gone" in self.spool else None
        rows = CodedRows(
            self.spool, tiles[0], tiles[1], gone if gone is not None and gone.any() else None, slots
        )
        times = None if self.slots is None else self.slots.hierarchy(self.seen.slots)
        coded = self.coded(rows, self.axes, times, self.flows, self._weights_told(), self.parts)
        alone = replace(coded.matrix, points=None, places=None, represented=None, parts=None)
        # What is said of a segment without a usable trip is said where it is read by itself.
        if all(len(flows.trips) for flows in self.segments):
            coded = replace(coded, segments=tuple(replace(alone, flows=one) for one in self.segments))
        if self.ends is None:
            return coded
        return replace(coded, matrix=replace(coded.matrix, points=self.ends))

    def _where(self) -> Whereabouts | None:
        if self.ends is None:
            return super()._where()
        return look_wherever(self.ends.joined, self.seen.rows, DEGREE)

    def _weights_told(self) -> WeightsTold | None:
        if not self.canonical.has_weight:
            return None
        most = np.concatenate([np.empty(0), *(np.repeat(part.most, part.times) for part in self.weights)])
        most.sort()
        return WeightsTold(
            represented=Represented(len(most), float(most.sum())) if len(most) else None,
            uneven=sum(part.uneven for part in self.weights),
            zero=sum(part.zero for part in self.weights),
            zero_rows=self.seen.zero_rows,
        )


def _numbered(pickled: bytes, people: Numbering) -> FlowsPart:
    """Return a part of flows with people by number."""
    part: FlowsPart = pickle.loads(pickled)
    return part if part.people is None else ascending_people(part, people.add(part.people))


def _of_segments(told: Iterator[tuple[str, bytes]]) -> Iterator[FlowsPart]:
    """Yield the parts of flows of segments, with people by numbers of their own."""
    people = Numbering()
    for _, pickled in told:
        yield _numbered(pickled, people)


def _each_segment(flows: Flows, segments: int, slots: int) -> Iterator[Flows]:
    """Yield the flows of every segment, whose slots were told apart by segments too."""
    assert flows.slot is not None
    segment, slot = np.divmod(flows.slot, np.int32(slots or 1))
    for number in range(segments):
        rows = np.flatnonzero(segment == number)
        yield replace(flows.only(rows), slot=slot[rows] if slots else None)


@dataclass(frozen=True)
class _ReadThere:
    """What a report asks of an input that other machines have read."""

    canonical: Canonical
    broken: Ints

    def broken_lines(self) -> Mapping[str, int]:
        """Return every file's lines that had the wrong number of fields."""
        return dict(zip(self.canonical.opened.file_names, self.broken.tolist(), strict=True))

    def fixes_report(self) -> None:
        """Return nothing: trips are not made of fixes there."""

    def object_to(self, report: CleaningReport) -> None:
        """Raise an error if the rows show that the input was misread as a whole."""
        self.canonical.opened.object_to(report, int(self.broken.sum()))
