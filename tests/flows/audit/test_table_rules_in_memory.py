"""Rules on tables beside the flows, on a few rows in memory: sums, levels, sets, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tripcloak.flows.audit.rules import privacy, tables
from tripcloak.flows.audit.totals import StatedTables
from tripcloak.ground.rulebook import BrokenPart, NotPromised
from worlds.made_evidence import PEOPLE, WEIGHTS, made, released

FLOWS = [("a", "b", 9, 3), ("b", "a", 4, 4)]
TABLES = "origin_level varchar, destination_level varchar, origin varchar, destination varchar, trips bigint"
LEVELS = "axis varchar, level varchar, zone varchar, height int, tiles int, parent varchar"
ALL = ("all", "all")
SIDES = [("own", "all", "a", "all", 9), ("own", "all", "b", "all", 4), ("all", "own", "all", "b", 9)]
SIDES += [("all", "own", "all", "a", 4), ("all", "all", "all", "all", 13)]


def told(origin: Any, destination: Any, cells: int, trips: int, **other: Any) -> dict[str, Any]:
    band = {"at_least": 0, "at_most": 1, "words": ""}
    one = {"origin_level": origin, "destination_level": destination, "cells": cells, "trips": trips}
    return {**one, "not_counted": band, **other}


MARGINS = [told("own", "all", 2, 13), told("all", "own", 2, 13), told("all", "all", 1, 13)]


def margins(counted: list[Any] | None = None, rows: Any = None, withheld: Any = None, **stating: Any) -> Any:
    entry = {"levels": [], "margins": True, "counted": counted or MARGINS}
    band = {"at_least": 0, "at_most": 1, "words": ""} if withheld is None else withheld
    case = released(made(facts={"tables": entry, "released": 13, "withheld": band}, **stating), FLOWS)
    return case.table("audit_tables", TABLES, SIDES if rows is None else rows)


def stated(case: Any) -> StatedTables:
    found = tables.read_tables(case)
    assert found is not None
    return found


def add_up(case: Any, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Return what is wrong but for the text file beside it."""
    monkeypatch.setattr(tables, "differs_from_csv", lambda *_: None)
    return str(tables.tables_add_up(case) or "")


def test_margins_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert add_up(margins(), monkeypatch) == ""
    assert isinstance(tables.tables_add_up(made()), NotPromised)
    assert isinstance(tables.tables_match_recount(made()), NotPromised)
    twice = [*SIDES, SIDES[0]]
    assert "twice" in add_up(margins(rows=twice), monkeypatch)
    other = margins()
    other.con.execute("alter table audit_tables add column more int")
    other._tables["audit_tables"] = (*other._tables["audit_tables"], "more")
    assert "other columns" in add_up(other, monkeypatch)
    alone = margins(columns=["travellers"], volume="travellers")
    assert "does not tell of flows" in add_up(alone, monkeypatch)


@pytest.mark.parametrize(
    ("at", "trips", "words"),
    [(0, 10, "does not hold"), (0, 8, "does not hold"), (3, 5, "does not hold"), (4, 14, "does not hold")],
)
def test_a_cell_that_holds_a_few_more_or_fewer_is_told(
    monkeypatch: pytest.MonkeyPatch, at: int, trips: int, words: str
) -> None:
    rows = [(*row[:4], trips if place == at else row[4]) for place, row in enumerate(SIDES)]
    sums = {pair: sum(row[4] for row in rows if row[:2] == pair) for pair in {row[:2] for row in rows}}
    counted = []
    for one in MARGINS:
        held = sums[one["origin_level"], one["destination_level"]]
        room = {"at_least": max(13 - held, 0), "at_most": max(14 - held, 0), "words": ""}
        counted.append({**one, "trips": held, "not_counted": room})
    assert words in add_up(margins(counted, rows), monkeypatch)


@pytest.mark.parametrize(
    "wrong",
    [
        {"cells": 3},
        {"trips": 12},
        {"not_counted": {"at_least": 1, "at_most": 1, "words": ""}},
        {"not_counted": {"at_least": 0, "at_most": 2, "words": ""}},
    ],
)
def test_what_the_manifest_says_of_a_table_is_right(wrong: dict[str, Any]) -> None:
    case = margins([{**MARGINS[0], **wrong}, *MARGINS[1:]])
    assert tables._stated(case, stated(case)) == "the manifest is wrong about what a table counts"


def test_what_is_not_counted_is_less_where_a_table_counts_more() -> None:
    """Of 10 to 20 withheld trips five are in the whole: 5 to 15 are not, and never fewer than none."""
    rows = [*SIDES[:4], (*ALL, *ALL, 18)]
    for band, room in (((10, 20), (5, 15)), ((0, 9), (0, 4)), ((0, 3), (0, 0))):
        said = {"at_least": band[0], "at_most": band[1], "words": ""}
        sides = [{**one, "not_counted": said} for one in MARGINS[:2]]
        whole = told("all", "all", 1, 18, not_counted={"at_least": room[0], "at_most": room[1], "words": ""})
        case = margins([*sides, whole], rows, said)
        assert tables._stated(case, stated(case)) is None


