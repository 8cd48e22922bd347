"""The participants of one block of a survey: who they are, where they live and go, what they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
