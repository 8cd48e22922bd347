"""The laws behind made-up call records, as tables: how far, how long, how bursty, how often somewhere new.

Powers and exponentials are rounded differently from processor to processor. They are therefore computed once,
here, and kept to nine digits: what is drawn from the tables is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from statistics import NormalDist

import numpy as np

from tripcloak.synth.plan import Floats

RHO, GAMMA = 0.6, 0.21
"""Chance of going somewhere new after S places: RHO * S ** -GAMMA (Song et al. 2010, Nature Physics 6)."""

JUMP_EXPONENT, JUMP_KM = 1.55, (0.2, 100.0)
WAIT_EXPONENT, WAIT_HOURS = 1.8, (0.5, 17.0)
GAP_EXPONENT, GAP_RANGE = 0.9, (5e-3, 12.0)
"""Silences between calls against their mean; a power law that ends exponentially (Candia et al. 2008)."""

CALLER_SIGMA = 0.8
"""How much callers differ: standard deviation of the logarithm of their number of calls."""

_CELLS = 4096
_PLACES = 4096


@cache
def jumps() -> Floats:
    """Return quantiles of the metres to a new place."""
    return _quantiles(lambda km: km**-JUMP_EXPONENT, *JUMP_KM) * 1000.0


@cache
def waits() -> Floats:
    """Return quantiles of the seconds of a stay by day."""
    return _quantiles(lambda hours: hours**-WAIT_EXPONENT, *WAIT_HOURS) * 3600.0


@cache
def gaps() -> Floats:
    """Return quantiles of the silence between two calls, in units of no meaning."""
    return _quantiles(lambda gap: gap**-GAP_EXPONENT * np.exp(-gap / 3.0), *GAP_RANGE)


@cache
def town_radii() -> Floats:
    """Return quantiles of the distance from a town's middle: density falls exponentially (Clark 1951)."""
    return _quantiles(lambda r: r * np.exp(-r), 1e-3, 7.0)


@cache
def activity() -> Floats:
    """Return quantiles of how much a person calls; the mean is 1."""
    normal = NormalDist()
    ends = np.clip(np.linspace(0.0, 1.0, _CELLS + 1), 1e-5, 1.0 - 1e-5)
    values = np.exp([CALLER_SIGMA * normal.inv_cdf(float(share)) for share in ends])
    return _rounded(values / ((values[1:] + values[:-1]) / 2.0).mean())


@cache
def exploring() -> Floats:
    """Return the chance of going somewhere new, by number of places known."""
    return _rounded(RHO * np.arange(1.0, _PLACES + 1.0) ** -GAMMA)


@cache
def bearings() -> Floats:
    """Return unit arrows (east, north) all around."""
    angle = np.linspace(0.0, 2.0 * np.pi, _CELLS, endpoint=False)
    return np.round(np.stack([np.cos(angle), np.sin(angle)], axis=1), 9)


def look_up(table: Floats, share: Floats) -> Floats:
    """Return the quantiles of shares from 0 up to 1, between two entries of a table in proportion.

    Examples
    --------
    >>> look_up(np.array([0.0, 10.0, 40.0]), np.array([0.25, 0.75]))
    array([ 5., 25.])
    """
    at = share * (table.size - 1)
    below = at.astype(np.int64)
    low = table[below]
    found: Floats = low + (at - below) * (table[below + 1] - low)
    return found


def _quantiles(density: Callable[[Floats], Floats], low: float, high: float) -> Floats:
    grid = np.geomspace(low, high, 20_001)
    mass = density(grid)
    steps = (mass[1:] + mass[:-1]) * np.diff(grid)
    reached = np.concatenate([[0.0], np.cumsum(steps)])
    return _rounded(np.interp(np.linspace(0.0, 1.0, _CELLS + 1), reached / reached[-1], grid))


def _rounded(values: Iterable[float]) -> Floats:
    return np.array([float(f"{value:.9g}") for value in values])
