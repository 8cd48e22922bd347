"""ZoneFile: the zones that a file describes, with places, outlines and attributes, and who is in which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.geometry import hull_outline, union_outline, unit_vectors
from tripcloak.hierarchy.tiling import OUTSIDE, Keys
from tripcloak.hierarchy.tree import Geometry
from tripcloak.hierarchy.zonefile.columns import Columns, mended, parse_outlines, read_columns
from tripcloak.hierarchy.zonefile.naming import (
    IdsSought,
    as_text,
    as_whole,
    dissolved,
    find_ids,
    listed,
    named,
    repeated,
)

# Bounds the memory that point objects and candidate pairs take.
_BATCH = 100_000


class InsideOf:
    """Callable that gives the first area that holds each point, edges included, or OUTSIDE.

    Examples
    --------
    >>> from shapely import box
    >>> halves = InsideOf(np.array([box(0, 0, 1, 1), box(1, 0, 2, 1)]))
    >>> found = halves(np.array([0.5, 0.5, 0.5, 5.0]), np.array([0.5, 1.0, 1.5, 0.5]))
    >>> found[:3].tolist(), bool(found[3] == OUTSIDE)
    ([0, 0, 1], True)
    """

    def __init__(self, geometries: NDArray[Any]) -> None:
        import shapely

        self._areas = geometries
        shapely.prepare(geometries)
        self._tree = shapely.STRtree(geometries)

    def __call__(self, lat: Floats, lon: Floats) -> Keys:
        import shapely

        found = np.full(len(lat), OUTSIDE)
        for start in range(0, len(lat), _BATCH):
            x, y = lon[start : start + _BATCH], lat[start : start + _BATCH]
            point, area = self._tree.query(shapely.points(x, y))
            holds = shapely.intersects_xy(self._areas[area], x[point], y[point])
            np.minimum.at(found, start + point[holds], area[holds].astype(np.uint64))
        return found


class NearestPoint:
    """Callable that gives the place nearest to each point on the globe; the first where several coincide.

    Examples
    --------
    >>> NearestPoint(np.array([0.0, 0.0]), np.array([170.0, -179.0]))(np.array([0.0]), np.array([178.0]))
    array([1], dtype=uint64)
    """

    def __init__(self, lat: Floats, lon: Floats) -> None:
        from scipy.spatial import cKDTree

        places, first = np.unique(unit_vectors(lat, lon), axis=0, return_index=True)
        self._first = first.astype(np.uint64)
        self._tree = cKDTree(places)

    def __call__(self, lat: Floats, lon: Floats) -> Keys:
        found: Keys = self._first[self._tree.query(unit_vectors(lat, lon))[1]]
        return found


LAT_NAMES = ("lat", "latitude", "centroid_lat", "lat_centroid", "intptlat", "intptlat20", "blklatdd", "y")
LON_NAMES = (
    "lon", "lng", "long", "longitude", "centroid_lon", "lon_centroid", "intptlon", "intptlon20", "blklondd",
    "x",
)  # fmt: skip
AREA_NAMES = {
    "area_km2": 1.0,
    "area_sqkm": 1.0,
    "area_m2": 1e-6,
    "aland_m2": 1e-6,
    "aland": 1e-6,
    "aland20": 1e-6,
}


@dataclass(frozen=True, eq=False)
class ZoneFile:
    """The zones of a file, sorted by id.

    Attributes
    ----------
    ids : array of str
    lat, lon : array of float
        A point for every zone: as given, else the centroid of its outline.
    attributes : mapping of str to array of str
        Every other column as text; empty where the file has no value.
    outlines : sequence, optional
        Outlines as the file holds them: WKB, WKT or GeoJSON.
    stated_km2 : array of float, optional
        Areas as the file states them.
    id_name : str
        The column that the ids stood in.
    joined : int
        How many ids stood in several rows, which were joined.
    repaired : int
        How many outlines crossed themselves or were no areas otherwise, and were repaired.
    projection : str
        The system that outlines were given in, where they were turned into degrees.
    """

    ids: NDArray[np.str_]
    lat: Floats
    lon: Floats
    attributes: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    outlines: Sequence[Any] | None = field(default=None, repr=False)
    stated_km2: Floats | None = field(default=None, repr=False)
    id_name: str = "zone"
    joined: int = 0
    repaired: int = 0
    projection: str = ""

    @classmethod
    def read(
        cls, path: str | Path, *, id_column: str | None = None, sought: IdsSought | None = None
    ) -> ZoneFile:
        """Return the zones of a Parquet, GeoParquet, GeoJSON or CSV file, a shapefile or a GeoPackage.

        Coordinates and areas are found by the columns' usual names, in any case of letters; so are ids, where
        nothing else is known of them. An id in several rows is one zone of several parts, where its column
        was named or holds what trips name.

        Parameters
        ----------
        path
            The file. Outlines are WKB (Parquet), WKT (CSV, Parquet) or GeoJSON, in degrees.
        id_column
            The column that holds the zone ids, where its name is none of the usual ones.
        sought
            The same, and what else is known of the ids.

        Raises
        ------
        InputError
            The file cannot be read, or its zones have no ids, repeated ids or no places.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "stations.csv")
        >>> _ = path.write_text("station_id,lat,lon,town\\nS2,48.1,11.5,Munich\\nS1,52.5,13.4,Berlin\\n")
        >>> zones = ZoneFile.read(path)
        >>> zones.ids.tolist(), zones.lat.tolist(), zones.attributes["town"].tolist()
        (['S1', 'S2'], [52.5, 48.1], ['Berlin', 'Munich'])
        """
        return cls.of(read_columns(Path(path)), sought or IdsSought(said=id_column))

    @classmethod
    def of(cls, columns: Columns, sought: IdsSought | None = None) -> ZoneFile:
        """Return the zones of a table in memory.

        Examples
        --------
        >>> zones = ZoneFile.of(Columns({"zone": ["b", "a"], "lat": [48.1, 52.5], "lon": [11.5, 13.4]}))
        >>> zones
        ZoneFile(2 zones)
        """
        sought, columns = sought or IdsSought(), mended(columns)
        id_name = find_ids(columns, sought)
        joined = repeated(columns, id_name)
        certain = bool(sought.said or sought.seen or id_name.lower() in map(str.lower, sought.likely))
        if joined and certain:
            names = list(columns.values)
            areas, places = (
                named(names, tuple(AREA_NAMES)),
                (named(names, LAT_NAMES), named(names, LON_NAMES)),
            )
            columns = dissolved(columns, id_name, {str(areas)}, {str(place) for place in places})
        found = _interpret(columns, id_name)
        return replace(found, joined=joined, repaired=columns.repaired, projection=columns.projection)

    def write(self, path: Path) -> None:
        """Write the zones to a Parquet file, from which they are read as they are."""
        import pyarrow as pa
        import shapely
        from pyarrow import parquet

        outlines = None if self.outlines is None else shapely.to_wkb(_parse(self.outlines))
        columns = {
            self.id_name: pa.array(self.ids.tolist(), pa.string()),
            "lat": pa.array(self.lat),
            "lon": pa.array(self.lon),
            **({} if self.stated_km2 is None else {"area_km2": pa.array(self.stated_km2, from_pandas=True)}),
            **{name: pa.array(column.tolist(), pa.string()) for name, column in self.attributes.items()},
            **({} if outlines is None else {"geometry": pa.array(outlines.tolist(), pa.binary())}),
        }
        parquet.write_table(pa.table(columns), path.absolute(), compression="zstd", store_schema=False)

    def __repr__(self) -> str:
        return f"ZoneFile({len(self):,} zones)"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def geometries(self) -> NDArray[Any] | None:
        """Return one shapely area (or None) a zone, or None where the file has no areas."""
        if self.outlines is None:
            return None
        import shapely

        shapes = _parse(self.outlines)
        areal = np.isin(shapely.get_type_id(shapes), (3, 6))
        shapes[~areal] = None
        return shapes if areal.any() else None

    @cached_property
    def area_km2(self) -> Floats:
        """Return areas on the ellipsoid from the outlines, else as the file states them, else NaN."""
        area = np.full(len(self), np.nan) if self.stated_km2 is None else self.stated_km2.copy()
        if self.geometries is not None:
            for row, shape in enumerate(self.geometries):
                area[row] = area[row] if shape is None else _ellipsoid_km2(shape)
        return area

    @cached_property
    def inner_points(self) -> Floats:
        """Return a point in every zone, as rows (lat, lon): its own unless that lies outside."""
        import shapely

        points = np.column_stack([self.lat, self.lon])
        if self.geometries is not None:
            outside = ~shapely.intersects_xy(self.geometries, self.lon, self.lat)
            for row in np.flatnonzero(outside & ~shapely.is_missing(self.geometries)):
                inner = shapely.point_on_surface(self.geometries[row])
                points[row] = inner.y, inner.x
        return points

    def keys(self, ids: Sequence[str] | NDArray[np.str_]) -> Keys:
        """Return the row of every zone named, or OUTSIDE where the file has no such zone.

        Whole numbers that were saved as decimals (``8.0``) name the zone ``8``, unless there is a ``8.0``.
        """
        texts = np.asarray(ids, dtype=np.str_)
        found = self._rows_named(texts)
        return np.where(found == OUTSIDE, self._rows_named(np.array([as_whole(one) for one in texts])), found)

    def _rows_named(self, texts: NDArray[np.str_]) -> Keys:
        row = np.minimum(np.searchsorted(self.ids, texts), len(self) - 1)
        return np.where(self.ids[row] == texts, row.astype(np.uint64), OUTSIDE)

    def locate(self, lat: Floats, lon: Floats) -> Keys:
        """Return the row of the zone that holds each point, or OUTSIDE.

        Without outlines the zone with the nearest point holds it, as a phone is served by the nearest mast.
        """
        return self._locator(np.asarray(lat, dtype=float), np.asarray(lon, dtype=float))

    @cached_property
    def _locator(self) -> Callable[[Floats, Floats], Keys]:
        return NearestPoint(self.lat, self.lon) if self.geometries is None else InsideOf(self.geometries)

    def attribute(self, name: str) -> NDArray[np.str_]:
        """Return a column by its name, in any case of letters."""
        by_lowered = {key.lower(): key for key in self.attributes}
        found = name if name in self.attributes else by_lowered.get(name.lower())
        if found is None:
            raise MissingColumnError(
                f"the zones file has no column {name!r}; it has {listed(self.attributes)}"
            )
        return self.attributes[found]

    def outline(self, rows: Ints) -> Geometry:
        """Return the union of the outlines of some zones; the hull of their points where they have none."""
        if self.geometries is not None:
            shapes = [shape for shape in self.geometries[rows] if shape is not None]
            if shapes:
                return union_outline(shapes)
        return hull_outline(self.lat[rows], self.lon[rows])


def _interpret(columns: Columns, id_name: str) -> ZoneFile:
    """Return the zones that columns describe, sorted by id."""
    names, file = list(columns.values), columns.name
    ids = np.array([as_text(value) for value in columns.values[id_name]], dtype=np.str_)
    order = np.argsort(ids, kind="stable")
    _check_ids(ids[order], file, id_name)
    lat_name, lon_name = named(names, LAT_NAMES), named(names, LON_NAMES)
    outlines = None if columns.geometry is None else [columns.geometry[row] for row in order]
    used = {id_name}
    lat = lon = np.full(len(ids), np.nan)
    if lat_name is not None and lon_name is not None:
        used |= {lat_name, lon_name}
        lat = _numbers(columns.values[lat_name], file, lat_name)[order]
        lon = _numbers(columns.values[lon_name], file, lon_name)[order]
    if outlines is not None and np.isnan(lat + lon).any():
        mid_lat, mid_lon = _centroids(_parse(outlines))
        lat, lon = np.where(np.isnan(lat + lon), (mid_lat, mid_lon), (lat, lon))
    _check_places(lat, lon, file, names)
    area_name = named(names, tuple(AREA_NAMES))
    stated = None
    if area_name is not None:
        stated = _numbers(columns.values[area_name], file, area_name)[order] * AREA_NAMES[area_name.lower()]
    others = {
        name: np.array([as_text(value) for value in values], dtype=np.str_)[order]
        for name, values in columns.values.items()
        if name not in used
    }
    return ZoneFile(ids[order], lat, lon, others, outlines, stated, id_name)


def _numbers(values: list[Any], file: str, name: str) -> Floats:
    try:
        return np.array([np.nan if value is None or value == "" else float(value) for value in values])
    except (TypeError, ValueError) as error:
        raise InputError(f"zones file {file}: column {name!r} must hold numbers, found text") from error


def _check_ids(ids: NDArray[np.str_], file: str, name: str) -> None:
    empty = int(np.count_nonzero(ids == ""))
    if empty:
        raise InputError(f"zones file {file}: {empty} of {len(ids)} zones have no id in column {name!r}")
    again = ids[1:][ids[1:] == ids[:-1]]
    if again.size:
        raise InputError(
            f"zones file {file}: zone ids must differ; {len(np.unique(again))} occur more than once in "
            f"column {name!r}. Name the column of ids ({spelt('zone_id')}), or dissolve the parts"
        )


def _check_places(lat: Floats, lon: Floats, file: str, names: Sequence[str]) -> None:
    lost = int(np.count_nonzero(~np.isfinite(lat + lon)))
    if lost == len(lat):
        raise MissingColumnError(
            f"zones file {file}: found no coordinates; expected columns such as lat and lon, or a geometry. "
            f"It has {listed(names)}"
        )
    if lost:
        raise InputError(
            f"zones file {file}: {lost} of {len(lat)} zones have neither coordinates nor outline"
        )
    _check_degrees(lon.min(), lat.min(), lon.max(), lat.max())


def _check_degrees(west: float, south: float, east: float, north: float) -> None:
    if west < -180 or east > 180 or south < -90 or north > 90:
        raise InputError(
            "the zones file's coordinates are not longitudes and latitudes in degrees; are they projected or "
            "swapped? Convert the file to EPSG:4326 first"
        )


def _parse(outlines: Sequence[Any]) -> NDArray[Any]:
    """Return outlines as shapely geometries, which must lie in degrees; None where there is none."""
    import shapely

    shapes: NDArray[Any] = parse_outlines(outlines)
    bounds = shapely.total_bounds(shapes)
    if np.isfinite(bounds).all():
        _check_degrees(*bounds)
    return shapes


def _centroids(shapes: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return latitude and longitude of the centroids; NaN where there is no geometry."""
    import shapely

    west, _, east, _ = shapely.bounds(shapes).T
    # An outline cut at the antimeridian has parts at both ends of the map: put them side by side.
    split = east - west > 180
    whole = shapes.copy()
    for row in np.flatnonzero(split):
        whole[row] = shapely.transform(shapes[row], lambda xy: np.column_stack([xy[:, 0] % 360, xy[:, 1]]))
    middle = shapely.centroid(whole)
    return shapely.get_y(middle), (shapely.get_x(middle) + 180) % 360 - 180


def _ellipsoid_km2(shape: Any) -> float:
    import shapely
    from pyproj import Geod
    from shapely.geometry.polygon import orient

    geod = Geod(ellps="WGS84")
    return sum(abs(geod.geometry_area_perimeter(orient(part))[0]) for part in shapely.get_parts(shape)) / 1e6
