"""The recommendation: a rule on rows, held to its own words whatever the rows are."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.comparing.choice import FACTOR, choices, choose
from tripcloak.comparing.rows import ComparisonRow

K, LIMIT = 10, 0.1


def row(method: str, g: float | None = 50.0, s: float = 0.1, **facts: object) -> ComparisonRow:
    told = {"safe": True, "shared": True, "smallest": 12.0, "people": "travellers", **facts}
    measures = {"G": g, "S": s, "GDM_mean": 200.0}
    return ComparisonRow(method=method, k=K, unit="travellers", limit=LIMIT, measures=measures, **told)


def noise(method: str = "laplace") -> ComparisonRow:
    return replace(
        row(method, g=2.0), k=None, limit=None, safe=None, promise="differential privacy", epsilon=1.0
    )


@st.composite
def rows(draw: st.DrawFn) -> list[ComparisonRow]:
    made = []
    for number in range(draw(st.integers(0, 7))):
        made.append(
            row(
                f"m{number}",
                draw(st.none() | st.sampled_from([2.0, 10.0, 19.9, 20.0, 20.1, 40.0, 500.0])),
                draw(st.sampled_from([0.0, 0.05, 0.1, 0.1000001, 0.2])),
                safe=draw(st.sampled_from([True, True, True, False, None])),
                shared=draw(st.booleans()),
                reason=draw(st.sampled_from([None, None, None, "took too long"])),
                promise=draw(st.sampled_from(["k-anonymity", "k-anonymity", "k^m-anonymity"])),
                gap=draw(st.none() | st.just(27.3)),
            )
        )
    return [*made, *([noise()] if draw(st.booleans()) else [])]


def qualified(found: list[ComparisonRow]) -> list[ComparisonRow]:
    return [
        one
        for one in found
        if one.reason is None
        and one.safe
        and one.promise == "k-anonymity"
        and one.measures["G"] is not None
        and one.measures["S"] <= LIMIT
    ]


@given(rows())
def test_only_what_qualifies_is_recommended_and_nothing_better_is_passed_over(found):
    choice, able = choose(found, K, LIMIT), qualified(found)
    if not able:
        assert choice.method is None
        assert choice.runner_up is None
        return
    taken = next(one for one in able if one.method == choice.method)
    finest = min(one.measures["G"] for one in able)
    shared = [one.measures["G"] for one in able if one.shared]
    if shared and min(shared) <= FACTOR * finest:
        assert taken.shared
        assert taken.measures["G"] == min(shared)
    else:
        assert taken.measures["G"] == finest
    peers = [one for one in able if (one.shared, one.measures["G"]) == (taken.shared, taken.measures["G"])]
    assert taken.measures["S"] == min(one.measures["S"] for one in peers)
    assert choice.runner_up in {one.method for one in able} - {choice.method} | {None}
    assert (choice.runner_up is None) == (len(able) == 1)


@given(rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_only_settles_exact_ties(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    ranks = [(one.measures["G"], one.measures["S"], one.shared) for one in qualified(found)]
    if len(set(ranks)) == len(ranks):
        assert choose(found, K, LIMIT).method == choose(shuffled, K, LIMIT).method


@given(rows())
def test_failing_rows_change_nothing(found):
    failing = [replace(row("late", g=1.0), reason="took too long"), row("bad", g=1.0, safe=False)]
    before, after = choose(found, K, LIMIT), choose([*failing, *found], K, LIMIT)
    assert (before.method, before.runner_up) == (after.method, after.runner_up)


def test_the_words_say_the_reason_the_certificate_and_when_to_prefer_the_other():
    found = [row("shared", 80.0, gap=27.333, relaxation="some bound"), row("fine", 50.0, shared=False)]
    choice = choose([*found, noise()], K, LIMIT)
    text = " ".join(choice.words)
    assert (choice.method, choice.runner_up) == ("shared", "fine")
    for part in ("2 releases", "(G)", "200 m", "10.0 % withheld", "1.60 times", "within 27 %", "some bound"):
        assert part in text
    assert "Prefer fine where single flows are read" in text
    assert "laplace (epsilon 1) protects against something else" in text


def test_zones_that_are_not_shared_win_where_they_are_far_finer():
    choice = choose([row("shared", 101.0), row("fine", 50.0, shared=False)], K, LIMIT)
    assert (choice.method, choice.runner_up) == ("fine", "shared")
    assert "Prefer shared where users map, join or add up zones" in " ".join(choice.words)


def test_noise_alone_is_no_k_anonymous_release():
    choice = choose([replace(row("late"), reason="took too long"), noise()], K, LIMIT)
    assert choice.method is None
    assert "none came to an end" in choice.words[0]
    assert "something else" in choice.words[1]


@pytest.mark.parametrize(("smallest", "warned"), [(1.0, True), (9.0, True), (10.0, False)])
def test_a_k_that_counts_trips_is_warned_of_where_few_people_stand_behind(smallest, warned):
    made = replace(row("trips", smallest=smallest), unit="trips")
    assert any("Careful" in words for words in choose([made], K, LIMIT).words) is warned


def test_every_pair_that_was_asked_for_has_its_choice():
    asked = list(itertools.product((5, 10), (0.0, 0.1)))
    made = [replace(row("one", s=0.0), k=k, limit=limit) for k, limit in asked]
    assert [(choice.k, choice.limit) for choice in choices([*made, noise()])] == asked


def test_what_promises_less_than_k_is_not_recommended():
    less = replace(row("apriori", g=2.0), promise="k^m-anonymity")
    assert choose([less, row("other", g=500.0)], K, LIMIT).method == "other"
    assert choose([less], K, LIMIT).method is None
