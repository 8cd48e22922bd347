"""Outlines of H3 zones held against the grid, piece by piece: measured, cut, fitted and walked along."""

from __future__ import annotations

import math
from typing import Any

import h3
import numpy as np
import pytest
import shapely

from tripcloak.flows.audit import cells, outlines
from tripcloak.flows.audit.outlines import RADIUS_KM, ROUNDING, Drawn, wrongly_drawn

TILE = "8a1fb46622dffff"
PARENT = "891fb46622fffff"


def ring(cell: str) -> list[tuple[float, float]]:
    return [(lon, lat) for lat, lon in h3.cell_to_boundary(cell)]


def drawn(zone: str = TILE, **other: Any) -> Drawn:
    """Return a cell as it should be drawn, or otherwise."""
    lat, lon = h3.cell_to_latlng(zone)
    return Drawn(zone, shapely.Polygon(ring(zone)), h3.cell_area(zone), lat, lon)._replace(**other)


def joined(zone: str, tiles: list[str]) -> Drawn:
    """Return the border of some tiles, their corners put together by the library itself."""
    shape = shapely.geometry.shape(h3.cells_to_geo(tiles))
    lat, lon = h3.cell_to_latlng(zone)
    return Drawn(zone, shape, sum(map(h3.cell_area, tiles)), lat, lon)


def wrong(*zones: Drawn, resolution: int = 10, unions: bool = False) -> int:
    return wrongly_drawn(zones, resolution, unions)


def test_zones_as_they_should_be_drawn() -> None:
    family = joined(PARENT, list(h3.cell_to_children(PARENT)))
    assert wrong(drawn(), family) == 0
    assert wrong(drawn(), family, resolution=11) == 2
    assert wrong(drawn(PARENT)) == 1, "a parent's own border is not that of its children"
    assert wrong(drawn(PARENT), resolution=9) == 0


def test_of_several_zones_each_wrong_one_is_counted_once() -> None:
    far = drawn(lat=0.0)
    assert wrong(far, drawn(), far) == 2
    assert wrong(drawn(), drawn(area_km2=1.0), drawn(zone=PARENT)) == 2


@pytest.mark.parametrize(
    "shape",
    [
        None,
        shapely.LineString(ring(TILE)),
        shapely.Polygon(),
        shapely.Polygon([(x, y, 1.0) for x, y in ring(TILE)]),
        shapely.Polygon([*ring(TILE)[:2], *reversed(ring(TILE)[2:])]),
        shapely.Polygon(ring(TILE)[:-1]),
        shapely.Polygon(ring(TILE)).buffer(1e-5),
    ],
)
def test_another_shape_is_none_of_a_tile(shape: Any) -> None:
    assert wrong(drawn(shape=shape)) == 1


@pytest.mark.parametrize(
    ("shape", "sound"),
    [
        (shapely.box(-1, -1, 1, 1), True),
        (shapely.MultiPolygon([shapely.box(-1, -1, 1, 1), shapely.box(5, 5, 6, 6)]), True),
        (shapely.box(1, 1, 2, 2), False),
        (shapely.Polygon(), False),
        (shapely.MultiPolygon(), False),
        (shapely.Polygon([(-1, -1), (11, 1), (11, -1), (-1, 1)]), False),
        (shapely.box(-9, -9, 9, 9).difference(shapely.box(2, 2, 3, 3)), False),
    ],
)
def test_an_outline_is_a_valid_area_without_holes_around_its_point(shape: Any, sound: bool) -> None:
    assert outlines._sound(Drawn(TILE, shape, 1.0, 0.0, 0.0)) == sound


def test_an_outline_is_that_of_its_own_zone() -> None:
    far = drawn(h3.latlng_to_cell(10.0, 20.0, 10))
    assert wrong(far) == 0
    assert wrong(far._replace(zone=TILE)) == 1
    assert wrong(far._replace(zone="nowhere")) == 1
    assert wrong(far._replace(zone="nowhere"), drawn()) == 1


def test_a_hole_is_none() -> None:
    middle = shapely.Point(drawn().lon, drawn().lat)
    holed = drawn().shape.difference(shapely.affinity.translate(middle, 1e-5).buffer(1e-6))
    assert wrong(drawn(shape=holed)) == 1


