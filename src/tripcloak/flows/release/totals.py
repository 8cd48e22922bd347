"""The public form of tables beside the flows: their rows, the zones of their levels, what a manifest says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release.bricks import ALL, OWN, Tables, TablesWanted
from tripcloak.flows.release.release import Release
from tripcloak.hierarchy import Hierarchy
from tripcloak.hierarchy.levels import level_height

if TYPE_CHECKING:
    import pyarrow as pa

SPACE = ("origin", "destination")
LEVELS = ("origin_level", "destination_level")


def totals_table(matrix: ODMatrix, release: Release) -> pa.Table:
    """Return all tables beside the flows as one: two levels, two zones and the trips of every cell."""
    import pyarrow as pa

    tables = _laid(release)
    # Where numbers are rounded, bricks are released flows and no others.
    told = tables.trips if release.rounded is None else release.published("trips")
    trees = [tree for tree, _ in matrix.axes]
    parts = []
    for table in tables.tables:
        sides = zip((table.origin, table.destination), trees, strict=False)
        names = [np.append(tree.zones.ids, ALL)[zone].tolist() for zone, tree in sides]
        tiers = [[tier] * len(table.origin) for tier in (table.origin_tier, table.destination_tier)]
        texts = dict(zip((*LEVELS, *SPACE), (*tiers, *names), strict=True))
        columns = {name: pa.array(column, pa.string()) for name, column in texts.items()}
        parts.append(pa.table({**columns, "trips": table.summed(told)}))
    return totals_as_published(pa.concat_tables(parts), order_of(tables))


def totals_as_published(told: pa.Table, names: Sequence[tuple[str, str]]) -> pa.Table:
    """Return tables, read from a file, with the columns and in the order that they are written with.

    Parameters
    ----------
    names
        The levels of every table, from the finest to the coarsest.
    """
    import pyarrow as pa

    schema = pa.schema([*((name, pa.string()) for name in (*LEVELS, *SPACE)), ("trips", pa.int64())])
    told = told.select(schema.names).cast(schema).combine_chunks()
    place = {pair: at for at, pair in enumerate(names)}
    levels = zip(*(told[name].to_pylist() for name in LEVELS), strict=True)
    numbered = told.append_column("place", pa.array([place[pair] for pair in levels], pa.int32()))
    return numbered.sort_by([("place", "ascending"), *((name, "ascending") for name in SPACE)]).drop_columns(
        ["place"]
    )


def tables_entry(
    told: pa.Table, wanted: TablesWanted, order: Sequence[tuple[str, str]], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the manifest says of tables, given their rows and order and what it says of the flows."""
    numbers: dict[tuple[str, str], list[int]] = {}
    levels = zip(*(told[name].to_pylist() for name in LEVELS), strict=True)
    for pair, trips in zip(levels, told["trips"].to_pylist(), strict=True):
        numbers.setdefault(pair, []).append(trips)
    return {
        "levels": list(wanted.levels),
        "margins": wanted.margins,
        "counted": [
            {
                **dict(zip(LEVELS, pair, strict=True)),
                "cells": len(numbers[pair]),
                "trips": sum(numbers[pair]),
                "not_counted": not_counted(facts, sum(numbers[pair])),
            }
            for pair in order
        ],
    }


def not_counted(facts: Mapping[str, Any], trips: int) -> dict[str, Any]:
    """Return what is told of the trips that a table does not count: no more than follows from the flows.

    That is nothing where nothing is told of those.

    Parameters
    ----------
    facts
        What the manifest says of the released and the withheld volume.
    trips
        What the table counts.

    Examples
    --------
    >>> facts = {"released": 900, "withheld": {"at_least": 0, "at_most": 100}}
    >>> not_counted(facts, 960)
    {'at_least': 0, 'at_most': 40, 'words': 'at most 4.0 % of the trips'}
    """
    if facts["withheld"]["at_most"] is None:
        return dict(facts["withheld"])
    more = trips - facts["released"]
    least, most = (max(facts["withheld"][end] - more, 0) for end in ("at_least", "at_most"))
    low, high = (100 * end / (trips + end) if trips + end else 0.0 for end in (least, most))
    # Rounded outwards, so that the words never say more than the numbers.
    most_words = f"{math.ceil(high * 10) / 10:.1f} % of the trips"
    words = f"between {math.floor(low * 10) / 10:.1f} and {most_words}" if least else f"at most {most_words}"
    return {"at_least": least, "at_most": most, "words": words if most else "none of the trips"}


def counts_more(facts: Mapping[str, Any]) -> bool:
    """Return whether some table counts trips that are in no released flow."""
    counted = facts.get("tables", {}).get("counted", ())
    return any(table["trips"] > facts["released"] for table in counted)


def wanted_of(facts: Mapping[str, Any]) -> TablesWanted | None:
    """Return which tables a manifest says that there are; None where there are none."""
    told = facts.get("tables")
    if told is None:
        return None
    return TablesWanted(levels=tuple(told["levels"]), margins=told["margins"])


