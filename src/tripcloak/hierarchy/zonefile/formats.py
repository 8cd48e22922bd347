"""Readers of zones files: Parquet, GeoJSON and CSV, each to columns as they stand in the file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripcloak.ground.errors import InputError

_GEOMETRY_NAMES = ("geometry", "geom", "wkb_geometry", "the_geom", "wkb", "wkt", "polygon", "shape")
_COORDINATE = re.compile(r"[-+]?\d+\.\d+")


@dataclass(frozen=True)
class Columns:
    """A zones file as read: values by column, and one geometry a row (WKB, WKT or GeoJSON) if it has any."""

    values: dict[str, list[Any]]
    geometry: list[Any] | None


def read_columns(path: Path) -> Columns:
    """Return the columns of a zones file; the reader is chosen by the file's ending.

    Raises
    ------
    InputError
        The file is missing, empty, damaged or of another kind.
    """
    if not path.is_file():
        raise InputError(f"there is no zones file {path}; give the path of a Parquet, GeoJSON or CSV file")
    ending = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    if ending not in _READERS:
        raise InputError(
            f"zones file {path.name}: expected one that ends in {', '.join(_READERS)}; convert other kinds, "
            "for example with `ogr2ogr zones.parquet zones.gpkg -t_srs EPSG:4326`"
        )
    columns = _READERS[ending](path)
    if not columns.values or not len(next(iter(columns.values.values()))):
        raise InputError(f"zones file {path.name} holds no zones; expected one row or feature a zone")
    return columns


def _read_parquet(path: Path) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"zones file {path.name} is not a readable Parquet file; write it anew") from error
    stated = json.loads((table.schema.metadata or {}).get(b"geo", b"{}")).get("primary_column")
    name = stated if stated in table.column_names else _geometry_name(table.column_names)
    geometry = None
    if name is not None:
        column = table.column(name)
        kind = getattr(column.type, "storage_type", column.type)
        if not any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_string)):
            raise InputError(
                f"zones file {path.name}: the geometry column {name!r} must hold WKB or WKT, found {kind}"
            )
        geometry = column.to_pylist()
    values = {key: table.column(key).to_pylist() for key in table.column_names if key != name}
    return Columns(values, geometry)


def _read_geojson(path: Path) -> Columns:
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
        features = document["features"]
        properties = [feature.get("properties") or {} for feature in features]
        names = list(dict.fromkeys(name for row in properties for name in row))
        values = {name: [row.get(name) for row in properties] for name in names}
        ids = [feature.get("id") for feature in features]
        geometry = [feature.get("geometry") for feature in features]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"zones file {path.name} is not a GeoJSON FeatureCollection") from error
    if any(value is not None for value in ids):
        # The standard's own place for an id; a property named id wins as it is what people see.
        values.setdefault("id", ids)
    return Columns(values, geometry)


def _read_csv(path: Path) -> Columns:
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"zones file {path.name} is not readable as UTF-8 text") from error
    header = text.partition("\n")[0]
    # Outlines as WKT are far longer than what the csv module takes for a sane field.
    usual = csv.field_size_limit(sys.maxsize)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=max(",;\t|", key=header.count)))
    except csv.Error as error:
        raise InputError(f"zones file {path.name} is not a readable CSV file") from error
    finally:
        csv.field_size_limit(usual)
    names = [name.strip() for name in rows[0]] if rows else []
    # Errors list the names of columns, so a first line of data must not pass for names.
    if any(_COORDINATE.fullmatch(name) for name in names):
        raise InputError(
            f"the first line of zones file {path.name} looks like data; expected names such as zone, lat"
        )
    body = [row for row in rows[1:] if row]
    if any(len(row) != len(names) for row in body):
        raise InputError(f"zones file {path.name}: every row needs {len(names)} fields like the header")
    values: dict[str, list[Any]] = {name: [row[at] for row in body] for at, name in enumerate(names)}
    geometry_name = _geometry_name(names)
    return Columns(values, None if geometry_name is None else values.pop(geometry_name))


def _geometry_name(names: list[str]) -> str | None:
    lowered = {name.lower(): name for name in reversed(names)}
    return next((lowered[usual] for usual in _GEOMETRY_NAMES if usual in lowered), None)


_READERS: dict[str, Callable[[Path], Columns]] = {
    ".parquet": _read_parquet,
    ".geoparquet": _read_parquet,
    ".geojson": _read_geojson,
    ".json": _read_geojson,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv.gz": _read_csv,
}
