"""ProductCut: exact at every price, bounds that hold, and releases that are partitions."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows import cuts as plain
from oracles.flows.kernels import below
from tripcloak.flows.methods import ProductCut
from tripcloak.flows.methods._kernels import cuts as _kernels
from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.productcut import highest_price, partition_search, spend_rest
from tripcloak.flows.methods.products import SafeProducts, find_products
from tripcloak.flows.methods.tree_method import Clock
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.report.plain import withheld_although_safe
from tripcloak.ground.errors import InputError
from tripcloak.promises import KAnonymity
from worlds.cuts import Request, hold_to, k_of, requests, sent
from worlds.depth import size
from worlds.matrices import hierarchy_of, seeds

MANY = size(3, 4) * settings().max_examples


def products_of(request: Request) -> SafeProducts:
    """Return the safe products under the loss that is any table of numbers."""
    matrix = request.case.matrix()
    return find_products(matrix, request.promise.resolve(matrix), request.table)


def everywhere(products: SafeProducts) -> Any:
    return ProductCut().may_split(products)


def prices(reached: plain.Frontier, dice: Random) -> list[float]:
    """Return nothing, next to nothing, the breakpoints, some prices around them, and far too much."""
    breaks = plain.slopes(reached)
    some = dice.sample(breaks, min(len(breaks), 6))
    near = [price * factor for price in some for factor in (1 - 1e-9, 1, 1 + 1e-9)]
    return [0.0, 1e-12, *near, dice.uniform(0, 20), 1e6, 1e12]


@settings(max_examples=MANY)
@given(request=requests(), dice=seeds)
def test_the_value_at_every_price_is_the_least_of_all_partitions(request: Request, dice: Random) -> None:
    hold_prices(request, dice)


@given(request=requests(max_zones=6, max_rows=16, with_time=True), dice=seeds)
def test_so_it_is_with_time_as_a_third_axis(request: Request, dice: Random) -> None:
    hold_prices(request, dice)


def hold_prices(request: Request, dice: Random) -> None:
    """Compare the programme's value with all partitions and with the recursion, price by price."""
    boxes, products = request.table_boxes, products_of(request)
    unit = boxes.total / products.total
    reached = plain.frontier(boxes)
    search = partition_search(products, everywhere(products), request.limit)
    for price in prices(reached, dice):
        offer = search.offer(price)
        least = plain.least_cost(boxes, price)
        assert offer.cost * unit == pytest.approx(least, rel=1e-11, abs=1e-11)
        assert least == pytest.approx(min(loss + price * hidden for hidden, loss in reached.items()))
        # The value is not only told, the choices reach it.
        home = products.place(offer.plan)
        kept = home >= 0
        volume = products.flow_volume
        assert volume[~kept].sum() == offer.hidden
        assert products.loss[home[kept]] @ volume[kept] == pytest.approx(offer.loss, rel=1e-11)


@given(request=requests(max_zones=4, max_rows=8) | requests(max_zones=3, max_rows=8, with_time=True))
def test_frontiers_are_those_of_all_partitions_one_by_one(request: Request) -> None:
    """The oracle itself: what it adds up is what every single partition gives."""
    boxes = request.table_boxes
    single = (plain.together(boxes.all[box].ways for box in one) for one in plain.partitions(boxes))
    assert plain.best_of(single) == plain.frontier(boxes)


@settings(max_examples=MANY)
@given(request=requests(any_withholding=True))
def test_bounds_never_exceed_the_optimum_and_no_release_beats_it(request: Request) -> None:
    matrix = request.case.matrix()
    release = ProductCut(**request.parameters).anonymise(matrix)
    reached = plain.frontier(request.boxes)
    hold_to(request, matrix, release, reached)
    if request.withhold == "unsafe":
        assert withheld_although_safe(matrix, release).groups == 0
        return
    # The price search finds the best bound that prices can prove.
    boxes = request.boxes
    budget = np.floor(request.budget) if boxes.volume_unit == "trips" else request.budget
    best = plain.critical(reached, budget)[0] / (boxes.total - budget)
    assert (0.0 if release.bound is None else release.bound.value) >= best * (1 - 1e-6)


@given(request=requests(max_zones=6, max_rows=16, with_time=True, diverse=False, any_withholding=True))
def test_bounds_hold_with_time_as_well(request: Request) -> None:
    matrix = request.case.matrix()
    release = ProductCut(**request.parameters).anonymise(matrix)
    hold_to(request, matrix, release, plain.frontier(request.boxes))


@given(request=requests(max_zones=14, max_rows=60))
def test_released_boxes_never_overlap_and_hold_every_flow_that_is_inside(request: Request) -> None:
    matrix = request.case.matrix()
    released = sent(matrix, ProductCut(**request.parameters).anonymise(matrix))
    boxes = {box for box in released.values() if box is not None}
    inside = {box: [set(below(t, z)) for t, z in zip(request.case.trees, box, strict=True)] for box in boxes}
    for one, other in combinations(boxes, 2):
        assert not all(a & b for a, b in zip(inside[one], inside[other], strict=True))
    for flow, home in released.items():
        around = [
            box for box in boxes if all(tile in zone for tile, zone in zip(flow, inside[box], strict=True))
        ]
        assert around == ([] if home is None else [home])


