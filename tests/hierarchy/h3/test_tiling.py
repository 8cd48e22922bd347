"""Hierarchies of H3 cells, from a single tile to the whole world."""

from __future__ import annotations

import pickle

import h3.api.basic_int as h3
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.soundness import area_of, assert_sound
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy import OUTSIDE, H3Tiling, Tiling, cells_to_text, text_to_cells
from tripcloak.hierarchy.geometry import EARTH_KM2


def tree_around(lat: float, lon: float, reach: float, tiling: H3Tiling, number: int = 40):
    rng = np.random.default_rng(0)
    lats = np.clip(lat + rng.normal(0, reach, number), -90, 90)
    lons = (lon + rng.normal(0, reach, number) + 180) % 360 - 180
    return tiling.hierarchy(np.unique(tiling.encode(lats, lons)))


def assert_counts_and_places_are_the_librarys(tree, resolution: int) -> None:
    for row, text in enumerate(tree.zones.ids.tolist()):
        if text == "world":
            continue
        cell = h3.str_to_int(text)
        assert tree.zones.tiles[row] == h3.cell_to_children_size(cell, resolution)
        assert (tree.zones.lat[row], tree.zones.lon[row]) == h3.cell_to_latlng(cell)
        assert tree.zones.area_km2[row] == h3.cell_area(cell)
        if tree.parent[row] != -1 and tree.zones.ids[tree.parent[row]] != "world":
            above = h3.str_to_int(str(tree.zones.ids[tree.parent[row]]))
            assert h3.cell_to_parent(cell, h3.get_resolution(cell) - 1) == above
        elif tree.parent[row] != -1:
            held = text_to_cells(tree.zones.ids[tree.members(row)]).tolist()
            finer = {h3.cell_to_parent(tile, h3.get_resolution(cell) + 1) for tile in held if tile != cell}
            assert len(finer) != 1


def test_a_city_hangs_below_the_finest_cell_that_covers_it() -> None:
    tree = tree_around(48.85, 2.35, 0.05, H3Tiling(9))
    assert_sound(tree, grid=True, stated_heights=True)
    assert_counts_and_places_are_the_librarys(tree, 9)
    assert tree.zones.ids[tree.root] == "world"
    top = h3.get_resolution(h3.str_to_int(str(tree.zones.ids[tree.root - 1])))
    tiles = text_to_cells(tree.zones.ids[: tree.n_tiles]).tolist()
    assert len({h3.cell_to_parent(cell, top) for cell in tiles}) == 1
    assert len({h3.cell_to_parent(cell, top + 1) for cell in tiles}) > 1
    assert tree.zones.tiles_observed[tree.root] == tree.n_tiles == len(tiles)
    assert not tree.complete


def test_a_coarser_root_is_taken_and_a_finer_one_refused() -> None:
    finest = tree_around(48.85, 2.35, 0.05, H3Tiling(9))
    top = h3.get_resolution(h3.str_to_int(str(finest.zones.ids[finest.root - 1])))
    coarse = tree_around(48.85, 2.35, 0.05, H3Tiling(9, root=top - 1))
    assert coarse.name == f"h3:9/root={top - 1}"
    assert coarse.zones.height[-1] == finest.zones.height[-2] + 1
    assert finest.zones.height[-1] == 10
    assert h3.get_resolution(h3.str_to_int(str(coarse.zones.ids[-1]))) == top - 1
    with pytest.raises(HierarchyError, match=f"they need root={top} or coarser"):
        tree_around(48.85, 2.35, 0.05, H3Tiling(9, root=top + 1))


