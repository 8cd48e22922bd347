"""Containment and colocation are counted exactly, whatever the screening passes over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import containment as oracle
from tripcloak.ground.arrays import to_read
from tripcloak.trajectories.audit import _kernels, screening, spread
from tripcloak.trajectories.audit.containment import count_companions, count_supports
from tripcloak.trajectories.audit.screening import BoxSpans, Samples, Screen
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.merged_trajectories import merged_release
from worlds.sending import Sending
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


@pytest.mark.parametrize("part", [1, 7, 30, 1000])
@pytest.mark.parametrize("release_of", [merged_release, random_release, identity_release])
def test_parts_that_are_counted_apart_add_up(
    monkeypatch: pytest.MonkeyPatch, part: int, release_of: Any
) -> None:
    monkeypatch.setattr(spread, "PART", part)
    # Somebody's samples fill several parts, one after many whose fill one together.
    trajectories = made(users=9, samples=6, seed=part, spread=3, days=1)
    samples, spans = samples_of(trajectories), spans_of(release_of(trajectories))
    cluster = Sending()
    found = spread.count_supports_there(cluster, samples, spans)
    expected = oracle.count_holding(samples, spans)
    assert (found.support.tolist(), found.two_sided.tolist(), found.members.tolist()) == expected
    assert len(cluster.jobs) == (9 if part == 1 else 1 if part == 1000 else len(cluster.jobs))


def test_more_samples_than_are_looked_at_to_cut_them_are_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trajectories = made(users=8, samples=6, seed=3, spread=3, days=1)
    for enough in (5, 24, 48, 49):
        monkeypatch.setattr(screening, "ENOUGH", enough)
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


def test_neither_threads_nor_the_order_of_chunks_play_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trajectories = made(users=300, samples=10, spread=100, seed=4)
    samples, spans = samples_of(trajectories), spans_of(merged_release(trajectories, k=3))
    one = count_supports(samples, spans, jobs=1)
    monkeypatch.setattr(screening, "CHUNK", 7)
    monkeypatch.setattr(screening, "LANES", 7)
    many = count_supports(samples, spans, jobs=5)
    for name in ("support", "two_sided", "members"):
        assert np.array_equal(getattr(one, name), getattr(many, name))
    assert one.support.min() >= 3
    assert one.support.max() < 30


@given(seed=st.integers(0, 10_000), kind=st.sampled_from([merged_release, random_release]))
@settings(max_examples=20, deadline=None)
def test_witnesses_lie_where_the_fewest_boxes_are(seed: int, kind: Any) -> None:
    trajectories = made(users=9, samples=5, seed=seed, spread=20, days=3)
    samples, spans = samples_of(trajectories), spans_of(kind(trajectories))
    screen = Screen.of(samples, spans)
    cuts, boxes = screen.cuts, list(zip(*spans[1:], strict=True))
    cover = oracle.mark_corners(cuts, boxes)
    told = _kernels.mark_corners(1, cuts, screen.sides).cumsum(axis=0).cumsum(axis=1).cumsum(axis=2)
    assert {cell: told[cell] for cell in zip(*map(list, np.nonzero(told)), strict=True)} == cover
    shape = [len(cut) + 1 for cut in cuts]
    for i, cells in enumerate(screen.witnesses.tolist()):
        mine = columns_of(samples, i)
        chosen = [mine[s] for s in oracle.find_rarest(mine, cuts, cover, screening.WITNESSES)]
        assert cells == [np.ravel_multi_index(oracle.cell_of(one, cuts), shape) for one in chosen]


@given(values=st.lists(st.integers(-3, 9), min_size=1), cuts=st.sets(st.integers(-2, 8)))
@settings(max_examples=30, deadline=None)
def test_bins_are_those_of_cuts(values: list[int], cuts: set[int]) -> None:
    most = np.full(len(cuts) + 1, -9)
    told = _kernels.find_bins(to_read(np.array(values)), to_read(np.array(sorted(cuts), np.int64)), most)
    bins, largest = oracle.find_bins(values, sorted(cuts))
    assert told.tolist() == bins
    assert most.tolist() == [largest.get(number, -9) for number in range(len(cuts) + 1)]


@pytest.mark.parametrize("fine", [(1, 1, 1), (2, 3, 2), (4, 1, 300), (300, 300, 300)])
@pytest.mark.parametrize("kind", [merged_release, random_release])
def test_coarse_bins_leave_doubts_that_are_settled(
    monkeypatch: pytest.MonkeyPatch, fine: tuple[int, ...], kind: Any
) -> None:
    monkeypatch.setattr(screening, "FINE", fine)
    trajectories = made(users=70, samples=4, seed=11, spread=1, days=1)
    agree(samples_of(trajectories), spans_of(kind(trajectories)))


@pytest.mark.parametrize("lanes", [1, 3, 64, 65, 2048])
def test_however_many_are_compared_at_once_the_counts_are_the_same(
    monkeypatch: pytest.MonkeyPatch, lanes: int
) -> None:
    """Seventy released trajectories: several words of bits, or several arrays of trajectories."""
    trajectories = made(users=70, samples=4, seed=12, spread=1, days=1)
    samples, spans = samples_of(trajectories), spans_of(random_release(trajectories, seed=12))
    for boxes, people, taken, few in (
        (1 << 18, 1 << 14, 1 << 21, 8),
        (1, 1, 99, 1),
        (20, 9, 1, 2),
        (1 << 18, 64, 9, 3),
    ):
        monkeypatch.setattr(screening, "LANES", lanes)
        monkeypatch.setattr(screening, "BOXES", boxes)
        monkeypatch.setattr(screening, "AT_ONCE", (people, taken, few))
        parts = Screen.of(samples, spans)._near_each_other()
        assert sorted(np.concatenate(parts).tolist()) == list(range(70))
        assert all(len(part) == 1 or spans_in(spans, part) <= boxes for part in parts)
        assert max(map(len, parts)) <= lanes
        agree(samples, spans)


def spans_in(spans: BoxSpans, part: Any) -> int:
    return int(np.diff(spans.offsets)[part].sum())


def columns_of(samples: Samples, row: int) -> list[tuple]:
    rows = slice(*samples.offsets[row : row + 2])
    return list(zip(*(column[rows].tolist() for column in samples[1:]), strict=True))


def test_boxes_that_overlap_count_nobody_twice() -> None:
    """A forged release may hold such: fewer may be counted than there are, never more."""
    samples = Samples(np.array([0, 1]), np.array([3]), np.array([0]), np.array([0]))
    wide = BoxSpans(np.array([0, 2]), *(np.array([v, v]) for v in (0, 9, 0, 9, 0, 9)))
    found = count_supports(samples, wide)
    assert (found.support.tolist(), found.members.max(initial=0) <= 1) == ([1], True)


def test_a_box_behind_one_that_outlasts_it_counts_never() -> None:
    """The first is at x 0 to 3 from 0 to 9, the second at x 5 from 2 to 4: nobody may be in both."""
    forged = BoxSpans(
        np.array([0, 3]), *map(np.array, ([0, 2, 9], [9, 4, 12], [0, 5, 0], [3, 6, 3], [0] * 3, [1] * 3))
    )
    for places, expected in (([0, 2, 1], (1, 0)), ([0, 5, 1], (0, 0)), ([0, 5, 5], (0, 0))):
        samples = Samples(np.array([0, 3]), np.array([1, 3, 10]), np.array(places), np.zeros(3, int))
        found = count_supports(samples, forged)
        assert (*found.support, *found.two_sided) == expected


def test_who_holds_somebody_is_found_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    trajectories = made(users=12, samples=3, seed=8, spread=1, days=1)
    samples, spans = samples_of(trajectories), spans_of(random_release(trajectories, seed=8))
    expected = [oracle.find_holding(columns_of(samples, i), spans) for i in range(12)]
    assert max(map(sum, expected)) > 2
    for room in (1, 5, 1 << 22):
        monkeypatch.setattr(screening, "ROOM", room)
        found = list(Screen.of(samples, spans).holders())
        assert [at for at, *_ in found] == list(range(12))
        for at, rows, verdicts in found:
            assert {r: told for r, told in enumerate(expected[at]) if told} == dict(
                zip(rows.tolist(), verdicts.tolist(), strict=True)
            )


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
