"""Periods of the calendar: days, weeks and months in which trips begin."""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.time import Days
from tripcloak.records.files.tables import literal

if TYPE_CHECKING:
    import duckdb

PERIODS = ("day", "week", "month")
"""What a series may be parted by."""

_LABELS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
_EPOCH = date(1970, 1, 1)


def days_of(label: str) -> Days:
    """Return the first and the last day of a period, such as ``2024-05``, ``2024-W21`` or ``2024-05-01``.

    >>> days_of("2024-02").dates, days_of("2024-W01").dates
    (('2024-02-01', '2024-02-29'), ('2024-01-01', '2024-01-07'))
    >>> days_of("May")
    Traceback (most recent call last):
    tripcloak.InputError: a period is a month (2024-05), a week (2024-W21) or a day (2024-05-01); got 'May'
    """
    try:
        if match := re.fullmatch(r"(\d{4})-(\d\d)", label):
            first = date(int(match[1]), int(match[2]), 1)
            last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
        elif match := re.fullmatch(r"(\d{4})-W(\d\d)", label):
            first = date.fromisocalendar(int(match[1]), int(match[2]), 1)
            last = first + timedelta(days=6)
        else:
            first = last = date.fromisoformat(label if re.fullmatch(r"\d{4}-\d\d-\d\d", label) else "")
    except ValueError:
        raise InputError(
            f"a period is a month (2024-05), a week (2024-W21) or a day (2024-05-01); got {label!r}"
        ) from None
    return Days((first - _EPOCH).days, (last - _EPOCH).days)


def during_condition(label: str, timezone: str) -> str:
    """Return SQL that is true for rows of the view ``canonical`` that begin in a period of a clock."""
    first, last = (date.fromisoformat(day) for day in days_of(label).dates)
    clock = _clock(timezone)
    return (
        f"{clock} >= DATE {literal(str(first))} AND {clock} < DATE {literal(str(last + timedelta(days=1)))}"
    )


def find_periods(con: duckdb.DuckDBPyConnection, part: str, timezone: str) -> list[str]:
    """Return the periods in which clean rows of the view ``canonical`` begin, in the order of time."""
    if part not in PERIODS:
        raise InputError(f"{spelt('periods')} takes one of {', '.join(PERIODS)}; got {part!r}")
    clock = _clock(timezone)
    rows = con.execute(
        f"SELECT DISTINCT strftime({clock}, {literal(_LABELS[part])}) FROM canonical "
        f"WHERE reason = 0 AND year({clock}) BETWEEN 1000 AND 9998 ORDER BY 1"
    )
    return [label for (label,) in rows.fetchall()]


def _clock(timezone: str) -> str:
    return f"timezone({literal(timezone)}, start_time)"
