"""Losses by name against plain sums, metres against the ellipsoid, and losses that make no sense."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyproj import Geod

from oracles.flows.kernels import Tree, path, tiles
from tripcloak.flows.methods import METHODS, FlowMethod
from tripcloak.flows.methods.losses import SlotLoss, find_loss, losses_of
from tripcloak.flows.methods.products import find_products
from tripcloak.flows.methods.tree_method import TreeMethod
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from worlds.cuts import Place, Request, expected_metres, k_of, placed, requests
from worlds.matrices import hierarchy_of, seeds, trees

SMALL: Tree = {"all": None, "ab": "all", "a": "ab", "b": "ab", "c": "all"}
METHODS_WITH_LOSS = [method for method in METHODS.values() if issubclass(method, TreeMethod)]


def ancestors(tree: Hierarchy) -> Ints:
    """Return a table with every tile's ancestors, from itself upwards, and -1 above the root."""
    table = [np.arange(tree.n_tiles)]
    while (table[-1] >= 0).any():
        table.append(np.where(table[-1] >= 0, tree.parent[table[-1]], -1))
    return np.array(table)


def loss_of(name: str, hierarchy: Hierarchy) -> dict[tuple[str, str], float]:
    """Return the loss of every tile and each of its ancestors, by their ids."""
    table = ancestors(hierarchy)
    losses = losses_of(find_loss(name), hierarchy, table)
    ids = hierarchy.zones.ids.tolist()
    return {
        (ids[tile], ids[table[step, tile]]): float(losses[step, tile])
        for step, tile in zip(*np.nonzero(table >= 0), strict=True)
    }


@given(tree=trees(), dice=seeds, unseen=st.integers(0, 3))
def test_sizes_and_metres_are_those_of_the_zones(tree: Tree, dice: Random, unseen: int) -> None:
    places = {z: Place(dice.uniform(-80, 80), dice.uniform(-180, 180), dice.uniform(0, 9)) for z in tree}
    plain = hierarchy_of(tree, unseen_tiles=unseen)
    hierarchy = placed(plain, places)
    full = dict(zip(plain.zones.ids.tolist(), plain.zones.tiles.tolist(), strict=True))
    pairs = {(tile, zone) for tile in tiles(tree) for zone in path(tree, tile)}
    assert loss_of("tiles", hierarchy) == {pair: full[pair[1]] for pair in pairs}
    assert loss_of("area", hierarchy) == {pair: places[pair[1]].area_km2 for pair in pairs}
    metres = loss_of("metres", hierarchy)
    assert metres.keys() == pairs
    for tile, zone in pairs:
        assert metres[tile, zone] == pytest.approx(expected_metres(places[tile], places[zone]), abs=0.1)


@given(
    lat=st.floats(-89, 89), lon=st.floats(-180, 180), east=st.floats(-2e5, 2e5), north=st.floats(-2e5, 2e5)
)
def test_metres_are_near_those_on_the_ellipsoid(lat: float, lon: float, east: float, north: float) -> None:
    geod = Geod(ellps="WGS84")
    there = geod.fwd(lon, lat, math.degrees(math.atan2(east, north)), math.hypot(east, north))
    places = {"a": Place(lat, lon, 0.0), "all": Place(there[1], there[0], 0.0)}
    found = loss_of("metres", placed(hierarchy_of({"all": None, "a": "all"}), places))
    assert found["a", "all"] == pytest.approx(math.hypot(east, north), rel=0.006, abs=0.01)
    assert found["a", "a"] == 0


@example(lat=20.7, lon=-56.5)  # here rounding makes the square of the sine more than 1
@given(lat=st.floats(-90, 90), lon=st.floats(-180, 0))
def test_a_point_on_the_other_side_of_the_earth_is_half_a_circle_away(lat: float, lon: float) -> None:
    places = {"a": Place(lat, lon, 0.0), "all": Place(-lat, lon + 180, 0.0)}
    found = loss_of("metres", placed(hierarchy_of({"all": None, "a": "all"}), places))
    assert found["a", "all"] == pytest.approx(math.pi * 6_371_008.8, rel=1e-6)


def test_a_tile_of_unknown_area_has_its_end_at_its_point() -> None:
    places = {"a": Place(10, 10, math.nan), "all": Place(10, 10, math.nan)}
    tree = placed(hierarchy_of({"all": None, "a": "all"}), places)
    assert set(loss_of("metres", tree).values()) == {0.0}


def test_the_expected_distance_inside_a_tile_is_that_of_a_disc() -> None:
    draw = np.random.default_rng(8)
    radius = np.sqrt(draw.random(200_000)) * math.sqrt(4e6 / math.pi)
    tree = placed(hierarchy_of({"a": None}), {"a": Place(0, 0, 4.0)})
    assert loss_of("metres", tree)["a", "a"] == pytest.approx(radius.mean(), rel=0.01)


