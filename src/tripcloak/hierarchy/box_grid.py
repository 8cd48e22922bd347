"""The grid that edges of boxes lie on: known from the tiling alone, so that no edge tells a tile.

The smallest box around some tiles names four of them, one an edge. So boxes are widened, outwards, to lines
that were there before any data: whole multiples of a step in degrees. On a grid of tiles (H3, quadtree) the
step is three tiles or more, and every edge fits many tiles. Tiles of a file differ in size; there the step
begins fine and grows, box by box, until every edge fits at least three of the file's tiles. A box in which a
single tile of the file lies stays as it is: all its people were there, and not just somebody.
"""

from __future__ import annotations

import math

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.hierarchy.places import (
    EARTH_KM,
    KM_PER_DEGREE,
    MICRO,
    Corners,
    h3_resolution,
    is_quadtree,
    rectangle_sides,
    tile_extents,
)
from tripcloak.hierarchy.tree import Hierarchy

STEPS = np.array([digit * 10**power for power in range(1, 9) for digit in (1, 2, 5)])
"""Steps that a grid may have, in millionths of a degree: 1, 2 or 5 times a power of ten."""

TILES = 3
"""The width of a step, in tiles of a grid."""

FITS = 3
"""The least number of tiles of a file that every edge of a box fits."""

FILE_STEP = 1_000
"""Where the step begins over tiles of a file."""

NARROWEST = 2 / 3
"""How narrow a step of longitude may become on the way to the poles, as a share of one of latitude."""


def grid_step(tree: Hierarchy) -> int:
    """Return the step of the grid for boxes over a hierarchy's tiles, in millionths of a degree.

    >>> from tripcloak.hierarchy import H3Tiling
    >>> tiling = H3Tiling(9)
    >>> grid_step(tiling.hierarchy(np.unique(tiling.encode(np.array([48.85]), np.array([2.35])))))
    10000
    """
    width = _tile_degrees(tree)
    if width is None:
        return FILE_STEP
    # To a thousandth of the finest unit, so that a last digit does not decide.
    needed = round(TILES * width * MICRO, 3)
    return int(STEPS[min(int(np.searchsorted(STEPS, needed)), len(STEPS) - 1)])


def on_grid(tree: Hierarchy, tight: Corners) -> Corners:
    """Return boxes widened to the grid of a hierarchy's tiles.

    >>> lat = np.array([0.0101, 0.0102, 0.0108, 0.0117, 0.0112])
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "all"], [4, 4, 4, 4, -1], lat=lat, lon=np.zeros(5))
    >>> tight = Corners(*np.array([[10100], [0], [10200], [0]]))
    >>> [int(side[0]) for side in on_grid(tree, tight)]
    [10000, 0, 11000, 1000]
    """
    step = grid_step(tree)
    if _tile_degrees(tree) is not None:
        return Corners(*_snapped(np.stack(tight), step))
    extents = np.stack(tile_extents(tree))
    boxes, tight_sides = np.stack(tight), np.stack(tight)
    open_rows = np.arange(boxes.shape[1])
    # Invariant: boxes that are no longer open have edges that fit enough tiles.
    for wider in STEPS[np.searchsorted(STEPS, step) :].tolist():
        boxes[:, open_rows] = _snapped(tight_sides[:, open_rows], wider)
        open_rows = open_rows[~_fit_enough(extents, boxes[:, open_rows], wider)]
        if not len(open_rows):
            break
    return Corners(*boxes)


def longitude_step(step: int, south: Ints, north: Ints) -> Ints:
    """Return the step of longitude for boxes between two latitudes: no narrower than two thirds of a step.

    >>> longitude_step(10_000, np.array([0, 48_000_000]), np.array([37_000_000, 49_000_000])).tolist()
    [10000, 20000]
    """
    pole = np.radians(np.maximum(np.abs(south), np.abs(north)) / MICRO)
    needed = NARROWEST * step / np.maximum(np.cos(pole), 1e-9)
    return STEPS[np.minimum(np.searchsorted(STEPS, needed), len(STEPS) - 1)]


def _snapped(sides: Ints, step: int) -> Ints:
    """Return boxes widened to whole steps, and to no more than the world."""
    south, north = _outwards(sides[0], sides[2], np.array(step), 90 * MICRO)
    west, east = _outwards(sides[1], sides[3], longitude_step(step, south, north), 180 * MICRO)
    return np.stack([south, west, north, east])


def _outwards(low: Ints, high: Ints, step: Ints, limit: int) -> tuple[Ints, Ints]:
    below, above = np.floor_divide(low, step) * step, -np.floor_divide(-high, step) * step
    # What lies on a line, with no width of its own, is widened to one side.
    above = np.where(above == below, above + step, above)
    below = np.where(below >= limit, below - step, below)
    return np.maximum(below, -limit), np.minimum(above, limit)


def _fit_enough(extents: Ints, boxes: Ints, step: int) -> Bools:
    """Return for which boxes every edge could have been drawn for any of several tiles, or all for one alone.

    An edge fits a tile that lies in the box and ends within a step of it.
    """
    import shapely

    tree = shapely.STRtree(shapely.box(*extents[[1, 0, 3, 2]]))
    wide = longitude_step(step, boxes[0], boxes[2])
    needed = min(FITS, extents.shape[1])
    fewest = np.full(boxes.shape[1], needed)
    for side, width in enumerate((np.full_like(wide, step), wide) * 2):
        strip = boxes.copy()
        strip[(side + 2) % 4] = boxes[side] + (width if side < 2 else -width)
        box, tile = tree.query(shapely.box(*strip[[1, 0, 3, 2]]), predicate="intersects")
        inside = (extents[:2, tile] >= boxes[:2, box]).all(0) & (extents[2:, tile] <= boxes[2:, box]).all(0)
        near = np.abs(extents[side, tile] - boxes[side, box]) <= width[box]
        fewest = np.minimum(fewest, np.bincount(box[inside & near], minlength=len(fewest)))
    enough: Bools = fewest >= needed
    return enough | _hold_one(extents, boxes, np.flatnonzero(~enough))


def _hold_one(extents: Ints, boxes: Ints, among: Ints) -> Bools:
    """Return which of some boxes hold a single tile."""
    one = np.zeros(boxes.shape[1], dtype=bool)
    for row in among.tolist():
        box = boxes[:, row, None]
        one[row] = ((extents[:2] >= box[:2]).all(0) & (extents[2:] <= box[2:]).all(0)).sum() == 1
    return one


def _tile_degrees(tree: Hierarchy) -> float | None:
    """Return the width of a grid's tiles in degrees of latitude; None where tiles are those of a file."""
    resolution = h3_resolution(tree)
    if resolution is not None:
        area = 4 * math.pi * EARTH_KM**2 / (2 + 120 * 7**resolution)
        return math.sqrt(area) / KM_PER_DEGREE
    return max(rectangle_sides(tree.zones.outline(0))) if is_quadtree(tree) else None
