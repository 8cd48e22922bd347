"""Accuracy and errors of samples, against plain definitions and known cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.promises import CoLocation
from tripcloak.trajectories.measures import accuracy, distribution, sample_errors
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease
from worlds.trajectories import identity_release, made, one_box_release, random_release, released


def plain_quantile(values: list[float], share: float) -> float:
    """Return the smallest value that a share of the values does not exceed."""
    return next(v for v in sorted(values) if sum(w <= v for w in values) >= share * len(values) - 1e-9)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=40))
def test_quantiles_are_the_smallest_values_that_a_share_does_not_exceed(values: list[int]) -> None:
    found = distribution(np.array(values, dtype=float))
    assert found.n == len(values)
    assert found.mean == pytest.approx(sum(values) / len(values))
    shares = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
    assert found.quantiles == {name: plain_quantile(values, q) for name, q in shares.items()}  # type: ignore[arg-type]
    expected = [plain_quantile(values, i / 40) for i in range(1, 41)]  # type: ignore[arg-type]
    assert found.curve[::25].tolist() == [min(values), *expected]


def test_no_values_tell_nothing() -> None:
    found = distribution(np.empty(0))
    assert found.n == 0
    assert set(found.to_dict().values()) == {None}


def plain_errors(trajectories: Trajectories, release: TrajectoryRelease) -> dict[str, float]:
    """Return the measures of samples, sample by sample."""
    metres, seconds = release.grid.metres, release.grid.seconds
    spatial, time, cost, lost = [], [], {}, 0
    for i in range(trajectories.n_samples):
        at = int(release.box_of[i])
        if at < 0:
            lost += 1
            continue
        t0, t1, x0, x1, y0, y1 = (float(side[at]) for side in release.boxes)
        dx = (x0 + x1) / 2 - (float(trajectories.x[i]) + 0.5)
        dy = (y0 + y1) / 2 - (float(trajectories.y[i]) + 0.5)
        spatial.append(math.sqrt(dx * dx + dy * dy) * metres / 1000)
        time.append(abs((t0 + t1) / 2 - float(trajectories.t[i]) - 0.5) * seconds / 60)
        size = (t1 - t0) * seconds / 60 * ((x1 - x0) + (y1 - y0)) * metres / 1000
        cost.setdefault(int(trajectories.owner[i]), []).append(size)
    unused = set(range(release.n_boxes)) - set(release.box_of.tolist())
    return {
        "spatial": float(np.mean(spatial)),
        "time": float(np.mean(time)),
        "created": len(unused) / trajectories.n_samples,
        "deleted": lost / trajectories.n_samples,
        "cost": float(np.mean([np.mean(of) for of in cost.values()])),
    }


@given(st.integers(1, 5), st.integers(1, 15), st.integers(0, 10**6), st.booleans())
def test_errors_agree_with_their_definitions(users: int, samples: int, seed: int, deleting: bool) -> None:
    trajectories = made(users=users, samples=samples, seed=seed, grid=Grid(seconds=30, metres=250))
    release = random_release(trajectories, seed=seed, deleting=deleting)
    found = sample_errors(trajectories, release)
    told = {
        "spatial": found.spatial_km.mean,
        "time": found.time_minutes.mean,
        "created": found.created,
        "deleted": found.deleted,
        "cost": found.cost.mean,
    }
    assert told == pytest.approx(plain_errors(trajectories, release))
    assert found.deleted_users == pytest.approx((release.released_of < 0).mean())


def test_samples_that_stand_for_themselves_have_no_error() -> None:
    trajectories = made()
    release = identity_release(trajectories)
    found, sizes = sample_errors(trajectories, release), accuracy(release)
    assert found.spatial_km.curve.max() == 0
    assert found.time_minutes.curve.max() == 0
    assert (found.created, found.deleted, found.deleted_users) == (0, 0, 0)
    assert found.cost.curve == pytest.approx(0.2)
    assert sizes.area_km2.curve == pytest.approx(0.01)
    assert sizes.duration_minutes.curve == pytest.approx(1)


def test_one_box_for_all_is_as_large_as_all() -> None:
    trajectories = made()
    found = accuracy(one_box_release(trajectories))
    wide, high, long = (np.ptp(c) + 1 for c in (trajectories.x, trajectories.y, trajectories.t))
    assert found.area_km2.curve == pytest.approx(wide * high / 100)
    assert found.own_area_km2.curve == pytest.approx(wide * high / 100)
    assert found.duration_minutes.curve == pytest.approx(long)
    assert found.area_km2.n == trajectories.n_users
    assert found.own_area_km2.n == trajectories.n_samples


def test_original_samples_weigh_their_boxes() -> None:
    """Three samples in a long box and one in a short one: the boxes' median is short, the samples' long."""
    trajectories = Trajectories.of(user=["a"] * 4, t=[0, 1, 9, 20], x=[0] * 4, y=[0] * 4, grid=Grid())
    boxes = Boxes(*map(np.array, ([0, 20], [10, 21], [0, 0], [1, 1], [0, 0], [1, 1])))
    release = released(trajectories, np.array([0, 2]), boxes, np.zeros(1), np.array([0, 0, 0, 1]))
    found = accuracy(release)
    assert found.duration_minutes.quantiles["median"] == 1
    assert found.own_duration_minutes.quantiles["median"] == 10
    assert found.own_duration_minutes.mean == pytest.approx(31 / 4)


def test_created_samples_are_a_share_of_the_original_ones() -> None:
    """A method that moves points may add some: two original samples, one kept, one added."""
    trajectories = Trajectories.of(user=["a", "a"], t=[0, 9], x=[0, 0], y=[0, 0], grid=Grid())
    boxes = Boxes(*map(np.array, ([0, 5], [1, 6], [3, 0], [4, 1], [4, 0], [5, 1])))
    release = released(
        trajectories, np.array([0, 2]), boxes, np.zeros(1), np.array([0, -1]), CoLocation(k=2, delta=1.0)
    )
    found = sample_errors(trajectories, release)
    assert (found.created, found.deleted) == (0.5, 0.5)
    assert found.spatial_km.mean == pytest.approx(0.5)
    assert found.time_minutes.mean == 0
    assert found.cost.mean == pytest.approx(0.2)
