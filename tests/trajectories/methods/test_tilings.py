"""Squares and hexagons of H3: cells that are wider by levels, and rectangles that hold all in them."""

from __future__ import annotations

import h3.api.basic_int as h3
import numpy as np
import pytest

from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.trajectories.methods.cells import Lattice
from tripcloak.trajectories.methods.tilings import Hexagons, Squares
from tripcloak.trajectories.model import Grid

PLACES = {"Paris": (48.9, 2.3), "Fiji": (-17.8, 180.0), "north pole": (90.0, 0.0), "pentagon": (58.5, 11.0)}


def grid_at(lat: float, lon: float, metres: int = 100) -> Grid:
    return Grid(metres=metres, projection=f"+proj=laea +lat_0={lat} +lon_0={lon}")


def steps(reach: int = 400, number: int = 300) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.random.default_rng(4).integers(-reach, reach, (2, number)))


@pytest.mark.parametrize("place", PLACES)
def test_hexagons_are_those_of_the_library_and_of_its_parents(place: str) -> None:
    grid = grid_at(*PLACES[place])
    tiling, (x, y) = Hexagons(grid, 8), steps()
    cells = tiling.cells(x, y)
    lon, lat = grid.unproject((x + 0.5) * grid.metres, (y + 0.5) * grid.metres)
    assert cells.tolist() == [h3.latlng_to_cell(*one, 8) for one in zip(lat, lon, strict=True)]
    assert tiling.wider(cells, 3).tolist() == [h3.cell_to_parent(cell, 5) for cell in cells.tolist()]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("level", [0, 1, 4, 6, 8])
def test_rectangles_hold_every_step_of_their_cells_and_little_more(place: str, level: int) -> None:
    grid = grid_at(*PLACES[place])
    tiling, (x, y) = Hexagons(grid, 8), steps(reach=4000, number=1000)
    cells = tiling.wider(tiling.cells(x, y), level)
    x0, x1, y0, y1 = tiling.rectangles(cells, level)
    assert ((x0 <= x) & (x < x1) & (y0 <= y) & (y < y1)).all()
    widest = 2 * h3.average_hexagon_edge_length(8 - level, "m") / grid.metres
    assert max((x1 - x0).max(), (y1 - y0).max()) < 1.7 * widest + 3


def test_rectangles_hold_the_finest_cells_that_reach_over_an_edge() -> None:
    grid = grid_at(48.9, 2.3, metres=1)
    tiling = Hexagons(grid, 9)
    parent = h3.latlng_to_cell(48.9, 2.3, 5)
    x0, x1, y0, y1 = (int(side[0]) for side in tiling.rectangles(np.array([parent]), 4))
    ring = np.array([point for cell in h3.cell_to_children(parent, 9) for point in h3.cell_to_boundary(cell)])
    x, y = grid.project(ring[:, 1], ring[:, 0])
    assert x0 <= x.min()
    assert x.max() <= x1
    assert y0 <= y.min()
    assert y.max() <= y1
    own = np.array(h3.cell_to_boundary(parent))
    # What its own hexagon would need is less: the children do reach over it.
    assert grid.project(own[:, 1], own[:, 0])[0].max() < x.max()


def test_where_cells_lie_depends_on_no_sample() -> None:
    tiling, (x, y) = Hexagons(grid_at(48.9, 2.3), 7), steps()
    some, all_of_them = tiling.cells(x[:9], y[:9]), tiling.cells(x, y)[:9]
    assert some.tolist() == all_of_them.tolist()


def test_beyond_the_projection_there_is_no_rectangle() -> None:
    tiling = Hexagons(Grid(projection="+proj=gnom +lat_0=48.9 +lon_0=2.3"), 5)
    with pytest.raises(ImpossibleRequestError, match=r"cells.*square"):
        tiling.rectangles(np.array([h3.latlng_to_cell(-48.9, -177.7, 5)]), 0)


def test_squares_are_doubled_about_the_origin() -> None:
    tiling = Squares(Lattice(cell=3, slot=1, first=0), coarsest=4)
    x, y = steps()
    for level, width in ((0, 3), (2, 12)):
        x0, x1, y0, y1 = tiling.rectangles(tiling.wider(tiling.cells(x, y), level), level)
        assert ((x0 <= x) & (x < x1) & (y0 <= y) & (y < y1)).all()
        assert set((x1 - x0).tolist()) == set((y1 - y0).tolist()) == {width}
        assert not (x0 % width).any()
