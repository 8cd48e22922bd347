"""ATG-Dual and ATG-Soft against every cut of tiny trees, and the properties their paper proves."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree, below, children, path, tiles
from oracles.flows.maps import (
    at_critical_price,
    deviation,
    every_cut,
    least_mean,
    root_of,
)
from oracles.readback import group_pairs, released_as
from tripcloak.flows.methods import ATGDual, ATGSoft, NestedCut
from tripcloak.flows.methods.atg import OriginStep, critical_offer, destination_maps, origin_cut
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.progress import silent
from tripcloak.hierarchy import Cut, Hierarchy
from tripcloak.promises import KAnonymity
from worlds.matrices import Case, hierarchy_of, trees
from worlds.nested_requests import Request, requests, targets

# --- origins ---------------------------------------------------------------------------------------


@settings(max_examples=5 * settings().max_examples)
@given(tree=trees(max_zones=12), target=targets, data=st.data())
def test_the_origin_cut_is_nearest_to_the_target_of_all_cuts(
    tree: Tree, target: float, data: st.DataObject
) -> None:
    leaves = tiles(tree)
    volumes = data.draw(st.lists(st.integers(0, 9), min_size=len(leaves), max_size=len(leaves)))
    hierarchy = hierarchy_of(tree)
    cut = origin_cut(hierarchy, np.array(volumes, dtype=float), target)
    chosen = Cut(hierarchy=hierarchy, members=np.unique(cut))
    np.testing.assert_array_equal(chosen.zone_of_tile, cut)
    zones = [str(hierarchy.zones.ids[zone]) for zone in chosen.members]
    known = dict(zip(leaves, map(float, volumes), strict=True))
    best = min(deviation(tree, known, other, target) for other in every_cut(tree, root_of(tree)))
    assert deviation(tree, known, zones, target) == best
    assert all(len(children(tree, zone)) != 1 for zone in zones), "the only child is the finer name"


@given(tree=trees(), target=targets, more=st.floats(1.0, 5.0), data=st.data())
def test_a_larger_target_never_splits_what_a_smaller_one_left_whole(
    tree: Tree, target: float, more: float, data: st.DataObject
) -> None:
    hierarchy = hierarchy_of(tree)
    volume = np.array(data.draw(st.lists(st.integers(0, 9), min_size=20, max_size=20)), dtype=float)
    volume = volume[: hierarchy.n_tiles]
    small, large = (origin_cut(hierarchy, volume, v) for v in (target, more * target))
    ids = hierarchy.zones.ids
    assert all(ids[above] in path(tree, str(ids[zone])) for zone, above in zip(small, large, strict=True))


# --- ATG-Dual --------------------------------------------------------------------------------------


@settings(max_examples=3 * settings().max_examples)
@given(request=requests())
def test_dual_keeps_the_limit_and_its_bound_is_the_best_that_prices_prove(request: Request) -> None:
    dual = ATGDual(**request.parameters())
    if not any(hidden <= request.budget for hidden, _ in request.outcomes):
        with pytest.raises(ImpossibleRequestError, match="v_target"):
            dual.anonymise(request.case.matrix())
        return
    release = dual.anonymise(request.case.matrix())
    hidden, loss = request.outcome(release)
    assert (hidden, loss) in request.outcomes
    assert hidden <= request.budget
    budget = np.floor(request.budget)
    reached = loss / (request.total - hidden)
    assert release.bound is not None
    corner, bound = at_critical_price(request.outcomes, request.total, budget)
    assert loss <= corner[1] * (1 + 1e-9)
    assert release.bound.value == pytest.approx(min(bound, reached), rel=1e-6)
    assert release.bound.value <= least_mean(request.outcomes, request.total, budget) * (1 + 1e-9)
    assert reached == pytest.approx(release.bound.value * (1 + release.bound.gap / 100), rel=1e-9)
    assert "this origin cut" in release.bound.relaxation


@given(request=requests(max_zones=14))
def test_every_origin_has_one_destination_map(request: Request) -> None:
    matrix = request.case.matrix()
    try:
        release = ATGDual(**request.parameters()).anonymise(matrix)
    except ImpossibleRequestError:
        assume(False)
    maps = defaultdict(set)
    for pair, zones in released_as(matrix, release).items():
        if zones is not None:
            assert zones[0] == request.zone_of[pair[0]]
            maps[zones[0]].add(zones[1])
    tree = request.case.trees[1]
    for zones in maps.values():
        covered = [tile for zone in zones for tile in below(tree, zone)]
        assert len(covered) == len(set(covered))


@given(
    request=requests(max_zones=14), prices=st.lists(st.floats(0, 200), min_size=3, max_size=3, unique=True)
)
def test_the_least_cost_rises_with_the_price_ever_more_slowly(request: Request, prices: list[float]) -> None:
    """Appendix D: the best branch error is concave and does not fall; what is suppressed does not rise."""
    tree, _ = request.case.hierarchies
    numbers = {str(zone): number for number, zone in enumerate(tree.zones.ids)}
    cut = np.array([numbers[request.zone_of[str(tile)]] for tile in tree.zones.ids[: tree.n_tiles]])
    promise = request.promise.resolve(request.case.matrix())
    maps = destination_maps(request.case.matrix(), promise, request.limit, cut)
    low, middle, high = (maps.search.offer(price) for price in sorted(prices))
    assert low.cost <= middle.cost * (1 + 1e-12)
    assert middle.cost <= high.cost * (1 + 1e-12)
    assert low.hidden >= middle.hidden >= high.hidden
    share = (middle.price - low.price) / (high.price - low.price)
    assert middle.cost >= ((1 - share) * low.cost + share * high.cost) * (1 - 1e-9)


@given(request=requests(max_zones=14))
def test_the_coupled_optimum_bounds_atg(request: Request) -> None:
    """NestedCut chooses the origin cut too, so its bound holds for ATG whatever the target volume."""
    try:
        release = ATGDual(**request.parameters()).anonymise(request.case.matrix())
    except ImpossibleRequestError:
        assume(False)
    nested = NestedCut(promise=request.promise, suppression_limit=request.limit)
    bound = nested.anonymise(request.case.matrix()).bound
    hidden, loss = request.outcome(release)
    assert bound is not None
    assert bound.value <= loss / (request.total - hidden) * (1 + 1e-9)


def test_a_target_that_cannot_work_names_one_that_does() -> None:
    tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}
    rows = tuple(Row(o, d) for o in "abcd" for d in "abcd")
    matrix = Case(trees=(tree, tree), rows=rows).matrix()
    promise = KAnonymity(k=6)
    with pytest.raises(ImpossibleRequestError, match=r"A v_target of (\d+) would do") as refusal:
        ATGDual(promise=promise, v_target=3.0).anonymise(matrix)
    (named,) = re.findall(r"A v_target of (\d+)", str(refusal.value))
    release = ATGDual(promise=promise, v_target=float(named)).anonymise(matrix)
    assert {origin for origin, _ in group_pairs(release)} == {"ab", "cd"}


# --- ATG-Soft --------------------------------------------------------------------------------------


@settings(max_examples=3 * settings().max_examples)
@given(request=requests(), multiplier=st.sampled_from([1.0, 2.0, 3.5, 6.0, 9.0, 15.0, 40.0]))
def test_soft_is_the_least_cost_and_releases_nothing_above_the_multiplier(
    request: Request, multiplier: float
) -> None:
    """Appendix E, here without exception: a tile that is too coarse together with its origin is withheld."""
    soft = ATGSoft(**request.parameters(), multiplier=multiplier)
    least = min(loss + multiplier * hidden for hidden, loss in request.outcomes)
    best = [(h, loss) for h, loss in request.outcomes if loss + multiplier * h <= least * (1 + 1e-12)]
    try:
        release = soft.anonymise(request.case.matrix())
    except ImpossibleRequestError as refusal:
        assert max(hidden for hidden, _ in best) > request.budget
        check_advice(request, str(refusal))
        return
    assert request.outcome(release) in best
    sizes = (
        release.origins.tiles[release.group_origin] + release.destinations.tiles[release.group_destination]
    )
    assert (sizes <= multiplier).all()


def check_advice(request: Request, words: str) -> None:
    """Every way out that a refusal of Soft names leads out."""
    advice = {
        name: float(value)
        for name, value in re.findall(r"a (limit|multiplier|v_target) of ([\d.e+]+)", words)
    }
    if "multiplier" not in advice or "With" not in words:
        assert "A v_target of" in words
        return
    asked = {**request.parameters(), "v_target": advice["v_target"]}
    dearer = re.findall(r"a multiplier of ([\d.e+]+) would do", words)
    ATGSoft(**asked, multiplier=float(dearer[0])).anonymise(request.case.matrix())
    wider = re.findall(r"a limit of (\d+) %", words)
    if wider:
        first = float(re.findall(r"a multiplier of ([\d.e+]+) tiles", words)[0])
        looser = {**asked, "suppression_limit": float(wider[0]) / 100}
        ATGSoft(**looser, multiplier=first).anonymise(request.case.matrix())


@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_soft_takes_a_tenth_of_the_map_and_says_what_would_do(limit: float) -> None:
    matrix = city(seed=5)
    soft = ATGSoft(promise=KAnonymity(k=4), suppression_limit=limit)
    with pytest.raises(ImpossibleRequestError, match=r"a multiplier of 6\.4 tiles") as refusal:
        soft.anonymise(matrix)
    words = str(refusal.value)
    (target,), (enough,) = (
        re.findall(r"v_target of ([\d.]+)", words),
        re.findall(r"multiplier of (\d+) w", words),
    )
    release = ATGSoft(
        promise=KAnonymity(k=4), suppression_limit=limit, v_target=float(target), multiplier=float(enough)
    ).anonymise(matrix)
    assert release.bound is None
    assert str(matrix.total()) not in words


# --- the target volume -----------------------------------------------------------------------------


def city(seed: int) -> ODMatrix:
    """Return trips between 64 tiles in a tree of fours; some tiles are much busier than others."""
    dice = np.random.default_rng(seed)
    ids = [f"t{i:02d}" for i in range(64)] + [f"m{i:02d}" for i in range(16)] + [f"n{i}" for i in range(4)]
    above = [64 + i // 4 for i in range(64)] + [80 + i // 4 for i in range(16)] + [84] * 4
    tree = Hierarchy.from_parents([*ids, "all"], [*above, -1])
    busy = dice.pareto(1.2, 64) + 0.1
    ends = dice.choice(64, size=(2, 3000), p=busy / busy.sum())
    return ODMatrix.from_trips(tree, tree, ends[0], ends[1])


@pytest.mark.parametrize("seed", range(6))
def test_the_target_found_balances_origins_and_destinations_best(seed: int) -> None:
    matrix, promise = city(seed), KAnonymity(k=10, unit="trips")
    found = OriginStep(matrix, promise, 0.1, critical_offer).settle(None, silent)
    for target in np.geomspace(1, matrix.total(), 60):
        try:
            other = OriginStep(matrix, promise, 0.1, critical_offer).settle(float(target), silent)
        except ImpossibleRequestError:
            continue
        assert found.imbalance <= other.imbalance + 1e-9
    assert found.keeps_limit


@pytest.mark.parametrize("seed", range(3))
def test_naming_the_target_that_was_found_changes_nothing(seed: int) -> None:
    matrix, promise = city(seed), KAnonymity(k=10, unit="trips")
    found = OriginStep(matrix, promise, 0.1, critical_offer).settle(None, silent)
    first = ATGDual(promise=promise).anonymise(matrix)
    second = ATGDual(promise=promise, v_target=found.v_target).anonymise(matrix)
    np.testing.assert_array_equal(first.group_of_flow, second.group_of_flow)
    assert found.v_target == float(f"{found.v_target:.1e}"), "more digits would tell more than they help"


# --- bad requests ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, -3.0, float("nan"), float("inf")])
def test_targets_and_multipliers_are_numbers_above_zero(bad: float) -> None:
    with pytest.raises(InputError, match="v_target"):
        ATGDual(v_target=bad)
    with pytest.raises(InputError, match="multiplier"):
        ATGSoft(multiplier=bad)