def test_a_table_that_nobody_tells_of_is_none() -> None:
    case = margins(rows=[*SIDES, ("8", "8", "x", "y", 1)])
    assert "does not tell of" in str(tables._stated(case, stated(case)))
    for entry in (None, {"at_least": 0, "at_most": 1}):
        case = margins([{**MARGINS[0], "not_counted": entry}, *MARGINS[1:]])
        with pytest.raises(BrokenPart, match="not_counted"):
            tables._stated(case, stated(case))
    silent = {"at_least": None, "at_most": None, "words": ""}
    case = margins(withheld=silent)
    with pytest.raises(BrokenPart, match="withheld"):
        tables._stated(case, stated(case))


TILES = ["891fb46622fffff", "891fb46741bffff"]
ABOVE = ["881fb46623fffff", "881fb46741fffff"]
LISTED = [
    (axis, "own", tile, 0, 1, up)
    for axis in ("origin", "destination")
    for tile, up in zip(TILES, ABOVE, strict=True)
]
LISTED += [(axis, "8", up, 1, 7, None) for axis in ("origin", "destination") for up in ABOVE]


def levelled(listed: Any = None, trips: int = 9) -> Any:
    """Return flows between two tiles and a table of the cells above them."""
    entry = {"levels": [8], "margins": False, "counted": [told(8, 8, 2, 13)]}
    case = made(facts={"tables": entry, "released": 13})
    released(case, [(TILES[0], TILES[1], 9, 3), (TILES[1], TILES[0], 4, 4)])
    case.table("audit_tables", TABLES, [("8", "8", *ABOVE, trips), ("8", "8", *ABOVE[::-1], 4)])
    return case.table("audit_levels", LEVELS, LISTED if listed is None else listed)


def test_zones_of_levels_are_listed_once_and_truly() -> None:
    case = levelled()
    assert tables._zones_listed(case, stated(case)) is None
    assert tables._not_adding_up(case, stated(case)) is None
    for listed in (
        LISTED[1:],
        [*LISTED, LISTED[0]],
        [*LISTED, ("origin", "8", "881fb46625fffff", 1, 7, None)],
    ):
        case = levelled(listed)
        assert "lists other zones" in str(tables._zones_listed(case, stated(case)))
    case = levelled([(*LISTED[0][:3], 1, 1, ABOVE[0]), *LISTED[1:]])
    assert "is wrong about" in str(tables._zones_listed(case, stated(case)))
    case = margins()
    assert tables._zones_listed(case, stated(case)) is None


def test_a_coarser_table_holds_the_flows_below_each_of_its_cells() -> None:
    for trips, wrong in ((9, False), (8, True), (10, True), (12, False)):
        case = levelled(trips=trips)
        assert (tables._not_adding_up(case, stated(case)) is not None) == wrong
    astray = [(*LISTED[0][:5], ABOVE[1]), *LISTED[1:]]
    case = levelled(astray)
    assert tables._not_adding_up(case, stated(case)) is not None


TIERS = ("own", "8", "all")
PLACED = "flow int, released bool, counted_from varchar, trips bigint, "
PLACED += ", ".join(f"origin_{tier} varchar, destination_{tier} varchar" for tier in TIERS)


def placed(*withheld: Any, promise: Any = PEOPLE, rows: Any = None, **stating: Any) -> Any:
    entry = {"levels": [8], "margins": False, "counted": [told(8, 8, 2, 13)]}
    case = made(promise, facts={"tables": entry, "released": 13}, **stating)
    flows = [
        (1, True, None, 9, "a", "b", "A", "B", "all", "all"),
        (2, True, None, 4, "b", "a", "B", "A", "all", "all"),
    ]
    case.table("audit_placed", PLACED, [*flows, *withheld])
    case.table("audit_levels", LEVELS, [("origin", "own", "a", 0, 1, "A"), ("origin", "8", "A", 1, 7, None)])
    return case.table("audit_tables", TABLES, rows or [("8", "8", "A", "B", 9), ("8", "8", "B", "A", 4)])


HIDDEN = (3, False, None, 5, None, None, "A", "B", "all", "all")
COUNTED = (3, False, "8,8", 5, None, None, "A", "B", "all", "all")


