"""Where noise comes from: OpenDP's exact samplers, and the currency in which Gaussian noise is paid."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InternalError, MissingExtraError
from tripcloak.ground.progress import Progress

CHUNK = 1 << 16
"""Values that get their noise at once; between chunks a run can be stopped."""


class NoiseSource(Protocol):
    """Adds whole-numbered noise to whole numbers, each its own."""

    def laplace(self, exact: Ints, *, scale: float, sensitivity: int, epsilon: float) -> Ints:
        """Return numbers with discrete Laplace noise, which is to be epsilon-private at an L1 sensitivity."""

    def gaussian(self, exact: Ints, *, scale: float, sensitivity: int, rho: float) -> Ints:
        """Return numbers with discrete Gaussian noise, which is to be rho-zCDP at an L2 sensitivity."""


class OpenDPNoise:
    """Noise of OpenDP, which draws it exactly, from a cryptographic source that takes no seed.

    OpenDP works out the privacy of what it does by itself; should that ever be less than what was asked
    for, nothing is returned.

    Examples
    --------
    >>> noisy = OpenDPNoise().laplace(np.array([5, 5]), scale=0.01, sensitivity=1, epsilon=100.0)
    >>> noisy.tolist()
    [5, 5]
    """

    def laplace(self, exact: Ints, *, scale: float, sensitivity: int, epsilon: float) -> Ints:
        """Return numbers with discrete Laplace noise."""
        dp = loaded_opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        return _drawn(dp.m.make_laplace(*space, scale=scale), exact, sensitivity, epsilon)

    def gaussian(self, exact: Ints, *, scale: float, sensitivity: int, rho: float) -> Ints:
        """Return numbers with discrete Gaussian noise."""
        dp = loaded_opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
        return _drawn(dp.m.make_gaussian(*space, scale=scale), exact, float(sensitivity), rho)


def laplace_scale(sensitivity: int, epsilon: float) -> float:
    """Return the smallest scale at which discrete Laplace noise is epsilon-private.

    >>> laplace_scale(10, 0.5), laplace_scale(3, 0.3) >= 10
    (20.0, True)
    """
    scale = sensitivity / epsilon
    # Division may round down, which would be a little less private than promised.
    while Fraction(sensitivity) > Fraction(scale) * Fraction(epsilon):
        scale = math.nextafter(scale, math.inf)
    return scale


def searched_scale(sensitivity: int, epsilon: float) -> float:
    """Return about the smallest scale of discrete Laplace noise that OpenDP itself calls epsilon-private.

    >>> round(searched_scale(2, 0.5), 6)
    4.0
    """
    dp = loaded_opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return float(
        dp.binary_search_param(
            lambda scale: dp.m.make_laplace(*space, scale=scale), d_in=sensitivity, d_out=epsilon, T=float
        )
    )


def laplace_cost(sensitivity: int, scale: float) -> float:
    """Return the epsilon that discrete Laplace noise of a scale costs at an L1 sensitivity, by OpenDP.

    >>> laplace_cost(2, 4.0)
    0.5
    """
    dp = loaded_opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return float(dp.m.make_laplace(*space, scale=scale).map(sensitivity))


def gaussian_scale(sensitivity: int, rho: float) -> float:
    """Return a scale (standard deviation) at which discrete Gaussian noise is rho-zCDP.

    Canonne, Kamath and Steinke (2020), theorem 4: rho = sensitivity² / (2 scale²), as for noise that is
    not discrete.

    >>> round(gaussian_scale(10, 0.02), 6)
    50.0
    """
    # A hair more, so that rounding never makes it less private than promised.
    return sensitivity * math.sqrt(1 / (2 * rho)) * (1 + 1e-12)


class Purse(NamedTuple):
    """What noise is paid with.

    Attributes
    ----------
    noise : NoiseSource
        Where it comes from.
    order : int
        2: Gaussian noise, paid with rho of zCDP against Euclidean norms. 1: Laplace noise, paid with epsilon
        against sums.
    """

    noise: NoiseSource
    order: Literal[1, 2]

    def scale(self, sensitivity: int, budget: float) -> float:
        """Return the scale of noise that costs so much."""
        return scale_of(self.order, sensitivity, budget)

    def add(self, exact: Ints, sensitivity: int, budget: float) -> Ints:
        """Return numbers with noise that costs so much."""
        scale = self.scale(sensitivity, budget)
        if self.order == 1:
            return self.noise.laplace(exact, scale=scale, sensitivity=sensitivity, epsilon=budget)
        return self.noise.gaussian(exact, scale=scale, sensitivity=sensitivity, rho=budget)


def scale_of(order: Literal[1, 2], sensitivity: int, budget: float) -> float:
    """Return the scale of Laplace (1) or Gaussian (2) noise that costs a budget at a sensitivity."""
    return laplace_scale(sensitivity, budget) if order == 1 else gaussian_scale(sensitivity, budget)


def in_chunks(add: Callable[[Ints], Ints], exact: Ints, progress: Progress) -> Ints:
    """Return numbers with noise, drawn chunk by chunk."""
    parts = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(exact), CHUNK):
        progress("drawing noise", start, len(exact))
        parts.append(add(exact[start : start + CHUNK]))
    return np.concatenate(parts)


def require_opendp() -> None:
    """Raise if OpenDP is not installed."""
    if find_spec("opendp") is None:
        raise MissingExtraError(
            "differential privacy draws its noise with OpenDP, which is not installed; "
            "install it with: pip install 'tripcloak[dp]'"
        )


def loaded_opendp() -> Any:
    """Return OpenDP, ready to be asked, or raise if it is not installed."""
    require_opendp()
    import opendp.prelude as dp

    # OpenDP asks for this before it hands out anything whose proof is not yet reviewed by its makers.
    dp.enable_features("contrib")
    return dp


def _drawn(measurement: Any, exact: Ints, sensitivity: float, budget: float) -> Ints:
    if measurement.map(sensitivity) > budget:
        raise InternalError("the noise is less private than promised; nothing was released")
    return np.asarray(measurement(exact.tolist()), dtype=np.int64)


def largest_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho for which rho-zCDP is (epsilon, delta)-differential privacy.

    As far as :func:`failure_chance` can tell, which is further than the usual
    ``rho + 2 * sqrt(rho * log(1 / delta)) = epsilon``. Never too large: it is approached from below.

    Examples
    --------
    >>> round(largest_rho(1.0, 1e-6), 5)
    0.02436
    """
    low, high = 0.0, epsilon
    while failure_chance(high, epsilon) <= delta:
        high *= 2
    # Invariant: low is private enough, high is not.
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if failure_chance(middle, epsilon) <= delta else (low, middle)
    return low


def failure_chance(rho: float, epsilon: float) -> float:
    """Return a delta for which rho-zCDP is (epsilon, delta)-differential privacy.

    Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential Privacy* (2020), corollary 13:
    every order a > 1 gives such a delta, exp((a - 1) (a rho - epsilon)) (1 - 1/a)**a / (a - 1). Its
    logarithm falls and then grows with a, so bisection finds the smallest; a worse order would only give
    a larger delta.

    Examples
    --------
    >>> failure_chance(0.0, 1.0), failure_chance(0.02435, 1.0) < 1e-6
    (0.0, True)
    """
    if rho == 0:
        return 0.0
    low, high = 1.0, (epsilon + 1) / (2 * rho) + 2
    # Invariant: the logarithm falls at low and grows at high.
    for _ in range(200):
        order = (low + high) / 2
        grows = (2 * order - 1) * rho - epsilon + math.log1p(-1 / order) >= 0
        low, high = (low, order) if grows else (order, high)
    told = (high - 1) * (high * rho - epsilon) + high * math.log1p(-1 / high) - math.log(high - 1)
    return math.exp(min(told, 0.0))
