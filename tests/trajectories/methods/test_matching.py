"""Pairs that change partners in rings: held to a plain twin, and near the best pairs there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import matching as oracle
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.methods import matching
from tripcloak.trajectories.methods._kernels import grouping
from tripcloak.trajectories.methods._kernels import matching as _kernels
from tripcloak.trajectories.methods._kernels.errors import Samples
from tripcloak.trajectories.methods.kmerge import Rates, k_merge
from worlds.trajectories import made


def symmetric(seed: int, n: int) -> Floats:
    costs = np.random.default_rng(seed).uniform(1, 9, (n, n))
    return np.minimum(costs, costs.T)


def choices_of(costs: Floats, kept: int) -> tuple[_kernels.Choices, dict[frozenset[int], float]]:
    n = len(costs)
    whole = np.where(np.eye(n, dtype=bool), np.inf, costs)
    others = np.sort(np.argsort(whole, axis=1)[:, :kept], axis=1)
    values = np.take_along_axis(whole, others, axis=1)
    listed = {
        frozenset((one, int(other))): float(costs[one, other]) for one in range(n) for other in others[one]
    }
    return _kernels.Choices(others, values, np.argsort(values, axis=1)), listed


def paired_at_first(costs: Floats, alone: int = 0) -> _kernels.Paired:
    """Return pairs of neighbours by row; the last ``alone`` people are in none."""
    n = len(costs)
    mate = np.arange(n) ^ 1
    mate[n - alone :] = -1
    return _kernels.Paired(mate, np.where(mate >= 0, costs[np.arange(n), mate], 0.0))


@given(st.integers(0, 2**32), st.sampled_from([0, 2]))
@settings(deadline=None)
def test_rings_are_those_of_the_plain_twin(seed: int, alone: int) -> None:
    costs = symmetric(seed, 10)
    # Everybody is a choice of everybody: the twin knows no more than what is listed.
    choices, listed = choices_of(costs, 9)
    paired, widths = paired_at_first(costs, alone), np.array([3, 2, 1])
    people = np.random.default_rng(seed).permutation(10)
    rings, mate = oracle.change_partners(paired.mate.tolist(), listed, people.tolist(), widths.tolist())
    before = paired.cost.sum()
    assert _kernels.change_partners(paired, choices, people, widths) == rings
    assert paired.mate.tolist() == mate
    expected = [oracle.pair_cost(listed, one, other) if other >= 0 else 0 for one, other in enumerate(mate)]
    assert paired.cost.tolist() == expected
    assert paired.cost.sum() <= before


def test_what_is_no_choice_of_either_costs_more_than_anything() -> None:
    choices, listed = choices_of(symmetric(1, 8), 3)
    for one, other in ((0, 5), (2, 7), (6, 1)):
        assert _kernels.pair_cost(choices, one, other) == oracle.pair_cost(listed, one, other)
    assert np.inf in {oracle.pair_cost(listed, 0, other) for other in range(1, 8)}


def grouped_pairs(paired: _kernels.Paired, costs: Floats) -> grouping.Grouped:
    n = len(costs)
    members = np.full((n // 2, 3), -1)
    members[:, 0], members[:, 1] = np.arange(0, n, 2), np.arange(1, n, 2)
    own = costs[members[:, 0], members[:, 1]]
    return grouping.Grouped(np.arange(n) // 2, members, np.full(n // 2, 2), own, np.zeros(n // 2, np.int64))


def test_pairs_are_near_the_best_there_are() -> None:
    found = best = 0.0
    for seed in range(20):
        costs = symmetric(seed, 10)
        choices, listed = choices_of(costs, 9)
        grouped = grouped_pairs(paired_at_first(costs), costs)
        pairs = grouping.Pairs(choices.others, choices.costs, np.full(10, np.inf))
        before = grouped.members.copy()
        rings, changed = matching.better_pairs(pairs, grouped, np.random.default_rng(0))
        held_together(grouped, costs)
        assert rings > 0
        assert set(np.flatnonzero((grouped.members != before).any(axis=1))) <= set(changed)
        least = oracle.least_cost(listed, frozenset(range(10)))
        assert grouped.costs.sum() >= least - 1e-9
        found, best = found + grouped.costs.sum(), best + least
    assert found < 1.02 * best


def held_together(grouped: grouping.Grouped, costs: Floats) -> None:
    first, second = grouped.members[:, 0], grouped.members[:, 1]
    assert sorted([*first, *second]) == list(range(len(costs)))
    assert grouped.costs == pytest.approx(costs[first, second])
    expected: Ints = np.arange(len(first))
    assert np.array_equal(grouped.group_of[first], expected)
    assert np.array_equal(grouped.group_of[second], expected)


def test_a_pair_is_priced_once_and_costs_the_same_for_both() -> None:
    people = made(users=6, samples=5, seed=4)
    samples = Samples(people.t, people.x, people.y, people.offsets)
    partners = np.array([[3, 1], [0, 5], [4, 1], [0, 2], [2, 0], [1, 3]])
    others, costs = matching.price_pairs(samples, partners, Rates(0.4), jobs=1)
    assert others.tolist() == np.sort(partners, axis=1).tolist()
    for one in range(6):
        for other, cost in zip(others[one], costs[one], strict=True):
            assert cost == pytest.approx(k_merge(people, [one, other], Rates(0.4)).cost)
