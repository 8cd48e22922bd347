"""Compiled loops of the tree knapsack; each has a plain twin in tests/oracles/flows/maps.py."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

RELEASE = -1
SUPPRESS = -2
"""The choices for a product, as in the partition programme; 0 is a split."""

LOOKS = 20
"""Joined rows looked at, per row of room, before the tables are taken to be too large."""

Rows = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]
"""Rows of all tables: suppressed volume, loss, and the two rows they come from.

A row of one product has -1 - p in the last place, and in the third the row of its split, RELEASE or SUPPRESS.
"""


@njit(cache=True)
def knapsack(
    loss: NDArray[np.float64],
    volume: NDArray[np.float64],
    parent: NDArray[np.int32],
    limits: tuple[float, float, float],
    room: int,
) -> tuple[NDArray[np.int8], float, float]:  # pragma: no cover - compiled
    """Return for every product of a tree 0 (split), RELEASE or SUPPRESS; the loss and the suppressed volume.

    The least mean loss over all choices within ``limits`` (price, slack, budget): they suppress no more
    than the budget and cost, at this price, no more than the least cost plus the slack. Products stand
    behind their parent; those of parent -1, but for the root, take no part. The loss is infinite if
    nothing is within the limits, and -1 if the tables need more than ``room`` rows, or too much work.
    """
    n = len(loss)
    rows = (np.empty(room), np.empty(room), np.empty(room, np.int32), np.empty(room, np.int32))
    table = np.full((n, 2), -1, np.int64)
    inner = np.zeros(n)
    own, end, looks = int(np.int64(0)), int(np.int64(0)), 0
    # Invariant: table[p] is the (min, +) product of the tables of all children of p seen so far.
    for p in range(n - 1, -1, -1):
        up = parent[p]
        if up < 0 and p > 0:
            continue
        own = end
        # Nothing at all may weigh nothing: infinity times zero would be no number.
        lost = loss[p] if loss[p] == np.inf else loss[p] * volume[p]
        end = _add_own(rows, end, table[p], p, lost, volume[p], volume[p] - inner[p], limits)
        if up >= 0 and end >= 0:
            inner[up] += volume[p]
            before, start = table[up].copy(), own
            if before[0] >= 0:
                looks += (before[1] - before[0]) * (end - own)
                start, end = end, _add_joint(rows, end, before, own, limits)
            table[up, 0], table[up, 1] = start, end
        if end < 0 or looks > LOOKS * room:
            return np.zeros(n, np.int8), -1.0, 0.0
    if own == end:
        return np.zeros(n, np.int8), np.inf, 0.0
    hidden, cost, _, _ = rows
    best = own
    for row in range(own, end):
        if cost[row] * (volume[0] - hidden[best]) < cost[best] * (volume[0] - hidden[row]):
            best = row
    return _follow_rows(rows, best, n), cost[best], hidden[best]


@njit(cache=True)
def _add_own(
    rows: Rows,
    end: int,
    below: NDArray[np.int64],
    p: int,
    loss: float,
    volume: float,
    outside: float,
    limits: tuple[float, float, float],
) -> int:  # pragma: no cover - compiled
    """Append the table of a product: released, suppressed, or split as in the table ``below``."""
    hidden, cost, left, right = rows
    n = max(below[1] - below[0], 0) + 2
    found, losses, source = np.empty(n), np.empty(n), np.empty(n, np.int32)
    found[0], losses[0], source[0] = 0.0, loss, RELEASE
    found[1], losses[1], source[1] = volume, 0.0, SUPPRESS
    for i in range(2, n):
        row = below[0] + i - 2
        found[i], losses[i], source[i] = hidden[row] + outside, cost[row], row
    kept = _worth_keeping(found, losses, limits)
    if end + len(kept) > len(hidden):
        return -1
    for i in kept:
        hidden[end], cost[end], left[end], right[end] = found[i], losses[i], source[i], -1 - p
        end += 1
    return end


@njit(cache=True)
def _add_joint(
    rows: Rows, end: int, before: NDArray[np.int64], own: int, limits: tuple[float, float, float]
) -> int:  # pragma: no cover - compiled
    """Append every row of the table ``before`` with every row of the table ``own`` to ``end``."""
    hidden, cost, left, right = rows
    wide = end - own
    n = (before[1] - before[0]) * wide
    if n > len(hidden):
        return -1
    found, losses = np.empty(n), np.empty(n)
    for i in range(n):
        one, other = before[0] + i // wide, own + i % wide
        found[i], losses[i] = hidden[one] + hidden[other], cost[one] + cost[other]
    kept = _worth_keeping(found, losses, limits)
    if end + len(kept) > len(hidden):
        return -1
    for i in kept:
        hidden[end], cost[end] = found[i], losses[i]
        left[end], right[end] = before[0] + i // wide, own + i % wide
        end += 1
    return end


@njit(cache=True)
def _worth_keeping(
    hidden: NDArray[np.float64], loss: NDArray[np.float64], limits: tuple[float, float, float]
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return the rows within the limits that no other row beats on both counts, ascending in the first."""
    price, slack, budget = limits
    order = np.argsort(hidden, kind="mergesort")
    most = np.min(loss + price * hidden) + slack if len(order) > 0 else 0.0
    n = 0
    for row in order:
        if hidden[row] > budget:
            break
        if loss[row] + price * hidden[row] > most or (n > 0 and loss[row] >= loss[order[n - 1]]):
            continue
        if n > 0 and hidden[row] == hidden[order[n - 1]]:
            n -= 1
        order[n] = row
        n += 1
    return order[:n]


@njit(cache=True)
def _follow_rows(rows: Rows, best: int, n: int) -> NDArray[np.int8]:  # pragma: no cover - compiled
    """Return the choices that a row of the root's table stands for; 0 where nothing says otherwise."""
    _, _, left, right = rows
    choice = np.zeros(n, np.int8)
    todo = [np.int64(best)]
    while len(todo) > 0:
        row = todo.pop()
        if right[row] >= 0:
            todo.append(np.int64(right[row]))
        if left[row] >= 0:
            todo.append(np.int64(left[row]))
        else:
            choice[-1 - right[row]] = left[row]
    return choice
