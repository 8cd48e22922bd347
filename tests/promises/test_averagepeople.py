"""A threshold by the mean weight: of people, of trips without people, rounded up, never of a few."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows.model import NOBODY, ODMatrix, group_flows
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import AllOf, AveragePeople, KAnonymity

HERE = Hierarchy.from_parents(["here"], [-1])


def matrix_of(weight: list[float], person: list[int] | None = None, **columns: Any) -> ODMatrix:
    ends = np.zeros(len(weight), dtype=np.int32)
    people = {} if person is None else {"person": np.array(person)}
    return ODMatrix.from_trips(HERE, HERE, ends, ends, weight=np.array(weight), **people, **columns)


def threshold(k: float, matrix: ODMatrix) -> float:
    return AveragePeople(k=k).resolve(matrix).k


def test_the_mean_is_one_over_people_not_over_trips() -> None:
    assert threshold(2, matrix_of([100.0] * 9 + [300.0], [0] * 9 + [1])) == 400


def test_a_person_counts_with_the_largest_of_their_weights() -> None:
    assert threshold(2, matrix_of([100.0, 500.0, 300.0], [0, 0, 1])) == 800


def test_trips_of_nobody_are_left_out_of_the_mean() -> None:
    assert threshold(2, matrix_of([100.0, 300.0, 9000.0], [0, 1, NOBODY])) == 400


def test_without_people_it_is_one_over_trips() -> None:
    assert threshold(2, matrix_of([100.0, 300.0])) == 400
    assert threshold(2, matrix_of([100.0, 300.0], trips=np.array([1, 7]))) == 100
    assert threshold(2, matrix_of([100.0, 300.0], [NOBODY, NOBODY])) == 400


@given(weights=st.lists(st.integers(100, 10**7), min_size=10, max_size=40), k=st.integers(2, 10))
def test_it_is_rounded_up_to_whole_people(weights: list[int], k: int) -> None:
    exact = Fraction(k * sum(weights), 100 * len(weights))
    found = threshold(k, matrix_of([w / 100 for w in weights], list(range(len(weights)))))
    assert found - math.ceil(exact) in (0, 1 if exact.denominator == 1 else 0)


def test_the_papers_threshold() -> None:
    assert threshold(10, matrix_of([2674.2] * 10, list(range(10)))) == 26742


def test_the_mean_of_fewer_than_k_people_is_not_told() -> None:
    with pytest.raises(ImpossibleRequestError, match="fewer than 10 people") as caught:
        threshold(10, matrix_of([123.0] * 9, list(range(9))))
    assert "123" not in str(caught.value)


def test_weights_must_be_known_and_stand_for_somebody() -> None:
    bare = ODMatrix.from_trips(HERE, HERE, np.zeros(20, dtype=int), np.zeros(20, dtype=int))
    with pytest.raises(InputError, match="weight="):
        AveragePeople(k=10).resolve(bare)
    with pytest.raises(InputError, match="too small"):
        threshold(2, matrix_of([0.0] * 20))


@pytest.mark.parametrize("k", [1, 2.5, float("nan")])
def test_k_is_checked_at_once(k: float) -> None:
    with pytest.raises(InputError, match="k "):
        AveragePeople(k=k)


def test_it_is_open_until_it_is_resolved_alone_or_with_others() -> None:
    both = AllOf(promises=(KAnonymity(k=3), AveragePeople(k=2)))
    with pytest.raises(InputError, match="still open"):
        _ = both.thresholds
    with pytest.raises(InputError, match="population is still open"):
        _ = AveragePeople(k=2).thresholds
    matrix = matrix_of([100.0, 300.0, 200.0], [0, 1, 2])
    assert both.resolve(matrix).thresholds == {"travellers": 3, "population": 400}
    groups = group_flows(matrix, np.array([0]), np.array([0]))
    assert groups is not None
    assert AveragePeople(k=3).safe(groups).tolist() == [True]
    assert both.sentence() == (
        "at least 3 travellers (trips without an id) and "
        "at least the population that 2 average people stand for"
    )


def test_people_that_are_told_of_do_not_stand_in_for_weights() -> None:
    matrix: Any = SimpleNamespace(units=("trips",), represented=SimpleNamespace(people=20, population=400))
    with pytest.raises(InputError):
        AveragePeople(k=10).resolve(matrix)
