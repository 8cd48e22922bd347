"""Erasures that wait for company: people who left, but too few of a flow for its number to be told anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ledger.disclosure import ABSENT, WITHHELD, Disclosure

ALIKE = 0.9
"""Share of its records that a release has in common with an earlier one that it takes the place of."""


class Waiting(NamedTuple):
    """Who is gone from an input and still counted in a number that stands.

    Attributes
    ----------
    people : int
        How many; who they are, nobody is told.
    in_place_of : tuple of int
        The earlier releases, by number, that the new one takes the place of.
    """

    people: int
    in_place_of: tuple[int, ...]


def could_be_alike(one: int, other: int) -> bool:
    """Return whether inputs of so many records can have enough of them in common.

    >>> could_be_alike(90, 100), could_be_alike(100, 89)
    (True, False)
    """
    return min(one, other) >= ALIKE * max(one, other)


def are_alike(one: Disclosure, records: Ints) -> bool:
    """Return whether a release is of much the same records as an input."""
    return could_be_alike(one.n_records, len(records)) and share_in_common(one, records) >= ALIKE


def share_in_common(one: Disclosure, records: Ints) -> float:
    """Return which share of the records of a release and an input is in both, of the larger of them."""
    common = np.count_nonzero(one.groups_of(records) != ABSENT)
    return float(common / max(one.n_records, len(records)))


def waiting_for_company(earlier: Iterable[tuple[int, bool, Disclosure]], new: Disclosure) -> Waiting:
    """Return how many people are no longer in the input, but still in a published number that stands.

    A number stands if the new release withholds some of those who are left in its flow. Releases of much the
    same records count.

    Parameters
    ----------
    earlier
        The number of each earlier release, whether it is of the same period, and what it tells of its flows.
        Of another period people count who are gone with all their records: others left because days did.

    Examples
    --------
    >>> def told(records, groups):
    ...     who = np.array(records, dtype=np.uint64)
    ...     numbers = np.bincount([one for one in groups if one >= 0])
    ...     in_group = np.array(groups)
    ...     return Disclosure(name="", record=who, person=who + 100, group=in_group, trips=numbers, k=3)
    >>> before = told(range(20), [0] * 10 + [1] * 10)
    >>> after = told(range(1, 20), [-1] * 9 + [0] * 10)
    >>> waiting_for_company([(1, True, before)], after)
    Waiting(people=1, in_place_of=(1,))
    """
    waiting, taken = [np.empty(0, dtype=np.uint64)], []
    for number, same_period, one in earlier:
        if are_alike(one, new.record):
            taken.append(number)
            people = _still_told(one, new)
            waiting.append(people if same_period else np.setdiff1d(people, new.person))
    people = np.unique(np.concatenate(waiting))
    return Waiting(len(people), tuple(sorted(set(taken))))


def _still_told(one: Disclosure, new: Disclosure) -> Ints:
    """Return whose the records are that are gone from groups of which something is withheld now."""
    rows = one.rows()
    now, published = new.groups_of(rows.record), rows.group >= 0
    held = np.zeros(one.n_groups, dtype=bool)
    held[rows.group[published & (now == WITHHELD)]] = True
    gone = np.flatnonzero(published & (now == ABSENT))
    return rows.person[gone[held[rows.group[gone]]]]
