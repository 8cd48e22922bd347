"""Times as the calendar knows them, one at a time: slots, hours, parts of the day, days, weeks, all time.

Where slots are folded over a period that repeats, its first one stands for all: the day of the epoch, or
the week or two weeks that begin on the Monday before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cache
from typing import NamedTuple

ALL = "all time"
"""The zone above several weeks."""

PARTS = ("night", "morning", "afternoon", "evening")
HOUR, PART, DAY, WEEK = 60, 360, 1440, 10080
FOLDS = {"day": DAY, "week": WEEK, "2weeks": 2 * WEEK}
"""The periods that slots may be folded over, in minutes."""

EVERY = {"day": "every day", "week": "every week", "2weeks": "every two weeks"}
WEEKDAYS = ("1-Mon", "2-Tue", "3-Wed", "4-Thu", "5-Fri", "6-Sat", "7-Sun")
_FIRST = {"day": datetime(1970, 1, 1), "week": datetime(1969, 12, 29), "2weeks": datetime(1969, 12, 29)}
_TEXT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d)(?::(\d\d))?|/([a-z]+))?|(\d{4})-W(\d\d)")


class Span(NamedTuple):
    """A stretch of time: its first minute, and its length in minutes."""

    begin: datetime
    minutes: int

    @property
    def end(self) -> datetime:
        """Return the first minute after it."""
        return self.begin + timedelta(minutes=self.minutes)


def lengths(slot: int, fold: str | None = None) -> list[int]:
    """Return the lengths of time, in minutes, that zones over slots of this length may have.

    >>> lengths(15), lengths(240), lengths(60, "2weeks")
    ([15, 60, 360, 1440, 10080], [240, 1440, 10080], [60, 360, 1440, 10080, 20160])
    """
    longest = WEEK if fold is None else FOLDS[fold]
    longer = sorted({HOUR, PART, DAY, WEEK, longest})
    return [slot, *(n for n in longer if slot < n <= longest and n % slot == 0)]


def span(zone: str, slot: int, fold: str | None = None) -> Span | None:
    """Return the time that a zone names, None where it names none over slots of this length.

    >>> span("2026-01-05/morning", 15)
    Span(begin=datetime.datetime(2026, 1, 5, 6, 0), minutes=360)
    >>> span("2026-W02", 60).begin.isoformat(), span("2026-01-05T08:20", 15), span("2026-02-30", 15)
    ('2026-01-05T00:00:00', None, None)
    """
    if fold is not None:
        return _folded(slot, fold).get(zone)
    try:
        found = _read(zone, slot)
    except ValueError:
        return None
    return found if found is not None and name(found, slot) == zone else None


@cache
def _folded(slot: int, fold: str) -> dict[str, Span]:
    """Return every zone of a period that repeats, by name."""
    zones = {}
    for minutes in lengths(slot, fold):
        for start in range(0, FOLDS[fold], minutes):
            stretch = Span(_FIRST[fold] + timedelta(minutes=start), minutes)
            zones[_folded_name(stretch, slot, fold)] = stretch
    return zones


def _folded_name(stretch: Span, slot: int, fold: str) -> str:
    begin, minutes = stretch
    if minutes == FOLDS[fold]:
        return EVERY[fold]
    week = "AB"[(begin - _FIRST[fold]).days // 7] if fold == "2weeks" else None
    day = None if fold == "day" or minutes == WEEK else WEEKDAYS[begin.weekday()]
    words = " ".join(word for word in (week, day) if word)
    if minutes >= DAY:
        return words
    if minutes == PART != slot:
        return "/".join(word for word in (words, PARTS[begin.hour // 6]) if word)
    return f"{words} T{begin.hour:02}{'' if minutes == HOUR else f':{begin.minute:02}'}".strip()


def name(stretch: Span, slot: int, fold: str | None = None) -> str | None:
    """Return the zone that a stretch of time is, None where there is none over slots of this length."""
    if fold is not None:
        return _folded_name(stretch, slot, fold)
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


def contains(zone: str, tile: str, slot: int, fold: str | None = None) -> bool:
    """Return whether a zone is a slot or holds it.

    >>> contains("2026-01-05/morning", "2026-01-05T08", 60), contains("2026-W03", "2026-01-05T08", 60)
    (True, False)
    """
    held = span(tile, slot, fold)
    return held is not None and held.minutes == slot and zone in above(tile, slot, fold)


def above(zone: str, slot: int, fold: str | None = None) -> Iterator[str]:
    """Yield a zone and every zone that holds it.

    >>> list(above("2026-01-05T08", 60))
    ['2026-01-05T08', '2026-01-05/morning', '2026-01-05', '2026-W02', 'all time']
    >>> list(above("B 1-Mon T08", 60, "2weeks"))
    ['B 1-Mon T08', 'B 1-Mon/morning', 'B 1-Mon', 'B', 'every two weeks']
    """
    here = span(zone, slot, fold)
    if here is not None:
        for length in lengths(slot, fold):
            if length >= here.minutes:
                named = name(Span(_floor(here.begin, length, fold), length), slot, fold)
                assert named is not None
                yield named
    if fold is None and (here is not None or zone == ALL):
        yield ALL


def height_and_tiles(zone: str, slot: int, weeks: int, fold: str | None = None) -> tuple[int, int] | None:
    """Return how high a zone stands above the slots and how many it holds, None where it is no such zone.

    ``weeks`` is what all time spans: the weeks of the period.

    >>> height_and_tiles("2026-01-05", 60, 2), height_and_tiles("all time", 60, 2)
    ((2, 24), (4, 336))
    """
    if fold is None and zone == ALL:
        return len(lengths(slot)), weeks * WEEK // slot
    here = span(zone, slot, fold)
    return None if here is None else (lengths(slot, fold).index(here.minutes), here.minutes // slot)


def weeks_of(first: date, last: date) -> int:
    """Return the number of weeks from the one of the first day to the one of the last, both counted.

    >>> weeks_of(date(2026, 1, 4), date(2026, 1, 5))
    2
    """
    return (last - timedelta(days=last.weekday()) - first + timedelta(days=first.weekday())).days // 7 + 1


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


def _floor(moment: datetime, length: int, fold: str | None = None) -> datetime:
    if fold is not None and length == FOLDS[fold]:
        return _FIRST[fold]
    midnight = datetime.combine(moment.date(), datetime.min.time())
    if length == WEEK:
        return midnight - timedelta(days=moment.weekday())
    into_day = moment.hour * HOUR + moment.minute
    return midnight + timedelta(minutes=into_day // length * length)
