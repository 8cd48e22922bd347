"""Rules about zones: they hold the tiles they stand for, do not overlap, and are listed truly."""

from __future__ import annotations

import math
from typing import Any

from tripcloak.flows.audit import calendar, cells
from tripcloak.flows.audit.centres import wrong_boxes
from tripcloak.flows.audit.evidence import BOOK, FlowEvidence
from tripcloak.flows.audit.promise import SPACE, StatedPromise
from tripcloak.flows.audit.queries import overlaps_sql
from tripcloak.flows.audit.trees import check_pairs, lineage, nested_zones
from tripcloak.ground.documents import parse_json
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark

CENTRE_DEGREES = 1e-6
POINT_DEGREES = 6e-8
"""What rounding to seven decimals moves a point by, and a little more."""


@BOOK.rule("zones-contain-tiles", "groups", "tree")
def zones_contain_tiles(case: FlowEvidence) -> str | None:
    """Every released zone is an ancestor of the tiles it stands for, or the tile itself."""
    for axis in case.promise.axes:
        pairs = check_pairs(
            case,
            axis,
            f"select distinct {axis}, released_{axis} from audit_groups where released_{axis} is not null",
        )
        if pairs.wrong:
            return f"{mask_small(pairs.wrong, f'{axis} tiles')} were sent to a zone that does not hold them"
    return None


@BOOK.rule("zones-disjoint", "groups", "flows", "tree")
def zones_disjoint(case: FlowEvidence) -> str | Remark | None:
    """In a release that promises it, zones of one axis do not overlap and each tile goes to one zone."""
    if not case.promise.homogeneous:
        return NotPromised("not promised: zones may overlap, each flow as fine as its own numbers allow")
    if case.promise.boxes:
        return "zones are boxes, which may overlap, and the manifest says that they do not"
    for axis in SPACE:
        torn = case.value(
            f"""select count(*) from (
                select {axis} from audit_groups where released_{axis} is not null
                group by {axis} having count(distinct released_{axis}) > 1
            )"""
        )
        if torn:
            return f"{mask_small(torn, f'{axis} tiles')} were sent to more than one zone"
        nested = nested_zones(case, axis)
        if nested:
            return f"{mask_small(nested, f'{axis} zones')} lie inside another released {axis} zone"
    return None


@BOOK.rule("flows-never-overlap", "flows", "tree")
def flows_never_overlap(case: FlowEvidence) -> str | Remark | None:
    """In a release with times, no two flows share a pair of places at the same time."""
    if case.promise.slot is None:
        return NotPromised("not promised: time is no axis of this release")
    if case.promise.boxes:
        return "zones are boxes, and whether flows of boxes and times overlap cannot be told"
    for axis in case.promise.axes:
        lineage(case, axis)
    pairs = case.value(overlaps_sql("audit_flows", case.promise.axes, "audit_{axis}_lineage"))
    return f"{mask_small(pairs, 'pairs of released flows')} overlap" if pairs else None


@BOOK.rule("zones-table-matches", "zones", "flows", "tree")
def zones_table_matches(case: FlowEvidence) -> str | None:
    """Both zone files list exactly the zones of the released flows, with their sizes and volumes."""
    volumes = list(case.promise.told.summed)
    lacking = [unit for unit in volumes if unit not in case.columns("audit_zones")]
    if lacking:
        return f"release/zones.parquet lacks the column {lacking[0]!r}"
    wrong = case.value(_listed_wrongly(case.promise.axes, volumes))
    if wrong:
        return f"release/zones.parquet is wrong about {mask_small(wrong, 'zones')}"
    return _sizes(case) or _times(case) or _members(case) or _points(case) or _geojson(case)


def _listed_wrongly(axes: tuple[str, ...], volumes: list[str]) -> str:
    """Return SQL for the number of zones that are missing, in no flow, listed twice or summed wrongly."""
    sums = "".join(f", sum({unit}) as {unit}" for unit in volumes)
    expected = " union all ".join(
        f"select '{axis}' as axis, {axis} as zone{sums} from audit_flows group by {axis}" for axis in axes
    )
    columns = ", ".join(["axis", "zone", *volumes])
    return f"""
        with expected as ({expected}), listed as (select {columns} from audit_zones)
        select count(*) from (
            (select {columns} from expected except all select {columns} from listed)
            union all
            (select {columns} from listed except all select {columns} from expected)
        )
    """


def _sizes(case: FlowEvidence) -> str | None:
    """Return what is wrong with heights, numbers of tiles and representative points."""
    if case.promise.boxes:
        return wrong_boxes(case)
    if case.promise.names is None:
        wrong = case.value(
            """select count(*) from audit_zones listed left join audit_tree tree using (axis, zone)
            where listed.axis <> 'time'
            and (tree.zone is null or tree.tiles <> listed.tiles or tree.height <> listed.height)"""
        )
    else:
        listed = case.rows("select zone, height, tiles, lat, lon from audit_zones where axis <> 'time'")
        wrong = sum(not _true_zone(case.promise, *row) for row in listed)
    return (
        f"release/zones.parquet gives {mask_small(wrong, 'zones')} a wrong size or place" if wrong else None
    )


