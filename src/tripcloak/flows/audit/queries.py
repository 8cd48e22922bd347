"""SQL of the auditor's own: climbing trees, closeness of destinations, overlap of flows, segments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from tripcloak.flows.audit.columns import TOLERANCE
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import BrokenPart

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


def too_far_sql(flows: str, *, lineage: str, sizes: str, t: float) -> str:
    """Return SQL for the number of origin zones whose destinations differ too much from those of all.

    The difference is the total variation, over the destination zones that are released with the origin
    and the rest of the map. A destination zone has of all volume what was released as it or inside it,
    and an even share, by tiles, of what was released as a zone that holds it.

    Parameters
    ----------
    flows
        SQL for rows of origin, destination and volume.
    lineage
        A table (zone, above): every released destination zone with itself and those that hold it.
    sizes
        SQL for rows of zone and tiles, one for every released destination zone.
    t
        The largest difference that is allowed.
    """
    return f"""
        with flow as ({flows}), size as ({sizes}),
        exact as (select destination as zone, sum(volume)::double as volume from flow group by destination),
        strict as (select zone, above from {lineage} where zone <> above),
        inside as (
            select strict.above as zone, sum(volume) as volume
            from strict join exact on exact.zone = strict.zone group by strict.above
        ),
        spread as (
            select strict.zone, sum(volume * low.tiles / high.tiles) as volume
            from strict join exact on exact.zone = strict.above
            join size low on low.zone = strict.zone join size high on high.zone = strict.above
            group by strict.zone
        ),
        everybody as (
            select zone, exact.volume + coalesce(inside.volume, 0) + coalesce(spread.volume, 0) as volume
            from exact left join inside using (zone) left join spread using (zone)
        ),
        own as (
            select origin, destination as zone, volume / sum(volume) over (partition by origin) as share
            from flow
        )
        select count(*) from (
            select origin from own join everybody using (zone) group by origin
            having sum(greatest(share - volume / (select sum(volume) from exact), 0)) > {t + TOLERANCE!r}
        )
    """


def overlaps_sql(flows: str, axes: Sequence[str], lineage: str) -> str:
    """Return SQL for the number of pairs of flows that overlap.

    Zones of a tree hold one another or have nothing in common. So a pair overlaps if and only if, axis
    by axis, the first is above the second or the other way round: every such pattern is one join, the
    lower side of each axis lifted to the zones above it. The first axis needs one direction only. A pair
    that shares a zone fits several patterns, and is counted by each.

    Parameters
    ----------
    flows
        A table with a column of zones per axis.
    lineage
        Name of tables (zone, above), with ``{axis}`` in it: every released zone with itself and the
        released zones that hold it.
    """
    patterns = product((True,), *[(True, False)] * (len(axes) - 1))
    return f"select sum(n) from ({' union all '.join(_pattern(flows, axes, p, lineage) for p in patterns)})"


def _pattern(flows: str, axes: Sequence[str], lifted: Sequence[bool], lineage: str) -> str:
    low = _lift(flows, [axis for axis, up in zip(axes, lifted, strict=True) if up], axes, lineage)
    high = _lift(flows, [axis for axis, up in zip(axes, lifted, strict=True) if not up], axes, lineage)
    return f"""select count(*) as n from ({low}) low join ({high}) high using ({", ".join(axes)})
        where low.id <> high.id"""


def _lift(flows: str, lifted: Sequence[str], axes: Sequence[str], lineage: str) -> str:
    columns = ", ".join(f"{axis}_up.above as {axis}" if axis in lifted else f"flow.{axis}" for axis in axes)
    joins = " ".join(
        f"join {lineage.format(axis=axis)} {axis}_up on {axis}_up.zone = flow.{axis}" for axis in lifted
    )
    return f"select flow.rowid as id, {columns} from {flows} flow {joins}"


def segment_sql(by: Sequence[str], columns: Sequence[str]) -> str:
    """Return SQL for the name of every record's segment.

    Parameters
    ----------
    by
        What parts records: a column each, with the width of bins where it holds numbers.
    columns
        The columns of the view of raw records, where such a column has the prefix ``attr_``.
    """
    parts = []
    for text in by:
        if clock := re.fullmatch(r"start_time:([0-9]{1,4})(h|min)@([A-Za-z0-9_/+-]+)", text):
            parts.append(f"'start_time=' || {_part_of_day(clock, columns)}")
            continue
        match = re.fullmatch(r"(.+):([1-9][0-9]{0,8})", text)
        column, width = (match[1], int(match[2])) if match else (text, None)
        if f"attr_{column}" not in columns:
            raise InputError(f"the release is parted by {column}, and the raw input was read without it")
        if "'" in column:
            raise BrokenPart("release/manifest.json: a column that parts people must be a plain name")
        value = '"attr_' + column.replace('"', '""') + '"'
        parts.append(f"'{column}=' || {_text(value) if width is None else _bin(value, width)}")
    return " || ', ' || ".join(parts)


def _part_of_day(clock: re.Match[str], columns: Sequence[str]) -> str:
    if "start_time" not in columns:
        raise InputError("the release is parted by the time of day, and the raw input was read without times")
    width = int(clock[1]) * (60 if clock[2] == "h" else 1)
    if not width or 1440 % width:
        raise BrokenPart("release/manifest.json: slots that part trips must divide a day")
    local = f"timezone('{clock[3]}', start_time)"
    low = f"(date_part('epoch', {local}::time)::bigint // {60 * width} * {width})"
    first, last = (f"printf('%02d:%02d', {at} // 60, {at} % 60)" for at in (low, f"({low} + {width})"))
    return f"case when start_time is null then 'unknown' else {first} || '-' || {last} end"


def _text(value: str) -> str:
    return (
        f"case when coalesce(trim({value}::varchar), '') = '' then 'unknown' else trim({value}::varchar) end"
    )


def _bin(value: str, width: int) -> str:
    number = f"try_cast({value} as double)"
    low = f"(floor({number} / {width})::bigint * {width})"
    name = f"{low}::varchar" if width == 1 else f"{low} || '-' || ({low} + {width - 1})"
    return f"case when {number} is not null and abs({number}) < 1e15 then {name} else 'unknown' end"
