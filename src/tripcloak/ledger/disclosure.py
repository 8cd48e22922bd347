"""Disclosure: which record went where in one release, and which numbers of it were published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InternalError

Counted = Literal["travellers", "trips"]
"""What k counts: people who are told apart, or trips where nobody is."""

WITHHELD = -1
"""The group of a record that is in no published number."""


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
        The trips of every group. Where population or travellers are published alone they are taken as
        published too: more is then found than a reader could find, and never less.
    travellers : array (2, groups), optional
        The least and the greatest number of travellers that a published number leaves possible; both are
        equal where it is exact, and they are missing where none is published.
    k : int
        The people, or trips, that every group holds at least.
    counted : str
        Whether these are travellers, or trips, of which a record holds as many as its weight. Where trips
        are counted every person is one record.
    tells_trips : bool
        Whether the trips are published; where travellers alone are, they stand here all the same.
    zones : mapping
        The zones of every group, axis by axis, by which people know it.

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
    zones: Mapping[str, Ints] = field(default_factory=dict)

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
    def nobody(self) -> Bools:
        """Return which records are nobody's, and add no traveller, where travellers are counted."""
        alone: Bools = (self.person == self.record) & (self.counted == "travellers")
        return alone
