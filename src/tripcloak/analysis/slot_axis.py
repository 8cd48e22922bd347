"""The slots that a release speaks of, as its public files alone tell them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis import time_shares
from tripcloak.flows.release.reading import Published
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.hierarchy import Hierarchy, time_hierarchy
from tripcloak.hierarchy.time import ALL_TIME, FOLDS, Slots, check_fold, check_slot, fold_slots

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DAY, WEEK = FOLDS["day"], FOLDS["week"]


@dataclass(frozen=True, eq=False)
class SlotAxis:
    """Slots, and which share of every released time lies in each.

    Attributes
    ----------
    names : array of str
        The slots, in the order of time.
    shares : sparse array
        Rows are released times, columns slots.
    minutes : int
        The length of a slot.
    fold : str, optional
        The period that slots are folded over: by the release, or here because it spans more than a week.
    slot_of : dict
        The name that a slot has in the release to its place among the slots.
    """

    names: NDArray[np.str_]
    shares: csr_array
    minutes: int
    fold: str | None
    slot_of: dict[str, int]

    def places(self, times: Hierarchy | None) -> Ints:
        """Return the slot of every tile of a hierarchy of time; -1 for one that the release never names."""
        ids = [] if times is None else times.zones.ids[: times.n_tiles].tolist()
        return np.array([self.slot_of.get(name, -1) for name in ids], dtype=np.int64)


def slot_axis(published: Published) -> SlotAxis:
    """Return the slots of a release; what spans more than a week is folded over the week.

    Raises
    ------
    InputError
        Time is no axis of the release.
    ImpossibleRequestError
        Its times are too long to tell one slot from another.
    """
    if published.time is None:
        raise InputError(
            "this release does not say when its trips are made, so it has no profiles; make one that does: "
            "tripcloak anonymise INPUT --slot 1h --fold day --out DIR, or with time as an axis: --method "
            "productcut --time-slot 1h"
        )
    how = published.facts["hierarchy"]
    minutes, fold = int(how.get("time_slot_minutes", 0)), how.get("fold")
    check_slot(minutes)
    released: list[str] = published.zones["time"].ids.tolist()
    numbers = _numbers(released, minutes) if fold is None else np.arange(check_fold(fold) // minutes)
    tree = time_hierarchy(numbers, minutes) if fold is None else Slots(minutes, fold).hierarchy(numbers)
    named, place = tree.zones.ids[: tree.n_tiles], np.arange(tree.n_tiles)
    names = named
    if fold is None and len(numbers) * minutes > WEEK:
        fold, place = "week", fold_slots(numbers, minutes, "week")
        names = Slots(minutes, fold).hierarchy(np.arange(WEEK // minutes)).zones.ids[: WEEK // minutes]
    shares = time_shares([place[below] for below in _covered(released, tree)], len(names))
    if len(np.unique(shares.toarray(), axis=0)) < 2 and len(names) > 1:
        raise ImpossibleRequestError(
            "all flows of this release are of one and the same time, which says nothing about hours; raise "
            "--time-weight, or anonymise slot by slot (--slot 1h)"
        )
    return SlotAxis(names, shares, minutes, fold, dict(zip(named.tolist(), place.tolist(), strict=True)))


def _numbers(released: Sequence[str], minutes: int) -> Ints:
    """Return all slots from the first day that a release names to the last one."""
    days = [day for name in released if name != ALL_TIME for day in _days(name)]
    if not days:
        raise ImpossibleRequestError(
            "no flow of this release is of a shorter time than all, which says nothing about hours; raise "
            "--time-weight, or anonymise slot by slot (--slot 1h)"
        )
    first, last = (int(np.datetime64(day, "D").astype(np.int64)) for day in (min(days), max(days)))
    return np.arange(first * DAY // minutes, (last + 1) * DAY // minutes)


def _days(name: str) -> tuple[date, ...]:
    """Return the day of a time, or the first and the last of a week.

    >>> _days("2024-05-01/morning"), _days("2024-W18")
    ((datetime.date(2024, 5, 1),), (datetime.date(2024, 4, 29), datetime.date(2024, 5, 5)))
    """
    week = re.fullmatch(r"(\d{4})-W(\d{2})", name)
    try:
        if week is None:
            return (date.fromisoformat(name[:10]),)
        year, number = int(week[1]), int(week[2])
        return date.fromisocalendar(year, number, 1), date.fromisocalendar(year, number, 7)
    except ValueError:
        raise _unknown(name) from None


def _covered(released: Sequence[str], tree: Hierarchy) -> list[Ints]:
    """Return the slots below every released time."""
    row_of = {name: row for row, name in enumerate(tree.zones.ids.tolist())} | {ALL_TIME: tree.root}
    covered = []
    for name in released:
        if name not in row_of:
            raise _unknown(name)
        covered.append(tree.members(row_of[name]))
    return covered


def _unknown(name: str) -> InputError:
    return InputError(f"the release names a time that its slots do not have: {name!r}")
