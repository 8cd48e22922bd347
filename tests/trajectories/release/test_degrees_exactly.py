"""Boxes in degrees on maps that can be worked out by hand: every number, and not only that it is enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tripcloak.trajectories.release import degrees
from tripcloak.trajectories.release.degrees import Bending, Degrees, bending_of, degrees_of
from tripcloak.trajectories.release.release import Boxes


class Map:
    """A map whose steps are metres, and whose degrees follow from two formulas."""

    def __init__(self, lon: Callable[[Any, Any], Any], lat: Callable[[Any, Any], Any]) -> None:
        self.lon, self.lat = lon, lat

    def places(self, steps: np.ndarray) -> np.ndarray:
        return steps

    def unproject(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.lon(x, y), np.float64) + 0 * x, np.asarray(self.lat(x, y), np.float64) + 0 * y


def on(lon: Callable[[Any, Any], Any], lat: Callable[[Any, Any], Any]) -> Any:
    return Map(lon, lat)


def boxes_of(*edges: tuple[int, int, int, int]) -> Boxes:
    sides = [np.array(side, np.int32) for side in zip(*edges, strict=True)]
    return Boxes(np.zeros_like(sides[0]), np.ones_like(sides[0]), *sides)


FLAT = on(lambda x, y: x / 1000, lambda x, y: y / 1000)


def told(found: Degrees) -> list[list[float]]:
    return np.round(np.array(found).T, 9).tolist()


@pytest.mark.parametrize(("far", "steep"), [(1000, 1.0), (80_000, 0.1)])
def test_squares_bend_as_twice_their_second_difference_says(far: int, steep: float) -> None:
    """Twice what is seen, which is twice the factor: over 100 km at least, or as far as boxes go."""
    curved = on(lambda x, y: 7 + 3e-9 * steep * x**2, lambda x, y: 2e-9 * steep * y**2 + 1e-9 * steep * x**2)
    found = bending_of(curved, boxes_of((-far, 0, -far, 0), (0, far, 0, far)))
    assert found is not None
    assert found.lon == pytest.approx(1.2e-8 * steep, rel=1e-6)
    assert found.lat == pytest.approx(8e-9 * steep, rel=1e-6)
    assert found.middle == pytest.approx(7)
    turned = on(curved.lat, curved.lon)
    swapped = bending_of(turned, boxes_of((-far, far, -far, far)))
    assert swapped is not None
    assert (swapped.lon, swapped.lat) == pytest.approx((found.lat, found.lon), rel=1e-6)


def test_longitudes_are_told_from_the_middle_of_all_boxes() -> None:
    found = bending_of(
        on(lambda x, y: x / 1e5 + y / 3e5, lambda x, y: y / 1e6),
        boxes_of((0, 1000, 600_000, 900_000), (500, 2000, 500_000, 800_000)),
    )
    assert found is not None
    assert found.middle == pytest.approx(1000 / 1e5 + 700_000 / 3e5)


def test_the_lattice_lies_around_the_boxes() -> None:
    seen: list[tuple[float, ...]] = []

    def watched(x: Any, y: Any) -> Any:
        seen.append((*np.shape(x), x.min(), x.max(), y.min(), y.max()))
        return x / 1e6

    bending_of(
        on(watched, lambda x, y: y / 1e6),
        boxes_of((0, 1000, 600_000, 900_000), (500, 2000, 500_000, 800_000)),
    )
    assert seen == [(65, 65, -49_000.0, 51_000.0, 500_000.0, 900_000.0)]


@pytest.mark.parametrize(
    ("latitude", "bends"), [(79.99, True), (80.0, False), (-79.99, True), (-80.0, False)]
)
def test_near_a_pole_corners_will_not_do(latitude: float, bends: bool) -> None:
    found = bending_of(on(lambda x, y: 0.0, lambda x, y: latitude), boxes_of((0, 1, 0, 1)))
    assert (found is not None) is bends


def test_one_place_near_a_pole_is_enough() -> None:
    assert bending_of(on(lambda x, y: 0.0, lambda x, y: 80.0 * (y / y.max())), boxes_of((0, 1, 0, 1))) is None


def test_where_a_map_ends_corners_will_not_do() -> None:
    def holed(x: Any, y: Any) -> Any:
        return np.where((x == x.max()) & (y == y.max()), np.inf, 0.0)

    for lon, lat in ((holed, lambda x, y: 0.0), (lambda x, y: 0.0, holed)):
        assert bending_of(on(lon, lat), boxes_of((0, 1, 0, 1))) is None


def test_longitudes_are_turned_around_the_middle() -> None:
    across = on(lambda x, y: (x / 1000 + 179.0 + 180) % 360 - 180, lambda x, y: y / 1000)
    found = bending_of(across, boxes_of((-1000, 3000, 0, 10)))
    assert found is not None
    assert found.lon == pytest.approx(0.0, abs=1e-12)
    assert told(degrees_of(across, boxes_of((0, 2000, 0, 10)), Bending(0.0, 0.0, 180.0))) == [
        [178.999999, -0.000001, 181.000001, 0.010001]
    ]
    assert told(degrees_of(across, boxes_of((1500, 2000, 0, 10)), Bending(0.0, 0.0, 180.0))) == [
        [-179.500001, -0.000001, -178.999999, 0.010001]
    ]


def test_a_box_grows_by_an_eighth_of_its_longer_side_squared_times_the_bending() -> None:
    """8 km long: 8e6 times 8e-12 are 0.000064 degrees of longitude, and twice as many of latitude."""
    found = degrees_of(FLAT, boxes_of((1000, 9000, 2000, 2100)), Bending(8e-12, 1.6e-11, 0.0))
    assert told(found) == [[0.999935, 1.999871, 9.000065, 2.100129]]
    found = degrees_of(FLAT, boxes_of((2000, 2100, 1000, 9000)), Bending(8e-12, 1.6e-11, 0.0))
    assert told(found) == [[1.999935, 0.999871, 2.100065, 9.000129]]


def test_boxes_that_would_grow_too_much_are_walked_around() -> None:
    found = degrees_of(FLAT, boxes_of((0, 1000, 0, 1000), (0, 10, 0, 10)), Bending(1.6e-6, 0.0, 0.0))
    assert told(found) == [
        [-0.000001, -0.000001, 1.000001, 1.000001],
        [-0.000021, -0.000001, 0.010021, 0.010001],
    ]


def test_a_walk_around_a_flat_box_is_its_edges() -> None:
    found = degrees._walked_part(FLAT, boxes_of((1000, 2000, 3000, 5000), (0, 10, 0, 20)))
    assert told(found) == [[1.0, 3.0, 2.0, 5.0], [0.0, 0.0, 0.01, 0.02]]


def test_a_walk_sees_what_bends_between_two_strides() -> None:
    """Along a square the second difference is 2 at a metre a stride: one more on each side."""
    found = degrees._walked_part(
        on(lambda x, y: x**2 / 100, lambda x, y: y**2 / 50), boxes_of((0, 16, 0, 16))
    )
    assert told(found) == [[-0.01, -0.02, 2.57, 5.14]]


@pytest.mark.parametrize("which", ["lon", "lat"])
def test_a_box_of_which_one_point_lies_nowhere_may_be_anywhere(which: str) -> None:
    def holed(x: Any, y: Any) -> Any:
        return np.where((x == 10) & (y == 10), np.nan, x / 1000)

    places = {"lon": lambda x, y: x / 1000, "lat": lambda x, y: y / 1000, which: holed}
    found = degrees._walked_part(on(**places), boxes_of((0, 10, 0, 10), (20, 30, 20, 30)))  # type: ignore[arg-type]
    assert told(found)[0] == [-180.0, -90.0, 180.0, 90.0]
    assert told(found)[1][0] == 0.02


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("wide", "around"), [(44.9, False), (45.1, True)])
def test_half_the_longitudes_at_a_stride_are_all_of_them(side: float, wide: float, around: bool) -> None:
    leap = on(lambda x, y: np.where(x > 5, wide, 0.0), lambda x, y: side * (10.0 + y / 1000))
    (found,) = told(degrees._walked_part(leap, boxes_of((0, 10, 0, 10))))
    assert ((found[0], found[2]) == (-180.0, 180.0)) == around
    assert (90.0 * side in found) == around
    assert -90.0 * side not in found


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ((1.0, 2.0, 3.0, 4.0), (0.999999, 1.999999, 3.000001, 4.000001)),
        ((1.0000005, 2.0000005, 3.0000005, 4.0000005), (1.0, 2.0, 3.000001, 4.000001)),
        ((1.000000002, 2.0, 2.999999998, 4.0), (1.0, 1.999999, 3.0, 4.000001)),
        ((181.5, 0.5, 182.5, 1.5), (-178.500001, 0.499999, -177.499999, 1.500001)),
        ((-181.5, 0.5, -180.5, 1.5), (178.499999, 0.499999, 179.500001, 1.500001)),
        ((-180.0, -90.0, 180.0, 90.0), (-180.0, -90.0, 180.0, 90.0)),
        ((0.0, -89.9999999, 359.9999, 89.9999999), (-0.000001, -90.0, 359.999901, 90.0)),
        ((0.000001, 0.5, 359.999999, 1.5), (-180.0, 0.499999, 180.0, 1.500001)),
        ((179.5, 0.5, 180.5, 1.5), (179.499999, 0.499999, 180.500001, 1.500001)),
        ((-179.9999985, 0.5, -179.5, 1.5), (-179.999999, 0.499999, -179.499999, 1.500001)),
    ],
)
def test_degrees_are_rounded_outwards_and_begin_on_this_side(given: Any, right: Any) -> None:
    found = degrees._rounded(Degrees(*(np.array([side]) for side in given)))
    assert told(found) == [pytest.approx(list(right), abs=1e-9)]
