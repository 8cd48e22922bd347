"""The tree knapsack against every outcome of tiny trees, and against ATG-Dual on larger ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows import maps as oracle_maps
from oracles.flows.maps import Outcome, least_mean
from tripcloak.flows.methods import ATGDual, QuadtreeKnapsack
from tripcloak.flows.methods._kernels import knapsack as _kernels
from tripcloak.flows.methods._kernels.cuts import RELEASE, SUPPRESS
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity
from worlds.nested_requests import Request, requests

PLENTY = 100_000


class Products:
    """A random tree of products: parents first, volumes that add up, losses that shrink downwards."""

    def __init__(self, seed: int, n: int) -> None:
        dice = np.random.default_rng(seed)
        self.parent = np.full(n, -1, dtype=np.int32)
        for p in range(1, n):
            self.parent[p] = dice.integers(max(0, p - 4), p)
        self.volume = dice.integers(1, 6, n).astype(float)
        for p in range(n - 1, 0, -1):
            self.volume[self.parent[p]] += self.volume[p]
        self.loss = dice.integers(1, 12, n).astype(float)
        for p in range(1, n):
            self.loss[p] = max(1.0, self.loss[self.parent[p]] - self.loss[p])

    def solve(
        self, price: float, slack: float, budget: float, room: int = PLENTY
    ) -> tuple[list[int], Outcome]:
        limits = price, slack, budget
        choice, loss, hidden = _kernels.knapsack(self.loss, self.volume, self.parent, limits, room)
        return choice.tolist(), (hidden, loss)

    def outcomes(self) -> set[Outcome]:
        return oracle_maps.knapsack(self.loss.tolist(), self.volume.tolist(), self.parent.tolist())

    def follow(self, choice: list[int], p: int = 0) -> Outcome:
        """Return what the choices suppress and lose, step by step."""
        if choice[p] == RELEASE:
            return 0.0, self.loss[p] * self.volume[p]
        if choice[p] == SUPPRESS:
            return self.volume[p], 0.0
        parts = [q for q in range(p + 1, len(self.parent)) if self.parent[q] == p]
        hidden, loss = oracle_maps.added(self.follow(choice, q) for q in parts)
        return hidden + self.volume[p] - self.volume[parts].sum(), loss


products = st.builds(Products, st.integers(0, 2**32 - 1), st.integers(1, 9))
shares = st.sampled_from([0.0, 0.1, 0.35, 0.8])


@settings(max_examples=5 * settings().max_examples)
@given(tree=products, share=shares, price=st.floats(0, 40))
def test_with_all_the_slack_there_is_no_mean_is_smaller(tree: Products, share: float, price: float) -> None:
    budget = np.floor(share * tree.volume[0])
    choice, (hidden, loss) = tree.solve(price, 1e12, budget)
    assert tree.follow(choice) == (hidden, loss)
    assert hidden <= budget
    assert loss / (tree.volume[0] - hidden) == pytest.approx(
        least_mean(tree.outcomes(), tree.volume[0], budget), rel=1e-12
    )


@settings(max_examples=3 * settings().max_examples)
@given(tree=products, share=shares, price=st.floats(0, 40), slack=st.floats(0, 60))
def test_nothing_within_the_slack_is_missed(tree: Products, share: float, price: float, slack: float) -> None:
    budget = np.floor(share * tree.volume[0])
    choice, (hidden, loss) = tree.solve(price, slack, budget)
    found = tree.outcomes()
    least = min(cost + price * gone for gone, cost in found)
    near = {(gone, cost) for gone, cost in found if cost + price * gone <= least + slack * (1 - 1e-9)}
    if np.isfinite(loss):
        assert tree.follow(choice) == (hidden, loss)
    if any(gone <= budget for gone, _ in near):
        best = least_mean(near, tree.volume[0], budget)
        assert loss / (tree.volume[0] - hidden) <= best * (1 + 1e-12)


def test_tables_beyond_the_room_are_given_up() -> None:
    tree = Products(seed=4, n=9)
    assert tree.solve(3.0, 1e12, 20.0)[1][1] > 0
    assert tree.solve(3.0, 1e12, 20.0, room=5)[1] == (0.0, -1.0)


def test_products_outside_the_tree_take_no_part() -> None:
    tree = Products(seed=4, n=6)
    alone = tree.solve(3.0, 1e12, 5.0)[1]
    tree.parent = np.append(tree.parent, np.int32(-1)).astype(np.int32)
    tree.volume, tree.loss = np.append(tree.volume, 50.0), np.append(tree.loss, 0.0)
    assert tree.solve(3.0, 1e12, 5.0)[1] == alone


# --- the method ------------------------------------------------------------------------------------


@settings(max_examples=5 * settings().max_examples)
@given(request=requests())
def test_no_destination_maps_of_this_origin_cut_have_a_smaller_mean(request: Request) -> None:
    exact = QuadtreeKnapsack(**request.parameters())
    if not any(hidden <= request.budget for hidden, _ in request.outcomes):
        with pytest.raises(ImpossibleRequestError, match="v_target"):
            exact.anonymise(request.case.matrix())
        return
    hidden, loss = request.outcome(exact.anonymise(request.case.matrix()))
    assert (hidden, loss) in request.outcomes
    assert hidden <= request.budget
    best = least_mean(request.outcomes, request.total, request.budget)
    assert loss / (request.total - hidden) == pytest.approx(best, rel=1e-12)


def gravity(seed: int, trips: int, binary: bool) -> ODMatrix:
    """Return trips between 128 tiles on a line, mostly short ones, under a tree of twos or of fours."""
    dice = np.random.default_rng(seed)
    step, ids, above, width = (2 if binary else 4), [], [], 128
    while width > 1:
        first = len(ids)
        ids += [f"z{first + i:03d}" for i in range(width)]
        above += [first + width + i // step for i in range(width)]
        width = -(-width // step)
    tree = Hierarchy.from_parents([*ids, "all"], [*above, -1])
    origin = dice.integers(0, 128, trips)
    destination = np.clip(origin + dice.normal(0, 12, trips).round().astype(int), 0, 127)
    return ODMatrix.from_trips(tree, tree, origin, destination)


def mean_tiles(release: Release) -> float:
    sizes = (
        release.origins.tiles[release.group_origin] + release.destinations.tiles[release.group_destination]
    )
    return float(np.average(sizes, weights=release.trips))


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("limit", [0.0, 0.003, 0.02, 0.1, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_it_lies_between_the_dual_and_the_dual_bound(seed: int, limit: float, binary: bool) -> None:
    matrix = gravity(seed, trips=1500, binary=binary)
    request = {"promise": KAnonymity(k=4, unit="trips"), "suppression_limit": limit, "v_target": 60.0}
    exact = QuadtreeKnapsack(**request).anonymise(matrix)
    dual = ATGDual(**request).anonymise(matrix)
    assert exact.bound is not None
    assert dual.bound is not None
    assert mean_tiles(exact) <= mean_tiles(dual) * (1 + 1e-12)
    assert dual.bound.value <= mean_tiles(exact) * (1 + 1e-9)
    assert exact.bound.value == pytest.approx(mean_tiles(exact), rel=1e-12)
    assert exact.bound.gap == 0
    assert matrix.total() - exact.trips.sum() <= limit * matrix.total()
    same = ~exact.suppressed & ~dual.suppressed
    origins = [release.group_origin[release.group_of_flow[same]] for release in (exact, dual)]
    np.testing.assert_array_equal(*origins)


def test_it_finds_what_the_dual_cannot() -> None:
    """Two origins are alike, so a price that suppresses the stray trip of one suppresses both."""
    origins = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    destinations = Hierarchy.from_parents(["c", "d", "e", "f", "all"], [4, 4, 4, 4, -1])
    one = np.repeat([0, 1, 2, 3], [20, 5, 5, 1])
    matrix = ODMatrix.from_trips(origins, destinations, np.repeat([0, 1], 31), np.tile(one, 2))
    request = {"promise": KAnonymity(k=2, unit="trips"), "suppression_limit": 0.02, "v_target": 31.0}
    dual = ATGDual(**request).anonymise(matrix)
    exact = QuadtreeKnapsack(**request).anonymise(matrix)
    assert dual.trips.tolist() == [31, 31]
    assert sorted(exact.trips.tolist()) == [5, 5, 20, 31]


def test_too_little_memory_is_refused_with_a_way_out() -> None:
    matrix = gravity(1, trips=1500, binary=True)
    with pytest.raises(ImpossibleRequestError, match=r"too large for 1e-05 GB.*atg-dual") as refusal:
        QuadtreeKnapsack(promise=KAnonymity(k=4, unit="trips"), table_memory=1e-5).anonymise(matrix)
    assert str(matrix.total()) not in str(refusal.value)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_parameters_outside_their_range_are_refused(bad: float) -> None:
    with pytest.raises(InputError, match="table memory"):
        QuadtreeKnapsack(table_memory=bad)
    with pytest.raises(InputError, match="v_target"):
        QuadtreeKnapsack(v_target=bad)
