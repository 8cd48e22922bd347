"""Shares of released zones in drawn ones: counted square by square, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.analysis import area_overlap, equal_area, point_overlap, spread_over
from tripcloak.analysis.overlap import EARTH_KM, refuse_overlaps
from tripcloak.ground.errors import InputError
from worlds.squares import SIDE, Box, boards, drawn_worlds, shapes, share, some_boxes


@given(drawn_worlds())
def test_shares_are_those_counted_square_by_square(world: tuple[list[Box], list[Box]]) -> None:
    zones, drawn = world
    found = area_overlap(shapes(zones), shapes(drawn))
    expected = [[share(zone, box) for box in drawn] for zone in zones]
    np.testing.assert_allclose(found.shares.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(found.outside, 1 - np.sum(expected, axis=1), atol=1e-12)


@given(drawn_worlds())
def test_shares_by_tiles_are_those_of_centres_one_by_one(world: tuple[list[Box], list[Box]]) -> None:
    zones, drawn = world
    tiles = [(row, x + 0.5, y + 0.5) for row, zone in enumerate(zones) for x, y in sorted(zone.squares)]
    row, x, y = (np.array(column) for column in zip(*tiles, strict=True))
    found = point_overlap(row, shapely.points(x, y), shapes(drawn), len(zones))
    expected = [[share(zone, box) for box in drawn] for zone in zones]
    np.testing.assert_allclose(found.shares.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(found.outside, 1 - np.sum(expected, axis=1), atol=1e-12)


@given(st.lists(some_boxes(), min_size=1, max_size=5), st.lists(some_boxes(), min_size=1, max_size=5))
def test_shares_of_a_zone_never_add_up_to_more_than_one(zones: list[Box], drawn: list[Box]) -> None:
    """Not even where drawn zones overlap."""
    found = area_overlap(shapes(zones), shapes(drawn))
    total = found.shares.sum(axis=1)
    assert (total <= 1 + 1e-9).all()
    assert (found.shares.data > 0).all()
    assert ((total + found.outside <= 1 + 1e-9) | (total >= 1 - 1e-9)).all()


@given(st.lists(some_boxes(), min_size=1, max_size=5), boards())
def test_nothing_is_outside_of_zones_that_cover_everything(zones: list[Box], drawn: list[Box]) -> None:
    found = area_overlap(shapes(zones), shapes(drawn))
    assert not found.outside.any()
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)


def test_a_zone_that_lies_in_another_but_for_a_sliver_lies_in_it_as_a_whole() -> None:
    zones = np.array([shapely.box(0, 0, 1, 1)])
    drawn = np.array([shapely.box(0, 0, 0.9995, 1), shapely.box(0.9995, 0, 2, 1)])
    found = area_overlap(zones, drawn)
    assert found.shares.toarray().tolist() == [[1.0, 0.0]]
    assert found.outside.tolist() == [0.0]


def test_a_point_lies_in_the_first_zone_that_it_touches() -> None:
    zones = np.array([shapely.Point(1, 0.5), shapely.Point(9, 9), shapely.Polygon()])
    found = area_overlap(zones, np.array([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)]))
    assert found.shares.toarray().tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert found.outside.tolist() == [0.0, 1.0, 1.0]


def test_a_tile_on_the_edge_of_two_zones_counts_once() -> None:
    drawn = np.array([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)])
    found = point_overlap(np.array([0]), shapely.points([[1.0, 0.5]]), drawn, 1)
    assert found.shares.sum() == 1


@pytest.mark.parametrize("south", [-80.0, 0.0, 33.0, 70.0])
def test_areas_are_true_at_every_latitude(south: float) -> None:
    """A band of the sphere is 2 pi r2 times the difference of the sines of its edges."""
    band = equal_area(np.array([shapely.box(-180, south, 180, south + 10)]))[0].area
    sines = np.sin(np.radians([south, south + 10]))
    assert band == pytest.approx(2 * np.pi * EARTH_KM**2 * (sines[1] - sines[0]))


@given(drawn_worlds())
def test_a_zone_spreads_over_no_more_zones_than_it_touches(world: tuple[list[Box], list[Box]]) -> None:
    shares = area_overlap(*map(shapes, world)).shares
    touched = np.diff(shares.indptr)
    assert (spread_over(shares) <= touched + 1e-9).all()
    assert ((spread_over(shares) >= 1 - 1e-9) == (touched > 0)).all()


@given(boards())
def test_zones_that_only_share_edges_pass(drawn: list[Box]) -> None:
    refuse_overlaps(shapes(drawn), np.array([f"z{row}" for row in range(len(drawn))]))


@given(boards(), some_boxes())
def test_zones_that_overlap_are_refused_by_name(drawn: list[Box], again: Box) -> None:
    names = np.array([f"z{row}" for row in range(len(drawn))] + ["again"])
    with pytest.raises(InputError, match=r"the zones z\d+ and again overlap"):
        refuse_overlaps(shapes([*drawn, again]), names)


def test_it_is_said_how_many_more_overlap() -> None:
    drawn = shapes([Box(0, 0, SIDE, SIDE), Box(0, 0, 2, 2), Box(3, 3, 5, 5)])
    with pytest.raises(InputError, match=r"and 1 more pairs do"):
        refuse_overlaps(drawn, np.array(["a", "b", "c"]))
