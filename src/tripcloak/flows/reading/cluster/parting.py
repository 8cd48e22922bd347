"""What stays on a cluster after counting: flows, worked on there part by part, and raw ends of trips."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tripcloak.engines.spark import Cluster, OfParts, Waiting, plain_spark_errors
from tripcloak.flows.model import Flows, Numbering, Travellers, TripEnds
from tripcloak.flows.reading.cluster.counting import SEGMENTS, FlowsPart
from tripcloak.flows.reading.coded_rows import DEGREE, END_COLUMNS
from tripcloak.ground.arrays import Ints

AT_ONCE = 1 << 26
"""Flows whose numbers a process there holds at a time, about."""

T = TypeVar("T")
Work = Callable[[Flows], Iterator[Any]]


class RowsOfRange(NamedTuple):
    """Where the flows of a range of pairs begin; the slots of its pair, where several parts hold it."""

    start: int
    slots: Ints | None

    def rows(self, flows: Flows) -> Ints:
        """Return the rows of the flows of a part of it."""
        if self.slots is None:
            return self.start + np.arange(len(flows.trips))
        own = np.zeros(len(flows.trips), np.int32) if flows.slot is None else flows.slot
        return self.start + np.searchsorted(self.slots, own)


class _Numbers(NamedTuple):
    """Numbers of the flows of some ranges, from the flow ``first`` on."""

    first: int
    numbers: Ints
    ranges: Mapping[int, RowsOfRange]

    def of(self, told: FlowsPart) -> Ints:
        """Return the numbers of the flows of a part."""
        found: Ints = self.numbers[self.ranges[told.range].rows(told.flows) - self.first]
        return found


@dataclass(frozen=True, eq=False)
class Ranges:
    """Where the driver has the flows of each range of pairs, and which range every part is of."""

    of_part: Ints
    rows: dict[int, RowsOfRange] = field(default_factory=dict)

    def each_with(self, numbers: Ints, plan: Callable[[_Numbers], Any]) -> OfParts:
        """Return plans with numbers of flows, each with those of some ranges and no more."""
        at = sorted(self.rows, key=lambda number: self.rows[number].start)
        starts = np.array([self.rows[number].start for number in at], np.int64)
        slices, first = np.unique(starts // AT_ONCE, return_index=True)
        edges = [*starts[first].tolist(), len(numbers)]
        plans, of_range = [], dict[int, int]()
        for n, (start, end) in enumerate(pairwise(edges)):
            own = at[first[n] : first[n + 1] if n + 1 < len(slices) else None]
            of_range |= dict.fromkeys(own, n)
            plans.append(plan(_Numbers(start, numbers[start:end], {one: self.rows[one] for one in own})))
        # Parts without flows need none, and get any.
        return OfParts(plans, [of_range.get(number, 0) for number in self.of_part.tolist()])


@dataclass(frozen=True, eq=False)
class FlowsOnCluster:
    """The counted parts of an input, each of which flows may be taken from.

    Parameters
    ----------
    counted
        What waits on the cluster.
    each
        How many flows a part may hold, about.
    ranges
        Where the driver has the flows of each range of pairs.
    """

    counted: Waiting
    each: int
    ranges: Ranges

    def by_tile(self, axis: int, part: Ints, work: Callable[[Flows], Iterator[T]]) -> Iterator[T]:
        """Yield what comes of the flows of every part, after they were dealt out to those."""
        parts = int(part.max(initial=-1)) + 1
        if parts:
            found = self.counted.dealt(_deal, _Dealing(axis, part), parts, _work_on_part, work)
            yield from _taken(found)

    def in_any_way(self, work: Callable[[Flows], Iterator[T]]) -> Iterator[T]:
        """Yield what comes of all flows, in the parts in which they were counted."""
        yield from _taken(self.counted.made(_work_where_they_are, work))

    def people_by_number(self, numbers: Ints, count: Callable[[Ints, Ints], T]) -> Iterator[T]:
        """Yield what is counted of flows, all those of one number together."""
        parts = 1 + len(numbers) // self.each
        plan = self.ranges.each_with(numbers, lambda own: _PeoplePlan(own, parts))
        found = self.counted.dealt(_deal_people, plan, parts, _count_people, count)
        yield from _taken(found)

    def each_apart(self, pieces: Iterable[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield what comes of every piece of work, each done by itself on the cluster."""
        yield from Cluster(self.counted.context).each_apart(pieces, work)


