"""k-anonymity: what k may be, which unit it counts, and which groups it lets through."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import kernels as oracle
from tripcloak.flows.model import group_flows
from tripcloak.ground.errors import InputError
from tripcloak.promises import AllOf, KAnonymity, Unit
from worlds.matrices import Case, cases, promises

HERE: oracle.Tree = {"here": None}


def one_group(*rows: oracle.Row, **columns: bool) -> Case:
    return Case(trees=(HERE, HERE), rows=rows, **columns)


@pytest.mark.parametrize("k", [1, 0, -3, 1.5, float("nan"), float("-inf")])
def test_a_group_of_one_hides_nobody(k: float) -> None:
    with pytest.raises(InputError, match="k must be at least 2"):
        KAnonymity(k=k)


@pytest.mark.parametrize("k", [float("inf"), 1e30, 10**30, 10**400])
def test_k_must_be_countable(k: float) -> None:
    with pytest.raises(InputError, match="finite"):
        KAnonymity(k=k)


@pytest.mark.parametrize("unit", [None, "trips", "travellers", "population"])
def test_k_counts_whole_people(unit: Unit | None) -> None:
    with pytest.raises(InputError, match="whole"):
        KAnonymity(k=2.5, unit=unit)
    assert KAnonymity(k=3.0, unit=unit) == KAnonymity(k=3, unit=unit)


@pytest.mark.parametrize("unit", ["trip", "people", "", "Trips"])
def test_an_unknown_unit_is_refused(unit: str) -> None:
    with pytest.raises(InputError, match="unit must be one of trips, travellers, population"):
        KAnonymity(k=5, unit=unit)  # type: ignore[arg-type]


def test_words_give_k_in_full() -> None:
    assert KAnonymity(k=1_234_567, unit="population").sentence() == "at least 1,234,567 population"
    assert KAnonymity(k=10.0, unit="trips").sentence() == ("at least 10 trips, which may be one person's")
    assert KAnonymity(k=10).sentence() == "at least 10 travellers (trips without an id)"


def test_travellers_are_counted_where_they_can_be() -> None:
    row = oracle.Row("here", "here", person=0, weight=1.0)
    unit: Unit
    for case, unit in (
        (one_group(row), "trips"),
        (one_group(row, has_weight=True), "trips"),
        (one_group(row, has_person=True, has_weight=True), "travellers"),
        (one_group(row, people_once=True), "travellers"),
    ):
        id_is = "person" if unit == "travellers" else None
        assert KAnonymity(k=4).resolve(case.matrix()) == KAnonymity(k=4, unit=unit, id_is=id_is)


def test_an_open_unit_has_no_threshold_yet() -> None:
    with pytest.raises(InputError, match="still open"):
        _ = KAnonymity(k=4).thresholds
    assert KAnonymity(k=4, unit="trips").thresholds == {"trips": 4}


@pytest.mark.parametrize(("unit", "keyword"), [("travellers", "person="), ("population", "weight=")])
def test_a_unit_the_input_cannot_tell_is_refused_with_the_keyword_that_helps(
    unit: Unit, keyword: str
) -> None:
    matrix = one_group(oracle.Row("here", "here")).matrix()
    for promise in (
        KAnonymity(k=2, unit=unit),
        AllOf(promises=(KAnonymity(k=2, unit="trips"), KAnonymity(k=2, unit=unit))),
    ):
        with pytest.raises(InputError, match=keyword):
            promise.resolve(matrix)


@given(data=st.data())
def test_a_group_is_safe_exactly_when_a_recount_says_so(data: st.DataObject) -> None:
    case = data.draw(cases())
    promise = data.draw(promises(case))
    matrix = case.matrix()
    groups = group_flows(matrix, matrix.flows.origin, matrix.flows.destination)
    assert groups is not None
    expected = [oracle.safe(rows, case.thresholds(promise)) for rows in oracle.flows_of(case.rows).values()]
    assert promise.resolve(matrix).safe(groups).tolist() == expected


@given(data=st.data())
def test_a_group_that_holds_a_safe_group_is_safe(data: st.DataObject) -> None:
    case = data.draw(cases())
    matrix = case.matrix()
    promise = data.draw(promises(case)).resolve(matrix)
    o, d = matrix.flows.origin, matrix.flows.destination
    fine, coarse = group_flows(matrix, o, d), group_flows(matrix, o, np.zeros_like(d))
    assert fine is not None
    assert coarse is not None
    merged = coarse.of_flow[np.argsort(fine.of_flow)]
    assert promise.safe(coarse)[merged[promise.safe(fine)]].all()


def test_trips_of_one_person_never_add_up() -> None:
    rows = [oracle.Row("here", "here", person=0)] * 99
    matrix = one_group(*rows, has_person=True).matrix()
    groups = group_flows(matrix, np.array([0]), np.array([0]))
    assert groups is not None
    assert not KAnonymity(k=2, unit="travellers").safe(groups).any()
    assert KAnonymity(k=99, unit="trips").safe(groups).all()


def test_a_k_beyond_all_data_is_only_not_reached() -> None:
    rows = [oracle.Row("here", "here", person=i, weight=1e6) for i in range(5)]
    matrix = one_group(*rows, has_person=True, has_weight=True).matrix()
    groups = group_flows(matrix, np.array([0]), np.array([0]))
    assert groups is not None
    for unit in matrix.units:
        assert KAnonymity(k=2**53, unit=unit).safe(groups).tolist() == [False]


class TestAllOf:
    """Several promises at once."""

    def test_none_is_not_enough(self) -> None:
        with pytest.raises(InputError, match="at least one"):
            AllOf(promises=())

    def test_the_largest_threshold_counts_and_the_first_unit_leads(self) -> None:
        parts = [KAnonymity(k=5, unit="travellers"), KAnonymity(k=9, unit="trips")]
        both = AllOf(promises=(*parts, AllOf(promises=(KAnonymity(k=7, unit="travellers"),))))
        assert list(both.thresholds.items()) == [("travellers", 7), ("trips", 9)]
        assert both.sentence() == (
            "at least 5 travellers and at least 9 trips, which may be one person's and at least 7 travellers"
        )

    def test_open_units_are_settled_inside(self) -> None:
        matrix = one_group(oracle.Row("here", "here", person=1), has_person=True).matrix()
        both = AllOf(promises=(KAnonymity(k=5), KAnonymity(k=9, unit="trips"))).resolve(matrix)
        assert both.thresholds == {"travellers": 5, "trips": 9}
