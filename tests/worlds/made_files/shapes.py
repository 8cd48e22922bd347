"""Files that are made of plain values: Parquet, and squares as GeoJSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def parquet(columns: Mapping[str, Any]) -> bytes:
    """Return a Parquet file of these columns."""
    out = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), out)
    return out.getvalue()


def squares(rows: Sequence[Mapping[str, Any]], west: float, south: float) -> str:
    """Return GeoJSON of a row of squares, each with the properties of its row."""
    features = []
    for at, properties in enumerate(rows):
        x = west + 0.02 * at
        ring = [[x, south], [x + 0.02, south], [x + 0.02, south + 0.02], [x, south + 0.02], [x, south]]
        outline = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": properties, "geometry": outline})
    return json.dumps({"type": "FeatureCollection", "features": features})
