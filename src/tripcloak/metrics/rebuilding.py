"""Rebuilding: what a reader of a release puts on every cell of the input."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import ODMatrix
from tripcloak.release import Release


def rebuilt(matrix: ODMatrix, release: Release, released: Floats) -> Floats:
    """Return, for every input flow, the volume that a reader of the release puts on its cell.

    A cell is a pair of tiles, in a slot of time where time is an axis. The volume of a group is spread
    evenly over all its cells, so a suppressed flow inside the product of a released group's zones gets
    that group's share. Shares of groups that overlap are added up.

    Parameters
    ----------
    matrix, release
        The input and what was released of it, in zones of the matrix's own hierarchies.
    released
        The volume of every group.

    Examples
    --------
    >>> from tripcloak.algorithms import ODkAnon
    >>> from tripcloak.criteria import KAnonymity
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([2, 3]))
    >>> release = ODkAnon(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> rebuilt(matrix, release, release.trips).tolist()
    [0.5, 0.5]
    """
    from tripcloak.metrics._kernels import sum_of_covering

    o, d, t = _axes(matrix, release)
    order = np.lexsort((t.zone, d.zone, o.zone))
    # As floats: the product of tile numbers can be larger than 64 bits hold.
    cells = o.size.astype(float) * d.size * t.size
    per_origin = np.bincount(o.zone, minlength=len(o.above))
    return sum_of_covering(
        (o.tile, d.tile, t.tile),
        (o.above, d.above, t.above),
        np.concatenate(([0], np.cumsum(per_origin))),
        (d.zone.astype(np.int64) * len(t.above) + t.zone)[order],
        (released / cells)[order],
    )


class _Axis(NamedTuple):
    """One axis: each flow's tile, each group's zone and its tiles, the next released zone above each zone."""

    tile: Ints
    zone: Ints
    size: Ints
    above: Ints


def _axes(matrix: ODMatrix, release: Release) -> tuple[_Axis, _Axis, _Axis]:
    """Return origins, destinations and times; without times everything shares a single moment."""
    flows = matrix.flows
    if matrix.times is None or flows.slot is None or release.group_time is None:
        ones = np.ones_like(release.group_origin)
        time = _Axis(np.zeros_like(flows.origin), ones * 0, ones, np.array([-1]))
    else:
        time = _axis(matrix.times, flows.slot, release.group_time)
    return (
        _axis(matrix.origins, flows.origin, release.group_origin),
        _axis(matrix.destinations, flows.destination, release.group_destination),
        time,
    )


def _axis(tree: Hierarchy, tile: Ints, zone: Ints) -> _Axis:
    from tripcloak.metrics._kernels import next_released

    released = np.zeros(len(tree), dtype=bool)
    released[zone] = True
    return _Axis(tile, zone, tree.zones.tiles[zone], next_released(tree.parent, released))
