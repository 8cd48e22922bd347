"""The containment promise, held to brute force."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories.kscale import holding
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods.kscale import KScale
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.depth import size
from worlds.trajectories import made

CONTAINING: list[tuple[str, dict[str, Any]]] = [
    ("k-scale", {}),
    ("k-scale", {"constraint": "nu-k-pick", "picking": "alone"}),
    ("k-scale", {"constraint": "k-pick"}),
    ("k-scale", {"constraint": "nu-k-pick"}),
    ("k-scale", {"neighbours": 4}),
    ("glove", {}),
]


def ready(name: str) -> TrajectoryMethod:
    return TRAJECTORY_METHODS[name].asked(4)


def supports(trajectories: Trajectories, release: TrajectoryRelease) -> list[int]:
    """Return, for everybody, how many released trajectories hold all samples, and no box without one."""
    boxes = list(zip(*(side.tolist() for side in release.boxes), strict=True))
    ends = release.offsets.tolist()
    released = [boxes[a:b] for a, b in pairwise(ends)]
    columns = (trajectories.t.tolist(), trajectories.x.tolist(), trajectories.y.tolist())
    samples = list(zip(*columns, strict=True))
    begins = trajectories.offsets.tolist()
    people = [samples[a:b] for a, b in pairwise(begins)]
    return [sum(holding(one, mine) for one in released) for mine in people]


@st.composite
def crowds(draw: st.DrawFn) -> Trajectories:
    lengths = draw(st.lists(st.integers(1, 6), min_size=6, max_size=size(12, 30)))
    user = np.repeat(np.arange(len(lengths)), lengths)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    t, x, y = (random.integers(0, draw(st.sampled_from([3, 40, 4000])), len(user)) for _ in range(3))
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


@pytest.mark.parametrize(("name", "options"), CONTAINING)
@given(crowd=crowds(), k=st.integers(2, 4))
@settings(max_examples=15, deadline=None)
def test_whoever_knows_everything_finds_k(
    name: str, options: dict[str, Any], crowd: Trajectories, k: int
) -> None:
    release = TRAJECTORY_METHODS[name](k=k, **options).anonymise(crowd)
    found = supports(crowd, release)
    assert min(found) >= k
    assert not release.deleted.any()
    assert not release.created.any()
    assert release.n_released == crowd.n_users
    audit = audit_release(crowd, release)
    assert audit.safe
    assert audit.smallest_support >= min(found)


@pytest.mark.parametrize("name", ["k-scale", "glove", "w4m"])
def test_threads_do_not_matter_and_input_stays_untouched(name: str) -> None:
    people = made(users=60, samples=20, seed=4, days=1, spread=15)
    before = people.digest
    one, two = (TRAJECTORY_METHODS[name](k=2, **_jobs(name, jobs)).anonymise(people) for jobs in (1, 3))
    assert same(one, two)
    assert people.digest == before


def _jobs(name: str, jobs: int) -> dict[str, int]:
    return {"jobs": jobs} if "jobs" in TRAJECTORY_METHODS[name].__dataclass_fields__ else {}


def same(one: TrajectoryRelease, two: TrajectoryRelease) -> bool:
    columns = ("offsets", "released_of", "box_of")
    return all(np.array_equal(a, b) for a, b in zip(one.boxes, two.boxes, strict=True)) and all(
        np.array_equal(getattr(one, name), getattr(two, name)) for name in columns
    )


@pytest.mark.parametrize("name", [name for name in TRAJECTORY_METHODS if ready(name).hidden_among])
def test_more_than_there_are_is_refused(name: str) -> None:
    with pytest.raises(ImpossibleRequestError, match="smaller k"):
        ready(name).anonymise(made(users=3))


@pytest.mark.parametrize("constraint", ["nu-k-pick", "k-pick", "full"])
def test_as_many_as_k_people_are_all_merged(constraint: str) -> None:
    people = made(users=4, samples=5)
    release = KScale(k=4, constraint=constraint).anonymise(people)
    assert min(supports(people, release)) == 4


def test_people_with_one_sample_and_equal_people_are_hidden() -> None:
    crowd = Trajectories.of(
        user=[0, 1, 2, 2, 3, 3], t=[5, 900, 1, 2, 1, 2], x=[0, 70, 3, 3, 3, 3], y=[0] * 6, grid=Grid()
    )
    release = KScale(k=2).anonymise(crowd)
    assert min(supports(crowd, release)) >= 2
