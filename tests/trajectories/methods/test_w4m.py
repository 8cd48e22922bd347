"""W4M-LC: the (k, delta) property by brute force, the trash limit, created and deleted samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import pivots as plain
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.methods._kernels.pivots import lst_distances, matched_points
from tripcloak.trajectories.methods.pivots import PivotPoints
from tripcloak.trajectories.methods.w4m import W4M
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.trajectories import made


def uneven(seed: int, users: int) -> Trajectories:
    """Return people with one to a dozen samples each, some of them in one step of time."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), random.integers(1, 13, users))
    t, x, y = (random.integers(0, high, len(user)) for high in (40, 90, 90))
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


def check_release(trajectories: Trajectories, release: TrajectoryRelease, trash: float) -> None:
    """Raise unless the release keeps what it promises, and says what it did."""
    assert min(plain.companions(release)) >= release.promise.k
    discarded = release.released_of < 0
    assert discarded.sum() <= trash * trajectories.n_users
    assert (release.box_of[discarded[trajectories.owner]] == -1).all()
    assert release.facts["discarded_trajectories"] == discarded.sum()
    assert release.facts["deleted_samples"] == release.deleted.sum()
    assert release.facts["created_samples"] == release.created.sum()
    t0, t1, x0, x1, y0, y1 = release.boxes
    assert (t1 - t0 == 1).all()
    assert (x1 - x0 == 1).all()
    assert (y1 - y0 == 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_distances_are_those_of_the_plain_twin(seed: int) -> None:
    points = PivotPoints.of(uneven(seed, 12))
    rows = np.array([0, 3, 4, 7, 8, 11])
    told = points.offsets, (points.t, points.x, points.y), rows, (100.0, 31.5, 2000.0)
    found = lst_distances(*told)
    assert found == pytest.approx(plain.lst_distances(*told))
    assert (found == found.T).all()


@pytest.mark.parametrize("seed", range(3))
def test_matches_are_those_of_the_plain_twin(seed: int) -> None:
    points = PivotPoints.of(uneven(seed, 12))
    rows = np.array([0, 1, 2, 3, 4, 5, 6])
    pivots = np.array([6, 0, 8, 3, 0, 11, 2])
    told = points.offsets, points.t, rows, pivots
    assert matched_points(*told).tolist() == plain.matched_points(*told)


@pytest.mark.parametrize(("k", "chunk"), [(2, 1000), (2, 8), (3, 11), (5, 1000)])
def test_every_released_trajectory_has_company_within_delta(k: int, chunk: int) -> None:
    trajectories = made(users=40, samples=15, seed=k)
    release = W4M(k=k, chunk=chunk, delta=1500, trash=0.2).anonymise(trajectories)
    check_release(trajectories, release, 0.2)
    assert release.promise.kind == "colocation"
    assert release.promise.delta == 1500


@given(
    st.integers(0, 10_000),
    st.integers(2, 5),
    st.sampled_from([0.0, 150.0, 2000.0]),
    st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=40, deadline=None)
def test_it_holds_for_uneven_people(seed: int, k: int, delta: float, trash: float) -> None:
    trajectories = uneven(seed, k + seed % 17)
    check_release(trajectories, W4M(k=k, delta=delta, trash=trash).anonymise(trajectories), trash)


def test_edits_go_no_further_than_needed() -> None:
    """Two points of b are matched, one is deleted; a is the pivot or b is, by who comes first."""
    trajectories = Trajectories.of(
        user=["a", "a", "b", "b", "b"],
        t=[0, 10, 1, 5, 9],
        x=[0, 0, 4, 0, 30],
        y=[0, 0, 0, 0, 40],
        grid=Grid(metres=100),
    )
    release = W4M(k=2, delta=2000, trash=0).anonymise(trajectories)
    assert release.boxes.t0.tolist() == [0, 10, 0, 10]
    assert release.boxes.x0.tolist() == [0, 0, 4, 6]
    assert release.boxes.y0.tolist() == [0, 0, 0, 8]
    assert release.box_of.tolist() == [0, 1, 2, -1, 3]
    assert not release.created.any()


def test_points_are_created_where_the_pivot_has_more() -> None:
    trajectories = Trajectories.of(
        user=["a", "a", "a", "b"], t=[0, 5, 9, 6], x=[0, 1, 2, 3], y=[0, 0, 0, 0], grid=Grid()
    )
    release = W4M(k=2, trash=0).anonymise(trajectories)
    assert release.boxes.t0.tolist() == [0, 5, 9] * 2
    assert release.boxes.x0.tolist() == [0, 1, 2, 0, 3, 2]
    assert release.created.tolist() == [False] * 3 + [True, False, True]
    assert release.box_of.tolist() == [0, 1, 2, 4]


def test_identical_trajectories_are_released_as_they_are() -> None:
    one = made(users=1, samples=10, seed=3)
    same = Trajectories.of(
        user=np.repeat(np.arange(6), 10),
        t=np.tile(one.t, 6),
        x=np.tile(one.x, 6),
        y=np.tile(one.y, 6),
        grid=one.grid,
    )
    release = W4M(k=3, trash=0).anonymise(same)
    assert (release.boxes.t0 == same.t).all()
    assert (release.boxes.x0 == same.x).all()
    assert (release.box_of == np.arange(60)).all()


def test_people_with_one_sample_meet_in_one_place_and_time() -> None:
    trajectories = Trajectories.of(
        user=np.arange(4), t=[0, 1, 700, 702], x=[0, 1, 9, 90], y=np.zeros(4), grid=Grid()
    )
    release = W4M(k=2, delta=400, trash=0).anonymise(trajectories)
    check_release(trajectories, release, 0)
    assert release.boxes.t0[0] == release.boxes.t0[1]
    assert release.boxes.t0[2] == release.boxes.t0[3]
    assert np.ptp(release.boxes.x0[2:]) == 2


def test_samples_of_one_instant_share_a_released_point() -> None:
    trajectories = Trajectories.of(
        user=["a", "a", "b", "b"], t=[4, 4, 4, 4], x=[0, 2, 0, 2], y=[0, 0, 0, 0], grid=Grid()
    )
    release = W4M(k=2, trash=0).anonymise(trajectories)
    assert release.n_boxes == 2
    assert release.box_of.tolist() == [0, 0, 1, 1]


def test_counting_unmatched_points_for_more_deletes_fewer() -> None:
    trajectories = uneven(5, 120)
    little, much = (W4M(k=2, trash=0, unmatched=metres).anonymise(trajectories) for metres in (0.0, 1e6))
    assert much.facts["deleted_samples"] < little.facts["deleted_samples"]


def test_rows_and_threads_play_no_part() -> None:
    trajectories = uneven(9, 60)
    order = np.random.default_rng(0).permutation(trajectories.n_samples)
    mixed = Trajectories.of(
        user=trajectories.owner[order],
        t=trajectories.t[order],
        x=trajectories.x[order],
        y=trajectories.y[order],
        grid=trajectories.grid,
    )
    one = W4M(k=3, chunk=10, jobs=1).anonymise(trajectories)
    other = W4M(k=3, chunk=10, jobs=4).anonymise(mixed)
    assert (one.box_of == other.box_of).all()
    assert all((a == b).all() for a, b in zip(one.boxes, other.boxes, strict=True))
    assert "jobs" not in one.parameters


def test_progress_is_told_chunk_by_chunk() -> None:
    told: list[tuple[str, int, int | None]] = []
    W4M(k=2, chunk=10).anonymise(made(users=40), lambda *step: told.append(step))
    assert told == [("editing chunks", done, 4) for done in range(4)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": -1.0},
        {"delta": float("nan")},
        {"trash": 1.0},
        {"trash": -0.1},
        {"radius": 0.0},
        {"growth": 1.0},
        {"k": 1},
        {"k": 5, "chunk": 9},
        {"chunk": 10_001},
        {"unmatched": -1.0},
        {"jobs": 0},
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        W4M(**wrong)


def test_fewer_people_than_k_are_refused() -> None:
    with pytest.raises(ImpossibleRequestError, match="k = 7"):
        W4M(k=7).anonymise(made(users=6))
