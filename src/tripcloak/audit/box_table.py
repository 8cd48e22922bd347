"""The zones table of a release of boxes, held against what the names of the boxes tell."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tripcloak.audit.boxes import DEGREES, SLACK, Box, area_km2, is_outline, read_box, right_tiles
from tripcloak.audit.centres import ROUNDING, inside_sql, keep_boxes
from tripcloak.audit.evidence import Evidence
from tripcloak.audit.promise import SPACE
from tripcloak.findings import some


def wrong_boxes(case: Evidence) -> str | None:
    """Return what is wrong with the sizes and places of the boxes in the zones table."""
    case.load("centres")
    for axis in SPACE:
        if not _true_tile(case, axis):
            return f"the manifest's area of a tile is not that of the {axis} tiles"
    if "geometry" not in case.columns("audit_zones"):
        return "release/zones.parquet lacks the column 'geometry'"
    wrong = sum(not right for axis in SPACE for right in _rows(case, axis))
    return f"release/zones.parquet gives {some(wrong, 'zones')} a wrong size or place" if wrong else None


def _true_tile(case: Evidence, axis: str) -> bool:
    """Return whether the stated area of a tile is the mean of the tiles, to three digits."""
    told = case.promise.tile_km2[axis]
    mean = case.value(f"select avg(km2) from audit_centres where axis = '{axis}'")
    if mean is None or math.isnan(mean):
        return told is None
    return told is not None and told == float(f"{told:.3g}") and math.isclose(told, mean, rel_tol=ROUNDING)


def _rows(case: Evidence, axis: str) -> Iterator[bool]:
    """Yield, for every box that is listed, whether all that is said of it is right."""
    held = None if case.promise.grid and case.promise.tile_km2[axis] is not None else _held(case, axis)
    columns = "zone, height, tiles, area_km2, lat, lon, geometry"
    for zone, *facts, geometry in case.rows(f"select {columns} from audit_zones where axis = '{axis}'"):
        box = read_box(zone)
        yield (
            box is not None
            and _true_facts(box, case.promise.tile_km2[axis], None if held is None else held[zone], *facts)
            and _true_outline(box, case.promise.tile_km2[axis], geometry)
        )


def _held(case: Evidence, axis: str) -> dict[str, int]:
    """Return how many tiles every box holds."""
    boxes = keep_boxes(case, f"audit_{axis}_listed", f"select zone from audit_zones where axis = '{axis}'")
    return dict(
        case.rows(
            f"""select box.zone, count(centre.tile) from {boxes} box
            left join (select * from audit_centres where axis = '{axis}') centre on {inside_sql(0)}
            group by box.zone"""
        )
    )


def _true_facts(
    box: Box,
    tile_km2: float | None,
    held: int | None,
    height: int,
    tiles: int,
    area: float | None,
    lat: float | None,
    lon: float | None,
) -> bool:
    right = area_km2(box, tile_km2)
    if height != 0 or area is None or lat is None or lon is None:
        return False
    if not math.isclose(area, right, rel_tol=SLACK) or math.dist((lat, lon), box.middle) > DEGREES:
        return False
    if held is not None:
        return tiles == held
    return tile_km2 is not None and right_tiles(tiles, right, tile_km2)


def _true_outline(box: Box, tile_km2: float | None, geometry: Any) -> bool:
    import shapely

    if geometry is None:
        return False
    try:
        outline = shapely.from_wkb(bytes(geometry))
    except shapely.errors.ShapelyError:
        return False
    if outline.geom_type != "Polygon" or outline.is_empty or outline.interiors:
        return False
    return is_outline(outline.exterior.coords, box, tile_km2)
