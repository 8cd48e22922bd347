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
) -> None:  # pragma: no cover - compiled
    """Write the samples of these rows whose cells the fewest boxes touch.

    Each is of another place than those before it, as cells tell places apart; where no place is left, the
    first one stands for it.
    """
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
def find_bins(
    values: NDArray[Any], cuts: NDArray[Any], most: NDArray[Any]
) -> NDArray[np.uint16]:  # pragma: no cover
    """Return the bins of values, and raise ``most`` to the largest value of each bin."""
    bins = np.empty(len(values), np.uint16)
    for s in range(len(values)):
        found = _first_bin(cuts, values[s])
        bins[s] = found
        most[found] = max(most[found], values[s])
    return bins


@njit(cache=True, nogil=True)
def _span(low: Any, high: Any, cuts: Any, most: Any, at: int, bins: Any) -> None:  # pragma: no cover
    """Write the first and last bin that a span touches, and those whose values it holds for sure."""
    first, last = _first_bin(cuts, low), _last_bin(cuts, high)
    bins[at, 0], bins[at, 1] = first, last
    bins[at, 2] = first if first > 0 and low <= cuts[first - 1] else first + 1
    bins[at, 3] = last if most[last] < high else last - 1


@njit(cache=True, nogil=True)
def _lay_boxes(rows: Any, starts: Any, sides: Sides, fine: Any) -> Any:  # pragma: no cover - compiled
    """Return the boxes of some released trajectories: whose, which, and their bins of time, x and y.

    A box counts from when all before it have ended; one that has ended by then never counts.
    """
    t0, t1, x0, x1, y0, y1 = sides
    many = 0
    for r in rows:
        many += starts[r + 1] - starts[r]
    own, box = np.empty(many, np.int32), np.empty(many, np.int64)
    bins = (np.empty((many, 4), np.int16), np.empty((many, 4), np.int16), np.empty((many, 4), np.int16))
    at = 0
    for lane in range(len(rows)):
        ended = t0[starts[rows[lane]]]
        for b in range(starts[rows[lane]], starts[rows[lane] + 1]):
            begin = max(t0[b], ended)
            if begin >= t1[b]:
                continue
            ended = t1[b]
            _span(begin, t1[b], fine[0][0], fine[0][1], at, bins[0])
            _span(x0[b], x1[b], fine[1][0], fine[1][1], at, bins[1])
            _span(y0[b], y1[b], fine[2][0], fine[2][1], at, bins[2])
            own[at], box[at] = lane, b
            at += 1
    return own[:at], box[:at], (bins[0][:at], bins[1][:at], bins[2][:at])


@njit(cache=True, nogil=True)
def _by_bin(bins: Any, number: int) -> Any:  # pragma: no cover - compiled
    """Return where each bin's rows begin in an order by bin, and that order."""
    begins = np.zeros(number + 1, np.int64)
    for at in range(len(bins)):
        begins[bins[at] + 1] += 1
    begins = np.cumsum(begins)
    order, put = np.empty(len(bins), np.int32), begins.copy()
    for at in range(len(bins)):
        order[put[bins[at]]] = at
        put[bins[at]] += 1
    return begins, order


@njit(cache=True, nogil=True)
def _bit(lane: Any) -> Any:  # pragma: no cover - compiled
    """Return the bit of a lane in its word."""
    return np.uint64(1) << np.uint64(lane & 63)


@njit(cache=True, nogil=True)
def _lowest(word: Any) -> int:  # pragma: no cover - compiled
    """Return the place of the lowest bit of a word that has one."""
    place = 0
    for half in (32, 16, 8, 4, 2, 1):
        if not word & ((np.uint64(1) << np.uint64(half)) - np.uint64(1)):
            word >>= np.uint64(half)
            place += half
    return place


