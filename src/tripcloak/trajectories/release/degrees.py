"""Degrees of projected boxes: longitudes and latitudes that enclose them, always."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats
from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.release.release import Boxes

DECIMALS = 6
LATTICE = 65
"""Points across the whole extent at which the bending of meridians and parallels is taken."""
STRIDES = 16
"""Strides along an edge of a box for which corners alone would not do."""
LEAST = 1e5
"""Metres that the lattice spans at least: over less, what rounding does to degrees looks like bending."""
BATCH = 1 << 14
POLAR = 80.0
"""Degrees of latitude beyond which longitudes bend too fast for corners alone."""


class Degrees(NamedTuple):
    """Boxes in degrees. Where one lies across the 180th meridian, ``lon_max`` runs on past 180."""

    lon_min: Floats
    lat_min: Floats
    lon_max: Floats
    lat_max: Floats


class Bending(NamedTuple):
    """How far longitude and latitude may bend along an edge, in degrees per square metre, and the middle."""

    lon: float
    lat: float
    middle: float


def bending_of(grid: Grid, boxes: Boxes) -> Bending | None:
    """Return how far edges of these boxes may bend in degrees; None where corners would not do at all."""
    sides = [
        grid.places(np.array([low.min(), high.max()])).astype(np.float64)
        for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1))
    ]
    reach = [max(float(side[1] - side[0]), LEAST) / 2 for side in sides]
    x, y = np.meshgrid(
        *(np.linspace(-far, far, LATTICE) + side.mean() for side, far in zip(sides, reach, strict=True))
    )
    lon, lat = grid.unproject(x, y)
    if not (np.isfinite(lon).all() and np.abs(lat).max() < POLAR):
        return None
    middle = float(lon[LATTICE // 2, LATTICE // 2])
    lon = _turned(lon, middle)
    if np.abs(lon).max() > 90:
        return None
    steps = [2 * far / (LATTICE - 1) for far in reversed(reach)]
    bends = [
        # Twice what the lattice shows: between its points it may bend a little more.
        2 * max(float(np.abs(np.diff(side, 2, axis)).max()) / step**2 for axis, step in enumerate(steps))
        for side in (lon, lat)
    ]
    return Bending(bends[0], bends[1], middle)


def degrees_of(grid: Grid, boxes: Boxes, bending: Bending | None) -> Degrees:
    """Return boxes in degrees that enclose the projected ones, rounded outwards.

    A straight edge of the projection is bent in degrees, so its corners do not bound it. Between two
    points w apart a curve leaves their range by no more than w² / 8 times its second derivative.

    Examples
    --------
    >>> grid = Grid(projection="+proj=laea +lat_0=48.9 +lon_0=2.3")
    >>> box = Boxes(*(np.array([step]) for step in (0, 1, 0, 10, 0, 10)))
    >>> [side.tolist() for side in degrees_of(grid, box, bending_of(grid, box))]
    [[2.299999], [48.899998], [2.313642], [48.908993]]
    """
    if bending is None:
        return _rounded(_walked(grid, boxes))
    x0, x1, y0, y1 = (grid.places(edge).astype(np.float64) for edge in boxes[2:])
    # All corners at once: to set a projection up takes longer than to use it on a few points.
    corner_lon, lat = grid.unproject(np.stack([x0, x0, x1, x1]), np.stack([y0, y1, y0, y1]))
    lon = _turned(corner_lon, bending.middle)
    width = np.maximum(x1 - x0, y1 - y0)
    beyond_lon, beyond_lat = (width**2 / 8 * bend for bend in (bending.lon, bending.lat))
    found = Degrees(
        lon.min(axis=0) - beyond_lon + bending.middle,
        lat.min(axis=0) - beyond_lat,
        lon.max(axis=0) + beyond_lon + bending.middle,
        lat.max(axis=0) + beyond_lat,
    )
    return _rounded(_refined(grid, boxes, found, _loose(found, beyond_lon, beyond_lat)))


def _loose(found: Degrees, beyond_lon: Floats, beyond_lat: Floats) -> Bools:
    """Return which boxes grew by more than a hundredth, so that a closer look pays."""
    loose: Bools = (beyond_lon > 0.01 * (found.lon_max - found.lon_min)) | (
        beyond_lat > 0.01 * (found.lat_max - found.lat_min)
    )
    return loose & (np.maximum(beyond_lon, beyond_lat) > 10.0**-DECIMALS)


def _refined(grid: Grid, boxes: Boxes, found: Degrees, rows: Bools) -> Degrees:
    if not rows.any():
        return found
    closer = _walked(grid, Boxes(*(side[rows] for side in boxes)))
    for side, better in zip(found, closer, strict=True):
        side[rows] = better
    return found


def _walked(grid: Grid, boxes: Boxes) -> Degrees:
    """Return boxes in degrees by walking around each; a few boxes at a time, since many points are needed."""
    parts = [
        _walked_part(grid, Boxes(*(side[start : start + BATCH] for side in boxes)))
        for start in range(0, len(boxes.t0), BATCH)
    ]
    return Degrees(*(np.concatenate(sides) for sides in zip(*parts, strict=True)))


def _walked_part(grid: Grid, boxes: Boxes) -> Degrees:
    x0, x1, y0, y1 = (grid.places(edge).astype(np.float64)[:, None] for edge in boxes[2:])
    along = np.linspace(0, 1, STRIDES + 1)[None, :-1]
    still = np.ones_like(along)
    x = np.hstack([x0 + (x1 - x0) * along, x1 * still, x1 - (x1 - x0) * along, x0 * still, x0])
    y = np.hstack([y0 * still, y0 + (y1 - y0) * along, y1 * still, y1 - (y1 - y0) * along, y0])
    lon, lat = grid.unproject(x, y)
    whole = ~(np.isfinite(lon).all(axis=1) & np.isfinite(lat).all(axis=1))
    lon[whole], lat[whole] = 0.0, 0.0
    lon = np.unwrap(lon, period=360.0, axis=1)
    # Nobody gets around a pole without having gone through all longitudes, or through half at a stride.
    stride = np.abs(np.diff(lon, axis=1)).max(axis=1)
    around = (np.abs(lon[:, -1] - lon[:, 0]) > 180) | (stride > 45)
    sides = [_reach(lon), _reach(lat)]
    low_lon, high_lon = sides[0]
    low_lat, high_lat = sides[1]
    polar, north = around | whole, lat.mean(axis=1) > 0
    high_lat = np.where(whole | (around & north), 90.0, high_lat)
    low_lat = np.where(whole | (around & ~north), -90.0, low_lat)
    return Degrees(np.where(polar, -180.0, low_lon), low_lat, np.where(polar, 180.0, high_lon), high_lat)


def _reach(side: Floats) -> tuple[Floats, Floats]:
    """Return the least and the most along a ring of points, and between them, by how it bends."""
    edges = np.stack([side[:, at : at + STRIDES + 1] for at in range(0, 4 * STRIDES, STRIDES)], axis=1)
    beyond = np.abs(np.diff(edges, 2, axis=2)).max(axis=(1, 2)) / 2
    return side.min(axis=1) - beyond, side.max(axis=1) + beyond


def _turned(lon: Floats, middle: float) -> Floats:
    turned: Floats = (lon - middle + 180.0) % 360.0 - 180.0
    return turned


def _rounded(found: Degrees) -> Degrees:
    # A hair more, so that what a decimal number loses in binary is made up for.
    scale, hair = 10.0**DECIMALS, 1e-3
    lon_min, lat_min = (np.floor(side * scale - hair) / scale for side in (found.lon_min, found.lat_min))
    lon_max, lat_max = (np.ceil(side * scale + hair) / scale for side in (found.lon_max, found.lat_max))
    around = lon_max - lon_min >= 360.0
    turn = np.where(around, 0.0, 360.0 * np.floor((lon_min + 180.0) / 360.0))
    lon_min, lon_max = np.round(lon_min - turn, DECIMALS), np.round(lon_max - turn, DECIMALS)
    return Degrees(
        np.where(around, -180.0, lon_min),
        np.maximum(lat_min, -90.0),
        np.where(around, 180.0, lon_max),
        np.minimum(lat_max, 90.0),
    )
