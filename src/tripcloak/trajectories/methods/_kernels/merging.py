"""Compiled loops of k-merge, held to plain twins in tests/oracles/trajectories/merging.py.

The innermost ones are inlined by name: a call for every sample would double the time of a merge.
All of them speak of boundaries: boundary b lies after the first b samples in order of time, so that a run
(i, j] holds samples i to j - 1. A boundary is usable unless it parts samples of one instant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Floats, Ints

CHECKED_EVERY = 16
"""So many samples pass between two looks at whether a merge can still be cheap enough."""

LOOKS_BACK = 256
"""A look over more boundaries than this would cost more than it saves."""


class MergeBuffers(NamedTuple):
    """Room for one merge: samples in order of time, and what the programme knows at every boundary."""

    t: Ints
    x: Ints
    y: Ints
    place: Ints
    """Which sample, in the order of the inputs, stands here."""
    member: Ints
    """Which input the sample is of."""
    usable: Ints
    """The last usable boundary up to here."""
    reach: Ints
    """The last boundary from which a run to here holds every input; -1: none, or not usable."""
    cost: Floats
    back: Ints
    """Where the last run of the cheapest cover up to here begins."""
    queue: Ints


@njit(cache=True, nogil=True)
def merge_buffers(size: int) -> MergeBuffers:
    """Return room for merges of up to so many samples."""
    return MergeBuffers(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.float64),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
    )


@njit(cache=True, nogil=True, inline="always")
def _price(duration: int, sides: int) -> Any:
    """Return what a sample costs in a box of this duration, width and height together (equation 4).

    What is inside costs no more than what is around it; on that all that is left out of the search rests.
    """
    return float(duration) * sides


@njit(cache=True, nogil=True)
def cover(at: MergeBuffers, n: int, limit: float) -> Any:
    """Fill in the cheapest cover of the samples in the buffers by runs, and return its cost.

    A run costs its samples x the price of its box. Only indivisible runs are tried: with
    p = reach[j], a run (i, j] with i <= reach[p] falls into two runs that together cost no more.

    Returns infinity as soon as the cost must exceed ``limit``.
    """
    t, x, y, cost, reach, queue = at.t, at.x, at.y, at.cost, at.reach, at.queue
    cost[0] = 0.0
    least = _price(1, 2)
    head, tail, enters, look = 0, 0, 0, CHECKED_EVERY
    known, seen, x0, x1, y0, y1 = -1, 0, 0, 0, 0, 0
    for j in range(1, n + 1):
        cost[j] = np.inf
        p = reach[j]
        if p < 0:
            continue
        head, tail, enters = admit(cost, queue, reach[p], p, head, tail, enters)
        if head == tail:
            continue
        # The box of (known, j] is kept from one end to the next, so that long runs cost one step each.
        if queue[tail - 1] != known:
            known = queue[tail - 1]
            seen, x0, x1, y0, y1 = known, x[known], x[known], y[known], y[known]
        for s in range(seen, j):
            x0, x1 = min(x0, x[s]), max(x1, x[s])
            y0, y1 = min(y0, y[s]), max(y1, y[s])
        seen = j
        cost[j], at.back[j] = _cheapest_start(t, x, y, cost, queue, j, head, tail, x0, x1, y0, y1)
        if j >= look:
            look = j + CHECKED_EVERY
            if j - p < LOOKS_BACK and least_so_far(cost, p, j, queue[head]) + least * (n - j) > limit:
                return np.inf
    return cost[n] if cost[n] <= limit else np.inf


@njit(cache=True, nogil=True, inline="always")
def admit(
    cost: Floats, queue: Ints, divisible: int, p: int, head: int, tail: int, enters: int
) -> tuple[int, int, int]:
    """Let starts up to p into the queue, those up to ``divisible`` out of it, and return its new ends.

    A start leaves as soon as a later one costs no more up to there, since that one's run is contained
    in its own. So costs in the queue rise from its head, the earliest start, to its tail.
    """
    while enters <= p:
        if cost[enters] < np.inf:
            while tail > head and cost[queue[tail - 1]] >= cost[enters]:
                tail -= 1
            queue[tail] = enters
            tail += 1
        enters += 1
    while head < tail and queue[head] <= divisible:
        head += 1
    return head, tail, enters


@njit(cache=True, nogil=True, inline="always")
def _cheapest_start(
    t: Ints,
    x: Ints,
    y: Ints,
    cost: Floats,
    queue: Ints,
    j: int,
    head: int,
    tail: int,
    x0: int,
    x1: int,
    y0: int,
    y1: int,
) -> tuple[float, int]:
    """Return the least cost of a cover up to j, and where its last run starts.

    Goes from the last start in the queue, whose run has this box, to the first. It stops once a run
    alone eats up what an earlier start could save at most.
    """
    best, start, q, end = np.inf, -1, tail - 1, t[j - 1] + 1
    i, floor = queue[q], cost[queue[head]]
    while True:
        run = float(j - i) * _price(end - t[i], x1 - x0 + y1 - y0 + 2)
        if cost[i] + run < best:
            best, start = cost[i] + run, i
        q -= 1
        if q < head or floor + run >= best:
            return best, start
        earlier = queue[q]
        for s in range(earlier, i):
            x0, x1 = min(x0, x[s]), max(x1, x[s])
            y0, y1 = min(y0, y[s]), max(y1, y[s])
        i = earlier


@njit(cache=True, nogil=True, inline="always")
def least_so_far(cost: Floats, p: int, j: int, cheapest: int) -> Any:
    """Return the least that is spent on the way to j.

    Every cover has a boundary among the queued starts, of which ``cheapest`` is, or between p and j.
    """
    least = cost[cheapest]
    for b in range(p + 1, j + 1):
        least = min(least, cost[b])
    return least


@njit(cache=True, nogil=True)
def lay_pair(at: MergeBuffers, t: Ints, x: Ints, y: Ints, offsets: Ints, first: int, second: int) -> int:
    """Lay two trajectories in the buffers in order of time and return the number of their samples."""
    a, a_end = offsets[first], offsets[first + 1]
    b, b_end = offsets[second], offsets[second + 1]
    last_a, last_b, n = -1, -1, 0
    at.usable[0], at.reach[0] = 0, -1
    while a < a_end or b < b_end:
        if b == b_end or (a < a_end and t[a] <= t[b]):
            s, last_a = a, n
            a += 1
        else:
            s, last_b = b, n
            b += 1
        at.t[n], at.x[n], at.y[n] = t[s], x[s], y[s]
        n += 1
        if n > 1 and at.t[n - 1] == at.t[n - 2]:
            # The boundary before this sample parts an instant after all.
            at.usable[n - 1] = at.usable[n - 2]
            at.reach[n - 1] = -1
        at.usable[n] = n
        late = min(last_a, last_b)
        at.reach[n] = at.usable[late] if late >= 0 else -1
    return n


@njit(cache=True, nogil=True)
def pair_cost(
    at: MergeBuffers, t: Ints, x: Ints, y: Ints, offsets: Ints, first: int, second: int, limit: float
) -> Any:
    """Return the total cost of merging two trajectories; infinity if it is above the limit."""
    return cover(at, lay_pair(at, t, x, y, offsets, first, second), limit)


@njit(cache=True, nogil=True)
def pair_costs(t: Ints, x: Ints, y: Ints, offsets: Ints, first: Ints, second: Ints) -> Floats:
    """Return the mean cost a sample of merging each pair."""
    most = int(np.int64(0))
    for i in range(len(first)):
        most = max(
            most,
            offsets[first[i] + 1] - offsets[first[i]] + offsets[second[i] + 1] - offsets[second[i]],
        )
    at = merge_buffers(most)
    costs = np.empty(len(first))
    for i in range(len(first)):
        n = lay_pair(at, t, x, y, offsets, first[i], second[i])
        costs[i] = cover(at, n, np.inf) / n
    return costs


@njit(cache=True, nogil=True)
def lay_many(at: MergeBuffers, t: Ints, x: Ints, y: Ints, offsets: Ints, members: Ints) -> int:
    """Lay any number of trajectories in the buffers in order of time and return the number of their samples.

    ``place`` counts the samples of the members, one member after the other.
    """
    n = int(np.int64(0))
    for m in range(len(members)):
        for s in range(offsets[members[m]], offsets[members[m] + 1]):
            at.t[n], at.x[n], at.y[n] = t[s], x[s], y[s]
            at.member[n] = m
            n += 1
    _sort_by_time(at, offsets, members, n)
    for i in range(n):
        at.reach[i] = at.member[at.place[i]]
    _copy(at.reach, at.member, n)
    for column in (at.t, at.x, at.y):
        for i in range(n):
            at.reach[i] = column[at.place[i]]
        _copy(at.reach, column, n)
    _find_reach(at, n, len(members))
    return n


@njit(cache=True, nogil=True, inline="always")
def _copy(numbers: Ints, to: Ints, n: int) -> None:
    # One by one: what assigns slices is compiled with words for those that do not fit, which takes seconds.
    for i in range(n):
        to[i] = numbers[i]


@njit(cache=True, nogil=True)
def _sort_by_time(at: MergeBuffers, offsets: Ints, members: Ints, n: int) -> None:
    """Put into ``place`` the order of the samples by time, ties by member: neighbouring runs are merged."""
    ends = np.empty(len(members) + 1, np.int64)
    ends[0] = 0
    for m in range(len(members)):
        ends[m + 1] = ends[m] + offsets[members[m] + 1] - offsets[members[m]]
    source, target = at.place, at.queue
    for i in range(n):
        source[i] = i
    width = 1
    while width < len(members):
        for left in range(0, len(members), 2 * width):
            middle = ends[min(left + width, len(members))]
            stop = ends[min(left + 2 * width, len(members))]
            a, b = ends[left], middle
            for i in range(ends[left], stop):
                if b >= stop or (a < middle and at.t[source[a]] <= at.t[source[b]]):
                    target[i] = source[a]
                    a += 1
                else:
                    target[i] = source[b]
                    b += 1
        source, target = target, source
        width *= 2
    for i in range(n):
        at.place[i] = source[i]


@njit(cache=True, nogil=True)
def _find_reach(at: MergeBuffers, n: int, n_members: int) -> None:
    """Fill in which boundaries are usable, and the last start of a run to each that holds every member."""
    held = np.zeros(n_members, np.int64)
    missing, start = n_members, 0
    at.usable[0], at.reach[0] = 0, -1
    for j in range(1, n + 1):
        held[at.member[j - 1]] += 1
        missing -= held[at.member[j - 1]] == 1
        # Invariant: samples from start hold as many members as samples 0 to j - 1 do.
        while missing == 0 and held[at.member[start]] > 1:
            held[at.member[start]] -= 1
            start += 1
        parts_instant = j < n and at.t[j] == at.t[j - 1]
        at.usable[j] = at.usable[j - 1] if parts_instant else j
        at.reach[j] = -1 if parts_instant or missing > 0 else at.usable[start]


@njit(cache=True, nogil=True)
def write_runs(at: MergeBuffers, n: int, boxes: tuple[Ints, ...], first: int, box_of: Ints) -> int:
    """Write the boxes of the cheapest cover from row ``first``, by time, and return how many there are.

    ``box_of`` gets the row of the box of each sample, by ``place``.
    """
    many, j = 0, n
    while j > 0:
        many += 1
        j = at.back[j]
    j = n
    t0, t1, x0, x1, y0, y1 = boxes
    for row in range(first + many - 1, first - 1, -1):
        i = at.back[j]
        t0[row], t1[row] = at.t[i], at.t[j - 1] + 1
        x0[row], x1[row] = at.x[i:j].min(), at.x[i:j].max() + 1
        y0[row], y1[row] = at.y[i:j].min(), at.y[i:j].max() + 1
        for s in range(i, j):
            if at.place[s] < len(box_of):
                box_of[at.place[s]] = row
        j = i
    return many


@njit(cache=True, nogil=True)
def own_cost(at: MergeBuffers, n: int) -> float:
    """Return what the first member's own samples cost in the cheapest cover of the samples in the buffers."""
    cover(at, n, np.inf)
    total, j = 0.0, n
    while j > 0:
        i = at.back[j]
        x0, x1, y0, y1, own = at.x[i], at.x[i], at.y[i], at.y[i], 0
        for s in range(i, j):
            x0, x1 = min(x0, at.x[s]), max(x1, at.x[s])
            y0, y1 = min(y0, at.y[s]), max(y1, at.y[s])
            own += at.member[s] == 0
        total += float(own) * (at.t[j - 1] + 1 - at.t[i]) * (x1 - x0 + y1 - y0 + 2)
        j = i
    return total


