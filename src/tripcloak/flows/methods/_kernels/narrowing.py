"""Compiled loops that find zones which no best pair of cuts divides, or takes as they are."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def gain_of_dividing(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    steady: NDArray[np.bool_],
    alive: NDArray[np.bool_],
    ups: tuple[NDArray[np.int32], NDArray[np.int32]],
    zones: tuple[NDArray[np.int32], NDArray[np.int32]],
    stops: NDArray[np.bool_],
    divides: NDArray[np.bool_],
    size: int,
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return, for every zone of the first axis, the most that dividing it can add to what is saved.

    ``low`` and ``high`` are what products save at the two ends of a range of prices, ``steady`` those that
    save their whole volume times any rise of the price within it. ``stops`` and ``divides`` say which zones
    of the second axis are never and always divided.
    """
    n = len(low)
    below_low, below_high = np.zeros(n), np.zeros(n)
    further = np.zeros(n)
    most = np.zeros(size)
    (up_first, up_second), (first, second) = ups, zones
    # A product's parts stand behind it, whichever axis is divided: all sums are complete when it is reached.
    for p in range(n - 1, -1, -1):
        if not alive[p]:
            continue
        if up_first[p] >= 0:
            below_low[up_first[p]] += max(low[p], below_low[p])
            below_high[up_first[p]] += max(high[p], below_high[p])
        # What is below releases no more than the product, so a rising price serves the product more.
        gain = below_low[p] - low[p] if steady[p] else below_high[p]
        gain = _carried(gain, further[p], second[p], stops, divides)
        if up_second[p] >= 0:
            further[up_second[p]] += gain
        else:
            most[first[p]] = gain
    return most


@njit(cache=True)
def gain_of_keeping(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    alive: NDArray[np.bool_],
    ups: tuple[NDArray[np.int32], NDArray[np.int32]],
    zones: tuple[NDArray[np.int32], NDArray[np.int32]],
    stops: NDArray[np.bool_],
    divides: NDArray[np.bool_],
    size: int,
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return, for every zone of the first axis, the most that it can save more than its children."""
    n = len(low)
    below_low, below_high, further = np.zeros(n), np.zeros(n), np.zeros(n)
    most = np.zeros(size)
    (up_first, up_second), (first, second) = ups, zones
    for p in range(n - 1, -1, -1):
        if not alive[p]:
            continue
        if up_first[p] >= 0:
            below_low[up_first[p]] += low[p]
            below_high[up_first[p]] += high[p]
        # It falls with the price while the product saves nothing, and rises from there on.
        gain = max(low[p] - below_low[p], high[p] - below_high[p])
        gain = _carried(gain, further[p], second[p], stops, divides)
        if up_second[p] >= 0:
            further[up_second[p]] += gain
        else:
            most[first[p]] = gain
    return most


@njit(cache=True)
def _carried(
    gain: float, further: float, zone: int, stops: NDArray[np.bool_], divides: NDArray[np.bool_]
) -> float:  # pragma: no cover - compiled
    """Return the gain that a product carries on to what is above it: its own, or that of its parts.

    Arrays come one by one, here and in all loops: a tuple of them made anew for every product takes thirty
    times as long as the rest.
    """
    if divides[zone]:
        return further
    return gain if stops[zone] else max(gain, further)


@njit(cache=True)
def contract(
    kept: NDArray[np.bool_], up: NDArray[np.int32]
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return, for every product that is kept, the number among those of the next that is kept above it."""
    n = len(kept)
    target = np.empty(n, np.int32)
    found = np.empty(kept.sum(), np.int32)
    number = 0
    for p in range(n):
        above = target[up[p]] if up[p] >= 0 else -1
        target[p] = above
        if kept[p]:
            found[number] = above
            target[p] = number
            number += 1
    return found
