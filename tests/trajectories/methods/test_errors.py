"""k-merge by errors: held to a plain twin, hardly ever above the best there is, and valid in any case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import errors as oracle
from oracles.trajectories import merging as merging_oracle
from tripcloak.trajectories.methods._kernels import errors as _kernels
from tripcloak.trajectories.methods._kernels import merging
from tripcloak.trajectories.methods.kmerge import Rates, k_merge
from tripcloak.trajectories.model import Grid, Trajectories

RATES = [(0.3, 1.0), (4.0, 1.0), (0.0, 1.0), (1.0, 0.0)]


def some(seed: int, users: int, samples: int, late: int = 40, wide: int = 30) -> Trajectories:
    random = np.random.default_rng(seed)
    user = np.concatenate((np.arange(users), random.integers(0, users, users * (samples - 1))))
    t, x, y = (random.integers(-most, most, len(user)) for most in (late, wide, wide))
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


def samples_of(people: Trajectories) -> _kernels.Samples:
    return _kernels.Samples(people.t, people.x, people.y, people.offsets)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 7), st.sampled_from(RATES))
@settings(deadline=None)
def test_a_merge_costs_what_the_plain_twin_says(
    seed: int, users: int, samples: int, rates: tuple[float, float]
) -> None:
    people = some(seed, users, samples)
    members = list(range(users))
    size = people.n_samples
    at, sums = merging.merge_buffers(size), _kernels.sums_of(size)
    asked = (at, sums, samples_of(people), np.arange(users), rates)
    cost = _kernels.group_cost(*asked, np.inf)
    assert cost == pytest.approx(oracle.cover_by_errors(people, members, rates)[-1], abs=1e-6)
    for limit in (1.01 * cost + 1e-3, 0.99 * cost - 1e-3):
        found = _kernels.group_cost(*asked, limit)
        assert found == pytest.approx(oracle.group_cost(people, members, rates, limit), abs=1e-6)


@given(st.integers(0, 2**32), st.integers(2, 4), st.sampled_from(RATES))
@settings(deadline=None)
def test_boxes_hold_everybody_and_lose_what_the_merge_costs(
    seed: int, users: int, rates: tuple[float, float]
) -> None:
    people = some(seed, users, 6)
    merged = k_merge(people, np.arange(users), Rates(*rates))
    boxes = merged.boxes
    assert (boxes.t0[1:] >= boxes.t1[:-1]).all()
    samples = list(zip(*(c.tolist() for c in (people.t, people.x, people.y, people.owner)), strict=True))
    runs = [[samples[s] for s in np.flatnonzero(merged.box_of == box)] for box in range(len(boxes.t0))]
    assert all({sample[3] for sample in run} == set(range(users)) for run in runs)
    assert list(zip(*(side.tolist() for side in boxes), strict=True)) == merging_oracle.write_runs(runs)
    assert sum(oracle.run_cost(run, rates) for run in runs) == pytest.approx(merged.cost, abs=1e-6)


@pytest.mark.parametrize("rates", RATES[:2])
def test_hardly_a_cheaper_merge_is_missed(rates: tuple[float, float]) -> None:
    found = best = 0.0
    for seed in range(60):
        people = some(seed, 2 + seed % 2, 5)
        members = list(range(people.n_users))
        cost = k_merge(people, members, Rates(*rates)).cost
        least = oracle.cheapest_merge(people, members, rates)
        assert cost >= least - 1e-6
        found, best = found + cost, best + least
    assert found < 1.01 * best


def test_pairs_cost_what_their_merges_do() -> None:
    people = some(5, 4, 6)
    first, second = np.array([0, 1, 2]), np.array([3, 2, 0])
    costs = _kernels.pairs_by_errors(samples_of(people), first, second, (0.3, 1.0))
    expected = oracle.pairs_by_errors(people, first.tolist(), second.tolist(), (0.3, 1.0))
    assert costs == pytest.approx(expected)


def test_sums_are_counted_from_the_first_sample() -> None:
    people = some(6, 2, 5)
    at, sums = merging.merge_buffers(10), _kernels.sums_of(10)
    assert {name: len(column) for name, column in sums._asdict().items()} == oracle.sums_of(10)
    n = merging.lay_many(at, people.t, people.x, people.y, people.offsets, np.arange(2))
    _kernels.sum_up(at, sums, n)
    expected = oracle.sum_up(merging_oracle.lay_many(people, [0, 1]))
    assert list(zip(*(column[: n + 1].tolist() for column in sums), strict=True)) == expected


def test_far_from_the_origin_nothing_is_lost_to_rounding() -> None:
    near, far = some(7, 3, 8), some(7, 3, 8)
    far = Trajectories(**{**vars(far), "t": far.t + 2**28, "x": far.x + 2**21, "y": far.y - 2**21})
    costs = [k_merge(one, [0, 1, 2], Rates(0.3)).cost for one in (near, far)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-12)


def test_starts_that_a_later_one_undercuts_leave_the_queue() -> None:
    cost = np.array([0.0, np.inf, 4.0, 2.0, 2.0, 3.0])
    queue = np.empty(6, np.int32)
    head, tail, enters = merging.admit(cost, queue, -1, 5, 0, 0, 0)
    assert queue[head:tail].tolist() == oracle.admit(cost, -1, 5) == [0, 4, 5]
    assert enters == 6
    head, tail, _ = merging.admit(cost, queue, 3, 5, head, tail, enters)
    assert queue[head:tail].tolist() == oracle.admit(cost, 3, 5) == [4, 5]
    assert merging.least_so_far(cost, 2, 5, 4) == oracle.least_so_far(cost.tolist(), 2, 5, 4) == 2.0
