"""Disclosure: which record went where in one release, and which numbers of it were published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints, to_read
from tripcloak.ground.errors import InternalError

Counted = Literal["travellers", "trips"]
"""What k counts: people who are told apart, or trips where nobody is."""

WITHHELD = -1
"""The group of a record that is in no published number."""

ABSENT = -2
"""The group of a record that is not in the input of a release."""


class Rounded(NamedTuple):
    """How the numbers of a release are rounded.

    Attributes
    ----------
    base : int
        What they are multiples of; the true ones are less than that away.
    floor : int
        What the true ones never are below, as the release promises.
    sums : bool
        Whether the totals of every origin, of every destination and of all are as close.
    """

    base: int
    floor: int
    sums: bool


class Whole(NamedTuple):
    """How many trips the input of a release has.

    Attributes
    ----------
    least, most : int
        What is told of it: the released trips, and those that are withheld at least, or at most.
    holds : int
        How many there are.
    """

    least: int
    most: int
    holds: int


class Rows(NamedTuple):
    """Records of a release and maybe others, ascending: whose each is, its trips, and its group.

    ``weight`` is None where each is one trip, and ``group`` :data:`ABSENT` of those that are not in it.
    """

    record: Ints
    person: Ints
    weight: Ints | None
    group: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Disclosure:
    """What one release tells of which records.

    A record is known by a keyed digest of what makes it up, so that it is the same record in every release
    of whatever zones, period or segment, and nobody without the key can look for somebody's.

    Attributes
    ----------
    name : str
        What the release is called in words.
    record : array of uint64
        The digests of the input's records, ascending, each once.
    person : array of uint64
        The digest of each record's person; that of the record itself where it is nobody's, or where trips
        are counted.
    group : array of int32
        Each record's released group, :data:`WITHHELD` where it is in none.
    weight : array of int64, optional
        Trips that each record stands for; None where it is one.
    trips : array of int64
        The published trips of every group. Where population or travellers are published alone they are
        taken as published too: more is then found than a reader could find, and never less.
    travellers : array (2, groups), optional
        The least and the greatest number of travellers that a published number leaves possible; both are
        equal where it is exact, and they are missing where none is published.
    k : int
        The people, or trips, that every group holds at least.
    counted : str
        Whether these are travellers, or trips, of which a record holds as many as its weight. Where trips
        are counted every person is one record.
    rounded : Rounded, optional
        How these trips are rounded; None where they are the true ones.
    total_of : str, optional
        The axis that a total is of, or ``all``, where groups are totals of the flows of a rounded release:
        they follow from those, and are nowhere kept.
    whole : Whole, optional
        All trips of the input, as far as a stated limit on what is withheld tells of them.
    tells_trips : bool
        Whether the trips are published, or what adds up as they do: a population, or people who made a
        trip each. Where others than these are told alone, their trips stand here all the same.
    zones : mapping
        The zones of every group, axis by axis, by which people know it.
    made : mapping, optional
        How the release was made: method, parameters, promise and tiling; None where that is not known.

    Examples
    --------
    >>> one = Disclosure(
    ...     name="May",
    ...     record=np.array([3, 5, 8], dtype=np.uint64),
    ...     person=np.array([1, 1, 2], dtype=np.uint64),
    ...     group=np.array([0, 0, -1], dtype=np.int32),
    ...     trips=np.array([2]),
    ...     k=1,
    ... )
    >>> one.n_groups, one.n_records
    (1, 3)
    """

    name: str
    record: Ints
    person: Ints
    group: Ints
    trips: Ints
    k: int
    weight: Ints | None = None
    travellers: Ints | None = None
    counted: Counted = "travellers"
    tells_trips: bool = True
    rounded: Rounded | None = None
    total_of: str | None = None
    whole: Whole | None = None
    zones: Mapping[str, Ints] = field(default_factory=dict)
    made: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not len(self.record) == len(self.person) == len(self.group):
            raise InternalError("a disclosure has a person and a group for every record")
        if np.any(self.record[1:] <= self.record[:-1]):
            raise InternalError("the records of a disclosure are ascending, each once")

    def __repr__(self) -> str:
        return f"<Disclosure: {self.n_groups:,} groups of {self.name}>"

    @property
    def n_groups(self) -> int:
        """Return the number of released groups."""
        return len(self.trips)

    @property
    def n_records(self) -> int:
        """Return the number of records of the input."""
        return len(self.record)

    @property
    def room(self) -> Ints:
        """Return the least and the greatest true number of trips that every published one leaves possible."""
        if self.rounded is None:
            return np.stack([self.trips, self.trips])
        less = self.rounded.base - 1
        return np.stack([np.maximum(self.trips - less, self.rounded.floor), self.trips + less])

    @property
    def among(self) -> Ints:
        """Return the records that :meth:`rows` are of: those of the release, and maybe others."""
        return self.record

    def rows(self) -> Rows:
        """Return the records, whose they are and where they went."""
        return Rows(self.record, self.person, self.weight, self.group)

    def groups_of(self, records: Ints) -> Ints:
        """Return the group of each of some ascending records, :data:`ABSENT` where it is not in the input."""
        from tripcloak.ledger._kernels.groups import groups_at

        rows = self.rows()
        return groups_at(to_read(records), to_read(rows.record), to_read(rows.group), ABSENT)

    def regrouped(self, place: Ints, **told: Any) -> Disclosure:
        """Return what is told of the same records in other groups, given the new group of every one."""
        # The last place stands for no group.
        group = np.append(place, WITHHELD).astype(np.int32)[self.group]
        return replace(self, group=group, **told)


def with_totals(told: Disclosure) -> tuple[Disclosure, ...]:
    """Return a disclosure, and what it tells of totals besides.

    Totals of exact numbers follow from them. Those of rounded numbers are told as closely as single ones, if
    that is promised: whoever knows all flows of a zone but one learns more of that one.

    Examples
    --------
    >>> records = np.arange(1, 5, dtype=np.uint64)
    >>> one = Disclosure(
    ...     name="May",
    ...     record=records,
    ...     person=records + np.uint64(9),
    ...     group=np.array([0, 0, 1, 1], dtype=np.int32),
    ...     trips=np.array([2, 4]),
    ...     k=2,
    ...     rounded=Rounded(2, 2, True),
    ...     zones={"origin": np.array(["a", "a"]), "destination": np.array(["a", "b"])},
    ... )
    >>> [(each.total_of, each.trips.tolist()) for each in with_totals(one)]
    [(None, [2, 4]), ('origin', [6]), ('destination', [2, 4]), ('all', [6])]
    >>> one.room.tolist()
    [[2, 3], [3, 5]]
    """
    if told.rounded is None or not told.rounded.sums or not told.n_groups:
        return (told,)
    everywhere = np.full(told.n_groups, "all flows")
    axes = {axis: told.zones[axis] for axis in ("origin", "destination")} | {"all": everywhere}
    return (told, *(_total(told, axis, zones) for axis, zones in axes.items()))


def _total(told: Disclosure, axis: str, zones: Ints) -> Disclosure:
    names, place = np.unique(zones, return_inverse=True)
    return told.regrouped(
        place,
        name=f"{told.name}, totals of {'all' if axis == 'all' else f'every {axis}'}",
        trips=np.bincount(place, told.trips).astype(np.int64),
        travellers=None,
        total_of=axis,
        whole=None,
        zones={axis: names},
    )
