"""Boxes held against the centres of tiles, each at its edge, on a few rows in memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import shapely

from tripcloak.flows.audit import centres
from tripcloak.flows.audit.box_grid import right_step
from tripcloak.flows.audit.boxes import DEGREES, MICRO, Box, area_km2, read_box
from worlds.made_evidence import made

CENTRES = (
    "axis varchar, tile varchar, lat bigint, lon bigint, km2 double, "
    "south bigint, west bigint, north bigint, east bigint, longer double"
)
ZONES = (
    "axis varchar, zone varchar, height int, tiles int, area_km2 double, lat double, lon double, "
    "geometry blob"
)
BOX = "box_0.000000_0.000000_1.000000_2.000000"
"""South, west, north, east."""


def tile(
    axis: str, name: str, lat: int, lon: int, km2: float = 2.0, reach: int = 10, longer: float = 0.002
) -> Any:
    """Return a tile around a centre, in millionths of a degree."""
    return axis, name, lat, lon, km2, lat - reach, lon - reach, lat + reach, lon + reach, longer


TILES = [
    tile("origin", "a", 500_000, 500_000),
    tile("origin", "b", 0, 0),
    tile("origin", "c", 1_000_001, 5),
    tile("destination", "a", 3_000_000, 0, 7.0),
]


def case_of(*zones: Any, tiles: Any = TILES, grid: bool = False, **told: Any) -> Any:
    case = made()
    areas: dict[str, Any] = {"origin": 2.0, "destination": 7.0}
    plain: dict[str, Any] = {"spec": "table:county", "grid": grid, "tile_km2": areas}
    case.promise = SimpleNamespace(**{**plain, **told})
    case.table("audit_centres", CENTRES, tiles)
    steps = {axis: centres._step(case, axis) / MICRO for axis in ("origin", "destination")}
    case.promise.box_grid = {**steps, **told.get("box_grid", {})}
    return case.table("audit_zones", ZONES, zones)


def listed(axis: str = "origin", zone: str = BOX, tiles: int = 2, **other: Any) -> Any:
    """Return a box as it should be listed, but for what is told."""
    box = read_box(BOX)
    assert box is not None
    lat, lon = box.middle
    outline = shapely.to_wkb(shapely.Polygon([(0, 0), (2, 0), (2, 1), (0, 1)]))
    facts = {
        "height": 0,
        "tiles": tiles,
        "area_km2": area_km2(box),
        "lat": lat,
        "lon": lon,
        "geometry": outline,
    }
    return axis, zone, *{**facts, **other}.values()


def test_the_grid_follows_from_the_longest_tile_of_the_axis() -> None:
    more = tile("origin", "d", 0, 0, longer=0.004), tile("destination", "d", 0, 0, longer=0.5)
    case = case_of(tiles=[*TILES, *more], spec="quadtree:9")
    assert centres._step(case, "origin") == right_step("quadtree:9", 0.004) == 20_000
    assert centres._step(case, "destination") == right_step("quadtree:9", 0.5)
    assert centres._step(case_of(tiles=TILES[3:], spec="quadtree:9"), "origin") == 10


def test_the_area_of_a_tile_is_the_median_of_its_axis() -> None:
    case = case_of()
    assert centres._true_tile(case, "origin")
    assert centres._true_tile(case, "destination")
    case.promise.tile_km2 = {"origin": 7.0, "destination": None}
    assert not centres._true_tile(case, "origin")
    assert not centres._true_tile(case, "destination")
    assert centres._true_tile(case_of(tiles=TILES[:1], tile_km2={"destination": None}), "destination")


def test_a_box_holds_the_tiles_whose_centres_lie_in_it_or_on_its_edge() -> None:
    far = "box_5.000000_5.000000_6.000000_6.000000"
    case = case_of(listed(), listed(zone=far), listed("destination"), listed(zone="no box"))
    assert centres._held(case, "origin") == {BOX: 2, far: 0}
    assert centres._held(case, "destination") == {BOX: 0}


def test_a_tile_lies_in_a_box_where_all_of_it_does() -> None:
    case = case_of()
    edge = [tile("origin", name, lat, lon) for name, lat, lon in (("n", 999_990, 50), ("o", 999_991, 50))]
    case.table("audit_centres", CENTRES, [*TILES, *edge])
    pairs = [("a", BOX), ("b", BOX), ("c", BOX), ("n", BOX), ("o", BOX), ("a", "no box"), ("x", BOX)]
    case.table("pairs", "tile varchar, zone varchar", pairs)
    assert centres.pairs_in_boxes(case, "origin", "select tile, zone from pairs") == (7, 2)
    assert centres.pairs_in_boxes(case, "destination", "select tile, zone from pairs") == (7, 0)
    assert case.loaded == ["centres", "centres"]


@pytest.mark.parametrize(
    ("other", "right"),
    [
        ({}, True),
        ({"tiles": 3}, False),
        ({"height": 1}, False),
        ({"area_km2": 1.0}, False),
        ({"lat": 0.6}, False),
        ({"geometry": None}, False),
        ({"zone": "no box"}, False),
    ],
)
def test_all_that_is_said_of_a_box_is_right(other: dict[str, Any], right: bool) -> None:
    case = case_of(listed(**other), listed("destination", tiles=9))
    assert list(centres._rows(case, "origin")) == [right]


def test_tiles_of_a_grid_are_reckoned_by_their_area_where_it_is_known() -> None:
    box = read_box(BOX)
    assert box is not None
    fits = round(area_km2(box) / 2.0)
    assert list(centres._rows(case_of(listed(tiles=fits), grid=True), "origin")) == [True]
    assert list(centres._rows(case_of(listed(tiles=2), grid=True), "origin")) == [False]
    unknown = {"origin": None, "destination": None}
    assert list(centres._rows(case_of(listed(tiles=2), grid=True, tile_km2=unknown), "origin")) == [True]
    assert list(centres._rows(case_of(listed(tiles=fits)), "origin")) == [False]


def test_what_is_wrong_with_boxes_is_said_in_order() -> None:
    def wrong(*zones: Any, **told: Any) -> str:
        return str(centres.wrong_boxes(case_of(*zones, grid=True, spec="quadtree:9", **told)))

    box = read_box(BOX)
    assert box is not None
    fits = {axis: round(area_km2(box) / km2) for axis, km2 in (("origin", 2.0), ("destination", 7.0))}
    good = [listed(axis, tiles=tiles) for axis, tiles in fits.items()]
    assert wrong(*good) == "None"
    for axis in ("origin", "destination"):
        areas = {"origin": 2.0, "destination": 7.0, axis: 3.0}
        assert f"area of a tile is not that of the {axis} tiles" in wrong(*good, tile_km2=areas)
        assert f"the one that follows from the {axis} tiles" in wrong(*good, box_grid={axis: 9.0})
        assert "fewer than 10 zones a wrong size" in wrong(*good, listed(axis, tiles=fits[axis] + 1))
        off = listed(axis, zone="box_0.000000_0.000000_1.000000_2.000001")
        assert "fewer than 10 boxes have an edge off" in wrong(*good, off)
    bare = case_of()
    bare.table("audit_zones", ZONES.partition(", geometry")[0], [])
    assert centres.wrong_boxes(bare) == "release/zones.parquet lacks the column 'geometry'"


@pytest.mark.parametrize(("off", "right"), [(0.0, True), (DEGREES, True), (1.5 * DEGREES, False)])
def test_a_point_is_the_middle_up_to_a_hair(off: float, right: bool) -> None:
    box = Box(-MICRO, -MICRO, MICRO, MICRO)
    assert centres._true_facts(box, None, 3, 0, 3, area_km2(box), off, 0.0) is right
    assert centres._true_facts(box, None, 3, 0, 3, area_km2(box), 0.0, -off) is right
