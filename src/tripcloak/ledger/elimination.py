"""Exact elimination: linear systems in whole numbers modulo a prime, and fractions got back from it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tripcloak.ground.arrays import Ints

PRIME = 2**31 - 1
"""Products of two remainders fit 64 bits."""

SMALL = 32_767
"""The largest numerator and denominator that a remainder can stand for without doubt."""


def reduced(rows: Ints, columns: int) -> tuple[Ints, list[int]]:
    """Return the rows in reduced echelon form modulo the prime, and their pivots.

    Pivots are looked for in the first columns alone; rows that are zero there come last.

    >>> reduced(np.array([[2, 4, 1], [1, 2, 1]]), 2)[1]
    [0]
    """
    rows = np.remainder(rows, PRIME)
    pivots: list[int] = []
    for column in range(columns):
        top = len(pivots)
        if top == len(rows):
            break
        (candidates,) = np.nonzero(rows[top:, column])
        if not len(candidates):
            continue
        chosen = top + int(candidates[0])
        rows[[top, chosen]] = rows[[chosen, top]]
        rows[top] = rows[top] * pow(int(rows[top, column]), -1, PRIME) % PRIME
        (others,) = np.nonzero(rows[:, column])
        others = others[others != top]
        rows[others] = (rows[others] - rows[others, column][:, None] * rows[top]) % PRIME
        pivots.append(column)
    return rows, pivots


def kernel(rows: Ints) -> Ints:
    """Return combinations of columns that make all rows zero, modulo the prime: a basis of them, as rows.

    >>> kernel(np.array([[1, 1, 0]])).tolist() == [[PRIME - 1, 1, 0], [0, 0, 1]]
    True
    """
    echelon, pivots = reduced(rows, rows.shape[1])
    free = np.setdiff1d(np.arange(rows.shape[1]), pivots)
    basis = np.zeros((len(free), rows.shape[1]), dtype=np.int64)
    basis[np.arange(len(free)), free] = 1
    basis[:, pivots] = np.remainder(-echelon[: len(pivots), free].T, PRIME)
    return basis


def fraction(remainder: int) -> Fraction | None:
    """Return the fraction of small numbers that a remainder stands for; None where there is none.

    >>> fraction(PRIME - 1), fraction(pow(3, -1, PRIME) * 2 % PRIME)
    (Fraction(-1, 1), Fraction(2, 3))
    """
    before, now = (PRIME, 0), (remainder % PRIME, 1)
    while now[0] > SMALL:
        times = before[0] // now[0]
        before, now = now, (before[0] - times * now[0], before[1] - times * now[1])
    if now[1] == 0 or abs(now[1]) > SMALL:
        return None
    return Fraction(now[0], now[1])
