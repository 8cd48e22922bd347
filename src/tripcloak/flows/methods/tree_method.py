"""What the methods over safe products share: a loss, a clock, the products, and the price of suppression."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from tripcloak.flows.methods.kept_products import kept_or_found
from tripcloak.flows.methods.losses import ABOUT_LOSS, LossName, find_loss
from tripcloak.flows.methods.method import FlowMethod
from tripcloak.flows.methods.parted_products import find_in_parts
from tripcloak.flows.methods.products import Axis, ProductSpace, SafeProducts, find_products
from tripcloak.flows.model import FlowsInBlocks, ODMatrix
from tripcloak.flows.model.parting import EACH
from tripcloak.flows.release import Bound
from tripcloak.ground.arrays import Bools, Floats
from tripcloak.ground.errors import ImpossibleRequestError, InputError, InternalError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import Promise

Withhold = Literal["worst", "unsafe"]

CLOSE = 1e-9
MOST_ROUNDS = 200


class PricedPartition(NamedTuple):
    """The best partition at one price: its loss, what it suppresses, and how it was chosen."""

    price: float
    loss: float
    hidden: float
    plan: Any

    @property
    def cost(self) -> float:
        """Return the loss plus the price of what is suppressed."""
        return self.loss + self.price * self.hidden


@dataclass
class PriceSearch:
    """Finds the smallest price whose best partition suppresses no more than the budget.

    The least cost is a concave function of the price, made of straight pieces; two partitions on
    either side of the budget cross at a price where either is as good, and the best partition there
    is better than both or the search is done. So every round lands on a breakpoint, and the side that
    keeps the limit is always at hand.

    Attributes
    ----------
    budget, total : float
        The volume that may be suppressed, and all volume.
    least : float
        A loss per unit that nothing released goes below; as a price it proves itself as a bound.
    possible : bool
        Everything in one group may be released, so that some release keeps any limit.
    close : float
        The share of the cost by which a price must be better for the search to go on.
    bound : float
        The largest proven lower bound so far on the mean loss of any release within the budget.
    price : float
        The lowest price tried that proves it; the critical one when the search is done.
    """

    solve: Callable[[float], PricedPartition]
    budget: float
    total: float
    least: float = 0.0
    possible: bool = True
    close: float = CLOSE
    bound: float = field(init=False)
    price: float = field(init=False)

    def __post_init__(self) -> None:
        self.bound = self.price = self.least

    def offer(self, price: float) -> PricedPartition:
        """Return the best partition at a price; every answer may raise the bound."""
        offer = self.solve(price)
        least = least_mean(offer.cost, price, self.total, self.budget)
        # Of prices that prove the same the lowest: sums at a higher one are rounded more coarsely.
        if least > self.bound or (least == self.bound and price < self.price):
            self.bound, self.price = least, price
        return offer

    def run(self, highest: float, stop: Callable[[], bool] = lambda: False) -> PricedPartition:
        """Return the best partition within the budget at the critical price.

        Parameters
        ----------
        highest
            A price above every loss, at which only what can never be safe is suppressed.
        stop
            Asked every round; True ends the search with the best so far.
        """
        above = self.offer(highest)
        if above.hidden > self.budget and self.possible:
            raise InternalError("the highest price still suppresses more than the limit")
        if above.hidden > self.budget:
            raise beyond_limit(above.hidden / self.total)
        below = self.offer(0.0)
        for _ in range(MOST_ROUNDS):
            if below.hidden <= self.budget or stop():
                break
            price = (above.loss - below.loss) / (below.hidden - above.hidden)
            middle = self.offer(price)
            if middle.cost >= (above.loss + price * above.hidden) * (1 - self.close):
                break
            above, below = (middle, below) if middle.hidden <= self.budget else (above, middle)
        return below if below.hidden <= self.budget else above


def least_mean(cost: float, price: float, total: float, budget: float) -> float:
    """Return what no mean loss within a budget goes below, where at this price no release costs less.

    With h suppressed the mean is at least (cost - price h) / (total - h), which falls all the way as more is
    suppressed, or rises all the way: it is least where the whole budget is used, or where none is.

    >>> least_mean(60.0, 2.0, 100.0, 10.0), least_mean(300.0, 2.0, 100.0, 10.0)
    (0.4444444444444444, 3.0)
    """
    return min((cost - price * budget) / (total - budget), cost / total)


def beyond_limit(share: float) -> ImpossibleRequestError:
    """Return the error where what is asked of single groups leaves more unreleased than the limit allows.

    The share is rounded up to whole percent, so that it tells little.
    """
    percent = math.ceil(100 * share)
    way = f"A limit of {percent} % would do" if percent < 100 else "No limit would do"
    return ImpossibleRequestError(
        "not possible: what is asked of every flow by itself leaves more to be withheld than the limit "
        f"allows. {way} for this method ({spelt('suppress')}); or ask for less, or use a method whose zones "
        "may overlap (productcut, nestedcut)"
    )


def best_cut(tree: Hierarchy, cost: Floats) -> Bools:
    """Return the zones of the cut of least total cost (method 1 of the ATG paper).

    Of two equal costs the undivided zone wins.

    Examples
    --------
    >>> import numpy as np
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> tree.zones.ids[best_cut(tree, np.array([1.0, 1.0, 1.0, 1.5, 4.0]))].tolist()
    ['c', 'ab']
    """
    from tripcloak.flows.methods._kernels import cuts

    return cuts.best_cut(cost, tree.parent, tree.n_tiles)


class Clock:
    """Says when the time is up; without a limit it never is.

    >>> Clock(None).is_up(), Clock(1e-9).is_up()
    (False, True)
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def is_up(self) -> bool:
        """Return whether the limit has passed."""
        return self._end is not None and time.monotonic() >= self._end


