"""The contest's score against its literal twin, and at the edges of its rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import nist as literal
from tripcloak.flows.measures.nist import CUTOFF, DROPOFF, MARGINALS, NEEDED, PICKUP, nist_score
from tripcloak.ground.errors import InputError

NUMBERS = st.integers(-30, 2300)
SMALL = {"taxi_id": st.integers(0, 9), "shift": st.integers(0, 6), PICKUP: st.integers(-1, 6)}
ROW = st.fixed_dictionaries(
    {
        **SMALL,
        DROPOFF: st.integers(-1, 4),
        "company_id": st.integers(0, 2),
        "payment_type": st.integers(-1, 1),
    }
    | dict.fromkeys(("fare", "tips", "trip_total", "trip_seconds", "trip_miles"), NUMBERS)
)
TABLE = st.lists(ROW, min_size=1, max_size=30)


def columns(rows: literal.Rows, names: tuple[str, ...] | None = None) -> dict[str, list[int]]:
    return {name: [row[name] for row in rows] for name in names or tuple(rows[0])}


def without(rows: literal.Rows, names: set[str]) -> literal.Rows:
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


@given(TABLE, TABLE, st.sets(st.sampled_from([name for name in MARGINALS if name != DROPOFF])))
def test_the_score_is_that_of_its_literal_twin(truth, made, dropped):
    made = without(made, dropped)
    found = nist_score(columns(truth), columns(made), cutoff=3)
    told = literal.parts(truth, made, cutoff=3)
    assert (found.k_marginal, found.graph, found.conjunctions) == pytest.approx(told, abs=1e-12)
    assert found.score == pytest.approx(1000 * sum(told) / 3, abs=1e-9)
    assert set(found.columns) == set(MARGINALS) - dropped


def a_table(n: int, **other: int) -> dict[str, np.ndarray]:
    """Return so many equal trips of one taxi."""
    return {name: np.full(n, other.get(name, 1)) for name in NEEDED}


def test_an_area_and_shift_is_wrong_altogether_from_the_cutoff_on():
    truth = a_table(1)
    assert nist_score(truth, a_table(CUTOFF)).k_marginal == 1
    assert nist_score(truth, a_table(CUTOFF + 1)).k_marginal == 0
    assert nist_score(truth, a_table(CUTOFF + 1)).penalised == 1
    assert nist_score(truth, a_table(CUTOFF + 1), cutoff=None).k_marginal == 1


@pytest.mark.parametrize(
    ("true", "told", "alike"),
    [(9, 8, True), (10, 9, False), (-1, 0, False), (89, 80, True), (90, 4000, True), (-9, -1, True)],
)
def test_numbers_are_binned_where_the_contest_bins_them(true, told, alike):
    made = [{**a_table(1), "fare": [x], "payment_type": [1]} for x in (true, told)]
    for one in made:
        one[DROPOFF] = np.ones(1)
    assert (nist_score(*made).k_marginal > 1 - 1e-9) == alike


def test_individuals_are_alike_up_to_the_drawn_limits():
    truth = a_table(100)
    assert nist_score(truth, a_table(95)).conjunctions == 1
    assert nist_score(truth, a_table(49)).conjunctions < nist_score(truth, a_table(60)).conjunctions < 1
    assert nist_score(truth, a_table(49)).conjunctions == 0


def test_columns_that_only_one_table_has_do_not_count():
    truth = {**a_table(3), "fare": [1, 11, 21]}
    assert nist_score(truth, a_table(3)).columns == (DROPOFF,)
    assert nist_score(truth, a_table(3)).score == 1000


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({name: [1] for name in NEEDED[1:]}, "the synthetic table has no column taxi_id"),
        ({name: [] for name in NEEDED}, "at least one record"),
        ({**a_table(2), "shift": [1]}, "a value in every column"),
        ({**a_table(1), "fare": [float("nan")]}, "a number in every record's fare"),
        ({**a_table(1), "shift": ["a"]}, "a number in every record's shift"),
    ],
)
def test_what_is_no_table_of_the_contest_is_refused(made, words):
    with pytest.raises(InputError, match=words):
        nist_score(a_table(1), made)
