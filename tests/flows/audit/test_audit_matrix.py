"""The quick audit of arrays: honest releases of random matrices pass, forged ones do not."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import safe
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.audit.matrix import case as audited
from tripcloak.flows.audit.matrix.case import MatrixCase
from tripcloak.flows.audit.matrix.zones import released_rows
from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.rulebook import BrokenPart
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import (
    AllOf,
    DifferentialPrivacy,
    Dominance,
    KAnonymity,
    LDiversity,
    Promise,
    TCloseness,
)
from worlds.matrices import Case, cases, limits, promises
from worlds.released_flows import TEN_TRAVELLERS, World, raw_trips


@st.composite
def releases(draw: st.DrawFn) -> tuple[ODMatrix, Release]:
    """Return a random matrix and an honest release of it."""
    case: Case = draw(cases())
    promise: Promise = draw(promises(case))
    assume(safe(case.rows, case.thresholds(promise)))
    matrix = case.matrix()
    return matrix, ODkAnon(promise=promise, suppression_limit=draw(limits)).anonymise(matrix)


@given(made=releases())
def test_honest_releases_pass(made: tuple[ODMatrix, Release]) -> None:
    matrix, release = made
    report = audit_matrix(matrix, release)
    assert report.broken == ()
    for unit in release.promise.thresholds:
        assert report.smallest_support[unit] == pytest.approx(release.support(unit).min(), rel=1e-12)


@settings(max_examples=settings().max_examples // 2)
@given(made=releases(), data=st.data())
def test_a_threshold_no_group_reaches_is_noticed(made: tuple[ODMatrix, Release], data: st.DataObject) -> None:
    matrix, release = made
    unit = data.draw(st.sampled_from(list(release.promise.thresholds)))
    smallest = float(release.support(unit).min())
    id_is = release.promise.id_is if unit == "travellers" else None
    raised = KAnonymity(k=max(2, int(smallest) + 1 + int(smallest * 1e-6)), unit=unit, id_is=id_is)
    forged = replace(release, promise=AllOf(promises=(release.promise, raised)))
    assert audit_matrix(matrix, forged).broken == ("every-group-safe",)


@settings(max_examples=settings().max_examples // 2)
@given(made=releases(), data=st.data())
def test_a_group_split_below_k_is_noticed(made: tuple[ODMatrix, Release], data: st.DataObject) -> None:
    """One flow that is not safe alone is released alone, with numbers that are right."""
    matrix, release = made
    flow = data.draw(st.integers(0, matrix.n_flows - 1))
    thresholds = release.promise.thresholds
    support = {"trips": matrix.flows.trips[flow]}
    if matrix.flows.travellers is not None:
        support["travellers"] = np.diff(matrix.flows.travellers.offsets)[flow]
    elif matrix.each_trip_is_a_person:
        support["travellers"] = matrix.flows.trips[flow]
    if matrix.flows.population is not None:
        support["population"] = matrix.flows.population[flow]
    assume(any(support[unit] < k * (1 - 1e-6) for unit, k in thresholds.items()))
    forged = alone(matrix, release, flow, support)
    assert "every-group-safe" in audit_matrix(matrix, forged).broken


def alone(matrix: ODMatrix, release: Release, flow: int, support: dict[str, float]) -> Release:
    """Return the release in which a flow is a group of its own."""
    group = release.group_of_flow.copy()
    group[flow] = release.n_groups
    numbers = {
        unit: np.append(release.support(unit), number)  # type: ignore[arg-type]
        for unit, number in support.items()
    }
    return replace(
        release,
        group_of_flow=group,
        group_origin=np.append(release.group_origin, matrix.flows.origin[flow]),
        group_destination=np.append(release.group_destination, matrix.flows.destination[flow]),
        **numbers,
    )


@pytest.fixture(scope="module")
def city() -> tuple[ODMatrix, Release]:
    """A matrix, and a release with withheld flows."""
    world = World.of(raw_trips())
    return world.matrix, world.release(
        AllOf(promises=(TEN_TRAVELLERS, KAnonymity(k=5000, unit="population")))
    )


@pytest.mark.parametrize("unit", ["trips", "travellers", "population"])
@pytest.mark.parametrize("step", [-1, 1])
def test_a_wrong_number_is_noticed(unit: str, step: int, city: tuple[ODMatrix, Release]) -> None:
    matrix, release = city
    numbers = release.support(unit).copy()  # type: ignore[arg-type]
    numbers[2] += step
    broken = audit_matrix(matrix, replace(release, **{unit: numbers})).broken
    assert broken == (
        ("flows-match-recount", "totals-add-up") if unit == "trips" else ("flows-match-recount",)
    )


def test_more_withheld_than_the_limit_is_noticed(city: tuple[ODMatrix, Release]) -> None:
    matrix, release = city
    assert audit_matrix(matrix, replace(release, suppression_limit=0.001)).broken == (
        "suppression-within-limit",
    )


def test_a_flow_that_changed_groups_is_noticed(city: tuple[ODMatrix, Release]) -> None:
    matrix, release = city
    group = release.group_of_flow.copy()
    row = int(np.flatnonzero(group >= 0)[0])
    group[row] = (group[row] + 1) % release.n_groups
    broken = audit_matrix(matrix, replace(release, group_of_flow=group)).broken
    assert {"flows-match-recount", "zones-contain-tiles"} <= set(broken)


@pytest.mark.parametrize("number", [-2, 10**6])
def test_a_flow_in_no_group_is_noticed(number: int, city: tuple[ODMatrix, Release]) -> None:
    matrix, release = city
    group = release.group_of_flow.copy()
    group[0] = number
    assert "every-flow-accounted" in audit_matrix(matrix, replace(release, group_of_flow=group)).broken


def test_an_empty_group_and_a_pair_released_twice_are_noticed(city: tuple[ODMatrix, Release]) -> None:
    matrix, release = city
    twice = alone(
        matrix, release, 0, {u: release.support(u)[0] for u in ("trips", "travellers", "population")}
    )
    origin, destination = twice.group_origin.copy(), twice.group_destination.copy()
    origin[-1], destination[-1] = origin[0], destination[0]
    empty = replace(
        twice, group_of_flow=release.group_of_flow, group_origin=origin, group_destination=destination
    )
    broken = set(audit_matrix(matrix, empty).broken)
    assert {"every-flow-accounted", "every-group-safe", "flows-match-recount"} <= broken


def test_arrays_of_different_lengths_fail_every_rule(city: tuple[ODMatrix, Release]) -> None:
    matrix, release = city
    report = audit_matrix(matrix, replace(release, group_of_flow=release.group_of_flow[:-1]))
    assert len(report.broken) == len(report.findings)
    assert report.smallest_support == {}


def test_nothing_released_is_not_safe(city: tuple[ODMatrix, Release]) -> None:
    matrix, release = city
    none = np.zeros(0, dtype=np.int64)
    nothing = replace(
        release,
        suppression_limit=0.99,
        group_of_flow=np.full(matrix.n_flows, -1, dtype=np.int32),
        group_origin=none,
        group_destination=none,
        trips=none,
        travellers=none,
        population=none.astype(float),
    )
    assert "every-group-safe" in audit_matrix(matrix, nothing).broken


def test_people_are_counted_alike_in_one_pass_and_in_many(
    city: tuple[ODMatrix, Release], monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, release = city
    once = audit_matrix(matrix, release)
    monkeypatch.setattr(audited, "ROWS_A_PASS", 300)
    monkeypatch.setattr(audited, "FLOWS_A_BATCH", 7)
    assert audit_matrix(matrix, release) == once
    assert once.safe


def test_audit_leaves_the_arrays_alone(city: tuple[ODMatrix, Release]) -> None:
    matrix, release = city
    before = matrix.digest(), release.group_of_flow.copy(), release.travellers
    audit_matrix(matrix, release)
    assert matrix.digest() == before[0]
    np.testing.assert_array_equal(release.group_of_flow, before[1])
    assert release.travellers is before[2]


# --- one step past the line -----------------------------------------------------------------------------

TREE = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])


def small(**changes: Any) -> tuple[ODMatrix, Release]:
    """Return three flows of four people each, one of them withheld, and their release in tiles."""
    ends = np.repeat(np.array([[0, 0], [1, 2], [2, 1]]), 4, axis=0).T
    matrix = ODMatrix.from_trips(
        TREE,
        TREE,
        *ends,
        person=np.arange(12, dtype=np.int32),
        weight=np.full(12, 2.5),
        repeats=True,
        weights=True,
    )
    asked = {"method": "by hand", "parameters": {}, "promise": FOUR, "suppression_limit": 0.34}
    release = build_release(
        matrix,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=np.array([False, False, True]),
        homogeneous=True,
        **asked,  # type: ignore[arg-type]
    )
    return matrix, replace(release, **changes)


FOUR = KAnonymity(k=4, unit="travellers")


def array(*numbers: float) -> Any:
    return np.array(numbers)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"group_of_flow": array(0, 2, -1)}, "every-flow-accounted"),
        ({"group_of_flow": array(0, 1, -2)}, "every-flow-accounted"),
        ({"group_of_flow": array(0, 0, -1)}, "every-flow-accounted"),
        ({"promise": KAnonymity(k=5, unit="travellers")}, "every-group-safe"),
        ({"promise": KAnonymity(k=5, unit="trips")}, "every-group-safe"),
        ({"promise": KAnonymity(k=11, unit="population")}, "every-group-safe"),
        ({"trips": array(4, 5)}, "flows-match-recount"),
        ({"travellers": array(4, 3)}, "flows-match-recount"),
        ({"population": array(10, 10.0001)}, "flows-match-recount"),
        ({"trips": array(4, 5)}, "totals-add-up"),
        ({"suppression_limit": 1 / 3 - 1e-6}, "suppression-within-limit"),
        ({"group_origin": array(0, 5)}, "zones-contain-tiles"),
        ({"group_origin": array(-1, 1)}, "zones-contain-tiles"),
        ({"group_origin": array(0, 0)}, "zones-contain-tiles"),
        ({"group_destination": array(0, 3)}, "zones-contain-tiles"),
        ({"group_origin": array(0, 3)}, "zones-disjoint"),
        ({"group_destination": array(0, 4)}, "zones-disjoint"),
        ({"promise": AllOf(promises=(FOUR, LDiversity(l=2)))}, "zones-diverse"),
        ({"promise": AllOf(promises=(FOUR, TCloseness(t=0.4999)))}, "destinations-close"),
        ({"promise": AllOf(promises=(FOUR, Dominance(share=0.2499)))}, "no-traveller-dominates"),
        (
            {"promise": AllOf(promises=(FOUR, Dominance(share=0.2499, of=("population",))))},
            "no-traveller-dominates",
        ),
    ],
    ids=str,
)
def test_one_step_past_the_line_is_noticed(changes: dict[str, Any], rule: str) -> None:
    assert rule in audit_matrix(*small(**changes)).broken


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "promise": AllOf(
                promises=(FOUR, KAnonymity(k=4, unit="trips"), KAnonymity(k=10, unit="population"))
            )
        },
        {"suppression_limit": 1 / 3},
        {"population": array(10, 10 + 1e-9)},
        {"promise": AllOf(promises=(FOUR, TCloseness(t=0.5)))},
        {"promise": AllOf(promises=(FOUR, Dominance(share=0.25, of=("trips", "population"))))},
    ],
    ids=str,
)
def test_the_last_step_that_is_allowed_passes(changes: dict[str, Any]) -> None:
    assert audit_matrix(*small(**changes)).broken == ()


def test_each_audit_without_a_seed_and_whole_numbers_alone_under_noise() -> None:
    stated: dict[str, Any] = {"epsilon": 1.0, "mechanism": "discrete Laplace noise", "contributions": 1}
    details = (("noise_scale", 1.0), ("threshold", 4))
    noise = DifferentialPrivacy(**stated, delta=0.9, details=details)
    matrix, release = small(promise=noise, travellers=None, population=None)
    held = "noise-suffices"
    assert held not in audit_matrix(matrix, release).broken
    for change in ({"seed": 0}, {"trips": array(4, 3)}, {"trips": array(4.0, 4.0)}):
        assert held in audit_matrix(matrix, replace(release, **change)).broken


def test_flows_that_share_places_and_a_time_overlap() -> None:
    day = Hierarchy.from_parents(["early", "late", "ever"], [2, 2, -1])
    here, slot = np.zeros(8, dtype=int), np.repeat([0, 1], 4)
    matrix = ODMatrix.from_trips(TREE, TREE, here, here, times=day, slot=slot)
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=4, unit="trips"),
        suppression_limit=0.0,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        time_zone=matrix.flows.slot,
        suppressed=np.array([False, False]),
        homogeneous=False,
    )
    assert audit_matrix(matrix, release).broken == ()
    longer = replace(release, group_time=array(0, 2))
    assert "flows-never-overlap" in audit_matrix(matrix, longer).broken
    elsewhere = replace(longer, group_origin=array(0, 1))
    assert "flows-never-overlap" not in audit_matrix(matrix, elsewhere).broken
    above = replace(longer, group_origin=array(0, 3))
    assert "flows-never-overlap" in audit_matrix(matrix, above).broken


@pytest.mark.parametrize(("row", "counts"), [(-1, False), (0, True), (2, True), (3, False)])
def test_rows_that_name_no_zone_are_none_of_the_released(row: int, counts: bool) -> None:
    tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    release = SimpleNamespace(axes=[("origin", tree.zones, np.array([1, row]))])
    found = released_rows(cast(MatrixCase, SimpleNamespace(release=release)), "origin").tolist()
    assert found == sorted({1, row} if counts else {1})


@pytest.mark.parametrize("volume", ["trips", "population"])
def test_who_has_what_of_a_flow_is_told_or_the_part_is_broken(volume: str) -> None:
    told = {"trips": "repeats", "population": "weights"}
    every: dict[str, Any] = {"travellers": object(), "repeats": np.ones(1), "weights": np.ones(1)}
    for gone in (told[volume], "travellers"):
        matrix: Any = SimpleNamespace(flows=SimpleNamespace(**{**every, gone: None}))
        with pytest.raises(BrokenPart, match=f"what each traveller has of a flow's {volume}"):
            MatrixCase(matrix, cast(Any, None), cast(Any, None)).parts(volume)
    other = told["population" if volume == "trips" else "trips"]
    matrix = SimpleNamespace(flows=SimpleNamespace(**{**every, other: None}))
    reader = MatrixCase(matrix, cast(Any, None), cast(Any, None)).parts(volume)
    assert reader.schema.names == ["number", "person", "part"]
