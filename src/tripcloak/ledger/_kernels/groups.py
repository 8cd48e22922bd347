"""Compiled loops over records and groups: splitting, sorting, counting people, and what remains of few."""

from __future__ import annotations

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Bools, Ints


@njit(cache=True)
def remainders_hold(
    runs: tuple[Ints, Ints, Ints],
    pieces: tuple[Ints, Ints, Ints, Ints, Bools],
    by_group: tuple[Ints, Ints, Ints],
    n_people: int,
    k: int,
) -> Bools:  # pragma: no cover - compiled
    """Return which runs of flows leave no few people when earlier groups are subtracted, or they from those.

    Parameters
    ----------
    runs
        Flows, and where each run of them begins and ends.
    pieces
        Where the pieces of each flow begin in every partition of earlier releases, and one more; the earlier
        group of each piece, -1 for none; where its records begin, and one more; their people, -1 for nobody;
        which flows have a piece in no group, in every partition.
    by_group
        Where each earlier group's records begin, and one more; the flow that each is in now, -1 for none;
        its person.
    """
    flows, first, last = runs
    piece, group, start, person, beside = pieces
    good = np.ones(len(first), dtype=np.bool_)
    inside = np.full(piece.shape[1] - 1, -1, dtype=np.int64)
    held = np.zeros(len(by_group[0]) - 1, dtype=np.int64)
    touched = np.empty(len(held), dtype=np.int64)
    seen = np.full(n_people + 1, -1, dtype=np.int64)
    token = 0
    for run in range(len(first)):
        ends, marked = (first[run], last[run]), False
        for part in range(len(piece)):
            # Invariant: nothing is held, and no token from this one on was seen.
            token += 3
            own = flows, piece[part], group, start, person
            enough, covered = _enough_beside(own, beside[part], ends, seen, token - 3, k)
            if enough:
                continue
            n = _hold(flows, ends, piece[part], group, start, held, touched)
            good[run] = not _few_of_run(own, ends, by_group[0], held, seen, token - 2, k)
            if good[run] and covered:
                if not marked:
                    inside[flows[ends[0] : ends[1]]] = run
                    marked = True
                good[run] = not _few_of_groups((touched, n), by_group, held, inside, run, seen, token - 1, k)
            for at in range(n):
                held[touched[at]] = 0
            if not good[run]:
                break
    return good


@njit(cache=True)
def _enough_beside(
    own: tuple[Ints, Ints, Ints, Ints, Ints],
    beside: Bools,
    ends: tuple[int, int],
    seen: Ints,
    token: int,
    k: int,
) -> tuple[bool, bool]:  # pragma: no cover - compiled
    """Return whether k people of a run are in no earlier group: then nothing more needs to be counted.

    Beside that, whether all of the run is in some group.
    """
    flows, piece, group, start, person = own
    people, covered = 0, True
    for at in range(ends[0], ends[1]):
        flow = flows[at]
        if not beside[flow]:
            continue
        covered = False
        for one in range(piece[flow], piece[flow + 1]):
            if group[one] >= 0:
                continue
            for record in range(start[one], start[one + 1]):
                who = person[record]
                if who >= 0 and seen[who] != token:
                    seen[who] = token
                    people += 1
                    if people == k:
                        return True, covered
    return False, covered


@njit(cache=True)
def _hold(
    flows: Ints, ends: tuple[int, int], piece: Ints, group: Ints, start: Ints, held: Ints, touched: Ints
) -> int:  # pragma: no cover - compiled
    """Count the records of a run by earlier group; return how many groups those are."""
    n = 0
    for at in range(ends[0], ends[1]):
        for one in range(piece[flows[at]], piece[flows[at] + 1]):
            code = group[one]
            if code < 0:
                continue
            if held[code] == 0:
                touched[n] = code
                n += 1
            held[code] += start[one + 1] - start[one]
    return n


@njit(cache=True)
def _few_of_run(
    own: tuple[Ints, Ints, Ints, Ints, Ints],
    ends: tuple[int, int],
    group_start: Ints,
    held: Ints,
    seen: Ints,
    token: int,
    k: int,
) -> bool:  # pragma: no cover - compiled
    """Return whether few people are left of a run without the earlier groups that it holds whole."""
    flows, piece, group, start, person = own
    people, rest = 0, False
    for at in range(ends[0], ends[1]):
        for one in range(piece[flows[at]], piece[flows[at] + 1]):
            code = group[one]
            if code >= 0 and held[code] == group_start[code + 1] - group_start[code]:
                continue
            rest = True
            for record in range(start[one], start[one + 1]):
                who = person[record]
                if who >= 0 and seen[who] != token:
                    seen[who] = token
                    people += 1
                    if people == k:
                        return False
    return rest


@njit(cache=True)
def _few_of_groups(
    around: tuple[Ints, int],
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
    for at in range(around[1]):
        code = around[0][at]
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
