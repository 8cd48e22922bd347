"""What is told of boxes, fact by fact: sizes, places, outlines and tiles that their names tell too."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
import shapely

from tripcloak.flows.audit.boxes import DEGREES, MICRO, Box, area_km2
from tripcloak.flows.audit.centres import _true_facts, _true_outline, _true_tile

BOX = Box(0, 0, MICRO, 2 * MICRO)
AREA = area_km2(BOX)
TRUE: dict[str, Any] = {"tile_km2": AREA / 3, "held": None, "height": 0, "tiles": 3, "area": AREA}
TRUE |= {"lat": 0.5, "lon": 1.0}


@pytest.mark.parametrize(
    ("change", "true"),
    [
        ({}, True),
        ({"held": 3}, True),
        ({"held": 3, "tile_km2": None}, True),
        ({"held": 2}, False),
        ({"tile_km2": None}, False),
        ({"tiles": 2}, False),
        ({"tiles": 4}, False),
        ({"height": 1}, False),
        ({"area": AREA * (1 + 9e-7)}, True),
        ({"area": AREA * (1 + 2e-6)}, False),
        ({"area": None}, False),
        ({"lat": 0.5 + 2 * DEGREES}, False),
        ({"lon": 1.0 + 2 * DEGREES}, False),
        ({"lat": None}, False),
        ({"lon": None}, False),
    ],
)
def test_height_tiles_area_and_middle_are_those_of_the_name(change: dict[str, Any], true: bool) -> None:
    assert _true_facts(BOX, **{**TRUE, **change}) is true


RING = [(0, 0), (2, 0), (2, 1), (0, 1), (0, 0)]


@pytest.mark.parametrize(
    ("shape", "true"),
    [
        (shapely.Polygon(RING), True),
        (shapely.Polygon(RING[::-1]), False),
        (shapely.Polygon([*RING[:2], (2, 1 + 2 * DEGREES), *RING[3:]]), False),
        (shapely.Polygon(RING, [[(0.1, 0.1), (0.2, 0.1), (0.2, 0.2)]]), False),
        (shapely.LineString(RING), False),
        (shapely.Polygon(), False),
    ],
)
def test_an_outline_goes_once_around_the_box(shape: Any, true: bool) -> None:
    assert _true_outline(BOX, shapely.to_wkb(shape)) is true


def test_without_an_outline_or_with_other_bytes_a_box_is_not_drawn() -> None:
    assert not _true_outline(BOX, None)
    assert not _true_outline(BOX, b"no outline")


@pytest.mark.parametrize(
    ("told", "areas", "true"),
    [
        (2.0, [1.0, 3.0], True),
        (2.01, [1.0, 3.0], True),
        (2.02, [1.0, 3.0], False),
        (2.001, [1.0, 3.0], False),
        (2.0, [2.0, 50.0, 2.0], True),
        (18.0, [2.0, 50.0, 2.0], False),
        (None, [1.0, 3.0], False),
        (None, [math.nan, 1.0], True),
        (2.0, [math.nan, 1.0], False),
        (None, [], True),
        (2.0, [], False),
    ],
)
def test_the_area_of_a_tile_is_told_to_three_digits_where_tiles_have_one(
    told: float | None, areas: list[float], true: bool
) -> None:
    with duckdb.connect() as con:
        con.execute("create table audit_centres (axis varchar, km2 double)")
        con.execute("insert into audit_centres values ('destination', 100)")
        for area in areas:
            con.execute("insert into audit_centres values ('origin', ?)", [area])
        case: Any = SimpleNamespace(promise=SimpleNamespace(tile_km2={"origin": told}))
        case.value = lambda query: con.execute(query).fetchone()[0]
        assert _true_tile(case, "origin") is true