@pytest.mark.parametrize("name", ["area", "metres"])
def test_zones_without_a_geometry_have_no_area_and_no_metres(name: str) -> None:
    with pytest.raises(InputError, match=f"the loss {name} needs zones with a geometry"):
        loss_of(name, hierarchy_of(SMALL))


@pytest.mark.parametrize(("name", "bad"), [("area", -1.0), ("area", math.inf), ("metres", -1.0)])
def test_areas_below_zero_are_refused(name: str, bad: float) -> None:
    places = {zone: Place(1, 1, bad if zone in {"a", "ab"} else 1.0) for zone in SMALL}
    with pytest.raises(InputError, match=f"the loss {name}"):
        loss_of(name, placed(hierarchy_of(SMALL), places))


@pytest.mark.parametrize("method", METHODS_WITH_LOSS, ids=lambda method: method.name)
def test_an_unknown_loss_is_refused_by_name(method: type[FlowMethod]) -> None:
    options: dict[str, Any] = {"loss": "regret"}
    with pytest.raises(InputError, match="loss must be one of tiles, area, metres; got 'regret'"):
        method(**options)


@pytest.mark.parametrize("method", METHODS_WITH_LOSS, ids=lambda method: method.name)
@pytest.mark.parametrize("name", ["area", "metres"])
def test_a_method_asked_for_a_loss_its_zones_cannot_tell_says_so(method: type[FlowMethod], name: str) -> None:
    tree = hierarchy_of(SMALL)
    matrix = ODMatrix.from_trips(tree, tree, *np.zeros((2, 5), dtype=np.int32))
    options: dict[str, Any] = {"loss": name}
    with pytest.raises(InputError, match=f"the loss {name} needs zones with a geometry"):
        method(promise=k_of(2), **options).anonymise(matrix)


class AnyLoss:
    """A loss of somebody else's making."""

    name = "regret"

    def __init__(self, make: Callable[[Ints], Any]) -> None:
        self.make = make

    def of_ancestors(self, tree: Hierarchy, ancestors: Ints) -> Floats:
        made: Floats = self.make(ancestors)
        return made


NONSENSE: dict[str, Callable[[Ints], Any]] = {
    "below zero": lambda ancestors: np.where(ancestors >= 0, -1.0, 0.0),
    "one below zero": lambda ancestors: np.where(ancestors == ancestors.max(), -1e-9, 1.0),
    "not a number": lambda ancestors: np.full(ancestors.shape, np.nan),
    "without end": lambda ancestors: np.full(ancestors.shape, np.inf),
    "one for all": lambda ancestors: 3.0,
    "one a tile": lambda ancestors: np.ones(ancestors.shape[1]),
    "one a group": lambda ancestors: np.ones((*ancestors.shape, 2)),
    "words": lambda ancestors: np.full(ancestors.shape, "far"),
}


@pytest.mark.parametrize("make", NONSENSE.values(), ids=NONSENSE)
def test_a_loss_that_is_negative_or_does_not_add_up_over_records_is_refused(make: Any) -> None:
    tree = hierarchy_of(SMALL)
    matrix = ODMatrix.from_trips(tree, tree, *np.zeros((2, 5), dtype=np.int32))
    with pytest.raises(InputError, match="the loss regret"):
        find_products(matrix, k_of(2), AnyLoss(make))


def test_a_loss_of_whole_numbers_and_of_any_layout_is_welcome() -> None:
    tree = hierarchy_of(SMALL)
    matrix = ODMatrix.from_trips(tree, tree, *np.zeros((2, 5), dtype=np.int32))
    loss = AnyLoss(lambda ancestors: np.asfortranarray(np.where(ancestors >= 0, 2, -9)))
    assert set(find_products(matrix, k_of(2), loss).loss.tolist()) == {4.0}


@given(request=requests(with_time=True), weight=st.sampled_from([0.0, 0.5, 3.0]))
def test_slots_of_time_cost_their_weight(request: Request, weight: float) -> None:
    times = request.case.matrix().times
    assert times is not None
    table = ancestors(times)
    losses = SlotLoss(weight).of_ancestors(times, table)
    assert losses.shape == table.shape
    some = table >= 0
    np.testing.assert_array_equal(losses[some], weight * times.zones.tiles[table[some]])


def test_a_hierarchy_of_other_tiles_than_it_holds_counts_them_all() -> None:
    tree = hierarchy_of(SMALL)
    wide = replace(tree, zones=replace(tree.zones, tiles=tree.zones.tiles * 10))
    assert loss_of("tiles", wide) == {pair: 10 * size for pair, size in loss_of("tiles", tree).items()}
