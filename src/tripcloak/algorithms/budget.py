"""Volumes in whole units, and how many of them may be suppressed: sums that decide exactly."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Floats, Ints

UNITS = 2.0**51
"""Units that all weights together are counted in."""


def whole_units(volume: Ints | Floats) -> Floats:
    """Return volumes as whole numbers: trips as they are, weights in units so small that nothing is lost.

    Whole numbers below 2**53 add up exactly, whatever the order, so a limit is never broken by rounding.
    Weights are rounded up: what is suppressed is never taken for less than it is.

    >>> whole_units(np.array([3, 1])).tolist(), whole_units(np.array([0.75, 0.25])).sum() == UNITS
    ([3.0, 1.0], np.True_)
    """
    if volume.dtype.kind in "iu":
        return volume.astype(np.float64)
    units: Floats = np.ceil(volume * (UNITS / max(volume.sum(), 1e-300)))
    return units


def budget_of(units: Floats, limit: float) -> float:
    """Return how many of these units may be suppressed.

    >>> budget_of(np.array([7.0, 3.0]), 0.3), budget_of(np.array([7.0, 3.0]), 1 - 2.0**-53)
    (3.0, 9.0)
    """
    # Weights were rounded up, so their sum may be more than the units there are; a limit below
    # everything leaves at least one unit, however near to everything it is.
    whole = min(float(units.sum()), UNITS)
    return min(float(np.floor(limit * whole * (1 + 5e-13))), whole - 1)
