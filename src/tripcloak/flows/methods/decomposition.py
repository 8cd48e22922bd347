"""Dual decomposition: what no pair of cuts can go below, from two problems that share every saving."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace

import numpy as np

from tripcloak.flows.methods.narrowing import Narrowed, Ruled, below, leave_out, narrow
from tripcloak.flows.methods.products import DESTINATION, ORIGIN, SafeProducts
from tripcloak.flows.methods.tree_method import least_mean
from tripcloak.ground.arrays import Bools, Floats

INERTIA = 0.8
"""How much of the last pull is kept: single answers swing from side to side, and their sum does not."""

PRICE_WEIGHT = 200.0
"""How much the price moves against the shifts, where it hides or releases a volume of the limit's size."""

PACE, PATIENCE, SHORTER = 1.25, 4, 0.85
"""How long the first steps are, against those that would end where they aim at if all were straight; after
so many rounds that prove nothing new they become shorter, by this factor."""

HELD = 15
"""The price stays for so many rounds: while the problems differ they release too much, and pull it down."""

FURTHEST = 1.1
"""The price grows or falls by no more than this factor in a round."""

RANGE, WAIT = (0.8, 1.25), 12
"""Products are narrowed for prices from here to there times the one at hand, and anew where so many rounds
in a row ask for a price beyond."""

FEWER, SELDOM = 0.75, 10
"""What zones are ruled out by what was reached is left out when no more than this share of the products would
be left, and at most once in so many rounds."""

SURE = 1e-9
"""By how much of all that could be saved a zone must miss what was reached, for sums are rounded."""


class Rounds(ABC):
    """Moves price and shares, round by round, to where problems that share every saving agree.

    Attributes
    ----------
    bound : float
        The largest proven lower bound so far on the mean loss of any cuts within the budget, or what
        was reached, if that is less: cuts that are no better than that are left out on the way.
    settled : bool
        Nothing pulls any longer: the bound is as good as it gets by rounds, and branching may go on.
    """

    def __init__(self, total: float, budget: float, price: float) -> None:
        self.price, self.bound, self.settled = price, 0.0, False
        self._volumes, self._released = (total, budget), total - budget
        self._pace, self._idle, self._held, self._rounds = PACE, 0, HELD, 0
        self._price_pull = 0.0
        # The least that was reached when something was ruled out by it.
        self._floor = np.inf

    @property
    @abstractmethod
    def size(self) -> int:
        """Return how many products every round looks at."""

    @property
    @abstractmethod
    def n_open(self) -> int:
        """Return how many zones may be divided or not."""

    @abstractmethod
    def cut(self, axis: int) -> Bools:
        """Return the zones of an axis that the problem which cuts it first would rather not divide."""

    def round(self, reached: float) -> None:
        """Solve all problems, raise the bound if they prove more, and move towards what was reached.

        Parameters
        ----------
        reached
            The mean loss of the best cuts that are known.
        """
        self._rounds += 1
        price, saving = self.price, self._savings()
        saved = self._solve_all()
        proven = least_mean(price * self._volumes[0] - saved, price, *self._volumes)
        if self._note(min(proven, self._floor)):
            self._learn(reached, saved)
        released, apart, length = self._pull_apart(saving)
        # The more is hidden beyond the budget the more the price must rise.
        if self._rounds > self._held:
            self._price_pull = self._released - released + INERTIA * self._price_pull
        weight = PRICE_WEIGHT * apart / self._released**2 if apart else 1.0
        length += weight * self._price_pull**2
        self.settled = not length or proven >= min(reached, self._floor)
        if self.settled:
            return
        step = self._pace * (reached - proven) * self._released / length
        self._move(saving, step)
        price += step * weight * self._price_pull
        # No price below what is proven proves more.
        self._go_to(max(float(np.clip(price, self.price / FURTHEST, self.price * FURTHEST)), self.bound))

    @abstractmethod
    def _savings(self) -> Floats:
        """Return what every product saves at the price, after sharing it between the problems."""

    @abstractmethod
    def _solve_all(self) -> float:
        """Return what all problems save together."""

    @abstractmethod
    def _pull_apart(self, saving: Floats) -> tuple[float, float, float]:
        """Renew the pulls; return the volume released on average, and two squared lengths.

        Those of where the problems differ, and of the pulls.
        """

    @abstractmethod
    def _move(self, saving: Floats, step: float) -> None:
        """Move the shares along the pulls."""

    def _go_to(self, price: float) -> None:
        """Move the price."""
        self.price = price

    def _learn(self, reached: float, saved: float) -> None:
        """Use what a better bound tells of the zones; nothing where no rule is known."""
        return

    def _note(self, proven: float) -> bool:
        """Keep what was proven if it is more, and shorten the steps if it has not been for long."""
        better = proven > self.bound * (1 + 1e-5)
        self._idle = 0 if better else self._idle + 1
        if self._idle == PATIENCE:
            self._pace, self._idle = self._pace * SHORTER, 0
        self.bound = max(self.bound, proven)
        return better


