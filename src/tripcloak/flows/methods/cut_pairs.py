"""Pairs of cuts over safe products: their cost, the best reply to a cut, and moves that keep a limit.

Where time is an axis there is a third cut, and all that is said of pairs holds of three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods.lattice import Levels, Node, Weighed, best_node
from tripcloak.flows.methods.products import DESTINATION, ORIGIN, TIME, SafeProducts, worst_that_fit
from tripcloak.flows.methods.tree_method import best_cut
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.threads import blocks
from tripcloak.hierarchy import Hierarchy

MOST_TURNS = 60

AT_ONCE = 1 << 20
"""Flows whose volume is summed at a time."""


class CutPair(NamedTuple):
    """One cut per axis (the chosen zones of each tree), what it loses and what it suppresses."""

    origins: Bools
    destinations: Bools
    loss: float
    hidden: float
    times: Bools | None = None

    @property
    def cuts(self) -> tuple[Bools, ...]:
        """Return the cuts axis by axis."""
        return (*self[:2], *(() if self.times is None else (self.times,)))

    def cost(self, price: float) -> float:
        """Return the loss plus the price of what is suppressed."""
        return self.loss + price * self.hidden


class Settled(NamedTuple):
    """A pair of cuts, the products that it releases, and their mean loss."""

    pair: CutPair
    released: Bools
    mean: float


class _ByOther(NamedTuple):
    """Products in the order of their zone of one axis: where those of each begin, other zones, numbers."""

    starts: Ints
    zone: Ints
    loss: Floats
    volume: Floats


@dataclass(frozen=True, eq=False)
class CutPairSearch:
    """The safe products, seen as the cells of a matrix between two cuts.

    Attributes
    ----------
    budget : float
        The volume that may be suppressed.
    keeps_safe : bool
        Every safe cell between two cuts is released, however dear.
    """

    products: SafeProducts
    budget: float
    keeps_safe: bool = False

    def __post_init__(self) -> None:
        # At once: later, what it reads of every flow would stand beside all that the search holds.
        _ = self._volumes

    def mean(self, pair: CutPair) -> float:
        """Return the mean loss of what a pair of cuts releases."""
        released = self.products.total - pair.hidden
        return pair.loss / released if released > 0 else float("inf")

    def evaluate(self, origins: Bools, destinations: Bools, price: float = np.inf) -> CutPair:
        """Return a pair of cuts with its loss and suppressed volume; cells dearer than the price go."""
        return self.between((origins, destinations), price)

    def between(self, cuts: Sequence[Bools], price: float = np.inf) -> CutPair:
        """Return the cuts of all axes with their loss and suppressed volume, as above."""
        loss, volume = self._by_zone_of(ORIGIN, cuts, price)
        origins, destinations, *times = cuts
        lost, released = float(loss[origins].sum()), float(volume[origins].sum())
        return CutPair(origins, destinations, lost, self.products.total - released, *times)

    def at_ends(self, pair: CutPair) -> float:
        """Return the volume that a pair of cuts releases in zones below which nothing was looked at."""
        p, volume = self.products, 0.0
        for axis, own in enumerate(pair.cuts):
            tiles = np.arange(len(own)) < p.axes[axis].n_tiles
            released = self._by_zone_of(axis, pair.cuts, np.inf)[1]
            volume += float(released[own & p.ends[axis] & ~tiles].sum())
        return volume

    def descend(self, pair: CutPair, price: float) -> CutPair:
        """Return where taking turns ends: each cut is the best reply to the others at this price."""
        best, idle, n = self.between(pair.cuts, price), 0, len(pair.cuts)
        # Invariant: the cost never rises, so the turns end.
        for turn in range(MOST_TURNS):
            reply = self.reply(turn % n, best, price)
            idle = idle + 1 if reply.cost(price) >= best.cost(price) * (1 - 1e-12) else 0
            best = min(best, reply, key=lambda one: one.cost(price))
            if idle == n:
                break
        return best

    @cached_property
    def free(self) -> Bools:
        """Return the products that may be released as they are."""
        return np.isfinite(self.products.loss)

    def best_uniform(self) -> CutPair | None:
        """Return the pair of uniform cuts that OIGH would choose, from the safe products at hand.

        None where some may not be released and no such pair keeps the limit.
        """
        p, free = self.products, self.free
        axes = tuple(Levels(tree) for tree in p.axes)
        loss, volume = _by_levels(p, axes)

        def weigh(node: Node) -> Weighed | None:
            hidden = p.total - float(volume[node])
            return Weighed(hidden, float(loss[node] / volume[node])) if hidden <= self.budget else None

        best = best_node(volume.shape, weigh) if free.all() else self._best_of_all(loss, volume)
        if best is None:
            return None
        levelled = enumerate(zip(axes, best, strict=True))
        return self.between([self.cut_of(axis, levels.chosen(level)) for axis, (levels, level) in levelled])

    def _best_of_all(self, loss: Floats, volume: Floats) -> Node | None:
        """Return the best node where one may fit and a coarser one not; None if none fits."""
        fits = (self.products.total - volume <= self.budget) & (volume > 0)
        if not fits.any():
            return None
        mean = np.where(fits, loss / np.where(fits, volume, 1.0), np.inf)
        return tuple(int(level) for level in np.unravel_index(np.argmin(mean), mean.shape))

    def split_while_allowed(self, pair: CutPair) -> CutPair:
        """Return the pair after splitting single zones, most gain per suppressed volume first.

        The start is taken with all its safe cells, also those that a price had suppressed.
        """
        pair = self.between(pair.cuts)
        for _ in range(MOST_TURNS):
            before = self.mean(pair)
            for axis in range(len(pair.cuts)):
                pair = self._split_some(axis, pair)
            if self.mean(pair) >= before * (1 - 1e-9):
                break
        return pair

    def settle(self, pair: CutPair) -> Settled:
        """Return the pair with what is left of the budget spent; no worse than at any price within it."""
        p, cells = self.products, self.free.copy()
        for cut, zone in zip(pair.cuts, p.zone, strict=True):
            cells &= cut[zone]
        if not self.keeps_safe:
            cells[worst_that_fit(p, np.flatnonzero(cells), self.budget)] = False
        return Settled(pair, cells, mean_of(p.loss[cells], p.volume[cells]))

    def cut_of(self, axis: int, own: Bools) -> Bools:
        """Return the cut made of the highest zones that stand on their own."""
        from tripcloak.flows.methods._kernels.cuts import highest

        tree, chosen = self.products.axes[axis], own.copy()
        chosen[: tree.n_tiles] = True
        highest(chosen, tree.parent)
        return chosen

    def reply(self, axis: int, pair: CutPair, price: float) -> CutPair:
        """Return the pair with one axis' cut replaced by the best one against the other cut."""
        loss, hidden = self._by_zone(axis, pair.cuts, price)
        cut = best_cut(self.products.axes[axis], loss + price * hidden)
        origins, destinations, *times = _replaced(pair.cuts, axis, cut)
        return CutPair(origins, destinations, float(loss[cut].sum()), float(hidden[cut].sum()), *times)

    def _by_zone(self, axis: int, cuts: Sequence[Bools], price: float) -> tuple[Floats, Floats]:
        """Return, for every zone of one axis, its loss and suppressed volume against the others' cuts."""
        loss, volume = self._by_zone_of(axis, cuts, price)
        return loss, self._volumes[axis] - volume

    def _by_zone_of(self, axis: int, cuts: Sequence[Bools], price: float) -> tuple[Floats, Floats]:
        """Return loss and released volume of every zone of an axis against the cuts of the others."""
        from tripcloak.flows.methods._kernels.cuts import sums_by_zone

        price, size = np.inf if self.keeps_safe else price, len(self.products.axes[axis])
        if len(cuts) == 2:
            return sums_by_zone(*self._by_other[axis], cuts[1 - axis], price, size)
        p = self.products
        inside = self.free & (p.loss <= price)
        for other in (other for other in range(len(cuts)) if other != axis):
            inside &= cuts[other][p.zone[other]]
        rows = np.flatnonzero(inside)
        zone, volume = p.zone[axis][rows], p.volume[rows]
        return np.bincount(zone, p.loss[rows] * volume, size), np.bincount(zone, volume, size)

    @cached_property
    def _by_other(self) -> tuple[_ByOther, _ByOther]:
        """Return all products in the order of their destination zones, and in that of their origin zones."""
        from tripcloak.flows.model._kernels import members_of

        p, found = self.products, []
        for axis in (ORIGIN, DESTINATION):
            starts, row = members_of(p.zone[1 - axis], len(p.axes[1 - axis]))
            found.append(_ByOther(starts, p.zone[axis][row], p.loss[row], p.volume[row]))
        return found[0], found[1]

    @cached_property
    def _volumes(self) -> tuple[Floats, ...]:
        p = self.products
        return tuple(
            tree.sum_below(_by_tile(code, p.flow_volume, tree.n_tiles))
            for tree, code in zip(p.axes, p.codes, strict=True)
        )

    def forget(self) -> None:
        """Let go of the orders of all products, nearly as large as those; they are made again if need be."""
        self.__dict__.pop("_by_other", None)

    def _split_some(self, axis: int, pair: CutPair) -> CutPair:
        """Return the pair after the splits of one axis that pay and fit; they do not touch each other."""
        tree, cut = self.products.axes[axis], pair.cuts[axis]
        loss, hidden = self._by_zone(axis, pair.cuts, np.inf)
        gain = loss - _sum_of_children(tree, loss)
        more = _sum_of_children(tree, hidden) - hidden
        mean = self.mean(pair)
        # A split pays if the mean falls: what it saves outweighs the volume that leaves the mean.
        worth = np.flatnonzero(cut & (tree.zones.height > 0) & (gain > more * mean * (1 + 1e-9)))
        left = self.budget - pair.hidden
        split = cut.copy()
        offsets, members = tree.children
        for zone in worth[np.argsort(-gain[worth] / np.maximum(more[worth], 1e-9), kind="stable")]:
            if more[zone] <= left:
                left -= more[zone]
                split[zone] = False
                split[members[offsets[zone] : offsets[zone + 1]]] = True
        return self.between(_replaced(pair.cuts, axis, split))


