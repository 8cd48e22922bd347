"""Clusters round pivots: points, chunks, discs and growing radii, against plain twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import pivots as plain
from tripcloak.trajectories.methods._kernels.pivots import greedy_clusters
from tripcloak.trajectories.methods.pivots import PivotPoints, chunks, grown_clusters, moved_into_disc, ranges
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.trajectories import made


def distances(seed: int, n: int, *, ties: bool) -> np.ndarray:
    random = np.random.default_rng(seed)
    at = random.integers(0, 6, size=(n, 2)).astype(float) if ties else random.normal(size=(n, 2))
    return np.abs(at[:, None] - at).sum(axis=2)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_clusters_are_those_of_the_plain_twin(k: int, ties: bool) -> None:
    seen = set()
    for seed in range(25):
        distance = distances(seed, 5 + seed, ties=ties)
        radius = float(np.quantile(distance, 0.02 + seed / 40))
        found = greedy_clusters(distance, k, radius).tolist()
        assert found == plain.greedy_clusters(distance, k, radius)
        seen |= {"discarded" if -1 in found else "all", "clusters" if max(found) >= 0 else "none"}
    assert seen >= {"discarded", "all", "clusters"}


def test_clusters_hold_k_or_more_within_the_radius() -> None:
    distance = distances(1, 60, ties=False)
    pivot_of = greedy_clusters(distance, 4, 0.8)
    kept = np.flatnonzero(pivot_of >= 0)
    assert 0 < len(kept) < 60
    assert np.bincount(pivot_of[kept])[np.unique(pivot_of[kept])].min() >= 4
    assert distance[kept, pivot_of[kept]].max() <= 0.8


def test_the_radius_grows_no_further_than_it_must() -> None:
    distance = distances(2, 50, ties=False)
    found = grown_clusters(distance, k=3, spare=5, radius=0.01, growth=1.3)
    assert np.count_nonzero(found.pivot_of < 0) <= 5
    before = greedy_clusters(distance, 3, found.radius / 1.3)
    assert np.count_nonzero(before < 0) > 5


def test_nothing_need_be_discarded() -> None:
    found = grown_clusters(distances(3, 11, ties=False), k=5, spare=0, radius=1e-6, growth=10)
    assert (found.pivot_of >= 0).all()


def test_chunks_hold_everybody_once_and_are_compact() -> None:
    at = np.random.default_rng(0).uniform(size=(2, 1003))
    split = chunks(*at, 100)
    sizes = [len(rows) for rows in split]
    assert sorted(np.concatenate(split).tolist()) == list(range(1003))
    assert len(split) == 11
    assert max(sizes) <= 100
    assert max(sizes) - min(sizes) <= 4
    assert np.mean([np.ptp(at[0][rows]) * np.ptp(at[1][rows]) for rows in split]) < 0.15


@given(
    st.lists(st.tuples(st.integers(-300, 300), st.integers(-300, 300)), min_size=1, max_size=30),
    st.floats(0, 4000, allow_nan=False),
    st.integers(1, 130),
)
@settings(max_examples=60, deadline=None)
def test_places_moved_into_a_disc_lie_in_it_and_go_no_further_than_needed(
    away: list[tuple[int, int]], delta: float, metres: int
) -> None:
    x, y = np.array(away).T
    centre = (np.full(len(x), 7), np.full(len(x), -5))
    moved = moved_into_disc(x + 7, y - 5, centre, grid=Grid(metres=metres), delta=delta)
    radius = delta / 2 / metres
    for before, after_x, after_y in zip(away, moved[0] - 7, moved[1] + 5, strict=True):
        now = math.hypot(after_x, after_y)
        assert now <= radius * (1 + 1e-12)
        if math.hypot(*before) <= radius * (1 - 1e-12):
            assert (after_x, after_y) == before
        elif math.hypot(*before) > radius * (1 + 1e-12):
            assert now > radius - 2
            assert now <= math.hypot(*before)


def test_samples_of_one_step_of_time_are_one_point() -> None:
    grid = Grid()
    both = Trajectories.of(
        user=[0, 0, 0, 1, 1], t=[3, 3, 4, 4, 4], x=[0, 9, 1, -1, -2], y=[0, 0, 5, 0, 0], grid=grid
    )
    points = PivotPoints.of(both)
    assert points.t.tolist() == [3, 4, 4]
    assert points.x.tolist() == [4, 1, -2]
    assert points.point_of.tolist() == [0, 0, 1, 2, 2]
    assert points.lengths.tolist() == [2, 1]
    assert points.centres[0].tolist() == [2.5, -2.0]


def test_pace_is_the_way_of_all_over_the_time_of_all() -> None:
    two = Trajectories.of(user=[0, 0, 1, 1], t=[0, 2, 5, 15], x=[0, 3, 9, 9], y=[0, 4, 1, 1], grid=Grid())
    assert PivotPoints.of(two).pace(Grid(metres=100)) == pytest.approx(100 * 5 / 12)
    still = Trajectories.of(user=[0, 1], t=[0, 2], x=[0, 3], y=[0, 4], grid=Grid())
    assert PivotPoints.of(still).pace(Grid(metres=100)) == 100


def test_spread_is_the_mean_way_from_the_middle_in_space_and_time() -> None:
    two = Trajectories.of(user=[0, 0], t=[0, 2], x=[0, 6], y=[0, 8], grid=Grid())
    assert PivotPoints.of(two).spread(Grid(metres=10)) == pytest.approx(50 + 1 * 50)


def test_points_of_different_times_are_samples() -> None:
    trajectories = made(users=5, samples=9, seed=4)
    points = PivotPoints.of(trajectories)
    assert (points.x == trajectories.x).all()
    assert (points.point_of == np.arange(trajectories.n_samples)).all()


def test_ranges_of_nothing_are_nothing() -> None:
    assert len(ranges(np.array([], dtype=int), np.array([], dtype=int))) == 0
