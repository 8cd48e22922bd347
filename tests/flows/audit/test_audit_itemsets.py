"""Releases that promise k to readers who know some items of a trip: counted afresh, itemset by itemset."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.flows.audit import audit_folder, audit_matrix
from tripcloak.flows.audit.matrix import case as audited
from tripcloak.flows.methods import METHODS
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import Verdict
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity, KMAnonymity, Unit
from worlds.released_flows import Folder, World, raw_trips

PLACES = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
TIMES = Hierarchy.from_parents(["early", "late", "ever"], [2, 2, -1])

TRIP = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(-1, 5))


def matrix_of(trips: list[tuple[int, int, int, int]], timed: bool) -> ODMatrix:
    origin, destination, slot, person = np.array(trips, dtype=np.int32).T
    time = {"times": TIMES, "slot": slot} if timed else {}
    weight = 1.0 + np.arange(len(trips)) % 3
    return ODMatrix.from_trips(PLACES, PLACES, origin, destination, person=person, weight=weight, **time)


def as_it_is(matrix: ODMatrix, hidden: int, promise: Any, limit: float = 1.0) -> Release:
    """Return the release of every flow in its own tiles, but for one in seven if wanted."""
    suppressed = np.arange(matrix.n_flows) % 7 == hidden
    if suppressed.all():
        suppressed[:] = False
    made = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=Everything(),
        suppression_limit=limit,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        time_zone=matrix.flows.slot,
        suppressed=suppressed,
        homogeneous=True,
    )
    return replace(made, promise=promise)


class Everything(KAnonymity):
    """A promise that any group meets."""

    def __init__(self) -> None:
        super().__init__(k=2, unit="trips")

    def safe(self, groups: Any) -> Any:
        return np.ones(len(groups), dtype=bool)


def smallest_by_hand(
    trips: list[tuple[int, int, int, int]], release: Release, matrix: ODMatrix, m: int
) -> dict[str, float]:
    """Return the smallest support of any set of released flows that share m items: the slow way."""
    cells = zip(*(tile.tolist() for _, tile in matrix.axes), strict=True)
    shown = {cell for cell, group in zip(cells, release.group_of_flow.tolist(), strict=True) if group >= 0}
    held: dict[Any, list[tuple[int, float]]] = defaultdict(list)
    for number, trip in enumerate(trips):
        cell = trip[: len(matrix.axes)]
        if cell in shown:
            for known in combinations(range(len(cell)), m):
                held[known, tuple(cell[axis] for axis in known)].append((trip[3], 1.0 + number % 3))
    return {
        "trips": min(len(rows) for rows in held.values()),
        "travellers": min(len({person for person, _ in rows} - {-1}) for rows in held.values()),
        "population": min(sum(weight for _, weight in rows) for rows in held.values()),
    }


@settings(max_examples=settings().max_examples // 5)
@given(
    trips=st.lists(TRIP, min_size=3, max_size=60),
    timed=st.booleans(),
    m=st.integers(1, 2),
    hidden=st.integers(-1, 6),
    unit=st.sampled_from(["trips", "travellers", "population"]),
)
def test_every_set_of_flows_that_share_items_is_counted(
    trips: list[tuple[int, int, int, int]], timed: bool, m: int, hidden: int, unit: Unit
) -> None:
    matrix = matrix_of(trips, timed)
    if m == len(matrix.axes):
        m = 1
    release = as_it_is(matrix, hidden, None)
    smallest = smallest_by_hand(trips, release, matrix, m)[unit]
    for k in (max(2, int(smallest)), max(2, int(smallest)) + 1):
        promised = KMAnonymity(promise=KAnonymity(k=k, unit=unit), m=m).resolve(matrix)
        report = audit_matrix(matrix, replace(release, promise=promised))
        assert report.broken == (("every-group-safe",) if smallest < k else ())


def test_people_are_counted_alike_in_one_pass_and_in_many(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    trips = [tuple(row) for row in random.integers(0, [3, 3, 2, 6], (200, 4)).tolist()]
    matrix = matrix_of(trips, timed=True)
    promised = KMAnonymity(promise=KAnonymity(k=6, unit="travellers"), m=1).resolve(matrix)
    release = as_it_is(matrix, -1, promised)
    once = audit_matrix(matrix, release)
    monkeypatch.setattr(audited, "ROWS_A_PASS", 20)
    assert audit_matrix(matrix, release) == once
    assert once.safe


@pytest.mark.parametrize(("m", "timed"), [(1, False), (2, False), (1, True), (2, True), (3, True)])
def test_the_method_keeps_its_word(m: int, timed: bool) -> None:
    random = np.random.default_rng(4)
    trips = [tuple(row) for row in random.integers(0, [3, 3, 2, 60], (300, 4)).tolist()]
    matrix = matrix_of(trips, timed)
    asked = KAnonymity(k=12, unit="travellers")
    release = METHODS["km-apriori"](promise=asked, m=m, suppression_limit=0.2).anonymise(matrix)
    report = audit_matrix(matrix, release)
    assert report.broken == ()
    words = next(finding.words for finding in report.findings if finding.rule == "every-group-safe")
    assert words.startswith("not promised of a flow alone") == (m < len(matrix.axes))
    if m == len(matrix.axes):
        assert report.smallest_support["travellers"] >= 12


# --- folders ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world() -> World:
    """A small city in which many flows between tiles have few people."""
    return World.of(raw_trips(1500, people=300), "h3:7")


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Folder:
    """A release in which every zone, but not every flow, has ten travellers."""
    return published(world, tmp_path / "out", KAnonymity(k=10, unit="travellers"))


def published(world: World, out: Path, promise: KAnonymity) -> Folder:
    matrix = world.matrix
    enough = np.ones(matrix.n_flows, dtype=bool)
    for _ in range(9):
        for tile in (matrix.flows.origin, matrix.flows.destination):
            enough &= np.bincount(tile, enough * matrix.flows.trips, minlength=tile.max() + 1)[tile] >= 25
    release = as_it_is(matrix, -1, KMAnonymity(promise=promise, m=1).resolve(matrix), limit=0.5)
    group = np.where(enough, np.cumsum(enough) - 1, -1).astype(np.int32)
    columns = ("group_origin", "group_destination", "trips", "travellers", "population")
    kept = {name: getattr(release, name)[enough] for name in columns if getattr(release, name) is not None}
    return world.publish(out, replace(release, group_of_flow=group, **kept))


def audit(world: World, folder: Folder, **order: Any) -> Verdict:
    with world.connection() as con:
        return audit_folder(folder.path, con, **order)


def test_a_promise_to_readers_who_know_one_end_is_kept(world: World, folder: Folder) -> None:
    assert folder.facts["promise"]["m"] == 1
    assert folder.facts["promise"]["of"] == ["origin", "destination"]
    report = audit(world, folder)
    assert report.broken == ()
    words = next(finding.words for finding in report.findings if finding.rule == "every-group-safe")
    assert "may hold fewer than k" in words
    assert report.smallest_support["travellers"] < 10


def test_the_method_keeps_its_word_on_disk(world: World, tmp_path: Path) -> None:
    asked = KAnonymity(k=10, unit="travellers")
    for m in (1, 2):
        release = METHODS["km-apriori"](promise=asked, m=m).anonymise(world.matrix)
        report = audit(world, world.publish(tmp_path / str(m), release))
        assert report.broken == ()
        assert (report.smallest_support["travellers"] < 10) == (m == 1)


def test_the_same_flows_do_not_keep_it_to_readers_who_know_both(world: World, folder: Folder) -> None:
    folder.restate(KAnonymity(k=10, unit="travellers"))
    assert "every-group-safe" in audit(world, folder).broken


def test_a_zone_with_too_few_people_is_noticed(world: World, folder: Folder) -> None:
    few = pa.array([f"p{row % 7}" for row in range(world.raw.num_rows)])
    other = World.of(world.raw.set_column(4, "person", few), world.spec)
    assert "every-group-safe" in audit(other, folder).broken

    def raise_k(facts: dict[str, Any]) -> None:
        facts["measures"]["C_AVG"] *= 10 / 120
        facts["promise"]["promise"]["k"] = 120

    folder.edit_manifest(raise_k)
    assert "every-group-safe" in audit(world, folder).broken


def test_the_withheld_volume_and_further_columns_are_not_told(world: World, folder: Folder) -> None:
    def tell(facts: dict[str, Any]) -> None:
        withheld = round(world.matrix.total() - facts["released"])
        facts["withheld"].update(at_least=withheld, at_most=withheld)

    folder.edit_manifest(tell)
    assert audit(world, folder).broken == ("suppressed-told-safely", "suppressed-not-solvable")
    folder.edit_flows(lambda rows: [row.update(travellers=row["trips"]) for row in rows])
    assert "only-protected-columns" in audit(world, folder).broken


@pytest.mark.parametrize("words", ["at least 10 for whoever knows any 2 items", "nothing to see here"])
def test_the_words_must_say_how_many_items(words: str, world: World, folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["promise"].update(sentence=words))
    assert audit(world, folder).broken == ("counted-as-said", "manifest-consistent")


def test_a_wrong_number_is_still_wrong(world: World, folder: Folder) -> None:
    folder.edit_flows(lambda rows: rows[0].update(trips=rows[0]["trips"] + 1))
    assert "flows-match-recount" in audit(world, folder).broken


@pytest.mark.parametrize("known", [0, 2, 3, 1.5, "one", None, True])
def test_known_items_that_make_no_sense(known: Any, world: World, folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["promise"].update(m=known))
    assert "every-group-safe" in audit(world, folder).broken


@pytest.mark.parametrize("items", [["origin"], ["origin", "destination", "time"], "origin", None])
def test_items_that_a_trip_does_not_have(items: Any, world: World, folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["promise"].update(of=items))
    assert "every-group-safe" in audit(world, folder).broken


def test_an_ordered_k_is_one_for_all_items_unless_said_otherwise(world: World, folder: Folder) -> None:
    assert audit(world, folder, k=10).broken == ("every-group-safe",)
    assert audit(world, folder, k=10, known_items=2).broken == ("every-group-safe",)
    assert audit(world, folder, k=10, known_items=1).broken == ()
    assert audit(world, folder, k=11, known_items=1).broken == ("every-group-safe",)
    with pytest.raises(InputError):
        audit(world, folder, known_items=1)