def test_a_table_is_what_it_counts_afresh() -> None:
    pair = ("8", "8")
    for rows, wrong in (((), False), ((HIDDEN,), False), ((COUNTED,), True)):
        case = placed(*rows)
        assert (tables._recounted(case, stated(case), pair) is not None) == wrong
    case = placed(COUNTED, rows=[("8", "8", "A", "B", 14), ("8", "8", "B", "A", 4)])
    assert tables._recounted(case, stated(case), pair) is None
    case = placed(rows=[("8", "8", "A", "B", 9), ("8", "8", "B", "A", 5)])
    assert "differ from the recount" in str(tables._recounted(case, stated(case), pair))


ROUNDED = {"kind": "all of", "promises": [PEOPLE, {"kind": "rounding", "base": 3, "sums": True}]}


@pytest.mark.parametrize(("trips", "wrong"), [(9, False), (6, True), (12, True), (10, True)])
def test_a_rounded_cell_is_near_its_flows(trips: int, wrong: bool) -> None:
    case = placed(promise=ROUNDED, rows=[("8", "8", "A", "B", trips), ("8", "8", "B", "A", 3)])
    assert (tables._recounted(case, stated(case), ("8", "8")) is not None) == wrong
    counted = placed(COUNTED, promise=ROUNDED, rows=[("8", "8", "A", "B", 9), ("8", "8", "B", "A", 3)])
    assert "all the same" in str(tables._recounted(counted, stated(counted), ("8", "8")))


@pytest.mark.parametrize(("low", "high", "wrong"), [("A", None, False), ("B", None, True), ("A", "x", True)])
def test_zones_lie_where_levels_put_them(low: str, high: Any, wrong: bool) -> None:
    case = placed().table(
        "audit_levels", LEVELS, [("origin", "own", "a", 0, 1, low), ("origin", "8", "A", 1, 7, high)]
    )
    assert (tables._parents(case, stated(case)) is not None) == wrong


PRESENCE = "brick varchar, o int, d int, person bigint, trips bigint, weight double, segment varchar"


def test_sets_of_withheld_flows_hold_every_segment_and_no_large_part() -> None:
    every = {"kind": "every segment", "by": ["sex"], "names": ["f", "m"], "promise": PEOPLE}
    rows = [(1, 2, at, 1, 1.0, segment) for at, segment in enumerate("fffmmm")]
    names = "o int, d int, person bigint, trips bigint, weight double, segment varchar"
    for many, words in ((6, None), (5, "fewer than 3"), (3, "lack a segment")):
        case = made(every).table("audit_segment_presence", names, rows[:many])
        case.table("audit_brick_links", "o int, d int, brick varchar", [(1, 2, "x")])
        found = tables._segments(case, "o, d")
        assert found is None if words is None else words in str(found)
    assert tables._segments(made(), "o, d") is None
    assert tables._segments(made({**every, "kind": "segments where safe"}), "o, d") is None


@pytest.mark.parametrize(("first", "wrong"), [(5, False), (6, True)])
def test_nobody_has_too_large_a_part_of_a_set(first: int, wrong: bool) -> None:
    rules = [PEOPLE, {"kind": "dominance", "share": 0.5, "of": ["trips", "population"]}]
    for trips, weight in ((first, 5.0), (5, float(first))):
        case = made({"kind": "all of", "promises": [*rules, {**WEIGHTS, "k": 2}]})
        rows = [
            ("x", 1, trips, weight),
            ("x", 2, 10 - trips, 10 - weight),
            ("y", 1, 1, 1.0),
            ("y", 2, 1, 1.0),
        ]
        case.table("audit_brick_presence", "brick varchar, person bigint, trips bigint, weight double", rows)
        assert (tables._parts(case) is not None) == wrong


@pytest.mark.parametrize(
    ("recorded", "rows", "words"),
    [
        ({"sex": "f"}, [("f", 0), ("f", 0)], None),
        ({"sex": "f"}, [("f", 0), ("m", 0)], "another segment than the manifest"),
        ({"sex": "f"}, [("f", 0), ("m", 1)], None),
        ({"sex": "m"}, [("f", 0)], "the record of how"),
        (None, [("f", 0)], "the record of how"),
    ],
)
def test_records_are_of_the_segment_that_a_release_is_about(
    tmp_path: Path, recorded: Any, rows: Any, words: str | None
) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "run.json").write_text(json.dumps({"source": {"segment": recorded}}))
    case = made(segment={"sex": "f"}).table("canonical", "attr_sex varchar, reason int", rows)
    case.folder = tmp_path
    found = privacy.segment_as_read(case)
    assert found is None if words is None else words in str(found)
    everybody = made()
    everybody.folder = tmp_path
    assert (type(privacy.segment_as_read(everybody)) is NotPromised) == (recorded is None)