@dataclass(frozen=True, kw_only=True)
class TreeMethod(FlowMethod):
    """A method over safe products of zones.

    Parameters
    ----------
    loss
        What is minimised: ``tiles`` (the papers' G), ``area`` in km2, or ``metres`` to the zone's point.
    withhold
        What may be withheld within the limit: the ``worst`` groups, safe or not, while that lowers the
        mean loss of the others; or only what is ``unsafe`` in the zones that are chosen, so that every
        safe group is released and the limit is spent on finer zones.
    time_limit
        Seconds after which the best safe release so far is returned. What comes back then depends on
        the machine; without a limit the result is the same everywhere.
    """

    judges_products: ClassVar[bool] = True

    loss: LossName = option("tiles", **ABOUT_LOSS)
    withhold: Withhold = option(
        "worst",
        help="Withhold the worst flows within the limit, safe or not, or only what is unsafe.",
        metavar="WHAT",
        values=("worst", "unsafe"),
    )
    time_limit: float | None = option(
        None,
        help="Return the best safe release after this long, such as 60s or 5min.",
        unset="none",
        metavar="TIME",
        reads="duration",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"the time limit must be a number of seconds above 0; got {self.time_limit:g}")

    @property
    def keeps_safe(self) -> bool:
        """Return whether every safe group in the zones that are chosen is released."""
        return self.withhold == "unsafe"

    def find_products(
        self, matrix: ODMatrix, promise: Promise, progress: Progress, clock: Clock
    ) -> SafeProducts:
        """Return the safe products, as far down as the clock allows."""
        axes, loss = self.axes(matrix), find_loss(self.loss)

        def find() -> SafeProducts:
            found, parts = None, matrix.parts
            if parts is None and self.time_limit is None and matrix.n_flows > 2 * EACH:
                # Also of flows in memory: what is worked on at a time is near the processor.
                parts = FlowsInBlocks.of(matrix.flows)
            if parts is not None:
                space = ProductSpace(axes, loss)
                found = find_in_parts(matrix, parts, promise, space, progress, clock.is_up)
            return found or find_products(matrix, promise, loss, progress, clock.is_up, axes)

        return kept_or_found(matrix, (axes, promise, self.loss), find)

    def axes(self, matrix: ODMatrix) -> tuple[Axis, ...]:
        """Return the axes whose zones make the products: all that the matrix has."""
        return tuple(Axis(tree, codes) for tree, codes in matrix.axes)


def certificate(products: SafeProducts, mean: float, bound: float, relaxation: str | None) -> Bound | None:
    """Return the bound and the gap in percent to what was reached.

    None where products are missing, where nothing above zero is proven, and where single flows of a
    group were withheld with a loss of their own: that may go below what whole groups can reach, which
    is all that is proven.
    """
    if relaxation is None or not products.complete or bound <= 0 < mean or mean < bound * (1 - 1e-9):
        return None
    if mean <= bound:
        return Bound(value=mean, gap=0.0, relaxation=relaxation)
    return Bound(value=bound, gap=100 * (mean / bound - 1), relaxation=relaxation)
