"""Whether files hold the fixes of each person in order of time; found by looking at their first rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tripcloak.trips.cleaning import tell
from tripcloak.trips.opening import Rows
from tripcloak.trips.projection import Projection

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
    times = tell(backwards.total(), people=len(backwards))
    return [
        f"time goes backwards between the fixes of a person {times} times or more in the first "
        "rows; fixes were put in order"
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
