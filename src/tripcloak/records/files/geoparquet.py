"""GeoParquet as a table: its points become columns of degrees, whatever their projection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import UnreadableFileError
from tripcloak.records.files.databases.points import DEGREES, PointColumns

_POINTS = {"Point", "Point Z"}


def point_columns(file: Path) -> Mapping[str, int]:
    """Return the columns of a Parquet file that hold points, and the number (EPSG) of each's projection.

    Raises
    ------
    UnreadableFileError
        Points are in a projection that has no number.
    """
    from pyarrow import ArrowException, parquet

    try:
        told = parse_json((parquet.read_metadata(file).metadata or {}).get(b"geo", b"{}"))
    except (ArrowException, OSError, ValueError, RecursionError):
        # Whoever reads it says better what is wrong.
        return {}
    columns = told.get("columns") if isinstance(told, dict) else None
    return {
        name: _number(facts.get("crs", "absent"), file)
        for name, facts in (columns if isinstance(columns, dict) else {}).items()
        if isinstance(facts, dict)
        and facts.get("encoding") == "WKB"
        and isinstance(kinds := facts.get("geometry_types"), list)
        and kinds
        and set(map(str, kinds)) <= _POINTS
    }


def write_points(file: Path, target: Path, columns: Mapping[str, int]) -> tuple[str, ...]:
    """Write a file with columns of degrees in place of points, part by part; return what to know of it."""
    import pyarrow as pa
    from pyarrow import parquet

    points = PointColumns(columns)
    with parquet.ParquetFile(file) as source:
        # GeoArrow's own types would only be in the way.
        plain = pa.schema(
            [pa.field(name, _bytes(source, name, columns)) for name in source.schema_arrow.names]
        )
        writer = None
        for batch in source.iter_batches():
            rows = points.replaced(batch.cast(plain))
            writer = writer or parquet.ParquetWriter(target, rows.schema, compression="lz4")
            writer.write_batch(rows)
        if writer is None:
            rows = points.replaced(pa.RecordBatch.from_pylist([], schema=plain))
            writer = parquet.ParquetWriter(target, rows.schema)
        writer.close()
    return points.notes()


def _bytes(source: Any, name: str, columns: Mapping[str, int]) -> Any:
    import pyarrow as pa

    return pa.binary() if name in columns else source.schema_arrow.field(name).type


def _number(crs: Any, file: Path) -> int:
    """Return the number of a projection; where none is told, GeoParquet means degrees."""
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    if crs == "absent" or crs is None:
        return DEGREES
    try:
        system = CRS.from_json_dict(crs)
        number = DEGREES if system.is_geographic else system.to_epsg()
    except (CRSError, TypeError, AttributeError):
        number = None
    if number is None:
        raise UnreadableFileError(
            f"{file.name} has points in a projection without a number (EPSG); save it again in WGS 84"
        )
    return int(number)
