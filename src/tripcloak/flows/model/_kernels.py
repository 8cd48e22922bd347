"""Compiled loops of the matrix room; each has a plain twin in tests/oracles/flows/kernels.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = np.int64(-1)
_DIGIT = 11
"""Bits that keys are sorted by at a time."""
_SURE = 2.0**50
"""Times the least value that a sum, times how many there are, must stay below to be exact in two doubles."""


@njit(cache=True)
def number_into(
    keys: NDArray[np.int64],
    slot_key: NDArray[np.int64],
    slot_number: NDArray[np.int32],
    found: NDArray[np.int64],
    n: int,
    number: NDArray[np.int32],
) -> int:  # pragma: no cover - compiled
    """Write the number of every key into ``number`` (by first appearance; -1 for -1) and return how many.

    ``n`` keys have a number already. Returns -1 as soon as ``found`` is too short for one more.
    """
    mask = np.uint64(len(slot_key) - 1)
    # Invariant: slot_number holds a number below n for every key met so far; some slot is always free.
    for i in range(len(keys)):
        key = keys[i]
        if key == _EMPTY:
            number[i] = -1
            continue
        mixed = np.uint64(key) * _MIX
        at = (mixed ^ (mixed >> np.uint64(32))) & mask
        while slot_key[at] != key and slot_key[at] != _EMPTY:
            at = (at + np.uint64(1)) & mask
        if slot_key[at] == _EMPTY:
            if n == len(found):
                return -1
            slot_key[at] = key
            slot_number[at] = n
            found[n] = key
            n += 1
        number[i] = slot_number[at]
    return n


@njit(cache=True)
def look_up(
    keys: NDArray[np.int64], slot_key: NDArray[np.int64], slot_number: NDArray[np.int32]
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return the number of every key, -1 for those that have none."""
    mask = np.uint64(len(slot_key) - 1)
    number = np.empty(len(keys), np.int32)
    for i in range(len(keys)):
        mixed = np.uint64(keys[i]) * _MIX
        at = (mixed ^ (mixed >> np.uint64(32))) & mask
        while slot_key[at] != keys[i] and slot_key[at] != _EMPTY:
            at = (at + np.uint64(1)) & mask
        number[i] = slot_number[at] if slot_key[at] == keys[i] and keys[i] != _EMPTY else -1
    return number


