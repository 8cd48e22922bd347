"""TwinCut with time as an axis: three cuts that take turns, and a bound that holds for all three."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import cuts as plain
from oracles.flows import decomposition as oracle
from oracles.flows import oigh
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.methods import OIGH, SlotBySlot, TwinCut
from tripcloak.flows.methods._kernels import decomposition as _kernels
from tripcloak.flows.methods.cut_pairs import CutPair, CutPairSearch
from tripcloak.flows.methods.decomposition_in_time import DecompositionInTime
from tripcloak.flows.methods.productcut import cyclic_orders, whole_zones
from tripcloak.flows.methods.products import SafeProducts, find_products
from tripcloak.flows.methods.twincut import ALONE, IN_TIME
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.report.plain import withheld_although_safe
from tripcloak.ground.errors import InputError
from worlds.cuts import Request, hold_to, k_of, requests, sent
from worlds.matrices import diced_tree, hierarchy_of, seeds

small = requests(max_zones=5, max_rows=12, with_time=True, any_withholding=True)


def products_of(request: Request) -> SafeProducts:
    """Return the products under the loss that is any table of numbers."""
    matrix = request.case.matrix()
    return find_products(matrix, request.promise.resolve(matrix), request.table)


# --- the bound -------------------------------------------------------------------------------------


@given(request=small)
def test_bounds_never_exceed_the_best_of_all_three_cuts_and_no_release_beats_it(request: Request) -> None:
    """Every loss, unit and promise, and either way to withhold."""
    matrix, boxes = request.case.matrix(), request.boxes
    release = TwinCut(**request.parameters).anonymise(matrix)
    assert release.homogeneous
    assert audit_matrix(matrix, release).safe
    hold_to(request, matrix, release, plain.twin_frontier(boxes, plain.pairs_of_cuts(boxes)))
    if release.bound is not None:
        assert release.bound.relaxation == IN_TIME


@given(
    request=small,
    price=st.sampled_from([0.1, 1.0, 7.0, 100.0]),
    aims=st.lists(st.floats(0.5, 3.0), min_size=1, max_size=30),
)
def test_the_bound_holds_wherever_the_steps_aim_at(request: Request, price: float, aims: list[float]) -> None:
    products, boxes = products_of(request), request.table_boxes
    reached = plain.twin_frontier(boxes, plain.pairs_of_cuts(boxes))
    optimum = plain.least_mean(reached, boxes.total, request.limit * boxes.total * (1 + 1e-12))
    keeps_safe = request.withhold == "unsafe"
    proof = DecompositionInTime(products, products.budget(request.limit), price, keeps_safe=keeps_safe)
    before = 0.0
    for aim in aims:
        proof.round(aim * optimum)
        assert before <= proof.bound <= optimum * (1 + 1e-9) + 1e-12
        before = proof.bound


@pytest.fixture(scope="module")
def busy() -> ODMatrix:
    """Return some hundred trips between some zones, in slots of a tree that is not even."""
    dice = Random(7)
    trees = [hierarchy_of(diced_tree(dice, zones)) for zones in (24, 24, 9)]
    ends = np.array([[int(tree.n_tiles * dice.random() ** 2) for tree in trees] for _ in range(900)]).T
    times: dict[str, Any] = {"times": trees[2], "slot": ends[2].astype(np.int32)}
    return ODMatrix.from_trips(trees[0], trees[1], *ends[:2], **times)


def test_the_proof_closes_most_of_what_nested_problems_leave(busy: ODMatrix) -> None:
    gaps = []
    for certify in (0.0, None):
        bound = TwinCut(promise=k_of(4), certify=certify).anonymise(busy).bound
        assert bound is not None
        gaps.append(bound.gap)
    assert gaps[1] < gaps[0] / 2


# --- the programme ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(request=requests(max_zones=6, with_time=True), dice=seeds)
def test_a_nested_cut_of_three_axes_is_that_of_the_plain_twin(
    mode: str, request: Request, dice: Random
) -> None:
    products = products_of(request)
    n, whole = len(products), whole_zones(products)
    last = np.stack([some[zone] for some, zone in zip(products.ends, products.zone, strict=True)])
    saving = np.array([dice.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 4.0]) for _ in range(n)])
    kernel = _kernels.best_nested_in_time
    solve = kernel if mode == "compiled" else kernel.py_func
    for order in cyclic_orders(3):
        sums, chosen, divided = np.empty((3, n)), np.zeros(n, bool), np.zeros((2, n), bool)
        saved = solve(saving, products.up, whole, last, order, sums, chosen, divided)
        plainly = oracle.best_nested_in_time(
            saving.tolist(), products.up.tolist(), whole.tolist(), last.tolist(), order
        )
        assert saved == pytest.approx(plainly.saved)
        assert saving[chosen].sum() == pytest.approx(plainly.saved)
        assert set(np.flatnonzero(chosen).tolist()) == plainly.chosen


# --- turns -----------------------------------------------------------------------------------------


@st.composite
def duels(draw: st.DrawFn) -> tuple[Request, CutPairSearch, CutPair, float]:
    """Return a request, its cells, any three cuts, and any price."""
    request = draw(requests(max_zones=6, max_rows=16, with_time=True))
    products = products_of(request)
    search = CutPairSearch(products, products.budget(request.limit))
    dice: Random = draw(seeds)
    cuts = [
        np.isin(tree.zones.ids, dice.choice(plain.cuts(some)))
        for tree, some in zip(products.axes, request.case.all_trees, strict=True)
    ]
    return request, search, search.between(cuts), dice.choice([0.0, 1.0, 2.5, 6.0, 40.0, 1e6])


def cost_of(request: Request, cuts: tuple[plain.Cut, ...], price: float) -> float:
    """Return what three cuts cost when cells go that are unsafe or dearer than the price."""
    boxes, cost = request.table_boxes, 0.0
    for cell in (boxes.all[box] for box in plain.cells_of(boxes, *cuts)):
        kept = cell.safe and cell.loss <= price * cell.volume * (1 + 1e-12)
        cost += cell.loss if kept else price * cell.volume
    return cost


@given(duel=duels(), axis=st.sampled_from([0, 1, 2]))
def test_a_reply_is_the_best_of_all_cuts_against_the_others(duel: Any, axis: int) -> None:
    request, search, triple, price = duel
    unit = request.boxes.total / search.products.total
    trees = search.products.axes
    names = [tuple(tree.zones.ids[cut].tolist()) for tree, cut in zip(trees, triple.cuts, strict=True)]
    reply = search.reply(axis, triple, price)
    assert all((reply.cuts[other] == triple.cuts[other]).all() for other in range(3) if other != axis)
    best = min(
        cost_of(request, (*names[:axis], cut, *names[axis + 1 :]), price)
        for cut in plain.cuts(request.case.all_trees[axis])
    )
    assert reply.cost(price) * unit == pytest.approx(best, rel=1e-11, abs=1e-11)
    end = search.descend(triple, price)
    assert end.cost(price) <= reply.cost(price) * (1 + 1e-12) or axis != 0


@given(duel=duels())
def test_uniform_cuts_are_those_that_oigh_would_choose(duel: Any) -> None:
    request, search, _, _ = duel
    unseen = request.case.unseen_tiles
    trees = request.case.all_trees
    axes = [oigh.levels(tree, unseen_tiles=unseen * (axis < 2)) for axis, tree in enumerate(trees)]
    outcomes = oigh.lattice(request.table_boxes, axes)
    best = oigh.best(outcomes, request.limit * request.table_boxes.total * (1 + 1e-12))
    if not search.free.all():
        return
    uniform = search.best_uniform()
    assert uniform is not None
    for tree, cut, axis, level in zip(search.products.axes, uniform.cuts, axes, best, strict=True):
        assert set(tree.zones.ids[cut].tolist()) == set(axis[level].values())


@given(request=requests(max_zones=8, max_rows=24, with_time=True, any_withholding=True))
def test_never_worse_than_oigh_and_withholds_what_it_is_told(request: Request) -> None:
    matrix, boxes = request.case.matrix(), request.boxes
    release = TwinCut(**request.parameters).anonymise(matrix)
    if request.withhold == "unsafe":
        assert withheld_although_safe(matrix, release).groups == 0
    kept = {name: value for name, value in request.parameters.items() if name != "withhold"}
    means = []
    for found in (release, OIGH(**kept).anonymise(matrix)):
        loss, hidden = boxes.outcome(sent(matrix, found))
        means.append(loss / (boxes.total - hidden))
    assert means[0] <= means[1] * (1 + 1e-9)


# --- the edges -------------------------------------------------------------------------------------


def test_a_single_slot_changes_nothing_but_its_own_loss() -> None:
    dice = Random(3)
    trees = [hierarchy_of(diced_tree(dice, 12)) for _ in range(2)]
    ends = np.array([[int(tree.n_tiles * dice.random() ** 2) for tree in trees] for _ in range(200)]).T
    one = {"times": hierarchy_of({"always": None}), "slot": np.zeros(200, dtype=np.int32)}
    method = TwinCut(promise=k_of(4), time_weight=0.0)
    timed = method.anonymise(ODMatrix.from_trips(trees[0], trees[1], *ends, **one))
    bare = method.anonymise(ODMatrix.from_trips(trees[0], trees[1], *ends))
    assert timed.parameters["time_weight"] == 0.0
    assert "time_weight" not in bare.parameters
    for name in ("group_origin", "group_destination", "trips"):
        assert np.array_equal(getattr(timed, name), getattr(bare, name)), name


def test_slot_by_slot_has_cuts_of_its_own_in_every_slot(busy: ODMatrix) -> None:
    release = SlotBySlot.of(TwinCut(promise=k_of(4), suppression_limit=0.5)).anonymise(busy)
    assert "time_weight" not in release.parameters
    assert not release.homogeneous


@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.parametrize("certify", [None, 0.0, 0.05])
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_hardly_anything_to_choose(limit: float, certify: float | None, weight: float) -> None:
    """One tile, trees of depth one, all flows equal, and a k that only the root meets."""
    here, flat = hierarchy_of({"here": None}), hierarchy_of({"all": None, "a": "all", "b": "all"})
    for tree, k in ((here, 4), (flat, 2), (flat, 16)):
        ends = np.arange(tree.n_tiles)
        flows = np.stack(np.meshgrid(ends, ends, [0, 1], indexing="ij")).reshape(3, -1).repeat(2, axis=1)
        times: dict[str, Any] = {"times": flat, "slot": flows[2].astype(np.int32)}
        matrix = ODMatrix.from_trips(tree, tree, *flows[:2], **times)
        method = TwinCut(promise=k_of(k), suppression_limit=limit, certify=certify, time_weight=weight)
        with np.errstate(all="raise"):
            release = method.anonymise(matrix)
        assert audit_matrix(matrix, release).safe
        if release.bound is not None:
            assert release.bound.relaxation == (ALONE if certify == 0 else IN_TIME)
        if certify != 0:
            assert release.bound is not None
            assert release.bound.gap == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="weight of a slot"):
        TwinCut(time_weight=weight)
