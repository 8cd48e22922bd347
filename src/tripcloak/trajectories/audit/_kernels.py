"""Compiled loops of the audit; each has a plain twin in tests/oracles/trajectories/containment.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Sides = Any
"""First and exclusive last of time, x and y of boxes, a column each."""


@njit(cache=True, nogil=True)
def _first_bin(cuts: NDArray[Any], value: Any) -> int:  # pragma: no cover - compiled
    """Return how many cuts are no greater than a value: its bin."""
    return int(np.searchsorted(cuts, value, side="right"))


@njit(cache=True, nogil=True)
def _last_bin(cuts: NDArray[Any], end: Any) -> int:  # pragma: no cover - compiled
    """Return how many cuts are less than an end: the last bin in which a lesser value can be."""
    return int(np.searchsorted(cuts, end, side="left"))


@njit(cache=True, nogil=True)
def mark_corners(every: int, cuts: Any, sides: Sides) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return a table of cells whose sums along all axes say how many boxes touch each.

    Cells lie between cuts of time, x and y; of every so many boxes one is looked at.
    """
    t0, t1, x0, x1, y0, y1 = sides
    corners = np.zeros((len(cuts[0]) + 2, len(cuts[1]) + 2, len(cuts[2]) + 2), np.int64)
    for box in range(0, len(t0), every):
        t, later = _first_bin(cuts[0], t0[box]), _last_bin(cuts[0], t1[box]) + 1
        x, right = _first_bin(cuts[1], x0[box]), _last_bin(cuts[1], x1[box]) + 1
        y, above = _first_bin(cuts[2], y0[box]), _last_bin(cuts[2], y1[box]) + 1
        for sign, at in ((1, t), (-1, later)):
            corners[at, x, y] += sign
            corners[at, right, y] -= sign
            corners[at, x, above] -= sign
            corners[at, right, above] += sign
    return corners


