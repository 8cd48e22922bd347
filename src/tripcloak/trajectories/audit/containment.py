"""In how many released trajectories an original one is found, and how many keep close to each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints, narrowed, to_read
from tripcloak.ground.errors import InternalError
from tripcloak.ground.threads import in_threads, processors

CHUNK = 256
"""Trajectories that one thread takes at a time."""

ENOUGH = 1 << 20
"""Samples that are looked at to choose where to cut, and that are put into bins at a time."""

QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


class Samples(NamedTuple):
    """Samples of many trajectories, by time within each; of trajectory i at offsets[i]:offsets[i + 1]."""

    offsets: Ints
    t: Any
    x: Any
    y: Any


class BoxSpans(NamedTuple):
    """Boxes of many trajectories, with exclusive ends, in the same units as the samples."""

    offsets: Ints
    t0: Any
    t1: Any
    x0: Any
    x1: Any
    y0: Any
    y1: Any


@dataclass(frozen=True, eq=False)
class Supports:
    """How well each original trajectory is hidden, and how mixed each released one is.

    Attributes
    ----------
    support : array of int64
        Per original trajectory, the released ones that contain all its samples.
    two_sided : array of int64
        Those among them that have no box without one of its samples.
    members : array of int64
        Per released trajectory, the original ones that it contains in this two-sided way.
    """

    support: Ints
    two_sided: Ints
    members: Ints

    @staticmethod
    def told(supports: Supports | None) -> dict[str, Any]:
        """Return the numbers of a verdict; nothing is known where supports could not be counted."""
        return {
            "smallest_support": None if supports is None else int(supports.support.min()),
            "smallest_two_sided_support": None if supports is None else int(supports.two_sided.min()),
            "distribution": {} if supports is None else supports.distribution(),
        }

    def distribution(self) -> dict[str, dict[str, float]]:
        """Return quantiles of both numbers over the original trajectories."""
        return {
            name: {f"{q:g}": float(v) for q, v in zip(QUANTILES, np.quantile(values, QUANTILES), strict=True)}
            for name, values in (("support", self.support), ("two_sided_support", self.two_sided))
            if len(values)
        }


def count_supports(samples: Samples, spans: BoxSpans, *, jobs: int | None = None) -> Supports:
    """Return in how many released trajectories each original one is contained; exact, for any ``jobs``.

    Coarse cells of space and time that a trajectory touches screen out nearly all pairs: whoever
    contains another touches all its cells. What is left is compared sample by sample.

    Parameters
    ----------
    samples
        The original trajectories, each by time.
    spans
        The released trajectories, each by time, without overlaps in time. Where boxes do overlap,
        fewer may be counted than there are, never more.
    jobs
        Threads; as many as there are processors if not given.

    Examples
    --------
    >>> samples = Samples(np.array([0, 1, 2]), np.array([0, 1]), np.array([5, 9]), np.array([0, 0]))
    >>> wide = [np.array([v, v]) for v in (0, 2, 0, 10, 0, 1)]
    >>> count_supports(samples, BoxSpans(np.array([0, 1, 2]), *wide)).support.tolist()
    [2, 2]
    """
    from tripcloak.trajectories.audit._kernels import count_holding

    n, released = len(samples.offsets) - 1, len(spans.offsets) - 1
    if n < 1 or released < 1:
        return Supports(*(np.zeros(size, np.int64) for size in (n, n, released)))
    samples = _to_read(samples)
    order, marks, released_side = _marked(samples, spans)
    workers = processors(jobs)
    support, both = np.zeros(n, np.int64), np.zeros(n, np.int64)
    held = np.zeros((workers, released), np.int64)

    def work(worker: int) -> None:
        for at in range(worker * CHUNK, n, workers * CHUNK):
            rows = np.arange(at, min(at + CHUNK, n))
            count_holding(rows, *samples, marks, *released_side, support, both, held[worker])

    _ = list(in_threads(work, range(workers), workers))
    members = np.empty(released, np.int64)
    members[order] = held.sum(axis=0)
    return Supports(support, both, members)


class Marked(NamedTuple):
    """Released trajectories in an order in which neighbours are near each other, with their cells."""

    starts: Ints
    boxes: Any
    marks: Any
    joined: Any


def _marked(samples: Samples, spans: BoxSpans) -> tuple[Ints, Any, Marked]:
    """Return an order of the released trajectories, cells of the originals, and boxes with their cells."""
    from tripcloak.trajectories.audit._kernels import join_marks, mark_cells

    cuts = _cuts(samples)
    order = _near_each_other(spans, cuts)
    starts, boxes = _in_order(spans, order)
    marks = mark_cells(samples.offsets, *_sample_bins(samples, cuts))
    released_marks = mark_cells(starts, *_box_bins(boxes, cuts))
    return order, marks, Marked(starts, boxes, released_marks, join_marks(released_marks))


class RawSupports(NamedTuple):
    """How well people are hidden from somebody who also knows samples that reading dropped.

    Attributes
    ----------
    people : array of int64
        The original trajectories of which such samples lie where and when something was released.
    support : array of int64
        For each of them, the fewest released trajectories that contain all samples and some of the dropped
        ones, whichever, where any trajectory contains these at all.
    two_sided : array of int64
        The same of trajectories that have no box without one of the samples that were kept.
    """

    people: Ints
    support: Ints
    two_sided: Ints

    @staticmethod
    def told(raw: RawSupports | None) -> dict[str, Any]:
        """Return the numbers of a verdict: how many people, and the smallest of both numbers."""
        known = raw is not None and len(raw.people) > 0
        return {
            "raw_record": {
                "people": None if raw is None else len(raw.people),
                "smallest_support": int(raw.support.min()) if raw is not None and known else None,
                "smallest_two_sided_support": int(raw.two_sided.min()) if raw is not None and known else None,
            }
        }


def count_raw_supports(samples: Samples, dropped: Samples, spans: BoxSpans) -> RawSupports:
    """Return in how many released trajectories people are found by dropped samples beside their own.

    Parameters
    ----------
    samples
        The original trajectories, each by time.
    dropped
        What else was recorded of the same people, in the same order; somebody may have none.
    spans
        The released trajectories, each by time, without overlaps in time.

    Examples
    --------
    >>> samples = Samples(np.array([0, 1, 2]), np.array([0, 0]), np.array([5, 9]), np.array([0, 0]))
    >>> dropped = Samples(np.array([0, 1, 1]), np.array([0]), np.array([11]), np.array([0]))
    >>> wide = [np.array(side) for side in ([0, 0], [1, 1], [0, 0], [10, 12], [0, 0], [1, 1])]
    >>> count_raw_supports(samples, dropped, BoxSpans(np.array([0, 1, 2]), *wide)).support.tolist()
    [1]
    """
    from tripcloak.trajectories.audit._kernels import find_held, find_holding

    dropped = _to_read(_within(dropped, spans))
    people = np.flatnonzero(np.diff(dropped.offsets))
    fewest = np.zeros((len(people), 2), np.int64)
    if not len(people) or len(spans.offsets) < 2:
        return RawSupports(people, *fewest.T)
    own = _to_read(_of(samples, people))
    _, marks, released = _marked(own, spans)
    for at, (first, last) in enumerate(
        zip(dropped.offsets[people], dropped.offsets[people + 1], strict=True)
    ):
        verdict = find_holding(at, *own, marks, *released)
        rows = np.flatnonzero(verdict)
        held = find_held(rows, first, last, *dropped[1:], released.starts, released.boxes)
        fewest[at] = [_fewest(held[verdict[rows] >= least]) for least in (1, 2)]
    return RawSupports(people, *fewest.T)


def _to_read(samples: Samples) -> Samples:
    """Return samples in the one form that kernels are given."""
    return Samples(to_read(samples.offsets), *narrowed(*samples[1:]))


def _of(samples: Samples, people: Ints) -> Samples:
    """Return the samples of these people alone."""
    lengths = np.diff(samples.offsets)[people]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    at = np.arange(offsets[-1]) + np.repeat(samples.offsets[people] - offsets[:-1], lengths)
    return Samples(offsets, *(column[at] for column in samples[1:]))


def _within(dropped: Samples, spans: BoxSpans) -> Samples:
    """Return the samples that lie where and when anything was released; no box holds the others."""
    inside = np.ones(len(dropped.t), dtype=bool)
    for column, low, high in zip(dropped[1:], spans[1::2], spans[2::2], strict=True):
        inside &= (low.min() <= column) & (column < high.max())
    kept = np.concatenate(([0], np.cumsum(inside)))
    return Samples(kept[dropped.offsets], *(column[inside] for column in dropped[1:]))


def _fewest(held: Any) -> int:
    """Return the fewest rows that hold all that any one row holds, given what each holds."""
    if not len(held):
        return 0
    kinds, number = np.unique(held, axis=0, return_counts=True)
    return min(int(number[kinds[:, kind].all(axis=1)].sum()) for kind in kinds)


def _cuts(samples: Samples) -> list[Any]:
    """Return where time, x and y are cut, so that each bin holds about as many original samples."""
    from tripcloak.trajectories.audit._kernels import SPACE, TIMES

    every = 1 + len(samples.t) // ENOUGH
    return [
        np.quantile(values[::every], np.arange(1, number) / number, method="lower")
        for values, number in zip((samples.t, samples.x, samples.y), (TIMES, SPACE, SPACE), strict=True)
    ]


def _sample_bins(samples: Samples, cuts: list[Any]) -> tuple[Ints, Ints]:
    bins = _binned(cuts, (samples.t, samples.x, samples.y), "right")
    return bins, bins


def _box_bins(boxes: Any, cuts: list[Any]) -> tuple[Ints, Ints]:
    """Return the first and the last bin in which a sample of each box can be."""
    # A value below an exclusive end is in a bin no later than the last one that begins before the end.
    lows, highs = (tuple(boxes[:, side + end] for side in (0, 2, 4)) for end in (0, 1))
    return _binned(cuts, lows, "right"), _binned(cuts, highs, "left")


def _binned(cuts: list[Any], columns: tuple[Any, ...], side: Literal["left", "right"]) -> Ints:
    bins = np.empty((len(cuts), len(columns[0])), np.uint8)
    for axis, (cut, column) in enumerate(zip(cuts, columns, strict=True)):
        for start in range(0, len(column), ENOUGH):
            part = slice(start, start + ENOUGH)
            bins[axis, part] = np.searchsorted(cut, column[part], side=side)
    return bins


def _near_each_other(spans: BoxSpans, cuts: list[Any]) -> Ints:
    """Return an order of the released trajectories in which neighbours lie near each other."""
    if spans.offsets[0] != 0 or (np.diff(spans.offsets) < 1).any():
        raise InternalError("every released trajectory needs a sample")
    begins, lengths = spans.offsets[:-1], np.diff(spans.offsets)
    key = np.zeros(len(begins), np.int64)
    bins = []
    for axis, (low, high) in enumerate(((spans.x0, spans.x1), (spans.y0, spans.y1)), start=1):
        middles = np.asarray(low, np.float64) / 2 + np.asarray(high, np.float64) / 2
        bins.append(np.searchsorted(cuts[axis], np.add.reduceat(middles, begins) / lengths))
    for bit in range(4):
        for axis in (0, 1):
            key |= ((bins[axis] >> bit) & 1) << (2 * bit + axis)
    extent = np.maximum.reduceat(spans.x1, begins) - np.minimum.reduceat(spans.x0, begins)
    return np.lexsort((extent, key))


def _in_order(spans: BoxSpans, order: Ints) -> tuple[Ints, Any]:
    """Return where each trajectory begins, and a row a box, trajectories in this order."""
    lengths = np.diff(spans.offsets)[order]
    starts = np.concatenate(([0], np.cumsum(lengths)))
    rows = np.arange(starts[-1]) + np.repeat(spans.offsets[:-1][order] - starts[:-1], lengths)
    columns = narrowed(*spans[1:])
    boxes = np.empty((len(rows), 6), columns[0].dtype)
    for at, column in enumerate(columns):
        boxes[:, at] = column[rows]
    return to_read(starts), boxes


def count_companions(
    offsets: Ints, t: Ints, x: Floats, y: Floats, *, delta: float, jobs: int | None = None
) -> Ints:
    """Return, for every trajectory of points, how many others have its time stamps and stay within delta.

    Parameters
    ----------
    offsets, t, x, y
        Points of trajectory i at ``offsets[i]:offsets[i + 1]``, by time; x and y in the unit of delta.
    delta
        The largest distance at any time stamp.
    jobs
        Threads; as many as there are processors if not given.

    Examples
    --------
    >>> offsets, t = np.array([0, 2, 4, 6]), np.array([0, 1, 0, 1, 0, 2])
    >>> count_companions(offsets, t, np.array([0.0, 0, 3, 4, 0, 0]), np.zeros(6), delta=4.0).tolist()
    [1, 1, 0]
    """
    from tripcloak.trajectories.audit._kernels import count_near

    group = _same_times(offsets, t)
    order = np.lexsort((x[offsets[:-1]], group))
    ends = np.searchsorted(group[order], group[order], side="right")
    columns = (
        order,
        ends,
        to_read(offsets),
        np.asarray(x, np.float64),
        np.asarray(y, np.float64),
        float(delta),
    )
    workers = processors(jobs)
    near = list(
        in_threads(
            lambda at: count_near(np.arange(at, len(order), workers), *columns), range(workers), workers
        )
    )
    companions = np.empty(len(order), np.int64)
    companions[order] = np.sum(near, axis=0)
    return companions


def _same_times(offsets: Ints, t: Ints) -> Ints:
    """Return a number for every trajectory, equal where all time stamps are."""
    numbers: dict[bytes, int] = {}
    stamps = np.ascontiguousarray(t)
    return np.array(
        [numbers.setdefault(stamps[begin:end].tobytes(), len(numbers)) for begin, end in pairwise(offsets)],
        dtype=np.int64,
    )
