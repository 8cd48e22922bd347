"""What stated limits and bands of withheld trips leave little room for, beside the numbers of other releases.

A release says how many trips of its input are withheld at most, and at least: so all of them lie between two
numbers. Where limits are so tight that fewer than k trips can be withheld in one, another release of the same
trips, or of some of them, may show that somebody is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.disclosure import ABSENT, WITHHELD, Disclosure, Whole
from tripcloak.ledger.facts import WHOLE_INPUT, Fact, Facts, Term

MOST_ATOMS = 5_000
"""Atoms up to which all numbers are looked at; of more it is taken to be proven that somebody is there."""

HAIR = 1e-6
"""By so much linear programmes may be off."""


def facts_of_limits(disclosures: Sequence[Disclosure], k: int) -> list[Fact]:
    """Return sets of trips that limits prove to be fewer than k, and that hold somebody.

    Looked at is what an input has besides the flows of a release of it or of another one, what a release
    withholds besides the flows of another one, and what is in one input and not in another.

    Examples
    --------
    Of ten trips a release tells eight, and says that two are withheld at most; another one tells all but one:

    >>> records = np.arange(1, 11, dtype=np.uint64)
    >>> def told(groups, most):
    ...     group, person = np.array(groups, dtype=np.int32), records + np.uint64(100)
    ...     trips = np.bincount(group[group >= 0])
    ...     numbers = {"trips": trips, "k": 4, "whole": Whole(int(trips.sum()), most, 10)}
    ...     return Disclosure(name="", record=records, person=person, group=group, **numbers)
    >>> both = told([0] * 4 + [1] * 4 + [-1] * 2, 10), told([0] * 9 + [-1], 11)
    >>> [fact.words() for fact in facts_of_limits(both, 4)]
    ['between 1 and 2 trips']
    """
    tight = _tight(disclosures, k)
    if not tight:
        return []
    records = _Records.of(disclosures)
    inputs = [_Sum(records.group[one] != ABSENT, whole.least, whole.most) for one, whole in tight.items()]
    alone, found = _Programme(inputs, [one.trips for one in inputs]), []
    for target in _targets(records, list(tight), k):
        most = alone.bound(target.within, target.told, greatest=True)
        if most < k:
            least = alone.bound(target.within, target.told)
            least = least if least >= 1 else _least(records, inputs, target.trips)
            if least >= 1:
                people = len(np.unique(records.person[target.trips]))
                terms = tuple(Term(1, one, WHOLE_INPUT, whole.most) for one, whole in tight.items())
                first = sorted(terms, key=lambda term: term.release != target.release)
                found.append(
                    Fact(kind="limits", least=int(least), most=int(most), people=people, terms=tuple(first))
                )
    return found


def with_limits(facts: Facts, disclosures: Sequence[Disclosure]) -> Facts:
    """Return facts with those that follow from limits; of how many people is then the least there can be."""
    more = facts_of_limits(disclosures, facts.k) if disclosures else []
    people = max((facts.people, *(one.people for one in more)))
    return replace(facts, found=(*facts.found, *more), people=people)


class _Sum(NamedTuple):
    """Some records, and the least and the greatest trips that what is published of them leaves possible."""

    trips: Bools
    least: float
    most: float


class _Target(NamedTuple):
    """Trips that may be few: those within some inputs, less what is told of these; and a release of them."""

    release: int
    trips: Bools
    within: Bools
    told: int


def _tight(disclosures: Sequence[Disclosure], k: int) -> dict[int, Whole]:
    """Return releases with a bound near the truth; none where all are wide on one side, and prove nothing."""
    known = {number: one.whole for number, one in enumerate(disclosures) if one.whole is not None}
    above = {number for number, whole in known.items() if whole.most - whole.holds < k}
    below = {number for number, whole in known.items() if whole.holds - whole.least < k}
    near = {number: known[number] for number in sorted(above | below)}
    # Where nothing can be withheld, flows tell of all, and no limit tells more.
    bounded = any(whole.least < whole.most for whole in near.values())
    return near if above and below and bounded else {}


class _Records(NamedTuple):
    """All records: the trips of each, whose it is, its group in every release; and the room of all groups."""

    trips: Ints
    person: Ints
    group: Ints
    room: tuple[Ints, ...]

    @classmethod
    def of(cls, disclosures: Sequence[Disclosure]) -> _Records:
        record = np.unique(np.concatenate([one.among for one in disclosures]))
        trips, person = np.ones(len(record), dtype=np.int64), record.copy()
        for one in disclosures:
            rows = one.rows()
            at = np.searchsorted(record, rows.record)
            inside = rows.group != ABSENT
            if rows.weight is not None:
                trips[at[inside]] = rows.weight[inside]
            apart = inside & (rows.person != rows.record)
            person[at[apart]] = rows.person[apart]
        group = np.stack([one.groups_of(record) for one in disclosures])
        return cls(trips, person, group, tuple(one.room for one in disclosures))


def _targets(records: _Records, tight: Sequence[int], k: int) -> Iterator[_Target]:
    """Yield trips that are fewer than k, each set of them once."""
    known: set[bytes] = set()
    for target in _all_targets(records, tight):
        mark = np.packbits(target.trips).tobytes()
        if mark not in known and 1 <= records.trips[target.trips].sum() < k:
            known.add(mark)
            yield target


def _all_targets(records: _Records, tight: Sequence[int]) -> Iterator[_Target]:
    for one in tight:
        group = records.group[one]
        there = group != ABSENT
        for other in records.group:
            for told in (_inside(there, other), (group >= 0) | _inside(group == WITHHELD, other)):
                yield _Target(one, there & ~told, there, int(records.trips[told].sum()))
        for another in tight:
            only = there & (records.group[another] == ABSENT)
            yield _Target(one, only, only, 0)


def _inside(some: Bools, group: Ints) -> Bools:
    """Return the records in groups of a release that hold none but some records."""
    told = group >= 0
    size = np.bincount(group[told])
    held = np.bincount(group[told & some], minlength=len(size))
    inside: Bools = told & np.append(size == held, False)[group]
    return inside


def _least(records: _Records, inputs: Sequence[_Sum], trips: Bools) -> float:
    """Return how many of some trips there are at least, by all numbers; 1 where these are too many."""
    first = np.unique(_kinds([*records.group, trips]), return_index=True)[1]
    if len(first) > MOST_ATOMS:
        return 1
    # One of each kind is enough: those of a kind are in the same sums.
    group = records.group[:, first]
    known = [one._replace(trips=one.trips[first]) for one in inputs]
    known += [
        _Sum(groups == number, least, most)
        for groups, room in zip(group, records.room, strict=True)
        for number, (least, most) in enumerate(room.T.tolist())
    ]
    return _Programme(known, [*group, trips[first]]).bound(trips[first], 0)


class _Programme:
    """A linear programme over trips that are in the same sums.

    Parameters
    ----------
    columns
        What tells trips apart, sums included.
    """

    def __init__(self, sums: Sequence[_Sum], columns: Sequence[Any]) -> None:
        self.kind = _kinds(columns)
        self.first = np.unique(self.kind, return_index=True)[1]
        self.sums = sums

    def bound(self, inside: Bools, told: int, *, greatest: bool = False) -> float:
        """Return how many of some trips there are at least, or at most, less those that are told."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix, vstack

        wanted = np.zeros(len(self.first))
        wanted[self.kind[inside]] = -1 if greatest else 1
        held = csr_matrix(np.stack([one.trips[self.first] for one in self.sums]).astype(float))
        limits = [*(one.most for one in self.sums), *(-one.least for one in self.sums)]
        found = linprog(wanted, A_ub=vstack([held, -held]), b_ub=limits, method="highs")
        if found.status:
            return math.inf if greatest else 0.0
        value = float(found.fun)
        return math.floor(-value - told + HAIR) if greatest else math.ceil(value - told - HAIR)


def _kinds(columns: Sequence[Any]) -> Ints:
    """Return a number for each record, the same where all columns are."""
    kind = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        mixed = kind * (int(column.max(initial=0)) + 3) + column + 2
        kind = np.unique(mixed, return_inverse=True)[1]
    return kind
