"""ODkAnon: merge sibling zones, origins and destinations in balance, until every flow is safe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.method import FlowMethod, Solution
from tripcloak.flows.model import Groups, ODMatrix, group_flows
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InternalError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import Promise

ONE_IN = 16
"""Steps are judged by such a part of the flows first, those of the first origin tiles: most fail there."""


@dataclass(frozen=True, kw_only=True)
class ODkAnon(FlowMethod):
    """The method of the ODkAnon thesis (chapter 3), for any hierarchy and any promise.

    First, flows that are still unsafe ``levels`` heights up are suppressed, smallest first, within a
    budget in OD rows. Then sibling zones are merged, cheapest group first (trips below it), on the
    axis that keeps the ratio of origins to destinations near its first value, until the smallest
    cell is safe. The order of merges never looks at the matrix and the smallest cell never shrinks,
    so the step to stop at is found by bisection over a precomputed order.

    The method has no suppression at the end: one stubborn cell coarsens the whole map.

    Parameters
    ----------
    levels
        Heights the filter looks up, the same on both sides.
    tolerance
        How far the ratio of origins to destinations may drift before one axis is forced.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([2, 3, 0, 1]))
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> [(str(tree.zones.ids[o]), int(n)) for o, n in zip(release.group_origin, release.trips)]
    [('ab', 2), ('cd', 2)]
    """

    name: ClassVar[str] = "odkanon"
    summary: ClassVar[str] = (
        "merges sibling zones in balance until the smallest flow is safe; zones never overlap"
    )
    source: ClassVar[str] = "Armenante 2025, chapter 3"
    withholds_whole: ClassVar[bool] = False

    levels: int = option(3, help="Heights its filter looks up, the same on both sides.", metavar="N", least=0)
    tolerance: float = option(
        0.03,
        help="How far the ratio of origins to destinations may drift before one axis is forced.",
        metavar="SHARE",
        least=0,
    )

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return one cut per axis, and the flows the filter withheld."""
        return self.merge(matrix, promise, self.withheld(matrix, promise), progress)

    def merge(self, matrix: ODMatrix, promise: Promise, suppressed: Bools, progress: Progress) -> Solution:
        """Return one cut per axis, merged until all flows that are not suppressed are safe."""
        kept = ~suppressed
        origins, destinations, steps = self._merge_order(matrix, kept)
        every = _SafeAfter(matrix, promise, kept, origins, destinations, origins.tree.n_tiles)
        judges = [*every.of_first_tiles(), every]
        low, high = 0, steps
        rounds = steps.bit_length() + 1
        # Invariant: the matrix after `high` merges is safe, and every one before `low` is not.
        while low < high:
            middle = (low + high) // 2
            safe = all(judge.check(middle) for judge in judges)
            low, high = (low, middle) if safe else (middle + 1, high)
            progress("searching the stopping step", rounds - (high - low).bit_length(), rounds)
        return Solution(
            origin_zone=origins.zones_after(high)[matrix.flows.origin],
            destination_zone=destinations.zones_after(high)[matrix.flows.destination],
            suppressed=suppressed,
            homogeneous=True,
        )

    def row_budget(self, matrix: ODMatrix) -> int:
        """Return how many flows may be withheld at most."""
        return int(matrix.n_flows * self.suppression_limit)

    def withheld(self, matrix: ODMatrix, promise: Promise) -> Bools:
        """Return the flows to withhold: hopeless within ``levels`` heights, smallest first, within budget."""
        groups = _lifted(matrix, self.levels)
        # Criteria are monotone, so a flow that is safe at any lower height is safe at this one too.
        # As 32-bit numbers, and no longer than they are needed: they may be as many as all flows.
        hopeless = np.flatnonzero(~promise.safe(groups)[groups.of_flow]).astype(np.int32)
        del groups
        order = np.argsort(matrix.flows.trips[hopeless], kind="stable")
        picked = hopeless[order[: self.row_budget(matrix)]]
        del hopeless, order
        # The published budget counts rows; the limit promised to the user is a share of the volume.
        volume = matrix.volume(main_volume(promise))
        within = np.cumsum(volume[picked]) <= self.suppression_limit * volume.sum()
        suppressed = np.zeros(matrix.n_flows, dtype=bool)
        suppressed[picked[within]] = True
        return suppressed if self._enough_left(matrix, promise, suppressed) else np.zeros_like(suppressed)

    @staticmethod
    def _enough_left(matrix: ODMatrix, promise: Promise, suppressed: Bools) -> bool:
        kept = ~suppressed
        if not kept.any():
            return False
        # Merging ends at the lowest zone that covers what is left, on each axis.
        tops = (
            np.full(matrix.n_flows, tree.covering(_occurring(tree, tile, kept)), dtype=np.int32)
            for tree, tile in matrix.axes[:2]
        )
        rest = group_flows(matrix, *tops, keep=kept, in_order=False)
        return rest is not None and bool(promise.safe(rest).all())

    def _merge_order(self, matrix: ODMatrix, kept: Bools) -> tuple[_MergedAxis, _MergedAxis, int]:
        from tripcloak.flows.methods._kernels.cuts import merge_order

        trips = matrix.flows.trips[kept]
        o = _axis_facts(matrix.origins, matrix.flows.origin[kept], trips)
        d = _axis_facts(matrix.destinations, matrix.flows.destination[kept], trips)
        when_o, when_d, steps = merge_order(
            # Copies are of one type, whatever built the trees: the kernel indexes the pair by axis.
            (matrix.origins.parent.astype(np.int32), matrix.destinations.parent.astype(np.int32)),
            (o.occurring_children, d.occurring_children),
            (o.cost, d.cost),
            (o.rank, d.rank),
            (o.top, d.top),
            (o.active, d.active),
            self.tolerance,
        )
        return _MergedAxis(matrix.origins, when_o), _MergedAxis(matrix.destinations, when_d), steps


