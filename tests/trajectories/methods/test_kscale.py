"""k-scale: its neighbours, bounds, constraints and picks against plain twins and their definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import kscale as oracle
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.progress import silent
from tripcloak.trajectories.methods._kernels import kscale as _kernels
from tripcloak.trajectories.methods._kernels import merging as merging_kernels
from tripcloak.trajectories.methods.kmerge import k_merge, pair_costs
from tripcloak.trajectories.methods.kscale import KScale, k_pick, nu_k_pick
from tripcloak.trajectories.methods.partners import SparseCosts, Squares, SquareTree, sparse_costs, squares
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.trajectories import made, without_ties

PEOPLE = made(users=40, samples=10, seed=3, days=2, spread=20)


def all_costs(trajectories: Trajectories, kept: int | None = None, by_total: bool = False) -> SparseCosts:
    others = trajectories.n_users - 1
    return sparse_costs(
        trajectories, neighbours=others, kept=kept or others, by_total=by_total, jobs=1, progress=silent
    )


@given(st.integers(2, 150), st.integers(0, 2**32), st.sampled_from([1.0, 8.0, 60.0]))
@settings(max_examples=40, deadline=None)
def test_the_tree_finds_exactly_the_nearest_squares(n: int, seed: int, largest: float) -> None:
    random = np.random.default_rng(seed)
    of = Squares(*random.integers(0, 30, (2, n)).astype(float), random.uniform(0.5, largest, n))
    many = min(7, n - 1)
    found = SquareTree(of).nearest(slice(0, n), many)
    distances = [[oracle.proxy(of, i, j) for j in row] for i, row in enumerate(found)]
    np.testing.assert_allclose(distances, oracle.nearest(of, many), rtol=1e-12)
    assert all(i not in row for i, row in enumerate(found.tolist()))


@given(st.lists(st.floats(0.5, 40), min_size=8, max_size=8), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_no_square_of_a_node_is_nearer_than_its_floor(halves: list[float], seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.uniform(0, 50, (2, 8))
    half = np.array(halves)
    extent = np.array([x[1:].min(), x[1:].max(), y[1:].min(), y[1:].max(), half[1:].min(), half[1:].max()])
    floor = _kernels.proxy_floor(x[0], y[0], half[0], extent)
    of = Squares(x, y, half)
    for j in range(1, 8):
        near = _kernels.proxy(x[0], y[0], half[0], x[j], y[j], half[j])
        assert near == pytest.approx(oracle.proxy(of, 0, j), rel=1e-9, abs=1e-12)
        assert near >= floor - 1e-12
        one = np.array([x[j], x[j], y[j], y[j], half[j], half[j]])
        assert _kernels.proxy_floor(x[0], y[0], half[0], one) == pytest.approx(near, rel=1e-9, abs=1e-12)
    assert floor <= oracle.proxy_floor(of, 0, list(range(1, 8))) + 1e-12


@given(st.integers(2, 90), st.integers(2, 9), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_the_tree_is_planted_as_by_hand(n: int, leaf: int, seed: int) -> None:
    # Few different values, so that rows tie.
    of = Squares(*np.random.default_rng(seed).integers(0, 9, (3, n)).astype(float))
    order, rows, extent = _kernels.plant(*of, leaf)
    nodes = oracle.plant(of, leaf)
    assert len(rows) == len(nodes)
    for (first, last), own, sides in zip(rows.tolist(), nodes, extent.tolist(), strict=True):
        assert sorted(order[first:last]) == sorted(own)
        assert sides == [edge for side in of for edge in (side[own].min(), side[own].max())]
    leaves = nodes[len(nodes) // 2 :]
    assert order.tolist() == [row for own in leaves for row in own]


def test_a_square_has_the_centre_of_mass_and_the_timed_radius_of_gyration() -> None:
    of = squares(PEOPLE)
    for i in (0, 7, 39):
        mine = slice(PEOPLE.offsets[i], PEOPLE.offsets[i + 1])
        t, x, y = (column[mine].astype(float) for column in (PEOPLE.t, PEOPLE.x, PEOPLE.y))
        spent = np.append(np.diff(t), 1)
        radius = np.sqrt((spent * ((x - x.mean()) ** 2 + (y - y.mean()) ** 2)).sum() / spent.sum())
        assert (of.x[i], of.y[i]) == pytest.approx((x.mean(), y.mean()))
        assert of.half[i] == pytest.approx(radius)


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=15, deadline=None)
def test_bounds_spare_work_and_lose_nothing(seed: int, by_total: bool) -> None:
    people = made(users=9, samples=8, seed=seed, days=1, spread=8)
    kept = all_costs(people, 3, by_total)
    for i, expected in enumerate(oracle.cheapest(people, 3, by_total)):
        assert kept.costs[i].tolist() == pytest.approx([cost for cost, _ in expected], rel=1e-9)
        assert kept.partners[i].tolist() == [j for _, j in expected]
    assert kept.passed_over + kept.given_up + kept.merged == 9 * 8


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_the_floor_of_a_pair_is_below_its_cost(seed: int) -> None:
    random = np.random.default_rng(seed)
    user = np.repeat([0, 1], random.integers(1, 20, 2))
    t, x, y = (random.integers(0, 60, len(user)) + random.integers(0, 80) * user for _ in range(3))
    two = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    extent = np.array(
        [[f(c[two.owner == i]) for c in (two.x, two.y) for f in (np.min, np.max)] for i in (0, 1)]
    )
    floor = _kernels.cost_floor(two.t, two.offsets, extent, 0, 1)
    assert 0 < floor <= oracle.pair_total(two, 0, 1)
    assert floor == oracle.cost_floor(two, 0, 1) == _kernels.cost_floor(two.t, two.offsets, extent, 1, 0)


def test_far_fewer_pairs_are_merged_than_there_are() -> None:
    people = made(users=120, samples=40, seed=1)
    facts = KScale(k=2, constraint="nu-k-pick", picking="alone").anonymise(people).facts["pairs"]
    assert facts["candidates"] == 120 * 119
    assert facts["merged"] < 0.2 * facts["candidates"]


def test_alone_each_is_picked_by_its_cheapest_partners() -> None:
    costs = all_costs(PEOPLE)
    sets = nu_k_pick(costs, 4)
    picked_by: dict[int, set[int]] = {i: set() for i in range(PEOPLE.n_users)}
    for j in range(PEOPLE.n_users):
        first, *others = sets.members[sets.offsets[j] : sets.offsets[j + 1]].tolist()
        assert first == j
        for i in others:
            picked_by[i].add(j)
    for i, pickers in picked_by.items():
        assert set(costs.partners[i, :3].tolist()) <= pickers
    idle = set(range(PEOPLE.n_users)) - set(costs.partners[:, :3].ravel().tolist())
    assert sets.unpicked == len(idle)
    for j in idle:
        assert sets.members[sets.offsets[j] : sets.offsets[j + 1]].tolist() == [j, costs.partners[j, 0]]


def test_under_k_pick_everybody_picks_and_is_picked_equally_often() -> None:
    sets = k_pick(all_costs(PEOPLE), 4)
    assert (np.diff(sets.offsets) == 4).all()
    assert (np.bincount(sets.members) == 4).all()
    by_set = sets.members.reshape(-1, 4)
    assert all(len(set(row)) == 4 for row in by_set.tolist())


def test_k_pick_is_the_cheapest_cycle_cover_for_pairs() -> None:
    six = made(users=6, samples=6, seed=8)
    sets = k_pick(all_costs(six), 2)
    matrix = {(i, j): float(pair_costs(six, [i], [j])[0]) for i in range(6) for j in range(6) if i != j}
    chosen = sum(matrix[i, int(j)] for i, j in sets.members.reshape(-1, 2))
    best = min(
        sum(matrix[i, j] for i, j in enumerate(picks))
        for picks in permutations(range(6))
        if all(i != j for i, j in enumerate(picks))
    )
    assert chosen == pytest.approx(best)


def test_k_pick_says_when_candidates_do_not_allow_it() -> None:
    costs = all_costs(PEOPLE, 5)
    star = SparseCosts(
        partners=np.where(np.arange(40)[:, None] == 0, [[1]], [[0]]).astype(np.int32),
        costs=costs.costs[:, :1],
        passed_over=0,
        given_up=0,
        merged=1,
    )
    with pytest.raises(ImpossibleRequestError, match="raise the number of neighbours"):
        k_pick(star, 2)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 99)), unique=True), st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_a_heap_keeps_the_least(entries: list[tuple[int, int]], many: int) -> None:
    keys, rows, held = np.empty(many), np.empty(many, np.int64), 0
    for key, row in entries:
        held = _kernels.keep(keys, rows, held, float(key), row)
    kept = sorted(zip(keys[:held].tolist(), rows[:held].tolist(), strict=True))
    assert kept == oracle.keep([(float(key), row) for key, row in entries], many)


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_own_cost_is_that_of_trying_everything(seed: int) -> None:
    three = without_ties(seed)
    at = merging_kernels.merge_buffers(9)
    members = np.array([2, 0, 1])
    n = merging_kernels.lay_many(at, three.t, three.x, three.y, three.offsets, members)
    assert merging_kernels.own_cost(at, n) == pytest.approx(oracle.own_cost(three, members.tolist()))


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_picking_costs_what_trying_everything_says(seed: int) -> None:
    three = without_ties(seed)
    # The first picked the second, the third nobody; each is asked with and without one more.
    last, before, picked = np.array([0, -1, -1]), np.array([-1]), np.array([1])
    pickers, also = np.array([0, 0, 2, 1]), np.array([-1, 2, 1, 0])
    columns = three.t, three.x, three.y, three.offsets
    found = _kernels.costs_of_picking(*columns, last, before, picked, pickers, also)
    expected = oracle.costs_of_picking(three, {0: [1]}, [(0, None), (0, 2), (2, 1), (1, 0)])
    assert found.tolist() == pytest.approx(expected)


def test_own_cost_is_the_first_members_share_of_the_merge() -> None:
    last = np.full(PEOPLE.n_users, -1)
    before, picked = np.array([-1, 0]), np.array([7, 9])
    last[5] = 1
    columns = PEOPLE.t, PEOPLE.x, PEOPLE.y, PEOPLE.offsets
    for also, members in ((-1, [5, 7, 9]), (11, [5, 7, 9, 11])):
        (cost,) = _kernels.costs_of_picking(*columns, last, before, picked, np.array([5]), np.array([also]))
        merged = k_merge(PEOPLE, members)
        b = merged.boxes
        spans = (b.t1 - b.t0) * (b.x1 - b.x0 + b.y1 - b.y0)
        assert cost == spans[merged.box_of[: PEOPLE.lengths[5]]].sum()


def own_total(people: Trajectories, method: KScale) -> float:
    release = method.anonymise(people)
    minutes, wide, high = release.spans()
    return float((minutes * (wide + high))[release.box_of].sum())


@pytest.mark.parametrize("k", [2, 5])
def test_picking_together_costs_less_than_picking_alone(k: int) -> None:
    people = made(users=150, samples=30, seed=2)
    assert own_total(people, KScale(k=k, constraint="nu-k-pick")) < own_total(
        people, KScale(k=k, constraint="nu-k-pick", picking="alone")
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 1}, "2 or more"),
        ({"constraint": "some"}, "full, nu-k-pick, k-pick"),
        ({"picking": "blind"}, "together, alone"),
        ({"k": 5, "neighbours": 3}, "raise the number of neighbours"),
    ],
)
def test_wrong_parameters_are_told(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        KScale(**wrong)  # type: ignore[arg-type]


def test_a_guess_is_right_one_time_in_k_unless_something_else_is_asked_for() -> None:
    assert KScale(k=2).constraint == "full"
    with pytest.raises(InputError, match="add constraint='nu-k-pick'"):
        KScale(k=2, picking="alone").anonymise(PEOPLE)
    assert KScale(k=2, constraint="nu-k-pick", picking="alone").anonymise(PEOPLE).n_released == 40
