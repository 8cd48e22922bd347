"""Compiled loops of k-scale, held to plain twins in tests/oracles/trajectories/kscale.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.methods._kernels.merging import lay_many, merge_buffers, own_cost, pair_cost

SLACK = 1.0 + 1e-12


@njit(cache=True, nogil=True)
def plant(x: Floats, y: Floats, half: Floats, leaf: int) -> tuple[Ints, Ints, Floats]:
    """Return a tree over squares: the order of rows, first and last row of each node, and its extent.

    Children of node v are 2 v + 1 and 2 v + 2. An extent is the least and greatest x, y and half.
    """
    n = len(x)
    depth = 0
    while (n - 1) >> depth >= leaf:
        depth += 1
    order = np.arange(n)
    rows = np.zeros((2 ** (depth + 1) - 1, 2), np.int64)
    extent = np.empty((len(rows), 6))
    rows[0, 1] = n
    for v in range(len(rows)):
        mine = order[rows[v, 0] : rows[v, 1]]
        widest, axis = -1.0, 0
        for a, column in enumerate((x, y, half)):
            values = column[mine]
            extent[v, 2 * a], extent[v, 2 * a + 1] = values.min(), values.max()
            if extent[v, 2 * a + 1] - extent[v, 2 * a] > widest:
                widest, axis = extent[v, 2 * a + 1] - extent[v, 2 * a], a
        if 2 * v + 2 < len(rows):
            values = (x if axis == 0 else y if axis == 1 else half)[mine]
            ordered = mine[np.argsort(values, kind="mergesort")]
            # One by one: what assigns slices is compiled with words for those that do not fit.
            for i in range(len(ordered)):
                mine[i] = ordered[i]
            middle = (rows[v, 0] + rows[v, 1]) // 2
            rows[2 * v + 1, 0], rows[2 * v + 1, 1] = rows[v, 0], middle
            rows[2 * v + 2, 0], rows[2 * v + 2, 1] = middle, rows[v, 1]
    return order, rows, extent


@njit(cache=True, nogil=True, inline="always")
def _unlike(common: float, areas: float) -> Any:
    """Return (1 - c) / (1 + c) with c twice the common part over the sum of both areas."""
    return (areas - 2.0 * common) / (areas + 2.0 * common)


@njit(cache=True, nogil=True)
def proxy(x: float, y: float, half: float, x2: float, y2: float, half2: float) -> Any:
    """Return the proxy distance of two squares."""
    dx, dy, reach = abs(x - x2), abs(y - y2), half + half2
    if dx >= reach or dy >= reach:
        return 1.0 + dx + dy
    least = 2.0 * min(half, half2)
    common = min(least, reach - dx) * min(least, reach - dy)
    return _unlike(common, 4.0 * (half * half + half2 * half2))


@njit(cache=True, nogil=True)
def proxy_floor(x: float, y: float, half: float, extent: Floats) -> Any:
    """Return a number that no proxy distance to a square within the extent is below."""
    dx = max(0.0, extent[0] - x, x - extent[1])
    dy = max(0.0, extent[2] - y, y - extent[3])
    low, high = extent[4], extent[5]
    reach = half + high
    if dx >= reach or dy >= reach:
        return 1.0 + dx + dy
    least = 2.0 * min(half, high)
    common = min(least, reach - dx) * min(least, reach - dy)
    by_place = _unlike(min(common, 2.0 * (half * half + low * low)), 4.0 * (half * half + low * low))
    nearest_half = min(max(half, low), high)
    inner = min(half, nearest_half)
    by_size = _unlike(4.0 * inner * inner, 4.0 * (half * half + nearest_half * nearest_half))
    return max(by_place, by_size)


@njit(cache=True, nogil=True, inline="always")
def _before(key: float, row: int, key2: float, row2: int) -> Any:
    return key < key2 or (key == key2 and row < row2)


@njit(cache=True, nogil=True)
def keep(keys: Floats, rows: Ints, held: int, key: float, row: int) -> int:
    """Put an entry into a heap of the least ones, worst on top, and return how many it holds now."""
    size = len(keys)
    if held < size:
        at = held
        while at > 0:
            above = (at - 1) // 2
            if not _before(keys[above], rows[above], key, row):
                break
            keys[at], rows[at] = keys[above], rows[above]
            at = above
        keys[at], rows[at] = key, row
        return held + 1
    if not _before(key, row, keys[0], rows[0]):
        return held
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _before(keys[below], rows[below], keys[below + 1], rows[below + 1]):
            below += 1
        if not _before(key, row, keys[below], rows[below]):
            break
        keys[at], rows[at] = keys[below], rows[below]
        at = below
    keys[at], rows[at] = key, row
    return held


@njit(cache=True, nogil=True)
def nearest(
    x: Floats,
    y: Floats,
    half: Floats,
    order: Ints,
    rows: Ints,
    extent: Floats,
    start: int,
    stop: int,
    many: int,
) -> Ints:
    """Return the nearest squares to each of these rows, nearest first, ties by row."""
    found = np.empty((stop - start, many), np.int32)
    keys, held_rows = np.empty(many), np.empty(many, np.int64)
    stack, floors = np.empty(64, np.int64), np.empty(64)
    for i in range(start, stop):
        held, top = int(np.int64(0)), 1
        stack[0], floors[0] = 0, 0.0
        while top > 0:
            top -= 1
            v = stack[top]
            if held == many and floors[top] > keys[0]:
                continue
            if 2 * v + 2 < len(rows):
                a = proxy_floor(x[i], y[i], half[i], extent[2 * v + 1])
                b = proxy_floor(x[i], y[i], half[i], extent[2 * v + 2])
                # The nearer child is looked at first: it lies on top of the stack.
                near, far = (2 * v + 1, 2 * v + 2) if a <= b else (2 * v + 2, 2 * v + 1)
                stack[top], floors[top] = far, max(a, b)
                stack[top + 1], floors[top + 1] = near, min(a, b)
                top += 2
                continue
            for r in order[rows[v, 0] : rows[v, 1]]:
                if r != i:
                    key = proxy(x[i], y[i], half[i], x[r], y[r], half[r])
                    held = keep(keys, held_rows, held, key, r)
        ranked = _ranked(keys, held_rows)
        for at in range(many):
            found[i - start, at] = held_rows[ranked[at]]
    return found


@njit(cache=True, nogil=True)
def _ranked(keys: Floats, rows: Ints) -> Ints:
    """Return the order by key, ties by row."""
    by_row = np.argsort(rows, kind="mergesort")
    return by_row[np.argsort(keys[by_row], kind="mergesort")]


@njit(cache=True, nogil=True)
def cost_floor(t: Ints, offsets: Ints, extent: Ints, first: int, second: int) -> Any:
    """Return a cost that no merge of two trajectories is below.

    Every sample costs a step of time by the steps between both trajectories' boxes. And all samples
    of one before the other begins are in one run with it (and so at the end).
    """
    a, a_end = offsets[first], offsets[first + 1]
    b, b_end = offsets[second], offsets[second + 1]
    apart = 2.0
    for axis in (0, 2):
        apart += max(
            0,
            extent[first, axis] - extent[second, axis + 1],
            extent[second, axis] - extent[first, axis + 1],
        )
    if t[a] > t[b]:
        early, early_end, other = b, b_end, t[a]
    else:
        early, early_end, other = a, a_end, t[b]
    before = np.searchsorted(t[early:early_end], other)
    least = apart * before * (other - t[early] + 1)
    if t[a_end - 1] < t[b_end - 1]:
        late, late_end, other = b, b_end, t[a_end - 1]
    else:
        late, late_end, other = a, a_end, t[b_end - 1]
    after = late_end - late - np.searchsorted(t[late:late_end], other, side="right")
    least += apart * after * (t[late_end - 1] - other + 1)
    n = (a_end - a) + (b_end - b)
    return least + apart * (n - before - after)


@njit(cache=True, nogil=True)
def cheapest(
    t: Ints,
    x: Ints,
    y: Ints,
    offsets: Ints,
    extent: Ints,
    start: int,
    candidates: Ints,
    many: int,
    by_total: bool,
) -> tuple[Ints, Floats, Ints]:
    """Return the cheapest partners of each row from ``start``, cheapest first, their costs, and a tally.

    Partners are sought among the row's candidates, by the total cost of the merge or by its mean a
    sample, ties by row. The tally says how many pairs were passed over for their floor, given up half
    way, and merged to the end.
    """
    n_rows = len(candidates)
    partners, costs = np.empty((n_rows, many), np.int32), np.empty((n_rows, many))
    keys, rows = np.empty(many), np.empty(many, np.int64)
    tally = np.zeros(3, np.int64)
    at = merge_buffers(2 * np.diff(offsets).max())
    for r in range(n_rows):
        held, i = int(np.int64(0)), start + r
        for candidate in candidates[r]:
            j = int(np.int64(candidate))
            share = 1.0 if by_total else 1.0 / (offsets[i + 1] - offsets[i] + offsets[j + 1] - offsets[j])
            # The slack keeps a pair that costs exactly the limit, whatever rounding does to it.
            limit = keys[0] / share * SLACK if held == many else np.inf
            if held == many and cost_floor(t, offsets, extent, i, j) > limit:
                tally[0] += 1
                continue
            cost = pair_cost(at, t, x, y, offsets, i, j, limit)
            tally[1 if cost == np.inf else 2] += 1
            if cost < np.inf:
                held = keep(keys, rows, held, cost * share, j)
        ranked = _ranked(keys, rows)
        for place in range(many):
            partners[r, place], costs[r, place] = rows[ranked[place]], keys[ranked[place]]
    return partners, costs, tally


@njit(cache=True, nogil=True)
def costs_of_picking(
    t: Ints,
    x: Ints,
    y: Ints,
    offsets: Ints,
    last: Ints,
    before: Ints,
    picked: Ints,
    pickers: Ints,
    also: Ints,
) -> Floats:
    """Return what each picker's own samples cost, merged with all it picked and one more (-1: none).

    ``last`` is each picker's latest pick (-1: none), ``before`` the pick before a pick, and ``picked``
    the trajectory that it is of.
    """
    costs = np.empty(len(pickers))
    at, room = merge_buffers(int(np.int64(0))), 0
    for r in range(len(pickers)):
        many = 2
        pick = last[pickers[r]]
        while pick >= 0:
            many += 1
            pick = before[pick]
        members = np.empty(many, np.int64)
        members[0], many = pickers[r], 1
        if also[r] >= 0:
            members[1], many = also[r], 2
        pick = last[pickers[r]]
        while pick >= 0:
            members[many] = picked[pick]
            many += 1
            pick = before[pick]
        size = 0
        for m in members[:many]:
            size += offsets[m + 1] - offsets[m]
        if size > room:
            at, room = merge_buffers(2 * size), 2 * size
        costs[r] = own_cost(at, lay_many(at, t, x, y, offsets, members[:many]))
    return costs
