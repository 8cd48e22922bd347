"""What the methods over safe products share: a loss, a clock, and the products themselves."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tripcloak.flows.methods.losses import ABOUT_LOSS, LossName, find_loss
from tripcloak.flows.methods.method import FlowMethod
from tripcloak.flows.methods.products import Axis, SafeProducts, find_products
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Bound
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.promises import Promise


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
    time_limit
        Seconds after which the best safe release so far is returned. What comes back then depends on
        the machine; without a limit the result is the same everywhere.
    """

    loss: LossName = option("tiles", **ABOUT_LOSS)
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

    def find_products(
        self, matrix: ODMatrix, promise: Promise, progress: Progress, clock: Clock
    ) -> SafeProducts:
        """Return the safe products, as far down as the clock allows."""
        loss = find_loss(self.loss)
        return find_products(matrix, promise, loss, progress, clock.is_up, self.axes(matrix))

    def axes(self, matrix: ODMatrix) -> tuple[Axis, ...]:
        """Return the axes whose zones make the products: all that the matrix has."""
        return tuple(Axis(tree, codes) for tree, codes in matrix.axes)


def certificate(products: SafeProducts, mean: float, bound: float, relaxation: str) -> Bound | None:
    """Return the bound and the gap in percent to what was reached.

    None where products are missing, where nothing above zero is proven, and where single flows of a
    group were withheld with a loss of their own: that may go below what whole groups can reach, which
    is all that is proven.
    """
    if not products.complete or bound <= 0 < mean or mean < bound * (1 - 1e-9):
        return None
    if mean <= bound:
        return Bound(value=mean, gap=0.0, relaxation=relaxation)
    return Bound(value=bound, gap=100 * (mean / bound - 1), relaxation=relaxation)
