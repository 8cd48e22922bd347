"""GeoJSON of released zones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


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
