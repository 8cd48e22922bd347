"""Atoms: records that share their groups in all releases, which no published number tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tripcloak.flows.model import Numbering
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.disclosure import Disclosure

NONE = -1
"""Stands for no group: the record is withheld in a release, or not in its input."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Atoms:
    """The atoms of some releases; every number that anybody can compute is a sum over atoms.

    Groups of all releases are numbered one release after the other. Records that no release tells of are
    in no atom.

    Attributes
    ----------
    group : array (atoms, releases)
        The group of each atom in every release, :data:`NONE` where it is in none.
    trips : array
        The trips of each atom.
    seen, seen_by : arrays
        Who has trips in which atom: pairs of an atom and a person, ascending, each once. Where trips are
        counted in place of people, every trip is one.
    published : array
        The published trips of every group.
    start : array
        The first group of every release, and one more.
    adds_up : array of bool, optional
        Which releases publish trips, which add up; all, if not given. Numbers of people do not.
    room : array (2, groups), optional
        The least and the greatest trips that every published number leaves possible; that number itself, if
        not given.
    rounded : array of bool, optional
        Of which releases these differ; none, if not given.
    """

    group: Ints
    trips: Ints
    seen: Ints
    seen_by: Ints
    published: Ints
    start: Ints
    adds_up: Bools | None = None
    room: Ints | None = None
    rounded: Bools | None = None

    def __repr__(self) -> str:
        return f"<Atoms: {len(self):,} of {len(self.published):,} groups in {len(self.start) - 1:,} releases>"

    def __len__(self) -> int:
        return len(self.trips)

    @cached_property
    def people(self) -> Ints:
        """Return how many different people have trips in each atom."""
        return np.bincount(self.seen, minlength=len(self))

    @cached_property
    def first_seen(self) -> Ints:
        """Return where the people of each atom begin, and one more."""
        return np.searchsorted(self.seen, np.arange(len(self) + 1))

    @cached_property
    def entries(self) -> tuple[Ints, Ints]:
        """Return the pairs of an atom and a group whose exact trips are published and hold its own."""
        atom, release = np.nonzero(self.summed != NONE)
        return atom, self.group[atom, release]

    @cached_property
    def summed(self) -> Ints:
        """Return the groups of each atom whose exact trips are published."""
        return self.told if self.rounded is None else np.where(self.rounded, NONE, self.told)

    @cached_property
    def told_entries(self) -> tuple[Ints, Ints]:
        """Return the same pairs, of trips that are rounded too."""
        atom, release = np.nonzero(self.told != NONE)
        return atom, self.group[atom, release]

    @cached_property
    def told(self) -> Ints:
        """Return the groups of each atom whose trips are published, exactly or rounded."""
        return self.group if self.adds_up is None else np.where(self.adds_up, self.group, NONE)

    @cached_property
    def limits(self) -> tuple[Ints, Ints]:
        """Return the least and the greatest trips that every published number leaves possible."""
        least, most = (self.published, self.published) if self.room is None else self.room
        return least, most

    def people_in(self, atoms: Ints) -> Ints:
        """Return the different people who have trips in any of some atoms."""
        if len(atoms) == 1:
            return self.seen_by[self.first_seen[atoms[0]] : self.first_seen[atoms[0] + 1]]
        ends = zip(self.first_seen[atoms], self.first_seen[atoms + 1], strict=True)
        return np.unique(np.concatenate([self.seen_by[a:b] for a, b in ends]))

    def different_people(self, atoms: Ints) -> int:
        """Return how many different people have trips in any of some atoms."""
        return len(self.people_in(atoms))

    def release_of(self, group: int) -> int:
        """Return which release a group is of."""
        return int(np.searchsorted(self.start, group, side="right")) - 1


