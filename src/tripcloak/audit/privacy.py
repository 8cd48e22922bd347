"""Differential privacy as a manifest states it, read with distrust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripcloak.audit.entries import is_number, unreadable

ENTRY = "differential_privacy"
UNITS = ("traveller", "trip")


@dataclass(frozen=True)
class Privacy:
    """What is stated: how much one person can change, and the noise that is said to hide them.

    Attributes
    ----------
    epsilon, delta : float
        The promise.
    unit : str
        Whose presence is hidden: that of a traveller, or of a single trip.
    contributions : int
        Trips of one traveller that are kept at most.
    noise_scale : float
        The scale of the noise in every published number.
    threshold : float
        What a noisy number must reach to be published; 1 where nothing is stated.
    """

    epsilon: float
    delta: float
    unit: str
    contributions: int
    noise_scale: float
    threshold: float = 1.0

    @property
    def figures(self) -> str:
        """Return the numbers of the promise as words on it must give them."""
        delta = f", delta {self.delta:g}" if self.delta else ""
        each = f", at most {self.contributions:,} trips each" if self.unit == "traveller" else ""
        return f"(epsilon {self.epsilon:g}{delta}{each})"


def read_privacy(facts: Mapping[str, Any]) -> Privacy | None:
    """Return the differential privacy that a manifest states, None where it states none.

    Examples
    --------
    >>> stated = {"epsilon": 1, "delta": 0, "unit": "trip", "contributions": 1, "mechanism": "noise",
    ...           "noise_scale": 1.0}
    >>> read_privacy({"differential_privacy": stated}).figures
    '(epsilon 1)'
    """
    if ENTRY not in facts:
        return None
    stated = facts[ENTRY]
    if not isinstance(stated, Mapping):
        raise unreadable(ENTRY, "a table of epsilon, delta and the noise")
    epsilon, delta, unit, each = (stated.get(n) for n in ("epsilon", "delta", "unit", "contributions"))
    if not is_number(epsilon) or not epsilon > 0:
        raise unreadable(f"{ENTRY}.epsilon", "a number above 0")
    if not is_number(delta) or not 0 <= delta < 1:
        raise unreadable(f"{ENTRY}.delta", "a chance from 0 to below 1")
    if unit not in UNITS:
        raise unreadable(f"{ENTRY}.unit", " or ".join(UNITS))
    if type(each) is not int or each < 1 or (unit == "trip" and each != 1):
        raise unreadable(f"{ENTRY}.contributions", "a whole number of 1 or more; 1 where trips are hidden")
    scale, threshold = stated.get("noise_scale"), stated.get("threshold", 1)
    if not is_number(scale) or not scale > 0:
        raise unreadable(f"{ENTRY}.noise_scale", "a number above 0")
    if not is_number(threshold) or not threshold >= 0:
        raise unreadable(f"{ENTRY}.threshold", "a number of 0 or more")
    return Privacy(float(epsilon), float(delta), unit, each, float(scale), max(1.0, float(threshold)))
