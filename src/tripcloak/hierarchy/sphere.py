"""Places on the globe: unit vectors, mean points, and the area between parallels and meridians."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Floats

EARTH_KM2 = 510_065_621.724
"""Area of the WGS 84 ellipsoid."""

EARTH_RADIUS_KM = 6371.007180918475
"""Radius of the sphere with that area."""

_AXIS_KM = 6378.137
_FLATTENING = 1 / 298.257223563


def unit_vectors(lat: Floats, lon: Floats) -> Floats:
    """Return the points as rows (x, y, z) on the unit sphere.

    >>> unit_vectors(np.array([90.0]), np.array([0.0])).round(6).tolist()
    [[0.0, 0.0, 1.0]]
    """
    phi, lam = np.radians(lat), np.radians(lon)
    flat = np.cos(phi)
    return np.stack([flat * np.cos(lam), flat * np.sin(lam), np.sin(phi)], axis=-1)


def to_degrees(vectors: Floats) -> tuple[Floats, Floats]:
    """Return (lat, lon) of the directions in which vectors point; their length does not matter.

    A sum of unit vectors points at the mean place, so this also ends a spherical mean.

    >>> lat, lon = to_degrees(unit_vectors(np.array([0.0, 0.0]), np.array([179.0, -177.0])).sum(axis=0))
    >>> float(np.round(lon, 6))
    -179.0
    """
    x, y, z = np.moveaxis(np.asarray(vectors, dtype=float), -1, 0)
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def rectangle_km2(south: Floats, north: Floats, width: Floats) -> Floats:
    """Return the area on the WGS 84 ellipsoid between two parallels, over a width of longitude.

    >>> bool(np.isclose(rectangle_km2(-90.0, 90.0, 360.0), EARTH_KM2))
    True
    """
    e = np.sqrt(_FLATTENING * (2 - _FLATTENING))
    polar = _AXIS_KM * (1 - _FLATTENING)

    def from_equator(lat: Floats) -> Floats:
        s = np.sin(np.radians(lat))
        zone: Floats = s / (1 - (e * s) ** 2) + np.arctanh(e * s) / e
        return zone

    # The difference of two nearly equal terms loses digits only for rectangles of millimetres.
    area: Floats = polar**2 / 2 * np.radians(width) * (from_equator(north) - from_equator(south))
    return area
