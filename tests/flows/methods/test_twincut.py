"""TwinCut: best replies, moves that keep the budget, never worse than its rivals, and a bound that holds."""

from __future__ import annotations

from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows import cuts as plain
from oracles.flows import oigh
from oracles.readback import group_pairs
from tripcloak.flows.methods import OIGH, NestedCut, ODkAnon, TwinCut, cut_pairs
from tripcloak.flows.methods._kernels import cuts as _kernels
from tripcloak.flows.methods.cut_pairs import CutPair, CutPairSearch, Settled
from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.products import find_products
from tripcloak.flows.methods.tree_method import Clock
from tripcloak.flows.methods.twincut import _Rival
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.flows.report.plain import withheld_although_safe
from tripcloak.ground.arrays import Bools
from tripcloak.ground.progress import silent
from worlds.cuts import Place, Request, hold_to, k_of, placed, requests, sent
from worlds.depth import size
from worlds.matrices import diced_tree, hierarchy_of, seeds

MANY = size(2, 3) * settings().max_examples


def twins_of(request: Request) -> CutPairSearch:
    """Return the cells under the loss that is any table of numbers."""
    matrix = request.case.matrix()
    products = find_products(matrix, request.promise.resolve(matrix), request.table)
    return CutPairSearch(products, products.budget(request.limit))


def coded(twins: CutPairSearch, axis: int, cut: plain.Cut) -> Bools:
    """Return a cut given by ids as chosen zones."""
    return np.isin(twins.products.axes[axis].zones.ids, cut)


def named(twins: CutPairSearch, pair: CutPair) -> tuple[plain.Cut, plain.Cut]:
    """Return a pair of cuts by ids."""
    first, second = (
        tuple(tree.zones.ids[chosen].tolist())
        for tree, chosen in zip(twins.products.axes, pair[:2], strict=True)
    )
    return first, second


class Priced:
    """Pairs of cuts of one request, looked at cell by cell."""

    def __init__(self, request: Request) -> None:
        self.boxes = request.table_boxes

    def outcome(self, pair: tuple[plain.Cut, plain.Cut], price: float) -> tuple[float, float]:
        """Return loss and suppressed volume when unsafe cells and those dearer than the price go."""
        loss = hidden = 0.0
        for cell in (self.boxes.all[box] for box in plain.cells_of(self.boxes, *pair)):
            kept = cell.safe and cell.loss <= price * cell.volume * (1 + 1e-12)
            loss, hidden = loss + cell.loss * kept, hidden + cell.volume * (not kept)
        return loss, hidden

    def cost(self, pair: tuple[plain.Cut, plain.Cut], price: float) -> float:
        loss, hidden = self.outcome(pair, price)
        return loss + (price * hidden if hidden else 0.0)

    def replies(self, axis: int, pair: tuple[plain.Cut, plain.Cut]) -> list[tuple[plain.Cut, plain.Cut]]:
        """Return all pairs that differ from one on an axis only."""
        other = pair[1 - axis]
        cuts = plain.cuts(self.boxes.trees[axis])
        return [(cut, other) if axis == 0 else (other, cut) for cut in cuts]


@st.composite
def duels(draw: st.DrawFn) -> tuple[Request, CutPairSearch, CutPair, float]:
    """Return a request, its cells, any pair of cuts, and any price."""
    request = draw(requests())
    twins = twins_of(request)
    dice: Random = draw(seeds)
    cuts = [coded(twins, axis, dice.choice(plain.cuts(request.case.trees[axis]))) for axis in (0, 1)]
    return request, twins, twins.evaluate(cuts[0], cuts[1]), dice.choice([0.0, 1.0, 2.5, 6.0, 40.0, 1e6])


