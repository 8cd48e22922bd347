"""Rows of databases, kept in a private file while a program runs, since they are read more than once."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tripcloak.ground.errors import InputError
from tripcloak.ground.waiting import folder_of_copies
from tripcloak.records.files.databases.addresses import Address, address_of

if TYPE_CHECKING:
    import pyarrow as pa

_BATCHES = 1 << 26
"""Bytes of rows that are gathered before they are written: the groups of rows of a Parquet file."""


class Fetched(NamedTuple):
    """What was fetched: how its owner calls it, and what to know about how it was taken.

    It is ``exact`` where it is a copy of a file, which is the same byte by byte whenever it is fetched.
    """

    address: str
    notes: tuple[str, ...]
    exact: bool = False


_FETCHED: dict[str, Fetched] = {}


def fetch(given: str) -> str | None:
    """Return the file that holds the rows of a database's table, which only its owner can read.

    It is a Parquet file that goes away with the command or the process; whatever is asked of the input after
    that is of the same rows, even if the database changes meanwhile. None where no database is meant.

    Raises
    ------
    InputError
        The database cannot be reached, or does not hold or not give what is asked for; or the address holds
        a password.
    """
    address = address_of(given)
    if address is None:
        return None
    folder = folder_of_copies()
    path = folder / "rows.parquet"
    try:
        notes = _write(address, path)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise InputError(
                f"there is no room in the temporary folder for the rows of {address.called}; set TMPDIR to a "
                "folder on a larger disk, or ask for fewer rows and columns with a query"
            ) from None
        raise
    remember(path, Fetched(given, notes))
    return str(path)


def remember(path: Path, taken: Fetched) -> None:
    """Note what a file was fetched from; it goes with all that was fetched, and the folder it is in."""
    _FETCHED[str(path)] = taken


def fetched(path: str) -> Fetched | None:
    """Return what a file was fetched from; None where it is a file as any other."""
    return _FETCHED.get(path)


def forget_fetched() -> None:
    """Remove what was fetched, if anything was."""
    for path in _FETCHED:
        shutil.rmtree(Path(path).parent, ignore_errors=True)
    _FETCHED.clear()


def _write(address: Address, path: Path) -> tuple[str, ...]:
    """Write rows part by part, and return what to know about how they were taken."""
    from pyarrow import parquet

    from tripcloak.records.columns import unique_names
    from tripcloak.records.files.databases.points import PointColumns

    with _rows(address) as (reader, geometries):
        points = PointColumns(dict.fromkeys(geometries, 0))
        names = unique_names(points.names(reader.schema.names))
        writer = None
        try:
            for table in _gathered(points.replaced(batch) for batch in reader):
                if writer is None:
                    schema = table.rename_columns(names).schema.remove_metadata()
                    writer = parquet.ParquetWriter(path, schema, compression="lz4", use_dictionary=False)
                writer.write_table(table.rename_columns(names).cast(schema))
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            parquet.write_table(reader.schema.empty_table(), path)
    return points.notes()


def _rows(address: Address) -> AbstractContextManager[tuple[pa.RecordBatchReader, list[str]]]:
    from tripcloak.records.files.databases import duckdb_files, postgres

    return duckdb_files.rows_of(address) if address.is_file else postgres.rows_of(address)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.Table]:
    """Yield batches together, as many as make a group of rows worth reading by itself."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(one.nbytes for one in held) >= _BATCHES:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
