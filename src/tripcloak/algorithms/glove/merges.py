"""Flows as points, who is near whom, and merges of flows up to the step that just keeps the limit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Bools, Floats, Ints
from tripcloak.criteria import Criterion
from tripcloak.errors import InputError
from tripcloak.hierarchy import tile_centres
from tripcloak.hierarchy.boxes import EARTH_KM, MICRO
from tripcloak.matrix import Groups, ODMatrix
from tripcloak.release import main_volume

QUERIES = 50_000
"""Flows whose nearest are looked up at a time: distances are only needed on the way."""


class Merges(NamedTuple):
    """Merges in order: the cluster at row ``joined`` goes into the one at row ``into``, a lower one.

    A cluster stands at the row of its first flow. ``stops`` are the numbers of merges at which it is
    allowed to stop, ascending from 0.
    """

    into: Ints
    joined: Ints
    stops: Ints

    def clusters(self, n_flows: int, step: int) -> Ints:
        """Return the cluster of every flow after some merges, numbered from 0.

        >>> Merges(np.array([0, 0]), np.array([2, 1]), np.arange(3)).clusters(4, 1).tolist()
        [0, 1, 0, 2]
        """
        row = np.arange(n_flows)
        row[self.joined[:step]] = self.into[:step]
        # A row leads to a lower one until it leads to itself; every look halves the way that is left.
        while ((further := row[row]) != row).any():
            row = further
        number: Ints = np.cumsum(row == np.arange(n_flows)) - 1
        return number[row]


def flow_points(matrix: ODMatrix) -> Floats:
    """Return four coordinates of every flow, in whole metres: two of its origin, two of its destination.

    The map is flat, with degrees of longitude as long as they are halfway between the southernmost
    and the northernmost tile.
    """
    ends = [(tile_centres(tree), tile) for tree, tile in matrix.axes[:2]]
    lat = np.concatenate([centres.lat for centres, _ in ends])
    metre = EARTH_KM * 1000 * np.pi / 180 / MICRO
    narrow = np.cos(np.radians((lat.min() + lat.max()) / (2 * MICRO)))
    columns = [
        degrees[tile] * scale
        for centres, tile in ends
        for degrees, scale in zip(centres, (metre, metre * narrow), strict=True)
    ]
    points: Floats = np.rint(np.stack(columns, axis=1))
    return points


def nearest(points: Floats, number: int) -> Ints:
    """Return the rows of the nearest points of every point (sum of distances along the axes), ascending.

    Where fewer points have other coordinates, all there are; a point is usually among its own nearest.

    >>> nearest(np.array([[0.0], [1.0], [5.0], [7.0]]), 1).tolist()
    [[0, 1], [0, 1], [2, 3], [2, 3]]
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(points, leafsize=32)
    found = np.empty((len(points), min(number + 1, len(points))), dtype=np.int32)
    for start in range(0, len(points), QUERIES):
        part = slice(start, start + QUERIES)
        found[part] = tree.query(points[part], k=found.shape[1], p=1)[1].reshape(-1, found.shape[1])
    found.sort(axis=1)
    return found


def refuse_many_flows(matrix: ODMatrix, name: str, most: int) -> None:
    """Raise if a matrix has more flows than a method can merge."""
    if matrix.n_flows > most:
        raise InputError(
            f"{name} compares flows with each other and takes at most {most:,} of them; this input has "
            "more. Use coarser tiles (--hierarchy), or a method for large inputs: productcut, mondrian"
        )


def first_fit(matrix: ODMatrix, criterion: Criterion, limit: float, merges: Merges) -> Ints | None:
    """Return the group of every flow at the first stop at which the unsafe clusters fit the limit.

    They are suppressed (-1). None if they do not even fit after the last merge.
    """
    volume = matrix.volume(main_volume(criterion))

    def released(stop: int) -> tuple[Ints, Bools]:
        cluster = merges.clusters(matrix.n_flows, int(merges.stops[stop]))
        nowhere = np.zeros(int(cluster.max()) + 1, dtype=np.int32)
        return cluster, criterion.safe(Groups(matrix, cluster.astype(np.int32), nowhere, nowhere))

    def fits(stop: int) -> bool:
        cluster, safe = released(stop)
        return bool(volume[~safe[cluster]].sum() <= limit * volume.sum())

    low, high = -1, len(merges.stops) - 1
    if not fits(high):
        return None
    # Invariant: stop `high` fits, stop `low` does not; what is unsafe only shrinks from stop to stop.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    cluster, safe = released(high)
    return np.where(safe, np.cumsum(safe) - 1, -1)[cluster]
