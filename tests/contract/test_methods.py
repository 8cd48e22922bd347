"""The contract of every registered method, on awkward matrices: safe, complete, repeatable, or an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree, below, flows_of, safe, support
from oracles.readback import contents, flow_pairs, group_pairs, released_as
from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, main_volume
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.promises import AllOf, KAnonymity, Promise
from worlds.depth import size
from worlds.matrices import Case, cases, grid, limits, promises
from worlds.methods import HELD_TO_IT

pytestmark = pytest.mark.parametrize("method", HELD_TO_IT.values(), ids=HELD_TO_IT)

Sent: TypeAlias = dict[tuple[str, str], tuple[str, str] | None]
"""The pair of zones that every flow is released as; None where it is withheld."""

SMALL_TREE: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


@st.composite
def requests(draw: st.DrawFn) -> tuple[Case, Promise, float]:
    """Return a case and a request that can be met on it."""
    case = draw(cases(placed=True))
    promise = draw(promises(case))
    assume(safe(case.rows, case.thresholds(promise)))
    return case, promise, draw(limits)


def matrix_for(method: type[FlowMethod], case: Case) -> ODMatrix:
    """Return the matrix of a case; tiles have a place if and only if the method draws zones of its own."""
    places = case.places or (grid(case.trees[0]), grid(case.trees[1]))
    return replace(case, places=places if method.draws_zones else None).matrix()


def held(case: Case, axis: int, zone: str) -> set[str]:
    """Return the tiles that a released zone holds: those below it, or those whose centres lie in the box."""
    if not zone.startswith("box_"):
        return set(below(case.trees[axis], zone))
    south, west, north, east = (round(float(side) * 1e6) for side in zone.split("_")[1:])
    places = grid(case.trees[axis]) if case.places is None else case.places[axis]
    at = {tile: (round(lat * 1e6), round(lon * 1e6)) for tile, (lat, lon) in places.items()}
    return {tile for tile, (lat, lon) in at.items() if south <= lat <= north and west <= lon <= east}


@settings(max_examples=size(2, 3) * settings().max_examples)
@given(request=requests())
def test_a_release_is_safe_complete_within_its_limit_and_in_zones_that_hold_its_tiles(
    method: type[FlowMethod], request: tuple[Case, Promise, float]
) -> None:
    case, promise, limit = request
    matrix = matrix_for(method, case)
    before = [array.copy() for array in arrays_of(matrix)]
    release = method(promise=promise, suppression_limit=limit).anonymise(matrix)
    for array, copy in zip(arrays_of(matrix), before, strict=True):
        np.testing.assert_array_equal(array, copy, "the input was touched")
    sent = released_as(matrix, release)
    check_groups(case, promise, release, sent)
    check_sums(case, matrix, release)
    check_limit(case, limit, release, sent)
    check_zones(case, method, release, sent)
    check_whole(case, method, release, sent)


def check_groups(case: Case, promise: Promise, release: Release, sent: Sent) -> None:
    """Every released group is safe and told right."""
    groups: dict[Any, list[Row]] = {pair: [] for pair in group_pairs(release)}
    assert len(groups) == release.n_groups, "two groups share one pair of zones"
    for row in case.rows:
        pair = sent[row.origin, row.destination]
        if pair is not None:
            groups[pair].append(row)
    for number, rows in enumerate(groups.values()):
        assert rows
        assert safe(rows, case.thresholds(promise))
        assert release.trips[number] == support(rows, "trips")
        if case.has_person:
            assert release.travellers is not None
            assert release.travellers[number] == support(rows, "travellers")
        if case.has_weight:
            assert release.population is not None
            assert release.population[number] == pytest.approx(support(rows, "population"), rel=1e-12)


def check_sums(case: Case, matrix: ODMatrix, release: Release) -> None:
    """What is released and what is suppressed make up the input."""
    assert flow_pairs(matrix) == list(flows_of(case.rows))
    assert release.suppressed.shape == (matrix.n_flows,)
    withheld = matrix.flows.trips[release.suppressed].sum()
    assert release.trips.sum() + withheld == support(case.rows, "trips")
    if case.has_weight:
        assert release.population is not None
        hidden = matrix.volume("population")[release.suppressed].sum()
        total = support(case.rows, "population")
        assert release.population.sum() + hidden == pytest.approx(total, rel=1e-12)


def check_limit(case: Case, limit: float, release: Release, sent: Sent) -> None:
    """The limit holds on the volume."""
    volume = main_volume(release.promise)
    assert release.volume == volume
    hidden = [row for row in case.rows if sent[row.origin, row.destination] is None]
    assert support(hidden, volume) <= limit * support(case.rows, volume) * (1 + 1e-9)
    assert release.n_groups > 0


def check_whole(case: Case, method: type[FlowMethod], release: Release, sent: Sent) -> None:
    """A pair of zones is released with all trips between them, or not at all, where a method says so."""
    if method.draws_zones or not method.withholds_whole or release.promise.by_release:
        return
    pairs = list(group_pairs(release))
    for tile, pair in sent.items():
        inside = [one for one in pairs if all(tile[axis] in held(case, axis, one[axis]) for axis in (0, 1))]
        assert inside == ([] if pair is None else [pair])


def check_zones(case: Case, method: type[FlowMethod], release: Release, sent: Sent) -> None:
    """Zones hold the tiles they replace, and shared ones no tile twice."""
    for axis, tree in enumerate(case.trees):
        zones = {pair[axis] for pair in group_pairs(release)}
        assert method.draws_zones or zones <= set(tree)
        assert all(pair is None or tile[axis] in held(case, axis, pair[axis]) for tile, pair in sent.items())
        if release.homogeneous:
            for one, other in combinations(zones, 2):
                assert not held(case, axis, one) & held(case, axis, other)


def arrays_of(matrix: ODMatrix) -> Iterator[np.ndarray[Any, Any]]:
    """Yield every array a method is handed."""
    for tree in (matrix.origins, matrix.destinations):
        yield from (tree.parent, tree.zones.ids, tree.zones.height, tree.zones.tiles)
        yield from (tree.zones.tiles_observed, tree.zones.area_km2, tree.zones.lat, tree.zones.lon)
    yield from (matrix.flows.origin, matrix.flows.destination, matrix.flows.trips)
    if matrix.flows.population is not None:
        yield matrix.flows.population
    if matrix.flows.travellers is not None:
        yield from matrix.flows.travellers


@given(request=requests(), data=st.data())
def test_neither_a_second_call_nor_row_order_nor_the_names_of_people_matter(
    method: type[FlowMethod], request: tuple[Case, Promise, float], data: st.DataObject
) -> None:
    case, promise, limit = request
    names = data.draw(st.permutations(range(100, 115)))
    renamed = [row if row.person < 0 else row._replace(person=names[row.person]) for row in case.rows]
    other = replace(case, rows=tuple(data.draw(st.permutations(renamed))))
    chosen, matrix = method(promise=promise, suppression_limit=limit), matrix_for(method, case)
    first = contents(chosen.anonymise(matrix))
    assert contents(chosen.anonymise(matrix)) == first
    assert contents(chosen.anonymise(matrix_for(method, other))) == first


@given(data=st.data())
def test_an_impossible_request_says_so_and_tells_nothing(
    method: type[FlowMethod], data: st.DataObject
) -> None:
    case = data.draw(cases(max_rows=15, placed=True))
    promise = data.draw(promises(case))
    asked = case.thresholds(promise)
    # One more than there is, on a unit that is asked for.
    unit = data.draw(st.sampled_from(list(promise.resolve(case.matrix()).thresholds)))
    counted = "trips" if unit == "travellers" and case.people_once else unit
    k = int(max(support(case.rows, counted) + 1, asked[counted], 2))
    hopeless = AllOf(promises=(promise, KAnonymity(k=k, unit=unit)))
    with pytest.raises(ImpossibleRequestError) as refusal:
        method(promise=hopeless).anonymise(matrix_for(method, case))
    told = {float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*(?:\.\d+)?", str(refusal.value))}
    parts = promise.promises if isinstance(promise, AllOf) else (promise,)
    assert told == {float(k), *(part.k for part in parts if isinstance(part, KAnonymity))}


def test_k_of_everything_gives_one_group_of_everything(method: type[FlowMethod]) -> None:
    rows = tuple(Row(o, d, person=i) for i, (o, d) in enumerate(zip("abcdabcd", "dcbaabcd", strict=True)))
    case = Case(trees=(SMALL_TREE, SMALL_TREE), rows=rows, has_person=True)
    release = method(promise=KAnonymity(k=8), suppression_limit=0.5).anonymise(matrix_for(method, case))
    (pair,) = group_pairs(release)
    assert method.draws_zones or pair == ("all", "all")
    assert [held(case, axis, zone) for axis, zone in enumerate(pair)] == [set("abcd")] * 2
    assert (release.trips.tolist(), release.k) == ([8], 8)
    assert not release.suppressed.any()
    with pytest.raises(ImpossibleRequestError, match="at least 9 people"):
        method(promise=KAnonymity(k=9)).anonymise(matrix_for(method, case))


def test_people_are_counted_not_their_trips(method: type[FlowMethod]) -> None:
    rows = tuple(Row("a", "b", person=7) for _ in range(50))
    case = Case(trees=(SMALL_TREE, SMALL_TREE), rows=rows, has_person=True)
    with pytest.raises(ImpossibleRequestError):
        method(promise=KAnonymity(k=2)).anonymise(matrix_for(method, case))
    release = method(promise=KAnonymity(k=50, unit="trips")).anonymise(matrix_for(method, case))
    assert release.travellers is not None
    assert (release.trips.tolist(), release.travellers.tolist()) == ([50], [1])


def test_trips_without_an_id_hide_nobody(method: type[FlowMethod]) -> None:
    rows = tuple(Row("a", "b", person=-1) for _ in range(50))
    case = Case(trees=(SMALL_TREE, SMALL_TREE), rows=(*rows, Row("a", "b", person=0)), has_person=True)
    with pytest.raises(ImpossibleRequestError):
        method(promise=KAnonymity(k=2)).anonymise(matrix_for(method, case))


def test_a_unit_the_input_cannot_tell_is_refused(method: type[FlowMethod]) -> None:
    case = Case(trees=(SMALL_TREE, SMALL_TREE), rows=(Row("a", "b"),) * 5)
    for unit in ("travellers", "population"):
        with pytest.raises(InputError, match=f"k on {unit} needs"):
            method(promise=KAnonymity(k=2, unit=unit)).anonymise(matrix_for(method, case))


def test_trees_of_other_integer_types_are_welcome(method: type[FlowMethod]) -> None:
    """Builders need not agree on the width of their indices."""
    rows = tuple(Row(o, d) for o in "abcd" for d in "abcd")
    matrix = matrix_for(method, Case(trees=(SMALL_TREE, SMALL_TREE), rows=rows))
    wide = matrix.destinations
    mixed = replace(matrix, destinations=replace(wide, parent=wide.parent.astype(np.int64)))
    chosen = method(promise=KAnonymity(k=4))
    assert contents(chosen.anonymise(mixed)) == contents(chosen.anonymise(matrix))


@pytest.mark.parametrize("limit", [-0.1, 1.0, 1.5, float("nan"), float("inf")])
def test_a_limit_outside_its_range_is_refused(method: type[FlowMethod], limit: float) -> None:
    with pytest.raises(InputError, match="suppression limit"):
        method(suppression_limit=limit)


def test_parameters_cannot_be_changed(method: type[FlowMethod]) -> None:
    chosen: Any = method()
    with pytest.raises(FrozenInstanceError):
        chosen.suppression_limit = 0.9
    assert not set(chosen.parameters()) & {"promise", "suppression_limit"}


def test_progress_is_told_in_order_and_ends(method: type[FlowMethod]) -> None:
    rows = tuple(Row(o, d) for o in "abcd" for d in "abcd")
    calls: list[tuple[str, int, int | None]] = []
    matrix = matrix_for(method, Case(trees=(SMALL_TREE, SMALL_TREE), rows=rows))
    method(promise=KAnonymity(k=4)).anonymise(matrix, progress=lambda *call: calls.append(call))
    assert all(done >= 0 and (total is None or done <= total) for _, done, total in calls)
    for what in {what for what, _, _ in calls}:
        done = [call[1] for call in calls if call[0] == what]
        assert done == sorted(done)
