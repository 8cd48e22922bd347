"""Compiled loops of the attacks; held to plain definitions in tests/oracles/trajectories/attacks.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

WIDTH = 1 << 32
"""Keys of a sample in its trajectory are its place times this, plus its position."""

_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True, inline="always")
def _bits(word: Any) -> int:  # pragma: no cover - compiled
    """Return how many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _shared(one: Any, other: Any) -> int:  # pragma: no cover - compiled
    """Return how many bits are set in both rows."""
    number = 0
    for w in range(len(one)):
        number += _bits(one[w] & other[w])
    return number


@njit(cache=True, nogil=True)
def least_common(
    rows: NDArray[np.uint64], starts: NDArray[np.int64], known: int
) -> int:  # pragma: no cover - compiled
    """Return the smallest number of bits, but none, that rows worth ``known`` have in common.

    0 where no such rows have a bit in common. Item j has the rows ``starts[j]:starts[j + 1]``, worth
    1, 2, ... and each within the one before; at most one row of an item is taken. All items together are
    worth ``known`` or more.
    """
    items = len(starts) - 1
    words = rows.shape[1]
    worth = np.zeros(items + 1, np.int64)
    strongest = np.empty(items, np.int64)
    sizes = np.empty(items, np.int64)
    for j in range(items):
        strongest[j] = min(starts[j + 1] - starts[j], known)
        last = rows[starts[j] + strongest[j] - 1]
        sizes[j] = _shared(last, last)
    order = np.argsort(sizes, kind="mergesort")
    every = np.full((items + 1, words), _ONES)
    for at in range(items - 1, -1, -1):
        j = order[at]
        worth[at] = worth[at + 1] + strongest[j]
        for w in range(words):
            every[at, w] = every[at + 1, w] & rows[starts[j] + strongest[j] - 1, w]
    floor = _shared(every[0], every[0])
    best = 64 * words + 1
    taken = np.full((known + 1, words), _ONES)
    item, option = np.zeros(known + 1, np.int64), np.zeros(known + 1, np.int64)
    left = np.full(known + 1, known, np.int64)
    level = 0
    # Invariant: taken[level] is what the rows chosen so far share; none shares fewer bits than floor.
    while level >= 0:
        at, m = item[level], option[level]
        if at == items or worth[at] < left[level]:
            level -= 1
            continue
        j = order[at]
        if m == starts[j + 1] - starts[j] or m + 1 > left[level]:
            item[level], option[level] = at + 1, 0
            continue
        option[level] = m + 1
        for w in range(words):
            taken[level + 1, w] = taken[level, w] & rows[starts[j] + m, w]
        rest = left[level] - m - 1
        if worth[at + 1] < rest:
            continue
        number = _shared(taken[level + 1], taken[level + 1])
        if number == 0:
            continue
        if rest == 0:
            best = min(best, number)
        if number == floor or best == 1:
            return number
        if rest == 0 or max(_shared(taken[level + 1], every[at + 1]), 1) >= best:
            continue
        level += 1
        item[level], option[level], left[level] = at + 1, 0, rest
    return int(best) if best <= 64 * words else 0


@njit(cache=True, nogil=True)
def _seat(codes: Any, by_code: Any, whose: Any, seats: Any) -> int:  # pragma: no cover - compiled
    """Give a number to everybody who has one of the codes, and return how many they are."""
    seated = 0
    for code in codes:
        for p in range(by_code[code], by_code[code + 1]):
            if seats[whose[p]] < 0:
                seats[whose[p]] = seated
                seated += 1
    return seated


@njit(cache=True, nogil=True)
def _unseat(codes: Any, by_code: Any, whose: Any, seats: Any) -> None:  # pragma: no cover - compiled
    """Take the numbers away again."""
    for code in codes:
        for p in range(by_code[code], by_code[code + 1]):
            seats[whose[p]] = -1


