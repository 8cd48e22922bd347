"""Jumps are found by what they break, and good neighbours stay."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.trajectories.reading.tracks import distance_km, find_jumps

MINUTE = 60_000_000


def jumps(minutes: list[float], lat: list[float], speed: float = 1000.0) -> list[int]:
    """Return the fixes of one person that are jumps; everybody is on one meridian."""
    instant = (np.array(minutes) * MINUTE).astype(np.int64)
    found = find_jumps(np.array([0, len(lat)]), instant, np.array(lat), np.zeros(len(lat)), speed)
    return np.flatnonzero(found).tolist()


@pytest.mark.parametrize(
    ("lat", "wrong"),
    [
        ([48.0, 48.1, 48.0], []),
        ([48.0, 60.0, 48.0, 48.1], [1]),
        ([60.0, 48.0, 48.1, 48.0], [0]),
        ([48.0, 48.1, 48.0, 60.0], [3]),
        ([48.0, 48.1, 60.0, 60.1, 48.0, 48.1], [2, 3]),
        ([60.0, 60.1, 48.0, 48.1, 48.0], [0, 1]),
        ([48.0, 60.0, 48.1, 60.1, 48.0, 60.0], [1, 3, 5]),
        ([48.0, 60.0], [1]),
    ],
)
def test_the_fewer_are_wrong(lat: list[float], wrong: list[int]) -> None:
    assert jumps(list(range(len(lat))), lat) == wrong


def test_a_flight_is_no_jump_and_a_late_clock_costs_its_neighbours_only() -> None:
    assert jumps([0, 40, 41], [48.0, 53.0, 53.1]) == []
    # Two long stays 555 km apart, one minute between them: fixes go until the journey was possible.
    lat = [48.0] * 100 + [53.0] * 100
    wrong = jumps(list(range(200)), lat)
    assert 20 < len(wrong) < 40
    assert all(place >= 100 for place in wrong)


def test_people_do_not_break_each_other() -> None:
    instant = np.zeros(4, dtype=np.int64)
    lat = np.array([48.0, 48.1, -30.0, -30.1])
    assert not find_jumps(np.array([0, 2, 4]), instant, lat, np.zeros(4), 1000.0).any()


def test_the_antimeridian_is_no_jump() -> None:
    lon = np.array([179.99, -179.99, 179.99])
    instant = np.arange(3) * MINUTE
    assert not find_jumps(np.array([0, 3]), instant, np.zeros(3), lon, 1000.0).any()


@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.sampled_from([0.0, 0.5, 3.0, 8.0, 60.0])), min_size=1, max_size=40
    )
)
def test_what_is_left_can_be_travelled_and_something_always_is(fixes: list[tuple[int, float]]) -> None:
    minutes, lat = zip(*sorted(fixes), strict=True)
    wrong = set(jumps(list(minutes), list(lat)))
    left = [(minutes[place], lat[place]) for place in range(len(lat)) if place not in wrong]
    assert left
    for (before, south), (after, north) in pairwise(left):
        assert distance_km(south, 0.0, north, 0.0) <= (after - before + 1) * 1000 / 60 + 1e-6
    possible = all(
        distance_km(south, 0.0, north, 0.0) <= (after - before + 1) * 1000 / 60
        for (before, south), (after, north) in pairwise(zip(minutes, lat, strict=True))
    )
    assert (not wrong) == possible
