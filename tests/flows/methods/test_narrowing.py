"""Narrowing: what is left still holds a best pair of cuts, at every price that it is meant for."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import narrowing as oracle
from tripcloak.flows.methods._kernels import narrowing as _kernels
from tripcloak.flows.methods.narrowing import Narrowed, narrow
from tripcloak.flows.methods.products import SafeProducts, find_products
from tripcloak.ground.arrays import Floats
from tripcloak.hierarchy import Hierarchy
from worlds.cuts import Request, requests
from worlds.matrices import seeds

MODES = ["compiled", "uncompiled"]


def products_of(request: Request) -> SafeProducts:
    """Return the products under the loss that is any table of numbers."""
    matrix = request.case.matrix()
    return find_products(matrix, request.promise.resolve(matrix), request.table)


def cuts_of(tree: Hierarchy) -> list[frozenset[int]]:
    """Return all cuts of a tree."""
    offsets, members = tree.children

    def below(zone: int) -> list[frozenset[int]]:
        parts = [below(int(child)) for child in members[offsets[zone] : offsets[zone + 1]]]
        divided = [frozenset[int]().union(*some) for some in product(*parts)] if parts else []
        return [frozenset([zone]), *divided]

    return below(tree.root)


def savings(products: SafeProducts, price: float, keeps_safe: bool) -> Floats:
    """Return what every product saves at a price; one that may not be released saves nothing."""
    free = np.isfinite(products.loss)
    saving = np.where(free, products.volume * (price - np.where(free, products.loss, 0.0)), 0.0)
    return saving if keeps_safe else np.maximum(saving, 0.0)


def allowed(left: Narrowed, trees: tuple[Hierarchy, ...], axis: int) -> list[frozenset[int]]:
    """Return the cuts of an axis without zones that are always divided, nor parts of those that never are."""
    stops = set(left.zone[axis][left.last[axis]].tolist())

    def fits(zone: int) -> bool:
        above = trees[axis].parent[zone]
        while above >= 0:
            if int(above) in stops:
                return False
            above = trees[axis].parent[above]
        return not left.divided[axis][zone]

    return [cut for cut in cuts_of(trees[axis]) if all(fits(zone) for zone in cut)]


@given(
    request=requests(max_zones=7, max_rows=16, any_withholding=True),
    price=st.sampled_from([0.5, 2.0, 9.0, 60.0]),
    far=st.sampled_from([1.0, 1.2, 3.0]),
    at=st.floats(0, 1),
)
def test_a_best_pair_of_cuts_is_left_at_every_price_of_the_range(
    request: Request, price: float, far: float, at: float
) -> None:
    products, keeps_safe = products_of(request), request.withhold == "unsafe"
    left = narrow(products, (price, price * far), keeps_safe=keeps_safe)
    saving = savings(products, price * (1 + at * (far - 1)), keeps_safe)
    of = {(int(o), int(d)): float(s) for o, d, s in zip(*products.zone, saving, strict=True)}

    def most(origins: list[frozenset[int]], destinations: list[frozenset[int]]) -> float:
        return max(
            sum(of.get(pair, 0.0) for pair in product(one, other))
            for one, other in product(origins, destinations)
        )

    every = [cuts_of(tree) for tree in products.axes]
    some = [allowed(left, products.axes, axis) for axis in (0, 1)]
    assert most(*some) == pytest.approx(most(*every), rel=1e-9, abs=1e-9)


@given(request=requests(any_withholding=True), price=st.sampled_from([0.5, 2.0, 9.0]))
def test_what_is_left_hangs_together(request: Request, price: float) -> None:
    products = products_of(request)
    left = narrow(products, (price, price), keeps_safe=request.withhold == "unsafe")
    assert left.rows[0] == 0
    assert np.array_equal(left.zone, products.zone[:, left.rows])
    for axis, up in enumerate(left.up):
        own, other = left.zone[axis], left.zone[1 - axis]
        below = np.flatnonzero(up >= 0)
        assert (up[below] < below).all()
        assert np.array_equal(other[up[below]], other[below])
        assert np.array_equal(up < 0, own == products.axes[axis].root)


@st.composite
def halfway(draw: st.DrawFn) -> tuple[SafeProducts, dict[str, Any]]:
    """Return products, what they save, and zones about which some is known, in small whole numbers."""
    products, dice = products_of(draw(requests())), draw(seeds)
    n = len(products)
    known = [np.array([dice.random() < 0.3 for _ in range(len(tree))]) for tree in products.axes]
    return products, {
        "low": np.array([float(dice.randrange(6)) for _ in range(n)]),
        "high": np.array([float(dice.randrange(9)) for _ in range(n)]),
        "steady": np.array([dice.random() < 0.6 for _ in range(n)]),
        "alive": np.array([p == 0 or dice.random() < 0.9 for p in range(n)]),
        "known": known,
    }


@pytest.mark.parametrize("mode", MODES)
@given(some=halfway(), first=st.sampled_from([0, 1]))
def test_gains_are_those_of_the_plain_twins(mode: str, some: Any, first: int) -> None:
    products, given_ = some
    second = 1 - first
    ups, zones = (products.up[first], products.up[second]), (products.zone[first], products.zone[second])
    stops = given_["known"][second]
    divides = ~stops & (np.arange(len(stops)) % 3 == 0)
    size = len(products.axes[first])
    saved = given_["low"], given_["high"]
    rest = ups, zones, stops, divides, size
    kernels = [_kernels.gain_of_dividing, _kernels.gain_of_keeping]
    dividing, keeping = kernels if mode == "compiled" else [kernel.py_func for kernel in kernels]
    found = dividing(*saved, given_["steady"], given_["alive"], *rest)
    assert found.tolist() == oracle.gain_of_dividing(*saved, given_["steady"], given_["alive"], *rest)
    found = keeping(*saved, given_["alive"], *rest)
    assert found.tolist() == oracle.gain_of_keeping(*saved, given_["alive"], *rest)


@pytest.mark.parametrize("mode", MODES)
@given(some=halfway(), axis=st.sampled_from([0, 1]))
def test_gaps_are_closed_as_by_the_plain_twin(mode: str, some: Any, axis: int) -> None:
    products, given_ = some
    contract = _kernels.contract if mode == "compiled" else _kernels.contract.py_func
    found = contract(given_["alive"], products.up[axis])
    assert found.tolist() == oracle.contract(given_["alive"].tolist(), products.up[axis].tolist())
