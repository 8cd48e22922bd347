"""Profiles: added up plainly, and nothing lost but what lies outside."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tripcloak.analysis import Profiles, area_overlap, counted_profile, released_profile, time_shares
from worlds.squares import Box, drawn_worlds, shapes, share

SLOTS = 6
TIMES = st.lists(
    st.lists(st.integers(0, SLOTS - 1), min_size=1, max_size=SLOTS, unique=True), min_size=1, max_size=4
)


@st.composite
def released(draw: st.DrawFn) -> tuple[list[Box], list[Box], list[list[int]], list[tuple[int, int, int]]]:
    """Released zones, drawn zones, slots of released times, and flows: zone, time, volume."""
    zones, drawn = draw(drawn_worlds())
    times = draw(TIMES)
    flow = st.tuples(st.integers(0, len(zones) - 1), st.integers(0, len(times) - 1), st.integers(1, 100))
    return zones, drawn, times, draw(st.lists(flow, min_size=1, max_size=6))


@given(released())
def test_a_released_profile_equals_its_plain_twin(world: tuple) -> None:
    zones, drawn, times, flows = world
    overlap = area_overlap(shapes(zones), shapes(drawn))
    zone, time, volume = (np.array(column) for column in zip(*flows, strict=True))
    slots = time_shares([np.array(covered) for covered in times], SLOTS)
    found = released_profile(zone, time, volume, overlap, slots)
    expected = np.zeros((len(drawn), SLOTS))
    for row, at, number in flows:
        for column, box in enumerate(drawn):
            for slot in times[at]:
                expected[column, slot] += number * share(zones[row], box) / len(times[at])
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert found.sum() == pytest.approx((volume * (1 - overlap.outside[zone])).sum())


@given(TIMES)
def test_every_released_time_is_shared_out_as_a_whole(times: list[list[int]]) -> None:
    shares = time_shares([np.array(covered) for covered in times], SLOTS)
    assert shares.shape == (len(times), SLOTS)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2), st.integers(1, 9)), max_size=30))
def test_a_counted_profile_counts(trips: list[tuple[int, int, int]]) -> None:
    counted: Counter[tuple[int, int]] = Counter()
    for zone, slot, volume in trips:
        counted[zone, slot] += volume
    columns = np.array(trips, dtype=float).reshape(-1, 3)
    found = counted_profile(columns[:, 0].astype(int), columns[:, 1].astype(int), columns[:, 2], 4, 3)
    assert found.tolist() == [[counted[zone, slot] for slot in range(3)] for zone in range(4)]


def test_shapes_do_not_depend_on_how_busy_a_zone_is() -> None:
    quiet = Profiles(np.array([[1.0, 3.0]]), np.array([[4.0, 0.0]]))
    busy = Profiles(*(100 * side for side in quiet))
    assert busy.shapes.tolist() == quiet.shapes.tolist()
    assert quiet.shapes.sum() == 1


def test_profiles_drawn_anew_are_as_uncertain_as_the_trips_behind_them() -> None:
    profiles = Profiles(np.full((400, 24), 900.0), np.zeros((400, 24)))
    for weight in (1.0, 100.0):
        again = profiles.redrawn(weight, seed=3)
        assert again.out.mean() == pytest.approx(900, rel=0.02)
        assert again.out.std() == pytest.approx(np.sqrt(900 * weight), rel=0.05)
        assert not again.into.any()
        np.testing.assert_array_equal(again.out, profiles.redrawn(weight, seed=3).out)


def test_a_zone_outside_of_all_drawn_ones_adds_nothing() -> None:
    nowhere = area_overlap(shapes([Box(0, 0, 1, 1)]), shapes([Box(3, 3, 4, 4)]))
    found = released_profile(np.array([0]), np.array([0]), np.array([7.0]), nowhere, csr_array(np.eye(1)))
    assert found.tolist() == [[0.0]]
