"""The antennas of the made-up country: close together where people live, far apart where few do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tripcloak.synth.country import Country, anywhere, fold_inside, home_places
from tripcloak.synth.plan import Floats, Ints, generator

if TYPE_CHECKING:
    from scipy.spatial import KDTree

COVERAGE = 0.2
"""Share of the antennas that serve land rather than people."""

CELL = 2000.0
"""Side in metres of the squares by which places draw people."""

_STREAM = 4
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

    rng = generator(seed, _STREAM)
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
