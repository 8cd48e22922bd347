"""The made-up country: towns, villages, who lives where, and the antennas that serve them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tripcloak.synth.laws import bearings, look_up, town_radii
from tripcloak.synth.plan import Floats, Ints, generator

if TYPE_CHECKING:
    from scipy.spatial import KDTree


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


COVERAGE = 0.2
"""Share of the antennas that serve land rather than people."""

CELL = 2000.0
"""Side in metres of the squares by which places draw people."""

_ANTENNA_STREAM = 4
_SERVED = 24
_ROUNDS = 3
# What draws people where there is no antenna at all, against one antenna.
_LURE = 0.02


@dataclass(frozen=True)
class Antennas:
    """Where the antennas are, and what finds the nearest one."""

    at: Floats  # (antennas, 2)
    tree: KDTree
    lure: Floats  # (squares, squares), by column from the west and row from the south
    reach: float

    def nearest(self, at: Floats) -> Ints:
        """Return the antenna nearest to each point."""
        found: Ints = self.tree.query(at)[1]
        return found

    def attraction(self, at: Floats) -> Floats:
        """Return how much each point draws people: nothing outside the country."""
        inside = at[:, 0] * at[:, 0] + at[:, 1] * at[:, 1] < self.reach * self.reach
        cell = np.clip((at + self.reach) / CELL, 0.0, self.lure.shape[0] - 1.0).astype(np.int64)
        drawn: Floats = np.where(inside, self.lure[cell[:, 0], cell[:, 1]], 0.0)
        return drawn


def draw_antennas(country: Country, seed: int, size: int) -> Antennas:
    """Return the antennas of a country: set up where people live, then moved amid those they serve.

    Examples
    --------
    >>> from tripcloak.synth.country import draw_country
    >>> antennas = draw_antennas(draw_country(1, 150_000.0), 1, 500)
    >>> antennas.nearest(antennas.at[:3])
    array([0, 1, 2])
    """
    from scipy.spatial import KDTree

    rng = generator(seed, _ANTENNA_STREAM)
    served = home_places(country, rng.random((4, _SERVED * size)))
    land = np.flatnonzero(rng.random(_SERVED * size) < COVERAGE)
    served[land] = anywhere(rng, country.radius, land.size)
    at = served[:size].copy()
    for _ in range(_ROUNDS):
        by = KDTree(at).query(served)[1]
        many = np.bincount(by, minlength=size)
        total = np.stack([np.bincount(by, served[:, axis], minlength=size) for axis in (0, 1)], axis=1)
        # Of two antennas on one mast one serves nobody, and stays.
        at = np.where(many[:, None] > 0, total / np.maximum(many, 1)[:, None], at)
    at = fold_inside(at, country.radius)
    # Numbered from south-west to north-east, so that a number says nothing but where.
    at = at[np.lexsort((at[:, 0], np.floor(at[:, 1] / (10.0 * CELL))))]
    return Antennas(at=at, tree=KDTree(at), lure=_lure(at, country.radius), reach=country.radius)


def _lure(at: Floats, reach: float) -> Floats:
    """Return antennas in the three by three squares around each square."""
    side = int(2.0 * reach / CELL) + 1
    cell = ((at + reach) / CELL).astype(np.int64)
    there = np.bincount(cell[:, 0] * side + cell[:, 1], minlength=side * side)
    padded = np.pad(there.reshape(side, side).astype(np.float64), 1)
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    around: Floats = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    return around / 9.0 + _LURE
