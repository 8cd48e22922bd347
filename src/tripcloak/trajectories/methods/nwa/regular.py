"""Regular trajectories: places at whole multiples of a step, over spans that begin and end on periods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.trajectories.grid import Grid
from tripcloak.trajectories.methods.pivots.points import Points, ranges


class Spans(NamedTuple):
    """When each person's trimmed trajectory begins and ends, in steps of the grid since 1970.

    Attributes
    ----------
    start, end : array of int64
        First and last time; the end lies before the start where no period begins in between.
    defined : array of int64
        How many whole multiples of the sampling step the untrimmed trajectory holds.
    step : int
        Steps of the grid between two points.
    """

    start: Ints
    end: Ints
    defined: Ints
    step: int

    def times(self, row: int) -> Ints:
        """Return the times at which this person's place is told."""
        return np.arange(self.start[row], self.end[row] + 1, self.step)


def trimmed_spans(points: Points, grid: Grid, *, sampling: int, period: int) -> Spans:
    """Return the spans of trajectories trimmed to whole periods; both lengths in seconds.

    Examples
    --------
    >>> from tripcloak.trajectories.trajectories import Trajectories
    >>> made = Trajectories.of(user=[0, 0], t=[5, 190], x=[0, 0], y=[0, 0], grid=Grid(seconds=60))
    >>> trimmed_spans(Points.of(made), Grid(seconds=60), sampling=600, period=3600)
    Spans(start=array([60]), end=array([180]), defined=array([19]), step=10)
    """
    first, last = (since_1970(points.t[at], grid) for at in (points.offsets[:-1], points.offsets[1:] - 1))
    step, whole = sampling // grid.seconds, period // grid.seconds
    defined = np.maximum(last // step - -(-first // step) + 1, 0)
    return Spans(-(-first // whole) * whole, last // whole * whole, defined, step)


def classes(spans: Spans, k: int) -> list[Ints]:
    """Return people by time span, where k or more share one."""
    whole = np.flatnonzero(spans.end >= spans.start)
    both = np.stack((spans.start[whole], spans.end[whole]), axis=1)
    _, code = np.unique(both, axis=0, return_inverse=True)
    order = np.argsort(code, kind="stable")
    parts = np.split(whole[order], np.flatnonzero(np.diff(code[order])) + 1)
    return [rows for rows in parts if len(rows) >= k]


def places_at(points: Points, grid: Grid, rows: Ints, times: Ints) -> tuple[Ints, Ints]:
    """Return where each of these people is at each of these times: on the way from point to point.

    Every time lies between a person's first and last point.
    """
    own = ranges(points.offsets[rows], points.lengths[rows])
    t = since_1970(points.t[own], grid)
    # People stand one after the other on one axis of time, so that one search finds all the points.
    span = max(int(t.max()), int(times.max())) - min(int(t.min()), int(times.min())) + 1
    shift = np.arange(len(rows)) * span
    axis = t + np.repeat(shift, points.lengths[rows])
    asked = (times[None, :] + shift[:, None]).ravel()
    before = np.searchsorted(axis, asked, side="right") - 1
    after = np.searchsorted(axis, asked, side="left")
    gone = (asked - axis[before]) / np.maximum(axis[after] - axis[before], 1)
    shape = (len(rows), len(times))
    x, y = (
        np.rint(v[before] + gone * (v[after] - v[before])).astype(np.int32).reshape(shape)
        for v in (points.x[own].astype(np.float64), points.y[own].astype(np.float64))
    )
    return x, y


def since_1970(t: Ints, grid: Grid) -> Ints:
    """Return steps of the grid as steps since 1970, where periods begin whole."""
    return np.asarray(t, dtype=np.int64) + grid.start // grid.seconds
