"""Quadtrees against plain cutting in four."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Geod

from oracles.soundness import area_of, assert_sound
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy import OUTSIDE, QuadtreeTiling, Tiling, study_area
from tripcloak.hierarchy.geometry import EARTH_KM2, rectangle_km2

# Edges that binary fractions hold exactly, so that the plain way and the quick way meet no rounding.
AREA = (32.0, -8.0, 48.0, 24.0)


def plain_cell(lat: float, lon: float, depth: int, area: tuple[float, float, float, float]) -> str | None:
    """Return the cell of a point by cutting the area in four, again and again."""
    south, west, north, east = area
    if not (south <= lat <= north and west <= lon <= east):
        return None
    name = "q"
    for _ in range(depth):
        middle_lat, middle_lon = (south + north) / 2, (west + east) / 2
        upper, right = lat >= middle_lat, lon >= middle_lon
        south, north = (middle_lat, north) if upper else (south, middle_lat)
        west, east = (middle_lon, east) if right else (west, middle_lon)
        name += str(2 * upper + right)
    return name


@settings(deadline=None)
@given(
    st.integers(1, 26),
    st.lists(
        st.tuples(
            st.one_of(st.floats(30, 50), st.integers(30 * 64, 50 * 64).map(lambda n: n / 64)),
            st.one_of(st.floats(-10, 26), st.integers(-10 * 64, 26 * 64).map(lambda n: n / 64)),
        ),
        min_size=1,
        max_size=20,
    ),
)
def test_cells_are_those_of_plain_cutting(depth: int, places: list[tuple[float, float]]) -> None:
    tiling = QuadtreeTiling(depth, AREA)
    lat, lon = np.array(places).T
    # Closer to an edge than doubles can tell, either side is right.
    lat, lon = np.round(lat, 9), np.round(lon, 9)
    keys = tiling.encode(lat, lon)
    expected = [plain_cell(a, b, depth, AREA) for a, b in zip(lat, lon, strict=True)]
    assert [key == OUTSIDE for key in keys] == [name is None for name in expected]
    inside = keys[keys != OUTSIDE]
    if inside.size:
        tree = tiling.hierarchy(np.unique(inside))
        assert_sound(tree, grid=True)
        assert tree.zones.ids[tiling.tiles(inside, tree)].tolist() == [name for name in expected if name]
        np.testing.assert_array_equal(tree.zones.tiles, 4.0**tree.zones.height)
        assert tree.zones.ids[tree.root] == "q"
        for row, up in enumerate(tree.parent[:-1]):
            assert tree.zones.ids[row][:-1] == tree.zones.ids[up]


def test_all_cells_tile_the_area() -> None:
    tiling = QuadtreeTiling(3, AREA)
    tree = tiling.hierarchy(np.arange(64, dtype=np.uint64))
    assert_sound(tree)
    assert len(tree) == 64 + 16 + 4 + 1
    for height in range(4):
        level = np.flatnonzero(tree.zones.height == height)
        assert tree.zones.area_km2[level].sum() == pytest.approx(tree.zones.area_km2[tree.root])
        outlines = [area_of(tree.zones.outline(row)) for row in level]
        assert sum(shape.area for shape in outlines) == pytest.approx(16 * 32)
        centres = tiling.encode(tree.zones.lat[level], tree.zones.lon[level])
        assert len(np.unique(centres)) == len(level)
    points = [shape.centroid.coords[0] for shape in map(area_of, map(tree.zones.outline, range(64)))]
    np.testing.assert_allclose(points, np.column_stack([tree.zones.lon, tree.zones.lat])[:64])


def test_areas_are_those_of_the_ellipsoid() -> None:
    assert rectangle_km2(np.array(-90.0), np.array(90.0), np.array(360.0)) == pytest.approx(EARTH_KM2)
    geod = Geod(ellps="WGS84")
    for south in (-80.0, -1.0, 47.0):
        # A parallel is no geodesic; many short steps along it are.
        lon = np.concatenate([np.linspace(10, 11, 2001), np.linspace(11, 10, 2001)])
        lat = np.repeat([south, south + 0.5], 2001)
        exact = abs(geod.polygon_area_perimeter(lon, lat)[0]) / 1e6
        assert rectangle_km2(south, south + 0.5, 1.0) == pytest.approx(exact, rel=1e-6)


def test_a_study_area_across_the_antimeridian() -> None:
    tiling = QuadtreeTiling(2, (-20.0, 176.0, -16.0, -176.0))
    lon = np.array([176.0, 179.9, -179.9, -176.0, -175.0, 175.0])
    keys = tiling.encode(np.full(6, -17.0), lon)
    assert (keys == OUTSIDE).tolist() == [False, False, False, False, True, True]
    tree = tiling.hierarchy(np.unique(keys[:4]))
    assert_sound(tree, grid=True)
    assert tree.zones.ids[tiling.tiles(keys[:4], tree)].tolist() == ["q22", "q23", "q32", "q33"]
    assert tree.zones.outline(tree.root)["type"] == "MultiPolygon"
    for row in range(len(tree)):
        area_of(tree.zones.outline(row))
    assert abs(tree.zones.lon[tree.root]) == 180


def test_the_whole_world_is_an_area() -> None:
    tiling = QuadtreeTiling(4, (-90, -180, 90, 180))
    keys = tiling.encode(np.array([-90.0, 90.0, 0.0]), np.array([-180.0, 179.9, 0.0]))
    tree = tiling.hierarchy(np.unique(keys))
    assert tree.zones.area_km2[tree.root] == pytest.approx(EARTH_KM2)
    assert tree.zones.ids[tiling.tiles(keys, tree)].tolist() == ["q0000", "q3333", "q3000"]


@given(st.floats(-90, 90), st.floats(-180, 180), st.floats(0, 3), st.floats(0, 3))
def test_a_study_area_holds_its_extent_on_a_coarse_grid(
    lat: float, lon: float, tall: float, wide: float
) -> None:
    lat_max, lon_max = min(lat + tall, 90), min(lon + wide, 180)
    south, west, north, east = study_area(lat, lon, lat_max, lon_max)
    assert south <= lat <= lat_max <= north
    assert west <= lon <= lon_max <= east
    assert max(lat - south, north - lat_max, lon - west, east - lon_max) <= 0.05 + 1e-9
    assert all(float(edge * 20).is_integer() for edge in (south, west, north, east))
    QuadtreeTiling(1, (south, west, north, east))


def test_texts_that_name_no_cell_are_outside() -> None:
    tiling = QuadtreeTiling(2, AREA)
    assert isinstance(tiling, Tiling)
    keys = tiling.keys(["q13", "q1", "q134", "q14", "x13", "", "q1/"])
    assert keys.tolist() == [7] + [int(OUTSIDE)] * 6


@pytest.mark.parametrize(
    ("depth", "area"),
    [(0, AREA), (27, AREA), (3, (1, 0, 1, 5)), (3, (0, 5, 1, 5)), (3, (-91, 0, 1, 5)), (3, (0, 0, 1, 181))],
)
def test_depths_and_areas_that_cannot_be_are_refused(depth: int, area: tuple) -> None:
    with pytest.raises(HierarchyError):
        QuadtreeTiling(depth, area)


def test_keys_of_a_deeper_tree_are_refused() -> None:
    with pytest.raises(HierarchyError, match="cells of that quadtree"):
        QuadtreeTiling(2, AREA).hierarchy(np.array([16], dtype=np.uint64))