@njit(cache=True)
def distinct_up_to(
    group: NDArray[np.int32],
    n_groups: int,
    offsets: NDArray[np.int64],
    people: NDArray[np.int32],
    cap: int,
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return the distinct people of every group, or ``cap`` where there are at least that many.

    Keeps at most ``cap`` people a group, so a large group is settled by its first few members.
    """
    met = np.empty((n_groups, cap), np.int32)
    found = np.zeros(n_groups, np.int64)
    for flow in range(len(group)):
        g = group[flow]
        if g < 0:
            continue
        for at in range(offsets[flow], offsets[flow + 1]):
            n = found[g]
            if n == cap:
                break
            person = people[at]
            known = False
            for j in range(n):
                if met[g, j] == person:
                    known = True
                    break
            if not known:
                met[g, n] = person
                found[g] = n + 1
    return found


@njit(cache=True)
def people_up_to(
    group: NDArray[np.int32],
    n_groups: int,
    offsets: NDArray[np.int64],
    people: NDArray[Any],
    cap: int,
) -> tuple[NDArray[np.int64], NDArray[Any]]:  # pragma: no cover - compiled
    """Return the first ``cap`` different people of every group, or all there are: the group, and who."""
    met = np.empty((n_groups, cap), people.dtype)
    found = np.zeros(n_groups, np.int64)
    for flow in range(len(group)):
        g = group[flow]
        if g < 0 or found[g] == cap:
            continue
        for at in range(offsets[flow], offsets[flow + 1]):
            n = found[g]
            known = False
            for j in range(n):
                if met[g, j] == people[at]:
                    known = True
                    break
            if not known and n < cap:
                met[g, n] = people[at]
                found[g] = n + 1
    total = found.sum()
    whose, who = np.empty(total, np.int64), np.empty(total, people.dtype)
    n = 0
    for g in range(n_groups):
        for j in range(found[g]):
            whose[n], who[n] = g, met[g, j]
            n += 1
    return whose, who


@njit(cache=True)
def people_of_groups(
    group: NDArray[np.int32],
    offsets: NDArray[np.int64],
    people: NDArray[np.int32],
    first: int,
    last: int,
    room: int,
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return who is in the groups from first to before last: (group less first) << 32 | person, flow by flow.

    ``room`` is how many there are at most, each flow's people counted apart.
    """
    keys = np.empty(room, np.int64)
    n = 0
    for flow in range(len(group)):
        if first <= group[flow] < last:
            for at in range(offsets[flow], offsets[flow + 1]):
                keys[n] = (np.int64(group[flow] - first) << 32) | people[at]
                n += 1
    return keys[:n]


@njit(cache=True)
def count_sorted(
    keys: NDArray[np.int64], first: int, found: NDArray[np.int64]
) -> None:  # pragma: no cover - compiled
    """Add the distinct people of groups to ``found``, given the keys of :func:`people_of_groups` in order."""
    for at in range(len(keys)):
        if at == 0 or keys[at] != keys[at - 1]:
            found[first + (keys[at] >> 32)] += 1


@njit(cache=True)
def people_met(
    group: NDArray[np.int32], offsets: NDArray[np.int64], n_groups: int
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return how many people the flows of every group have, each flow's people counted apart."""
    sizes = np.zeros(n_groups, np.int64)
    for flow in range(len(group)):
        if group[flow] >= 0:
            sizes[group[flow]] += offsets[flow + 1] - offsets[flow]
    return sizes


@njit(cache=True)
def distinct_in_runs(
    flows: NDArray[np.int32],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    offsets: NDArray[np.int64],
    people: NDArray[np.int32],
    cap: int,
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return the distinct people of every run of flows, or ``cap`` where there are at least that many.

    Leaves a run as soon as it is settled, so a large one costs no more than its first few flows.
    """
    size = 64
    while size < 4 * cap:
        size *= 2
    mask = np.uint64(size - 1)
    who, stamp = np.empty(size, np.int32), np.full(size, -1, np.int64)
    found = np.zeros(len(first), np.int64)
    for run in range(len(first)):
        at = first[run]
        while at < last[run] and found[run] < cap:
            for i in range(offsets[flows[at]], offsets[flows[at] + 1]):
                # Invariant: a slot holds a person of this run if it carries the run's stamp.
                mixed = np.uint64(people[i]) * _MIX
                slot = (mixed >> np.uint64(32)) & mask
                while stamp[slot] == run and who[slot] != people[i]:
                    slot = (slot + np.uint64(1)) & mask
                if stamp[slot] != run:
                    stamp[slot], who[slot] = run, people[i]
                    found[run] += 1
                    if found[run] == cap:
                        break
            at += 1
    return found


@njit(cache=True)
def largest_in_runs(
    flows: NDArray[np.int32],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    offsets: NDArray[np.int64],
    people: NDArray[np.int32],
    parts: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # pragma: no cover - compiled
    """Return the largest and the second largest sum of parts that one person has in every run of flows.

    ``parts`` says what each of the people has of their flow. 0 where there are fewer people.
    """
    longest = 1
    for run in range(len(first)):
        members = 0
        for at in range(first[run], last[run]):
            members += offsets[flows[at] + 1] - offsets[flows[at]]
        longest = max(longest, members)
    size = 64
    while size < 2 * longest:
        size *= 2
    mask = np.uint64(size - 1)
    who, stamp, amount = np.empty(size, np.int32), np.full(size, -1, np.int64), np.empty(size)
    met = np.empty(longest, np.int64)
    most, next_most = np.zeros(len(first)), np.zeros(len(first))
    for run in range(len(first)):
        found = 0
        for at in range(first[run], last[run]):
            for i in range(offsets[flows[at]], offsets[flows[at] + 1]):
                # Invariant: a slot holds a person of this run, and their sum so far, if it carries its stamp.
                slot = ((np.uint64(people[i]) * _MIX) >> np.uint64(32)) & mask
                while stamp[slot] == run and who[slot] != people[i]:
                    slot = (slot + np.uint64(1)) & mask
                if stamp[slot] != run:
                    stamp[slot], who[slot], amount[slot] = run, people[i], 0.0
                    met[found] = slot
                    found += 1
                amount[slot] += parts[i]
        for i in range(found):
            sum_of_one = amount[met[i]]
            if sum_of_one > most[run]:
                most[run], next_most[run] = sum_of_one, most[run]
            elif sum_of_one > next_most[run]:
                next_most[run] = sum_of_one
    return most, next_most


@njit(cache=True)
def find_pairs(
    first: NDArray[np.int64],
    second: NDArray[np.int32],
    a: NDArray[Any],
    b: NDArray[Any],
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return the row of every pair (a, b) in a table sorted by (first, second), -1 where it is missing.

    ``first`` holds row offsets: rows ``first[a]:first[a + 1]`` carry ``a`` and ascending ``second``.
    """
    out = np.empty(len(a), np.int64)
    for i in range(len(a)):
        lo, hi = first[a[i]], first[a[i] + 1]
        end = hi
        # Invariant: second[x] < b for x < lo, second[x] >= b for x >= hi.
        while lo < hi:
            mid = (lo + hi) // 2
            if second[mid] < b[i]:
                lo = mid + 1
            else:
                hi = mid
        out[i] = lo if lo < end and second[lo] == b[i] else -1
    return out


@njit(cache=True)
def sort_keys(
    keys: NDArray[np.uint64], bits: int
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:  # pragma: no cover - compiled
    """Return keys of so many bits in ascending order, and the row of each; equal ones stay in their order.

    Digit by digit, the lowest first: that takes a fraction of the time of comparing them.
    """
    n = len(keys)
    low = np.uint64((1 << _DIGIT) - 1)
    here, there = keys.copy(), np.empty(n, np.uint64)
    row, next_row = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        row[i] = i
    # Invariant: here is sorted by all digits below this one.
    for digit in range((bits + _DIGIT - 1) // _DIGIT):
        shift = np.uint64(digit * _DIGIT)
        ends = np.zeros((1 << _DIGIT) + 1, np.int64)
        for i in range(n):
            ends[np.int64((here[i] >> shift) & low) + 1] += 1
        if ends.max() == n:
            continue
        for at in range(1, len(ends)):
            ends[at] += ends[at - 1]
        for i in range(n):
            place = np.int64((here[i] >> shift) & low)
            there[ends[place]], next_row[ends[place]] = here[i], row[i]
            ends[place] += 1
        here, there = there, here
        row, next_row = next_row, row
    return here, row


@njit(cache=True)
def starts_of_runs(keys: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return where runs of ascending keys begin that are the same but for the last ``bits``."""
    starts = np.empty(len(keys), np.int64)
    n = 0
    for at in range(len(keys)):
        if at == 0 or keys[at] >> np.uint64(bits) != keys[at - 1] >> np.uint64(bits):
            starts[n] = at
            n += 1
    return starts[:n].copy()


@njit(cache=True)
def people_of_runs(
    keys: NDArray[np.uint64], starts: NDArray[np.int64], bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:  # pragma: no cover - compiled
    """Return where the people of every run begin, one place more at the end, the people, and their keys each.

    Keys ascend. Runs go from one start to the next, and the last ``bits`` of a key are a person's number and
    one, 0 for nobody: each person of a run is there once, with how many keys of the run are theirs.
    """
    last = np.uint64((1 << bits) - 1)
    offsets = np.zeros(len(starts) + 1, np.int64)
    people, made = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    n = 0
    for run in range(len(starts)):
        end = starts[run + 1] if run + 1 < len(starts) else len(keys)
        before = np.uint64(0)
        for at in range(starts[run], end):
            person = keys[at] & last
            if person != before:
                people[n], made[n] = np.int64(person) - 1, 0
                n += 1
            if person > 0:
                made[n - 1] += 1
            before = person
        offsets[run + 1] = n
    return offsets, people[:n].copy(), made[:n].copy()


@njit(cache=True)
def pieces_of(
    values: NDArray[Any], first: NDArray[np.int64], edges: NDArray[np.int64]
) -> NDArray[Any]:  # pragma: no cover - compiled
    """Return pieces of values one behind the other: each begins at ``first`` and goes from edge to edge."""
    found = np.empty(edges[-1], values.dtype)
    for piece in range(len(first)):
        for at in range(edges[piece], edges[piece + 1]):
            found[at] = values[first[piece] + at - edges[piece]]
    return found


@njit(cache=True)
def members_of(
    group: NDArray[np.int32], n_groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:  # pragma: no cover - compiled
    """Return where the members of every group begin in a list, one place more at its end, and that list.

    Members are in ascending order; what is in a group below 0 is in none.
    """
    starts = np.zeros(n_groups + 1, np.int64)
    for at in range(len(group)):
        if group[at] >= 0:
            starts[group[at] + 1] += 1
    for g in range(n_groups):
        starts[g + 1] += starts[g]
    after, members = starts[:-1].copy(), np.empty(starts[-1], np.int32)
    for at in range(len(group)):
        if group[at] >= 0:
            members[after[group[at]]] = at
            after[group[at]] += 1
    return starts, members


@njit(cache=True)
def sum_runs(
    values: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the sum of every run of values (none negative), rounded towards zero if a double cannot hold it.

    Runs go from one start to the next, and may be in any order inside. A sum that is rounded towards zero
    never reaches a whole number that the true sum does not reach.
    """
    sums = np.empty(len(starts))
    for run in range(len(starts)):
        last = starts[run + 1] if run + 1 < len(starts) else len(values)
        near, rest, exact = 0.0, 0.0, True
        least = np.inf
        # Invariant: near + rest is the sum so far; to the last bit where exact.
        for at in range(starts[run], last):
            near, rest, exact = _add(values[at], near, rest, exact)
            if 0.0 < values[at] < least:
                least = values[at]
        # What doubles lack of a sum is a multiple of the last bit of the least, and so small here that two
        # doubles hold it whatever the order. Where that is not sure, one order is as good as another.
        if not near < least * (_SURE / max(last - starts[run], 1)):
            ordered = np.sort(values[starts[run] : last])
            near, rest, exact = 0.0, 0.0, True
            for at in range(len(ordered)):
                near, rest, exact = _add(ordered[at], near, rest, exact)
        sums[run] = _rounded_down(near, rest, exact)
    return sums


@njit(cache=True)
def sum_groups(
    group: NDArray[np.int32], values: NDArray[np.float64], n_groups: int
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the sum of the values of every group (-1: of none), rounded as those of runs."""
    near, rest, exact = np.zeros(n_groups), np.zeros(n_groups), np.ones(n_groups, np.bool_)
    for at in range(len(group)):
        g = group[at]
        if g >= 0:
            near[g], rest[g], exact[g] = _add(values[at], near[g], rest[g], exact[g])
    for g in range(n_groups):
        near[g] = _rounded_down(near[g], rest[g], exact[g])
    return near


@njit(cache=True)
def _add(
    value: float, near: float, rest: float, exact: bool
) -> tuple[float, float, bool]:  # pragma: no cover - compiled
    """Return near + rest + value in two parts again, and whether nothing at all was lost."""
    total, lost = _two_sum(near, value)
    rest, lost = _two_sum(rest, lost)
    return total, rest, exact and lost == 0.0


@njit(cache=True)
def _rounded_down(near: float, rest: float, exact: bool) -> float:  # pragma: no cover - compiled
    total, lost = _two_sum(near, rest)
    # What inexact parts lack is far less than the last bit of their sum.
    return np.nextafter(total, 0.0) if lost < 0.0 or not exact else total


@njit(cache=True)
def _two_sum(a: float, b: float) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return a + b as a double, and exactly what that lacks (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)
