"""Remainders: what is left of a flow when earlier releases are subtracted must be nothing, or of k people."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from tripcloak.flows.model import Groups, KeyedRecords, Numbering, Runs
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.atoms import KnownPeople, Splitting
from tripcloak.ledger.contraction import numbers_of_unknowns
from tripcloak.promises import Passages
from tripcloak.promises.promise import OfProducts

Ordered: TypeAlias = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints]
"""Flows in some order, and where earlier groups are in it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EarlierGroups:
    """The records of a new input in the groups of earlier releases.

    Earlier releases that share no published record, such as segments, slots or months, are one partition:
    a reader adds them up. Groups are told of atoms, and atoms of records, so that many releases of many
    records take little more room than one.

    Attributes
    ----------
    first : array
        Where the records of each new flow begin, and one more.
    person, atom : array
        Whose each record is, -1 for nobody; and its atom.
    group : array (partitions, atoms)
        The earlier group of every atom, -1 where it is in none. Groups are numbered over all releases.
    kinds : Kinds
        Flows by the earlier groups they are in.
    members : Members
        What is in every earlier group.
    n_people : int
        How many people there are.
    """

    first: Ints
    person: Ints
    atom: Ints
    group: Ints
    kinds: Kinds
    members: Members
    n_people: int
    _latest: list[tuple[Ints, Ordered]] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(cls, records: KeyedRecords, n_flows: int, before: Splitting, *, people: bool) -> EarlierGroups:
        """Return where the records of a new input were in earlier releases of exact numbers.

        Parameters
        ----------
        before
            All records, those of the input among them, as the releases tell them apart.
        people
            Whether people are counted, and not trips.
        """
        from tripcloak.ledger._kernels.groups import sorted_by

        known = before.known
        if people:
            known.meet(records.record, records.person)
        place = known.place(records.record)
        whose = _Whose(known, people=people, some=any(one.counted == "trips" for one in before.releases))
        first, order = sorted_by(records.flow, n_flows)
        by_flow = place[order]
        atom, group = before.atom_of_record[by_flow], _joined(before)
        return cls(
            first=first,
            person=whose.of(by_flow, told_apart=True),
            atom=atom,
            group=group,
            kinds=Kinds.of(first, atom, group),
            members=Members.of(before, place, records.flow, whose),
            n_people=whose.n,
        )

    def hold(self, runs: Runs, k: int) -> Bools:
        """Return which runs leave nobody or k people of them, or of what holds them, in every partition."""
        from tripcloak.ledger._kernels.remaining import remainders_hold

        ends = runs.first.astype(np.int64), runs.last.astype(np.int64)
        order = self._in_order(runs.flows)
        before = self.first, self.person, self.atom, self.group
        return remainders_hold(ends, order, before, (*self.kinds,), (*self.members,), self.n_people, k)

    @cached_property
    def _partial(self) -> Bools:
        """Return which earlier groups hold records that are in no flow now."""
        told = self.members
        partial = np.zeros(len(told.group_start) - 1, dtype=bool)
        gone = np.zeros(len(told.atom_start) - 1, dtype=bool)
        gone[np.searchsorted(told.atom_start, np.flatnonzero(told.flow < 0), side="right") - 1] = True
        partial[
            np.searchsorted(told.group_start, np.flatnonzero(gone[told.group_atom]), side="right") - 1
        ] = True
        return partial

    def _in_order(self, flows: Ints) -> Ordered:
        """Return where earlier groups are in an order of flows, found once for runs of the same one."""
        from tripcloak.ledger._kernels.remaining import put_in_order

        if not self._latest or self._latest[0][0] is not flows:
            order = put_in_order(flows, self.first, (*self.kinds,), self._partial)
            self._latest[:] = [(flows, order)]
        return self._latest[0][1]


class Kinds(NamedTuple):
    """Flows by the earlier groups that their records are in: there are far fewer kinds than flows.

    Attributes
    ----------
    of_flow, size : array
        The kind of every flow; how many flows are of each.
    start, group : array
        Where the groups of each kind begin, in each partition by partition, and one more; the groups.
    alone : array (kinds, partitions)
        Whether some records of such flows are in none.
    """

    of_flow: Ints
    size: Ints
    start: Ints
    group: Ints
    alone: Bools

    @classmethod
    def of(cls, first: Ints, atom: Ints, group: Ints) -> Kinds:
        """Return the kinds of flows, given where their records begin, the atoms of those and their groups."""
        from tripcloak.ledger._kernels.remaining import groups_of_kinds, marks_of_flows

        n_groups = int(group.max(initial=-1)) + 1
        # Sums of random numbers of 64 bits: no two kinds ever share one.
        mark = numbers_of_unknowns(n_groups + len(group))
        numbering = Numbering()
        kind = numbering.add(marks_of_flows(first, atom, group, mark)).astype(np.int32)
        example = np.zeros(len(numbering), dtype=np.int32)
        example[kind] = np.arange(len(kind), dtype=np.int32)
        size = np.bincount(kind, minlength=len(example)).astype(np.int32)
        return cls(kind, size, *groups_of_kinds(example, first, atom, group, n_groups))


