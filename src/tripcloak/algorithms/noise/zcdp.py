"""Zero-concentrated differential privacy: the currency in which Gaussian noise is paid."""

from __future__ import annotations

import math


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
