"""Climbing a tree of zones in SQL, one step after the other.

The engine's own recursive queries would be shorter, but one that is cancelled in the middle may never
come back, and whoever pressed Ctrl-C would wait for ever. Every step here is a query of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def climb(
    con: duckdb.DuckDBPyConnection, table: str, start: str, steps: str, *, until_met: bool = False
) -> None:
    """Make a temporary table (who, here): everybody where they start, and wherever they come from there.

    Parameters
    ----------
    start
        SQL for rows of who and where they start.
    steps
        SQL for rows of a zone and where one goes from it; nowhere where that is null.
    until_met
        Whether to stop where somebody stands on the zone they are named after.

    Examples
    --------
    >>> import duckdb
    >>> with duckdb.connect() as con:
    ...     climb(con, "up", "values ('a', 'a')", "values ('a', 'ab'), ('ab', 'all'), ('all', null)")
    ...     con.execute("select * from up").fetchall()
    [('a', 'a'), ('a', 'ab'), ('a', 'all')]
    """
    con.execute(f"create or replace temp table {table} as select who, here from ({start}) start(who, here)")
    con.execute(f"create or replace temp table {table}_edge as from {table}")
    con.execute(
        f"create or replace temp table {table}_step as select zone, next from ({steps}) step(zone, next)"
    )
    going = "where next is not null" + (" and here <> who" if until_met else "")
    # Invariant: the edge holds who arrived with the last step, and where; the table holds all so far.
    while con.execute(
        f"""create or replace temp table {table}_edge as select who, next as here
        from {table}_edge edge join {table}_step step on step.zone = edge.here {going}"""
    ).fetchall() != [(0,)]:
        con.execute(f"insert into {table} from {table}_edge")
    con.execute(f"drop table {table}_edge; drop table {table}_step")
