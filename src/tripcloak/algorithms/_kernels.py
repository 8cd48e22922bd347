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
    step = 0
    # Invariant: a heap holds exactly the zones of its axis whose occurring children are all active.
    while len(heap_o) > 0 or len(heap_d) > 0:
        # Cross-multiplied, so that a drift of exactly the tolerance is not taken for more by rounding.
        now, first = left[0] * active[1], left[1] * active[0]
        if now - first > tolerance * first:
            axis = 0
        elif first - now > tolerance * first:
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


RELEASE = -1
SUPPRESS = -2


@njit(cache=True)
def best_partition(
    loss: NDArray[np.float64],
    volume: NDArray[np.float64],
    up: NDArray[np.int32],
    inner: NDArray[np.float64],
    may_split: NDArray[np.bool_],
    price: float,
) -> tuple[NDArray[np.int8], float, float]:  # pragma: no cover - compiled
    """Return the best choice for every product, and the loss and the suppressed volume of the best partition.

    A product is released as it is (``loss`` per unit of volume), suppressed (``price`` per unit), or
    split on one axis; volume outside the safe children of a split is suppressed. Products stand behind
    those they are a part of, so one pass backwards sees all children before their parent.
    """
    axes, n = up.shape
    choice = np.empty(n, np.int8)
    # Loss and suppressed volume are kept apart: at a high price the one would drown in the other's cost.
    lost_below = np.zeros((axes, n))
    hidden_below = np.zeros((axes, n))
    lost, hidden = 0.0, 0.0
    for p in range(n - 1, -1, -1):
        lost, hidden, choice[p] = loss[p] * volume[p], 0.0, RELEASE
        cost = lost
        if price * volume[p] < cost:
            cost, lost, hidden, choice[p] = price * volume[p], 0.0, volume[p], SUPPRESS
        for axis in range(axes):
            gone = hidden_below[axis, p] + volume[p] - inner[axis, p]
            split = lost_below[axis, p] + price * gone
            if may_split[axis, p] and split < cost:
                cost, lost, hidden, choice[p] = split, lost_below[axis, p], gone, axis
        for axis in range(axes):
            parent = up[axis, p]
            if parent >= 0:
                lost_below[axis, parent] += lost
                hidden_below[axis, parent] += hidden
    # The root comes last in this pass, so loss and suppressed volume are the whole partition's.
    return choice, lost, hidden


@njit(cache=True)
def follow_choices(
    choice: NDArray[np.int8], up: NDArray[np.int32]
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return, for every product, the released product it lies in, -1 where it lies in none."""
    axes, n = up.shape
    reached = np.zeros(n, np.bool_)
    home = np.full(n, -1, np.int32)
    reached[0] = True
    # Invariant: everything above p is settled when p is looked at.
    for p in range(n):
        for axis in range(axes):
            parent = up[axis, p]
            if parent >= 0:
                if reached[parent] and choice[parent] == axis:
                    reached[p] = True
                if home[parent] >= 0:
                    home[p] = home[parent]
        if reached[p] and choice[p] == RELEASE:
            home[p] = p
    return home


@njit(cache=True)
def place_flows(
    codes: tuple[NDArray[np.int32], ...],
    ancestors: tuple[NDArray[np.int32], ...],
    sizes: NDArray[np.int64],
    choice: NDArray[np.int8],
    table: tuple[NDArray[np.int64], NDArray[np.int32]],
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return the released product of every flow, -1 where it is suppressed, by following the choices.

    ``ancestors[axis][depth, tile]`` is -1 below the tile itself, which is never split.
    """
    axes = len(codes)
    home = np.empty(len(codes[0]), np.int32)
    depth = np.empty(axes, np.int64)
    mask = np.uint64(len(table[0]) - 1)
    for flow in range(len(home)):
        depth[:] = 0
        p = 0
        # Invariant: p is the safe product of the flow's zones at these depths, reached by the choices.
        while p >= 0 and choice[p] >= 0:
            depth[choice[p]] += 1
            key = np.int64(0)
            for axis in range(axes):
                key = key * sizes[axis] + ancestors[axis][depth[axis], codes[axis][flow]]
            mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            at = (mixed ^ (mixed >> np.uint64(32))) & mask
            while table[0][at] != key and table[0][at] != -1:
                at = (at + np.uint64(1)) & mask
            p = table[1][at] if table[0][at] == key else -1
        home[flow] = p if p >= 0 and choice[p] == RELEASE else -1
    return home


@njit(cache=True)
def sums_by_zone(
    zone: NDArray[np.int32],
    other: NDArray[np.int32],
    chosen: NDArray[np.bool_],
    loss: NDArray[np.float64],
    volume: NDArray[np.float64],
    price: float,
    size: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # pragma: no cover - compiled
    """Return loss and volume per zone, summed over products whose other zone is chosen and not too dear."""
    losses, volumes = np.zeros(size), np.zeros(size)
    for p in range(len(zone)):
        if chosen[other[p]] and loss[p] <= price:
            losses[zone[p]] += loss[p] * volume[p]
            volumes[zone[p]] += volume[p]
    return losses, volumes
