"""PostgreSQL: a connection whose errors tell no secrets, and rows of a table or a query as Arrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from tripcloak.ground.errors import InputError, TripcloakError
from tripcloak.ground.extras import needing
from tripcloak.records.files.databases.addresses import Address, alike

if TYPE_CHECKING:
    import pyarrow as pa

PATIENCE = 10
"""Seconds in which a server must answer; PGCONNECT_TIMEOUT says otherwise."""

_AS_THEY_ARE = {
    "bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "bpchar", "date", "timestamp",
    "timestamptz",
}  # fmt: skip
_GEOMETRIES = {"geometry", "geography"}

_TABLES = (
    "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
    "AND n.nspname NOT LIKE 'pg_toast%' AND c.relname NOT IN ('spatial_ref_sys', 'geometry_columns', "
    "'geography_columns') AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') "
    "ORDER BY 1, 2"
)


def quoted(*names: str) -> str:
    """Return a name in SQL, whatever it is made of.

    >>> print(quoted("mobility", 'trips"; drop table x'))
    "mobility"."trips""; drop table x"
    """
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


@contextmanager
def connected(address: Address, doing: str) -> Iterator[Any]:
    """Give a cursor in one transaction, which is kept if all goes well and undone if not.

    Parameters
    ----------
    doing
        What is being done, for messages: "read", "written".
    """
    driver = _driver()
    problem: Exception | None = None
    try:
        with driver.connect(_with_patience(address.database)) as connection:
            with connection.cursor() as cursor:
                yield cursor
            connection.commit()
    except TripcloakError:
        raise
    except driver.Error as error:
        # Its words may quote rows.
        problem = _explained(error, address, doing)
    if problem is not None:
        raise problem


@contextmanager
def rows_of(address: Address) -> Iterator[tuple[pa.RecordBatchReader, list[str]]]:
    """Give the rows of a table or a query, part by part, and which of their columns are geometries.

    The transaction may only read, and sees the table as it is at one moment.
    """
    with connected(address, "read") as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        source = f"({address.rows.rstrip().rstrip(';')})" if address.is_query else _table(cursor, address)
        cursor.execute(f"SELECT * FROM {source} AS wanted LIMIT 0")
        kinds = {
            field.name: (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
            for field in cursor.fetch_record_batch().schema
        }
        if not kinds:
            raise InputError(f"a table of {address.called} has no columns; expected trips, one a row")
        columns = ", ".join(_column(name, kind) for name, kind in kinds.items())
        cursor.execute(f"SELECT {columns} FROM {source} AS wanted")
        geometries = [name for name, kind in kinds.items() if kind in _GEOMETRIES]
        yield cursor.fetch_record_batch(), geometries


def _column(name: str, kind: str) -> str:
    """Return a column in SQL: as it is if it has an equal in Arrow, as bytes or text if not."""
    if kind in _AS_THEY_ARE:
        return quoted(name)
    how = "geometry" if kind == "geography" else kind if kind == "geometry" else "text"
    return f"{quoted(name)}::{how} AS {quoted(name)}"


def _table(cursor: Any, address: Address) -> str:
    """Return the table that is meant, in SQL; the only one there is where none is named."""
    cursor.execute(_TABLES)
    tables: Sequence[tuple[str, ...]] = [tuple(row) for row in cursor.fetchall()]
    if not tables:
        raise InputError(f"{address.called} has no table that may be read; ask its owner for SELECT")
    if not address.rows:
        if len(tables) == 1:
            return quoted(*tables[0])
        raise InputError(
            f"{address.called} has several tables: {alike(('trips',), tables)}. Name one after #, as in "
            f"#{'.'.join(tables[0])}"
        )
    name = address.table()
    found = [table for table in tables if table[-len(name) :] == name]
    own = [table for table in found if table[0] == "public"]
    if len(found) > 1 and not own:
        raise InputError(f"{address.called} has several such tables: {alike(name, found)}; name its schema")
    if not found:
        raise InputError(
            f"{address.called} has no such table that may be read; there is {alike(name, tables)}"
        )
    return quoted(*(own or found)[0])


def _driver() -> Any:
    with needing("postgres", "PostgreSQL"):
        from adbc_driver_postgresql import dbapi
    return dbapi


def _with_patience(database: str) -> str:
    """Return a URI with a limit on how long to wait, where nobody set one."""
    split = urlsplit(database)
    options = parse_qsl(split.query, keep_blank_values=True)
    if "PGCONNECT_TIMEOUT" not in os.environ and "connect_timeout" not in dict(options):
        options.append(("connect_timeout", str(PATIENCE)))
    return urlunsplit(split._replace(query=urlencode(options)))


def _explained(error: Exception, address: Address, doing: str) -> InputError:
    """Return what went wrong in words of our own; the first that fit are taken."""
    state, text = str(getattr(error, "sqlstate", None) or ""), str(error).lower()
    words = next(
        words
        for states, signs, words in _PROBLEMS
        if state.startswith(states) or any(sign in text for sign in signs)
    )
    return InputError(words.format(what=address.called, doing=doing, state=state))


_PROBLEMS: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        ("57P0",),
        ("terminating connection", "closed the connection"),
        "{what} cut the connection; nothing was {doing}. Try again when it is up",
    ),
    (
        ("28",),
        ("password", "authentication failed"),
        "{what} does not let this user in; put the password into ~/.pgpass or a file that PGPASSFILE names "
        "(host:port:database:user:password, readable by you alone), and check the user's name",
    ),
    (
        ("3D000",),
        ('" does not exist',),
        "{what}: there is no such database; check the name after the host",
    ),
    (
        ("42501", "25006"),
        ("permission denied",),
        "{what} does not allow this user that; nothing was {doing}. Ask its owner",
    ),
    (
        ("42", "0A"),
        (),
        "{what} does not understand the query or the table after # (SQLSTATE {state}); try it in psql",
    ),
    (
        ("53",),
        (),
        "{what} has no room, or too many connections (SQLSTATE {state}); nothing was {doing}. Try later",
    ),
    (
        tuple("0123456789"),
        (),
        "{what} refused (SQLSTATE {state}); nothing was {doing}",
    ),
    (
        ("",),
        (),
        "{what} cannot be reached; expected an address such as postgresql://user@host:5432/name#table, and a "
        "server that runs there. Check host, port and name",
    ),
)
"""What SQLSTATEs begin with, what messages of the driver hold, and what is said then."""
