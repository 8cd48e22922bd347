"""Errors that only the whole input can show: swapped coordinates, text for numbers, no weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tripcloak.errors import InputError
from tripcloak.trips.cleaning import CleaningReport
from tripcloak.trips.projection import Projection
from tripcloak.trips.schema import ROLES, flag_of

if TYPE_CHECKING:
    import duckdb

NEARLY_ALL = 0.9
_PLACED = ("swapped", "out_of_range", "null_island", "outside_box", "outside_polygon")


def object_to_weights(report: CleaningReport, column: str) -> None:
    """Raise an error if most weights are negative: that column holds something else."""
    if report.dropped.get("negative_weight", 0) > report.kept:
        raise InputError(
            f"most values of column {column!r} are negative, so it cannot be the people that a trip stands "
            "for; name another column with --weight, or say --weight none"
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
                f"outside the area, the other way round they fit. {_how_to_swap(columns)}"
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
    worst = max(
        (found for projection in projections for found in _unread(con, projection)), key=lambda item: item[0]
    )
    _, column, role = worst
    raise InputError(
        f"nearly all values of column {column!r} cannot be read as the {ROLES[role].words}: expected values "
        f"such as {ROLES[role].example}. Name another column with {flag_of(role)}, or mend this one"
    )


def _unread(con: duckdb.DuckDBPyConnection, projection: Projection) -> list[tuple[int, str, str]]:
    """Return how many cells of each column could not be read; a second pass, but only before an error."""
    tested = [column for column in projection.columns.values() if column.bad]
    if not tested:
        return []
    sums = ", ".join(f"count_if({column.bad})" for column in tested)
    (numbers,) = con.execute(f"SELECT {sums} {projection.rows(projection.table.probe)}").fetchall()
    return [(n, str(c.source), str(c.role)) for n, c in zip(numbers, tested, strict=True)]


def _how_to_swap(columns: dict[str, str]) -> str:
    pairs = (("origin_lat", "origin_lon"), ("destination_lat", "destination_lon"), ("lat", "lon"))
    flags = [
        f"{flag_of(lat)} {columns[lon]!r} {flag_of(lon)} {columns[lat]!r}"
        for lat, lon in pairs
        if lat in columns and lon in columns
    ]
    return f"Try {' '.join(flags)}" if flags else "Pairs in a path must be longitude first"
