"""Tables of a release: the public ones, their GeoJSON, and the private one of which flow went where."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import (
    Release,
    ReleasedZones,
    published_numbers,
    released_zones,
    segment_numbers,
    summed,
)
from tripcloak.flows.release.naming import NAMES, flows_with_names, with_names
from tripcloak.flows.release.totals import counted_from
from tripcloak.ground.arrays import Ints
from tripcloak.hierarchy import BoxZones, Geometry, Hierarchy
from tripcloak.hierarchy.h3.binary import named_zones
from tripcloak.promises import Unit

if TYPE_CHECKING:
    import pyarrow as pa


AXES = ("origin", "destination", "time")
POINTS = ("origin_lat", "origin_lon", "destination_lat", "destination_lon")
"""Columns of released flows: the representative points of both zones."""

POINT_DIGITS = 7
BATCH = 1 << 20


def flows_table(release: Release) -> pa.Table:
    """Return the released flows: a zone of every axis and the published numbers, by time and zone ids."""
    import pyarrow as pa

    zones = {axis: _dictionary(pa.array(z.ids), column).cast(pa.string()) for axis, z, column in release.axes}
    return in_order(pa.table({**zones, **published_numbers(release)}))


def with_points(flows: pa.Table, zones: pa.Table) -> pa.Table:
    """Return released flows with the points of their zones, null where one has none, and names if any."""
    import pyarrow as pa
    from pyarrow import compute

    for axis in AXES[:2]:
        side = zones.filter(compute.equal(zones["axis"], axis))
        row = compute.index_in(flows[axis].combine_chunks(), value_set=side["zone"].combine_chunks())
        for name in ("lat", "lon"):
            degrees = np.round(side[name].to_numpy().astype(float), POINT_DIGITS)
            flows = flows.append_column(f"{axis}_{name}", pa.array(degrees, from_pandas=True).take(row))
    return flows_with_names(flows, zones)


def lines_table(placed: pa.Table) -> pa.Table:
    """Return flows with points as lines from origin to destination; those without points are left out."""
    import pyarrow as pa
    import shapely

    known = placed.drop_null() if any(placed[name].null_count for name in POINTS) else placed
    ends = np.column_stack([known[name].to_numpy() for name in (POINTS[1], POINTS[0], POINTS[3], POINTS[2])])
    lines = pa.array(shapely.to_wkb(shapely.linestrings(ends.reshape(-1, 2, 2))), pa.binary())
    table = known.drop_columns(list(POINTS)).append_column("geometry", lines)
    return table.replace_schema_metadata(geoparquet(table))


def in_order(flows: pa.Table) -> pa.Table:
    """Return released flows by their zones, and by segment where they are told by segment."""
    # By time first: the flows of one slot then lie together, and readers skip the others.
    columns = [name for name in ("time", "origin", "destination", "segment") if name in flows.column_names]
    return flows.combine_chunks().sort_by([(name, "ascending") for name in columns])


def as_published(table: pa.Table, numbers: Sequence[str]) -> pa.Table:
    """Return a table of released flows, read from a file, with the columns and the order it is written with.

    Parameters
    ----------
    numbers
        The numbers that may be published.
    """
    import pyarrow as pa

    texts = [name for name in (*AXES, "segment") if name in table.column_names]
    kinds = [*((name, pa.string()) for name in texts), *((name, pa.int64()) for name in numbers)]
    schema = pa.schema(kinds)
    return in_order(table.select(schema.names).cast(schema))


def zones_as_published(table: pa.Table, numbers: Sequence[Unit]) -> pa.Table:
    """Return the table of released zones, read from a file, with the columns and order it is written with."""
    import pyarrow as pa

    kinds = {
        **dict.fromkeys(("axis", "zone", "name"), pa.string()),
        "height": pa.int32(),
        "tiles": pa.int64(),
        **dict.fromkeys(("area_km2", "lat", "lon"), pa.float64()),
        **dict.fromkeys(summed(tuple(numbers)), pa.int64()),
        "members": pa.list_(pa.string()),
        "geometry": pa.binary(),
    }
    schema = pa.schema([(n, k) for n, k in kinds.items() if n not in _OPTIONAL or n in table.column_names])
    return _zones_in_order(table.select(schema.names).cast(schema))


def zones_as_named(table: pa.Table, facts: Mapping[str, Any]) -> pa.Table:
    """Return released zones with the outlines, areas and points that H3 gives them; others as they are."""
    import pyarrow as pa

    match = re.match(r"h3:(\d{1,2})(?:/|$)", str(facts["hierarchy"]["spec"]))
    if match is None or "zone_form" in facts:
        return table
    placed = np.asarray(table["axis"]) != "time"
    zones = named_zones(np.asarray(table["zone"].to_pylist(), dtype=np.str_)[placed], int(match[1]))
    rows = np.arange(len(zones))
    told = {name: table[name].to_numpy().copy() for name in ("area_km2", "lat", "lon")}
    told["area_km2"][placed] = zones.areas(rows)
    for name, points in (("lat", zones.lat), ("lon", zones.lon)):
        told[name][placed] = np.where(np.isnan(points), told[name][placed], points)
    outlines = np.full(len(table), None, dtype=object)
    outlines[placed] = _wkb([zones.outline(row) for row in rows.tolist()])
    columns = {**told, "geometry": pa.array(outlines.tolist(), pa.binary())}
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(column))
    return table


_OPTIONAL = ("name", "members", "geometry")
"""Columns that some tables of zones do not have."""


def _zones_in_order(zones: pa.Table) -> pa.Table:
    ordered = zones.combine_chunks().sort_by([("axis", "descending"), ("zone", "ascending")])
    return ordered.replace_schema_metadata(geoparquet(ordered))


def time_parts(flows: pa.Table) -> Iterator[pa.Table]:
    """Yield released flows time by time, each to be a part of its file; all at once without times."""
    from pyarrow import compute

    if "time" not in flows.column_names or not len(flows):
        yield flows
        return
    start = 0
    for end in compute.run_end_encode(flows["time"].combine_chunks()).run_ends.to_pylist():
        yield flows.slice(start, end - start)
        start = end


def segments_table(release: Release) -> pa.Table | None:
    """Return the released flows segment by segment; None where segments are not released together."""
    import pyarrow as pa

    numbers = segment_numbers(release)
    if not numbers:
        return None
    zones = {axis: _dictionary(pa.array(z.ids), column).cast(pa.string()) for axis, z, column in release.axes}
    parts = []
    for one in numbers:
        columns: dict[str, Any] = {axis: column.take(one.groups) for axis, column in zones.items()}
        columns["segment"] = pa.array([one.name] * len(one.groups), pa.string())
        columns |= {str(unit): values for unit, values in one.numbers.items()}
        parts.append(pa.table(columns))
    return in_order(pa.concat_tables(parts))


def flows_over_time(flows: pa.Table) -> pa.Table:
    """Return released flows summed over all times; as they are where they have no time.

    Travellers are left out of sums, unless they are alone: one person may travel at several times.
    """
    if "time" not in flows.column_names:
        return flows.select([name for name in flows.column_names if name not in (*POINTS, *NAMES)])
    ends = ["origin", "destination"]
    volumes = summed(
        tuple(name for name in flows.column_names if name not in (*ends, *POINTS, *NAMES, "time"))
    )
    over_time = flows.group_by(ends, use_threads=False).aggregate([(name, "sum") for name in volumes])
    return over_time.select([*ends, *(f"{name}_sum" for name in volumes)]).rename_columns([*ends, *volumes])


def zones_table(matrix: ODMatrix, release: Release, names: Mapping[str, Any] | None = None) -> pa.Table:
    """Return the released zones of every axis, with outlines as well-known binary.

    Zones of a complete hierarchy (tracts, base stations) list all their tiles in ``members``; those
    of a grid and boxes need no list, the zone's id says it.
    """
    trees = {axis: tree for (axis, _, _), (tree, _) in zip(release.axes, matrix.axes, strict=True)}
    parts = []
    for side in released_zones(release):
        parts.append(zone_rows(side, trees[side.axis]))
    return with_names(joined_zones(parts), names)


def zone_rows(side: ReleasedZones, tree: Hierarchy) -> pa.Table:
    """Return the released zones of one axis as rows of the table of zones."""
    import pyarrow as pa

    zones, rows = side.zones, side.rows
    columns: dict[str, Any] = {
        "axis": np.full(len(rows), side.axis),
        "zone": zones.ids[rows],
        "height": zones.height[rows].astype(np.int32),
        "tiles": zones.tiles[rows].astype(np.int64),
        "area_km2": zones.areas(rows),
        "lat": zones.lat[rows],
        "lon": zones.lon[rows],
        **side.volumes,
    }
    if tree.complete and not isinstance(zones, BoxZones):
        columns["members"] = _members(tree, rows)
    if zones.shape is not None:
        columns["geometry"] = pa.array(_wkb([zones.outline(row) for row in rows]), pa.binary())
    return pa.table(columns)


def joined_zones(parts: Sequence[pa.Table]) -> pa.Table:
    """Return the zones of all axes as one table."""
    import pyarrow as pa

    # Times have no outline and no list of tiles: these columns are null there.
    return _zones_in_order(pa.concat_tables(parts, promote_options="default"))


def groups_batches(matrix: ODMatrix, release: Release) -> Iterator[pa.Table]:
    """Yield one row per input flow: its tiles and numbers, and the released pair (null = suppressed)."""
    import pyarrow as pa

    # Made once: texts of all tiles take as long as the numbers of many flows.
    tiles = [pa.array(tree.zones.ids) for tree, _ in matrix.axes]
    zones = [pa.array(zones.ids) for _, zones, _ in release.axes]
    for start in range(0, matrix.n_flows, BATCH):
        yield _groups(matrix, release, slice(start, start + BATCH), tiles, zones)


def hierarchy_table(matrix: ODMatrix) -> pa.Table:
    """Return the trees of all axes as rows of zone, parent and height: what an auditor needs to walk them."""
    import pyarrow as pa

    parts = []
    for axis, (tree, _) in zip(AXES, matrix.axes, strict=False):
        ids = tree.zones.ids
        parts.append(
            pa.table(
                {
                    "axis": np.full(len(tree), axis),
                    "zone": ids,
                    "parent": pa.array(np.append(ids, "")[tree.parent], mask=tree.parent < 0),
                    "height": tree.zones.height.astype(np.int32),
                    "tiles": tree.zones.tiles.astype(np.int64),
                }
            )
        )
    return pa.concat_tables(parts)


def _groups(
    matrix: ODMatrix, release: Release, rows: slice, tiles: Sequence[pa.Array], zones: Sequence[pa.Array]
) -> pa.Table:
    """Return some rows, given the ids of all tiles and of all released zones, axis by axis."""
    import pyarrow as pa

    flows, group = matrix.flows, release.group_of_flow[rows]
    columns: dict[str, Any] = {
        axis: _dictionary(ids, tile[rows])
        for axis, ids, (_, tile) in zip(AXES, tiles, matrix.axes, strict=False)
    }
    columns["trips"] = flows.trips[rows]
    if flows.travellers is not None:
        columns["travellers"] = np.diff(flows.travellers.offsets[rows.start : rows.stop + 1])
    elif matrix.each_trip_is_a_person:
        columns["travellers"] = flows.trips[rows]
    if flows.population is not None:
        columns["population"] = flows.population[rows]
    hidden = group < 0
    for ids, (axis, _, column) in zip(zones, release.axes, strict=True):
        columns[f"released_{axis}"] = _dictionary(ids, column[group], hidden)
    if release.tables is not None:
        columns["counted_from"] = pa.array(counted_from(release, rows), pa.string())
    return pa.table(columns)


def _dictionary(ids: pa.Array, codes: Ints, null: Ints | None = None) -> pa.Array:
    """Return text per row as a dictionary: a table of flows names the same zones many times."""
    import pyarrow as pa

    indices = pa.array(codes.astype(np.int32), mask=null)
    return pa.DictionaryArray.from_arrays(indices, ids)


def _members(tree: Hierarchy, rows: Ints) -> pa.Array:
    import pyarrow as pa

    return pa.array([tree.zones.ids[tree.members(int(row))].tolist() for row in rows], pa.list_(pa.string()))


def _wkb(outlines: Sequence[Geometry | None]) -> list[bytes | None]:
    """Return outlines as well-known binary; single rings, which most are, all at once."""
    import shapely
    from shapely.geometry import shape

    shapes = np.full(len(outlines), None, dtype=object)
    single = [row for row, outline in enumerate(outlines) if outline is not None and _is_ring(outline)]
    others = {row for row, outline in enumerate(outlines) if outline is not None} - set(single)
    rings = [(outlines[row] or {})["coordinates"][0] for row in single]
    if rings:
        owner = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
        points = np.array(list(chain.from_iterable(rings)), dtype=float)
        shapes[single] = shapely.polygons(shapely.linearrings(points, indices=owner))
    for row in others:
        shapes[row] = shape(outlines[row])
    found: list[bytes | None] = shapely.to_wkb(shapes).tolist()
    return found


def _is_ring(outline: Geometry) -> bool:
    flat = outline["type"] == "Polygon" and len(outline["coordinates"]) == 1
    return flat and all(len(point) == 2 for point in outline["coordinates"][0])


def geoparquet(table: pa.Table) -> dict[str, str] | None:
    """Return GeoParquet's file metadata, so that map tools open the table as it is."""
    import json

    if "geometry" not in table.column_names:
        return None
    column = {"encoding": "WKB", "geometry_types": []}
    return {
        "geo": json.dumps({"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}})
    }


def zones_geojson(zones: pa.Table) -> dict[str, Any]:
    """Return the zones table as a GeoJSON FeatureCollection."""
    outlines = _geometries(zones["geometry"].to_pylist()) if "geometry" in zones.column_names else []
    rows = zones.drop_columns([name for name in zones.column_names if name == "geometry"]).to_pylist()
    features = [
        {"type": "Feature", "geometry": geometry, "properties": _without_nan(row)}
        for geometry, row in zip(outlines or [None] * len(rows), rows, strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


def _geometries(outlines: list[bytes | None]) -> list[dict[str, Any] | None]:
    """Return outlines in well-known binary as GeoJSON; single rings, which most are, all at once."""
    import shapely
    from shapely.geometry import mapping

    shapes = shapely.from_wkb(outlines)
    single = shapely.get_type_id(shapes) == shapely.GeometryType.POLYGON
    single &= (shapely.get_num_interior_rings(shapes) == 0) & ~shapely.has_z(shapes)
    points, sizes = shapely.get_coordinates(shapes[single]).tolist(), shapely.get_num_coordinates(shapes)
    found: list[dict[str, Any] | None] = []
    start = 0
    for outline, is_ring, size in zip(shapes, single.tolist(), sizes.tolist(), strict=True):
        if is_ring:
            found.append({"type": "Polygon", "coordinates": [points[start : start + size]]})
            start += size
        else:
            found.append(None if outline is None else mapping(outline))
    return found


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with None where a number is missing: JSON knows no NaN."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()
    }
