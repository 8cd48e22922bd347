"""Where tiles lie: their centres, and the boxes around them, in whole millionths of a degree."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy.tree import Geometry, Hierarchy

MICRO = 10**6
EARTH_KM = 6371.0072
"""Radius of the sphere that has the area of the earth."""

KM_PER_DEGREE = math.radians(EARTH_KM)

REACH = 0.72
"""How far a cell of H3 reaches from its centre, in sides of the square of its area: 0.696 at most."""

_WORLD = np.array([[-90], [-180], [90], [180]]) * MICRO


class Corners(NamedTuple):
    """South, west, north and east of boxes, in millionths of a degree."""

    south: Ints
    west: Ints
    north: Ints
    east: Ints


class Centres(NamedTuple):
    """Latitude and longitude of tile centres, in millionths of a degree."""

    lat: Ints
    lon: Ints


def tile_centres(tree: Hierarchy) -> Centres:
    """Return the centres of a hierarchy's tiles, or raise where a tile has none.

    >>> tree = Hierarchy.from_parents(["a"], [-1], lat=np.array([48.8566141]), lon=np.array([2.35]))
    >>> [int(value[0]) for value in tile_centres(tree)]
    [48856614, 2350000]
    """
    lat, lon = (degrees[: tree.n_tiles] for degrees in (tree.zones.lat, tree.zones.lon))
    if not (np.isfinite(lat).all() and np.isfinite(lon).all()):
        raise InputError(
            "boxes need coordinates, and some tiles of this hierarchy have none; "
            "give zones with outlines or points, or choose a method that works on the tree"
        )
    return Centres(*(np.rint(degrees * MICRO).astype(np.int64) for degrees in (lat, lon)))


def tile_extents(tree: Hierarchy) -> Corners:
    """Return the box around every tile, itself and not only its centre, in millionths of a degree.

    A tile across the antimeridian reaches around the world.

    >>> tree = Hierarchy.from_parents(["a"], [-1], lat=np.array([48.8566141]), lon=np.array([2.35]))
    >>> [int(side[0]) for side in tile_extents(tree)]
    [48856614, 2350000, 48856614, 2350000]
    """
    lat, lon = tile_centres(tree)
    if h3_resolution(tree) is not None:
        high = np.ceil(REACH * np.sqrt(tree.zones.area_km2[: tree.n_tiles]) / KM_PER_DEGREE * MICRO)
        pole = np.minimum(np.abs(lat) + high, 90 * MICRO)
        wide = np.ceil(high / np.maximum(np.cos(np.radians(pole / MICRO)), 1e-9))
        sides = np.stack([lat - high, lon - wide, lat + high, lon + wide])
    elif is_quadtree(tree):
        tall, broad = (side / 2 * MICRO + 1 for side in rectangle_sides(tree.zones.outline(0)))
        sides = np.floor(np.stack([lat - tall, lon - broad, -lat - tall, -lon - broad]))
        sides[2:] *= -1
    else:
        sides = np.stack([_bounds(tree, row, int(lat[row]), int(lon[row])) for row in range(tree.n_tiles)], 1)
    across = (sides[1] < -180 * MICRO - 2) | (sides[3] > 180 * MICRO + 2)
    sides[1:4:2, across] = _WORLD[1:4:2]
    return Corners(*sides.clip(_WORLD[[0, 1, 0, 1]], _WORLD[[2, 3, 2, 3]]).astype(np.int64))


def h3_resolution(tree: Hierarchy) -> int | None:
    """Return the resolution of a hierarchy over cells of H3, None over other tiles.

    >>> h3_resolution(Hierarchy.from_parents(["a"], [-1], name="h3:9/binary"))
    9
    """
    match = re.match(r"h3:(\d+)", tree.name)
    return int(match[1]) if match else None


def is_quadtree(tree: Hierarchy) -> bool:
    """Return whether the tiles of a hierarchy are the cells of a quadtree.

    >>> is_quadtree(Hierarchy.from_parents(["a"], [-1], name="quadtree:8"))
    True
    """
    return tree.name.startswith("quadtree:")


def rectangle_sides(outline: Geometry | None) -> tuple[float, float]:
    """Return how tall and how wide a rectangle is; one across the antimeridian comes in two parts.

    >>> from tripcloak.hierarchy.geometry import rectangle_outline
    >>> rectangle_sides(rectangle_outline(-20, 177, -15, -178))
    (5.0, 5.0)
    """
    import shapely
    from shapely.geometry import shape

    bounds: Floats = shapely.bounds(shapely.get_parts(shape(outline)))
    return float(bounds[0, 3] - bounds[0, 1]), float((bounds[:, 2] - bounds[:, 0]).sum())


def _bounds(tree: Hierarchy, row: int, lat: int, lon: int) -> Floats:
    """Return the box around a tile's outline; its point where it has no area."""
    from shapely.geometry import shape

    outline = None if np.isnan(tree.zones.area_km2[row]) else tree.zones.outline(row)
    if outline is None:
        return np.array([lat, lon, lat, lon], dtype=float)
    west, south, east, north = (side * MICRO for side in shape(outline).bounds)
    # Less than a hundredth of a millimetre is the last digit of a sum, and does not move a line.
    low, high = (np.floor(np.round([south, west], 3)), np.ceil(np.round([north, east], 3)))
    return np.array([min(low[0], lat), min(low[1], lon), max(high[0], lat), max(high[1], lon)])
