"""Compiled loops of W4M; each has a plain twin in tests/oracle_pivots.py."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.arrays import Ints


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
