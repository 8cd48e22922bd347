"""Compiled loops over people; each has a plain twin in tests/oracles/trajectories/measures.py."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints

NONE = -1
ROOT = 0


@njit(cache=True, nogil=True)
def gyrations(
    offsets: Ints, t: Ints, x: Ints, y: Ints, lasting: int
) -> tuple[Floats, Floats, Floats, Floats]:  # pragma: no cover - compiled
    """Return each person's centre (x, y) and radius of gyration, by points and by time spent.

    A point is stayed at for half the time to the points before and after it, and ``lasting`` longer.
    """
    people = len(offsets) - 1
    cx, cy = np.zeros(people), np.zeros(people)
    plain, timed = np.zeros(people), np.zeros(people)
    for person in range(people):
        first, end = offsets[person], offsets[person + 1]
        n = end - first
        sum_x, sum_y = 0.0, 0.0
        # Sums of differences from the first point: small numbers, so nothing is lost far from the centre.
        for i in range(first, end):
            sum_x += x[i] - x[first]
            sum_y += y[i] - y[first]
        mean_x, mean_y = sum_x / n, sum_y / n
        by_point, by_time, total = 0.0, 0.0, 0.0
        for i in range(first, end):
            away = (x[i] - x[first] - mean_x) ** 2 + (y[i] - y[first] - mean_y) ** 2
            stay = (t[min(i + 1, end - 1)] - t[max(i - 1, first)]) / 2 + lasting
            by_point += away
            by_time += stay * away
            total += stay
        cx[person], cy[person] = x[first] + mean_x, y[first] + mean_y
        plain[person], timed[person] = np.sqrt(by_point / n), np.sqrt(by_time / total)
    return cx, cy, plain, timed


@njit(cache=True, nogil=True)
def hull_areas(offsets: Ints, x: Ints, y: Ints) -> Floats:  # pragma: no cover - compiled
    """Return the area of the convex hull of each person's points, in squares of a half step."""
    people = len(offsets) - 1
    areas = np.zeros(people)
    for person in range(people):
        px, py = _ordered_points(
            x[offsets[person] : offsets[person + 1]], y[offsets[person] : offsets[person + 1]]
        )
        if len(px) > 2:
            hull = np.empty(2 * len(px), np.int64)
            size = _half_hull(px, py, hull, 0, False)
            size = _half_hull(px, py, hull, size - 1, True) - 1
            twice = 0.0
            for i in range(size):
                a, b = hull[i], hull[(i + 1) % size]
                twice += float(px[a] * py[b] - px[b] * py[a])
            areas[person] = abs(twice) / 2
    return areas


@njit(cache=True, nogil=True)
def _ordered_points(x: Ints, y: Ints) -> tuple[Ints, Ints]:  # pragma: no cover - compiled
    """Return different points, by x and then y, counted from the lowest of each."""
    low_x, low_y = x.min(), y.min()
    span = y.max() - low_y + 1
    keys = np.unique((x - low_x) * span + (y - low_y))
    return keys // span, keys % span


@njit(cache=True, nogil=True)
def _half_hull(px: Ints, py: Ints, hull: Ints, size: int, back: bool) -> int:  # pragma: no cover - compiled
    """Put one side of a hull behind ``size`` points of it and return how many it has then."""
    fixed = size
    n = len(px)
    for step in range(n):
        i = n - 1 - step if back else step
        # Invariant: hull[fixed:size] turns left everywhere.
        while size - fixed >= 2:
            a, b = hull[size - 2], hull[size - 1]
            if (px[b] - px[a]) * (py[i] - py[a]) - (py[b] - py[a]) * (px[i] - px[a]) > 0:
                break
            size -= 1
        hull[size] = i
        size += 1
    return size


@njit(cache=True, nogil=True)
def most_visited(
    offsets: Ints, chosen: Bools, x: Ints, y: Ints, cell: int
) -> tuple[Bools, Floats, Floats]:  # pragma: no cover - compiled
    """Return whether each person has a chosen point, and the mean of those in the cell that holds most.

    Of cells that hold as many, the one furthest west, then south.
    """
    people = len(offsets) - 1
    found = np.zeros(people, np.bool_)
    at_x, at_y = np.zeros(people), np.zeros(people)
    for person in range(people):
        rows = np.flatnonzero(chosen[offsets[person] : offsets[person + 1]]) + offsets[person]
        if len(rows) == 0:
            continue
        column, row = x[rows] // cell, y[rows] // cell
        low = row.min()
        keys = (column - column.min()) * (row.max() - low + 1) + (row - low)
        order = np.argsort(keys, kind="mergesort")
        best, most, begin = 0, 0, 0
        for end in range(1, len(order) + 1):
            if end == len(order) or keys[order[end]] != keys[order[begin]]:
                if end - begin > most:
                    best, most = begin, end - begin
                begin = end
        inside = rows[order[best : best + most]]
        base_x, base_y = x[inside[0]], y[inside[0]]
        found[person] = True
        at_x[person] = base_x + (x[inside] - base_x).mean()
        at_y[person] = base_y + (y[inside] - base_y).mean()
    return found, at_x, at_y


