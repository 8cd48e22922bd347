"""Addresses of tables in databases: where the database is, and which of its rows are meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from tripcloak.ground.errors import InputError
from tripcloak.ground.given_paths import given_path

SCHEMES = ("postgresql", "postgres")
FILES = (".duckdb", ".ddb")
MAGIC, MAGIC_AT = b"DUCK", 8
"""What a DuckDB file has at that place."""

_ELSEWHERE = re.compile(r"\s*(?:([a-z][a-z0-9+.-]{1,30})://|(?:\S+=.*\s)?password\s*=)", re.IGNORECASE)
"""How an address begins that is of another kind: a scheme, or libpq's list of words and values."""

_QUERY = re.compile(r"\s*(select|with|values|from)\b", re.IGNORECASE)
_PART = re.compile(r'"((?:[^"]|"")+)"|([^."]+)')


@dataclass(frozen=True)
class Address:
    """Where rows of a database are.

    Attributes
    ----------
    database : str
        A URI of PostgreSQL, which holds no password, or the path of a DuckDB file.
    rows : str
        A table (``trips``, ``mobility.trips``, ``"odd name"``), a query, or nothing.
    """

    database: str
    rows: str

    @property
    def is_file(self) -> bool:
        """Return whether the database is a file."""
        return not _has_scheme(self.database)

    @property
    def called(self) -> str:
        """Return what messages call the database; never more than its host and name, or its file."""
        if self.is_file:
            return Path(self.database).name
        split = urlsplit(self.database)
        return f"{split.path.lstrip('/') or 'the database'} on {split.hostname or 'this machine'}"

    @property
    def is_query(self) -> bool:
        """Return whether the rows are those of a query."""
        return _QUERY.match(self.rows) is not None

    def table(self) -> tuple[str, ...]:
        """Return the name of the table, and before it those of what it is in.

        Examples
        --------
        >>> Address("db", 'mobility."Trips of May"').table()
        ('mobility', 'Trips of May')
        """
        parts, at = [], 0
        while match := _PART.match(self.rows, at):
            parts.append(match[1].replace('""', '"') if match[1] else match[2].strip())
            at = match.end()
            if self.rows[at : at + 1] != ".":
                break
            at += 1
        if at != len(self.rows) or not parts or not all(parts) or len(parts) > 3:
            raise InputError(
                "expected a table after # in the address of a database, such as #trips, #mobility.trips or "
                '#mobility."odd name", or a query that begins with SELECT or WITH; found something else'
            )
        return tuple(parts)


def address_of(given: str) -> Address | None:
    """Return the address that a text is; None where it is none.

    Raises
    ------
    InputError
        It holds a password, which whoever lists the processes of the machine would see; or it is an address
        that nothing here reads, which is not repeated, since it may hold one.

    Examples
    --------
    >>> address_of("postgresql://ana@db.example/city#mobility.trips")
    Address(database='postgresql://ana@db.example/city', rows='mobility.trips')
    >>> address_of("rides/may.duckdb#trips").rows, address_of("trips.csv")
    ('trips', None)
    >>> address_of("postgresql://ana:secret@db.example/city#trips")
    Traceback (most recent call last):
    ...
    tripcloak.InputError: the address of a database must not hold a password, ...
    """
    database, _, rows = given.partition("#")
    if _has_scheme(given):
        _refuse_password(database)
        return Address(database, rows.strip())
    if Path(given).exists():
        database, rows = given, ""
    elif elsewhere := _ELSEWHERE.match(given):
        raise InputError(_other_kind(elsewhere[1] or ""))
    if database.lower().endswith(FILES) or _is_duckdb(given_path(database)):
        return Address(str(given_path(database)), rows.strip())
    return None


def alike(name: Sequence[str], tables: Sequence[Sequence[str]]) -> str:
    """Return which tables there are, those first that are called much like the one asked for.

    >>> alike(("trip",), [("main", "zones"), ("main", "trips")])
    'main.trips, main.zones'
    """
    from difflib import SequenceMatcher

    wanted = ".".join(name)
    listed = [".".join(table) for table in tables]
    listed.sort(key=lambda one: -SequenceMatcher(None, wanted, one).ratio())
    shown = ", ".join(listed[:10])
    return shown if len(listed) <= 10 else f"{shown} and {len(listed) - 10:,} more"


def _other_kind(scheme: str) -> str:
    """Return what to do with an address of another kind; not what it holds beyond its scheme."""
    if not scheme or scheme.lower().partition("+")[0] in SCHEMES:
        return (
            "the address of a PostgreSQL database begins with postgresql:// here, without a driver: "
            "postgresql://user@host:5432/name#table; passwords go into ~/.pgpass"
        )
    return (
        f"expected a file, or a database as postgresql://user@host:5432/name#table or city.duckdb#table; got "
        f"an address with {scheme.lower()}://. Fetch what it leads to, and give the file"
    )


def _has_scheme(text: str) -> bool:
    return text.lower().startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def _refuse_password(database: str) -> None:
    held = False
    try:
        split = urlsplit(database)
        held = split.password is not None or any(
            key.lower() in ("password", "sslpassword") for key, _ in parse_qsl(split.query)
        )
        _ = split.port
    except ValueError:
        raise InputError(
            "the address of a database could not be read; expected postgresql://user@host:5432/name#table"
        ) from None
    if held:
        raise InputError(
            "the address of a database must not hold a password, which everybody sees who lists the "
            "processes of this machine. Put it into ~/.pgpass (host:port:database:user:password, readable "
            "by you alone), or into a file that PGPASSFILE names, and leave it out of the address"
        )


def _is_duckdb(file: Path) -> bool:
    if file.suffix.lower() not in (".db", ".duck", ""):
        return False
    try:
        with file.open("rb") as opened:
            return opened.read(MAGIC_AT + len(MAGIC))[MAGIC_AT:] == MAGIC
    except (OSError, ValueError):
        return False