@given(duel=duels(), axis=st.sampled_from([0, 1]))
def test_what_is_forgotten_is_found_again(duel: Any, axis: int) -> None:
    _, twins, pair, price = duel
    before = twins.reply(axis, pair, price)
    assert "_by_other" in vars(twins)
    twins.forget()
    assert "_by_other" not in vars(twins)
    after = twins.reply(axis, pair, price)
    assert [np.array_equal(one, other) for one, other in zip(before, after, strict=True)] == [True] * 5


@given(request=requests(max_zones=14, max_rows=60))
def test_a_rival_kept_by_tile_is_the_same_solution(request: Request) -> None:
    matrix = request.case.matrix()
    promise = request.promise.resolve(matrix)
    told = ODkAnon(promise=promise, suppression_limit=request.limit).solve(matrix, promise, silent)
    again = _Rival.of(matrix, told).solution(matrix)
    for name in ("origin_zone", "destination_zone", "suppressed", "homogeneous"):
        assert np.array_equal(getattr(again, name), getattr(told, name)), name


def test_rivals_are_gone_before_products_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What both take of memory must not stand side by side."""
    order: list[str] = []
    for name, owner in (("solve", ODkAnon), ("find_products", TwinCut)):
        whole = getattr(owner, name)

        def noted(*given: Any, name: str = name, whole: Any = whole) -> Any:
            order.append(name)
            return whole(*given)

        monkeypatch.setattr(owner, name, noted)
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]))
    TwinCut(promise=k_of(2), suppression_limit=0.3).anonymise(matrix)
    assert order == ["solve", "find_products"]


@pytest.mark.parametrize("each", [1, 2, 5])
def test_volumes_are_summed_block_by_block(each: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_pairs, "AT_ONCE", each)
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    ends = np.array([0, 0, 1, 1, 0]), np.array([0, 1, 1, 0, 0])
    products = find_products(ODMatrix.from_trips(tree, tree, *ends), k_of(2), find_loss("tiles"))
    origins, destinations = CutPairSearch(products, 0.0)._volumes
    assert (origins.tolist(), destinations.tolist()) == ([3.0, 2.0, 5.0], [3.0, 2.0, 5.0])


@settings(max_examples=MANY)
@given(duel=duels(), axis=st.sampled_from([0, 1]))
def test_a_reply_is_the_best_of_all_cuts_against_the_other(duel: Any, axis: int) -> None:
    request, twins, pair, price = duel
    priced, unit = Priced(request), request.boxes.total / twins.products.total
    for at in (np.inf, price):
        loss, hidden = priced.outcome(named(twins, pair), at)
        told = twins.evaluate(pair.origins, pair.destinations, at)
        assert told.loss * unit == pytest.approx(loss, rel=1e-11)
        assert told.hidden * unit == pytest.approx(hidden, rel=1e-11, abs=1e-11)
    reply = twins.reply(axis, pair, price)
    assert named(twins, reply)[1 - axis] == named(twins, pair)[1 - axis]
    assert set(named(twins, reply)[axis]) in [set(cut) for cut in plain.cuts(request.case.trees[axis])]
    best = min(priced.cost(other, price) for other in priced.replies(axis, named(twins, pair)))
    assert reply.cost(price) * unit == pytest.approx(best, rel=1e-11, abs=1e-11)
    assert priced.cost(named(twins, reply), price) == pytest.approx(best, rel=1e-11, abs=1e-11)


@settings(max_examples=MANY)
@given(duel=duels())
def test_turns_never_raise_the_cost_and_end_where_no_reply_is_better(duel: Any) -> None:
    request, twins, pair, price = duel
    priced, unit = Priced(request), request.boxes.total / twins.products.total
    end = twins.descend(pair, price)
    assert end.cost(price) <= twins.evaluate(pair.origins, pair.destinations, price).cost(price)
    for axis in (0, 1):
        best = min(priced.cost(other, price) for other in priced.replies(axis, named(twins, end)))
        assert end.cost(price) * unit == pytest.approx(best, rel=1e-9, abs=1e-9)


@settings(max_examples=MANY)
@given(duel=duels())
def test_single_splits_keep_the_budget_and_never_raise_the_mean(duel: Any) -> None:
    request, twins, pair, price = duel
    if pair.hidden > twins.budget:
        return
    end = twins.split_while_allowed(twins.evaluate(pair.origins, pair.destinations, price))
    assert end.hidden <= twins.budget
    assert twins.mean(end) <= twins.mean(pair) * (1 + 1e-12)
    for axis, tree in enumerate(request.case.trees):
        assert set(named(twins, end)[axis]) in [set(cut) for cut in plain.cuts(tree)]


@settings(max_examples=MANY)
@given(duel=duels())
def test_the_rest_of_the_limit_goes_to_the_worst_cells(duel: Any) -> None:
    _, twins, pair, price = duel
    if pair.hidden > twins.budget:
        return
    products, (_, released, mean) = twins.products, twins.settle(pair)
    cells = pair.origins[products.zone[0]] & pair.destinations[products.zone[1]]
    assert not (released & ~cells).any()
    kept = products.volume[released].sum()
    assert mean == pytest.approx(products.loss[released] @ products.volume[released] / kept)
    left = twins.budget - (products.total - kept)
    assert left >= 0
    # Whatever a price would suppress within the budget, this is no worse.
    for at in (price, np.inf):
        priced = twins.evaluate(pair.origins, pair.destinations, at)
        if priced.hidden <= twins.budget:
            assert mean <= twins.mean(priced) * (1 + 1e-9)
    worse = released & (products.loss > mean * (1 + 1e-8))
    assert (products.volume[worse] > left).all()


@given(duel=duels())
def test_the_uniform_cuts_are_those_that_oigh_would_choose(duel: Any) -> None:
    request, twins, _, _ = duel
    axes = [oigh.levels(tree, unseen_tiles=request.case.unseen_tiles) for tree in request.case.trees]
    outcomes = oigh.lattice(request.table_boxes, axes)
    best = oigh.best(outcomes, request.limit * request.table_boxes.total * (1 + 1e-12))
    chosen = [set(axis[level].values()) for axis, level in zip(axes, best, strict=True)]
    assert [set(cut) for cut in named(twins, twins.best_uniform())] == chosen


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(duel=duels(), axis=st.sampled_from([0, 1]))
def test_cells_are_summed_as_the_plain_twin_does(mode: str, duel: Any, axis: int) -> None:
    _, twins, pair, price = duel
    p, size = twins.products, len(twins.products.axes[axis])
    sums = _kernels.sums_by_zone if mode == "compiled" else _kernels.sums_by_zone.py_func
    # Small whole numbers, so that the order of a sum does not matter.
    loss, volume = np.rint(p.loss), np.rint(p.volume / p.volume.min())
    zone, other, chosen = p.zone[axis], p.zone[1 - axis], pair[1 - axis]
    row = np.argsort(other, kind="stable")
    starts = np.searchsorted(other[row], np.arange(len(chosen) + 1))
    losses, volumes = sums(starts, zone[row], loss[row], volume[row], chosen, price, size)
    given = zone.tolist(), other.tolist(), chosen.tolist(), loss.tolist(), volume.tolist()
    assert (losses.tolist(), volumes.tolist()) == plain.sums_by_zone(*given, price, size)


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(seed=st.integers(0, 2**32 - 1))
def test_running_sums_over_corners_are_the_sums_of_the_plain_twin(mode: str, seed: int) -> None:
    dice = np.random.default_rng(seed)
    sizes, n = tuple(dice.integers(1, 5, 2).tolist()), int(dice.integers(0, 12))
    zones = dice.integers(1, 6, 2)
    first = tuple(dice.integers(0, size, some) for size, some in zip(sizes, zones, strict=True))
    behind = tuple(
        np.minimum(at + dice.integers(1, 4, len(at)), size) for at, size in zip(first, sizes, strict=True)
    )
    zone = np.stack([dice.integers(0, some, n) for some in zones]).astype(np.int32)
    loss = dice.choice([1.0, 3.0, np.inf], n)
    volume = dice.integers(1, 9, n).astype(float)
    kernel: Any = _kernels.sums_by_corner
    room = sizes[0] + 1, sizes[1] + 1
    table = (kernel if mode == "compiled" else kernel.py_func)(zone, loss, volume, first, behind, room)
    found = table.cumsum(axis=1).cumsum(axis=2)[:, :-1, :-1]
    levels = [
        tuple((int(first[axis][zone[axis, p]]), int(behind[axis][zone[axis, p]])) for axis in (0, 1))
        for p in range(n)
    ]
    expected = plain.sums_by_corner(levels, loss.tolist(), volume.tolist(), sizes)
    assert found.transpose(1, 2, 0).tolist() == [[list(pair) for pair in row] for row in expected]


# --- the method ------------------------------------------------------------------------------------


@settings(max_examples=MANY)
@given(request=requests(max_zones=8, max_rows=20, any_withholding=True))
def test_bounds_never_exceed_the_optimum_and_no_release_beats_it(request: Request) -> None:
    matrix = request.case.matrix()
    release = TwinCut(**request.parameters).anonymise(matrix)
    boxes = request.boxes
    reached = plain.twin_frontier(boxes, plain.pairs_of_cuts(boxes))
    assert release.homogeneous
    hold_to(request, matrix, release, reached)
    sides: list[Literal["origins", "destinations"]] = ["origins", "destinations"]
    bounds = [NestedCut(**request.parameters, first=side).anonymise(matrix).bound for side in sides]
    if release.bound is not None and release.bound.gap > 0:
        largest = max(bound.value for bound in bounds if bound is not None)
        assert release.bound.value >= largest * (1 - 1e-9)


@given(request=requests(max_zones=14, max_rows=60, diverse=False))
def test_where_only_what_is_unsafe_may_be_withheld_nothing_safe_is(request: Request) -> None:
    matrix = request.case.matrix()
    release = TwinCut(**request.parameters, withhold="unsafe").anonymise(matrix)
    assert withheld_although_safe(matrix, release).groups == 0
    boxes = request.boxes
    released = sent(matrix, release)
    zones = [{box[axis] for box in released.values() if box is not None} for axis in (0, 1)]
    for box in plain.cells_of(boxes, *zones):
        if boxes.all[box].safe:
            assert box in released.values()


@settings(max_examples=MANY)
@given(request=requests(max_zones=14, max_rows=60))
def test_never_worse_than_odkanon_or_oigh_at_the_same_limit(request: Request) -> None:
    matrix = request.case.matrix()
    reached = mean_of(request, matrix, TwinCut(**request.parameters).anonymise(matrix))
    for rival in (ODkAnon(**without_loss(request)), OIGH(**request.parameters)):
        assert reached <= mean_of(request, matrix, rival.anonymise(matrix)) * (1 + 1e-9)


@settings(max_examples=MANY)
@given(request=requests(max_zones=14, max_rows=60))
def test_never_worse_than_odkanon_or_oigh_with_no_more_than_they_suppress(request: Request) -> None:
    matrix, total = request.case.matrix(), request.boxes.total
    for rival in (ODkAnon(**without_loss(request)), OIGH(**request.parameters)):
        found = rival.anonymise(matrix)
        _, hidden = request.boxes.outcome(sent(matrix, found))
        release = TwinCut(**{**request.parameters, "suppression_limit": hidden / total}).anonymise(matrix)
        assert mean_of(request, matrix, release) <= mean_of(request, matrix, found) * (1 + 1e-9)


def without_loss(request: Request) -> dict[str, Any]:
    """Return what ODkAnon takes: its merges know no loss."""
    return {"promise": request.promise, "suppression_limit": request.limit}


def mean_of(request: Request, matrix: ODMatrix, release: Release) -> float:
    loss, hidden = request.boxes.outcome(sent(matrix, release))
    return loss / (request.boxes.total - hidden)


@given(request=requests(max_zones=14, max_rows=60), ticks=st.integers(0, 40))
def test_whenever_the_time_is_up_the_release_is_safe_and_no_worse_than_odkanon(
    request: Request, ticks: int
) -> None:
    matrix = request.case.matrix()
    with pytest.MonkeyPatch.context() as patch:
        left = iter([False] * ticks)
        patch.setattr(Clock, "is_up", lambda self: next(left, True))
        release = TwinCut(**request.parameters).anonymise(matrix)
    assert request.boxes.outcome(sent(matrix, release))[1] <= request.budget
    rival = ODkAnon(promise=request.promise, suppression_limit=request.limit).anonymise(matrix)
    assert mean_of(request, matrix, release) <= mean_of(request, matrix, rival) * (1 + 1e-9)
    if release.bound is not None:
        reached = plain.twin_frontier(request.boxes, plain.pairs_of_cuts(request.boxes))
        optimum = plain.least_mean(reached, request.boxes.total, request.budget)
        assert release.bound.value <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("seed", [2880, 3462])
def test_splits_that_leave_nothing_to_spend_are_not_taken(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two diced cases in which the pair that was split ends worse than the pair that was not."""
    dice, settle = Random(seed), CutPairSearch.settle
    settled: list[float] = []

    def spy(self: CutPairSearch, pair: CutPair) -> Settled:
        settled.append(settle(self, pair).mean)
        return settle(self, pair)

    monkeypatch.setattr(CutPairSearch, "settle", spy)
    trees = [hierarchy_of(diced_tree(dice, 12)) for _ in range(2)]
    ends = np.array([[dice.randrange(tree.n_tiles) for tree in trees] for _ in range(30)]).T
    matrix = ODMatrix.from_trips(trees[0], trees[1], *ends)
    release = TwinCut(promise=k_of(3), suppression_limit=0.3, certify=0).anonymise(matrix)
    kept, split = settled
    assert kept < split
    sizes = (
        release.origins.tiles[release.group_origin] + release.destinations.tiles[release.group_destination]
    )
    assert np.average(sizes, weights=release.trips) == pytest.approx(kept)


