"""Compiled loops of the apriori anonymisation; each has a plain twin in tests/oracles.

All axes' zones are numbered in one row, axis after axis. An itemset is one zone per axis, -1 for an axis
whose item is not known. ``code`` gives every zone a number such that the sum over an itemset's zones
tells it from all others; the table holds the codes of the itemsets that are safe.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

NEVER = 2**62
"""The step of a generalisation that does not happen."""


@njit(cache=True)
def cheapest_fixes(
    items: NDArray[np.int64],
    parent: NDArray[np.int64],
    code: NDArray[np.int64],
    table: NDArray[np.int64],
    whole: NDArray[np.float64],
    lost: NDArray[np.float64],
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return what it costs to make each itemset safe, by the cheapest of its lowest safe generalisations.

    ``whole`` is what is lost if a zone is released whole, ``lost`` what is lost below it now.
    """
    paths, lengths, best = _room(parent)
    cost = np.empty(len(items))
    for row in range(len(items)):
        for axis in range(3):
            lengths[axis] = _climb(items[row, axis], parent, paths[axis])
        cost[row] = _cheapest(paths, lengths, code, table, whole, lost, best)
    return cost


@njit(cache=True)
def generalise_in_order(
    items: NDArray[np.int64],
    parent: NDArray[np.int64],
    code: NDArray[np.int64],
    table: NDArray[np.int64],
    whole: NDArray[np.float64],
    lost: NDArray[np.float64],
    when: NDArray[np.int64],
) -> int:  # pragma: no cover - compiled
    """Make one itemset after the other safe, for good, and return the number of generalisations.

    Writes the step at which each zone replaces all below it into ``when``, and what is lost by then into
    ``lost``; zones of the cut at hand come with step 0, all others with ``NEVER``.
    """
    paths, lengths, best = _room(parent)
    step = 0
    # Invariant: every itemset before this one is safe as the zones that have replaced its own.
    for row in range(len(items)):
        key = np.int64(0)
        for axis in range(3):
            zone = items[row, axis]
            top = zone
            while zone >= 0:
                if when[zone] != NEVER:
                    top = zone
                zone = parent[zone]
            lengths[axis] = _climb(top, parent, paths[axis])
            if top >= 0:
                key += code[top]
        if _is_safe(key, table):
            continue
        _cheapest(paths, lengths, code, table, whole, lost, best)
        step += 1
        for axis in range(3):
            chosen = best[axis]
            if chosen >= 0 and when[chosen] == NEVER:
                when[chosen] = step
                more = whole[chosen] - lost[chosen]
                while chosen >= 0:
                    lost[chosen] += more
                    chosen = parent[chosen]
    return step


@njit(cache=True)
def _room(parent: NDArray[np.int64]) -> Any:  # pragma: no cover - compiled
    """Return room for three paths to a root, their lengths, and one zone per axis."""
    depth = np.zeros(len(parent), np.int64)
    for zone in range(len(parent) - 1, -1, -1):
        if parent[zone] >= 0:
            depth[zone] = depth[parent[zone]] + 1
    return np.empty((3, depth.max() + 1), np.int64), np.empty(3, np.int64), np.empty(3, np.int64)


@njit(cache=True)
def _climb(
    zone: int, parent: NDArray[np.int64], path: NDArray[np.int64]
) -> int:  # pragma: no cover - compiled
    """Write a zone and its ancestors into a path and return how many; of no zone there is one, itself."""
    path[0] = zone
    length = 1
    while zone >= 0 and parent[zone] >= 0:
        zone = parent[zone]
        path[length] = zone
        length += 1
    return length


@njit(cache=True)
def _is_safe(key: Any, table: NDArray[np.int64]) -> bool:  # pragma: no cover - compiled
    """Return whether an itemset is in the table; numbers are laid out as the matrix room does."""
    mask = np.uint64(len(table) - 1)
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = (mixed ^ (mixed >> np.uint64(32))) & mask
    while table[at] != key and table[at] != -1:
        at = (at + np.uint64(1)) & mask
    return bool(table[at] == key)


@njit(cache=True)
def _cheapest(
    paths: NDArray[np.int64],
    lengths: NDArray[np.int64],
    code: NDArray[np.int64],
    table: NDArray[np.int64],
    whole: NDArray[np.float64],
    lost: NDArray[np.float64],
    best: NDArray[np.int64],
) -> float:  # pragma: no cover - compiled
    """Return the least cost among the lowest safe generalisations along the paths, and write that one down.

    The first of equal ones wins, with the lowest zone on the first axis, then on the second.
    """
    least = np.inf
    for i in range(lengths[0]):
        # The higher the second zone, the lower the third may be: one walk up and down finds all corners.
        k = lengths[2] - 1
        met = False
        for j in range(lengths[1]):
            key = np.int64(0)
            for zone in (paths[0, i], paths[1, j]):
                key += code[zone] if zone >= 0 else 0
            third = paths[2, k]
            if not _is_safe(key + (code[third] if third >= 0 else 0), table):
                continue
            corner = not met
            met = True
            while k > 0 and _is_safe(key + code[paths[2, k - 1]], table):
                k -= 1
                corner = True
            if corner:
                cost = 0.0
                for zone in (paths[0, i], paths[1, j], paths[2, k]):
                    cost += whole[zone] - lost[zone] if zone >= 0 else 0.0
                if cost < least:
                    least = cost
                    best[0], best[1], best[2] = paths[0, i], paths[1, j], paths[2, k]
            if k == 0:
                break
    return least
