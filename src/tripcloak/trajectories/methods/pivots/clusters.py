"""Clusters: people split into chunks of neighbours, and each chunk into clusters round pivots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.trajectories.grid import Grid


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
    steps = ladder(distance, k=k, radius=radius, growth=growth)
    return next(found for found in steps if np.count_nonzero(found.pivot_of < 0) <= spare)


def ladder(distance: Floats, *, k: int, radius: float, growth: float) -> Iterator[Clusters]:
    """Yield the clusters at the first radius, at the grown one, and so on until none is discarded.

    Examples
    --------
    >>> line = np.array([0.0, 1.0, 9.0, 11.0])
    >>> steps = ladder(np.abs(line[:, None] - line), k=2, radius=1.0, growth=2.0)
    >>> [found.pivot_of.tolist() for found in steps]
    [[0, 0, -1, -1], [0, 0, 3, 3]]
    """
    from tripcloak.trajectories.methods.pivots._kernels import greedy_clusters

    while True:
        pivot_of = greedy_clusters(distance, k, radius)
        yield Clusters(pivot_of, radius)
        if (pivot_of >= 0).all():
            return
        radius *= growth


def lowest_step(ladders: Sequence[Sequence[Clusters]], spare: int) -> int:
    """Return the first step at which no more than ``spare`` are discarded, all ladders together.

    A ladder that has ended discards nobody.
    """
    step = 0
    while sum(int((one[step].pivot_of < 0).sum()) for one in ladders if step < len(one)) > spare:
        step += 1
    return step


def chunks(x: Floats, y: Floats, size: int) -> list[Ints]:
    """Return rows split into chunks of neighbours, none larger than ``size``, all of about one size.

    Halved again and again across the longer side of the places, so a chunk is a compact part of the map.

    Examples
    --------
    >>> [rows.tolist() for rows in chunks(np.array([0.0, 9.0, 1.0, 8.0]), np.zeros(4), 2)]
    [[0, 2], [1, 3]]
    """
    return _halved(x, y, np.arange(len(x)), -(-len(x) // size))


def check_clustering(delta: float, trash: float, radius: float | None, growth: float) -> None:
    """Raise an InputError unless clusters can be grown with these."""
    if not 0 <= delta < np.inf:
        raise InputError(f"delta is a number of metres, 0 or more; got {delta}")
    if not 0 <= trash < 1:
        raise InputError(f"the trash limit is a share from 0 to less than 1; got {trash}")
    if radius is not None and not 0 < radius < np.inf:
        raise InputError(f"the first radius is a number of metres above 0; got {radius}")
    if not 1 < growth < np.inf:
        raise InputError(f"the radius grows by a factor above 1; got {growth}")


def first_radius(radius: float | None, delta: float, grid: Grid) -> float:
    """Return the radius to start with, in metres: delta, but a step of space at least."""
    return max(delta, float(grid.metres)) if radius is None else radius


def _halved(x: Floats, y: Floats, rows: Ints, parts: int) -> list[Ints]:
    if parts <= 1:
        return [rows]
    axes = sorted((x[rows], y[rows]), key=lambda side: float(np.ptp(side)), reverse=True)
    order = rows[np.lexsort((rows, axes[1], axes[0]))]
    lower = parts // 2
    cut = len(rows) * lower // parts
    first, second = np.sort(order[:cut]), np.sort(order[cut:])
    return _halved(x, y, first, lower) + _halved(x, y, second, parts - lower)
