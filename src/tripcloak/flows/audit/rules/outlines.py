"""Rule about shapes: outlines are the zones, do not overlap where that is promised, and hold their points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tripcloak.flows.audit.areas import file_areas, overlapping, quarter, same_area
from tripcloak.flows.audit.centres import is_drawn_as_named
from tripcloak.flows.audit.encoding import tiling_of
from tripcloak.flows.audit.evidence import BOOK, FlowEvidence
from tripcloak.flows.audit.outlines import Drawn, wrongly_drawn
from tripcloak.flows.audit.promise import SPACE
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart, Remark

ALIKE = 1e-9
"""By what share areas may differ that are reckoned twice."""


@BOOK.rule("outlines-are-zones", "zones")
def outlines_are_zones(case: FlowEvidence) -> str | Remark | None:
    """Every outline is the border of its zone's tiles, with the stated area and the stated point inside."""
    if "geometry" not in case.columns("audit_zones"):
        named = case.promise.names is not None or case.promise.boxes
        return (
            "release/zones.parquet lacks the column 'geometry'" if named else Remark("zones have no outlines")
        )
    if case.promise.boxes:
        return _wrong_boxes(case)
    if _lacks_its_area(case):
        return Remark("neither the manifest nor the record states the study area of the quadtree")
    drawn = {axis: _drawn(case, axis) for axis in SPACE}
    # Most zones occur on both axes, drawn alike.
    wrong = _wrong(case, list(dict.fromkeys(zone for side in drawn.values() for zone in side)))
    if wrong:
        return f"{mask_small(wrong, 'zones')} are not outlined by the border of their tiles"
    if case.promise.homogeneous and case.promise.names is not None:
        for axis, side in drawn.items():
            common = overlapping([zone.shape for zone in side])
            if common:
                return f"{mask_small(common, f'{axis} zones')} overlap others on the map"
    return None


def _wrong_boxes(case: FlowEvidence) -> str | None:
    """Return what is wrong with areas, points and outlines of boxes, which their names tell."""
    rows = case.rows("select zone, area_km2, lat, lon, geometry from audit_zones where axis <> 'time'")
    wrong = sum(not is_drawn_as_named(*row) for row in rows)
    return f"{mask_small(wrong, 'zones')} are not drawn as the boxes that their names tell" if wrong else None


def _drawn(case: FlowEvidence, axis: str) -> list[Drawn]:
    """Return the zones of an axis as they are drawn."""
    import shapely

    columns = "zone, area_km2, lat, lon, geometry"
    rows = list(case.rows(f"select {columns} from audit_zones where axis = '{axis}'"))
    try:
        shapes = shapely.from_wkb([None if row[-1] is None else bytes(row[-1]) for row in rows])
    except shapely.errors.ShapelyError:
        raise BrokenPart("release/zones.parquet holds an outline that is no well-known binary") from None
    nan = math.nan
    return [
        Drawn(zone, shape, *(nan if value is None else float(value) for value in facts))
        for (zone, *facts, _), shape in zip(rows, shapes, strict=True)
    ]


def _wrong(case: FlowEvidence, zones: Sequence[Drawn]) -> int:
    """Return how many zones are drawn otherwise than they should be."""
    promise = case.promise
    if promise.resolution is not None:
        return wrongly_drawn(zones, promise.resolution, promise.unions)
    if promise.names is not None:
        area = _study_area(case)
        return sum(not _is_like(zone, *quarter(zone.zone, area)) for zone in zones)
    expected = file_areas(case, [zone.zone for zone in zones])
    return sum(
        one is not None and not _is_like(zone, *one) for zone, one in zip(zones, expected, strict=True)
    )


def _is_like(zone: Drawn, shape: Any, area_km2: float) -> bool:
    """Return whether a zone is drawn as expected, has that area, and its point lies inside."""
    import shapely

    if zone.shape is None or zone.shape.has_z or not zone.shape.is_valid or not same_area(zone.shape, shape):
        return False
    if not shapely.intersects_xy(zone.shape, zone.lon, zone.lat):
        return False
    both = np.isnan(zone.area_km2) and np.isnan(area_km2)
    return bool(both) or math.isclose(zone.area_km2, area_km2, rel_tol=ALIKE)


def _lacks_its_area(case: FlowEvidence) -> bool:
    """Return whether nobody knows how a quadtree lies, as where the files alone are looked at."""
    grid = case.promise.names is not None and case.promise.resolution is None
    stated = isinstance(case.facts.get("hierarchy"), dict) and "area" in case.facts["hierarchy"]
    return grid and not stated and tiling_of(case, case.tiling) is None


def _study_area(case: FlowEvidence) -> tuple[float, float, float, float]:
    """Return south, west, north and east of a quadtree, as the manifest states them, else as it was read."""
    hierarchy = case.facts.get("hierarchy")
    area = hierarchy.get("area") if isinstance(hierarchy, dict) else None
    if area is None:
        area = list(getattr(tiling_of(case, case.tiling), "area", ()))
    if not isinstance(area, list) or len(area) != 4 or not all(type(side) in (int, float) for side in area):
        raise BrokenPart("the manifest does not state the study area of the quadtree")
    south, west, north, east = (float(side) for side in area)
    return south, west, north, east
