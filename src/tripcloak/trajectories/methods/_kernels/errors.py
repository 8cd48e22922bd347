"""Compiled loops of k-merge by errors, held to plain twins in tests/oracles/trajectories/errors.py.

Boundaries and buffers are those of ``merging.py``. A run costs what its samples lose: how far they lie from
the centre of its box, in time and in space.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.methods._kernels.merging import (
    CHECKED_EVERY,
    LOOKS_BACK,
    MergeBuffers,
    admit,
    lay_many,
    lay_pair,
    least_so_far,
    merge_buffers,
)


class Samples(NamedTuple):
    """All trajectories: samples of person i are those from ``offsets[i]`` on."""

    t: Ints
    x: Ints
    y: Ints
    offsets: Ints


class Sums(NamedTuple):
    """Sums over all samples before each boundary, counted from the first sample: a run's are differences."""

    t: Floats
    x: Floats
    y: Floats
    squares: Floats
    """Of both x and y."""


@njit(cache=True, nogil=True)
def sums_of(size: int) -> Sums:
    """Return room for the sums of up to so many samples."""
    return Sums(np.empty(size + 1), np.empty(size + 1), np.empty(size + 1), np.empty(size + 1))


@njit(cache=True, nogil=True)
def sum_up(at: MergeBuffers, sums: Sums, n: int) -> None:
    """Fill in the sums of the samples in the buffers."""
    sums.t[0], sums.x[0], sums.y[0], sums.squares[0] = 0.0, 0.0, 0.0, 0.0
    for s in range(n):
        x, y = float(at.x[s] - at.x[0]), float(at.y[s] - at.y[0])
        sums.t[s + 1] = sums.t[s] + (at.t[s] - at.t[0])
        sums.x[s + 1] = sums.x[s] + x
        sums.y[s + 1] = sums.y[s] + y
        sums.squares[s + 1] = sums.squares[s] + (x * x + y * y)


@njit(cache=True, nogil=True, inline="always")
def _first_late(at: MergeBuffers, i: int, j: int) -> int:
    """Return the first sample of a run that is not before the middle of its time."""
    twice = at.t[i] + at.t[j - 1]
    low, high = i, j
    while low < high:
        # Invariant: samples before low are early, those from high on are not.
        middle = (low + high) // 2
        if 2 * at.t[middle] < twice:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True, inline="always")
def _late(at: MergeBuffers, sums: Sums, i: int, j: int, middle: int) -> Any:
    """Return how far the samples of a run are from the middle of its time, all together."""
    early, late = sums.t[middle] - sums.t[i], sums.t[j] - sums.t[middle]
    return late - early + (2 * middle - i - j) * (0.5 * (at.t[i] + at.t[j - 1]) - at.t[0])


@njit(cache=True, nogil=True, inline="always")
def _away(at: MergeBuffers, sums: Sums, i: int, j: int, twice_x: int, twice_y: int) -> Any:
    """Return how far samples of a run are from the middle of its place: root mean square x their number.

    The middle is told by twice its coordinates. The mean itself would take a look at every sample.
    """
    many = float(j - i)
    x, y = 0.5 * twice_x - at.x[0], 0.5 * twice_y - at.y[0]
    square = sums.squares[j] - sums.squares[i] + many * (x * x + y * y)
    square -= 2 * (x * (sums.x[j] - sums.x[i]) + y * (sums.y[j] - sums.y[i]))
    return np.sqrt(many * max(square, 0.0))


