"""Points that stand for the tiles of released zones."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis.overlap import Shapes
from tripcloak.arrays import Ints
from tripcloak.hierarchy import member_cells
from tripcloak.hierarchy.h3 import WORLD

MOST_POINTS = 400_000
STEPS = 12
"""Points along each side of a zone's frame, where its tiles are not known one by one."""


def tile_points(ids: NDArray[np.str_], shapes: Shapes, spec: str) -> tuple[Ints, Shapes]:
    """Return points, and the zone that each belongs to: centres of tiles, as many as are worth it.

    Of H3 cells the tiles are known; where they are too many, coarser cells stand for them. For other
    zones points of an even grid inside the outline stand for the tiles.

    Examples
    --------
    >>> row, points = tile_points(np.array(["8928308280fffff"]), np.array([None]), "h3:10")
    >>> len(points), row.tolist()
    (7, [0, 0, 0, 0, 0, 0, 0])
    """
    import shapely

    match = re.match(r"h3:(\d{1,2})", spec)
    if match and not any(str(name).startswith("box_") for name in ids):
        row, lon_lat = _h3_points(ids, int(match[1]))
    else:
        row, lon_lat = _grid_points(shapes)
    return row, shapely.points(lon_lat)


def _h3_points(ids: NDArray[np.str_], resolution: int) -> tuple[Ints, NDArray[np.float64]]:
    import h3

    cells = [h3.get_res0_cells() if name == WORLD else member_cells(str(name)) for name in ids]
    steps = np.array([resolution - h3.get_resolution(cell) for group in cells for cell in group])
    # The largest zones give way first: tiles of all others stay what they are.
    deepest = int(steps.max(initial=0))
    while deepest > 0 and (7.0 ** np.minimum(steps, deepest)).sum() > MOST_POINTS:
        deepest -= 1
    row, points = [], []
    for number, group in enumerate(cells):
        for cell in group:
            finest = h3.get_resolution(cell)
            below = h3.cell_to_children(cell, max(finest, min(resolution, finest + deepest)))
            points += [h3.cell_to_latlng(tile)[::-1] for tile in below]
            row += [number] * len(below)
    return np.array(row, dtype=np.int64), np.array(points, dtype=float).reshape(-1, 2)


def _grid_points(shapes: Shapes) -> tuple[Ints, NDArray[np.float64]]:
    import shapely

    row, points = [], []
    steps = (np.arange(STEPS) + 0.5) / STEPS
    for number, shape in enumerate(shapes):
        if shape is None:
            continue
        west, south, east, north = shape.bounds
        x, y = (
            axis.reshape(-1)
            for axis in np.meshgrid(west + steps * (east - west), south + steps * (north - south))
        )
        inside = shapely.contains_xy(shape, x, y)
        if not inside.any():
            point = shape.representative_point()
            x, y, inside = np.array([point.x]), np.array([point.y]), np.array([True])
        points.append(np.stack([x[inside], y[inside]], axis=1))
        row.append(np.full(int(inside.sum()), number))
    return np.concatenate(row).astype(np.int64), np.concatenate(points)
