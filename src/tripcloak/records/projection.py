"""From the raw columns of a table to the columns of clean trips, still with every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.records.columns import Assignment
from tripcloak.records.file_counts import FILE
from tripcloak.records.files.tables import Table, quoted
from tripcloak.records.schema import ROLES
from tripcloak.records.values import Casts, is_text

CLEAN_NAMES = {
    "origin_lat": "o_lat",
    "origin_lon": "o_lon",
    "destination_lat": "d_lat",
    "destination_lon": "d_lon",
    "origin": "o_id",
    "destination": "d_id",
    "origin_place": "o_place",
    "destination_place": "d_place",
    "time": "t",
}
"""Role to column of the view, where they differ."""

_TYPES = {
    "number": "DOUBLE",
    "amount": "DOUBLE",
    "time": "TIMESTAMPTZ",
    "zone": "VARCHAR",
    "truth": "BOOLEAN",
}

_PAIR = r"\[\s*([^,\[\]]+),\s*([^,\[\]]+)(,[^\[\]]*)?\]"
_FIRST_PAIR = rf"^\s*\[\s*{_PAIR}"
_LAST_PAIR = rf"{_PAIR}\s*\]\s*$"
_AT_MOST_ONE_PAIR = r"^\s*\[\s*(\[[^\[\]]*\]\s*)?\]\s*$"


@dataclass(frozen=True, kw_only=True)
class CleanColumn:
    """One column of a projection: SQL, type, and where it came from."""

    sql: str
    type: str
    role: str | None = None
    source: str | None = None
    bad: str | None = None


@dataclass(frozen=True, kw_only=True)
class Projection:
    """The clean columns of one table, as SQL over its raw ones."""

    table: Table
    columns: Mapping[str, CleanColumn]
    where: str | None = None

    @property
    def bad(self) -> str | None:
        """Return SQL that is true where a raw cell is not what its column must hold."""
        bad = [column.bad for column in self.columns.values() if column.bad]
        return f"({' OR '.join(bad)})" if bad else None

    def rows(self, scan: str) -> str:
        """Return SQL of the FROM and WHERE that give the wanted raw rows."""
        condition = "" if self.where is None else f" WHERE ({self.where}\n)"
        return f"FROM ({scan}){condition}"

    def select(self, types: Mapping[str, str], *, bad: bool, first: int | None = None) -> str:
        """Return SQL of the table with exactly these columns; absent ones are null.

        Parameters
        ----------
        first
            The number of its first file among all files; None where there is only one.
        """
        listed = [
            f"{_cast(self.columns.get(name), type_)} AS {quoted(name)}" for name, type_ in types.items()
        ]
        if first is not None:
            number = f"{FILE} + {first}" if len(self.table.files) > 1 else str(first)
            listed.append(f"({number})::INTEGER AS file")
        if bad:
            listed.append(f"coalesce({self.bad or 'false'}, false) AS bad")
        return f"SELECT {', '.join(listed)} {self.rows(self.table.scan)}"


def project(
    table: Table, assignment: Assignment, casts: Casts, attributes: Mapping[str, str], where: str | None
) -> Projection:
    """Return the clean columns of a table.

    Parameters
    ----------
    attributes
        Attribute to raw column.
    where
        SQL condition on raw columns.
    """
    columns: dict[str, CleanColumn] = {}
    for role, source in assignment.columns.items():
        type_ = table.types[source]
        if role == "polyline":
            columns |= _polyline(source, type_)
            continue
        value = casts.value(role, source, type_)
        kind = ROLES[role].kind
        clean = _TYPES.get(kind) or ("BIGINT" if value.sql.endswith("::BIGINT") else "VARCHAR")
        columns[CLEAN_NAMES.get(role, role)] = CleanColumn(
            sql=value.sql, type=clean, role=role, source=source, bad=value.bad
        )
    for attribute, source in attributes.items():
        columns[f"attr_{attribute}"] = CleanColumn(
            sql=quoted(source), type=table.types[source], source=source
        )
    return Projection(table=table, columns=columns, where=where)


def union(projections: Sequence[Projection]) -> tuple[str, dict[str, str]]:
    """Return SQL of all rows of all tables in the clean columns, and the type of each column.

    A column that only some tables have is null in the others; one whose type differs becomes text. Of
    several files, the column ``file`` says which of them a row is from.
    """
    types, bad = _shared(projections)
    files = [len(projection.table.files) for projection in projections]
    firsts = [sum(files[:place]) if sum(files) > 1 else None for place in range(len(files))]
    sql = " UNION ALL ".join(
        projection.select(types, bad=bad, first=first)
        for projection, first in zip(projections, firsts, strict=True)
    )
    added = {"file": "INTEGER"} if sum(files) > 1 else {}
    return sql, types | added | ({"bad": "BOOLEAN"} if bad else {})


def of_file(projections: Sequence[Projection], place: int, rows: tuple[int, int] | None = None) -> str:
    """Return SQL of the rows of one of all files in the same columns, or of some of its rows."""
    types, bad = _shared(projections)
    of_place = [(projection, file) for projection in projections for file in projection.table.files]
    projection, file = of_place[place]
    alone = replace(projection, table=projection.table.only(file, rows))
    return alone.select(types, bad=bad, first=place if len(of_place) > 1 else None)


def _shared(projections: Sequence[Projection]) -> tuple[dict[str, str], bool]:
    """Return the clean columns of all tables with their types, and whether any cell may be bad."""
    types: dict[str, str] = {}
    for projection in projections:
        for name, column in projection.columns.items():
            same = types.get(name, column.type) == column.type
            types[name] = column.type if same else "VARCHAR"
    return types, any(projection.bad for projection in projections)


def _cast(column: CleanColumn | None, type_: str) -> str:
    if column is None:
        # A flag that a table does not have is not raised; anything else is unknown.
        return "false" if type_ == "BOOLEAN" else f"NULL::{type_}"
    return column.sql if column.type == type_ else f"({column.sql})::{type_}"


def _polyline(source: str, type_: str) -> dict[str, CleanColumn]:
    """Return the ends of a path: its first and last pair, longitude first."""
    raw = quoted(source)
    if type_ in ("DOUBLE[][]", "FLOAT[][]", "DOUBLE[2][]", "FLOAT[2][]"):
        ends = {"o_lon": "[1][1]", "o_lat": "[1][2]", "d_lon": "[-1][1]", "d_lat": "[-1][2]"}
        cells = {name: f"({raw}){place}::DOUBLE" for name, place in ends.items()}
        single, bad = f"coalesce(len({raw}) < 2, false)", None
    elif is_text(type_):
        places = {
            "o_lon": (_FIRST_PAIR, 1),
            "o_lat": (_FIRST_PAIR, 2),
            "d_lon": (_LAST_PAIR, 1),
            "d_lat": (_LAST_PAIR, 2),
        }
        cells = {
            name: f"TRY_CAST(regexp_extract({raw}, '{pattern}', {group}) AS DOUBLE)"
            for name, (pattern, group) in places.items()
        }
        single = f"coalesce(regexp_matches({raw}, '{_AT_MOST_ONE_PAIR}'), false)"
        unread = " OR ".join(f"{cell} IS NULL" for cell in cells.values())
        bad = f"(({unread}) AND {raw} IS NOT NULL AND trim({raw}) <> '' AND NOT {single})"
    else:
        raise InputError(
            f"column {source!r} cannot be the path of a trip ({spelt('polyline')}): expected text such as "
            f"{ROLES['polyline'].example}, found a column of type {type_}"
        )
    columns = {name: CleanColumn(sql=sql, type="DOUBLE", source=source) for name, sql in cells.items()}
    columns["o_lat"] = CleanColumn(sql=cells["o_lat"], type="DOUBLE", role="polyline", source=source, bad=bad)
    return columns | {"single": CleanColumn(sql=single, type="BOOLEAN", source=source)}
