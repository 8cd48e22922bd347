"""Trips of people as fixes: each tells where somebody was when it began and when it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripcloak.errors import InputError, MissingColumnError
from tripcloak.trips.opening import Rows, open_rows
from tripcloak.trips.rules import Rule
from tripcloak.trips.schema import ROLES, flag_of
from tripcloak.trips.source import TripSource

if TYPE_CHECKING:
    import duckdb

NOTE = "the rows are trips: each gives two fixes, its origin when it begins and its destination when it ends"


def open_fixes_or_trips(con: duckdb.DuckDBPyConnection, source: TripSource) -> Rows:
    """Return the rows of fixes, or of trips where the table holds such; what is missing is said of fixes."""
    try:
        return open_rows(con, source)
    except MissingColumnError as missing:
        try:
            rows = open_rows(con, replace(source, form="trips"))
        except InputError:
            raise missing from None
    lacking = [role for role in ("start_time", "end_time") if role not in rows.columns]
    if lacking:
        words = "; ".join(f"{ROLES[role].words} ({flag_of(role)} NAME)" for role in lacking)
        raise MissingColumnError(
            f"{rows.name}: trips become trajectories if they say when they begin and end; missing: {words}"
        )
    return replace(rows, notes=[*rows.notes, NOTE])


def fixes_sql(rows: Rows) -> tuple[str, dict[str, str], Sequence[Rule]]:
    """Return SQL of fixes, the type of each column, and what is to be asked of trips beyond their fixes."""
    sql, types = rows.select()
    if rows.assignment.form != "trips":
        return sql, types, ()
    kept = [name for name in ("person", "bad", "incomplete") if name in types]
    ends = (("start_time", "o_lat", "o_lon"), ("end_time", "d_lat", "d_lon"))
    packed = ", ".join(f"struct_pack(t := {t}, lat := {lat}, lon := {lon})" for t, lat, lon in ends)
    made = {name: types[name] for name in kept} | {"t": "TIMESTAMPTZ", "lat": "DOUBLE", "lon": "DOUBLE"}
    backwards = "coalesce(end_time < start_time, false) AS backwards"
    return (
        f"SELECT {', '.join(kept)}, {backwards}, unnest([{packed}], recursive := true) FROM ({sql})",
        made,
        [Rule("end_before_start", "backwards", "NOT backwards")],
    )
