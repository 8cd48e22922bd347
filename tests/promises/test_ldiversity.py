"""l-diversity: what l may be, which zones it lets through, and that it never stands alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import Pair, Row, Tree, below, children, flows_of, path, support
from tripcloak.flows.methods import METHODS, ProductCut
from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.productcut import partition_search
from tripcloak.flows.methods.products import find_products
from tripcloak.flows.model import group_flows
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.errors import ImpossibleRequestError, InputError, InternalError
from tripcloak.promises import AllOf, KAnonymity, LDiversity
from worlds.matrices import Case, cases, diced_tree, hierarchy_of, seeds

NEVER_DEAR: dict[str, dict[str, Any]] = {"atg-soft": {"multiplier": 1e15}}
"""A price that nothing here exceeds: a tenth of a tiny map would suppress everything."""

TREE: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


@pytest.mark.parametrize("least", [1, 0, -4, 2.5, float("nan"), float("inf"), 2**31])
def test_l_is_a_number_of_places(least: float) -> None:
    with pytest.raises(InputError, match="l must be a whole number of at least 2"):
        LDiversity(l=least)  # type: ignore[arg-type]


def test_l_counts_tiles_or_places() -> None:
    with pytest.raises(InputError, match="l counts tiles or places; got 'people'"):
        LDiversity(of="people")  # type: ignore[arg-type]


def test_it_protects_nobody_alone() -> None:
    with pytest.raises(InputError, match="together with k-anonymity"):
        AllOf(promises=(LDiversity(l=2), LDiversity(l=3)))
    for method in METHODS.values():
        with pytest.raises(InputError, match="together with k-anonymity"):
            method(promise=LDiversity(l=2))
    matrix = Case(trees=(TREE, TREE), rows=tuple(Row(o, d) for o in "abcd" for d in "abcd")).matrix()
    root = np.full(matrix.n_flows, matrix.origins.root)
    with pytest.raises(InternalError, match="protects nobody"):
        build_release(
            matrix, method="by hand", parameters={}, promise=LDiversity(l=2), suppression_limit=0,
            origin_zone=root, destination_zone=root, suppressed=root < 0, homogeneous=True,
        )  # fmt: skip


def test_floors_add_up_to_the_largest() -> None:
    parts = KAnonymity(k=5, unit="trips"), LDiversity(l=2), AllOf(promises=(KAnonymity(k=3), LDiversity(l=4)))
    both = AllOf(promises=parts)
    assert both.floors == {"tiles": 4}
    assert not parts[0].floors
    assert not parts[1].thresholds
    words = "at least 5 trips, which may be one person's and at least 2 tiles that occur in either zone"
    assert AllOf(promises=parts[:2]).sentence() == words


def test_places_must_be_known() -> None:
    matrix = Case(trees=(TREE, TREE), rows=(Row("a", "b"),)).matrix()
    with pytest.raises(InputError, match="places"):
        LDiversity(l=2, of="places").resolve(matrix)


def lifted(dice: Random, tree: Tree, tiles: list[str]) -> list[str]:
    """Return an ancestor of every tile, or the tile itself."""
    return [dice.choice(path(tree, tile)) for tile in tiles]


def occurring(case: Case, axis: int, zone: str) -> set[str]:
    return {row[axis] for row in case.rows} & set(below(case.trees[axis], zone))


@given(case=cases(), dice=seeds, least=st.integers(2, 6))
def test_a_pair_of_zones_is_safe_exactly_when_both_cover_enough(case: Case, dice: Random, least: int) -> None:
    matrix = case.matrix()
    pairs = list(flows_of(case.rows))
    zones = [lifted(dice, tree, [pair[axis] for pair in pairs]) for axis, tree in enumerate(case.trees)]
    coded = [
        np.array([tree.zones.ids.tolist().index(zone) for zone in side])
        for tree, side in zip(case.hierarchies, zones, strict=True)
    ]
    groups = group_flows(matrix, *coded)
    assert groups is not None
    verdicts = LDiversity(l=least).resolve(matrix).safe(groups)[groups.of_flow]
    expected = [
        all(len(occurring(case, axis, zone)) >= least for axis, zone in enumerate(pair))
        for pair in zip(*zones, strict=True)
    ]
    assert verdicts.tolist() == expected


def test_tiles_that_never_occur_do_not_count() -> None:
    case = Case(trees=(TREE, TREE), rows=tuple(Row(o, d) for o in "abc" for d in "abcd"), unseen_tiles=3)
    matrix = case.matrix()
    origins, destinations = matrix.covers("tiles")
    names = matrix.origins.zones.ids.tolist()
    assert dict(zip(names, origins.tolist(), strict=True)) == {
        "a": 1, "b": 1, "c": 1, "d": 0, "ab": 2, "cd": 1, "all": 3,
    }  # fmt: skip
    assert destinations[matrix.destinations.root] == 4


# Suppression alone leaves zones at one tile, so it covers no more than that.
@pytest.mark.parametrize(
    "name", [n for n, m in METHODS.items() if not (m.draws_zones or m.noisy or n == "suppression")]
)
def test_more_tiles_than_occur_cannot_be_had(name: str) -> None:
    matrix = Case(trees=(TREE, TREE), rows=tuple(Row(o, d) for o in "abc" for d in "abcd") * 5).matrix()

    def ask_for(least: int) -> Release:
        promise = AllOf(promises=(KAnonymity(k=2, unit="trips"), LDiversity(l=least)))
        return METHODS[name](promise=promise, **NEVER_DEAR.get(name, {})).anonymise(matrix)

    release = ask_for(3)
    assert {str(release.origins.ids[zone]) for zone in release.group_origin} == {"all"}
    with pytest.raises(ImpossibleRequestError, match="at least 4 tiles that occur in either zone"):
        ask_for(4)


def test_what_the_filter_withholds_may_leave_too_few_tiles_over() -> None:
    """ODkAnon ends at the lowest zone over what is left, which must still be diverse enough."""
    rows = (Row("a", "a"),) * 20 + (Row("b", "b"),) * 20 + (Row("c", "c"),)
    matrix = Case(trees=(TREE, TREE), rows=rows).matrix()
    promise = AllOf(promises=(KAnonymity(k=5, unit="trips"), LDiversity(l=3)))
    release = METHODS["odkanon"](promise=promise, suppression_limit=0.4).anonymise(matrix)
    assert (release.trips.tolist(), int(release.suppressed.sum())) == ([41], 0)


# --- the best of all partitions ----------------------------------------------------------------------


def partitions(trees: tuple[Tree, Tree], pair: Pair) -> Iterator[frozenset[Pair]]:
    """Yield every way to split a product of zones on one axis at a time, the product itself included."""
    yield frozenset({pair})
    for axis, tree in enumerate(trees):
        parts = [(child, pair[1]) if axis == 0 else (pair[0], child) for child in children(tree, pair[axis])]
        if parts:
            for choice in product(*(set(partitions(trees, part)) for part in parts)):
                yield frozenset().union(*choice)


def inside(case: Case, pair: Pair) -> list[Row]:
    held = [set(below(tree, zone)) for tree, zone in zip(case.trees, pair, strict=True)]
    return [row for row in case.rows if row.origin in held[0] and row.destination in held[1]]


@st.composite
def tiny(draw: st.DrawFn) -> Case:
    """Return trips between trees of a few zones."""
    dice = draw(seeds)
    first, second = (diced_tree(dice, draw(st.integers(3, 6))) for _ in range(2))
    ends = [[zone for zone in tree if not children(tree, zone)] for tree in (first, second)]
    rows = tuple(Row(dice.choice(ends[0]), dice.choice(ends[1])) for _ in range(draw(st.integers(4, 30))))
    return Case(trees=(first, second), rows=rows, unseen_tiles=dice.randint(0, 2))


@st.composite
def answerable(draw: st.DrawFn) -> tuple[Case, int, int]:
    """Return a case, a k and a least number of tiles that everything together reaches."""
    case = draw(tiny())
    held = min(len({row[axis] for row in case.rows}) for axis in (0, 1))
    assume(held > 1)
    return case, draw(st.integers(2, min(6, len(case.rows)))), draw(st.integers(2, min(3, held)))


class Judge:
    """Plain verdicts on products: their volume, their tiles, and whether they are safe."""

    def __init__(self, case: Case, k: int, least: int) -> None:
        self.case, self.k, self.least = case, k, least
        self.trees = [hierarchy_of(tree, unseen_tiles=case.unseen_tiles) for tree in case.trees]

    def volume(self, pair: Pair) -> float:
        return float(support(inside(self.case, pair), "trips"))

    def tiles(self, pair: Pair) -> int:
        sizes = zip(self.trees, pair, strict=True)
        return sum(int(tree.zones.tiles[tree.zones.ids.tolist().index(zone)]) for tree, zone in sizes)

    def safe(self, pair: Pair) -> bool:
        diverse = all(len(occurring(self.case, axis, zone)) >= self.least for axis, zone in enumerate(pair))
        return diverse and self.volume(pair) >= self.k


@settings(max_examples=2 * settings().max_examples)
@given(request=answerable(), price=st.sampled_from([0.5, 3.0, 8.0, 50.0]))
def test_the_programme_is_the_best_of_all_diverse_partitions(
    request: tuple[Case, int, int], price: float
) -> None:
    case, k, least = request
    root = tuple(next(zone for zone, up in tree.items() if up is None) for tree in case.trees)
    judge = Judge(case, k, least)
    assert judge.safe(root)
    cost = {}
    for partition in set(partitions(case.trees, root)):
        for pair in partition:
            if pair not in cost:
                each = min(judge.tiles(pair), price) if judge.safe(pair) else price
                cost[pair] = each * judge.volume(pair)
    best = min(sum(cost[pair] for pair in partition) for partition in partitions(case.trees, root))
    promise = AllOf(promises=(KAnonymity(k=k, unit="trips"), LDiversity(l=least)))
    products = find_products(case.matrix(), promise, find_loss("tiles"))
    search = partition_search(products, np.ones(products.up.shape, dtype=bool), 0.0)
    assert search.offer(price).cost == pytest.approx(best, rel=1e-12)


@given(request=answerable())
def test_nothing_withheld_and_nothing_better(request: tuple[Case, int, int]) -> None:
    case, k, least = request
    root = tuple(next(zone for zone, up in tree.items() if up is None) for tree in case.trees)
    judge = Judge(case, k, least)
    assert judge.safe(root)
    found = []
    for partition in set(partitions(case.trees, root)):
        held = [pair for pair in partition if judge.volume(pair)]
        if all(judge.safe(pair) for pair in held):
            found.append(sum(judge.tiles(pair) * judge.volume(pair) for pair in held))
    promise = AllOf(promises=(KAnonymity(k=k, unit="trips"), LDiversity(l=least)))
    release = ProductCut(promise=promise, suppression_limit=0).anonymise(case.matrix())
    origin, destination = (zones.tiles[column] for _, zones, column in release.axes)
    assert int(((origin + destination) * release.trips).sum()) == min(found)
    assert release.bound is not None
    assert release.bound.gap == 0


def test_a_case_may_be_copied_with_other_rows() -> None:
    """Numbers of tiles belong to the flows, not to the hierarchy they share."""
    case = Case(trees=(TREE, TREE), rows=(Row("a", "a"), Row("b", "b")))
    other = replace(case, rows=(Row("a", "a"),))
    roots = [one.matrix().covers("tiles")[0][-1] for one in (case, other)]
    assert roots == [2, 1]
