"""WeightedSpread: mean, median and standard deviation of weighted numbers that arrive in chunks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tripcloak.ground.arrays import Floats

_DIGITS = 1 << 16
_ONE_EACH = np.zeros(0)


@dataclass(eq=False)
class WeightedSpread:
    """Running figures of non-negative numbers.

    Mean and deviation are summed in double precision as numbers arrive. The numbers themselves are
    held for the median in single precision, four bytes each.

    Examples
    --------
    >>> spread = WeightedSpread()
    >>> spread.add(np.array([1.0, 2.0]))
    >>> spread.add(np.array([6.0]), weights=np.array([2.0]))
    >>> spread.mean, spread.median(), round(spread.deviation, 3)
    (3.75, 4.0, 2.278)
    """

    weight: float = 0.0
    mean: float = 0.0
    _squares: float = 0.0
    _held: list[tuple[Floats, Floats]] = field(default_factory=list)

    def add(self, values: Floats, weights: Floats | None = None) -> None:
        """Take in numbers, each with a weight; 1 by default."""
        here = float(len(values) if weights is None else weights.sum())
        if here == 0:
            return
        mean = _weighted_sum(values, weights) / here
        squares = _weighted_sum(np.square(values - mean), weights)
        step, both = mean - self.mean, self.weight + here
        self._squares += squares + step * step * self.weight * here / both
        self.mean += step * here / both
        self.weight = both
        bits = values.astype(np.float32).view(np.uint32)
        self._held.append((bits, _ONE_EACH if weights is None else weights.astype(np.float64, copy=False)))

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the numbers themselves (not of a larger whole)."""
        return math.sqrt(self._squares / self.weight)

    def median(self) -> float:
        """Return the weighted median: the middle one, or the mean of both where the weights split evenly."""
        upper = self._weigh(prefix=-1)
        total = upper.sum()
        low = self._select(upper, total / 2, beyond=False)
        high = self._select(upper, total / 2, beyond=True)
        return (low + high) / 2

    def _select(self, upper: Floats, target: float, *, beyond: bool) -> float:
        """Return the first number at which the weight up to it reaches the target, or goes beyond it.

        The bits of non-negative floats sort as the floats do, so two digits of 16 bits find it exactly.
        """
        prefix, before = _digit(upper, target, beyond)
        lower, _ = _digit(self._weigh(prefix), target - before, beyond)
        return float(np.uint32(prefix << 16 | lower).view(np.float32))

    def _weigh(self, prefix: int) -> Floats:
        from tripcloak.flows.measures._kernels import weigh_digits

        out = np.zeros(_DIGITS)
        for bits, weights in self._held:
            weigh_digits(bits, weights, prefix, out)
        return out


def _weighted_sum(values: Floats, weights: Floats | None) -> float:
    return float(values.sum() if weights is None else (values * weights).sum())


def _digit(weights: Floats, target: float, beyond: bool) -> tuple[int, float]:
    """Return the digit at which the running weight meets the target, and the weight before it."""
    running = np.cumsum(weights)
    at = int(np.searchsorted(running, target, side="right" if beyond else "left"))
    # Rounding may leave the target a hair above the whole weight: then it is the last digit in use.
    at = min(at, int(np.flatnonzero(weights)[-1]))
    return at, float(running[at - 1]) if at else 0.0