@pytest.mark.parametrize(("by", "right"), [(0.0, 0), (2e-7, 0), (1e-6, 1)])
def test_a_corner_lies_within_two_centimetres(by: float, right: int) -> None:
    """A ten-millionth of a degree is a centimetre."""
    for at in range(6):
        corners = ring(TILE)
        corners[at] = (corners[at][0] + by / 2, corners[at][1] + by / 2)
        assert wrong(drawn(shape=shapely.Polygon(corners))) == right


@pytest.mark.parametrize(
    ("grown", "right"), [(1.0, True), (1 + 1e-3, False), (1 - 1e-3, False), (0.0, False)]
)
def test_the_area_is_that_of_the_outline(grown: float, right: bool) -> None:
    assert outlines._measured(drawn(area_km2=h3.cell_area(TILE) * grown)) == right


def test_what_may_be_rounded_of_an_area() -> None:
    """A millionth of it, and a centimetre all around."""
    start, end = outlines._edges(drawn().shape)
    one, two = outlines._unit(start), outlines._unit(end)
    slack = 1e-5 * float(np.linalg.norm(one - two, axis=1).sum()) * RADIUS_KM + 1e-6 * h3.cell_area(TILE)
    for share, right in ((0.9, True), (1.1, False), (-0.9, True), (-1.1, False)):
        assert outlines._measured(drawn(area_km2=h3.cell_area(TILE) + share * slack)) == right


def test_the_area_of_an_octant_is_an_eighth_of_the_globe() -> None:
    octant = shapely.Polygon([(0, 0), (90, 0), (0, 90)])
    size = 4 * math.pi * RADIUS_KM**2 / 8
    for grown, right in ((1.0, True), (1 + 1e-5, False)):
        assert outlines._measured(Drawn(TILE, octant, size * grown, 30.0, 30.0)) == right


@pytest.mark.parametrize(("area", "right"), [(1.0, True), (1 + 5e-7, True), (1 + 2e-6, False), (0.5, False)])
def test_the_world_has_the_area_of_the_globe(area: float, right: bool) -> None:
    world = Drawn(cells.WORLD, shapely.box(-180, -90, 180, 90), area * 4 * math.pi * RADIUS_KM**2, 0.0, 0.0)
    assert (wrong(world) == 0) == right


def test_edges_of_all_rings_and_none_between_them() -> None:
    two = shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(5, 5, 6, 6)])
    start, end = outlines._edges(two)
    assert len(start) == len(end) == 8
    assert np.abs(end - start).sum(axis=1).tolist() == [1.0] * 8


def test_a_batch_ends_where_it_has_corners_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlines, "BATCH", 10)
    zones = [Drawn(TILE, shapely.box(0, 0, 1, 1), 1.0, 0.0, 0.0)] * 7
    assert list(outlines._batches(zones, [0, 2, 3, 4, 5, 6])) == [[0, 2, 3], [4, 5, 6]]
    assert list(outlines._batches(zones, [0, 1, 2, 3])) == [[0, 1, 2], [3]]
    assert list(outlines._batches(zones, [])) == []


def walk(*edges: tuple[float, float, float, float]) -> Any:
    rows = np.array(edges, dtype=float).reshape(-1, 4)
    return outlines._Walk(rows[:, :2], rows[:, 2:], np.zeros(len(rows), dtype=int))


@pytest.mark.parametrize(
    ("edge", "cut"),
    [
        ((180, 1, 180, 2), True),
        ((-180, 1, -180, 2), True),
        ((180, 1, 179, 2), False),
        ((179, 1, 179, 2), False),
        ((1, 90, 2, 90), True),
        ((1, -90, 2, -90), True),
        ((1, 90, 2, 89), False),
        ((1, 89, 2, 89), False),
        ((180, 89, -180, 89), False),
    ],
)
def test_edges_along_the_end_of_the_map_are_cuts(edge: Any, cut: bool) -> None:
    assert outlines._along_a_cut(walk(edge)).tolist() == [cut]


