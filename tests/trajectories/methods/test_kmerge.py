"""k-merge against every way to merge, and its loops against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import merging as oracle
from tripcloak.trajectories.methods import kmerge
from tripcloak.trajectories.methods._kernels import merging as _kernels
from tripcloak.trajectories.methods.kmerge import k_merge, merge_sets, pair_costs
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes
from worlds.trajectories import without_ties


@st.composite
def some_trajectories(
    draw: st.DrawFn, most_users: int = 4, most_samples: int = 4, late: int = 9
) -> Trajectories:
    lengths = draw(st.lists(st.integers(1, most_samples), min_size=1, max_size=most_users))
    user = np.repeat(np.arange(len(lengths)), lengths)
    column = st.lists(st.integers(0, late), min_size=len(user), max_size=len(user))
    return Trajectories.of(user=user, t=draw(column), x=draw(column), y=draw(column), grid=Grid())


@given(some_trajectories())
@settings(max_examples=300, deadline=None)
def test_there_is_no_cheaper_merge(made: Trajectories) -> None:
    members = list(range(made.n_users))
    assert k_merge(made, members).cost == oracle.cheapest_merge(made, members)


@given(some_trajectories(most_users=5, most_samples=30, late=60))
@settings(max_examples=100, deadline=None)
def test_leaving_out_starts_loses_nothing(made: Trajectories) -> None:
    members = list(range(made.n_users))
    at = _kernels.merge_buffers(made.n_samples)
    _kernels.lay_many(at, made.t, made.x, made.y, made.offsets, np.arange(made.n_users))
    laid = zip(*(column.tolist() for column in (at.t, at.x, at.y, at.member)), strict=True)
    assert list(laid) == oracle.lay_many(made, members)
    cost = _kernels.cover(at, made.n_samples, np.inf)
    assert cost == oracle.cover(made, members)[-1]
    assert _kernels.cover(at, made.n_samples, cost) == cost
    assert _kernels.cover(at, made.n_samples, cost - 0.5) == np.inf


@given(some_trajectories(most_users=2, most_samples=40, late=50))
@settings(max_examples=100, deadline=None)
def test_a_pair_costs_what_its_merge_costs(made: Trajectories) -> None:
    last = made.n_users - 1
    if last == 0:
        return
    (cost,) = pair_costs(made, [0], [last])
    assert cost == k_merge(made, [0, last]).cost / made.n_samples == pair_costs(made, [last], [0])[0]
    assert [cost] == oracle.pair_costs(made, [0], [last])
    whole = k_merge(made, [0, last]).cost
    at = _kernels.merge_buffers(made.n_samples)
    columns = made.t, made.x, made.y, made.offsets
    assert _kernels.pair_cost(at, *columns, 0, 1, whole) == whole
    assert _kernels.pair_cost(at, *columns, 0, 1, whole - 0.5) == np.inf
    for limit in (whole, whole - 0.5):
        assert _kernels.pair_cost(at, *columns, 0, 1, limit) == oracle.pair_cost(made, 0, 1, limit)


@given(some_trajectories(most_users=2, most_samples=20, late=15))
@settings(max_examples=100, deadline=None)
def test_a_pair_is_laid_out_by_time(made: Trajectories) -> None:
    first, second = 0, made.n_users - 1
    at = _kernels.merge_buffers(2 * made.n_samples)
    n = _kernels.lay_pair(at, made.t, made.x, made.y, made.offsets, first, second)
    samples, reach = oracle.lay_pair(made, first, second)
    assert list(zip(*(column[:n].tolist() for column in (at.t, at.x, at.y)), strict=True)) == [
        sample[:3] for sample in samples
    ]
    assert at.reach[: n + 1].tolist() == reach


@pytest.mark.parametrize("size", [0, 1, 7])
def test_there_is_room_for_every_sample_and_boundary(size: int) -> None:
    at = _kernels.merge_buffers(size)
    assert {name: len(column) for name, column in at._asdict().items()} == oracle.merge_buffers(size)


@given(some_trajectories(most_users=5, most_samples=12, late=30))
@settings(max_examples=100, deadline=None)
def test_every_box_holds_every_member_and_nothing_is_lost(made: Trajectories) -> None:
    merged = k_merge(made, np.arange(made.n_users))
    boxes = merged.boxes
    assert (boxes.t0[1:] >= boxes.t1[:-1]).all()
    for box in range(len(boxes.t0)):
        inside = merged.box_of == box
        assert set(made.owner[inside]) == set(range(made.n_users))
        for column, lo, hi in ((made.t, *boxes[:2]), (made.x, *boxes[2:4]), (made.y, *boxes[4:])):
            assert column[inside].min() == lo[box]
            assert column[inside].max() == hi[box] - 1
    samples = list(zip(*(c.tolist() for c in (made.t, made.x, made.y, made.owner)), strict=True))
    runs = [[samples[s] for s in np.flatnonzero(merged.box_of == box)] for box in range(len(boxes.t0))]
    assert list(zip(*(side.tolist() for side in boxes), strict=True)) == oracle.write_runs(runs)
    spans = (boxes.t1 - boxes.t0) * (boxes.x1 - boxes.x0 + boxes.y1 - boxes.y0).astype(float)
    assert spans[merged.box_of].sum() == merged.cost


@pytest.mark.parametrize(("jobs", "block"), [(1, 4096), (2, 4096), (1, 16), (2, 112)])
def test_sets_are_merged_as_one_by_one(jobs: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of sets that a thread takes at a time: 256, one, or seven."""
    monkeypatch.setattr(kmerge, "BLOCK", block)
    rng = np.random.default_rng(5)
    user = rng.integers(0, 40, 600)
    made = Trajectories.of(
        user=user,
        t=rng.integers(0, 300, 600),
        x=rng.integers(0, 50, 600),
        y=rng.integers(0, 50, 600),
        grid=Grid(),
    )
    sets = [
        [i, *rng.choice(np.delete(np.arange(made.n_users), i), 1 + i % 4, replace=False)]
        for i in range(made.n_users)
    ]
    ends = np.concatenate(([0], np.cumsum([len(one) for one in sets])))
    offsets, boxes, box_of, costs = merge_sets(made, ends, np.concatenate(sets), jobs=jobs)
    for i, members in enumerate(sets):
        alone = k_merge(made, members)
        mine = slice(offsets[i], offsets[i + 1])
        assert all(np.array_equal(a, b[mine]) for a, b in zip(alone.boxes, boxes, strict=True))
        own = made.lengths[i]
        assert np.array_equal(box_of[made.offsets[i] : made.offsets[i + 1]] - offsets[i], alone.box_of[:own])
        assert costs[i] == alone.cost


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_sets_are_merged_as_trying_everything_says(seed: int) -> None:
    three, sets = without_ties(seed), [[1, 0], [2, 1, 0], [0]]
    ends = np.cumsum([0, *map(len, sets)])
    offsets, boxes, box_of, costs = merge_sets(three, ends, np.concatenate(sets), jobs=1)
    rows = list(zip(*(side.tolist() for side in boxes), strict=True))
    for i, (cost, expected, own) in enumerate(oracle.merge_sets(three, sets)):
        assert costs[i] == pytest.approx(cost)
        assert rows[offsets[i] : offsets[i + 1]] == expected
        assert (box_of[3 * i : 3 * i + 3] - offsets[i]).tolist() == own


def test_one_trajectory_alone_stays_as_it_is() -> None:
    one = Trajectories.of(user=[0, 0, 0], t=[0, 4, 4], x=[1, 2, 9], y=[0, 0, 0], grid=Grid())
    merged = k_merge(one, [0])
    assert Boxes(*(side.tolist() for side in merged.boxes)) == Boxes(
        [0, 4], [1, 5], [1, 2], [2, 10], [0, 0], [1, 1]
    )


def test_people_who_never_met_in_time_are_merged_in_linear_time() -> None:
    many = 20_000
    user = np.repeat([0, 1], many)
    t = np.concatenate((np.arange(many), np.arange(many) + 10 * many))
    apart = Trajectories.of(user=user, t=t, x=t % 7, y=t % 5, grid=Grid())
    assert len(k_merge(apart, [0, 1]).boxes.t0) == 1
