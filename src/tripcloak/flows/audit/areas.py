"""Areas that zones must have: quarters of a study area, and unions of a file's zones; and what overlaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.audit.encoding import tiling_of
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.hierarchy.zonefile.tilings import ZoneTiling
from tripcloak.hierarchy.zonefile.zones import ZoneFile

if TYPE_CHECKING:
    from tripcloak.hierarchy.tiling import Tiling

Area = tuple[float, float, float, float]
"""South, west, north, east in degrees."""

SLIVER = 1e-9
"""What two areas may differ by without meaning it, as a share of either."""

_AXIS_KM, _FLATTENING = 6378.137, 1 / 298.257223563
_E2 = _FLATTENING * (2 - _FLATTENING)


def quarter(zone: str, area: Area) -> tuple[Any, float]:
    """Return the cell of a quadtree as a shapely area, and its size in km2 on the WGS 84 ellipsoid.

    >>> shape, km2 = quarter("q3", (0.0, 0.0, 2.0, 2.0))
    >>> shape.bounds, round(km2)
    ((1.0, 1.0, 2.0, 2.0), 12305)
    """
    import shapely

    south, west, north, east = area
    tall, wide = north - south, (east - west) % 360 or 360.0
    for digit in zone[1:]:
        tall, wide = tall / 2, wide / 2
        south, west = south + tall * (int(digit) // 2), west + wide * (int(digit) % 2)
    boxes = [
        shapely.box(max(west + turn, -180), south, min(west + wide + turn, 180), south + tall)
        for turn in (-360, 0, 360)
        if west + turn < 180 and west + wide + turn > -180
    ]
    return shapely.union_all(boxes), math.radians(wide) * (_below(south + tall) - _below(south))


def _below(lat: float) -> float:
    """Return the area between the equator and a parallel, a radian wide."""
    sine, e = math.sin(math.radians(lat)), math.sqrt(_E2)
    return _AXIS_KM**2 * (1 - _E2) / 2 * (sine / (1 - _E2 * sine**2) + math.atanh(e * sine) / e)


def file_areas(case: FlowEvidence, zones: Sequence[str]) -> list[tuple[Any, float] | None]:
    """Return the union and the size of every zone's tiles; None where tiles have no outlines.

    Those zones are drawn around their points, which says where they are and not what they hold.
    """
    tiling: Tiling | None = tiling_of(case, case.tiling)
    if not isinstance(tiling, ZoneTiling):
        return [None] * len(zones)
    file: ZoneFile = tiling.zones
    tree = tiling.hierarchy(np.arange(len(file), dtype=np.uint64))
    row_of = {zone: row for row, zone in enumerate(tree.zones.ids.tolist())}
    return [_joined(file, tree.members(row_of[zone])) if zone in row_of else None for zone in zones]


def _joined(file: ZoneFile, rows: Any) -> tuple[Any, float] | None:
    import shapely

    shapes = (
        [] if file.geometries is None else [shape for shape in file.geometries[rows] if shape is not None]
    )
    if not shapes:
        return None
    mended = [shape if shape.is_valid else shapely.make_valid(shape) for shape in shapes]
    return shapely.union_all(mended), float(file.area_km2[rows].sum())


def same_area(one: Any, other: Any) -> bool:
    """Return whether two shapely areas are the same but for slivers.

    >>> import shapely
    >>> same_area(shapely.box(0, 0, 1, 1), shapely.box(0, 0, 1, 1.000001))
    False
    """
    return bool(one.symmetric_difference(other).area <= SLIVER * max(one.area, other.area))


def overlapping(shapes: Sequence[Any]) -> int:
    """Return how many areas share more than a sliver with another one.

    >>> import shapely
    >>> overlapping([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1), shapely.box(0, 0.5, 1, 1)])
    2
    """
    import shapely

    areas = np.array(shapes, dtype=object)
    # Neighbours that share all their corners, as hexagons do, need no closer look.
    if bool(shapely.coverage_is_valid(areas)):
        return 0
    one, other = shapely.STRtree(areas).query(areas, predicate="intersects")
    one, other = one[one < other], other[one < other]
    common = shapely.area(shapely.intersection(areas[one], areas[other]))
    smaller = np.minimum(shapely.area(areas[one]), shapely.area(areas[other]))
    wrong = common > SLIVER * smaller
    return len(np.union1d(one[wrong], other[wrong]))
