"""The grid of boxes, worked out anew: it follows from the tiles alone, and no edge on it tells a tile.

On a grid of tiles the step is the first of 1, 2 or 5 times a power of ten (in degrees) that is as wide as
three tiles. Over tiles of a file a box lies on the grid of 0.001 degrees or of a wider step, and every edge
fits three tiles of the file: they lie in the box, and end within a step of the edge. A box in which one tile
lies alone says nothing of few people. Steps of longitude are the first that is no narrower, in metres, than
two thirds of the step of latitude, where the box comes closest to a pole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tripcloak.flows.audit.boxes import MICRO, Box
from tripcloak.flows.audit.grids import H3Grid, grid_of
from tripcloak.ground.arrays import Bools, Ints

STEPS: tuple[int, ...] = tuple(digit * 10**power for power in range(1, 9) for digit in (1, 2, 5))
"""In millionths of a degree."""

FILE_STEP = 1000
WIDTH_IN_TILES = 3
ENOUGH = 3
LIMITS = (90 * MICRO, 180 * MICRO)


def right_step(spec: str, tile_degrees: float) -> int:
    """Return the step for a tiling, given by its text and, for a quadtree, the longer side of its tiles.

    >>> right_step("h3:9", 0.0), right_step("quadtree:9", 0.003333), right_step("dendrogram", 0.0)
    (10000, 10000, 1000)
    >>> right_step("quadtree:9", 0.003334)
    20000
    """
    grid = grid_of(spec)
    if grid is None:
        return FILE_STEP
    if isinstance(grid, H3Grid):
        cells = 2 + 120 * 7**grid.resolution
        tile_degrees = math.degrees(math.sqrt(4 * math.pi / cells))
    least = round(WIDTH_IN_TILES * tile_degrees * MICRO, 3)
    return next((step for step in STEPS if step >= least), STEPS[-1])


def steps_of_lines(box: Box, least: int) -> Iterator[int]:
    """Yield the steps, from a least one on, whose lines all edges of a box lie on, or the ends of the world.

    >>> list(steps_of_lines(Box(48_860_000, 2_340_000, 48_880_000, 2_400_000), 5000))
    [5000, 10000]
    >>> list(steps_of_lines(Box(48_860_001, 2_340_000, 48_880_000, 2_400_000), 10))
    []
    """
    for step in STEPS[STEPS.index(least) :]:
        widths = (step, longitude_step(box, step)) * 2
        if all(
            edge % width == 0 or abs(edge) == limit
            for edge, width, limit in zip(box, widths, LIMITS * 2, strict=True)
        ):
            yield step


def longitude_step(box: Box, step: int) -> int:
    """Return the step of longitude that goes with one of latitude."""
    pole = math.radians(max(abs(box.south), abs(box.north)) / MICRO)
    least = 2 / 3 * step / max(math.cos(pole), 1e-9)
    return next((step for step in STEPS if step >= least), STEPS[-1])


def tells_nobody(box: Box, least: int, tiles: Ints | None) -> bool:
    """Return whether a box lies on the grid, and over tiles of a file (one column each) hides its edges.

    >>> tiles = np.array([[0, 300, 600], [0, 300, 600], [0, 300, 600], [0, 300, 600]])
    >>> [tells_nobody(Box(0, 0, 1000, 1000), 1000, tiles[:, :many]) for many in (3, 2)]
    [True, True]
    >>> far = np.append(tiles, [[5000]] * 4, axis=1)
    >>> [tells_nobody(Box(0, 0, 1000, 1000), 1000, far[:, [0, 1, last]]) for last in (2, 3)]
    [True, False]
    """
    on = steps_of_lines(box, least)
    if tiles is None:
        return next(on, None) == least
    inside = tiles[:, _inside(box, tiles)]
    needed = min(ENOUGH, tiles.shape[1])
    return any(
        inside.shape[1] == 1 or step == STEPS[-1] or _fewest(box, step, inside) >= needed for step in on
    )


def _inside(box: Box, tiles: Ints) -> Bools:
    inside: Bools = (
        (tiles[0] >= box.south) & (tiles[1] >= box.west) & (tiles[2] <= box.north) & (tiles[3] <= box.east)
    )
    return inside


def _fewest(box: Box, step: int, inside: Ints) -> int:
    """Return how many tiles the edge fits that fits the fewest."""
    widths = (step, longitude_step(box, step)) * 2
    return min(
        int((np.abs(ends - edge) <= width).sum())
        for edge, width, ends in zip(box, widths, inside, strict=True)
    )


def tile_extent(outline: Mapping[str, Any] | None, lat: float, lon: float, area: float) -> tuple[float, ...]:
    """Return south, west, north and east of a tile in millionths of a degree, and its longer side in degrees.

    A tile without an area is its point. One across the antimeridian is in two parts, around the world.
    """
    import shapely
    from shapely.geometry import shape

    y, x = round(lat * MICRO), round(lon * MICRO)
    if outline is None or math.isnan(area):
        return y, x, y, x, 0.0
    sides = shapely.bounds(shapely.get_parts(shape(outline)))
    low, high = sides[:, :2].min(axis=0) * MICRO, sides[:, 2:].max(axis=0) * MICRO
    west, south = np.floor(np.round(low, 3)).tolist()
    east, north = np.ceil(np.round(high, 3)).tolist()
    longer = max(float(sides[0, 3] - sides[0, 1]), float((sides[:, 2] - sides[:, 0]).sum()))
    return min(south, y), min(west, x), max(north, y), max(east, x), longer
