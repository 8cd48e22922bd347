"""Land use: kinds that were planted are found again, whatever the order and size of zones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.analysis import Profiles, adjusted_rand, land_use, telling
from tripcloak.ground.errors import ImpossibleRequestError

HOURS = np.arange(24)


def peak(hour: float) -> np.ndarray:
    return np.exp(-((HOURS - hour) ** 2) / 8) + 0.05


HOMES = np.concatenate([peak(8), peak(18)])
OFFICES = np.concatenate([peak(18), peak(8)])
BARS = np.concatenate([peak(23), peak(20)])


def city(kind: np.ndarray, volume: np.ndarray, seed: int = 0) -> Profiles:
    """Return zones of three kinds, with as much chance in their numbers as trips have."""
    shapes = np.stack([HOMES, OFFICES, BARS])
    shapes /= shapes.sum(axis=1, keepdims=True)
    drawn = np.random.default_rng(seed).poisson(shapes[kind] * volume[:, None]).astype(float)
    return Profiles(drawn[:, :24], drawn[:, 24:])


@settings(max_examples=5)
@given(st.integers(0, 10_000))
def test_planted_kinds_are_found_again(seed: int) -> None:
    draw = np.random.default_rng(seed)
    kind = np.concatenate([np.arange(3), draw.integers(0, 3, 27)])
    found = land_use(city(kind, draw.uniform(500, 5000, 30), seed), 3, seed=0)
    assert adjusted_rand(kind, found.cluster) == 1


def test_the_order_of_zones_changes_nothing() -> None:
    kind = np.arange(30) % 3
    profiles = city(kind, np.linspace(400, 4000, 30))
    order = np.random.default_rng(2).permutation(30)
    found = land_use(profiles, 3, seed=0)
    again = land_use(Profiles(*(side[order] for side in profiles)), 3, seed=0)
    np.testing.assert_array_equal(again.cluster, found.cluster[order])
    np.testing.assert_allclose(again.profiles, found.profiles)


def test_kinds_are_numbered_by_volume_and_look_like_their_zones() -> None:
    kind = np.arange(30) % 3
    volume = np.array([1000.0, 9000.0, 3000.0])[kind]
    profiles = city(kind, volume)
    found = land_use(profiles, 3, seed=0)
    held = np.bincount(found.cluster, profiles.volume)
    assert (np.diff(held) < 0).all()
    for number in range(3):
        own = found.cluster == number
        mean = np.average(profiles.shapes[own], axis=0, weights=profiles.volume[own])
        np.testing.assert_allclose(found.profiles[number], mean)


def test_zones_with_too_few_trips_are_left_out() -> None:
    kind = np.arange(9) % 3
    volume = np.full(9, 2000.0)
    volume[[1, 5]] = 20.0
    profiles = city(kind, volume)
    found = land_use(profiles, 3, seed=0)
    assert (found.cluster == -1).tolist() == (~telling(profiles)).tolist()
    assert np.flatnonzero(found.cluster == -1).tolist() == [1, 5]
    heavier = telling(Profiles(*(10 * side for side in profiles)), weight=10.0)
    assert heavier.tolist() == telling(profiles).tolist()


@pytest.mark.parametrize("zones", [1, 2, 40])
def test_zones_that_all_look_alike_have_no_kinds(zones: int) -> None:
    """As those of a release that puts everything into one zone."""
    same = np.tile(HOMES * 1000, (zones, 1)) * np.linspace(1, 3, zones)[:, None]
    with pytest.raises(ImpossibleRequestError, match="too coarse"):
        land_use(Profiles(same[:, :24], same[:, 24:]), 2, seed=0)
