"""The account of noise person by person: textbook bounds in plain loops, without OpenDP."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Cost = tuple[float, float, float | None]
"""Epsilon, delta, and rho of Gaussian noise."""
ORDERS = [1 + step / 50 for step in range(1, 1000)] + [21 * 1.01**step for step in range(1500)]


def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return the epsilon of zCDP at a delta, by trying many orders (Canonne, Kamath and Steinke 2020)."""
    if rho == 0:
        return 0.0
    found = min(
        rho * order
        + (math.log(1 / delta) + (order - 1) * math.log1p(-1 / order) - math.log(order)) / (order - 1)
        for order in ORDERS
    )
    return max(0.0, found)


def epsilon_of(costs: Sequence[Cost], delta: float) -> float:
    """Return what some releases cost whoever is in all of them, at a delta."""
    ways = []
    if sum(one[1] for one in costs) <= delta + 1e-18:
        ways.append(sum(one[0] for one in costs))
    rest = delta - sum(one[1] for one in costs if one[2] is None)
    gaussian = sum(one[2] for one in costs if one[2] is not None)
    laplace = [one[0] for one in costs if one[2] is None]
    if rest > 0:
        ways.append(epsilon_of_rho(gaussian + sum(one**2 / 2 for one in laplace), rest))
        ways.append(sum(laplace) + epsilon_of_rho(gaussian, rest))
    return min(ways, default=math.inf)


def spent(releases: Iterable[tuple[Cost, set[int]]], delta: float) -> float:
    """Return what releases cost whoever pays most, given what each costs and who is in it."""
    told = list(releases)
    people = set().union(*(inside for _, inside in told))
    return max(
        (epsilon_of([cost for cost, inside in told if one in inside], delta) for one in people), default=0.0
    )
