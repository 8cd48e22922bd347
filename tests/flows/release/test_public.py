"""What the public part says: nothing below k, and nothing that a subtraction brings below k."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree, safe, support
from oracles.readback import group_pairs, released_as
from tripcloak.flows.methods import ODkAnon, TwinCut
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import (
    Bound,
    Release,
    manifest,
    public,
    published_numbers,
    released_zones,
)
from tripcloak.promises import AllOf, KAnonymity, Promise
from worlds.matrices import Case, cases, limits, promises

FOUR: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


@st.composite
def releases(draw: st.DrawFn) -> tuple[Case, ODMatrix, Release]:
    """Return a release of random trips, made with a filter that looks no height up."""
    case = draw(cases())
    promise = draw(promises(case))
    assume(safe(case.rows, case.thresholds(promise)))
    matrix = case.matrix()
    method = ODkAnon(promise=promise, suppression_limit=draw(limits), levels=0)
    return case, matrix, method.anonymise(matrix)


def told(matrix: ODMatrix, release: Release, **dropped: int) -> dict[str, Any]:
    """Return the manifest as a reader of the file sees it."""
    made = manifest(matrix, release, dropped=dropped, tilings={"origins": "drawn"})
    read: dict[str, Any] = json.loads(json.dumps(made))
    return read


@given(drawn=releases())
def test_no_published_number_is_below_its_threshold(drawn: tuple[Case, ODMatrix, Release]) -> None:
    _, _, release = drawn
    thresholds = {str(unit): k for unit, k in release.promise.thresholds.items()}
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
def test_the_withheld_volume_is_told_in_a_band_that_holds_it(
    drawn: tuple[Case, ODMatrix, Release],
) -> None:
    case, matrix, release = drawn
    sent = released_as(matrix, release)
    hidden = [row for row in case.rows if sent[row.origin, row.destination] is None]
    withheld = told(matrix, release)["withheld"]
    assert withheld["at_least"] <= math.ceil(support(hidden, release.volume) - 1e-6) <= withheld["at_most"]
    pairs = {(o, d) for o, _ in group_pairs(release) for _, d in group_pairs(release)}
    others = len(pairs - set(group_pairs(release))) - 1
    fewest = min(
        k for unit, k in release.promise.thresholds.items() if unit in {release.volume, "travellers"}
    )
    assert withheld["at_least"] <= max(others * (fewest - 1), 0)


@given(drawn=releases())
def test_the_manifest_keeps_to_the_published_table(drawn: tuple[Case, ODMatrix, Release]) -> None:
    case, matrix, release = drawn
    page = told(matrix, release, duplicates=1, **{"no place": 40, "never": 0})
    numbers = published_numbers(release)
    assert page["columns"] == list(numbers)
    assert page["smallest"] == {unit: column.min() for unit, column in numbers.items()}
    assert Promise.from_manifest(page["promise"]) == release.promise
    assert page["groups"] == release.n_groups
    heads = [k for unit, k in release.promise.thresholds.items() if unit != "population"]
    assert page["dropped_rows"] == ({"no place": 40} if max(heads, default=release.k) <= 40 else {})
    assert matrix.digest() not in json.dumps(page)
    # The percent of a band may be the same number by chance.
    words = page["withheld"]["words"].replace(f"{100 * release.suppression_limit:g} %", "")
    assert str(support(case.rows, release.volume)) not in words


def released(promise: Promise, **columns: bool) -> Release:
    rows = tuple(Row("a", "b", person=i, weight=2.0) for i in range(12))
    case = Case(trees=(FOUR, FOUR), rows=rows, **columns)
    return ODkAnon(promise=promise).anonymise(case.matrix())


def test_only_numbers_that_a_threshold_covers_are_published() -> None:
    everything = {"has_person": True, "has_weight": True}
    trips, travellers, population = (KAnonymity(k=5, unit=u) for u in ("trips", "travellers", "population"))
    for promise, units in (
        (trips, ("trips",)),
        (travellers, ("trips", "travellers")),
        (population, ("population",)),
        (AllOf(promises=(population, travellers)), ("trips", "travellers", "population")),
        (AllOf(promises=(population, trips)), ("trips", "population")),
    ):
        assert released(promise, **everything).publication.columns == units


def crossing(extra: int, *, k: int, limit: float) -> dict[str, Any]:
    """Return the manifest of a hundred trips each a-a and d-d, and some more each a-d and d-a."""
    sizes = {("a", "a"): 100, ("d", "d"): 100, ("a", "d"): extra, ("d", "a"): extra}
    rows = tuple(Row(o, d) for (o, d), trips in sizes.items() for _ in range(trips))
    matrix = Case(trees=(FOUR, FOUR), rows=rows).matrix()
    method = TwinCut(promise=KAnonymity(k=k, unit="trips"), suppression_limit=limit)
    return told(matrix, method.anonymise(matrix))


@pytest.mark.parametrize("extra", [1, 5, 8, 9])
def test_the_withheld_volume_does_not_settle_what_absent_pairs_hold(extra: int) -> None:
    # Two pairs below 10 that make 18 together are 9 and 9; 17 are 8 and 9.
    page = crossing(extra, k=10, limit=0.1)
    assert (page["groups"], page["released"]) == (2, 200)
    assert page == crossing(0, k=10, limit=0.1)


@pytest.mark.parametrize(("k", "limit"), [(2, 0.1), (10, 0.007)])
def test_one_withheld_trip_reads_like_none(k: int, limit: float) -> None:
    def page(*more: Row) -> dict[str, Any]:
        rows = (*(Row("a", "a") for _ in range(200)), *more)
        matrix = Case(trees=(FOUR, FOUR), rows=rows).matrix()
        method = TwinCut(promise=KAnonymity(k=k, unit="trips"), suppression_limit=limit)
        return told(matrix, method.anonymise(matrix))

    assert page(Row("d", "d")) == page()


def test_that_nothing_is_withheld_is_told_where_the_limit_leaves_no_room() -> None:
    assert crossing(0, k=2, limit=0.0)["withheld"]["words"] == "none of the trips"


@pytest.mark.parametrize(("gap", "percent"), [(0.0, 0), (2.0, 2), (2.0001, 3), (1e-9, 1)])
def test_a_bound_is_told_in_whole_percent_rounded_up(gap: float, percent: int) -> None:
    matrix = Case(trees=(FOUR, FOUR), rows=tuple(Row("a", "b") for _ in range(12))).matrix()
    release = ODkAnon(promise=KAnonymity(k=5, unit="trips")).anonymise(matrix)
    bound = Bound(value=17.25, gap=gap, relaxation="cuts")
    page = told(matrix, replace(release, bound=bound))
    assert page["bound"] == {"within_percent": percent, "relaxation": "cuts"}
    assert told(matrix, replace(release, bound=None))["bound"] is None


def test_rows_dropped_are_told_from_k_people_on() -> None:
    matrix = Case(trees=(FOUR, FOUR), rows=tuple(Row("a", "b") for _ in range(12))).matrix()
    release = ODkAnon(promise=KAnonymity(k=5, unit="trips")).anonymise(matrix)
    dropped = {"bad_time": 5, "vacant": 4, "swapped": 90}
    page = manifest(matrix, release, dropped=dropped, people={"bad_time": 5, "swapped": 4}, tilings={})
    assert page["dropped_rows"] == {"bad_time": 5}
    assert told(matrix, release, **dropped)["dropped_rows"] == {"bad_time": 5, "swapped": 90}


def test_a_period_or_a_segment_is_told_where_the_release_is_about_one_alone() -> None:
    matrix = Case(trees=(FOUR, FOUR), rows=tuple(Row("a", "b") for _ in range(12))).matrix()
    release = ODkAnon(promise=KAnonymity(k=5, unit="trips")).anonymise(matrix)
    page = manifest(matrix, release, dropped={}, tilings={})
    assert not {"during", "segment"} & set(page)
    part = {"sex": "F"}
    page = manifest(matrix, release, dropped={}, tilings={}, during="2026-03", segment=part)
    assert (page["during"], page["segment"]) == ("2026-03", part)


@pytest.mark.parametrize(
    ("areas", "trips", "middle"),
    [
        ([4.0, np.nan, 1.0], [3, 9, 1], 4.0),
        ([4.0, 1.0], [2, 2], 1.0),
        ([4.0, 1.0], [3, 2], 4.0),
        ([1.2345, 1.2355], [1, 2], 1.24),
        ([np.nan, np.nan], [1, 2], None),
        ([4.0, 1.0], None, None),
    ],
)
def test_a_typical_zone_is_of_those_whose_size_is_known(
    monkeypatch: pytest.MonkeyPatch, areas: list[float], trips: list[int] | None, middle: float | None
) -> None:
    zones = SimpleNamespace(areas=lambda rows: np.array(areas)[rows])
    volumes = {} if trips is None else {"trips": np.array(trips)}
    side = SimpleNamespace(zones=zones, rows=np.arange(len(areas)), volumes=volumes)
    monkeypatch.setattr(public, "released_zones", lambda release: [side])
    release: Any = SimpleNamespace(publication=SimpleNamespace(volume="trips"))
    assert public.typical_zone_km2(release) == middle
