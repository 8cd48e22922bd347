"""NWA: the (k, delta) property by brute force, trimming, classes, distortion, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import pivots as plain
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.methods._kernels.pivots import mean_distances
from tripcloak.trajectories.methods.nwa import NWA, places_at
from tripcloak.trajectories.methods.pivots import PivotPoints
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.trajectories import made

HOUR = 3600


def walkers(seed: int, users: int, *, start: int = 0) -> Trajectories:
    """Return people who walk for a few hours each, sampled every now and then."""
    random = np.random.default_rng(seed)
    grid = Grid(start=start)
    rows = []
    for user in range(users):
        begin, hours = 60 * random.integers(0, 2), random.integers(2, 5)
        times = np.unique(np.append(begin + random.integers(0, 60 * hours, 6), (begin, begin + 60 * hours)))
        steps = random.integers(-12, 13, size=(len(times), 2)).cumsum(axis=0)
        rows += [(user, t, *place) for t, place in zip(times, steps, strict=True)]
    user, t, x, y = zip(*rows, strict=True)
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=grid)


def check_release(trajectories: Trajectories, release: TrajectoryRelease, trash: float) -> None:
    """Raise unless the release keeps what it promises, and says what it did."""
    assert min(plain.companions(release)) >= release.promise.k
    discarded = release.released_of < 0
    assert discarded.sum() <= trash * trajectories.n_users
    assert release.facts["discarded_trajectories"] == discarded.sum()
    assert release.facts["deleted_samples"] == release.deleted.sum()
    assert release.facts["created_samples"] == release.created.sum()
    kept = release.box_of >= 0
    late = release.boxes.t0[release.box_of[kept]] - trajectories.t[kept]
    step = release.parameters["sampling"] // release.grid.seconds
    assert np.abs(late).max(initial=0) <= step / 2


def test_distances_are_those_of_the_plain_twin() -> None:
    x, y = np.random.default_rng(0).integers(-50, 50, size=(2, 9, 7)).astype(np.int32)
    assert mean_distances(x, y) == pytest.approx(plain.mean_distances(x, y))


def test_places_between_points_lie_on_a_line() -> None:
    trajectories = walkers(1, 5)
    points, grid = PivotPoints.of(trajectories), trajectories.grid
    rows, times = np.array([0, 2, 4]), np.arange(60, 180, 13)
    x, y = places_at(points, grid, rows, times)
    for i, row in enumerate(rows):
        own = slice(*points.offsets[row : row + 2])
        path = list(zip(points.t[own].tolist(), points.x[own].tolist(), points.y[own].tolist(), strict=True))
        for j, time in enumerate(times.tolist()):
            east, north = plain.place_at(path, time)
            assert (x[i, j], y[i, j]) == (np.rint(east), np.rint(north))


@pytest.mark.parametrize("start", [0, 86_400 + 600])
@pytest.mark.parametrize(("k", "chunk"), [(2, 1000), (2, 6), (3, 1000)])
def test_every_released_trajectory_has_company_within_delta(k: int, chunk: int, start: int) -> None:
    trajectories = walkers(k, 60, start=start)
    method = NWA(k=k, delta=1500, trash=0.3, period=HOUR, sampling=600, chunk=chunk)
    release = method.anonymise(trajectories)
    check_release(trajectories, release, 0.3)
    assert release.promise.kind == "colocation"
    assert release.promise.delta == 1500
    begins = release.boxes.t0[release.offsets[:-1]]
    ends = release.boxes.t0[release.offsets[1:] - 1]
    assert (trajectories.grid.times(begins) % HOUR == 0).all()
    assert (trajectories.grid.times(ends) % HOUR == 0).all()


@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([0.0, 300.0, 2000.0]))
@settings(max_examples=30, deadline=None)
def test_it_holds_for_all_walkers(seed: int, k: int, delta: float) -> None:
    trajectories = walkers(seed, k + seed % 23)
    try:
        release = NWA(k=k, delta=delta, trash=0.5, period=HOUR, sampling=1200).anonymise(trajectories)
    except ImpossibleRequestError:
        spans = {}
        for own in np.split(trajectories.t, trajectories.offsets[1:-1]):
            span = (-(-own[0] // 60), own[-1] // 60)
            spans[span] = spans.get(span, 0) + 1
        alone = sum(people for (a, b), people in spans.items() if b < a or people < k)
        assert alone > trajectories.n_users // 2
    else:
        check_release(trajectories, release, 0.5)


def test_worked_example() -> None:
    """Two people a step of time apart: cut to the hour, moved from 40 to 10 steps off their middle."""
    trajectories = Trajectories.of(
        user=["a", "a", "a", "b", "b", "b"],
        t=[-5, 0, 60, 0, 55, 62],
        x=[0, 0, 0, 80, 80, 80],
        y=[0, 0, 0, 0, 0, 0],
        grid=Grid(metres=100),
    )
    release = NWA(k=2, delta=2000, trash=0, period=HOUR, sampling=1800).anonymise(trajectories)
    assert release.boxes.t0.tolist() == [0, 30, 60] * 2
    assert release.boxes.x0.tolist() == [30] * 3 + [50] * 3
    assert release.box_of.tolist() == [-1, 0, 2, 3, 5, -1]
    assert release.created.tolist() == [False, True, False] * 2
    assert release.facts["omega_metres"] == 3000
    assert release.facts["information_distortion_metres"] == 3000
    assert release.facts["radius_metres"] >= 8000


def test_points_that_are_cut_count_for_the_longest_move() -> None:
    """Moves of 2, 7 and 12 steps for both, and one point of the first one is cut off."""
    trajectories = Trajectories.of(
        user=["a", "a", "b", "b"], t=[-40, 60, 0, 60], x=[0, 0, 24, 44], y=np.zeros(4), grid=Grid(metres=100)
    )
    release = NWA(k=2, delta=2000, trash=0, period=HOUR, sampling=1800).anonymise(trajectories)
    assert release.boxes.x0.tolist() == [2, 7, 12, 22, 27, 32]
    assert release.facts["omega_metres"] == 1200
    assert release.facts["information_distortion_metres"] == pytest.approx(100 * (2 * (2 + 7 + 12) + 12) / 7)


def test_who_has_no_whole_period_is_discarded_and_counted() -> None:
    trajectories = Trajectories.of(
        user=["a", "a", "b", "b", "c", "d"],
        t=[0, 60, 0, 60, 7, 60],
        x=np.arange(6),
        y=np.zeros(6),
        grid=Grid(),
    )
    release = NWA(k=2, trash=0.5, period=HOUR, sampling=HOUR).anonymise(trajectories)
    assert release.released_of.tolist() == [0, 1, -1, -1]
    assert release.facts["without_whole_period"] == 1
    assert release.box_of.tolist() == [0, 1, 2, 3, -1, -1]


def test_people_with_one_sample_on_the_hour_may_meet() -> None:
    trajectories = Trajectories.of(user=[0, 1], t=[60, 60], x=[0, 90], y=[0, 0], grid=Grid())
    release = NWA(k=2, trash=0, period=HOUR, sampling=HOUR).anonymise(trajectories)
    assert release.boxes.x0.tolist() == [35, 55]


def test_identical_trajectories_are_not_moved() -> None:
    one = walkers(3, 1)
    columns = {name: np.tile(getattr(one, name), 4) for name in "txy"}
    same = Trajectories.of(user=np.repeat(np.arange(4), one.n_samples), **columns, grid=one.grid)
    release = NWA(k=2, trash=0, period=HOUR, sampling=600).anonymise(same)
    assert release.facts["omega_metres"] == 0
    assert release.facts["information_distortion_metres"] == 0


def test_radius_grows_for_all_classes_together() -> None:
    """A pair far apart alone in its class may be discarded, as long as the whole keeps the limit."""
    near = [(u, t, u, 0) for u in range(18) for t in (0, 60)]
    far = [(u, t, 900 * u, 0) for u in (18, 19) for t in (0, 120)]
    user, t, x, y = zip(*near, *far, strict=True)
    trajectories = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    release = NWA(k=2, trash=0.1, period=HOUR, sampling=HOUR).anonymise(trajectories)
    assert np.flatnonzero(release.released_of < 0).tolist() == [18, 19]
    assert release.facts["radius_metres"] == 2000


def test_rows_and_threads_play_no_part() -> None:
    trajectories = walkers(9, 60)
    order = np.random.default_rng(0).permutation(trajectories.n_samples)
    columns = {name: getattr(trajectories, name)[order] for name in "txy"}
    mixed = Trajectories.of(user=trajectories.owner[order], **columns, grid=trajectories.grid)
    told = {"k": 2, "chunk": 5, "trash": 0.3, "period": HOUR}
    one = NWA(**told, jobs=1).anonymise(trajectories)
    other = NWA(**told, jobs=4).anonymise(mixed)
    assert (one.box_of == other.box_of).all()
    assert all((a == b).all() for a, b in zip(one.boxes, other.boxes, strict=True))
    assert "jobs" not in one.parameters


def test_progress_is_told() -> None:
    told: list[tuple[Any, ...]] = []
    NWA(k=2, trash=0.5, period=HOUR).anonymise(walkers(1, 40), lambda *step: told.append(step))
    assert {what for what, _, _ in told} == {"clustering chunks", "moving chunks"}
    assert all(done < total for _, done, total in told)


def test_a_shorter_period_that_would_do_is_named() -> None:
    user = np.repeat(np.arange(10), 2)
    trajectories = Trajectories.of(user=user, t=np.tile([30, 150], 10), x=user, y=user * 0, grid=Grid())
    with pytest.raises(ImpossibleRequestError, match="; a period of 7200 s would do"):
        NWA(k=2, period=4 * HOUR, sampling=1800).anonymise(trajectories)
    assert NWA(k=2, period=2 * HOUR, sampling=1800).anonymise(trajectories).n_released == 10


def test_a_longer_period_that_would_do_is_named() -> None:
    """All begin and end in different hours, but hold the same three hours."""
    user = np.repeat(np.arange(6), 2)
    t = np.array([[180 - 60 * (i % 3) - 1, 360 + 60 * (i // 3) + 1] for i in range(6)]).ravel()
    trajectories = Trajectories.of(user=user, t=t, x=user, y=user * 0, grid=Grid())
    with pytest.raises(ImpossibleRequestError, match="; a period of 10800 s would do"):
        NWA(k=3, period=HOUR).anonymise(trajectories)
    assert NWA(k=3, period=3 * HOUR).anonymise(trajectories).n_released == 6


def test_the_trash_limit_that_is_named_does() -> None:
    trajectories = Trajectories.of(
        user=[0, 0, 1, 1, 2, 3, 4], t=[0, 60, 0, 60, 7, 8, 9], x=np.zeros(7), y=np.zeros(7), grid=Grid()
    )
    with pytest.raises(ImpossibleRequestError, match=r"; a trash limit of 0\.60 would do"):
        NWA(k=2, period=HOUR, sampling=HOUR).anonymise(trajectories)
    assert NWA(k=2, period=HOUR, sampling=HOUR, trash=0.6).anonymise(trajectories).n_released == 2


def test_nothing_is_advised_where_nothing_would_do() -> None:
    trajectories = Trajectories.of(user=[0, 1], t=[7, 8], x=[0, 0], y=[0, 0], grid=Grid())
    with pytest.raises(ImpossibleRequestError, match="no other period and no trash limit would do"):
        NWA(k=2).anonymise(trajectories)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": -1.0},
        {"trash": 1.0},
        {"period": 3000, "sampling": 900},
        {"sampling": 0},
        {"period": 60, "sampling": 600},
        {"k": 5, "chunk": 9},
        {"growth": math.inf},
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        NWA(**wrong)


def test_a_sampling_step_off_the_grid_is_refused() -> None:
    with pytest.raises(InputError, match="no multiple of the resolution, 60 s"):
        NWA(sampling=90, period=900).anonymise(made())


def test_more_points_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    trajectories = walkers(1, 40)
    method = NWA(k=2, trash=0.5, period=HOUR)
    points = method.anonymise(trajectories).n_boxes
    monkeypatch.setattr(NWA, "most_points", points // 2)
    with pytest.raises(InputError, match="longer sampling step"):
        method.anonymise(trajectories)
