"""Dual decomposition: what no pair of cuts can go below, from two problems that share every saving."""

from __future__ import annotations

import numpy as np

from tripcloak.flows.methods.narrowing import narrow
from tripcloak.flows.methods.products import DESTINATION, ORIGIN, SafeProducts
from tripcloak.flows.methods.tree_method import least_mean
from tripcloak.ground.arrays import Bools

INERTIA = 0.8
"""How much of the last pull is kept: single answers swing from side to side, and their sum does not."""

PRICE_WEIGHT = 200.0
"""How much the price moves against the shifts, where it hides or releases a volume of the limit's size."""

PACE, PATIENCE, SHORTER = 1.5, 10, 0.7
"""How long the first steps are, against those that would end where they aim at if all were straight; after
so many rounds that prove nothing new they become shorter, by this factor."""

FURTHEST = 1.1
"""The price grows or falls by no more than this factor in a round."""

RANGE = 0.8, 1.25
"""Products are narrowed for prices from here to there times the one at hand, and anew beyond."""


class Decomposition:
    """Proves how low the loss of any pair of cuts can be, round by round.

    At a price of suppression, releasing a safe product saves its volume times what its loss lies below
    the price. One origin cut and one destination cut save most together: that problem is hard. Each saving is
    shared between two that are not: the first lets every origin zone have a destination cut of its
    own, the second every destination zone an origin cut. Both may do what a pair of cuts does, so what
    the two save is never less, however the savings are shared. Shares and price move to where the two
    agree: by subgradients, in steps that aim at the best pair of cuts known.

    Parameters
    ----------
    budget
        The volume that may be suppressed.
    price
        Where to begin.
    keeps_safe
        What is safe is released however dear it is, so that it may cost instead of save.

    Attributes
    ----------
    bound : float
        The largest proven lower bound so far on the mean loss of any pair of cuts within the budget.
    settled : bool
        Nothing pulls any longer: the bound is as good as it gets.
    """

    def __init__(
        self, products: SafeProducts, budget: float, price: float, *, keeps_safe: bool = False
    ) -> None:
        self.products, self.price = products, price
        self.bound, self.settled = 0.0, False
        self._volumes, self._released = (products.total, budget), products.total - budget
        self._keeps_safe = keeps_safe
        n = len(products)
        self._shifts, self._pulls, self._price_pull = np.zeros(n), np.zeros(n), 0.0
        self._pace, self._idle = PACE, 0
        self._narrow()

    @property
    def size(self) -> int:
        """Return how many products every round looks at."""
        return len(self._left.rows)

    def round(self, reached: float) -> None:
        """Solve both problems, raise the bound if they prove more, and move towards what was reached.

        Parameters
        ----------
        reached
            The mean loss of the best pair of cuts that is known.
        """
        from tripcloak.flows.methods._kernels.decomposition import move_shift, pull_apart, share_savings

        price, saving = self.price, self._saving
        np.multiply(self._volume, price - self._loss, out=saving)
        if not self._keeps_safe:
            np.maximum(saving, 0.0, out=saving)
        share_savings(saving, self._shift, *self._shares)
        saved = self._solve(ORIGIN) + self._solve(DESTINATION)
        proven = least_mean(price * self.products.total - saved, price, *self._volumes)
        self._note(proven)
        chosen = self._chosen[0], self._chosen[1]
        released, apart, length = pull_apart(saving, self._volume, chosen, INERTIA, self._pull)
        # The more is hidden beyond the budget the more the price must rise.
        self._price_pull = self._released - released + INERTIA * self._price_pull
        weight = PRICE_WEIGHT * apart / self._released**2 if apart else 1.0
        length += weight * self._price_pull**2
        self.settled = not length or proven >= reached
        if self.settled:
            return
        step = self._pace * (reached - proven) * self._released / length
        move_shift(saving, self._pull, step, self._shift)
        self._go_to(price + step * weight * self._price_pull)

    def cut(self, axis: int) -> Bools:
        """Return the zones of an axis that the problem which cuts it first would rather not divide."""
        own = ~self._left.divided[axis]
        whole = self._left.whole[1 - axis]
        own[self._left.zone[axis][whole]] = self._undivided[axis][whole]
        return own

    def _solve(self, first: int) -> float:
        from tripcloak.flows.methods._kernels.decomposition import best_nested

        second, left = 1 - first, self._left
        answer = self._sums, self._chosen[first], self._undivided[first]
        ways = left.up[first], left.up[second], left.whole[second], left.last[first], left.last[second]
        return float(best_nested(self._shares[first], *ways, *answer))

    def _go_to(self, price: float) -> None:
        """Move the price, by no more than a step may, and take up again what is needed there."""
        self.price = float(np.clip(price, self.price / FURTHEST, self.price * FURTHEST))
        if not self._prices[0] <= self.price <= self._prices[1]:
            self._shifts[self._left.rows], self._pulls[self._left.rows] = self._shift, self._pull
            self._narrow()

    def _narrow(self) -> None:
        """Leave out what no best pair of cuts needs at prices about the one at hand."""
        self._prices = self.price * RANGE[0], self.price * RANGE[1]
        left = self._left = narrow(self.products, self._prices, keeps_safe=self._keeps_safe)
        n = len(left.rows)
        self._shift, self._pull = self._shifts[left.rows], self._pulls[left.rows]
        free = np.isfinite(left.loss)
        self._loss, self._volume = np.where(free, left.loss, 0.0), np.where(free, left.volume, 0.0)
        self._saving, self._shares, self._sums = np.empty(n), np.empty((2, n)), np.empty((2, n))
        self._chosen = np.empty((2, n), dtype=bool)
        self._undivided = np.ones((2, n), dtype=bool)

    def _note(self, proven: float) -> None:
        """Keep what was proven if it is more, and shorten the steps if it has not been for long."""
        if proven > self.bound * (1 + 1e-5):
            self._idle = 0
        else:
            self._idle += 1
            if self._idle == PATIENCE:
                self._pace, self._idle = self._pace * SHORTER, 0
        self.bound = max(self.bound, proven)
