"""Compiled loops over records and groups: splitting, sorting, and counting people."""

from __future__ import annotations

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Bools, Ints


@njit(cache=True)
def enough_people(
    segments: tuple[Ints, Ints],
    kinds: tuple[Ints, Ints, Bools],
    seen: tuple[Ints, Ints],
    n_people: int,
    k: int,
) -> Bools:  # pragma: no cover - compiled
    """Return which segments hold atoms of k people, or a kind that counts as such.

    Parameters
    ----------
    segments
        Where the kinds of each segment begin, and one more; the kinds.
    kinds
        Where the atoms of each kind begin, and one more; the atoms; which kinds are enough by themselves.
    seen
        Where the people of each atom begin, and one more; the people.
    """
    start, kind = segments
    first, atoms, enough = kinds
    enough_here = np.zeros(len(start) - 1, dtype=np.bool_)
    counted = np.full(n_people, -1, dtype=np.int64)
    for segment in range(len(start) - 1):
        people = 0
        for at in range(start[segment], start[segment + 1]):
            if people >= k or enough[kind[at]]:
                people = k
                break
            for member in range(first[kind[at]], first[kind[at] + 1]):
                for one in range(seen[0][atoms[member]], seen[0][atoms[member] + 1]):
                    if counted[seen[1][one]] != segment:
                        counted[seen[1][one]] = segment
                        people += 1
                if people >= k:
                    break
        enough_here[segment] = people >= k
    return enough_here


@njit(cache=True)
def split(
    order: Ints, start: Ints, code: Ints, n_codes: int
) -> tuple[Ints, Ints, Ints, Ints]:  # pragma: no cover - compiled
    """Return sets of records split further by a code of every record, in the order of codes.

    Parameters
    ----------
    order, start
        The records set by set; where each set begins, and one more.

    Returns
    -------
    order, start, before, code
        The same of the new sets; the set that each was in before, and its code.
    """
    own = np.empty(len(order), dtype=np.int32)
    stamp, number = np.full(n_codes, -1, dtype=np.int32), np.zeros(n_codes, dtype=np.int32)
    n = 0
    for one in range(len(start) - 1):
        for at in range(start[one], start[one + 1]):
            own[at] = code[order[at]]
            if stamp[own[at]] != one:
                stamp[own[at]] = one
                n += 1
    before, told = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    ends = np.zeros(n + 1, dtype=np.int64)
    split_order = np.empty_like(order)
    stamp[:] = -1
    last = 0
    for one in range(len(start) - 1):
        # Invariant: all sets before `first` are in place.
        first = last
        for at in range(start[one], start[one + 1]):
            if stamp[own[at]] != one:
                stamp[own[at]], number[own[at]] = one, 0
                before[last], told[last] = one, own[at]
                last += 1
            number[own[at]] += 1
        if last - first > 1:
            told[first:last].sort()
        for new in range(first, last):
            ends[new + 1] = ends[new] + number[told[new]]
            number[told[new]] = ends[new]
        for at in range(start[one], start[one + 1]):
            split_order[number[own[at]]] = order[at]
            number[own[at]] += 1
    return split_order, ends, before, told


@njit(cache=True)
def people_of_sets(
    order: Ints, first: Ints, last: Ints, people: tuple[Ints, Ints], n_people: int, most: int
) -> tuple[Ints, Ints]:  # pragma: no cover - compiled
    """Return pairs of a set and a person who is in it, each once, set by set.

    Parameters
    ----------
    order, first, last
        What sets are made of, and where that of each begins and ends.
    people
        Where the people of everything begin, and one more; they, -1 for nobody.
    most
        So many people of a set are enough; -1 for all.
    """
    stamp = np.full(n_people, -1, dtype=np.int64)
    seen, seen_by = [0 for _ in range(0)], [0 for _ in range(0)]
    for one in range(len(first)):
        before = len(seen_by)
        for at in range(first[one], last[one]):
            for place in range(people[0][order[at]], people[0][order[at] + 1]):
                who = people[1][place]
                if who >= 0 and stamp[who] != one:
                    stamp[who] = one
                    seen.append(one)
                    seen_by.append(who)
            if 0 <= most <= len(seen_by) - before:
                break
    return np.array(seen, dtype=np.int64), np.array(seen_by, dtype=np.int64)


@njit(cache=True)
def places_among(some: Ints, all_of_them: Ints) -> Ints:  # pragma: no cover - compiled
    """Return where each of some ascending numbers is among others, which ascend too; -1 where it is not."""
    place = np.empty(len(some), dtype=np.int32)
    at, end = 0, len(all_of_them)
    for one in range(len(some)):
        while at < end and all_of_them[at] < some[one]:
            at += 1
        place[one] = at if at < end and all_of_them[at] == some[one] else -1
    return place


