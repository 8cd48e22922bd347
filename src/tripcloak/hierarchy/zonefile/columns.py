"""The columns of a zones file, as they stand in it; the reader is chosen by the file's ending."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError, MissingFileError
from tripcloak.ground.extras import needing

_GEOMETRY_NAMES = (
    "geometry", "geom", "wkb_geometry", "the_geom", "wkb", "wkt", "polygon", "shape", "multipolygon",
)  # fmt: skip
_COORDINATE = re.compile(r"[-+]?\d+\.\d+")
_DEGREES = (4326, 4258, 4269)
"""Systems of longitudes and latitudes that agree to a metre or two."""


@dataclass(frozen=True)
class Columns:
    """Zones as they were given: values by column, and one geometry a row (WKB, WKT or GeoJSON) or none.

    Attributes
    ----------
    name : str
        What messages call the zones: the name of their file.
    projection : str
        The system that outlines were given in, where they were turned into degrees.
    repaired : int
        How many outlines crossed themselves or were no areas otherwise, and were repaired.
    """

    values: dict[str, list[Any]]
    geometry: list[Any] | None = field(default=None, repr=False)
    name: str = "(a table in memory)"
    projection: str = ""
    repaired: int = 0

    def __post_init__(self) -> None:
        if not self.values or not len(next(iter(self.values.values()))):
            raise InputError(f"zones file {self.name} holds no zones; expected one row or feature a zone")


def read_columns(path: Path) -> Columns:
    """Return the columns of a zones file.

    Raises
    ------
    InputError
        The file is missing, empty, damaged or of another kind.
    """
    if not path.is_file():
        raise MissingFileError(
            f"there is no zones file {path}; give the path of a Parquet, GeoJSON or CSV file"
        )
    ending = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    if ending not in _READERS:
        raise InputError(
            f"zones file {path.name}: expected one that ends in {', '.join(_READERS)}; convert other kinds, "
            "for example with `ogr2ogr zones.parquet zones.gpkg -t_srs EPSG:4326`"
        )
    return _READERS[ending](path)


def _read_parquet(path: Path) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path.absolute()) as file:
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"zones file {path.name} is not a readable Parquet file; write it anew") from error
    stated, crs = _primary_column(table.schema.metadata or {})
    name = stated if stated in table.column_names else _geometry_name(table.column_names)
    geometry, projection = None, ""
    if name is not None:
        column = table.column(name)
        kind = getattr(column.type, "storage_type", column.type)
        if not any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_string)):
            raise InputError(
                f"zones file {path.name}: the geometry column {name!r} must hold WKB or WKT, found {kind}"
            )
        geometry = column.to_pylist()
        if name == stated and crs is not None:
            geometry, projection = _in_degrees(geometry, crs, path.name)
    values = {key: table.column(key).to_pylist() for key in table.column_names if key != name}
    return Columns(values, geometry, path.name, projection)


def _primary_column(metadata: Mapping[bytes, bytes]) -> tuple[str | None, Any]:
    """Return the column of outlines that GeoParquet states, and its system; None where it makes no sense."""
    try:
        stated = parse_json(metadata.get(b"geo", b"{}"))
        name = stated["primary_column"]
        crs = stated["columns"][name].get("crs") if isinstance(stated.get("columns"), dict) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, None
    return (name, crs) if isinstance(name, str) else (None, None)


def _read_geojson(path: Path) -> Columns:
    try:
        document = parse_json(path.read_text(encoding="utf-8-sig"))
        if "features" not in document and isinstance(document.get("data"), dict):
            return _gbfs_stations(document["data"]["stations"], path.name)
        features = document["features"]
        properties = [feature.get("properties") or {} for feature in features]
        names = list(dict.fromkeys(name for row in properties for name in row))
        values = {name: [row.get(name) for row in properties] for name in names}
        ids = [feature.get("id") for feature in features]
        geometry = [feature.get("geometry") for feature in features]
        crs = (document.get("crs") or {}).get("properties", {}).get("name")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"zones file {path.name} is not a GeoJSON FeatureCollection") from error
    if any(value is not None for value in ids):
        # The standard's own place for an id; a property named id wins as it is what people see.
        values.setdefault("id", ids)
    outlines, projection = (geometry, "") if crs is None else _in_degrees(geometry, crs, path.name)
    return Columns(values, outlines, path.name, projection)


def _gbfs_stations(stations: Sequence[Mapping[str, Any]], name: str) -> Columns:
    """Return the stations of a bike-share feed (station_information.json)."""
    names = dict.fromkeys(key for one in stations for key, value in one.items() if not _nested(value))
    return Columns({key: [one.get(key) for one in stations] for key in names}, None, name)


def _nested(value: object) -> bool:
    return isinstance(value, (dict, list))


def _decoded(data: bytes) -> str:
    """Return text in UTF-8, in UTF-16 with a mark, or else in Windows-1252, as tables of trips are read."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("windows-1252")


