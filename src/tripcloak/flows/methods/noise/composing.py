"""What noise of several releases amounts to for somebody who is in all of them: OpenDP adds it up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tripcloak.ground.noise import loaded_opendp
from tripcloak.promises import Promise

ROUNDING = 1e-12
"""Relative; OpenDP rounds every sum up, so that 0.1 and 0.2 would be more than 0.3."""


class Spending(NamedTuple):
    """What one differentially private release costs each of those who are in it.

    Attributes
    ----------
    epsilon, delta : float
        Its promise.
    rho : float, optional
        The same of Gaussian noise as zero-concentrated privacy (zCDP), of which the promise follows for any
        delta. Laplace noise has none: its epsilon is certain, and its delta is the chance that a pair of
        zones shows up because of one traveller.

    Examples
    --------
    >>> Spending(epsilon=1.0, delta=0.0).as_rho, Spending(epsilon=1.0, delta=1e-6, rho=0.02).as_rho
    (0.5, 0.02)
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None

    @classmethod
    def of(cls, promise: Promise) -> Spending:
        """Return what a promise of differential privacy costs."""
        told = promise.noise_facts()["differential_privacy"]
        rho = told.get("rho")
        return cls(float(told["epsilon"]), float(told["delta"]), None if rho is None else float(rho))

    @property
    def as_rho(self) -> float:
        """Return zCDP that it implies, but for the chance of :attr:`lost`."""
        return _pure_as_rho(self.epsilon) if self.rho is None else self.rho

    @property
    def lost(self) -> float:
        """Return the chance that is spent whatever is made of the rest: delta, but of Gaussian noise none."""
        return self.delta if self.rho is None else 0.0

    def words(self) -> str:
        """Return the promise in figures.

        >>> Spending(1.0, 1e-6, 0.0243).words()
        'epsilon 1, delta 1e-06 (rho 0.0243)'
        """
        delta = f", delta {self.delta:g}" if self.delta else ""
        return f"epsilon {self.epsilon:g}{delta} (rho {self.as_rho:.3g})"


class Total(NamedTuple):
    """What several releases cost together: basic composition of what they promise, and of zCDP."""

    epsilon: float
    delta: float
    rho: float
    lost: float


def composed(spent: Sequence[Spending]) -> Total:
    """Return what releases cost somebody who is in all of them.

    Examples
    --------
    >>> composed([Spending(1.0), Spending(0.5, 1e-6)])
    Total(epsilon=1.5, delta=1e-06, rho=0.625, lost=1e-06)
    """
    if not spent:
        return Total(0.0, 0.0, 0.0, 0.0)
    epsilon, delta = _approximate("max", [(one.epsilon, one.delta) for one in spent])
    rho, lost = _approximate("zero-concentrated", [(one.as_rho, one.lost) for one in spent])
    return Total(epsilon, delta, rho, lost)


def epsilon_at(spent: Sequence[Spending], delta: float) -> float:
    """Return an epsilon for which releases are (epsilon, delta)-private for who is in all of them.

    The least of three that all hold, infinity where none does: what is promised, added up (Dwork and Roth
    2014, theorem 3.16); zCDP added up and then converted (Bun and Steinke 2016, lemma 2.3, with the chances
    of Laplace's thresholds apart as in their section 8); and the one of Laplace beside the other of Gaussian
    noise. OpenDP composes and converts.

    Examples
    --------
    >>> round(epsilon_at([Spending(1.0, 1e-6, 0.0243)] * 2, 1e-6), 2)
    1.45
    >>> epsilon_at([Spending(1.0), Spending(0.5)], 0.0), epsilon_at([Spending(1.0, 1e-6)], 1e-7)
    (1.5, inf)
    """
    if not spent:
        return 0.0
    total, ways = composed(spent), []
    if total.delta <= delta * (1 + ROUNDING):
        ways.append(total.epsilon)
    rest = delta - total.lost
    if rest > 0:
        ways.append(_converted(total.rho, rest))
        laplace = composed([one for one in spent if one.rho is None])
        gaussian = composed([one for one in spent if one.rho is not None])
        if laplace.epsilon and gaussian.rho:
            ways.append(
                _approximate("max", [(laplace.epsilon, 0.0), (_converted(gaussian.rho, rest), 0.0)])[0]
            )
    return min(ways, default=math.inf)


def _space() -> tuple[Any, Any]:
    dp = loaded_opendp()
    return dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")


def _approximate(measure: str, parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the composition of privacy losses, each with a chance apart, in one of OpenDP's measures."""
    dp = loaded_opendp()
    inner = dp.max_divergence() if measure == "max" else dp.zero_concentrated_divergence()
    losses = [(float(loss), float(chance)) for loss, chance in parts]
    loss, chance = dp.c.make_adaptive_composition(*_space(), dp.approximate(inner), 1, losses).map(1)
    return float(loss), float(chance)


@lru_cache(maxsize=4096)
def _pure_as_rho(epsilon: float) -> float:
    dp = loaded_opendp()
    pure = dp.c.make_adaptive_composition(*_space(), dp.max_divergence(), 1, [epsilon])
    return float(dp.c.make_pureDP_to_zCDP(pure).map(1))


@lru_cache(maxsize=4096)
def _converted(rho: float, delta: float) -> float:
    """Return the epsilon of rho-zCDP at a delta above 0."""
    dp = loaded_opendp()
    whole = dp.c.make_adaptive_composition(*_space(), dp.zero_concentrated_divergence(), 1, [rho])
    return float(dp.c.make_zCDP_to_approxDP(whole).map(1).epsilon(delta))
