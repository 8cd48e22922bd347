"""The trips of a survey's participants, day by day: work or school first, errands and visits around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tripcloak.synth.journeys import (
    DAY,
    HOUR,
    Journeys,
    Leisure,
    Outings,
    draw_legs,
    draw_stops,
    draw_travel,
    keep_time,
    lay_legs,
)
from tripcloak.synth.participants import WORKER, Participants
from tripcloak.synth.plan import CityPlan, Floats, Ints

PAUSE = 420
"""Seconds between two trips, at least: more than the silence at which readers of GPS points part trips."""

# By category, in the order of CATEGORIES: chance of going to work or school on a day of the week and
# of the weekend, usual number of other outings on such days, and the hour of leaving for work.
DUTY_WEEKDAY = np.array([0.85, 0.64, 0.74, 0.82, 0.90, 0.00, 0.82, 0.00])
DUTY_WEEKEND = np.array([0.30, 0.03, 0.08, 0.18, 0.15, 0.00, 0.04, 0.00])
OTHERS_WEEKDAY = np.array([0.75, 0.92, 0.80, 0.70, 0.55, 1.60, 0.75, 1.35])
OTHERS_WEEKEND = np.array([1.30, 1.65, 1.55, 1.45, 1.25, 1.30, 1.55, 1.25])
LEAVING = np.array([7.9, 8.6, 8.1, 7.9, 6.6, 9.0, 8.3, 9.0])
PUPILS_LEAVE = 7.8

# In a metropolis people seldom cross it for pleasure.
LEISURE = Leisure(favourite=0.92, popular=0.96, visit=0.97, station=0.995)

# Who has the day off does more else.
DAY_OFF = 0.4
MOST_OTHERS = 3
# Hours around which other outings of a day leave: without duty, and after it.
FREE_HOURS = np.array([10.0, 15.0, 18.8])
AFTER_HOURS = np.array([18.6, 19.6, 20.2])


def draw_diary(rng: np.random.Generator, plan: CityPlan, people: Participants, *, days: int) -> Journeys:
    """Every trip of a block's participants over ``days`` days from a Monday; each makes two or more.

    Examples
    --------
    >>> from tripcloak.synth.participants import draw_participants
    >>> from tripcloak.synth.plan import draw_plan, generator
    >>> rng, plan = generator(1, 2, 0), draw_plan(1, 30_000.0)
    >>> diary = draw_diary(rng, plan, draw_participants(rng, plan, 50), days=7)
    >>> len(np.unique(diary.person)), bool((diary.end > diary.start).all())
    (50, True)
    """
    outings, duty = _draw_outings(rng, people, days)
    legs = lay_legs(outings, draw_stops(rng, plan, people, outings.person, duty, LEISURE))
    travel = draw_travel(rng, legs)
    leave, stay = _draw_timetable(rng, people, outings, duty)
    return keep_time(outings, legs, travel=travel, leave=leave, stay=stay, pause=PAUSE)


def _draw_outings(
    rng: np.random.Generator, people: Participants, days: int
) -> tuple[Outings, NDArray[np.bool_]]:
    """The outings by person, day and order within the day, and which of them go to work or school."""
    size = people.age.size
    weekday = np.arange(days) % 7 < 5
    category = people.category[:, None]
    goes = rng.random((size, days)) < np.where(weekday, DUTY_WEEKDAY[category], DUTY_WEEKEND[category])
    usual = np.where(weekday, OTHERS_WEEKDAY[category], OTHERS_WEEKEND[category])
    usual = (usual + np.where(weekday & ~goes & people.has_duty[:, None], DAY_OFF, 0.0)) * people.activity[
        :, None
    ]
    others = (rng.random((MOST_OTHERS, size, days)) < usual / MOST_OTHERS).sum(axis=0)
    # Who never left home has no points, and would not be among the participants.
    others[(goes.sum(axis=1) + others.sum(axis=1)) == 0, days // 2] = 1
    each = (goes + others).ravel()
    at = np.repeat(np.arange(each.size), each)
    order = np.arange(at.size) - (np.cumsum(each) - each)[at]
    duty = goes.ravel()[at] & (order == 0)
    planned = draw_legs(rng, at.size)
    return Outings(at // days, planned, planned, at % days, order, each[at]), duty


def _draw_timetable(
    rng: np.random.Generator, people: Participants, outings: Outings, duty: NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """Seconds at which each outing leaves home, and its stays (outings, 3) at home, main and second place."""
    size, person = outings.person.size, outings.person
    noise, luck = rng.standard_normal(size), rng.random(size)
    pupil, worker = people.pupil[person], people.category[person] == WORKER
    usual = np.where(pupil, PUPILS_LEAVE, LEAVING[people.category[person]])
    late = (luck < np.where(worker, 0.3, 0.08)) & ~pupil
    to_duty = np.where(late, 13.0, usual) + np.where(pupil, 0.2, 0.7) * noise
    other = _leave_otherwise(rng, outings, duty) + 1.2 * noise
    leave = np.clip(np.where(duty, to_duty, other), 4.5, 21.8)
    errand = 0.25 + np.minimum(0.9 * rng.standard_exponential(size), 3.0)
    at_duty = np.clip(np.where(pupil, 7.0, 8.2) + rng.standard_normal(size), 3.5, 11.0)
    stay = np.zeros((size, 3))
    # Four legs come back to the main place after the second: the stay is split in two.
    stay[:, 1] = np.where(duty, at_duty, errand) / np.where(outings.planned == 4, 2.0, 1.0)
    stay[:, 2] = 0.2 + 0.5 * np.minimum(rng.standard_exponential(size), 4.0)
    return outings.day * DAY + (leave * HOUR).astype(np.int64), (stay * HOUR).astype(np.int64)


def _leave_otherwise(rng: np.random.Generator, outings: Outings, duty: NDArray[np.bool_]) -> Floats:
    """Hours around which outings without duty leave, in the order they have within their day."""
    first = np.flatnonzero(outings.slot == 0)
    of_day = np.cumsum(outings.slot == 0) - 1
    after = duty[first][of_day]
    # The only outing of a free day may be at any time of it.
    alone = np.floor(3.0 * rng.random(outings.slot.size)).astype(np.int64)
    free = np.where(outings.slots == 1, alone, np.minimum(outings.slot, 2))
    return np.where(after, AFTER_HOURS[np.minimum(outings.slot - 1, 2)], FREE_HOURS[free])
