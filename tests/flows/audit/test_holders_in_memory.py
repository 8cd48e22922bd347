"""Which released zone holds which tile and which zone: by names, a tree and the calendar, told by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import h3
import pytest

from tripcloak.flows.audit.trees import check_pairs, holders, lineage, nested_zones
from worlds.made_evidence import made

TILE = h3.latlng_to_cell(48.8584, 2.2945, 9)
OTHER = h3.latlng_to_cell(48.70, 2.60, 9)
UP = {level: h3.cell_to_parent(TILE, level) for level in (8, 7, 6)}
TREE = [("all", None, 2), ("north", "all", 1), ("a", "north", 0), ("b", "north", 0), ("c", "all", 0)]


def case_of(*zones: str, resolution: int | None = None, **told: Any) -> Any:
    """Return evidence in which these zones are released as origins, or as times."""
    case = made()
    promise = {"slot": None, "fold": None, "boxes": False, "unions": False, "names": None, **told}
    case.promise = SimpleNamespace(resolution=resolution, **promise)
    case.table("audit_flows", "origin varchar, time varchar", [(zone, zone) for zone in zones])
    tree = [(axis, *row) for axis in ("origin", "destination") for row in TREE]
    # Destinations have another tree, of which nothing may be taken for origins.
    tree = [(axis, zone, "c" if axis != "origin" and parent else parent, n) for axis, zone, parent, n in tree]
    return case.table("audit_tree", "axis varchar, zone varchar, parent varchar, height int", tree)


def held(case: Any, *tiles: str) -> set[tuple[str, str]]:
    named = " union all ".join(f"select '{tile}'" for tile in tiles)
    return set(case.rows(f"from {holders(case, 'origin', named)}"))


def above(case: Any, axis: str = "origin") -> set[tuple[str, str]]:
    return set(case.rows(f"from {lineage(case, axis)}"))


def test_a_cell_is_held_by_itself_and_by_those_above_it() -> None:
    case = case_of(TILE, UP[8], UP[6], resolution=9)
    assert held(case, TILE, OTHER) == {(TILE, TILE), (TILE, UP[8]), (TILE, UP[6])}
    # A zone finer than the tiles holds none of them.
    assert held(case_of(TILE, UP[8], resolution=8), UP[8]) == {(UP[8], UP[8])}


def test_cells_lie_in_those_above_that_are_released() -> None:
    case = case_of(TILE, UP[8], UP[6], OTHER, resolution=9)
    own = {(zone, zone) for zone in (TILE, UP[8], UP[6], OTHER)}
    assert above(case) == own | {(TILE, UP[8]), (TILE, UP[6]), (UP[8], UP[6])}
    assert nested_zones(case, "origin") == 2
    assert nested_zones(case_of(TILE, OTHER, resolution=9), "origin") == 0


def test_a_tree_says_which_zones_hold_a_tile() -> None:
    case = case_of("north", "all", "b")
    assert held(case, "a", "b", "c") == {
        *(("a", zone) for zone in ("north", "all")),
        *(("b", zone) for zone in ("b", "north", "all")),
        ("c", "all"),
    }
    assert above(case) == {(zone, zone) for zone in ("north", "all", "b")} | {
        ("north", "all"),
        ("b", "north"),
        ("b", "all"),
    }
    assert nested_zones(case, "origin") == 2


def test_names_that_tell_what_they_hold_are_asked() -> None:
    asked: list[str] = []
    case = case_of("x", "y", names=SimpleNamespace(nested=lambda zones: asked.extend(zones) or 7))
    assert nested_zones(case, "origin") == 7
    assert sorted(asked) == ["x", "y"]


def test_times_lie_in_the_parts_of_the_calendar_that_are_released() -> None:
    case = case_of("2024-05-06T08", "2024-05-06", "2024-05-07T08", slot=60)
    day = ("2024-05-06T08", "2024-05-06")
    assert above(case, "time") == {(zone, zone) for zone in (*day, "2024-05-07T08")} | {day}


@pytest.mark.parametrize(
    ("axis", "told", "pairs", "wrong"),
    [
        ("time", {"slot": 60}, [("2024-05-06T08", "2024-05-06"), ("2024-05-06T08", "2024-05-07")], 1),
        ("origin", {"resolution": 9}, [(TILE, UP[7]), (TILE, TILE), (OTHER, UP[7])], 1),
        ("origin", {"resolution": 9, "slot": 60}, [(TILE, UP[7]), (OTHER, UP[7])], 1),
        ("origin", {}, [("a", "north"), ("a", "all"), ("c", "all"), ("c", "c")], 0),
        # What is no tile, or unknown, is held by nobody.
        ("origin", {}, [("c", "north"), ("north", "all"), ("x", "all"), ("a", "x")], 4),
    ],
)
def test_pairs_are_right_where_the_zone_holds_the_tile(axis: str, told: Any, pairs: Any, wrong: int) -> None:
    case = case_of(**told)
    case.table("pairs", "tile varchar, zone varchar", pairs)
    assert check_pairs(case, axis, "select tile, zone from pairs") == (len(pairs), wrong)
