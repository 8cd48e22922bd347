"""Compiled loops of attacks on releases; plain definitions are in tests/oracles/trajectories/attacks.py."""

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
    for p in range(len(candidates)):
        people[0, p], reached[0, p] = candidates[p], starts[candidates[p]]
    lengths = np.full(known + 1, len(candidates), np.int64)
    own, tried = np.zeros(known + 1, np.int64), np.zeros(known + 1, np.int64)
    best, level, far = len(candidates) + 1, 0, int(np.int64(_FAR))
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
            box = _first_over(x[place], y[place], -far, far, reached[level, p], starts[r + 1], boxes)
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
    number, far = 0, int(np.int64(_FAR))
    for p in range(len(people)):
        box = reached[p]
        for place in places:
            box = _first_over(x[place], y[place], -far, far, box, starts[people[p] + 1], boxes)
            if box < 0:
                break
        if box >= 0:
            number += 1
            if number == enough:
                break
    return number


@njit(cache=True, nogil=True)
def _fit(
    first: int, last: int, t: Any, x: Any, y: Any, box: int, end: int, boxes: Any, whole: bool
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return what the boxes cost in which samples lie, and how many of their six sides these reach.

    A box costs its duration times its width and height together, once a sample; sides are a mean over
    boxes with a sample. The cost is -1 unless all samples lie in a box and, if ``whole``, none is empty.
    """
    cost, used, filled, reached, sides = 0.0, box - 1, 0, 0, 0
    for s in range(first, last):
        box = _after(t[s], box, end, boxes)
        if box == end or (whole and box > used + 1) or not _holds(t[s], x[s], y[s], boxes[box]):
            return -1.0, 0.0
        if box > used:
            used, sides = box, 0
            filled += 1
        more = _sides(t[s], x[s], y[s], boxes[box]) & ~sides
        sides |= more
        while more:
            more &= more - 1
            reached += 1
        around = float(boxes[box, 3] - boxes[box, 2]) + float(boxes[box, 5] - boxes[box, 4])
        cost += float(boxes[box, 1] - boxes[box, 0]) * around
    if whole and used != end - 1:
        return -1.0, 0.0
    return cost, reached / filled


@njit(cache=True, nogil=True, inline="always")
def _holds(t: int, x: int, y: int, box: Any) -> bool:  # pragma: no cover - compiled
    """Return whether a sample lies in a box."""
    return bool(box[0] <= t < box[1] and box[2] <= x < box[3] and box[4] <= y < box[5])


@njit(cache=True, nogil=True, inline="always")
def _sides(t: int, x: int, y: int, box: Any) -> int:  # pragma: no cover - compiled
    """Return the sides of a box that a sample in it reaches, a bit each."""
    return (
        int(t == box[0])
        | int(t == box[1] - 1) << 1
        | int(x == box[2]) << 2
        | int(x == box[3] - 1) << 3
        | int(y == box[4]) << 4
        | int(y == box[5] - 1) << 5
    )


@njit(cache=True, nogil=True)
def guess_owners(
    rows: NDArray[np.int64],
    own: NDArray[np.int64],
    offsets: NDArray[np.int64],
    t: NDArray[np.int32],
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    starts: NDArray[np.int64],
    boxes: NDArray[np.int32],
    durations: NDArray[np.int64],
    screen: NDArray[np.int32],
    whole: bool,
    matches: NDArray[np.int64],
    chances: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Write how many released trajectories hold the samples of each of these rows, and what guesses hit.

    Columns of ``chances`` are the guesses: any of them, that of most boxes, of the least cost, of the
    shortest duration, of the fewest sides reached. ``own`` is the right answer, -1 where there is none.
    The first and the last sample of whatever fits lie in the two boxes of ``screen``.
    """
    guesses = chances.shape[1]
    scores = np.zeros(guesses)
    for i in rows:
        first, last = offsets[i], offsets[i + 1]
        least = np.full(guesses, np.inf)
        tied, right = np.zeros(guesses, np.int64), np.zeros(guesses, np.int64)
        for r in range(len(starts) - 1):
            if not _holds(t[first], x[first], y[first], screen[r, :6]):
                continue
            if not _holds(t[last - 1], x[last - 1], y[last - 1], screen[r, 6:]):
                continue
            cost, reached = _fit(first, last, t, x, y, starts[r], starts[r + 1], boxes, whole)
            if cost < 0:
                continue
            scores[1], scores[2] = float(starts[r] - starts[r + 1]), cost
            scores[3], scores[4] = float(durations[r]), reached
            for g in range(guesses):
                if scores[g] < least[g]:
                    least[g], tied[g], right[g] = scores[g], 0, 0
                if scores[g] == least[g]:
                    tied[g] += 1
                    right[g] += r == own[i]
        matches[i] = tied[0]
        for g in range(guesses):
            chances[i, g] = right[g] / max(tied[g], 1)
