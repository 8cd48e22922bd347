"""What the public part says: nothing below k, and nothing that a subtraction brings below k."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle import Row, Tree, safe, support
from readback import group_pairs, released_as
from strategies import Case, cases, criteria, limits
from tripcloak.algorithms import ODkAnon
from tripcloak.criteria import AllOf, Criterion, KAnonymity
from tripcloak.matrix import ODMatrix
from tripcloak.release import (
    Release,
    guarded,
    manifest,
    published_numbers,
    published_units,
    released_zones,
    suppressed_volume,
)

FOUR: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


@st.composite
def releases(draw: st.DrawFn) -> tuple[Case, ODMatrix, Release]:
    """Return a release of random trips, made with a filter that looks no height up."""
    case = draw(cases())
    criterion = draw(criteria(case))
    assume(safe(case.rows, case.thresholds(criterion)))
    matrix = case.matrix()
    algorithm = ODkAnon(criterion=criterion, suppression_limit=draw(limits), levels=0)
    return case, matrix, algorithm.anonymise(matrix)


def told(matrix: ODMatrix, release: Release, **dropped: int) -> dict[str, Any]:
    """Return the manifest as a reader of the file sees it."""
    made = manifest(matrix, release, dropped=dropped, tilings={"origins": "drawn"})
    read: dict[str, Any] = json.loads(json.dumps(made))
    return read


@given(drawn=releases())
def test_no_published_number_is_below_its_threshold(drawn: tuple[Case, ODMatrix, Release]) -> None:
    _, _, release = drawn
    thresholds = {str(unit): k for unit, k in release.criterion.thresholds.items()}
    numbers = published_numbers(release)
    assert set(thresholds) <= {*numbers, "travellers"}
    for unit, column in numbers.items():
        # Trips go with travellers: a trip has one traveller at most.
        k = thresholds.get(unit, thresholds.get("travellers", np.inf))
        assert (column >= k).all()
        assert column.dtype.kind == "i"


@given(drawn=releases())
def test_zone_totals_are_sums_of_published_flows(drawn: tuple[Case, ODMatrix, Release]) -> None:
    _, _, release = drawn
    numbers = published_numbers(release)
    for side, zones in enumerate(released_zones(release)):
        assert "travellers" not in zones.volumes
        names = [str(zones.zones.ids[row]) for row in zones.rows]
        assert names == [str(zones.zones.ids[row]) for row in sorted(set(zones.rows.tolist()))]
        for unit, volumes in zones.volumes.items():
            expected = dict.fromkeys(names, 0)
            for pair, number in zip(group_pairs(release), numbers[unit].tolist(), strict=True):
                expected[pair[side]] += number
            assert dict(zip(names, volumes.tolist(), strict=True)) == expected


@given(drawn=releases())
def test_the_withheld_volume_is_told_only_when_it_would_be_safe(
    drawn: tuple[Case, ODMatrix, Release],
) -> None:
    case, matrix, release = drawn
    sent = released_as(matrix, release)
    hidden = [row for row in case.rows if sent[row.origin, row.destination] is None]
    number = suppressed_volume(matrix, release)
    if not hidden:
        assert number == 0
    elif safe(hidden, case.thresholds(release.criterion)):
        assert number == round(support(hidden, release.volume))
    else:
        assert number is None
    page = told(matrix, release)
    assert page["suppressed"] == number
    assert (page["suppressed_share"] is None) == (number is None)


@given(drawn=releases())
def test_the_manifest_keeps_to_the_published_table(drawn: tuple[Case, ODMatrix, Release]) -> None:
    case, matrix, release = drawn
    page = told(matrix, release, duplicates=1, **{"no place": 40, "never": 0})
    numbers = published_numbers(release)
    assert page["columns"] == list(numbers)
    assert page["smallest"] == {unit: column.min() for unit, column in numbers.items()}
    assert page["protects"] == release.criterion.thresholds
    assert page["groups"] == release.n_groups
    assert page["dropped_rows"] == {"duplicates": guarded(1, release.k), "no place": 40}
    assert matrix.digest() not in json.dumps(page)
    if page["suppressed"] is None:
        assert str(support(case.rows, release.volume)) not in page["suppressed_words"]


def released(criterion: Criterion, **columns: bool) -> Release:
    rows = tuple(Row("a", "b", person=i, weight=2.0) for i in range(12))
    case = Case(trees=(FOUR, FOUR), rows=rows, **columns)
    return ODkAnon(criterion=criterion).anonymise(case.matrix())


def test_only_numbers_that_a_threshold_covers_are_published() -> None:
    everything = {"has_person": True, "has_weight": True}
    trips, travellers, population = (KAnonymity(k=5, unit=u) for u in ("trips", "travellers", "population"))
    for criterion, units in (
        (trips, ("trips",)),
        (travellers, ("trips", "travellers")),
        (population, ("population",)),
        (AllOf(criteria=(population, travellers)), ("trips", "travellers", "population")),
        (AllOf(criteria=(population, trips)), ("trips", "population")),
    ):
        assert published_units(released(criterion, **everything)) == units


@pytest.mark.parametrize(
    ("number", "k", "expected"),
    [
        (0, 10, 0),
        (1, 10, "fewer than 10"),
        (9, 10, "fewer than 10"),
        (10, 10, 10),
        (10**9, 10, 10**9),
        (5, 1_234_567, "fewer than 1,234,567"),
        (3, 10.0, "fewer than 10"),
    ],
)
def test_small_numbers_become_words(number: int, k: float, expected: int | str) -> None:
    assert guarded(number, k) == expected
