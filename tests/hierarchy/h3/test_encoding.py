"""The compiled encoder against its slow twin, the h3 library, all over the globe and where it is hard."""

from __future__ import annotations

import h3.api.basic_int as h3
import numpy as np
import pytest

from oracles import hierarchy as oracle
from tripcloak.hierarchy.geometry import to_degrees, unit_vectors
from tripcloak.hierarchy.h3.cells import MANY_POINTS, encode_points, kernel_cells, library_cells
from worlds.depth import size

EVERY_RESOLUTION = range(16)


def assert_decided_as_by_the_library(lat: np.ndarray, lon: np.ndarray, resolution: int) -> np.ndarray:
    """Check every cell the kernel decides on, and return which points it left to the library."""
    cells = kernel_cells(lat, lon, resolution)
    undecided = cells == 0
    expected = np.array(oracle.encode_cells(lat.tolist(), lon.tolist(), resolution), np.uint64)
    np.testing.assert_array_equal(cells[~undecided], expected[~undecided])
    return undecided


@pytest.mark.one_in(3)
@pytest.mark.parametrize("resolution", EVERY_RESOLUTION)
def test_equals_the_library_all_over_the_globe(resolution: int) -> None:
    rng = np.random.default_rng(resolution)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, size(200_000, 5_000_000))))
    lon = rng.uniform(-180, 180, len(lat))
    undecided = assert_decided_as_by_the_library(lat, lon, resolution)
    assert undecided.mean() < 0.002


@pytest.mark.parametrize("resolution", EVERY_RESOLUTION)
def test_equals_the_library_about_corners_edges_and_centres_of_faces(resolution: int) -> None:
    rng = np.random.default_rng(resolution)
    pentagons = np.array([h3.cell_to_latlng(cell) for cell in h3.get_pentagons(0)])
    corners = unit_vectors(*pentagons.T)
    near = np.argwhere(np.triu(corners @ corners.T > 0.4, 1))
    share = rng.uniform(0, 1, (len(near), 60, 1))
    edges = (share * corners[near[:, 0]][:, None] + (1 - share) * corners[near[:, 1]][:, None]).reshape(-1, 3)
    trios = [(a, b, c) for a, b in near for c in range(12) if {(b, c), (a, c)} <= set(map(tuple, near))]
    centres = corners[trios].sum(axis=1)
    assert (len(near), len(centres)) == (30, 20)
    places = np.concatenate([np.repeat(corners, 100, axis=0), edges, np.repeat(centres, 50, axis=0)])
    places /= np.linalg.norm(places, axis=1, keepdims=True)
    for reach in (0, 1e-14, 1e-10, 1e-7, 1e-4, 1e-2, 0.1):
        lat, lon = to_degrees(places + rng.normal(0, 1, places.shape) * reach)
        assert_decided_as_by_the_library(lat, lon, resolution)


@pytest.mark.parametrize("resolution", EVERY_RESOLUTION)
def test_equals_the_library_on_corners_and_edges_of_cells(resolution: int) -> None:
    rng = np.random.default_rng(resolution)
    lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 300))), rng.uniform(-180, 180, 300)
    rings = [np.array(h3.cell_to_boundary(cell)) for cell in library_cells(lat, lon, resolution).tolist()]
    corners = np.concatenate(rings)
    middles = np.concatenate([(ring + np.roll(ring, 1, axis=0)) / 2 for ring in rings])
    lat, lon = np.concatenate([corners, middles]).T
    undecided = assert_decided_as_by_the_library(lat, lon, resolution)
    # Corners are where three cells meet: the kernel must see that it cannot tell.
    assert undecided[: len(corners)].mean() > 0.3


@pytest.mark.parametrize("resolution", [0, 5, 9, 15])
def test_equals_the_library_at_poles_antimeridian_and_round_degrees(resolution: int) -> None:
    grid = np.stack(np.meshgrid(np.arange(-90.0, 91, 5), np.arange(-180.0, 181, 5)), axis=-1).reshape(-1, 2)
    poles = np.array(
        [[sign * (90 - gap), lon] for sign in (1, -1) for gap in (0, 1e-9, 1e-5, 0.01) for lon in (0, 99)]
    )
    lat, lon = np.concatenate([grid, poles]).T
    assert_decided_as_by_the_library(lat, lon, resolution)


def test_pentagonal_neighbourhoods_are_decided_too() -> None:
    rng = np.random.default_rng(0)
    for lat_0, lon_0 in ((39.9, 116.4), (59.9, 10.7), (5.3, -4.0)):
        lat, lon = lat_0 + rng.normal(0, 0.2, 2000), lon_0 + rng.normal(0, 0.2, 2000)
        assert_decided_as_by_the_library(lat, lon, 9)
        assert np.count_nonzero(kernel_cells(lat, lon, 9) == 0) == 0


def test_few_and_many_points_give_the_same_cells() -> None:
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(-90, 90, MANY_POINTS), rng.uniform(-180, 180, MANY_POINTS)
    few = np.concatenate([encode_points(lat[:-1], lon[:-1], 8), encode_points(lat[-1:], lon[-1:], 8)])
    np.testing.assert_array_equal(encode_points(lat, lon, 8), few)


def test_strided_input_is_read_right() -> None:
    pairs = np.random.default_rng(2).uniform(-80, 80, (MANY_POINTS, 2))
    expected = library_cells(pairs[:, 0].copy(), pairs[:, 1].copy(), 7)
    np.testing.assert_array_equal(encode_points(pairs[:, 0], pairs[:, 1], 7), expected)
