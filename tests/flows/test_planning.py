"""Zones planned for several periods, against every pair of cuts there is: within every limit, or refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.cuts import cuts, root_of
from oracles.flows.kernels import Row, Tree, below, flows_of, grouped, safe, support, tiles
from tripcloak.flows.methods import TwinCut
from tripcloak.flows.model import ODMatrix, SegmentPart
from tripcloak.flows.model.kept import KeptZones
from tripcloak.flows.planning import UNSTATED, as_part, completed, plan_zones
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.promises import KAnonymity
from worlds.matrices import Case, diced_tree, hierarchy_of, seeds

SMALL: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


def periods_of(trees: tuple[Tree, Tree], months: list[list[Row]]) -> tuple[ODMatrix, list[SegmentPart]]:
    """Return the matrix of all months, and each as a part of it, read over trees of its own."""
    whole = Case(trees=trees, rows=tuple(row for rows in months for row in rows), has_person=True).matrix()
    parts = []
    for number, rows in enumerate(months):
        own = Case(trees=trees, rows=tuple(rows), has_person=True).matrix()
        parts.append(as_part(f"m{number}", own, whole))
    return whole, parts


def fit(trees: tuple[Tree, Tree], rows: list[Row], cut: tuple[Any, Any], k: int) -> tuple[float, float]:
    """Return the tiles of a released trip, and the share that is withheld, with one pair of cuts."""
    zone = [
        {tile: zone for zone in side for tile in below(tree, zone)}
        for tree, side in zip(trees, cut, strict=True)
    ]
    released, lost, volume = 0.0, 0.0, 0.0
    for (o, d), own in grouped(flows_of(rows), lambda pair: (zone[0][pair[0]], zone[1][pair[1]])).items():
        trips = support(own, "trips")
        if safe(own, {"travellers": k}):
            released += trips
            volume += trips * (len(below(trees[0], o)) + len(below(trees[1], d)))
        else:
            lost += trips
    return (volume / released if released else np.inf), lost / (lost + released)


@settings(max_examples=max(8, settings().max_examples // 4))
@given(dice=seeds, k=st.integers(2, 4), limit=st.sampled_from([0.0, 0.1, 0.3]))
def test_every_period_keeps_to_the_limit_and_no_pair_of_cuts_is_better_than_the_best(
    dice: Any, k: int, limit: float
) -> None:
    trees = (diced_tree(dice, 7), diced_tree(dice, 6))
    sides = [tiles(tree) for tree in trees]
    pairs = [(dice.choice(sides[0]), dice.choice(sides[1])) for _ in range(5)]
    months = [
        [Row(*dice.choice(pairs), person=dice.randint(0, 9)) for _ in range(dice.randint(6, 25))]
        for _ in range(3)
    ]
    assume(all(safe(rows, {"travellers": k}) for rows in months))
    whole, parts = periods_of(trees, months)
    method = TwinCut(promise=KAnonymity(k=k), suppression_limit=limit)
    plan = plan_zones(method, whole, parts)
    assert [one.name for one in plan.fits] == ["m0", "m1", "m2"]
    best = np.inf
    for cut in product(cuts(trees[0]), cuts(trees[1])):
        found = [fit(trees, rows, cut, k) for rows in months]
        if all(lost <= limit * (1 + 1e-12) and size < np.inf for size, lost in found):
            best = min(best, max(size for size, _ in found))
    # Cuts that leave places out may withhold what is safe; with all places in them, none beats the best.
    zones = completed(plan.zones, whole).zones
    complete = [fit(trees, rows, (zones["origin"], zones["destination"]), k) for rows in months]
    assert max(size for size, _ in complete) >= best - 1e-9
    coarsest = max(fit(trees, rows, tuple((root_of(tree),) for tree in trees), k)[0] for rows in months)
    assert plan.worst.tiles <= coarsest
    for told, (_, lost) in zip(plan.fits, complete, strict=True):
        assert lost - 1e-12 <= told.withheld <= limit * (1 + 1e-12)


def months_of(*numbers: int) -> list[list[Row]]:
    """Return months in which as many people go from a to b, beside nine from c to d."""
    return [
        [Row("a", "b", person=p) for p in range(n)] + [Row("c", "d", person=p) for p in range(20, 29)]
        for n in numbers
    ]


def test_a_month_of_k_less_one_makes_the_zones_coarser_for_all() -> None:
    method = TwinCut(promise=KAnonymity(k=5), suppression_limit=0.0)
    for numbers, fine in {(5, 9): True, (4, 9): False}.items():
        whole, parts = periods_of((SMALL, SMALL), months_of(*numbers))
        plan = plan_zones(method, whole, parts)
        assert ("a" in plan.zones.zones["origin"]) == fine
        assert all(one.withheld == 0 for one in plan.fits)


def test_a_limit_that_a_month_just_reaches_is_kept() -> None:
    """Three of twelve trips are a quarter: withheld at that limit, and one trip below it not."""
    months = months_of(9, 3)
    whole, parts = periods_of((SMALL, SMALL), months)
    at = plan_zones(TwinCut(promise=KAnonymity(k=5), suppression_limit=0.25), whole, parts)
    assert [round(one.withheld, 6) for one in at.fits] == [0, 0.25]
    below_it = plan_zones(TwinCut(promise=KAnonymity(k=5), suppression_limit=0.24), whole, parts)
    assert [one.withheld for one in below_it.fits] == [0, 0]


def test_a_pilot_is_planned_on_alone_and_refused_where_others_do_not_fit() -> None:
    whole, parts = periods_of((SMALL, SMALL), months_of(9, 3))
    method = TwinCut(promise=KAnonymity(k=5), suppression_limit=0.1)
    coarse = plan_zones(method, whole, parts, pilot="m1")
    assert coarse.way == "the period m1"
    with pytest.raises(ImpossibleRequestError, match=r"zones of m0 do not suit every period \(m1"):
        plan_zones(method, whole, parts, pilot="m0")


def test_completed_cuts_hold_every_tile_once() -> None:
    tree = hierarchy_of(SMALL)
    matrix = ODMatrix.from_trips(tree, tree, np.array([0]), np.array([1]))
    for own in (("a",), ("ab",), ("c", "b"), ("all",)):
        kept = KeptZones(digest=UNSTATED, zones={"origin": own, "destination": ("all",)})
        found = completed(kept, matrix).zones["origin"]
        assert set(own) <= set(found)
        assert sorted(tile for zone in found for tile in below(SMALL, zone)) == ["a", "b", "c", "d"]