@njit(cache=True, nogil=True)
def cover_by_errors(at: MergeBuffers, sums: Sums, n: int, limit: float, rates: tuple[float, float]) -> Any:
    """Fill in a cheap cover of the samples in the buffers by runs, and return its cost.

    A run costs the rate of time x how late its samples are + the rate of space x how far away. The starts
    tried are those of :func:`merging.cover`. There, what is inside never costs more; here it nearly never
    does, so that a cover may be missed that is cheaper by a little.

    Returns infinity as soon as the cost must exceed ``limit``.
    """
    x, y, cost, reach, queue = at.x, at.y, at.cost, at.reach, at.queue
    sum_up(at, sums, n)
    cost[0] = 0.0
    head, tail, enters, look = 0, 0, 0, CHECKED_EVERY
    known, seen, x0, x1, y0, y1 = -1, 0, 0, 0, 0, 0
    for j in range(1, n + 1):
        cost[j] = np.inf
        p = reach[j]
        if p < 0:
            continue
        head, tail, enters = admit(cost, queue, reach[p], p, head, tail, enters)
        if head == tail:
            continue
        if queue[tail - 1] != known:
            known = queue[tail - 1]
            seen, x0, x1, y0, y1 = known, x[known], x[known], y[known], y[known]
        for s in range(seen, j):
            x0, x1 = min(x0, x[s]), max(x1, x[s])
            y0, y1 = min(y0, y[s]), max(y1, y[s])
        seen = j
        cost[j], at.back[j] = _cheapest_start(at, sums, j, head, tail, x0, x1, y0, y1, rates)
        if j >= look:
            look = j + CHECKED_EVERY
            if j - p < LOOKS_BACK and least_so_far(cost, p, j, queue[head]) > limit:
                return np.inf
    return cost[n] if cost[n] <= limit else np.inf


@njit(cache=True, nogil=True, inline="always")
def _cheapest_start(
    at: MergeBuffers,
    sums: Sums,
    j: int,
    head: int,
    tail: int,
    x0: int,
    x1: int,
    y0: int,
    y1: int,
    rates: tuple[float, float],
) -> tuple[float, int]:
    """Return the least cost of a cover up to j, and where its last run starts.

    Goes from the last start in the queue, whose run has this box, to the first, as in ``merging.py``.
    """
    cost, queue, x, y = at.cost, at.queue, at.x, at.y
    best, start, q = np.inf, -1, tail - 1
    i, floor = queue[q], cost[queue[head]]
    middle = _first_late(at, i, j)
    while True:
        # An earlier start has an earlier middle, so that no search is needed to find the next one.
        while middle > i and 2 * at.t[middle - 1] >= at.t[i] + at.t[j - 1]:
            middle -= 1
        run = rates[0] * _late(at, sums, i, j, middle) + rates[1] * _away(at, sums, i, j, x0 + x1, y0 + y1)
        if cost[i] + run < best:
            best, start = cost[i] + run, i
        q -= 1
        if q < head or floor + run >= best:
            return best, start
        for s in range(queue[q], i):
            x0, x1 = min(x0, x[s]), max(x1, x[s])
            y0, y1 = min(y0, y[s]), max(y1, y[s])
        i = queue[q]


@njit(cache=True, nogil=True)
def group_cost(
    at: MergeBuffers, sums: Sums, samples: Samples, members: Ints, rates: tuple[float, float], limit: float
) -> Any:
    """Return what the merge of these people costs; infinity if it is above the limit."""
    n = lay_many(at, samples.t, samples.x, samples.y, samples.offsets, members)
    return cover_by_errors(at, sums, n, limit, rates)


@njit(cache=True, nogil=True)
def pairs_by_errors(samples: Samples, first: Ints, second: Ints, rates: tuple[float, float]) -> Floats:
    """Return what the merge of each pair costs."""
    offsets, most = samples.offsets, int(np.int64(0))
    for r in range(len(first)):
        a, b = first[r], second[r]
        most = max(most, offsets[a + 1] - offsets[a] + offsets[b + 1] - offsets[b])
    at, sums = merge_buffers(most), sums_of(most)
    costs = np.empty(len(first))
    for r in range(len(first)):
        n = lay_pair(at, samples.t, samples.x, samples.y, offsets, first[r], second[r])
        costs[r] = cover_by_errors(at, sums, n, np.inf, rates)
    return costs