class Decomposition(Rounds):
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
    narrowing
        Leave out zones first that no best pair of cuts divides or takes; it takes as long as some rounds do.

    Attributes
    ----------
    ruled : Ruled
        What is known of the zones of any pair of cuts that is better than what was reached.
    """

    _left: Narrowed
    _shift: Floats
    _pull: Floats
    _outside: int

    def __init__(
        self,
        products: SafeProducts,
        budget: float,
        price: float,
        *,
        keeps_safe: bool = False,
        narrowing: bool = True,
    ) -> None:
        # What was not looked at is hoped to lose as little as it may.
        products = replace(products, loss=products.hope)
        super().__init__(products.total, budget, price)
        self.ruled = Ruled.none(products.axes)
        self._products: SafeProducts | None = products
        self._keeps_safe, self._narrowing = keeps_safe, narrowing
        self._shifts, self._pulls = np.zeros(len(products)), np.zeros(len(products))
        self._fresh = False
        self._begin(products)

    def part(self, ruled: Ruled | None = None) -> Decomposition:
        """Return the same problem over all pairs of cuts that agree with what is ruled, from where it stands.

        Nothing is narrowed in it, so that where no zone is open one pair of cuts is left. Its price stays in
        the range of this one.
        """
        other, self_left = copy(self), self._left
        other.ruled = (ruled or self.ruled).copy()
        other.bound, other.settled, other._products = 0.0, False, None
        other._pace, other._idle, other._held, other._price_pull = PACE, 0, 0, 0.0
        if self._products is None:
            other._go_on_with(leave_out(self_left, other.ruled))
        else:
            self._shifts[self_left.rows] = self._shift
            other._left = leave_out(self._products, other.ruled)
            rows = other._left.rows
            other._take_up(self._shifts[rows], np.zeros(len(rows)))
        return other

    def lean_on(self, origins: Bools, destinations: Bools) -> None:
        """Share the savings so that both problems answer with this pair of cuts, as far as that may be.

        Between the cuts each saving is halved. What one of the problems has there of a zone of its second
        axis is spread over all zones above and below, so that none of them is worth more to it; the other
        problem gets the rest. Where neither zone is in its cut, both have such a spread, and share what is
        too much.
        """
        from tripcloak.flows.methods._kernels.decomposition import spread

        left, saving = self._left, self._savings()
        of_cut = origins[left.zone[ORIGIN]], destinations[left.zone[DESTINATION]]
        ways, half = (left.up[DESTINATION], left.up[ORIGIN]), saving / 2
        both = of_cut[ORIGIN] & of_cut[DESTINATION]
        own = [spread(half, both, way, self._volume) for way in ways]
        # The first problem spreads along destinations what the second leaves it of each of their zones.
        first = spread(saving - own[1], of_cut[DESTINATION], ways[0], self._volume)
        second = spread(saving - own[0], of_cut[ORIGIN], ways[1], self._volume)
        self._shift[:] = np.where(saving != 0.0, (first - second) / 2, 0.0)

    @property
    def left(self) -> Narrowed:
        """Return the products that every round looks at."""
        return self._left

    @property
    def size(self) -> int:
        """Return how many products every round looks at."""
        return len(self._left.rows)

    @property
    def n_open(self) -> int:
        """Return how many zones may be divided or not."""
        return sum(int(some.sum()) for some in self._left.open)

    def round(self, reached: float) -> None:
        """Solve both problems, raise the bound if they prove more, and move towards what was reached."""
        super().round(reached)
        if not self.settled and self._rounds % SELDOM == 0:
            self.leave_out(at_least=1 - FEWER)

    def cut(self, axis: int) -> Bools:
        """Return the zones of an axis that the problem which cuts it first would rather not divide."""
        own = np.ones(len(self._left.axes[axis]), dtype=bool)
        whole = self._left.whole[1 - axis]
        own[self._left.zone[axis][whole]] = (self._margin[axis] >= 0)[whole] | self._left.last[axis][whole]
        own[self._left.divided[axis]] = False
        return own

    def apart(self, axis: int) -> Floats:
        """Return, for every zone of an axis, how much volume one problem releases by it and the other not."""
        left, chosen = self._left, self._chosen.astype(np.float64)
        apart = np.abs(chosen[0] - chosen[1]) * self._volume
        return np.bincount(left.zone[axis], apart, minlength=len(left.axes[axis]))

    def _savings(self) -> Floats:
        from tripcloak.flows.methods._kernels.decomposition import share_savings

        saving = self._saving
        np.subtract(self.price, self._loss, out=saving)
        saving *= self._volume
        if not self._keeps_safe:
            np.maximum(saving, 0.0, out=saving)
        share_savings(saving, self._shift, *self._shares)
        if len(self._barred):
            saving[self._barred] = 0.0
            self._shares[:, self._barred] = -self._worst
        return saving

    def _solve_all(self) -> float:
        return self._solve(ORIGIN) + self._solve(DESTINATION)

    def _pull_apart(self, saving: Floats) -> tuple[float, float, float]:
        from tripcloak.flows.methods._kernels.decomposition import pull_apart

        chosen = self._chosen[0], self._chosen[1]
        found: tuple[float, float, float] = pull_apart(saving, self._volume, chosen, INERTIA, self._pull)
        return found

    def _move(self, saving: Floats, step: float) -> None:
        from tripcloak.flows.methods._kernels.decomposition import move_shift

        move_shift(saving, self._pull, step, self._shift)

    def _solve(self, first: int) -> float:
        from tripcloak.flows.methods._kernels.decomposition import best_nested

        second, left = 1 - first, self._left
        answer = self._sums, self._chosen[first], self._margin[first]
        ways = left.up[first], left.up[second], left.whole[second], left.last[first], left.last[second]
        return float(best_nested(self._shares[first], *ways, *answer))

    def _learn(self, reached: float, saved: float) -> None:
        """Note what zones cannot be in any pair of cuts that is better than what was reached."""
        from tripcloak.flows.methods._kernels.decomposition import rule_out

        # Such a pair saves more than this, whatever it hides.
        least = min((self.price - reached) * volume for volume in (self._released, self._volumes[0]))
        room = saved - least + SURE * self.price * self._volumes[0]
        found = 0
        for axis in (ORIGIN, DESTINATION):
            left = self._left
            known = self.ruled.never[axis], self.ruled.always[axis]
            zones = self._whole[1 - axis], left.up[axis], left.zone[axis]
            found += rule_out(self._margin[axis], *zones, room, *known)
        if found:
            self._floor, self._fresh = min(self._floor, reached), True

    def leave_out(self, at_least: float = 0.0) -> None:
        """Leave out the products of zones that were ruled out, where they are at least this share of all."""
        if not self._fresh:
            return
        left, gone = self._left, np.zeros(self.size, dtype=bool)
        for axis in (ORIGIN, DESTINATION):
            some = below(left.axes[axis], self.ruled.never[axis]) | self.ruled.always[axis]
            gone |= some[left.zone[axis]]
        if gone.sum() < at_least * self.size:
            return
        if self._products is None:
            self._go_on_with(leave_out(left, self.ruled))
        else:
            self._go_on_with(narrow(left, self._prices, keeps_safe=self._keeps_safe, ruled=self.ruled))

    def _go_to(self, price: float) -> None:
        """Move the price, and take up again what is needed there."""
        self.price = float(np.clip(price, *self._prices))
        self._outside = self._outside + 1 if price != self.price else 0
        if self._outside == WAIT and self._products is not None:
            self._shifts[self._left.rows], self._pulls[self._left.rows] = self._shift, self._pull
            self._begin(self._products)

    def _begin(self, products: SafeProducts) -> None:
        """Leave out what no best pair of cuts needs at prices about the one at hand."""
        # Beyond the highest price nothing is proven: there what was not looked at would be released.
        self.price = min(self.price, products.highest)
        self._prices = self.price * RANGE[0], min(self.price * RANGE[1], products.highest)
        self._outside = 0
        ruled = self.ruled if self._floor < np.inf else None
        if self._narrowing:
            self._left = narrow(products, self._prices, keeps_safe=self._keeps_safe, ruled=ruled)
        else:
            self._left = leave_out(products, self.ruled)
        self._take_up(self._shifts[self._left.rows], self._pulls[self._left.rows])

    def _go_on_with(self, left: Narrowed) -> None:
        """Go on with some of the products that are left."""
        before, self._left = self._left, left
        if self._products is not None:
            self._shifts[before.rows], self._pulls[before.rows] = self._shift, self._pull
        kept = np.searchsorted(before.rows, left.rows)
        answers = self._chosen[:, kept], self._margin[:, kept]
        self._take_up(self._shift[kept], self._pull[kept])
        self._chosen[:], self._margin[:] = answers

    def _take_up(self, shift: Floats, pull: Floats) -> None:
        """Make room for the rounds over what is left."""
        left, self._shift, self._pull, self._fresh = self._left, shift, pull, False
        n = len(left.rows)
        free = np.isfinite(left.loss)
        self._loss, self._volume = np.where(free, left.loss, 0.0), np.where(free, left.volume, 0.0)
        self._saving, self._shares, self._sums = np.empty(n), np.empty((2, n)), np.empty((2, n))
        self._chosen, self._margin = np.zeros((2, n), dtype=bool), np.zeros((2, n))
        self._whole = np.flatnonzero(left.whole[0]), np.flatnonzero(left.whole[1])
        self._barred = np.flatnonzero(left.barred)
        # More than all together may save or cost.
        self._worst = self._volumes[0] * (self._prices[1] + self._loss.max())
