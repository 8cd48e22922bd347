"""Hierarchies of time: slots, hours, parts of the day, days and weeks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tripcloak.arrays import Ints
from tripcloak.errors import HierarchyError
from tripcloak.hierarchy.tree import ROOT, Hierarchy

ALL_TIME = "all time"
PARTS = ("night", "morning", "afternoon", "evening")
"""The parts of a day, six hours each, from midnight."""

_HOUR, _PART, _DAY, _WEEK = 60, 360, 1440, 10080
# The epoch was a Thursday, so weeks (from Monday) begin three days before it.
_EPOCH_IN_WEEK = 3 * _DAY


def time_hierarchy(slots: Ints, slot_minutes: int) -> Hierarchy:
    """Return the hierarchy of slot, hour, part of day, day and ISO week over the slots that occur.

    Levels as long as a slot, or that slots do not fit into, are left out. Several weeks are joined under
    a root, which counts all slots from the first week to the last. Tiles stand in the order of time.

    Parameters
    ----------
    slots
        Numbers of slots since midnight of 1970-01-01, in UTC or in local time as the caller wishes.
    slot_minutes
        Length of a slot: a divisor of 60 minutes, or whole hours that divide a day.

    Examples
    --------
    >>> tree = time_hierarchy(np.array([0, 1, 99]), 15)
    >>> tree.zones.ids[:3].tolist()
    ['1970-01-01T00:00', '1970-01-01T00:15', '1970-01-02T00:45']
    >>> tree.zones.ids[-3:].tolist(), tree.zones.tiles[-3:].tolist()
    (['1970-01-01', '1970-01-02', '1970-W01'], [96, 96, 672])
    """
    check_slot(slot_minutes)
    numbers = np.unique(np.asarray(slots))
    if numbers.size == 0:
        raise HierarchyError("a hierarchy of time needs at least one slot; found none")
    begin = numbers.astype(np.int64) * slot_minutes
    ids, parents, tiles = [_slot_names(begin, slot_minutes)], [], [np.ones(len(begin), dtype=np.int64)]
    start = 0
    for length, names in _levels(slot_minutes):
        offset = _EPOCH_IN_WEEK if length == _WEEK else 0
        above = (begin + offset) // length * length - offset
        start += len(begin)
        begin, row = np.unique(above, return_inverse=True)
        parents.append(start + row)
        ids.append(names(begin))
        tiles.append(np.full(len(begin), length // slot_minutes))
    if len(begin) > 1:
        parents.append(np.full(len(begin), start + len(begin)))
        ids.append(np.array([ALL_TIME]))
        tiles.append(np.array([(begin[-1] - begin[0] + _WEEK) // slot_minutes]))
    parent = np.append(np.concatenate(parents), ROOT)
    return Hierarchy.from_parents(
        np.concatenate(ids), parent, name=f"time:{slot_minutes}", tiles=np.concatenate(tiles)
    )


def check_slot(minutes: int) -> None:
    """Raise unless slots of this many minutes fill hours or days.

    >>> check_slot(15)
    >>> check_slot(7)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tripcloak.errors.HierarchyError: a slot of time must be a divisor of 60 minutes ...; found 7
    """
    if minutes <= 0 or (_HOUR % minutes and (minutes % _HOUR or _DAY % minutes)):
        raise HierarchyError(
            "a slot of time must be a divisor of 60 minutes (1, 5, 15, 30, 60 ...) or whole hours that "
            f"divide a day (120, 180, 240, 360, 480, 720, 1440 minutes); found {minutes}"
        )


def _levels(slot: int) -> list[tuple[int, Callable[[Ints], NDArray[np.str_]]]]:
    """Return the levels above a slot: length in minutes, and what names zones by their first minute."""
    levels = [(_HOUR, _hour_names), (_PART, _part_names), (_DAY, _day_names), (_WEEK, _week_names)]
    return [(length, names) for length, names in levels if length > slot and length % slot == 0]


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
