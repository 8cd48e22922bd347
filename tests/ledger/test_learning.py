"""Compiled loops that take in whose records are and where they went, held to their plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import differencing as oracle
from tripcloak.ground.arrays import Ints
from tripcloak.ledger._kernels import groups as kernels

WAYS = pytest.mark.parametrize("way", ["compiled", "plain"])


def chosen(way: str, kernel: Any) -> Any:
    return {"compiled": kernel, "plain": kernel.py_func}[way]


def digests(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.uint64)


ASCENDING = st.sets(st.integers(1, 9)).map(sorted)


@WAYS
@given(ASCENDING, ASCENDING)
def test_some_are_all_among_others_or_not(way: str, some: list[int], others: list[int]) -> None:
    found = chosen(way, kernels.are_all_among)(digests(some), digests(others))
    assert found == oracle.are_all_among(some, others)


@WAYS
@given(ASCENDING, ASCENDING)
def test_groups_are_those_of_the_same_records(way: str, some: list[int], known: list[int]) -> None:
    group = np.arange(len(known), dtype=np.int32) - 1
    found = chosen(way, kernels.groups_at)(digests(some), digests(known), group, -2)
    assert found.tolist() == oracle.groups_at(some, known, group.tolist(), -2)


@WAYS
@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(1, 3)), max_size=6), st.booleans())
def test_trips_are_added_up_group_by_group(way: str, told: list[tuple[int, int]], weighed: bool) -> None:
    group = np.array([own for own, _ in told], dtype=np.int32)
    weight = np.array([trips for _, trips in told if weighed], dtype=np.int64)
    found = chosen(way, kernels.trips_in_groups)(group, weight, 3)
    assert found.tolist() == oracle.trips_in_groups(group.tolist(), weight.tolist(), 3)


@WAYS
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=6),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.booleans(),
)
def test_what_is_known_of_people_grows(
    way: str, told: list[tuple[bool, int]], known: list[int], told_apart: bool
) -> None:
    place = np.arange(len(told), dtype=np.int32)[::-1].copy()
    new, record = np.array([asked for asked, _ in told], dtype=bool), digests([1] * len(told))
    person, now = digests([1 + who for _, who in told]), digests(known)
    given_all = place, new, record, person
    expected = list(known)
    changed = oracle.learn_people(*(column.tolist() for column in given_all), expected, told_apart)
    assert chosen(way, kernels.learn_people)(*given_all, now, told_apart) == changed
    assert now.tolist() == expected


@WAYS
@given(st.permutations(range(6)), st.lists(st.integers(-2, 3), max_size=6))
def test_codes_are_those_of_groups_where_there_is_one(way: str, place: list[int], group: list[int]) -> None:
    own = np.array(place[: len(group)], dtype=np.int32)
    found = chosen(way, kernels.codes_at)(own, np.array(group, dtype=np.int32), 6)
    assert found.tolist() == oracle.codes_at(own.tolist(), group, 6)


@WAYS
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 1)), min_size=1, max_size=6))
def test_groups_follow_flows_where_every_flow_has_one(way: str, told: list[tuple[int, int]]) -> None:
    flow, group = np.array(told, dtype=np.int32).T.copy()
    example = np.zeros(3, dtype=np.int64)
    example[flow] = np.arange(len(flow))
    columns = flow, group, example
    expected = oracle.groups_follow_flows(*(column.tolist() for column in columns))
    assert chosen(way, kernels.groups_follow_flows)(*columns) == expected
