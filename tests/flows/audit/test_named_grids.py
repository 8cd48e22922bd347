"""Zones known by name, bands of the withheld volume, and areas: at their edges, without a release."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import h3
import numpy as np
import pytest
import shapely

from tripcloak.flows.audit import cells, withheld
from tripcloak.flows.audit.areas import _joined, overlapping, quarter, same_area
from tripcloak.flows.audit.grids import H3Grid, Quadtree, grid_of
from tripcloak.ground.rulebook import BrokenPart

TILE = "8a1fb46622dffff"
PARENT = "891fb46622fffff"
UNION = f"{PARENT}/0236"
BASE, ELSEWHERE = h3.cell_to_parent(TILE, 0), h3.latlng_to_cell(0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("spec", "grid"),
    [
        ("h3:0", H3Grid(0)),
        ("h3:15", H3Grid(15)),
        ("h3:16", None),
        ("h3:9/binary", H3Grid(9, True)),
        ("h3:9/root=5/binary", H3Grid(9, True)),
        ("h3:9/root=5/binary/binary", None),
        ("h3:9/root=851fb467fffffff", H3Grid(9)),
        ("h3:9/", None),
        ("quadtree:12", Quadtree(12)),
        ("quadtree:", None),
        ("file:h3:9", None),
    ],
)
def test_a_text_names_a_grid(spec: str, grid: Any) -> None:
    assert grid_of(spec) == grid


def test_a_zone_holds_its_tiles_and_no_others() -> None:
    assert cells.contains(TILE, TILE, 10)
    assert cells.contains(cells.WORLD, TILE, 10)
    assert not cells.contains(TILE, PARENT, 10)
    assert not cells.contains(TILE, PARENT, 9)
    assert not cells.contains("x", TILE, 10)
    assert not cells.contains(PARENT, "x", 10)
    assert cells.contains(UNION, TILE, 10, unions=True)
    assert not cells.contains(UNION, TILE, 10)


def test_how_high_a_zone_stands() -> None:
    assert cells.height_and_tiles(TILE, 10) == (0, 1)
    assert cells.height_and_tiles(TILE, 9) is None
    assert cells.height_and_tiles("x", 10) is None
    assert cells.height_and_tiles("world", 2) == (3, h3.get_num_cells(2))
    assert cells.height_and_tiles("world", 2, unions=True) == (7, h3.get_num_cells(2))
    assert cells.height_and_tiles(BASE, 2) == (2, h3.cell_to_children_size(BASE, 2))
    assert cells.height_and_tiles(PARENT, 11, unions=True) == (6, 49)
    assert cells.height_and_tiles(UNION, 10, unions=True) == (2, 4)


def test_where_a_zone_lies() -> None:
    assert cells.centre("world") is None
    assert cells.centre(PARENT) == pytest.approx(h3.cell_to_latlng(PARENT))
    parts = cells.members(UNION, unions=True)
    middle = cells.centre(UNION, unions=True)
    assert middle is not None
    # So small a zone is flat: its centre is the mean of its parts, by area.
    weights = np.array([h3.cell_area(part) for part in parts])
    flat = (np.array([h3.cell_to_latlng(part) for part in parts]) * weights[:, None]).sum(
        axis=0
    ) / weights.sum()
    assert middle == pytest.approx(tuple(flat), abs=1e-7)
    far = cells.centre("8001fffffffffff/0236", unions=True)
    assert far is not None
    assert h3.latlng_to_cell(*far, 0) == "8001fffffffffff"


def test_how_far_a_cell_reaches() -> None:
    lats, lons = zip(*h3.cell_to_boundary(PARENT), strict=True)
    south, west, north, east = cells.extent(PARENT)
    assert (south, west, north, east) == (min(lats), min(lons), max(lats), max(lons))
    inwards = cells.millionths(PARENT)
    assert all(
        inside >= side * 1e6 > inside - 1 for inside, side in zip(inwards[:2], (south, west), strict=True)
    )
    assert all(
        inside <= side * 1e6 < inside + 1 for inside, side in zip(inwards[2:], (north, east), strict=True)
    )


@pytest.mark.parametrize(
    ("cell", "resolution", "number"),
    [
        (PARENT, 9, 1),
        (PARENT, 8, 1),
        (PARENT, 10, 7),
        (PARENT, 11, 49),
        ("world", -1, 1),
        ("world", 1, 842),
        ("x", 9, 0),
    ],
)
def test_how_many_cells_lie_inside(cell: str, resolution: int, number: int) -> None:
    assert cells.number_inside(cell, resolution) == number


def test_zones_inside_one_another_are_counted() -> None:
    grid, other = H3Grid(10, unions=True), f"{PARENT}/145"
    assert grid.nested([UNION, other]) == 0
    assert grid.nested([UNION, TILE]) == 2
    assert grid.nested([UNION, PARENT]) == 1
    assert grid.nested([UNION, f"{PARENT}/06"]) == 2
    assert grid.nested(["world", TILE]) == 1
    assert grid.nested([h3.cell_to_parent(PARENT, 0), TILE]) == 1
    assert Quadtree(4).nested(["q", "q0", "q01", "q1"]) == 3
    assert Quadtree(4).nested(["q0", "q1"]) == 0


def test_a_zone_lies_in_an_area() -> None:
    grid = H3Grid(10)
    assert grid.inside(TILE, PARENT)
    assert grid.inside(PARENT, PARENT)
    assert grid.inside(PARENT, "world")
    assert grid.inside("world", "world")
    assert not grid.inside(PARENT, TILE)
    assert not grid.inside("world", PARENT)
    assert not grid.inside("x", PARENT)
    assert not grid.inside(PARENT, "x")
    assert not grid.inside(TILE, h3.latlng_to_cell(0.0, 0.0, 9))
    assert (grid.inside(TILE, BASE), grid.inside(TILE, ELSEWHERE)) == (True, False)
    tree = Quadtree(2)
    assert tree.inside("q01", "q0")
    assert not tree.inside("q011", "q0")
    assert not tree.inside("q01", "p")
    assert (tree.contains("q0", "q01"), tree.contains("q0", "q0"), tree.contains("q1", "q01")) == (
        True,
        False,
        False,
    )
    assert (tree.height_and_tiles("q"), tree.height_and_tiles("q01"), tree.height_and_tiles("q012")) == (
        *((2, 16), (0, 1), None),
    )
    assert (tree.number("q", 0), tree.number("q", 1), tree.number("q", 2), tree.number("q", 3)) == (
        16,
        4,
        1,
        1,
    )
    assert (tree.number("x", 1), H3Grid(10).number(PARENT, 0), H3Grid(10).number(PARENT, 1)) == (0, 7, 1)


@pytest.mark.parametrize(
    ("entry", "band"),
    [
        ({"at_least": 0, "at_most": 9, "words": ""}, (0, 9)),
        ({"at_least": None, "at_most": None, "words": ""}, None),
        ({"at_least": None, "at_most": 9, "words": ""}, BrokenPart),
        ({"at_least": 0, "at_most": None, "words": ""}, BrokenPart),
        ({"at_least": -1, "at_most": 9, "words": ""}, BrokenPart),
        ({"at_least": 0, "at_most": 9.0, "words": ""}, BrokenPart),
        ({"at_least": 0, "at_most": 9, "words": None}, BrokenPart),
        ({"at_least": 0, "at_most": 9}, BrokenPart),
        ({"at_least": 0, "at_most": 9, "words": "", "more": 1}, BrokenPart),
        (None, BrokenPart),
    ],
)
def test_a_band_is_told_by_both_ends(entry: Any, band: Any) -> None:
    if band is BrokenPart:
        with pytest.raises(BrokenPart):
            withheld.told_band({"withheld": entry})
    else:
        assert withheld.told_band({"withheld": entry}) == band


@pytest.mark.parametrize(
    ("released", "limit", "volume", "most"),
    [
        *((90, 0.1, "trips", 10), (89, 0.1, "trips", 9), (99, 0.1, "trips", 11), (90, 0.1, "population", 11)),
        *((90, 0.0, "trips", 0), (0, 0.1, "trips", 0), (90, 0.5, "trips", 90), (10, 0.999, "trips", 9990)),
    ],
)
def test_the_most_that_a_limit_allows(released: int, limit: float, volume: str, most: int) -> None:
    assert withheld._most(released, limit, volume) == most


def band_case(*, flows: int = 1, zones: int = 4, **other: Any) -> Any:
    told = {
        "volume": "trips",
        "thresholds": {"trips": 3.0},
        "limit": 0.3,
        "known_items": None,
        "homogeneous": True,
        "axes": ("origin", "destination"),
        **other,
    }
    rows = [(flows, zones, zones)]
    return SimpleNamespace(
        promise=SimpleNamespace(**told), facts={"released": 900}, rows=lambda _: iter(rows)
    )


@pytest.mark.parametrize(
    ("case", "others"),
    [
        (band_case(), 14),
        (band_case(flows=15), 0),
        (band_case(flows=16), 0),
        (band_case(known_items=1), 0),
        (band_case(homogeneous=False), 0),
    ],
)
def test_how_many_absent_pairs_there_are_beside_one(case: Any, others: int) -> None:
    assert withheld._others(case) == others


def test_bands_end_at_shares_that_each_absent_pair_alone_may_hold() -> None:
    """Of 900 released trips one percent is 9 withheld ones, two are 18, five 47, ten 100, twenty 225."""
    wide = band_case(zones=100)
    last = (385, 30.0)
    ends = [(9, 1.0), (18, 2.0), (47, 5.0), (100, 10.0), (225, 20.0), last]
    assert withheld._steps(wide) == ends
    # 9 may be passed where 5 others hold 2 each, and not where 4 do.
    assert withheld._steps(band_case(flows=10)) == [ends[0], last]
    assert withheld._steps(band_case(flows=11)) == [last]
    assert withheld._steps(band_case(zones=100, thresholds={"trips": 10.0})) == ends
    assert withheld._steps(band_case(zones=100, thresholds={"trips": 11.0})) == ends[1:]
    assert withheld._steps(band_case(zones=100, thresholds={"trips": 3.0, "travellers": 11.0})) == ends[1:]
    assert withheld._steps(band_case(zones=100, thresholds={"trips": 3.0, "population": 500.0})) == ends
    fewest = band_case(flows=11, thresholds={"trips": 3.0, "travellers": 4.0})
    assert withheld._steps(fewest) == [last]
    assert withheld._steps(band_case(flows=12, thresholds={"trips": 4.0})) == [last]
    assert withheld._steps(band_case(zones=100, limit=0.1)) == [*ends[:3], (100, 10.0)]


@pytest.mark.parametrize(
    ("volume", "band"),
    [
        (0, (0, 9, ["0", "1"])),
        (9, (0, 9, ["0", "1"])),
        (10, (10, 18, ["1", "2"])),
        (225, (101, 225, ["10", "20"])),
        (226, (226, 385, ["20", "30"])),
        (999, (226, 385, ["20", "30"])),
    ],
)
def test_a_volume_is_told_in_the_band_around_it(volume: int, band: tuple[int, int, list[str]]) -> None:
    assert withheld.band_around(band_case(zones=100), volume) == band


def test_without_a_limit_nothing_is_said_of_it() -> None:
    assert withheld.band_around(band_case(limit=0.0), 0) == (0, 0, [])


@pytest.mark.parametrize(
    ("zone", "area", "bounds"),
    [
        ("q", (0.0, 0.0, 8.0, 4.0), (0, 0, 4, 8)),
        ("q0", (0.0, 0.0, 8.0, 4.0), (0, 0, 2, 4)),
        ("q1", (0.0, 0.0, 8.0, 4.0), (2, 0, 4, 4)),
        ("q2", (0.0, 0.0, 8.0, 4.0), (0, 4, 2, 8)),
        ("q31", (0.0, 0.0, 8.0, 4.0), (3, 4, 4, 6)),
        ("q", (-90.0, -180.0, 90.0, 180.0), (-180, -90, 180, 90)),
        ("q", (0.0, 170.0, 8.0, -170.0), (-180, 0, 180, 8)),
        ("q1", (0.0, 170.0, 8.0, -170.0), (-180, 0, -170, 4)),
        ("q0", (0.0, 170.0, 8.0, -170.0), (170, 0, 180, 4)),
        ("q", (0.0, 179.5, 8.0, -179.5), (-180, 0, 180, 8)),
        ("q", (0.0, 170.0, 8.0, 179.5), (170, 0, 179.5, 8)),
        ("q", (0.0, 180.0, 8.0, -170.0), (-180, 0, -170, 8)),
        ("q", (0.0, 170.0, 8.0, 180.0), (170, 0, 180, 8)),
        ("q", (0.0, -190.0, 8.0, -170.0), (-180, 0, 180, 8)),
    ],
)
def test_a_quarter_of_a_study_area(zone: str, area: Any, bounds: Any) -> None:
    shape, km2 = quarter(zone, area)
    assert shape.bounds == bounds
    # The area is that of the drawn shape, by a sum of thin stripes on the ellipsoid.
    wide = shape.area / (bounds[3] - bounds[1])
    e2 = (1 / 298.257223563) * (2 - 1 / 298.257223563)
    lats = np.radians(np.linspace(bounds[1], bounds[3], 20_001))
    middle = (lats[1:] + lats[:-1]) / 2
    stripe = 6378.137**2 * (1 - e2) * np.cos(middle) / (1 - e2 * np.sin(middle) ** 2) ** 2
    assert km2 == pytest.approx(math.radians(wide) * float((stripe * np.diff(lats)).sum()), rel=1e-6)


def test_areas_are_the_same_but_for_slivers() -> None:
    one = shapely.box(0, 0, 1, 1)
    assert same_area(one, shapely.box(0, 0, 1, 1 + 5e-10))
    assert not same_area(one, shapely.box(0, 0, 1, 1 + 5e-9))
    assert same_area(shapely.box(0, 0, 0.1, 0.1), shapely.box(0, 0, 0.1, 0.1 * (1 + 5e-10)))


def test_areas_overlap_by_more_than_a_sliver() -> None:
    one, thin = shapely.box(0, 0, 1, 1), shapely.box(0, 1 - 5e-10, 1, 2)
    assert overlapping([one, thin]) == 0
    assert overlapping([one, shapely.box(1, 0, 2, 1)]) == 0
    assert overlapping([one, shapely.box(0, 1 - 5e-9, 1, 2)]) == 2
    assert overlapping([one, shapely.box(0, 0.5, 1, 2), shapely.box(5, 5, 6, 6)]) == 2
    assert overlapping([one, shapely.box(0, 0.5, 1, 2), shapely.box(0.9, 0, 2, 0.1)]) == 3
    # What counts is the share of the smaller one.
    assert overlapping([shapely.box(0, 0, 100, 100), shapely.box(1, 100 - 5e-7, 2, 100 + 1)]) == 2


def test_outlines_that_there_are_are_joined_and_mended() -> None:
    bow = shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    shapes = np.array([shapely.box(0, 0, 1, 1), None, shapely.box(1, 0, 2, 1), bow], dtype=object)
    file: Any = SimpleNamespace(geometries=shapes, area_km2=np.array([1.0, 2.0, 4.0, 8.0]))
    found = _joined(file, np.array([0, 1, 2]))
    assert found is not None
    assert (found[0].bounds, found[1]) == ((0, 0, 2, 1), 7.0)
    mended = _joined(file, np.array([3]))
    assert mended is not None
    assert mended[0].is_valid
    assert mended[0].area == pytest.approx(0.5)
    assert _joined(file, np.array([1])) is None
    assert _joined(SimpleNamespace(geometries=None), np.array([1])) is None  # type: ignore[arg-type]
