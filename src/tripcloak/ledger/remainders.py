"""Remainders: what is left of a flow when earlier releases are subtracted must be nothing, or of k people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from tripcloak.flows.model import Groups, KeyedRecords, Numbering, Runs
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.atoms import KnownPeople
from tripcloak.ledger.contraction import numbers_of_unknowns
from tripcloak.ledger.disclosure import WITHHELD, Disclosure
from tripcloak.promises import Passages
from tripcloak.promises.promise import OfProducts

Ordered: TypeAlias = tuple[Ints, Ints, Ints, Ints, Ints]
"""Flows in some order, and where earlier groups are in it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EarlierGroups:
    """The records of a new input in the groups of earlier releases.

    Earlier releases that share no published record, such as segments, slots or months, are one partition:
    a reader adds them up.

    Attributes
    ----------
    first : array
        Where the records of each new flow begin, and one more.
    person : array
        Whose each record is, -1 for nobody.
    group : array (partitions, records)
        The earlier group of every record, -1 where it is in none. Groups are numbered over all releases.
    kinds : Kinds
        Flows by the earlier groups they are in.
    group_start, member_flow, member_person : array
        Where the records of each earlier group begin, and one more; the flow of each now, -1 for none; whose.
    n_people : int
        How many people there are.
    """

    first: Ints
    person: Ints
    group: Ints
    kinds: Kinds
    group_start: Ints
    member_flow: Ints
    member_person: Ints
    n_people: int
    _latest: list[tuple[Ints, Ordered]] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(
        cls,
        records: KeyedRecords,
        n_flows: int,
        earlier: Sequence[Disclosure],
        *,
        people: bool,
        known: KnownPeople | None = None,
    ) -> EarlierGroups:
        """Return where the records of a new input were in earlier releases.

        Parameters
        ----------
        people
            Whether people are counted, and not trips.
        known
            All these records, where that is known already.
        """
        from tripcloak.ledger._kernels.groups import sorted_by

        known = known or KnownPeople([records.record, *(one.record for one in earlier)])
        if people:
            known.meet(records.record, records.person)
            for one in earlier:
                known.learn(one)
        place = known.place(records.record)
        flow = np.full(len(known), -1, dtype=np.int32)
        flow[place] = records.flow
        whose = _Whose(known, people=people, some=any(one.counted == "trips" for one in earlier))
        first, order = sorted_by(records.flow, n_flows)
        by_flow = place[order]
        group = np.stack([row[by_flow] for row in _joined(earlier, known)])
        members = [_members(one, known, flow, whose) for one in earlier]
        ends = np.cumsum([0, *(len(own[1]) for own in members)])
        return cls(
            first=first,
            person=whose.of(by_flow, told_apart=True),
            group=group,
            kinds=Kinds.of(first, group),
            group_start=np.concatenate(
                [*(own[0][:-1] + end for own, end in zip(members, ends, strict=False)), ends[-1:]]
            ),
            member_flow=np.concatenate([own[1] for own in members]),
            member_person=np.concatenate([own[2] for own in members]),
            n_people=whose.n,
        )

    def hold(self, runs: Runs, k: int) -> Bools:
        """Return which runs leave nobody or k people of them, or of what holds them, in every partition."""
        from tripcloak.ledger._kernels.remaining import remainders_hold

        ends = runs.first.astype(np.int64), runs.last.astype(np.int64)
        members = self.group_start, self.member_flow, self.member_person
        order = self._in_order(runs.flows)
        before = self.first, self.person, self.group
        return remainders_hold(ends, order, before, (*self.kinds,), members, self.n_people, k)

    @cached_property
    def _partial(self) -> Bools:
        """Return which earlier groups hold records that are in no flow now."""
        partial = np.zeros(len(self.group_start) - 1, dtype=bool)
        gone = np.flatnonzero(self.member_flow < 0)
        partial[np.searchsorted(self.group_start, gone, side="right") - 1] = True
        return partial

    def _in_order(self, flows: Ints) -> Ordered:
        """Return where earlier groups are in an order of flows, found once for runs of the same one."""
        from tripcloak.ledger._kernels.remaining import put_in_order

        if not self._latest or self._latest[0][0] is not flows:
            order = put_in_order(flows, (*self.kinds,), self._partial)
            self._latest[:] = [(flows, order)]
        return self._latest[0][1]


class Kinds(NamedTuple):
    """Flows by the earlier groups that their records are in: there are far fewer kinds than flows.

    Attributes
    ----------
    of_flow, size : array
        The kind of every flow; how many flows are of each.
    start, group : array
        Where the groups of each kind begin, partition by partition, and one more; the groups.
    alone : array (partitions, kinds)
        Whether some records of such flows are in none.
    """

    of_flow: Ints
    size: Ints
    start: Ints
    group: Ints
    alone: Bools

    @classmethod
    def of(cls, first: Ints, group: Ints) -> Kinds:
        """Return the kinds of flows, given where their records begin and the groups of those."""
        from tripcloak.ledger._kernels.remaining import groups_of_kinds, marks_of_flows

        n_groups = int(group.max(initial=-1)) + 1
        # Sums of random numbers of 64 bits: no two kinds ever share one.
        mark = numbers_of_unknowns(n_groups + len(group))
        numbering = Numbering()
        kind = numbering.add(marks_of_flows(first, group, mark)).astype(np.int32)
        example = np.zeros(len(numbering), dtype=np.int32)
        example[kind] = np.arange(len(kind), dtype=np.int32)
        size = np.bincount(kind, minlength=len(example)).astype(np.int32)
        return cls(kind, size, *groups_of_kinds(example, first, group, n_groups))


class _Whose:
    """Numbers for people, or for records where nobody is told apart, as in some releases."""

    def __init__(self, known: KnownPeople, *, people: bool, some: bool) -> None:
        self.known, self.people = known, people
        self.shift = known.n_people if people else 0
        self.n = self.shift + (len(known) if some or not people else 0)

    def of(self, place: Ints, *, told_apart: bool) -> Ints:
        """Return whose the records at some places are, -1 for nobody."""
        return self.known.person[place] if self.people and told_apart else place + np.int32(self.shift)


def _members(one: Disclosure, known: KnownPeople, flow: Ints, whose: _Whose) -> tuple[Ints, Ints, Ints]:
    """Return where the records of each group of a release begin, the flow of each now, and whose it is."""
    from tripcloak.ledger._kernels.groups import sorted_by

    start, order = sorted_by(one.group, one.n_groups)
    place = known.place(one.record)[order]
    return start, flow[place], whose.of(place, told_apart=one.counted == "travellers")


def _joined(earlier: Sequence[Disclosure], known: KnownPeople) -> list[Ints]:
    """Return the groups of all records; releases that share no published one are one partition."""
    rows: list[Ints] = []
    first = 0
    for one in earlier:
        own = np.full(len(known), -1, dtype=np.int32)
        own[known.place(one.record)] = np.where(one.group != WITHHELD, one.group + np.int32(first), -1)
        first += one.n_groups
        for number, others in enumerate(rows):
            if not np.any((others >= 0) & (own >= 0)):
                rows[number] = np.maximum(own, others)
                break
        else:
            rows.append(own)
    return rows


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
