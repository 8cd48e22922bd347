"""Boxes: zones that are rectangles of latitude and longitude, read and measured from their names alone.

A box holds the tiles whose centres lie between its corners, which are whole millionths of a degree. Its area
is that of the rectangle on a sphere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

MICRO = 1_000_000
RADIUS_KM = 6371.0072
"""Of the sphere that has the area of the Earth."""

SLACK = 1e-6
"""Relative, for areas; other sums of sines differ in the last digits."""

DEGREES = 1e-8
"""For points and outlines; a hundredth of the unit in which corners are given."""

_NAME = re.compile(r"box" + r"_(-?\d{1,3}\.\d{6})" * 4)

Ring = list[tuple[float, float]]


class Box(NamedTuple):
    """The corners of a box, in millionths of a degree."""

    south: int
    west: int
    north: int
    east: int

    @property
    def middle(self) -> tuple[float, float]:
        """Return the latitude and longitude of the middle, in degrees."""
        return (self.south + self.north) / 2 / MICRO, (self.west + self.east) / 2 / MICRO


def read_box(name: str) -> Box | None:
    """Return the box that a name tells, None where it names none, or names it in an odd way.

    >>> read_box("box_48.850000_-2.350000_48.861000_0.000002")
    Box(south=48850000, west=-2350000, north=48861000, east=2)
    >>> read_box("box_48.9_2.3_48.9_2.3"), read_box("box_2.000000_1.000000_1.000000_1.000000")
    (None, None)
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    box = Box(*(int(degrees.replace(".", "")) for degrees in match.groups()))
    in_order = -90 * MICRO <= box.south <= box.north <= 90 * MICRO
    in_order = in_order and -180 * MICRO <= box.west <= box.east <= 180 * MICRO
    return box if in_order and name == _name(box) else None


def _name(box: Box) -> str:
    """Return the one way to name a box."""
    sides = (f"{'-' if side < 0 else ''}{abs(side) // MICRO}.{abs(side) % MICRO:06}" for side in box)
    return "_".join(("box", *sides))


def area_km2(box: Box) -> float:
    """Return the area of a box.

    >>> round(area_km2(Box(-90 * MICRO, -180 * MICRO, 90 * MICRO, 180 * MICRO)))
    510065625
    """
    south, west, north, east = (math.radians(side / MICRO) for side in box)
    return RADIUS_KM**2 * (math.sin(north) - math.sin(south)) * (east - west)


def right_tiles(tiles: int, area: float, tile_km2: float) -> bool:
    """Return whether a number of tiles is what fits into an area, rounded, and one at least.

    >>> right_tiles(3, 2.6, 1.0), right_tiles(2, 2.6, 1.0), right_tiles(1, 0.1, 1.0), right_tiles(0, 0.1, 1.0)
    (True, False, True, False)
    """
    fits = area / tile_km2
    return (tiles == 1 and fits < 1) or (tiles >= 1 and abs(tiles - fits) <= 0.5 + SLACK * fits)


def is_outline(ring: Iterable[tuple[float, float]], box: Box) -> bool:
    """Return whether a ring of longitude and latitude goes once around a box."""
    south, west, north, east = (side / MICRO for side in box)
    around = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    points = list(ring)
    return len(points) == len(around) and all(
        math.dist(point, corner) <= DEGREES for point, corner in zip(points, around, strict=True)
    )
