"""Compiled loops of clustering round pivots; each has a plain twin in tests/oracle_pivots.py."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.arrays import Bools, Floats, Ints


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
