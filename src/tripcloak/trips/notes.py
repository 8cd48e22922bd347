"""What a reader should know about how an input was read; found by looking at few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripcloak.errors import MissingColumnError
from tripcloak.trips.columns import plain_name
from tripcloak.trips.names import VEHICLES
from tripcloak.trips.projection import Projection
from tripcloak.trips.schema import ROLES, flag_of
from tripcloak.trips.tables import literal, quoted
from tripcloak.trips.values import OFFSET, is_text

if TYPE_CHECKING:
    import duckdb

_FILES_LOOKED_AT = 100
_ROWS_LOOKED_AT = 1000


def without_empty_person(
    con: duckdb.DuckDBPyConnection, projections: Sequence[Projection]
) -> tuple[list[Projection], list[str]]:
    """Return the projections, without the person if no wanted row has one, and a note that says so."""
    having = [projection for projection in projections if "person" in projection.columns]
    if not having or any(_some(con, p, f"({p.columns['person'].sql}) IS NOT NULL") for p in having):
        return list(projections), []
    if not any(_some(con, p, "true") for p in projections):
        return list(projections), []
    column = str(having[0].columns["person"].source)
    if "t" in having[0].columns and "trip_id" not in having[0].columns:
        raise MissingColumnError(
            f"column {column!r} is empty; GPS fixes need the id of a person, vehicle or trip "
            f"({flag_of('person')} or {flag_of('trip_id')} NAME)"
        )
    bare = [
        replace(p, columns={name: c for name, c in p.columns.items() if name != "person"})
        for p in projections
    ]
    return bare, [f"column {column!r} is empty in all rows that were read, so there is no id of a person"]


def note_on_input(
    con: duckdb.DuckDBPyConnection, projections: Sequence[Projection], timezone: str, names: Sequence[str]
) -> list[str]:
    """Return notes on ids, times and duplicates; they hold column names, but no values and no numbers."""
    notes = [*_person_notes(con, projections), *_time_notes(con, projections, timezone)]
    if "mark" not in names:
        notes.append("there is no start time, so rows that are equal are kept as separate trips")
    return notes


def _person_notes(con: duckdb.DuckDBPyConnection, projections: Sequence[Projection]) -> list[str]:
    having = [projection for projection in projections if "person" in projection.columns]
    if not having:
        return []
    notes = []
    column = str(having[0].columns["person"].source)
    if plain_name(column) in VEHICLES:
        notes.append(
            f"column {column!r} tells vehicles apart, not people: travellers are counted as distinct vehicles"
        )
    lacking = len(having) < len(projections) or any(
        _some(con, p, f"({p.columns['person'].sql}) IS NULL", top_only=p.table.rejects is not None)
        for p in having
    )
    if lacking and "t" not in having[0].columns:
        notes.append(f"some rows have no id in {column!r}: they add volume but no traveller")
    return notes


def _time_notes(
    con: duckdb.DuckDBPyConnection, projections: Sequence[Projection], timezone: str
) -> list[str]:
    notes = []
    for role in ("start_time", "end_time", "time"):
        kinds: set[str] = set()
        columns = [
            (projection, column)
            for projection in projections
            for column in projection.columns.values()
            if column.role == role and is_text(projection.table.types[str(column.source)])
        ]
        for projection, column in columns:
            kinds |= _ways_of_writing(con, projection, str(column.source))
        if len(kinds) > 1:
            notes.append(
                f"some times in the column for the {ROLES[role].words} have an offset and some have none; "
                f"those without were read as {timezone} (set --timezone)"
            )
    return notes


def _ways_of_writing(con: duckdb.DuckDBPyConnection, projection: Projection, column: str) -> set[str]:
    """Return whether the first times of the files are written with an offset, without one, or both."""
    kinds: set[str] = set()
    files = projection.table.files
    for file in files[:: 1 + len(files) // _FILES_LOOKED_AT]:
        rows_of_file = projection.rows(projection.table.probe_of(file))
        top = f"SELECT {quoted(column)} AS written {rows_of_file} LIMIT {_ROWS_LOOKED_AT}"
        offset = f"regexp_matches(written, {literal(OFFSET)})"
        rows = con.execute(
            rf"SELECT DISTINCT CASE WHEN {offset} THEN 'offset' ELSE 'none' END "
            rf"FROM ({top}) WHERE regexp_matches(written, ':\d\d')"
        ).fetchall()
        kinds |= {kind for (kind,) in rows}
    return kinds


def _some(
    con: duckdb.DuckDBPyConnection, projection: Projection, condition: str, *, top_only: bool = False
) -> bool:
    """Return whether a wanted row, or one of the first, meets a condition; stops at the first that does."""
    rows = (
        f"SELECT * {projection.rows(projection.table.probe)}{f' LIMIT {_ROWS_LOOKED_AT}' if top_only else ''}"
    )
    return bool(con.execute(f"SELECT 1 FROM ({rows}) WHERE {condition} LIMIT 1").fetchall())
