"""In how many released trajectories an original one is found, and how many keep close to each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints, narrowed, to_read
from tripcloak.ground.threads import in_threads, processors
from tripcloak.trajectories.audit.screening import BoxSpans, Samples, Screen

QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


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

    A few samples of everybody, where few boxes are, screen out nearly all pairs: whoever contains somebody
    contains these (see :mod:`.screening`). What is left is compared sample by sample.

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
    n, released = len(samples.offsets) - 1, len(spans.offsets) - 1
    if n < 1 or released < 1:
        return Supports(*(np.zeros(size, np.int64) for size in (n, n, released)))
    return Supports(*Screen.of(samples, spans, jobs=jobs).held(jobs))


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
    from tripcloak.trajectories.audit._kernels import find_held

    dropped = _within(dropped, spans)
    people = np.flatnonzero(np.diff(dropped.offsets))
    fewest = np.zeros((len(people), 2), np.int64)
    if not len(people) or len(spans.offsets) < 2:
        return RawSupports(people, *fewest.T)
    lost = narrowed(*dropped[1:])
    screen = Screen.of(_of(samples, people), spans)
    for at, rows, verdict in screen.holders():
        first, last = dropped.offsets[people[at] : people[at] + 2]
        told = (rows, first, last, *lost, screen.starts, screen.sides)
        held = find_held(*told)
        fewest[at] = [_fewest(held[verdict >= least]) for least in (1, 2)]
    return RawSupports(people, *fewest.T)


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
