"""Releases whose zones are not the matrix's own: boxes, zones known by their ids, and noisy numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.flows import measures as oracle
from oracles.flows.measures import Given
from tripcloak.flows import measures as metrics
from tripcloak.flows.measures._kernels import sum_in_boxes
from tripcloak.flows.measures.comparison import ReleaseComparison
from tripcloak.flows.methods import Mondrian, ODkAnon
from tripcloak.flows.methods import boxed as boxes_of_methods
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import (
    BoxZones,
    Corners,
    H3Tiling,
    Hierarchy,
    Zones,
    bounding_boxes,
    box_zones,
    distinct_boxes,
    tile_centres,
    tile_extents,
)
from tripcloak.promises import DifferentialPrivacy, KAnonymity
from worlds.matrices import Case, cases, seeds
from worlds.releases import Drawn, drawn_releases

NOISE = DifferentialPrivacy(epsilon=1.0, unit="trip", mechanism="made up")


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@given(dice=seeds, n=st.integers(1, 70), boxes=st.integers(0, 12), sides=st.integers(1, 4))
def test_the_kernel_gives_what_a_look_at_every_point_gives(
    compiled: bool, dice: Random, n: int, boxes: int, sides: int
) -> None:
    reach = dice.choice([1, 4, 100])
    points = [[dice.randint(-reach, reach) for _ in range(sides)] for _ in range(n)]
    low = [[dice.randint(-reach, reach) for _ in range(sides)] for _ in range(boxes)]
    high = [[side + dice.randint(-1, 2 * reach) for side in box] for box in low]
    volume = [float(dice.randint(1, 64)) for _ in range(boxes)]
    cells = [float(dice.choice([1, 2, 16, 1024])) for _ in range(boxes)]
    spread = sum_in_boxes if compiled else sum_in_boxes.py_func
    found = spread(
        *(np.array(table, dtype=np.int32).reshape(-1, sides) for table in (points, low, high)),
        np.array(volume),
        np.array(cells),
    )
    assert found == pytest.approx(oracle.sum_in_boxes(points, low, high, volume, cells), rel=1e-12)


@st.composite
def boxed(draw: st.DrawFn) -> tuple[ODMatrix, Release]:
    """Return a release in boxes of any size that hold the tiles they stand for; they overlap at will."""
    case: Case = draw(cases(placed=True, max_rows=40, max_zones=12))
    assume(not case.has_weight or sum(row.weight for row in case.rows) > 0)
    dice, matrix = draw(seeds), case.matrix()
    groups = np.array([dice.randint(0, 3) for _ in range(matrix.n_flows)])
    hidden = np.array([dice.random() < 0.2 for _ in range(matrix.n_flows)])
    assume(not hidden.all())
    sides = [boxes_around(dice, tree, tile, groups) for tree, tile in matrix.axes]
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=NoFloor(),
        suppression_limit=1.0,
        origin_zone=sides[0][1][groups],
        destination_zone=sides[1][1][groups],
        suppressed=hidden,
        homogeneous=False,
        zones=(sides[0][0], sides[1][0]),
    )
    return matrix, release


class NoFloor(KAnonymity):
    """A promise under which every group is safe, so that releases of any shape can be measured."""

    def __init__(self) -> None:
        super().__init__(k=2, unit="trips")

    def safe(self, groups: Any) -> Any:
        """Return that all are."""
        return np.ones(len(groups), dtype=bool)


def boxes_around(dice: Random, tree: Hierarchy, tile: Any, groups: Any) -> tuple[BoxZones, Any]:
    """Return boxes around the tiles of every group, some of them larger than need be."""
    tight = bounding_boxes(tile_extents(tree), np.append(tile, [0] * 4), np.append(groups, range(4)), 4)
    larger = [np.array([dice.choice([0, 0, 1000, 2000]) for _ in range(4)]) for _ in tight]
    low = [side - more for side, more in zip(tight[:2], larger[:2], strict=True)]
    high = [side + more for side, more in zip(tight[2:], larger[2:], strict=True)]
    limits = (90_000_000, 180_000_000)
    low = [np.maximum(side, -limit) for side, limit in zip(low, limits, strict=True)]
    high = [np.minimum(side, limit) for side, limit in zip(high, limits, strict=True)]
    corners, row = distinct_boxes(Corners(*low, *high))
    # A tile said to be large makes boxes say that they have fewer tiles than lie in them.
    tile_km2 = dice.choice([0.01, 0.05, 2.0])
    return box_zones(tree, np.bincount(tile, minlength=tree.n_tiles) > 0, corners, tile_km2), row


def cells_of(matrix: ODMatrix) -> list[tuple[str, ...]]:
    columns = [tree.zones.ids[tile].tolist() for tree, tile in matrix.axes]
    return list(zip(*columns, strict=True))


def in_box(zones: BoxZones, row: int, tree: Hierarchy) -> set[str]:
    """Return the tiles whose centres lie between the corners that the name of a box tells."""
    south, west, north, east = (float(side) for side in str(zones.ids[row]).split("_")[1:])
    at = zip(
        tree.zones.ids[: tree.n_tiles].tolist(),
        tree.zones.lat.tolist(),
        tree.zones.lon.tolist(),
        strict=False,
    )
    return {
        tile for tile, lat, lon in at if south <= round(lat, 6) <= north and west <= round(lon, 6) <= east
    }


def given_by(matrix: ODMatrix, release: Release, volume: str) -> tuple[dict[Any, Fraction], list[Given]]:
    """Return the input and the groups of a release in boxes, for the oracle."""
    cells = cells_of(matrix)
    amounts = matrix.volume(volume).tolist()  # type: ignore[arg-type]
    original = {cell: Fraction(amount) for cell, amount in zip(cells, amounts, strict=True)}
    groups = []
    for group in range(release.n_groups):
        rows = [int(column[group]) for _, _, column in release.axes]
        held = [
            in_box(zones, row, tree)
            for (_, zones, _), row, (tree, _) in zip(release.axes, rows, matrix.axes, strict=True)
        ]
        sizes = [int(zones.tiles[row]) for (_, zones, _), row in zip(release.axes, rows, strict=True)]
        covers = frozenset(
            cell for cell in cells if all(tile in tiles for tile, tiles in zip(cell, held, strict=True))
        )
        groups.append(Given(covers, sizes[0] * sizes[1], Fraction(float(release.support(volume)[group]))))  # type: ignore[arg-type]
    return original, groups


@given(both=boxed(), data=st.data())
def test_boxes_are_rebuilt_on_the_pairs_of_tiles_in_them(
    both: tuple[ODMatrix, Release], data: st.DataObject
) -> None:
    matrix, release = both
    volume = data.draw(st.sampled_from([unit for unit in matrix.units if unit != "travellers"]))
    original, groups = given_by(matrix, release, volume)
    expected = oracle.fidelity(original, groups)
    compared = ReleaseComparison.of(matrix, release, volume)
    assert compared.reconstructed == pytest.approx([float(x) for x in expected.rebuilt.values()], rel=1e-12)
    found = metrics.measure(matrix, release, volume)
    for name, value in (("E", expected.loss), ("D", expected.shape), ("CPC", expected.common)):
        assert found[name] == (None if value is None else pytest.approx(value, abs=1e-12))


@given(both=boxed())
def test_the_tiles_of_boxes_are_counted_in_full_and_as_they_occur(both: tuple[ODMatrix, Release]) -> None:
    matrix, release = both
    occurring = [set(column) for column in zip(*cells_of(matrix), strict=True)]
    full, observed = 0, 0
    for group in range(release.n_groups):
        for (_, zones, column), (tree, _), occurs in zip(release.axes, matrix.axes, occurring, strict=True):
            row, trips = int(column[group]), int(release.trips[group])
            full += trips * int(zones.tiles[row])
            observed += trips * len(in_box(zones, row, tree) & occurs)  # type: ignore[arg-type]
    found = metrics.measure(matrix, release, "trips")
    assert found["G"] == pytest.approx(full / int(release.trips.sum()))
    assert found["G_observed"] == pytest.approx(observed / int(release.trips.sum()))


def test_boxes_around_single_tiles_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes_of_methods, "on_grid", lambda _, tight: tight)
    monkeypatch.setattr(boxes_of_methods, "tile_extents", lambda tree: Corners(*tile_centres(tree) * 2))
    tiling, dice = H3Tiling(9), np.random.default_rng(5)
    keys = tiling.encode(48.8 + dice.random(400) / 50, 2.3 + dice.random(400) / 50)
    tree = tiling.hierarchy(np.unique(keys))
    tile = tiling.tiles(keys, tree)
    matrix = ODMatrix.from_trips(tree, tree, np.tile(tile[:200], 2), np.tile(tile[200:], 2))
    release = Mondrian(promise=KAnonymity(k=2, unit="trips")).anonymise(matrix)
    found = metrics.measure(matrix, release)
    assert {name: found[name] for name in ("G", "G_observed", "E", "CPC", "S")} == {
        "G": 2.0, "G_observed": 2.0, "E": 0.0, "CPC": 1.0, "S": 0.0,
    }  # fmt: skip


@given(drawn=drawn_releases(), data=st.data())
def test_zones_are_known_by_their_ids(drawn: Drawn, data: st.DataObject) -> None:
    """A method may bring its own table of the same zones, in any order."""
    shuffled = drawn.release
    for name in ("origin", "destination"):
        zones: Zones = getattr(shuffled, f"{name}s")
        order = np.array(data.draw(st.permutations(range(len(zones)))))
        facts = {fact: getattr(zones, fact)[order] for fact in FACTS}
        group = np.argsort(order)[getattr(shuffled, f"group_{name}")]
        shuffled = replace(shuffled, **{f"{name}s": Zones(**facts), f"group_{name}": group})
    assert metrics.measure(drawn.matrix, shuffled) == metrics.measure(drawn.matrix, drawn.release)


FACTS = ("ids", "height", "tiles", "tiles_observed", "area_km2", "lat", "lon")


@given(drawn=drawn_releases(), dice=seeds)
def test_noisy_numbers_and_zones_nobody_was_in_are_measured_all_the_same(drawn: Drawn, dice: Random) -> None:
    assume(drawn.matrix.times is None)
    noisy = noisy_release(drawn, dice)
    before, groups = drawn.volume("trips"), []
    for number, trips in enumerate(noisy.trips.tolist()):
        names = [str(zones.ids[column[number]]) for _, zones, column in noisy.axes]
        held = [
            axis.tiles(name) if name in axis.tree else set()
            for axis, name in zip(drawn.axes, names, strict=True)
        ]
        covers = frozenset(cell for cell in product(*held) if cell in before)
        cells = 1 if not all(held) else len(held[0]) * len(held[1])
        groups.append(Given(covers, cells, Fraction(trips)))
    expected = oracle.fidelity(before, groups)
    found = metrics.measure(drawn.matrix, noisy)
    for name, value in (("E", expected.loss), ("D", expected.shape), ("CPC", expected.common)):
        assert found[name] == (None if value is None else pytest.approx(value, abs=1e-12))
    assert found["C_AVG"] is None
    assert found["S"] == pytest.approx(float(drawn.world("trips").lost / drawn.world("trips").total))


def noisy_release(drawn: Drawn, dice: Random) -> Release:
    """Return other numbers on the groups of a release, and groups beside them that hold no flow."""
    release = drawn.release
    zones, columns = [], []
    for name in ("origin", "destination"):
        own: Zones = getattr(release, f"{name}s")
        facts = {fact: np.append(getattr(own, fact), getattr(own, fact)[-1]) for fact in FACTS}
        facts["ids"] = np.append(own.ids, "elsewhere")
        facts["tiles_observed"] = np.append(own.tiles_observed, 0)
        zones.append(Zones(**facts))
        more = [dice.randrange(len(own) + 1) for _ in range(3)]
        columns.append(np.append(getattr(release, f"group_{name}"), more))
    trips = np.array([dice.randint(0, 9) for _ in columns[0]])
    return replace(
        release,
        promise=NOISE,
        origins=zones[0],
        destinations=zones[1],
        group_origin=columns[0],
        group_destination=columns[1],
        trips=trips,
        population=None,
        homogeneous=False,
    )


def test_a_zone_that_the_hierarchy_does_not_know_holds_no_tile_that_occurs() -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([1, 1, 1]))
    release = ODkAnon(promise=KAnonymity(k=3), suppression_limit=0).anonymise(matrix)
    known = metrics.measure(matrix, release)
    strange = replace(tree.zones, ids=np.array(["a", "b", "nowhere"]))
    unknown = metrics.measure(matrix, replace(release, origins=strange))
    assert (known["G_observed"], unknown["G_observed"]) == (3, 1)
    assert (unknown["E"], unknown["CPC"], unknown["D"]) == (2, 0, 2)
    assert unknown["top_flow_agreement"] == 0


def test_a_noisy_release_of_nothing_is_measured() -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([1, 1, 1]))
    none, release = np.empty(0, dtype=np.int32), ODkAnon(promise=KAnonymity(k=3)).anonymise(matrix)
    empty = {
        "group_origin": none,
        "group_destination": none,
        "trips": none,
        "group_of_flow": np.array([-1, -1]),
    }
    found = metrics.measure(matrix, replace(release, promise=NOISE, **empty))
    assert (found["E"], found["CPC"], found["S"], found["G"], found["D"]) == (1, 0, 1, None, None)


def test_boxes_beside_zones_of_a_tree_are_refused() -> None:
    places = {"lat": np.zeros(3), "lon": np.array([0.0, 0.1, 0.05])}
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1], **places)
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([1, 1, 1]))
    release = Mondrian(promise=KAnonymity(k=2)).anonymise(matrix)
    with pytest.raises(InputError, match="boxes on both axes"):
        metrics.cpc(matrix, replace(release, origins=tree.zones))
