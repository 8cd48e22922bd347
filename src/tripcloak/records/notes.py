"""What a reader should know about how an input was read, and errors that only the whole of it can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.ground.spelling import spelt
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.files.tables import literal, quoted
from tripcloak.records.projection import Projection
from tripcloak.records.schema import ROLES, option_of
from tripcloak.records.suspicions import how_to_swap, no_ids
from tripcloak.records.values import OFFSET, is_text

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
            f"({option_of('person')} or {option_of('trip_id', 'NAME')})"
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
    lacking = len(having) < len(projections) or any(
        _some(con, p, f"({p.columns['person'].sql}) IS NULL", top_only=p.table.rejects is not None)
        for p in having
    )
    if lacking and "t" not in having[0].columns:
        notes.append(no_ids(column))
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
                f"those without were read as {timezone} (set {spelt('timezone')})"
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


NEARLY_ALL = 0.9
_PLACED = ("swapped", "out_of_range", "null_island", "outside_box", "outside_polygon")


def object_to_weights(report: CleaningReport, column: str) -> None:
    """Raise an error if most weights are negative: that column holds something else."""
    if report.dropped.get("negative_weight", 0) > report.kept:
        raise InputError(
            f"most values of column {column!r} are negative, so it cannot be the people that a trip stands "
            f"for; name another column with {spelt('weight')}, or say {spelt('weight', 'none')}"
        )


def object_to_swapped(report: CleaningReport, columns: dict[str, str]) -> None:
    """Raise an error if most coordinates fit only with latitude and longitude exchanged."""
    stages = [stage for stage in (report.before, report) if stage is not None]
    for stage in stages:
        swapped = stage.dropped.get("swapped", 0)
        placed = stage.kept + sum(stage.dropped.get(name, 0) for name in _PLACED)
        if swapped * 2 > placed:
            raise InputError(
                "latitude and longitude look swapped in most rows: as they are they lie off the map or "
                f"outside the area, the other way round they fit. {how_to_swap(columns)}"
            )


def object_to_text(
    con: duckdb.DuckDBPyConnection, report: CleaningReport, projections: Sequence[Projection], broken: int
) -> None:
    """Raise an error if nearly all rows hold text where numbers or times must be, and name the column."""
    first = report.before or report
    if first.dropped.get("unparsable", 0) <= NEARLY_ALL * first.rows:
        return
    if broken * 2 > first.rows:
        raise InputError(
            "most lines do not have as many fields as the first line has column names; "
            "check the delimiter, the quotes and that the first line holds the names"
        )
    _, column, role = _worst(con, [(projection, projection.table.probe) for projection in projections])
    raise InputError(
        f"nearly all values of column {column!r} cannot be read as the {ROLES[role].words}: expected values "
        f"such as {ROLES[role].example}. Name another column with {option_of(role)}{_say_how(role)}, or mend "
        "this one"
    )


def no_zone_notes(timezone: str | None) -> tuple[str, ...]:
    """Return a note where nothing says which zone's clock times are of.

    >>> no_zone_notes("Europe/Paris")
    ()
    """
    if timezone is not None:
        return ()
    return (
        "times have no zone: they are published as they stand, and claim none (name theirs with "
        f"{spelt('timezone', 'Europe/Paris')})",
    )


def _say_how(role: str) -> str:
    """Return how to say the way in which a column is written, where that can be said."""
    if ROLES[role].kind == "time":
        return f", say how it is written ({spelt('time_format', '%d/%m/%Y %H:%M', quoted=True)})"
    return ""


def unread_column(con: duckdb.DuckDBPyConnection, looked_at: Sequence[tuple[Projection, str]]) -> str | None:
    """Return which column could not be read most often, in words; None where all could.

    Parameters
    ----------
    looked_at
        Projections, each with the SQL of the rows to look at.
    """
    cells, column, role = _worst(con, looked_at)
    if not cells:
        return None
    return f"column {column!r} must hold the {ROLES[role].words}, such as {ROLES[role].example}"


def _worst(
    con: duckdb.DuckDBPyConnection, looked_at: Sequence[tuple[Projection, str]]
) -> tuple[int, str, str]:
    found = [one for projection, scan in looked_at for one in _unread(con, projection, scan)]
    return max(found, key=lambda item: item[0], default=(0, "", ""))


def _unread(con: duckdb.DuckDBPyConnection, projection: Projection, scan: str) -> list[tuple[int, str, str]]:
    """Return how many cells of each column could not be read; a second pass, but only before an error."""
    tested = [column for column in projection.columns.values() if column.bad]
    if not tested:
        return []
    sums = ", ".join(f"count_if({column.bad})" for column in tested)
    (numbers,) = con.execute(f"SELECT {sums} {projection.rows(scan)}").fetchall()
    return [(n, str(c.source), str(c.role)) for n, c in zip(numbers, tested, strict=True)]