def test_several_base_cells_are_joined_under_the_world() -> None:
    tiling = H3Tiling(5)
    keys = np.unique(tiling.encode(np.array([48.85, 40.7, -33.9]), np.array([2.35, -74.0, 151.2])))
    tree = tiling.hierarchy(keys)
    assert_sound(tree, grid=True, stated_heights=True)
    assert_counts_and_places_are_the_librarys(tree, 5)
    world = tree.root
    # Alone in their base cells, the tiles stand right below.
    assert tree.parent.tolist() == [3, 3, 3, -1]
    assert tree.zones.ids[world] == "world"
    assert tree.zones.tiles[world] == h3.get_num_cells(5)
    assert tree.zones.area_km2[world] == EARTH_KM2
    assert area_of(tree.zones.outline(world)).bounds == (-180, -90, 180, 90)
    with pytest.raises(HierarchyError, match="several base cells"):
        H3Tiling(5, root=0).hierarchy(keys)


def test_a_place_abroad_changes_nothing_below_the_world_elsewhere() -> None:
    tiling = H3Tiling(9)
    rng = np.random.default_rng(0)
    city = 48.85 + rng.normal(0, 0.05, 40), 2.35 + rng.normal(0, 0.05, 40)
    trees = [
        tiling.hierarchy(np.unique(tiling.encode(np.append(city[0], lat), np.append(city[1], lon))))
        for lat, lon in (([], []), ([-33.9], [151.2]))
    ]
    above = [
        dict(zip(tree.zones.ids.tolist(), tree.zones.ids[tree.parent].tolist(), strict=True))
        for tree in trees
    ]
    abroad = cells_to_text(tiling.encode(np.array([-33.9]), np.array([151.2])))[0]
    assert above[1] == {**above[0], abroad: "world"}
    assert [tree.zones.height[-1] for tree in trees] == [10, 10]


def test_data_on_both_sides_of_the_antimeridian() -> None:
    tree = tree_around(-17.0, 180.0, 0.8, H3Tiling(7))
    assert_sound(tree, grid=True, stated_heights=True)
    assert tree.zones.lon[: tree.n_tiles].min() < -179 < 179 < tree.zones.lon[: tree.n_tiles].max()
    crossing = 0
    for row in range(len(tree)):
        outline = tree.zones.outline(row)
        shape = area_of(outline)
        crossing += outline["type"] == "MultiPolygon"
        degrees = tree.zones.area_km2[row] / 111.2**2 / np.cos(np.radians(tree.zones.lat[row]))
        if tree.zones.area_km2[row] < 1e5:
            assert shape.area == pytest.approx(degrees, rel=0.05)
    assert crossing > 0


@pytest.mark.parametrize("pole", [90.0, -90.0])
def test_cells_over_a_pole(pole: float) -> None:
    tiling = H3Tiling(4)
    tree = tiling.hierarchy(np.unique(tiling.encode(np.array([pole, pole * 0.98]), np.array([0.0, 50.0]))))
    assert_sound(tree, grid=True, stated_heights=True)
    for row in range(len(tree)):
        area_of(tree.zones.outline(row))
    tile = int(np.argmax(np.abs(tree.zones.lat[: tree.n_tiles])))
    south, north = area_of(tree.zones.outline(tile)).bounds[1::2]
    assert pole in (south, north)


def test_a_pentagon_counts_its_children_right() -> None:
    lat, lon = h3.cell_to_latlng(h3.get_pentagons(2)[3])
    tree = tree_around(lat, lon, 0.5, H3Tiling(6))
    assert_sound(tree, grid=True, stated_heights=True)
    assert_counts_and_places_are_the_librarys(tree, 6)
    cells = [h3.str_to_int(text) for text in tree.zones.ids.tolist() if text != "world"]
    assert sum(h3.is_pentagon(cell) for cell in cells) > 3


def test_a_single_tile_stands_right_below_the_world_unless_a_root_is_stated() -> None:
    key = H3Tiling(8).encode(np.array([52.5]), np.array([13.4]))
    alone = H3Tiling(8).hierarchy(key)
    assert_sound(alone, grid=True, stated_heights=True)
    assert alone.zones.height.tolist() == [0, 9]
    below = H3Tiling(8, root=4).hierarchy(key)
    assert_sound(below, grid=True)
    assert below.zones.tiles.tolist() == [1, 7, 49, 343, 2401]


