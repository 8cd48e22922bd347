"""Zones that could be: squares side by side, in four lattices that are half a square apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.trajectories.methods.cells import by_code, ranked
from tripcloak.trajectories.methods.mixzones.passages import mixed, passages_through
from tripcloak.trajectories.methods.mixzones.placing import Extents
from tripcloak.trajectories.methods.moments import Moments
from tripcloak.trajectories.model import Grid

SHIFTS = ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5))
"""By which parts of their width the squares of each lattice are moved."""


class Zones(NamedTuple):
    """Zones, each of one rectangle or several, and which moments lie wholly inside them.

    Attributes
    ----------
    extents : Extents
        The rectangle around each zone.
    zone, moment : array of int64
        Which moments are in which zone, by zone and moment; zones may share moments.
    rows : array of int64
        The rectangles, a row each, by zone: number of the zone, west, east, south, north in steps.
    """

    extents: Extents
    zone: Ints
    moment: Ints
    rows: Ints

    def __repr__(self) -> str:
        return f"<Zones: {len(self.extents.x0):,}>"

    def only(self, chosen: Ints) -> Zones:
        """Return these zones alone, which are in order, numbered anew."""
        number = np.full(len(self.extents.x0), -1, np.int64)
        number[chosen] = np.arange(len(chosen))
        zone = number[self.zone]
        kept = zone >= 0
        rows = self.rows[number[self.rows[:, 0]] >= 0]
        return Zones(
            Extents(*(side[chosen] for side in self.extents)),
            zone[kept],
            self.moment[kept],
            np.column_stack([number[rows[:, 0]], rows[:, 1:]]),
        )


def joined(several: Sequence[Zones]) -> Zones:
    """Return zones of several sets as one set, one set after the other."""
    starts = np.cumsum([0, *(len(one.extents.x0) for one in several)])
    rows = [one.rows + np.array([start, 0, 0, 0, 0]) for one, start in zip(several, starts, strict=False)]
    return Zones(
        Extents(*(np.concatenate(sides) for sides in zip(*(one.extents for one in several), strict=True))),
        np.concatenate([one.zone + start for one, start in zip(several, starts, strict=False)]),
        np.concatenate([one.moment for one in several]),
        np.concatenate(rows),
    )


def squares(moments: Moments, grid: Grid, width: int, shift: tuple[float, float]) -> Zones:
    """Return squares side by side, as wide as whole steps allow: those that a moment is in.

    Examples
    --------
    >>> t = np.array([0, 1])
    >>> moments = Moments(t * 0, t, t * 7, t * 7 + 1, t, t + 1, t)
    >>> squares(moments, Grid(metres=100), 400, (0.5, 0.0)).rows.tolist()
    [[0, -2, 2, 0, 4], [1, 6, 10, 0, 4]]
    """
    steps = max(1, width // grid.metres)
    east, north = (int(part * steps) for part in shift)
    column, row = (moments.x0 - east) // steps, (moments.y0 - north) // steps
    inside = np.flatnonzero(
        ((moments.x1 - 1 - east) // steps == column) & ((moments.y1 - 1 - north) // steps == row)
    )
    base = int(row.min(initial=0))
    height = int(row.max(initial=0)) - base + 1
    first = int(column.min(initial=0))
    below = (int(column.max(initial=0)) - first + 1) * height
    zone, keys = ranked((column[inside] - first) * height + row[inside] - base, below)
    order = by_code(zone, len(keys))
    x0, y0 = (keys // height + first) * steps + east, (keys % height + base) * steps + north
    extents = Extents(x0, x0 + steps, y0, y0 + steps)
    return Zones(extents, zone[order], inside[order], np.column_stack([np.arange(len(keys)), *extents]))


def busy(moments: Moments, zones: Zones, k: int, longest: int) -> Zones:
    """Return the zones in which k people were at one moment on their way through."""
    found = passages_through(moments, zones.zone, zones.moment, longest=longest)
    return zones.only(np.unique(found.zone[mixed(moments, found, k)]))
