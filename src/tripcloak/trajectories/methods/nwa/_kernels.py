"""Compiled loops of NWA; each has a plain twin in tests/oracle_pivots.py."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.arrays import Ints


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
