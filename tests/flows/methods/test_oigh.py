"""OIGH: against every pair of levels of small trees, and the search itself against full tables."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows import oigh as plain
from oracles.flows.kernels import Tree, tiles
from oracles.readback import group_pairs
from tripcloak.flows.methods import OIGH, lattice
from tripcloak.flows.methods.cut_pairs import CutPairSearch
from tripcloak.flows.methods.lattice import Levels, Weighed, best_node
from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.products import find_products
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity
from worlds.cuts import Request, k_of, requests, sent
from worlds.depth import size
from worlds.matrices import hierarchy_of, seeds, trees

MANY = 2 * settings().max_examples


# --- levels ----------------------------------------------------------------------------------------


@settings(max_examples=MANY)
@given(tree=trees(), unseen=st.integers(0, 4))
def test_levels_are_heights_or_steps_to_the_smallest_parents(tree: Tree, unseen: int) -> None:
    hierarchy = hierarchy_of(tree, unseen_tiles=unseen)
    levels = Levels(hierarchy)
    expected = [list(level.values()) for level in plain.levels(tree, unseen_tiles=unseen)]
    ids = hierarchy.zones.ids
    assert [ids[levels.cut(level)].tolist() for level in range(len(levels))] == expected
    for zone, (first, behind) in enumerate(zip(levels.of_zone, levels.behind, strict=True)):
        inside = [bool((levels.cut(level) == zone).any()) for level in range(len(levels))]
        assert inside == [first <= level < behind for level in range(len(levels))]


def test_a_branch_that_ends_early_waits_for_the_others() -> None:
    """Worked by hand: sizes 2, 2, 3 and 6 are four steps, though the tree has three heights only."""
    tree: Tree = {"all": None, "abc": "all", "ab": "abc", "de": "all"}
    tree |= {"a": "ab", "b": "ab", "c": "abc", "d": "de", "e": "de", "f": "all"}
    levels = Levels(hierarchy := hierarchy_of(tree))
    named = [hierarchy.zones.ids[levels.cut(level)].tolist() for level in range(len(levels))]
    assert named == [
        ["a", "b", "c", "d", "e", "f"],
        ["ab", "ab", "c", "de", "de", "f"],
        ["abc", "abc", "abc", "de", "de", "f"],
        ["all"] * 6,
    ]


def test_sizes_that_shrink_upwards_are_taken_for_those_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tile counts come from whoever built the tree; a cut must come out all the same."""
    ids, parent = ["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1]
    tree = Hierarchy.from_parents(ids, parent, tiles=np.array([1, 1, 1, 9, 2]))
    levels = Levels(tree)
    assert tree.zones.ids[levels.cut(0)].tolist() == ["a", "b", "c"]
    assert tree.zones.ids[levels.cut(len(levels) - 1)].tolist() == ["all"] * 3


def test_very_many_levels_are_thinned_but_keep_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "MOST_LEVELS", 5)
    depth = 40
    trunk: Tree = {"n00": None, **{f"n{i:02d}": f"n{i - 1:02d}" for i in range(1, depth)}}
    tree = hierarchy_of(trunk | {f"t{i:02d}": f"n{i:02d}" for i in range(depth)})
    levels = Levels(tree)
    assert len(levels) == 6
    assert levels.cut(0).tolist() == list(range(depth))
    assert set(levels.cut(5)) == {tree.root}
    sizes = [tree.zones.tiles[levels.cut(level)].max() for level in range(6)]
    assert sizes == sorted(set(sizes))


# --- the search ------------------------------------------------------------------------------------


@st.composite
def lattices(draw: st.DrawFn) -> tuple[dict[Any, tuple[float, float]], float, tuple[int, ...]]:
    """Return what every node of a lattice loses and hides; what is hidden falls upwards, losses are any."""
    dice: Random = draw(seeds)
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    nodes = list(product(*map(range, shape)))
    drops = {node: dice.choice([0, 0, 1, 3]) for node in nodes}
    hidden = {node: sum(drops[n] for n in nodes if not plain.under(n, node)) for node in nodes}
    outcomes = {node: (float(dice.choice([1, 2, 3, 5])), float(hidden[node])) for node in nodes}
    return outcomes, dice.choice(list(hidden.values())), shape


@settings(max_examples=size(2, 3) * MANY)
@given(drawn=lattices())
def test_the_search_finds_what_the_full_table_says(drawn: Any) -> None:
    outcomes, budget, shape = drawn
    weighed = []

    def weigh(node: tuple[int, ...]) -> Weighed | None:
        weighed.append(node)
        mean, hidden = outcomes[node]
        return Weighed(hidden, mean) if hidden <= budget else None

    assert best_node(shape, weigh) == plain.best(outcomes, budget)
    assert len(weighed) == len(set(weighed))


def test_tags_spare_most_of_the_lattice() -> None:
    weighed = 0

    def weigh(node: tuple[int, ...]) -> Weighed | None:
        nonlocal weighed
        weighed += 1
        return Weighed(0.0, float(sum(node))) if node[0] + node[1] >= 200 else None

    assert best_node((200, 200), weigh) == (1, 199)
    assert weighed <= 4 * 200


