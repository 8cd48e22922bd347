"""Guesses at whose a released trajectory is hit as often as trying all of them says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import attacks as oracle
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.attacks import attack
from tripcloak.trajectories.attacks.originals import random_points
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.merged_trajectories import merged_release
from worlds.trajectories import made, one_box_release, random_release


def crowd(seed: int) -> tuple[Trajectories, TrajectoryRelease]:
    """Return people in few places and a release of them, which may not be theirs to find."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(9), random.integers(1, 6, size=9))
    x, y = divmod(random.integers(0, 6, size=len(user)), 3)
    t = random.permutation(60)[: len(user)]
    trajectories = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    if seed % 3 == 0:
        return trajectories, random_release(trajectories, seed=seed, deleting=True)
    release = merged_release(trajectories, k=2 + seed % 3)
    # Somebody else's is the right answer now: guesses must be held to it, whatever they find.
    return trajectories, replace(release, released_of=random.permutation(release.released_of))


@given(seed=st.integers(0, 10_000), known=st.sampled_from([None, 1, 2, 4]))
@settings(max_examples=60, deadline=None)
def test_guesses_hit_what_trying_all_says(seed: int, known: int | None) -> None:
    trajectories, release = crowd(seed)
    released = oracle.boxes_of(release)
    rows = np.arange(trajectories.n_samples) if known is None else random_points(trajectories, known, seed)
    found = attack(trajectories, "owner", knowledge=known, release=release, seed=seed)
    for person in range(trajectories.n_users):
        mine = [
            (int(trajectories.t[s]), int(trajectories.x[s]), int(trajectories.y[s]))
            for s in rows[trajectories.owner[rows] == person]
        ]
        number, chances = oracle.guess_owners(
            mine, released, int(release.released_of[person]), whole=known is None
        )
        assert found.matches[person] == number
        assert {name: right[person] for name, right in found.chances.items()} == pytest.approx(chances)


def test_all_that_are_the_same_leave_one_guess_in_so_many() -> None:
    trajectories = made(users=8, samples=5, seed=1)
    found = attack(trajectories, "owner", release=one_box_release(trajectories))
    for guess in ("blind", "most-boxes", "shortest", "least-cost", "innermost"):
        assert found.summary()["named"][guess] == pytest.approx(1 / 8)


def test_own_samples_alone_are_named_by_whoever_takes_the_smallest_boxes() -> None:
    """Two people in the same places: one is released as he was, the other in a box that holds both."""
    trajectories = Trajectories.of(user=[0, 0, 1, 1], t=[0, 3, 1, 2], x=[0] * 4, y=[0] * 4, grid=Grid())
    exact = random_release(trajectories)
    wide = one_box_release(trajectories)
    boxes = type(wide.boxes)(
        *(
            np.concatenate([side[:1], other])
            for side, other in zip(wide.boxes, ([1, 2], [2, 3], [0, 0], [1, 1], [0, 0], [1, 1]), strict=True)
        )
    )
    release = replace(exact, offsets=np.array([0, 1, 3]), boxes=boxes, released_of=np.array([0, 1]))
    found = attack(trajectories, "owner", release=release)
    assert found.matches.tolist() == [1, 2]
    assert found.chances["least-cost"].tolist() == [1.0, 1.0]
    assert found.chances["most-boxes"].tolist() == [1.0, 1.0]
    assert found.chances["blind"].tolist() == [1.0, 0.5]


def test_threads_and_the_choice_of_people_play_no_part() -> None:
    trajectories = made(users=30, samples=6, seed=2)
    release = merged_release(trajectories, k=3)
    one, many = (attack(trajectories, "owner", release=release, jobs=jobs) for jobs in (1, 3))
    some = attack(trajectories, "owner", release=release, people=5)
    for guess, right in one.chances.items():
        assert right.tolist() == many.chances[guess].tolist()
        assert right[some.rows].tolist() == some.chances[guess].tolist()


def test_without_a_release_nobody_has_a_trajectory_to_name() -> None:
    with pytest.raises(InputError, match="--release"):
        attack(made(), "owner")


def test_a_summary_tells_shares_alone() -> None:
    trajectories = made(users=6, samples=4)
    told = attack(trajectories, "owner", release=merged_release(trajectories, k=2)).summary()
    assert told["knowledge"] is None
    assert set(told["named"]) == {"blind", "most-boxes", "least-cost", "shortest", "innermost"}
    assert all(0 <= share <= 1 for share in told["named"].values())
