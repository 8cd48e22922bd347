"""Tables of generalised samples: what is published of trajectories, a part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tripcloak.trajectories.release.degrees import bending_of, degrees_of
from tripcloak.trajectories.release.published import PublishedTrajectories
from tripcloak.trajectories.release.release import Boxes

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1 << 19
COLUMNS = (
    "trajectory",
    "t_start",
    "t_end",
    "x_min",
    "x_max",
    "y_min",
    "y_max",
    "lon_min",
    "lat_min",
    "lon_max",
    "lat_max",
)


def sample_batches(published: PublishedTrajectories) -> Iterator[pa.Table]:
    """Yield the generalised samples by pseudonym and time: when, where in metres, where in degrees."""
    bending = bending_of(published.grid, published.boxes)
    for start in range(0, published.n_boxes, BATCH):
        rows = slice(start, min(start + BATCH, published.n_boxes))
        boxes = Boxes(*(side[rows] for side in published.boxes))
        degrees = degrees_of(published.grid, boxes, bending)
        yield _table(published, rows, boxes, degrees._asdict())


def write_samples(public: Path, published: PublishedTrajectories) -> None:
    """Write ``samples.parquet`` and ``samples.csv`` below a folder, holding no more than a part of them."""
    from pyarrow import csv, parquet

    plain = csv.WriteOptions(quoting_style="none")
    parts = sample_batches(published)
    first = next(parts)
    with (
        # Without Arrow's own schema nothing but names and types of columns is told of how it was made.
        parquet.ParquetWriter(
            public / "samples.parquet", first.schema, compression="zstd", store_schema=False
        ) as table,
        csv.CSVWriter(public / "samples.csv", first.schema, write_options=plain) as text,
    ):
        for part in _chained(first, parts):
            table.write_table(part)
            text.write_table(part)


def _chained(first: pa.Table, others: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from others


def _table(
    published: PublishedTrajectories, rows: slice, boxes: Boxes, degrees: dict[str, np.ndarray]
) -> pa.Table:
    import pyarrow as pa

    grid = published.grid
    owner = np.searchsorted(published.offsets, np.arange(rows.start, rows.stop), side="right") - 1
    least, most = int(owner[0]), int(owner[-1]) + 1
    names = pa.array(published.pseudonyms[least:most])
    columns = [
        pa.DictionaryArray.from_arrays(pa.array((owner - least).astype(np.int32)), names).cast(pa.string()),
        *(pa.array(grid.times(t), pa.timestamp("s", tz="UTC")) for t in (boxes.t0, boxes.t1)),
        *(pa.array(grid.places(edge)) for edge in boxes[2:]),
        *(pa.array(degrees[name]) for name in COLUMNS[-4:]),
    ]
    return pa.table(columns, names=list(COLUMNS))
