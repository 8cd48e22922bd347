"""Profiles: how many trips start and end in every zone, slot by slot, also on regular zones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis.overlap import Overlap, Shapes, area_overlap, equal_area
from tripcloak.flows.release.reading import Published
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.hierarchy import ZoneFile, cells_to_text
from tripcloak.hierarchy.h3.cells import encode_points
from tripcloak.hierarchy.h3.tiling import cell_outline

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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


class Profiles(NamedTuple):
    """Trips that start (``out``) and end (``into``) in every zone: rows are zones, columns slots.

    Examples
    --------
    >>> profiles = Profiles(np.array([[3.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]]))
    >>> profiles.volume.tolist(), profiles.shapes.tolist()
    ([4.0, 0.0], [[0.75, 0.0, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0]])
    """

    out: Floats
    into: Floats

    @property
    def volume(self) -> Floats:
        """Return how many trips start or end in every zone."""
        volume: Floats = self.out.sum(axis=1) + self.into.sum(axis=1)
        return volume

    @property
    def side_by_side(self) -> Floats:
        """Return one row a zone: what starts there slot by slot, then what ends there."""
        return np.concatenate([self.out, self.into], axis=1)

    @property
    def shapes(self) -> Floats:
        """Return the same as shares of the zone's volume; 0 throughout where it has none."""
        volume = self.volume
        shapes: Floats = self.side_by_side / np.where(volume > 0, volume, 1.0)[:, None]
        return shapes

    def redrawn(self, weight: float, seed: int) -> Profiles:
        """Return profiles such as the same city would give another time: every number is drawn anew.

        ``weight`` is what a trip counts for: the numbers are as uncertain as the trips behind them.
        """
        draw = np.random.default_rng(seed)
        return Profiles(*(weight * draw.poisson(side / weight) for side in self))


def time_shares(slots: Sequence[Ints], n_slots: int) -> csr_array:
    """Return what share of every released time lies in every slot: the same in each that it covers.

    Parameters
    ----------
    slots
        The slots that a time covers, one array a time; a slot named twice gets twice the share.

    Examples
    --------
    >>> time_shares([np.array([0]), np.array([0, 1, 1, 2])], 3).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.25, 0.5, 0.25]]
    """
    from scipy.sparse import coo_array

    lengths = [len(covered) for covered in slots]
    row = np.repeat(np.arange(len(slots)), lengths)
    column = np.concatenate([np.empty(0, np.int64), *slots])
    share = 1.0 / np.repeat(np.array(lengths, dtype=float), lengths)
    return coo_array((share, (row, column)), shape=(len(slots), n_slots)).tocsr()


def released_profile(zone: Ints, time: Ints, volume: Floats, zones: Overlap, times: csr_array) -> Floats:
    """Return how much starts, or ends, in every drawn zone slot by slot, as a release tells it.

    Parameters
    ----------
    zone, time, volume
        The released flows: rows of the overlap, rows of ``times``, and what is summed.
    zones
        Which share of every released zone lies in which drawn zone.
    times
        Which share of every released time lies in which slot, see :func:`time_shares`.

    Examples
    --------
    Ten trips of two hours, from a zone of which a half lies in drawn zone 0.

    >>> from scipy.sparse import csr_array
    >>> half = Overlap(csr_array([[0.5, 0.0]]), np.array([0.5]))
    >>> hours = time_shares([np.array([0, 1])], 2)
    >>> released_profile(np.array([0]), np.array([0]), np.array([10.0]), half, hours).tolist()
    [[2.5, 2.5], [0.0, 0.0]]
    """
    from scipy.sparse import coo_array

    shape = zones.shares.shape[0], times.shape[0]
    flows = coo_array((volume.astype(float), (zone, time)), shape=shape).tocsr()
    profile: Floats = (zones.shares.T @ flows @ times).toarray()
    return profile


def counted_profile(zone: Ints, slot: Ints, volume: Floats, n_zones: int, n_slots: int) -> Floats:
    """Return how much starts, or ends, in every zone slot by slot; what has no zone or slot (-1) is left out.

    >>> counted_profile(np.array([0, 0, -1]), np.array([1, 1, 0]), np.ones(3), 2, 2).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    kept = (zone >= 0) & (slot >= 0)
    key = zone[kept].astype(np.int64) * n_slots + slot[kept]
    profile: Floats = np.bincount(key, volume[kept], minlength=n_zones * n_slots)
    return profile.reshape(n_zones, n_slots)
