"""Boxes in degrees: they enclose the projected ones, wherever these lie, and are not much larger."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.release import degrees as trajectory_degrees
from tripcloak.trajectories.release.degrees import Degrees, bending_of, degrees_of
from tripcloak.trajectories.release.release import Boxes

KINDS = {"laea": 90.0, "aeqd": 90.0, "tmerc": 60.0}
"""Projections, and how far from the equator their centre may lie; a cylinder bends too much beyond."""


def boxes_of(x0: Any, x1: Any, y0: Any, y1: Any) -> Boxes:
    edges = [np.atleast_1d(np.asarray(edge, dtype=np.int32)) for edge in (x0, x1, y0, y1)]
    return Boxes(np.zeros_like(edges[0]), np.ones_like(edges[0]), *edges)


def places_in(grid: Grid, boxes: Boxes, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Longitudes and latitudes of points within boxes, many of them on edges and in corners."""
    along, up = random.random((2, 90, len(boxes.x0)))
    along[:40] = np.round(along[:40])
    up[20:60] = np.round(up[20:60])
    return grid.unproject(
        (boxes.x0 + along * (boxes.x1 - boxes.x0)) * grid.metres,
        (boxes.y0 + up * (boxes.y1 - boxes.y0)) * grid.metres,
    )


def assert_enclosed(found: Degrees, lon: np.ndarray, lat: np.ndarray) -> None:
    assert (found.lon_min >= -180).all()
    assert (found.lon_min < found.lon_max).all()
    assert (found.lon_max - found.lon_min <= 360).all()
    assert (np.abs(found.lat_min) <= 90).all()
    assert (np.abs(found.lat_max) <= 90).all()
    on_earth = np.isfinite(lon) & np.isfinite(lat)
    assert ((lon - found.lon_min) % 360 <= found.lon_max - found.lon_min)[on_earth].all()
    assert ((found.lat_min <= lat) & (lat <= found.lat_max))[on_earth].all()


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    latitude=st.floats(-1, 1),
    longitude=st.floats(-180, 180),
    far=st.sampled_from([100, 3_000, 20_000]),
    wide=st.sampled_from([1, 30, 1_000, 10_000]),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_place_of_a_box_is_in_its_degrees(
    kind: str, latitude: float, longitude: float, far: int, wide: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    grid = Grid(projection=f"+proj={kind} +lat_0={latitude * KINDS[kind]} +lon_0={longitude}")
    if kind == "tmerc":
        far, wide = min(far, 3_000), min(wide, 1_000)
    x0, y0 = random.integers(-far, far, (2, 12))
    boxes = boxes_of(x0, x0 + random.integers(1, wide + 1, 12), y0, y0 + random.integers(1, wide + 1, 12))
    found = degrees_of(grid, boxes, bending_of(grid, boxes))
    assert_enclosed(found, *places_in(grid, boxes, random))


@pytest.mark.parametrize("size", [1, 10, 100, 1_000, 5_000])
@pytest.mark.parametrize("latitude", [0, 48.9, -33.9, 69.6])
def test_degrees_are_not_much_larger_than_the_box(size: int, latitude: float) -> None:
    grid = Grid(projection=f"+proj=laea +lat_0={latitude} +lon_0=151.2")
    boxes = boxes_of(-size // 3, -size // 3 + size, -size // 2, -size // 2 + size)
    found = degrees_of(grid, boxes, bending_of(grid, boxes))
    fine = np.linspace(0, 1, 400)
    edges = np.concatenate(
        [[fine, 0 * fine], [fine, 1 + 0 * fine], [0 * fine, fine], [1 + 0 * fine, fine]], 1
    )
    lon, lat = grid.unproject(
        (boxes.x0 + edges[0] * size) * grid.metres, (boxes.y0 + edges[1] * size) * grid.metres
    )
    for low, high, side in ((found.lon_min, found.lon_max, lon), (found.lat_min, found.lat_max, lat)):
        grown = (high[0] - low[0]) - (side.max() - side.min())
        assert 0 < grown <= 0.03 * (side.max() - side.min()) + 4e-6


def test_edges_are_told_to_six_decimals() -> None:
    grid = Grid(projection="+proj=laea +lat_0=48.9 +lon_0=2.3")
    random = np.random.default_rng(1)
    x0, y0 = random.integers(-500, 500, (2, 300))
    boxes = boxes_of(x0, x0 + 7, y0, y0 + 3)
    for side in degrees_of(grid, boxes, bending_of(grid, boxes)):
        assert np.array_equal(side, np.round(side, 6))


def test_a_box_across_the_180th_meridian_runs_on() -> None:
    grid = Grid(projection="+proj=laea +lat_0=-17 +lon_0=179.9")
    boxes = boxes_of([-300, 200], [300, 210], [0, 0], [10, 10])
    found = degrees_of(grid, boxes, bending_of(grid, boxes))
    assert 179 < found.lon_min[0] < 180 < found.lon_max[0] < 181
    # The other one lies beyond it altogether, and is told as it is usual there.
    assert -180 < found.lon_min[1] < found.lon_max[1] < -179


@pytest.mark.parametrize("pole", [90, -90])
def test_a_box_around_a_pole_has_all_longitudes(pole: int) -> None:
    grid = Grid(projection=f"+proj=laea +lat_0={pole} +lon_0=0")
    boxes = boxes_of([-50, 100], [70, 120], [-40, 100], [60, 130])
    found = degrees_of(grid, boxes, bending_of(grid, boxes))
    assert (found.lon_min[0], found.lon_max[0]) == (-180, 180)
    assert pole in (found.lat_min[0], found.lat_max[0])
    assert found.lon_max[1] - found.lon_min[1] < 45


def test_a_box_that_leaves_the_projection_may_be_anywhere() -> None:
    grid = Grid(projection="+proj=laea +lat_0=48.9 +lon_0=2.3")
    boxes = boxes_of(-200_000, 200_000, -200_000, 200_000)
    found = degrees_of(grid, boxes, bending_of(grid, boxes))
    assert [side[0] for side in found] == [-180, -90, 180, 90]


def test_walking_in_parts_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid(projection="+proj=laea +lat_0=0 +lon_0=0")
    random = np.random.default_rng(2)
    x0, y0 = random.integers(-9_000, 9_000, (2, 50))
    boxes = boxes_of(x0, x0 + 6_000, y0, y0 + 5_000)
    whole = degrees_of(grid, boxes, bending_of(grid, boxes))
    monkeypatch.setattr(trajectory_degrees, "BATCH", 7)
    parts = degrees_of(grid, boxes, bending_of(grid, boxes))
    assert all(np.array_equal(one, other) for one, other in zip(whole, parts, strict=True))


@pytest.mark.parametrize("middle", [0.0, 180.0, -180.0])
@pytest.mark.parametrize("latitude", [85.0, -85.0])
def test_a_walk_across_the_antimeridian_goes_no_further_around_than_elsewhere(
    middle: float, latitude: float
) -> None:
    """Two boxes at once, so far north or south that corners alone would not do."""
    grid = Grid(projection=f"+proj=laea +lat_0={latitude} +lon_0={middle}")
    boxes = boxes_of([-100, 50], [100, 150], [-100, -150], [100, -50])
    assert bending_of(grid, boxes) is None
    found = degrees_of(grid, boxes, None)
    lon, lat = places_in(grid, boxes, np.random.default_rng(3))
    assert_enclosed(found, lon, lat)
    around, up = (lon - middle + 180) % 360 - 180, lat
    assert (found.lon_max - found.lon_min < 1.01 * (around.max(axis=0) - around.min(axis=0))).all()
    assert (found.lat_max - found.lat_min < 1.01 * (up.max(axis=0) - up.min(axis=0))).all()


def test_between_two_strides_a_curve_goes_as_far_beyond_as_it_bends() -> None:
    """Half of its second difference, which along a square is 2 everywhere."""
    low, high = trajectory_degrees._reach(np.arange(4.0 * trajectory_degrees.STRIDES + 1)[None] ** 2)
    assert (low.tolist(), high.tolist()) == ([-1.0], [64.0**2 + 1])


@pytest.mark.parametrize("edge", range(4))
def test_each_of_the_four_edges_may_bend(edge: int) -> None:
    """One is a square, which ends where the next begins; the others are straight."""
    bent = np.concatenate([np.zeros(16 * edge), np.arange(17.0) ** 2, np.full(16 * (3 - edge), 256.0)])
    low, high = trajectory_degrees._reach(bent[None])
    assert (low.tolist(), high.tolist()) == ([-1.0], [257.0])


@pytest.mark.parametrize(("reach", "bends"), [(90.0, True), (90.5, False)])
def test_corners_do_up_to_a_quarter_of_the_earth_on_either_side(reach: float, bends: bool) -> None:
    class Flat:
        """A map whose metres are degrees, but for a factor."""

        def places(self, steps: np.ndarray) -> np.ndarray:
            return steps

        def unproject(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return x * (reach / 1e6), np.zeros_like(y)

    grid: Any = Flat()
    found = bending_of(grid, boxes_of(-1_000_000, 1_000_000, 0, 1))
    assert (found is not None) is bends


@pytest.mark.parametrize("pole", [90.0, -90.0])
def test_a_box_around_a_pole_reaches_that_one_though_it_spans_half_the_earth(pole: float) -> None:
    class Polar:
        """A map of degrees from a pole; the box ends just on this side of the equator, on the whole."""

        def places(self, steps: np.ndarray) -> np.ndarray:
            return steps

        def unproject(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            away = np.hypot(x, y) * (89.5 / 78.0 / 1.1478)
            return np.degrees(np.arctan2(y, x)), np.sign(pole) * (90.0 - away)

    grid: Any = Polar()
    (found,) = zip(*trajectory_degrees._walked_part(grid, boxes_of(-78, 78, -78, 78)), strict=True)
    assert (found[0], found[2]) == (-180.0, 180.0)
    assert pole in (found[1], found[3])
    assert -pole not in (found[1], found[3])


@pytest.mark.parametrize(
    ("beyond", "wide", "loose"),
    [
        ((0.011, 0.0), 1.0, True),
        ((0.0, 0.011), 1.0, True),
        ((0.01, 0.01), 1.0, False),
        ((9e-7, 9e-7), 1e-6, False),
        ((1.1e-6, 0.0), 1e-6, True),
        ((2e-6, 2e-6), 1.0, False),
    ],
)
def test_a_closer_look_pays_where_a_box_grew_by_a_hundredth_and_a_decimal(
    beyond: tuple[float, float], wide: float, loose: bool
) -> None:
    found = Degrees(*(np.array([side]) for side in (0.0, 0.0, wide, wide)))
    assert trajectory_degrees._loose(found, *(np.array([one]) for one in beyond)).tolist() == [loose]
