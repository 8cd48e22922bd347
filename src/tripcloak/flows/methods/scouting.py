"""Scouting: where the best cuts lie, so that of many zones only those about them are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods.cut_pairs import CutPair, CutPairSearch
from tripcloak.flows.methods.losses import Loss, ZoneLoss, depths, losses_of
from tripcloak.flows.methods.productcut import highest_price
from tripcloak.flows.methods.products import DESTINATION, ORIGIN, Axis, SafeProducts, find_products
from tripcloak.flows.methods.tree_method import PricedPartition, PriceSearch
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.progress import Progress
from tripcloak.hierarchy import Hierarchy, Lineage
from tripcloak.promises import Promise

MANY, DEEP = 50_000, 300
"""Flows, and depths of both trees multiplied, from which on it pays to look at some zones only."""

THINNER, COARSE = 5.0, 16.0
"""The scout sees levels with so many times the zones of the last, and at most this share of the tiles."""

FINER = 4.0
"""Zones below a cut are divided further while they are larger than such a part of the cut's zone."""

DEARER = 2.0
"""Zones that lose more than so many times the price are not looked at: what is in them is withheld."""

ROUGHLY = 1e-3
"""How closely the price of a reply is found."""


class Cuts(NamedTuple):
    """A cut of every axis, as the zones that are in it, and the price at which they were found."""

    origins: Bools
    destinations: Bools
    price: float


@dataclass(frozen=True, eq=False)
class Scout:
    """Looks at few zones to learn which ones matter.

    First at products of some levels alone, as coarse as they are few; from the best pair of cuts there each
    axis is cut anew against the other's cut, now in all its zones: that takes one pass over the flows. What
    lies far below these cuts is not looked at any more, nor what is so coarse that it will be withheld.

    Attributes
    ----------
    limit : float
        The share of the volume that may be suppressed.
    """

    matrix: ODMatrix
    promise: Promise
    loss: Loss
    limit: float
    progress: Progress

    def look(self, search: Callable[[CutPairSearch], tuple[CutPair, float]]) -> Cuts:
        """Return cuts that are near the best ones.

        Parameters
        ----------
        search
            Gives the best pair of cuts over some products, and its price.
        """
        few = [Axis(tree, codes, lineage=thinned(tree)) for tree, codes in self._axes]
        products = self._find((few[0], few[1]))
        pair, price = search(CutPairSearch(products, products.budget(self.limit)))
        origins, _ = self._reply(ORIGIN, pair.destinations, price)
        destinations, price = self._reply(DESTINATION, origins, price)
        return Cuts(origins, destinations, price)

    def around(self, cuts: Cuts) -> SafeProducts:
        """Return the safe products of zones that are above these cuts, or little below."""
        axes = [
            Axis(tree, codes, lineage=self._without_dear(tree, about(tree, cut), cuts.price))
            for (tree, codes), cut in zip(self._axes, cuts[:2], strict=True)
        ]
        return replace(self._find((axes[0], axes[1])), highest=DEARER * cuts.price)

    def _reply(self, axis: int, other: Bools, price: float) -> tuple[Bools, float]:
        """Return the best cut of an axis against a cut of the other one within the limit, and its price."""
        (tree, codes), (fixed, theirs) = self._axes[axis], self._axes[1 - axis]
        whole = np.full(fixed.n_tiles, fixed.root, dtype=np.int32)
        lineage = Lineage.through([whole, fixed.highest(other)])
        against = Axis(fixed, theirs, must_split=not other[fixed.root], lineage=lineage)
        own = Axis(tree, codes, lineage=self._without_dear(tree, tree.lineage, price))
        products = self._find((against, own), turned=axis == ORIGIN)
        pairs = CutPairSearch(products, products.budget(self.limit))
        start = CutPair(other, np.arange(len(tree)) == tree.root, 0.0, 0.0)

        def solve(price: float) -> PricedPartition:
            pair = pairs.reply(1, start, price)
            return PricedPartition(price, pair.loss, pair.hidden, pair.destinations)

        search = PriceSearch(solve, pairs.budget, products.total, close=ROUGHLY, possible=False)
        offer = search.run(highest_price(products))
        return offer.plan, offer.price

    def _without_dear(self, tree: Hierarchy, lineage: Lineage, price: float) -> Lineage:
        """Return a lineage without zones that lose much more than the price, root and lowest ones apart."""
        dear: Bools = least_losses(self.loss, tree) > DEARER * price
        dear[tree.root] = False
        dear[lineage.lowest] = False
        return lineage.without(dear)

    def _find(self, axes: tuple[Axis, Axis], *, turned: bool = False) -> SafeProducts:
        return find_products(self.matrix, self.promise, self.loss, self.progress, axes=axes, turned=turned)

    @property
    def _axes(self) -> tuple[tuple[Hierarchy, Ints], ...]:
        return self.matrix.axes[:2]


def pays(matrix: ODMatrix, loss: Loss) -> bool:
    """Return whether there is so much to look at that scouting pays: many flows, and trees of many heights.

    It does not where the loss differs between the tiles of a zone: there too little is known of what was not
    looked at.
    """
    first, second = (len(tree.lineage.ancestors) for tree, _ in matrix.axes[:2])
    return isinstance(loss, ZoneLoss) and matrix.n_flows >= MANY and first * second >= DEEP


def least_losses(loss: Loss, tree: Hierarchy) -> Floats:
    """Return, for every zone, what no tile loses less than by being released as it."""
    at = tree.lineage
    least = np.full(len(tree), np.inf)
    for zone, lost in zip(at.by_rank, losses_of(loss, tree, at.ancestors)[:, at.leaves], strict=True):
        begins = np.flatnonzero(np.append(True, zone[1:] != zone[:-1]))
        least[zone[begins]] = np.where(zone[begins] >= 0, np.minimum.reduceat(lost, begins), least[-1])
    return least


def thinned(tree: Hierarchy) -> Lineage:
    """Return the lineage through some levels alone: the root, and each with several times as many zones."""
    cuts, zones = [np.full(tree.n_tiles, tree.root, dtype=np.int32)], 1
    for height in range(len(tree.levels) - 2, -1, -1):
        cut = tree.lift(height)
        number = len(np.unique(cut))
        if number >= THINNER * zones:
            if number > tree.n_tiles / COARSE and len(cuts) > 1:
                break
            cuts.append(cut)
            zones = number
    return Lineage.through(cuts)


def about(tree: Hierarchy, cut: Bools) -> Lineage:
    """Return the lineage down to the zones of a cut, and further while what is divided is not too small."""
    lineage, size = tree.lineage, tree.zones.tiles
    zone = tree.highest(cut)
    allowed = depths(tree)[zone].astype(np.int64)
    least = size[zone] / FINER
    # Invariant: every tile whose depth is still allowed to grow has a zone there that is large enough.
    for row, above in enumerate(lineage.ancestors[:-1]):
        grows = (row == allowed) & (above >= 0) & (size[above] > least)
        allowed[grows] += 1
    return lineage.down_to(allowed)
