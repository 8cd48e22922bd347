"""Which zone holds which: by the h3 library for H3 cells, by the calendar for times, else by the tree."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from tripcloak.flows.audit import calendar, cells
from tripcloak.flows.audit.centres import pairs_in_boxes
from tripcloak.flows.audit.evidence import FlowEvidence, load_table
from tripcloak.flows.audit.promise import SPACE
from tripcloak.flows.audit.queries import climb
from tripcloak.ground.rulebook import BrokenPart


def load_tree(case: FlowEvidence) -> None:
    """Load the tree of zones after checking that it is one; H3 cells need none, the library knows theirs."""
    if case.promise.resolution is not None:
        return
    load_table(case, "hierarchy")
    # Times are left out: the calendar knows them.
    case.keep(
        "audit_tree", f"select axis, zone, parent, height, tiles from audit_hierarchy where axis in {SPACE}"
    )
    for axis in SPACE:
        for words, query in _NOT_A_TREE.items():
            if case.value(query.format(tree=f"(select * from audit_tree where axis = '{axis}')")):
                raise BrokenPart(f"private/hierarchy.parquet: {words}")
        if not _all_below_the_root(case, axis):
            raise BrokenPart("private/hierarchy.parquet: some zones never reach the root")
    uneven = "<" if case.promise.grid else "<>"
    if case.value(_CHILDREN_DIFFER.format(uneven=uneven)):
        raise BrokenPart("private/hierarchy.parquet: a zone's height or tiles do not fit its children")
    if case.promise.spec.startswith("quadtree") and case.value(_NOT_A_QUARTER):
        raise BrokenPart("private/hierarchy.parquet: a quadtree cell is not a quarter of its parent")


_NOT_A_TREE = {
    "each axis needs exactly one root": "select count(*) <> 1 from {tree} where parent is null",
    "a zone occurs twice": "select count(*) > count(distinct zone) from {tree}",
}

_CHILDREN_DIFFER = """
    select count(*) from audit_tree zone left join (
        select axis, parent, max(height) as height, sum(tiles) as tiles
        from audit_tree where parent is not null group by axis, parent
    ) child on child.axis = zone.axis and child.parent = zone.zone
    where zone.height <> coalesce(child.height + 1, 0) or zone.tiles {uneven} coalesce(child.tiles, 1)
