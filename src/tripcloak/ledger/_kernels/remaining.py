"""Compiled loops over products of zones: whether few people remain when earlier groups are subtracted."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Bools, Ints

Before: TypeAlias = tuple[Ints, Ints, Ints]
"""Where the records of each flow begin, and one more; whose each is, -1 for nobody; the earlier group of each
in every partition, -1 for none."""

Kinds: TypeAlias = tuple[Ints, Ints, Ints, Ints, Bools]
"""The kind of every flow, those of one kind being in the same earlier groups; how many are of each; where its
groups begin, partition by partition, and one more; the groups; whether some of its records are in none."""

Members: TypeAlias = tuple[Ints, Ints, Ints]
"""Where each earlier group's records begin, and one more; the flow of each now, -1 for none; whose."""

Order: TypeAlias = tuple[Ints, Ints, Ints, Ints, Ints]
"""Flows in some order; their kinds; the place of every flow, -1 for none; the first and the last place of
every earlier group; for every partition those of the groups of every kind of flows."""

NEVER = 2**31 - 1
"""The last place of what no run holds whole: some of it is in no flow, or in none of the order."""


@njit(cache=True)
def marks_of_flows(first: Ints, group: Ints, mark: Ints) -> Ints:  # pragma: no cover - compiled
    """Return the sum of the marks of all earlier groups that each flow is in; alike where those are the same.

    Parameters
    ----------
    first
        Where the records of each flow begin, and one more.
    group
        The group of every record in every partition, -1 for none.
    mark
        That of every group, and behind those one for being in none, for every partition.
    """
    total = np.zeros(len(first) - 1, dtype=np.uint64)
    met = np.full(len(mark), -1, dtype=np.int32)
    for part in range(len(group)):
        none = len(mark) - len(group) + part
        for flow in range(len(total)):
            for record in range(first[flow], first[flow + 1]):
                one = group[part, record] if group[part, record] >= 0 else none
                if met[one] != flow:
                    met[one] = flow
                    total[flow] += mark[one]
    return total


@njit(cache=True)
def groups_of_kinds(
    example: Ints, first: Ints, group: Ints, n_groups: int
) -> tuple[Ints, Ints, Bools]:  # pragma: no cover - compiled
    """Return the different groups of a flow of each kind, and whether some of its records are in none.

    Parameters
    ----------
    example
        A flow of every kind.
    first, group
        As for :func:`marks_of_flows`.

    Returns
    -------
    start, code, alone
        Where the groups of each kind begin in every partition, and one more; the groups; whether some are in
        none.
    """
    n_parts, n = len(group), len(example)
    start, alone = np.zeros(n_parts * n + 1, dtype=np.int64), np.zeros((n_parts, n), dtype=np.bool_)
    met = np.full(n_groups, -1, dtype=np.int32)
    for part in range(n_parts):
        for kind in range(n):
            start[part * n + kind + 1] = start[part * n + kind]
            for record in range(first[example[kind]], first[example[kind] + 1]):
                one = group[part, record]
                if one < 0:
                    alone[part, kind] = True
                elif met[one] != kind:
                    met[one] = kind
                    start[part * n + kind + 1] += 1
    code = np.empty(start[-1], dtype=np.int32)
    at = 0
    met[:] = -1
    for part in range(n_parts):
        for kind in range(n):
            for record in range(first[example[kind]], first[example[kind] + 1]):
                one = group[part, record]
                if one >= 0 and met[one] != kind:
                    met[one] = kind
                    code[at] = one
                    at += 1
    return start, code, alone


@njit(cache=True)
def put_in_order(flows: Ints, kinds: Kinds, partial: Bools) -> Order:  # pragma: no cover - compiled
    """Return where earlier groups are in an order of flows: a run of it holds those that begin and end there.

    Parameters
    ----------
    flows
        The order, each flow at most once.
    partial
        Which earlier groups hold records of no flow.
    """
    of_flow, size = kinds[0], kinds[1]
    place, own = np.full(len(of_flow), -1, dtype=np.int32), np.empty(len(flows), dtype=np.int32)
    ends, left = _nowhere(len(size)), size.copy()
    for at in range(len(flows)):
        kind = of_flow[flows[at]]
        place[flows[at]], own[at] = at, kind
        ends[0, kind], ends[1, kind] = min(ends[0, kind], at), at
        left[kind] -= 1
    for kind in range(len(size)):
        if left[kind] > 0:
            ends[1, kind] = NEVER
    span = _span(ends, kinds, partial)
    return flows, own, place, span, _reach(span, kinds)


