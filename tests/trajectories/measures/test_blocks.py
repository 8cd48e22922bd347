"""Measures and the audit look at some samples at a time, and say what they would say of all at once."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from tripcloak.trajectories.audit import audit_release, memory
from tripcloak.trajectories.measures import accuracy, shape, take_measures
from tripcloak.trajectories.measures.shape import people_at_a_time
from worlds.trajectories import made, random_release


@pytest.mark.parametrize("at_once", [1, 7, 30])
@pytest.mark.parametrize("deleting", [False, True])
def test_blocks_of_any_size_give_the_same_measures(
    at_once: int, deleting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    trajectories = made(users=9, samples=8, seed=3)
    release = random_release(trajectories, seed=4, deleting=deleting)
    whole = take_measures(trajectories, release, people=5).to_dict()
    # A function of the package has the name of the second module.
    for module in (shape, sys.modules[accuracy.__module__]):
        monkeypatch.setattr(module, "AT_ONCE", at_once)
    # To the last digit: what belongs to a person is never parted.
    assert json.dumps(take_measures(trajectories, release, people=5).to_dict()) == json.dumps(whole)


def test_people_are_never_parted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "AT_ONCE", 4)
    offsets = np.array([0, 2, 4, 9, 10])
    assert people_at_a_time(offsets) == [slice(0, 2), slice(2, 3), slice(3, 4)]


def test_a_stray_sample_is_found_in_whatever_block_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    trajectories = made(users=4, samples=6, seed=1)
    release = random_release(trajectories, seed=2, deleting=False)
    monkeypatch.setattr(memory, "AT_ONCE", 5)
    case = memory.Arrays(trajectories, release)
    assert memory.own_samples_held(case) is None
    for sample in (0, 4, 5, trajectories.n_samples - 1):
        x = trajectories.x.copy()
        x[sample] += 10_000
        told = memory.own_samples_held(replace(case, trajectories=replace(trajectories, x=x)))
        assert isinstance(told, str)
        assert "lie outside the box" in told
    assert audit_release(trajectories, release, jobs=1) is not None
