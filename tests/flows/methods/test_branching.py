"""Branching and withholding: at their end they find what brute force finds, and stopped they bound it."""

from __future__ import annotations

from itertools import chain, combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows import cuts as plain
from tripcloak.flows.methods import TwinCut
from tripcloak.flows.methods.branching import Branching
from tripcloak.flows.methods.cut_pairs import CutPairSearch, Settled
from tripcloak.flows.methods.decomposition import Decomposition
from tripcloak.flows.methods.products import find_products
from tripcloak.flows.methods.tree_method import Withhold
from tripcloak.flows.methods.withholding import withhold_best
from tripcloak.flows.model import ODMatrix
from tripcloak.hierarchy import Hierarchy
from worlds.cuts import Request, k_of, requests
from worlds.depth import size
from worlds.matrices import diced_tree, hierarchy_of

MANY = size(2, 3) * settings().max_examples


def pairs_of(request: Request) -> CutPairSearch:
    """Return the cells under the loss that is any table of numbers."""
    matrix = request.case.matrix()
    products = find_products(matrix, request.promise.resolve(matrix), request.table)
    return CutPairSearch(products, products.budget(request.limit), request.withhold == "unsafe")


def start_of(pairs: CutPairSearch) -> Settled | None:
    """Return the undivided pair, None where that may not be released."""
    roots = [np.arange(len(tree)) == tree.root for tree in pairs.products.axes]
    return pairs.settle(pairs.evaluate(roots[0], roots[1])) if pairs.free[0] else None


def optimum_of(request: Request) -> float:
    """Return the least mean over all pairs of cuts and all that they may withhold."""
    boxes = request.table_boxes
    reached = plain.twin_frontier(boxes, plain.pairs_of_cuts(boxes))
    return plain.least_mean(reached, boxes.total, request.limit * boxes.total * (1 + 1e-12))


@settings(max_examples=MANY)
@given(
    request=requests(max_zones=8, max_rows=20, any_withholding=True),
    price=st.sampled_from([0.1, 1.0, 7.0, 100.0]),
    rounds=st.integers(0, 12),
)
def test_brought_to_its_end_it_finds_the_best_of_all_pairs_of_cuts(
    request: Request, price: float, rounds: int
) -> None:
    """From the worst start there is, at any price, and with zones ruled out on the way."""
    pairs = pairs_of(request)
    start = start_of(pairs)
    if start is None:
        return
    proof = Decomposition(pairs.products, pairs.budget, price, keeps_safe=pairs.keeps_safe)
    for _ in range(rounds + 1):
        proof.round(start.mean)
    branching = Branching(pairs, start)
    bound, optimum = branching.run(proof, lambda looked: False), optimum_of(request)
    assert branching.best.mean == pytest.approx(optimum, rel=1e-9)
    assert bound == pytest.approx(optimum, rel=1e-9)


@settings(max_examples=MANY)
@given(request=requests(max_zones=8, max_rows=20, any_withholding=True), parts=st.integers(0, 6))
def test_stopped_anywhere_it_still_bounds_all_pairs_of_cuts(request: Request, parts: int) -> None:
    pairs = pairs_of(request)
    start = start_of(pairs)
    if start is None:
        return
    proof = Decomposition(pairs.products, pairs.budget, 7.0, keeps_safe=pairs.keeps_safe)
    proof.round(start.mean)
    left = iter([False] * parts)
    branching = Branching(pairs, start)
    bound = branching.run(proof, lambda looked: next(left, True))
    assert bound <= optimum_of(request) * (1 + 1e-9) <= branching.best.mean * (1 + 2e-9)


@given(request=requests(max_zones=6, max_rows=14), dice=st.randoms(use_true_random=False))
def test_what_is_withheld_is_the_best_choice_there_is(request: Request, dice: Random) -> None:
    pairs = pairs_of(request)
    cuts = [dice.choice(plain.cuts(tree)) for tree in request.case.trees]
    chosen = [np.isin(tree.zones.ids, cut) for tree, cut in zip(pairs.products.axes, cuts, strict=True)]
    pair, p = pairs.evaluate(chosen[0], chosen[1]), pairs.products
    if pair.hidden > pairs.budget:
        return
    settled, low = withhold_best(pairs, pair)
    cells = np.flatnonzero(chosen[0][p.zone[0]] & chosen[1][p.zone[1]]).tolist()[:9]
    rest = float(p.total) - sum(float(p.volume[cell]) for cell in cells)
    means = [
        sum(p.loss[c] * p.volume[c] for c in kept) / sum(p.volume[c] for c in kept)
        for kept in chain.from_iterable(combinations(cells, n) for n in range(1, len(cells) + 1))
        if p.total - sum(p.volume[c] for c in kept) <= pairs.budget and sum(p.volume[c] for c in kept) > 0
    ]
    assert rest >= 0
    assert low <= min(means) * (1 + 1e-9)
    if len(cells) < 9:
        assert settled.mean == pytest.approx(min(means), rel=1e-9)
        assert low == settled.mean
    assert p.total - p.volume[settled.released].sum() <= pairs.budget


