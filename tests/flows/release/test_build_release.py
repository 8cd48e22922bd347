"""build_release: numbers that a recount confirms, and no release at all when a rule is broken."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree, flows_of, lift, safe, support
from oracles.readback import group_pairs, released_as
from tripcloak._version import __version__
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_noisy_release, build_release, main_volume
from tripcloak.ground.errors import InternalError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import AllOf, DifferentialPrivacy, KAnonymity, LDiversity, Promise, TCloseness
from worlds.matrices import Case, cases, promises

FOUR: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}
TRIPS = KAnonymity(k=2, unit="trips")


def build(
    matrix: ODMatrix, promise: Promise, suppressed: list[bool], *, height: int = 0, limit: float = 0.5
) -> Release:
    """Return the release in which every tile is lifted to one height."""
    return build_release(
        matrix,
        method="by hand",
        parameters={"height": height},
        promise=promise,
        suppression_limit=limit,
        origin_zone=matrix.origins.lift(height)[matrix.flows.origin],
        destination_zone=matrix.destinations.lift(height)[matrix.flows.destination],
        suppressed=np.array(suppressed),
        homogeneous=True,
    )


def weighed(*rows: tuple[str, str, int, float]) -> ODMatrix:
    """Return the matrix of (origin, destination, trips, weight of the row)."""
    made = tuple(Row(o, d, trips=trips, weight=weight) for o, d, trips, weight in rows)
    return Case(trees=(FOUR, FOUR), rows=made, has_trips=True, has_weight=True).matrix()


@given(data=st.data())
def test_a_release_is_built_exactly_when_it_is_safe_and_inside_its_limit(data: st.DataObject) -> None:
    case = data.draw(cases())
    matrix = case.matrix()
    promise = data.draw(promises(case)).resolve(matrix)
    flows = flows_of(case.rows)
    hidden = {pair: data.draw(st.integers(0, 5)) == 0 for pair in flows}
    height = data.draw(st.integers(0, 3))
    groups: dict[Any, list[Row]] = {}
    for pair, rows in flows.items():
        if not hidden[pair]:
            zones = tuple(lift(case.trees[side], pair[side], height) for side in range(2))
            groups.setdefault(zones, []).extend(rows)
    volume = main_volume(promise)
    share = sum(support(flows[pair], volume) for pair in flows if hidden[pair])
    within = share <= 0.25 * support(case.rows, volume)
    if not (within and groups and all(safe(rows, case.thresholds(promise)) for rows in groups.values())):
        with pytest.raises(InternalError, match="nothing was released"):
            build(matrix, promise, list(hidden.values()), height=height, limit=0.25)
        return
    release = build(matrix, promise, list(hidden.values()), height=height, limit=0.25)
    assert set(group_pairs(release)) == set(groups)
    assert release.n_groups == len(groups)
    told = dict(zip(group_pairs(release), release.trips.tolist(), strict=True))
    assert told == {zones: support(rows, "trips") for zones, rows in groups.items()}
    assert {pair for pair, zones in released_as(matrix, release).items() if zones is None} == {
        pair for pair in flows if hidden[pair]
    }


def test_one_unsafe_group_among_many_stops_everything() -> None:
    matrix = weighed(("a", "b", 5, 1.0), ("b", "a", 1, 1.0), ("c", "d", 9, 1.0))
    with pytest.raises(InternalError, match="not safe") as refusal:
        build(matrix, TRIPS, [False, False, False])
    assert not any(sign.isdigit() for sign in str(refusal.value))
    assert build(matrix, TRIPS, [False, True, False]).n_groups == 2


def test_a_release_of_nothing_is_no_release() -> None:
    matrix = weighed(("a", "b", 5, 1.0))
    with pytest.raises(InternalError, match="not safe"):
        build(matrix, TRIPS, [True], limit=0.99)


def test_the_limit_may_be_reached_but_not_passed() -> None:
    matrix = weighed(("a", "b", 2, 0.0), ("b", "a", 2, 0.0), ("c", "d", 6, 0.0))
    hidden = [True, False, False]
    assert build(matrix, TRIPS, hidden, limit=0.2).suppressed.tolist() == hidden
    with pytest.raises(InternalError, match="more than its limit"):
        build(matrix, TRIPS, hidden, limit=0.19)


def test_the_limit_is_a_share_of_what_is_protected() -> None:
    """The first flow is a tenth of the trips and half of the population."""
    matrix = weighed(("a", "b", 2, 50.0), ("c", "d", 18, 50.0))
    people = KAnonymity(k=10, unit="population")
    hidden = [True, False]
    assert build(matrix, TRIPS, hidden, limit=0.1).volume == "trips"
    assert build(matrix, AllOf(promises=(people, TRIPS)), hidden, limit=0.1).volume == "trips"
    assert build(matrix, people, hidden, limit=0.5).volume == "population"
    with pytest.raises(InternalError, match="more than its limit"):
        build(matrix, people, hidden, limit=0.4)


def test_it_tells_what_the_input_tells_and_how_it_was_made() -> None:
    matrix = weighed(("a", "c", 2, 1.5), ("b", "d", 3, 2.0))
    release = build(matrix, TRIPS, [False, False], height=1, limit=0.0)
    assert group_pairs(release) == [("ab", "cd")]
    assert release.support("trips").tolist() == [5]
    assert release.support("population").tolist() == [3.5]
    assert release.support("travellers") is None
    assert (release.k, release.zone_numbers, release.n_groups) == (2, (1, 1), 1)
    assert (release.method, release.parameters, release.version) == ("by hand", {"height": 1}, __version__)
    assert release.input_digest == matrix.digest()


def test_a_release_cannot_be_changed() -> None:
    release: Any = build(weighed(("a", "b", 5, 1.0)), TRIPS, [False])
    with pytest.raises(FrozenInstanceError):
        release.trips = np.array([99])


def test_later_changes_of_the_parameters_do_not_reach_a_release() -> None:
    matrix = weighed(("a", "b", 5, 1.0))
    parameters = {"levels": 3}
    release = build_release(
        matrix,
        method="by hand",
        parameters=parameters,
        promise=TRIPS,
        suppression_limit=0.0,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=np.array([False]),
        homogeneous=True,
    )
    parameters["levels"] = 7
    assert release.parameters == {"levels": 3}


# --- every other guard, at its edge ---------------------------------------------------------------------


def timed() -> ODMatrix:
    tree, day = (Hierarchy.from_parents([*names, "all"], [2, 2, -1]) for names in (("a", "b"), ("x", "y")))
    ends = np.array([0, 0, 1, 1])
    return ODMatrix.from_trips(tree, tree, ends, ends, times=day, slot=np.array([0, 0, 1, 1]))


def by_hand(matrix: ODMatrix, promise: Promise = TRIPS, **changed: Any) -> Release:
    flows = matrix.flows
    given = {
        "method": "by hand",
        "parameters": {},
        "promise": promise,
        "suppression_limit": 0.0,
        "origin_zone": flows.origin,
        "destination_zone": flows.destination,
        "time_zone": flows.slot,
        "suppressed": np.zeros(matrix.n_flows, dtype=bool),
        "homogeneous": True,
    }
    return build_release(matrix, **{**given, **changed})  # type: ignore[arg-type]


def test_a_time_is_needed_where_there_are_times_and_nowhere_else() -> None:
    matrix = timed()
    assert by_hand(matrix).group_time is not None
    with pytest.raises(InternalError, match="needs a time for every flow"):
        by_hand(matrix, time_zone=None)
    untimed = weighed(("a", "b", 2, 1.0))
    with pytest.raises(InternalError, match="needs a time for every flow"):
        by_hand(untimed, time_zone=untimed.flows.origin)


def test_a_promise_without_a_threshold_releases_nothing() -> None:
    with pytest.raises(InternalError, match="protects nobody"):
        by_hand(weighed(("a", "b", 9, 1.0), ("b", "a", 9, 1.0)), LDiversity(l=2))


@pytest.mark.parametrize("unit", ["trips", "travellers", "population"])
def test_k_is_enough_and_one_fewer_is_not(unit: Any) -> None:
    rows = tuple(Row("a", "b", person=person, weight=1.0) for person in range(5))
    matrix = Case(trees=(FOUR, FOUR), rows=rows, has_person=True, has_weight=True).matrix()
    assert by_hand(matrix, KAnonymity(k=5, unit=unit)).n_groups == 1
    with pytest.raises(InternalError, match="not safe"):
        by_hand(matrix, KAnonymity(k=6, unit=unit))


@pytest.mark.parametrize(("t", "kept"), [(0.375, True), (0.37499, False)])
def test_an_origin_as_far_as_promised_passes_and_a_hair_further_does_not(t: float, kept: bool) -> None:
    matrix = weighed(("a", "a", 6, 1.0), ("a", "b", 2, 1.0), ("b", "b", 8, 1.0))
    promise = AllOf(promises=(TRIPS, TCloseness(t=t)))
    if kept:
        assert by_hand(matrix, promise).n_groups == 3
        return
    with pytest.raises(InternalError, match="too far from the others"):
        by_hand(matrix, promise)


NOISE = DifferentialPrivacy(epsilon=1.0, mechanism="noise")


def noisy(**changed: Any) -> Release:
    """Return the noisy release of three pairs of zones, one of which no flow is in."""
    matrix = weighed(("a", "b", 2, 1.0), ("b", "a", 2, 1.0))
    zones = matrix.origins.zones, matrix.destinations.zones
    last = len(zones[0]) - 1
    given: dict[str, Any] = {
        "promise": NOISE,
        "group_of_flow": np.array([2, -1]),
        "group_origin": np.array([0, 0, last]),
        "group_destination": np.array([0, last, 0]),
        "trips": np.array([1, 1, 5]),
    }
    shared: dict[str, Any] = {"method": "by hand", "parameters": {}, "zones": zones, "homogeneous": True}
    return build_noisy_release(matrix, **shared, **{**given, **changed})


def test_noisy_numbers_at_every_edge_are_released() -> None:
    assert noisy().trips.tolist() == [1, 1, 5]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"promise": TRIPS}, "keep no threshold"),
        ({"group_of_flow": np.array([2])}, "do not fit the matrix"),
        ({"group_of_flow": np.array([2, -1, 0])}, "do not fit the matrix"),
        ({"group_origin": np.array([0, 0])}, "do not fit the matrix"),
        ({"group_destination": np.array([0, 1, 2, 3])}, "do not fit the matrix"),
        ({"trips": np.array([0, 1, 5])}, "must be whole"),
        ({"trips": np.array([1.0, 1.0, 5.0])}, "must be whole"),
        ({"group_origin": np.array([-1, 0, 1])}, "a zone that there is not"),
        ({"group_origin": np.array([0, 0, 7])}, "a zone that there is not"),
        ({"group_destination": np.array([0, 7, 0])}, "a zone that there is not"),
        ({"group_destination": np.array([0, -1, 0])}, "a zone that there is not"),
        ({"group_destination": np.array([0, 0, 0])}, "share one pair"),
        ({"group_of_flow": np.array([3, -1])}, "a group that there is not"),
        ({"group_of_flow": np.array([2, -2])}, "a group that there is not"),
    ],
    ids=str,
)
def test_noisy_numbers_one_step_past_an_edge_are_not(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InternalError, match=words):
        noisy(**changed)


def test_no_noisy_number_at_all_is_no_release() -> None:
    none = np.zeros(0, dtype=np.int64)
    gone = {"group_of_flow": np.array([-1, -1]), "group_origin": none, "group_destination": none}
    with pytest.raises(InternalError, match="must be whole"):
        noisy(trips=none, **gone)
