"""GeoJSON of released zones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def zones_geojson(zones: pa.Table) -> dict[str, Any]:
    """Return the zones table as a GeoJSON FeatureCollection."""
    from shapely import from_wkb
    from shapely.geometry import mapping

    features = []
    for row in zones.to_pylist():
        outline = row.pop("geometry", None)
        geometry = None if outline is None else mapping(from_wkb(outline))
        features.append({"type": "Feature", "geometry": geometry, "properties": _without_nan(row)})
    return {"type": "FeatureCollection", "features": features}


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with None where a number is missing: JSON knows no NaN."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()
    }