@njit(cache=True, nogil=True)
def _touched(rows: Any, starts: Any, sides: Sides, cuts: Any) -> Any:  # pragma: no cover - compiled
    """Return, of cells that these released trajectories touch, a row each, and a bit for each that does."""
    t0, t1, x0, x1, y0, y1 = sides
    columns, lines = len(cuts[1]) + 1, len(cuts[2]) + 1
    slot, many = np.full((len(cuts[0]) + 1) * columns * lines, -1, np.int32), 0
    lanes = np.zeros((1, (len(rows) + 63) // 64), np.uint64)
    # The first turn numbers the cells, the second one sets the bits.
    for turn in range(2):
        for lane in range(len(rows)):
            for b in range(starts[rows[lane]], starts[rows[lane] + 1]):
                low, high = _first_bin(cuts[2], y0[b]), _last_bin(cuts[2], y1[b]) + 1
                left, right = _first_bin(cuts[1], x0[b]), _last_bin(cuts[1], x1[b]) + 1
                for bt in range(_first_bin(cuts[0], t0[b]), _last_bin(cuts[0], t1[b]) + 1):
                    for bx in range(left, right):
                        for cell in range(
                            (bt * columns + bx) * lines + low, (bt * columns + bx) * lines + high
                        ):
                            if turn:
                                lanes[slot[cell], lane >> 6] |= _bit(lane)
                            elif slot[cell] < 0:
                                slot[cell] = many
                                many += 1
        if not turn:
            lanes = np.zeros((many, lanes.shape[1]), np.uint64)
    return slot, lanes


@njit(cache=True, nogil=True)
def _choose(
    first: int, kept: int, witnesses: Any, touched: Any, people: Any, left: Any
) -> Any:  # pragma: no cover - compiled
    """Return how many people may be held, those kept before and others from one on, and who comes next.

    ``left`` gets, for each, a bit for every released trajectory that touches the cells of all witnesses.
    """
    slot, lanes = touched
    found, i = kept, first
    while i < len(witnesses) and found < len(people):
        some = np.uint64(0)
        for which in range(witnesses.shape[1]):
            at = slot[witnesses[i, which]]
            some = np.uint64(0)
            if at < 0:
                break
            for w in range(lanes.shape[1]):
                left[found, w] = lanes[at, w] & left[found, w] if which else lanes[at, w]
                some |= left[found, w]
        if some:
            people[found] = i
            found += 1
        i += 1
    return found, i


@njit(cache=True, nogil=True)
def _keep(people: Any, left: Any, first: int, last: int) -> int:  # pragma: no cover - compiled
    """Move those up who may still be held, from one on; return how many they are with those before."""
    kept = first
    for q in range(first, last):
        some = np.uint64(0)
        for w in range(left.shape[1]):
            left[kept, w] = left[q, w]
            some |= left[q, w]
        people[kept] = people[q]
        kept += some != 0
    return kept


@njit(cache=True, nogil=True)
def _strides(people: Any, offsets: Any, few: int) -> Any:  # pragma: no cover - compiled
    """Return the first of how many samples is looked at, of each person: so that few are; 0: of all."""
    strides = np.ones(len(people), np.int64)
    if few:
        for q in range(len(people)):
            strides[q] += (offsets[people[q] + 1] - offsets[people[q]] - 1) // few
    return strides


@njit(cache=True, nogil=True)
def _lay_samples(people: Any, strides: Any, offsets: Any, bins: Any, number: int) -> Any:  # pragma: no cover
    """Return samples of some people by bin of time: where each bin begins, whose, and bins of x and y."""
    t, x, y = bins
    begins = np.zeros(number + 1, np.int64)
    for q in range(len(people)):
        for s in range(offsets[people[q]], offsets[people[q] + 1], strides[q]):
            begins[t[s] + 1] += 1
    begins = np.cumsum(begins)
    put, whose = begins.copy(), np.empty(begins[-1], np.int32)
    places = np.empty((begins[-1], 2), np.uint16)
    for q in range(len(people)):
        for s in range(offsets[people[q]], offsets[people[q] + 1], strides[q]):
            at = put[t[s]]
            put[t[s]] += 1
            whose[at], places[at, 0], places[at, 1] = q, x[s], y[s]
    return begins, whose, places


@njit(cache=True, nogil=True)
def _set_box(on: bool, lane: Any, x: Any, y: Any, now: Any) -> None:  # pragma: no cover - compiled
    """Set or clear the bit of a lane where its box is: bins that it touches, and those it holds for sure."""
    word, bit = lane >> 6, _bit(lane)
    for side, bins in ((0, x), (1, y)):
        for sure in range(2):
            rows = now[2 * side + sure]
            for b in range(bins[2 * sure], bins[2 * sure + 1] + 1):
                rows[b, word] = rows[b, word] | bit if on else rows[b, word] & ~bit


@njit(cache=True, nogil=True)
def _begin_boxes(which: Any, boxes: Any, now: Any, unsure: Any) -> None:  # pragma: no cover - compiled
    """Let boxes begin that have their first sample, if any, in this bin of time."""
    own, _, (t, x, y) = boxes
    for b in which:
        _set_box(True, own[b], x[b], y[b], now)
        if t[b, 2] > t[b, 0]:
            unsure[own[b] >> 6] |= _bit(own[b])


@njit(cache=True, nogil=True)
def _end_boxes(which: Any, at: int, boxes: Any, now: Any, heads: Any) -> None:  # pragma: no cover - compiled
    """Let boxes end that reach no further than this bin of time."""
    own, box, (t, x, y) = boxes
    for b in which:
        _set_box(False, own[b], x[b], y[b], now)
        heads[own[b]] = box[b] + 1
        # Bins of the next box that begins in the same bin of time may have been cleared with it.
        if b + 1 < len(own) and own[b + 1] == own[b] and t[b + 1, 0] <= at < t[b + 1, 1]:
            _set_box(True, own[b], x[b + 1], y[b + 1], now)


@njit(cache=True, nogil=True)
def _look_closer(
    s: int, doubts: Any, w: int, heads: Any, ends: Any, t: Any, x: Any, y: Any, sides: Sides
) -> Any:  # pragma: no cover - compiled
    """Return which of the lanes of a word that are in doubt do not hold a sample."""
    t0, t1, x0, x1, y0, y1 = sides
    out = np.uint64(0)
    while doubts:
        lane = (w << 6) + _lowest(doubts)
        doubts &= doubts - np.uint64(1)
        b, end = heads[lane], ends[lane]
        # Heads have not ended before this bin of time.
        while b < end and t1[b] <= t[s]:
            b += 1
        if b == end or t0[b] > t[s] or not (x0[b] <= x[s] < x1[b] and y0[b] <= y[s] < y1[b]):
            out |= _bit(lane)
    return out


@njit(cache=True, nogil=True)
def _sweep(
    rows: Any, starts: Any, sides: Sides, boxes: Any, orders: Any, fine: Any,
    people: Any, offsets: Any, t: Any, x: Any, y: Any, few: int, bins: Any, left: Any,
) -> None:  # pragma: no cover - compiled  # fmt: skip
    """Clear from ``left`` the bits of released trajectories without some sample of a person.

    Not all samples are looked at but some of each person, where few are asked for.
    Time runs bin by bin. At each, ``now`` says which trajectories are in which bins of x and of y: of all
    the bits of a word at once. Edges that cut a bin leave doubts, which are looked at one by one.
    """
    (begins, begun), (ends, ended) = orders
    strides = _strides(people, offsets, few)
    samples, whose, places = _lay_samples(people, strides, offsets, bins, len(fine[0][1]))
    words = left.shape[1]
    wide, high = len(fine[1][1]), len(fine[2][1])
    now = (
        np.zeros((wide, words), np.uint64), np.zeros((wide, words), np.uint64),
        np.zeros((high, words), np.uint64), np.zeros((high, words), np.uint64),
    )  # fmt: skip
    unsure, heads, lasts = np.zeros(words, np.uint64), starts[rows], starts[rows + 1]
    cursors, gone = offsets[people], np.zeros(len(people), np.bool_)
    own, _, (times, _, _) = boxes
    for at in range(len(samples) - 1):
        coming, going = begun[begins[at] : begins[at + 1]], ended[ends[at] : ends[at + 1]]
        _begin_boxes(coming, boxes, now, unsure)
        for b in going:
            if times[b, 3] < times[b, 1]:
                unsure[own[b] >> 6] |= _bit(own[b])
        for k in range(samples[at], samples[at + 1]):
            q = whose[k]
            if gone[q]:
                continue
            s = cursors[q]
            cursors[q] += strides[q]
            mine, (touch_x, sure_x, touch_y, sure_y) = left[q], now
            across, sure_across = touch_x[places[k, 0]], sure_x[places[k, 0]]
            along, sure_along = touch_y[places[k, 1]], sure_y[places[k, 1]]
            some, doubt = np.uint64(0), np.uint64(0)
            for w in range(words):
                word = mine[w] & across[w] & along[w]
                mine[w] = word
                some |= word
                doubt |= word & (unsure[w] | ~(sure_across[w] & sure_along[w]))
            if doubt:
                some = np.uint64(0)
                for w in range(words):
                    doubts = mine[w] & (unsure[w] | ~(sure_across[w] & sure_along[w]))
                    mine[w] &= ~_look_closer(s, doubts, w, heads, lasts, t, x, y, sides)
                    some |= mine[w]
            gone[q] = not some
        _end_boxes(going, at, boxes, now, heads)
        for b in coming:
            unsure[own[b] >> 6] &= ~_bit(own[b])
        for b in going:
            unsure[own[b] >> 6] &= ~_bit(own[b])


@njit(cache=True, nogil=True)
def _fills(first: int, last: int, t: Any, box: int, end: int, sides: Sides) -> bool:  # pragma: no cover
    """Return whether each box of a trajectory has a sample, of some that lie in its boxes."""
    t0, t1 = sides[0], sides[1]
    if end - box > last - first or t[last - 1] < t0[end - 1]:
        return False
    s = first
    # Invariant: samples before s lie in boxes before b.
    for b in range(box, end):
        if s == last or t[s] >= t1[b]:
            return False
        while s < last and t[s] < t1[b]:
            s += 1
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
    witnesses: NDArray[np.int32],
    fine: Any,
    bins: Any,
    limits: tuple[int, int, int],
    support: NDArray[np.int64],
    both: NDArray[np.int64],
    members: NDArray[np.int64],
    room: NDArray[np.int64],
    holders: NDArray[np.int64],
    verdicts: NDArray[np.uint8],
) -> None:  # pragma: no cover - compiled
    """Add up whose samples each of these released trajectories holds.

    Boxes of one released trajectory are ordered by time and do not overlap. ``witnesses`` are cells between
    ``cuts`` in which everybody has samples: only released trajectories that touch them all are looked at.
    ``fine`` holds for time, x and y finer cuts, and the largest value of each bin between them; ``bins`` the
    bins of all samples; ``limits`` how many people, and samples about, are looked at at a time, and how
    many samples of each person before all are.

    ``support`` grows, per person, by the released trajectories that hold all samples; ``both`` by those
    among them in which no box is without one; ``members`` gets, per released trajectory, the people it
    holds in that way. Where ``room`` says from where on there is room for it, ``holders`` and ``verdicts``
    get who holds each person, and 2 for both or 1.
    """
    boxes, touched, times = (
        _lay_boxes(rows, starts, sides, fine),
        _touched(rows, starts, sides, cuts),
        len(fine[0][1]),
    )
    orders = _by_bin(boxes[2][0][:, 0], times), _by_bin(boxes[2][0][:, 1], times)
    people = np.empty(min(limits[0], len(witnesses)), np.int64)
    left = np.empty((len(people), touched[1].shape[1]), np.uint64)
    against = (rows, starts, sides, boxes, orders, fine)
    following, kept = 0, 0
    while following < len(witnesses) or kept:
        found, following = _choose(following, kept, witnesses, touched, people, left)
        new = slice(kept, found)
        _sweep(*against, people[new], offsets, t, x, y, limits[2], bins, left[new])
        kept = _keep(people, left, kept, found)
        if 2 * kept < len(people) and following < len(witnesses):
            continue
        last = 0
        while last < kept:
            first, taken = last, 0
            while last < kept and taken < limits[1]:
                taken += offsets[people[last] + 1] - offsets[people[last]]
                last += 1
            _sweep(*against, people[first:last], offsets, t, x, y, 0, bins, left[first:last])
        for q in range(kept):
            i = people[q]
            for w in range(left.shape[1]):
                word = left[q, w]
                while word:
                    r = rows[(w << 6) + _lowest(word)]
                    word &= word - np.uint64(1)
                    filled = _fills(offsets[i], offsets[i + 1], t, starts[r], starts[r + 1], sides)
                    if len(room):
                        holders[room[i] + support[i]] = r
                        verdicts[room[i] + support[i]] = 1 + filled
                    support[i] += 1
                    both[i] += filled
                    members[r] += filled
        kept = 0


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
