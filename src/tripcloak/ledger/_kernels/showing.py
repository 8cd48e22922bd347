"""Compiled proofs that a set of columns is known: which unknowns show it, in whole numbers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Ints

PRIME = 2**31 - 1
"""A prime that no small whole number is a multiple of."""

SMALL = 32_767
"""The largest numerator and denominator that a remainder can stand for without doubt."""

Ends: TypeAlias = tuple[int, int, int]
Table: TypeAlias = tuple[Ints, Ints, Ints]
Pool: TypeAlias = tuple[list[int], list[int]]
Steps: TypeAlias = tuple[list[int], list[int], list[int]]
"""Where ties and columns of a block end; rows, by where they begin, and their terms; lists that grow."""


@njit(cache=True)
def _inverse(value: int) -> int:  # pragma: no cover - compiled
    """Return what a value times gives one."""
    result, base, power = 1, value, PRIME - 2
    while power:
        if power & 1:
            result = result * base % PRIME
        base = base * base % PRIME
        power >>= 1
    return result


@njit(cache=True)
def _fraction(remainder: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Return the fraction of small numbers that a remainder stands for; a denominator of zero for none."""
    before, now = PRIME, remainder
    before_by, now_by = 0, 1
    while now > SMALL:
        times = before // now
        before, now = now, before - times * now
        before_by, now_by = now_by, before_by - times * now_by
    if now_by == 0 or abs(now_by) > SMALL:
        return 0, 0
    if now_by < 0:
        now, now_by = -now, -now_by
    common = np.gcd(now, now_by)
    return now // common, now_by // common


@njit(cache=True)
def _in_whole_numbers(value: Ints, n: int) -> int:  # pragma: no cover - compiled
    """Turn remainders into the whole numbers that they stand for when divided by what is returned; or 0."""
    common = 1
    below = np.ones(n, dtype=np.int64)
    for at in range(n):
        if value[at] != 0:
            value[at], below[at] = _fraction(value[at])
            if below[at] == 0:
                return 0
            common = common // np.gcd(common, below[at]) * below[at]
            if common > PRIME:
                return 0
    for at in range(n):
        value[at] *= common // below[at]
    return common


@njit(cache=True)
def _indexed(
    ends: Ends, rows: Table, number: Ints, pool: Pool, steps: Steps, n_terms: int
) -> tuple[Ints, Ints, Ints, Ints, Ints]:  # pragma: no cover - compiled
    """Return which steps a term is in, but for the one that eliminated it, and which rows an unknown is in.

    Each by where those of a term begin, and one more, and they; and the coefficients in rows.
    """
    first, begin = np.zeros(n_terms + 1, dtype=np.int64), np.zeros(n_terms + 1, dtype=np.int64)
    for step in range(1, len(steps[0])):
        for at in range(steps[1][step], steps[2][step]):
            first[pool[0][at] + 1] += pool[0][at] != steps[0][step]
    for at in range(rows[0][ends[0]], rows[0][ends[2]]):
        begin[number[rows[1][at]] + 1] += 1
    for term in range(n_terms):
        first[term + 1] += first[term]
        begin[term + 1] += begin[term]
    step_of, next_step = np.empty(first[-1], dtype=np.int64), first.copy()
    for step in range(1, len(steps[0])):
        for at in range(steps[1][step], steps[2][step]):
            if pool[0][at] != steps[0][step]:
                step_of[next_step[pool[0][at]]] = step
                next_step[pool[0][at]] += 1
    row_of, coefficient = np.empty(begin[-1], dtype=np.int64), np.empty(begin[-1], dtype=np.int64)
    next_row = begin.copy()
    for row in range(ends[0], ends[2]):
        for at in range(rows[0][row], rows[0][row + 1]):
            place = next_row[number[rows[1][at]]]
            row_of[place], coefficient[place] = row - ends[0], rows[2][at]
            next_row[number[rows[1][at]]] += 1
    return first, step_of, begin, row_of, coefficient


@njit(cache=True)
def _reached(
    columns: Ints, m: int, steps: Steps, index: tuple[Ints, Ints], seen: Ints, mark: int
) -> list[int]:  # pragma: no cover - compiled
    """Return the steps that some columns reach, each behind all that it reaches itself."""
    first, step_of = index
    behind = [0 for _ in range(0)]
    held, upto = [0 for _ in range(0)], [0 for _ in range(0)]
    for column in columns:
        # The column itself stands there as the step of no number, below zero.
        held.append(-1)
        upto.append(first[m + column])
        while held:
            last = first[steps[0][held[-1]] + 1] if held[-1] >= 0 else first[m + column + 1]
            if upto[-1] == last:
                upto.pop()
                step = held.pop()
                if step >= 0:
                    behind.append(step)
                continue
            step = step_of[upto[-1]]
            upto[-1] += 1
            if seen[step] != mark:
                seen[step] = mark
                held.append(step)
                upto.append(first[steps[0][step]])
    return behind


@njit(cache=True)
def _shown(
    columns: Ints,
    m: int,
    pool: Pool,
    steps: Steps,
    index: tuple[Ints, Ints],
    value: Ints,
    marks: tuple[Ints, int],
) -> tuple[Ints, Ints]:  # pragma: no cover - compiled
    """Return unknowns, and factors modulo the prime, for which some columns are one and all others zero.

    Only steps that the columns reach are gone through; all values are zero before and after.
    """
    reached = _reached(columns, m, steps, index, marks[0], marks[1])
    for column in columns:
        value[column + m] = 1
    unknown, factor = np.empty(len(reached), dtype=np.int64), np.empty(len(reached), dtype=np.int64)
    n = 0
    # Invariant: all that a step depends on is found, as it reaches the step; what none reaches is zero.
    for at in range(len(reached) - 1, -1, -1):
        step = reached[at]
        rest, scale = 0, 1
        for place in range(steps[1][step], steps[2][step]):
            rest = (rest + pool[1][place] * value[pool[0][place]]) % PRIME
            if pool[0][place] == steps[0][step]:
                scale = pool[1][place]
        if rest != 0:
            value[steps[0][step]] = (PRIME - rest) * _inverse(scale) % PRIME
            unknown[n], factor[n] = steps[0][step], value[steps[0][step]]
            n += 1
    for column in columns:
        value[column + m] = 0
    for at in range(n):
        value[unknown[at]] = 0
    return unknown[:n].copy(), factor[:n].copy()


@njit(cache=True)
def _holds(
    columns: Ints, shift: int, unknowns: Ints, factors: Ints, common: int, index: Table, wanted: Ints
) -> bool:  # pragma: no cover - compiled
    """Return whether a set follows in whole numbers too, and not only modulo a prime.

    What is wanted of rows is zero before and after.
    """
    begin, row_of, coefficient = index
    for column in columns:
        wanted[column + shift] = common
    for at in range(len(unknowns)):
        for place in range(begin[unknowns[at]], begin[unknowns[at] + 1]):
            wanted[row_of[place]] -= coefficient[place] * factors[at]
    good = True
    for column in columns:
        good = good and wanted[column + shift] == 0
        wanted[column + shift] = 0
    for one in unknowns:
        for place in range(begin[one], begin[one + 1]):
            good = good and wanted[row_of[place]] == 0
            wanted[row_of[place]] = 0
    return good
