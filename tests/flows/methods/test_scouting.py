"""Scouting: whichever zones are looked at, what is proven holds for all pairs of cuts there are."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows import cuts as plain
from oracles.flows import decomposition as oracle
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.methods import TwinCut, scouting
from tripcloak.flows.methods._kernels import cuts as cut_kernels
from tripcloak.flows.methods._kernels import decomposition as kernels
from tripcloak.flows.methods.cut_pairs import CutPair, CutPairSearch
from tripcloak.flows.methods.decomposition import Decomposition
from tripcloak.flows.methods.losses import Loss, depths, find_loss
from tripcloak.flows.methods.products import SafeProducts, find_products
from tripcloak.flows.methods.scouting import Cuts, Scout, about, least_losses, pays, thinned
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Bools
from tripcloak.ground.progress import silent
from tripcloak.hierarchy import Hierarchy, Lineage
from worlds.cuts import Request, hold_to, k_of, requests
from worlds.depth import size
from worlds.matrices import diced_tree, hierarchy_of, seeds

MANY = size(2, 3) * settings().max_examples


def chosen_cut(tree: Hierarchy, dice: Random) -> Bools:
    """Return any cut of a tree."""
    own = np.array([dice.random() < 0.5 for _ in range(len(tree))])
    cut = np.zeros(len(tree), dtype=bool)
    cut[tree.highest(own)] = True
    return cut


def chosen_cuts(request: Request, dice: Random, price: float) -> Cuts:
    """Return any pair of cuts."""
    origins, destinations = (chosen_cut(tree, dice) for tree in request.case.hierarchies)
    return Cuts(origins, destinations, price)


def scout_of(request: Request, matrix: ODMatrix, loss: Loss) -> Scout:
    """Return the scout of a request."""
    return Scout(matrix, request.promise.resolve(matrix), loss, request.limit, silent)


# --- what is looked at ------------------------------------------------------------------------------


@given(dice=seeds, zones=st.integers(1, 12))
def test_below_a_cut_zones_are_divided_while_they_are_large(dice: Random, zones: int) -> None:
    tree = hierarchy_of(diced_tree(dice, zones))
    cut = chosen_cut(tree, dice)
    lineage, of_tile, tiles = about(tree, cut), tree.highest(cut), tree.zones.tiles
    seen = {int(zone) for zone in lineage.ancestors.ravel() if zone >= 0}
    for tile in range(tree.n_tiles):
        zone, deep = int(of_tile[tile]), depths(tree)
        path = [int(z) for z in tree.lineage.ancestors[:, tile] if z >= 0]
        for above, below in pairwise(path):
            wanted = deep[below] <= deep[zone] or (
                above in seen and tiles[above] > tiles[zone] / scouting.FINER and deep[above] >= deep[zone]
            )
            assert (below in seen) == wanted


@given(dice=seeds, zones=st.integers(1, 14))
def test_lineages_of_some_zones_are_those_of_all_without_the_others(dice: Random, zones: int) -> None:
    tree = hierarchy_of(diced_tree(dice, zones))
    full = tree.lineage
    levels = Lineage.through([tree.lift(height) for height in range(len(tree.levels) - 1, -1, -1)])
    assert levels.lowest.tolist() == list(range(tree.n_tiles))
    gone = np.array([dice.random() < 0.4 for _ in range(len(tree))])
    gone[: tree.n_tiles], gone[tree.root] = False, False
    left = full.without(gone)
    for tile in range(tree.n_tiles):
        path = [int(z) for z in full.ancestors[:, tile] if z >= 0 and not gone[z]]
        told = left.ancestors[:, tile].tolist()
        assert told == path + [-1] * (len(told) - len(path))
        parents = left.parents(len(tree))
        assert [int(parents[z]) for z in path] == [-1, *path[:-1]]
    assert full.parents(len(tree)).tolist() == tree.parent.tolist()


def test_the_scout_sees_few_levels_each_with_several_times_the_zones_of_the_last() -> None:
    # A binary tree of 256 tiles: 1, 8, and no more than a sixteenth of the tiles.
    parent = [256 + tile // 2 for tile in range(256)]
    for width in (128, 64, 32, 16, 8, 4, 2):
        start = len(parent)
        parent += [start + width + zone // 2 for zone in range(width)]
    tree = Hierarchy.from_parents([f"{zone:04}" for zone in range(511)], [*parent[:510], -1])
    assert [len(np.unique(row)) for row in thinned(tree).ancestors] == [1, 8]


@given(request=requests())
def test_the_least_loss_of_a_zone_is_that_of_its_luckiest_tile(request: Request) -> None:
    for tree in request.case.hierarchies:
        told, ids = least_losses(request.table, tree), tree.zones.ids
        for zone in range(len(tree)):
            of = [request.table.of(str(ids[tile]), str(ids[zone])) for tile in tree.members(zone)]
            assert told[zone] == min(of)


def test_scouting_pays_where_flows_are_many_and_zones_of_one_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 0]), np.array([0, 1, 1]))
    for many, deep, wanted in ((3, 4, True), (4, 4, False), (3, 5, False)):
        monkeypatch.setattr(scouting, "MANY", many)
        monkeypatch.setattr(scouting, "DEEP", deep)
        assert pays(matrix, find_loss("tiles")) == wanted
    monkeypatch.setattr(scouting, "MANY", 0)
    monkeypatch.setattr(scouting, "DEEP", 0)
    assert not pays(matrix, find_loss("metres"))


# --- what is proven ---------------------------------------------------------------------------------


@settings(max_examples=MANY)
@given(
    request=requests(max_zones=8, max_rows=20, diverse=False),
    dice=seeds,
    price=st.sampled_from([0.5, 2.0, 7.0]),
    aims=st.lists(st.floats(0.5, 3.0), min_size=1, max_size=12),
    finer=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_the_bound_holds_for_zones_that_were_not_looked_at(
    request: Request, dice: Random, price: float, aims: list[float], finer: float
) -> None:
    """Under a loss that is any table of numbers: also where what is inside loses more than the zone."""
    matrix, boxes = request.case.matrix(), request.table_boxes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scouting, "FINER", finer)
        cuts = chosen_cuts(request, dice, price)
        products = scout_of(request, matrix, request.table).around(cuts)
    reached = plain.twin_frontier(boxes, plain.pairs_of_cuts(boxes))
    optimum = plain.least_mean(reached, boxes.total, request.limit * boxes.total * (1 + 1e-12))
    proof = Decomposition(products, products.budget(request.limit), 3 * price, narrowing=dice.random() < 0.5)
    if dice.random() < 0.5:
        proof.lean_on(cuts.origins, cuts.destinations)
    for aim in aims:
        proof.round(aim * optimum)
        assert proof.price <= scouting.DEARER * price
        assert proof.bound <= optimum * (1 + 1e-9) + 1e-12


@given(request=requests(max_zones=8, max_rows=20, diverse=False), dice=seeds)
def test_what_was_looked_at_is_what_all_products_say_of_it(request: Request, dice: Random) -> None:
    matrix = request.case.matrix()
    scout = scout_of(request, matrix, request.table)
    cuts = chosen_cuts(request, dice, 2.0)
    some, every = scout.around(cuts), find_products(matrix, scout.promise, request.table)
    rows = every.find(list(some.zone))
    assert (rows >= 0).all()
    assert some.volume.tolist() == every.volume[rows].tolist()
    assert some.loss.tolist() == pytest.approx(every.loss[rows].tolist())
    assert (some.hope <= some.loss).all()
    known = [np.isin(zone, at) for zone, at in zip(every.zone, some.ancestors, strict=True)]
    assert int((known[0] & known[1]).sum()) == len(some)
    assert every.hope is every.loss


@given(request=requests(diverse=False), dice=seeds, axis=st.sampled_from([0, 1]))
def test_a_reply_of_the_scout_is_the_best_one_at_its_price(request: Request, dice: Random, axis: int) -> None:
    matrix = request.case.matrix()
    scout = scout_of(request, matrix, request.table)
    every = find_products(matrix, scout.promise, request.table)
    twins = CutPairSearch(every, every.budget(request.limit))
    tree = request.case.hierarchies[1 - axis]
    # Against the root some reply keeps the limit.
    other = np.arange(len(tree)) == tree.root
    cut, price = scout._reply(axis, other, np.inf)
    origins, destinations = (cut, other) if axis == 0 else (other, cut)
    mine = twins.evaluate(origins, destinations, price)
    assert mine.hidden <= twins.budget
    best = twins.reply(axis, CutPair(origins, destinations, 0.0, 0.0), price)
    assert mine.cost(price) == pytest.approx(best.cost(price), rel=2 * scouting.ROUGHLY)


# --- the method ------------------------------------------------------------------------------------


@settings(max_examples=MANY)
@given(request=requests(max_zones=8, max_rows=20, diverse=False))
def test_releases_after_scouting_keep_all_promises(request: Request) -> None:
    matrix, boxes = request.case.matrix(), request.boxes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scouting, "MANY", 0)
        patch.setattr(scouting, "DEEP", 0)
        patch.setattr(scouting, "COARSE", 1.0)
        release = TwinCut(**request.parameters).anonymise(matrix)
    assert release.homogeneous
    assert audit_matrix(matrix, release).safe
    if release.bound is not None:
        hold_to(request, matrix, release, plain.twin_frontier(boxes, plain.pairs_of_cuts(boxes)))


@pytest.mark.parametrize("enough", [10.0, -1.0], ids=["astray", "too little proven"])
def test_where_a_scout_is_of_no_use_all_zones_are_looked_at(
    enough: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three trips stand alone in both cuts that it brings, so that neither can be mended by itself."""
    tree = Hierarchy.from_parents(["a", "b", "c", "all"], [3, 3, 3, -1])
    ends = np.repeat([0, 1, 2], [30, 3, 30])
    matrix = ODMatrix.from_trips(tree, tree, ends, ends)
    method = TwinCut(promise=k_of(5), suppression_limit=0.0 if enough > 0 else 0.1)
    every = method.anonymise(matrix)
    monkeypatch.setattr(scouting, "MANY", 0)
    monkeypatch.setattr(scouting, "DEEP", 0)
    monkeypatch.setattr("tripcloak.flows.methods.twincut.ENOUGH", enough)
    tiles = np.arange(len(tree)) < tree.n_tiles
    monkeypatch.setattr(Scout, "look", lambda self, search: Cuts(tiles, tiles, 50.0))
    some = method.anonymise(matrix)
    assert some.trips.tolist() == every.trips.tolist()
    assert some.bound == every.bound


