"""Boxes are widened for dropped samples where these would single somebody out, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods import method as contract
from tripcloak.trajectories.methods.dropped import cover_dropped
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.model import Dropped, Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution
from worlds.trajectories import made


def crowd(seed: int) -> Trajectories:
    """Return people close to each other, each of whom lost some samples that are near those of others."""
    people = made(users=12, samples=5, seed=seed, spread=4, days=1)
    random = np.random.default_rng(seed)
    owner = np.repeat(np.arange(12), 2)
    at = random.integers(0, people.n_samples, len(owner))
    return replace(people, dropped=Dropped.of(owner, people.t[at], people.x[at], people.y[at]))


def solved(people: Trajectories, k: int, constraint: str = "nu-k-pick") -> TrajectorySolution:
    method = find_trajectory_method("k-scale")(k=k, constraint=constraint)
    return method.solve(people, lambda *_: None)


def picked(k: int) -> TrajectoryMethod:
    """Return a method whose k trajectories differ, so that dropped samples may tell them apart."""
    return find_trajectory_method("k-scale")(k=k, constraint="nu-k-pick")


def exposed_without(people: Trajectories, monkeypatch: pytest.MonkeyPatch, k: int) -> bool:
    monkeypatch.setattr(contract, "cover_dropped", lambda _, solution, __: solution)
    return "raw-record-reaches-k" in audit_release(people, picked(k).anonymise(people)).broken


@pytest.mark.parametrize("k", [2, 3])
def test_nobody_is_among_fewer_than_k_by_a_dropped_sample(monkeypatch, k):
    people = crowd(1)
    release = picked(k).anonymise(people)
    assert audit_release(people, release).safe
    assert release.facts["widened_samples"] > 0
    assert exposed_without(people, monkeypatch, k)


@given(seed=st.integers(0, 10_000), k=st.sampled_from([2, 4]))
@settings(max_examples=15, deadline=None)
def test_what_is_widened_stays_a_release_and_is_safe(seed, k):
    people = crowd(seed)
    before = solved(people, k)
    after = cover_dropped(people, before, k)
    for side, (old, new) in enumerate(zip(before.boxes, after.boxes, strict=True)):
        assert (new >= old).all() if side % 2 else (new <= old).all()
    assert (after.offsets == before.offsets).all()
    assert (after.box_of == before.box_of).all()
    assert audit_release(people, picked(k).anonymise(people)).safe


def test_where_nobody_is_singled_out_nothing_changes():
    people = made(users=12, samples=5, seed=1, spread=4, days=1)
    before = solved(people, 2)
    assert cover_dropped(people, before, 2) is before
    beyond = Dropped.of([3], [int(people.t.max()) + 9], [0], [0])
    after = cover_dropped(replace(people, dropped=beyond), before, 2)
    assert all((old == new).all() for old, new in zip(before.boxes, after.boxes, strict=True))
    assert after.facts == before.facts


@pytest.mark.parametrize("own", [{"constraint": "full"}], ids=str)
def test_k_identical_trajectories_hold_the_same_dropped_samples(own):
    people = crowd(3)
    before = solved(people, 3, **own)
    after = cover_dropped(people, before, 3)
    assert all((old == new).all() for old, new in zip(before.boxes, after.boxes, strict=True))
