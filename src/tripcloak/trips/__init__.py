"""Trips: from raw records to clean trips, with a count of what was dropped and why, and on to a matrix."""

from tripcloak.trips.canonical import Canonical, open_canonical
from tripcloak.trips.cleaning import CleaningReport
from tripcloak.trips.coding import CodedTrips, code_trips
from tripcloak.trips.engine import connect, plain_errors
from tripcloak.trips.source import TripSource

__all__ = [
    "Canonical",
    "CleaningReport",
    "CodedTrips",
    "TripSource",
    "code_trips",
    "connect",
    "open_canonical",
    "plain_errors",
]
