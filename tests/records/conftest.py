"""Fixtures that make small files and read them through the view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tripcloak.ground.engine import connect
from tripcloak.records.source import TripSource
from tripcloak.records.trips import open_canonical
from worlds.trip_readings import Read, ReadPaths, WriteParquet, WriteText


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect("1GB", threads=2) as connection:
        yield connection


@pytest.fixture
def read(con: duckdb.DuckDBPyConnection) -> ReadPaths:
    def read_paths(*paths: Path | str, **options: Any) -> Read:
        source = TripSource(paths=tuple(str(path) for path in paths), **options)
        return Read(open_canonical(con, source), con)

    return read_paths


@pytest.fixture
def write_text(tmp_path: Path) -> WriteText:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


@pytest.fixture
def write_parquet(tmp_path: Path) -> WriteParquet:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(name: str, columns: Mapping[str, Any]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(dict(columns)), path)
        return path

    return write
