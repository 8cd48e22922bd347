"""Base stations: records that name an antenna get the place of that antenna."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripcloak.ground.engine import plain_errors
from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.ground.spelling import spelt
from tripcloak.records.area import Area
from tripcloak.records.columns import find_roles, listed
from tripcloak.records.files.tables import Table, open_tables, quoted
from tripcloak.records.files.writing import look_at_writing
from tripcloak.records.projection import CleanColumn, Projection
from tripcloak.records.schema import KNOWN_NAMES, option_of
from tripcloak.records.values import Casts

if TYPE_CHECKING:
    import duckdb

STATIONS = "tripcloak_stations"
AT_STATIONS = {"lat": "latitude of the base station", "lon": "longitude of the base station"}
"""The columns that records get."""

_STATION_NAMES = {
    "antenna": (*KNOWN_NAMES["antenna"], "id", "name", "code"),
    "lat": KNOWN_NAMES["lat"],
    "lon": KNOWN_NAMES["lon"],
}


def open_stations(con: duckdb.DuckDBPyConnection, path: str) -> None:
    """Make a temporary table of the base stations in a file: their ids and places.

    Raises
    ------
    InputError
        The file has no such columns, or lists a base station twice at different places.
    """
    selects = [_select(con, table) for table in open_tables(con, [path], None)]
    with plain_errors("the table of base stations", has_condition=False):
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE {STATIONS} AS SELECT id, min(lat) AS lat, min(lon) AS lon, "
            "min(lat) < max(lat) OR min(lon) < max(lon) AS twice "
            f"FROM ({' UNION ALL '.join(selects)}) WHERE id IS NOT NULL AND isfinite(lat + lon) "
            f"AND {Area().in_box('lat', 'lon')} AND NOT (lat = 0 AND lon = 0) GROUP BY id"
        )
        ((stations, twice),) = con.execute(f"SELECT count(*), count_if(twice) FROM {STATIONS}").fetchall()
    if not stations:
        raise InputError(
            f"the table of base stations ({spelt('stations')}) holds no station with an id and a "
            "place in degrees; expected columns such as antenna_id, lat and lon"
        )
    if twice:
        raise InputError(
            f"the table of base stations ({spelt('stations')}) lists some of them twice at different places; "
            "leave one place for each id"
        )


def place_at_stations(
    table: Table, given: Mapping[str, str], known: Mapping[str, Sequence[str]] | None
) -> Table:
    """Return a table with the place of the base station that each record names, null where it is unknown."""
    names = tuple(table.types)
    found = find_roles(names, given, {**KNOWN_NAMES, **(known or {})})
    if "antenna" not in found:
        raise MissingColumnError(
            f"{table.name}: no column for the id of a base station was found; name it with "
            f"{option_of('antenna', 'NAME')}. Columns found: {listed(names)}"
        )
    key = Casts().value("antenna", found["antenna"], table.types[found["antenna"]]).sql
    placed = ", ".join(f"stations.{axis} AS {quoted(name)}" for axis, name in AT_STATIONS.items())
    join = f"LEFT JOIN {STATIONS} AS stations ON ({key}) = stations.id"
    return replace(
        table,
        types={**table.types, **dict.fromkeys(AT_STATIONS.values(), "DOUBLE")},
        scan=f"SELECT records.*, {placed} FROM ({table.scan}) AS records {join}",
        probe=f"SELECT records.*, {placed} FROM ({table.probe}) AS records {join}",
    )


def unplaced(projection: Projection) -> Projection:
    """Return a projection with a mark on records whose base station is not known."""
    mark = CleanColumn(sql=f"({quoted(AT_STATIONS['lat'])} IS NULL)", type="BOOLEAN")
    return replace(projection, columns={**projection.columns, "unplaced": mark})


def _select(con: duckdb.DuckDBPyConnection, table: Table) -> str:
    names = tuple(table.types)
    found = find_roles(names, {}, _STATION_NAMES)
    missing = [role for role in _STATION_NAMES if role not in found]
    if missing:
        raise MissingColumnError(
            f"the table of base stations ({spelt('stations')}) needs columns such as antenna_id, lat and "
            f"lon; columns found: {listed(names)}"
        )
    casts = Casts(writings=look_at_writing(con, table, found).columns)
    values = (casts.value(role, found[role], table.types[found[role]]).sql for role in _STATION_NAMES)
    named = ", ".join(f"{sql} AS {name}" for sql, name in zip(values, ("id", "lat", "lon"), strict=True))
    return f"SELECT {named} FROM ({table.scan})"