@njit(cache=True, nogil=True)
def find_rarest(
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    t: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    cuts: Any,
    cover: NDArray[np.int64],
    samples: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Write the samples of these rows whose cells the fewest boxes touch, and the cell of the first.

    Each is of another place than those before it, as cells tell places apart; where no place is left, the
    first one stands for it.
    """
    places = (len(cuts[1]) + 1) * (len(cuts[2]) + 1)
    found = np.empty(samples.shape[1], np.int64)
    for i in rows:
        for which in range(samples.shape[1]):
            least = -1
            samples[i, which] = samples[i, 0]
            found[which] = -1
            for s in range(offsets[i], offsets[i + 1]):
                bt, bx, by = _first_bin(cuts[0], t[s]), _first_bin(cuts[1], x[s]), _first_bin(cuts[2], y[s])
                if least >= 0 and cover[bt, bx, by] >= least:
                    continue
                place = bx * (len(cuts[2]) + 1) + by
                known = False
                for before in range(which):
                    known |= found[before] == place
                if not known:
                    least, samples[i, which], found[which] = cover[bt, bx, by], s, place
                    if which == 0:
                        cells[i] = bt * places + place


@njit(cache=True, nogil=True)
def _holding(
    first: int, last: int, t: Any, x: Any, y: Any, box: int, end: int, sides: Sides
) -> int:  # pragma: no cover - compiled
    """Return 0 unless all samples lie in the boxes; 2 if besides no box is without a sample, else 1."""
    t0, t1, x0, x1, y0, y1 = sides
    verdict = 2
    used = box - 1
    # Invariant: samples before s lie in boxes up to ``used``; boxes before ``box`` end before sample s.
    for s in range(first, last):
        while box < end and t1[box] <= t[s]:
            box += 1
        if box == end or t0[box] > t[s]:
            return 0
        if x[s] < x0[box] or x[s] >= x1[box] or y[s] < y0[box] or y[s] >= y1[box]:
            return 0
        if box > used + 1:
            verdict = 1
        used = box
    return verdict if used == end - 1 else 1


@njit(cache=True, nogil=True)
def _may_hold(
    t: Any, x: Any, y: Any, box: int, end: int, sides: Sides
) -> bool:  # pragma: no cover - compiled
    """Return whether one sample lies in a box of a trajectory whose boxes are ordered by time."""
    t0, t1, x0, x1, y0, y1 = sides
    while box < end:
        middle = (box + end) // 2
        if t1[middle] <= t:
            box = middle + 1
        elif t0[middle] > t:
            end = middle
        else:
            return bool(x0[middle] <= x < x1[middle] and y0[middle] <= y < y1[middle])
    return False


@njit(cache=True, nogil=True)
def _holds_others(known: Any, w: int, begin: int, end: int, sides: Sides) -> bool:  # pragma: no cover
    """Return whether each witness of somebody but the first lies in a box of a trajectory."""
    for which in range(1, known.shape[1]):
        if not _may_hold(known[w, which, 0], known[w, which, 1], known[w, which, 2], begin, end, sides):
            return False
    return True


@njit(cache=True, nogil=True)
def count_holding(
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    sides: Sides,
    offsets: NDArray[np.int64],
    t: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    cuts: Any,
    cells: NDArray[np.int64],
    person: NDArray[np.int64],
    known: NDArray[Any],
    seen: NDArray[np.int64],
    support: NDArray[np.int64],
    both: NDArray[np.int64],
    members: NDArray[np.int64],
    room: NDArray[np.int64],
    holders: NDArray[np.int64],
    verdicts: NDArray[np.uint8],
) -> None:  # pragma: no cover - compiled
    """Add up whose samples each of these released trajectories holds.

    Boxes of one released trajectory are ordered by time and do not overlap. Witnesses of people, a few of
    their samples, stand in ``known`` by the cell of the first: those of cell c at ``cells[c]:cells[c + 1]``.
    Whoever holds somebody holds all witnesses, so that only those within a box are looked at.

    ``support`` grows, per person, by the released trajectories that hold all samples; ``both`` by those
    among them in which no box is without one; ``members`` gets, per released trajectory, the people it
    holds in that way. Where ``room`` says from where on there is room for it, ``holders`` and ``verdicts``
    get who holds each person, and 2 for both or 1. ``seen`` says whom each person was compared with last.
    """
    t0, t1, x0, x1, y0, y1 = sides
    columns, lines = len(cuts[1]) + 1, len(cuts[2]) + 1
    for r in rows:
        begin, end = starts[r], starts[r + 1]
        for box in range(begin, end):
            low, high = _first_bin(cuts[2], y0[box]), _last_bin(cuts[2], y1[box]) + 1
            left, right = _first_bin(cuts[1], x0[box]), _last_bin(cuts[1], x1[box]) + 1
            for bt in range(_first_bin(cuts[0], t0[box]), _last_bin(cuts[0], t1[box]) + 1):
                for bx in range(left, right):
                    cell = (bt * columns + bx) * lines
                    for w in range(cells[cell + low], cells[cell + high]):
                        at, east, north = known[w, 0, 0], known[w, 0, 1], known[w, 0, 2]
                        if at < t0[box] or at >= t1[box] or east < x0[box] or east >= x1[box]:
                            continue
                        if north < y0[box] or north >= y1[box]:
                            continue
                        # Boxes that do overlap must not count somebody twice.
                        i = person[w]
                        if not _holds_others(known, w, begin, end, sides) or seen[i] == r:
                            continue
                        seen[i] = r
                        verdict = _holding(offsets[i], offsets[i + 1], t, x, y, begin, end, sides)
                        if verdict:
                            if len(room):
                                holders[room[i] + support[i]] = r
                                verdicts[room[i] + support[i]] = verdict
                            support[i] += 1
                        if verdict == 2:
                            both[i] += 1
                            members[r] += 1


@njit(cache=True, nogil=True)
def find_held(
    rows: NDArray[np.int64],
    first: int,
    last: int,
    t: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    starts: NDArray[np.int64],
    sides: Sides,
) -> NDArray[np.bool_]:  # pragma: no cover - compiled
    """Return, for each of these released trajectories, which of some samples lie in one of its boxes."""
    held = np.zeros((len(rows), last - first), np.bool_)
    for at in range(len(rows)):
        for s in range(first, last):
            held[at, s - first] = _may_hold(t[s], x[s], y[s], starts[rows[at]], starts[rows[at] + 1], sides)
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