def test_a_map_of_one_tile_is_released_as_it_is() -> None:
    tree = hierarchy_of({"tile": None})
    matrix = ODMatrix.from_trips(tree, tree, *np.zeros((2, 5), dtype=np.int32))
    release = TwinCut(promise=k_of(5), suppression_limit=0.5).anonymise(matrix)
    assert release.trips.tolist() == [5]
    assert not release.suppressed.any()
    assert release.bound is not None
    assert (release.bound.value, release.bound.gap) == (2.0, 0.0)


@pytest.mark.parametrize("limit", [1 - 2.0**-53, 1 - 1e-13, 0.999999])
def test_a_limit_just_below_everything_still_releases_something(limit: float) -> None:
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]))
    release = TwinCut(promise=k_of(2), suppression_limit=limit).anonymise(matrix)
    assert release.trips.tolist() == [2]


def test_zones_that_lie_far_from_their_parent_do_not_stop_the_search() -> None:
    """One flow, and a loss that does not grow upwards: the highest price is hardly above the losses."""
    places = {"all": Place(0, 1, 1), "far": Place(0, 90, 1), "tile": Place(0, 0, 1)}
    tree = placed(hierarchy_of({"all": None, "far": "all", "tile": "far"}), places)
    matrix = ODMatrix.from_trips(tree, tree, *np.zeros((2, 5), dtype=np.int32))
    for limit in (0.0, 0.5):
        release = TwinCut(promise=k_of(2), suppression_limit=limit, loss="metres").anonymise(matrix)
        assert group_pairs(release) == [("tile", "tile")]
