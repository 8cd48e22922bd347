"""Groups by local search: k or more in each, never dearer than at the start, moves held to a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import errors as errors_oracle
from oracles.trajectories import grouping as oracle
from tripcloak.ground.arrays import Ints
from tripcloak.ground.progress import silent
from tripcloak.trajectories.measures.accuracy import sample_errors
from tripcloak.trajectories.methods import grouping
from tripcloak.trajectories.methods._kernels import grouping as _kernels
from tripcloak.trajectories.methods._kernels.errors import Samples
from tripcloak.trajectories.methods.grouping import Grouping, best_groups, mean_losses, start_groups
from tripcloak.trajectories.methods.kmerge import Rates, k_merge, merge_groups
from tripcloak.trajectories.methods.kscale import KScale
from tripcloak.trajectories.methods.partners import SparseCosts, sparse_costs
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.trajectories import made, released

PEOPLE = made(users=60, samples=12, seed=3, days=2, spread=20)


def costs_of(people: Trajectories, kept: int = 20) -> SparseCosts:
    others = people.n_users - 1
    return sparse_costs(people, neighbours=others, kept=min(kept, others), jobs=1, progress=silent)


def searched(people: Trajectories, k: int, jobs: int = 1) -> Grouping:
    others = people.n_users - 1
    return best_groups(people, costs_of(people), k, neighbours=others, jobs=jobs, progress=silent)


def started(people: Trajectories, k: int, kept: int = 20) -> list[Ints]:
    others = people.n_users - 1
    return start_groups(people, costs_of(people, kept), k, neighbours=others, jobs=1, progress=silent)


def total(people: Trajectories, groups: list[Ints], rates: Rates) -> float:
    return sum(k_merge(people, members, rates).cost for members in groups)


@given(st.integers(2, 40), st.integers(2, 7), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_everybody_is_in_one_group_of_k_to_twice_k(users: int, k: int, seed: int) -> None:
    people = made(users=max(users, k), samples=4, seed=seed, spread=9)
    start = started(people, k, kept=k)
    found = searched(people, k)
    for groups in (start, found.groups):
        assert np.array_equal(np.sort(np.concatenate(groups)), np.arange(people.n_users))
        assert {len(members) for members in groups} <= set(range(k, 2 * k))
    begin, end = (total(people, groups, found.rates) for groups in (start_of(people, k), found.groups))
    assert end <= begin * (1 + 1e-9)
    assert found.facts["saved"] == pytest.approx(1 - end / begin)


def start_of(people: Trajectories, k: int) -> list[Ints]:
    return started(people, k)


@pytest.mark.parametrize("k", [2, 5])
def test_the_search_saves_a_good_part_and_is_the_same_for_any_threads(k: int) -> None:
    found = searched(PEOPLE, k)
    assert found.facts["moves"] > 0
    assert found.facts["saved"] > 0.01
    again = searched(PEOPLE, k, jobs=3)
    assert [one.tolist() for one in again.groups] == [one.tolist() for one in found.groups]


def test_nothing_moves_where_nothing_can_be_saved() -> None:
    same = Trajectories.of(user=range(6), t=[5] * 6, x=[1] * 6, y=[2] * 6, grid=Grid())
    found = searched(same, 2)
    assert (found.facts["moves"], found.facts["passes"], found.facts["saved"]) == (0, 4, 0.0)


def test_two_couples_that_were_parted_find_each_other() -> None:
    couples = Trajectories.of(user=range(4), t=[0, 900, 1, 901], x=[0] * 4, y=[0] * 4, grid=Grid())
    costs = costs_of(couples)
    search = grouping._Search(couples, costs, [np.array([0, 1]), np.array([2, 3])], 2, 1)
    search.set_rates(Rates(1))
    before = search.cost
    assert search.improve(np.arange(4)) == 1
    assert sorted(one.tolist() for one in search.groups()) == [[0, 2], [1, 3]]
    assert search.cost == total(couples, search.groups(), Rates(1)) < before


def test_one_too_many_goes_where_it_belongs_and_k_stay() -> None:
    # Three early ones with a late one, and two late ones; k = 2.
    five = Trajectories.of(user=range(5), t=[0, 1, 900, 901, 902], x=[0] * 5, y=[0] * 5, grid=Grid())
    search = grouping._Search(five, costs_of(five), [np.array([0, 1, 2]), np.array([3, 4])], 2, 1)
    search.set_rates(Rates(1))
    assert search.improve(np.arange(5)) == 1
    assert sorted(one.tolist() for one in search.groups()) == [[0, 1], [2, 3, 4]]
    assert search.improve(np.arange(5)) == 0


@given(
    st.integers(0, 2**32),
    st.integers(1, 9),
    st.sampled_from([(0.3, 1.0), (2.0, 1.0)]),
    st.sampled_from([0.0, 3.0, np.inf]),
)
@settings(max_examples=12, deadline=None)
def test_moves_are_those_of_the_plain_twin(
    seed: int, tried: int, rates: tuple[float, float], most_guessed: float
) -> None:
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(8), 2)
    t, x, y = random.choice(10**4, (3, len(user)), replace=False)
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    groups = [rows.tolist() for rows in np.split(random.permutation(8), [3, 5])]
    partners = np.array([random.permutation(np.delete(np.arange(8), one))[:5] for one in range(8)])
    others, values = np.sort(partners, axis=1), random.uniform(1, 9, (8, 5))
    beyond = random.uniform(9, 12, 8)
    listed = {
        (one, int(other)): float(value)
        for one in range(8)
        for other, value in zip(others[one], values[one], strict=True)
    }
    pairs = _kernels.Pairs(others, values, beyond)
    for one, other in ((0, 1), (3, 6), (7, 2)):
        expected = oracle.pair_guess(listed, beyond.tolist(), one, other)
        assert _kernels.pair_guess(pairs, one, other) == expected
    found = moves_of(people, pairs, partners, groups, rates, tried, most_guessed)
    expected_moves = oracle.best_moves(
        people, listed, beyond.tolist(), partners.tolist(), groups, rates, 2, tried, most_guessed
    )
    for one, move in enumerate(expected_moves):
        if move is None:
            assert found.to[one] == -1
        else:
            assert (found.to[one], found.place[one]) == move[:2]
            assert found.gain[one] == pytest.approx(move[2])


def moves_of(
    people: Trajectories,
    pairs: _kernels.Pairs,
    partners: Ints,
    groups: list[list[int]],
    rates: tuple[float, float],
    tried: int,
    most_guessed: float = np.inf,
    looked: int = 0,
) -> _kernels.Moves:
    """Return the best moves with k = 2, of groups that were all changed in round 0."""
    members = np.full((len(groups), 3), -1)
    group_of = np.empty(people.n_users, np.int64)
    for at, rows in enumerate(groups):
        members[at, : len(rows)], group_of[rows] = rows, at
    grouped = _kernels.Grouped(
        group_of,
        members,
        np.array([len(rows) for rows in groups]),
        np.array([errors_oracle.cover_by_errors(people, rows, rates)[-1] for rows in groups]),
        np.zeros(len(groups), np.int64),
    )
    samples = Samples(people.t, people.x, people.y, people.offsets)
    everybody = np.arange(people.n_users)
    looked_at = np.full(people.n_users, looked)
    return _kernels.best_moves(
        samples,
        pairs,
        partners,
        grouped,
        rates,
        2,
        everybody,
        looked_at,
        tried,
        most_guessed,
        people.n_samples,
    )


def test_what_was_looked_at_and_has_not_changed_is_left_out() -> None:
    couples = Trajectories.of(user=range(4), t=[0, 900, 1, 901], x=[0] * 4, y=[0] * 4, grid=Grid())
    everybody_else = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
    pairs = _kernels.Pairs(everybody_else, np.ones((4, 3)), np.ones(4))
    asked = (couples, pairs, everybody_else, [[0, 1], [2, 3]], (1.0, 1.0), 9)
    assert (moves_of(*asked).to >= 0).all()
    assert (moves_of(*asked, looked=1).to == -1).all()


def test_losses_are_the_mean_errors_of_the_release() -> None:
    found = searched(PEOPLE, 3)
    losses = mean_losses(PEOPLE, found.groups, found.rates)
    solution = merge_groups(PEOPLE, found.groups, {}, found.rates)
    errors = sample_errors(PEOPLE, released(PEOPLE, *solution[:4]))
    assert losses.away * PEOPLE.grid.metres / 1000 == pytest.approx(errors.spatial_km.mean)
    assert losses.late * PEOPLE.grid.seconds / 60 == pytest.approx(errors.time_minutes.mean)


def test_both_errors_shrink() -> None:
    people = made(users=150, samples=20, seed=2)
    found = searched(people, 3)
    before = mean_losses(people, start_of(people, 3))
    after = mean_losses(people, found.groups, found.rates)
    assert after.away < before.away
    assert after.late < before.late


def test_a_release_of_groups_is_the_same_for_all_of_a_group() -> None:
    release = KScale(k=3, constraint="full").anonymise(PEOPLE)
    rows = np.split(np.stack(release.boxes, axis=1), release.offsets[1:-1])
    told = [row.tobytes() for row in rows]
    assert min(told.count(one) for one in told) >= 3
    assert release.facts["search"]["largest"] <= 5
