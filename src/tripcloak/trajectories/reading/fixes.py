"""The view ``fixes``: every fix of an input in clean columns, with the reason to drop it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tripcloak.ground.engine import plain_errors
from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt_command
from tripcloak.records.area import Area, open_area
from tripcloak.records.cleaning import CleaningReport, CleaningRule, fix_rules
from tripcloak.records.fixes import judged_sql
from tripcloak.records.identities import identify
from tripcloak.records.notes import no_zone_notes, note_on_input
from tripcloak.records.opening import Rows, open_rows
from tripcloak.records.projection import Projection
from tripcloak.records.schema import ROLES, option_of
from tripcloak.records.source import TripSource
from tripcloak.trajectories.reading.source import TrajectorySource

if TYPE_CHECKING:
    import duckdb


_FILES_LOOKED_AT = 100
_ROWS_LOOKED_AT = 100_000


def note_on_order(con: duckdb.DuckDBPyConnection, rows: Rows) -> list[str]:
    """Return a note where time goes backwards in a file; a small number is not told."""
    timed = [projection for projection in rows.projections if {"t", "person"} <= set(projection.columns)]
    con.execute("SET preserve_insertion_order = true")
    try:
        backwards: Counter[str] = Counter()
        for projection in timed:
            for file in projection.table.files[:: 1 + len(projection.table.files) // _FILES_LOOKED_AT]:
                backwards.update(_backwards(con, projection, file))
    finally:
        con.execute("SET preserve_insertion_order = false")
    if not backwards:
        return []
    times = mask_small(backwards.total(), people=len(backwards))
    often = f"{times} times or more" if times[0].isdigit() else "some times"
    return [
        f"time goes backwards between fixes of the same id {often} in the first rows; fixes were put in order"
    ]


def _backwards(con: duckdb.DuckDBPyConnection, projection: Projection, file: str) -> dict[str, int]:
    """Return, by person, how many of the first rows of a file are earlier than that person's row before."""
    person, t = projection.columns["person"].sql, projection.columns["t"].sql
    top = (
        f"SELECT {person} AS person, {t} AS t, row_number() OVER () AS place "
        f"FROM (SELECT * {projection.rows(projection.table.probe_of(file))} LIMIT {_ROWS_LOOKED_AT})"
    )
    before = "lag(t) OVER (PARTITION BY person ORDER BY place)"
    return dict(
        con.execute(
            f"SELECT person::VARCHAR, count(*) FROM (SELECT person, t, {before} AS before FROM ({top})) "
            "WHERE t < before GROUP BY 1"
        ).fetchall()
    )


NOTE = "the rows are trips: each gives two fixes, its origin when it begins and its destination when it ends"


def open_fixes_or_trips(con: duckdb.DuckDBPyConnection, source: TripSource) -> Rows:
    """Return the rows of fixes, or of trips where the table holds such; what is missing is said of fixes."""
    try:
        return open_rows(con, source)
    except MissingColumnError as missing:
        try:
            rows = open_rows(con, replace(source, form="trips"))
        except InputError:
            raise _of_flows(con, source) or missing from None
    lacking = [role for role in ("start_time", "end_time") if role not in rows.columns]
    if lacking:
        words = "; ".join(f"{ROLES[role].words} ({option_of(role, 'NAME')})" for role in lacking)
        raise MissingColumnError(
            f"{rows.name}: trips become trajectories if they say when they begin and end; missing: {words}"
        )
    return replace(rows, notes=[*rows.notes, NOTE])


def _of_flows(con: duckdb.DuckDBPyConnection, source: TripSource) -> InputError | None:
    """Return the error that a table is one of the other wing; None where it is none."""
    try:
        rows = open_rows(con, replace(source, form=None))
    except InputError:
        return None
    if rows.assignment.form not in ("zones", "counts", "polyline"):
        return None
    return InputError(
        f"{rows.name}: the rows are trips and not fixes of people; such tables are read by "
        f"{spelt_command('describe')} and {spelt_command('anonymise')}"
    )


def fixes_sql(rows: Rows) -> tuple[str, dict[str, str], Sequence[CleaningRule]]:
    """Return SQL of fixes, the type of each column, and what is to be asked of trips beyond their fixes."""
    sql, types = rows.select()
    if rows.assignment.form != "trips":
        return sql, types, ()
    kept = [name for name in ("person", "file", "bad", "incomplete") if name in types]
    ends = (("start_time", "o_lat", "o_lon"), ("end_time", "d_lat", "d_lon"))
    packed = ", ".join(f"struct_pack(t := {t}, lat := {lat}, lon := {lon})" for t, lat, lon in ends)
    made = {name: types[name] for name in kept} | {"t": "TIMESTAMPTZ", "lat": "DOUBLE", "lon": "DOUBLE"}
    backwards = "coalesce(end_time < start_time, false) AS backwards"
    return (
        f"SELECT {', '.join(kept)}, {backwards}, unnest([{packed}], recursive := true) FROM ({sql})",
        made,
        [CleaningRule("end_before_start", "backwards", "NOT backwards")],
    )