@given(request=requests(max_zones=14, max_rows=60))
def test_what_is_left_of_the_limit_is_spent_on_the_worst_groups(request: Request) -> None:
    products = products_of(request)
    search = partition_search(products, everywhere(products), request.limit)
    offer = search.run(highest_price(products))
    before, after = (
        products.place(choice) for choice in (offer.plan, spend_rest(products, offer, search.budget))
    )
    means = []
    for home in (before, after):
        kept = home >= 0
        volume = products.flow_volume[kept]
        means.append(products.loss[home[kept]] @ volume / volume.sum())
        assert products.flow_volume[~kept].sum() <= search.budget
    assert means[1] <= means[0] * (1 + 1e-12)
    assert ((after == before) | (after == -1)).all()
    left = search.budget - products.flow_volume[after < 0].sum()
    worse = [p for p in np.unique(after[after >= 0]) if products.loss[p] > means[1] * (1 + 1e-9)]
    assert all(products.volume[p] > left for p in worse)


@st.composite
def lattices(draw: st.DrawFn) -> tuple[Any, ...]:
    """Return the arguments of the kernel: real products with losses and prices in small whole numbers."""
    products = products_of(draw(requests(with_time=draw(st.booleans()))))
    dice = draw(seeds)
    loss = np.array([float(dice.choice([0, 1, 2, 4])) for _ in range(len(products))])
    allowed = np.array([[dice.random() < 0.9 for _ in row] for row in products.up], dtype=bool)
    # Volumes in small numbers as well, so that the compiled sums are exact.
    volume = np.rint(products.volume / products.volume.min())
    inner = np.zeros(products.up.shape)
    for axis, up in enumerate(products.up):
        np.add.at(inner[axis], up[up >= 0], volume[up >= 0])
    volume = np.maximum(volume, inner.max(axis=0))
    inner[:] = 0
    for axis, up in enumerate(products.up):
        np.add.at(inner[axis], up[up >= 0], volume[up >= 0])
    return (
        loss,
        volume,
        products.up,
        inner,
        allowed,
        float(dice.choice([0, 1, 2, 3, 50])),
        dice.random() < 0.7,
    )


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(arguments=lattices())
def test_the_kernel_chooses_as_the_plain_twin_does(mode: str, arguments: Any) -> None:
    kernel: Any = _kernels.best_partition
    # Whatever room to work in has held before.
    room = np.full((2, *arguments[2].shape), np.nan)
    choice, loss, hidden = (kernel if mode == "compiled" else kernel.py_func)(*arguments, room)
    loss_of, volume, up, _, allowed, price, free = arguments
    expected = plain.best_partition(
        loss_of.tolist(), volume.tolist(), up.tolist(), allowed.tolist(), price, free
    )
    assert choice.tolist() == expected.choice
    assert (loss, hidden) == (expected.loss, expected.hidden)


# --- numbers at the edge of what a float can hold --------------------------------------------------


def test_weights_of_very_different_size_keep_their_precision() -> None:
    """A few heavy flows and a dust of light ones: losses must not drown in the price of what is hidden."""
    tree = hierarchy_of({"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"})
    dice = np.random.default_rng(2)
    ends = np.array([(o, d) for o in range(4) for d in range(4)] * 3).T
    weight = np.concatenate([dice.uniform(1e8, 2e8, 16), dice.uniform(1e-6, 1e-5, 16), np.full(16, 3.0)])
    matrix = ODMatrix.from_trips(tree, tree, *ends, weight=weight)
    release = ProductCut(promise=KAnonymity(k=2, unit="population")).anonymise(matrix)
    assert release.bound is not None
    assert release.bound.value == pytest.approx(2.0)
    assert release.bound.gap == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("limit", [1 - 2.0**-53, 1 - 1e-13, 0.999999])
def test_a_limit_just_below_everything_still_releases_something(limit: float) -> None:
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]))
    release = ProductCut(promise=k_of(2), suppression_limit=limit).anonymise(matrix)
    assert release.trips.tolist() == [2]


def test_a_map_of_one_tile_is_released_as_it_is() -> None:
    tree = hierarchy_of({"tile": None})
    matrix = ODMatrix.from_trips(tree, tree, *np.zeros((2, 5), dtype=np.int32))
    release = ProductCut(promise=k_of(5), suppression_limit=0.5).anonymise(matrix)
    assert release.trips.tolist() == [5]
    assert not release.suppressed.any()
    assert release.bound is not None
    assert (release.bound.value, release.bound.gap) == (2.0, 0.0)


# --- time limits -----------------------------------------------------------------------------------


@given(request=requests(max_zones=14, max_rows=60), ticks=st.integers(0, 40))
def test_whenever_the_time_is_up_the_release_is_safe_and_the_bound_true(request: Request, ticks: int) -> None:
    matrix = request.case.matrix()
    method = ProductCut(**request.parameters)
    with pytest.MonkeyPatch.context() as patch:
        left = iter([False] * ticks)
        patch.setattr(Clock, "is_up", lambda self: next(left, True))
        release = method.anonymise(matrix)
    best = method.anonymise(matrix)
    loss, hidden = request.boxes.outcome(sent(matrix, release))
    assert hidden <= request.budget
    products = find_products(matrix, release.promise, find_loss(request.loss), stop=counter(ticks))
    assert products.complete or release.bound is None
    if release.bound is not None:
        assert best.bound is not None
        assert release.bound.value <= best.bound.value * (1 + 1e-9)
        assert release.bound.value <= loss / (request.boxes.total - hidden) * (1 + 1e-9)


def counter(ticks: int) -> Any:
    left = iter([False] * ticks)
    return lambda: next(left, True)


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), -float("inf")])
def test_a_time_limit_that_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(InputError, match="time limit must be a number of seconds above 0"):
        ProductCut(time_limit=seconds)


def test_endless_time_is_as_good_as_no_limit() -> None:
    assert not Clock(float("inf")).is_up()
    assert Clock(1e-9).is_up()
