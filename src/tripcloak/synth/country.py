"""The made-up country: towns whose sizes follow a rank-size law, villages between them, and who lives where.

Everything is in metres east and north of the country's centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripcloak.synth.laws import bearings, look_up, town_radii
from tripcloak.synth.plan import Floats, Ints, generator

TOWNS, VILLAGES = 60, 600
TOWN_SHARE = 0.78
"""Share of people who live in towns."""

CAPITAL_SPREAD = 2600.0
SMALLEST_SPREAD = 350.0
"""Metres over which a town's density falls to 1/e; the area grows in proportion to the people."""

COMMUTE = 5000.0
"""Metres up to which a town of work is as good as next door."""

_STREAM = 3


@dataclass(frozen=True)
class Country:
    """Towns, the largest first, and villages, inside a circle."""

    radius: float
    towns: Floats  # (towns, 2)
    size: Floats  # share of the town dwellers
    spread: Floats
    villages: Floats  # (villages, 2)


def draw_country(seed: int, radius: float) -> Country:
    """Return the country of a seed, in a circle of ``radius`` metres.

    Examples
    --------
    >>> country = draw_country(1, 150_000.0)
    >>> bool((np.diff(country.size) < 0).all()), country.towns.shape
    (True, (60, 2))
    """
    rng = generator(seed, _STREAM)
    zipf = 1.0 / np.arange(1.0, TOWNS + 1.0)
    towns = _draw_towns(rng, radius)
    spread = np.maximum(SMALLEST_SPREAD, CAPITAL_SPREAD * np.sqrt(zipf))
    # Half of the villages lie around towns, half anywhere.
    near = towns[rng.integers(TOWNS, size=VILLAGES)] + 0.08 * radius * rng.standard_normal((VILLAGES, 2))
    villages = np.where(rng.random((VILLAGES, 1)) < 0.5, near, anywhere(rng, radius, VILLAGES))
    return Country(
        radius=radius,
        towns=towns,
        size=zipf / np.cumsum(zipf)[-1],
        spread=spread,
        villages=fold_inside(villages, radius),
    )


def home_places(country: Country, draws: Floats) -> Floats:
    """Return where people live, from four draws each (4, people)."""
    kind, which, far, bearing = draws
    town = kind < TOWN_SHARE
    chosen = np.minimum(np.searchsorted(np.cumsum(country.size), which, side="right"), TOWNS - 1)
    village = (which * VILLAGES).astype(np.int64)
    middle = np.where(town[:, None], country.towns[chosen], country.villages[village])
    spread = np.where(town, country.spread[chosen], SMALLEST_SPREAD)
    return fold_inside(_around(middle, spread, far, bearing), country.radius)


def work_places(country: Country, home: Floats, draws: Floats) -> Floats:
    """Return places of work in towns, from three draws each: drawn to size, put off by distance."""
    which, far, bearing = draws
    gap = home[:, None, :] - country.towns
    nearness = 1.0 + (gap[..., 0] * gap[..., 0] + gap[..., 1] * gap[..., 1]) / (COMMUTE * COMMUTE)
    ladder = np.cumsum(country.size / (nearness * np.sqrt(nearness)), axis=1)
    town = (ladder <= (which * ladder[:, -1])[:, None]).sum(axis=1).clip(max=TOWNS - 1)
    # Work lies closer to the middle of a town than homes do.
    return fold_inside(_around(country.towns[town], 0.6 * country.spread[town], far, bearing), country.radius)


def fold_inside(at: Floats, radius: float) -> Floats:
    """Return points as they are, those beyond ``radius`` mirrored inwards at that circle."""
    reach = radius * radius
    square = at[:, 0] * at[:, 0] + at[:, 1] * at[:, 1]
    folded: Floats = at * (reach / np.maximum(square, reach))[:, None]
    return folded


def arrows(bearing: Floats) -> Floats:
    """Return unit arrows (people, 2) of draws from 0 to 1."""
    around = bearings()
    pointing: Floats = around[(bearing * around.shape[0]).astype(np.int64)]
    return pointing


def _around(middle: Floats, spread: Floats, far: Floats, bearing: Floats) -> Floats:
    placed: Floats = middle + (spread * look_up(town_radii(), far))[:, None] * arrows(bearing)
    return placed


def _draw_towns(rng: np.random.Generator, radius: float) -> Floats:
    """Return where towns lie: the capital first, each other away from those before."""
    towns = np.empty((TOWNS, 2))
    towns[0] = 0.3 * anywhere(rng, radius, 1)[0]
    for town in range(1, TOWNS):
        tried = 0.93 * anywhere(rng, radius, 4)
        gap = tried[:, None, :] - towns[:town]
        nearest: Ints = (gap * gap).sum(axis=2).min(axis=1).argmax()
        towns[town] = tried[nearest]
    return towns


def anywhere(rng: np.random.Generator, radius: float, size: int) -> Floats:
    """Return points spread evenly over the circle."""
    spread: Floats = (radius * np.sqrt(rng.random(size)))[:, None] * arrows(rng.random(size))
    return spread
