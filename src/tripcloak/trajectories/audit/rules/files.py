"""Rules about the public files: which there are, that they are unchanged, that they hold nothing more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from tripcloak.trajectories.audit.evidence import COLUMNS, Evidence
from tripcloak.trajectories.audit.rulebook import BrokenPart
from tripcloak.trajectories.audit.rules.book import BOOK

if TYPE_CHECKING:
    import pyarrow as pa

FILES = {"samples.parquet", "samples.csv", "manifest.json", "README.md", "map.html"}
EXCHANGE = ("trajectories.geojson", "trajectories.mfjson")
"""Files that may be left out, if the manifest says so."""

ROWS = 1 << 16
"""Rows of both tables that are compared at a time."""


@BOOK.rule("files-complete")
def files_complete(case: Evidence) -> str | None:
    """The public part holds exactly the files it should, and nothing more."""
    found = list(case.public("").iterdir())
    if any(path.is_symlink() or not path.is_file() for path in found):
        return "release/ holds something that is not a plain file"
    names, expected = {path.name for path in found}, expected_files(case)
    if missing := sorted(expected - names):
        return f"release/ lacks {', '.join(missing)}"
    return "release/ holds a file that does not belong there" if names - expected else None


def expected_files(case: Evidence) -> set[str]:
    """Return the names that the public files must have."""
    left_out = case.facts.get("left_out", [])
    if not isinstance(left_out, list) or left_out != [name for name in EXCHANGE if name in left_out]:
        raise BrokenPart("release/manifest.json: 'left_out' must name files that may be left out")
    return FILES | set(EXCHANGE) - set(left_out)


@BOOK.rule("digests-match")
def digests_match(case: Evidence) -> str | None:
    """Every public file has the digest that the manifest states."""
    stated, expected = case.facts.get("files"), expected_files(case) - {"manifest.json"}
    if not isinstance(stated, dict) or set(stated) != expected:
        return "the manifest does not state the digest of every public file"
    changed = [name for name in sorted(expected) if _digest(case.public(name)) != stated[name]]
    return f"changed since the release was made: {', '.join(changed)}" if changed else None


def _digest(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@BOOK.rule("only-allowed-columns")
def only_allowed_columns(case: Evidence) -> str | None:
    """Published tables hold when and where and a pseudonym, and nothing that could tell people apart."""
    assert case.table
    hidden = f"SELECT count(*) FROM parquet_kv_metadata({case.literal('samples.parquet')})"
    return "release/samples.parquet holds hidden entries beside its columns" if case.value(hidden) else None


@BOOK.rule("csv-equals-parquet")
def csv_equals_parquet(case: Evidence) -> str | None:
    """``samples.csv`` and ``samples.parquet`` hold the same rows in the same order."""
    try:
        with case.public("samples.csv").open(encoding="utf-8", newline="") as file:
            header = [name.strip('"') for name in file.readline().rstrip("\r\n").split(",")]
    except (OSError, ValueError):
        raise BrokenPart("release/samples.csv cannot be read as CSV") from None
    if header != list(COLUMNS):
        return "samples.csv and samples.parquet have different columns"
    assert case.table
    for text, table in zip_longest(_csv_rows(case), _parquet_rows(case)):
        if text is None or table is None or not text.equals(table):
            return "samples.csv and samples.parquet hold different rows"
    return None


def _csv_rows(case: Evidence) -> Iterator[pa.Table]:
    """Yield the rows of the CSV file, so many at a time; both files are larger than memory may be."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        reader = csv.open_csv(
            case.public("samples.csv"), convert_options=csv.ConvertOptions(column_types=_schema())
        )
        yield from _evenly(reader)
    except (OSError, pa.ArrowException):
        raise BrokenPart("release/samples.csv cannot be read as CSV") from None


def _parquet_rows(case: Evidence) -> Iterator[pa.Table]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(case.public("samples.parquet")) as file:
            for table in _evenly(file.iter_batches()):
                yield table.cast(_schema())
    except (OSError, pa.ArrowException):
        raise BrokenPart("release/samples.parquet holds other values than it should") from None


def _evenly(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield tables of ``ROWS`` rows, the last one shorter."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch]))
        while sum(map(len, waiting)) >= ROWS:
            table = pa.concat_tables(waiting)
            yield table.slice(0, ROWS).combine_chunks()
            waiting = [table.slice(ROWS)]
    if sum(map(len, waiting)):
        yield pa.concat_tables(waiting).combine_chunks()


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {
        "VARCHAR": pa.string(),
        "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", tz="UTC"),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
