"""Groups: the flows that share one pair of zones (and one time), and what supports each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tripcloak.flows.model.flows import Numbering, Travellers
from tripcloak.flows.model.matrix import ODMatrix
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt
from tripcloak.ground.threads import blocks
from tripcloak.promises import Largest, Unit, Volume

AT_ONCE = 1 << 24
"""People of groups that are counted at once: 128 MB of keys."""
KEYS_AT_ONCE = 1 << 17
"""Flows whose groups are numbered at once: a MB of keys."""


class Runs(NamedTuple):
    """Groups that are runs of a list of flows: group g is ``flows[first[g]:last[g]]``."""

    flows: Ints
    first: Ints
    last: Ints


class SegmentPart(NamedTuple):
    """One segment: its name, its own matrix, and the row of each of its flows in the whole matrix."""

    name: str
    matrix: ODMatrix
    row: Ints

    def __repr__(self) -> str:
        return f"<SegmentPart {self.name}>"

    @classmethod
    def of(cls, name: str, matrix: ODMatrix, whole: ODMatrix) -> SegmentPart:
        """Return a segment as a part of a whole matrix; its tiles are found there by their ids."""
        ends = []
        for (tree, tile), (all_of_it, _) in zip(matrix.axes, whole.axes, strict=True):
            known, ids = all_of_it.zones.ids[: all_of_it.n_tiles], tree.zones.ids[: tree.n_tiles]
            place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
            ends.append(np.where(known[place] == ids, place, -1)[tile])
        row = np.full(matrix.n_flows, -1)
        if all((end >= 0).all() for end in ends):
            row = whole.find(*ends)
        if (row < 0).any():
            raise InputError(f"the segment {name} has flows that the whole input has not")
        return cls(name, matrix, row)


@dataclass(frozen=True, eq=False)
class Groups:
    """Flows grouped by the pair of zones they fall into.

    ``members`` is the group of every flow, -1 for a flow left out, or runs of flows; ``known`` holds
    support that the maker of the groups has summed already; ``time`` is each group's zone of time,
    where there is one.
    """

    matrix: ODMatrix
    members: Ints | Runs
    origin: Ints
    destination: Ints
    known: Mapping[Unit, Ints] = field(default_factory=dict)
    time: Ints | None = None

    def __repr__(self) -> str:
        return f"<Groups: {mask_small(len(self))}>"

    def __len__(self) -> int:
        return len(self.origin)

    def support(self, unit: Unit, cap: int | None = None) -> Ints:
        """Return what stands behind every group: trips, distinct travellers or population.

        With ``cap``, travellers are only counted up to it, which is much quicker and enough to
        decide whether a threshold is reached.
        """
        if unit not in self.matrix.units:
            raise InputError(
                f"k cannot be counted on {unit}: this input only tells {' and '.join(self.matrix.units)}"
            )
        if unit in self.known:
            return self.known[unit]
        if unit == "trips" or (unit == "travellers" and self.matrix.each_trip_is_a_person):
            return self._trips
        if unit == "population":
            return self._population
        return self._distinct if cap is None else self._distinct_up_to(cap)

    def sharing(self, known: Sequence[int]) -> tuple[Groups, Ints]:
        """Return groups of all that shares the zones of some axes, and which one each group falls into.

        Parameters
        ----------
        known
            The axes whose zones are shared: 0 origins, 1 destinations, 2 times.
        """
        matrix, kept = self.matrix, self._kept
        # An item that is not known is anywhere: the whole map, which covers all there is.
        origin = self.origin if 0 in known else np.full(len(self), matrix.origins.root)
        destination = self.destination if 1 in known else np.full(len(self), matrix.destinations.root)
        time = self.time if 2 in known else None
        shared = group_flows(
            matrix,
            self._by_flow(origin),
            self._by_flow(destination),
            time_zone=None if time is None else self._by_flow(time),
            keep=kept,
        )
        assert shared is not None
        place = np.empty(len(self), dtype=np.int64)
        place[self.of_flow[kept]] = shared.of_flow[kept]
        return shared, place

    def of_segment(self, part: SegmentPart) -> Groups:
        """Return the same groups with nobody in them but a segment."""
        if part.row.max() >= self.matrix.n_flows:
            raise InputError(
                f"segments in one release do not go together with slots kept apart ({spelt('slot')})"
            )
        return Groups(part.matrix, self.of_flow[part.row], self.origin, self.destination)

    def largest(self, volume: Volume) -> Largest:
        """Return what the two travellers with most of every group's trips or population have of it."""
        from tripcloak.flows.model._kernels import largest_in_runs

        self.matrix.require_parts(volume)
        flows = self.matrix.flows
        parts = flows.repeats if volume == "trips" else flows.weights
        assert parts is not None
        first, second = largest_in_runs(*self.runs, *self._travellers, parts)
        if volume == "trips":
            return Largest(first.astype(np.int64), second.astype(np.int64))
        return Largest(first, second)

    @property
    def runs(self) -> Runs:
        """Return the groups as runs of flows."""
        if isinstance(self.members, Runs):
            return self.members
        from tripcloak.flows.model._kernels import members_of

        ends, flows = members_of(self.members, len(self))
        return Runs(flows, ends[:-1], ends[1:])

    def _by_flow(self, values: Ints) -> Ints:
        """Return a value of every group for every flow of it; 0 for flows left out."""
        return np.append(values, 0)[self.of_flow]

    @cached_property
    def of_flow(self) -> Ints:
        """Return the group of every flow, -1 for a flow left out."""
        if not isinstance(self.members, Runs):
            return self.members
        flows, first, last = self.members
        place = np.repeat(first - np.append(0, np.cumsum(last - first)[:-1]), last - first)
        of_flow = np.full(self.matrix.n_flows, -1, dtype=np.int32)
        of_flow[flows[place + np.arange(len(place))]] = np.repeat(np.arange(len(first)), last - first)
        return of_flow

    @cached_property
    def _kept(self) -> Bools:
        return self.of_flow >= 0

    @cached_property
    def _trips(self) -> Ints:
        # float64 sums are exact here: no realistic input has 2**53 trips.
        weights = self.matrix.flows.trips[self._kept]
        return np.bincount(self.of_flow[self._kept], weights, minlength=len(self)).astype(np.int64)

    @cached_property
    def _population(self) -> Floats:
        from tripcloak.flows.model._kernels import sum_groups

        return sum_groups(self.of_flow, self.matrix.volume("population"), len(self))

    @cached_property
    def _distinct(self) -> Ints:
        from tripcloak.flows.model._kernels import count_sorted, people_met, people_of_groups

        offsets, people = self._travellers
        upto = np.cumsum(people_met(self.of_flow, offsets, len(self)))
        found = np.zeros(len(self), dtype=np.int64)
        first = 0
        # Invariant: groups before first are counted; next come as many as hold AT_ONCE people, or one.
        while first < len(self):
            done = upto[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(upto, done + AT_ONCE, side="right")))
            room = int(upto[last - 1] - done)
            keys = people_of_groups(self.of_flow, offsets, people, first, last, room)
            # Sorted here: compiled loops sort several times as long.
            keys.sort()
            count_sorted(keys, first, found)
            first = last
        return found

    def _distinct_up_to(self, cap: int) -> Ints:
        from tripcloak.flows.model._kernels import distinct_in_runs, distinct_up_to

        if isinstance(self.members, Runs):
            return distinct_in_runs(*self.members, *self._travellers, cap)
        if len(self) * cap > self.matrix.flows.trips.sum():
            return np.minimum(self._distinct, cap)
        offsets, people = self._travellers
        return distinct_up_to(self.of_flow, len(self), offsets, people, cap)

    @property
    def _travellers(self) -> Travellers:
        assert self.matrix.flows.travellers is not None
        return self.matrix.flows.travellers


