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
from tripcloak.flows.release import Release, build_release, main_volume
from tripcloak.ground.errors import InternalError
from tripcloak.promises import AllOf, KAnonymity, Promise
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
