"""Repair of t-closeness: origins whose destinations give too much away are merged or withheld."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tripcloak.flows.methods.losses import Loss, TileLosses
from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import Promise

if TYPE_CHECKING:
    from tripcloak.flows.methods.method import Solution
    from tripcloak.ground.progress import Progress


def is_close(matrix: ODMatrix, promise: Promise, solution: Solution) -> bool:
    """Return whether every origin zone of a solution is close enough, in the numbers to be published."""
    return not promise.by_release or not len(_too_far(matrix, promise, solution))


def repair(
    matrix: ODMatrix,
    promise: Promise,
    starts: Sequence[Solution],
    *,
    limit: float,
    loss: Loss,
    progress: Progress,
) -> Solution:
    """Return a solution with every origin zone close, made by merging origins or withholding their flows.

    An origin zone that fails is merged with everything below its parent, or its flows are withheld
    while the limit allows it, whichever leaves the smaller mean loss. That is repeated, and it ends:
    labels only ever move up, and all origins together have the destinations of all. Since coarser
    destinations tell less, all this is tried with the destinations as they are and lifted to each
    height, from every start, and the answer with the least mean loss is taken. A merged group contains
    a safe one, so it is safe; flows that were withheld come back where they now fit. The repair is
    greedy and proves nothing, so there is no bound.

    Parameters
    ----------
    starts
        Solutions within the limit; those that leave some of it leave room to withhold.
    limit
        Share of the volume that may be withheld.
    loss
        What is held small.
    """
    least, best = np.inf, starts[0]
    tried = 0
    for start in starts:
        for height in _Repair(matrix, promise, start, limit, loss).heights():
            work = _Repair(matrix, promise, start, limit, loss)
            work.lift_destinations(height)
            # Merging only adds to the loss, so what begins above the best so far will not end below it.
            if work.mean_loss() >= least:
                break
            while len(failing := _too_far(matrix, promise, work.solution)):
                work.treat(failing)
            if (mean := work.mean_loss()) < least:
                least, best = mean, work.solution
            tried += 1
            progress("making destinations close", tried, None)
    return best


def _too_far(matrix: ODMatrix, promise: Promise, solution: Solution) -> Ints:
    """Return the origin zones that are not close enough."""
    zones = solution.origin_zone, solution.destination_zone
    groups = group_flows(matrix, *zones, keep=~solution.suppressed)
    assert groups is not None
    volume = np.rint(groups.support(main_volume(promise)))
    told = matrix.destinations, groups.origin, groups.destination, volume
    return np.unique(np.concatenate([part.too_far(*told) for part in promise.by_release]))


class _Merge(NamedTuple):
    """What becomes of some flows when the origins below chosen zones are merged.

    ``flows`` are rows of the matrix, ``joins`` those among them that were withheld before, and ``into``
    the merged origin zone of each, with its new destination.
    """

    flows: Ints
    joins: Bools
    into: Ints
    destination: Ints


class _Repair:
    """The solution as it stands: where every flow goes, what is withheld, and what it loses."""

    def __init__(
        self, matrix: ODMatrix, promise: Promise, solution: Solution, limit: float, loss: Loss
    ) -> None:
        self.matrix, self.promise, self.given = matrix, promise, solution
        self.tree = matrix.origins
        self.hidden = solution.suppressed.copy()
        # Methods need not say where a withheld flow would have gone.
        self.origin = np.where(self.hidden, matrix.flows.origin, solution.origin_zone)
        self.destination = np.where(self.hidden, matrix.flows.destination, solution.destination_zone)
        self.volume = matrix.volume(main_volume(promise)).astype(np.float64)
        self.budget = limit * float(self.volume.sum())
        self.losses = TileLosses(loss, matrix.origins), TileLosses(loss, matrix.destinations)

    @property
    def solution(self) -> Solution:
        """Return the solution as it stands, without a bound."""
        return self.given._replace(
            origin_zone=self.origin, destination_zone=self.destination, suppressed=self.hidden, bound=None
        )

    def mean_loss(self) -> float:
        """Return the mean loss of what is released."""
        shown = np.where(self.hidden, 0.0, self.volume)
        return float(self._loss(self.origin, self.destination) @ shown / shown.sum())

    def heights(self) -> range:
        """Return the heights to lift destinations to: none where origins overlap, since flows then might."""
        shown = self._shown
        apart = not (self._holds_another(shown) & shown).any()
        return range(len(self.matrix.destinations.levels) if apart else 1)

    def lift_destinations(self, height: int) -> None:
        """Release every flow with a destination of at least this height, as far as the tree has one."""
        if height == 0:
            return
        f = self.matrix.flows
        lifted = np.maximum(self.destination, self.matrix.destinations.lift(height)[f.destination])
        self.destination = np.where(self.hidden, self.destination, lifted)
        shown = self._shown
        into = np.where(self.hidden, self.tree.highest(shown)[f.origin], self.origin)
        self._apply(self._regrouped(into, shown[into]))

    def treat(self, failing: Ints) -> None:
        """Merge or withhold every failing zone, those first that lie in no other zone to be merged."""
        target = self._targets(failing)
        chosen = np.zeros(len(self.tree), dtype=bool)
        chosen[target] = True
        lowest = ~self._holds_another(chosen)[target]
        failing, target = failing[lowest], target[lowest]
        chosen[:] = False
        chosen[target] = True
        merge = self._merged(chosen)
        withheld = self._cheaper_to_withhold(failing, target, merge)
        self.hidden |= np.isin(self.origin, failing[np.isin(target, withheld)])
        stay = ~np.isin(merge.into, withheld)
        self._apply(_Merge(*(part[stay] for part in merge)))

    def _targets(self, failing: Ints) -> Ints:
        """Return the zone to merge below for every failing one: itself where finer labels lie in it."""
        inner = self._holds_another(self._shown)
        return np.where(inner[failing], failing, self.tree.parent[failing])

    @property
    def _shown(self) -> Bools:
        """Return which origin zones are released."""
        shown = np.zeros(len(self.tree), dtype=bool)
        shown[self.origin[~self.hidden]] = True
        return shown

    def _holds_another(self, chosen: Bools) -> Bools:
        """Return, for every zone, whether a chosen one lies strictly below it."""
        inner = np.zeros(len(self.tree), dtype=bool)
        for level in self.tree.levels[:-1]:
            inner[self.tree.parent[level][chosen[level] | inner[level]]] = True
        return inner

    def _merged(self, chosen: Bools) -> _Merge:
        """Return what becomes of the flows below the chosen zones, which do not overlap."""
        into = self.tree.highest(chosen)[self.matrix.flows.origin]
        # On the way from a tile to the root zones are numbered upwards: no higher means inside.
        return self._regrouped(into, chosen[into] & (self.hidden | (self.origin <= into)))

    def _regrouped(self, into: Ints, affected: Bools) -> _Merge:
        """Return what becomes of the flows that are affected when they go to these origin zones."""
        released = np.flatnonzero(affected & ~self.hidden)
        family = _Family(self.matrix.destinations, into[released], self.destination[released])
        back = np.flatnonzero(affected & self.hidden)
        home = self._homes(into[back], back, family)
        back, home = back[home >= 0], home[home >= 0]
        flows = np.concatenate((released, back))
        destination = np.concatenate((family.highest(into[released], self.destination[released]), home))
        joins = np.arange(len(flows)) >= len(released)
        return self._only_safe(_Merge(flows, joins, into[flows], destination))

    def _homes(self, into: Ints, flows: Ints, family: _Family) -> Ints:
        """Return the destination zone that withheld flows would have after the merge, -1 for none."""
        tiles = self.matrix.flows.destination[flows]
        if not self.given.homogeneous:
            return family.highest(into, tiles)
        cut = np.zeros(len(self.matrix.destinations), dtype=bool)
        cut[self.destination[~self.hidden]] = True
        return self.matrix.destinations.highest(cut)[tiles]

    def _only_safe(self, merge: _Merge) -> _Merge:
        """Return the merge without the withheld flows whose new group would not be safe."""
        origin, destination = self.origin.copy(), self.destination.copy()
        origin[merge.flows], destination[merge.flows] = merge.into, merge.destination
        keep = np.zeros(len(origin), dtype=bool)
        keep[merge.flows] = True
        groups = group_flows(self.matrix, origin, destination, keep=keep)
        assert groups is not None
        stay = ~merge.joins | self.promise.safe(groups)[groups.of_flow[merge.flows]]
        return _Merge(*(part[stay] for part in merge))

    def _cheaper_to_withhold(self, failing: Ints, target: Ints, merge: _Merge) -> Ints:
        """Return the targets whose failing zones are withheld rather than merged, within the limit."""
        shown = np.where(self.hidden, 0.0, self.volume)
        cost = self._loss(self.origin, self.destination) * shown
        gone, saved = (self._per_target(failing, target, values) for values in (shown, cost))
        options = np.unique(target)
        options = options[gone[options] < shown.sum()]
        volume, loss = shown.sum(), cost.sum()
        more, back = self._after(merge, cost)
        merged = (loss + more[options]) / (volume + back[options])
        withheld = (loss - saved[options]) / (volume - gone[options])
        gain = (merged - withheld) / gone[options]
        order = np.argsort(-gain, kind="stable")
        left = self.budget - float(self.volume[self.hidden].sum())
        return _that_fit(options[order][gain[order] > 0], gone, left)

    def _per_target(self, failing: Ints, target: Ints, values: Floats) -> Floats:
        """Return, per target, the sum over the flows of its failing zones."""
        each = np.bincount(self.origin, values, minlength=len(self.tree))[failing]
        return np.bincount(target, each, minlength=len(self.tree))

    def _after(self, merge: _Merge, cost: Floats) -> tuple[Floats, Floats]:
        """Return, per target, how much loss and volume the merge would add to what is released."""
        origin, destination = self.origin.copy(), self.destination.copy()
        origin[merge.flows], destination[merge.flows] = merge.into, merge.destination
        volume = self.volume[merge.flows]
        change = self._loss(origin, destination)[merge.flows] * volume - cost[merge.flows]
        size = len(self.tree)
        more = np.bincount(merge.into, change, minlength=size)
        return more, np.bincount(merge.into, volume * merge.joins, minlength=size)

    def _loss(self, origin: Ints, destination: Ints) -> Floats:
        """Return what one unit of each flow's volume loses when the flow goes to this pair of zones."""
        f, (from_, to) = self.matrix.flows, self.losses
        return from_.of(f.origin, origin) + to.of(f.destination, destination)

    def _apply(self, merge: _Merge) -> None:
        self.origin[merge.flows], self.destination[merge.flows] = merge.into, merge.destination
        self.hidden[merge.flows] = False


