"""Compiled loops of the audit; each has a plain twin in tests/oracles/trajectories/containment.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

BLOCK = 32
"""Released trajectories that are passed over together."""

SPACE = 16
TIMES = 16
COARSE = 4
WORDS = 8
_SPACE_WORDS = SPACE * SPACE // 64
_RATIO = SPACE // COARSE


@njit(cache=True, nogil=True)
def mark_cells(
    offsets: NDArray[np.int64], lows: NDArray[np.uint8], highs: NDArray[np.uint8]
) -> NDArray[np.uint64]:  # pragma: no cover - compiled
    """Return, for every trajectory, the coarse cells that its boxes touch, a bit a cell.

    ``lows`` and ``highs`` hold the first and last bin of each box, a row each of time, x and y. A
    trajectory all of whose samples lie in the boxes of another marks no cell that the other does not.
    """
    marks = np.zeros((len(offsets) - 1, WORDS), np.uint64)
    for i in range(len(offsets) - 1):
        for s in range(offsets[i], offsets[i + 1]):
            for x in range(lows[1, s], highs[1, s] + 1):
                for y in range(lows[2, s], highs[2, s] + 1):
                    cell = x * SPACE + y
                    marks[i, cell // 64] |= np.uint64(1) << np.uint64(cell % 64)
            for x in range(lows[1, s] // _RATIO, highs[1, s] // _RATIO + 1):
                for y in range(lows[2, s] // _RATIO, highs[2, s] // _RATIO + 1):
                    for t in range(lows[0, s], highs[0, s] + 1):
                        cell = (t * COARSE + x) * COARSE + y
                        marks[i, _SPACE_WORDS + cell // 64] |= np.uint64(1) << np.uint64(cell % 64)
    return marks


@njit(cache=True, nogil=True)
def join_marks(marks: NDArray[np.uint64]) -> NDArray[np.uint64]:  # pragma: no cover - compiled
    """Return the cells touched by any trajectory of each block of ``BLOCK``."""
    joined = np.zeros(((len(marks) + BLOCK - 1) // BLOCK, WORDS), np.uint64)
    for r in range(len(marks)):
        for w in range(WORDS):
            joined[r // BLOCK, w] |= marks[r, w]
    return joined


@njit(cache=True, nogil=True, inline="always")
def _touches_all(few: Any, i: int, many: Any, r: int) -> bool:  # pragma: no cover - compiled
    """Return whether every cell marked in row i of one table is marked in row r of the other."""
    for w in range(WORDS):  # noqa: SIM110 - a generator is slow when compiled
        if few[i, w] & ~many[r, w]:
            return False
    return True


@njit(cache=True, nogil=True)
def _holding(
    first: int, last: int, t: Any, x: Any, y: Any, box: int, end: int, boxes: Any
) -> int:  # pragma: no cover - compiled
    """Return 0 unless all samples lie in the boxes; 2 if besides no box is without a sample, else 1."""
    verdict = 2
    used = box - 1
    # Invariant: samples before s lie in boxes up to ``used``; boxes before ``box`` end before sample s.
    for s in range(first, last):
        while box < end and boxes[box, 1] <= t[s]:
            box += 1
        if box == end or boxes[box, 0] > t[s]:
            return 0
        if x[s] < boxes[box, 2] or x[s] >= boxes[box, 3] or y[s] < boxes[box, 4] or y[s] >= boxes[box, 5]:
            return 0
        if box > used + 1:
            verdict = 1
        used = box
    return verdict if used == end - 1 else 1


@njit(cache=True, nogil=True)
def _may_hold(
    s: int, t: Any, x: Any, y: Any, box: int, end: int, boxes: Any
) -> bool:  # pragma: no cover - compiled
    """Return whether one sample lies in a box of a trajectory whose boxes are ordered by time."""
    while box < end:
        middle = (box + end) // 2
        if boxes[middle, 1] <= t[s]:
            box = middle + 1
        elif boxes[middle, 0] > t[s]:
            end = middle
        else:
            return bool(
                boxes[middle, 2] <= x[s]
                and x[s] < boxes[middle, 3]
                and boxes[middle, 4] <= y[s]
                and y[s] < boxes[middle, 5]
            )
    return False


@njit(cache=True, nogil=True)
def count_holding(
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    t: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    marks: NDArray[np.uint64],
    starts: NDArray[np.int64],
    boxes: NDArray[Any],
    released_marks: NDArray[np.uint64],
    joined: NDArray[np.uint64],
    support: NDArray[np.int64],
    both: NDArray[np.int64],
    members: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Write how many trajectories hold all samples of each of these rows, and add to what they hold.

    ``support`` gets, per row, the released trajectories that hold all its samples; ``both`` those among
    them in which no box is without one of its samples; ``members`` grows, per released trajectory, by
    the rows it holds in that way. Boxes of one released trajectory are ordered by time and do not
    overlap; columns are the begin and end of time, x and y.
    """
    for i in rows:
        support[i] = both[i] = 0
        first, last = offsets[i], offsets[i + 1]
        for block in range(len(joined)):
            if not _touches_all(marks, i, joined, block):
                continue
            for r in range(block * BLOCK, min((block + 1) * BLOCK, len(starts) - 1)):
                if not _touches_all(marks, i, released_marks, r):
                    continue
                if not _may_hold((first + last) // 2, t, x, y, starts[r], starts[r + 1], boxes):
                    continue
                verdict = _holding(first, last, t, x, y, starts[r], starts[r + 1], boxes)
                if verdict:
                    support[i] += 1
                if verdict == 2:
                    both[i] += 1
                    members[r] += 1


@njit(cache=True, nogil=True)
def find_holding(
    row: int,
    offsets: NDArray[np.int64],
    t: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    marks: NDArray[np.uint64],
    starts: NDArray[np.int64],
    boxes: NDArray[Any],
    released_marks: NDArray[np.uint64],
    joined: NDArray[np.uint64],
) -> NDArray[np.uint8]:  # pragma: no cover - compiled
    """Return 0 for every released trajectory that does not hold all samples of this row, else 1 or 2.

    2 where besides no box is without one of its samples; arguments are as in :func:`count_holding`.
    """
    found = np.zeros(len(starts) - 1, np.uint8)
    first, last = offsets[row], offsets[row + 1]
    for block in range(len(joined)):
        if not _touches_all(marks, row, joined, block):
            continue
        for r in range(block * BLOCK, min((block + 1) * BLOCK, len(starts) - 1)):
            if _touches_all(marks, row, released_marks, r):
                found[r] = _holding(first, last, t, x, y, starts[r], starts[r + 1], boxes)
    return found


@njit(cache=True, nogil=True)
def find_held(
    rows: NDArray[np.int64],
    first: int,
    last: int,
    t: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    starts: NDArray[np.int64],
    boxes: NDArray[Any],
) -> NDArray[np.bool_]:  # pragma: no cover - compiled
    """Return, for each of these released trajectories, which of some samples lie in one of its boxes."""
    held = np.zeros((len(rows), last - first), np.bool_)
    for at in range(len(rows)):
        for s in range(first, last):
            held[at, s - first] = _may_hold(s, t, x, y, starts[rows[at]], starts[rows[at] + 1], boxes)
    return held


@njit(cache=True, nogil=True)
def count_near(
    rows: NDArray[np.int64],
    order: NDArray[np.int64],
    group_end: NDArray[np.int64],
    offsets: NDArray[np.int64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    delta: float,
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return how many others of its group stay within a distance of each of these places in ``order``.

    Trajectories of one group share their time stamps and stand together in ``order``, by their first x;
    ``group_end`` says for each place where its group ends.
    """
    near = np.zeros(len(order), np.int64)
    for a in rows:
        first = offsets[order[a]]
        length = offsets[order[a] + 1] - first
        for b in range(a + 1, group_end[a]):
            other = offsets[order[b]]
            if x[other] - x[first] > delta:
                break
            close = True
            for s in range(length):
                dx, dy = x[other + s] - x[first + s], y[other + s] - y[first + s]
                if dx * dx + dy * dy > delta * delta:
                    close = False
                    break
            if close:
                near[a] += 1
                near[b] += 1
    return near


@njit(cache=True, nogil=True)
def count_inside(
    rows: NDArray[np.int64],
    boxes: NDArray[np.float64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    shape: NDArray[np.int64],
    starts: NDArray[np.int64],
    owner: NDArray[np.int64],
    t: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    seen: NDArray[np.int64],
    enough: int,
    found: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Write how many people have a sample in each of these boxes, counted up to what is enough.

    Samples are ordered by bins of time, x and y, of which ``shape`` says how many there are; those of bin b
    stand at ``starts[b]:starts[b + 1]``. ``low`` and ``high`` hold the first and last bin of each box, a row
    each of time, x and y; ``seen`` says in which box each person was counted last.
    """
    for box in rows:
        people = 0
        for bt in range(low[0, box], high[0, box] + 1):
            for bx in range(low[1, box], high[1, box] + 1):
                first = (bt * shape[1] + bx) * shape[2]
                for s in range(starts[first + low[2, box]], starts[first + high[2, box] + 1]):
                    if (
                        seen[owner[s]] != box
                        and boxes[box, 0] <= t[s]
                        and t[s] < boxes[box, 1]
                        and boxes[box, 2] <= x[s]
                        and x[s] < boxes[box, 3]
                        and boxes[box, 4] <= y[s]
                        and y[s] < boxes[box, 5]
                    ):
                        seen[owner[s]] = box
                        people += 1
                        if people == enough:
                            break
                if people == enough:
                    break
            if people == enough:
                break
        found[box] = people