@njit(cache=True, nogil=True)
def mark_having(
    codes: NDArray[np.int64],
    values: NDArray[np.float64],
    by_code: NDArray[np.int64],
    whose: NDArray[np.int32],
    theirs: NDArray[np.float64],
    known: int,
    tolerance: float,
    seats: NDArray[np.int32],
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:  # pragma: no cover - compiled
    """Return, for every item of somebody, who has it too, a bit a person, and where its rows begin.

    People who have code c stand at ``by_code[c]:by_code[c + 1]`` of ``whose``, with their value of it in
    ``theirs``. With a tolerance of 0 or more an item has one row: of those whose value is as near. With
    -1 one row: all who have it. With -2 a row for every number up to the own value or ``known``: of
    those who have it that many times. ``seats`` is -1 for everybody, before and after.
    """
    items = len(codes)
    starts = np.zeros(items + 1, np.int64)
    for j in range(items):
        starts[j + 1] = starts[j] + (min(int(values[j]), known) if tolerance == -2 else 1)
    seated = _seat(codes, by_code, whose, seats)
    rows = np.zeros((starts[items], (seated + 63) // 64), np.uint64)
    for j in range(items):
        for p in range(by_code[codes[j]], by_code[codes[j] + 1]):
            seat = seats[whose[p]]
            bit = np.uint64(1) << np.uint64(seat % 64)
            number = 1
            if tolerance >= 0:
                slack = theirs[p] * tolerance
                number = 1 if theirs[p] - slack <= values[j] and values[j] <= theirs[p] + slack else 0
            elif tolerance == -2:
                number = min(int(theirs[p]), starts[j + 1] - starts[j])
            for m in range(number):
                rows[starts[j] + m, seat // 64] |= bit
    _unseat(codes, by_code, whose, seats)
    return rows, starts


@njit(cache=True, nogil=True)
def least_proportional(
    codes: NDArray[np.int64],
    values: NDArray[np.float64],
    by_code: NDArray[np.int64],
    whose: NDArray[np.int32],
    theirs: NDArray[np.float64],
    known: int,
    tolerance: float,
    seats: NDArray[np.int32],
) -> int:  # pragma: no cover - compiled
    """Return the smallest number of people who share ``known`` items in the same proportions.

    Proportions are to the largest of the known values, on both sides. Arguments are those of
    :func:`mark_having`; ``known`` is at most the number of items.
    """
    items = len(codes)
    seated = _seat(codes, by_code, whose, seats)
    table = np.zeros((items, seated), np.float64)
    for j in range(items):
        for p in range(by_code[codes[j]], by_code[codes[j] + 1]):
            table[j, seats[whose[p]]] = theirs[p]
    _unseat(codes, by_code, whose, seats)
    order = np.argsort(by_code[codes + 1] - by_code[codes], kind="mergesort")
    people = np.empty((known + 1, seated), np.int64)
    for p in range(seated):
        people[0, p] = p
    lengths = np.full(known + 1, seated, np.int64)
    chosen = np.zeros(known + 1, np.int64)
    best, level = seated + 1, 0
    # Invariant: people[level] are those who have every item chosen so far; chosen[level] is tried next.
    while level >= 0:
        at = chosen[level]
        if items - at < known - level:
            level -= 1
            continue
        chosen[level] = at + 1
        number = 0
        for p in range(lengths[level]):
            if table[order[at], people[level, p]] > 0:
                people[level + 1, number] = people[level, p]
                number += 1
        lengths[level + 1] = number
        if level + 1 < known:
            level += 1
            chosen[level] = at + 1
            continue
        best = min(
            best, _proportional(table, values, order, chosen, people[known, :number], known, tolerance)
        )
        if best == 1:
            return 1
    return best


@njit(cache=True, nogil=True)
def _proportional(
    table: Any, values: Any, order: Any, chosen: Any, people: Any, known: int, tolerance: float
) -> int:  # pragma: no cover - compiled
    """Return how many of these people have the chosen items in the proportions of the values."""
    most = 0.0
    for level in range(known):
        most = max(most, values[order[chosen[level] - 1]])
    number = 0
    for person in people:
        top = 0.0
        for level in range(known):
            top = max(top, table[order[chosen[level] - 1], person])
        same = True
        for level in range(known):
            j = order[chosen[level] - 1]
            own, share = values[j] / most, table[j, person] / top
            if own < share - share * tolerance or own > share + share * tolerance:
                same = False
                break
        if same:
            number += 1
    return number


@njit(cache=True, nogil=True)
def _next(keys: Any, begin: int, end: int, place: int, position: int) -> int:  # pragma: no cover - compiled
    """Return the first position after one at which a trajectory is at a place; -1 where there is none."""
    key = place * WIDTH + position
    stop = end
    while begin < stop:
        middle = (begin + stop) // 2
        if keys[middle] <= key:
            begin = middle + 1
        else:
            stop = middle
    if begin == end or keys[begin] // WIDTH != place:
        return -1
    return int(keys[begin] % WIDTH)


@njit(cache=True, nogil=True)
def least_following(
    row: int,
    codes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    places: NDArray[np.int64],
    keys: NDArray[np.int64],
    by_code: NDArray[np.int64],
    whose: NDArray[np.int32],
    known: int,
) -> int:  # pragma: no cover - compiled
    """Return the smallest number of trajectories that visit ``known`` places of one in its order.

    ``places`` are those of all samples by time, ``keys`` the same with positions (from 1), ordered within
    each trajectory; ``codes`` are the places of this one. ``known`` is at most its number of samples.
    """
    begin, end = offsets[row], offsets[row + 1]
    widest = 0
    for code in codes:
        widest = max(widest, by_code[code + 1] - by_code[code])
    order = codes[np.argsort(by_code[codes + 1] - by_code[codes], kind="mergesort")]
    rarest = whose[by_code[order[0]] : by_code[order[0] + 1]].astype(np.int64)
    nowhere = np.zeros(len(rarest), np.int64)
    floor = _following_all(places[begin:end], offsets, keys, rarest, nowhere, len(offsets))
    people = np.empty((known + 1, widest), np.int64)
    reached = np.empty((known + 1, widest), np.int64)
    lengths = np.zeros(known + 1, np.int64)
    own, tried = np.zeros(known + 1, np.int64), np.zeros(known + 1, np.int64)
    best, level = len(offsets), 0
    # Invariant: people[level] follow the places chosen so far, the last of them at reached[level].
    while level >= 0:
        if tried[level] == len(order):
            level -= 1
            continue
        place = order[tried[level]]
        tried[level] += 1
        position = _next(keys, begin, end, place, own[level])
        if position < 0 or end - begin - position < known - level - 1:
            continue
        number = 0
        size = lengths[level] if level else by_code[place + 1] - by_code[place]
        for p in range(size):
            person = people[level, p] if level else np.int64(whose[by_code[place] + p])
            before = reached[level, p] if level else 0
            there = _next(keys, offsets[person], offsets[person + 1], place, before)
            if there > 0:
                people[level + 1, number], reached[level + 1, number] = person, there
                number += 1
        if level + 1 == known:
            best = min(best, number)
        if number <= floor:
            return floor
        if level + 1 == known:
            continue
        # Whoever follows all the rest matches whatever is chosen of it.
        then = (people[level + 1, :number], reached[level + 1, :number])
        if _following_all(places[begin + position : end], offsets, keys, *then, best) < best:
            level += 1
            lengths[level], own[level], tried[level] = number, position, 0
    return best


@njit(cache=True, nogil=True)
def _following_all(
    sequence: Any, offsets: Any, keys: Any, people: Any, reached: Any, enough: int
) -> int:  # pragma: no cover - compiled
    """Return how many of these people go on to visit all places of a sequence in its order, up to enough."""
    number = 0
    for p in range(len(people)):
        position = reached[p]
        for place in sequence:
            position = _next(keys, offsets[people[p]], offsets[people[p] + 1], place, position)
            if position < 0:
                break
        if position >= 0:
            number += 1
            if number == enough:
                break
    return number


@njit(cache=True, nogil=True)
def count_having(
    queries: NDArray[np.int64],
    wanted: NDArray[np.int64],
    by_code: NDArray[np.int64],
    whose: NDArray[np.int32],
    offsets: NDArray[np.int64],
    codes: NDArray[np.int64],
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return how many people have all codes of each query.

    Codes of query q are ``wanted[queries[q]:queries[q + 1]]``; those of person i, ascending, are
    ``codes[offsets[i]:offsets[i + 1]]``.
    """
    found = np.zeros(len(queries) - 1, np.int64)
    for q in range(len(found)):
        rarest = wanted[queries[q]]
        for code in wanted[queries[q] : queries[q + 1]]:
            if by_code[code + 1] - by_code[code] < by_code[rarest + 1] - by_code[rarest]:
                rarest = code
        for p in range(by_code[rarest], by_code[rarest + 1]):
            mine = codes[offsets[whose[p]] : offsets[whose[p] + 1]]
            has = True
            for code in wanted[queries[q] : queries[q + 1]]:
                at = np.searchsorted(mine, code)
                if at == len(mine) or mine[at] != code:
                    has = False
                    break
            if has:
                found[q] += 1
    return found
