"""The view ``fixes``: every fix of an input in clean columns, with the reason to drop it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tripcloak.errors import MissingColumnError
from tripcloak.trajectories.reading.order import note_on_order
from tripcloak.trajectories.reading.source import TrajectorySource
from tripcloak.trajectories.reading.trip_ends import fixes_sql, open_fixes_or_trips
from tripcloak.trips.area import Area, open_area
from tripcloak.trips.cleaning import CleaningReport
from tripcloak.trips.engine import plain_errors
from tripcloak.trips.fixes import judged_sql
from tripcloak.trips.notes import note_on_input
from tripcloak.trips.opening import Rows
from tripcloak.trips.rules import Rule, fix_rules
from tripcloak.trips.schema import flag_of

if TYPE_CHECKING:
    import duckdb

FIXES = "fixes"
_DAY = 86_400_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenFixes:
    """What is in the view ``fixes`` of a connection.

    The view has ``person`` (an integer or text), ``instant`` (microseconds since 1970), ``lat``, ``lon`` and
    ``reason``, which is 0 for fixes to keep, otherwise the number of the first rule of
    :data:`~tripcloak.trips.cleaning.REASONS` that the fix breaks by itself. Duplicates, jumps and what lies
    outside the study area are found later, among the fixes that are left.

    Attributes
    ----------
    rows : Rows
        The rows of the input.
    notes : list of str
        What a reader should know about how the input was read; holds no numbers and no values.
    now : int
        The first instant that is in the future, in microseconds since 1970.
    """

    rows: Rows
    notes: list[str]
    now: int

    def broken_lines(self) -> int:
        """Return the lines that had the wrong number of fields, as known after a full scan."""
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
    >>> from tripcloak.trips.engine import connect
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
            f"with {flag_of('person')} NAME (the id of a trip will do where every trip is somebody else's)"
        )
    # The same input read again on the same day is read the same way.
    now = (time.time_ns() // 1000 // _DAY + 2) * _DAY
    with plain_errors(rows.name, has_condition=source.where is not None):
        area = open_area(con, source.box, source.polygon)
        _create_view(con, rows, area, source, now)
        notes = [*rows.notes, *note_on_input(con, rows.projections, source.timezone, ("mark",))]
        notes += note_on_order(con, rows)
    return OpenFixes(rows=rows, notes=notes, now=now)


def _create_view(
    con: duckdb.DuckDBPyConnection, rows: Rows, area: Area, source: TrajectorySource, now: int
) -> None:
    sql, types, of_trips = fixes_sql(rows)
    # An empty taxi goes somewhere too.
    columns = [name for name in types if name != "occupied"]
    rules = [*fix_rules(columns, area), *of_trips, *_time_rules(source, now)]
    view = (
        "SELECT key AS person, epoch_us(t) AS instant, lat, lon, fix_reason AS reason "
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


def _time_rules(source: TrajectorySource, now: int) -> Sequence[Rule]:
    # Clocks that were never set say the very beginning of 1970.
    known = f"(t > make_timestamptz(0) AND t < make_timestamptz({now}))"
    rules = [Rule("bad_time", f"NOT {known}", known)]
    since, until = source.window
    ends = [f"t >= make_timestamptz({since})"] if since is not None else []
    ends += [f"t < make_timestamptz({until})"] if until is not None else []
    if ends:
        inside = f"({' AND '.join(ends)})"
        rules.append(Rule("outside_window", f"NOT {inside}", inside))
    return rules
