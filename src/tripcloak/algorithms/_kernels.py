"""Compiled loops of the algorithms; each has a plain twin in tests/oracle.py."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

NEVER = 2**62
"""The step of a merge that does not happen."""


@njit(cache=True)
def merge_order(
    parents: tuple[NDArray[Any], NDArray[Any]],
    occurring: tuple[NDArray[Any], NDArray[Any]],
    costs: tuple[NDArray[Any], NDArray[Any]],
    ranks: tuple[NDArray[Any], NDArray[Any]],
    tops: tuple[int, int],
    active: tuple[int, int],
    tolerance: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:  # pragma: no cover - compiled
    """Return, for each axis, the step at which each zone replaces its children, and the number of steps.

    Everything comes as (origins, destinations): parents, the number of occurring children still to
    become active, cost, place in the order of ids, the zone that covers all, and the active tiles.
    """
    when = (np.full(len(parents[0]), NEVER, np.int64), np.full(len(parents[1]), NEVER, np.int64))
    waiting = (occurring[0].copy(), occurring[1].copy())
    heap_o = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    heap_d = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    for axis in range(2):
        heap = heap_o if axis == 0 else heap_d
        # A tile has no occurring children; the parents whose last child is a tile are ready at once.
        for zone in range(len(parents[axis])):
            if occurring[axis][zone] == 0 and costs[axis][zone] > 0 and zone != tops[axis]:
                up = parents[axis][zone]
                waiting[axis][up] -= 1
                if waiting[axis][up] == 0:
                    heapq.heappush(heap, (np.int64(costs[axis][up]), np.int64(ranks[axis][up]), np.int64(up)))
    left = np.array([active[0], active[1]], np.int64)
    first_ratio = left[0] / left[1]
    step = 0
    # Invariant: a heap holds exactly the zones of its axis whose occurring children are all active.
    while len(heap_o) > 0 or len(heap_d) > 0:
        deviation = (left[0] / left[1] - first_ratio) / first_ratio
        if deviation > tolerance:
            axis = 0
        elif deviation < -tolerance:
            axis = 1
        else:
            axis = int(step % 2)
        if len(heap_o if axis == 0 else heap_d) == 0:
            axis = 1 - axis
        _, _, chosen = heapq.heappop(heap_o if axis == 0 else heap_d)
        zone = int(chosen)
        step += 1
        when[axis][zone] = step
        left[axis] -= occurring[axis][zone] - 1
        if zone != tops[axis]:
            up = parents[axis][zone]
            waiting[axis][up] -= 1
            if waiting[axis][up] == 0:
                entry = (np.int64(costs[axis][up]), np.int64(ranks[axis][up]), np.int64(up))
                heapq.heappush(heap_o if axis == 0 else heap_d, entry)
    return when[0], when[1], step
