"""DuckDB files: rows of a table or a query as Arrow, from a file that is only read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.ground.engine import close_to_files, connect
from tripcloak.ground.errors import InputError, MissingFileError, UnreadableFileError
from tripcloak.records.files.databases.addresses import Address, alike
from tripcloak.records.files.databases.postgres import quoted

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 100_000
_NAME = "given"
_TABLES = (
    "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'given' AND NOT internal "
    "UNION SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'given' AND NOT internal "
    "ORDER BY 1, 2"
)
_ODD = ("STRUCT", "MAP", "UNION", "LIST", "ARRAY", "BIT", "INTERVAL", "HUGEINT", "UHUGEINT", "UUID", "BIGNUM")


@contextmanager
def rows_of(address: Address) -> Iterator[tuple[pa.RecordBatchReader, list[str]]]:
    """Give the rows of a table or a query, part by part, and which of their columns are geometries.

    The query reaches the file that was named and no other.
    """
    import duckdb

    file = Path(address.database)
    if not file.is_file():
        raise MissingFileError(f"there is no file {file}; check the path")
    # A relative one may begin like the address of another kind of database.
    whole, problem = str(file.absolute()), ""
    with connect("512MB") as con:
        try:
            con.execute(
                f"ATTACH '{str(file.absolute()).replace(chr(39), chr(39) * 2)}' AS {_NAME} (READ_ONLY)"
            )
            con.execute(f"USE {_NAME}")
            close_to_files(con, [whole])
            query = address.rows.rstrip().rstrip(";") if address.is_query else None
            source = f"({query})" if query is not None else _table(con, address)
            kinds = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE FROM {source}").fetchall()}
            columns = ", ".join(_column(name, kind) for name, kind in kinds.items())
            geometries = [name for name, kind in kinds.items() if kind.startswith("GEOMETRY")]
            yield con.sql(f"SELECT {columns} FROM {source}").to_arrow_reader(_ROWS), geometries
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            # Its words may quote rows.
            problem = str(error).split(" Error", 1)[0]
    if problem in ("Parser", "Binder", "Catalog", "Permission", "Conversion"):
        raise InputError(
            f"{file.name} does not understand the query or the table after # (a {problem} error); try it in "
            "DuckDB"
        )
    if problem:
        raise UnreadableFileError(
            f"{file.name} could not be read as a DuckDB file; it may be damaged, in use by another program, "
            "or not be what its name says"
        )


def _column(name: str, kind: str) -> str:
    odd = kind.endswith("]") or kind.startswith(_ODD)
    return f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if odd else quoted(name)


def _table(con: Any, address: Address) -> str:
    tables = [tuple(row) for row in con.execute(_TABLES).fetchall()]
    if not tables:
        raise InputError(f"{address.called} holds no table; expected trips, one a row")
    if not address.rows:
        if len(tables) == 1:
            return quoted(_NAME, *tables[0])
        raise InputError(
            f"{address.called} holds several tables: {alike(('trips',), tables)}. Name one after #, as in "
            f"{address.called}#{tables[0][1]}"
        )
    name = address.table()
    found = [table for table in tables if table[-len(name) :] == name]
    own = [table for table in found if table[0] == "main"]
    if len(found) > 1 and not own:
        raise InputError(f"{address.called} holds several such tables: {alike(name, found)}; name its schema")
    if not found:
        raise InputError(f"{address.called} holds no such table; there is {alike(name, tables)}")
    return quoted(_NAME, *(own or found)[0])
