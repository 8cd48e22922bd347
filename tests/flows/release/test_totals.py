"""Tables beside the flows, counted anew flow by flow from the private table, and read back from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from oracles.flows.kernels import Row, Tree
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release, manifest
from tripcloak.flows.release.bricks import (
    NONE,
    TablesWanted,
    Tiers,
    _ends,
    _height,
    _keys,
    _most_cells_first,
    _numbered,
    table_names,
)
from tripcloak.flows.release.laying import PARTS, _different, _Laying, _most_trips, lay_tables
from tripcloak.flows.release.reading import _with_tables
from tripcloak.flows.release.tables import groups_batches
from tripcloak.flows.release.totals import (
    LEVELS,
    SPACE,
    brick_names,
    counts_more,
    levels_as_published,
    levels_in_order,
    levels_table,
    names_of,
    not_counted,
    order_of,
    totals_as_published,
    totals_table,
    wanted_of,
)
from tripcloak.ground.errors import InputError
from tripcloak.promises import AllOf, KAnonymity
from worlds.matrices import Case, grid, hierarchy_of

NINE: Tree = {"all": None} | dict.fromkeys("xyz", "all")
NINE |= {f"{zone}{n}": zone for zone in "xyz" for n in (1, 2, 3)}
SIX: Tree = {"here": None} | dict.fromkeys("pq", "here")
SIX |= {f"{zone}{n}": zone for zone in "pq" for n in (1, 2, 3)}
K = 3
ODD = [("x1", "q1"), ("x2", "q1"), ("x3", "q2"), ("y1", "q3"), ("y2", "q1"), ("y1", "p2"), ("z1", "p1")]


def world(wanted: TablesWanted, *more: tuple[str, str, int]) -> tuple[ODMatrix, Release]:
    """Return flows of k trips, so that most zones are released, flows of one that are not, and tables."""
    tiles = [one for one in NINE if len(one) == 2]
    kept = [
        (o, d) for o, d in zip(tiles, ["p1", "p2", "p3", "p1", "q2", "q3", "q1", "p2", "q3"], strict=True)
    ]
    rows = [Row(*pair, trips=K + at) for at, pair in enumerate(kept)] + [Row(*pair, trips=1) for pair in ODD]
    rows += [Row(o, d, trips=n) for o, d, n in more]
    case = Case(trees=(NINE, SIX), rows=tuple(rows), has_trips=True, places=(grid(NINE), grid(SIX)))
    matrix = case.matrix()
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=K, unit="trips"),
        suppression_limit=0.9,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=matrix.flows.trips < K,
        homogeneous=True,
    )
    return matrix, replace(release, tables=lay_tables(matrix, release, wanted))


def above(tree: Tree, zone: str, tier: str) -> str:
    """Return the zone of a tier that a tile lies in."""
    if tier == "all":
        return "all"
    for _ in range(0 if tier == "own" else int(tier)):
        zone = tree[zone] or zone
    return zone


def recounted(matrix: ODMatrix, release: Release) -> Counter[tuple[str, ...]]:
    """Return the trips of every cell, from the table of which flow went where and was counted from where."""
    assert release.tables is not None
    tiers = [table.name.split(",") for table in release.tables.tables]
    rank = {"own": -1, "1": 1, "2": 2, "all": 99}
    cells: Counter[tuple[str, ...]] = Counter()
    for row in pa.concat_tables(groups_batches(matrix, release)).to_pylist():
        first = ["own", "own"] if row["counted_from"] is None else row["counted_from"].split(",")
        if row["counted_from"] is None and row["released_origin"] is None:
            continue
        for tier in tiers:
            if all(rank[a] <= rank[b] for a, b in zip(first, tier, strict=True)):
                ends = above(NINE, row["origin"], tier[0]), above(SIX, row["destination"], tier[1])
                cells[*tier, *ends] += row["trips"]
    return cells


WANTED = [
    TablesWanted(levels=(1,), margins=True),
    TablesWanted(levels=(1,)),
    TablesWanted(levels=(2, 1)),
    TablesWanted(margins=True),
]


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_every_cell_counts_the_flows_that_the_private_table_names(wanted: TablesWanted) -> None:
    matrix, release = world(wanted)
    assert release.tables is not None
    assert len(release.tables.laid_at)
    told = totals_table(matrix, release)
    assert told.column_names == [*LEVELS, *SPACE, "trips"]
    rows = [tuple(row.values()) for row in told.to_pylist()]
    assert {row[:4]: row[4] for row in rows} == recounted(matrix, release)
    place = {pair: at for at, pair in enumerate(order_of(release.tables))}
    assert rows == sorted(rows, key=lambda row: (place[row[:2]], row[2:4]))
    assert set(place) == set(table_names(release.tables.wanted))


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_zones_of_levels_are_those_that_occur_in_flows_and_tables(wanted: TablesWanted) -> None:
    # No flow of the second destination's zone is released, so that a table alone tells of it.
    matrix, release = world(wanted)
    assert release.tables is not None
    told = levels_table(matrix, release)
    if not wanted.levels:
        assert told is None
        return
    assert told is not None
    tiers = ["own", *(str(level) for level in sorted(wanted.levels))]
    rows = [(row["axis"], row["level"], row["zone"], row["parent"]) for row in told.to_pylist()]
    cells = totals_table(matrix, release).to_pylist()
    expected = []
    for axis, tree, groups in zip(
        SPACE, (NINE, SIX), (release.group_origin, release.group_destination), strict=True
    ):
        zones = (release.origins if axis == "origin" else release.destinations).ids[groups].tolist()
        for at, tier in enumerate(tiers):
            own = set(zones) if tier == "own" else set()
            own |= {row[axis] for row in cells if row[f"{axis}_level"] == tier}
            for zone in sorted(own):
                up = None
                if tier != tiers[-1]:
                    lift = int(tiers[at + 1]) - (0 if tier == "own" else int(tier))
                    up = above(tree, zone, str(lift))
                expected.append((axis, tier, zone, up))
    assert rows == sorted(expected, key=lambda row: (row[0] != "origin", tiers.index(row[1]), row[2]))
    again = levels_as_published(told.take(list(range(len(told)))[::-1]))
    assert levels_in_order(again, release.tables.wanted).equals(told)


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_tables_are_read_back_from_the_private_table(wanted: TablesWanted) -> None:
    matrix, release = world(wanted)
    assert release.tables is not None
    facts = manifest(matrix, release, dropped={}, tilings={})
    assert wanted_of(facts) == release.tables.wanted
    assert names_of(facts) == order_of(release.tables)
    groups = pa.concat_tables(groups_batches(matrix, release))
    # In whatever order its rows stand.
    shuffled = groups.take(np.random.default_rng(7).permutation(len(groups)))
    again = _with_tables(matrix, facts, replace(release, tables=None), shuffled).tables
    assert again is not None
    assert again.brick_of_flow.tolist() == release.tables.brick_of_flow.tolist()
    assert again.trips.tolist() == release.tables.trips.tolist()
    assert again.laid_at.tolist() == release.tables.laid_at.tolist()
    bare = {name: entry for name, entry in facts.items() if name != "tables"}
    assert wanted_of(bare) is None
    assert _with_tables(matrix, bare, replace(release, tables=None), groups).tables is None


def test_the_manifest_says_what_every_table_counts_and_what_it_does_not() -> None:
    matrix, release = world(WANTED[0])
    facts = manifest(matrix, release, dropped={}, tilings={})
    cells = recounted(matrix, release)
    for entry in facts["tables"]["counted"]:
        pair = (entry["origin_level"], entry["destination_level"])
        own = [trips for cell, trips in cells.items() if cell[:2] == pair]
        assert (entry["cells"], entry["trips"]) == (len(own), sum(own))
        assert entry["not_counted"] == not_counted(facts, sum(own))
    assert counts_more(facts)
    # A table of what is released alone counts no more than the flows.
    assert not counts_more({**facts, "released": max(e["trips"] for e in facts["tables"]["counted"])})
    assert not counts_more({name: entry for name, entry in facts.items() if name != "tables"})


def test_bricks_of_withheld_flows_are_called_by_their_cell() -> None:
    matrix, release = world(WANTED[0])
    tables = release.tables
    assert tables is not None
    names = brick_names(matrix, tables)
    seen = set()
    for flow, brick in enumerate(tables.brick_of_flow.tolist()):
        if brick < tables.n_groups:
            continue
        number = brick - tables.n_groups
        table = tables.tables[tables.laid_at[number]]
        for axis, tree, tier, zones, tiles in (
            ("origin", NINE, table.origin_tier, matrix.origins.zones.ids, matrix.flows.origin),
            (
                "destination",
                SIX,
                table.destination_tier,
                matrix.destinations.zones.ids,
                matrix.flows.destination,
            ),
        ):
            zone = above(tree, str(zones[tiles[flow]]), tier)
            assert names[axis][number] == f"{zone}, withheld before table {table.name}"
        seen.add(number)
    assert seen == set(range(len(tables.laid_at)))
    assert all(len(names[axis]) == len(tables.laid_at) for axis in SPACE)


@pytest.mark.parametrize(
    ("least", "most", "released", "trips", "told"),
    [
        (0, 100, 900, 900, (0, 100, "at most 10.0 % of the trips")),
        (10, 100, 900, 909, (1, 91, "between 0.1 and 9.1 % of the trips")),
        (10, 100, 900, 910, (0, 90, "at most 9.0 % of the trips")),
        (10, 100, 900, 999, (0, 1, "at most 0.1 % of the trips")),
        (10, 100, 900, 1000, (0, 0, "none of the trips")),
        (0, 0, 0, 0, (0, 0, "none of the trips")),
    ],
)
def test_what_is_not_counted_is_what_is_withheld_less_what_is_counted_more(
    least: int, most: int, released: int, trips: int, told: tuple[Any, ...]
) -> None:
    facts = {"released": released, "withheld": {"at_least": least, "at_most": most, "words": "some"}}
    assert tuple(not_counted(facts, trips).values()) == told
    silent = {"released": 9, "withheld": {"at_least": None, "at_most": None, "words": "nothing is told"}}
    assert not_counted(silent, 9) == silent["withheld"]


def test_tables_of_a_file_come_in_the_order_they_were_laid_in() -> None:
    told = pa.table(
        {
            "trips": pa.array([1, 2, 3, 4], pa.int32()),
            "more": [9, 9, 9, 9],
            "destination": ["q", "p", "p", "all"],
            "origin": ["x", "x", "y", "x"],
            "destination_level": ["1", "1", "1", "all"],
            "origin_level": ["1", "1", "1", "1"],
        }
    )
    ordered = totals_as_published(told, [("1", "all"), ("1", "1")])
    assert ordered.column_names == [*LEVELS, *SPACE, "trips"]
    assert ordered["trips"].to_pylist() == [4, 2, 1, 3]
    assert ordered.schema.field("trips").type == pa.int64()
    with pytest.raises(KeyError):
        totals_as_published(told, [("1", "1")])


# --- how withheld flows are collected, piece by piece ----------------------------------------------------


def test_pairs_of_zones_have_numbers_in_their_order() -> None:
    origin, destination = np.array([-1, -1, 0, 0, 7, 2**31 - 2]), np.array([-1, 5, -1, 0, 2**31 - 2, 3])
    keys = _keys(origin, destination)
    assert keys.tolist() == sorted(set(keys.tolist()))
    assert keys.min() > NONE
    assert [side.tolist() for side in _ends(keys)] == [origin.tolist(), destination.tolist()]


def test_tables_that_tell_more_apart_choose_first() -> None:
    # Four origins and two destinations: rows tell more apart than columns, and both stay together.
    of_groups = (
        (np.array([0, 1, 2, 3]), np.array([4, 4, 5, 5]), np.full(4, NONE)),
        (np.array([0, 0, 1, 1]), np.array([2, 2, 2, 2]), np.full(4, NONE)),
    )
    tables = [(2, 2), (1, 1), (2, 0), (0, 2), (1, 2), (2, 1)]
    assert _most_cells_first(tables, of_groups) == [(2, 0), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]


def test_no_zone_is_a_zone_of_its_own_when_flows_are_told_apart() -> None:
    trees: Any = [range(3), range(2)]
    pairs = [(o, d) for o in (-1, 0, 1, 2) for d in (-1, 0, 1)]
    numbers = _numbered(trees, [np.array(side) for side in zip(*pairs, strict=True)])
    assert len(set(numbers.tolist())) == len(pairs)


@pytest.mark.parametrize(("level", "known"), [(2, True), (3, False)])
def test_a_level_may_be_as_high_as_the_higher_tree(level: int, known: bool) -> None:
    low: Tree = {"all": None, "a": "all"}
    trees = [hierarchy_of(tree) for tree in (low, NINE)]
    for both in (trees, trees[::-1]):
        if known:
            assert _height(both, level) == level
        else:
            with pytest.raises(InputError, match="above the whole"):
                _height(both, level)


def laying(*more: tuple[str, str, int], k: int = K, **wanted: Any) -> _Laying:
    matrix, release = world(TablesWanted(**wanted), *more)
    return _Laying(matrix, release, Tiers.of(matrix, release, TablesWanted(**wanted)))


def test_tables_are_laid_alone_but_for_sums_over_both_sides() -> None:
    own = laying(levels=(1,), margins=True)
    names = [tuple(own.tiers.names[tier] for tier in table) for table in own.tiers.tables]
    steps = [tuple(names[at] for at in step) for step in own._steps()]
    assert sorted(steps) == sorted(
        [
            (("1", "1"),),
            (("own", "all"), ("all", "own")),
            (("1", "all"), ("all", "1")),
            (("all", "all"),),
        ]
    )
    assert list(laying(levels=(1,))._steps()) == [(0,)]


def test_a_brick_takes_from_three_cells_and_leaves_room_in_all_but_one() -> None:
    assert PARTS == 3
    own = laying(levels=(1,))
    flows = np.arange(len(own.first))
    for parts, trips, room in ((2, [1, 1], False), (3, [1, 1, 1], True), (3, [2, 1, 1], True)):
        own.trips = np.array(trips + [0] * (len(flows) - parts))
        own.codes = [np.arange(len(flows)), np.arange(len(flows))]
        some = flows[:parts]
        assert own._leaves_room(0, some, np.zeros(parts, np.int64), 1).tolist() == [room]
    # Two of three cells hold four trips at most, where k = 3 are of trips: five are too many.
    own.trips[:3] = [2, 2, 1]
    assert own._leaves_room(0, flows[:3], np.zeros(3, np.int64), 1).tolist() == [False]
    # The cells of every finer table count, those of coarser ones do not.
    own.trips[:3] = 1
    own.codes = [np.arange(len(flows)), np.arange(len(flows)), np.zeros(len(flows), np.int64)]
    assert own._leaves_room(1, flows[:3], np.zeros(3, np.int64), 1).tolist() == [True]
    assert own._leaves_room(2, flows[:3], np.zeros(3, np.int64), 1).tolist() == [False]


def test_codes_are_told_apart_group_by_group() -> None:
    assert _different(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0]), 2).tolist() == [2, 1]
    assert _different(np.array([1, 1]), np.array([0, 0]), 3).tolist() == [0, 1, 0]
    assert _different(np.zeros(0, np.int64), np.zeros(0, np.int64), 2).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("units", "once", "most"),
    [
        ({"trips": 5}, False, 4),
        ({"travellers": 5}, False, None),
        ({"travellers": 5}, True, 4),
        ({"travellers": 7, "trips": 5}, False, 4),
        ({"travellers": 5, "population": 2}, False, None),
        ({"trips": 5, "population": 2}, False, 4),
    ],
)
def test_a_cell_that_is_not_told_holds_fewer_trips_than_k(
    units: dict[Any, int], once: bool, most: int | None
) -> None:
    matrix: Any = SimpleNamespace(each_trip_is_a_person=once)
    promise = AllOf(promises=tuple(KAnonymity(k=k, unit=unit) for unit, k in units.items()))
    assert _most_trips(matrix, promise) == most


def test_of_three_ways_to_share_flows_that_is_taken_which_loses_least_on_the_worse_side() -> None:
    own = laying(margins=True)
    ways = {"rows": [9, 0], "columns": [0, 8], "shared": [6, 7]}
    lost = {name: tuple(numbers) for name, numbers in ways.items()}
    tried: list[str] = []

    def lay(first: Any, at: int, among: Any = None) -> Any:
        return f"{first}{at}" if isinstance(first, str) else f"{at}"

    def of(first: str, at: int) -> int:
        name = {"01": "rows", "10": "columns", "s": "shared"}[first]
        tried.append(name)
        return lost[name][at]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Laying, "_lay", lambda self, first, at, among=None: lay(first, at))
        patch.setattr(_Laying, "_shared", lambda self, rows, columns: "s")
        patch.setattr(_Laying, "_lost", lambda self, first, at: of(first, at))
        assert str(own._balanced(0, 1)) == "s"
        lost["columns"] = (0, 7)
        assert str(own._balanced(0, 1)) == "10"
        lost["rows"] = (6, 0)
        assert str(own._balanced(0, 1)) == "01"
    assert set(tried) == set(ways)


def test_a_level_is_one_of_the_tiling_of_origins() -> None:
    # Of H3 levels are resolutions, of which a tree of resolution 9 has none above 0 and below 9 less 2.
    h3 = SimpleNamespace(name="h3:9", zones=SimpleNamespace(height=np.array([0, 9])))
    other = SimpleNamespace(name="tree", zones=SimpleNamespace(height=np.array([0, 2])))
    trees: Any = [h3, other]
    assert _height(trees, 7) == 2
    with pytest.raises(InputError, match="level 10 is above the whole of tree"):
        _height(trees[::-1], 10)


def test_each_flow_goes_to_the_smaller_of_its_two_sums_that_is_safe() -> None:
    own = laying(margins=True)
    own.first, own.trips = np.full(5, NONE), np.array([4, 4, 1, 2, 3])
    # Rows are 8, 1, and one that is not safe; columns 5 of the first and third flow, 2, and 3.
    groups = {
        0: (np.arange(5), np.array([0, 0, 1, 2, 2]), np.array([True, True, False])),
        1: (np.array([0, 2, 3, 4]), np.array([0, 0, 1, 2]), np.array([True, True, False])),
    }
    called: list[tuple[Any, ...]] = []

    def lay(first: Any, at: int, among: Any = None) -> Any:
        called.append(("lay", at, None if among is None else among.tolist()))
        return first

    own._groups = lambda first, at, among=None: groups[at]  # type: ignore[method-assign]
    own._lay = lay  # type: ignore[method-assign]
    own._joined = lambda first, at: called.append(("join", at)) or first  # type: ignore[method-assign,func-returns-value]
    own._shared(0, 1)
    to_rows = [False, True, True, False, True]
    assert called == [
        ("lay", 0, to_rows),
        ("lay", 1, [not one for one in to_rows]),
        ("join", 0),
        ("join", 1),
        ("lay", 0, None),
        ("lay", 1, None),
    ]


def test_what_is_left_over_joins_the_brick_of_its_cell_and_of_no_other() -> None:
    own = laying(margins=True)
    own.cells = [np.array([7, 7, 8, NONE, NONE, 9]), np.array([1, 1, 1, 1, 1, 1])]
    first = np.array([0, NONE, NONE, 0, NONE, 1], dtype=np.int32)
    assert own._joined(first, 0).tolist() == [0, 0, NONE, 0, NONE, 1]
    assert own._joined(first, 1).tolist() == [0, 1, 1, 0, 1, 1]


def test_what_is_lost_to_a_table_is_counted_in_none_that_is_finer() -> None:
    own = laying(levels=(1,), margins=True)
    names = [tuple(own.tiers.names[tier] for tier in table) for table in own.tiers.tables]
    fine, rows, whole = (names.index(name) for name in (("1", "1"), ("1", "all"), ("all", "all")))
    own.trips = np.array([1, 2, 4, 8])
    first = np.array([fine, rows, whole, NONE])
    assert [own._lost(first, at) for at in (fine, rows, whole)] == [14, 12, 8]