def test_a_choice_too_hard_to_prove_is_bounded_by_parts_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven cells, all dearer than the twelfth and of volumes that hardly add up to the room."""
    tree = hierarchy_of({"all": None, **{f"zone{i}": "all" for i in range(12)}})
    ends = np.repeat(np.arange(12), [40, *range(13, 24)])
    matrix = ODMatrix.from_trips(tree, tree, ends, ends)
    promise = k_of(2)
    losses = {"metres": np.concatenate([[0.5], np.linspace(1, 2, 11), [50.0]])}

    class Table:
        name = "table"

        def of_ancestors(self, tree: object, ancestors: np.ndarray) -> np.ndarray:
            values: np.ndarray = losses["metres"][ancestors]
            return values

    products = find_products(matrix, promise, Table())
    pairs = CutPairSearch(products, 101.0)
    own = np.arange(13) < 12
    pair = pairs.evaluate(own, own)
    exact, low = withhold_best(pairs, pair)
    assert low == exact.mean
    monkeypatch.setattr("tripcloak.flows.methods.withholding.MOST_STEPS", 3)
    stopped, bound = withhold_best(pairs, pair)
    assert bound < exact.mean <= stopped.mean


def test_a_small_input_ends_proven_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rounds alone leave some percent, and branching nothing; the same every time."""
    dice = Random(6)
    trees = [hierarchy_of(diced_tree(dice, 16)) for _ in range(2)]
    ends = np.array([[int(tree.n_tiles * dice.random() ** 2) for tree in trees] for _ in range(120)]).T
    matrix = ODMatrix.from_trips(trees[0], trees[1], *ends)
    method = TwinCut(promise=k_of(4), suppression_limit=0.1)
    releases = [method.anonymise(matrix) for _ in range(2)]
    assert [release.bound is not None and release.bound.gap for release in releases] == [0.0, 0.0]
    assert len({release.bound for release in releases}) == 1
    monkeypatch.setattr("tripcloak.flows.methods.twincut.BRANCHING", -1)
    bound = method.anonymise(matrix).bound
    assert bound is not None
    assert bound.gap > 2


FLAT = [3, 3, 3, -1], [0.0, 1.0, 2.5, 3.5]
STEPS = [6, 5, 5, 6, 6, 7, 7, -1], [0.0, 1.0, 1.0, 1.0, 1.0, 2e9, 2e7, 3642220172.337193]
EVEN = [3, 3, 3, -1], [2.0, 1.0, 1.0, 4.0]


@pytest.mark.parametrize(
    ("tree", "trips", "k", "limit", "withhold", "least"),
    [
        # Both problems answer with the tiles at once, which leaves four trips too many to withhold.
        pytest.param(FLAT, [2028, 1010, 4], 20, 0.001, "worst", 4.5, id="agree"),
        # A price of nearly nothing would do for the limit, and proves nothing.
        pytest.param(EVEN, [0, 3, 5], 5, 0.3, "unsafe", 5.0, id="free"),
        # The highest price, about 1e13, would round what is saved to whole areas of towns.
        pytest.param(STEPS, [1011, 5, 2, 1001, 1000], 2, 0.0, "worst", 1 + 2008 / 3019, id="dear"),
    ],
)
def test_few_zones_end_proven_optimal(
    tree: tuple[list[int], list[float]],
    trips: list[int],
    k: int,
    limit: float,
    withhold: Withhold,
    least: float,
) -> None:
    parents, areas = tree
    ids = [f"zone{i}" for i in range(len(parents))]
    origins = Hierarchy.from_parents(ids, parents, area_km2=np.array(areas))
    destinations = Hierarchy.from_parents(["there"], [-1], area_km2=np.ones(1))
    ends = np.repeat(np.arange(len(trips)), trips)
    matrix = ODMatrix.from_trips(origins, destinations, ends, np.zeros_like(ends))
    method = TwinCut(promise=k_of(k), suppression_limit=limit, loss="area", withhold=withhold)
    bound = method.anonymise(matrix).bound
    assert bound is not None
    assert (bound.value, bound.gap) == (pytest.approx(least), 0.0)