def _that_fit(options: Ints, volume: Floats, left: float) -> Ints:
    """Return the options in their order whose volume still fits."""
    taken = []
    for option in options.tolist():
        if volume[option] <= left:
            taken.append(option)
            left -= volume[option]
    return np.array(taken, dtype=np.int64)


class _Family:
    """The destination zones that belong to each of some origin zones."""

    def __init__(self, tree: Hierarchy, origin: Ints, destination: Ints) -> None:
        self._tree = tree
        self._keys = np.unique(self._key(origin, destination))

    def highest(self, origin: Ints, zone: Ints) -> Ints:
        """Return, for every zone, the highest of it and those above that belong to the origin, or -1."""
        pairs, place = np.unique(self._key(origin, zone), return_inverse=True)
        origin, here = np.divmod(pairs, len(self._tree))
        found = np.full(len(pairs), -1, dtype=np.int64)
        # Invariant: `found` is the highest that belongs, up to the zones of `here`.
        while len(pairs) and (inside := here >= 0).any():
            belongs = inside & self._has(origin, here)
            found[belongs] = here[belongs]
            here = np.where(inside, self._tree.parent[here], -1)
        return found[place].astype(np.int32)

    def _has(self, origin: Ints, zone: Ints) -> Bools:
        keys = self._key(origin, zone)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.asarray(self._keys[at] == keys) if len(self._keys) else np.zeros(len(keys), dtype=bool)

    def _key(self, origin: Ints, zone: Ints) -> Ints:
        return origin.astype(np.int64) * len(self._tree) + zone
