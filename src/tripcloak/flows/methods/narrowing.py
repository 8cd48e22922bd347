"""Narrowing: the products that a best pair of cuts may be made of, in a range of prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripcloak.flows.methods.products import DESTINATION, ORIGIN, SafeProducts
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.hierarchy import Hierarchy

SWEEPS = 3
"""How often each axis is looked at: what is known of one tells more about the other."""


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The safe products that are left, the root first and every product behind those it is a part of.

    Attributes
    ----------
    rows : array (n,)
        Their places among all safe products.
    zone, up : array (axes, n)
        Zones, and the product above with the next zone that is left on that axis, -1 for none.
    volume, loss : array (n,)
        As they are among all safe products.
    whole, last : tuple of arrays (n,)
        Whether the zone of an axis is its root, and whether it is never divided.
    divided : tuple of arrays
        For every zone of an axis, whether it is always divided.
    """

    rows: Ints
    zone: Ints
    up: Ints
    volume: Floats
    loss: Floats
    whole: tuple[Bools, Bools]
    last: tuple[Bools, Bools]
    divided: tuple[Bools, Bools]


def narrow(products: SafeProducts, prices: tuple[float, float], *, keeps_safe: bool = False) -> Narrowed:
    """Return the products without those that some best pair of cuts does without, at any of these prices.

    A zone that saves no less undivided whatever the cut of the other axis is never divided; one that never
    saves more than its children is always divided. At least one of the best pairs of cuts agrees with all
    of that, so what bounds the pairs that are left bounds all.

    Parameters
    ----------
    prices
        The lowest and the highest price that it holds for.
    keeps_safe
        What is safe is released however dear it is.
    """
    return _Narrowing(products, prices, keeps_safe).run()


class _Narrowing:
    def __init__(self, products: SafeProducts, prices: tuple[float, float], keeps_safe: bool) -> None:
        self.products = products
        free = np.isfinite(products.loss)
        volume, loss = np.where(free, products.volume, 0.0), np.where(free, products.loss, 0.0)
        least = -np.inf if keeps_safe else 0.0
        self.low, self.high = (np.maximum(volume * (price - loss), least) for price in prices)
        self.steady = free & (keeps_safe | (loss <= prices[0]))
        self.alive = np.ones(len(products), dtype=bool)
        self.stops = tuple(np.arange(len(tree)) < tree.n_tiles for tree in products.axes)
        self.divides = tuple(np.zeros(len(tree), dtype=bool) for tree in products.axes)

    def run(self) -> Narrowed:
        for axis in (ORIGIN, DESTINATION) * SWEEPS:
            self._look_at(axis)
        p = self.products
        kept = self.alive.copy()
        for axis in (ORIGIN, DESTINATION):
            kept &= ~self.divides[axis][p.zone[axis]]
        return self._left(np.flatnonzero(kept), kept)

    def _look_at(self, axis: int) -> None:
        """Find zones of an axis that are never divided, forget what lies below, and those that always are."""
        from tripcloak.flows.methods._kernels.narrowing import gain_of_dividing, gain_of_keeping

        p, other = self.products, 1 - axis
        tree = p.axes[axis]
        ups, zones = (p.up[axis], p.up[other]), (p.zone[axis], p.zone[other])
        rest = ups, zones, self.stops[other], self.divides[other], len(tree)
        gain = gain_of_dividing(self.low, self.high, self.steady, self.alive, *rest)
        open_ = ~self.stops[axis] & ~self.divides[axis]
        self.stops[axis][open_ & (gain <= 0)] = True
        self.alive &= ~_below(tree, self.stops[axis])[p.zone[axis]]
        gain = gain_of_keeping(self.low, self.high, self.alive, *rest)
        self.divides[axis][~self.stops[axis] & (gain <= 0)] = True
        self.divides[axis][tree.root] = False

    def _left(self, rows: Ints, kept: Bools) -> Narrowed:
        from tripcloak.flows.methods._kernels.narrowing import contract

        p, zone = self.products, self.products.zone[:, rows]
        return Narrowed(
            rows=rows,
            zone=zone,
            up=np.stack([contract(kept, up) for up in p.up]),
            volume=p.volume[rows],
            loss=p.loss[rows],
            whole=(zone[0] == p.axes[0].root, zone[1] == p.axes[1].root),
            last=(self.stops[0][zone[0]], self.stops[1][zone[1]]),
            divided=(self.divides[0], self.divides[1]),
        )


def _below(tree: Hierarchy, stops: Bools) -> Bools:
    """Return the zones that lie below one that is never divided."""
    below = np.zeros(len(tree), dtype=bool)
    # Invariant: every zone above the level at hand already knows.
    for level in reversed(tree.levels[:-1]):
        above = tree.parent[level]
        below[level] = below[above] | stops[above]
    return below
