"""Regular zones: H3 cells that cover a release, laid out by what is public alone."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis import area_overlap, equal_area
from tripcloak.analysis.overlap import Shapes
from tripcloak.flows.release.published import Published
from tripcloak.ground.arrays import Floats
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.hierarchy import ZoneFile, cells_to_text
from tripcloak.hierarchy.h3.cells import encode_points
from tripcloak.hierarchy.h3.tiling import cell_outline

STEPS_UP = 3
"""Heights of the hierarchy by which a regular zone is larger than a tile."""
MOST_CELLS = 2000
TOO_LARGE = 50.0
"""A released zone as large as this many cells tells nothing about any one of them."""
ENOUGH = 0.9
"""Share of the released volume that cells have to tell about."""
BELOW = {"h3": 7, "quadtree": 4}
"""Zones that a zone is made of; two where the hierarchy is none of these."""


def regular_zones(published: Published, resolution: int | None = None) -> ZoneFile:
    """Return H3 cells that cover the released zones, all of one resolution.

    Released zones far larger than a cell are not covered. Nothing but the public files is looked at, so
    that everybody gets the same cells.

    Parameters
    ----------
    resolution
        Of the cells. If not given they are as large as zones three heights above the tiles, or larger:
        where there would be thousands, or where most released zones are far larger than that.

    Raises
    ------
    ImpossibleRequestError
        Most released zones are far larger than a cell, or thousands of cells are needed.
    """
    import h3
    import shapely

    shapes, volume = _outlines(published)
    km2 = shapely.area(equal_area(shapes))
    finest = _resolution(published) if resolution is None else resolution
    for size in range(finest, -1, -1) if resolution is None else (resolution,):
        cell_km2 = h3.average_hexagon_area(size)
        small = km2 <= TOO_LARGE * cell_km2
        if volume[small].sum() < ENOUGH * volume.sum() or km2[small].sum() > 2 * MOST_CELLS * cell_km2:
            continue
        touched = _touched(shapes[small], size)
        if len(touched) <= MOST_CELLS and len(cells := _covering(shapes[small], touched)) <= MOST_CELLS:
            return cells
    raise ImpossibleRequestError(
        "the release is too coarse to tell one H3 cell from another, or its area too large for so small "
        "ones: draw zones of your own (--zones FILE), take larger cells, or anonymise with a smaller k"
    )


def _outlines(published: Published) -> tuple[Shapes, Floats]:
    """Return the outlines of released zones, each once, and the volume that starts or ends there."""
    sides = [published.zones[axis] for axis in ("origin", "destination")]
    rows = published.origin, published.destination
    volume = [
        np.bincount(row, published.volume, minlength=len(side.ids))
        for row, side in zip(rows, sides, strict=True)
    ]
    ids, first, place = np.unique(
        np.concatenate([side.ids for side in sides]), return_index=True, return_inverse=True
    )
    shapes = np.concatenate([side.shapes for side in sides])[first]
    has = np.array([shape is not None for shape in shapes], dtype=bool)
    return shapes[has], np.bincount(place, np.concatenate(volume), minlength=len(ids))[has]


def _resolution(published: Published) -> int:
    """Return the resolution of cells about three heights above the tiles."""
    import h3
    import shapely

    spec = str(published.facts["hierarchy"]["spec"])
    grid = re.match(r"h3:(\d{1,2})", spec)
    if grid:
        return max(int(grid[1]) - STEPS_UP, 0)
    tiles = sum(int(published.zones[axis].tiles.sum()) for axis in ("origin", "destination"))
    areas = [equal_area(published.zones[axis].shapes) for axis in ("origin", "destination")]
    tile_km2 = sum(float(np.nansum(shapely.area(side))) for side in areas) / max(tiles, 1)
    wanted = tile_km2 * BELOW.get(spec.partition(":")[0], 2) ** STEPS_UP
    sizes = np.array([h3.average_hexagon_area(size) for size in range(16)])
    return int(np.argmin(np.abs(np.log(sizes / max(wanted, sizes[-1])))))


def _touched(shapes: Shapes, resolution: int) -> NDArray[np.str_]:
    """Return cells that hold a corner of an outline, or one of some points inside."""
    import shapely

    points = np.concatenate([shapely.get_coordinates(shapes), _inside(shapes)])
    return cells_to_text(np.unique(encode_points(points[:, 1], points[:, 0], resolution)))


def _covering(shapes: Shapes, touched: NDArray[np.str_]) -> ZoneFile:
    """Return the cells, of these and their neighbours, that have any part in common with an outline."""
    import h3
    import shapely

    cells = np.array(sorted({near for cell in touched for near in h3.grid_disk(str(cell), 1)}), dtype=np.str_)
    outlines = [cell_outline(str(cell)) for cell in cells]
    drawn = np.array([shapely.geometry.shape(outline) for outline in outlines], dtype=object)
    shares = area_overlap(equal_area(shapes), equal_area(drawn)).shares
    kept = np.flatnonzero(np.asarray(shares.sum(axis=0)).reshape(-1) > 0)
    lat, lon = np.array([h3.cell_to_latlng(str(cell)) for cell in cells[kept]]).reshape(-1, 2).T
    return ZoneFile(cells[kept], lat, lon, outlines=[outlines[row] for row in kept])


def _inside(shapes: Shapes) -> Floats:
    """Return points spread over every outline, close enough for those that cover a few dozen cells."""
    import shapely

    west, south, east, north = shapely.bounds(shapes).T
    steps = (np.arange(12) + 0.5) / 12
    x = west[:, None] + steps * (east - west)[:, None]
    y = south[:, None] + steps * (north - south)[:, None]
    x, y = np.repeat(x, 12, axis=1), np.tile(y, (1, 12))
    held = shapely.contains_xy(np.repeat(shapes, 144), x.reshape(-1), y.reshape(-1))
    points: Floats = np.column_stack([x.reshape(-1), y.reshape(-1)])[held]
    return points
