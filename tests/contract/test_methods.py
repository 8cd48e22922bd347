"""The contract of every registered method, on awkward matrices: safe, complete, repeatable, or an error."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree, below, flows_of, safe, support
from oracles.readback import contents, flow_pairs, group_pairs, released_as
from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import main_volume
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.promises import AllOf, KAnonymity, Promise
from worlds.matrices import Case, cases, grid, limits, promises
from worlds.methods import HELD_TO_IT

pytestmark = pytest.mark.parametrize("method", HELD_TO_IT.values(), ids=HELD_TO_IT)

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


def kept_rows(case: Case, released: dict[Any, Any]) -> list[Row]:
    return [row for row in case.rows if released[row.origin, row.destination] is not None]


@settings(max_examples=3 * settings().max_examples)
@given(request=requests())
def test_every_released_group_is_safe_and_told_right(
    method: type[FlowMethod], request: tuple[Case, Promise, float]
) -> None:
    case, promise, limit = request
    matrix = matrix_for(method, case)
    release = method(promise=promise, suppression_limit=limit).anonymise(matrix)
    sent = released_as(matrix, release)
    groups: dict[Any, list[Row]] = {pair: [] for pair in group_pairs(release)}
    assert len(groups) == release.n_groups, "two groups share one pair of zones"
    for row in kept_rows(case, sent):
        groups[sent[row.origin, row.destination]].append(row)
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


@given(request=requests())
def test_released_and_suppressed_make_up_the_input(
    method: type[FlowMethod], request: tuple[Case, Promise, float]
) -> None:
    case, promise, limit = request
    matrix = matrix_for(method, case)
    release = method(promise=promise, suppression_limit=limit).anonymise(matrix)
    assert flow_pairs(matrix) == list(flows_of(case.rows))
    assert release.suppressed.shape == (matrix.n_flows,)
    withheld = matrix.flows.trips[release.suppressed].sum()
    assert release.trips.sum() + withheld == support(case.rows, "trips")
    if case.has_weight:
        assert release.population is not None
        hidden = matrix.volume("population")[release.suppressed].sum()
        total = support(case.rows, "population")
        assert release.population.sum() + hidden == pytest.approx(total, rel=1e-12)


@given(request=requests())
def test_the_limit_holds_on_the_volume(
    method: type[FlowMethod], request: tuple[Case, Promise, float]
) -> None:
    case, promise, limit = request
    matrix = matrix_for(method, case)
    release = method(promise=promise, suppression_limit=limit).anonymise(matrix)
    volume = main_volume(release.promise)
    assert release.volume == volume
    sent = released_as(matrix, release)
    hidden = [row for row in case.rows if sent[row.origin, row.destination] is None]
    assert support(hidden, volume) <= limit * support(case.rows, volume) * (1 + 1e-9)
    assert release.n_groups > 0


@given(request=requests())
def test_zones_hold_the_tiles_they_replace(
    method: type[FlowMethod], request: tuple[Case, Promise, float]
) -> None:
    case, promise, limit = request
    matrix = matrix_for(method, case)
    release = method(promise=promise, suppression_limit=limit).anonymise(matrix)
    sent = released_as(matrix, release)
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


@given(request=requests())
def test_the_input_is_not_touched(method: type[FlowMethod], request: tuple[Case, Promise, float]) -> None:
    case, promise, limit = request
    matrix = matrix_for(method, case)
    before = [array.copy() for array in arrays_of(matrix)]
    for array in arrays_of(matrix):
        array.flags.writeable = False
    release = method(promise=promise, suppression_limit=limit).anonymise(matrix)
    for array, copy in zip(arrays_of(matrix), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    assert contents(release) == contents(
        method(promise=promise, suppression_limit=limit).anonymise(matrix_for(method, case))
    )


@given(request=requests(), data=st.data())
def test_row_order_and_the_names_of_people_do_not_matter(
    method: type[FlowMethod], request: tuple[Case, Promise, float], data: st.DataObject
) -> None:
    case, promise, limit = request
    names = data.draw(st.permutations(range(100, 115)))
    renamed = [row if row.person < 0 else row._replace(person=names[row.person]) for row in case.rows]
    other = replace(case, rows=tuple(data.draw(st.permutations(renamed))))
    chosen = method(promise=promise, suppression_limit=limit)
    first, second = (chosen.anonymise(matrix_for(method, one)) for one in (case, other))
    assert contents(first) == contents(second)


@given(request=requests())
def test_a_second_call_gives_the_same_release(
    method: type[FlowMethod], request: tuple[Case, Promise, float]
) -> None:
    case, promise, limit = request
    matrix = matrix_for(method, case)
    chosen = method(promise=promise, suppression_limit=limit)
    assert contents(chosen.anonymise(matrix)) == contents(chosen.anonymise(matrix))


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
    with pytest.raises(ImpossibleRequestError, match="at least 9 travellers"):
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


HASH_SEED_SCRIPT = """
import hashlib, json, sys
import numpy as np
from tripcloak.flows.methods import METHODS
from tripcloak.promises import KAnonymity
from tripcloak.hierarchy import Hierarchy
from tripcloak.flows.model import ODMatrix

draw = np.random.default_rng(11)
ids = [f"t{i}" for i in range(64)] + [f"m{i}" for i in range(8)] + ["all"]
at = dict(lat=draw.random(73), lon=draw.random(73), area_km2=np.ones(73))
tree = Hierarchy.from_parents(ids, [64 + i // 8 for i in range(64)] + [72] * 8 + [-1], **at)
columns = dict(person=draw.integers(0, 300, 4000), weight=draw.random(4000))
ends = np.minimum(draw.geometric(0.1, (2, 4000)), 63)
matrix = ODMatrix.from_trips(tree, tree, *ends, **columns)
release = METHODS[sys.argv[1]](promise=KAnonymity(k=5), **json.loads(sys.argv[2])).anonymise(matrix)
mark = hashlib.sha256(release.input_digest.encode())
for array in (release.group_of_flow, release.group_origin, release.group_destination, release.population):
    mark.update(array.tobytes())
print(release.n_groups, mark.hexdigest())
"""


def test_the_hash_seed_does_not_matter(method: type[FlowMethod]) -> None:
    # A limit that suppression alone can keep; the others find it no harder.
    parameters = json.dumps({**method().parameters(), "suppression_limit": 0.5})
    told = [
        subprocess.run(
            [sys.executable, "-c", HASH_SEED_SCRIPT, method.name, parameters],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    ]
    assert told[0] == told[1]
    assert int(told[0].split()[0]) > 1
