"""Attacks on releases find what their definitions find by trying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import attacks as oracle
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.attacks import ATTACKS, attack
from tripcloak.trajectories.attacks.originals import random_points, random_window
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.merged_trajectories import merged_release
from worlds.trajectories import identity_release, made, one_box_release, random_release

PLACES = ("location", "unique-location", "location-frequency", "location-probability", "location-proportion")


def crowd(seed: int, people: int = 8) -> tuple[Trajectories, TrajectoryRelease]:
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(people), random.integers(1, 6, size=people))
    x, y = divmod(random.integers(0, 12, size=len(user)), 4)
    # Different times for everybody, so that boxes of one trajectory never overlap.
    t = random.permutation(6 * people)[: len(user)] * 25
    trajectories = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    release = (merged_release if seed % 2 else random_release)(trajectories)
    if seed % 4 == 2:
        # Moved to the east, so that some of what is known is found nowhere.
        boxes = release.boxes
        release = replace(release, boxes=boxes._replace(x0=boxes.x0 + 2, x1=boxes.x1 + 2))
    return trajectories, release


def fewest(boxes: list, instances: list, fits: object) -> int:
    """Return the fewest that an instance fits; one that fits none finds nobody, so another may be worse."""
    found = [sum(fits(theirs, one) for theirs in boxes) for one in instances]  # type: ignore[operator]
    return min([number for number in found if number], default=0)


@given(seed=st.integers(0, 10_000), known=st.integers(1, 3), kind=st.sampled_from(PLACES))
@settings(max_examples=30, deadline=None)
def test_whoever_knows_places_is_left_with_places(seed: int, known: int, kind: str) -> None:
    trajectories, release = crowd(seed)
    boxes = oracle.boxes_of(release)
    expected = []
    for visits in oracle.visits_of(trajectories):
        places = sorted(set(oracle.places_of(visits)))
        expected.append(fewest(boxes, list(combinations(places, min(known, len(places)))), oracle.covered))
    assert attack(trajectories, kind, knowledge=known, release=release).matches.tolist() == expected


@given(
    seed=st.integers(0, 10_000), known=st.integers(1, 3), precision=st.sampled_from(["hour", "minute", "day"])
)
@settings(max_examples=30, deadline=None)
def test_whoever_knows_places_and_hours_needs_boxes_that_touch_them(
    seed: int, known: int, precision: str
) -> None:
    trajectories, release = crowd(seed)
    boxes = oracle.boxes_of(release)
    length = {"minute": 1, "hour": 60, "day": 1440}[precision]
    expected = []
    for visits in oracle.visits_of(trajectories):
        slots = sorted({(x, y, t // length * length, (t // length + 1) * length) for t, x, y in visits})
        expected.append(fewest(boxes, list(combinations(slots, min(known, len(slots)))), oracle.covered))
    told = {"knowledge": known, "precision": precision, "release": release}
    assert attack(trajectories, "location-time", **told).matches.tolist() == expected


@given(seed=st.integers(0, 10_000), known=st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_whoever_knows_an_order_of_places_needs_boxes_in_it(seed: int, known: int) -> None:
    trajectories, release = crowd(seed)
    boxes = oracle.boxes_of(release)
    expected = []
    for visits in oracle.visits_of(trajectories):
        places = oracle.places_of(visits)
        expected.append(fewest(boxes, list(combinations(places, min(known, len(places)))), oracle.passes))
    found = attack(trajectories, "location-sequence", knowledge=known, release=release)
    assert found.matches.tolist() == expected


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["points", "window"]))
@settings(max_examples=20, deadline=None)
def test_known_samples_are_looked_for_in_boxes(seed: int, kind: str) -> None:
    trajectories, release = crowd(seed)
    draw = random_points if kind == "points" else random_window
    rows = draw(trajectories, 2, seed)
    boxes = oracle.boxes_of(release)
    for person, found in enumerate(
        attack(trajectories, kind, knowledge=2, release=release, seed=seed).matches
    ):
        mine = rows[trajectories.owner[rows] == person]
        known = [
            (trajectories.x[s], trajectories.y[s], trajectories.t[s], trajectories.t[s] + 1) for s in mine
        ]
        assert found == sum(oracle.covered(theirs, known) for theirs in boxes)


def test_top_places_are_looked_for_in_boxes() -> None:
    """One person is at home twice and at work twice, another passes there once; a third is elsewhere."""
    user, x = [0] * 5 + [1] * 3 + [2] * 2, [1, 2, 1, 2, 3, 1, 2, 3, 7, 8]
    trajectories = Trajectories.of(user=user, t=range(10), x=x, y=[0] * 10, grid=Grid())
    release = identity_release(trajectories)
    assert attack(trajectories, "home-work", release=release).matches.tolist() == [2, 2, 1]
    assert attack(trajectories, "home-work").matches.tolist() == [2, 2, 1]
    assert attack(trajectories, "places", knowledge=3, release=release).matches.tolist() == [2, 2, 1]
    assert attack(trajectories, "places", knowledge=1, release=release).matches.tolist() == [2, 2, 1]


@pytest.mark.parametrize("kind", ATTACKS)
def test_k_of_containment_bounds_every_attack(kind: str) -> None:
    """Whoever knows less than everything finds no fewer than k trajectories."""
    trajectories = made(users=24, samples=7, seed=3, spread=20)
    release = merged_release(trajectories, k=4)
    for known in (1, 3, 10):
        found = attack(trajectories, kind, knowledge=known, release=release, seed=known)
        assert found.matches.min() >= 4
        assert found.against == "release"


@pytest.mark.parametrize("kind", ATTACKS)
def test_one_box_hides_everybody_and_raw_trajectories_nobody(kind: str) -> None:
    trajectories = made(users=12, samples=9, seed=5, spread=40)
    hidden = attack(trajectories, kind, release=one_box_release(trajectories))
    assert (hidden.matches == 12).all()
    bare = attack(trajectories, kind, release=identity_release(trajectories))
    assert bare.matches.mean() < 6
    assert (bare.matches >= 1).all()


@pytest.mark.parametrize("kind", ["points", "location", "location-sequence", "location-time"])
def test_threads_and_the_choice_of_people_play_no_part(kind: str) -> None:
    trajectories = made(users=30, samples=6, seed=2)
    release = merged_release(trajectories, k=3)
    one, many = (attack(trajectories, kind, release=release, jobs=jobs, seed=1) for jobs in (1, 3))
    assert one.matches.tolist() == many.matches.tolist()
    some = attack(trajectories, kind, release=release, people=5, seed=1)
    assert some.matches.tolist() == one.matches[some.rows].tolist()


def test_a_release_of_other_trajectories_is_refused() -> None:
    with pytest.raises(InputError, match="other trajectories"):
        attack(made(grid=Grid(metres=50)), "points", release=identity_release(made()))
