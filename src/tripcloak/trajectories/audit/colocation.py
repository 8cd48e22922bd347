"""Colocation: how many released trajectories keep within a distance of each one, at all its times."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.trajectories.audit.containment import in_threads


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
    columns = (order, ends, offsets, np.asarray(x, np.float64), np.asarray(y, np.float64), float(delta))
    workers = jobs or os.cpu_count() or 1
    near = in_threads(lambda at: count_near(np.arange(at, len(order), workers), *columns), workers)
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
