"""The participants of a survey: who they are, what they stand for, and their trips day by day."""

from __future__ import annotations

from dataclasses import dataclass

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
from tripcloak.synth.plan import CityPlan, Floats, Ints, draw_homes, fold_inside, local_place
from tripcloak.synth.residents import People, draw_duty_places, draw_favourites

CATEGORIES = (
    "craftsperson", "executive", "intermediate", "employee", "worker", "retired", "student", "inactive",
)  # fmt: skip
"""Socio-professional categories; the columns of the tables below."""

WORKER, STUDENT = CATEGORIES.index("worker"), CATEGORIES.index("student")
AT_HOME = tuple(CATEGORIES.index(name) for name in ("retired", "inactive"))

AGE_EDGES = np.array([16, 18, 25, 35, 45, 55, 65, 81])
AGE_SHARES = np.array([0.035, 0.125, 0.20, 0.19, 0.18, 0.15, 0.12])
CATEGORY_SHARES = np.array(
    [
        [0.00, 0.00, 0.00, 0.01, 0.02, 0.00, 0.95, 0.02],
        [0.01, 0.08, 0.12, 0.15, 0.06, 0.00, 0.52, 0.06],
        [0.04, 0.40, 0.24, 0.18, 0.06, 0.00, 0.03, 0.05],
        [0.06, 0.40, 0.22, 0.18, 0.07, 0.00, 0.00, 0.07],
        [0.07, 0.38, 0.21, 0.19, 0.08, 0.00, 0.00, 0.07],
        [0.06, 0.28, 0.15, 0.15, 0.05, 0.22, 0.00, 0.09],
        [0.02, 0.03, 0.01, 0.01, 0.00, 0.91, 0.00, 0.02],
    ]
)
# How much likelier a woman is in each category than everybody; a man is that much less likely.
WOMEN_LEAN = np.array([0.60, 0.85, 1.15, 1.50, 0.35, 1.00, 1.00, 1.40])
WOMEN_SHARE = 0.53

# Surveys reach executives best and workers least, women better than men, the centre better than the
# outskirts; the weights make up for it, and differ widely within such a cell as well.
MEAN_WEIGHT = 2674.0
WEIGHT_CATEGORY = np.array([1.30, 0.70, 0.90, 1.20, 2.10, 1.05, 1.00, 1.35])
WEIGHT_AGE = np.array([1.10, 1.15, 0.95, 0.95, 1.00, 1.00, 1.10])
WEIGHT_FEMALE, WEIGHT_MALE = 0.90, 1.11
WEIGHT_INSIDE, WEIGHT_OUTSIDE = 0.78, 1.12
WEIGHT_SPREAD = 0.75
OUTSKIRTS = 0.45
"""Distance from the centre at which they begin, in radii."""


@dataclass(frozen=True, kw_only=True)
class Participants(People):
    """People who take part in a survey."""

    category: Ints  # index into CATEGORIES
    activity: Floats  # outings beside duty, in multiples of the usual


def draw_participants(rng: np.random.Generator, plan: CityPlan, people: int) -> Participants:
    """The participants of one block.

    Examples
    --------
    >>> from tripcloak.synth.plan import draw_plan, generator
    >>> group = draw_participants(generator(1, 2, 0), draw_plan(1, 30_000.0), 50)
    >>> bool(group.age.min() >= 16), bool(group.age.max() <= 80)
    (True, True)
    """
    home = draw_homes(rng, plan, people)
    bracket = np.searchsorted(np.cumsum(AGE_SHARES)[:-1], rng.random(people), side="right")
    low, high = AGE_EDGES[bracket], AGE_EDGES[bracket + 1]
    age = (low + np.floor((high - low) * rng.random(people))).astype(np.int16)
    female = rng.random(people) < WOMEN_SHARE
    category = _draw_category(rng, bracket, female)
    pupil = (age < 18) & (category == STUDENT)
    student = (category == STUDENT) & ~pupil
    return Participants(
        home=home,
        duty=draw_duty_places(rng, plan, home, pupil=pupil, student=student),
        has_duty=~np.isin(category, AT_HOME),
        pupil=pupil,
        favourites=_draw_favourites(rng, plan, home),
        age=age,
        female=female,
        category=category,
        activity=0.5 + 0.5 * np.minimum(rng.standard_exponential(people), 4.0),
        weight=_draw_weight(rng, plan, home=home, bracket=bracket, female=female, category=category),
    )


def _draw_favourites(rng: np.random.Generator, plan: CityPlan, home: Floats) -> Floats:
    """Favourite places as in a city, but in a metropolis the first ones are those of the quarter."""
    favourites = draw_favourites(rng, plan, home)
    for slot, stroll, spacing in ((0, 700.0, 600.0), (2, 1800.0, 1100.0), (5, 4000.0, 900.0)):
        around = fold_inside(plan, home + stroll * rng.standard_normal(home.shape))
        favourites[:, slot] = local_place(plan, around, spacing)
    return favourites


def _draw_category(rng: np.random.Generator, bracket: Ints, female: NDArray[np.bool_]) -> Ints:
    lean = np.where(female[:, None], WOMEN_LEAN, 2.0 - WOMEN_LEAN)
    ladder = np.cumsum(CATEGORY_SHARES[bracket] * lean, axis=1)
    mark = rng.random(bracket.size) * ladder[:, -1]
    category: Ints = (ladder <= mark[:, None]).sum(axis=1).clip(max=len(CATEGORIES) - 1)
    return category


def _draw_weight(
    rng: np.random.Generator,
    plan: CityPlan,
    *,
    home: Floats,
    bracket: Ints,
    female: NDArray[np.bool_],
    category: Ints,
) -> Floats:
    """Population each stands for; rounded, because exponentials differ in the last bit by machine."""
    edge = OUTSKIRTS * plan.radius
    outside = home[:, 0] * home[:, 0] + home[:, 1] * home[:, 1] > edge * edge
    base = MEAN_WEIGHT * WEIGHT_CATEGORY[category] * WEIGHT_AGE[bracket]
    base *= np.where(female, WEIGHT_FEMALE, WEIGHT_MALE) * np.where(outside, WEIGHT_OUTSIDE, WEIGHT_INSIDE)
    noise = np.exp(WEIGHT_SPREAD * rng.standard_normal(base.size) - 0.5 * WEIGHT_SPREAD**2)
    weight: Floats = np.round(base * noise, 2)
    return weight


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
