"""Compiled loops over records and groups: splitting, sorting, counting people, and what remains of few."""

from __future__ import annotations

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Bools, Ints


@njit(cache=True)
def remainders_hold(
    runs: tuple[Ints, Ints, Ints],
    by_flow: tuple[Ints, Ints],
    groups: Ints,
    by_group: tuple[Ints, Ints, Ints],
    n_people: int,
    k: int,
) -> Bools:  # pragma: no cover - compiled
    """Return which runs of flows leave no few people when earlier groups are subtracted, or they from those.

    Parameters
    ----------
    runs
        Flows, and where each run of them begins and ends.
    by_flow
        Where each flow's records begin, and one more; the person of every record, -1 for nobody.
    groups : array (partitions, records)
        The earlier group of every record in each partition of earlier releases, -1 for none.
    by_group
        Where each earlier group's records begin, and one more; the flow that each is in now, -1 for none;
        its person.
    """
    flows, first, last = runs
    good = np.ones(len(first), dtype=np.bool_)
    inside = np.full(len(by_flow[0]) - 1, -1, dtype=np.int64)
    held = np.zeros(len(by_group[0]) - 1, dtype=np.int64)
    touched = np.empty(len(held), dtype=np.int64)
    seen = np.full(n_people + 1, -1, dtype=np.int64)
    token = 0
    for run in range(len(first)):
        own = flows[first[run] : last[run]]
        for flow in own:
            inside[flow] = run
        for part in range(len(groups)):
            # Invariant: nothing is held, and no token from this one on was seen.
            token += 3
            if _enough_beside(own, by_flow, groups[part], seen, token - 3, k):
                continue
            n, covered = _hold(own, by_flow[0], groups[part], held, touched)
            good[run] = not _few_of_run(own, by_flow, groups[part], by_group[0], held, seen, token - 2, k)
            if good[run] and covered:
                around = touched[:n]
                good[run] = not _few_of_groups(around, by_group, held, inside, run, seen, token - 1, k)
            held[touched[:n]] = 0
            if not good[run]:
                break
    return good


@njit(cache=True)
def _enough_beside(
    own: Ints, by_flow: tuple[Ints, Ints], group: Ints, seen: Ints, token: int, k: int
) -> bool:  # pragma: no cover - compiled
    """Return whether k people of a run are in no earlier group: then nothing more needs to be counted."""
    start, person = by_flow
    people = 0
    for flow in own:
        for record in range(start[flow], start[flow + 1]):
            one = person[record]
            if group[record] < 0 and one >= 0 and seen[one] != token:
                seen[one] = token
                people += 1
                if people == k:
                    return True
    return False


@njit(cache=True)
def _hold(
    own: Ints, start: Ints, group: Ints, held: Ints, touched: Ints
) -> tuple[int, bool]:  # pragma: no cover - compiled
    """Count the records of a run by earlier group; return how many groups, and whether all are in some."""
    n, covered = 0, True
    for flow in own:
        for record in range(start[flow], start[flow + 1]):
            code = group[record]
            if code < 0:
                covered = False
                continue
            if held[code] == 0:
                touched[n] = code
                n += 1
            held[code] += 1
    return n, covered


@njit(cache=True)
def _few_of_run(
    own: Ints,
    by_flow: tuple[Ints, Ints],
    group: Ints,
    group_start: Ints,
    held: Ints,
    seen: Ints,
    token: int,
    k: int,
) -> bool:  # pragma: no cover - compiled
    """Return whether few people are left of a run without the earlier groups that it holds whole."""
    start, person = by_flow
    people, rest = 0, False
    for flow in own:
        for record in range(start[flow], start[flow + 1]):
            code = group[record]
            if code >= 0 and held[code] == group_start[code + 1] - group_start[code]:
                continue
            rest = True
            one = person[record]
            if one >= 0 and seen[one] != token:
                seen[one] = token
                people += 1
                if people == k:
                    return False
    return rest


@njit(cache=True)
def _few_of_groups(
    around: Ints,
    by_group: tuple[Ints, Ints, Ints],
    held: Ints,
    inside: Ints,
    run: int,
    seen: Ints,
    token: int,
    k: int,
) -> bool:  # pragma: no cover - compiled
    """Return whether few people are left of the earlier groups around a run without the run itself."""
    group_start, member_flow, member_person = by_group
    people, rest = 0, False
    for code in around:
        if held[code] == group_start[code + 1] - group_start[code]:
            continue
        for member in range(group_start[code], group_start[code + 1]):
            flow = member_flow[member]
            if flow >= 0 and inside[flow] == run:
                continue
            rest = True
            one = member_person[member]
            if one >= 0 and seen[one] != token:
                seen[one] = token
                people += 1
                if people == k:
                    return False
    return rest


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
    """Return sets of records split further by a code of every record, in the order of first appearance.

    Parameters
    ----------
    order, start
        The records set by set; where each set begins, and one more.

    Returns
    -------
    order, start, before, code
        The same of the new sets; the set that each was in before, and its code.
    """
    own = np.empty(len(order), dtype=np.int64)
    stamp = np.full(n_codes, -1, dtype=np.int64)
    n = 0
    for one in range(len(start) - 1):
        for at in range(start[one], start[one + 1]):
            own[at] = code[order[at]]
            if stamp[own[at]] != one:
                stamp[own[at]] = one
                n += 1
    before, told = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    ends = np.zeros(n + 1, dtype=np.int64)
    number = np.empty(n_codes, dtype=np.int64)
    split_order = np.empty_like(order)
    stamp[:] = -1
    last = 0
    for one in range(len(start) - 1):
        # Invariant: all sets before `first` are in place.
        first = last
        for at in range(start[one], start[one + 1]):
            if stamp[own[at]] != one:
                stamp[own[at]], number[own[at]] = one, last
                before[last], told[last] = one, own[at]
                last += 1
            ends[number[own[at]] + 1] += 1
        for new in range(first, last):
            ends[new + 1] += ends[new]
            number[told[new]] = ends[new]
        for at in range(start[one], start[one + 1]):
            split_order[number[own[at]]] = order[at]
            number[own[at]] += 1
    return split_order, ends, before, told


@njit(cache=True)
def people_of_sets(
    order: Ints, first: Ints, last: Ints, person: Ints, n_people: int
) -> tuple[Ints, Ints]:  # pragma: no cover - compiled
    """Return pairs of a set of records and a person who has one in it, ascending, each once; -1 is nobody.

    Parameters
    ----------
    order, first, last
        Records, and where those of each set begin and end.
    """
    stamp = np.full(n_people, -1, dtype=np.int64)
    most = 0
    for one in range(len(first)):
        most += last[one] - first[one]
    seen, seen_by = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    n = 0
    for one in range(len(first)):
        before = n
        for at in range(first[one], last[one]):
            who = person[order[at]]
            if who >= 0 and stamp[who] != one:
                stamp[who] = one
                seen[n], seen_by[n] = one, who
                n += 1
        seen_by[before:n].sort()
    return seen[:n], seen_by[:n]


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
