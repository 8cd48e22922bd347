"""Hierarchies of H3 cells and unions of neighbouring siblings."""

from __future__ import annotations

import pickle
from itertools import combinations
from typing import Any

import h3.api.basic_str as h3
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.soundness import area_of, assert_sound
from tripcloak.flows.methods import ProductCut
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy import H3BinaryTiling, H3Tiling, Hierarchy, Tiling, cells_to_text, member_cells
from tripcloak.promises import KAnonymity

UNIONS = ("0236", "145", "06", "23", "45")
PLACES = st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1, max_size=8)


def keys_around(lat: float, lon: float, reach: float, resolution: int, number: int = 60, seed: int = 0):
    rng = np.random.default_rng(seed)
    lats = np.clip(lat + rng.normal(0, reach, number), -90, 90)
    lons = (lon + rng.normal(0, reach, number) + 180) % 360 - 180
    return np.unique(H3Tiling(resolution).encode(lats, lons))


def assert_sound_binary(tree: Hierarchy, resolution: int) -> None:
    """Check all that a binary tree promises, by the h3 library alone."""
    assert_sound(tree, grid=True, stated_heights=True)
    offsets, kids = tree.children
    for row, zone in enumerate(tree.zones.ids.tolist()):
        below = tree.zones.ids[kids[offsets[row] : offsets[row + 1]]].tolist()
        if zone == "world":
            assert tree.zones.height[row] == 3 * resolution + 1
            continue
        cells = member_cells(zone)
        assert_facts(tree, row, cells, resolution)
        step = {1: 0, 2: 1, 3: 2, 4: 2}[len(cells)]
        assert tree.zones.height[row] == 3 * (resolution - h3.get_resolution(cells[0])) + step
        inside = [cell for child in below for cell in member_cells(child)]
        assert len(set(inside)) == len(inside)
        if len(cells) > 1:
            assert len(below) == 2, "a union that joins nothing is no use"
            assert set(inside) <= set(cells)
        else:
            assert len(below) <= 2
            assert {h3.cell_to_parent(cell, h3.get_resolution(zone)) for cell in inside} <= {zone}


def assert_facts(tree: Hierarchy, row: int, cells: list[str], resolution: int) -> None:
    zones = tree.zones
    assert zones.tiles[row] == sum(h3.cell_to_children_size(cell, resolution) for cell in cells)
    assert zones.area_km2[row] == pytest.approx(sum(h3.cell_area(cell) for cell in cells), rel=1e-12)
    pull = np.zeros(3)
    for cell in cells:
        lat, lon = np.radians(h3.cell_to_latlng(cell))
        flat = np.cos(lat)
        pull += h3.cell_area(cell) * np.array([flat * np.cos(lon), flat * np.sin(lon), np.sin(lat)])
    lat, lon = np.radians(zones.lat[row]), np.radians(zones.lon[row])
    here = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    np.testing.assert_allclose(here, pull / np.linalg.norm(pull), atol=1e-12)


def ancestors(tree: Hierarchy, row: int) -> list[str]:
    found = []
    while row != -1:
        found.append(str(tree.zones.ids[row]))
        row = int(tree.parent[row])
    return found


def is_contiguous(cells: list[str]) -> bool:
    reached, todo = {cells[0]}, [cells[0]]
    while todo:
        here = todo.pop()
        near = [cell for cell in cells if cell not in reached and h3.are_neighbor_cells(here, cell)]
        reached.update(near)
        todo.extend(near)
    return len(reached) == len(cells)


def parents_everywhere(resolution: int) -> list[str]:
    """Return all pentagons of a resolution, their neighbours, and cells all over the globe."""
    rng = np.random.default_rng(resolution)
    lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 40))), rng.uniform(-180, 180, 40)
    cells = {h3.latlng_to_cell(a, b, resolution) for a, b in zip(lat, lon, strict=True)}
    for pentagon in h3.get_pentagons(resolution):
        cells |= set(h3.grid_disk(pentagon, 1))
    return sorted(cells)


@pytest.mark.parametrize("resolution", range(15))
def test_unions_are_neighbours_and_halve_what_they_are_part_of(resolution: int) -> None:
    for parent in parents_everywhere(resolution):
        pentagon = h3.is_pentagon(parent)
        named = [digits for digits in UNIONS if not (pentagon and "1" in digits)]
        unions = {digits: set(member_cells(f"{parent}/{digits}")) for digits in named}
        children = set(h3.cell_to_children(parent))
        assert all(is_contiguous(sorted(cells)) for cells in unions.values())
        assert all(len(cells) == len(digits) for digits, cells in unions.items())
        assert unions["06"] | unions["23"] == unions["0236"]
        rest = children - unions["0236"]
        assert rest == (unions["45"] if pentagon else unions["145"])
        assert unions["45"] < rest or pentagon
        for one, other in combinations(unions.values(), 2):
            assert one <= other or other <= one or not one & other


