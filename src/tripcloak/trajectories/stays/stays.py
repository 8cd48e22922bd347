"""Stays: where somebody remained, and from when to when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.trajectories.grid import Grid
from tripcloak.trajectories.release import Boxes
from tripcloak.trajectories.trajectories import Trajectories


class Visits(NamedTuple):
    """Samples in seconds and projected metres: centres of steps, or of generalised boxes.

    Attributes
    ----------
    offsets : array of int64
        Where the samples of each trajectory begin; one more than there are.
    begins, ends : array of int64
        Seconds since 1970; the end is exclusive.
    x, y : array of float
        Centres, in projected metres.
    """

    offsets: Ints
    begins: Ints
    ends: Ints
    x: Floats
    y: Floats

    @classmethod
    def of_trajectories(cls, trajectories: Trajectories) -> Visits:
        """Return the samples of trajectories, each of which lasts one step of the grid."""
        t, x, y = trajectories.t, trajectories.x, trajectories.y
        return cls.of_boxes(trajectories.grid, trajectories.offsets, Boxes(t, t + 1, x, x + 1, y, y + 1))

    @classmethod
    def of_boxes(cls, grid: Grid, offsets: Ints, boxes: Boxes) -> Visits:
        """Return generalised samples as their centres; each lasts as long as its box."""
        t0, t1 = grid.times(boxes.t0), grid.times(boxes.t1)
        x = (grid.places(boxes.x0) + grid.places(boxes.x1)) / 2
        y = (grid.places(boxes.y0) + grid.places(boxes.y1)) / 2
        return cls(np.asarray(offsets, dtype=np.int64), t0, t1, x, y)


class Stays(NamedTuple):
    """Stays of all trajectories, by trajectory and time; a place is the mean of its samples' centres."""

    owner: Ints
    begins: Ints
    ends: Ints
    x: Floats
    y: Floats


def find_stays(visits: Visits, *, metres: float = 200.0, minutes: float = 20.0) -> Stays:
    """Return where people remained within ``metres`` for ``minutes`` or more.

    A stay begins at a sample, its anchor, and lasts while samples lie within ``metres`` of the anchor
    (Li and others, Mining user similarity based on location history, 2008). With ``minutes=0`` every
    change of place counts, which is what check-ins need.

    Examples
    --------
    >>> import numpy as np
    >>> at = np.array([0, 600, 1800, 2400, 6000])
    >>> visits = Visits(np.array([0, 5]), at, at + 60, np.array([0.0, 50, 20, 3000, 3000]), np.zeros(5))
    >>> find_stays(visits)[1:3]
    (array([   0, 2400]), array([1860, 6060]))
    """
    from tripcloak.trajectories.stays._kernels import mark_arrivals

    if not metres > 0 or not minutes >= 0:
        raise InputError("a stay needs a positive number of metres, and minutes that are 0 or more")
    arrives = np.zeros(len(visits.x), dtype=bool)
    x, y = visits.x.astype(np.float64), visits.y.astype(np.float64)
    mark_arrivals(visits.offsets, x, y, float(metres), arrives)
    first = np.flatnonzero(arrives)
    sizes = np.diff(first, append=len(x))
    owner = np.searchsorted(visits.offsets, first, side="right") - 1
    begins, ends = visits.begins[first], visits.ends[first + sizes - 1]
    long = ends - begins >= minutes * 60
    means = (np.add.reduceat(side, first) / sizes if len(first) else side for side in (x, y))
    return Stays(*(column[long] for column in (owner, begins, ends, *means)))
