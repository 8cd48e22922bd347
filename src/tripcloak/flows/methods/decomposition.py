"""Dual decomposition: what no pair of cuts can go below, from two problems that share every saving."""

from __future__ import annotations

import numpy as np

from tripcloak.flows.methods.products import DESTINATION, ORIGIN, SafeProducts
from tripcloak.flows.methods.tree_method import least_mean
from tripcloak.ground.arrays import Bools

INERTIA = 0.7
"""How much of the last pull is kept: single answers swing from side to side, and their sum does not."""

PRICE_WEIGHT = 200.0
"""How much the price moves against the shifts, where it hides or releases a volume of the limit's size."""

PATIENCE, SHORTER = 10, 0.7
"""After so many rounds that prove nothing new the steps become shorter, by this factor."""

FURTHEST = 1.4
"""The price grows or falls by no more than this factor in a round."""


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
        n = len(products)
        self._shift, self._pull, self._price_pull = np.zeros(n), np.zeros(n), 0.0
        self._shares = np.empty(n), np.empty(n)
        self._least = -np.inf if keeps_safe else 0.0
        free = np.isfinite(products.loss)
        self._loss, self._volume = np.where(free, products.loss, 0.0), np.where(free, products.volume, 0.0)
        self._pace, self._idle = 1.0, 0
        trees = tuple(zip(products.axes, products.zone, strict=True))
        self._tile = tuple(zone < tree.n_tiles for tree, zone in trees)
        self._whole = tuple(zone == tree.root for tree, zone in trees)
        self._undivided: tuple[Bools, Bools] = self._whole[0], self._whole[1]

    def round(self, reached: float) -> None:
        """Solve both problems, raise the bound if they prove more, and move towards what was reached.

        Parameters
        ----------
        reached
            The mean loss of the best pair of cuts that is known.
        """
        from tripcloak.flows.methods._kernels.decomposition import move_shift, pull_apart, share_savings

        price, volume = self.price, self._volume
        saving = np.maximum(volume * (price - self._loss), self._least)
        share_savings(saving, self._shift, *self._shares)
        (saved, first, own), (more, second, others) = self._solve(ORIGIN), self._solve(DESTINATION)
        self._undivided = own, others
        proven = least_mean(price * self.products.total - saved - more, price, *self._volumes)
        self._note(proven)
        released, apart, length = pull_apart(saving, volume, (first, second), INERTIA, self._pull)
        # The more is hidden beyond the budget the more the price must rise.
        self._price_pull = self._released - released + INERTIA * self._price_pull
        weight = PRICE_WEIGHT * apart / self._released**2 if apart else 1.0
        length += weight * self._price_pull**2
        self.settled = not length or proven >= reached
        if self.settled:
            return
        step = self._pace * (reached - proven) * self._released / length
        move_shift(saving, self._pull, step, self._shift)
        self.price = float(
            np.clip(price + step * weight * self._price_pull, price / FURTHEST, price * FURTHEST)
        )

    def cut(self, axis: int) -> Bools:
        """Return the zones of an axis that the problem which cuts it first would rather not divide."""
        own = np.ones(len(self.products.axes[axis]), dtype=bool)
        whole = self._whole[1 - axis]
        own[self.products.zone[axis][whole]] = self._undivided[axis][whole]
        return own

    def _solve(self, first: int) -> tuple[float, Bools, Bools]:
        from tripcloak.flows.methods._kernels.decomposition import best_nested

        second, up = 1 - first, self.products.up
        return best_nested(
            self._shares[first],
            up[first],
            up[second],
            self._whole[second],
            self._tile[first],
            self._tile[second],
        )

    def _note(self, proven: float) -> None:
        """Keep what was proven if it is more, and shorten the steps if it has not been for long."""
        if proven > self.bound * (1 + 1e-5):
            self._idle = 0
        else:
            self._idle += 1
            if self._idle == PATIENCE:
                self._pace, self._idle = self._pace * SHORTER, 0
        self.bound = max(self.bound, proven)
