"""Stays and the trips between them: how trajectories feed the OD side."""

from tripcloak.trajectories.stays.stays import Stays, Visits, find_stays
from tripcloak.trajectories.stays.trips import StayTrips, trips_between

__all__ = ["StayTrips", "Stays", "Visits", "find_stays", "trips_between"]
