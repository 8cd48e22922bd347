"""The area that both ends of a trip must lie in: a box, a polygon, or both."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError, MissingFileError

if TYPE_CHECKING:
    import duckdb

INSIDE_POLYGON = "tripcloak_inside_polygon"
_EARTH = (-90.0, -180.0, 90.0, 180.0)


@dataclass(frozen=True, kw_only=True)
class Area:
    """SQL tests of whether a coordinate lies in the area.

    Examples
    --------
    >>> Area(box=(48.8, 2.2, 48.9, 2.4)).in_box("o_lat", "o_lon")
    '(o_lat BETWEEN 48.8 AND 48.9 AND o_lon BETWEEN 2.2 AND 2.4)'
    >>> Area(box=(-20.0, 170.0, -10.0, -175.0)).in_box("o_lat", "o_lon")
    '(o_lat BETWEEN -20.0 AND -10.0 AND (o_lon BETWEEN 170.0 AND 180 OR o_lon BETWEEN -180 AND -175.0))'
    """

    box: tuple[float, float, float, float] | None = None
    has_polygon: bool = False

    def in_box(self, lat: str, lon: str) -> str:
        """Return SQL that is true inside the box; without a box, anywhere on earth."""
        south, west, north, east = self.box or _EARTH
        if west <= east:
            return f"({lat} BETWEEN {south} AND {north} AND {lon} BETWEEN {west} AND {east})"
        across = f"({lon} BETWEEN {west} AND 180 OR {lon} BETWEEN -180 AND {east})"
        return f"({lat} BETWEEN {south} AND {north} AND {across})"

    def in_polygon(self, lat: str, lon: str) -> str:
        """Return SQL that is true inside the polygon."""
        return f"{INSIDE_POLYGON}({lat}, {lon})"


def open_area(
    con: duckdb.DuckDBPyConnection, box: tuple[float, float, float, float] | None, polygon: str | None
) -> Area:
    """Return the area of a box and of the polygon in a GeoJSON file, whose test becomes an SQL function."""
    if polygon is not None:
        _register(con, read_polygon(Path(polygon)))
    return Area(box=box, has_polygon=polygon is not None)


def read_polygon(path: Path) -> Any:
    """Return the union of all polygons in a GeoJSON file as a shapely geometry.

    Raises
    ------
    InputError
        The file is missing, is not GeoJSON, or holds no polygon in degrees.
    """
    import shapely

    if not path.is_file():
        raise MissingFileError(f"there is no polygon file {path.name}; give the path of a GeoJSON file")
    try:
        geometries = [
            shapely.from_geojson(json.dumps(part)) for part in _parts(parse_json(path.read_bytes()))
        ]
    except (OSError, ValueError, TypeError, AttributeError, KeyError, shapely.GEOSException):
        geometries = []
    polygons = [
        part for whole in geometries for part in shapely.get_parts(whole) if part.geom_type == "Polygon"
    ]
    if not polygons:
        raise InputError(f"{path.name}: expected GeoJSON with a Polygon or MultiPolygon; found none")
    area = shapely.union_all(shapely.make_valid(polygons))
    west, south, east, north = area.bounds
    if area.is_empty or west < -180 or east > 180 or south < -90 or north > 90:
        raise InputError(f"{path.name}: expected a polygon in degrees (longitude, latitude)")
    return area


def _parts(document: Any) -> list[Any]:
    """Return the bare geometries of a GeoJSON document."""
    if document["type"] == "FeatureCollection":
        return [geometry for feature in document["features"] for geometry in _parts(feature)]
    if document["type"] == "Feature":
        return _parts(document["geometry"]) if document["geometry"] else []
    if document["type"] == "GeometryCollection":
        return [geometry for part in document["geometries"] for geometry in _parts(part)]
    return [document]


def _register(con: duckdb.DuckDBPyConnection, polygon: Any) -> None:
    import duckdb
    import pyarrow as pa
    import shapely
    from duckdb.func import ARROW

    shapely.prepare(polygon)
    # A prepared geometry builds its index at first use and shapely lets other threads run meanwhile.
    lock = threading.Lock()

    def inside(lat: Any, lon: Any) -> Any:
        y, x = lat.to_numpy(zero_copy_only=False), lon.to_numpy(zero_copy_only=False)
        with lock:
            return pa.array(shapely.intersects_xy(polygon, x, y))

    with contextlib.suppress(duckdb.InvalidInputException):
        con.remove_function(INSIDE_POLYGON)
    con.create_function(INSIDE_POLYGON, inside, ["DOUBLE", "DOUBLE"], "BOOLEAN", type=ARROW)