def _times(case: FlowEvidence) -> str | None:
    """Return what is wrong with the heights and the numbers of slots of times."""
    slot, fold = case.promise.slot, case.promise.fold
    if slot is None:
        return None
    weeks = 0 if case.promise.period is None else calendar.weeks_of(*case.promise.period)
    listed = list(case.rows("select zone, height, tiles from audit_zones where axis = 'time'"))
    wrong = sum(
        calendar.height_and_tiles(zone, slot, weeks, fold) != (height, tiles)
        for zone, height, tiles in listed
    )
    if wrong:
        return f"release/zones.parquet gives {mask_small(wrong, 'times')} a wrong length"
    longer = sum(height > 0 for _, height, _ in listed) if case.promise.apart else 0
    return f"slots are said to be apart, and {mask_small(longer, 'times')} hold several" if longer else None


def _true_zone(
    promise: StatedPromise, zone: str, height: int, tiles: int, lat: float | None, lon: float | None
) -> bool:
    """Return whether a zone that is known by its name has the right size, and an H3 cell the right centre."""
    if promise.names is None or promise.names.height_and_tiles(zone) != (height, tiles):
        return False
    if lat is None or lon is None:
        return False
    place = None if promise.resolution is None else cells.centre(zone, promise.unions)
    return place is None or math.dist(place, (lat, lon)) < CENTRE_DEGREES


def _members(case: FlowEvidence) -> str | None:
    """Return what is wrong with the lists of tiles that zones of a complete hierarchy carry."""
    if "members" not in case.columns("audit_zones") or case.promise.grid:
        return None
    for axis in SPACE:
        here = f"from audit_zones where axis = '{axis}' and members is not null"
        pairs = check_pairs(case, axis, f"select distinct unnest(members) as tile, zone {here}")
        if pairs.wrong or pairs.number != case.value(f"select coalesce(sum(tiles), 0) {here}"):
            return "release/zones.parquet lists wrong tiles below a zone"
    return None


def _points(case: FlowEvidence) -> str | None:
    """Return what is wrong with the points that flows carry: those of their zones, to seven decimals."""
    for axis in SPACE:
        far = " or ".join(
            f"coalesce(abs({axis}_{name} - zone.{name}) > {POINT_DEGREES}, "
            f"({axis}_{name} is null) <> (zone.{name} is null or isnan(zone.{name})))"
            for name in ("lat", "lon")
        )
        wrong = case.value(
            f"""select count(*) from audit_flows flow
            join audit_zones zone on zone.axis = '{axis}' and zone.zone = flow.{axis} where {far}"""
        )
        if wrong:
            return (
                f"release/flows.parquet puts {mask_small(wrong, f'{axis} ends')} elsewhere than their zones"
            )
    return None


def _geojson(case: FlowEvidence) -> str | None:
    """Return what is wrong with ``zones.geojson``, which must say the same as ``zones.parquet``."""
    told = {_key(row): row for row in _features(case)}
    names = case.columns("audit_zones")
    listed = [dict(zip(names, row, strict=True)) for row in case.rows("select * from audit_zones")]
    if len(told) != len(listed) or {_key(row) for row in listed} != set(told):
        return "release/zones.geojson and release/zones.parquet list different zones"
    wrong = sum(not _same_zone(row, told[_key(row)]) for row in listed)
    return (
        f"release/zones.geojson differs from release/zones.parquet in {mask_small(wrong, 'zones')}"
        if wrong
        else None
    )


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return str(row.get("axis")), str(row.get("zone"))


def _features(case: FlowEvidence) -> list[dict[str, Any]]:
    """Return the rows of the GeoJSON file, outline included."""
    try:
        collection = parse_json(case.public("zones.geojson").read_text(encoding="utf-8"))
        rows = [{**item["properties"], "geometry": item["geometry"]} for item in collection["features"]]
        if set(collection) == {"type", "features"} and len({_key(row) for row in rows}) == len(rows):
            return rows
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise BrokenPart("release/zones.geojson is not a GeoJSON collection of zones, each once")


def _same_zone(listed: dict[str, Any], told: dict[str, Any]) -> bool:
    outline = listed.pop("geometry", None)
    if not _same_outline(outline, told.pop("geometry")) or set(listed) != set(told):
        return False
    return all(told[name] == _without_nan(value) for name, value in listed.items())


def _without_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _same_outline(listed: bytes | None, told: dict[str, Any] | None) -> bool:
    import shapely
    from shapely.geometry import shape

    if listed is None or told is None:
        return listed is None and told is None
    try:
        return bool(shapely.equals_exact(shapely.from_wkb(bytes(listed)), shape(told), tolerance=0.0))
    except (shapely.errors.ShapelyError, KeyError, TypeError, ValueError, AttributeError):
        return False