@njit(cache=True)
def _nowhere(n: int) -> Ints:  # pragma: no cover - compiled
    """Return first and last places before any is known."""
    ends = np.empty((2, n), dtype=np.int32)
    ends[0], ends[1] = NEVER, -1
    return ends


@njit(cache=True)
def _span(ends: Ints, kinds: Kinds, partial: Bools) -> Ints:  # pragma: no cover - compiled
    """Return the first and the last place of every earlier group, given those of every kind of flows."""
    start, code, n = kinds[2], kinds[3], ends.shape[1]
    span = _nowhere(len(partial))
    for at in range(len(start) - 1):
        for each in range(start[at], start[at + 1]):
            one = code[each]
            span[0, one] = min(span[0, one], ends[0, at % n])
            span[1, one] = max(span[1, one], ends[1, at % n])
    for one in range(len(partial)):
        if partial[one]:
            span[1, one] = NEVER
    return span


@njit(cache=True)
def _reach(span: Ints, kinds: Kinds) -> Ints:  # pragma: no cover - compiled
    """Return the first and the last place of the groups of every kind of flows, in every partition."""
    _, _, start, code, alone = kinds
    n = alone.shape[1]
    reach = np.empty((len(alone), n, 2), dtype=np.int32)
    for part in range(len(alone)):
        for kind in range(n):
            least, most = NEVER, NEVER if alone[part, kind] else -1
            for each in range(start[part * n + kind], start[part * n + kind + 1]):
                least, most = min(least, span[0, code[each]]), max(most, span[1, code[each]])
            reach[part, kind, 0], reach[part, kind, 1] = least, most
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
        for part in range(len(before[2])):
            # Invariant: no token from this one on was seen or met.
            token += 2
            here = runs[0][run], runs[1][run], part
            if _few_of_run(here, order, before, kinds, seen, token - 2, k) or _few_of_groups(
                here, order, before, kinds[4], members, (seen, met), token - 1, k
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
    flows, kind, _, span, reach = order
    first, person, group = before
    start, alone = kinds[2], kinds[4]
    people, rest = 0, False
    for at in range(begin, end):
        own = kind[at]
        if reach[part, own, 0] >= begin and reach[part, own, 1] < end:
            continue
        several = (
            start[part * alone.shape[1] + own + 1] - start[part * alone.shape[1] + own] + alone[part, own] > 1
        )
        for record in range(first[flows[at]], first[flows[at] + 1]):
            if several:
                one = group[part, record]
                if one >= 0 and span[0, one] >= begin and span[1, one] < end:
                    continue
            rest = True
            who = person[record]
            if who >= 0 and seen[who] != token:
                seen[who] = token
                people += 1
                if people == k:
                    return False
    return rest


@njit(cache=True)
def _few_of_groups(
    here: tuple[int, int, int],
    order: Order,
    before: Before,
    alone: Bools,
    members: Members,
    seen_and_met: tuple[Ints, Ints],
    token: int,
    k: int,
) -> bool:  # pragma: no cover - compiled
    """Return whether few people are left of the earlier groups around a run without the run itself.

    A run is only taken from groups that hold all of it.
    """
    begin, end, part = here
    flows, kind, place, span, reach = order
    first, _, group = before
    group_start, member_flow, member_person = members
    seen, met = seen_and_met
    people, rest = 0, False
    for at in range(begin, end):
        if alone[part, kind[at]]:
            return False
        if reach[part, kind[at], 0] >= begin and reach[part, kind[at], 1] < end:
            continue
        for record in range(first[flows[at]], first[flows[at] + 1]):
            one = group[part, record]
            if met[one] == token or (span[0, one] >= begin and span[1, one] < end):
                continue
            met[one] = token
            for member in range(group_start[one], group_start[one + 1]):
                flow = member_flow[member]
                if flow >= 0 and begin <= place[flow] < end:
                    continue
                rest = True
                who = member_person[member]
                if who >= 0 and seen[who] != token:
                    seen[who] = token
                    people += 1
                    if people == k:
                        return False
    return rest
