"""What readers of public parts find: every fact is true, cells prove outlines, and names are not trusted."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import tripcloak as tc
from tripcloak.ground.errors import InputError
from tripcloak.ledger.disclosing import read_again
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.published import Coverage, PublicTable, read_tables
from tripcloak.ledger.reader import PublicDifference, _Reading, public_alone, public_difference
from tripcloak.ledger.subtracting import Areas, Subtraction
from worlds.trips import some_trips, write_csv

KEY = bytes(range(16))
EVERYBODY = Coverage(None, {})


# --- true -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("releases")
    rows = some_trips(1200, people=150, spread=0.05)
    people = sorted({row["person_id"] for row in rows})
    for row in rows:
        number = people.index(row["person_id"])
        row["sex"] = "FM"[number % 2] if number > 9 else "X"
    write_csv(home / "trips.csv", rows)
    return home


def made(home: Path, name: str, **options: Any) -> Path:
    """Return a release, made once."""
    if not (home / name).exists():
        asked = {"k": 5, "zones": "h3:8", "unit": "trips", "suppress": 0.3, **options}
        tc.anonymise(str(home / "trips.csv"), **asked, out=home / name)
    return home / name


def found_in(folders: Sequence[Path]) -> PublicDifference:
    return public_difference([folder / "release" for folder in folders])


def flow_names(zones: Any) -> list[tuple[str, ...]]:
    return list(zip(*(map(str, zones[axis]) for axis in sorted(zones)), strict=True))


def assert_true(found: PublicDifference, folders: Sequence[Path]) -> None:
    """Hold every fact to the records: what is subtracted lies in what it is subtracted from."""
    told: dict[str, Disclosure] = {}
    for folder in folders:
        told |= {one.name: one for one in read_again(folder, KEY, name=folder.name)}
    for fact in found.facts.found:
        records: dict[int, set[int]] = {1: set(), -1: set()}
        for term in fact.terms:
            table = found.releases[term.release]
            one = told[table.name]
            group = flow_names(one.zones).index(flow_names(table.zones)[term.group])
            assert one.trips[group] == term.published or fact.kind == "people"
            records[term.factor] |= set(one.record[one.group == group].tolist())
        assert records[-1] <= records[1] or fact.kind == "between"
        assert 0 < fact.least <= fact.most < found.facts.k
        if fact.kind != "people":
            assert fact.least <= len(records[1] - records[-1]) <= fact.most


CASES: dict[str, tuple[dict[str, Any], ...]] = {
    "coarser": ({"suppress": 0.1}, {"method": "productcut"}),
    "larger": ({}, {"k": 12, "method": "odkanon"}),
    "quadtrees": (
        {"zones": "quadtree:5", "suppress": 0.1},
        {"zones": "quadtree:6", "method": "productcut"},
    ),
    "quadtree and hexagons": ({"zones": "quadtree:3", "method": "odkanon"}, {"zones": "h3:9"}),
    "tiles": ({"zones": "h3:8", "k": 15}, {"zones": "h3:9", "k": 15}),
    "boxes": ({"zones": "h3:9", "method": "mondrian"}, {"zones": "h3:9", "k": 90, "suppress": 0.05}),
}
TELLING = {"coarser", "quadtrees"}


@pytest.mark.parametrize("case", CASES)
def test_every_fact_is_true(home: Path, case: str) -> None:
    folders = [made(home, f"{case}-{number}", **options) for number, options in enumerate(CASES[case])]
    found = found_in(folders)
    assert_true(found, folders)
    if case in TELLING:
        assert len(found.facts) > 0
        assert not found.safe
        assert "can prove" in found.words()


def test_segments_are_pooled_before_they_are_subtracted(home: Path) -> None:
    """No two of these releases tell it: the total less both tells of those who are in neither."""
    folders = [made(home, "all", k=20)]
    made(home, "by", k=3, segment="sex", draws=0, zones=None, zones_from=folders[0], suppress=0.95)
    folders += [home / "by" / "sex=F", home / "by" / "sex=M"]
    found = found_in(folders)
    assert_true(found, folders)
    pooled = [fact for fact in found.facts.found if len(fact.releases) == 3]
    assert pooled
    assert found.facts.k == 3


def test_people_are_subtracted_where_they_are_exact(home: Path) -> None:
    options = {"unit": "travellers", "publish": "both"}
    folders = [made(home, "people-5", **options), made(home, "people-9", k=9, method="odkanon", **options)]
    found = found_in(folders)
    assert_true(found, folders)
    rounded = [made(home, "rounded-5", unit="travellers"), made(home, "rounded-9", k=9, unit="travellers")]
    assert not found_in(rounded).facts.by_kind()["people"]


def test_an_erased_person_is_seen_and_the_direction_is_not_mistaken(home: Path) -> None:
    person = some_trips(1, people=150, spread=0.05)[0]["person_id"]
    zones = made(home, "before")
    after = home / "after"
    tc.anonymise(
        str(home / "trips.csv"),
        k=5,
        unit="trips",
        zones_from=zones,
        suppress=0.6,
        where=f"person_id <> '{person}'",
        out=after,
    )
    found = found_in([zones, after])
    assert_true(found, [zones, after])
    assert len(found.facts) > 0
    assert any("not all trips of before are in after" in note for note in found.notes)
    # One direction is contradicted, so that no fact is drawn from it.
    assert {fact.terms[0].release for fact in found.facts.found} == {0}


def test_a_name_is_not_one_place(home: Path) -> None:
    """Zones of one name, of other tiles: their numbers differ by little, and nothing is concluded."""
    folders = [made(home, f"tiles-{number}", **options) for number, options in enumerate(CASES["tiles"])]
    tables = [read_tables(folder, folder.name)[0] for folder in folders]
    numbers = [dict(zip(flow_names(table.zones), table.trips.tolist(), strict=True)) for table in tables]
    shared = set(numbers[0]) & set(numbers[1])
    zones = {zone for flow in shared for zone in flow}
    outlines = [
        dict(zip((str(z) for z in table.zones["origin"]), table.shapes[0][table.flows[0]], strict=True))
        for table in tables
    ]
    both = [zone for zone in zones if zone in outlines[0] and zone in outlines[1]]
    assert both
    assert not any(shapely.equals(outlines[0][zone], outlines[1][zone]) for zone in both)
    found = found_in(folders)
    for fact in found.facts.found:
        assert not {flow_names(tables[t.release].zones)[t.group] for t in fact.terms} & shared


def test_boxes_hold_nothing_for_certain(home: Path) -> None:
    folders = [made(home, f"boxes-{number}", **options) for number, options in enumerate(CASES["boxes"])]
    tables = [read_tables(folder, folder.name)[0] for folder in folders]
    assert [table.missing for table in tables] == [math.inf, 0]
    assert not any(one.proves(100) for one in Subtraction(tables, 0, [1], Areas()).remainders())
    # They may lie in zones of the same tiles.
    inside = list(Subtraction(tables, 1, [0], Areas()).remainders())
    assert inside
    assert any(one.missing == 0 for one in inside)
    others = [tables[0], replace(tables[1], tiles="h3:10")]
    assert all(math.isinf(one.missing) for one in Subtraction(others, 1, [0], Areas()).remainders())


def test_a_total_and_its_parts_prove_nothing(home: Path) -> None:
    options = {"segment": "sex", "segment_joint": True, "segment_where_safe": True, "k": 3}
    out = made(home, "joint", **options)
    found = found_in([out])
    assert len(found.releases) > 2
    assert (len(found.facts), found.likely) == (0, 0)


# --- by hand --------------------------------------------------------------------------------------------


def table(
    cells: Sequence[Iterable[tuple[int, int]]], trips: Sequence[int], *, to: int = 1, **changes: Any
) -> PublicTable:
    """Return flows from sets of unit cells to one square."""
    shapes = np.array([shapely.union_all([shapely.box(x, y, x + 1, y + 1) for x, y in one]) for one in cells])
    square = np.array([shapely.box(0, 0, to, to)])
    number = np.arange(len(cells))
    facts: dict[str, Any] = {
        "name": "by hand",
        "coverage": EVERYBODY,
        "k": 5,
        "zones": {"origin": [str(n) for n in number], "destination": ["0"] * len(cells)},
        "flows": (number, np.zeros(len(cells), dtype=np.int64)),
        "shapes": (shapes, square),
        "trips": np.array(trips),
        "times": None,
        "clock": (),
        "people": None,
        "missing": 0,
        "tiles": "cells",
        "total": (0, math.inf),
    }
    return PublicTable(**(facts | changes))


ONE, TWO, THREE = (0, 0), (1, 0), (2, 0)


@pytest.mark.parametrize(("more", "facts"), [(0, 0), (1, 1), (4, 1), (5, 0)])
def test_k_less_one_is_a_fact_and_k_is_none(more: int, facts: int) -> None:
    coarse, fine = table([[ONE, TWO]], [20 + more]), table([[ONE]], [20])
    assert len(_Reading([coarse, fine], 5).found().facts) == facts


@pytest.mark.parametrize(("missing", "facts"), [(0, 1), (2, 1), (3, 0), (math.inf, 0)])
def test_what_may_be_withheld_in_a_flow_makes_room(missing: float, facts: int) -> None:
    coarse, fine = table([[ONE, TWO]], [22], missing=missing), table([[ONE]], [20])
    found = _Reading([coarse, fine], 5).found()
    assert (len(found.facts), found.likely) == (facts, 1 - facts)
    if missing == 2:
        (fact,) = found.facts.found
        assert (fact.kind, fact.least, fact.most) == ("between", 2, 4)
        assert found.certificate(fact).endswith(
            "= 2 trips or more, and 4 at most, with all that was withheld"
        )


@pytest.mark.parametrize(("fine", "facts"), [(20, 0), (22, 0), (24, 1), (25, 0), (26, 0)])
def test_rounded_numbers_leave_room(fine: int, facts: int) -> None:
    # A multiple of two stands for one less to one more: of 26 less 24 are left one to three.
    coarse, other = table([[ONE, TWO]], [26]), table([[ONE]], [fine], base=2)
    found = _Reading([coarse, other], 5).found()
    assert (len(found.facts), found.likely) == (facts, 0)
    if facts:
        (fact,) = found.facts.found
        assert (fact.kind, fact.least, fact.most) == ("between", 1, 3)
        assert found.certificate(fact).endswith("= 2 trips as they are told; rounded ones leave 1 to 3")


def test_a_rounded_number_is_never_below_k() -> None:
    told = table([[ONE], [TWO]], [5, 10], base=5)
    assert [(told.least(row), told.most(row)) for row in (0, 1)] == [(5, 9), (6, 14)]
    exact = table([[ONE]], [5])
    assert (exact.least(0), exact.most(0)) == (5, 5)


def test_releases_of_rounded_numbers_are_compared(home: Path) -> None:
    one, rounded = made(home, "coarser-0", **CASES["coarser"][0]), made(home, "rounded", k=6, round=3)
    (told,) = read_tables(rounded, "rounded")
    assert told.base == 3
    assert not [fact for fact in found_in([one, rounded]).facts.found if fact.kind == "people"]


def test_sums_of_a_release_are_read_and_prove_nothing_until_one_is_wrong(home: Path, tmp_path: Path) -> None:
    one = made(home, "sums", method="suppression", suppress=0.95, with_margins=True, with_levels=[7, 5])
    tables = read_tables(one, "sums")
    assert {"sums", "sums, 5 to 5", "sums, own to all", "sums, all to all"} <= {each.name for each in tables}
    assert found_in([one]).safe
    # Three people more in an origin's total than bricks hold: what is left of it is of few.
    shutil.copytree(one / "release", tmp_path / "forged")
    path = tmp_path / "forged" / "tables.parquet"
    rows = parquet.read_table(path)
    total = rows["origin_level"].to_pylist().index("own")
    flows = parquet.read_table(path.with_name("flows.parquet")).to_pylist()
    zone = rows["origin"][total].as_py()
    told = rows["trips"].to_pylist()
    told[total] = sum(row["trips"] for row in flows if row["origin"] == zone) + 3
    column = rows.column_names.index("trips")
    parquet.write_table(
        rows.set_column(column, "trips", pa.array(told, rows.schema.field("trips").type)), path
    )
    found = public_difference([tmp_path / "forged"])
    assert ("exact", 3) in {(fact.kind, fact.least) for fact in found.facts.found}


def test_numbers_that_contradict_prove_nothing() -> None:
    coarse, fine = table([[ONE, TWO], [THREE]], [22, 8]), table([[ONE], [THREE]], [20, 9])
    found = _Reading([coarse, fine], 5).found()
    assert [fact.terms[0].release for fact in found.facts.found] == [1]
    assert found.likely == 1
    assert "larger in some places" in " ".join(found.notes)


def test_an_input_that_must_be_larger_is_not_inside() -> None:
    coarse = table([[ONE, TWO]], [22], total=(22, 30))
    fine = table([[ONE]], [20], total=(31, math.inf))
    assert len(_Reading([coarse, fine], 5).found().facts) == 0
    assert len(_Reading([coarse, table([[ONE]], [20], total=(30, math.inf))], 5).found().facts) == 1


def test_flows_together_hold_what_none_of_them_does() -> None:
    two = table([[ONE], [TWO]], [10, 12])
    across = table([[ONE, TWO]], [19])
    (fact,) = _Reading([two, across], 5).found().facts.found
    assert [(term.factor, term.published) for term in fact.terms] == [(1, 10), (1, 12), (-1, 19)]


@pytest.mark.parametrize(
    ("one", "other", "compared"),
    [
        ({"coverage": Coverage((0, 30), {})}, {"coverage": Coverage((31, 60), {})}, False),
        ({"coverage": Coverage((0, 60), {})}, {"coverage": Coverage((31, 60), {})}, True),
        ({}, {"coverage": Coverage((31, 60), {})}, True),
        ({"coverage": Coverage(None, {"sex": "F"})}, {"coverage": Coverage(None, {"sex": "M"})}, False),
        ({"times": ["8h"], "clock": (60,)}, {"times": ["8h"], "clock": (60,)}, True),
        ({"times": ["8h"], "clock": (60,)}, {"times": ["8h"], "clock": (30,)}, False),
        ({"times": ["8h"], "clock": (60,)}, {}, False),
        ({}, {"times": ["8h"], "clock": (60,)}, True),
    ],
)
def test_only_what_may_lie_inside_is_subtracted(
    one: dict[str, Any], other: dict[str, Any], compared: bool
) -> None:
    coarse, fine = table([[ONE, TWO]], [22], **one), table([[ONE]], [20], **other)
    assert len(_Reading([coarse, fine], 5).found().facts) == compared


@st.composite
def partitions(draw: Any) -> tuple[list[list[tuple[int, int]]], list[int]]:
    """Return some disjoint sets of the cells of a small square, by halving, and numbers for them."""
    seed = draw(st.integers(0, 10**6))
    dice = random.Random(seed)
    parts = [[(x, y) for x in range(4) for y in range(4)]]
    for _ in range(draw(st.integers(0, 9))):
        one = parts.pop(dice.randrange(len(parts)))
        axis = dice.randrange(2)
        middle = sorted(cell[axis] for cell in one)[len(one) // 2]
        halves = [[c for c in one if c[axis] < middle], [c for c in one if c[axis] >= middle]]
        parts += [half for half in halves if half]
    kept = [part for part in parts if dice.random() < 0.8] or parts[:1]
    return kept, [dice.randrange(5, 40) for _ in kept]


@given(coarse=partitions(), fine=partitions())
def test_outlines_say_what_cells_say(coarse: Any, fine: Any) -> None:
    """Brute force over sets of cells: what lies inside, what lies across, and what is left of each."""
    (wholes, numbers), (parts, others) = coarse, fine
    tables = [table(wholes, numbers), table(parts, others)]
    found = {
        (frozenset(row for _, row in one.holds), frozenset(row for _, row in one.parts)): one.trips
        for one in Subtraction(tables, 0, [1], Areas()).remainders()
    }
    cells = [[set(part) for part in side] for side in (wholes, parts)]
    holding = {
        number: frozenset(row for row, whole in enumerate(cells[0]) if whole & part)
        for number, part in enumerate(cells[1])
        if part <= set().union(*cells[0])
    }
    sets = {rows for rows in holding.values() if rows}
    joined: set[frozenset[int]] = set()
    for rows in (rows for rows in sets if len(rows) > 1):
        grown = rows
        while True:
            wider = grown.union(*(one for one in sets if len(one) > 1 and one & grown))
            if wider == grown:
                break
            grown = wider
        joined.add(grown)
    expected = {}
    for rows in sets | joined:
        inside = frozenset(number for number, held in holding.items() if held <= rows)
        expected[rows, inside] = sum(numbers[row] for row in rows) - sum(others[one] for one in inside)
    assert found == expected


# --- what is read ---------------------------------------------------------------------------------------


def test_public_parts_alone_are_known(home: Path, tmp_path: Path) -> None:
    one = made(home, "coarser-0", **CASES["coarser"][0])
    assert public_alone([one / "release", one / "release"])
    assert not public_alone([one, one / "release"])
    shutil.copytree(one / "release", tmp_path / "sent" / "release")
    assert public_alone([tmp_path / "sent", tmp_path / "sent"])
    assert not public_alone([tmp_path / "sent", one])


def test_what_cannot_be_read_is_said(home: Path, tmp_path: Path) -> None:
    one = made(home, "coarser-0", **CASES["coarser"][0])
    with pytest.raises(InputError, match="not two tables"):
        public_difference([one])
    with pytest.raises(InputError, match="at least 2"):
        public_difference([one, one], k=1)
    people = made(home, "people-alone", unit="travellers", publish="travellers")
    with pytest.raises(InputError, match="does not publish trips exactly"):
        public_difference([one, people])
    shutil.copytree(one / "release", tmp_path / "broken")
    (tmp_path / "broken" / "zones.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be read"):
        public_difference([one, tmp_path / "broken"])
