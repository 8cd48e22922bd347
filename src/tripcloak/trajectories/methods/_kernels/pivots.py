"""Compiled loops of clustering round pivots, NWA and W4M."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints


@njit(cache=True, nogil=True)
def greedy_clusters(
    distance: Floats, k: int, radius: float
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return the pivot of every trajectory, -1 for those that fit no cluster.

    ``distance`` is symmetric. The first pivot is the one farthest from all; each next one is the free
    one farthest from all pivots tried before. A pivot and its k - 1 nearest free ones are a cluster if
    none of them is farther away than ``radius``. In the end what is left joins the nearest pivot within
    ``radius``. Ties go to the one that comes first.
    """
    n = len(distance)
    pivot_of = np.full(n, -1, np.int64)
    tried = np.zeros(n, np.bool_)
    far = np.empty(n, np.float64)
    for i in range(n):
        far[i] = distance[i].sum()
    near, at = np.empty(k - 1, np.int64), np.empty(k - 1, np.float64)
    left, first = n, True
    # Invariant: far holds the distance to the nearest pivot tried so far; free means without a pivot.
    while left >= k:
        pivot = _farthest(far, pivot_of, tried)
        if pivot < 0:
            break
        tried[pivot] = True
        _nearest_free(distance[pivot], pivot, pivot_of, near, at)
        if at[k - 2] <= radius:
            pivot_of[pivot] = pivot
            pivot_of[near] = pivot
            left -= k
        for i in range(n):
            far[i] = distance[pivot, i] if first else min(far[i], distance[pivot, i])
        first = False
    _join_nearest(distance, pivot_of, radius)
    return pivot_of


@njit(cache=True, nogil=True)
def _farthest(far: Floats, pivot_of: Ints, tried: Bools) -> int:  # pragma: no cover - compiled
    """Return the free one, not tried yet, that is farthest; -1 where there is none."""
    best = -1
    for i in range(len(far)):
        if pivot_of[i] < 0 and not tried[i] and (best < 0 or far[i] > far[best]):
            best = i
    return best


@njit(cache=True, nogil=True)
def _nearest_free(
    row: Floats, pivot: int, pivot_of: Ints, near: Ints, at: Floats
) -> None:  # pragma: no cover - compiled
    """Fill in the nearest free ones and their distances, nearest first."""
    at[:] = np.inf
    last = len(near) - 1
    for i in range(len(row)):
        if i == pivot or pivot_of[i] >= 0 or not row[i] < at[last]:
            continue
        place = last
        while place > 0 and at[place - 1] > row[i]:
            at[place], near[place] = at[place - 1], near[place - 1]
            place -= 1
        at[place], near[place] = row[i], i


@njit(cache=True, nogil=True)
def _join_nearest(distance: Floats, pivot_of: Ints, radius: float) -> None:  # pragma: no cover - compiled
    """Give those that are left to the nearest pivot of a cluster, where one lies within the radius."""
    n = len(distance)
    pivots = np.empty(n, np.int64)
    found = 0
    for i in range(n):
        if pivot_of[i] == i:
            pivots[found] = i
            found += 1
    for i in range(n):
        if pivot_of[i] >= 0:
            continue
        best = -1
        for pivot in pivots[:found]:
            if best < 0 or distance[i, pivot] < distance[i, best]:
                best = pivot
        if best >= 0 and distance[i, best] <= radius:
            pivot_of[i] = best


@njit(cache=True, nogil=True)
def mean_distances(x: Ints, y: Ints) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the mean over time of the distance of every two rows, in steps; columns are times."""
    n, times = x.shape
    distance = np.zeros((n, n), np.float64)
    for i in range(n):
        for j in range(i + 1, n):
            away = 0.0
            for at in range(times):
                east, north = float(x[i, at] - x[j, at]), float(y[i, at] - y[j, at])
                away += math.sqrt(east * east + north * north)
            distance[i, j] = distance[j, i] = away / times
    return distance


@njit(cache=True, nogil=True)
def lst_distances(
    offsets: Ints, columns: tuple[Ints, Ints, Ints], rows: Ints, scales: tuple[float, float, float]
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the linear spatiotemporal distance of every two of these rows, in metres.

    ``columns`` are t, x, y of points; ``scales`` are metres a step of space, metres that a step of time
    counts for, and metres that a trajectory without any match would count for.
    """
    n = len(rows)
    distance = np.zeros((n, n), np.float64)
    for i in range(n):
        for j in range(i + 1, n):
            a, b = rows[i], rows[j]
            if offsets[a + 1] - offsets[a] > offsets[b + 1] - offsets[b]:
                a, b = b, a
            distance[i, j] = _edit_cost(
                columns, (offsets[a], offsets[a + 1]), (offsets[b], offsets[b + 1]), scales
            )
            distance[j, i] = distance[i, j]
    return distance


@njit(cache=True, nogil=True)
def matched_points(
    offsets: Ints, t: Ints, rows: Ints, pivots: Ints
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return, for every point of each row's pivot, the matched point of the row itself, -1 for none."""
    total = 0
    for pivot in pivots:
        total += offsets[pivot + 1] - offsets[pivot]
    match = np.full(total, -1, np.int64)
    at = 0
    for row, pivot in zip(rows, pivots):  # noqa: B905 - compiled code knows no strict
        n, m = offsets[pivot + 1] - offsets[pivot], offsets[row + 1] - offsets[row]
        last = -1
        for i in range(min(n, m)):
            if n <= m:
                last = _next_match(t, offsets[pivot] + i, offsets[row], (last + 1, m - n + i))
                match[at + i] = offsets[row] + last
            else:
                last = _next_match(t, offsets[row] + i, offsets[pivot], (last + 1, n - m + i))
                match[at + last] = offsets[row] + i
        at += n
    return match


@njit(cache=True, nogil=True)
def _edit_cost(
    columns: tuple[Ints, Ints, Ints],
    short: tuple[int, int],
    long: tuple[int, int],
    scales: tuple[float, float, float],
) -> float:  # pragma: no cover - compiled
    """Return the mean cost of the matched points, and the share of points without match, in metres."""
    t, x, y = columns
    metres, pace, unmatched = scales
    n, m = short[1] - short[0], long[1] - long[0]
    cost, last = 0.0, -1
    for i in range(n):
        one = short[0] + i
        last = _next_match(t, one, long[0], (last + 1, m - n + i))
        other = long[0] + last
        east, north = float(x[one] - x[other]), float(y[one] - y[other])
        cost += metres * math.sqrt(east * east + north * north) + pace * abs(float(t[one] - t[other]))
    return cost / n + unmatched * (m - n) / m


@njit(cache=True, nogil=True)
def _next_match(t: Ints, one: int, start: int, window: tuple[int, int]) -> int:  # pragma: no cover - compiled
    """Return the place in the window, from start on, whose time is nearest to that of one; the first of two.

    Times grow strictly, so the distance in time falls and then rises.
    """
    place, last = window
    while place < last and abs(t[start + place + 1] - t[one]) < abs(t[start + place] - t[one]):
        place += 1
    return place
