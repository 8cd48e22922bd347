"""Safe products: all of them, nothing else, with the right numbers, and flows placed by the choices."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows import cuts as plain
from tripcloak.flows.methods._kernels import cuts as _kernels
from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.products import Axis, SafeProducts, find_products
from tripcloak.flows.model import Groups, ODMatrix, group_flows
from tripcloak.ground.arrays import Ints
from tripcloak.promises import KAnonymity
from worlds.cuts import Request, requests
from worlds.depth import size
from worlds.matrices import Case, cases, diced_tree, hierarchy_of, seeds

MODES = ["compiled", "uncompiled"]


def kernel(name: str, mode: str) -> Any:
    """Return a kernel with the compiler on or off."""
    compiled = getattr(_kernels, name)
    return compiled if mode == "compiled" else compiled.py_func


def products_of(request: Request, **options: Any) -> SafeProducts:
    """Return the safe products under the loss that is any table of numbers."""
    matrix = request.case.matrix()
    return find_products(matrix, request.promise.resolve(matrix), request.table, **options)


def boxes_of(products: SafeProducts) -> list[plain.Box]:
    """Return the zone ids of every product."""
    ids = [tree.zones.ids[zone].tolist() for tree, zone in zip(products.axes, products.zone, strict=True)]
    return list(zip(*ids, strict=True))


@settings(max_examples=size(2, 4) * settings().max_examples)
@given(request=requests(max_zones=12, max_rows=40))
def test_exactly_the_safe_products_are_found_with_the_right_numbers(request: Request) -> None:
    hold_against_boxes(products_of(request), request)


@given(request=requests(max_zones=7, with_time=True))
def test_time_makes_a_third_axis_of_the_same_kind(request: Request) -> None:
    hold_against_boxes(products_of(request), request)


def hold_against_boxes(products: SafeProducts, request: Request) -> None:
    """Compare every number of every product with what the boxes tell."""
    boxes = request.table_boxes
    found = boxes_of(products)
    assert products.complete
    assert len(found) == len(set(found))
    assert set(found) == {box for box, cell in boxes.all.items() if cell.safe}
    assert found[0] == boxes.root
    # Weights are held in units of their own; one number turns them back.
    unit = boxes.total / products.total
    assert products.flow_volume.sum() == products.total
    number = {box: p for p, box in enumerate(found)}
    for p, box in enumerate(found):
        cell = boxes.all[box]
        assert products.volume[p] * unit == pytest.approx(cell.volume, rel=1e-12)
        assert products.loss[p] == pytest.approx(cell.loss / cell.volume, rel=1e-12)
        for axis, tree in enumerate(boxes.trees):
            above = tree[box[axis]]
            lifted = None if above is None else (*box[:axis], above, *box[axis + 1 :])
            up = products.up[axis, p]
            assert (None if up < 0 else found[up]) == lifted
            assert up < p
            inner = sum(boxes.all[part].volume for part in boxes.parts(box, axis) if part in number)
            assert products.inner[axis, p] * unit == pytest.approx(inner, rel=1e-12)


@given(request=requests())
def test_find_tells_safe_boxes_from_all_others(request: Request) -> None:
    products = products_of(request)
    found = boxes_of(products)
    origin, destination = (np.arange(len(tree)) for tree in products.axes)
    o, d = (grid.ravel() for grid in np.meshgrid(origin, destination, indexing="ij"))
    names = zip(*(t.zones.ids[z].tolist() for t, z in zip(products.axes, (o, d), strict=True)), strict=True)
    expected = [found.index(box) if box in found else -1 for box in names]
    assert products.find((o, d)).tolist() == expected


@given(request=requests(), stages=st.integers(0, 12))
def test_a_search_cut_short_finds_some_safe_products_and_says_so(request: Request, stages: int) -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > stages

    everything, some = products_of(request), products_of(request, stop=stop)
    assert some.complete == (len(asked) <= stages)
    found = boxes_of(some)
    assert found[0] == request.boxes.root
    assert set(found) <= set(boxes_of(everything))
    # Whatever was found can be used: all that it is a part of is there as well.
    for axis, tree in enumerate(some.axes):
        assert ((some.up[axis] >= 0) == (some.zone[axis] != tree.root)).all()


@given(request=requests(), limit=st.sampled_from([1 - 2.0**-53, 1e-300]) | st.floats(0, 1, exclude_max=True))
def test_the_budget_is_the_limit_in_whole_units_and_never_everything(request: Request, limit: float) -> None:
    products = products_of(request)
    budget = products.budget(limit)
    assert budget == int(budget)
    assert budget < products.total
    share = budget / products.total
    assert share <= limit * (1 + 1e-11)
    whole = request.boxes.volume_unit == "trips"
    assert share >= limit - (1.01 / products.total if whole else 1e-12)


@pytest.mark.parametrize(("limit", "total", "budget"), [(0.29, 100, 29), (0.1, 30, 3), (0.7, 10, 7)])
def test_limits_that_are_no_binary_number_mean_what_they_say(limit: float, total: int, budget: int) -> None:
    tree = hierarchy_of({"tile": None})
    matrix = ODMatrix.from_trips(tree, tree, *np.zeros((2, total), dtype=np.int32))
    products = find_products(matrix, KAnonymity(k=2, unit="trips"), find_loss("tiles"))
    assert products.budget(limit) == budget


@given(case=cases(), k=st.integers(2, 8))
def test_sums_that_depend_on_their_order_leave_no_product_without_those_above(case: Case, k: int) -> None:
    """Rounding may make a group safe that lies in an unsafe one; then neither may be used."""
    promise = KAnonymity(k=k, unit="population")
    assume(case.has_weight and promise.safe(everything(case.matrix())).all())
    products = find_products(case.matrix(), promise, find_loss("tiles"))
    for axis, tree in enumerate(products.axes):
        assert ((products.up[axis] >= 0) == (products.zone[axis] != tree.root)).all()
        assert (products.inner[axis] <= products.volume).all()


def everything(matrix: ODMatrix) -> Groups:
    """Return all flows as one group."""
    roots = (np.full(matrix.n_flows, tree.root) for tree, _ in matrix.axes)
    groups = group_flows(matrix, *roots)
    assert groups is not None
    return groups


def test_weights_that_were_rounded_up_do_not_stretch_the_limit() -> None:
    tree = hierarchy_of({"all": None, **dict.fromkeys(map(str, range(300)), "all")})
    ends = np.array([(o, d) for o in range(300) for d in range(300)], dtype=np.int32).T
    matrix = ODMatrix.from_trips(tree, tree, *ends, weight=np.random.default_rng(1).random(90_000))
    products = find_products(matrix, KAnonymity(k=50, unit="population"), find_loss("tiles"))
    assert products.total > 2**51 * (1 + 1e-12)
    assert products.budget(0.5) <= 2**50 * (1 + 1e-12)


# --- kernels ---------------------------------------------------------------------------------------


@st.composite
def chosen(draw: st.DrawFn) -> tuple[SafeProducts, Ints]:
    """Return safe products and any choices for them that can be followed."""
    products = products_of(draw(requests(max_zones=12, with_time=draw(st.booleans()))))
    dice = draw(seeds)
    choice = np.array(
        [
            dice.choice([-2, -1, *(axis for axis, tree in enumerate(products.axes) for _ in range(3)
                                   if products.zone[axis, p] >= tree.n_tiles)])
            for p in range(len(products))
        ],
        dtype=np.int8,
    )  # fmt: skip
    return products, choice


@pytest.mark.parametrize("mode", MODES)
@given(case=chosen())
def test_flows_are_placed_as_the_plain_twin_does(mode: str, case: tuple[SafeProducts, Ints]) -> None:
    products, choice = case
    expected = plain.place_flows(
        [codes.tolist() for codes in products.codes],
        [at.tolist() for at in products.ancestors],
        choice.tolist(),
        {tuple(zones): p for p, zones in enumerate(products.zone.T.tolist())},
    )
    sizes = np.array([len(tree) for tree in products.axes])
    with np.errstate(over="ignore"):
        home = kernel("place_flows", mode)(
            products.codes, products.ancestors, sizes, choice, products.numbering.table
        )
    assert home.tolist() == expected
    assert products.place(choice).tolist() == expected


@pytest.mark.parametrize("mode", MODES)
@given(case=chosen())
def test_choices_are_followed_as_the_plain_twin_does(mode: str, case: tuple[SafeProducts, Ints]) -> None:
    products, choice = case
    home = kernel("follow_choices", mode)(choice, products.up)
    assert home.tolist() == plain.follow_choices(choice.tolist(), products.up.tolist())


@given(dice=seeds, sizes=st.lists(st.integers(1, 14), min_size=2, max_size=2))
def test_axes_may_be_trees_that_are_not_the_matrix_own(dice: Any, sizes: list[int]) -> None:
    """A flat tree over a cut has other numbers for the same zones; promises must see the matrix's own."""
    tree = hierarchy_of(diced_tree(dice, sizes[0]))
    other = hierarchy_of(diced_tree(dice, sizes[1]))
    codes = [np.array([dice.randrange(t.n_tiles) for _ in range(25)], dtype=np.int32) for t in (tree, other)]
    matrix = ODMatrix.from_trips(tree, other, *codes)
    axes = tuple(Axis(t, tile, zones=np.arange(len(t), dtype=np.int32)) for t, tile in matrix.axes)
    promise = KAnonymity(k=3, unit="trips")
    one, two = (find_products(matrix, promise, find_loss("tiles"), axes=a) for a in (None, axes))
    np.testing.assert_array_equal(one.zone, two.zone)
    depths = [at.tolist() for at in one.ancestors]
    assert all(any(z >= 0 for z in row) for at in depths for row in at)
    assert all(a[t] >= 0 or b[t] < 0 for at in depths for a, b in pairwise(at) for t in range(len(a)))
