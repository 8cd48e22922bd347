"""Which zone holds a point: by outlines, or by the nearest of given places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.arrays import Floats
from tripcloak.hierarchy.sphere import unit_vectors
from tripcloak.hierarchy.tiling import OUTSIDE, Keys

# Bounds the memory that point objects and candidate pairs take.
_BATCH = 100_000


class InsideOf:
    """Callable that gives the first area that holds each point, edges included, or OUTSIDE.

    Examples
    --------
    >>> from shapely import box
    >>> halves = InsideOf(np.array([box(0, 0, 1, 1), box(1, 0, 2, 1)]))
    >>> found = halves(np.array([0.5, 0.5, 0.5, 5.0]), np.array([0.5, 1.0, 1.5, 0.5]))
    >>> found[:3].tolist(), bool(found[3] == OUTSIDE)
    ([0, 0, 1], True)
    """

    def __init__(self, geometries: NDArray[Any]) -> None:
        import shapely

        self._areas = geometries
        shapely.prepare(geometries)
        self._tree = shapely.STRtree(geometries)

    def __call__(self, lat: Floats, lon: Floats) -> Keys:
        import shapely

        found = np.full(len(lat), OUTSIDE)
        for start in range(0, len(lat), _BATCH):
            x, y = lon[start : start + _BATCH], lat[start : start + _BATCH]
            point, area = self._tree.query(shapely.points(x, y))
            holds = shapely.intersects_xy(self._areas[area], x[point], y[point])
            np.minimum.at(found, start + point[holds], area[holds].astype(np.uint64))
        return found


class NearestPoint:
    """Callable that gives the place nearest to each point on the globe; the first where several coincide.

    Examples
    --------
    >>> NearestPoint(np.array([0.0, 0.0]), np.array([170.0, -179.0]))(np.array([0.0]), np.array([178.0]))
    array([1], dtype=uint64)
    """

    def __init__(self, lat: Floats, lon: Floats) -> None:
        from scipy.spatial import cKDTree

        places, first = np.unique(unit_vectors(lat, lon), axis=0, return_index=True)
        self._first = first.astype(np.uint64)
        self._tree = cKDTree(places)

    def __call__(self, lat: Floats, lon: Floats) -> Keys:
        found: Keys = self._first[self._tree.query(unit_vectors(lat, lon))[1]]
        return found
