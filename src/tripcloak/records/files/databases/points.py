"""Points of databases as columns: latitude and longitude in degrees, whatever their projection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from tripcloak.ground.arrays import Floats, Ints

DEGREES = 4326
_WORDS = re.compile(r"(?:^|_)(?:the_geom|geom|geometry|geog|geography|point|location|position|wkb)$", re.I)
_LENGTH, _LENGTH_WITH_SRID = 21, 25
_POINT, _POINT_WITH_SRID = 1, 0x20000001
"""The type of a point as well-known bytes have it, without and with the number of its projection."""


def point_names(geometry: str) -> tuple[str, str]:
    """Return the columns of latitude and longitude that the points of a column become.

    Examples
    --------
    >>> point_names("geom"), point_names("start_geom"), point_names("origin")
    (('lat', 'lon'), ('start_lat', 'start_lon'), ('origin_lat', 'origin_lon'))
    """
    base = _WORDS.sub("", geometry)
    return (f"{base}_lat", f"{base}_lon") if base else ("lat", "lon")


class PointColumns:
    """Batches whose geometries have become columns of degrees, and what was seen of them meanwhile.

    Parameters
    ----------
    geometries
        The columns that hold geometries, each with the number of its projection where the bytes tell none.

    Attributes
    ----------
    projections : set of int
        Numbers (EPSG) of the projections that were turned into degrees.
    others : int
        Geometries that are no points; they have no place.
    """

    def __init__(self, geometries: Mapping[str, int]) -> None:
        self._names = {name: point_names(name) for name in geometries}
        self._numbers = geometries
        self.projections: set[int] = set()
        self.others = 0

    def names(self, columns: Iterable[str]) -> list[str]:
        """Return the columns of a batch once its geometries are replaced."""
        return [new for name in columns for new in self._names.get(name, (name,))]

    def replaced(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch with columns of degrees in place of geometries."""
        import pyarrow as pa

        columns: list[Any] = []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            own = name in self._names
            columns.extend(map(pa.array, self._degrees(column, self._numbers[name])) if own else [column])
        return pa.record_batch(columns, names=self.names(batch.schema.names))

    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know of how points were taken."""
        found = []
        if self.projections:
            listed = ", ".join(f"EPSG:{number}" for number in sorted(self.projections))
            found.append(f"points in {listed} were turned into degrees")
        if self.others:
            found.append("some geometries are no points, and count as places that are missing")
        return tuple(found)

    def _degrees(self, column: pa.Array, otherwise: int) -> tuple[Floats, Floats]:
        """Return latitude and longitude of every geometry; NaN where there is no point."""
        x, y, srid = _coordinates(column)
        srid[srid == 0] = otherwise
        known = np.isfinite(x) & np.isfinite(y)
        self.others += int(len(x) - column.null_count - known.sum())
        for number in np.unique(srid[known & (srid > 0) & (srid != DEGREES)]).tolist():
            rows = known & (srid == number)
            x[rows], y[rows] = _projected(x[rows], y[rows], number)
            self.projections.add(number)
        return y, x


def _coordinates(column: Any) -> tuple[Floats, Floats, Ints]:
    """Return x, y and the number of the projection of every point; NaN where there is none."""
    import shapely

    data = column.storage if hasattr(column, "storage") else column
    filled = data.drop_null()
    x, y = np.full(len(data), np.nan), np.full(len(data), np.nan)
    srid = np.zeros(len(data), dtype=np.int64)
    rows = np.flatnonzero(data.is_valid().to_numpy(zero_copy_only=False))
    quick = _plain_points(filled)
    if quick is not None:
        x[rows], y[rows], srid[rows] = quick
        return x, y, srid
    shapes = shapely.from_wkb(filled.to_numpy(zero_copy_only=False), on_invalid="ignore")
    points = shapely.get_type_id(shapes) == shapely.GeometryType.POINT
    rows, shapes = rows[points], shapes[points]
    x[rows], y[rows], srid[rows] = shapely.get_x(shapes), shapely.get_y(shapes), shapely.get_srid(shapes)
    return x, y, srid


def _plain_points(column: Any) -> tuple[Floats, Floats, Ints] | None:
    """Return the same of a column that holds nothing but points, all written alike; None of any other.

    That is how a table of points comes, and no geometry has to be made of them.
    """
    import pyarrow as pa
    from pyarrow import compute

    if not len(column):
        return np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64)
    lengths = compute.min_max(compute.binary_length(column)).as_py()
    width = lengths["min"]
    if width != lengths["max"] or width not in (_LENGTH, _LENGTH_WITH_SRID):
        return None
    fixed = column.cast(pa.binary()).cast(pa.binary(width))
    start = fixed.offset * width
    raw = np.frombuffer(fixed.buffers()[1], dtype=np.uint8)[start : start + len(fixed) * width]
    rows = raw.reshape(-1, width)
    kinds = np.ascontiguousarray(rows[:, 1:5]).view("<u4")[:, 0]
    if not ((rows[:, 0] == 1) & (kinds == (_POINT if width == _LENGTH else _POINT_WITH_SRID))).all():
        return None
    places = np.ascontiguousarray(rows[:, width - 16 :]).view("<f8")
    srid = (
        np.zeros(len(rows), dtype=np.int64)
        if width == _LENGTH
        else np.ascontiguousarray(rows[:, 5:9]).view("<i4")[:, 0].astype(np.int64)
    )
    return places[:, 0].copy(), places[:, 1].copy(), srid


def _projected(x: Floats, y: Floats, number: int) -> tuple[Floats, Floats]:
    from pyproj import Transformer
    from pyproj.exceptions import CRSError

    try:
        to_degrees = Transformer.from_crs(number, DEGREES, always_xy=True)
    except CRSError:
        raise InputError(
            f"points are in the projection EPSG:{number}, which is not known; turn them into degrees with "
            "ST_Transform(..., 4326) in a query"
        ) from None
    lon, lat = to_degrees.transform(x, y)
    return np.where(np.isfinite(lon), lon, np.nan), np.where(np.isfinite(lat), lat, np.nan)
