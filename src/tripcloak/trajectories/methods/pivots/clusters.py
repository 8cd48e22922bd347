"""Clusters: people split into chunks of neighbours, and each chunk into clusters round pivots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints


class Clusters(NamedTuple):
    """The pivot of every trajectory (-1 where it is discarded), and the radius that was needed."""

    pivot_of: Ints
    radius: float


def grown_clusters(distance: Floats, *, k: int, spare: int, radius: float, growth: float) -> Clusters:
    """Return clusters of k or more that leave out ``spare`` trajectories at most.

    The radius grows until they do. At the largest distance every trajectory fits.

    Examples
    --------
    >>> line = np.array([0.0, 1.0, 9.0, 11.0, 50.0])
    >>> distance = np.abs(line[:, None] - line)
    >>> grown_clusters(distance, k=2, spare=1, radius=1.0, growth=2.0)
    Clusters(pivot_of=array([ 0,  0,  3,  3, -1]), radius=2.0)
    """
    from tripcloak.trajectories.methods.pivots._kernels import greedy_clusters

    while True:
        pivot_of = greedy_clusters(distance, k, radius)
        if np.count_nonzero(pivot_of < 0) <= spare:
            return Clusters(pivot_of, radius)
        radius *= growth


def chunks(x: Floats, y: Floats, size: int) -> list[Ints]:
    """Return rows split into chunks of neighbours, none larger than ``size``, all of about one size.

    Halved again and again across the longer side of the places, so a chunk is a compact part of the map.

    Examples
    --------
    >>> [rows.tolist() for rows in chunks(np.array([0.0, 9.0, 1.0, 8.0]), np.zeros(4), 2)]
    [[0, 2], [1, 3]]
    """
    return _halved(x, y, np.arange(len(x)), -(-len(x) // size))


def _halved(x: Floats, y: Floats, rows: Ints, parts: int) -> list[Ints]:
    if parts <= 1:
        return [rows]
    axes = sorted((x[rows], y[rows]), key=lambda side: float(np.ptp(side)), reverse=True)
    order = rows[np.lexsort((rows, axes[1], axes[0]))]
    lower = parts // 2
    cut = len(rows) * lower // parts
    first, second = np.sort(order[:cut]), np.sort(order[cut:])
    return _halved(x, y, first, lower) + _halved(x, y, second, parts - lower)
