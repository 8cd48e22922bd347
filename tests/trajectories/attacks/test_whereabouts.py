"""Whereabouts: how often the boxes of a released trajectory that fits hold the person at other moments."""

from __future__ import annotations

import numpy as np
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.trajectories.attacks import attack
from tripcloak.trajectories.attacks.originals import random_points
from tripcloak.trajectories.methods.glove import TrajectoryGlove
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.trajectories import identity_release, made, one_box_release, random_release

PEOPLE = made(users=12, samples=9, seed=5, spread=6)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_what_looking_at_every_box_says(seed: int) -> None:
    release = random_release(PEOPLE, seed=seed, deleting=True)
    found = attack(PEOPLE, "whereabouts", knowledge=2, release=release, seed=seed)
    known = set(random_points(PEOPLE, 2, seed).tolist())
    rows = np.split(np.stack(release.boxes, axis=1), release.offsets[1:-1])

    def holds(boxes: np.ndarray, s: int) -> bool:
        t, x, y = PEOPLE.t[s], PEOPLE.x[s], PEOPLE.y[s]
        return any(a <= t < b and c <= x < d and e <= y < f for a, b, c, d, e, f in boxes)

    for at, person in enumerate(found.rows):
        mine = range(PEOPLE.offsets[person], PEOPLE.offsets[person + 1])
        fitting = [boxes for boxes in rows if all(holds(boxes, s) for s in mine if s in known)]
        others = [s for s in mine if s not in known]
        assert found.matches[at] == len(fitting)
        held = [holds(boxes, s) for boxes in fitting for s in others]
        assert found.chances["fitting"][at] == pytest.approx(np.mean(held) if held else 0)
        anybody = np.mean([holds(boxes, s) for boxes in rows for s in others])
        assert found.chances["anybody"][at] == pytest.approx(anybody)


def test_one_box_for_all_tells_all_and_what_was_is_told_by_itself() -> None:
    for release in (one_box_release(PEOPLE), identity_release(PEOPLE)):
        told = attack(PEOPLE, "whereabouts", release=release).summary()
        assert told["knowledge"] == 3
        assert told["held"]["fitting"] == 1
    assert told["held"]["anybody"] < 0.5


def test_who_is_the_same_as_others_is_held_at_all_times() -> None:
    release = TrajectoryGlove(k=3).anonymise(PEOPLE)
    told = attack(PEOPLE, "whereabouts", knowledge=8, release=release).summary()
    assert told["held"]["fitting"] > 0.9
    assert told["unique"] == 0


def test_people_without_another_moment_are_in_no_share() -> None:
    people = Trajectories.of(user=[0, 1, 1], t=[0, 0, 5], x=[0] * 3, y=[0] * 3, grid=Grid())
    found = attack(people, "whereabouts", knowledge=1, release=one_box_release(people))
    assert found.matches.tolist() == [2, 2]
    assert found.chances["fitting"].tolist() == [1.0]


def test_there_must_be_a_release() -> None:
    with pytest.raises(InputError, match="--release"):
        attack(PEOPLE, "whereabouts")
