"""Trips: what lies between one stay and the next elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.trajectories.stays.stays import Stays


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
