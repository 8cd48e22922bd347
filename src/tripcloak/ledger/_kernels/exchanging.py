"""Compiled exchanges: other solutions of the same sums, met by passing trips from two atoms to two others.

Where two atoms are in the very groups of two others, or one in those of one, trips of these may as well be
trips of those: no published sum says which. From the truth on, that alone reaches most of what linear
programmes would find to be possible, at a small part of their cost. What is not met is not ruled out.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Bools, Floats, Ints

Pairs: TypeAlias = tuple[Ints, Ints, Ints, Ints, Ints]
"""The atoms of every pair, the second one behind all others for nobody, pairs of one kind in a row; where the
kind of each begins and ends; where the pairs of each atom begin, and one more; those pairs."""

Room: TypeAlias = tuple[Ints, Ints, Ints]
"""What the atoms of a part hold; the least and the most that each can. The last atom is nobody."""

MANY = 100
"""Pairs of two atoms of one kind that are exchanged with each other; more of them hardly lead further."""


@njit(cache=True)
def met_by_exchanges(
    parts: tuple[Ints, Ints, Ints],
    limits: tuple[Ints, Ints, Ints],
    asked: Bools,
    k: int,
    met: tuple[Floats, Floats],
) -> Bools:  # pragma: no cover - compiled
    """Widen the range in which each atom was met, and return in which parts all asked for are empty at once.

    Parameters
    ----------
    parts
        Where the atoms of each part begin, and one more; the published group of every atom in each release,
        negative for none; the sum of the numbers by which those are known.
    limits
        What every atom holds; the least and the most that it can.
    asked
        The atoms that are to be met empty, or with k. Those that cannot be seen to hold k are to be empty at
        once.
    met
        The least and the most that every atom was met with; written to.
    """
    start, told, mark = parts
    empty = np.zeros(len(start) - 1, dtype=np.bool_)
    for part in range(len(empty)):
        first, last = start[part], start[part + 1]
        n = last - first
        pairs = _pairs(told[first:last], mark[first:last])
        low, high = met[0][first:last], met[1][first:last]
        room = _room(limits, first, last)
        for one in range(n):
            if not asked[first + one]:
                continue
            if low[one] > 0:
                room[0][:n] = limits[0][first:last]
                _passed_on(one, -1, 0, pairs, room, low, high)
            if high[one] < k:
                room[0][:n] = limits[0][first:last]
                _passed_on(one, 1, k, pairs, room, low, high)
        few = np.zeros(n + 1, dtype=np.int64)
        for one in range(n):
            few[one] = asked[first + one] and high[one] < k
        room[0][:n] = limits[0][first:last]
        empty[part] = _emptied(few, pairs, room, low, high)
    return empty


@njit(cache=True)
def _room(limits: tuple[Ints, Ints, Ints], first: int, last: int) -> Room:  # pragma: no cover - compiled
    """Return what atoms of a part hold and can hold, and nobody, who can hold any number."""
    n = last - first
    trips = np.zeros(n + 1, dtype=np.int64)
    least, most = trips.copy(), trips.copy()
    least[:n], most[:n] = limits[1][first:last], limits[2][first:last]
    # Both are far from what whole numbers of 64 bits can be, and from what any atom holds.
    least[-1], most[-1] = -(2**61), 2**61
    return trips, least, most


@njit(cache=True)
def _pairs(told: Ints, mark: Ints) -> Pairs:  # pragma: no cover - compiled
    """Return all pairs of atoms that are in the very same groups as another pair."""
    n = len(told)
    some = n * (n + 1) // 2
    one, two, total = np.empty(some, np.int64), np.empty(some, np.int64), np.empty(some, np.uint64)
    at = 0
    for a in range(n):
        for b in range(a + 1, n + 1):
            one[at], two[at] = a, b
            total[at] = mark[a] + mark[b] if b < n else mark[a]
            at += 1
    order = _sharing(total)
    some = len(order)
    kept, begin, end = np.empty(some, np.int64), np.empty(some, np.int64), np.empty(some, np.int64)
    size = first = 0
    while first < some:
        last, shift = first, size
        while last < some and total[order[last]] == total[order[first]]:
            pair, like = order[last], order[first]
            few = size - shift < MANY or two[pair] == n
            if few and _are_alike(told, one[pair], two[pair], one[like], two[like]):
                kept[size] = pair
                size += 1
            last += 1
        if size - shift < 2:
            size = shift
        begin[shift:size], end[shift:size] = shift, size
        first = last
    one, two = one[kept[:size]], two[kept[:size]]
    start = np.zeros(n + 3, dtype=np.int64)
    for pair in range(size):
        start[one[pair] + 2] += 1
        start[two[pair] + 2] += 1
    start = np.cumsum(start)
    own = np.empty(2 * size, dtype=np.int64)
    for pair in range(size):
        for atom in (one[pair], two[pair]):
            own[start[atom + 1]] = pair
            start[atom + 1] += 1
    return one, two, np.stack((begin[:size], end[:size]), axis=1), start, own


@njit(cache=True)
def _sharing(total: Ints) -> Ints:  # pragma: no cover - compiled
    """Return where random numbers are that others may equal, in their order; most equal none."""
    bits = 1
    while (1 << bits) < 4 * len(total):
        bits += 1
    shift = np.uint64(64 - bits)
    met = np.zeros(1 << bits, dtype=np.uint8)
    for one in total:
        met[one >> shift] += met[one >> shift] < 2
    left = np.empty(len(total), dtype=np.int64)
    n = 0
    for at in range(len(total)):
        if met[total[at] >> shift] > 1:
            left[n] = at
            n += 1
    return left[:n][np.argsort(total[left[:n]], kind="mergesort")]


@njit(cache=True)
def _are_alike(told: Ints, a: int, b: int, c: int, d: int) -> bool:  # pragma: no cover - compiled
    """Return whether two atoms are in the very groups of two others; those behind all are in none."""
    n = len(told)
    for release in range(told.shape[1]):
        # Being in no group is one and the same, whatever negative number says so.
        first, second = max(told[a, release], -1), max(told[b, release], -1) if b < n else -1
        third, fourth = max(told[c, release], -1), max(told[d, release], -1) if d < n else -1
        if min(first, second) != min(third, fourth) or max(first, second) != max(third, fourth):
            return False
    return True


@njit(cache=True)
def _passed_on(
    who: int, sign: int, goal: int, pairs: Pairs, room: Room, low: Floats, high: Floats
) -> None:  # pragma: no cover - compiled
    """Let an atom hold more (1) or less (-1), pair by pair, until it is as wanted or no pair helps."""
    one, two, kind, start, own = pairs
    trips = room[0]
    before = trips[who] - 1
    while trips[who] != before:
        before = trips[who]
        for at in range(start[who], start[who + 1]):
            pair = own[at]
            for other in range(kind[pair, 0], kind[pair, 1]):
                if one[other] == who or two[other] == who:
                    continue
                wanted = sign * (goal - trips[who])
                if wanted <= 0:
                    return
                more, less = (pair, other) if sign > 0 else (other, pair)
                _exchange((one[more], two[more]), (one[less], two[less]), wanted, room, low, high)


@njit(cache=True)
def _emptied(
    few: Ints, pairs: Pairs, room: Room, low: Floats, high: Floats
) -> bool:  # pragma: no cover - compiled
    """Let some atoms hold less and less together, and return whether all of them are empty in the end."""
    one, two, kind, _, _ = pairs
    changed = True
    while changed:
        changed = False
        for more in range(len(one)):
            for less in range(kind[more, 0], kind[more, 1]):
                if few[one[more]] + few[two[more]] < few[one[less]] + few[two[less]]:
                    ends = (one[more], two[more]), (one[less], two[less])
                    changed |= _exchange(ends[0], ends[1], 2**61, room, low, high)
    return not np.any(few * room[0] > 0)


@njit(cache=True)
def _exchange(
    more: tuple[int, int], less: tuple[int, int], wanted: int, room: Room, low: Floats, high: Floats
) -> bool:  # pragma: no cover - compiled
    """Pass as many trips as can be from two atoms to two others, up to a number; return whether any were."""
    trips, least, most = room
    a, b = more
    c, d = less
    if a in (c, d) or (b in (c, d) and b < len(low)):
        return False
    number = min(wanted, most[a] - trips[a], most[b] - trips[b], trips[c] - least[c], trips[d] - least[d])
    if number <= 0:
        return False
    for atom in more:
        trips[atom] += number
    for atom in less:
        trips[atom] -= number
    trips[-1] = 0
    for atom in (a, b, c, d):
        if atom < len(low):
            low[atom], high[atom] = min(low[atom], trips[atom]), max(high[atom], trips[atom])
    return True
