"""Segments: parts of the input by what is said about people or trips, such as sex or age."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import called, spelt
from tripcloak.records.files.tables import literal, quoted

if TYPE_CHECKING:
    import duckdb

UNKNOWN = "unknown"
"""The segment of rows that do not say."""

START = "start_time"
"""What a text begins with that parts trips by the time of day they begin at."""

DAY = 1440
"""Minutes."""


@dataclass(frozen=True)
class SegmentBy:
    """What parts the input: a column and the width of bins where it holds numbers, or the time of day.

    Attributes
    ----------
    minutes : int, optional
        Length of the slots of a day that trips begin in, if these part the input.
    timezone : str, optional
        Whose clock tells the time of day; the input's own where it is not said yet.

    Examples
    --------
    >>> SegmentBy.parse("age:10")
    SegmentBy(column='age', width=10)
    >>> str(SegmentBy.parse("start_time:6h").by_clock_of("Europe/Paris"))
    'start_time:6h@Europe/Paris'
    >>> SegmentBy.parse("age:0")
    Traceback (most recent call last):
    tripcloak.InputError: segment takes a column, or a column and a whole width of bins such as ...
    """

    column: str
    width: int | None = None
    minutes: int | None = field(default=None, repr=False)
    timezone: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> SegmentBy:
        """Return what a text such as ``sex``, ``age:10`` or ``start_time:6h`` says."""
        if match := re.fullmatch(rf"{START}:([0-9]{{1,4}})(h|min)(?:@([\w/+-]+))?", text.strip()):
            minutes = int(match[1]) * (60 if match[2] == "h" else 1)
            if not minutes or DAY % minutes:
                raise InputError(f"{called('segment')}: slots must divide a day, such as 6h; got {text!r}")
            return cls(START, minutes=minutes, timezone=match[3])
        column, colon, width = text.rpartition(":") if ":" in text else (text, "", "")
        if not column.strip() or (colon and not (width.isdecimal() and int(width) > 0)):
            raise InputError(
                f"{called('segment')} takes a column, or a column and a whole width of bins such as age:10, "
                f"or {START}:6h for slots of the day; got {text!r}"
            )
        return cls(column.strip(), int(width) if colon else None)

    def by_clock_of(self, timezone: str) -> SegmentBy:
        """Return the same by the clock of a zone, where times of day part the input and none was said."""
        return self if self.minutes is None or self.timezone else replace(self, timezone=timezone)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Return the columns to be carried along: none for times, which every trip has anyhow."""
        return () if self.minutes is not None else (self.column,)

    def __str__(self) -> str:
        if self.minutes is not None:
            length = f"{self.minutes // 60}h" if self.minutes % 60 == 0 else f"{self.minutes}min"
            return f"{START}:{length}" + (f"@{self.timezone}" if self.timezone else "")
        return self.column if self.width is None else f"{self.column}:{self.width}"

    @property
    def label_sql(self) -> str:
        """Return SQL of the segment of every row of the view ``canonical``."""
        if self.minutes is not None:
            return self._slot_sql
        value = quoted(f"attr_{self.column}")
        if self.width is None:
            return f"coalesce(nullif(trim({value}::VARCHAR), ''), {literal(UNKNOWN)})"
        low = f"(floor(number / {self.width}) * {self.width})::BIGINT"
        high = "" if self.width == 1 else f" || '-' || ({low} + {self.width - 1})"
        number = f"TRY_CAST({value} AS DOUBLE)"
        label = f"{low}::VARCHAR{high}".replace("number", number)
        return f"CASE WHEN abs({number}) < 1e15 THEN {label} ELSE {literal(UNKNOWN)} END"

    @property
    def _slot_sql(self) -> str:
        clock = f"timezone({literal(self.timezone or 'UTC')}, start_time)"
        number = f"((hour({clock}) * 60 + minute({clock})) // {self.minutes})::INTEGER"
        names = ", ".join(literal(name) for name in slot_names(self.minutes or DAY))
        return f"coalesce(([{names}])[{number} + 1], {literal(UNKNOWN)})"


def slot_names(minutes: int) -> list[str]:
    """Return the names of the slots of a day.

    >>> slot_names(720)
    ['00:00-12:00', '12:00-24:00']
    """
    edges = [f"{at // 60:02}:{at % 60:02}" for at in range(0, DAY + 1, minutes)]
    return [f"{begin}-{end}" for begin, end in pairwise(edges)]


class Segment(NamedTuple):
    """One part: the value of every column that parts the input, and how many stand behind it.

    The numbers are for the data owner; only the names may be shown to others.
    """

    values: Mapping[str, str]
    trips: int
    travellers: int | None

    @property
    def name(self) -> str:
        """Return the name of the segment.

        >>> Segment({"sex": "F", "age:10": "20-29"}, 5, None).name
        'sex=F, age=20-29'
        """
        return ", ".join(f"{SegmentBy.parse(by).column}={value}" for by, value in self.values.items())


def segment_condition(values: Mapping[str, str]) -> str:
    """Return SQL that is true for rows of the view ``canonical`` in a segment."""
    return " AND ".join(f"{SegmentBy.parse(by).label_sql} = {literal(value)}" for by, value in values.items())


def number_sql(segments: Sequence[Segment]) -> str:
    """Return SQL of the number of the segment that a row of the view ``canonical`` is in; -1 for none."""
    cases = (f"WHEN {segment_condition(one.values)} THEN {n}" for n, one in enumerate(segments))
    return f"(CASE {' '.join(cases)} ELSE -1 END)::INTEGER"


def find_segments(
    con: duckdb.DuckDBPyConnection, by: Sequence[SegmentBy], *, people: bool = True
) -> list[Segment]:
    """Return the segments of the clean rows of the view ``canonical``, by name.

    Parameters
    ----------
    people
        Whether to count who is in each, for which the engine keeps everybody in memory.
    """
    labels = [one.label_sql for one in by]
    columns = [name for name, *_ in con.execute("DESCRIBE canonical").fetchall()]
    trips = "sum(trips)" if "trips" in columns else "count(*)"
    travellers = "count(DISTINCT person)" if people and "person" in columns else "NULL"
    rows = con.execute(
        f"SELECT {', '.join(labels)}, {trips}::BIGINT, {travellers} FROM canonical WHERE reason = 0 "
        f"GROUP BY {', '.join(str(i + 1) for i in range(len(by)))} ORDER BY ALL"
    ).fetchall()
    for column, one in enumerate(by):
        if one.width is not None and rows and all(row[column] == UNKNOWN for row in rows):
            raise InputError(
                f"the column {one.column} holds no numbers to make bins of; write "
                f"{spelt('segment', one.column)}"
            )
    names = [str(one) for one in by]
    return [Segment(dict(zip(names, row, strict=False)), row[-2], row[-1]) for row in rows]
