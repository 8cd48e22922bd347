"""The auditor's own reading of tables beside the flows: their levels, and zones lifted to them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tripcloak.flows.audit import cells
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.flows.audit.promise import SPACE
from tripcloak.flows.audit.queries import climb
from tripcloak.flows.audit.trees import holders
from tripcloak.ground.entries import unreadable

ENTRY = "tables"
OWN, ALL = "own", "all"
PARTS = 3
"""Cells of every finer table that a set of withheld flows must come from, so that each may be empty."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class StatedTables:
    """Which tables a manifest says that there are.

    Attributes
    ----------
    tiers : tuple of str
        The zones of the flows, the levels from fine to coarse, and everywhere.
    margins : bool
        Whether there are sums over all origins and all destinations.
    timed : bool
        Whether the flows are told by time, and the tables are not.
    counted : list of dict
        What is said of every table.
    """

    levels: tuple[int, ...]
    margins: bool
    timed: bool
    counted: tuple[dict[str, Any], ...]

    @property
    def tiers(self) -> tuple[str, ...]:
        """Return the names of the tiers, from the finest to the coarsest."""
        return (OWN, *map(str, self.levels), ALL)

    @property
    def names(self) -> tuple[Pair, ...]:
        """Return the tiers of every table that is told of, in the order that they were laid in."""
        return tuple((str(one["origin_level"]), str(one["destination_level"])) for one in self.counted)

    @property
    def expected(self) -> tuple[Pair, ...]:
        """Return the tiers of every table that there must be.

        >>> StatedTables((8,), False, False, ()).expected
        (('8', '8'),)
        """
        inner = [(tier, tier) for tier in self.tiers[:-1] if tier != OWN or self.timed]
        sides = [pair for tier in self.tiers[:-1] for pair in ((tier, ALL), (ALL, tier))]
        return (*inner, *sides, (ALL, ALL)) if self.margins else tuple(inner)

    @property
    def in_order(self) -> bool:
        """Return whether all tables are told of, each once, and finer ones before coarser ones."""
        if sorted(self.names) != sorted(self.expected):
            return False
        later = [(one, other) for at, one in enumerate(self.names) for other in self.names[at + 1 :]]
        return not any(self.finer(other, one) for one, other in later)

    def finer(self, one: Pair, other: Pair) -> bool:
        """Return whether a table is as fine as another one on both sides."""
        at = self.tiers.index
        return all(at(a) <= at(b) for a, b in zip(one, other, strict=True))

    def steps(self) -> Iterator[tuple[Pair, Pair]]:
        """Yield pairs of tables, the first finer than the second, with none between them; flows are one."""
        every = [(OWN, OWN), *(name for name in self.names if name != (OWN, OWN))]
        for one in every:
            above = [other for other in every if other != one and self.finer(one, other)]
            for other in above:
                if not any(self.finer(between, other) for between in above if between != other):
                    yield one, other


def read_tables(case: FlowEvidence) -> StatedTables | None:
    """Return which tables the manifest says that there are, None for none, or raise what is wrong with it."""
    entry = case.facts.get(ENTRY)
    if entry is None:
        return None
    if not isinstance(entry, dict) or set(entry) != {"levels", "margins", "counted"}:
        raise unreadable(ENTRY, "levels, margins and counted")
    levels, counted = entry["levels"], entry["counted"]
    if not isinstance(levels, list) or any(type(level) is not int or level < 0 for level in levels):
        raise unreadable(f"{ENTRY}.levels", "whole numbers")
    coarser = sorted(set(levels), reverse=case.promise.grid)
    if levels != coarser or type(entry["margins"]) is not bool or not (levels or entry["margins"]):
        raise unreadable(f"{ENTRY}.levels", "levels of the hierarchy from fine to coarse")
    wanted = {"origin_level", "destination_level", "cells", "trips", "not_counted"}
    if not isinstance(counted, list) or any(
        not isinstance(one, dict) or set(one) != wanted for one in counted
    ):
        raise unreadable(f"{ENTRY}.counted", "what every table counts")
    stated = StatedTables(tuple(levels), entry["margins"], case.promise.slot is not None, tuple(counted))
    if not stated.in_order:
        raise unreadable(
            f"{ENTRY}.counted", "every table that follows from levels and margins, once, in order"
        )
    return stated


def counts_more(case: FlowEvidence) -> bool:
    """Return whether a table is said to count trips that are in no flow."""
    stated = read_tables(case)
    released = case.facts.get("released")
    return stated is not None and any(one["trips"] != released for one in stated.counted)


