"""Which numbers of a flow are published, and that no two columns of a row tell a number below k."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.methods.suppression import Suppression
from tripcloak.flows.release import Release, manifest, public, published_numbers, released_zones
from tripcloak.flows.release.publication import publication, publication_of
from tripcloak.flows.report.readme import render_readme
from tripcloak.ground.errors import InputError
from tripcloak.promises import AllOf, EverySegment, KAnonymity, TCloseness, all_of
from tripcloak.promises.segments import SegmentName
from worlds.matrices import Case, Row, Tree

FOUR: Tree = {"all": None, "a": "all", "b": "all"}


def on(**thresholds: int):
    return all_of(KAnonymity(k=k, unit=unit) for unit, k in thresholds.items())


@pytest.mark.parametrize("k", [2, 3, 5])
def test_no_row_proves_a_difference_between_1_and_k_less_1(k: int) -> None:
    """A reader tries every pair of numbers that a row could stand for, knowing k and how rounding goes."""
    told = publication(on(travellers=k), "trips", "rounded")
    pairs = [(trips, people) for people in range(k, 6 * k) for trips in range(people, 7 * k)]
    trips, people = (np.array(column) for column in zip(*pairs, strict=True))
    rows: dict[tuple[int, int], set[int]] = {}
    for row in zip(
        told.rounded("trips", trips).tolist(), told.rounded("travellers", people).tolist(), trips, people,
        strict=True,
    ):  # fmt: skip
        rows.setdefault(row[:2], set()).add(int(row[2] - row[3]))
    assert all(not possible <= set(range(1, k)) for possible in rows.values())
    exact = publication(on(travellers=k), "trips", "both")
    assert exact.rounded("travellers", people).tolist() == people.tolist()


@pytest.mark.parametrize(("k", "weight"), [(2, 7), (3, 7), (4, 9)])
def test_no_two_of_three_columns_do_either(k: int, weight: int) -> None:
    told = publication(on(travellers=k, population=weight), "trips", "rounded")
    assert told.steps == {"travellers": k, "population": k}
    rows: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
    for people, more, population in product(range(k, 4 * k), range(3 * k), range(weight, weight + 4 * k)):
        true = (people + more, people, population)
        row = tuple(
            int(told.rounded(unit, np.array([n]))[0])
            for unit, n in zip(("trips", "travellers", "population"), true, strict=True)
        )
        rows.setdefault(row, []).append(true)
    for one, other in ((0, 1), (2, 0), (0, 2), (2, 1), (1, 2)):
        for possible in rows.values():
            assert not {true[one] - true[other] for true in possible} <= set(range(1, k))


def released(**thresholds: int) -> tuple[Case, Release]:
    """Thirteen people, one of whom makes four trips, in one flow."""
    rows = tuple(Row("a", "b", person=max(i - 3, 0), weight=2.0) for i in range(16))
    case = Case(trees=(FOUR, FOUR), rows=rows, has_person=True, has_weight=True)
    return case, Suppression(promise=on(**thresholds)).anonymise(case.matrix())


@pytest.mark.parametrize(
    ("publish", "row"),
    [
        ("rounded", {"trips": 16, "travellers": 10}),
        ("both", {"trips": 16, "travellers": 13}),
        ("trips", {"trips": 16}),
        ("travellers", {"travellers": 13}),
    ],
)
def test_each_way_publishes_its_numbers_everywhere(publish: str, row: dict[str, int]) -> None:
    case, release = released(travellers=5)
    release = replace(release, publish=publish)
    facts = manifest(case.matrix(), release, dropped={}, tilings={"spec": "table:x"})
    assert {unit: n.tolist() for unit, n in published_numbers(release).items()} == {
        u: [n] for u, n in row.items()
    }
    assert facts["columns"] == list(row)
    assert facts["smallest"] == row
    assert facts["volume"] == next(iter(row))
    assert facts["released"] == row[facts["volume"]]
    assert facts.get("steps") == ({"travellers": 5} if publish == "rounded" else None)
    assert {unit for side in released_zones(release) for unit in side.volumes} == {facts["volume"]}
    assert publication_of(facts, release.promise) == release.publication
    words = " ".join(render_readme(facts).split())
    assert ("rounded down in steps of 5" in words) == (publish == "rounded")
    assert ("**WARNING: trips and travellers are all exact" in words) == (publish == "both")
    # Trips must not follow from a total where they are not told.
    assert (facts["withheld"]["at_most"] is None) == (publish == "travellers")


def test_population_goes_in_steps_from_its_own_threshold() -> None:
    _, release = released(travellers=5, population=24)
    assert {unit: n.tolist() for unit, n in published_numbers(release).items()} == {
        "trips": [16],
        "travellers": [10],
        "population": [29],
    }


@pytest.mark.parametrize("publish", ["both", "travellers"])
def test_travellers_are_refused_where_no_threshold_covers_them(publish: str) -> None:
    for promise in (on(trips=5), on(population=5)):
        with pytest.raises(InputError, match="is not possible here"):
            publication(promise, "trips", publish)


def test_numbers_that_never_stand_together_are_not_read() -> None:
    _, release = released(travellers=5)
    facts = {"columns": ["trips", "travellers"], "volume": "trips", "steps": {"travellers": 4}}
    with pytest.raises(ValueError, match="never published together"):
        publication_of(facts, release.promise)


def test_travellers_alone_go_with_neither_segments_nor_closeness() -> None:
    ten = KAnonymity(k=10, unit="travellers")
    assert publication(ten, "trips", "travellers").columns == ("travellers",)
    parts = (SegmentName("a"),)
    for promise in (EverySegment(promise=ten, parts=parts), AllOf(promises=(ten, TCloseness(t=0.5)))):
        assert publication(promise, "trips", "trips").columns == ("trips",)
        with pytest.raises(InputError, match="does not go together"):
            publication(promise, "trips", "travellers")
    with pytest.raises(InputError, match="takes one of"):
        publication(ten, "trips", "all")  # type: ignore[arg-type]


def test_a_step_is_k_and_begins_at_the_columns_own_threshold() -> None:
    both = AllOf(promises=(KAnonymity(k=10, unit="travellers"), KAnonymity(k=24, unit="population")))
    told = publication(both, "trips", "rounded")
    assert (told.steps, told.bases) == (
        {"travellers": 10, "population": 10},
        {"travellers": 10, "population": 24},
    )
    assert told.rounded("population", np.array([24.0, 33.9, 34.0])).tolist() == [24, 24, 34]
    assert told.by_segment == ("trips",)
    exact = publication(both, "trips", "both")
    assert (exact.steps, exact.by_segment) == ({}, ("trips", "travellers", "population"))


@pytest.mark.parametrize(
    ("publish", "steps"), [("both", {}), ("rounded", {"travellers": 10}), ("trips", {}), ("travellers", {})]
)
def test_a_manifest_says_of_its_columns_what_is_always_said(
    publish: Any, steps: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the words were left out, or stand where there is nothing to say."""
    monkeypatch.setattr(public, "restated_withheld", lambda facts: {})
    promise = KAnonymity(k=10, unit="travellers")
    told = publication(promise, "trips", publish)
    assert told.steps == steps
    facts = {name: None for name in public.ENTRIES if name not in public.OPTIONAL}
    facts |= {"promise": promise.stated(), "columns": list(told.columns), "volume": told.volume, "files": {}}
    facts |= {"steps": steps} if steps else {}
    for forged in ({}, {"columns_words": "all is well"}, {"columns_words": told.words()}):
        again = public.restated({**facts, **forged}, ())
        assert again.get("columns_words", "") == told.words()
        assert ("columns_words" in again) == (len(told.columns) > 1)