def _occurring(tree: Hierarchy, tile: Ints, kept: Bools) -> Ints:
    """Return the tiles that occur in flows that are kept, ascending."""
    occurs = np.zeros(tree.n_tiles, dtype=bool)
    occurs[tile[kept]] = True
    return np.flatnonzero(occurs)


class _AxisFacts(NamedTuple):
    occurring_children: Ints
    cost: Ints
    rank: Ints
    top: int
    active: int


def _axis_facts(tree: Hierarchy, tiles: Ints, trips: Ints) -> _AxisFacts:
    """Return what the merge order needs to know of one axis."""
    cost = tree.sum_below(np.bincount(tiles, trips, minlength=tree.n_tiles).astype(np.int64))
    occurs = cost > 0
    below = np.flatnonzero(occurs[:-1])
    present = np.flatnonzero(np.bincount(tiles, minlength=tree.n_tiles))
    return _AxisFacts(
        occurring_children=np.bincount(tree.parent[below], minlength=len(tree)),
        cost=cost,
        rank=tree.id_rank,
        top=tree.covering(present),
        active=len(present),
    )


class _MergedAxis(NamedTuple):
    tree: Hierarchy
    when: Ints

    def zones_after(self, step: int) -> Ints:
        """Return the zone of every tile after this many merges."""
        return self.tree.highest(self.when <= step)


class _SafeAfter(NamedTuple):
    """Judges cells by flows of origin tiles before ``behind``; cells that reach beyond are left out."""

    matrix: ODMatrix
    promise: Promise
    kept: Bools
    origins: _MergedAxis
    destinations: _MergedAxis
    behind: int

    def of_first_tiles(self) -> list[_SafeAfter]:
        """Return what judges a part of the flows in a part of the time, if cells do not hang together."""
        origin = self.matrix.flows.origin
        behind = int(origin[len(origin) // ONE_IN])
        rows = np.flatnonzero(self.kept & (origin < behind))
        if not self.promise.plain or not len(rows):
            return []
        some = replace(self.matrix, flows=self.matrix.flows.only(rows), points=None, parts=None)
        return [self._replace(matrix=some, kept=np.ones(len(rows), dtype=bool), behind=behind)]

    def check(self, step: int) -> bool:
        """Return whether every cell is safe after this many merges."""
        zones = self.origins.zones_after(step)
        origin, kept = zones[self.matrix.flows.origin], self.kept
        if self.behind < len(zones):
            elsewhere = np.zeros(len(self.origins.tree), dtype=bool)
            elsewhere[zones[self.behind :]] = True
            kept = kept & ~elsewhere[origin]
        groups = group_flows(
            self.matrix,
            origin,
            self.destinations.zones_after(step)[self.matrix.flows.destination],
            keep=kept,
            at_most=most_groups(self.matrix, self.promise),
            in_order=False,
        )
        return groups is not None and bool(self.promise.safe(groups).all())


def most_groups(matrix: ODMatrix, promise: Promise) -> int:
    """Return a number of groups that no safe release exceeds: each needs its share of the volume."""
    volume = main_volume(promise)
    smallest = min(
        k for unit, k in promise.thresholds.items() if (unit == "population") == (volume == "population")
    )
    # One more than there can be: the total of weights may be rounded down.
    return int(matrix.total(volume) / smallest) + 1


def _lifted(matrix: ODMatrix, height: int) -> Groups:
    groups = group_flows(
        matrix,
        matrix.origins.lift(height)[matrix.flows.origin],
        matrix.destinations.lift(height)[matrix.flows.destination],
        in_order=False,
    )
    if groups is None:
        raise InternalError("grouping without a limit gave up")
    return groups