@njit(cache=True, nogil=True)
def new_lengths(offsets: Ints, place: Ints) -> tuple[Ints, Ints]:  # pragma: no cover - compiled
    """Return, for each sequence, the sum of its shortest new lengths and the number of different places.

    The shortest new length at i is that of the shortest run of places from i on that is nowhere within
    those before i; the end of the sequence is a place of its own. Lengths shrink by one at most from
    one i to the next, so one walk over an automaton of all runs before i, grown on the way, finds all.
    """
    people = len(offsets) - 1
    sums, different = np.zeros(people, np.int64), np.zeros(people, np.int64)
    for person in range(people):
        codes, n_codes = _coded(place[offsets[person] : offsets[person + 1]])
        different[person] = n_codes
        sums[person] = _walk(codes, n_codes)
    return sums, different


@njit(cache=True, nogil=True)
def _coded(places: Ints) -> tuple[Ints, int]:  # pragma: no cover - compiled
    """Return places numbered from 0 on, and how many there are."""
    order = np.argsort(places, kind="mergesort")
    codes = np.empty(len(places), np.int64)
    code = -1
    for i in range(len(order)):
        if i == 0 or places[order[i]] != places[order[i - 1]]:
            code += 1
        codes[order[i]] = code
    return codes, code + 1


@njit(cache=True, nogil=True)
def _walk(codes: Ints, n_codes: int) -> int:  # pragma: no cover - compiled
    """Return the sum of shortest new lengths of one sequence."""
    n = len(codes)
    length, link, head = np.zeros(2 * n + 1, np.int64), np.full(2 * n + 1, NONE), np.full(2 * n + 1, NONE)
    # Edges of a state hang together as a list: (code, target, next). Those of the root, which are many,
    # lie in a table of their own.
    edges, root = np.empty((3 * n + 4, 3), np.int64), np.full(n_codes, NONE)
    states, n_edges = int(np.int64(1)), int(np.int64(0))
    last, state, matched, total = int(np.int64(ROOT)), int(np.int64(ROOT)), 0, 0
    for i in range(n):
        # Invariant: the automaton knows codes[:i], and state that codes[i : i + matched] lies within them.
        while i + matched < n:
            target = _target(edges, head, root, state, codes[i + matched])
            if target == NONE:
                break
            state, matched = target, matched + 1
        total += matched + 1
        states, n_edges, last, copied, copy = _grow(
            length, link, head, edges, root, (states, n_edges, last), codes[i]
        )
        if copied == state and copied != NONE and matched <= length[copy]:
            state = copy
        if matched > 0:
            matched -= 1
            if matched <= length[link[state]]:
                state = link[state]
    return total


@njit(cache=True, nogil=True)
def _grow(
    length: Ints,
    link: Ints,
    head: Ints,
    edges: NDArray[np.int64],
    root: Ints,
    sizes: tuple[int, int, int],
    code: int,
) -> tuple[int, int, int, int, int]:  # pragma: no cover - compiled
    """Add a code; return (states, edges, last state) and which state was copied to which."""
    states, n_edges, last = sizes
    new, copied, copy = states, NONE, NONE
    states += 1
    length[new] = length[last] + 1
    at = last
    while at != NONE and _target(edges, head, root, at, code) == NONE:
        n_edges = _lay(edges, head, root, n_edges, at, code, new)
        at = link[at]
    if at == NONE:
        link[new] = ROOT
        return states, n_edges, new, copied, copy
    follower = _target(edges, head, root, at, code)
    if length[follower] == length[at] + 1:
        link[new] = follower
        return states, n_edges, new, copied, copy
    copied, copy = follower, states
    states += 1
    length[copy], link[copy] = length[at] + 1, link[copied]
    edge = head[copied]
    while edge != NONE:
        n_edges = _lay(edges, head, root, n_edges, copy, edges[edge, 0], edges[edge, 1])
        edge = edges[edge, 2]
    while at != NONE and _target(edges, head, root, at, code) == copied:
        n_edges = _lay(edges, head, root, n_edges, at, code, copy)
        at = link[at]
    link[copied] = link[new] = copy
    return states, n_edges, new, copied, copy


@njit(cache=True, nogil=True)
def _target(
    edges: NDArray[np.int64], head: Ints, root: Ints, state: int, code: int
) -> int:  # pragma: no cover - compiled
    """Return where a code leads from a state, or NONE."""
    if state == ROOT:
        return int(root[code])
    edge = head[state]
    while edge != NONE and edges[edge, 0] != code:
        edge = edges[edge, 2]
    return NONE if edge == NONE else int(edges[edge, 1])


@njit(cache=True, nogil=True)
def _lay(
    edges: NDArray[np.int64], head: Ints, root: Ints, n_edges: int, state: int, code: int, target: int
) -> int:  # pragma: no cover - compiled
    """Let a code lead from a state to a target, wherever it led before; return how many edges there are."""
    if state == ROOT:
        root[code] = target
        return n_edges
    edge = head[state]
    while edge != NONE and edges[edge, 0] != code:
        edge = edges[edge, 2]
    if edge != NONE:
        edges[edge, 1] = target
        return n_edges
    edges[n_edges, 0], edges[n_edges, 1], edges[n_edges, 2] = code, target, head[state]
    head[state] = n_edges
    return n_edges + 1
