"""Narrowing: the products that a best pair of cuts may be made of, in a range of prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods.products import DESTINATION, ORIGIN, SafeProducts
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.hierarchy import Hierarchy

SWEEPS = 1
"""How often each axis is looked at: more tells hardly more, and takes as long again."""


class Ruled(NamedTuple):
    """Zones, for each axis, that are never divided, and that always are where they come up."""

    never: tuple[Bools, Bools]
    always: tuple[Bools, Bools]

    @classmethod
    def none(cls, trees: tuple[Hierarchy, ...]) -> Ruled:
        """Return that nothing is known."""
        never, always = (tuple(np.zeros(len(tree), dtype=bool) for tree in trees) for _ in range(2))
        return cls((never[0], never[1]), (always[0], always[1]))

    def copy(self) -> Ruled:
        """Return the same in arrays of its own."""
        (a, b), (c, d) = self
        return Ruled((a.copy(), b.copy()), (c.copy(), d.copy()))


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The safe products that are left, the root first and every product behind those it is a part of.

    Attributes
    ----------
    axes : tuple
        The trees.
    rows : array (n,)
        Their places among all safe products.
    zone, up : array (axes, n)
        Zones, and the product above with the next zone that is left on that axis, -1 for none.
    volume, loss : array (n,)
        As they are among all safe products.
    whole, last : tuple of arrays (n,)
        Whether the zone of an axis is its root, and whether it is never divided.
    divided : tuple of arrays
        For every zone of an axis, whether it is always divided. Products of a root are kept all the same.
    ends : tuple of arrays
        As it is of all safe products.
    """

    axes: tuple[Hierarchy, ...]
    rows: Ints
    zone: Ints
    up: Ints
    volume: Floats
    loss: Floats
    whole: tuple[Bools, Bools]
    last: tuple[Bools, Bools]
    divided: tuple[Bools, Bools]
    ends: tuple[Bools, ...]

    @property
    def barred(self) -> Bools:
        """Return the products of a root that is always divided."""
        one, other = (self.whole[axis] & self.divided[axis][self.axes[axis].root] for axis in (0, 1))
        barred: Bools = one | other
        return barred

    @property
    def open(self) -> tuple[Bools, Bools]:
        """Return, for every zone of an axis, whether it may be divided or not and is left."""
        found = []
        for axis, tree in enumerate(self.axes):
            some = np.zeros(len(tree), dtype=bool)
            some[self.zone[axis][self.whole[1 - axis] & ~self.last[axis]]] = True
            found.append(some & ~self.divided[axis])
        return found[0], found[1]


def narrow(
    products: SafeProducts | Narrowed,
    prices: tuple[float, float],
    *,
    keeps_safe: bool = False,
    ruled: Ruled | None = None,
) -> Narrowed:
    """Return the products without those that some best pair of cuts does without, at any of these prices.

    A zone that saves no less undivided whatever the cut of the other axis is never divided; one that never
    saves more than its children is always divided. At least one of the best pairs of cuts agrees with all
    of that, so what bounds the pairs that are left bounds all.

    Parameters
    ----------
    products
        All of them, or what was left at prices about these.
    prices
        The lowest and the highest price that it holds for.
    keeps_safe
        What is safe is released however dear it is.
    ruled
        What is known of zones already: only pairs of cuts that agree with it are looked at.
    """
    if ruled is not None:
        # What is left must hang together without such zones before others can be held against their parts.
        products = leave_out(products, ruled)
    return _Narrowing(products, prices, keeps_safe).run()


def leave_out(products: SafeProducts | Narrowed, ruled: Ruled) -> Narrowed:
    """Return the products that pairs of cuts are made of which agree with what is ruled: all such pairs."""
    return _Left(products, ruled).rest()