def test_ids_and_keys_lead_to_rows() -> None:
    tiling = H3Tiling(7)
    tree = tree_around(48.85, 2.35, 0.2, tiling)
    ids = tree.zones.ids[: tree.n_tiles]
    finer = h3.cell_to_center_child(h3.str_to_int(str(ids[2])), 11)
    keys = tiling.keys([*ids[::-1].tolist(), h3.int_to_str(finer), str(tree.zones.ids[tree.root]), "nowhere"])
    rows = tiling.tiles(keys, tree)
    assert rows.tolist() == [*range(tree.n_tiles - 1, -1, -1), 2, -1, -1]
    assert (keys[-2:] == OUTSIDE).all()
    elsewhere = tiling.encode(np.array([-33.9]), np.array([151.2]))
    assert tiling.tiles(elsewhere, tree).tolist() == [-1]


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 15),
    # Cells of a metre around the poles themselves have outlines that touch themselves.
    st.lists(st.tuples(st.floats(-89.9, 89.9), st.floats(-180, 180)), min_size=1, max_size=8),
)
def test_any_places_make_a_sound_tree(resolution: int, places: list[tuple[float, float]]) -> None:
    tiling = H3Tiling(resolution)
    lat, lon = np.array(places).T
    keys = tiling.encode(lat, lon)
    tree = tiling.hierarchy(np.unique(keys))
    assert_sound(tree, grid=True, stated_heights=True)
    assert tree.zones.ids[tree.root] == "world"
    assert tree.zones.height[tree.root] == resolution + 1
    assert_counts_and_places_are_the_librarys(tree, resolution)
    rows = tiling.tiles(keys, tree)
    assert tree.zones.ids[rows].tolist() == cells_to_text(keys).tolist()
    # Outlines of zones far above their tiles have thousands of corners.
    for row in np.flatnonzero(tree.zones.tiles <= 7**4):
        area_of(tree.zones.outline(row))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ([], "at least one tile"),
        ([0x872A1072BFFFFFF, 0x872A1072BFFFFFF], "sorted and differ"),
        ([0x872A1072BFFFFFF, int(OUTSIDE)], "outside the tiling"),
        ([0x862A1072FFFFFFF], "resolution 7"),
    ],
)
def test_keys_that_found_no_tree_are_refused(keys: list[int], words: str) -> None:
    with pytest.raises(HierarchyError, match=words):
        H3Tiling(7).hierarchy(np.array(keys, dtype=np.uint64))


@pytest.mark.parametrize(("resolution", "root"), [(-1, None), (16, None), (8, 9), (8, -1)])
def test_resolutions_off_the_grid_are_refused(resolution: int, root: int | None) -> None:
    with pytest.raises(HierarchyError, match="resolution"):
        H3Tiling(resolution, root)


def test_it_is_a_tiling_and_its_trees_travel_between_processes() -> None:
    assert isinstance(H3Tiling(9), Tiling)
    tree = tree_around(48.85, 2.35, 0.05, H3Tiling(9))
    copy = pickle.loads(pickle.dumps(tree))
    assert copy.zones.outline(0) == tree.zones.outline(0)


def test_nothing_lies_outside_a_root_that_is_named() -> None:
    tiling = H3Tiling(9, "851fb467fffffff")
    keys = tiling.encode(np.array([48.8584, -33.9]), np.array([2.2945, 151.2]))
    assert (keys == OUTSIDE).tolist() == [False, True]
    assert (tiling.keys(["891fb46741bffff", "89be0e35d2bffff", "x"]) == OUTSIDE).tolist() == [
        False,
        True,
        True,
    ]
    tree = tiling.hierarchy(keys[:1])
    assert str(tree.zones.ids[tree.root]) == "851fb467fffffff"
    with pytest.raises(HierarchyError, match="inside its root"):
        tiling.hierarchy(H3Tiling(9).encode(np.array([-33.9]), np.array([151.2])))
    for bad in ("851fb467ffffff0", "8a1fb46622dffff"):
        with pytest.raises(HierarchyError, match="must be an H3 cell"):
            H3Tiling(9, bad)
