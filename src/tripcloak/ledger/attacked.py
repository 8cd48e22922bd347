"""Attacks on what earlier releases tell with a new one; the same is not attacked twice."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np

from tripcloak.flows.model import KeyedRecords
from tripcloak.ground.arrays import Ints
from tripcloak.ground.progress import Progress, silent
from tripcloak.ledger.atoms import KnownPeople, Splitting
from tripcloak.ledger.attack import attack
from tripcloak.ledger.cells import Cells
from tripcloak.ledger.disclosure import WITHHELD, Disclosure
from tripcloak.ledger.facts import Facts
from tripcloak.ledger.rooms import Rooms

WORDS = ("name", "zones", "made", "whole")
"""What people know releases and groups by, and what is told of their limits, which no attack looks at."""
BY_GROUP = ("group", "trips", "travellers")
"""What is numbered by groups."""


class Attacks:
    """Attacks on earlier releases together with new ones of some records.

    Parameters
    ----------
    earlier
        What is published already.
    records
        The records of the new input.
    """

    def __init__(self, earlier: Sequence[Disclosure], records: KeyedRecords) -> None:
        self.earlier, self.records = earlier, records
        self._known: list[tuple[Sequence[Disclosure], Facts]] = []
        self._rooms = Rooms()

    def __repr__(self) -> str:
        return f"<Attacks beside {len(self.earlier):,} earlier disclosures>"

    @cached_property
    def known(self) -> KnownPeople:
        """Return all records, of before and now."""
        return KnownPeople([self.records.record, *(one.among for one in self.earlier)])

    @cached_property
    def before(self) -> Splitting:
        """Return all records as earlier releases tell them apart."""
        return Splitting.of(self.known).by(*self.earlier)

    @cached_property
    def cells(self) -> Cells:
        """Return all records as earlier releases and the flows of the new input tell them apart."""
        return Cells(self.before, self.records, min(one.k for one in self.earlier))

    def on(self, new: Sequence[Disclosure], progress: Progress = silent) -> Facts:
        """Return all that the earlier releases tell together with a new one."""
        atoms = self.cells.atoms(new)
        facts = attack([*self.earlier, *new], atoms=atoms, rooms=self._rooms, progress=progress)
        # Only the latest, and those of which something may be released.
        self._known = [(told, found) for told, found in self._known if not len(found)] + [(new, facts)]
        return facts

    def known_of(self, earlier: Sequence[Disclosure], new: Sequence[Disclosure]) -> Facts | None:
        """Return what an attack found, if it was on the very same; None if that is to be seen.

        Groups of nobody, and how groups are numbered without them, make no difference to how much is found.
        """
        if not _alike(earlier, self.earlier, operator.is_):
            return None
        return next((facts for told, facts in self._known if _alike(told, new, tell_the_same)), None)


def _alike(
    some: Sequence[Disclosure], others: Sequence[Disclosure], same: Callable[[Disclosure, Disclosure], bool]
) -> bool:
    return len(some) == len(others) and all(map(same, some, others))


def tell_the_same(one: Disclosure, other: Disclosure) -> bool:
    """Return whether two disclosures tell the very same of the same records, in groups of the same order.

    Examples
    --------
    >>> records = np.arange(1, 5, dtype=np.uint64)
    >>> def told(group, trips):
    ...     numbers = {"group": np.array(group, dtype=np.int32), "trips": np.array(trips)}
    ...     return Disclosure(name="", record=records, person=records, k=2, **numbers)
    >>> tell_the_same(told([0, 0, 2, 2], [2, 0, 2]), told([0, 0, 1, 1], [2, 2]))
    True
    >>> tell_the_same(told([0, 0, 1, 1], [2, 2]), told([0, 0, 1, -1], [2, 1]))
    False
    """
    for about in fields(Disclosure):
        if about.name not in (*WORDS, *BY_GROUP):
            mine, yours = getattr(one, about.name), getattr(other, about.name)
            if mine is not yours and not np.array_equal(mine, yours):
                return False
    return all(_equal(*both) for both in zip(_told(one), _told(other), strict=True))


def _told(one: Disclosure) -> tuple[Ints, Ints, Ints | None]:
    """Return the group of every record and the numbers of groups, without those of nobody."""
    used = np.zeros(one.n_groups + 1, dtype=bool)
    used[one.group] = True
    used = used[:-1]
    place = np.append(np.cumsum(used) - 1, WITHHELD).astype(np.int32)
    return place[one.group], one.trips[used], None if one.travellers is None else one.travellers[:, used]


def _equal(mine: Ints | None, yours: Ints | None) -> bool:
    return mine is yours if mine is None or yours is None else np.array_equal(mine, yours)