class Members(NamedTuple):
    """What is in every earlier group: atoms, and in those records.

    Attributes
    ----------
    group_start, group_atom : array
        Where the atoms of each group begin, and one more; the atoms.
    people : array
        How many people are in each group.
    apart : array of bool
        Whether they are told apart in the release that each group is of.
    atom_start, flow, person, alone : array
        Where the records of each atom begin, and one more; the flow of each now, -1 for none; whose it is;
        and who it is where nobody is told apart.
    """

    group_start: Ints
    group_atom: Ints
    people: Ints
    apart: Bools
    atom_start: Ints
    flow: Ints
    person: Ints
    alone: Ints

    @classmethod
    def of(cls, before: Splitting, place: Ints, flow: Ints, whose: _Whose) -> Members:
        """Return the members of all groups, given the places of the new records and their flows."""
        from tripcloak.ledger._kernels.groups import sorted_by
        from tripcloak.ledger._kernels.remaining import people_of_groups

        n_atoms = len(before.start) - 1
        group = np.concatenate(_exact(before))
        group_start, at = sorted_by(group, before.n_groups)
        flow_of = np.full(len(before.known), -1, dtype=np.int32)
        flow_of[place] = flow
        apart = np.repeat(
            [one.counted == "travellers" for one in before.releases],
            [one.n_groups for one in before.releases],
        )
        person = whose.of(before.order, told_apart=True)
        some = not apart.all()
        group_atom = (at % n_atoms).astype(np.int32)
        return cls(
            group_start=group_start,
            group_atom=group_atom,
            people=people_of_groups(group_start, group_atom, before.start, person, whose.n),
            apart=apart,
            atom_start=before.start,
            flow=flow_of[before.order],
            person=person,
            alone=whose.of(before.order, told_apart=False) if some else person,
        )


class _Whose:
    """Numbers for people, or for records where nobody is told apart, as in some releases."""

    def __init__(self, known: KnownPeople, *, people: bool, some: bool) -> None:
        self.known, self.people = known, people
        self.shift = known.n_people if people else 0
        self.n = self.shift + (len(known) if some or not people else 0)

    def of(self, place: Ints, *, told_apart: bool) -> Ints:
        """Return whose the records at some places are, -1 for nobody."""
        return self.known.person[place] if self.people and told_apart else place + np.int32(self.shift)


def _joined(before: Splitting) -> Ints:
    """Return the groups of all atoms; releases that share no published record are one partition."""
    rows: list[Ints] = []
    for own in _exact(before):
        for number, others in enumerate(rows):
            if not np.any((others >= 0) & (own >= 0)):
                rows[number] = np.maximum(own, others)
                break
        else:
            rows.append(own)
    return np.stack(rows)


def _exact(before: Splitting) -> list[Ints]:
    """Return the groups of all atoms in every release of exact numbers, -1 for none."""
    return [
        before.group[:, at].astype(np.int32)
        for at, one in enumerate(before.releases)
        # Nothing remains exactly where rounded numbers are subtracted.
        if one.rounded is None
    ]


@dataclass(frozen=True, kw_only=True, eq=False)
class Remainders(OfProducts):
    """A flow leaves nothing of few people when earlier flows are taken from it, or it from those.

    It has no kind: no manifest states it, as it says nothing of the release alone.

    This is decided of every product of zones by itself, so that methods which look at all products find the
    best release under it. What only several new flows together would tell is left to the attack.

    Parameters
    ----------
    least
        How many people must remain where somebody does.
    earlier
        Where the records were in earlier releases.
    """

    lacks: ClassVar[str] = "remainders are of flows that are safe by themselves: give them together with k"

    least: int
    earlier: EarlierGroups = field(repr=False)

    def safe(self, groups: Groups) -> Bools:
        """Return, for every group, whether nothing of few people is left."""
        return self.earlier.hold(groups.runs, self.least)

    def sentence(self) -> str:
        """Return the rule in words."""
        return f"nothing of fewer than {self.least:,} when earlier releases are subtracted"

    def in_full(self) -> Passages:
        """Return what it covers, and what not."""
        return Passages(f"**{self.sentence()}**\n", "", ())