def _replaced(cuts: tuple[Bools, ...], axis: int, cut: Bools) -> tuple[Bools, ...]:
    """Return the cuts with that of one axis replaced."""
    return (*cuts[:axis], cut, *cuts[axis + 1 :])


def _by_tile(tile: Ints, volume: Ints | Floats, n: int) -> Floats:
    """Return the volume of every tile, without copies of all flows; whole numbers add up in any order."""
    found = np.zeros(n)
    for some in blocks(len(tile), AT_ONCE):
        found += np.bincount(tile[some], volume[some], minlength=n)
    return found


def mean_of(loss: Floats, volume: Floats) -> float:
    """Return the mean loss by volume, the same to the last digit wherever the numbers lie in memory.

    The proof steps towards it, and what begins with a last digit ends with the first.
    """
    return math.fsum((loss * volume).tolist()) / math.fsum(volume.tolist())


def _by_levels(products: SafeProducts, axes: tuple[Levels, ...]) -> tuple[Floats, Floats]:
    """Return, for every node of the lattice, loss and volume of the safe products between its uniform cuts.

    A zone is in the cut from its own level to below its parent's, so a product is in a box of nodes.
    """
    p, (one, other, *times) = products, axes

    def between(rows: Ints | slice) -> Floats:
        from tripcloak.flows.methods._kernels.cuts import sums_by_corner

        zone = np.ascontiguousarray(p.zone[:2, rows])
        levels = (one.of_zone, other.of_zone), (one.behind, other.behind)
        sizes = len(one) + 1, len(other) + 1
        table = sums_by_corner(zone, p.loss[rows], p.volume[rows], *levels, sizes)
        return table.cumsum(axis=1).cumsum(axis=2)[:, :-1, :-1]

    if not times:
        loss, volume = between(slice(None))
        return loss, volume
    first, behind = times[0].of_zone[p.zone[TIME]], times[0].behind[p.zone[TIME]]
    tables = [between(np.flatnonzero((first <= at) & (at < behind))) for at in range(len(times[0]))]
    loss, volume = np.stack(tables, axis=-1)
    return loss, volume


def _sum_of_children(tree: Hierarchy, values: Floats) -> Floats:
    below = np.zeros(len(tree))
    np.add.at(below, tree.parent[:-1], values[:-1])
    return below
