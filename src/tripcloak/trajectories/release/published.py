"""PublishedTrajectories: a release as its readers have it, under fresh random pseudonyms."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.release.degrees import bending_of, degrees_of
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedTrajectories:
    """Generalised trajectories by pseudonym; nothing here tells who they are of.

    Attributes
    ----------
    grid : Grid
        What the steps of the boxes mean.
    pseudonyms : array of str
        The name of each trajectory, ascending.
    offsets : array of int64
        Where the boxes of each trajectory begin; one more than there are.
    boxes : Boxes
        Generalised samples of all trajectories, by time within each.
    manifest : mapping
        What the release says of itself.
    background : mapping, optional
        GeoJSON FeatureCollection of lines and polygons that its owner has drawn behind the map.
    """

    grid: Grid
    pseudonyms: Any
    offsets: Ints
    boxes: Boxes
    manifest: Mapping[str, Any] = field(default_factory=dict)
    background: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<PublishedTrajectories: {self.n_released:,} trajectories of {self.n_boxes:,} samples>"

    @property
    def n_released(self) -> int:
        """Return the number of trajectories."""
        return len(self.offsets) - 1

    @property
    def n_boxes(self) -> int:
        """Return the number of generalised samples."""
        return len(self.boxes.t0)


DIGITS = 16


def under_pseudonyms(release: TrajectoryRelease) -> tuple[PublishedTrajectories, Ints, Ints]:
    """Return the release under fresh pseudonyms, with the old row of each trajectory and of each box.

    Names and their order are drawn anew every time from the system's source of randomness: they tell
    nothing of the input, nor of another release of the same people.
    """
    order = _shuffled(release.n_released)
    lengths = np.diff(release.offsets)[order]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    boxes = np.arange(offsets[-1]) + np.repeat(release.offsets[:-1][order] - offsets[:-1], lengths)
    published = PublishedTrajectories(
        grid=release.grid,
        pseudonyms=_names(release.n_released),
        offsets=offsets,
        boxes=Boxes(*(side[boxes] for side in release.boxes)),
    )
    return published, order, boxes


def new_rows(order: Ints) -> Ints:
    """Return the new row of each old one, of an order that says the old row of each new one."""
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.arange(len(order))
    return rows


def _names(n: int) -> Any:
    """Return different names of one width, ascending; a letter keeps readers from taking one for a number."""
    names: set[str] = set()
    while len(names) < n:
        digits = secrets.token_hex(DIGITS // 2 * (n - len(names)))
        names.update(f"t{digits[at : at + DIGITS]}" for at in range(0, len(digits), DIGITS))
    return np.array(sorted(names), dtype=f"<U{DIGITS + 1}")


def _shuffled(n: int) -> Ints:
    order: Ints = np.argsort(np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64), kind="stable")
    return order


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


def write_samples(public: Path, published: PublishedTrajectories, *, text: bool = True) -> None:
    """Write ``samples.parquet``, and as text ``samples.csv``, holding no more than a part of them."""
    from pyarrow import csv, parquet

    plain = csv.WriteOptions(quoting_style="none")
    parts = sample_batches(published)
    first = next(parts)
    with ExitStack() as writers:
        # Without Arrow's own schema nothing but names and types of columns is told of how it was made.
        kind = parquet.ParquetWriter(
            public / "samples.parquet", first.schema, compression="zstd", store_schema=False
        )
        tables = [writers.enter_context(kind)]
        if text:
            rows = csv.CSVWriter(public / "samples.csv", first.schema, write_options=plain)
            tables.append(writers.enter_context(rows))
        for part in _chained(first, parts):
            for table in tables:
                table.write_table(part)


def instant_type(grid: Grid, unit: str) -> pa.DataType:
    """Return the type of published times: they claim a zone only where that of the input is known."""
    import pyarrow as pa

    return pa.timestamp(unit, tz="UTC" if grid.clock == "UTC" else None)


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
        *(pa.array(grid.times(t), instant_type(grid, "s")) for t in (boxes.t0, boxes.t1)),
        *(pa.array(grid.places(edge)) for edge in boxes[2:]),
        *(pa.array(degrees[name]) for name in COLUMNS[-4:]),
    ]
    return pa.table(columns, names=list(COLUMNS))