def test_what_the_scout_missed_is_looked_at_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scout that saw the root alone looks about it; the zones that are wanted lie further down."""
    tree = hierarchy_of(diced_tree(Random(5), 40))
    dice = np.random.default_rng(1)
    matrix = ODMatrix.from_trips(
        tree, tree, dice.integers(0, tree.n_tiles, 40_000), dice.integers(0, tree.n_tiles, 40_000)
    )
    method = TwinCut(promise=k_of(10))
    every = method.anonymise(matrix)
    root = np.arange(len(tree)) == tree.root
    monkeypatch.setattr(scouting, "MANY", 0)
    monkeypatch.setattr(scouting, "DEEP", 0)
    monkeypatch.setattr(Scout, "look", lambda self, search: Cuts(root, root, 50.0))
    tried: list[SafeProducts] = []

    def noted(self: Scout, cuts: Cuts, around: Any = Scout.around) -> SafeProducts:
        tried.append(around(self, cuts))
        return tried[-1]

    monkeypatch.setattr(Scout, "around", noted)
    some = method.anonymise(matrix)
    assert 1 < len(tried) <= 3
    assert len(tried[-1]) > len(tried[0])
    assert some.bound is not None
    assert every.bound is not None
    assert some.bound.value <= every.bound.value * (1 + every.bound.gap / 100) * (1 + 1e-9)


# --- the kernels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(dice=seeds, zones=st.integers(1, 12))
def test_the_best_cut_is_that_of_the_plain_twin(mode: str, dice: Random, zones: int) -> None:
    tree = hierarchy_of(diced_tree(dice, zones))
    cost = np.array([float(dice.randrange(6)) for _ in range(len(tree))])
    kernel = cut_kernels.best_cut if mode == "compiled" else cut_kernels.best_cut.py_func
    cut = np.flatnonzero(kernel(cost, tree.parent, tree.n_tiles)).tolist()
    least, wanted = plain.best_cut(cost.tolist(), tree.parent.tolist())
    assert (cost[cut].sum(), cut) == (least, wanted)


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(dice=seeds, zones=st.integers(1, 12))
def test_the_highest_of_chosen_zones_are_left(mode: str, dice: Random, zones: int) -> None:
    tree = hierarchy_of(diced_tree(dice, zones))
    chosen = np.array([dice.random() < 0.5 for _ in range(len(tree))])
    chosen[: tree.n_tiles] = True
    wanted = plain.highest(chosen.tolist(), tree.parent.tolist())
    assert np.flatnonzero(wanted).tolist() == sorted(set(tree.highest(chosen).tolist()))
    kernel = cut_kernels.highest if mode == "compiled" else cut_kernels.highest.py_func
    kernel(chosen, tree.parent)
    assert chosen.tolist() == wanted


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(request=requests(diverse=False), dice=seeds, axis=st.sampled_from([0, 1]))
def test_what_is_given_is_spread_as_by_the_plain_twin(
    mode: str, request: Request, dice: Random, axis: int
) -> None:
    products = find_products(matrix := request.case.matrix(), request.promise.resolve(matrix), request.table)
    cut = chosen_cut(products.axes[axis], dice)
    some = cut[products.zone[axis]] & np.array([dice.random() < 0.8 for _ in range(len(products))])
    value = np.array([float(dice.randrange(5)) for _ in range(len(products))])
    numbers: list[Any] = [value, some, products.up[axis], products.volume]
    kernel = kernels.spread if mode == "compiled" else kernels.spread.py_func
    assert kernel(*numbers).tolist() == pytest.approx(oracle.spread(*(one.tolist() for one in numbers)))
