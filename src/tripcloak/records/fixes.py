"""From GPS fixes to trips: a long silence, another trip id or an empty seat starts a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tripcloak.ground.masking import FEW
from tripcloak.ground.spelling import spelt
from tripcloak.records.cleaning import (
    NUMBERS,
    CleaningReport,
    CleaningRule,
    fix_rules,
    reason_sql,
    report_files,
)
from tripcloak.records.files.tables import quoted
from tripcloak.records.pace import INTERVALS, Pace, pace_of

if TYPE_CHECKING:
    import duckdb

MADE_TRIPS = "tripcloak_made_trips"
_FOLLOWED = "tripcloak_followed_fixes"
_TRACK = "PARTITION BY key, trip ORDER BY instant, fix_reason, lat, lon"


class MadeTrips(NamedTuple):
    """The columns of the trips that were made, the silence that parted them, and what to know of it.

    The silence is None where it parts nothing, as trips follow from a seat that is taken or not.
    """

    types: dict[str, str]
    silence: float | None
    notes: list[str]
    sampling: str | None = None
    """How far apart fixes are, in words, where it was looked at."""


def make_trips(
    con: duckdb.DuckDBPyConnection, fixes: str, types: Mapping[str, str], silence: float | None
) -> MadeTrips:
    """Make a temporary table of the trips in GPS fixes and return what is in it.

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
        Seconds without a fix after which a new trip starts; found from how often fixes come if not given;
        not used where seats are known.
    """
    seats, pace, followed = "occupied" in types, None, _followed(fixes, types)
    if silence is None and not seats:
        con.execute(f"CREATE OR REPLACE TEMP TABLE {_FOLLOWED} AS {followed}")
        followed, pace = f"FROM {_FOLLOWED}", _pace(con)
    taken = silence if pace is None else pace.silence
    con.execute(f"CREATE OR REPLACE TEMP TABLE {MADE_TRIPS} AS {_made(followed, types, taken)}")
    con.execute(f"DROP TABLE IF EXISTS {_FOLLOWED}")
    ends = dict.fromkeys(("o_lat", "o_lon", "d_lat", "d_lon"), "DOUBLE")
    times = dict.fromkeys(("start_time", "end_time"), "TIMESTAMPTZ")
    person = {"person": types["person"]} if "person" in types else {}
    made = ends | times | person | {name: types[name] for name in _carried(types)} | {"single": "BOOLEAN"}
    return MadeTrips(made, None if seats else taken, _notes(con, pace, types), pace and pace.words)


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


def _followed(fixes: str, types: Mapping[str, str]) -> str:
    """Return SQL of all fixes with how long after the last one of the same id each comes."""
    key = "person" if "person" in types else "trip_id"
    trip = "trip_id" if "trip_id" in types else "NULL"
    good = f"(0, {NUMBERS['vacant']})"
    file = ", file" if "file" in types else ""
    # Partitions hold one person's fixes (of one trip id); bad ones wait together under a null key.
    return f"""
        WITH judged AS ({judged_sql(fixes, key, fix_rules(tuple(types)))}),
        sorted AS (SELECT CASE WHEN fix_reason IN {good} THEN key END AS key,
                          CASE WHEN fix_reason IN {good} THEN {trip} END AS trip,
                          fix_reason, epoch_us(t) AS instant, lat, lon{_listed(types)}{file} FROM judged)
        SELECT *, {_since_last(types)} AS since FROM sorted WINDOW track AS ({_TRACK})"""


def _since_last(types: Mapping[str, str]) -> str:
    """Return SQL of the microseconds since the last fix; where seats are known, of whether they changed."""
    if "occupied" in types:
        return "fix_reason <> lag(fix_reason) OVER track"
    return "instant - lag(instant) OVER track"


def _made(followed: str, types: Mapping[str, str], silence: float | None) -> str:
    """Return SQL of trips, of fixes that say how long after the last one they come."""
    new = "since" if "occupied" in types or silence is None else f"since > {round(silence * 1e6)}"
    spread = [(f"least_{name}", f"most_{name}") for name in _carried(types)]
    extremes = "".join(
        f", min({quoted(name)}) AS {quoted(least)}, max({quoted(name)}) AS {quoted(most)}"
        for name, (least, most) in zip(_carried(types), spread, strict=True)
    )
    by_file, told = (", histogram(file) AS by_file", ", by_file") if "file" in types else ("", "")
    return f"""
        WITH parted AS (SELECT *, (key IS NOT NULL AND coalesce({new}, false))::INT AS new FROM ({followed})),
        numbered AS (SELECT *, sum(new) OVER ({_TRACK} ROWS UNBOUNDED PRECEDING) AS number FROM parted),
        joined AS (SELECT key, fix_reason, count(*) AS fixes,
                          min(struct_pack(instant, lat, lon{_listed(types)})) AS head,
                          max(struct_pack(instant, lat, lon)) AS tail{extremes}{by_file}
                   FROM numbered GROUP BY key, trip, number, fix_reason)
        SELECT fix_reason, fixes{told}, head.lat AS o_lat, head.lon AS o_lon,
               tail.lat AS d_lat, tail.lon AS d_lon,
               make_timestamptz(head.instant) AS start_time, make_timestamptz(tail.instant) AS end_time
               {", key AS person" if "person" in types else ""}
               {"".join(f", head.{quoted(name)} AS {quoted(name)}" for name in _carried(types))}
               {"".join(f", {quoted(name)}" for pair in spread for name in pair)}
        FROM joined"""


def _pace(con: duckdb.DuckDBPyConnection) -> Pace:
    """Return the pace of the fixes: that of every id is the median of its own intervals."""
    # Fixes of one instant are no interval.
    median = f"SELECT quantile_disc(since, 0.5) AS since FROM {_FOLLOWED} WHERE key IS NOT NULL AND since > 0"
    rung = " + ".join(f"(since > {round(bound * 1e6)})::INT" for bound in INTERVALS)
    return pace_of(
        dict(
            con.execute(
                f"SELECT {rung} AS rung, count(*) FROM ({median} GROUP BY key) GROUP BY rung"
            ).fetchall()
        )
    )


def _listed(types: Mapping[str, str]) -> str:
    return "".join(f", {quoted(name)}" for name in _carried(types))


def _carried(types: Mapping[str, str]) -> list[str]:
    return [name for name in types if name == "weight" or name.startswith("attr_")]


MOST = 0.5
"""The share of good fixes in no trip from which on it is told."""


def _notes(con: duckdb.DuckDBPyConnection, pace: Pace | None, types: Mapping[str, str]) -> list[str]:
    """Return which silence was taken and why, and that most fixes end in nothing, where they do."""
    notes = [] if pace is None else [pace.note()]
    ((good, lone),) = con.execute(
        "SELECT coalesce(sum(fixes), 0)::BIGINT, count(*) FILTER (fixes = 1) "
        f"FROM {MADE_TRIPS} WHERE fix_reason = 0"
    ).fetchall()
    if lone <= MOST * good:
        return notes
    share = f" ({lone / good:.0%})" if lone >= FEW else ""
    return [*notes, f"most of the fixes{share} are part of no trip: {_help(pace, seats='occupied' in types)}"]


def _help(pace: Pace | None, *, seats: bool) -> str:
    """Return why most fixes end in nothing, and what would help."""
    if seats:
        return "passengers are on board for a single fix; denser fixes would help, or another column of seats"
    if pace is not None and pace.sparse:
        return (
            "they come too seldom to show anybody on the way, as calls and check-ins do. "
            "`tripcloak trajectories trips` makes trips of them, from one place to the next"
        )
    return (
        "between one and the next is a longer silence than ends a trip; a longer one would help "
        f"({spelt('silence', 'SECONDS')})"
    )
