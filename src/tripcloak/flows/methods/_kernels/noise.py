"""Compiled loops of the noisy methods; each has a plain twin in the tests."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def closest_with_sums(
    noisy: NDArray[np.int64], first: NDArray[np.int64], totals: NDArray[np.int64]
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return, run by run, whole numbers of 0 or more with a given sum, close to noisy ones.

    Run r is ``noisy[first[r]:first[r + 1]]`` and its sum is ``totals[r]``, 0 or more. The largest change
    of any number is as small as it can be. Of the many ways to achieve that, all are first moved alike,
    up if their sum is too small, and then the smallest are lowered first, so that as many as possible
    become 0.
    """
    result = np.empty(len(noisy), np.int64)
    for run in range(len(totals)):
        values = noisy[first[run] : first[run + 1]]
        n, total = len(values), totals[run]
        missing = total - values.sum()
        alike = -((-missing) // n)
        moved = np.maximum(values + alike, 0)
        reach = np.abs(moved - values).max()
        low, high = reach, max(reach, values.max())
        # Invariant: nothing below low is enough to come down to the total, high is.
        while low < high:
            middle = (low + high) // 2
            if np.maximum(values - middle, 0).sum() <= total:
                high = middle
            else:
                low = middle + 1
        if low > reach:
            moved = np.maximum(values - (low - 1), 0)
        over = moved.sum() - total
        for at in np.argsort(values, kind="mergesort"):
            if over == 0:
                break
            step = min(over, moved[at] - max(values[at] - low, 0))
            moved[at] -= step
            over -= step
        for at in range(n):
            result[first[run] + at] = moved[at]
    return result
