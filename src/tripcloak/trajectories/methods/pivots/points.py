"""Points: at most one place a person and step of time, which is what clusters round pivots are made of."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.trajectories.grid import Grid
from tripcloak.trajectories.trajectories import Trajectories


class _Columns(NamedTuple):
    offsets: Ints
    t: Ints
    x: Ints
    y: Ints
    point_of: Ints


class Points(_Columns):
    """The points of all people, by time, and the point of every sample.

    Points of person i stand at ``offsets[i]:offsets[i + 1]``; no two of them are in one step of time.
    """

    @classmethod
    def of(cls, trajectories: Trajectories) -> Points:
        """Return the points of trajectories: samples of one step of time are one, in their middle.

        Examples
        --------
        >>> from tripcloak.trajectories.grid import Grid
        >>> made = Trajectories.of(user=[0, 0, 0], t=[1, 1, 2], x=[0, 4, 7], y=[0, 0, 0], grid=Grid())
        >>> Points.of(made).x.tolist()
        [2, 7]
        """
        fresh = np.ones(trajectories.n_samples, dtype=bool)
        fresh[1:] = np.diff(trajectories.t) != 0
        fresh[trajectories.offsets[:-1]] = True
        point_of = np.cumsum(fresh) - 1
        starts = np.flatnonzero(fresh)
        held = np.diff(np.append(starts, trajectories.n_samples))
        x, y = (
            np.floor_divide(np.add.reduceat(column.astype(np.int64), starts), held).astype(np.int32)
            for column in (trajectories.x, trajectories.y)
        )
        offsets = np.append(point_of[trajectories.offsets[:-1]], len(starts))
        return cls(offsets, trajectories.t[starts], x, y, point_of)

    @cached_property
    def lengths(self) -> Ints:
        """Return the number of points of every person."""
        return np.diff(self.offsets)

    @cached_property
    def centres(self) -> tuple[Floats, Floats]:
        """Return the mean place of every person, in steps."""
        x, y = (np.add.reduceat(v.astype(np.float64), self.offsets[:-1]) for v in (self.x, self.y))
        return x / self.lengths, y / self.lengths

    def pace(self, grid: Grid) -> float:
        """Return how many metres people cover in a step of time, on the whole.

        One step of space a step of time where nobody moves or no time goes by.
        """
        within = np.ones(len(self.t) - 1, dtype=bool)
        within[self.offsets[1:-1] - 1] = False
        moved = np.hypot(*(np.diff(v.astype(np.float64))[within] for v in (self.x, self.y))).sum()
        lasted = float((self.t[self.offsets[1:] - 1].astype(np.int64) - self.t[self.offsets[:-1]]).sum())
        return grid.metres * (float(moved / lasted) if moved and lasted else 1.0)

    def spread(self, grid: Grid) -> float:
        """Return how far points lie from the middle of all, on the mean: metres, and time at the pace."""
        t, x, y = (column - column.mean() for column in (self.t, self.x, self.y))
        return float(np.hypot(x, y).mean()) * grid.metres + float(np.abs(t).mean()) * self.pace(grid)


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return starts[0], starts[0] + 1, ... for its length, then the same for the others.

    Examples
    --------
    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    rows: Ints = np.arange(total) + np.repeat(np.asarray(starts) - (ends - lengths), lengths)
    return rows
