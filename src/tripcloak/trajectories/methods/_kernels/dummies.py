"""The compiled loop of dummies: which of those that could be are taken."""

from __future__ import annotations

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Floats, Ints

MANY = 1e15
"""Ways beyond which nobody counts."""


@njit(cache=True, nogil=True)
def count_ways(codes: Ints, rows: Ints, n: int) -> float:
    """Return how many ways lead from the first moment to the last along n trajectories.

    Parameters
    ----------
    codes
        The place of every trajectory at every moment, a row a trajectory.
    rows
        Which trajectories there are: the first n of these.

    Ways change over where two trajectories are in one place at one moment; equal ways count once.
    """
    ways = np.ones(n)
    for at in range(1, codes.shape[1]):
        coming = np.zeros(n)
        for one in range(n):
            # Of equal steps the first stands for all of them.
            fresh = True
            for other in range(one):
                if (
                    codes[rows[other], at] == codes[rows[one], at]
                    and codes[rows[other], at - 1] == codes[rows[one], at - 1]
                ):
                    fresh = False
            if fresh:
                for other in range(n):
                    if codes[rows[other], at] == codes[rows[one], at]:
                        coming[other] += ways[one]
        for one in range(n):
            ways[one] = min(coming[one], MANY)
    return _sum_of_places(codes[:, codes.shape[1] - 1], rows, ways, n)


@njit(cache=True, nogil=True)
def _sum_of_places(codes: Ints, rows: Ints, ways: Floats, n: int) -> float:
    """Return the sum over different places, whose ways stand with every trajectory that is there."""
    total = 0.0
    for one in range(n):
        fresh = True
        for other in range(one):
            if codes[rows[other]] == codes[rows[one]]:
                fresh = False
        if fresh:
            total += ways[one]
    return total


@njit(cache=True, nogil=True)
def mean_disclosure(codes: Ints, rows: Ints, n: int) -> float:
    """Return the mean over moments of one over the number of different places of n trajectories."""
    total = 0.0
    for at in range(codes.shape[1]):
        places = 0
        for one in range(n):
            fresh = 1
            for other in range(one):
                if codes[rows[other], at] == codes[rows[one], at]:
                    fresh = 0
            places += fresh
        total += 1.0 / places
    return float(total / codes.shape[1])


@njit(cache=True, nogil=True)
def lacking(codes: Ints, away: Floats, rows: Ints, n: int, sd: float, ld: float, dst: float) -> float:
    """Return by how much n trajectories, the true one first, miss a profile; 0 where they meet it.

    Parameters
    ----------
    away
        How far each is from the true one on average.
    """
    apart = 0.0
    for one in range(1, n):
        apart += away[rows[one]]
    missing = max(0.0, mean_disclosure(codes, rows, n) / sd - 1.0)
    missing += max(0.0, 1.0 / count_ways(codes, rows, n) / ld - 1.0)
    if dst > 0.0:
        missing += max(0.0, 1.0 - apart / (n - 1) / dst) if n > 1 else 1.0
    return missing if missing > 1e-12 else 0.0


@njit(cache=True, nogil=True)
def choose_dummies(
    codes: Ints, away: Floats, fits: Ints, most: int, sd: float, ld: float, dst: float, rows: Ints
) -> int:
    """Return how many trajectories are taken, the true one among them; 0 where the profile is not met.

    Again and again the dummy is taken after which least is missing; then those that nothing needs are left
    out again.

    Parameters
    ----------
    codes, away
        See above; the first row is the true trajectory.
    fits
        Which rows may be taken.
    rows
        Becomes the rows that are taken, the true one first.
    """
    n = 1
    rows[0] = 0
    missing = lacking(codes, away, rows, n, sd, ld, dst)
    while missing > 0.0 and n <= most:
        best, least = -1, np.inf
        for one in range(1, codes.shape[0]):
            taken = fits[one] == 0
            for other in range(n):
                taken = taken or rows[other] == one
            if not taken:
                rows[n] = one
                now = lacking(codes, away, rows, n + 1, sd, ld, dst)
                if now < least:
                    best, least = one, now
        if best < 0:
            return 0
        rows[n] = best
        n += 1
        missing = least
    if missing > 0.0:
        return 0
    for at in range(n - 1, 0, -1):
        left_out = rows[at]
        for other in range(at, n - 1):
            rows[other] = rows[other + 1]
        if lacking(codes, away, rows, n - 1, sd, ld, dst) == 0.0:
            n -= 1
        else:
            for other in range(n - 1, at, -1):
                rows[other] = rows[other - 1]
            rows[at] = left_out
    return n