@dataclass(frozen=True, eq=False)
class EndsOnCluster:
    """Where the trips of an input began and ended; read from the cluster as often as somebody asks.

    Parameters
    ----------
    counted
        What waits on the cluster.
    kinds
        The columns of a trip, and their types.
    ranges
        Where the driver has the flows of each range of pairs.
    """

    counted: Waiting
    kinds: np.dtype[Any]
    ranges: Ranges

    def __call__(self) -> Iterator[TripEnds]:
        """Yield the ends of trips that stay, in degrees."""
        for rows in self._rows():
            yield _in_degrees(rows)

    def worked_on(self, numbers: Ints, work: Callable[[TripEnds, Ints], Iterator[Any]]) -> Waiting:
        """Return what comes of the ends of all trips where they are, with a number of each one's flow."""
        plan = self.ranges.each_with(numbers, lambda own: _EndsPlan(self.kinds, own, work))
        return self.counted.made(_work_on_ends, plan)

    def joined(self, look: Callable[[list[Ints]], T], join: Callable[[T, T], T]) -> T:
        """Return what is told of latitudes and longitudes, as they were coded, where they are."""
        with plain_spark_errors():
            found = self.counted.made(_look_at_ends, _LookingPlan(self.kinds, look))
            try:
                told: T = found.joined(_itself, join)
            finally:
                found.let_go()
        return told

    def _rows(self) -> Iterator[Any]:
        with plain_spark_errors():
            for _, piece in self.counted.told_again(is_end):
                yield np.frombuffer(piece, self.kinds)


class _LookingPlan(NamedTuple):
    kinds: np.dtype[Any]
    look: Callable[[list[Ints]], Any]


def _look_at_ends(plan: _LookingPlan, counted: Iterator[tuple[str, bytes]]) -> Iterator[Any]:
    """Yield what is told of every piece of raw ends; runs on the cluster."""
    for piece in filter(is_end, counted):
        rows = np.frombuffer(piece[1], plan.kinds)
        yield plan.look([rows[name] for name in END_COLUMNS])


def _itself(told: T) -> T:
    return told


class _EndsPlan(NamedTuple):
    kinds: np.dtype[Any]
    numbers: _Numbers
    work: Callable[[TripEnds, Ints], Iterator[Any]]


def _work_on_ends(plan: _EndsPlan, counted: Iterator[tuple[str, bytes]]) -> Iterator[Any]:
    """Yield what comes of the ends of a part; runs on the cluster. Its flows follow its ends."""
    pieces = []
    for kind, pickled in counted:
        if kind == "ends":
            pieces.append(pickled)
        if kind != "flows":
            continue
        told: FlowsPart = pickle.loads(pickled)
        number = plan.numbers.of(told)
        for piece in pieces:
            ends = _in_degrees(np.frombuffer(piece, plan.kinds))
            yield from plan.work(ends, number[_flow_of(told.flows, ends)])
        pieces = []


def _flow_of(flows: Flows, ends: TripEnds) -> Ints:
    """Return the flow of each trip of a part."""
    pairs = (flows.origin.astype(np.int64) << 32) | flows.destination
    wanted = (ends.origin.astype(np.int64) << 32) | ends.destination
    if flows.slot is None or ends.slot is None:
        return np.searchsorted(pairs, wanted)
    slots = np.unique(flows.slot)
    first = np.unique(pairs)
    keys, sought = (
        np.searchsorted(first, pair) * len(slots) + np.searchsorted(slots, slot)
        for pair, slot in ((pairs, flows.slot), (wanted, ends.slot))
    )
    return np.searchsorted(keys, sought)


def _in_degrees(rows: Any) -> TripEnds:
    """Return the ends of those trips that stay."""
    names, kept = rows.dtype.names, rows[~rows["gone"]]
    degrees = (kept[name] / DEGREE for name in END_COLUMNS)
    more = (np.ascontiguousarray(kept[name]) if name in names else None for name in ("weight", "slot"))
    return TripEnds(kept["origin"].copy(), kept["destination"].copy(), *degrees, *more)


def is_end(counted: tuple[str, bytes]) -> bool:
    """Return whether it is raw ends that were told."""
    return counted[0] == "ends"


def is_of_segments(counted: tuple[str, bytes]) -> bool:
    """Return whether it is flows of segments."""
    return counted[0] == SEGMENTS


def is_neither(counted: tuple[str, bytes]) -> bool:
    """Return whether it is anything else."""
    return not (is_end(counted) or is_of_segments(counted))


def _taken(found: Waiting) -> Iterator[Any]:
    try:
        for pickled in found.told():
            yield pickle.loads(pickled)
    finally:
        found.let_go()


class _Dealing(NamedTuple):
    axis: int
    part: Ints


class _Piece(NamedTuple):
    """Some flows of a part: tiles, trips, how many travellers each has, and the hashes of those."""

    origin: Ints
    destination: Ints
    trips: Ints
    sizes: Ints | None
    people: Ints | None