def group_flows(
    matrix: ODMatrix,
    origin_zone: Ints,
    destination_zone: Ints,
    *,
    time_zone: Ints | None = None,
    keep: Bools | None = None,
    at_most: int | None = None,
    in_order: bool = True,
) -> Groups | None:
    """Return the flows grouped by pair of zones, or None if there are more than ``at_most`` groups.

    Parameters
    ----------
    matrix
        The flows.
    origin_zone, destination_zone, time_zone
        A zone for every flow; without a time all times go together.
    keep
        Flows that take part; all by default.
    in_order
        Groups are in the order of their zones; else in that of their first flows, which is found sooner.

    Examples
    --------
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> groups = group_flows(matrix, np.array([2, 2, 2]), np.array([0, 1, 1]))
    >>> groups.destination.tolist(), groups.support("trips").tolist()
    ([0, 1], [1, 2])
    """
    width, length = int(destination_zone.max(initial=0)) + 1, 1
    if time_zone is not None:
        length = int(time_zone.max(initial=0)) + 1
    numbering, number = Numbering(), np.empty(len(origin_zone), np.int32)
    # Some at a time: room for one more number a flow takes longer to get than to fill.
    for some in blocks(len(number), KEYS_AT_ONCE):
        keys = origin_zone[some].astype(np.int64)
        keys *= width
        keys += destination_zone[some]
        if time_zone is not None:
            keys *= length
            keys += time_zone[some]
        if keep is not None:
            keys[~keep[some]] = -1
        number[some] = numbering.add(keys.view(np.uint64))
        if at_most is not None and len(numbering) > at_most:
            return None
    found = numbering.keys.view(np.int64)
    if in_order:
        order = np.argsort(found)
        rank = np.empty(len(found) + 1, dtype=np.int32)
        rank[order] = np.arange(len(found), dtype=np.int32)
        rank[-1] = -1
        number, found = rank[number], found[order]
    pair = found // length
    return Groups(
        matrix=matrix,
        members=number,
        origin=(pair // width).astype(np.int32),
        destination=(pair % width).astype(np.int32),
        time=None if time_zone is None else (found % length).astype(np.int32),
    )
