"""Atoms: records that share their groups in all releases, which no published number tells apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tripcloak.flows.model import Numbering
from tripcloak.ground.arrays import Bools, Ints, to_read
from tripcloak.ground.masking import mask_small
from tripcloak.ledger.disclosure import ABSENT, Disclosure, Rows

NONE = -1
"""Stands for no group: the record is withheld in a release, or not in its input."""

HELD = 8
"""Inputs of which it is held where their records are."""

ALL = -1
"""Stands for all people of a set, where fewer may be enough."""


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
        Who has trips in which atom: pairs of an atom, ascending, and a person, each once. Where trips are
        counted in place of people, every trip is one. Of atoms of enough people not all may be there.
    published : array
        The published trips of every group.
    start : array
        The first group of every release, and one more.
    adds_up : array of bool, optional
        Which releases publish trips, or what adds up as they do; all, if not given. Numbers of people
        who may come again do not.
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
        return atom, self.group[atom, release].astype(np.int64)

    @cached_property
    def summed(self) -> Ints:
        """Return the groups of each atom whose exact trips are published."""
        return self.told if self.rounded is None else np.where(self.rounded, NONE, self.told)

    @cached_property
    def told_entries(self) -> tuple[Ints, Ints]:
        """Return the same pairs, of trips that are rounded too."""
        atom, release = np.nonzero(self.told != NONE)
        return atom, self.group[atom, release].astype(np.int64)

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
    return Splitting.of(KnownPeople([one.among for one in disclosures])).by(*disclosures).atoms()


class KnownPeople:
    """Records that releases are of, and whose they are, as far as some release tells people apart.

    Parameters
    ----------
    records
        The records of each release, ascending.
    """

    def __init__(self, records: Sequence[Ints]) -> None:
        self.record = _union(records)
        self.weight: Ints | None = None
        self._person = np.zeros(len(self.record), dtype=np.uint64)
        self._codes: tuple[Ints, int] | None = None
        self._places: dict[int, tuple[Ints, Ints]] = {}
        self._learnt: dict[tuple[int, int], tuple[Rows, Bools]] = {}

    def __repr__(self) -> str:
        return f"<KnownPeople: {mask_small(len(self.record))} records>"

    def __len__(self) -> int:
        return len(self.record)

    def place(self, record: Ints) -> Ints:
        """Return where some of the records are among all."""
        from tripcloak.ledger._kernels.groups import places_among

        # Releases of the same input share its records; the array is held, so that its number stays its own.
        if id(record) not in self._places:
            for old in list(self._places)[: -HELD + 1]:
                del self._places[old]
            whole = len(record) == len(self.record)
            at = np.arange(len(record), dtype=np.int32) if whole else places_among(record, self.record)
            self._places[id(record)] = record, at
        return self._places[id(record)][1]

    def learn(self, one: Disclosure) -> None:
        """Take in whose the records of a release are, and how many trips each stands for."""
        rows = one.rows()
        # Releases share their rows, which are held, so that their numbers stay their own.
        key = id(rows.record), id(rows.person)
        _, known = self._learnt.setdefault(key, (rows, np.zeros(len(rows.record), dtype=bool)))
        new = (rows.group != ABSENT) & ~known
        if not new.any():
            return
        known |= new
        self._learn(rows.record, rows.person, new, told_apart=one.counted == "travellers")
        if rows.weight is not None:
            self.weight = np.ones(len(self), dtype=np.int64) if self.weight is None else self.weight
            self.weight[self.place(rows.record)[new]] = rows.weight[new]

    def meet(self, record: Ints, person: Ints) -> None:
        """Take in whose records are; who is told apart in some release is so for whoever has them all."""
        self._learn(record, person, np.ones(len(record), dtype=bool), told_apart=True)

    def _learn(self, record: Ints, person: Ints, new: Bools, *, told_apart: bool) -> None:
        from tripcloak.ledger._kernels.groups import learn_people

        given = self.place(record), new, to_read(record), to_read(person)
        if learn_people(*given, self._person, told_apart):
            self._codes = None

    @property
    def person(self) -> Ints:
        """Return a number for the person of every record, -1 for nobody."""
        return self._coded()[0]

    @property
    def n_people(self) -> int:
        """Return how many people there are."""
        return self._coded()[1]

    def codes(self, one: Disclosure) -> Ints:
        """Return the group of every record in a release, from 1; 0 where it is in none."""
        from tripcloak.ledger._kernels.groups import codes_at

        rows = one.rows()
        return codes_at(self.place(rows.record), to_read(rows.group), len(self))

    def people_of(
        self, sets: tuple[Ints, Ints], at: Ints, people: tuple[Ints, Ints], most: int = ALL
    ) -> tuple[Ints, Ints]:
        """Return pairs of one of some sets and a person in it.

        Parameters
        ----------
        sets
            What is in every set, and where that begins, and one more.
        at
            The sets that are asked for.
        people
            Where the people of everything begin, and one more, and they.
        most
            How many people of a set are enough.
        """
        from tripcloak.ledger._kernels.groups import people_of_sets

        order, start = sets
        return people_of_sets(order, start[at], start[at + 1], people, self.n_people, most)

    def _coded(self) -> tuple[Ints, int]:
        if self._codes is None:
            numbering = Numbering()
            codes = numbering.add(self._person)
            # Trips without an id add nobody, however many they are.
            codes[self._person == 0] = NONE
            self._codes = codes, len(numbering)
        return self._codes


@dataclass(frozen=True, eq=False)
class Splitting:
    """Records split into atoms by release after release.

    Attributes
    ----------
    order, start : array
        The records atom by atom, in the order of their groups; where each atom begins, and one more.
    group : array (atoms, releases)
        As for :class:`Atoms`; the first atom may be of no release.
    """

    known: KnownPeople
    releases: tuple[Disclosure, ...]
    order: Ints
    start: Ints
    group: Ints

    def __repr__(self) -> str:
        return f"<Splitting by {len(self.releases):,} releases>"

    @classmethod
    def of(cls, known: KnownPeople) -> Splitting:
        """Return all records in one."""
        start = np.array([0, len(known)] if len(known) else [0])
        order = np.arange(len(known), dtype=np.int32)
        return cls(known, (), order, start, np.empty((len(start) - 1, 0), dtype=np.int32))

    def by(self, *more: Disclosure) -> Splitting:
        """Return the records split further by what releases tell apart."""
        from tripcloak.ledger._kernels.groups import split

        order, start, steps = self.order, self.start, []
        for one in more:
            self.known.learn(one)
            order, start, before, told = split(order, start, self.known.codes(one), one.n_groups + 1)
            steps.append((before, told))
        releases = (*self.releases, *more)
        group = np.empty((len(start) - 1, len(releases)), dtype=np.int32)
        first = np.cumsum([0, *(one.n_groups for one in releases)])
        # Invariant: `was` is where each atom came from when all steps behind were not taken yet.
        was = np.arange(len(group))
        for at in range(len(more) - 1, -1, -1):
            before, told = steps.pop()
            told, column = told[was], len(self.releases) + at
            group[:, column] = np.where(told > 0, told - 1 + first[column], NONE)
            was = before[was]
        group[:, : len(self.releases)] = self.group[was]
        return Splitting(self.known, releases, order, start, group)

    @property
    def n_groups(self) -> int:
        """Return how many groups the releases have."""
        return sum(one.n_groups for one in self.releases)

    @cached_property
    def atom_of_record(self) -> Ints:
        """Return the atom of every record."""
        atom = np.empty(len(self.order), dtype=np.int32)
        atom[self.order] = np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))
        return atom

    def atoms(self) -> Atoms:
        """Return the atoms that some release tells of, in the order of their groups."""
        weight = self.known.weight
        size = np.diff(self.start)
        if weight is not None and len(size):
            size = np.add.reduceat(weight[self.order], self.start[:-1])
        sets, known = (self.order, self.start), self.known

        def people(at: Ints) -> tuple[Ints, Ints]:
            return known.people_of(sets, at, (np.arange(len(known) + 1, dtype=np.int32), known.person))

        return told_atoms(self.releases, self.group, size, people)


def told_atoms(
    releases: Sequence[Disclosure], group: Ints, trips: Ints, people: Callable[[Ints], tuple[Ints, Ints]]
) -> Atoms:
    """Return the atoms that some release tells of.

    Parameters
    ----------
    group, trips
        The groups of every set of records in all releases, in the order of those, and its trips.
    people
        Gives pairs of one of some sets and a person in it.
    """
    places = np.flatnonzero(np.any(group != NONE, axis=1))
    if all(one.counted == "trips" for one in releases):
        each = trips[places]
        seen, seen_by = np.repeat(np.arange(len(places)), each), np.arange(each.sum())
    else:
        seen, seen_by = people(places)
    return Atoms(
        group=group[places],
        trips=trips[places],
        seen=seen,
        seen_by=seen_by,
        published=np.concatenate([one.trips for one in releases]).astype(np.int64),
        start=np.cumsum([0, *(one.n_groups for one in releases)]),
        adds_up=np.array([one.tells_trips for one in releases]),
        room=np.hstack([one.room for one in releases]).astype(np.int64),
        rounded=np.array([one.rounded is not None for one in releases]),
    )


def _union(parts: Sequence[Ints]) -> Ints:
    """Return all records, ascending; quickly where one release has those of the others."""
    from tripcloak.ledger._kernels.groups import are_all_among

    union = max(parts, key=len)
    for part in parts:
        if part is not union and not are_all_among(to_read(part), to_read(union)):
            # Both ascend, which a stable sort makes use of.
            both = np.sort(np.concatenate([union, part]), kind="stable")
            union = both[np.append(True, both[1:] != both[:-1])[: len(both)]]
    return union
