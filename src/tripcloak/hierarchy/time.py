"""Hierarchies of time: slots, hours, parts of the day, days and weeks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy.tree import ROOT, Hierarchy

ALL_TIME = "all time"
PARTS = ("night", "morning", "afternoon", "evening")
"""The parts of a day, six hours each, from midnight."""

DAY = 1440
"""Minutes."""

_HOUR, _PART, _DAY, _WEEK = 60, 360, DAY, 10080
# The epoch was a Thursday, so weeks (from Monday) begin three days before it.
_EPOCH_IN_WEEK = 3 * _DAY

FOLDS = {"day": _DAY, "week": _WEEK, "2weeks": 2 * _WEEK}
"""Periods that slots are folded over, in minutes."""

EVERY = {"day": "every day", "week": "every week", "2weeks": "every two weeks"}
WEEKDAYS = ("1-Mon", "2-Tue", "3-Wed", "4-Thu", "5-Fri", "6-Sat", "7-Sun")
"""Numbered, so that names of slots sort as time goes."""


class TimeLevel(NamedTuple):
    """A level of time: its length, what names its zones by their first minute, and where they begin."""

    minutes: int
    names: Callable[[Ints], NDArray[np.str_]]
    offset: int = 0


class Days(NamedTuple):
    """A period: its first and its last day, in days since 1970-01-01.

    Examples
    --------
    >>> Days.read("2024-05-01/2024-05-31").dates
    ('2024-05-01', '2024-05-31')
    >>> Days.read("May")
    Traceback (most recent call last):
    tripcloak.HierarchyError: a period is its first and its last day, such as 2024-05-01/2024-05-31
    """

    first: int
    last: int

    @classmethod
    def read(cls, text: str) -> Days:
        """Return the period that a text names, such as ``2024-05-01/2024-05-31``."""
        match = re.fullmatch(r"(\d{4}-\d\d-\d\d)/(\d{4}-\d\d-\d\d)", text.strip())
        try:
            named = [np.datetime64(day, "D").astype(np.int64) for day in match.groups()] if match else [1, 0]
        except ValueError:
            named = [1, 0]
        days = cls(*map(int, named))
        if days.last < days.first:
            raise HierarchyError("a period is its first and its last day, such as 2024-05-01/2024-05-31")
        return days

    @property
    def dates(self) -> tuple[str, str]:
        """Return both days as dates."""
        first, last = (str(np.datetime64(day, "D")) for day in self)
        return first, last

    @property
    def weeks(self) -> int:
        """Return in how many weeks, from Monday, it lies."""
        whole = whole_weeks(*self)
        return (whole.last - whole.first + 1) // 7


def whole_weeks(first: int, last: int) -> Days:
    """Return the weeks, from Monday, in which two days lie and all between them.

    >>> whole_weeks(*Days.read("2024-05-01/2024-05-08")).dates
    ('2024-04-29', '2024-05-12')
    """
    return Days((first + 3) // 7 * 7 - 3, (last + 3) // 7 * 7 + 3)


def time_hierarchy(slots: Ints, slot_minutes: int, period: Days | None = None) -> Hierarchy:
    """Return the hierarchy of slot, hour, part of day, day and ISO week over the slots that occur.

    Levels as long as a slot, or that slots do not fit into, are left out. Several weeks are joined under
    a root, which counts all slots of the weeks of the period. Tiles stand in the order of time.

    Parameters
    ----------
    slots
        Numbers of slots since midnight of 1970-01-01, in UTC or in local time as the caller wishes.
    slot_minutes
        Length of a slot: a divisor of 60 minutes, or whole hours that divide a day.
    period
        What the root spans; from the first slot to the last if not given.

    Examples
    --------
    >>> tree = time_hierarchy(np.array([0, 1, 99]), 15)
    >>> tree.zones.ids[:3].tolist()
    ['1970-01-01T00:00', '1970-01-01T00:15', '1970-01-02T00:45']
    >>> tree.zones.ids[-3:].tolist(), tree.zones.tiles[-3:].tolist()
    (['1970-01-01', '1970-01-02', '1970-W01'], [96, 96, 672])
    """
    numbers = _numbers(slots, slot_minutes)
    begin = numbers * slot_minutes
    levels = [
        TimeLevel(length, names, _EPOCH_IN_WEEK if length == _WEEK else 0)
        for length, names in (
            (_HOUR, _hour_names),
            (_PART, _part_names),
            (_DAY, _day_names),
            (_WEEK, _week_names),
        )
    ]
    weeks = (period or Days(int(begin[0]) // _DAY, int(begin[-1]) // _DAY)).weeks
    top = (ALL_TIME, weeks * _WEEK // slot_minutes) if weeks > 1 else None
    return _grown(_slot_names(begin, slot_minutes), begin, slot_minutes, levels, top, f"time:{slot_minutes}")


class Slots(NamedTuple):
    """Slots of time: their length in minutes, what they are folded over, if anything, and what they span.

    Examples
    --------
    >>> slots = Slots(60, "day")
    >>> slots.number(np.array([61, 1440 + 61])).tolist()
    [1, 1]
    >>> slots.hierarchy(np.array([1])).zones.ids.tolist()
    ['T01', 'night', 'every day']
    """

    minutes: int
    fold: str | None = None
    period: Days | None = None

    def number(self, minute: Ints) -> Ints:
        """Return the slots in which minutes since midnight of 1970-01-01 lie."""
        number: Ints = minute // self.minutes
        return number if self.fold is None else fold_slots(number, self.minutes, self.fold)

    def hierarchy(self, numbers: Ints) -> Hierarchy:
        """Return the hierarchy of time over slots that occur."""
        if self.fold is None:
            return time_hierarchy(numbers, self.minutes, self.period)
        return folded_hierarchy(numbers, self.minutes, self.fold)


def fold_slots(slots: Ints, slot_minutes: int, fold: str) -> Ints:
    """Return the place of slots since 1970-01-01 in a day, a week or two weeks (from Monday).

    >>> fold_slots(np.array([0, 25]), 60, "day").tolist(), fold_slots(np.array([0]), 60, "week").tolist()
    ([0, 1], [72])
    """
    offset = 0 if fold == "day" else _EPOCH_IN_WEEK
    place: Ints = (slots.astype(np.int64) * slot_minutes + offset) % check_fold(fold) // slot_minutes
    return place


def folded_hierarchy(places: Ints, slot_minutes: int, fold: str) -> Hierarchy:
    """Return the hierarchy of slot, hour, part of day, day and week over places in a period that repeats.

    The weeks of a fold over two weeks are called A and B; A is the week of 1969-12-29, and every second
    one from there.

    Parameters
    ----------
    places
        Numbers of slots in the period, as :func:`fold_slots` gives them.
    fold
        The period: ``day``, ``week`` or ``2weeks``.

    Examples
    --------
    >>> folded_hierarchy(np.array([8, 9, 32]), 60, "week").zones.ids.tolist()
    ['1-Mon T08', '1-Mon T09', '2-Tue T08', '1-Mon/morning', '2-Tue/morning', '1-Mon', '2-Tue', 'every week']
    >>> folded_hierarchy(np.array([33]), 15, "day").zones.ids.tolist()
    ['T08:15', 'T08', 'morning', 'every day']
    """
    period = check_fold(fold)
    begin = _numbers(places, slot_minutes) * slot_minutes
    names = {_HOUR: "hour", _PART: "part", _DAY: "day", _WEEK: "week"}
    levels = [
        TimeLevel(length, partial(_folded_names, name, fold))
        for length, name in names.items()
        if length < period
    ]
    every = TimeLevel(period, lambda begin: np.full(len(begin), EVERY[fold]))
    finest = names[slot_minutes] if slot_minutes in (_HOUR, _DAY) else "slot"
    slots = _folded_names(finest, fold, begin)
    return _grown(slots, begin, slot_minutes, [*levels, every], None, f"time:{slot_minutes}/{fold}")


def check_fold(fold: str) -> int:
    """Return the minutes of a period that slots are folded over, or raise.

    >>> check_fold("week")
    10080
    """
    if fold not in FOLDS:
        raise HierarchyError(f"slots are folded over one of {', '.join(FOLDS)}; found {fold!r}")
    return FOLDS[fold]


def check_slot(minutes: int) -> None:
    """Raise unless slots of this many minutes fill hours or days.

    >>> check_slot(15)
    >>> check_slot(7)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tripcloak.HierarchyError: a slot of time must be a divisor of 60 minutes ...; found 7
    """
    if minutes <= 0 or (_HOUR % minutes and (minutes % _HOUR or _DAY % minutes)):
        raise HierarchyError(
            "a slot of time must be a divisor of 60 minutes (1, 5, 15, 30, 60 ...) or whole hours that "
            f"divide a day (120, 180, 240, 360, 480, 720, 1440 minutes); found {minutes}"
        )


def _numbers(slots: Ints, slot_minutes: int) -> Ints:
    check_slot(slot_minutes)
    numbers = np.unique(np.asarray(slots)).astype(np.int64)
    if numbers.size == 0:
        raise HierarchyError("a hierarchy of time needs at least one slot; found none")
    return numbers


def _grown(
    names: NDArray[np.str_],
    begin: Ints,
    slot: int,
    levels: Sequence[TimeLevel],
    top: tuple[str, int] | None,
    name: str,
) -> Hierarchy:
    """Return the hierarchy over slots given by their first minutes; ``top``, if any, joins what is left."""
    ids, parents, tiles = [names], [], [np.ones(len(begin), dtype=np.int64)]
    start = 0
    for length, naming, offset in levels:
        if length <= slot or length % slot:
            continue
        above = (begin + offset) // length * length - offset
        start += len(begin)
        begin, row = np.unique(above, return_inverse=True)
        parents.append(start + row)
        ids.append(naming(begin))
        tiles.append(np.full(len(begin), length // slot))
    if top is not None:
        parents.append(np.full(len(begin), start + len(begin)))
        ids.append(np.array([top[0]]))
        tiles.append(np.array([top[1]]))
    parent = np.append(np.concatenate(parents) if parents else np.empty(0, np.int64), ROOT)
    return Hierarchy.from_parents(np.concatenate(ids), parent, name=name, tiles=np.concatenate(tiles))


def _folded_names(level: str, fold: str, begin: Ints) -> NDArray[np.str_]:
    """Return the names of stretches of time in a period that repeats, by their first minute."""
    names = []
    for minute in begin.tolist():
        hour, into_hour = divmod(minute % _DAY, _HOUR)
        clock = {
            "slot": f" T{hour:02}:{into_hour:02}",
            "hour": f" T{hour:02}",
            "part": f"/{PARTS[hour * _HOUR // _PART]}",
        }.get(level, "")
        week = f"{'AB'[minute // _WEEK]} " if fold == "2weeks" else ""
        day = "" if fold == "day" or level == "week" else WEEKDAYS[minute % _WEEK // _DAY]
        names.append(f"{week}{day}{clock}".strip(" /") or EVERY[fold])
    return np.array(names, dtype=np.str_)


def _slot_names(begin: Ints, slot: int) -> NDArray[np.str_]:
    if slot == _DAY:
        return _day_names(begin)
    return _hour_names(begin) if slot == _HOUR else np.datetime_as_string(begin.astype("datetime64[m]"))


def _hour_names(begin: Ints) -> NDArray[np.str_]:
    return np.datetime_as_string(begin.astype("datetime64[m]"), unit="h")


def _part_names(begin: Ints) -> NDArray[np.str_]:
    part = np.array([f"/{part}" for part in PARTS])[begin % _DAY // _PART]
    return np.strings.add(_day_names(begin), part)


def _day_names(begin: Ints) -> NDArray[np.str_]:
    return np.datetime_as_string(begin.astype("datetime64[m]"), unit="D")


def _week_names(begin: Ints) -> NDArray[np.str_]:
    # A week belongs to the year of its Thursday, and that Thursday's place among the year's gives the number.
    thursday = (begin + 3 * _DAY).astype("datetime64[m]").astype("datetime64[D]")
    year = thursday.astype("datetime64[Y]")
    week = (thursday - year.astype("datetime64[D]")).astype(np.int64) // 7 + 1
    return np.array([f"{y}-W{w:02}" for y, w in zip(year.astype(str), week, strict=True)])