FIXES = "fixes"
_DAY = 86_400_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenFixes:
    """What is in the view ``fixes`` of a connection.

    The view has ``person`` (an integer or text), ``instant`` (microseconds since 1970), ``lat``, ``lon`` and
    ``reason``, which is 0 for fixes to keep, otherwise the number of the first rule of
    :data:`~tripcloak.records.cleaning.REASONS` that the fix breaks by itself. Duplicates, jumps and what lies
    outside the study area are found later, among the fixes that are left. Of several files, ``file`` says
    which of them a fix is from.

    Attributes
    ----------
    rows : Rows
        The rows of the input.
    notes : list of str
        What a reader should know about how the input was read; holds no numbers and no values.
    now : int
        The first instant that is in the future, in microseconds since 1970.
    id_is : str
        What the ids stand for.
    """

    rows: Rows
    notes: list[str]
    now: int
    id_is: str = "person"

    def broken_lines(self) -> dict[str, int]:
        """Return every file's lines that had the wrong number of fields, as known after a full scan."""
        return self.rows.broken_lines()

    def fixes_report(self) -> CleaningReport | None:
        """Return None: fixes are not joined to trips here."""
        return None

    def object_to(self, report: CleaningReport) -> None:
        """Raise an InputError if the fixes show that the input as a whole was misread."""
        self.rows.object_to(report)


def open_fixes(con: duckdb.DuckDBPyConnection, source: TrajectorySource) -> OpenFixes:
    """Create the view ``fixes`` of a source and return what is in it; only the top of files is read here.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tripcloak.ground.engine import connect
    >>> with tempfile.TemporaryDirectory() as folder, connect() as con:
    ...     path = Path(folder) / "fixes.csv"
    ...     _ = path.write_text("user_id,timestamp,lat,lon\\na,2024-05-01 08:30:00,48.8,2.3\\nb,7,0,0\\n")
    ...     _ = open_fixes(con, TrajectorySource(paths=(str(path),)))
    ...     con.execute("SELECT person, reason FROM fixes ORDER BY person").fetchall()
    [('a', 0), ('b', 12)]
    """
    rows = open_fixes_or_trips(con, source.trips)
    if "person" not in rows.columns:
        raise MissingColumnError(
            f"{rows.name}: trajectories belong to people, and no column for their ids was found; name it "
            f"with {option_of('person', 'NAME')} (the id of a trip will do where every trip is somebody "
            "else's)"
        )
    # The same input read again on the same day is read the same way.
    now = (time.time_ns() // 1000 // _DAY + 2) * _DAY
    with plain_errors(rows.name, has_condition=source.where is not None):
        area = open_area(con, source.box, source.polygon)
        _create_view(con, rows, area, source, now)
        notes = [*rows.notes, *note_on_input(con, rows.projections, source.timezone or "UTC", ("mark",))]
        notes += [*note_on_order(con, rows), *no_zone_notes(rows.timezone)]
    identity = identify(
        rows.id_columns, said=source.id_is, preset=rows.preset, named="person" in source.columns
    )
    return OpenFixes(rows=rows, notes=[*notes, *identity.notes], now=now, id_is=identity.kind)


def _create_view(
    con: duckdb.DuckDBPyConnection, rows: Rows, area: Area, source: TrajectorySource, now: int
) -> None:
    sql, types, of_trips = fixes_sql(rows)
    # An empty taxi goes somewhere too.
    columns = [name for name in types if name != "occupied"]
    rules = [*fix_rules(columns, area), *of_trips, *_time_rules(source, now)]
    file = ", file" if rows.files > 1 else ""
    view = (
        f"SELECT key AS person, epoch_us(t) AS instant, lat, lon, fix_reason AS reason{file} "
        f"FROM ({judged_sql(sql, 'person', rules)})"
    )
    if source.sample is not None:
        size, seed = source.sample
        drawn = (
            f"SELECT DISTINCT person, person::VARCHAR AS id FROM ({view}) WHERE reason = 0 "
            f"ORDER BY hash(id, {int(seed)}), id LIMIT {int(size)}"
        )
        view = f"SELECT * FROM ({view}) WHERE person IN (SELECT person FROM ({drawn}))"
    con.execute(f"CREATE OR REPLACE TEMP VIEW {FIXES} AS {view}")


def _time_rules(source: TrajectorySource, now: int) -> Sequence[CleaningRule]:
    # Clocks that were never set say the very beginning of 1970.
    known = f"(t > make_timestamptz(0) AND t < make_timestamptz({now}))"
    rules = [CleaningRule("bad_time", f"NOT {known}", known)]
    since, until = source.window
    ends = [f"t >= make_timestamptz({since})"] if since is not None else []
    ends += [f"t < make_timestamptz({until})"] if until is not None else []
    if ends:
        inside = f"({' AND '.join(ends)})"
        rules.append(CleaningRule("outside_window", f"NOT {inside}", inside))
    return rules
