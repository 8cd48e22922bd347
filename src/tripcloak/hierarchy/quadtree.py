"""QuadtreeTiling: a study area cut into four, and each part again, as often as asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy.geometry import rectangle_km2, rectangle_outline
from tripcloak.hierarchy.tiling import OUTSIDE, Keys, occurring, rows_of
from tripcloak.hierarchy.tree import ROOT, Geometry, Hierarchy, Zones

Area = tuple[float, float, float, float]
"""South, west, north, east in degrees; west is larger than east where the area crosses the antimeridian."""

DEEPEST = 26
"""Tiles of a quadtree over the whole Earth are then less than a metre wide."""

_STEPS_PER_DEGREE = 20


@dataclass(frozen=True)
class QuadtreeTiling:
    """Tiles that are the cells of a quadtree over a study area, equal in degrees.

    A cell's id is ``q`` and one digit a cut: 0 south-west, 1 south-east, 2 north-west, 3 north-east. The
    root ``q`` is the whole study area; points outside it have no tile. Cells hold their south and west
    edges; those on the outer north and east edges hold these too.

    Parameters
    ----------
    depth
        Number of cuts, 1 to 26.
    area
        South, west, north, east in degrees; :func:`study_area` makes one that gives no point away.

    Examples
    --------
    >>> tiling = QuadtreeTiling(2, (40.0, -75.0, 41.0, -73.0))
    >>> keys = tiling.encode(np.array([40.1, 40.9, 50.0]), np.array([-74.9, -73.1, -74.0]))
    >>> tree = tiling.hierarchy(np.unique(keys[:2]))
    >>> tree.zones.ids.tolist(), tree.zones.tiles.tolist()
    (['q00', 'q33', 'q0', 'q3', 'q'], [1, 1, 4, 4, 16])
    >>> tiling.tiles(keys, tree).tolist()
    [0, 1, -1]
    """

    depth: int
    area: Area

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= DEEPEST:
            raise HierarchyError(f"a quadtree has 1 to {DEEPEST} cuts; found {self.depth}")
        south, west, north, east = self.area
        if not (-90 <= south < north <= 90 and abs(west) <= 180 and abs(east) <= 180 and west != east):
            raise HierarchyError(
                "a study area is given as south, west, north, east in degrees, south below north, "
                "latitudes from -90 to 90 and longitudes from -180 to 180; the one given is not"
            )

    @property
    def name(self) -> str:
        """Return the tiling's text, such as ``quadtree:9``."""
        return f"quadtree:{self.depth}"

    def encode(self, lat: Floats, lon: Floats) -> Keys:
        """Return the cell of every point, or OUTSIDE."""
        south, west, north, _ = self.area
        side = 1 << self.depth
        lat, east = np.asarray(lat, dtype=float), (np.asarray(lon, dtype=float) - west) % 360
        inside = (lat >= south) & (lat <= north) & (east <= _width(self.area))
        column = np.minimum(east / _width(self.area) * side, side - 1)
        row = np.minimum((lat - south) / (north - south) * side, side - 1)
        key = _spread(np.where(inside, column, 0)) | (_spread(np.where(inside, row, 0)) << np.uint64(1))
        return np.where(inside, key, OUTSIDE)

    def keys(self, ids: Sequence[str] | NDArray[np.str_]) -> Keys:
        """Return the cell named by each text, or OUTSIDE where it names no cell of this depth."""
        texts = np.asarray(ids, dtype=np.str_)
        width = self.depth + 1
        letters = np.ascontiguousarray(texts.astype(f"<U{width}")).view(np.uint32).reshape(len(texts), width)
        digits = letters[:, 1:].astype(np.int64) - ord("0")
        named = (np.strings.str_len(texts) == width) & (letters[:, 0] == ord("q"))
        named &= ((digits >= 0) & (digits < 4)).all(axis=1)
        key = np.zeros(len(texts), dtype=np.uint64)
        for level in range(self.depth):
            key = (key << np.uint64(2)) | (digits[:, level] & 3).astype(np.uint64)
        return np.where(named, key, OUTSIDE)

    def hierarchy(self, keys: Keys) -> Hierarchy:
        """Return the hierarchy over these cells and their ancestors, up to the study area."""
        levels, parents, start = [occurring(keys)], [], 0
        if int(keys[-1]) >> (2 * self.depth):
            raise HierarchyError(f"all tiles of {self.name} must be cells of that quadtree; found others")
        for _ in range(self.depth):
            start += len(levels[-1])
            above = levels[-1] >> np.uint64(2)
            first = np.append(True, above[1:] != above[:-1])
            levels.append(above[first])
            parents.append(start + np.cumsum(first) - 1)
        rows = [self.cells(level, height) for height, level in enumerate(levels)]
        tree = Hierarchy.from_parents(
            np.concatenate([row.ids for row in rows]),
            np.append(np.concatenate(parents), ROOT),
            name=self.name,
            tiles=np.concatenate([row.tiles for row in rows]),
            area_km2=np.concatenate([row.area_km2 for row in rows]),
            lat=np.concatenate([row.lat for row in rows]),
            lon=np.concatenate([row.lon for row in rows]),
        )
        return replace(tree, zones=replace(tree.zones, shape=partial(_outline, self, tree.zones.ids)))

    def cells(self, key: Keys, height: int) -> Zones:
        """Return facts about cells of one height, given by their digits as a number of base 4.

        None of the tiles below them is said to occur.

        >>> tiling = QuadtreeTiling(3, (40.0, -75.0, 41.0, -73.0))
        >>> tiling.cells(np.array([6], dtype=np.uint64), 1).ids.tolist()
        ['q12']
        """
        south, west, north, east = self._boxes(key, np.full(len(key), height))
        ids = _names(key, self.depth - height)
        return Zones(
            ids=ids,
            height=np.full(len(key), height, dtype=np.int32),
            tiles=np.full(len(key), 4**height, dtype=np.int64),
            tiles_observed=np.zeros(len(key), dtype=np.int64),
            area_km2=rectangle_km2(south, north, east - west),
            lat=(south + north) / 2,
            lon=_in_range((west + east) / 2),
            shape=partial(_outline, self, ids),
        )

    def tiles(self, keys: Keys, hierarchy: Hierarchy) -> Ints:
        """Return the row of every cell in a hierarchy of this tiling, or -1."""
        return rows_of(keys, self.keys(hierarchy.zones.ids[: hierarchy.n_tiles]))

    def _boxes(self, key: Keys, height: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Return south, west, north, east of cells; east may run past 180 degrees."""
        south, west, north, _ = self.area
        side = 2.0 ** (self.depth - height)
        column, row = _gather(key), _gather(key >> np.uint64(1))
        tall, wide = north - south, _width(self.area)
        return (
            south + row / side * tall,
            west + column / side * wide,
            south + (row + 1) / side * tall,
            west + (column + 1) / side * wide,
        )


def study_area(lat_min: float, lon_min: float, lat_max: float, lon_max: float) -> Area:
    """Return the area (south, west, north, east) that holds an extent, widened to twentieths of a degree.

    The outermost points of an extent are some people's very own places; edges on a coarse grid do not
    tell where those are, but still how far the extent goes: it must not rest on few people.

    Examples
    --------
    >>> study_area(40.7012, -74.0231, 40.8699, -73.9101)
    (40.7, -74.05, 40.9, -73.9)
    """
    south = max(math.floor(lat_min * _STEPS_PER_DEGREE), -90 * _STEPS_PER_DEGREE)
    north = min(max(math.ceil(lat_max * _STEPS_PER_DEGREE), south + 1), 90 * _STEPS_PER_DEGREE)
    south = min(south, north - 1)
    west = max(math.floor(lon_min * _STEPS_PER_DEGREE), -180 * _STEPS_PER_DEGREE)
    east = min(math.ceil(lon_max * _STEPS_PER_DEGREE), 180 * _STEPS_PER_DEGREE)
    if west == east:
        west, east = (west, east + 1) if east < 180 * _STEPS_PER_DEGREE else (west - 1, east)
    return tuple(edge / _STEPS_PER_DEGREE for edge in (south, west, north, east))  # type: ignore[return-value]


def _width(area: Area) -> float:
    return (area[3] - area[1]) % 360 or 360.0


def _in_range(lon: Floats) -> Floats:
    wrapped: Floats = (lon + 180) % 360 - 180
    return wrapped


def _names(keys: Keys, digits: int) -> NDArray[np.str_]:
    """Return ``q`` and so many digits for every key."""
    letters = np.full((len(keys), digits + 1), ord("q"), dtype=np.uint32)
    for place in range(digits):
        shift = np.uint64(2 * (digits - 1 - place))
        letters[:, place + 1] = ord("0") + ((keys >> shift) & np.uint64(3))
    return letters.view(f"<U{digits + 1}").ravel()


_MASKS = tuple(
    (np.uint64(shift), np.uint64(mask))
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    )
)


def _spread(number: Floats) -> Keys:
    """Return the bits of whole numbers moved to the even places."""
    bits: Keys = number.astype(np.uint64)
    for shift, mask in _MASKS:
        bits = (bits | (bits << shift)) & mask
    return bits


def _gather(bits: Keys) -> Floats:
    """Return the number held in the even bits."""
    number: Keys = bits & _MASKS[-1][1]
    widened = (np.uint64(0x00000000FFFFFFFF), *(mask for _, mask in _MASKS))
    for (shift, _), mask in zip(reversed(_MASKS), reversed(widened[:-1]), strict=True):
        number = (number | (number >> shift)) & mask
    return number.astype(np.float64)


def _outline(tiling: QuadtreeTiling, ids: NDArray[np.str_], row: int) -> Geometry:
    digits = str(ids[row])[1:]
    height = np.array([tiling.depth - len(digits)])
    box = tiling._boxes(np.array([int(digits or "0", 4)], dtype=np.uint64), height)
    south, west, north, east = (float(edge[0]) for edge in box)
    if west >= 180:
        west, east = west - 360, east - 360
    return rectangle_outline(south, west, north, east if east <= 180 else east - 360)
