"""Displacement laws: groups, densities and slopes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.trajectories.measures import PersonTracks, displacement_laws, paired_tracks, shapes, slopes
from tripcloak.trajectories.measures.displacement import GROUPS_KM, group_of
from tripcloak.trajectories.measures.shape import moves_between
from tripcloak.trajectories.model import Grid
from worlds.trajectories import made, one_box_release, random_release


def walkers(jumps: list[np.ndarray]) -> PersonTracks:
    """Return people who go east by these half steps."""
    x = [np.concatenate(([0], np.cumsum(jump))).astype(np.int64) for jump in jumps]
    offsets = np.cumsum([0, *map(len, x)])
    zero = np.zeros(offsets[-1], dtype=np.int64)
    return PersonTracks(
        Grid(), offsets, np.concatenate([np.arange(len(p)) for p in x]), np.concatenate(x), zero
    )


def test_groups_lie_nearest_their_radius() -> None:
    assert group_of(np.array(GROUPS_KM)).tolist() == [0, 1, 2, 3, 4, 5]
    assert group_of(np.array([0.0, 0.49, 0.51, 1.99, 2.01, 282.0, 283.0])).tolist() == [
        -1,
        -1,
        0,
        0,
        1,
        5,
        -1,
    ]


@given(st.integers(0, 10**6))
def test_moves_are_between_a_persons_own_places(seed: int) -> None:
    trajectories = made(users=4, samples=7, seed=seed, spread=2)
    _, tracks = paired_tracks(trajectories, random_release(trajectories, seed=seed, deleting=True))
    expected = []
    for person in range(tracks.people):
        own = range(tracks.offsets[person], tracks.offsets[person + 1] - 1)
        far = [np.hypot(tracks.x[i + 1] - tracks.x[i], tracks.y[i + 1] - tracks.y[i]) * 0.05 for i in own]
        expected += [(person, km) for km in far if km > 0]
    owner, km = moves_between(tracks)
    assert owner.tolist() == [person for person, _ in expected]
    assert km == pytest.approx([far for _, far in expected])


def test_densities_add_up_to_everything() -> None:
    random = np.random.default_rng(0)
    law = displacement_laws(walkers([random.integers(1, 4000, 5000)]), np.array([10.0]))[10.0]
    width = law.ratio * (10 ** (1 / 12) - 10 ** (-1 / 12))
    assert (law.density * width).sum() == pytest.approx(1)
    assert (law.people, law.moves) == (1, 5000)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.5])
def test_the_slope_of_a_power_law_is_its_exponent(exponent: float) -> None:
    random = np.random.default_rng(3)
    ratio = 0.05 * random.random(200_000) ** (-1 / (exponent - 1))
    jumps = np.round(ratio[ratio < 500] * 10.0 / 0.05)
    laws = displacement_laws(walkers([jumps, jumps]), np.array([10.0, 10.0]))
    assert laws[10.0].slope == pytest.approx(exponent, abs=0.05)
    assert laws[40.0].slope is None


def test_short_moves_do_not_change_a_slope() -> None:
    random = np.random.default_rng(5)
    ratio = 0.3 * random.random(100_000) ** (-1 / 1.0)
    far, near = np.round(ratio[ratio < 500] * 200), random.integers(1, 20, 50_000)
    law = displacement_laws(walkers([far, near]), np.array([10.0, 10.0]))[10.0]
    assert law.moves == len(far) + len(near)
    assert law.slope == pytest.approx(2.0, abs=0.05)


def test_who_never_moves_has_no_law() -> None:
    trajectories = made()
    before, after = paired_tracks(trajectories, one_box_release(trajectories))
    laws = [displacement_laws(tracks, shapes(tracks).radius) for tracks in (before, after)]
    assert sum(law.people for law in laws[0].values()) > 0
    assert sum(law.people for law in laws[1].values()) == 0
    told = slopes(*laws)
    assert list(told) == ["1_km", "4_km", "10_km", "40_km", "100_km", "200_km"]
    assert all(row["difference"] is None for row in told.values())


def test_slopes_are_told_apart_and_together() -> None:
    random = np.random.default_rng(3)
    laws = []
    for exponent in (1.5, 2.0):
        ratio = 0.05 * random.random(20_000) ** (-1 / (exponent - 1))
        laws.append(displacement_laws(walkers([np.round(ratio[ratio < 500] * 200)]), np.array([10.0])))
    row = slopes(*laws)["10_km"]
    assert row["slope_original"] == laws[0][10.0].slope
    assert row["slope_released"] == laws[1][10.0].slope
    assert row["difference"] == pytest.approx(0.5, abs=0.15)