def test_a_city_climbs_in_small_steps() -> None:
    keys = keys_around(48.85, 2.35, 0.02, 9, 400)
    tree = H3BinaryTiling(9).hierarchy(keys)
    assert_sound_binary(tree, 9)
    assert np.count_nonzero(np.strings.find(tree.zones.ids, "/") >= 0) > 60
    plain = H3Tiling(9).hierarchy(keys)
    rows = [tree.zones.ids.tolist().index(zone) for zone in plain.zones.ids.tolist()]
    for column in ("tiles", "tiles_observed", "area_km2", "lat", "lon"):
        np.testing.assert_array_equal(
            getattr(tree.zones, column)[rows], getattr(plain.zones, column), err_msg="every hexagon is kept"
        )
    np.testing.assert_array_equal(tree.zones.height[rows][:-1], 3 * plain.zones.height[:-1])
    assert tree.zones.height[-1] == 28


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 15), PLACES)
def test_any_places_make_a_sound_tree(resolution: int, places: list[tuple[float, float]]) -> None:
    tiling = H3BinaryTiling(resolution)
    lat, lon = np.array(places).T
    keys = tiling.encode(lat, lon)
    tree = tiling.hierarchy(np.unique(keys))
    assert_sound_binary(tree, resolution)
    expected = [h3.latlng_to_cell(a, b, resolution) for a, b in places]
    assert tree.zones.ids[tiling.tiles(keys, tree)].tolist() == expected == cells_to_text(keys).tolist()
    # Outlines of zones far above their tiles have thousands of corners.
    for row in np.flatnonzero(tree.zones.tiles <= 7**4):
        area_of(tree.zones.outline(row))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(4, 9))
def test_zones_do_not_depend_on_the_data(seed: int, resolution: int) -> None:
    """Two data sets that share tiles give them the same zones; more tiles only add zones."""
    rng = np.random.default_rng(seed)
    centre = np.array(h3.cell_to_latlng("8029fffffffffff")) + rng.uniform(-2, 2, 2)
    keys = keys_around(*centre, 0.3 / 2.6 ** (resolution - 4), resolution, 30, seed)
    some = keys[rng.random(len(keys)) < 0.5]
    some = some if len(some) else keys[:1]
    tiling = H3BinaryTiling(resolution, root=0)
    whole, part = tiling.hierarchy(keys), tiling.hierarchy(some)
    row_of = {zone: row for row, zone in enumerate(whole.zones.ids.tolist())}
    for row, zone in enumerate(part.zones.ids.tolist()):
        for column in ("height", "tiles", "area_km2", "lat", "lon"):
            assert getattr(part.zones, column)[row] == getattr(whole.zones, column)[row_of[zone]]
        above = ancestors(whole, row_of[zone])
        assert [other for other in above if other in set(ancestors(part, row))] == ancestors(part, row)


def test_several_base_cells_are_joined_under_the_world() -> None:
    tiling = H3BinaryTiling(5)
    keys = np.unique(tiling.encode(np.array([48.85, 40.7, -33.9, 48.9]), np.array([2.35, -74.0, 151.2, 3.0])))
    tree = tiling.hierarchy(keys)
    assert_sound_binary(tree, 5)
    assert tree.zones.ids[tree.root] == "world"
    assert tree.zones.tiles[tree.root] == h3.get_num_cells(5)
    assert area_of(tree.zones.outline(tree.root)).bounds == (-180, -90, 180, 90)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("number", range(12))
def test_pentagons(number: int) -> None:
    lat, lon = h3.cell_to_latlng(sorted(h3.get_pentagons(3))[number])
    tree = H3BinaryTiling(6).hierarchy(keys_around(lat, lon, 0.25, 6, 300))
    assert_sound_binary(tree, 6)
    pentagons = [zone for zone in tree.zones.ids.tolist() if len(zone) == 15 and h3.is_pentagon(zone)]
    assert len(pentagons) > 2
    assert any(zone.partition("/")[0] in pentagons for zone in tree.zones.ids.tolist() if "/" in zone)


def test_outlines_are_the_area_of_the_members() -> None:
    tree = H3BinaryTiling(8).hierarchy(keys_around(40.7, -74.0, 0.03, 8, 300))
    unions = [row for row, zone in enumerate(tree.zones.ids.tolist()) if "/" in zone]
    assert len(unions) > 20
    for row in unions:
        outline = tree.zones.outline(row)
        shape = area_of(outline)
        assert outline["type"] == "Polygon"
        assert not shape.interiors
        degrees = tree.zones.area_km2[row] / 111.2**2 / np.cos(np.radians(tree.zones.lat[row]))
        assert shape.area == pytest.approx(degrees, rel=0.01)


