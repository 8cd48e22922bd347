"""Regular zones: cells that cover a release, and follow from what is public alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import h3
import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from tripcloak.analysis.drawn import overlaps_with
from tripcloak.analysis.profiles import MOST_CELLS, regular_zones
from tripcloak.flows.release.reading import Published, PublishedZones
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.hierarchy.h3.tiling import cell_outline

HOME = h3.latlng_to_cell(48.85, 2.35, 8)


def release(ids: Sequence[str], shapes: NDArray, *, spec: str = "h3:9", tiles: int = 1) -> Published:
    """Return a release with a flow from every zone to itself."""
    n = len(ids)
    side = PublishedZones(np.array(ids, dtype=np.str_), shapes, np.full(n, tiles))
    zones = {"origin": side, "destination": side}
    return Published({"hierarchy": {"spec": spec}}, np.arange(n), np.arange(n), None, np.ones(n), zones)


def of_cells(cells: Sequence[str], spec: str = "h3:9") -> Published:
    world = shapely.box(-180, -90, 180, 90)
    shapes = [world if cell == "world" else shapely.geometry.shape(cell_outline(cell)) for cell in cells]
    return release(cells, np.array(shapes, dtype=object), spec=spec)


def resolution(cells: NDArray) -> int:
    (found,) = {h3.get_resolution(str(cell)) for cell in cells}
    return found


@pytest.mark.parametrize("spec", ["h3:8", "h3:9", "h3:11/binary"])
def test_cells_lie_three_heights_above_the_tiles_and_cover_everything(spec: str) -> None:
    tiles = int(re.findall(r"\d+", spec)[1])
    published = of_cells(sorted(h3.grid_disk(HOME, 9)), spec)
    found = regular_zones(published)
    assert resolution(found.ids) == tiles - 3
    assert all(overlap.outside.max() < 1e-6 for overlap in overlaps_with(published, found).values())
    touched = overlaps_with(published, found)["origin"].shares.sum(axis=0)
    assert (touched > 0).all()


def test_the_order_of_zones_changes_nothing() -> None:
    cells = sorted(h3.grid_disk(HOME, 5))
    assert regular_zones(of_cells(cells)).ids.tolist() == regular_zones(of_cells(cells[::-1])).ids.tolist()


def test_zones_larger_than_a_cell_are_covered_too() -> None:
    published = of_cells([h3.cell_to_parent(HOME, 5)])
    found = regular_zones(published)
    assert resolution(found.ids) == 6
    assert overlaps_with(published, found)["origin"].outside.max() < 1e-6
    assert len(found) > 7


def test_a_few_zones_far_larger_than_a_cell_are_left_outside() -> None:
    cells = sorted(h3.grid_disk(HOME, 6))
    published = of_cells([*cells, h3.cell_to_parent(HOME, 1)])
    assert regular_zones(published).ids.tolist() == regular_zones(of_cells(cells)).ids.tolist()


def test_cells_grow_where_there_would_be_too_many() -> None:
    """Villages all over Europe."""
    far = [h3.latlng_to_cell(lat, lon, 7) for lat in range(36, 60) for lon in np.arange(-9, 30, 0.5)]
    found = regular_zones(of_cells(sorted(set(far)), "h3:10"))
    assert len(found) <= MOST_CELLS
    assert resolution(found.ids) < 7


@pytest.mark.parametrize(("resolution_asked", "cells"), [(3, 1), (12, 1), (8, 4000)])
def test_a_resolution_that_is_asked_for_is_kept_or_refused(resolution_asked: int, cells: int) -> None:
    zones = [HOME] if cells == 1 else sorted(h3.grid_disk(HOME, 40))
    published = of_cells(zones)
    if resolution_asked == 3:
        assert resolution(regular_zones(published, 3).ids) == 3
    else:
        with pytest.raises(ImpossibleRequestError, match="too coarse to tell one H3 cell from another"):
            regular_zones(published, resolution_asked)


def test_other_hierarchies_get_cells_by_the_size_of_their_tiles() -> None:
    """Squares of 0.01 degrees have about 1.2 km2: 79 km2 three cuts of a quadtree up, 10 three joins up."""
    squares = np.array([shapely.box(x / 100, 0, (x + 1) / 100, 0.01) for x in range(40)], dtype=object)
    names = [f"q{row}" for row in range(40)]
    for spec, expected in (("quadtree:8", 5), ("dendrogram", 6)):
        found = regular_zones(release(names, squares, spec=spec))
        sizes = np.array([h3.average_hexagon_area(size) for size in range(16)])
        wanted = 1.236 * {"quadtree:8": 64, "dendrogram": 8}[spec]
        assert resolution(found.ids) == np.argmin(np.abs(np.log(sizes / wanted)))
        assert abs(resolution(found.ids) - expected) <= 1


def test_a_release_of_the_whole_world_is_too_coarse() -> None:
    with pytest.raises(ImpossibleRequestError, match="too coarse"):
        regular_zones(of_cells(["world"]))
