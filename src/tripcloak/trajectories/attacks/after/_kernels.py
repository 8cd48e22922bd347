"""Compiled loops of attacks on releases; held to plain definitions in tests/oracle_attacks.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_FAR = 1 << 62
"""Steps that no time reaches."""


@njit(cache=True, nogil=True)
def _first_over(
    x: int, y: int, begin: int, end: int, box: int, stop: int, boxes: Any
) -> int:  # pragma: no cover - compiled
    """Return the first box that covers a place and touches a span of time; -1 where there is none."""
    for b in range(box, stop):
        if boxes[b, 0] >= end:
            return -1
        if boxes[b, 1] > begin and boxes[b, 2] <= x < boxes[b, 3] and boxes[b, 4] <= y < boxes[b, 5]:
            return int(b)
    return -1


@njit(cache=True, nogil=True)
def _after(begin: int, box: int, stop: int, boxes: Any) -> int:  # pragma: no cover - compiled
    """Return the first box that ends after a moment."""
    while box < stop:
        middle = (box + stop) // 2
        if boxes[middle, 1] <= begin:
            box = middle + 1
        else:
            stop = middle
    return box


@njit(cache=True, nogil=True)
def mark_covering(
    known: NDArray[np.int64], starts: NDArray[np.int64], boxes: NDArray[np.int32], frames: NDArray[np.int64]
) -> NDArray[np.uint64]:  # pragma: no cover - compiled
    """Return, for every known place and span of time, which released trajectories cover it, a bit each.

    Rows of ``known`` are x, y, begin and end; those of ``frames`` the least and most x and y of each
    released trajectory, whose boxes are ordered by time.
    """
    released = len(starts) - 1
    rows = np.zeros((len(known), (released + 63) // 64), np.uint64)
    for r in range(released):
        bit = np.uint64(1) << np.uint64(r % 64)
        for j in range(len(known)):
            x, y, begin, end = known[j]
            if x < frames[r, 0] or x >= frames[r, 1] or y < frames[r, 2] or y >= frames[r, 3]:
                continue
            box = _after(begin, starts[r], starts[r + 1], boxes)
            if _first_over(x, y, begin, end, box, starts[r + 1], boxes) >= 0:
                rows[j, r // 64] |= bit
    return rows


@njit(cache=True, nogil=True)
def least_passing(
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    places: NDArray[np.int64],
    starts: NDArray[np.int64],
    boxes: NDArray[np.int32],
    candidates: NDArray[np.int64],
    known: int,
) -> int:  # pragma: no cover - compiled
    """Return the fewest released trajectories, but none, that may visit ``known`` places in their order.

    0 where none may visit any so many. ``places`` is the sequence of places of one trajectory, which lie
    at ``x`` and ``y``. A box may hold several samples in any order, so that it may serve for several
    places that follow each other. ``candidates`` are released trajectories, among them all that match
    anything; ``known`` is at most the number of samples.
    """
    people = np.empty((known + 1, len(candidates)), np.int64)
    reached = np.empty((known + 1, len(candidates)), np.int64)
    people[0] = candidates
    reached[0] = starts[candidates]
    lengths = np.full(known + 1, len(candidates), np.int64)
    own, tried = np.zeros(known + 1, np.int64), np.zeros(known + 1, np.int64)
    best, level = len(candidates) + 1, 0
    floor = _passing_all(x, y, places, starts, boxes, people[0], reached[0], best)
    # Invariant: people[level] may have followed the places chosen so far, the last of them in reached[level].
    while level >= 0:
        place = tried[level]
        if place == len(x):
            level -= 1
            continue
        tried[level] += 1
        position = own[level]
        while position < len(places) and places[position] != place:
            position += 1
        if position == len(places) or len(places) - position - 1 < known - level - 1:
            continue
        number = 0
        for p in range(lengths[level]):
            r = people[level, p]
            box = _first_over(x[place], y[place], -_FAR, _FAR, reached[level, p], starts[r + 1], boxes)
            if box >= 0:
                people[level + 1, number], reached[level + 1, number] = r, box
                number += 1
        if number == 0:
            continue
        if level + 1 == known:
            best = min(best, number)
        if number == floor or best == 1:
            return number
        if level + 1 == known:
            continue
        # Whoever can follow all the rest will match whatever is chosen of it.
        then = (people[level + 1, :number], reached[level + 1, :number])
        if _passing_all(x, y, places[position + 1 :], starts, boxes, *then, best) < best:
            level += 1
            lengths[level], own[level], tried[level] = number, position + 1, 0
    return best if best <= len(candidates) else 0


@njit(cache=True, nogil=True)
def _passing_all(
    x: Any, y: Any, places: Any, starts: Any, boxes: Any, people: Any, reached: Any, enough: int
) -> int:  # pragma: no cover - compiled
    """Return how many of these trajectories may go on to visit all places in their order, up to enough."""
    number = 0
    for p in range(len(people)):
        box = reached[p]
        for place in places:
            box = _first_over(x[place], y[place], -_FAR, _FAR, box, starts[people[p] + 1], boxes)
            if box < 0:
                break
        if box >= 0:
            number += 1
            if number == enough:
                break
    return number
