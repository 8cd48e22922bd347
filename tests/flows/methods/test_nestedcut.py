"""NestedCut: exact at every price in either order, and between ProductCut and ATG-Dual."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows import cuts as plain
from oracles.flows.kernels import below
from tripcloak.flows.methods import METHODS, NestedCut, ProductCut
from tripcloak.flows.methods.productcut import nested, partition_search
from tripcloak.flows.methods.products import find_products
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.errors import ImpossibleRequestError
from worlds.cuts import Request, hold_to, k_of, requests, sent
from worlds.matrices import hierarchy_of, seeds

Side = Literal["origins", "destinations"]
SIDES: list[Side] = ["origins", "destinations"]
MANY = 2 * settings().max_examples


@pytest.mark.parametrize("first", [0, 1], ids=SIDES)
@settings(max_examples=MANY)
@given(request=requests(), dice=seeds)
def test_the_value_at_every_price_is_the_least_of_all_nested_cuts(
    first: int, request: Request, dice: Random
) -> None:
    boxes, matrix = request.table_boxes, request.case.matrix()
    products = find_products(matrix, request.promise.resolve(matrix), request.table)
    unit = boxes.total / products.total
    reached = plain.frontier(boxes, plain.first_axis_first(boxes, first))
    search = partition_search(products, nested(products, (first, 1 - first)), request.limit)
    breaks = plain.slopes(reached)
    for price in [0.0, 1e-12, *dice.sample(breaks, min(len(breaks), 8)), dice.uniform(0, 20), 1e9]:
        offer = search.offer(price)
        least = min(loss + price * hidden for hidden, loss in reached.items())
        assert offer.cost * unit == pytest.approx(least, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("first", [0, 1], ids=SIDES)
@given(request=requests(max_zones=5, max_rows=10))
def test_frontiers_are_those_of_all_nested_cuts_one_by_one(first: int, request: Request) -> None:
    """The oracle itself: cuts of one axis, and in each of its zones a cut of the other."""
    boxes = request.table_boxes
    single = (plain.together(boxes.all[box].ways for box in one) for one in plain.nested_cuts(boxes, first))
    assert plain.best_of(single) == plain.frontier(boxes, plain.first_axis_first(boxes, first))


@pytest.mark.parametrize("first", SIDES)
@settings(max_examples=MANY)
@given(request=requests(any_withholding=True))
def test_bounds_never_exceed_the_optimum_and_no_release_beats_it(first: Side, request: Request) -> None:
    matrix = request.case.matrix()
    release = NestedCut(**request.parameters, first=first).anonymise(matrix)
    boxes = request.boxes
    reached = plain.frontier(boxes, plain.first_axis_first(boxes, SIDES.index(first)))
    hold_to(request, matrix, release, reached)
    assert release.parameters["first"] == first


@pytest.mark.parametrize("first", SIDES)
@given(request=requests(max_zones=14, max_rows=60))
def test_a_release_is_one_cut_with_cuts_inside_its_zones(first: Side, request: Request) -> None:
    matrix = request.case.matrix()
    axis = SIDES.index(first)
    released = sent(matrix, NestedCut(**request.parameters, first=first).anonymise(matrix))
    groups = {box for box in released.values() if box is not None}
    assert apart(request, axis, {box[axis] for box in groups})
    for zone in {box[axis] for box in groups}:
        assert apart(request, 1 - axis, {box[1 - axis] for box in groups if box[axis] == zone})


def apart(request: Request, axis: int, zones: set[str]) -> bool:
    """Return whether no tile lies in two of these zones."""
    held = [tile for zone in zones for tile in below(request.case.trees[axis], zone)]
    return len(held) == len(set(held))


@given(request=requests(max_zones=14, max_rows=60, diverse=False), v_target=st.sampled_from([None, 1, 4, 20]))
def test_each_kind_of_cut_is_no_worse_than_the_narrower_one_up_to_the_gap(
    request: Request, v_target: float | None
) -> None:
    matrix = request.case.matrix()
    tiles = replace(request, loss="tiles")
    asked = tiles.parameters
    product, nest = (method(**asked).anonymise(matrix) for method in (ProductCut, NestedCut))
    means = [mean_of(tiles, matrix, release) for release in (product, nest)]
    not_above(product, means[0], means[1])
    del asked["loss"]
    try:
        dual = METHODS["atg-dual"](**asked, v_target=v_target).anonymise(matrix)  # type: ignore[call-arg]
    except ImpossibleRequestError:
        assert v_target is not None
        return
    means.append(mean_of(tiles, matrix, dual))
    not_above(nest, means[1], means[2])
    not_above(product, means[0], means[2])


def mean_of(request: Request, matrix: ODMatrix, release: Release) -> float:
    loss, hidden = request.boxes.outcome(sent(matrix, release))
    return loss / (request.boxes.total - hidden)


def not_above(release: Release, mean: float, other: float) -> None:
    """Check that a release is no worse than another, but for the gap that its certificate admits."""
    assert release.bound is not None
    assert release.bound.value <= other * (1 + 1e-9)
    assert mean <= other * (1 + release.bound.gap / 100) * (1 + 1e-9)


def test_the_order_of_the_axes_matters() -> None:
    """Many destinations of one busy origin, few of the others: origins first serves it, the other not."""
    tree = hierarchy_of({"all": None, **dict.fromkeys("abcd", "all")})
    ends = [(0, d) for d in range(4) for _ in range(3)] + [(o, d) for o in (1, 2, 3) for d in range(4)]
    matrix = ODMatrix.from_trips(tree, tree, *np.array(ends, dtype=np.int32).T)
    options: dict[str, Any] = {"promise": k_of(3), "suppression_limit": 0.0}
    by_origin, by_destination = (NestedCut(first=side, **options).anonymise(matrix) for side in SIDES)
    assert by_origin.n_groups > by_destination.n_groups
    mirrored = ODMatrix.from_trips(tree, tree, *np.array(ends, dtype=np.int32).T[::-1])
    assert NestedCut(first="destinations", **options).anonymise(mirrored).n_groups == by_origin.n_groups
