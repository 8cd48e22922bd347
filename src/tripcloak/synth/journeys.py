"""The trips of one block of people, outing by outing, and the GPS points they leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.synth.plan import STATION_EXITS, TERMINALS, CityPlan, Floats, Ints, draw_homes
from tripcloak.synth.residents import FAVOURITES, People, Residents

DAY = 86_400
HOUR = 3600.0

# An outing visits a main place and sometimes a second one; STOPS[legs] lists home 0, main 1, second 2.
STOPS = np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 1, 2, 0, 0], [0, 1, 2, 1, 0]])
THREE_LEGS, FOUR_LEGS = 0.16, 0.05


class Leisure(NamedTuple):
    """Where outings without duty lead, as cumulative shares; what is left goes to the airport."""

    favourite: float = 0.74
    popular: float = 0.86
    visit: float = 0.93
    station: float = 0.985


DUTY_WEEKDAY, DUTY_WEEKEND = 0.74, 0.08

PAUSE = 60
"""Seconds between the end of a trip and the start of the next one, at least."""


@dataclass(frozen=True)
class Journeys:
    """One entry (or row) per trip, by person and then by time."""

    person: Ints
    origin: Floats  # (trips, 2)
    destination: Floats  # (trips, 2)
    start: Ints  # seconds since the period's first midnight
    end: Ints


@dataclass(frozen=True)
class Outings:
    """One entry per outing, by person and then by time."""

    person: Ints
    planned: Ints  # legs it was planned with: 2, 3 or 4
    legs: Ints  # legs on record; a person's last outing may be cut short
    day: Ints
    slot: Ints  # which of the day's `slots` stretches it has
    slots: Ints


@dataclass(frozen=True)
class Legs:
    """One entry (or row) per trip: its outing, its number in it, and its ends."""

    outing: Ints
    leg: Ints
    place: Ints  # where it starts: home 0, main 1, second 2
    origin: Floats
    destination: Floats


def draw_journeys(rng: np.random.Generator, plan: CityPlan, residents: Residents, *, days: int) -> Journeys:
    """Every trip of a block: as many as ``residents.trips`` says, over ``days`` days.

    Examples
    --------
    >>> from tripcloak.synth.plan import draw_plan, generator
    >>> from tripcloak.synth.residents import draw_residents
    >>> rng, plan = generator(1, 1, 0), draw_plan(1, 15_000.0)
    >>> group = draw_residents(rng, plan, people=50, trips=400)
    >>> journeys = draw_journeys(rng, plan, group, days=28)
    >>> journeys.start.size, bool((journeys.end > journeys.start).all())
    (400, True)
    """
    outings = _draw_outings(rng, residents.trips, days)
    likely = np.where(outings.day % 7 < 5, DUTY_WEEKDAY, DUTY_WEEKEND)
    duty = residents.has_duty[outings.person] & (rng.random(outings.person.size) < likely)
    legs = lay_legs(outings, draw_stops(rng, plan, residents, outings.person, duty, Leisure()))
    travel = draw_travel(rng, legs)
    leave, stay = _draw_timetable(rng, outings, duty, residents.pupil[outings.person])
    return keep_time(outings, legs, travel=travel, leave=leave, stay=stay, pause=PAUSE)


def draw_legs(rng: np.random.Generator, outings: int) -> Ints:
    """Legs of each outing: mostly there and back, sometimes by way of a second place."""
    luck = rng.random(outings)
    legs: Ints = 2 + (luck < THREE_LEGS + FOUR_LEGS).astype(np.int64) + (luck < FOUR_LEGS)
    return legs


def _draw_outings(rng: np.random.Generator, trips: Ints, days: int) -> Outings:
    most = (trips + 1) // 2
    person = np.repeat(np.arange(trips.size), most)
    planned = draw_legs(rng, person.size)
    first = np.cumsum(most) - most
    before = np.cumsum(planned) - planned
    before -= before[first][person]
    legs = np.minimum(planned, trips[person] - before)
    kept = legs > 0
    person, planned, legs = person[kept], planned[kept], legs[kept]
    outings = np.bincount(person, minlength=trips.size)
    order = np.arange(person.size) - (np.cumsum(outings) - outings)[person]
    # People are followed for about a week per five outings, so that commuters commute several times a week.
    span = np.minimum(days, outings + (outings + 1) // 3)
    slots = (-(-outings // span))[person]
    day, slot = _draw_days(rng, person, order, (span / outings)[person] * slots, slots=slots, days=days)
    return Outings(person, planned, legs, day, slot, slots)


def _draw_days(
    rng: np.random.Generator, person: Ints, order: Ints, room: Floats, *, slots: Ints, days: int
) -> tuple[Ints, Ints]:
    """Day and slot of each outing, with about ``room`` (at least one) slots to each of a person's outings."""
    people = int(person[-1]) + 1
    phase, begin = rng.random(people)[person], np.floor(days * rng.random(people))[person]
    # The steps are at least one slot long, so no two outings share one.
    at = np.floor(order * room + (room - 1.0) * rng.random(person.size) + phase).astype(np.int64)
    day = (begin.astype(np.int64) + at // slots) % days
    # What is followed beyond the last day wraps to the first ones: every day is as busy as the others.
    stretch = days * int(slots.max())
    key = np.sort(person * stretch + day * slots + at % slots) - person * stretch
    return key // slots, key % slots


def draw_stops(
    rng: np.random.Generator,
    plan: CityPlan,
    people: People,
    person: Ints,
    duty: NDArray[np.bool_],
    leisure: Leisure,
) -> Floats:
    """Positions (outings, 3, 2) of home, main and second place, given whose outing is to work or school."""
    size = person.size
    luck = rng.random(size)
    # Squares of uniform numbers favour the first favourites.
    first = np.floor(FAVOURITES * np.square(rng.random(size))).astype(np.int64)
    second = (first + 1 + np.floor((FAVOURITES - 1) * rng.random(size)).astype(np.int64)) % FAVOURITES
    stops = np.empty((size, 3, 2))
    stops[:, 0] = people.home[person]
    stops[:, 1] = people.favourites[person, first]
    stops[:, 2] = people.favourites[person, second]
    popular = np.flatnonzero((luck >= leisure.favourite) & (luck < leisure.popular))
    ladder = np.cumsum(plan.visit_mass)
    centre = np.searchsorted(ladder[:-1], rng.random(popular.size) * ladder[-1], side="right")
    stops[popular, 1] = plan.places.pick(rng, centre)
    visit = np.flatnonzero((luck >= leisure.popular) & (luck < leisure.visit))
    stops[visit, 1] = draw_homes(rng, plan, visit.size)
    station = np.flatnonzero((luck >= leisure.visit) & (luck < leisure.station))
    stops[station, 1] = plan.station[rng.integers(STATION_EXITS, size=station.size)]
    airport = np.flatnonzero(luck >= leisure.station)
    stops[airport, 1] = plan.airport[rng.integers(TERMINALS, size=airport.size)]
    stops[duty, 1] = people.duty[person[duty]]
    return stops


def lay_legs(outings: Outings, stops: Floats) -> Legs:
    """The legs of outings between their stops, one after the other."""
    outing = np.repeat(np.arange(outings.legs.size), outings.legs)
    leg = np.arange(outing.size) - np.repeat(np.cumsum(outings.legs) - outings.legs, outings.legs)
    planned = outings.planned[outing]
    place, next_place = STOPS[planned, leg], STOPS[planned, leg + 1]
    return Legs(outing, leg, place, stops[outing, place], stops[outing, next_place])


def draw_travel(rng: np.random.Generator, legs: Legs) -> Ints:
    """Door-to-door times in seconds: long trips are faster, since they use trains and motorways."""
    gap = legs.destination - legs.origin
    metres = np.sqrt(gap[:, 0] * gap[:, 0] + gap[:, 1] * gap[:, 1])
    speed = 2.5 + 0.0005 * np.minimum(metres, 25_000.0)
    seconds = 120.0 + 1.3 * metres / speed * (0.8 + 0.5 * rng.random(metres.size))
    return seconds.astype(np.int64)


def _draw_timetable(
    rng: np.random.Generator, outings: Outings, duty: NDArray[np.bool_], pupil: NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """Seconds at which each outing leaves home, and its stays (outings, 3) at home, main and second place."""
    size = duty.size
    luck, noise = rng.random(size), rng.standard_normal(size)
    late_shift = (luck < 0.12) & ~pupil
    peak = np.where(late_shift, 13.0, 8.0) + np.where(pupil, 0.2, 0.85) * noise
    leisure = np.where(luck < 0.35, 10.2, np.where(luck < 0.7, 15.0, 18.6)) + 1.4 * noise
    leave = np.clip(np.where(duty, peak, leisure), 4.5, 21.5)
    errand = 0.2 + np.minimum(rng.standard_exponential(size), 4.0)
    long = np.clip(8.2 + 1.0 * rng.standard_normal(size), 4.0, 11.0)
    stay = np.zeros((size, 3))
    # Four legs come back to the main place after the second: the stay is split in two.
    stay[:, 1] = np.where(duty, long, errand) / np.where(outings.planned == 4, 2.0, 1.0)
    stay[:, 2] = 0.2 + 0.5 * np.minimum(rng.standard_exponential(size), 4.0)
    # Several outings a day: each has its stretch of the waking hours, and half of it for staying.
    busy = outings.slots > 1
    stretch = 16.0 / outings.slots
    leave = np.where(busy, 6.0 + (outings.slot + 0.2 * luck) * stretch, leave)
    stay = np.where(busy[:, None], np.minimum(stay, 0.25 * stretch[:, None]), stay)
    return outings.day * DAY + (leave * HOUR).astype(np.int64), (stay * HOUR).astype(np.int64)


def keep_time(outings: Outings, legs: Legs, *, travel: Ints, leave: Ints, stay: Ints, pause: int) -> Journeys:
    """The trips of outings that leave home at ``leave`` and stay (outings, 3) at each place; none overlap."""
    person = outings.person[legs.outing]
    wait = np.where(legs.leg == 0, 0, stay[legs.outing, legs.place])
    start = _one_at_a_time(person, _chain(legs.outing, leave, wait, travel), travel + pause)
    return Journeys(person, legs.origin, legs.destination, start, start + travel)


def _chain(outing: Ints, leave: Ints, wait: Ints, travel: Ints) -> Ints:
    """Start of each leg: the outing's leave, and all the waiting and travelling before it in that outing."""
    done = np.cumsum(wait + travel)
    ready = done - travel
    first = np.flatnonzero(np.diff(outing, prepend=-1))
    chained: Ints = leave[outing] + ready - ready[first][outing]
    return chained


def _one_at_a_time(person: Ints, start: Ints, length: Ints) -> Ints:
    """Starts moved later where needed, so that nobody sets off before the last trip's end.

    With P the sum of all earlier trips' lengths, the earliest start is P plus the largest start - P so far;
    the person's number times a great length keeps one person's trips out of the next one's maximum.
    """
    before = np.cumsum(length) - length - person * 2**44
    pushed: Ints = np.maximum.accumulate(start - before) + before
    return pushed


LONGEST_STEP = 100.0
"""Seconds between points on the way at most, before they are moved in time by up to 30 % either way."""

BEND = 0.12
"""How far the middle of a way lies off the straight line, as a usual share of its length."""


@dataclass(frozen=True)
class GpsTracks:
    """One entry per GPS point, by person and then by time."""

    person: Ints
    time: Ints  # seconds since the period's first midnight
    east: Floats
    north: Floats


def draw_tracks(
    rng: np.random.Generator, journeys: Journeys, *, ends: Floats, jitter_m: float, step: float
) -> GpsTracks:
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
    return GpsTracks(person[order], time[order], (east + errors[1])[order], (north + errors[0])[order])


def _first(journeys: Journeys, step: float) -> Ints:
    """Where each trip's points begin."""
    points = _steps(journeys, step) + 1
    return np.cumsum(points) - points


def _steps(journeys: Journeys, step: float) -> Ints:
    steps: Ints = np.ceil((journeys.end - journeys.start) / step).astype(np.int64)
    return steps


def _on_the_way(rng: np.random.Generator, journeys: Journeys, step: float) -> GpsTracks:
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
    return GpsTracks(journeys.person[trip], journeys.start[trip] + since, east, north)


def _at_rest(journeys: Journeys) -> GpsTracks:
    """One point in the middle of every stay of more than an hour."""
    stay = journeys.start[1:] - journeys.end[:-1]
    before = np.flatnonzero((np.diff(journeys.person) == 0) & (stay > HOUR))
    place = journeys.destination[before]
    return GpsTracks(
        journeys.person[before], journeys.end[before] + stay[before] // 2, place[:, 0], place[:, 1]
    )
