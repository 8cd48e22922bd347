"""From trips to GPS points: close together on the way, single ones during long stays, silence otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripcloak.synth.journeys import HOUR, Journeys
from tripcloak.synth.plan import Floats, Ints

LONGEST_STEP = 100.0
"""Seconds between points on the way at most, before they are moved in time by up to 30 % either way."""

BEND = 0.12
"""How far the middle of a way lies off the straight line, as a usual share of its length."""


@dataclass(frozen=True)
class Tracks:
    """One entry per GPS point, by person and then by time."""

    person: Ints
    time: Ints  # seconds since the period's first midnight
    east: Floats
    north: Floats


def draw_tracks(
    rng: np.random.Generator, journeys: Journeys, *, ends: Floats, jitter_m: float, step: float
) -> Tracks:
    """The GPS points of trips: the first and the last of a trip are its ends, with the given errors.

    Parameters
    ----------
    ends
        Metres (4, trips) of error: north and east at the start, north and east at the end.
    jitter_m
        Standard deviation of the error of every other point.
    step
        Usual seconds between two points on the way.
    """
    parts = (_on_the_way(rng, journeys, step), _at_rest(journeys))
    person, time, east, north = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("person", "time", "east", "north")
    )
    errors = rng.standard_normal((2, east.size)) * jitter_m
    first = _first(journeys, step)
    errors[:, first], errors[:, first + _steps(journeys, step)] = ends[:2], ends[2:]
    order = np.lexsort((time, person))
    return Tracks(person[order], time[order], (east + errors[1])[order], (north + errors[0])[order])


def _first(journeys: Journeys, step: float) -> Ints:
    """Where each trip's points begin."""
    points = _steps(journeys, step) + 1
    return np.cumsum(points) - points


def _steps(journeys: Journeys, step: float) -> Ints:
    steps: Ints = np.ceil((journeys.end - journeys.start) / step).astype(np.int64)
    return steps


def _on_the_way(rng: np.random.Generator, journeys: Journeys, step: float) -> Tracks:
    steps = _steps(journeys, step)
    trip = np.repeat(np.arange(steps.size), steps + 1)
    number = np.arange(trip.size) - _first(journeys, step)[trip]
    inner = (number > 0) & (number < steps[trip])
    moved = number + np.where(inner, 0.6 * (rng.random(trip.size) - 0.5), 0.0)
    travel = journeys.end - journeys.start
    since = np.floor(travel[trip] * moved / steps[trip]).astype(np.int64)
    # The way bends to one side; how far along it somebody is follows from the time.
    share = since / travel[trip]
    gap = journeys.destination - journeys.origin
    bend = BEND * np.clip(rng.standard_normal(steps.size), -2.5, 2.5)
    aside = (4.0 * share * (1.0 - share)) * bend[trip]
    east = journeys.origin[trip, 0] + gap[trip, 0] * share - gap[trip, 1] * aside
    north = journeys.origin[trip, 1] + gap[trip, 1] * share + gap[trip, 0] * aside
    last = number == steps[trip]
    east[last], north[last] = journeys.destination[:, 0], journeys.destination[:, 1]
    return Tracks(journeys.person[trip], journeys.start[trip] + since, east, north)


def _at_rest(journeys: Journeys) -> Tracks:
    """One point in the middle of every stay of more than an hour."""
    stay = journeys.start[1:] - journeys.end[:-1]
    before = np.flatnonzero((np.diff(journeys.person) == 0) & (stay > HOUR))
    place = journeys.destination[before]
    return Tracks(journeys.person[before], journeys.end[before] + stay[before] // 2, place[:, 0], place[:, 1])