def test_what_is_cut_off_goes_on_at_the_other_side() -> None:
    north, south = (180, 1, 180, 2), (-180, 2, -180, 1)
    assert outlines._fits_together(walk(north, south))
    assert outlines._fits_together(walk())
    assert not outlines._fits_together(walk(north))
    assert not outlines._fits_together(walk(south))
    assert not outlines._fits_together(walk(north, (-180, 1, -180, 2)))
    assert not outlines._fits_together(walk(north, (-180, 3, -180, 1)))
    assert outlines._fits_together(
        walk(north, (180, 4, 180, 5), (-180, 5, -180, 4), south, (1, 90, 2, 90), (180, 90, 9, 90))
    )


def test_a_holder_knows_the_cells_below_its_members() -> None:
    holds = outlines._holder([PARENT])
    inside, outside = int(TILE, 16), int(h3.latlng_to_cell(0.0, 0.0, 10), 16)
    assert (holds(inside), holds(outside), outlines._holder([])(inside)) == (True, False, False)


def test_corners_are_repeated_until_all_tiles_have_as_many() -> None:
    pentagon = h3.get_pentagons(9)[0]
    found = outlines._boundaries([int(pentagon, 16), int(PARENT, 16), int(pentagon, 16)])
    many = max(len(h3.cell_to_boundary(one)) for one in (pentagon, PARENT))
    assert found.shape == (3, many + 1, 3)
    np.testing.assert_array_equal(found[0], found[2])
    for row, cell in ((0, pentagon), (1, PARENT)):
        corners = outlines._unit(np.array(ring(cell)))
        np.testing.assert_allclose(found[row, : len(corners)], corners)
        np.testing.assert_allclose(
            found[row, len(corners) :], corners[:1].repeat(many + 1 - len(corners), axis=0)
        )


EQUATOR = outlines._unit(np.array([[0.0, 0.0], [8.0, 0.0]]))[None]


@pytest.mark.parametrize(
    ("lon", "lat", "pieces", "loose", "lies"),
    [
        (0.0, 0.0, 1, False, True),
        (8.0, 0.0, 1, False, True),
        (4.0, 0.0, 1, False, False),
        (4.0, 0.0, 1, True, True),
        (4.0, 0.0, 2, False, True),
        (2.0, 0.0, 2, False, False),
        (9.0, 0.0, 1, True, False),
        (-1.0, 0.0, 1, True, False),
        (4.0, 1.0, 1, True, False),
        (4.0, math.degrees(ROUNDING) * 0.9, 1, True, True),
        (4.0, math.degrees(ROUNDING) * 1.1, 1, True, False),
        (8.0 + math.degrees(ROUNDING) * 0.9, 0.0, 1, True, True),
        (8.0 + math.degrees(ROUNDING) * 1.1, 0.0, 1, True, False),
        (-math.degrees(ROUNDING) * 0.9, 0.0, 1, True, True),
        (-math.degrees(ROUNDING) * 1.1, 0.0, 1, True, False),
        (math.degrees(ROUNDING) * 0.9, 0.0, 1, False, True),
        (math.degrees(ROUNDING) * 1.2, 0.0, 1, False, False),
    ],
)
def test_a_point_on_an_edge(lon: float, lat: float, pieces: int, loose: bool, lies: bool) -> None:
    points = outlines._unit(np.array([[lon, lat]]))
    assert outlines._on_line(points, EQUATOR, pieces, np.array([loose])).tolist() == [lies]


def test_an_edge_without_length_holds_nothing() -> None:
    nothing = EQUATOR[:, [0, 0]]
    assert not outlines._on_line(EQUATOR[0, :1], nothing, 1, np.array([True])).any()


def test_directions() -> None:
    found = outlines._unit(np.array([[0.0, 0.0], [90.0, 0.0], [0.0, 90.0], [180.0, 0.0], [45.0, -30.0]]))
    half, deep = math.sqrt(0.5), math.sqrt(0.75)
    right = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [half * deep, half * deep, -0.5]]
    np.testing.assert_allclose(found, right, atol=1e-15)
    back = outlines._cells(found[4:], 5)
    assert back == [int(h3.latlng_to_cell(-30.0, 45.0, 5), 16)]
