"""Tables beside the flows are sums over safe bricks, and nothing about few people follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.differencing import exposed_sets
from oracles.flows.kernels import Row, Tree
from oracles.suppression import Cell, least, protected, small_cells, solved, suppressed
from tripcloak.flows.methods.method import all_in_one
from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.release import Release, build_release
from tripcloak.flows.release.bricks import NONE, Tables, TablesWanted, table_names
from tripcloak.flows.release.laying import lay_tables, read_tables
from tripcloak.flows.release.publication import publication
from tripcloak.flows.release.totals import order_of
from tripcloak.ground.errors import InputError
from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.promises import AllOf, KAnonymity, KMAnonymity, LDiversity, Promise
from tripcloak.promises.hidden import HiddenChoices
from worlds.matrices import Case, cases

K = 3
NINE: Tree = {"all": None} | dict.fromkeys("xyz", "all")
NINE |= {f"{zone}{n}": zone for zone in "xyz" for n in (1, 2, 3)}


def cut_at(matrix: ODMatrix, promise: Promise, height: int, homogeneous: bool = True) -> Release | None:
    """Return the release in which every tile is lifted to one height and what is not safe is withheld."""
    zones = [tree.lift(height)[tile] for tree, tile in matrix.axes]
    groups = group_flows(matrix, *zones)
    assert groups is not None
    hidden = ~promise.safe(groups)[groups.of_flow]
    if hidden.all():
        return None
    return build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=promise,
        suppression_limit=0.99,
        origin_zone=zones[0],
        destination_zone=zones[1],
        suppressed=hidden,
        homogeneous=homogeneous,
    )


def told(case: Case, release: Release, tables: Tables) -> list[Disclosure]:
    """Return what the flows and all tables tell of the rows."""
    matrix, columns = case.matrix(), case.columns
    flow = matrix.find(columns["origin"], columns["destination"])
    weight = columns.get("trips", np.ones(len(flow), dtype=np.int64))
    record = np.arange(1, len(flow) + 1, dtype=np.uint64)
    people = "travellers" in release.promise.thresholds and case.has_person
    person = record
    if people:
        known = columns["person"] >= 0
        person = np.where(known, columns["person"] + 1000, record).astype(np.uint64)
    groups = [release.group_of_flow[flow]]
    for table in tables.tables:
        groups.append(np.append(table.cell_of_brick, NONE)[tables.brick_of_flow[flow]])
    sums = [release.trips, *(table.summed(tables.trips) for table in tables.tables)]
    return [
        Disclosure(
            name=str(number),
            record=record,
            person=person,
            group=group.astype(np.int32),
            trips=trips,
            weight=weight,
            k=int(release.promise.k or 0),
            counted="travellers" if people else "trips",
        )
        for number, (group, trips) in enumerate(zip(groups, sums, strict=True))
    ]


@given(data=st.data())
def test_every_table_is_of_safe_bricks_and_the_attack_finds_nothing(data: st.DataObject) -> None:
    case = data.draw(cases())
    matrix = case.matrix()
    units = [unit for unit in case.units if unit != "population"]
    k = data.draw(st.integers(2, 5))
    promise = KAnonymity(k=k, unit=data.draw(st.sampled_from(units))).resolve(matrix)
    assume(all_in_one(matrix, promise))
    release = cut_at(matrix, promise, data.draw(st.integers(0, 2)), data.draw(st.integers(0, 4)) > 0)
    assume(release is not None)
    assert release is not None
    highest = max(int(tree.zones.height[-1]) for tree, _ in matrix.axes)
    levels = tuple(data.draw(st.lists(st.integers(0, highest), unique=True, max_size=2)))
    wanted = TablesWanted(levels=levels, margins=data.draw(st.booleans()))
    assume(wanted)
    tables = lay_tables(matrix, release, wanted)
    held_to_bricks(matrix, release, tables, promise)
    facts = attack(told(case, release, tables))
    assert facts.complete
    assert not len(facts)
    again = read_tables(matrix, release, wanted, order_of(tables), tables.first_table)
    assert np.array_equal(again.brick_of_flow, tables.brick_of_flow)
    assert [one.summed(again.trips).tolist() for one in again.tables] == [
        one.summed(tables.trips).tolist() for one in tables.tables
    ]


def held_to_bricks(matrix: ODMatrix, release: Release, tables: Tables, promise: Promise) -> None:
    """Fail unless bricks are disjoint and safe, and each table counts whole ones, all that lie below it."""
    brick = tables.brick_of_flow
    assert np.array_equal(brick[~release.suppressed], release.group_of_flow[~release.suppressed])
    zones = np.append(np.arange(len(tables.trips)), NONE)[brick]
    groups = group_flows(matrix, zones, np.zeros_like(zones), keep=brick != NONE)
    assert groups is not None
    assert promise.safe(groups).all()
    assert groups.support("trips").tolist() == tables.trips.tolist()
    if not release.homogeneous:
        assert len(tables.laid_at) == 0
    tiers = order_of(tables)
    assert sorted(tiers) == sorted(table_names(tables.wanted))
    order = {"own": -1, "all": 99} | {str(one): at for at, one in enumerate(tables.wanted.levels)}
    for at, table in enumerate(tables.tables):
        assert (table.origin_tier, table.destination_tier) == tiers[at]
        below = [
            all(order[a] <= order[b] for a, b in zip(tiers[first], tiers[at], strict=True))
            for first in tables.laid_at.tolist()
        ]
        counted = table.cell_of_brick != NONE
        assert counted.tolist() == [True] * release.n_groups + below
        # All flows of a brick lie in the zones of its cell.
        for flow in np.flatnonzero(np.append(counted, False)[brick]):
            cell = table.cell_of_brick[brick[flow]]
            for zone, (tree, tile) in zip(
                (table.origin[cell], table.destination[cell]), matrix.axes, strict=True
            ):
                assert zone == NONE or tile[flow] in tree.members(zone)


@given(data=st.data())
def test_brute_force_over_all_combinations_finds_nothing(data: st.DataObject) -> None:
    tiny: Tree = {"all": None, "ab": "all", "a": "ab", "b": "ab", "c": "all"}
    tiles = st.sampled_from("abc")
    rows = data.draw(
        st.lists(st.builds(Row, tiles, tiles, person=st.integers(0, 5)), min_size=6, max_size=16)
    )
    case = Case(trees=(tiny, tiny), rows=tuple(rows), has_person=True)
    matrix = case.matrix()
    promise = KAnonymity(k=2, unit="travellers").resolve(matrix)
    release = cut_at(matrix, promise, 0)
    assume(release is not None)
    assert release is not None
    tables = lay_tables(matrix, release, TablesWanted(levels=(1,), margins=True))
    all_of_them = told(case, release, tables)
    # A few numbers at a time: all combinations of more cannot be tried.
    few = sorted(all_of_them, key=lambda one: one.n_groups)[:4]
    assume(sum(one.n_groups for one in few) <= 9)
    assert exposed_sets(few, 2, 1) == set()


def cells_of(matrix: ODMatrix, release: Release, tables: Tables) -> tuple[list[Cell], list[list[Cell]]]:
    """Return the published cells as the flows they count, and the cells of the true tables."""
    told = [release.group_of_flow]
    told += [np.append(one.cell_of_brick, NONE)[tables.brick_of_flow] for one in tables.tables]
    published = {
        frozenset(np.flatnonzero(cell == at).tolist()) for cell in told for at in set(cell.tolist()) - {NONE}
    }
    true = [[frozenset([flow]) for flow in range(matrix.n_flows)]]
    for table in tables.tables:
        zones = [
            np.zeros_like(tile) if tier == "all" else tree.lift(0 if tier == "own" else int(tier))[tile]
            for tier, (tree, tile) in zip(
                (table.origin_tier, table.destination_tier), matrix.axes, strict=True
            )
        ]
        pairs = list(zip(*(zone.tolist() for zone in zones), strict=True))
        true.append(
            [frozenset(at for at, one in enumerate(pairs) if one == pair) for pair in sorted(set(pairs))]
        )
    return sorted(published, key=sorted), true


@settings(max_examples=6)
@given(data=st.data())
def test_another_attack_finds_nothing_and_never_fewer_cells_are_protected_than_by_suppression(
    data: st.DataObject,
) -> None:
    tiles = st.sampled_from([tile for tile in sorted(NINE) if len(tile) == 2][:6])
    trips = st.sampled_from([1, 1, 2, 3, 6, 9])
    flows = data.draw(st.dictionaries(st.tuples(tiles, tiles), trips, min_size=8, max_size=12))
    k = data.draw(st.integers(2, 5))
    rows = tuple(Row(*pair, trips=n) for pair, n in flows.items())
    matrix = Case(trees=(NINE, NINE), rows=rows, has_trips=True).matrix()
    release = cut_at(matrix, KAnonymity(k=k, unit="trips").resolve(matrix), 0)
    assume(release is not None)
    assert release is not None
    # Flat and tiered.
    for levels in ((), (1,)):
        tables = lay_tables(matrix, release, TablesWanted(levels=levels, margins=True))
        published, true = cells_of(matrix, release, tables)
        each = matrix.flows.trips.tolist()
        small = small_cells(true, each, k)
        ours, (_, theirs) = protected(published, small, each, k), suppressed(true, each, k)
        assert ours == small >= theirs
        assert not any(solved(published, cell, len(each)) for cell in small)


def test_the_other_attack_finds_what_true_totals_would_tell() -> None:
    # Two origins, k = 3: flows of four and two, and of five and one, and what each origin has together.
    each, rows = [4, 2, 5, 1], [frozenset([0, 1]), frozenset([2, 3])]
    flows = [frozenset([flow]) for flow in range(4)]
    small = small_cells([flows, rows], each, 3)
    assert small == {flows[1], flows[3]}
    assert least([flows[0], flows[2], *rows], flows[1], each, 2) == 2
    assert solved([flows[0], flows[2], *rows], flows[1], 4)
    assert protected([flows[0], flows[2], *rows], small, each, 3) == set()
    assert protected([flows[0], flows[2]], small, each, 3) == small
    # Cell suppression would hide the totals, or the flows beside.
    left, safe = suppressed([flows, rows], each, 3)
    assert safe == small
    assert len(left) == 2


def spread(*cells: tuple[str, str, int], person: bool = False) -> ODMatrix:
    """Return a matrix of nine tiles: k trips inside each of the nine, so that all are released, and more."""
    rows = [
        Row(tile, tile, person=at if person else -1)
        for tile in sorted(NINE)[1:]
        if len(tile) == 2
        for at in range(K)
    ]
    rows += [Row(o, d, person=100 + at if person else -1) for o, d, n in cells for at in range(n)]
    return Case(trees=(NINE, NINE), rows=tuple(rows), has_person=person).matrix()


def totals(matrix: ODMatrix, unit: str = "trips", **wanted: object) -> dict[str, int]:
    """Return the trips of all cells of every table."""
    promise = KAnonymity(k=K, unit=unit).resolve(matrix)  # type: ignore[arg-type]
    release = cut_at(matrix, promise, 0)
    assert release is not None
    tables = lay_tables(matrix, release, TablesWanted(**wanted))  # type: ignore[arg-type]
    return {table.name: int(table.summed(tables.trips).sum()) for table in tables.tables}


def test_withheld_flows_are_collected_where_they_are_k_and_not_before() -> None:
    # Three trips from x to y in three flows: enough together, each too few by itself.
    three = [("x1", "y1", 1), ("x2", "y1", 1), ("x3", "y2", 1)]
    assert totals(spread(*three), levels=(1,)) == {"1,1": 9 * K + 3}
    assert totals(spread(*three[:2]), levels=(1,)) == {"1,1": 9 * K}


def test_a_brick_leaves_open_that_any_one_of_its_flows_is_empty() -> None:
    # Two flows of two and one: whoever knows that neither holds three knows that each holds somebody.
    assert totals(spread(("x1", "y1", 2), ("x2", "y1", 1)), levels=(1,)) == {"1,1": 9 * K}
    assert totals(spread(("x1", "y1", 2), ("x2", "y1", 1), ("x3", "y1", 1)), levels=(1,)) == {
        "1,1": 9 * K + 4
    }
    # Three flows of two trips each: any two of them hold four at most, and six are told.
    full = [(f"x{n}", "y1", 2) for n in (1, 2, 3)]
    assert totals(spread(*full), levels=(1,)) == {"1,1": 9 * K}
    # Travellers make any number of trips, so that two flows can hold what three do.
    assert totals(spread(*full, person=True), unit="travellers", levels=(1,)) == {"1,1": 9 * K}
    more = [(f"x{n}", "y1", 1) for n in (1, 2, 3)]
    assert totals(spread(*more, person=True), unit="travellers", levels=(1,)) == {"1,1": 9 * K}


def test_rows_and_columns_share_what_both_want() -> None:
    # All withheld trips start in x1, and end in three places each: the row takes them, the columns cannot.
    row = [("x1", end, 1) for end in ("y1", "z1", "x2")]
    assert totals(spread(*row), margins=True) == {
        "own,all": 9 * K + 3,
        "all,own": 9 * K,
        "all,all": 9 * K + 3,
    }
    column = [(start, "z3", 1) for start in ("y1", "z2", "x3")]
    assert totals(spread(*row, *column), margins=True) == {
        "own,all": 9 * K + 3,
        "all,own": 9 * K + 3,
        "all,all": 9 * K + 6,
    }


def test_finer_cells_are_parts_too() -> None:
    # Of level 1, three cells hold one trip each; what is everywhere together leaves open which of them do.
    apart = [("x1", "y1", 1), ("y1", "z1", 1), ("z1", "x1", 1)]
    assert totals(spread(*apart), levels=(1,), margins=True)["all,all"] == 9 * K + 3
    # Two cells do not, however many flows they are of.
    two = [("x1", "y1", 1), ("x2", "y2", 1), ("y1", "z1", 1), ("y2", "z2", 1)]
    assert totals(spread(*two), levels=(1,), margins=True)["all,all"] == 9 * K
    assert totals(spread(*two), margins=True)["all,all"] == 9 * K + 4


def test_a_zone_that_is_coarser_than_a_level_stays_itself() -> None:
    matrix = spread()
    promise = KAnonymity(k=K, unit="trips").resolve(matrix)
    release = cut_at(matrix, promise, 1)
    assert release is not None
    tables = lay_tables(matrix, release, TablesWanted(levels=(0, 1, 2)))
    names = [sorted(matrix.origins.zones.ids[table.origin].tolist()) for table in tables.tables]
    assert names == [["x", "y", "z"], ["x", "y", "z"], ["all"]]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"levels": (1, 1)}, "every level once"),
        ({"levels": (3,), "margins": True}, "above the whole"),
        ({"levels": (-1,)}, "0 for its tiles"),
        ({}, "with_margins"),
    ],
)
def test_levels_that_there_are_not_are_refused(wanted: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        totals(spread(), **wanted)


def test_promises_of_other_kinds_are_refused() -> None:
    wanted = TablesWanted(margins=True)
    with pytest.raises(InputError, match="noisy"):
        wanted.check_method("laplace", noisy=True, draws_zones=False)
    with pytest.raises(InputError, match="have no level"):
        wanted.check_method("mondrian", noisy=False, draws_zones=True)
    ten = KAnonymity(k=2, unit="travellers")
    told = publication(ten, "trips", "rounded")
    with pytest.raises(InputError, match="by itself"):
        wanted.check(KMAnonymity(promise=KAnonymity(k=2, unit="trips"), m=1), told)
    with pytest.raises(InputError, match="not published"):
        wanted.check(ten, publication(ten, "trips", "travellers"))
    with pytest.raises(InputError, match="do not go together"):
        wanted.check(AllOf(promises=(ten, LDiversity(l=2))), told)
    with pytest.raises(InputError, match="do not go together"):
        wanted.check(AllOf(promises=(ten, HiddenChoices(k=2, unit="travellers", secret="a secret"))), told)
    wanted.check(ten, told)