@njit(cache=True, nogil=True)
def merge_sets(
    t: Ints,
    x: Ints,
    y: Ints,
    offsets: Ints,
    set_offsets: Ints,
    members: Ints,
    boxes: tuple[Ints, ...],
    box_offsets: Ints,
    box_of: Ints,
) -> tuple[Floats, Ints]:
    """Merge each set of trajectories; return the total cost and the number of boxes of each.

    Boxes of set i are written from row ``box_offsets[i]``, of which its first member has at most as
    many as samples. ``box_of`` gets the rows of the first members' own samples, set after set.
    """
    n_sets = len(set_offsets) - 1
    most = 0
    for i in range(n_sets):
        size = 0
        for m in members[set_offsets[i] : set_offsets[i + 1]]:
            size += offsets[m + 1] - offsets[m]
        most = max(most, size)
    at = merge_buffers(most)
    costs, many = np.empty(n_sets), np.empty(n_sets, np.int64)
    own = 0
    for i in range(n_sets):
        mine = members[set_offsets[i] : set_offsets[i + 1]]
        n = lay_many(at, t, x, y, offsets, mine)
        costs[i] = cover(at, n, np.inf)
        length = offsets[mine[0] + 1] - offsets[mine[0]]
        many[i] = write_runs(at, n, boxes, box_offsets[i], box_of[own : own + length])
        own += length
    return costs, many
