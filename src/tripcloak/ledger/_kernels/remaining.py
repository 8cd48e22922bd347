"""Compiled loops over products of zones: whether few people remain when earlier groups are subtracted."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Bools, Ints

Before: TypeAlias = tuple[Ints, Ints, Ints, Ints]
"""Where the records of each flow begin, and one more; whose each is, -1 for nobody; the atom of each; the
earlier group of every atom in every partition, -1 for none."""

Kinds: TypeAlias = tuple[Ints, Ints, Ints, Ints, Bools]
"""The kind of every flow, those of one kind being in the same earlier groups; how many are of each; where its
groups begin, kind by kind and in each partition by partition, and one more; the groups; whether some of its
records are in none, in every partition."""

Members: TypeAlias = tuple[Ints, Ints, Ints, Bools, Ints, Ints, Ints, Ints]
"""Where each earlier group's atoms begin, and one more; the atoms; how many people are in it; whether they
are told apart; where the records of each atom begin, and one more; the flow of each now, -1 for none; whose;
and who it is where nobody is told apart."""

Order: TypeAlias = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints]
"""Flows in some order; their kinds; where the next flow of another kind is; the records before each place,
and before the end; the place of every flow, -1 for none; the first and the last place of every earlier group;
and those of the groups of every kind of flows, in every partition."""

NEVER = 2**31 - 1
"""The last place of what no run holds whole: some of it is in no flow, or in none of the order."""


@njit(cache=True)
def marks_of_flows(first: Ints, atom: Ints, group: Ints, mark: Ints) -> Ints:  # pragma: no cover - compiled
    """Return the sum of the marks of all earlier groups that each flow is in; alike where those are the same.

    Parameters
    ----------
    first, atom
        Where the records of each flow begin, and one more; the atom of each.
    group
        The group of every atom in every partition, -1 for none.
    mark
        That of every group, and behind those one for being in none, for every partition.
    """
    total = np.zeros(len(first) - 1, dtype=np.uint64)
    met, seen = np.full(len(mark), -1, dtype=np.int32), np.full(group.shape[1], -1, dtype=np.int32)
    none = len(mark) - len(group)
    for flow in range(len(total)):
        for record in range(first[flow], first[flow + 1]):
            own = atom[record]
            if seen[own] == flow:
                continue
            seen[own] = flow
            for part in range(len(group)):
                one = group[part, own] if group[part, own] >= 0 else none + part
                if met[one] != flow:
                    met[one] = flow
                    total[flow] += mark[one]
    return total


@njit(cache=True)
def groups_of_kinds(
    example: Ints, first: Ints, atom: Ints, group: Ints, n_groups: int
) -> tuple[Ints, Ints, Bools]:  # pragma: no cover - compiled
    """Return the different groups of a flow of each kind, and whether some of its records are in none.

    Parameters
    ----------
    example
        A flow of every kind.
    first, atom, group
        As for :func:`marks_of_flows`.

    Returns
    -------
    start, code, alone
        Where the groups of each kind begin, partition by partition, and one more; the groups; whether some
        are in none.
    """
    n_parts, n = len(group), len(example)
    start, alone = np.zeros(n_parts * n + 1, dtype=np.int64), np.zeros((n, n_parts), dtype=np.bool_)
    met = np.full(n_groups, -1, dtype=np.int32)
    for kind in range(n):
        for part in range(n_parts):
            at = kind * n_parts + part
            start[at + 1] = start[at]
            for record in range(first[example[kind]], first[example[kind] + 1]):
                one = group[part, atom[record]]
                if one < 0:
                    alone[kind, part] = True
                elif met[one] != kind:
                    met[one] = kind
                    start[at + 1] += 1
    code = np.empty(start[-1], dtype=np.int32)
    at = 0
    met[:] = -1
    for kind in range(n):
        for part in range(n_parts):
            for record in range(first[example[kind]], first[example[kind] + 1]):
                one = group[part, atom[record]]
                if one >= 0 and met[one] != kind:
                    met[one] = kind
                    code[at] = one
                    at += 1
    return start, code, alone


@njit(cache=True)
def people_of_groups(
    group_start: Ints, group_atom: Ints, atom_start: Ints, person: Ints, n_people: int
) -> Ints:  # pragma: no cover - compiled
    """Return how many different people are in every earlier group; records of nobody are none.

    Parameters
    ----------
    group_start, group_atom, atom_start
        Where the atoms of each group begin, and one more; the atoms; where the records of those begin.
    person
        Whose each record is, -1 for nobody.
    """
    people, seen = np.zeros(len(group_start) - 1, dtype=np.int32), np.full(n_people, -1, dtype=np.int32)
    for one in range(len(people)):
        for member in range(group_start[one], group_start[one + 1]):
            for record in range(atom_start[group_atom[member]], atom_start[group_atom[member] + 1]):
                who = person[record]
                if who >= 0 and seen[who] != one:
                    seen[who] = one
                    people[one] += 1
    return people


@njit(cache=True)
def put_in_order(
    flows: Ints, first: Ints, kinds: Kinds, partial: Bools
) -> Order:  # pragma: no cover - compiled
    """Return where earlier groups are in an order of flows: a run of it holds those that begin and end there.

    Parameters
    ----------
    flows
        The order, each flow at most once.
    first
        Where the records of each flow begin, and one more.
    partial
        Which earlier groups hold records of no flow.
    """
    of_flow, size = kinds[0], kinds[1]
    place, own = np.full(len(of_flow), -1, dtype=np.int32), np.empty(len(flows), dtype=np.int32)
    upto = np.zeros(len(flows) + 1, dtype=np.int32)
    ends, left = _nowhere(len(size)), size.copy()
    for at in range(len(flows)):
        kind = of_flow[flows[at]]
        place[flows[at]], own[at] = at, kind
        upto[at + 1] = upto[at] + first[flows[at] + 1] - first[flows[at]]
        ends[0, kind], ends[1, kind] = min(ends[0, kind], at), at
        left[kind] -= 1
    for kind in range(len(size)):
        if left[kind] > 0:
            ends[1, kind] = NEVER
    behind = np.empty(len(flows), dtype=np.int32)
    for at in range(len(flows) - 1, -1, -1):
        same = at + 1 < len(flows) and own[at + 1] == own[at]
        behind[at] = behind[at + 1] if same else at + 1
    span = _span(ends, kinds, partial)
    return flows, own, behind, upto, place, span, _reach(span, kinds)


@njit(cache=True)
def _nowhere(n: int) -> Ints:  # pragma: no cover - compiled
    """Return first and last places before any is known."""
    ends = np.empty((2, n), dtype=np.int32)
    ends[0], ends[1] = NEVER, -1
    return ends


@njit(cache=True)
def _span(ends: Ints, kinds: Kinds, partial: Bools) -> Ints:  # pragma: no cover - compiled
    """Return the first and the last place of every earlier group, given those of every kind of flows."""
    start, code, n_parts = kinds[2], kinds[3], kinds[4].shape[1]
    span = _nowhere(len(partial))
    for kind in range(ends.shape[1]):
        for each in range(start[kind * n_parts], start[(kind + 1) * n_parts]):
            one = code[each]
            span[0, one] = min(span[0, one], ends[0, kind])
            span[1, one] = max(span[1, one], ends[1, kind])
    for one in range(len(partial)):
        if partial[one]:
            span[1, one] = NEVER
    return span


@njit(cache=True)
def _reach(span: Ints, kinds: Kinds) -> Ints:  # pragma: no cover - compiled
    """Return the first and the last place of the groups of every kind of flows, in every partition."""
    _, _, start, code, alone = kinds
    n, n_parts = alone.shape
    reach = np.empty((n, n_parts, 2), dtype=np.int32)
    for kind in range(n):
        for part in range(n_parts):
            least, most = NEVER, NEVER if alone[kind, part] else -1
            for each in range(start[kind * n_parts + part], start[kind * n_parts + part + 1]):
                least, most = min(least, span[0, code[each]]), max(most, span[1, code[each]])
            reach[kind, part, 0], reach[kind, part, 1] = least, most
    return reach


@njit(cache=True)
def remainders_hold(
    runs: tuple[Ints, Ints],
    order: Order,
    before: Before,
    kinds: Kinds,
    members: Members,
    n_people: int,
    k: int,
) -> Bools:  # pragma: no cover - compiled
    """Return which runs of flows leave no few people when earlier groups are subtracted, or they from those.

    Parameters
    ----------
    runs
        Where each run begins in the order, and where it ends.
    """
    good = np.ones(len(runs[0]), dtype=np.bool_)
    seen = np.full(n_people + 1, -1, dtype=np.int32)
    met = np.full(len(members[0]) - 1, -1, dtype=np.int32)
    token = 0
    for run in range(len(good)):
        for part in range(len(before[3])):
            # Invariant: no token from this one on was seen or met.
            token += 2
            here = runs[0][run], runs[1][run], part
            if _few_of_run(here, order, before, kinds, seen, token - 2, k) or _few_of_groups(
                here, order, kinds, members, (seen, met), token - 1, k
            ):
                good[run] = False
                break
    return good


@njit(cache=True)
def _few_of_run(
    here: tuple[int, int, int],
    order: Order,
    before: Before,
    kinds: Kinds,
    seen: Ints,
    token: int,
    k: int,
) -> bool:  # pragma: no cover - compiled
    """Return whether few people are left of a run without the earlier groups that it holds whole."""
    begin, end, part = here
    flows, kind, behind = order[0], order[1], order[2]
    span, reach = order[5], order[6]
    first, person, atom, group = before
    start, alone = kinds[2], kinds[4]
    people, rest, at = 0, False, begin
    # Invariant: of all flows before this place, fewer than k people are left.
    while at < end:
        own = kind[at]
        if reach[own, part, 0] >= begin and reach[own, part, 1] < end:
            at = behind[at]
            continue
        each = own * alone.shape[1] + part
        several = start[each + 1] - start[each] + alone[own, part] > 1
        for record in range(first[flows[at]], first[flows[at] + 1]):
            if several:
                one = group[part, atom[record]]
                if one >= 0 and span[0, one] >= begin and span[1, one] < end:
                    continue
            rest = True
            who = person[record]
            if who >= 0 and seen[who] != token:
                seen[who] = token
                people += 1
                if people == k:
                    return False
        at += 1
    return rest


@njit(cache=True)
def _few_of_groups(
    here: tuple[int, int, int],
    order: Order,
    kinds: Kinds,
    members: Members,
    seen_and_met: tuple[Ints, Ints],
    token: int,
    k: int,
) -> bool:  # pragma: no cover - compiled
    """Return whether few people are left of the earlier groups around a run without the run itself.

    A run is only taken from groups that hold all of it.
    """
    begin, end, part = here
    kind, behind, upto, place = order[1], order[2], order[3], order[4]
    span, reach = order[5], order[6]
    start, code, alone = kinds[2], kinds[3], kinds[4]
    group_start, group_atom, group_people, apart = members[:4]
    seen, met = seen_and_met
    people, rest, at = 0, False, begin
    # Invariant: of the groups that were met, fewer than k people are left.
    while at < end:
        own = kind[at]
        at = behind[at]
        if alone[own, part]:
            return False
        if reach[own, part, 0] >= begin and reach[own, part, 1] < end:
            continue
        first = own * alone.shape[1] + part
        for each in range(start[first], start[first + 1]):
            one = code[each]
            if met[one] == token or (span[0, one] >= begin and span[1, one] < end):
                continue
            met[one] = token
            # Whoever is in the run has a record in it.
            if group_people[one] - (upto[end] - upto[begin]) >= k:
                return False
            for member in range(group_start[one], group_start[one + 1]):
                inside = group_atom[member], begin, end, apart[one]
                more, there = _of_atom(inside, place, members, seen, token, k - people)
                people, rest = people + more, rest or there
                if people >= k:
                    return False
    return rest


@njit(cache=True)
def _of_atom(
    here: tuple[int, int, int, bool], place: Ints, members: Members, seen: Ints, token: int, most: int
) -> tuple[int, bool]:  # pragma: no cover - compiled
    """Return how many people of an atom are new, up to some, and whether some of it is in no run."""
    atom, begin, end, apart = here
    atom_start, record_flow, record_person, record_alone = members[4:]
    people, rest = 0, False
    for record in range(atom_start[atom], atom_start[atom + 1]):
        flow = record_flow[record]
        if flow >= 0 and begin <= place[flow] < end:
            continue
        rest = True
        who = record_person[record] if apart else record_alone[record]
        if who >= 0 and seen[who] != token:
            seen[who] = token
            people += 1
            if people == most:
                break
    return people, rest