def test_a_flow_whose_zones_cannot_be_told_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two flows of the private table one finds no place at the levels of the tables."""
    case = margins().table("audit_groups", "counted_from varchar, released_origin varchar", [(None, "a")] * 2)
    monkeypatch.setattr(tables, "_recounted", lambda *_: None)
    monkeypatch.setattr(tables, "_parents", lambda *_: None)
    monkeypatch.setattr(tables, "_unsafe", lambda *_: None)
    for placed, words in ((1, "the zones of some flows at some level cannot be told"), (2, None)):

        def place(case: Any, _: Any, many: int = placed) -> None:
            case.table("audit_placed", "flow int", [(at,) for at in range(many)])

        monkeypatch.setattr(tables, "place_flows", place)
        assert tables.tables_match_recount(case) == words


def test_trips_of_groups_that_are_not_published_count_for_none_of_the_noisy_numbers() -> None:
    """The last group is no published flow, and what was withheld is none either."""
    case = released(made(), [("a", "b", 9, 2)])
    case.table("audit_names", "key ubigint, name varchar", [(1, "a"), (2, "b")])
    case.table("audit_links", "o ubigint, d ubigint, pair bigint", [(1, 2, 1), (2, 1, 7)])
    rows = [(1, 2, "x", 5), (1, 2, "y", 4), (2, 1, "x", 3), (2, 2, "y", 1)]
    case.table("audit_presence", "o ubigint, d ubigint, person varchar, trips bigint", rows)
    asked: Any = SimpleNamespace(unit="traveller", norms=(), contributions=100)
    numbers = privacy._numbers(case, asked)
    assert (numbers.published.tolist(), numbers.recount.tolist()) == ([9], [9])
    assert numbers.all_counted == 13


def test_scaled_trips_lie_in_the_published_flow_of_their_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two published flows the last one too; what lies in none is of none."""
    case = released(made(), [("a", "b", 9, 2), ("b", "a", 5, 1)])
    case.table("audit_names", "key ubigint, name varchar", [(1, "a"), (2, "b")])
    case.table("audit_links", "o ubigint, d ubigint, pair bigint", [(1, 2, 1), (2, 1, 2)])
    rows = [(1, 2, "x", 5), (2, 1, "x", 3), (2, 2, "y", 1)]
    case.table("audit_presence", "o ubigint, d ubigint, person varchar, trips bigint", rows)
    monkeypatch.setattr(privacy, "_tree", lambda case, axis, names: (axis, axis))
    monkeypatch.setattr(privacy, "_coded", lambda names, code, side: side)
    given: list[Any] = []
    monkeypatch.setattr(privacy, "scaled_numbers", lambda *told, **how: given.append(told))
    privacy._numbers(case, SimpleNamespace(unit="traveller", norms=(1.0,)))  # type: ignore[arg-type]
    told = given[0][1]
    found = sorted(zip(*(column.tolist() for column in (told[1], told[2], told[3], told[4])), strict=True))
    assert found == [(1, 2, 5, 0), (2, 1, 3, 1), (2, 2, 1, -1)]


@pytest.mark.parametrize(
    ("homogeneous", "counted", "brick", "words"),
    [
        (True, "own,all", "a", None),
        (True, "own,all", None, "a cell that it does not lie in"),
        (False, "own,all", "a", "zones overlap"),
        (False, None, "a", None),
    ],
)
def test_withheld_flows_are_counted_where_they_lie_and_where_zones_do_not_overlap(
    homogeneous: bool, counted: Any, brick: Any, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = made()
    case.promise = SimpleNamespace(homogeneous=homogeneous, slot=None)
    case.table("audit_placed", "counted_from varchar", [(counted,)])
    case.table("audit_bricks", "brick varchar", [(brick,)])
    case.table("audit_presence", "o int, d int", [])
    case.table("audit_brick_links", "o int, d int, brick varchar", [])
    for name in ("_bricks", "_few", "_segments", "_parts", "_room"):
        monkeypatch.setattr(tables, name, lambda *_: None)
    found = tables._unsafe(case, SimpleNamespace())  # type: ignore[arg-type]
    assert found is None if words is None else words in str(found)


@pytest.mark.parametrize(("trips", "right"), [(0, True), (15, True), (20, False), (14, False)])
def test_a_rounded_total_is_off_by_less_than_its_flows_together(trips: int, right: bool) -> None:
    """Two flows of seven trips in all, rounded to five: each may be off by four."""
    case = made()
    columns = "origin_all varchar, destination_all varchar, trips int, released bool, counted_from varchar"
    case.table("audit_placed", columns, [("all", "all", 3, True, None), ("all", "all", 4, True, None)])
    columns = (
        "origin_level varchar, destination_level varchar, origin varchar, destination varchar, trips int"
    )
    case.table("audit_tables", columns, [("all", "all", "all", "all", trips)])
    found = tables._recounted_about(case, ("all", "all"), 5)
    assert found is None if right else "differ from the recount" in str(found)
