"""Flows in slots of time: told apart, found and summed like those without, one slot at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows.model import Flows, ODMatrix, flows_from_trips, group_flows
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy, time_hierarchy

TREE = Hierarchy.from_parents(["a", "b", "c", "all"], [3, 3, 3, -1])
TIMES = time_hierarchy(np.array([5, 6, 30]), 60)
codes = st.integers(0, 2)
rows = st.lists(st.tuples(codes, codes, codes, st.integers(-1, 4)), min_size=1, max_size=40)


def matrix_of(trips: list[tuple[int, int, int, int]]) -> ODMatrix:
    origin, destination, slot, person = np.array(trips, dtype=np.int32).T
    return ODMatrix.from_trips(TREE, TREE, origin, destination, person=person, times=TIMES, slot=slot)


@given(rows)
def test_flows_are_the_combinations_that_occur(trips: list[tuple[int, int, int, int]]) -> None:
    flows = matrix_of(trips).flows
    assert flows.slot is not None
    found = list(zip(flows.origin.tolist(), flows.destination.tolist(), flows.slot.tolist(), strict=True))
    expected = Counter(row[:3] for row in trips)
    assert found == sorted(expected)
    assert flows.trips.tolist() == [expected[cell] for cell in found]
    assert flows.travellers is not None
    for number, cell in enumerate(found):
        start, end = flows.travellers.offsets[number : number + 2]
        assert flows.travellers.people[start:end].tolist() == sorted(
            {row[3] for row in trips if row[:3] == cell} - {-1}
        )


@given(rows, st.lists(st.tuples(codes, codes, codes), min_size=1))
def test_flows_are_found_by_their_slot(
    trips: list[tuple[int, int, int, int]], wanted: list[tuple[int, int, int]]
) -> None:
    known = sorted({row[:3] for row in trips})
    found = matrix_of(trips).find(*np.array(wanted, dtype=np.int32).T)
    assert found.tolist() == [known.index(cell) if cell in known else -1 for cell in wanted]


def test_codes_too_long_for_one_key_are_numbered_first() -> None:
    big = 2**31 - 1
    origin = np.array([big, 0, big, big, 5])
    destination = np.array([1, big, 1, 1, 2])
    slot = np.array([3, big, 3, 2, 2**20])
    person = np.array([4, 4, 9, 4, big])
    flows = flows_from_trips(origin, destination, slot=slot, person=person)
    assert flows.slot is not None
    found = list(zip(flows.origin.tolist(), flows.destination.tolist(), flows.slot.tolist(), strict=True))
    assert found == [(0, big, big), (5, 2, 2**20), (big, 1, 2), (big, 1, 3)]
    assert flows.trips.tolist() == [1, 1, 1, 2]
    assert flows.travellers is not None
    assert flows.travellers.people.tolist() == [4, big, 4, 4, 9]


@given(rows)
def test_groups_are_told_apart_by_time(trips: list[tuple[int, int, int, int]]) -> None:
    matrix = matrix_of(trips)
    day = TIMES.lift(2)[matrix.flows.slot]
    zero = np.full(matrix.n_flows, TREE.root)
    groups = group_flows(matrix, zero, zero, time_zone=day)
    assert groups is not None
    assert groups.time is not None
    expected = Counter(TIMES.zones.ids[TIMES.lift(2)[row[2]]] for row in trips)
    found = dict(zip(TIMES.zones.ids[groups.time].tolist(), groups.support("trips").tolist(), strict=True))
    assert found == expected


def test_the_digest_knows_the_slots() -> None:
    digests = {matrix_of([(0, 1, slot, 7)]).digest() for slot in range(3)}
    other = time_hierarchy(np.array([5, 6, 31]), 60)
    moved = ODMatrix(origins=TREE, destinations=TREE, flows=matrix_of([(0, 1, 0, 7)]).flows, times=other)
    assert len(digests | {moved.digest()}) == 4


def test_slots_and_a_tree_of_time_go_together() -> None:
    flows = matrix_of([(0, 1, 2, 7)]).flows
    with pytest.raises(InputError, match="hierarchy of time"):
        ODMatrix(origins=TREE, destinations=TREE, flows=flows)
    plain = Flows(origin=flows.origin, destination=flows.destination, trips=flows.trips)
    with pytest.raises(InputError, match="hierarchy of time"):
        ODMatrix(origins=TREE, destinations=TREE, flows=plain, times=TIMES)
    with pytest.raises(InputError, match="outside its hierarchy"):
        ODMatrix(origins=TREE, destinations=TREE, flows=flows, times=time_hierarchy(np.array([5]), 60))
    with pytest.raises(InputError, match="by their slot"):
        matrix_of([(0, 1, 2, 7)]).find(flows.origin, flows.destination)
