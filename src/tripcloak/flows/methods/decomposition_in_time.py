"""Dual decomposition where time is an axis: three problems share every saving."""

from __future__ import annotations

import numpy as np

from tripcloak.flows.methods.decomposition import INERTIA, Rounds
from tripcloak.flows.methods.productcut import cyclic_orders, whole_zones
from tripcloak.flows.methods.products import SafeProducts
from tripcloak.ground.arrays import Bools, Floats


class DecompositionInTime(Rounds):
    """Proves how low the loss of any three cuts can be, one of origins, one of destinations, one of time.

    As with two cuts, but for one more problem: each of the three takes one axis first, gives each of its
    zones a cut of the next axis of its own, and each pair of zones a cut of the last axis of its own. A third
    of every saving goes to each, and shifts that add up to nothing. What the three save together is never
    less than what any three cuts save.

    Parameters
    ----------
    budget
        The volume that may be suppressed.
    price
        Where to begin.
    keeps_safe
        What is safe is released however dear it is, so that it may cost instead of save.
    """

    def __init__(
        self, products: SafeProducts, budget: float, price: float, *, keeps_safe: bool = False
    ) -> None:
        super().__init__(products.total, budget, price)
        self._products, self._keeps_safe = products, keeps_safe
        self._orders = [(first, second, third) for first, second, third in cyclic_orders(3)]
        n = len(products)
        free = np.isfinite(products.loss)
        # What may not be released as it is saves nothing undivided, and counts for nothing.
        self._loss, self._volume = np.where(free, products.loss, 0.0), np.where(free, products.volume, 0.0)
        self._whole = whole_zones(products)
        self._last = np.stack([some[zone] for some, zone in zip(products.ends, products.zone, strict=True)])
        self._shifts, self._pulls = np.zeros((3, n)), np.zeros((3, n))
        self._shares, self._sums = np.empty((3, n)), np.empty((3, n))
        self._chosen, self._divided = np.zeros((3, n), dtype=bool), np.zeros((3, 2, n), dtype=bool)

    @property
    def size(self) -> int:
        """Return how many products every round looks at."""
        return self._shares.size

    @property
    def n_open(self) -> int:
        """Return how many zones may be divided or not: nothing is ruled out here."""
        return sum(len(tree) for tree in self._products.axes)

    def cut(self, axis: int) -> Bools:
        """Return the zones of an axis that the problem which cuts it first would rather not divide."""
        p, own = self._products, np.ones(len(self._products.axes[axis]), dtype=bool)
        whole = np.logical_and.reduce([self._whole[other] for other in self._orders[axis][1:]])
        own[p.zone[axis][whole]] = ~self._divided[axis, 0][whole]
        return own

    def _savings(self) -> Floats:
        saving: Floats = self._volume * (self.price - self._loss)
        if not self._keeps_safe:
            np.maximum(saving, 0.0, out=saving)
        np.add(saving / 3, self._shifts, out=self._shares)
        return saving

    def _solve_all(self) -> float:
        from tripcloak.flows.methods._kernels.decomposition import best_nested_in_time

        saved, fixed = 0.0, (self._products.up, self._whole, self._last)
        for number, order in enumerate(self._orders):
            answer = self._sums, self._chosen[number], self._divided[number]
            saved += best_nested_in_time(self._shares[number], *fixed, order, *answer)
        return saved

    def _pull_apart(self, saving: Floats) -> tuple[float, float, float]:
        used = self._chosen.mean(axis=0)
        differs = used - self._chosen
        np.multiply(self._pulls, INERTIA, out=self._pulls)
        self._pulls += differs
        weight, some = np.sqrt(np.abs(saving)), saving != 0.0
        released = float(self._volume[some] @ used[some])
        return released, float((differs**2 @ weight).sum()), float((self._pulls**2 @ weight).sum())

    def _move(self, saving: Floats, step: float) -> None:
        self._shifts += step * np.sqrt(np.abs(saving)) * self._pulls
