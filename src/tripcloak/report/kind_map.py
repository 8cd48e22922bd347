"""Kind maps: zones coloured by the kind they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.report.outlines import flat_polygons
from tripcloak.report.raster import Frame
from tripcloak.report.small_map import outline_path


class KindMap(NamedTuple):
    """A map: its title, its size in pixels, and one SVG path a kind, zones of no kind last."""

    title: str
    width: int
    height: int
    paths: list[str]


def kind_map(
    title: str, geometries: Sequence[Mapping[str, Any]], kind: Ints, kinds: int, frame: Frame
) -> KindMap:
    """Return a map of zones: kinds are numbered from 0, and -1 is none.

    Parameters
    ----------
    geometries
        GeoJSON geometries of the zones, Polygon or MultiPolygon.
    kinds
        How many kinds there are.
    frame
        What the map shows.

    Examples
    --------
    >>> square = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]]]}
    >>> kind_map("one", [square], np.array([1]), 2, Frame(0.0, 0.0, 2.0, 1.0, 20, 10)).paths
    ['', 'M0 10l20 0 0-10 -20 0z', '']
    """
    shapes = [flat_polygons(geometry, 0.0, frame.meridian) for geometry in geometries]
    paths = [
        outline_path([shapes[row] for row in np.flatnonzero(kind == number)], frame)
        for number in (*range(kinds), -1)
    ]
    return KindMap(title, frame.width, frame.height, paths)
