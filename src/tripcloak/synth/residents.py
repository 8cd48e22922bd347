"""The people of one block: where they live, work and like to go, how old they are, how much they travel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tripcloak.synth.plan import CityPlan, Floats, Ints, choose_centre, draw_homes, fold_inside, local_place

# Favourite places, most visited first: three by gravity among the city's, two local ones, a friend's home.
FAVOURITES = 6

AGE_EDGES = np.array([6, 12, 18, 25, 35, 45, 55, 65, 75, 95])
AGE_SHARES = np.array([0.07, 0.08, 0.10, 0.15, 0.15, 0.15, 0.13, 0.10, 0.07])
WOMEN_SHARES = np.array([0.49, 0.49, 0.50, 0.51, 0.51, 0.51, 0.52, 0.53, 0.58])

# Surveys reach young men least and older women best; the weights make up for it.
MEAN_WEIGHT = 350.0
WEIGHT_FEMALE = np.array([0.95, 1.00, 1.15, 1.10, 0.98, 0.92, 0.85, 0.82, 1.05])
WEIGHT_MALE = np.array([0.95, 1.05, 1.40, 1.25, 1.05, 0.98, 0.90, 0.85, 1.10])
WEIGHT_SPREAD = 0.45


@dataclass(frozen=True, kw_only=True)
class People:
    """One entry (or row) per person of a block."""

    home: Floats  # (people, 2)
    duty: Floats  # (people, 2): work place, school or campus, where there is one
    has_duty: NDArray[np.bool_]
    pupil: NDArray[np.bool_]
    favourites: Floats  # (people, FAVOURITES, 2)
    age: NDArray[np.int16]
    female: NDArray[np.bool_]
    weight: Floats


@dataclass(frozen=True, kw_only=True)
class Residents(People):
    """People who make a given number of trips."""

    trips: Ints


def draw_residents(rng: np.random.Generator, plan: CityPlan, *, people: int, trips: int) -> Residents:
    """The people of one block, who make ``trips`` trips in all and at least one each.

    Examples
    --------
    >>> from tripcloak.synth.plan import draw_plan, generator
    >>> group = draw_residents(generator(1, 1, 0), draw_plan(1, 15_000.0), people=50, trips=400)
    >>> int(group.trips.sum()), bool(group.trips.min() >= 1)
    (400, True)
    """
    home = draw_homes(rng, plan, people)
    bracket = np.searchsorted(np.cumsum(AGE_SHARES)[:-1], rng.random(people), side="right")
    low, high = AGE_EDGES[bracket], AGE_EDGES[bracket + 1]
    age = (low + np.floor((high - low) * rng.random(people))).astype(np.int16)
    female = rng.random(people) < WOMEN_SHARES[bracket]
    duty, has_duty = _draw_duty(rng, plan, home, age)
    return Residents(
        home=home,
        duty=duty,
        has_duty=has_duty,
        pupil=age < 18,
        favourites=draw_favourites(rng, plan, home),
        trips=_share_out(rng, people, trips),
        age=age,
        female=female,
        weight=_draw_weight(rng, bracket, female),
    )


def _draw_duty(
    rng: np.random.Generator, plan: CityPlan, home: Floats, age: NDArray[np.int16]
) -> tuple[Floats, NDArray[np.bool_]]:
    luck = rng.random(age.size)
    student = (age >= 18) & (age < 25) & (luck < 0.5)
    duty = draw_duty_places(rng, plan, home, pupil=age < 18, student=student)
    return duty, (age < 18) | student | ((age < 67) & (luck < 0.78))


def draw_duty_places(
    rng: np.random.Generator,
    plan: CityPlan,
    home: Floats,
    *,
    pupil: NDArray[np.bool_],
    student: NDArray[np.bool_],
) -> Floats:
    """Where each person would work or learn: by gravity, at the campus, or at the school of the quarter."""
    people = home.shape[0]
    centre = choose_centre(rng, plan, home, plan.job_mass, scale=0.30 * plan.radius, draws=1)[:, 0]
    centre[student] = plan.campus
    duty = plan.jobs.pick(rng, centre)
    # Builders, carers, village shops: jobs outside every centre, some way from home.
    scattered = np.flatnonzero((rng.random(people) < 0.25) & ~student)
    around = home[scattered] + 0.18 * plan.radius * rng.standard_normal((scattered.size, 2))
    duty[scattered] = local_place(plan, fold_inside(plan, around), 350.0)
    learning = np.flatnonzero(pupil)
    around = home[learning] + 500.0 * rng.standard_normal((learning.size, 2))
    duty[learning] = local_place(plan, around, 1600.0)
    return duty


def draw_favourites(rng: np.random.Generator, plan: CityPlan, home: Floats) -> Floats:
    """The favourite places (people, FAVOURITES, 2) of people who live at ``home``."""
    people = home.shape[0]
    favourites = np.empty((people, FAVOURITES, 2))
    centre = choose_centre(rng, plan, home, plan.visit_mass, scale=0.20 * plan.radius, draws=3)
    for order, slot in enumerate((0, 2, 3)):
        favourites[:, slot] = plan.places.pick(rng, centre[:, order])
    for slot, stroll in ((1, 250.0), (4, 700.0)):
        favourites[:, slot] = local_place(plan, home + stroll * rng.standard_normal((people, 2)), 450.0)
    favourites[:, 5] = draw_homes(rng, plan, people)
    return favourites


def _share_out(rng: np.random.Generator, people: int, trips: int) -> Ints:
    """Trips of each person, skewed: one each, the rest in proportion to how active they are."""
    active = rng.standard_exponential(people)
    active = 0.05 + 0.4 * active + 0.3 * active * active
    # Levels off at ten times the usual: there are only so many hours in a day.
    shares = np.cumsum(active / (1.0 + 0.1 * active))
    marks = np.floor(shares / shares[-1] * (trips - people)).astype(np.int64)
    each: Ints = 1 + np.diff(marks, prepend=0)
    return each


def _draw_weight(rng: np.random.Generator, bracket: Ints, female: NDArray[np.bool_]) -> Floats:
    """Population a person stands for; rounded, because exponentials differ in the last bit by machine."""
    base = MEAN_WEIGHT * np.where(female, WEIGHT_FEMALE[bracket], WEIGHT_MALE[bracket])
    noise = np.exp(WEIGHT_SPREAD * rng.standard_normal(base.size) - 0.5 * WEIGHT_SPREAD**2)
    return np.round(base * noise, 2)