def atoms_of(disclosures: Sequence[Disclosure]) -> Atoms:
    """Return the atoms of some releases.

    Examples
    --------
    >>> from tripcloak.ledger.disclosure import Disclosure
    >>> records = np.arange(1, 6, dtype=np.uint64)
    >>> fine, coarse = (
    ...     Disclosure(name="", record=records, person=records + 9, group=np.array(group), trips=told, k=2)
    ...     for group, told in (([0, 0, 1, 1, -1], np.array([2, 2])), ([0, 0, 0, 0, 0], np.array([5])))
    ... )
    >>> atoms = atoms_of([fine, coarse])
    >>> atoms.group.tolist(), atoms.trips.tolist(), atoms.people.tolist()
    ([[-1, 2], [0, 2], [1, 2]], [1, 2, 2], [1, 2, 2])
    """
    records = _union([one.record for one in disclosures])
    atom = np.zeros(len(records), dtype=np.int64)
    person = np.zeros(len(records), dtype=np.uint64)
    weight = np.ones(len(records), dtype=np.int64)
    start = np.cumsum([0, *(one.n_groups for one in disclosures)])
    group = np.empty((1, 0), dtype=np.int64)
    # Invariant: `atom` numbers what the releases so far tell apart, `group` says how.
    for one, first in zip(disclosures, start, strict=False):
        at = np.searchsorted(records, one.record)
        code = np.zeros(len(records), dtype=np.int64)
        code[at] = one.group.astype(np.int64) + 1
        # Who is told apart in some release is so for whoever has them all.
        known = ~one.nobody if one.counted == "travellers" else person[at] == 0
        person[at[known]] = one.person[known]
        if one.weight is not None:
            weight[at] = one.weight
        atom, found = _numbered(atom * (one.n_groups + 1) + code)
        before, code = np.divmod(found, one.n_groups + 1)
        here = np.where(code > 0, code - 1 + first, NONE)
        group = np.column_stack([group[before], here])
    told = np.any(group != NONE, axis=1)
    return _gathered(atom, person, weight, group, told, disclosures, start)


def _gathered(
    atom: Ints,
    person: Ints,
    weight: Ints,
    group: Ints,
    told: Bools,
    disclosures: Sequence[Disclosure],
    start: Ints,
) -> Atoms:
    """Return the atoms that some release tells of, in the order of their groups."""
    order = np.lexsort(group[told].T[::-1]) if group.shape[1] else np.empty(0, dtype=np.int64)
    place = np.full(len(group), NONE, dtype=np.int64)
    place[np.flatnonzero(told)[order]] = np.arange(len(order))
    atom = place[atom]
    kept = atom != NONE
    atom, person, weight = atom[kept], person[kept], weight[kept]
    if all(one.counted == "trips" for one in disclosures):
        at, person = np.repeat(atom, weight), np.arange(1, weight.sum() + 1)
    else:
        # Trips without an id add nobody, however many they are.
        at, person = atom[person != 0], person[person != 0]
    code, found = _numbered(person)
    seen, seen_by = np.divmod(np.unique(at * max(len(found), 1) + code), max(len(found), 1))
    return Atoms(
        group=group[told][order],
        # Whole numbers below 2**53 add up exactly.
        trips=np.bincount(atom, weight, minlength=len(order)).astype(np.int64),
        seen=seen,
        seen_by=seen_by,
        published=np.concatenate([one.trips for one in disclosures]).astype(np.int64),
        start=start,
        adds_up=np.array([one.tells_trips for one in disclosures]),
        room=np.hstack([one.room for one in disclosures]).astype(np.int64),
        rounded=np.array([one.rounded is not None for one in disclosures]),
    )


def _union(parts: Sequence[Ints]) -> Ints:
    """Return all records, ascending; quickly where the releases are of the same ones."""
    union = parts[0]
    for part in parts[1:]:
        if part is not union and not np.array_equal(part, union):
            union = np.union1d(union, part)
    return union


def _numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Return the number of every key, and the key of every number."""
    numbering = Numbering()
    number = numbering.add(np.ascontiguousarray(keys).view(np.uint64))
    return number.astype(np.int64), numbering.keys.view(keys.dtype)
