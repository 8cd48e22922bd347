"""Tilings from text: ``h3:10``, ``h3:10/binary``, ``quadtree:9``, ``dendrogram``, ``table:county,state``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.h3.binary import H3BinaryTiling
from tripcloak.hierarchy.h3.tiling import H3Tiling
from tripcloak.hierarchy.quadtree import Area, QuadtreeTiling, study_area
from tripcloak.hierarchy.tiling import Tiling
from tripcloak.hierarchy.zonefile.columns import Columns
from tripcloak.hierarchy.zonefile.naming import IdsSought
from tripcloak.hierarchy.zonefile.tilings import DendrogramTiling, TableTiling
from tripcloak.hierarchy.zonefile.zones import ZoneFile

Extent = tuple[float, float, float, float]
"""Least latitude and longitude, then greatest latitude and longitude, of where enough people go."""

FORMS = (
    "h3:RESOLUTION, h3:RESOLUTION/root=RESOLUTION or CELL, each with /binary, quadtree:DEPTH, dendrogram, "
    "table:COLUMN,COLUMN,... (for example h3:10, h3:10/root=5, h3:10/binary, quadtree:9, table:county,state)"
)

# Options in any order, each at most once.
_H3 = re.compile(r"(?!.*binary.*binary)(\d{1,2})(/binary)?(?:/root=(\d{1,2}|[0-9a-f]{15}))?(/binary)?")


def parse_tiling(
    spec: str,
    *,
    zones: str | Path | Columns | ZoneFile | None = None,
    zone_id: str | None = None,
    area: Area | None = None,
    extent: Extent | Callable[[], Extent] | None = None,
) -> Tiling:
    """Return the tiling that a text describes.

    Parameters
    ----------
    spec
        ``h3:10``, ``h3:10/root=5``, ``h3:10/root=851fb467fffffff``, ``h3:10/binary``, ``quadtree:9``,
        ``dendrogram`` or ``table:county,state``.
    zones
        The zones file that dendrogram and table need.
    zone_id
        The column of its ids, where the usual names do not tell.
    area
        The study area of a quadtree: south, west, north, east.
    extent
        Where the data lie, but for places that few people reach, or a function that finds out; a
        quadtree without an area takes the :func:`study_area` around it.

    Raises
    ------
    InputError
        The text is none of these, or what it needs was not given.

    Examples
    --------
    >>> parse_tiling("h3:10/root=5")
    H3Tiling(resolution=10, root=5)
    >>> parse_tiling("quadtree:9", extent=(40.70, -74.02, 40.88, -73.91)).area
    (40.7, -74.05, 40.9, -73.9)
    """
    kind, _, rest = spec.strip().partition(":")
    kind = kind.lower()
    if kind == "h3" and (match := _H3.fullmatch(rest.lower())):
        kind_of_h3 = H3BinaryTiling if match[2] or match[4] else H3Tiling
        return kind_of_h3(int(match[1]), _root(match[3]))
    if kind == "quadtree" and re.fullmatch(r"\d{1,2}", rest):
        return QuadtreeTiling(int(rest), _study_area(spec, area, extent))
    if kind == "dendrogram" and spec.strip().lower() == "dendrogram":
        return DendrogramTiling(_zone_file(spec, zones, zone_id))
    levels = tuple(level.strip() for level in rest.split(","))
    if kind == "table" and all(levels):
        return TableTiling(_zone_file(spec, zones, zone_id), levels)
    raise InputError(f"{spec!r} is not a hierarchy; expected one of {FORMS}")


def _root(text: str | None) -> int | str | None:
    """Return a root as a tiling takes it: a resolution of at most two digits, or a cell."""
    return int(text) if text is not None and len(text) <= 2 else text


def _study_area(spec: str, area: Area | None, extent: Extent | Callable[[], Extent] | None) -> Area:
    if area is not None:
        return area
    if extent is None:
        raise InputError(f"{spec} needs a study area: south, west, north, east in degrees")
    return study_area(*(extent() if callable(extent) else extent))


def _zone_file(spec: str, zones: str | Path | Columns | ZoneFile | None, zone_id: str | None) -> ZoneFile:
    if zones is None:
        raise InputError(
            f"{spec} needs a zones file with ids and places ({spelt('zones', 'FILE')}): GeoJSON, GeoParquet, "
            "CSV, a shapefile or a GeoPackage"
        )
    if isinstance(zones, Columns):
        return ZoneFile.of(zones, IdsSought(said=zone_id))
    return zones if isinstance(zones, ZoneFile) else ZoneFile.read(zones, id_column=zone_id)


def needs_zones(spec: str) -> bool:
    """Return whether the text describes a hierarchy over the zones of a file.

    >>> needs_zones("table:county,state"), needs_zones("h3:9")
    (True, False)
    """
    return spec.strip().lower().partition(":")[0] in ("dendrogram", "table")
