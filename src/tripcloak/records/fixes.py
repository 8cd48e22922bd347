"""From GPS fixes to trips: a long silence, another trip id or an empty seat starts a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tripcloak.records.cleaning import (
    NUMBERS,
    CleaningReport,
    CleaningRule,
    fix_rules,
    reason_sql,
    report_files,
)
from tripcloak.records.tables import quoted

if TYPE_CHECKING:
    import duckdb

MADE_TRIPS = "tripcloak_made_trips"
_TRACK = "PARTITION BY key, trip ORDER BY instant, fix_reason, lat, lon"


def make_trips(
    con: duckdb.DuckDBPyConnection, fixes: str, types: Mapping[str, str], silence: float
) -> dict[str, str]:
    """Make a temporary table of the trips in GPS fixes and return its columns with their types.

    The first fix of a trip is its origin and the last one its destination; fixes of one instant are
    ordered by their coordinates, so that the order of rows does not matter. Bad fixes are left out
    before trips are made, and stay in the table as one row per reason.

    Parameters
    ----------
    fixes
        SQL of all fixes, with the columns ``t``, ``lat``, ``lon`` and ``person`` or ``trip_id``.
    types
        Columns of that SQL with their types.
    silence
        Seconds without a fix after which a new trip starts; not used where seats are known.
    """
    con.execute(f"CREATE OR REPLACE TEMP TABLE {MADE_TRIPS} AS {_made(fixes, types, silence)}")
    ends = dict.fromkeys(("o_lat", "o_lon", "d_lat", "d_lon"), "DOUBLE")
    times = dict.fromkeys(("start_time", "end_time"), "TIMESTAMPTZ")
    person = {"person": types["person"]} if "person" in types else {}
    return ends | times | person | {name: types[name] for name in _carried(types)} | {"single": "BOOLEAN"}


def trips_sql() -> str:
    """Return SQL of the trips that were made."""
    return f"SELECT *, fixes = 1 AS single FROM {MADE_TRIPS} WHERE fix_reason = 0"


def report_fixes(con: duckdb.DuckDBPyConnection, broken_lines: Mapping[str, int]) -> CleaningReport:
    """Return how many fixes became part of a trip and how many each reason took, file by file.

    Parameters
    ----------
    broken_lines
        The name of every file, with its lines that never became fixes.
    """
    each = f"SELECT 0 AS file, fix_reason, fixes FROM {MADE_TRIPS}"
    if len(broken_lines) > 1:
        each = (
            "SELECT each.key AS file, fix_reason, each.value AS fixes "
            f"FROM {MADE_TRIPS}, unnest(map_entries(by_file)) AS files(each)"
        )
    counted = con.execute(
        f"SELECT file, fix_reason, sum(fixes)::BIGINT FROM ({each}) GROUP BY ALL"
    ).fetchall()
    rows: list[dict[int, int]] = [{} for _ in broken_lines]
    for file, reason, fixes in counted:
        rows[file][reason] = fixes
    return report_files(rows, broken_lines, word="fixes")


def uneven_fixes(
    con: duckdb.DuckDBPyConnection, has_weight: bool, attributes: Sequence[str]
) -> dict[str, int]:
    """Return how many people have more than one value among their fixes, per carried column."""
    columns = {"weight": "weight"} if has_weight else {}
    columns |= {name: f"attr_{name}" for name in attributes}
    if not columns:
        return {}
    people = ", ".join(
        f"min({quoted(f'least_{c}')}) <> max({quoted(f'most_{c}')}) AS {quoted(c)}" for c in columns.values()
    )
    differ = ", ".join(f"count_if({quoted(c)})" for c in columns.values())
    (found,) = con.execute(
        f"SELECT {differ} FROM (SELECT {people} FROM {MADE_TRIPS} WHERE fix_reason = 0 GROUP BY person)"
    ).fetchall()
    return dict(zip(columns, found, strict=True))


def judged_sql(fixes: str, key: str, rules: Sequence[CleaningRule]) -> str:
    """Return SQL of all fixes with their ``key`` (whose they are) and ``fix_reason``, 0 for good ones."""
    return f"SELECT *, {reason_sql(rules)} AS fix_reason FROM (SELECT *, {key} AS key FROM ({fixes}))"


def _made(fixes: str, types: Mapping[str, str], silence: float) -> str:
    key = "person" if "person" in types else "trip_id"
    trip = "trip_id" if "trip_id" in types else "NULL"
    good = f"(0, {NUMBERS['vacant']})"
    kept = ", ".join(f"{quoted(name)}" for name in _carried(types))
    carried = f", {kept}" if kept else ""
    file, by_file, told = (
        (", file", ", histogram(file) AS by_file", ", by_file") if "file" in types else ("",) * 3
    )
    spread = [(f"least_{name}", f"most_{name}") for name in _carried(types)]
    extremes = "".join(
        f", min({quoted(name)}) AS {quoted(least)}, max({quoted(name)}) AS {quoted(most)}"
        for name, (least, most) in zip(_carried(types), spread, strict=True)
    )
    # Partitions hold one person's fixes (of one trip id); bad ones wait together under a null key.
    return f"""
        WITH judged AS ({judged_sql(fixes, key, fix_rules(tuple(types)))}),
        sorted AS (SELECT CASE WHEN fix_reason IN {good} THEN key END AS key,
                          CASE WHEN fix_reason IN {good} THEN {trip} END AS trip,
                          fix_reason, epoch_us(t) AS instant, lat, lon{carried}{file} FROM judged),
        parted AS (SELECT *, (key IS NOT NULL AND coalesce({_new_trip(types, silence)}, false))::INT AS new
                   FROM sorted WINDOW track AS ({_TRACK})),
        numbered AS (SELECT *, sum(new) OVER ({_TRACK} ROWS UNBOUNDED PRECEDING) AS number FROM parted),
        joined AS (SELECT key, fix_reason, count(*) AS fixes,
                          min(struct_pack(instant, lat, lon{carried})) AS head,
                          max(struct_pack(instant, lat, lon)) AS tail{extremes}{by_file}
                   FROM numbered GROUP BY key, trip, number, fix_reason)
        SELECT fix_reason, fixes{told}, head.lat AS o_lat, head.lon AS o_lon,
               tail.lat AS d_lat, tail.lon AS d_lon,
               make_timestamptz(head.instant) AS start_time, make_timestamptz(tail.instant) AS end_time
               {", key AS person" if key == "person" else ""}
               {"".join(f", head.{quoted(name)} AS {quoted(name)}" for name in _carried(types))}
               {"".join(f", {quoted(name)}" for pair in spread for name in pair)}
        FROM joined"""


def _new_trip(types: Mapping[str, str], silence: float) -> str:
    if "occupied" in types:
        return "fix_reason <> lag(fix_reason) OVER track"
    return f"instant - lag(instant) OVER track > {round(silence * 1e6)}"


def _carried(types: Mapping[str, str]) -> list[str]:
    return [name for name in types if name == "weight" or name.startswith("attr_")]