def _read_csv(path: Path) -> Columns:
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
        text = _decoded(data)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(
            f"zones file {path.name} is not readable as UTF-8 text; save it as CSV in UTF-8 and give that"
        ) from error
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
    return Columns(values, None if geometry_name is None else values.pop(geometry_name), path.name)


def _read_layer(path: Path) -> Columns:
    """Return the one layer of a shapefile or GeoPackage."""
    with needing("formats", f"reading {path.name}", "convert the file to GeoJSON"):
        from pyogrio import raw
    try:
        meta, _, geometry, columns = raw.read(str(path.absolute()))
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"zones file {path.name} is not a readable shapefile or GeoPackage") from error
    values = {str(name): _plain_values(column) for name, column in zip(meta["fields"], columns, strict=True)}
    outlines, projection = list(geometry), ""
    if meta["crs"]:
        outlines, projection = _in_degrees(outlines, meta["crs"], path.name)
    return Columns(values, outlines, path.name, projection)


def _plain_values(column: Any) -> list[Any]:
    return [None if isinstance(value, float) and np.isnan(value) else value for value in column.tolist()]


def _in_degrees(geometry: list[Any], crs: Any, name: str) -> tuple[list[Any], str]:
    """Return outlines in longitude and latitude, and the other system that the file says they are in."""
    import pyproj

    try:
        system = pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError:
        raise InputError(
            f"zones file {name} states a coordinate system that is not known; convert it to EPSG:4326"
        ) from None
    if system.to_epsg() in _DEGREES or "CRS84" in system.name or "CRS84" in str(crs):
        return geometry, ""
    import shapely

    turn = pyproj.Transformer.from_crs(system, "OGC:CRS84", always_xy=True).transform
    shapes = parse_outlines(geometry)
    turned = shapely.transform(shapes, lambda xy: np.column_stack(turn(xy[:, 0], xy[:, 1])))
    return list(shapely.to_wkb(turned)), system.name


def mended(columns: Columns) -> Columns:
    """Return columns in which every outline of an area is one: what crosses itself is repaired, and counted.

    Examples
    --------
    >>> bow = "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))"
    >>> found = mended(Columns({"id": ["a", "b"]}, [bow, "POLYGON ((5 5, 6 5, 6 6, 5 5))"]))
    >>> found.repaired, [bool(shape.is_valid) for shape in parse_outlines(found.geometry)]
    (1, [True, True])
    """
    if columns.geometry is None:
        return columns
    import shapely

    shapes = parse_outlines(columns.geometry)
    areal = np.isin(shapely.get_type_id(shapes), (3, 6))
    wrong = np.flatnonzero(areal & ~shapely.is_valid(shapes))
    outlines = list(columns.geometry)
    for row in wrong:
        # What is repaired may hold lines and points beside areas.
        parts = shapely.get_parts(shapely.get_parts(shapely.make_valid(shapes[row])))
        areas = parts[shapely.get_type_id(parts) == 3]
        outlines[row] = shapely.to_wkb(shapely.union_all(areas)) if len(areas) else None
    return replace(columns, geometry=outlines, repaired=len(wrong))


def parse_outlines(outlines: Sequence[Any]) -> Any:
    """Return outlines (WKB, WKT or GeoJSON) as an array of shapely geometries; None where there is none."""
    import shapely

    shapes = np.empty(len(outlines), dtype=object)
    try:
        for row, outline in enumerate(outlines):
            if isinstance(outline, bytes):
                shapes[row] = shapely.from_wkb(outline)
            elif isinstance(outline, dict):
                shapes[row] = shapely.geometry.shape(outline)
            elif outline:
                shapes[row] = shapely.from_wkt(outline)
    except (shapely.errors.ShapelyError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("the zones file holds an outline that is no WKB, WKT or GeoJSON geometry") from error
    return shapes


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
    ".shp": _read_layer,
    ".gpkg": _read_layer,
    ".zip": _read_layer,
}
