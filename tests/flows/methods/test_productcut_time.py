"""ProductCut over origins, destinations and time: exact on tiny cubes, and a contract on larger ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import Tree, below, children, path, tiles
from oracles.readback import TIMING
from tripcloak.flows.methods import METHODS, FlowMethod, ProductCut
from tripcloak.flows.methods.losses import SlotLoss, find_loss
from tripcloak.flows.methods.productcut import partition_search
from tripcloak.flows.methods.products import Axis, find_products
from tripcloak.flows.model import ODMatrix, flows_from_trips
from tripcloak.flows.release import Release
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import time_hierarchy
from tripcloak.promises import KAnonymity
from worlds.matrices import diced_tree, hierarchy_of, limits, seeds

Cell = tuple[str, ...]


@dataclass(frozen=True)
class Cube:
    """Trips in three trees: one row a trip, a tile of each tree and a person."""

    trees: tuple[Tree, ...]
    rows: tuple[tuple[Cell, int], ...]

    def matrix(self) -> ODMatrix:
        hierarchies = [hierarchy_of(tree) for tree in self.trees]
        codes = [{tile: code for code, tile in enumerate(tiles(tree))} for tree in self.trees]
        origin, destination, slot = (
            np.array([codes[axis][cell[axis]] for cell, _ in self.rows], dtype=np.int32) for axis in range(3)
        )
        return ODMatrix.from_trips(
            hierarchies[0],
            hierarchies[1],
            origin,
            destination,
            person=np.array([person for _, person in self.rows], dtype=np.int32),
            times=hierarchies[2],
            slot=slot,
        )

    def inside(self, zones: Cell) -> list[tuple[Cell, int]]:
        """Return the rows in a product of zones."""
        held = [set(below(tree, zone)) for tree, zone in zip(self.trees, zones, strict=True)]
        return [
            row for row in self.rows if all(tile in some for tile, some in zip(row[0], held, strict=True))
        ]


def people(rows: list[tuple[Cell, int]]) -> int:
    return len({person for _, person in rows})


@st.composite
def cubes(draw: st.DrawFn, max_zones: int, max_rows: int) -> Cube:
    dice: Random = draw(seeds)
    trees = tuple(diced_tree(dice, draw(st.integers(1, max_zones))) for _ in range(3))
    cells = [tuple(dice.choice(tiles(tree)) for tree in trees) for _ in range(draw(st.integers(1, 12)))]
    rows = [(dice.choice(cells), dice.randint(0, 9)) for _ in range(draw(st.integers(1, max_rows)))]
    return Cube(trees, tuple(rows))


def cheapest(cube: Cube, k: int, price: float, weight: float) -> float:
    """Return the least cost over all recursive partitions, one split at a time, by trying every one."""

    def size(zones: Cell) -> float:
        numbers = [len(below(tree, zone)) for tree, zone in zip(cube.trees, zones, strict=True)]
        return numbers[0] + numbers[1] + weight * numbers[2]

    @cache
    def best(zones: Cell) -> float:
        rows = cube.inside(zones)
        if not rows:
            return 0.0
        ways = [price * len(rows)]
        if people(rows) >= k:
            ways.append(size(zones) * len(rows))
        for axis, tree in enumerate(cube.trees):
            below_it = children(tree, zones[axis])
            if below_it:
                parts = [(*zones[:axis], child, *zones[axis + 1 :]) for child in below_it]
                ways.append(sum(best(part) for part in parts))
        return min(ways)

    return best(tuple(next(zone for zone, up in tree.items() if up is None) for tree in cube.trees))


@settings(max_examples=2 * settings().max_examples)
@given(
    cube=cubes(max_zones=6, max_rows=16),
    k=st.integers(2, 4),
    price=st.sampled_from([0.0, 0.5, 2.0, 3.0, 4.5, 7.0, 20.0, 1000.0]),
    weight=st.sampled_from([0.0, 0.25, 1.0, 3.0]),
)
def test_the_programme_finds_the_least_cost_at_every_price(
    cube: Cube, k: int, price: float, weight: float
) -> None:
    assume(people(list(cube.rows)) >= k)
    matrix = cube.matrix()
    promise = KAnonymity(k=k, unit="travellers")
    method = ProductCut(promise=promise, time_weight=weight)
    products = find_products(matrix, promise, find_loss("tiles"), axes=method.axes(matrix))
    search = partition_search(products, method.may_split(products), 0.1)
    offer = search.offer(price)
    assert offer.cost == pytest.approx(cheapest(cube, k, price, weight), abs=1e-9)


def groups_of(release: Release) -> list[Cell]:
    """Return the zone ids of every group."""
    return list(zip(*(zones.ids[column].tolist() for _, zones, column in release.axes), strict=True))


def flows_of(matrix: ODMatrix) -> list[Cell]:
    """Return the tile ids of every flow."""
    return list(zip(*(tree.zones.ids[codes].tolist() for tree, codes in matrix.axes), strict=True))


def overlap(trees: tuple[Tree, ...], one: Cell, other: Cell) -> bool:
    return all(set(below(t, a)) & set(below(t, b)) for t, a, b in zip(trees, one, other, strict=True))


@given(cube=cubes(max_zones=14, max_rows=60), k=st.integers(2, 5), limit=limits)
def test_releases_with_time_keep_the_contract(cube: Cube, k: int, limit: float) -> None:
    assume(people(list(cube.rows)) >= k)
    matrix = cube.matrix()
    release = ProductCut(promise=KAnonymity(k=k), suppression_limit=limit).anonymise(matrix)
    groups, flows = groups_of(release), flows_of(matrix)
    assert flows == sorted({cell for cell, _ in cube.rows})
    assert len(set(groups)) == len(groups)
    for number, zones in enumerate(groups):
        members = {flow for flow, group in zip(flows, release.group_of_flow, strict=True) if group == number}
        rows = [row for row in cube.rows if row[0] in members]
        assert release.travellers is not None
        assert release.travellers[number] == people(rows) >= k
        assert release.trips[number] == len(rows)
        for flow, (tree, axis) in product(members, zip(cube.trees, range(3), strict=True)):
            assert zones[axis] in path(tree, flow[axis])
    assert not any(overlap(cube.trees, one, other) for one, other in combinations(groups, 2))
    hidden = matrix.flows.trips[release.suppressed].sum()
    assert release.trips.sum() + hidden == len(cube.rows)
    assert hidden <= limit * len(cube.rows)


def contents(release: Release) -> dict[str, Any]:
    found = {name: value for name, value in vars(release).items() if name not in (TIMING, "zone_numbers")}
    for name, zones, _ in release.axes:
        found[f"{name}s"] = zones.ids.tolist()
    return {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in found.items()}


@given(cube=cubes(max_zones=10, max_rows=40), data=st.data())
def test_row_order_does_not_matter(cube: Cube, data: st.DataObject) -> None:
    assume(people(list(cube.rows)) >= 2)
    other = Cube(cube.trees, tuple(data.draw(st.permutations(cube.rows))))
    method = ProductCut(promise=KAnonymity(k=2))
    assert contents(method.anonymise(cube.matrix())) == contents(method.anonymise(other.matrix()))


@given(cube=cubes(max_zones=10, max_rows=40))
def test_one_slot_of_all_time_is_as_if_there_were_no_time(cube: Cube) -> None:
    assume(people(list(cube.rows)) >= 2)
    timeless = Cube((*cube.trees[:2], {"now": None}), tuple(((*c[:2], "now"), p) for c, p in cube.rows))
    with_time = timeless.matrix()
    plain = ODMatrix(
        origins=with_time.origins,
        destinations=with_time.destinations,
        flows=flows_from_trips(
            *(np.repeat(codes, with_time.flows.trips) for _, codes in with_time.axes[:2]),
        ),
    )
    method = ProductCut(promise=KAnonymity(k=2, unit="trips"), time_weight=0.0)
    one, other = method.anonymise(with_time), method.anonymise(plain)
    assert [zones[:2] for zones in groups_of(one)] == groups_of(other)
    assert one.trips.tolist() == other.trips.tolist()


def busy_day() -> ODMatrix:
    """Return trips between two places: many in one morning hour, few at all other times."""
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    slots = np.array([8] * 12 + [9, 10, 15, 16, 30, 31])
    times, slot = np.unique(slots, return_inverse=True)
    ends = np.zeros(len(slots), dtype=np.int32)
    return ODMatrix.from_trips(tree, tree, ends, ends, times=time_hierarchy(times, 60), slot=slot)


def test_busy_hours_are_released_as_hours_and_quiet_ones_as_longer_times() -> None:
    release = ProductCut(promise=KAnonymity(k=2), suppression_limit=0).anonymise(busy_day())
    found = {zones[2]: trips for zones, trips in zip(groups_of(release), release.trips.tolist(), strict=True)}
    # No hour holds two of the other trips, but the rest of the morning, the afternoon and the next day do.
    assert found == {"1970-01-01/morning": 14, "1970-01-01/afternoon": 2, "1970-01-02/morning": 2}
    withheld = ProductCut(promise=KAnonymity(k=2), suppression_limit=0.4).anonymise(busy_day())
    assert groups_of(withheld)[0][2] == "1970-01-01T08"


def test_a_heavier_slot_buys_finer_times_with_coarser_places() -> None:
    dice = np.random.default_rng(5)
    tree = hierarchy_of(
        {"all": None, **{f"m{i}": "all" for i in range(4)}, **{f"t{i}": f"m{i % 4}" for i in range(16)}}
    )
    slots = time_hierarchy(np.arange(48), 60)
    codes = dice.integers(0, 16, (2, 3000))
    matrix = ODMatrix.from_trips(tree, tree, *codes, times=slots, slot=dice.integers(0, 48, 3000))
    lengths, places = [], []
    for weight in (0.0, 1.0, 100.0):
        release = ProductCut(promise=KAnonymity(k=10), time_weight=weight).anonymise(matrix)
        assert release.times is not None
        shares = release.trips / release.trips.sum()
        lengths.append(float((release.times.tiles[release.group_time] * shares).sum()))
        tiles_of = (
            release.origins.tiles[release.group_origin]
            + release.destinations.tiles[release.group_destination]
        )
        places.append(float((tiles_of * shares).sum()))
    assert lengths[0] > lengths[1] > lengths[2]
    assert places[0] < places[1] < places[2]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="weight of a slot"):
        ProductCut(time_weight=weight)


@pytest.mark.parametrize("method", [m for m in METHODS.values() if not m.handles_time], ids=lambda m: m.name)
def test_other_methods_refuse_time_and_name_the_one_that_knows_it(method: type[FlowMethod]) -> None:
    with pytest.raises(InputError, match=f"{method.name} does not know time.*productcut"):
        method(promise=KAnonymity(k=2)).anonymise(busy_day())


def test_the_weight_of_time_is_no_parameter_of_a_release_without_time() -> None:
    matrix = busy_day()
    assert ProductCut(promise=KAnonymity(k=2)).anonymise(matrix).parameters["time_weight"] == 1.0
    plain = ODMatrix.from_trips(matrix.origins, matrix.origins, *np.zeros((2, 5), dtype=np.int32))
    assert "time_weight" not in ProductCut(promise=KAnonymity(k=2)).anonymise(plain).parameters


def test_too_many_products_to_number_are_refused() -> None:
    matrix = busy_day()

    class Endless:
        def __len__(self) -> int:
            return 2**32

    axes = (Axis(Endless(), matrix.flows.origin),) * 2  # type: ignore[arg-type]
    with pytest.raises(InputError, match="63 bits"):
        find_products(matrix, KAnonymity(k=2, unit="trips"), SlotLoss(1.0), axes=axes)