# --- the method ------------------------------------------------------------------------------------


def axes_of(request: Request) -> list[list[plain.Level]]:
    unseen = [request.case.unseen_tiles] * 2 + [0]
    return [
        plain.levels(tree, unseen_tiles=more)
        for tree, more in zip(request.case.all_trees, unseen, strict=False)
    ]


@settings(max_examples=size(2, 3) * MANY)
@given(request=st.one_of(requests(max_zones=10, max_rows=30), requests(max_zones=7, with_time=True)))
def test_the_release_is_the_best_of_the_lowest_nodes_that_fit(request: Request) -> None:
    matrix, axes = request.case.matrix(), axes_of(request)
    outcomes = plain.lattice(request.boxes, axes)
    best = plain.best(outcomes, request.budget)
    expected = plain.released(request.boxes, [axis[level] for axis, level in zip(axes, best, strict=True)])
    release = OIGH(**request.parameters).anonymise(matrix)
    assert sent(matrix, release) == expected
    assert release.homogeneous


@given(request=requests(max_zones=10, max_rows=30))
def test_a_flow_released_at_a_node_is_released_at_every_node_above(request: Request) -> None:
    """What tagging rests on, with suppression and under any promise."""
    axes = axes_of(request)
    kept = {
        node: {
            flow
            for flow, box in plain.released(
                request.boxes, [axis[level] for axis, level in zip(axes, node, strict=True)]
            ).items()
            if box is not None
        }
        for node in product(*(range(len(axis)) for axis in axes))
    }
    for lower, upper in product(kept, repeat=2):
        if plain.under(lower, upper):
            assert kept[lower] <= kept[upper]


def test_flows_and_safe_products_weigh_a_node_alike() -> None:
    """TwinCut starts from OIGH's answer without grouping a single flow."""
    depth = 30
    trunk: Tree = {"n00": None, **{f"n{i:02d}": f"n{i - 1:02d}" for i in range(1, depth)}}
    tree = hierarchy_of(trunk | {f"t{i:02d}": f"n{i:02d}" for i in range(depth)})
    dice = np.random.default_rng(6)
    seen = set()
    for _ in range(5):
        matrix = ODMatrix.from_trips(tree, tree, *dice.integers(0, depth, (2, 400)))
        products = find_products(matrix, k_of(4), find_loss("tiles"))
        pair = CutPairSearch(products, products.budget(0.2)).best_uniform()
        release = OIGH(promise=k_of(4), suppression_limit=0.2).anonymise(matrix)
        assert set(release.group_origin) <= set(np.flatnonzero(pair.origins))
        assert set(release.group_destination) <= set(np.flatnonzero(pair.destinations))
        assert pair.hidden == matrix.total() - release.trips.sum()
        seen.add(pair.hidden)
    assert len(seen) > 1


EVEN: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


def even_matrix(trips: dict[str, int]) -> ODMatrix:
    tree = hierarchy_of(EVEN)
    ends = [pair for pair, times in trips.items() for _ in range(times)]
    return ODMatrix.from_trips(tree, tree, *np.array([[tiles(EVEN).index(z) for z in p] for p in ends]).T)


def test_heights_grow_upwards_and_the_finest_that_fits_is_taken() -> None:
    """Worked by hand: as they are two trips of twelve are unsafe, with coarser origins none is."""
    matrix = even_matrix({"ac": 5, "bc": 1, "ca": 5, "da": 1})
    at_once = OIGH(promise=KAnonymity(k=3), suppression_limit=0.2).anonymise(matrix)
    assert group_pairs(at_once) == [("a", "c"), ("c", "a")]
    without = OIGH(promise=KAnonymity(k=3), suppression_limit=0.1).anonymise(matrix)
    assert group_pairs(without) == [("ab", "c"), ("cd", "a")]
    assert not without.suppressed.any()


def test_of_two_equal_losses_the_one_that_withholds_less_wins_then_finer_origins() -> None:
    # Coarser origins or coarser destinations: a mean of three tiles either way.
    balanced = even_matrix({"ac": 5, "bd": 5, "ad": 1, "bc": 1})
    release = OIGH(promise=KAnonymity(k=6), suppression_limit=0).anonymise(balanced)
    assert group_pairs(release) == [("a", "cd"), ("b", "cd")]
    # One more trip that only coarser origins save.
    tilted = even_matrix({"ac": 9, "bd": 9, "ad": 2, "bc": 2, "db": 5, "cb": 1})
    release = OIGH(promise=KAnonymity(k=6), suppression_limit=0.25).anonymise(tilted)
    assert group_pairs(release) == [("ab", "c"), ("ab", "d"), ("cd", "b")]


@pytest.mark.parametrize("wrong", [{"loss": "regret"}, {"time_weight": -1.0}, {"time_weight": float("nan")}])
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        OIGH(**wrong)
