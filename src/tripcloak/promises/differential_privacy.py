"""Differential privacy: the released numbers would look much the same without any one person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.promise import Covered, FlowGroups, Input, Unit


@dataclass(frozen=True, kw_only=True)
class DifferentialPrivacy:
    """(epsilon, delta)-differential privacy of everything that is released.

    It promises no smallest group: a released flow may stand for a single person, or for nobody.
    What is promised is that nobody can tell from the release whether any one person was in the input.

    Parameters
    ----------
    epsilon, delta
        How much one person may change the odds of any outcome, and the chance that this fails.
    unit
        Whose presence is hidden: a traveller with all that is kept of their trips, or a single trip.
    contributions
        Trips of one traveller that are kept at most; 1 where a single trip is hidden.
    mechanism
        What was done, in words.
    details
        Public facts about the mechanism, such as the scale of its noise and its threshold.

    Examples
    --------
    >>> DifferentialPrivacy(epsilon=1.0, delta=1e-6, contributions=10, mechanism="noise").words()
    'differential privacy of every traveller (epsilon 1, delta 1e-06, at most 10 trips each)'
    """

    epsilon: float
    delta: float = 0.0
    unit: Literal["traveller", "trip"] = "traveller"
    contributions: int = 1
    mechanism: str
    details: tuple[tuple[str, float | str], ...] = ()

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and math.isfinite(self.epsilon)):
            raise InputError(f"epsilon must be a finite number above 0; got {self.epsilon:g}")
        if not 0 <= self.delta < 1:
            raise InputError(f"delta must be a chance from 0 to below 1; got {self.delta:g}")
        if self.contributions < 1:
            raise InputError(f"contributions must be 1 or more; got {self.contributions}")

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return nothing: no number of people is promised."""
        return {}

    @property
    def floors(self) -> dict[Covered, int]:
        """Return nothing: no number of places is promised."""
        return {}

    def resolve(self, matrix: Input) -> DifferentialPrivacy:
        """Return the promise itself; nothing about it is open."""
        return self

    def safe(self, groups: FlowGroups) -> Bools:
        """Return that every group may be released: the noise protects, not the size."""
        return np.ones(len(groups), dtype=bool)

    def words(self) -> str:
        """Return the promise in words."""
        delta = f", delta {self.delta:g}" if self.delta else ""
        each = f", at most {self.contributions:,} trips each" if self.unit == "traveller" else ""
        return f"differential privacy of every {self.unit} (epsilon {self.epsilon:g}{delta}{each})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "unit": self.unit,
            "contributions": self.contributions,
            "mechanism": self.mechanism,
            **dict(self.details),
        }