class _Left:
    """What is left of products by what is known of zones."""

    def __init__(self, products: SafeProducts | Narrowed, ruled: Ruled) -> None:
        self.products = products
        self.stops = tuple(never | ends for never, ends in zip(ruled.never, products.ends, strict=True))
        self.divides = tuple(always.copy() for always in ruled.always)
        if isinstance(products, Narrowed):
            for axis in (ORIGIN, DESTINATION):
                self.stops[axis][products.zone[axis][products.last[axis]]] = True
                self.divides[axis][products.divided[axis]] = True
        self.alive = np.ones(len(products.volume), dtype=bool)
        for axis in (ORIGIN, DESTINATION):
            self.forget_below(axis)

    def forget_below(self, axis: int) -> None:
        """Forget the products below zones that are never divided."""
        self.alive &= ~below(self.products.axes[axis], self.stops[axis])[self.products.zone[axis]]

    def rest(self) -> Narrowed:
        """Return what is left by what is known so far."""
        p = self.products
        kept = self.alive.copy()
        for axis in (ORIGIN, DESTINATION):
            gone = self.divides[axis].copy()
            # The roots hold what is left together.
            gone[p.axes[axis].root] = False
            kept &= ~gone[p.zone[axis]]
        return self._left(np.flatnonzero(kept), kept)

    def _left(self, rows: Ints, kept: Bools) -> Narrowed:
        from tripcloak.flows.methods._kernels.narrowing import contract

        p, zone = self.products, self.products.zone[:, rows]
        return Narrowed(
            axes=p.axes,
            rows=p.rows[rows] if isinstance(p, Narrowed) else rows,
            zone=zone,
            up=np.stack([contract(kept, up) for up in p.up]),
            volume=p.volume[rows],
            loss=p.loss[rows],
            whole=(zone[0] == p.axes[0].root, zone[1] == p.axes[1].root),
            last=(self.stops[0][zone[0]], self.stops[1][zone[1]]),
            divided=(self.divides[0], self.divides[1]),
            ends=p.ends,
        )


class _Narrowing(_Left):
    def __init__(
        self, products: SafeProducts | Narrowed, prices: tuple[float, float], keeps_safe: bool
    ) -> None:
        super().__init__(products, Ruled.none(products.axes))
        free = np.isfinite(products.loss)
        volume, loss = np.where(free, products.volume, 0.0), np.where(free, products.loss, 0.0)
        least = -np.inf if keeps_safe else 0.0
        self.low, self.high = (np.maximum(volume * (price - loss), least) for price in prices)
        self.steady = free & (keeps_safe | (loss <= prices[0]))

    def run(self) -> Narrowed:
        for axis in (ORIGIN, DESTINATION) * SWEEPS:
            self._look_at(axis)
        return self.rest()

    def _look_at(self, axis: int) -> None:
        """Find zones of an axis that are never divided, forget what lies below, and those that always are."""
        from tripcloak.flows.methods._kernels.narrowing import gain_of_dividing, gain_of_keeping

        p, other = self.products, 1 - axis
        tree = p.axes[axis]
        ups, zones = (p.up[axis], p.up[other]), (p.zone[axis], p.zone[other])
        rest = ups, zones, self.stops[other], self.divides[other], len(tree)
        # Zones with no product at all tell nothing: what lies below them may have some.
        gain = gain_of_dividing(self.low, self.high, self.steady, self.alive, *rest)
        occurs = np.zeros(len(tree), dtype=bool)
        occurs[p.zone[axis]] = True
        self.stops[axis][occurs & ~self.stops[axis] & ~self.divides[axis] & (gain <= 0)] = True
        self.forget_below(axis)
        gain = gain_of_keeping(self.low, self.high, self.alive, *rest)
        found = ~self.stops[axis] & (gain <= 0)
        found[tree.root] = False
        self.divides[axis][found] = True


def below(tree: Hierarchy, stops: Bools) -> Bools:
    """Return the zones that lie below one that is never divided."""
    found = np.zeros(len(tree), dtype=bool)
    # Invariant: every zone above the level at hand already knows.
    for level in reversed(tree.levels[:-1]):
        above = tree.parent[level]
        found[level] = found[above] | stops[above]
    return found