def _flows_of(counted: Iterator[tuple[str, bytes]]) -> Iterator[Flows]:
    """Yield the flows among what was counted, with the hashes of people in place of their numbers."""
    for kind, pickled in counted:
        if kind != "flows":
            continue
        told: FlowsPart = pickle.loads(pickled)
        flows, travellers = told.flows, told.flows.travellers
        if travellers is not None and told.people is not None:
            hashes = told.people.view(np.int64)[travellers.people]
            travellers = Travellers(travellers.offsets, hashes)
        yield Flows(flows.origin, flows.destination, flows.trips, travellers=travellers)


class _PeoplePlan(NamedTuple):
    numbers: _Numbers
    parts: int


_PRESENCE = np.dtype([("number", np.int64), ("person", np.int64)])


def _deal_people(to: _PeoplePlan, counted: Iterator[tuple[str, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the number of a part with people of it, each once a number; runs on the cluster."""
    for kind, pickled in counted:
        if kind != "flows":
            continue
        told: FlowsPart = pickle.loads(pickled)
        assert told.people is not None
        assert told.flows.travellers is not None
        offsets, people = told.flows.travellers
        number = np.repeat(to.numbers.of(told), np.diff(offsets))
        kept = number >= 0
        present = np.unique((number[kept].astype(np.int64) << 32) | people[kept])
        there = np.empty(len(present), _PRESENCE)
        there["number"] = present >> 32
        there["person"] = told.people.view(np.int64)[present & 0xFFFFFFFF]
        part = there["number"] % to.parts
        for one in np.unique(part).tolist():
            yield one, there[part == one].tobytes()


def _count_people(
    count: Callable[[Ints, Ints], Any], _: int, dealt: Iterator[tuple[int, bytes]]
) -> Iterator[bytes]:
    """Yield what is counted of a part; runs on the cluster."""
    there = np.frombuffer(b"".join(piece for _, piece in dealt), _PRESENCE)
    if len(there):
        found = count(there["number"].copy(), there["person"].copy())
        yield pickle.dumps(found, protocol=5)


def _work_where_they_are(work: Work, counted: Iterator[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield what comes of every part where it lies; runs on the cluster."""
    for flows in _flows_of(counted):
        yield from (pickle.dumps(one, protocol=5) for one in work(flows))


def _deal(to: _Dealing, counted: Iterator[tuple[str, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the number of a part with flows of it; runs on the cluster."""
    for flows in _flows_of(counted):
        of_flow = to.part[flows.destination if to.axis else flows.origin]
        order = np.argsort(of_flow, kind="stable")
        numbers, first = np.unique(of_flow[order], return_index=True)
        for number, rows in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
            if number >= 0:
                some = flows.only(rows)
                piece = _Piece(some.origin, some.destination, some.trips, *_people(some))
                yield number, pickle.dumps(piece, protocol=5)


def _people(flows: Flows) -> tuple[Ints | None, Ints | None]:
    if flows.travellers is None:
        return None, None
    return np.diff(flows.travellers.offsets), flows.travellers.people


def _work_on_part(work: Work, _: int, dealt: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
    """Yield what comes of all flows of a part; runs on the cluster."""
    pieces: list[_Piece] = [pickle.loads(piece) for _, piece in dealt]
    if pieces:
        yield from (pickle.dumps(one, protocol=5) for one in work(_joined(pieces)))


def _joined(pieces: list[_Piece]) -> Flows:
    """Return flows in their order, those that come in several pieces once, with people by number."""
    origin, destination, trips = (np.concatenate([piece[n] for piece in pieces]) for n in range(3))
    pair, flow = np.unique((origin.astype(np.int64) << 32) | destination, return_inverse=True)
    summed = np.zeros(len(pair), np.int64)
    np.add.at(summed, flow, trips)
    travellers = None
    if pieces[0].people is not None:
        sizes = np.concatenate([piece.sizes for piece in pieces if piece.sizes is not None])
        hashes = np.concatenate([piece.people for piece in pieces if piece.people is not None])
        person = Numbering().add(hashes.view(np.uint64)).astype(np.int64)
        # Sorted by flow, and by person in each.
        key = np.sort((np.repeat(flow, sizes) << 32) | person)
        offsets = np.searchsorted(key, np.arange(len(pair) + 1) << 32)
        travellers = Travellers(offsets, (key & 0xFFFFFFFF).astype(np.int32))
    return Flows(
        (pair >> 32).astype(np.int32), (pair & 0xFFFFFFFF).astype(np.int32), summed, travellers=travellers
    )
