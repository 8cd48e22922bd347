"""Stays of people in a place, and the trips between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints, to_read
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes


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
    from tripcloak.trajectories._kernels import mark_arrivals

    if not metres > 0 or not minutes >= 0:
        raise InputError("a stay needs a positive number of metres, and minutes that are 0 or more")
    arrives = np.zeros(len(visits.x), dtype=bool)
    x, y = visits.x.astype(np.float64), visits.y.astype(np.float64)
    mark_arrivals(to_read(visits.offsets), x, y, float(metres), arrives)
    first = np.flatnonzero(arrives)
    sizes = np.diff(first, append=len(x))
    owner = np.searchsorted(visits.offsets, first, side="right") - 1
    begins, ends = visits.begins[first], visits.ends[first + sizes - 1]
    long = ends - begins >= minutes * 60
    means = (np.add.reduceat(side, first) / sizes if len(first) else side for side in (x, y))
    return Stays(*(column[long] for column in (owner, begins, ends, *means)))


class StayTrips(NamedTuple):
    """Trips by trajectory and time: left the origin, reached the destination; projected metres.

    ``too_long`` is how many were left out, because nobody knows where their people were meanwhile.
    """

    owner: Ints
    leaves: Ints
    arrives: Ints
    origin_x: Floats
    origin_y: Floats
    destination_x: Floats
    destination_y: Floats
    too_long: int


def trips_between(stays: Stays, *, metres: float = 200.0, hours: float = 24.0) -> StayTrips:
    """Return one trip for each change of place between a stay and the next of the same trajectory.

    Parameters
    ----------
    metres
        Stays closer to each other than this are at one place; a walk around the block is no trip.
    hours
        Between two stays further apart in time, nobody knows what happened: that is no trip.

    Examples
    --------
    >>> import numpy as np
    >>> told = ([0, 0, 1], [0, 2400, 0], [1860, 6060, 900], [0.0, 3000, 7], [0.0, 0, 7])
    >>> stays = Stays(*map(np.array, told))
    >>> trips = trips_between(stays)
    >>> trips.leaves.tolist(), trips.arrives.tolist(), trips.destination_x.tolist()
    ([1860], [2400], [3000.0])
    """
    if not hours > 0:
        raise InputError("the longest trip must be a positive number of hours")
    origin = np.arange(max(len(stays.owner) - 1, 0))
    destination = origin + 1
    away = np.hypot(stays.x[destination] - stays.x[origin], stays.y[destination] - stays.y[origin])
    moved = (stays.owner[origin] == stays.owner[destination]) & (away > metres)
    short = stays.begins[destination] - stays.ends[origin] <= hours * 3600
    origin, destination = origin[moved & short], destination[moved & short]
    arrives = stays.begins[destination]
    return StayTrips(
        stays.owner[origin],
        # Samples last a step: within one and the same, somebody may be seen at two places.
        np.minimum(stays.ends[origin], arrives),
        arrives,
        stays.x[origin],
        stays.y[origin],
        stays.x[destination],
        stays.y[destination],
        too_long=int((moved & ~short).sum()),
    )
