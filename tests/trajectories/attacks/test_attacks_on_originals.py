"""Attacks on originals find what their definitions find by trying everything."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import attacks as oracle
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.attacks import ATTACKS, attack
from tripcloak.trajectories.attacks.originals import (
    index_of,
    place_codes,
    random_points,
    random_window,
    sample_codes,
    top_places,
)
from tripcloak.trajectories.model import Grid, Trajectories

EIGHT = [name for name, told in ATTACKS.items() if told.worst]
BEFORE = [name for name, told in ATTACKS.items() if not told.released]


def crowd(seed: int, *, people: int = 9, most: int = 6, places: int = 4, steps: int = 240) -> Trajectories:
    """Return people who share few places and few times, so that knowledge often fits several."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(people), random.integers(1, most + 1, size=people))
    x, y = divmod(random.integers(0, places, size=len(user)), 2)
    return Trajectories.of(user=user, t=random.integers(0, steps, size=len(user)), x=x, y=y, grid=Grid())


def test_there_are_eight_attacks_of_the_paper_three_more_and_one_on_releases() -> None:
    assert len(EIGHT) == 8
    assert [len(ATTACKS), len(BEFORE)] == [13, 11]
    assert all(name == told.name and told.summary for name, told in ATTACKS.items())


@pytest.mark.parametrize("kind", EIGHT)
@given(seed=st.integers(0, 10_000), known=st.integers(1, 4), tolerance=st.sampled_from([0.0, 0.25, 1.0]))
@settings(max_examples=30, deadline=None)
def test_the_worst_instance_is_found(kind: str, seed: int, known: int, tolerance: float) -> None:
    trajectories = crowd(seed)
    found = attack(trajectories, kind, knowledge=known, tolerance=tolerance, precision="hour", jobs=1)
    people = oracle.visits_of(trajectories)
    expected = oracle.least_matching(people, kind, known, tolerance=tolerance, slot=60)
    assert found.matches.tolist() == expected
    assert found.risk.tolist() == [1 / number for number in expected]


@pytest.mark.parametrize("kind", ["location", "location-sequence", "location-proportion", "unique-location"])
def test_the_worst_instance_is_found_among_many(kind: str) -> None:
    trajectories = crowd(5, people=30, most=11, places=9)
    found = attack(trajectories, kind, knowledge=3)
    assert found.matches.tolist() == oracle.least_matching(oracle.visits_of(trajectories), kind, 3)
    assert len(set(found.matches.tolist())) > 1


@pytest.mark.parametrize("kind", BEFORE)
def test_threads_and_the_choice_of_people_play_no_part(kind: str) -> None:
    trajectories = crowd(2, people=40)
    one, many = (attack(trajectories, kind, jobs=jobs, seed=4) for jobs in (1, 3))
    assert one.matches.tolist() == many.matches.tolist()
    some = attack(trajectories, kind, people=7, seed=4)
    assert len(some.rows) == 7
    assert some.matches.tolist() == one.matches[some.rows].tolist()
    assert (one.matches >= 1).all()


@pytest.mark.parametrize("kind", ["points", "window", "places"])
@pytest.mark.parametrize("known", [1, 2, 10])
def test_people_who_share_what_is_known_are_counted(kind: str, known: int) -> None:
    trajectories = crowd(3, people=60, steps=20)
    index = index_of(trajectories, place_codes(trajectories))
    visits = oracle.visits_of(trajectories)
    everything = [(int(t), int(x), int(y)) for person in visits for t, x, y in person]
    if kind == "places":
        at = np.unique(place_codes(trajectories), return_index=True)[1]
        offsets, codes = top_places(index, known)
        wanted = [
            {everything[at[code]][1:] for code in codes[offsets[i] : offsets[i + 1]]}
            for i in range(trajectories.n_users)
        ]
        held = [set(oracle.places_of(person)) for person in visits]
    else:
        draw = random_points if kind == "points" else random_window
        rows = draw(trajectories, known, 6)
        wanted = [
            {everything[row] for row in rows if trajectories.owner[row] == i}
            for i in range(trajectories.n_users)
        ]
        held = [set(person) for person in visits]
    expected = [sum(known_of <= other for other in held) for known_of in wanted]
    assert attack(trajectories, kind, knowledge=known, seed=6).matches.tolist() == expected
    assert max(expected) > 1


def test_knowledge_is_of_the_size_asked_for() -> None:
    trajectories = crowd(8, people=50, most=12)
    sizes = np.bincount(trajectories.owner[random_points(trajectories, 4, 0)])
    assert sizes.tolist() == np.minimum(trajectories.lengths, 4).tolist()
    rows = random_window(trajectories, 1, 0)
    for person in range(trajectories.n_users):
        mine = rows[trajectories.owner[rows] == person]
        times = trajectories.t[mine]
        assert len(mine) >= 1
        assert np.ptp(times) < 60
        inside = (trajectories.t >= times[0]) & (trajectories.t < times[0] + 60)
        assert len(mine) == (inside & (trajectories.owner == person)).sum()


def test_another_seed_is_other_knowledge() -> None:
    trajectories = crowd(1, people=50, most=30)
    draws = {tuple(random_points(trajectories, 2, seed)) for seed in range(5)}
    assert len(draws) == 5


def test_more_knowledge_never_fits_more_people() -> None:
    trajectories = crowd(11, people=80, most=8, steps=30)
    found = [attack(trajectories, "location", knowledge=known).matches for known in range(1, 6)]
    assert all((more <= less).all() for less, more in pairwise(found))
    assert found[-1].mean() < found[0].mean()


def test_precision_makes_times_known_better() -> None:
    trajectories = crowd(12, people=80, steps=3000)
    risks = [
        attack(trajectories, "location-time", knowledge=2, precision=precision).risk.mean()
        for precision in ("year", "day", "hour", "minute")
    ]
    assert risks == sorted(risks)
    assert risks[0] < risks[-1]


def test_summaries_tell_shares_and_quantiles() -> None:
    told = attack(crowd(1, people=50), "points", knowledge=2).summary()
    assert set(told) == {
        "kind", "knowledge", "against", "unique", "fewer_than", "none", "mean_risk", "matches", "risk"
    }  # fmt: skip
    assert 0 <= told["unique"] <= told["fewer_than"]["10"] <= 1
    assert told["fewer_than"]["2"] == told["unique"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("magic", {}),
        ("points", {"knowledge": 0}),
        ("location-frequency", {"tolerance": 1.5}),
        ("location-time", {"precision": "moment"}),
    ],
)
def test_what_cannot_be_is_refused(kind: str, told: dict) -> None:
    with pytest.raises(InputError):
        attack(crowd(0), kind, **told)


def test_sample_codes_are_equal_where_samples_are() -> None:
    trajectories = crowd(4, people=30, steps=5)
    codes = sample_codes(trajectories).tolist()
    everything = [visit for person in oracle.visits_of(trajectories) for visit in person]
    assert len(set(codes)) == len(set(everything)) == len(set(zip(codes, everything, strict=True)))
