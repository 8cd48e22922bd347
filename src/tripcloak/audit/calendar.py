"""Times as the calendar knows them, one at a time: slots, hours, parts of the day, days, weeks, all time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple

ALL = "all time"
"""The zone above several weeks."""

PARTS = ("night", "morning", "afternoon", "evening")
HOUR, PART, DAY, WEEK = 60, 360, 1440, 10080
_TEXT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d)(?::(\d\d))?|/([a-z]+))?|(\d{4})-W(\d\d)")


class Span(NamedTuple):
    """A stretch of time: its first minute, and its length in minutes."""

    begin: datetime
    minutes: int

    @property
    def end(self) -> datetime:
        """Return the first minute after it."""
        return self.begin + timedelta(minutes=self.minutes)


def lengths(slot: int) -> list[int]:
    """Return the lengths of time, in minutes, that zones over slots of this length may have.

    >>> lengths(15), lengths(240)
    ([15, 60, 360, 1440, 10080], [240, 1440, 10080])
    """
    return [slot, *(length for length in (HOUR, PART, DAY, WEEK) if length > slot and length % slot == 0)]


def span(zone: str, slot: int) -> Span | None:
    """Return the time that a zone names, None where it names none over slots of this length.

    >>> span("2026-01-05/morning", 15)
    Span(begin=datetime.datetime(2026, 1, 5, 6, 0), minutes=360)
    >>> span("2026-W02", 60).begin.isoformat(), span("2026-01-05T08:20", 15), span("2026-02-30", 15)
    ('2026-01-05T00:00:00', None, None)
    """
    try:
        found = _read(zone, slot)
    except ValueError:
        return None
    return found if found is not None and name(found, slot) == zone else None


def name(stretch: Span, slot: int) -> str | None:
    """Return the zone that a stretch of time is, None where there is none over slots of this length."""
    begin, minutes = stretch
    into_day = begin.hour * HOUR + begin.minute
    if minutes not in lengths(slot) or into_day % min(minutes, DAY):
        return None
    if minutes == WEEK:
        year, week, weekday = begin.isocalendar()
        return f"{year:04}-W{week:02}" if weekday == 1 else None
    day = begin.date().isoformat()
    if minutes == DAY:
        return day
    if minutes == PART != slot:
        return f"{day}/{PARTS[into_day // PART]}"
    return f"{day}T{begin.hour:02}" if minutes == HOUR else f"{day}T{begin.hour:02}:{begin.minute:02}"


def contains(zone: str, tile: str, slot: int) -> bool:
    """Return whether a zone is a slot or holds it.

    >>> contains("2026-01-05/morning", "2026-01-05T08", 60), contains("2026-W03", "2026-01-05T08", 60)
    (True, False)
    """
    held = span(tile, slot)
    return held is not None and held.minutes == slot and zone in above(tile, slot)


def above(zone: str, slot: int) -> Iterator[str]:
    """Yield a zone and every zone that holds it.

    >>> list(above("2026-01-05T08", 60))
    ['2026-01-05T08', '2026-01-05/morning', '2026-01-05', '2026-W02', 'all time']
    """
    here = span(zone, slot)
    if here is not None:
        for length in lengths(slot):
            if length >= here.minutes:
                named = name(Span(_floor(here.begin, length), length), slot)
                assert named is not None
                yield named
        yield ALL
    elif zone == ALL:
        yield ALL


def height_and_tiles(zone: str, slot: int, weeks: int) -> tuple[int, int] | None:
    """Return how high a zone stands above the slots and how many it holds, None where it is no such zone.

    ``weeks`` is what all time spans, from the first week to the last.

    >>> height_and_tiles("2026-01-05", 60, 2), height_and_tiles("all time", 60, 2)
    ((2, 24), (4, 336))
    """
    if zone == ALL:
        return len(lengths(slot)), weeks * WEEK // slot
    here = span(zone, slot)
    return None if here is None else (lengths(slot).index(here.minutes), here.minutes // slot)


def weeks_between(first: str, last: str, slot: int) -> int:
    """Return the number of weeks from the one of the first slot to the one of the last, both counted.

    >>> weeks_between("2026-01-04T23", "2026-01-05T00", 60)
    2
    """
    ends = span(first, slot), span(last, slot)
    if ends[0] is None or ends[1] is None:
        return 0
    return (_floor(ends[1].begin, WEEK) - _floor(ends[0].begin, WEEK)).days // 7 + 1


def _read(zone: str, slot: int) -> Span | None:
    match = _TEXT.fullmatch(zone)
    if match is None:
        return None
    day, hour, minute, part, year, week = match.groups()
    if year:
        return Span(
            datetime.combine(date.fromisocalendar(int(year), int(week), 1), datetime.min.time()), WEEK
        )
    begin = datetime.fromisoformat(day)
    if part:
        return Span(begin + timedelta(minutes=PARTS.index(part) * PART), PART)
    if hour is None:
        return Span(begin, DAY)
    begin = begin.replace(hour=int(hour), minute=int(minute or 0))
    return Span(begin, HOUR if minute is None else slot)


def _floor(moment: datetime, length: int) -> datetime:
    midnight = datetime.combine(moment.date(), datetime.min.time())
    if length == WEEK:
        return midnight - timedelta(days=moment.weekday())
    into_day = moment.hour * HOUR + moment.minute
    return midnight + timedelta(minutes=into_day // length * length)