def place_flows(case: FlowEvidence, stated: StatedTables) -> None:
    """Make ``audit_placed``: every flow of the raw input with its zones at every tier of both sides.

    A withheld flow is in the released zone that holds its tile, where zones do not overlap and one does.
    """
    for axis in SPACE:
        held = "select null::varchar as tile, null::varchar as zone where false"
        if case.promise.homogeneous:
            tiles = f"select distinct {axis} from audit_groups where released_{axis} is null"
            held = f"select tile, any_value(zone) as zone from {holders(case, axis, tiles)} group by tile"
        case.keep(
            f"audit_{axis}_own",
            f"""select told.rowid as flow, coalesce(told.released_{axis}, held.zone) as own,
                       coalesce(told.released_{axis}, held.zone, told.{axis}) as base
                from audit_groups told left join ({held}) held on held.tile = told.{axis}""",
        )
        lift(case, axis, stated)
    sides = [
        f"{side}.own as {side}_{OWN}, "
        + "".join(f"{side}_up.level_{level} as {side}_{level}, " for level in stated.levels)
        + f"'{ALL}' as {side}_{ALL}"
        for side in SPACE
    ]
    axes = ", ".join(case.promise.axes)
    case.keep(
        "audit_placed",
        f"""select told.rowid as flow, {", ".join(f"told.{axis}" for axis in case.promise.axes)},
                   told.released_origin is not null as released, told.counted_from, input.trips,
                   {", ".join(sides)}
            from audit_groups told join audit_input input using ({axes})
            join audit_origin_own origin on origin.flow = told.rowid
            join audit_destination_own destination on destination.flow = told.rowid
            join audit_origin_up origin_up on origin_up.zone = origin.base
            join audit_destination_up destination_up on destination_up.zone = destination.base""",
    )


def lift(case: FlowEvidence, axis: str, stated: StatedTables) -> None:
    """Make ``audit_<axis>_up``: every zone that flows lie in, and the zone that it lies in at every level."""
    zones = [zone for (zone,) in case.rows(f"select distinct base from audit_{axis}_own order by base")]
    if case.promise.resolution is not None:
        tiles = [tile for (tile,) in case.rows(f"select distinct {axis} from audit_groups")]
        lifted = _lifted_cells(case, zones, tiles, stated.levels)
    else:
        lifted = _lifted_by_tree(case, axis, stated.levels)
    import pyarrow as pa

    columns = {"zone": zones} | {
        f"level_{level}": [lifted[level].get(zone) for zone in zones] for level in stated.levels
    }
    table = pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
    case.keep(f"audit_{axis}_up", "select * from audit_reader", table.to_reader())


def _lifted_cells(
    case: FlowEvidence, zones: Iterable[str], tiles: Iterable[str], levels: Iterable[int]
) -> dict[int, dict[str, str]]:
    """Return zones of H3 at every level; no higher than the cell that covers all tiles of a base cell."""
    tops = _tops(case.promise.spec, tiles)
    found: dict[int, dict[str, str]] = {level: {} for level in levels}
    for zone in zones:
        cell, slash, _ = zone.partition("/")
        at = cells.resolution_of(cell)
        for level, lifted in found.items():
            lifted[zone] = zone
            if at is None or at < 0:
                continue
            # Children of one cell that were joined lie below that cell.
            own = at + 1 if slash else at
            top = max(level, tops.get(cells.ancestor(cell, 0), tops.get("", 0)))
            if top < own:
                lifted[zone] = cells.ancestor(cell, top)
    return found


def _tops(spec: str, tiles: Iterable[str]) -> dict[str, int]:
    """Return, by base cell, the finest resolution at which one cell covers its tiles, or that of the root."""
    root = re.search(r"/root=(\d{1,2}|[0-9a-f]{15})\b", spec)
    if root is not None:
        return {"": int(root[1]) if len(root[1]) <= 2 else cells.resolution_of(root[1]) or 0}
    ends: dict[str, tuple[str, str]] = {}
    for tile in tiles:
        base = cells.ancestor(tile, 0)
        low, high = ends.get(base, (tile, tile))
        ends[base] = min(low, tile), max(high, tile)
    return {base: _shared(low, high) for base, (low, high) in ends.items()}


def _shared(one: str, other: str) -> int:
    """Return the finest resolution at which one cell holds two tiles."""
    finest = cells.resolution_of(one) or 0
    return next(at for at in range(finest, -1, -1) if cells.ancestor(one, at) == cells.ancestor(other, at))


def _lifted_by_tree(case: FlowEvidence, axis: str, levels: Iterable[int]) -> dict[int, dict[str, str]]:
    """Return the highest zone above each that is at most as high as a level; itself where it is higher."""
    case.load("tree")
    tree = f"(select * from audit_tree where axis = '{axis}')"
    climb(
        case.con,
        "audit_rise",
        f"select base, base from (select distinct base from audit_{axis}_own)",
        f"select zone, parent from {tree} where parent is not null",
    )
    case.keep("audit_rise", "from audit_rise")
    depth = re.fullmatch(r"quadtree:(\d{1,2})", case.promise.spec)
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for level in levels:
        height = int(depth[1]) - level if depth else level
        rows = case.rows(
            f"""select who, arg_max(here, height) from audit_rise join {tree} tree on tree.zone = here
            where height <= {height} or here = who group by who"""
        )
        found[level] = dict(rows)
    return found
