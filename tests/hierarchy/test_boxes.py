"""Boxes: what they hold, how they are named and drawn, and how many tiles are said to fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import shape

from oracles import hierarchy as oracle
from oracles.flows.kernels import Tree, tiles
from tripcloak.ground.errors import HierarchyError, InputError
from tripcloak.hierarchy import (
    BoxZones,
    Centres,
    Corners,
    H3Tiling,
    Hierarchy,
    QuadtreeTiling,
    bounding_boxes,
    box_zones,
    distinct_boxes,
    grid_step,
    on_grid,
    read_box_names,
    tile_centres,
    tile_extents,
)
from tripcloak.hierarchy._kernels import count_before
from tripcloak.hierarchy.boxes import box_names, count_in_boxes
from worlds.matrices import Places, diced_places, diced_tree, hierarchy_of, seeds

SMALL = st.integers(-6, 6)
BOX = st.tuples(SMALL, SMALL, st.integers(0, 6), st.integers(0, 6)).map(
    lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3])
)
ANYWHERE = st.tuples(
    *(
        st.lists(st.integers(-reach * 10**6, reach * 10**6), min_size=2, max_size=2).map(sorted)
        for reach in (90, 180)
    )
).map(lambda sides: (sides[0][0], sides[1][0], sides[0][1], sides[1][1]))


def corners_of(boxes: Sequence[tuple[int, int, int, int]]) -> Corners:
    return Corners(*np.array(boxes, dtype=np.int64).reshape(-1, 4).T)


def around(tree: Hierarchy, tile: Any, box: Any, n: int) -> Corners:
    """Return the smallest boxes around tiles, off any grid."""
    return bounding_boxes(tile_extents(tree), np.asarray(tile), np.asarray(box), n)


def inside(box: tuple[int, ...], place: tuple[int, int]) -> bool:
    south, west, north, east = box
    return south <= place[0] <= north and west <= place[1] <= east


@given(places=st.lists(st.tuples(SMALL, SMALL, st.booleans())), boxes=st.lists(BOX))
def test_a_box_counts_the_centres_in_it_edges_included(
    places: list[tuple[int, int, bool]], boxes: list[tuple[int, int, int, int]]
) -> None:
    lat, lon, among = np.array(places, dtype=np.int64).reshape(-1, 3).T
    found = count_in_boxes(Centres(lat, lon), among.astype(bool), corners_of(boxes))
    assert found.tolist() == [
        sum(inside(box, (y, x)) for y, x, counted in places if counted) for box in boxes
    ]


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@given(
    rank=st.lists(st.integers(0, 9), max_size=10),
    questions=st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(0, 10))),
)
def test_count_before_counts_one_by_one(
    compiled: bool, rank: list[int], questions: list[tuple[int, int, int]]
) -> None:
    n = len(rank)
    asked = sorted((min(upto, n), *sorted((min(low, n), min(high, n)))) for upto, low, high in questions)
    upto, low, high = np.array(asked, dtype=np.int64).reshape(-1, 3).T.copy()
    # Ranks are places among n values, as sorting gives them.
    ranks = [min(value, n - 1) for value in rank]
    count = count_before if compiled else count_before.py_func
    found = count(np.array(ranks, dtype=np.int64), upto, low, high)
    assert found.tolist() == oracle.count_before(ranks, asked)


@given(rows=st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 2)), min_size=1))
def test_bounding_boxes_are_the_smallest(rows: list[tuple[int, int]]) -> None:
    extents = np.array([[3, -5, 8, 0, 3], [-7, 2, 2, 9, 0], [4, -4, 9, 0, 30], [-6, 2, 12, 9, 0]])
    tile, box = np.array(rows).T
    found = bounding_boxes(Corners(*extents), tile, box, 3)
    for number in range(3):
        own = [extents[:, t].tolist() for t, b in rows if b == number]
        if own:
            south, west, north, east = zip(*own, strict=True)
            assert [side[number] for side in found] == [min(south), min(west), max(north), max(east)]


@given(boxes=st.lists(BOX))
def test_distinct_boxes_ascend_and_each_box_finds_itself(boxes: list[tuple[int, int, int, int]]) -> None:
    corners, row = distinct_boxes(corners_of(boxes))
    unique = list(zip(*(side.tolist() for side in corners), strict=True))
    assert unique == sorted(set(boxes))
    assert [unique[place] for place in row] == boxes


@given(boxes=st.lists(ANYWHERE))
def test_names_tell_the_corners_exactly(boxes: list[tuple[int, int, int, int]]) -> None:
    names = box_names(corners_of(boxes))
    assert list(zip(*(side.tolist() for side in read_box_names(names)), strict=True)) == boxes
    for name, box in zip(names.tolist(), boxes, strict=True):
        told = [float(side) for side in name.removeprefix("box_").split("_")]
        assert told == [side / 10**6 for side in box]
        assert "-0.000000" not in name


@pytest.mark.parametrize(
    "name",
    [
        "8928308280fffff",
        "box_1.000000_2.000000_3.000000",
        "box_1.000000_2.000000_3.000000_4.000000_5.000000",
        "box_a.000000_2.000000_3.000000_4.000000",
        "box_nan_2.000000_3.000000_4.000000",
        "box_1.000000_2.000000_3.000000_inf",
        "box_1_2_3_4",
        "box_-0.000000_2.000000_3.000000_4.000000",
        "box_1.0000001_2.000000_3.000000_4.000000",
        "box_3.000000_2.000000_1.000000_4.000000",
        "box_1.000000_4.000000_3.000000_2.000000",
        "box_1.000000_2.000000_91.000000_4.000000",
        "box_1.000000_2.000000_3.000000_180.000001",
        "Box_1.000000_2.000000_3.000000_4.000000",
        "",
    ],
)
def test_odd_names_are_refused_and_not_quoted(name: str) -> None:
    good = "box_1.000000_2.000000_3.000000_4.000000"
    assert [int(side[0]) for side in read_box_names(np.array([good]))] == [
        10**6,
        2 * 10**6,
        3 * 10**6,
        4 * 10**6,
    ]
    with pytest.raises(HierarchyError, match="box_south_west_north_east") as refusal:
        read_box_names(np.array([good, name]))
    assert not name or name not in str(refusal.value)


@given(dice=seeds, n=st.integers(1, 14), complete=st.booleans())
def test_zones_hold_tile_by_tile_what_they_say(dice: Random, n: int, complete: bool) -> None:
    plain = diced_tree(dice, n)
    places = diced_places(dice, plain)
    tree, occurs = placed(plain, places, complete), [dice.random() < 0.5 for _ in tiles(plain)]
    millionths = [
        (round(lat * 1e6), round(lon * 1e6)) for lat, lon in (places[tile] for tile in tiles(plain))
    ]
    picked = [dice.sample(range(len(millionths)), dice.randint(1, len(millionths))) for _ in range(5)]
    rows = [(tile, box) for box, members in enumerate(picked) for tile in members]
    tile, box = np.array(rows).T
    zones = box_zones(tree, np.array(occurs), around(tree, tile, box, 5))
    assert (len(zones), zones.height.tolist(), zones.tile_km2) == (5, [0] * 5, 0.01)
    for row in range(5):
        corners = tuple(int(side[row]) for side in zones.corners)
        held = [number for number, place in enumerate(millionths) if inside(corners, place)]
        assert set(picked[row]) <= set(held)
        assert zones.tiles_observed[row] == sum(occurs[number] for number in held)
        expected = len(held) if complete else max(1, round(float(zones.area_km2[row]) / 0.01))
        assert zones.tiles[row] == expected
        assert (zones.lat[row], zones.lon[row]) == pytest.approx(
            ((corners[0] + corners[2]) / 2e6, (corners[1] + corners[3]) / 2e6), abs=1e-12
        )
    assert read_box_names(zones.ids).south.tolist() == zones.corners.south.tolist()


def placed(plain: Tree, places: Places, complete: bool = False) -> Hierarchy:
    return replace(hierarchy_of(plain, places=places), complete=complete)


@given(box=ANYWHERE)
def test_a_box_is_drawn_as_it_is_named(box: tuple[int, int, int, int]) -> None:
    tree = placed({"all": None, "a": "all"}, {"a": (48.85, 2.35)})
    zones = box_zones(tree, np.ones(1, dtype=bool), corners_of([box]), 0.0151)
    outline = shape(zones.outline(0))
    south, west, north, east = (side / 10**6 for side in box)
    assert outline.bounds == (west, south, east, north)
    ring = math.radians(east - west) * (math.sin(math.radians(north)) - math.sin(math.radians(south)))
    assert zones.area_km2[0] == pytest.approx(6371.0072**2 * ring, rel=1e-9, abs=1e-9)
    assert zones.tiles[0] == max(1, round(float(zones.area_km2[0]) / 0.0151))


@pytest.mark.parametrize(
    "tiling", [H3Tiling(8), QuadtreeTiling(9, (-23.5, -44.0, -22.5, -43.0))], ids=["h3", "quadtree"]
)
def test_the_box_of_one_tile_of_a_grid_holds_many(tiling: Any) -> None:
    keys = tiling.encode(np.array([-22.9, -22.91, -23.1]), np.array([-43.2, -43.21, -43.4]))
    tree = tiling.hierarchy(np.unique(keys))
    n = tree.n_tiles
    corners = on_grid(tree, around(tree, range(n), range(n), n))
    zones = box_zones(tree, np.ones(n, dtype=bool), corners)
    assert (zones.tiles >= 9).all()
    # Three digits tell the grid apart, not the city.
    assert zones.tile_km2 == float(f"{zones.tile_km2:.3g}")
    assert zones.step == grid_step(tree)


@pytest.mark.parametrize("here", [(48.7, 18.3), (-22.9, -43.2)])
def test_one_trip_to_far_away_does_not_show_in_the_area_of_a_tile(here: tuple[float, float]) -> None:
    tiling, steps = H3Tiling(8), np.linspace(0, 0.2, 20)
    lat, lon = (
        np.add(degrees, side.ravel()) for degrees, side in zip(here, np.meshgrid(steps, steps), strict=True)
    )
    areas = []
    for far in ((), (-33.9,), (75.0,)):
        keys = tiling.encode(np.append(lat, far), np.append(lon, [151.2] * len(far)))
        tree = tiling.hierarchy(np.unique(keys))
        first = around(tree, np.arange(1), np.zeros(1, dtype=int), 1)
        areas.append(box_zones(tree, np.ones(tree.n_tiles, dtype=bool), first).tile_km2)
    assert len(set(areas)) == 1


def test_tiles_without_an_area_are_counted_and_drawn_as_they_lie() -> None:
    lat, lon = np.array([1.0, 1.0, 1.5, 1.0]), np.array([2.0, 3.0, 2.0, 2.5])
    tree = Hierarchy.from_parents(["a", "b", "c", "all"], [3, 3, 3, -1], lat=lat, lon=lon)
    corners = around(tree, np.arange(3), np.array([0, 0, 1]), 2)
    zones = box_zones(tree, np.ones(3, dtype=bool), corners)
    assert math.isnan(zones.tile_km2)
    assert zones.tiles.tolist() == [2, 1]
    assert shape(zones.outline(0)).bounds == (2.0, 1.0, 3.0, 1.0)


def test_without_coordinates_there_are_no_boxes() -> None:
    tree = Hierarchy.from_parents(
        ["a", "b", "all"], [2, 2, -1], lat=np.array([1.0, np.nan, 1.0]), lon=np.zeros(3)
    )
    with pytest.raises(InputError, match="boxes need coordinates"):
        tile_centres(tree)


def test_boxes_are_zones_of_their_own_kind() -> None:
    tree = placed({"a": None}, {"a": (1.0, 2.0)})
    zones = box_zones(tree, np.ones(1, dtype=bool), Corners(*(np.array([side]) for side in (0, 0, 1, 1))))
    assert isinstance(zones, BoxZones)
    assert zones.tiles_observed.tolist() == [0]
