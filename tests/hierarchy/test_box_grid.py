"""The grid of boxes: it follows from the tiles alone, and edges on it fit several tiles."""

from __future__ import annotations

import math

import h3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.hierarchy import (
    Corners,
    H3BinaryTiling,
    H3Tiling,
    Hierarchy,
    QuadtreeTiling,
    grid_step,
    on_grid,
    tile_extents,
)
from tripcloak.hierarchy.box_grid import FITS, STEPS, longitude_step

PLACES = st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1, max_size=12)
NEAR = st.integers(-4000, 4000)
CLOSE = st.lists(
    st.tuples(NEAR.map(lambda y: 47_777_300 + y), NEAR.map(lambda x: 2_351_000 + x)), min_size=1, max_size=14
)
GRIDS = (H3Tiling(3), H3Tiling(8), QuadtreeTiling(9, (-90, -180, 90, 180)))


@pytest.mark.parametrize("resolution", [7, 8, 9, 10, 12])
@pytest.mark.parametrize("place", [(48.85, 2.35), (-33.9, 151.2), (64.1, -21.9), (0.0, 0.0)])
def test_the_step_depends_on_the_resolution_and_not_on_the_place(
    resolution: int, place: tuple[float, float]
) -> None:
    for tiling in (H3Tiling(resolution), H3Tiling(resolution, 3), H3BinaryTiling(resolution)):
        keys = np.unique(tiling.encode(*(np.array([degrees]) for degrees in place)))
        step = grid_step(tiling.hierarchy(keys))
        width = math.degrees(math.sqrt(h3.average_hexagon_area(resolution)) / 6371.0072)
        assert 3 * width * 0.999 <= step / 1e6 <= 7.6 * width
        assert step in STEPS


def test_the_step_of_a_quadtree_is_three_tiles_to_the_very_digit() -> None:
    for tile, expected in ((0.002 / 3, 2_000), (0.002 / 3 + 1e-9, 5_000)):
        tiling = QuadtreeTiling(8, (48.0, 2.0, 48.0 + 256 * tile, 2.1))
        tree = tiling.hierarchy(np.unique(tiling.encode(np.array([48.05]), np.array([2.05]))))
        assert grid_step(tree) == expected


@given(places=PLACES, tiling=st.sampled_from(GRIDS))
def test_boxes_of_a_grid_lie_on_its_lines_around_all_of_the_tile(
    places: list[tuple[float, float]], tiling: H3Tiling | QuadtreeTiling
) -> None:
    tree = tiling.hierarchy(np.unique(tiling.encode(*np.array(places).T)))
    tight = tile_extents(tree)
    south, west, north, east = boxes = on_grid(tree, tight)
    step, wide = grid_step(tree), longitude_step(grid_step(tree), south, north)
    for side, width, end in zip(boxes, (step, wide, step, wide), (90, 180, 90, 180), strict=True):
        assert ((side % width == 0) | (np.abs(side) == end * 10**6)).all()
    assert ((south <= tight.south) & (west <= tight.west)).all()
    assert ((north >= tight.north) & (east >= tight.east)).all()
    assert ((north - south <= 2 * step) | (tight.north - tight.south > step)).all()
    assert ((south < north) & (west < east)).all()
    if isinstance(tiling, H3Tiling):
        for row, cell in enumerate(tree.zones.ids[: tree.n_tiles].tolist()):
            for lat, lon in h3.cell_to_boundary(cell):
                assert south[row] <= lat * 1e6 <= north[row]
                assert west[row] <= lon * 1e6 <= east[row]


def test_steps_of_longitude_grow_towards_the_poles() -> None:
    for lat in np.arange(0, 89.5, 0.7):
        south = np.array([round(lat * 1e6)])
        wide = int(longitude_step(10_000, south - 5, south)[0])
        narrow = wide * math.cos(math.radians(lat))
        assert 10_000 * 2 / 3 <= narrow < 10_000 * 2 / 3 * 2.5
    assert longitude_step(10_000, np.array([0]), np.array([90_000_000])).tolist() == [STEPS[-1]]


@given(tiles=CLOSE, chosen=st.sets(st.integers(0, 13), min_size=1))
def test_edges_over_tiles_of_a_file_fit_several_or_the_box_holds_one(
    tiles: list[tuple[int, int]], chosen: set[int]
) -> None:
    lat, lon = np.array(tiles).T / 1e6
    names = [f"t{number:02}" for number in range(len(tiles))]
    up = [len(tiles)] * len(tiles) + [-1]
    tree = Hierarchy.from_parents([*names, "x"], up, lat=np.append(lat, 0), lon=np.append(lon, 0))
    own = np.array([tiles[number % len(tiles)] for number in chosen])
    tight = Corners(*(np.array([side]) for side in (*own.min(axis=0), *own.max(axis=0))))
    box = [int(side[0]) for side in on_grid(tree, tight)]
    held = [(y, x) for y, x in tiles if box[0] <= y <= box[2] and box[1] <= x <= box[3]]
    assert set(map(tuple, own.tolist())) <= set(held)
    enough = min(FITS, len(tiles))
    assert len(held) == 1 or any(fewest(box, held, step) >= enough for step in STEPS.tolist() if step >= 1000)


def fewest(box: list[int], held: list[tuple[int, int]], step: int) -> int:
    """Return how many of the tiles in a box its edges fit at least, or none where it is not on the lines."""
    wide = int(longitude_step(step, np.array([box[0]]), np.array([box[2]]))[0])
    if any(edge % width for edge, width in zip(box, (step, wide) * 2, strict=True)):
        return 0
    return min(
        sum(abs(place[side % 2] - edge) <= (step, wide)[side % 2] for place in held)
        for side, edge in enumerate(box)
    )
