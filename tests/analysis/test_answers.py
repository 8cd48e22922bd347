"""All questions at once: the same answers agree, chance costs little, and what is missing is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tripcloak.analysis import (
    Answers,
    LandUse,
    Profiles,
    Questions,
    SlotFlows,
    Topics,
    aligned,
    ask,
    ask_again,
    compare_answers,
)
from tripcloak.ground.errors import InputError

QUESTIONS = Questions(clusters=3, topics=3)


@pytest.fixture(scope="module")
def answers() -> Answers:
    """Of a city with three kinds of zones and three kinds of hours."""
    draw = np.random.default_rng(7)
    kinds = draw.dirichlet(np.full(48, 0.5), 3)
    side = draw.poisson(4000 * kinds[np.arange(20) % 3]).astype(float)
    hours = draw.dirichlet(np.full(60, 0.1), 3)
    flows = draw.poisson(3000 * hours[np.arange(24) * 3 // 24]).astype(float)
    return ask(Profiles(side[:, :24], side[:, 24:]), SlotFlows(np.arange(60), flows), QUESTIONS)


def test_an_answer_agrees_with_itself(answers: Answers) -> None:
    scores = compare_answers(answers, answers)
    assert scores.out.mean == pytest.approx(1)
    assert scores.into.quantiles == pytest.approx((1,) * 5)
    assert scores.land_use is not None
    assert scores.topics is not None
    assert (scores.land_use.adjusted_rand, scores.land_use.same_kind, scores.land_use.zones) == (1, 1, 20)
    assert scores.topics.mean_pairs == pytest.approx(1)
    assert scores.topics.mean_slots == pytest.approx(1)


def test_chance_costs_little_where_there_are_many_trips(answers: Answers) -> None:
    again = ask_again(answers, QUESTIONS)
    assert not np.array_equal(again.profiles.out, answers.profiles.out)
    scores = compare_answers(answers, again)
    assert scores.out.mean > 0.99
    assert scores.land_use is not None
    assert scores.topics is not None
    assert scores.land_use.adjusted_rand == 1
    assert scores.topics.mean_pairs > 0.99


def test_other_numbers_of_the_same_kinds_agree_as_well(answers: Answers) -> None:
    use, topics = answers.land_use, answers.topics
    assert use is not None
    assert topics is not None
    turned = replace(
        answers,
        land_use=LandUse(np.array([1, 2, 0])[use.cluster], use.profiles[[2, 0, 1]]),
        topics=Topics(topics.pair, topics.share[[2, 0, 1]], topics.weight[[2, 0, 1]]),
    )
    scores = compare_answers(answers, turned)
    assert scores.land_use is not None
    assert scores.topics is not None
    assert (scores.land_use.adjusted_rand, scores.land_use.same_kind) == (1, 1)
    assert scores.topics.mean_slots == pytest.approx(1)
    back = aligned(answers, turned)
    assert back.land_use is not None
    assert back.topics is not None
    np.testing.assert_array_equal(back.land_use.cluster, use.cluster)
    np.testing.assert_array_equal(back.land_use.profiles, use.profiles)
    np.testing.assert_array_equal(back.topics.weight, topics.weight)


def test_zones_that_only_one_side_can_tell_are_not_compared(answers: Answers) -> None:
    use = answers.land_use
    assert use is not None
    fewer = use.cluster.copy()
    fewer[[0, 4]] = -1
    scores = compare_answers(answers, replace(answers, land_use=LandUse(fewer, use.profiles)))
    assert scores.land_use is not None
    assert scores.land_use.zones == 18
    assert aligned(answers, replace(answers, land_use=LandUse(fewer, use.profiles))).land_use is not None


def test_a_release_in_one_zone_and_one_time_has_no_answer_and_says_so(answers: Answers) -> None:
    flat = Profiles(*(np.full((20, 24), side.mean()) for side in answers.profiles))
    coarse = ask(flat, SlotFlows(np.arange(60), np.full((24, 60), 9.0)), QUESTIONS)
    assert (coarse.land_use, coarse.topics) == (None, None)
    assert set(coarse.failures) == {"land use", "typical flows"}
    assert all("too coarse" in words for words in coarse.failures.values())
    scores = compare_answers(answers, coarse)
    assert (scores.land_use, scores.topics, scores.out.mean) == (None, None, 0)
    assert aligned(answers, coarse).land_use is None


def test_a_zone_without_trips_has_no_correlation(answers: Answers) -> None:
    empty = replace(answers, profiles=Profiles(*(side.copy() for side in answers.profiles)))
    for side in empty.profiles:
        side[3] = 0
    scores = compare_answers(empty, answers)
    assert np.flatnonzero(np.isnan(scores.by_zone)).tolist() == [3]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"clusters": 1}, "--clusters must be 2 to 8; got 1"),
        ({"topics": 9}, "--topics must be 2 to 8; got 9"),
        ({"seed": -1}, "--seed must be a number from 0"),
    ],
)
def test_questions_that_cannot_be_asked(wrong: dict[str, int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Questions(**wrong)
