"""Entropy rate and predictability, against the definitions and on sequences whose entropy is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.trajectories import measures as oracle
from tripcloak.trajectories.measures import PersonTracks, compare_regularity, predictability, regularity
from tripcloak.trajectories.measures._kernels import new_lengths
from tripcloak.trajectories.model import Grid

HOUR = 120
"""Half steps of time in an hour."""


def visits(*people: list[tuple[float, int]]) -> PersonTracks:
    """Return tracks of people given as (hour, number of a place); places are 10 km apart."""
    offsets = np.cumsum([0, *(len(person) for person in people)])
    rows = np.array([row for person in people for row in person])
    t, x = (rows[:, 0] * HOUR).astype(np.int64), (rows[:, 1] * 200 + 1).astype(np.int64)
    return PersonTracks(Grid(), offsets, t, x, np.ones(len(x), dtype=np.int64))


SEQUENCE = st.one_of(
    st.lists(st.integers(0, 2), min_size=1, max_size=60),
    st.lists(st.integers(-3, 9), min_size=1, max_size=40),
    st.builds(
        lambda run, times: run * times, st.lists(st.integers(0, 4), min_size=1, max_size=9), st.integers(1, 7)
    ),
)


@given(st.lists(SEQUENCE, min_size=1, max_size=4))
def test_new_lengths_agree_with_looking_everywhere(sequences: list[list[int]]) -> None:
    offsets = np.cumsum([0, *map(len, sequences)])
    sums, different = new_lengths(offsets, np.concatenate(sequences).astype(np.int64))
    assert sums.tolist() == [oracle.new_lengths(sequence) for sequence in sequences]
    assert different.tolist() == [len(set(sequence)) for sequence in sequences]


def test_new_lengths_of_long_sequences_of_every_kind() -> None:
    random = np.random.default_rng(4)
    fibonacci = [0, 1]
    while len(fibonacci) < 300:
        fibonacci = fibonacci + ([0, 1] if len(fibonacci) == 2 else fibonacci[: int(len(fibonacci) / 1.618)])
    sequences = [fibonacci, [0] * 300, [*range(300)], random.geometric(0.4, 300).tolist(), [0, 1] * 150]
    offsets = np.cumsum([0, *map(len, sequences)])
    sums, _ = new_lengths(offsets, np.concatenate(sequences).astype(np.int64))
    assert sums.tolist() == [oracle.new_lengths(sequence) for sequence in sequences]


def test_staying_is_no_news_and_can_be_foretold() -> None:
    found = regularity(visits([(h, 7) for h in range(50)]))
    assert (found.entropy[0], found.places[0], found.predictability[0]) == (0, 1, 1)


def rate(where: np.ndarray) -> float:
    """Return the entropy rate of a sequence of places, one an hour."""
    return float(regularity(visits(list(enumerate(where.tolist())))).entropy[0])


@pytest.mark.parametrize("places", [2, 8, 32])
def test_random_places_have_the_entropy_of_their_number(places: int) -> None:
    """The estimate comes nearer with the length of the sequence, and it is in no hurry."""
    where = np.random.default_rng(places).integers(places, size=100_000)
    found, earlier = rate(where), rate(where[:1000])
    assert found == pytest.approx(np.log2(places), rel=0.12)
    assert abs(found - np.log2(places)) < abs(earlier - np.log2(places))


def test_habits_make_people_predictable() -> None:
    """Nine hours of ten at home, else one of four places: the best guess is home."""
    random = np.random.default_rng(0)
    where = np.where(random.random(50_000) < 0.9, 0, random.integers(1, 5, size=50_000))
    found = regularity(visits(list(enumerate(where.tolist()))))
    assert found.entropy[0] == pytest.approx(-0.9 * np.log2(0.9) - 0.1 * np.log2(0.025), rel=0.12)
    assert found.predictability[0] == pytest.approx(0.9, abs=0.03)


@given(st.floats(0.001, 0.999), st.integers(2, 1000))
def test_predictability_solves_fano(share: float, places: int) -> None:
    """Every predictability above chance is found again from the entropy that it leaves."""
    p = 1 / places + share * (1 - 1 / places)
    found = predictability(np.array([oracle.fano(p, places)]), np.array([places]))
    assert oracle.fano(float(found[0]), places) == pytest.approx(oracle.fano(p, places), abs=1e-9)
    assert found[0] == pytest.approx(p, abs=1e-4)


def test_entropy_beyond_chance_is_chance() -> None:
    assert predictability(np.array([9.0, 3.0]), np.array([4, 1])).tolist() == [0.25, 1.0]


def test_hours_hold_the_place_last_seen() -> None:
    """Two places at hours 0 and 3.2, 3.9 and 5: a a a b c, as if each hour had been seen."""
    told = regularity(visits([(0.5, 1), (3.2, 1), (3.9, 2), (5.1, 3)]))
    filled = regularity(visits([(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)]))
    assert told.entropy.tolist() == filled.entropy.tolist()
    assert told.places.tolist() == [3]


def test_nobody_stays_unseen_for_longer_than_a_day() -> None:
    away = regularity(visits([(0, 1), (1, 2), (1000, 1), (1001, 2)]))
    day = regularity(visits([(0, 1), (1, 2), (25, 1), (26, 2)]))
    assert away.entropy.tolist() == day.entropy.tolist()


def test_samples_may_be_the_sequence_instead_of_hours() -> None:
    tracks = visits([(0, 1), (100, 2), (101, 1), (300, 2)])
    found = regularity(tracks, hourly=False)
    assert found.entropy[0] == pytest.approx(4 * 2 / oracle.new_lengths([1, 2, 1, 2]))


def test_a_sample_of_people_is_drawn_by_its_seed() -> None:
    random = np.random.default_rng(1)
    many = visits(*([(h, int(random.integers(1 + p))) for h in range(30)] for p in range(12)))
    found = [compare_regularity(many, many, people=4, seed=seed) for seed in (1, 1, 2)]
    assert [f.people for f in found] == [4, 4, 4]
    assert found[0].entropy[0].curve.tolist() == found[1].entropy[0].curve.tolist()
    assert found[0].entropy[0].curve.tolist() != found[2].entropy[0].curve.tolist()
    assert found[0].entropy_change.curve.tolist() == [0.0] * 1001
    assert compare_regularity(many, many, people=12).entropy[0].n == 12
