"""Sizes, slacks and tiles that the audit of flows holds zones and measures to, each at its very edge."""

from __future__ import annotations

from typing import Any

import pytest

from tripcloak.flows.audit import centres
from tripcloak.flows.audit.boxes import SLACK, right_tiles
from tripcloak.flows.audit.rules import manifest, zones
from worlds.made_evidence import PEOPLE, TRIPS, WEIGHTS, made

FILE = {"spec": "table:county"}
ZONES = "axis varchar, zone varchar, height int, tiles bigint"
TREE = "axis varchar, zone varchar, parent varchar, height int, tiles bigint"


def sized(*listed: Any) -> Any:
    case = made(hierarchy=FILE)
    case.table("audit_tree", TREE, [("origin", "a", "all", 0, 1), ("origin", "all", None, 1, 2)])
    case.table("audit_zones", ZONES, listed)
    return zones._sizes(case)


@pytest.mark.parametrize(
    ("row", "right"),
    [
        (("origin", "a", 0, 1), True),
        (("origin", "all", 1, 2), True),
        (("origin", "all", 1, 3), False),
        (("origin", "all", 2, 2), False),
        (("origin", "b", 0, 1), False),
        (("destination", "a", 0, 1), False),
        # Times have a rule of their own.
        (("time", "2026-W01", 9, 9), True),
    ],
)
def test_zones_of_a_file_have_the_height_and_the_tiles_of_the_tree(row: Any, right: bool) -> None:
    assert (sized(("origin", "a", 0, 1), row) is None) is right


@pytest.mark.parametrize(
    ("fits", "tiles", "right"),
    [
        (2.5 * (1 + SLACK / 2), 2, True),
        (2.5 * (1 + 4 * SLACK), 2, False),
        (2.5 * (1 - SLACK / 2), 3, True),
        (2.5 * (1 - 4 * SLACK), 3, False),
        (0.3, 1, True),
        (0.3, 0, False),
        (0.3, 2, False),
        (0.9999, 1, True),
        (1.4, 1, True),
        (1.6, 1, False),
    ],
)
def test_tiles_are_rounded_and_one_at_least(fits: float, tiles: int, right: bool) -> None:
    assert right_tiles(tiles, fits * 7.0, 7.0) is right


def measured(facts: dict[str, Any], promise: Any = TRIPS, volume: str = "trips") -> Any:
    case = made(promise, volume=volume, facts=facts)
    case.table(
        "audit_flows",
        f"origin varchar, destination varchar, {volume} bigint",
        [("a", "b", 30), ("b", "a", 10)],
    )
    rows = [("origin", "a", 1), ("origin", "b", 2), ("destination", "a", 4), ("destination", "b", 3)]
    return manifest._measures(case.table("audit_zones", "axis varchar, zone varchar, tiles bigint", rows))


FACTS: dict[str, Any] = {"smallest": {"trips": 10, "population": 10}, "released": 40, "groups": 2}
# 30 trips of one tile and three, 10 of two and four.
G, C_AVG = (30 * 4 + 10 * 6) / 40, 40 / 2 / 3


@pytest.mark.parametrize(
    ("told", "right"),
    [
        ({"G": G, "C_AVG": C_AVG}, True),
        ({"G": G * (1 + 5e-10), "C_AVG": C_AVG}, True),
        ({"G": G * (1 + 5e-9), "C_AVG": C_AVG}, False),
        ({"G": G, "C_AVG": C_AVG * (1 + 5e-9)}, False),
        ({"G": G, "C_AVG": C_AVG, "G_time": 1.0}, False),
        ({"G": G}, False),
        ({"C_AVG": C_AVG}, False),
        ([G, C_AVG], False),
        (None, False),
    ],
)
def test_measures_are_those_of_the_table(told: Any, right: bool) -> None:
    assert (measured({**FACTS, "measures": told}) is None) is right


@pytest.mark.parametrize(("away", "right"), [(0.09, True), (-0.09, True), (0.12, False), (-0.12, False)])
def test_people_are_rounded_by_less_than_one_in_the_smallest_flow(away: float, right: bool) -> None:
    told = {"G": G * (1 + away), "C_AVG": C_AVG}
    assert (measured({**FACTS, "measures": told}, WEIGHTS, "population") is None) is right
    # Where the smallest flow tells nobody there is nothing to round by.
    none = {**FACTS, "smallest": {"population": 0}, "measures": told}
    assert measured(none, WEIGHTS, "population") is not None


def boxes(spec: str, *names: str, axis: str = "origin") -> Any:
    """Return a case of boxes over tiles that reach from 0 to 0.002 degrees on both sides."""
    grid = {"origins": 0.01, "destinations": 0.01}
    case = made(
        PEOPLE,
        hierarchy={"spec": spec},
        zone_form="boxes",
        tile_km2={"origins": None, "destinations": None},
        box_grid_degrees=grid,
    )
    columns = (
        "axis varchar, tile varchar, south bigint, west bigint, north bigint, east bigint, longer double"
    )
    rows = [("origin", "t1", 0, 0, 2000, 2000, 0.002), ("destination", "t2", 0, 0, 10, 10, 0.9)]
    case.table("audit_centres", columns, rows)
    return case.table("audit_zones", "axis varchar, zone varchar", [(axis, name) for name in names])


def test_boxes_off_the_grid_are_counted_axis_by_axis() -> None:
    on, off = "box_0.000000_0.000000_1.000000_1.000000", "box_0.000000_0.000000_1.000000_1.000001"
    for spec in ("h3:9", "table:county"):
        assert centres._telling(boxes(spec, on), "origin") == 0
        assert centres._telling(boxes(spec, on, off, off), "origin") == 2
        assert centres._telling(boxes(spec, on, off, axis="destination"), "origin") == 0
        # A name that is no box has no edge.
        assert centres._telling(boxes(spec, "a", on), "origin") == 0