@njit(cache=True)
def groups_at(some: Ints, known: Ints, group: Ints, missing: int) -> Ints:  # pragma: no cover - compiled
    """Return the group of each of some ascending numbers, given those of known ones, which ascend too.

    Parameters
    ----------
    missing
        The group of what is not known.
    """
    found = np.empty(len(some), dtype=np.int32)
    at, end = 0, len(known)
    for one in range(len(some)):
        while at < end and known[at] < some[one]:
            at += 1
        found[one] = group[at] if at < end and known[at] == some[one] else missing
    return found


@njit(cache=True)
def trips_in_groups(group: Ints, weight: Ints, n: int) -> Ints:  # pragma: no cover - compiled
    """Return the trips of each of n groups, given the group of every record, negative for none.

    Parameters
    ----------
    weight
        The trips of every record; none at all where each is one.
    """
    trips = np.zeros(n, dtype=np.int64)
    for one in range(len(group)):
        if group[one] >= 0:
            trips[group[one]] += weight[one] if len(weight) else 1
    return trips


@njit(cache=True)
def are_all_among(some: Ints, others: Ints) -> bool:  # pragma: no cover - compiled
    """Return whether all of some ascending numbers are among others, which ascend too."""
    at, end = 0, len(others)
    for one in some:
        while at < end and others[at] < one:
            at += 1
        if at == end or others[at] != one:
            return False
    return True


@njit(cache=True)
def learn_people(
    place: Ints, new: Bools, record: Ints, person: Ints, known: Ints, told_apart: bool
) -> bool:  # pragma: no cover - compiled
    """Take in whose records are, and return whether that told of anybody.

    Parameters
    ----------
    place, new
        Where each record is among all; which of them are asked for.
    record, person
        The records; whose they are, themselves where they are nobody's.
    known
        Whose all records are, 0 where that is not known; written to.
    told_apart
        Whether the people are told apart; else only what is not known yet is taken in, as it is.
    """
    changed = False
    for one in range(len(place)):
        if not new[one]:
            continue
        at = place[one]
        is_told = person[one] != record[one] and known[at] != person[one]
        if is_told if told_apart else known[at] == 0:
            known[at] = person[one]
            changed = True
    return changed


@njit(cache=True)
def codes_at(place: Ints, group: Ints, n: int) -> Ints:  # pragma: no cover - compiled
    """Return the group of each of n records, from 1, given the places of those that have one; else 0."""
    code = np.zeros(n, dtype=np.int32)
    for one in range(len(place)):
        if group[one] >= 0:
            code[place[one]] = group[one] + 1
    return code


@njit(cache=True)
def groups_follow_flows(flow: Ints, group: Ints, example: Ints) -> bool:  # pragma: no cover - compiled
    """Return whether all records of a flow have the group of the one that is its example."""
    told = True
    for one in range(len(flow)):
        told &= group[example[flow[one]]] == group[one]
    return told


@njit(cache=True)
def are_uniform(order: Ints, start: Ints, code: Ints) -> bool:  # pragma: no cover - compiled
    """Return whether all records of a set have one code, in every set of them."""
    for one in range(len(start) - 1):
        for at in range(start[one] + 1, start[one + 1]):
            if code[order[at]] != code[order[start[one]]]:
                return False
    return True


@njit(cache=True)
def sorted_by(code: Ints, n: int) -> tuple[Ints, Ints]:  # pragma: no cover - compiled
    """Return where those of each code begin, and one more; all by their codes, without those of -1."""
    start = np.zeros(n + 1, dtype=np.int64)
    for one in code:
        if one >= 0:
            start[one + 1] += 1
    for at in range(n):
        start[at + 1] += start[at]
    place = start[:-1].copy()
    order = np.empty(start[-1], dtype=np.int32)
    for at in range(len(code)):
        if code[at] >= 0:
            order[place[code[at]]] = at
            place[code[at]] += 1
    return start, order


@njit(cache=True)
def lying_in(
    mine: Ints, theirs: Ints, first: int, behind: int, other_first: int, other_behind: int
) -> tuple[Ints, Ints, Bools]:  # pragma: no cover - compiled
    """Return the groups of one release that lie in a group of another, that group, and which are the same.

    Parameters
    ----------
    mine, theirs
        The groups of every atom in both, -1 for none.
    first, behind, other_first, other_behind
        The first group of each release, and the first behind it; both are told from 0 on.
    """
    around = np.full(behind - first, -2, dtype=np.int64)
    own, parts = (
        np.zeros(behind - first, dtype=np.int64),
        np.zeros(other_behind - other_first, dtype=np.int64),
    )
    for atom in range(len(mine)):
        there = theirs[atom] - other_first if theirs[atom] >= 0 else -1
        if there >= 0:
            parts[there] += 1
        if mine[atom] >= 0:
            group = mine[atom] - first
            own[group] += 1
            around[group] = there if around[group] in (-2, there) else -1
    small, large = [0 for _ in range(0)], [0 for _ in range(0)]
    for group in range(len(around)):
        if around[group] >= 0:
            small.append(group)
            large.append(around[group])
    inner, outer = np.array(small, dtype=np.int64), np.array(large, dtype=np.int64)
    return inner, outer, parts[outer] == own[inner]