def names_of(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the levels of every table of a manifest that has some, in the order that they were laid in."""
    return tuple((one["origin_level"], one["destination_level"]) for one in facts["tables"]["counted"])


def order_of(tables: Tables) -> tuple[tuple[str, str], ...]:
    """Return the levels of every table, in the order that they were laid in."""
    return tuple((table.origin_tier, table.destination_tier) for table in tables.tables)


def levels_table(matrix: ODMatrix, release: Release) -> pa.Table | None:
    """Return the zones of every level with their outlines, and each one's zone at the next level.

    None where no levels were asked for.
    """
    import pyarrow as pa

    tables = _laid(release)
    tiers = [OWN, *(str(level) for level in tables.wanted.levels)]
    if len(tiers) == 1:
        return None
    parts = []
    for axis, (tree, _) in zip(SPACE, matrix.axes, strict=False):
        rows = [_zones_at(release, tables, axis, tier) for tier in tiers]
        texts = {
            "axis": [axis] * sum(map(len, rows)),
            "level": [tier for tier, own in zip(tiers, rows, strict=True) for _ in own],
            "zone": tree.zones.ids[np.concatenate(rows)].tolist(),
        }
        named = pa.table({name: pa.array(column, pa.string()) for name, column in texts.items()})
        parts.append(with_places(named, tree, tables.wanted))
    return levels_in_order(pa.concat_tables(parts), tables.wanted)


def with_places(named: pa.Table, tree: Hierarchy, wanted: TablesWanted) -> pa.Table:
    """Return zones of levels of one axis, given by their names, with all that follows from the hierarchy."""
    import pyarrow as pa

    from tripcloak.flows.release.public import ReleasedZones
    from tripcloak.flows.release.tables import zone_rows

    ids = np.asarray(named["zone"].to_pylist(), dtype=np.str_)
    order = np.argsort(tree.zones.ids)
    at = order[np.minimum(np.searchsorted(tree.zones.ids, ids, sorter=order), len(order) - 1)]
    if (tree.zones.ids[at] != ids).any():
        raise ValueError("a zone of a level is none of the hierarchy's")
    rows, place = np.unique(at, return_inverse=True)
    facts = zone_rows(ReleasedZones("", tree.zones, rows, {}), tree).take(pa.array(place))
    above: list[str | None] = [None] * len(ids)
    upwards = dict(zip((OWN, *map(str, wanted.levels)), wanted.levels, strict=False))
    lifts = {level: tree.lifted(level_height(tree.name, level)) for level in wanted.levels}
    for row, tier in enumerate(named["level"].to_pylist()):
        if tier in upwards:
            above[row] = str(tree.zones.ids[lifts[upwards[tier]][at[row]]])
    named = named.append_column("parent", pa.array(above, pa.string()))
    for name in ("height", "tiles", "area_km2", "lat", "lon", "geometry"):
        if name in facts.column_names:
            named = named.append_column(name, facts[name])
    return named


def levels_in_order(told: pa.Table, wanted: TablesWanted) -> pa.Table:
    """Return zones of levels by axis, from the finest level to the coarsest, with GeoParquet's metadata."""
    import pyarrow as pa

    from tripcloak.flows.release.tables import geoparquet

    place = {tier: at for at, tier in enumerate((OWN, *map(str, wanted.levels)))}
    numbered = told.combine_chunks().append_column(
        "place", pa.array([place[tier] for tier in told["level"].to_pylist()], pa.int32())
    )
    order = [("axis", "descending"), ("place", "ascending"), ("zone", "ascending")]
    ordered = numbered.sort_by(order).drop_columns(["place"])
    return ordered.replace_schema_metadata(geoparquet(ordered))


def levels_as_published(told: pa.Table) -> pa.Table:
    """Return zones of levels, read from a file, with the columns that they are written with."""
    import pyarrow as pa

    kinds = {
        **dict.fromkeys(("axis", "level", "zone", "parent"), pa.string()),
        "height": pa.int32(),
        "tiles": pa.int64(),
        **dict.fromkeys(("area_km2", "lat", "lon"), pa.float64()),
        "geometry": pa.binary(),
    }
    schema = pa.schema([(n, k) for n, k in kinds.items() if n != "geometry" or n in told.column_names])
    return told.select(schema.names).cast(schema)


def brick_names(matrix: ODMatrix, tables: Tables) -> dict[str, Any]:
    """Return what the bricks of withheld flows are called, by axis: the zone of their cell."""
    names: dict[str, Any] = {}
    for axis, (tree, _) in zip(SPACE, matrix.axes, strict=False):
        ids = np.append(tree.zones.ids, ALL)
        told = []
        for number, at in enumerate(tables.laid_at.tolist()):
            table = tables.tables[at]
            cell = table.cell_of_brick[tables.n_groups + number]
            told.append(f"{ids[getattr(table, axis)[cell]]}, withheld before table {table.name}")
        names[axis] = np.array(told, dtype=np.str_)
    return names


def _zones_at(release: Release, tables: Tables, axis: str, tier: str) -> Any:
    """Return the rows of the zones that occur at a tier of an axis."""
    found = [getattr(release, f"group_{axis}")] if tier == OWN else []
    for table in tables.tables:
        if getattr(table, f"{axis}_tier") == tier:
            found.append(getattr(table, axis))
    return np.unique(np.concatenate(found))


def _laid(release: Release) -> Tables:
    assert release.tables is not None
    return release.tables


def counted_from(release: Release, rows: slice) -> list[str | None]:
    """Return the name of the table that counts each withheld flow first; None for released and uncounted."""
    tables = _laid(release)
    names: list[str | None] = [*(table.name for table in tables.tables), None]
    return [names[at] for at in tables.first_table[rows].tolist()]