"""

_NOT_A_QUARTER = "select count(*) from audit_tree where parent <> left(zone, -1) or tiles <> 4 ** height"


def _all_below_the_root(case: FlowEvidence, axis: str) -> bool:
    """Return whether every zone is reached from the root, step by step downwards."""
    tree = f"audit_tree where axis = '{axis}'"
    _climb(
        case,
        "audit_below",
        f"select zone, zone from {tree} and parent is null",
        f"select parent, zone from {tree} and parent is not null",
    )
    return bool(case.value(f"select count(*) = (select count(*) from {tree}) from audit_below"))


class CheckedPairs(NamedTuple):
    """Tiles and the zones said to hold them: how many pairs there are, and how many are wrong."""

    number: int
    wrong: int


def check_pairs(case: FlowEvidence, axis: str, query: str) -> CheckedPairs:
    """Return how many of the (tile, zone) rows of a query name a zone that does not hold the tile."""
    resolution, slot = case.promise.resolution, case.promise.slot
    if axis == "time" and slot is not None:
        fold = case.promise.fold
        times = [calendar.contains(zone, tile, slot, fold) for tile, zone in case.rows(query)]
        return CheckedPairs(len(times), times.count(False))
    if case.promise.boxes:
        number, inside = pairs_in_boxes(case, axis, query)
        return CheckedPairs(number, number - inside)
    if resolution is not None:
        unions = case.promise.unions
        verdicts = [cells.contains(zone, tile, resolution, unions) for tile, zone in case.rows(query)]
        return CheckedPairs(len(verdicts), verdicts.count(False))
    case.load("tree")
    number = case.value(f"select count(*) from ({query})")
    tiles = f"select zone from audit_tree where axis = '{axis}' and height = 0"
    start = f"select pair.zone, pair.tile from ({query}) pair(tile, zone) where pair.tile in ({tiles})"
    _climb(case, "audit_reached", start, _upwards(axis), until_met=True)
    return CheckedPairs(number, number - case.value("select count(*) from audit_reached where here = who"))


def _upwards(axis: str) -> str:
    return f"select zone, parent from audit_tree where axis = '{axis}'"


def _climb(case: FlowEvidence, table: str, start: str, steps: str, *, until_met: bool = False) -> None:
    climb(case.con, table, start, steps, until_met=until_met)
    case.keep(table, f"from {table}")


def nested_zones(case: FlowEvidence, axis: str) -> int:
    """Return how many released zones of an axis of space lie inside another one of the same axis."""
    if case.promise.names is not None:
        return case.promise.names.nested(
            zone for (zone,) in case.rows(f"select distinct {axis} from audit_flows")
        )
    return int(case.value(f"select count(distinct zone) from {lineage(case, axis)} where zone <> above"))


def holders(case: FlowEvidence, axis: str, tiles: str) -> str:
    """Make a table (tile, zone) of an axis: every tile of a query with the released zones that hold it."""
    table, released = f"audit_{axis}_holders", f"select {axis} from audit_flows"
    if case.promise.resolution is None:
        case.load("tree")
        _climb(case, "audit_climb", f"select tile, tile from ({tiles}) found(tile)", _upwards(axis))
        case.keep(table, f"select who as tile, here as zone from audit_climb where here in ({released})")
        return table
    import pyarrow as pa

    zones_of = defaultdict(list)
    for (zone,) in case.rows(f"select distinct {axis} from audit_flows"):
        for cell in cells.members(zone, case.promise.unions):
            zones_of[cell].append(zone)
    levels = sorted({cells.resolution_of(cell) or 0 for cell in zones_of})
    levels = [level for level in levels if level <= case.promise.resolution]
    pairs = [
        (tile, zone)
        for (tile,) in case.rows(tiles)
        for level in levels
        for zone in zones_of.get(cells.ancestor(tile, level), ())
    ]
    columns = {"tile": [tile for tile, _ in pairs], "zone": [zone for _, zone in pairs]}
    types = pa.schema({"tile": pa.string(), "zone": pa.string()})
    case.keep(table, "select * from audit_reader", pa.table(columns, schema=types).to_reader())
    return table


def lineage(case: FlowEvidence, axis: str) -> str:
    """Make a table (zone, above) of an axis: every released zone with itself and those that hold it."""
    table = f"audit_{axis}_lineage"
    if axis != "time" and case.promise.resolution is None:
        case.load("tree")
        _climb(case, "audit_climb", f"select distinct {axis}, {axis} from audit_flows", _upwards(axis))
        released = f"select {axis} from audit_flows"
        case.keep(table, f"select who as zone, here as above from audit_climb where here in ({released})")
        return table
    import pyarrow as pa

    zones = [zone for (zone,) in case.rows(f"select distinct {axis} from audit_flows")]
    pairs = _times_above(case, zones) if axis == "time" else _cells_above(case, zones)
    columns = {"zone": [zone for zone, _ in pairs], "above": [above for _, above in pairs]}
    types = pa.schema({"zone": pa.string(), "above": pa.string()})
    case.keep(table, "select * from audit_reader", pa.table(columns, schema=types).to_reader())
    return table


def _times_above(case: FlowEvidence, zones: list[str]) -> list[tuple[str, str]]:
    released, clock = set(zones), (case.promise.slot or 0, case.promise.fold)
    return [(zone, above) for zone in zones for above in calendar.above(zone, *clock) if above in released]


def _cells_above(case: FlowEvidence, zones: list[str]) -> list[tuple[str, str]]:
    parts = {zone: cells.members(zone, case.promise.unions) for zone in zones}
    holders = defaultdict(list)
    for zone, members in parts.items():
        for cell in members:
            holders[cell].append(zone)
    levels = sorted({cells.resolution_of(cell) or 0 for cell in holders})
    pairs = []
    for zone, members in parts.items():
        own = (cells.resolution_of(members[0]) or 0) if members else -2
        for level in levels:
            lifted = {cells.ancestor(cell, level) for cell in members} if level <= own else set()
            for above in holders[min(lifted)] if lifted else ():
                if lifted <= set(parts[above]):
                    pairs.append((zone, above))
    return pairs
