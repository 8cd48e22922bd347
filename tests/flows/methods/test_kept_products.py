"""Products that are kept between asks are those that would be found, and nothing else is ever given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.methods import TwinCut, tree_method
from tripcloak.flows.methods.kept_products import keeping_products
from tripcloak.flows.methods.products import SafeProducts
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.progress import silent
from tripcloak.hierarchy import Hierarchy
from worlds.cuts import k_of

NAMES, ABOVE = ["a", "b", "c", "west", "east", "all"], [3, 3, 4, 5, 5, -1]
TREE = Hierarchy.from_parents(NAMES, ABOVE, area_km2=np.array([1.0, 2.0, 4.0, 3.0, 4.0, 7.0]))
ENDS = np.array([(o, d) for o in range(3) for d in range(3) for _ in range(2 + 3 * o + d)]).T
METHOD = TwinCut(promise=k_of(5), suppression_limit=0.3)


def matrix() -> ODMatrix:
    return ODMatrix.from_trips(TREE, TREE, *ENDS)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[SafeProducts]:
    """Return all products that are looked for from here on."""
    every: list[SafeProducts] = []
    find: Callable[..., SafeProducts] = tree_method.find_products

    def finding(*given: Any) -> SafeProducts:
        every.append(find(*given))
        return every[-1]

    monkeypatch.setattr(tree_method, "find_products", finding)
    return every


def asked(method: TwinCut, of: ODMatrix, *, up: bool = False) -> SafeProducts:
    clock: Any = type("Clock", (), {"is_up": staticmethod(lambda: up)})
    return method.find_products(of, method.promise.resolve(of), silent, clock)


def test_answers_are_the_same_with_products_that_were_kept(found: list[SafeProducts]) -> None:
    own = matrix()
    limits = (0.3, 0.2, 0.1, 0.3)
    anew = [replace(METHOD, suppression_limit=limit).anonymise(own) for limit in limits]
    assert len(found) == len(limits)
    with keeping_products():
        kept = [replace(METHOD, suppression_limit=limit).anonymise(own) for limit in limits]
    assert len(found) == len(limits) + 1
    for one, other in zip(anew, kept, strict=True):
        assert np.array_equal(one.group_of_flow, other.group_of_flow)
        assert one.bound == other.bound


def test_whatever_else_is_asked_for_is_found_anew(found: list[SafeProducts]) -> None:
    own = matrix()
    others = (
        (replace(METHOD, promise=k_of(6)), own),
        (replace(METHOD, loss="area"), own),
        (METHOD, matrix()),
    )
    for method, of in others:
        with keeping_products():
            first = asked(METHOD, own)
            assert asked(method, of) is not first
            assert asked(METHOD, own) is not first
    assert len(found) == 3 * len(others)


def test_nothing_is_kept_of_a_search_cut_short_nor_outside(found: list[SafeProducts]) -> None:
    own = matrix()
    assert asked(METHOD, own) is not asked(METHOD, own)
    with keeping_products():
        assert not asked(METHOD, own, up=True).complete
        whole = asked(METHOD, own)
        assert whole.complete
        assert asked(METHOD, own) is whole
    assert asked(METHOD, own) is not whole
