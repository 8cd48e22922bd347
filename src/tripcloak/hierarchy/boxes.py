"""Boxes: zones that are rectangles of latitude and longitude, for methods that draw their own.

A box holds the tiles whose centres lie in it, edges included. Its corners are whole millionths of a
degree, so that its name says exactly what it holds and anybody can read it back. Its edges lie on a grid that
the tiling gives (:mod:`tripcloak.hierarchy.box_grid`), and it is drawn as it is named.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy.box_grid import grid_step
from tripcloak.hierarchy.places import EARTH_KM, MICRO, Centres, Corners, tile_centres
from tripcloak.hierarchy.tree import Geometry, Hierarchy, Zones


@dataclass(frozen=True, eq=False)
class BoxZones(Zones):
    """Zones that are boxes, one row a box.

    ``height`` is 0 throughout, since boxes are not levels of a tree; ``tiles`` is how many tiles a box
    holds (of a grid: as many as fit into its area).

    Attributes
    ----------
    corners : Corners
        The corners between which tile centres lie, and the outline.
    tile_km2 : float
        The area of a tile, to three digits; NaN where tiles have no area.
    step : int
        The step of the grid that edges lie on, in millionths of a degree.
    """

    corners: Corners = field(kw_only=True)
    tile_km2: float = field(kw_only=True)
    step: int = field(kw_only=True)


def bounding_boxes(extents: Corners, tile: Ints, box: Ints, n_boxes: int) -> Corners:
    """Return the smallest boxes around tiles: ``tile[i]`` goes into box ``box[i]``, negative ones into none.

    >>> extents = Corners(*np.array([[0, 5, 9], [3, 1, 7], [2, 7, 9], [4, 2, 8]]))
    >>> [c.tolist() for c in bounding_boxes(extents, np.array([0, 1, 2]), np.array([0, 0, -1]), 1)]
    [[0], [1], [7], [4]]
    """
    kept = box >= 0
    tile, box = tile[kept], box[kept]
    lowest, highest = (np.minimum, 2**62), (np.maximum, -(2**62))
    sides = []
    for values, (extreme, start) in zip(extents, (lowest, lowest, highest, highest), strict=True):
        side = np.full(n_boxes, start, dtype=np.int64)
        extreme.at(side, box, values[tile])
        sides.append(side)
    return Corners(*sides)


def distinct_boxes(corners: Corners) -> tuple[Corners, Ints]:
    """Return the boxes that differ, ascending, and for every box given its row among them.

    >>> boxes, row = distinct_boxes(Corners(*np.array([[5, 0, 5], [1, 1, 1], [9, 9, 9], [9, 9, 9]])))
    >>> boxes.south.tolist(), row.tolist()
    ([0, 5], [1, 0, 1])
    """
    order = np.lexsort(corners[::-1])
    ascending = np.stack(corners)[:, order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (ascending[:, 1:] != ascending[:, :-1]).any(axis=0)
    row = np.empty(len(order), dtype=np.int32)
    row[order] = np.cumsum(first) - 1
    return Corners(*ascending[:, first]), row


def box_zones(tree: Hierarchy, occurs: Bools, corners: Corners, tile_km2: float | None = None) -> BoxZones:
    """Return boxes over the tiles of a hierarchy as zones.

    Parameters
    ----------
    tree
        The hierarchy whose tiles the boxes hold.
    occurs
        For every tile, whether it occurs on this axis of the data.
    corners
        The boxes.
    tile_km2
        The area of a tile; by default the median of the tree's tiles to three digits.

    Examples
    --------
    >>> at = {"lat": np.array([0.0, 0.01, 0.005]), "lon": np.zeros(3), "area_km2": np.array([1.0, 1.0, 2.0])}
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **at)
    >>> both = Corners(*(np.array([side]) for side in (0, 0, 10000, 10000)))
    >>> zones = box_zones(tree, np.array([True, False]), both)
    >>> str(zones.ids[0]), int(zones.tiles[0]), int(zones.tiles_observed[0])
    ('box_0.000000_0.000000_0.010000_0.010000', 1, 1)
    """
    centres = tile_centres(tree)
    area = _tile_area(tree) if tile_km2 is None else tile_km2
    edges: Floats = np.stack(corners, axis=1) / MICRO
    sizes = _area_km2(edges)
    held = count_in_boxes(centres, np.ones(tree.n_tiles, dtype=bool), corners)
    fits = held if tree.complete or np.isnan(area) else np.maximum(1, np.rint(sizes / area).astype(np.int64))
    return BoxZones(
        ids=box_names(corners),
        height=np.zeros(len(corners.south), dtype=np.int32),
        tiles=fits,
        tiles_observed=count_in_boxes(centres, occurs, corners),
        area_km2=sizes,
        lat=(corners.south + corners.north) / (2 * MICRO),
        lon=(corners.west + corners.east) / (2 * MICRO),
        shape=lambda row: _rectangle(edges[row]),
        corners=corners,
        tile_km2=area,
        step=grid_step(tree),
    )


def count_in_boxes(centres: Centres, among: Bools, corners: Corners) -> Ints:
    """Return, for every box, how many of some tiles have their centre in it.

    >>> centres = Centres(np.array([0, 5, 9]), np.array([3, 1, 7]))
    >>> count_in_boxes(centres, np.ones(3, dtype=bool), Corners(*np.array([[0], [0], [5], [3]]))).tolist()
    [2]
    """
    from tripcloak.hierarchy._kernels import count_before

    order = np.argsort(centres.lat[among], kind="stable")
    lat, lon = centres.lat[among][order], centres.lon[among][order]
    ascending = np.sort(lon)
    rank = np.searchsorted(ascending, lon, side="left")
    low = np.searchsorted(ascending, corners.west, side="left")
    high = np.searchsorted(ascending, corners.east, side="right")
    upto = np.concatenate(
        [np.searchsorted(lat, corners.north, side="right"), np.searchsorted(lat, corners.south, side="left")]
    )
    events = np.argsort(upto, kind="stable")
    below = np.empty(len(upto), dtype=np.int64)
    below[events] = count_before(rank, upto[events], np.tile(low, 2)[events], np.tile(high, 2)[events])
    n = len(corners.south)
    return below[:n] - below[n:]


def box_names(corners: Corners) -> NDArray[np.str_]:
    """Return the public names of boxes: south, west, north, east in degrees.

    >>> box_names(Corners(*np.array([[48850000], [-2350000], [48861000], [2]])))[0]
    np.str_('box_48.850000_-2.350000_48.861000_0.000002')
    """
    names = np.full(len(corners.south), "box")
    for side in corners:
        # Boxes share their edges, so that there are fewer numbers to spell than boxes have sides.
        found, place = np.unique(side, return_inverse=True)
        spelt = np.array([f"_{degrees / MICRO:.6f}" for degrees in found.tolist()], dtype=np.str_)
        names = np.char.add(names, spelt[place])
    return names


def read_box_names(names: NDArray[np.str_]) -> Corners:
    """Return the corners that names of boxes tell.

    >>> [int(side[0]) for side in read_box_names(np.array(["box_48.850000_-2.350000_48.861000_0.000002"]))]
    [48850000, -2350000, 48861000, 2]
    """
    parts = [str(name).split("_") for name in names]
    try:
        degrees = np.array([part[1:] for part in parts], dtype=float).reshape(-1, 4)
    except ValueError:
        degrees = np.full((len(parts), 4), np.nan)
    known = np.isfinite(degrees).all() and (np.abs(degrees) <= (90, 180, 90, 180)).all()
    corners = Corners(*np.rint(np.where(known, degrees, 0) * MICRO).astype(np.int64).T)
    in_order = (corners.south <= corners.north).all() and (corners.west <= corners.east).all()
    if not (known and in_order and np.array_equal(box_names(corners), names)):
        raise HierarchyError(
            "a box is named box_south_west_north_east, in degrees with six decimals; at least one is not"
        )
    return corners


def _tile_area(tree: Hierarchy) -> float:
    # To three digits it is the same all over a city, and a mean would tell of one trip to far away, where
    # tiles are larger or smaller; the median tells about the grid, not about the data.
    return float(f"{np.median(tree.zones.area_km2[: tree.n_tiles]):.3g}")


def _area_km2(edges: Floats) -> Floats:
    south, west, north, east = np.radians(edges).T
    area: Floats = EARTH_KM**2 * (east - west) * (np.sin(north) - np.sin(south))
    return area


def _rectangle(edges: Floats) -> Geometry:
    south, west, north, east = (float(side) for side in edges)
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}
