"""Who also knows samples that reading dropped is left among k, or finds nothing: at the very edge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import containment as oracle
from tripcloak.ground.arrays import to_read
from tripcloak.promises import CoLocation, Containment
from tripcloak.trajectories.audit import _kernels, audit_release
from tripcloak.trajectories.audit.containment import count_raw_supports
from tripcloak.trajectories.audit.promise import Stated, raw_faults
from tripcloak.trajectories.audit.screening import BoxSpans, Samples, Screen
from tripcloak.trajectories.model import Dropped, Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease
from worlds.trajectories import made, one_box_release, random_release, released

RULE = "raw-record-reaches-k"


def with_lost(trajectories: Trajectories, seed: int, each: int = 3) -> Trajectories:
    """Return the trajectories with dropped samples of some people, near the samples of others."""
    random = np.random.default_rng(seed)
    owner = np.repeat(random.permutation(trajectories.n_users)[:-1], each)
    at = random.integers(0, trajectories.n_samples, len(owner))
    t = trajectories.t[at] + random.integers(-1, 2, len(owner))
    return replace(trajectories, dropped=Dropped.of(owner, t, trajectories.x[at], trajectories.y[at]))


def columns(samples: Samples, row: int) -> list[tuple]:
    first, last = samples.offsets[row : row + 2]
    return list(zip(samples.t[first:last], samples.x[first:last], samples.y[first:last], strict=True))


def sides(trajectories: Trajectories, release: TrajectoryRelease) -> tuple[Samples, Samples, BoxSpans]:
    lost = trajectories.dropped
    offsets = np.searchsorted(lost.owner, np.arange(trajectories.n_users + 1))
    own = Samples(trajectories.offsets, trajectories.t, trajectories.x, trajectories.y)
    return own, Samples(offsets, *lost[1:]), BoxSpans(release.offsets, *release.boxes)


@given(seed=st.integers(0, 10_000), kind=st.sampled_from([random_release, one_box_release]))
@settings(max_examples=40, deadline=None)
def test_numbers_are_those_of_everything_that_could_be_known(seed, kind):
    trajectories = with_lost(made(users=6, samples=2, seed=seed, spread=2, days=1), seed)
    samples, dropped, spans = sides(trajectories, kind(trajectories))
    found = count_raw_supports(samples, dropped, spans)
    expected = [
        oracle.fewest_by_any_of(columns(samples, p), columns(dropped, p), spans) for p in found.people
    ]
    assert list(zip(found.support, found.two_sided, strict=True)) == expected
    others = set(range(trajectories.n_users)) - set(found.people.tolist())
    assert not any(any(map(any, oracle.find_held(columns(dropped, p), spans))) for p in others)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_compiled_loops_equal_their_twins(seed):
    trajectories = with_lost(made(users=5, samples=2, seed=seed, spread=1, days=1), seed)
    samples, dropped, spans = sides(trajectories, random_release(trajectories, seed=seed))
    screen = Screen.of(samples, spans)
    every = np.arange(len(spans.offsets) - 1)
    for person in range(trajectories.n_users):
        lost = dropped.offsets[person : person + 2]
        there = (*map(to_read, dropped[1:]), screen.starts, screen.sides)
        held = _kernels.find_held(every, *lost, *there)
        assert held.tolist() == oracle.find_held(columns(dropped, person), spans)


def in_a_row(lost: list[tuple[int, int]], widths: list[int]) -> tuple[Trajectories, TrajectoryRelease]:
    """Return people at one place, each in a box of a width of its own; the first lost samples at (t, x)."""
    n = len(widths)
    dropped = Dropped.of([0] * len(lost), [t for t, _ in lost], [x for _, x in lost], [0] * len(lost))
    people = Trajectories(
        grid=Grid(), offsets=np.arange(n + 1), t=[0] * n, x=[0] * n, y=[0] * n, dropped=dropped
    )
    edges = ([0] * n, [5] * n, [0] * n, widths, [0] * n, [1] * n)
    each = np.arange(n)
    boxes = Boxes(*map(np.array, edges))
    return people, released(people, np.arange(n + 1), boxes, each, each, promise=Containment(k=3))


@pytest.mark.parametrize(
    ("widths", "safe"),
    [([9, 9, 9, 5], True), ([9, 9, 5, 5], False), ([9, 5, 5, 5], False), ([8, 8, 8, 8], True)],
    ids=["k hold it", "k - 1 hold it", "one holds it", "none holds it"],
)
def test_a_dropped_sample_is_in_k_released_trajectories_or_in_none(widths, safe):
    audit = audit_release(*in_a_row([(0, 8)], widths))
    assert audit.safe == safe
    assert audit.broken == (() if safe else (RULE,))


def test_any_of_the_dropped_samples_may_be_known_without_the_others():
    """All of them fit nothing, so that who looks for all learns nothing; one of them alone fits two."""
    audit = audit_release(*in_a_row([(0, 8), (4, 20)], [9, 9, 5, 5]))
    assert audit.broken == (RULE,)
    assert audit.numbers["raw_record"]["smallest_support"] == 2


def test_a_box_in_which_the_person_never_was_rules_a_trajectory_out():
    """Three of five hold what was kept and what was dropped; one of them has a box more, elsewhere."""
    person = Samples(np.array([0, 1]), np.array([0]), np.array([0]), np.array([0]))
    lost = Samples(np.array([0, 1]), np.array([0]), np.array([8]), np.array([0]))
    widths, n = [9, 9, 9, 7, 5, 5], 6
    begins = [0, 0, 0, 50, 0, 0]
    spans = BoxSpans(
        np.array([0, 1, 2, 4, 5, 6]), *map(np.array, (begins, [t + 1 for t in begins])),
        *map(np.array, ([0] * n, widths, [0] * n, [1] * n)),
    )  # fmt: skip
    found = count_raw_supports(person, lost, spans)
    assert (found.support.tolist(), found.two_sided.tolist()) == ([3], [2])
    assert raw_faults(found, Stated("containment", 3)) is not None
    assert raw_faults(found, Stated("containment", 2)) is None


def test_the_last_step_of_a_box_counts_and_the_next_does_not():
    assert audit_release(*in_a_row([(4, 8)], [9, 5, 5, 5])).broken == (RULE,)
    assert audit_release(*in_a_row([(5, 8)], [9, 5, 5, 5])).safe
    assert audit_release(*in_a_row([(4, 9)], [9, 5, 5, 5])).safe


def test_numbers_are_told_and_of_nobody_where_nothing_was_dropped():
    told = audit_release(*in_a_row([(0, 8)], [9, 9, 9, 9, 5])).numbers["raw_record"]
    assert told == {"people": 1, "smallest_support": 4, "smallest_two_sided_support": 4}
    nothing = audit_release(*in_a_row([], [9, 9, 9])).numbers["raw_record"]
    assert nothing == {"people": 0, "smallest_support": None, "smallest_two_sided_support": None}


def test_points_that_were_moved_promise_nothing_of_the_kind():
    people, release = in_a_row([(0, 8)], [9, 5, 5])
    audit = audit_release(people, replace(release, promise=CoLocation(k=3, delta=9.0)))
    words = {finding.rule: finding for finding in audit.findings}
    assert words[RULE].ok
    assert not words[RULE].promised
