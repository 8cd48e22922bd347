"""Formats of tools that draw flows: flowmap.gl and flowmap.blue, kepler.gl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.exporting.places import Places, places_of
from tripcloak.flows.release.tables import POINTS
from tripcloak.ground.spreadsheets import write_csv

if TYPE_CHECKING:
    import pyarrow as pa

    from tripcloak.exporting.export import PublicTables

LABEL = "Released flows"


def write_flowmap(tables: PublicTables, path: Path) -> int:
    """Write ``locations.csv`` and ``flows.csv`` into a folder, and return how many flows are in it.

    Flows of a release with times carry theirs.
    """
    import pyarrow as pa

    places = places_of(tables)
    path.mkdir()
    named = pa.array(places.names.tolist())
    locations = pa.table({"id": named, "name": named, "lat": places.lat, "lon": places.lon})
    write_csv(locations, path / "locations.csv")
    columns: dict[str, Any] = {"origin": named.take(places.origin), "dest": named.take(places.destination)}
    columns["count"] = tables.flows[tables.facts["volume"]]
    if "time" in tables.flows.column_names:
        columns["time"] = tables.flows["time"]
    write_csv(pa.table(columns), path / "flows.csv")
    return len(tables.flows)


def write_kepler(tables: PublicTables, path: Path) -> int:
    """Write a map of kepler.gl, with its data and how they are drawn, and return how many flows are in it."""
    known = (
        tables.flows.drop_null() if any(tables.flows[name].null_count for name in POINTS) else tables.flows
    )
    datasets = [_dataset("flows", LABEL, known)]
    places = places_of(tables)
    if any(shape is not None for shape in places.geometry):
        datasets.append(_zones(places))
    content = {
        "datasets": datasets,
        "config": {
            "version": "v1",
            "config": {"visState": {"layers": _layers(tables.facts["volume"], datasets)}},
        },
        "info": {"app": "kepler.gl", "title": LABEL},
    }
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return len(known)


def _dataset(name: str, label: str, table: pa.Table) -> dict[str, Any]:
    fields = [{"name": column.name, "type": _kind(column.type), "format": ""} for column in table.schema]
    rows = list(map(list, zip(*(column.to_pylist() for column in table.columns), strict=True)))
    data = {"id": name, "label": label, "color": [30, 110, 160], "allData": rows, "fields": fields}
    return {"version": "v1", "data": data}


def _kind(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_integer(kind):
        return "integer"
    return "real" if pa.types.is_floating(kind) else "string"


def _zones(places: Places) -> dict[str, Any]:
    import shapely

    shapes = shapely.to_geojson(shapely.from_wkb(np.array(places.geometry, dtype=object)))
    features = [
        [json.dumps({"type": "Feature", "properties": {"zone": name}, "geometry": json.loads(shape)}), name]
        for name, shape in zip(places.names.tolist(), shapes.tolist(), strict=True)
        if shape is not None
    ]
    fields = [
        {"name": "outline", "type": "geojson", "format": ""},
        {"name": "zone", "type": "string", "format": ""},
    ]
    data = {"id": "zones", "label": "Zones", "color": [160, 160, 160], "allData": features, "fields": fields}
    return {"version": "v1", "data": data}


def _layers(volume: str, datasets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ends = dict(zip(("lat0", "lng0", "lat1", "lng1"), POINTS, strict=True))
    arcs = {
        "id": "flows",
        "type": "arc",
        "config": {"dataId": "flows", "label": LABEL, "columns": ends, "isVisible": True},
        "visualChannels": {"sizeField": {"name": volume, "type": "integer"}, "sizeScale": "linear"},
    }
    outlines = {
        "id": "zones",
        "type": "geojson",
        "config": {"dataId": "zones", "label": "Zones", "columns": {"geojson": "outline"}, "isVisible": True},
    }
    return [arcs, outlines][: len(datasets)]
