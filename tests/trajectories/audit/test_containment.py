"""Containment and colocation are counted exactly, whatever the screening passes over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import containment as oracle
from tripcloak.ground.arrays import to_read
from tripcloak.trajectories.audit import _kernels, containment
from tripcloak.trajectories.audit.containment import BoxSpans, Samples, count_companions, count_supports
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.merged_trajectories import merged_release
from worlds.trajectories import identity_release, made, random_release


def samples_of(trajectories: Trajectories) -> Samples:
    return Samples(trajectories.offsets, trajectories.t, trajectories.x, trajectories.y)


def spans_of(release: TrajectoryRelease) -> BoxSpans:
    return BoxSpans(release.offsets, *release.boxes)


def agree(samples: Samples, spans: BoxSpans) -> None:
    found = count_supports(samples, spans)
    expected = oracle.count_holding(samples, spans)
    assert (found.support.tolist(), found.two_sided.tolist(), found.members.tolist()) == expected


@given(
    seed=st.integers(0, 10_000),
    users=st.integers(2, 12),
    samples=st.integers(1, 6),
    spread=st.sampled_from([0, 1, 3, 20]),
    days=st.sampled_from([1, 3]),
    kind=st.sampled_from(["merged", "random", "identity"]),
)
@settings(max_examples=60, deadline=None)
def test_counts_equal_those_of_every_pair(
    seed: int, users: int, samples: int, spread: int, days: int, kind: str
) -> None:
    trajectories = made(users=users, samples=samples, seed=seed, spread=spread, days=days)
    makers = {"merged": merged_release, "random": random_release, "identity": identity_release}
    agree(samples_of(trajectories), spans_of(makers[kind](trajectories)))


def test_more_samples_than_are_looked_at_to_cut_them_are_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trajectories = made(users=8, samples=6, seed=3, spread=3, days=1)
    for enough in (5, 24, 48, 49):
        monkeypatch.setattr(containment, "ENOUGH", enough)
        agree(samples_of(trajectories), spans_of(merged_release(trajectories)))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_counts_are_exact_where_samples_lie_on_the_edges_of_boxes(seed: int) -> None:
    random = np.random.default_rng(seed)
    people, each = 6, 3
    times = np.sort(random.integers(0, 6, size=(people, each)), axis=1).ravel()
    samples = Samples(np.arange(people + 1) * each, times, *random.integers(0, 3, size=(2, people * each)))
    starts = random.integers(0, 3, size=(2, people * 2))
    ends = np.tile([0, 3], people)
    widths = random.integers(1, 4, size=(3, people * 2))
    spans = BoxSpans(
        np.arange(people + 1) * 2, ends, ends + widths[0],
        starts[0], starts[0] + widths[1], starts[1], starts[1] + widths[2],
    )  # fmt: skip
    agree(samples, spans)
    between = Samples(samples.offsets, *(column + 0.25 for column in samples[1:]))
    agree(between, BoxSpans(spans.offsets, *(side.astype(float) for side in spans[1:])))


def test_the_screening_spares_nearly_all_and_the_order_of_chunks_plays_no_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trajectories = made(users=300, samples=10, spread=100, seed=4)
    samples, spans = samples_of(trajectories), spans_of(merged_release(trajectories, k=3))
    one = count_supports(samples, spans, jobs=1)
    monkeypatch.setattr(containment, "CHUNK", 7)
    many = count_supports(samples, spans, jobs=5)
    for name in ("support", "two_sided", "members"):
        assert np.array_equal(getattr(one, name), getattr(many, name))
    assert one.support.min() >= 3
    assert one.support.max() < 30


def test_marked_cells_are_those_that_boxes_touch() -> None:
    random = np.random.default_rng(3)
    lows = random.integers(0, 16, size=(3, 40)).astype(np.uint8)
    highs = np.minimum(lows + random.integers(0, 9, size=(3, 40)), 15).astype(np.uint8)
    offsets = to_read(np.arange(0, 41, 2))
    cells = [[] for _ in range(20)]
    for box in range(40):
        ranges = [range(low, high + 1) for low, high in zip(lows[:, box], highs[:, box], strict=True)]
        cells[box // 2] += [(t, x, y) for t in ranges[0] for x in ranges[1] for y in ranges[2]]
    marks = _kernels.mark_cells(offsets, lows, highs)
    expected = oracle.mark_cells(cells, _kernels.SPACE, _kernels.COARSE)
    assert [len(told) for told in expected] == [sum(int(w).bit_count() for w in row) for row in marks]
    assert all(bit_of(cell, row) for told, row in zip(expected, marks, strict=True) for cell in told)
    joined = oracle.join_marks(expected, _kernels.BLOCK)
    assert [len(told) for told in joined] == [
        sum(int(w).bit_count() for w in row) for row in _kernels.join_marks(marks)
    ]


def bit_of(cell: tuple, row: np.ndarray) -> bool:
    kind, *at = cell
    number = at[0] * 16 + at[1] if kind == "space" else 256 + (at[0] * 4 + at[1]) * 4 + at[2]
    return bool(int(row[number // 64]) >> (number % 64) & 1)


@given(seed=st.integers(0, 10_000), delta=st.sampled_from([0.0, 1.0, 2.5, 9.0]))
@settings(max_examples=40, deadline=None)
def test_companions_equal_those_of_every_pair(seed: int, delta: float) -> None:
    random = np.random.default_rng(seed)
    people, each = 12, 2
    t = np.tile([0, 1], people) + np.repeat(random.integers(0, 2, size=people), each)
    x, y = random.integers(0, 5, size=(2, people * each)).astype(float)
    offsets = np.arange(people + 1) * each
    expected = oracle.count_near(offsets, t, x, y, delta)
    for jobs in (1, 3):
        assert count_companions(offsets, t, x, y, delta=delta, jobs=jobs).tolist() == expected
