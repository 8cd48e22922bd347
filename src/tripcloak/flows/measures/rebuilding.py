"""Rebuilding: what a reader of a release puts on every cell of the input."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import BoxZones, Hierarchy, Zones, tile_centres


def rebuilt(matrix: ODMatrix, release: Release, released: Floats) -> Floats:
    """Return, for every input flow, the volume that a reader of the release puts on its cell.

    A cell is a pair of tiles, in a slot of time where time is an axis. The volume of a group is spread
    evenly over all its cells, so a suppressed flow inside the product of a released group's zones gets
    that group's share. Shares of groups that overlap are added up.

    Zones are those of the matrix's hierarchies, known by their ids, or boxes, which hold the tiles whose
    centres lie in them. A zone that the hierarchy does not know holds no cell of the input.

    Parameters
    ----------
    matrix, release
        The input and what was released of it.
    released
        The volume of every group.

    Examples
    --------
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([2, 3]))
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> rebuilt(matrix, release, release.trips).tolist()
    [0.5, 0.5]
    """
    if any(isinstance(zones, BoxZones) for _, zones, _ in release.axes):
        return _rebuilt_from_boxes(matrix, release, released)
    return _rebuilt_from_trees(matrix, release, released)


def rows_by_id(tree: Hierarchy, zones: Zones) -> Ints:
    """Return, for every zone, its row in a hierarchy; -1 where the hierarchy does not know its id.

    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> other = Hierarchy.from_parents(["b", "c", "bc"], [2, 2, -1])
    >>> rows_by_id(tree, other.zones).tolist()
    [1, -1, -1]
    """
    if zones is tree.zones:
        return np.arange(len(tree))
    order = np.argsort(tree.zones.ids)
    at = np.minimum(np.searchsorted(tree.zones.ids, zones.ids, sorter=order), len(order) - 1)
    return np.where(tree.zones.ids[order[at]] == zones.ids, order[at], -1)


def _rebuilt_from_trees(matrix: ODMatrix, release: Release, released: Floats) -> Floats:
    from tripcloak.flows.measures._kernels import sum_of_covering

    (o, d, t), known = _axes(matrix, release)
    order = np.lexsort((t.zone, d.zone, o.zone))
    # As floats: the product of tile numbers can be larger than 64 bits hold.
    cells = o.size.astype(float) * d.size * t.size
    per_origin = np.bincount(o.zone, minlength=len(o.above))
    return sum_of_covering(
        (o.tile, d.tile, t.tile),
        (o.above, d.above, t.above),
        np.concatenate(([0], np.cumsum(per_origin))),
        (d.zone.astype(np.int64) * len(t.above) + t.zone)[order],
        (released[known] / cells)[order],
    )


def _rebuilt_from_boxes(matrix: ODMatrix, release: Release, released: Floats) -> Floats:
    from tripcloak.flows.measures._kernels import sum_in_boxes

    points, edges, cells = [], [], np.ones(release.n_groups)
    for (tree, tile), (_, zones, group) in zip(matrix.axes, release.axes, strict=True):
        if not isinstance(zones, BoxZones):
            raise InputError(
                "released zones are either boxes on both axes, or zones of the hierarchies on all"
            )
        points += [centre[tile] for centre in tile_centres(tree)]
        edges.append(np.stack(zones.corners, axis=1)[group])
        cells *= zones.tiles[group]
    corners = np.hstack(edges).astype(np.int32)
    # In one order, so that sums of shares are the same to the last bit however groups are numbered.
    order = np.lexsort(corners.T)
    corners = corners[order]
    low, high = corners[:, [0, 1, 4, 5]], corners[:, [2, 3, 6, 7]]
    return sum_in_boxes(
        np.stack(points, axis=1).astype(np.int32),
        np.ascontiguousarray(low),
        np.ascontiguousarray(high),
        released.astype(float)[order],
        cells[order],
    )


_SPACE_AND_TIME = 3


class _RebuiltAxis(NamedTuple):
    """One axis: each flow's tile, each group's zone and its tiles, the next released zone above each zone."""

    tile: Ints
    zone: Ints
    size: Ints
    above: Ints


def _axes(
    matrix: ODMatrix, release: Release
) -> tuple[tuple[_RebuiltAxis, _RebuiltAxis, _RebuiltAxis], Bools]:
    """Return origins, destinations and times of the groups whose zones are all known, and which those are.

    Without times everything shares a single moment.
    """
    zones = [
        rows_by_id(tree, zones)[group]
        for (tree, _), (_, zones, group) in zip(matrix.axes, release.axes, strict=True)
    ]
    known = np.logical_and.reduce([zone >= 0 for zone in zones])
    axes = [_axis(tree, tile, zone[known]) for (tree, tile), zone in zip(matrix.axes, zones, strict=True)]
    if len(axes) < _SPACE_AND_TIME:
        ones = np.ones(np.count_nonzero(known), dtype=np.int64)
        axes.append(_RebuiltAxis(np.zeros_like(matrix.flows.origin), ones * 0, ones, np.array([-1])))
    return (axes[0], axes[1], axes[2]), known


def _axis(tree: Hierarchy, tile: Ints, zone: Ints) -> _RebuiltAxis:
    from tripcloak.flows.measures._kernels import next_released

    released = np.zeros(len(tree), dtype=bool)
    released[zone] = True
    return _RebuiltAxis(tile, zone, tree.zones.tiles[zone], next_released(tree.parent, released))
