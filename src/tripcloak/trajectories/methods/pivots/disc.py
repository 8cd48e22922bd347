"""Disc: places moved no further than needed to lie near another, on whole steps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.trajectories.grid import Grid


def moved_into_disc(
    x: Ints, y: Ints, centre: tuple[Ints, Ints], *, grid: Grid, delta: float
) -> tuple[Ints, Ints]:
    """Return places within delta / 2 metres of their centres, moved straight towards them where needed.

    Two places in one disc are within delta of each other. Steps are whole, so a place that is moved
    comes to lie on the boundary or less than two steps inside it, never outside.

    Examples
    --------
    >>> none = np.array([0, 0])
    >>> moved_into_disc(np.array([9, 90]), none, (none, none), grid=Grid(metres=100), delta=2000)
    (array([ 9, 10], dtype=int32), array([0, 0], dtype=int32))
    """
    # Squares of whole numbers are compared with a whole number, so no rounding lets a place slip out.
    limit = int(Fraction(delta) ** 2 / (4 * grid.metres**2))
    east, north = (
        np.asarray(v, np.int64) - np.asarray(c, np.int64) for v, c in zip((x, y), centre, strict=True)
    )
    out = east**2 + north**2 > limit
    away_x, away_y = east[out], north[out]
    scale = np.sqrt(limit / (away_x**2 + away_y**2))
    away_x, away_y = (np.trunc(away * scale).astype(np.int64) for away in (away_x, away_y))
    while (outside := away_x**2 + away_y**2 > limit).any():
        wider = np.abs(away_x) >= np.abs(away_y)
        away_x = away_x - np.where(outside & wider, np.sign(away_x), 0)
        away_y = away_y - np.where(outside & ~wider, np.sign(away_y), 0)
    east[out], north[out] = away_x, away_y
    return (np.asarray(centre[0]) + east).astype(np.int32), (np.asarray(centre[1]) + north).astype(np.int32)