def test_outlines_across_the_antimeridian_and_over_the_poles() -> None:
    tree = H3BinaryTiling(7).hierarchy(keys_around(-17.0, 180.0, 0.3, 7, 200))
    assert_sound_binary(tree, 7)
    crossing = 0
    for row, zone in enumerate(tree.zones.ids.tolist()):
        outline = tree.zones.outline(row)
        shape = area_of(outline)
        crossing += "/" in zone and outline["type"] == "MultiPolygon"
        degrees = tree.zones.area_km2[row] / 111.2**2 / np.cos(np.radians(tree.zones.lat[row]))
        if tree.zones.area_km2[row] < 1e5:
            assert shape.area == pytest.approx(degrees, rel=0.05)
    assert crossing > 3
    for pole in (90.0, -90.0):
        ring = np.full(24, pole * 0.98)
        polar = H3Tiling(4).encode(np.append(ring, pole), np.append(np.arange(24) * 15.0 - 180, 0.0))
        tree = H3BinaryTiling(4).hierarchy(np.unique(polar))
        assert_sound_binary(tree, 4)
        bounds = [area_of(tree.zones.outline(row)).bounds for row in range(len(tree))]
        over = [zone for zone, box in zip(tree.zones.ids.tolist(), bounds, strict=True) if pole in box]
        assert any("/" in zone for zone in over)


def test_a_single_tile_has_no_unions_above() -> None:
    key = H3Tiling(8).encode(np.array([52.5]), np.array([13.4]))
    assert H3BinaryTiling(8).hierarchy(key).zones.height.tolist() == [0, 25]
    below = H3BinaryTiling(8, root=4).hierarchy(key)
    assert_sound_binary(below, 8)
    assert below.zones.tiles.tolist() == [1, 7, 49, 343, 2401]
    assert below.zones.height.tolist() == [0, 3, 6, 9, 12]


@pytest.mark.parametrize(
    "zone",
    [
        "", "world", "8928308280fffff/", "8928308280fffff/0", "8928308280fffff/60", "8928308280fffff/05",
        "8928308280fffff/0123456", "8928308280fffff/145/45", "8928308280ffff/45", "/45",
        h3.get_pentagons(4)[0] + "/145", h3.latlng_to_cell(1, 2, 15) + "/45", "8928308280FFFFF/45 ",
    ],
)  # fmt: skip
def test_text_that_names_no_zone_is_refused(zone: str) -> None:
    with pytest.raises(HierarchyError, match="such as 8928308280fffff/0236"):
        member_cells(zone)


@pytest.mark.parametrize(("resolution", "root"), [(-1, None), (16, None), (8, 9)])
def test_resolutions_off_the_grid_are_refused(resolution: int, root: int | None) -> None:
    with pytest.raises(HierarchyError, match="resolution"):
        H3BinaryTiling(resolution, root)


def test_it_is_a_tiling_and_its_trees_travel_between_processes() -> None:
    assert isinstance(H3BinaryTiling(9), Tiling)
    tree = H3BinaryTiling(9).hierarchy(keys_around(48.85, 2.35, 0.01, 9))
    row = int(np.flatnonzero(np.strings.find(tree.zones.ids, "/") >= 0)[0])
    copy = pickle.loads(pickle.dumps(tree))
    assert copy.zones.outline(row) == tree.zones.outline(row)


@pytest.mark.parametrize("loss", ["tiles", "area", "metres"])
def test_smaller_steps_never_cost_more(loss: Any) -> None:
    """All zones of plain H3 are there, so the best cut cannot get worse; on a city it gets much better."""
    rng = np.random.default_rng(1)
    ends = [48.85 + rng.normal(0, 0.01, (2, 4000)), 2.35 + rng.normal(0, 0.015, (2, 4000))]
    keys = H3Tiling(9).encode(ends[0].ravel(), ends[1].ravel())
    values = []
    for tiling in (H3Tiling(9), H3BinaryTiling(9)):
        tree = tiling.hierarchy(np.unique(keys))
        origin, destination = tiling.tiles(keys, tree).reshape(2, -1)
        matrix = ODMatrix.from_trips(tree, tree, origin, destination)
        release = ProductCut(promise=KAnonymity(k=10, unit="trips"), loss=loss).anonymise(matrix)
        assert release.bound is not None
        values.append(release.bound.value)
    assert values[1] < 0.8 * values[0]
