"""Tilings: squares and hexagons of H3, wider from level to level, and the rectangles around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.h3.cells import encode_points, parent_cells
from tripcloak.hierarchy.h3.outlines import tiles_outline
from tripcloak.trajectories.methods.cells import Lattice, codes_of, firsts_of, levels_over
from tripcloak.trajectories.model import Grid, Trajectories

Sides = tuple[Ints, Ints, Ints, Ints]
"""West, east, south and north, in steps."""

MARGIN = 0.01
"""How far a rectangle reaches beyond the outline of its hexagon, as a share of its width: an outline is drawn
with straight lines, and with cells that are no more than :data:`FINER` resolutions finer."""

FINER = 5
"""By so many resolutions each cell is about 130 times as narrow, and reaches as little over the edge."""

_HALF = 1 << 31


class Tiling(Protocol):
    """Cells that cover the ground, known by numbers; where they lie depends on nobody's samples."""

    @property
    def coarsest(self) -> int:
        """Return the last level; at level 0 are the finest cells."""

    def cells(self, x: Ints, y: Ints) -> Ints:
        """Return the finest cell of every step of place."""

    def wider(self, cells: Ints, level: int) -> Ints:
        """Return the cell of a level that each of the finest cells is in."""

    def corners(self, cells: Ints, begins: Ints) -> Ints:
        """Return one cell for each run of finest cells, by which its region is known."""

    def rectangles(self, cells: Ints, level: int) -> Sides:
        """Return a rectangle around each cell of a level, with all samples that are in it."""


@dataclass(frozen=True)
class Squares:
    """Square cells, whose sides are doubled from level to level.

    Examples
    --------
    >>> squares = Squares(Lattice(cell=5, slot=1, first=0), coarsest=3)
    >>> cells = squares.cells(np.array([4, -1]), np.array([7, -6]))
    >>> [side.tolist() for side in squares.rectangles(squares.wider(cells, 1), 1)]
    [[0, -10], [10, 0], [0, -10], [10, 0]]
    """

    lattice: Lattice
    coarsest: int

    @classmethod
    def over(cls, trajectories: Trajectories, lattice: Lattice) -> Squares:
        """Return the squares of a lattice, up to those of which one row or two hold everything."""
        return cls(lattice, levels_over(lattice, trajectories))

    def cells(self, x: Ints, y: Ints) -> Ints:
        """Return the finest cell of every step of place."""
        return _packed(self.lattice.cells(x), self.lattice.cells(y))

    def wider(self, cells: Ints, level: int) -> Ints:
        """Return the cell of a level that each of the finest cells is in."""
        column, row = _unpacked(cells)
        return _packed(column >> level, row >> level)

    def corners(self, cells: Ints, begins: Ints) -> Ints:
        """Return the cell in the corner of the rectangle around each run of cells."""
        return _packed(*(np.minimum.reduceat(side, begins) for side in _unpacked(cells)))

    def rectangles(self, cells: Ints, level: int) -> Sides:
        """Return the sides of cells of a level."""
        (column, row), width = _unpacked(cells), self.lattice.cell << level
        return column * width, (column + 1) * width, row * width, (row + 1) * width


@dataclass(frozen=True)
class Hexagons:
    """Cells of H3, and their parents from level to level; a parent is all finest cells below it.

    A sample is in the cell that the middle of its step is in. Parents are H3's own: their finest cells reach
    over the edges of the hexagon, and it is around these that rectangles are drawn.

    Examples
    --------
    >>> hexagons = Hexagons(Grid(metres=100), finest=8)
    >>> cells = hexagons.cells(np.array([0, 4, 900]), np.array([0, 1, 0]))
    >>> [len(np.unique(hexagons.wider(cells, level))) for level in (0, 8)]
    [2, 1]
    """

    grid: Grid
    finest: int

    @property
    def coarsest(self) -> int:
        """Return the level of H3's resolution 0."""
        return self.finest

    def cells(self, x: Ints, y: Ints) -> Ints:
        """Return the finest cell of every step of place."""
        place = codes_of(x, y)
        one = firsts_of(place)
        middle = ((np.asarray(side, np.float64)[one] + 0.5) * self.grid.metres for side in (x, y))
        lon, lat = self.grid.unproject(*middle)
        found: Ints = encode_points(lat, lon, self.finest).view(np.int64)[place]
        return found

    def wider(self, cells: Ints, level: int) -> Ints:
        """Return the parent of each of the finest cells, so many resolutions coarser."""
        found: Ints = parent_cells(cells.view(np.uint64), self.finest - level).view(np.int64)
        return found

    def corners(self, cells: Ints, begins: Ints) -> Ints:
        """Return the first cell of each run."""
        return cells[begins]

    def rectangles(self, cells: Ints, level: int) -> Sides:
        """Return the rectangles around the finest cells that are in cells of a level, rounded outwards."""
        different, which = np.unique(cells, return_inverse=True)
        sides = self._around(different.tolist(), min(self.finest, self.finest - level + FINER))
        if not np.isfinite(sides).all():
            raise ImpossibleRequestError(
                "not possible: a cell of H3 reaches beyond where the projection of the release holds; "
                f"take square cells ({spelt('cells', 'square')})"
            )
        west, east, south, north = sides / self.grid.metres
        aside, beyond = MARGIN * (east - west), MARGIN * (north - south)
        low = (np.floor(side).astype(np.int64)[which] for side in (west - aside, south - beyond))
        high = (np.ceil(side).astype(np.int64)[which] for side in (east + aside, north + beyond))
        (x0, y0), (x1, y1) = low, high
        return x0, x1, y0, y1

    def _around(self, cells: list[int], resolution: int) -> Floats:
        """Return the sides of rectangles around the cells of a resolution in each cell, in metres."""
        outlines = [
            list(_points(tiles_outline((cell,), resolution).geometry["coordinates"])) for cell in cells
        ]
        begins = np.cumsum([0, *(len(points) for points in outlines[:-1])])
        lon, lat = np.array([point for points in outlines for point in points]).T
        x, y = self.grid.project(lon, lat)
        return np.stack([f.reduceat(side, begins) for side in (x, y) for f in (np.minimum, np.maximum)])


def _points(coordinates: Any) -> Any:
    """Yield the points of the rings of one polygon or several."""
    for part in coordinates:
        if isinstance(part[0], int | float):
            yield part[:2]
        else:
            yield from _points(part)


def _packed(column: Ints, row: Ints) -> Ints:
    """Return one number for each column and row."""
    return np.asarray((np.asarray(column, np.int64) << 32) + (np.asarray(row, np.int64) + _HALF), np.int64)


def _unpacked(cells: Ints) -> tuple[Ints, Ints]:
    """Return the columns and rows of such numbers.

    >>> [side.tolist() for side in _unpacked(_packed(np.array([3, -2]), np.array([-7, 0])))]
    [[3, -2], [-7, 0]]
    """
    return cells >> 32, (cells & 0xFFFFFFFF) - _HALF
