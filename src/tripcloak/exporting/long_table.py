"""Tables of flows, a row a flow: with the names of spanishoddata, as lines for map tools, and in parts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.flows.release.tables import POINTS, lines_table

if TYPE_CHECKING:
    import pyarrow as pa

    from tripcloak.exporting.export import PublicTables

NAMES = {"origin": "id_origin", "destination": "id_destination", "trips": "n_trips"}
"""Columns of a release that spanishoddata calls otherwise."""

DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d)(?::00)?)?")
"""A released time that is a day, or an hour of one."""


def write_long_table(tables: PublicTables, path: Path) -> int:
    """Write flows as spanishoddata has them, and return how many.

    ``date`` and ``hour`` are told where a released time is a day or an hour of one, and null elsewhere: a
    flow of a whole week is of no single day. ``time`` holds what was released.
    """
    from pyarrow import parquet

    flows = tables.flows.drop_columns([name for name in POINTS if name in tables.flows.column_names])
    named = flows.rename_columns([NAMES.get(name, name) for name in flows.column_names])
    for place, (name, column) in enumerate(_times(flows).items()):
        named = named.add_column(place, name, column)
    parquet.write_table(named, path, compression="zstd", store_schema=False)
    return len(named)


def write_lines(tables: PublicTables, path: Path) -> int:
    """Write flows as lines between the points of their zones (GeoParquet 1.1), and return how many."""
    from pyarrow import parquet

    lines = with_points_kept(tables.flows)
    parquet.write_table(lines, path, compression="zstd")
    return len(lines)


def write_parts(tables: PublicTables, path: Path) -> int:
    """Write flows as a folder of Parquet, a file a released time, and return how many.

    Folders are named as Hive, Spark and DuckDB have them: ``time=.../part-0.parquet``.
    """
    import pyarrow as pa
    from pyarrow import compute, dataset

    flows, parted = tables.flows, pa.schema([])
    if "time" in flows.column_names:
        flows = flows.set_column(flows.column_names.index("time"), "time", flows["time"].cast(pa.string()))
        parted = pa.schema([("time", pa.string())])
    times = compute.count_distinct(flows["time"]).as_py() if parted else 1
    form = dataset.ParquetFileFormat()
    dataset.write_dataset(
        flows,
        path,
        format=form,
        file_options=form.make_write_options(compression="zstd", store_schema=False),
        basename_template="part-{i}.parquet",
        partitioning=dataset.partitioning(parted, flavor="hive"),
        max_partitions=max(times, 1),
        use_threads=False,
    )
    return len(flows)


def with_points_kept(flows: pa.Table) -> pa.Table:
    """Return flows as lines, the points of both zones beside; flows without points are left out."""
    lines = lines_table(flows)
    known = flows.drop_null() if len(lines) < len(flows) else flows
    for name in POINTS:
        # Before the geometry, which map tools look for at the end.
        lines = lines.add_column(len(lines.column_names) - 1, name, known[name])
    return lines


def _times(flows: pa.Table) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import compute

    if "time" not in flows.column_names:
        return {
            "date": pa.nulls(len(flows), pa.date32()),
            "hour": pa.nulls(len(flows), pa.int8()),
        }
    coded = flows["time"].combine_chunks().dictionary_encode()
    found = [DAY.fullmatch(name) for name in coded.dictionary.to_pylist()]
    dates = pa.array([match and match[1] for match in found], pa.string()).cast(pa.date32())
    hours = pa.array([int(match[2]) if match and match[2] else None for match in found], pa.int8())
    return {
        "date": compute.take(dates, coded.indices),
        "hour": compute.take(hours, coded.indices),
    }
