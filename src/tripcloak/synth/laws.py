"""The laws behind made-up call records, and a random stream for every user, by number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tripcloak.synth.plan import Floats, Ints

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


Keys = NDArray[np.uint64]

HABITS, MOVES, CALLS = 0, 1, 2
"""What the streams of a user are for."""

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def user_keys(seed: int, stream: int, users: Ints) -> Keys:
    """Return the key of one stream of every user; another seed, stream or user has another key.

    Examples
    --------
    >>> keys = user_keys(1, 0, np.arange(3))
    >>> bool((user_keys(1, 0, np.array([2])) == keys[2:]).all())
    True
    """
    of_stream = _mixed(np.array([seed], np.uint64) * _STEP + np.uint64(stream + 1))
    return _mixed(_mixed(of_stream + users.astype(np.uint64) * _STEP) + of_stream)


def uniform(keys: Keys, number: Ints | int) -> Floats:
    """Return the draw of that number from each stream, from 0 up to but without 1.

    Examples
    --------
    >>> draws = uniform(user_keys(1, 0, np.arange(1000)), 5)
    >>> bool(abs(draws.mean() - 0.5) < 0.05), bool(draws.max() < 1)
    (True, True)
    """
    at = np.asarray(number, np.int64).astype(np.uint64) * np.atleast_1d(_STEP)
    draws: Floats = (_mixed(keys + at) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return draws


def _mixed(x: Keys) -> Keys:
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))
