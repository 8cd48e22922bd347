"""Points that stand for tiles: all of them where they are known, an even grid where not."""

from __future__ import annotations

import h3
import numpy as np
import pytest
import shapely

from tripcloak.analysis import drawn as centres
from tripcloak.analysis.drawn import tile_points
from tripcloak.hierarchy import member_cells

CELL = h3.latlng_to_cell(48.85, 2.35, 7)
NOTHING = np.array([None], dtype=object)


def test_tiles_of_a_cell_are_its_children() -> None:
    row, points = tile_points(np.array([CELL]), NOTHING, "h3:9")
    expected = {h3.cell_to_latlng(tile)[::-1] for tile in h3.cell_to_children(CELL, 9)}
    assert {(point.x, point.y) for point in points} == expected
    assert row.tolist() == [0] * 49


def test_tiles_of_a_union_are_those_of_its_members() -> None:
    union = f"{CELL}/06"
    row, points = tile_points(np.array([union, CELL]), np.array([None, None]), "h3:9/binary")
    expected = {
        h3.cell_to_latlng(tile)[::-1] for cell in member_cells(union) for tile in h3.cell_to_children(cell, 9)
    }
    assert {(point.x, point.y) for point in points[row == 0]} == expected
    assert np.bincount(row).tolist() == [14, 49]


def test_large_zones_give_way_before_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(centres, "MOST_POINTS", 500)
    ids = np.array([h3.cell_to_parent(CELL, 4), CELL])
    row, points = tile_points(ids, np.array([None, None]), "h3:9")
    assert np.bincount(row).tolist() == [343, 49]
    assert len(points) <= 500


def test_the_world_has_tiles_too() -> None:
    row, points = tile_points(np.array(["world", CELL]), np.array([None, None]), "h3:7")
    assert np.bincount(row)[1] == 1
    assert np.bincount(row)[0] > 100_000
    assert shapely.total_bounds(points)[1] < -85


@pytest.mark.parametrize("spec", ["quadtree:8", "h3:9"])
def test_tiles_of_other_zones_are_an_even_grid_inside(spec: str) -> None:
    """Boxes are such zones on every hierarchy."""
    triangle = shapely.Polygon([(0, 0), (1, 0), (0, 1)])
    dot = shapely.Point(5, 5)
    shapes = np.array([triangle, None, dot], dtype=object)
    row, points = tile_points(np.array(["box_0", "box_1", "box_2"]), shapes, spec)
    assert 50 < np.count_nonzero(row == 0) < 100
    assert shapely.contains(triangle, points[row == 0]).all()
    assert (row == 1).sum() == 0
    assert {(point.x, point.y) for point in points[row == 2]} == {(5, 5)}
