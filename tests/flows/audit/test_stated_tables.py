"""Tables beside the flows, as a manifest states them, and the levels that zones are lifted to."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import h3
import numpy as np
import pytest

from tripcloak.flows.audit.box_grid import STEPS, longitude_step, right_step, tells_nobody, tile_extent
from tripcloak.flows.audit.boxes import MICRO, Box
from tripcloak.flows.audit.totals import StatedTables, _lifted_cells, _shared, _tops, counts_more, read_tables
from tripcloak.ground.rulebook import BrokenPart

TILE = h3.latlng_to_cell(48.86, 2.34, 9)


def table(origin: Any, destination: Any, trips: int = 10) -> dict[str, Any]:
    told = {"origin_level": origin, "destination_level": destination, "cells": 1, "trips": trips}
    return {**told, "not_counted": 0}


def told(**other: Any) -> Any:
    """Return what stands in for a release: its manifest, and that it is on a grid without time."""
    entry = {"levels": [8, 6], "margins": False, "counted": [table(8, 8), table(6, 6)], **other}
    return case(entry)


def case(entry: Any, *, grid: bool = True, slot: int | None = None) -> Any:
    facts = {"tables": entry, "released": 10}
    return SimpleNamespace(facts=facts, promise=SimpleNamespace(grid=grid, slot=slot))


def test_what_is_stated_is_read() -> None:
    stated = read_tables(told())
    assert stated is not None
    assert (stated.levels, stated.margins, stated.timed) == ((8, 6), False, False)
    assert stated.tiers == ("own", "8", "6", "all")
    assert read_tables(case(None)) is None
    heights = {"levels": [0, 1], "margins": False, "counted": [table(0, 0), table(1, 1)]}
    assert read_tables(case(heights, grid=False)) is not None
    slotted = {**heights, "counted": [table("own", "own"), table(0, 0), table(1, 1)]}
    timed = read_tables(case(slotted, grid=False, slot=60))
    assert timed is not None
    assert timed.timed
    own, zero, one = ("own", "own"), ("0", "0"), ("1", "1")
    assert list(timed.steps()) == [(own, zero), (zero, one)]


SIDES = [table("own", "all"), table("all", "own"), table("all", "all")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"levels": [6, 8]},
        {"levels": [8, 8, 6]},
        {"levels": [8.0, 6], "counted": [table(8.0, 8.0), table(6, 6)]},
        {"levels": [8, -1], "counted": [table(8, 8), table(-1, -1)]},
        {"levels": "86"},
        {"levels": (8, 6)},
        {"margins": 0},
        {"levels": [], "counted": []},
        {"counted": {}},
        {"counted": [8]},
        {"counted": [{**table(8, 8), "more": 1}, table(6, 6)]},
        {"counted": [table(8, 8)]},
        {"counted": [table(8, 8), table(8, 8), table(6, 6)]},
        {"counted": [table(6, 6), table(8, 8)]},
        {"counted": [table(8, 8), table(6, 6), *SIDES]},
        {"more": 1},
    ],
)
def test_other_tables_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BrokenPart, match="'tables"):
        read_tables(told(**wrong))


def test_an_entry_that_is_no_table_is_refused() -> None:
    with pytest.raises(BrokenPart, match="'tables'"):
        read_tables(case(["levels", "margins", "counted"]))


def test_margins_alone_are_sums_over_both_sides() -> None:
    stated = read_tables(case({"levels": [], "margins": True, "counted": SIDES}))
    assert stated is not None
    assert stated.expected == (("own", "all"), ("all", "own"), ("all", "all"))
    assert list(stated.steps()) == [
        (("own", "own"), ("own", "all")),
        (("own", "own"), ("all", "own")),
        (("own", "all"), ("all", "all")),
        (("all", "own"), ("all", "all")),
    ]


def test_the_whole_comes_last_and_a_finer_table_first() -> None:
    wrong = [SIDES[2], *SIDES[:2]]
    with pytest.raises(BrokenPart, match="counted"):
        read_tables(case({"levels": [], "margins": True, "counted": wrong}))
    assert read_tables(case({"levels": [], "margins": True, "counted": [SIDES[1], SIDES[0], SIDES[2]]}))


def test_all_tables_of_levels_and_margins() -> None:
    stated = StatedTables((8,), True, True, ())
    inner = (("own", "own"), ("8", "8"))
    sides = (("own", "all"), ("all", "own"), ("8", "all"), ("all", "8"))
    assert stated.expected == (*inner, *sides, ("all", "all"))
    assert StatedTables((8,), True, False, ()).expected == (inner[1], *sides, ("all", "all"))
    assert stated.finer(("own", "8"), ("8", "8"))
    assert not stated.finer(("8", "own"), ("own", "8"))


def test_a_step_leads_to_the_next_table_and_not_past_it() -> None:
    stated = read_tables(told())
    assert stated is not None
    own, eight, six = ("own", "own"), ("8", "8"), ("6", "6")
    assert list(stated.steps()) == [(own, eight), (eight, six)]


def test_a_table_that_counts_more_is_one_of_other_trips() -> None:
    assert not counts_more(told())
    assert counts_more(told(counted=[table(8, 8), table(6, 6, trips=11)]))
    assert not counts_more(case(None))


def test_two_tiles_share_the_finest_cell_that_holds_both() -> None:
    assert _shared(TILE, TILE) == 9
    near = sorted(h3.cell_to_children(h3.cell_to_parent(TILE, 8), 9))
    assert _shared(near[0], near[-1]) == 8
    far = sorted(h3.cell_to_children(h3.cell_to_parent(TILE, 0), 1))
    assert _shared(h3.cell_to_center_child(far[0], 9), h3.cell_to_center_child(far[-1], 9)) == 0


def test_a_root_is_a_resolution_a_cell_or_what_covers_the_tiles_of_a_base_cell() -> None:
    base = h3.cell_to_parent(TILE, 0)
    near = sorted(h3.cell_to_children(h3.cell_to_parent(TILE, 8), 9))
    assert _tops("h3:9/root=5", [TILE]) == {"": 5}
    assert _tops("h3:9/root=12", [TILE]) == {"": 12}
    assert _tops(f"h3:9/root={h3.cell_to_parent(TILE, 4)}", [TILE]) == {"": 4}
    assert _tops(f"h3:9/root={base}", [TILE]) == {"": 0}
    assert _tops("h3:9", near) == {base: 8}
    assert _tops("h3:9", [near[1], near[0], near[2]]) == {base: 8}
    other = h3.latlng_to_cell(-33.9, 151.2, 9)
    assert _tops("h3:9", [TILE, other]) == {base: 9, h3.cell_to_parent(other, 0): 9}


def lift(zones: list[str], tiles: list[str], levels: tuple[int, ...], spec: str) -> dict[int, dict[str, str]]:
    stands: Any = SimpleNamespace(promise=SimpleNamespace(spec=spec))
    return _lifted_cells(stands, zones, tiles, levels)


def test_a_base_cell_is_the_highest_and_tiles_of_one_may_share_a_lower_one() -> None:
    base = h3.cell_to_parent(TILE, 0)
    assert lift([base, f"{base}/0236"], [], (0,), "h3:2")[0] == {base: base, f"{base}/0236": base}
    near = sorted(h3.cell_to_children(h3.cell_to_parent(TILE, 8), 9))
    assert lift([TILE], near, (0,), "h3:9")[0] == {TILE: h3.cell_to_parent(TILE, 8)}


def test_zones_are_lifted_to_a_level_and_no_higher_than_the_root() -> None:
    parent = {at: h3.cell_to_parent(TILE, at) for at in range(9)}
    union = f"{parent[7]}/12"
    zones = [TILE, parent[7], union, "world"]
    lifted = lift(zones, [], (8, 7, 5), "h3:9/root=6")
    assert lifted[8] == {TILE: parent[8], parent[7]: parent[7], union: union, "world": "world"}
    assert lifted[7] == {TILE: parent[7], parent[7]: parent[7], union: parent[7], "world": "world"}
    assert lifted[5] == {TILE: parent[6], parent[7]: parent[6], union: parent[6], "world": "world"}


@pytest.mark.parametrize(
    ("spec", "degrees", "step"),
    [
        ("quadtree:4", 0.0, 10),
        ("quadtree:4", 0.00001 / 3, 10),
        ("quadtree:4", 0.0000101 / 3, 20),
        ("quadtree:4", 0.0000201 / 3, 50),
        ("quadtree:4", 0.0000501 / 3, 100),
        ("quadtree:4", 500.0 / 3, 500_000_000),
        ("quadtree:4", 999.0, 500_000_000),
        ("file:a", 999.0, 1000),
    ],
)
def test_a_step_is_the_first_as_wide_as_three_tiles(spec: str, degrees: float, step: int) -> None:
    assert right_step(spec, degrees) == step
    assert len(STEPS) == 24


@pytest.mark.parametrize(
    ("latitude", "step", "wide"),
    [
        (0, 50, 50),
        (0, 20, 20),
        (0, 30, 20),
        (60, 50, 100),
        (-60, 50, 100),
        (90, 50, 500_000_000),
        (45, 100, 100),
    ],
)
def test_a_step_of_longitude_is_two_thirds_as_wide_or_more(latitude: int, step: int, wide: int) -> None:
    """At 60 degrees it takes twice as many: 4/3 of 50 lie between 50 and 100."""
    box = Box(min(latitude, 0) * MICRO, 0, max(latitude, 0) * MICRO, 0)
    assert longitude_step(box, step) == wide


def test_a_box_over_a_grid_lies_on_its_step_and_on_no_wider_one_alone() -> None:
    assert tells_nobody(Box(20, 20, 40, 40), 20, None)
    assert not tells_nobody(Box(10, 20, 40, 40), 20, None)


def test_a_cell_of_h3_is_as_wide_as_the_root_of_its_share_of_the_globe() -> None:
    for resolution in range(16):
        wide = math.degrees(math.sqrt(4 * math.pi / h3.get_num_cells(resolution)))
        assert right_step(f"h3:{resolution}", 0.0) == right_step("quadtree:4", wide)


def tiles(*corners: tuple[int, int, int, int]) -> Any:
    """Return tiles of a file by south, west, north and east."""
    return np.array(corners).T


THREE = ((2000, 5000, 2300, 5300), (2300, 5300, 2700, 5700), (2700, 5700, 3000, 6000))


def test_every_edge_fits_three_tiles_that_lie_in_the_box() -> None:
    """Latitudes from 0.002 to 0.003 degrees, longitudes from 0.005 to 0.006: the sides are told apart."""
    box = Box(2000, 5000, 3000, 6000)
    assert tells_nobody(box, 1000, tiles(*THREE))
    assert tells_nobody(box, 1000, tiles(THREE[0], (9000, 9000, 9100, 9100)))
    for side, (inner, outer) in enumerate(((2000, 1999), (5000, 4999), (3000, 3001), (6000, 6001))):
        for at, right in ((inner, True), (outer, False)):
            moved = [list(tile) for tile in THREE]
            moved[1][side] = at
            assert tells_nobody(box, 1000, tiles(*map(tuple, moved))) == right
    four = (*THREE, (9000, 9000, 9100, 9100))
    assert tells_nobody(box, 1000, tiles(*four))
    assert not tells_nobody(box, 1000, tiles(*THREE[:2], *four[3:]))


def test_a_wide_box_must_hide_each_of_its_edges() -> None:
    """Ten steps long: two tiles end near its north, three near every other edge."""
    box = Box(0, 0, 10_000, 1000)
    low = [(at, 0, at + 300, 1000) for at in (0, 300, 600)]
    high = [(10_000 - at, 0, 10_000, 1000) for at in (300, 600, 900)]
    assert tells_nobody(box, 1000, tiles(*low, *high))
    assert not tells_nobody(box, 1000, tiles(*low, *high[:2]))


SQUARE = {"type": "Polygon", "coordinates": [[[1, 2], [1.5, 2], [1.5, 4], [1, 4], [1, 2]]]}
WIDE = {"type": "Polygon", "coordinates": [[[1, 2], [5, 2], [5, 4], [1, 4], [1, 2]]]}
PARTED = {
    "type": "MultiPolygon",
    "coordinates": [
        [[[179, 2], [180, 2], [180, 3], [179, 3], [179, 2]]],
        [[[-180, 1.5], [-177, 1.5], [-177, 2.5], [-180, 2.5], [-180, 1.5]]],
    ],
}


@pytest.mark.parametrize(
    ("outline", "point", "area", "extent"),
    [
        (SQUARE, (3.0, 1.2), 1.0, (2.0, 1.0, 4.0, 1.5, 2.0)),
        (WIDE, (3.0, 1.2), 1.0, (2.0, 1.0, 4.0, 5.0, 4.0)),
        (SQUARE, (1.0, 0.5), 1.0, (1.0, 0.5, 4.0, 1.5, 2.0)),
        (SQUARE, (5.0, 2.5), 1.0, (2.0, 1.0, 5.0, 2.5, 2.0)),
        (PARTED, (2.5, 179.5), 1.0, (1.5, -180.0, 3.0, 180.0, 4.0)),
        (SQUARE, (3.0, 1.2), float("nan"), (3.0, 1.2, 3.0, 1.2, 0.0)),
        (None, (3.0, 1.2), 1.0, (3.0, 1.2, 3.0, 1.2, 0.0)),
    ],
)
def test_how_far_a_tile_reaches(outline: Any, point: Any, area: float, extent: tuple[float, ...]) -> None:
    *sides, longer = tile_extent(outline, *point, area)
    assert [side / MICRO for side in sides] == pytest.approx(list(extent[:4]), abs=1e-9)
    assert longer == pytest.approx(extent[4])


def test_the_sides_of_a_tile_are_rounded_outwards() -> None:
    corner = 1.0000004
    ring = [
        [corner, corner],
        [2.0000004, corner],
        [2.0000004, 2.0000004],
        [corner, 2.0000004],
        [corner, corner],
    ]
    found = tile_extent({"type": "Polygon", "coordinates": [ring]}, 1.5, 1.5, 1.0)
    assert found[:4] == (1_000_000, 1_000_000, 2_000_001, 2_000_001)
