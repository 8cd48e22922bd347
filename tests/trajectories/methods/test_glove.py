"""GLOVE: the groups of the plain greedy rule, nothing deleted, nothing created, k trajectories alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import glove as plain
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.methods import glove as pools
from tripcloak.trajectories.methods.glove import TrajectoryGlove, greedy_groups
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.trajectories import made


def drawn(seed: int, users: int) -> Trajectories:
    """Return people with one to four samples on a small map, so that many costs are equal."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), random.integers(1, 5, users))
    t, x, y = (random.integers(0, high, len(user)) for high in (9, 4, 4))
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


def groups_of(release: TrajectoryRelease) -> list[tuple[int, ...]]:
    """Return the people whose released trajectories are the same."""
    alike: dict[bytes, list[int]] = {}
    for person, (begin, end) in enumerate(zip(release.offsets[:-1], release.offsets[1:], strict=True)):
        alike.setdefault(b"".join(side[begin:end].tobytes() for side in release.boxes), []).append(person)
    return sorted(map(tuple, alike.values()))


@given(st.integers(0, 100_000), st.integers(2, 5), st.integers(0, 6))
@settings(max_examples=40, deadline=None)
def test_groups_are_those_of_merging_all_pairs_at_every_step(seed: int, k: int, more: int) -> None:
    trajectories = drawn(seed, k + more)
    found = greedy_groups(pools.Pool(trajectories), k)
    assert sorted(tuple(members.tolist()) for members in found) == plain.greedy_groups(trajectories, k)
    assert min(map(len, groups_of(TrajectoryGlove(k=k).anonymise(trajectories)))) >= k


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_groups_of_people_far_apart_are_those_of_the_plain_rule(k: int) -> None:
    trajectories = made(users=13, samples=8, seed=k)
    release = TrajectoryGlove(k=k).anonymise(trajectories)
    assert groups_of(release) == plain.greedy_groups(trajectories, k)
    assert release.facts["largest_group"] == max(map(len, groups_of(release)))


def test_bounds_save_most_merges_of_groups() -> None:
    trajectories = made(users=60, samples=10, seed=1)
    release = TrajectoryGlove(k=4).anonymise(trajectories)
    assert 0 < release.facts["group_merges"] < 60 * 59 / 2


def test_nothing_is_deleted_and_nothing_created() -> None:
    release = TrajectoryGlove(k=3).anonymise(made(users=14, samples=20))
    assert release.promise.kind == "containment"
    assert not release.deleted.any()
    assert not release.created.any()
    assert (release.released_of >= 0).all()


def test_whoever_is_left_over_joins_a_group() -> None:
    trajectories = Trajectories.of(
        user=range(5), t=[0, 0, 500, 500, 501], x=[0, 1, 0, 1, 9], y=np.zeros(5), grid=Grid()
    )
    release = TrajectoryGlove(k=2).anonymise(trajectories)
    assert groups_of(release) == [(0, 1), (2, 3, 4)]


def test_one_group_of_all_where_k_is_everybody() -> None:
    trajectories = made(users=5, samples=6)
    assert groups_of(TrajectoryGlove(k=5).anonymise(trajectories)) == [(0, 1, 2, 3, 4)]


def test_identical_trajectories_are_released_as_they_are() -> None:
    one = made(users=1, samples=10, seed=3)
    columns = {name: np.tile(getattr(one, name), 4) for name in "txy"}
    same = Trajectories.of(user=np.repeat(np.arange(4), 10), **columns, grid=one.grid)
    release = TrajectoryGlove(k=2).anonymise(same)
    assert (release.boxes.t0 == same.t).all()
    assert (release.boxes.x1 == same.x + 1).all()


def test_threads_and_blocks_of_pairs_play_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    trajectories = made(users=30, samples=12, seed=8)
    one = TrajectoryGlove(k=3, jobs=1).anonymise(trajectories)
    monkeypatch.setattr(pools, "PAIRS", 50)
    other = TrajectoryGlove(k=3, jobs=4).anonymise(trajectories)
    assert all((a == b).all() for a, b in zip(one.boxes, other.boxes, strict=True))
    assert one.facts == other.facts


def test_progress_is_told() -> None:
    told: list[tuple[Any, ...]] = []
    TrajectoryGlove(k=2).anonymise(made(users=8), lambda *step: told.append(step))
    assert told[0] == ("merging all pairs", 0, 8)
    assert told[-1] == ("merging groups", 8, 8)


def test_too_many_people_are_pointed_to_k_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TrajectoryGlove, "most_users", 5)
    with pytest.raises(InputError, match=r"5 people at most.*k-scale"):
        TrajectoryGlove().anonymise(made(users=6))


def test_fewer_people_than_k_are_refused() -> None:
    with pytest.raises(ImpossibleRequestError, match="k = 7"):
        TrajectoryGlove(k=7).anonymise(made(users=6))
