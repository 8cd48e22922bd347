"""Drawn zones: read from a file or laid out regularly, and how much of every released zone lies in each."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis import Overlap, area_overlap, equal_area, point_overlap
from tripcloak.analysis.overlap import Shapes, refuse_overlaps
from tripcloak.arrays import Bools
from tripcloak.errors import InputError
from tripcloak.hierarchy import ZoneFile
from tripcloak.io.published import Published
from tripcloak.workflow.centres import tile_points

Rule = Literal["area", "tiles"]
RULES: tuple[Rule, ...] = get_args(Rule)


def read_drawn(path: str, id_column: str | None = None) -> ZoneFile:
    """Return the zones of a file, or raise where they have no outlines or overlap.

    Parameters
    ----------
    path
        GeoJSON, GeoParquet or CSV with outlines.
    id_column
        The column of the file that names the zones, where it has no usual name.
    """
    drawn = ZoneFile.read(path, id_column=id_column)
    shapes = drawn.geometries
    if shapes is None or any(shape is None for shape in shapes):
        raise InputError("flows are rebuilt between zones with outlines, and some of these have none")
    refuse_overlaps(_flat(shapes), drawn.ids)
    return drawn


def overlaps_with(published: Published, drawn: ZoneFile, rule: Rule = "area") -> dict[str, Overlap]:
    """Return, for origins and destinations, which share of every released zone lies in which drawn zone.

    Parameters
    ----------
    rule
        How a released zone is spread: evenly over its area, or over its tiles.
    """
    assert drawn.geometries is not None
    shapes = _flat(drawn.geometries) if rule == "area" else drawn.geometries
    return {axis: _overlap(published, axis, shapes, rule) for axis in ("origin", "destination")}


def placed_flows(published: Published) -> Bools:
    """Return which released flows have an outline at both ends, or raise where none has."""
    ends = (("origin", published.origin), ("destination", published.destination))
    has = [
        np.array([shape is not None for shape in published.zones[axis].shapes], dtype=bool)[rows]
        for axis, rows in ends
    ]
    placed: Bools = has[0] & has[1]
    if not published.volume[placed].any():
        raise InputError("the released zones have no outlines, so nothing can be said about other zones")
    return placed


def _overlap(published: Published, axis: str, drawn: Shapes, rule: Rule) -> Overlap:
    zones = published.zones[axis]
    if rule == "tiles":
        row, points = tile_points(zones.ids, zones.shapes, str(published.facts["hierarchy"]["spec"]))
        return point_overlap(row, points, drawn, len(zones.ids))
    return area_overlap(_flat(zones.shapes), drawn)


def _flat(shapes: NDArray[Any]) -> Shapes:
    """Return outlines on a plane of true areas: empty where there is none, mended where one is broken."""
    import shapely

    known = np.array([shapely.Polygon() if shape is None else shape for shape in shapes], dtype=object)
    broken = np.flatnonzero(~shapely.is_valid(known))
    for row in broken:
        parts = shapely.get_parts(shapely.make_valid(known[row]))
        known[row] = shapely.union_all(parts[shapely.area(parts) > 0])
    return equal_area(known)
