"""ODMatrix: what it refuses, what it can count, and a fingerprint that only the flows decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree, find_pairs, flows_of, support, tiles
from tripcloak.flows.model import Flows, ODMatrix
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from worlds.matrices import Case, cases, hierarchy_of

PAIR: Tree = {"all": None, "a": "all", "b": "all"}


def matrix_of(**columns: Any) -> ODMatrix:
    tree = hierarchy_of(PAIR)
    return ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([1, 1, 0]), **columns)


@given(case=cases())
def test_totals_units_and_volumes(case: Case) -> None:
    matrix = case.matrix()
    assert matrix.units == case.units
    assert matrix.n_flows == len(flows_of(case.rows))
    assert matrix.total() == matrix.total("trips") == support(case.rows, "trips")
    assert isinstance(matrix.total(), int)
    if case.has_weight:
        assert matrix.total("population") == pytest.approx(support(case.rows, "population"), rel=1e-12)
    else:
        with pytest.raises(InputError, match="weight column"):
            matrix.volume("population")


@given(case=cases())
def test_find_gives_the_row_of_every_pair(case: Case) -> None:
    matrix = case.matrix()
    width, depth = (len(tiles(tree)) for tree in case.trees)
    wanted = [(o, d) for o in range(width) for d in range(-1, depth + 1)]
    table = list(zip(matrix.flows.origin.tolist(), matrix.flows.destination.tolist(), strict=True))
    a, b = np.array(wanted).T
    assert matrix.find(a, b).tolist() == find_pairs(table, wanted)


@given(case=cases(), data=st.data())
def test_the_digest_does_not_see_row_order_or_the_names_of_people(case: Case, data: st.DataObject) -> None:
    names = data.draw(st.permutations(range(50, 65)))
    renamed = [row if row.person < 0 else row._replace(person=names[row.person]) for row in case.rows]
    other = replace(case, rows=tuple(data.draw(st.permutations(renamed))))
    assert other.matrix().digest() == case.matrix().digest()


@given(case=cases(), data=st.data())
def test_the_digest_sees_every_change_of_a_flow(case: Case, data: st.DataObject) -> None:
    before = case.matrix()
    place = data.draw(st.integers(0, len(case.rows) - 1))
    row = case.rows[place]
    change: Row = data.draw(
        st.one_of(
            st.builds(lambda tile: row._replace(origin=tile), st.sampled_from(tiles(case.trees[0]))),
            st.just(row._replace(trips=row.trips + 1)),
            st.just(row._replace(weight=row.weight + 1)),
            st.just(row._replace(person=99)),
        )
    )
    rows = (*case.rows[:place], change, *case.rows[place + 1 :])
    after = replace(case, rows=rows).matrix()
    same = [summary(matrix) for matrix in (before, after)]
    assume(same[0] != same[1])
    assert before.digest() != after.digest()


def summary(matrix: ODMatrix) -> list[Any]:
    f = matrix.flows
    people = None if f.travellers is None else f.travellers.offsets.tolist()
    population = None if f.population is None else f.population.tolist()
    return [f.origin.tolist(), f.destination.tolist(), f.trips.tolist(), population, people]


def test_the_digest_sees_the_names_of_tiles() -> None:
    renamed: Tree = {"all": None, "a": "all", "c": "all"}
    plain = matrix_of()
    assert replace(plain, origins=hierarchy_of(renamed)).digest() != plain.digest()
    assert replace(plain, destinations=hierarchy_of(renamed)).digest() != plain.digest()


def test_everybody_in_one_flow_makes_trips_people() -> None:
    assert matrix_of().units == ("trips",)
    assert replace(matrix_of(), each_trip_is_a_person=True).units == ("trips", "travellers")


def test_no_flow_is_no_matrix() -> None:
    tree = hierarchy_of(PAIR)
    nothing = np.zeros(0, dtype=np.int32)
    with pytest.raises(InputError, match="at least one flow"):
        ODMatrix.from_trips(tree, tree, nothing, nothing)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("origin", 2, "outside its hierarchy"),
        ("destination", 2, "outside its hierarchy"),
        ("origin", -1, "outside its hierarchy"),
        ("destination", -1, "outside its hierarchy"),
        ("trips", 0, "one trip or more"),
        ("trips", -3, "one trip or more"),
        ("population", -0.5, "population"),
        ("population", np.nan, "population"),
        ("population", np.inf, "population"),
    ],
)
def test_flows_that_make_no_sense_are_refused(column: str, value: float, words: str) -> None:
    tree: Hierarchy = hierarchy_of(PAIR)
    columns: dict[str, Any] = {
        "origin": np.array([0, 1], dtype=np.int32),
        "destination": np.array([1, 0], dtype=np.int32),
        "trips": np.array([3, 4]),
        "population": np.array([1.0, 2.0]),
    }
    ODMatrix(origins=tree, destinations=tree, flows=Flows(**columns))
    columns[column][1] = value
    with pytest.raises(InputError, match=words):
        ODMatrix(origins=tree, destinations=tree, flows=Flows(**columns))
