"""Outlines of H3 zones: exactly the border of their tiles, wherever on the globe."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import h3.api.basic_int as h3
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import shape

from tripcloak.hierarchy import H3BinaryTiling, H3Tiling, member_cells
from tripcloak.hierarchy.h3 import outlines
from tripcloak.hierarchy.h3.binary import _UNIONS
from tripcloak.hierarchy.h3.cells import cells_to_text, text_to_cells
from tripcloak.hierarchy.h3.outlines import Outlined, tiles_outline
from tripcloak.hierarchy.h3.tiling import cell_zones

ODD_PLACES = [
    *((90.0, 0.0), (-90.0, 0.0), (16.5, 180.0), (-17.0, -179.99), (66.0, 179.99)),
    *(h3.cell_to_latlng(cell) for cell in h3.get_pentagons(3)),
    # On an edge between two faces of the icosahedron, where edges of cells are bent.
    *((17.604300600895062, -67.06885462465743), (51.76490642494538, -26.847862995541877)),
]


def latitude(share: float) -> float:
    return float(np.degrees(np.arcsin(2 * share - 1)))


places = st.one_of(
    st.tuples(st.floats(0, 1).map(latitude), st.floats(-180, 180)),
    st.tuples(st.sampled_from(ODD_PLACES), st.floats(-1.5, 1.5), st.floats(-1.5, 1.5)).map(
        lambda near: (max(-90.0, min(90.0, near[0][0] + near[1])), near[0][1] + near[2])
    ),
    st.sampled_from(ODD_PLACES),
)
zones = st.builds(lambda place, resolution: h3.latlng_to_cell(*place, resolution), places, st.integers(0, 11))


def outline(*cells: int, tiles: int) -> Outlined:
    return tiles_outline(cells, tiles)


def edges(drawn: Outlined) -> Counter[tuple[Any, Any]]:
    """Return the directed edges of an outline, those along its cut at the antimeridian left out."""
    found: Counter[tuple[Any, Any]] = Counter()
    polygons = drawn.geometry["coordinates"]
    for polygon in [polygons] if drawn.geometry["type"] == "Polygon" else polygons:
        for ring in polygon:
            points = [tuple(point) for point in ring]
            found.update(
                edge
                for edge in pairwise(points)
                if not all(abs(point[0]) == 180 or abs(point[1]) == 90 for point in edge)
            )
    return found


def sum_of(parts: list[Outlined]) -> Counter[tuple[Any, Any]]:
    """Return what is left of the edges of areas side by side where those that both sides share go away."""
    left: Counter[tuple[Any, Any]] = Counter()
    for part in parts:
        left.update(edges(part))
    return Counter({edge: n - left[edge[::-1]] for edge, n in left.items() if n > left[edge[::-1]]})


@settings(max_examples=20)
@given(zones, st.integers(1, 3))
def test_zones_meet_their_neighbours_vertex_by_vertex(zone: int, steps: int) -> None:
    tiles = h3.get_resolution(zone) + steps
    whole = outline(zone, tiles=tiles)
    assert sum_of([outline(child, tiles=tiles) for child in h3.cell_to_children(zone)]) == edges(whole)
    assert all(n == 1 for n in edges(whole).values())


@settings(max_examples=20)
@given(zones, st.integers(1, 2))
def test_an_outline_holds_its_tiles_and_no_others(zone: int, steps: int) -> None:
    at = h3.get_resolution(zone)
    drawn = outline(zone, tiles=at + steps)
    area = shape(drawn.geometry)
    assert area.is_valid
    tiles = h3.cell_to_children(zone, at + steps)
    around = {near for tile in tiles for near in h3.grid_disk(tile, 1)} - set(tiles)
    # Corners are rounded to a centimetre.
    slack = 1e-5 * h3.average_hexagon_edge_length(at + steps) * len(edges(drawn))
    assert drawn.area_km2 == pytest.approx(sum(h3.cell_area(tile) for tile in tiles), rel=1e-6, abs=slack)
    assert _holds(area, tiles).all()
    assert not _holds(area, sorted(around)).any()


@settings(max_examples=20)
@given(zones, st.data())
def test_places_in_its_tiles_lie_inside(zone: int, data: st.DataObject) -> None:
    tiles = h3.get_resolution(zone) + 2
    tile = data.draw(st.sampled_from(h3.cell_to_children(zone, tiles)))
    share = data.draw(st.floats(0, 0.99))
    corner = data.draw(st.sampled_from(h3.cell_to_boundary(tile)))
    centre = np.array(h3.cell_to_latlng(tile))
    step = np.array(corner) - centre
    step[1] = (step[1] + 180) % 360 - 180
    lat, lon = centre + share * step
    lon = (lon + 180) % 360 - 180
    # Near a pole a straight line on the map leaves the cell.
    if h3.latlng_to_cell(lat, lon, tiles) == tile:
        assert shapely.intersects_xy(shape(outline(zone, tiles=tiles).geometry), lon, lat)


@settings(max_examples=20)
@given(zones, st.sampled_from(sorted(_UNIONS)), st.integers(1, 3))
def test_unions_are_their_parts_joined(zone: int, digits: str, steps: int) -> None:
    text = f"{zone:x}/{digits}"
    if "1" in digits and h3.is_pentagon(zone):
        return
    tiles = h3.get_resolution(zone) + steps
    members = [int(cell, 16) for cell in member_cells(text)]
    whole = outline(*members, tiles=tiles)
    assert sum_of([outline(member, tiles=tiles) for member in members]) == edges(whole)
    assert shape(whole.geometry).is_valid


@pytest.mark.parametrize("resolution", [2, 3])
def test_points_of_zones_lie_inside_their_outlines(resolution: int) -> None:
    lat, lon = np.array([*ODD_PLACES[2:7], *ODD_PLACES[-2:]]).T
    for tiling in (H3Tiling(resolution), H3BinaryTiling(resolution)):
        near = tiling.encode(lat, lon)
        keys = np.unique([tile for key in near.tolist() for tile in h3.grid_disk(key, 1)])
        zones = tiling.hierarchy(keys.astype(np.uint64)).zones
        for row in range(len(zones)):
            area = shape(zones.outline(row))
            assert shapely.contains_xy(area, zones.lon[row], zones.lat[row]), zones.ids[row]


def test_a_single_tile_is_outlined_as_h3_does() -> None:
    cell = 0x8A1FB46622DFFFF
    ring = np.array(outline(cell, tiles=10).geometry["coordinates"][0])[:-1, ::-1]
    assert {tuple(point) for point in ring.tolist()} == {
        (round(lat, 7), round(lon, 7)) for lat, lon in h3.cell_to_boundary(cell)
    }


def test_vertices_grow_threefold_a_step_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = 0x841FB47FFFFFFFF
    sizes = [len(outline(cell, tiles=4 + steps).geometry["coordinates"][0]) - 1 for steps in (1, 4)]
    assert sizes == [6 * 3, 6 * 3**4]
    monkeypatch.setattr(outlines, "MOST_STEPS", 3)
    assert tiles_outline.__wrapped__((cell,), 8) == tiles_outline((cell,), 7)


def test_zones_of_a_domain_are_outlined_by_the_same_tiles() -> None:
    cells = text_to_cells(["861fb4677ffffff"])
    zones = cell_zones(cells, 8)
    assert zones.outline(0) == outline(int(cells[0]), tiles=8).geometry
    assert zones.areas(np.array([0]))[0] == outline(int(cells[0]), tiles=8).area_km2
    assert cells_to_text(cells)[0] == zones.ids[0]


def _holds(area: Any, cells: Any) -> np.ndarray:
    lat, lon = np.array([h3.cell_to_latlng(cell) for cell in cells]).T
    held: np.ndarray = shapely.contains_xy(area, lon, lat)
    return held
