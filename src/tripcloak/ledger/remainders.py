"""Remainders: what is left of a flow when earlier releases are subtracted must be nothing, or of k people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.model import Groups, KeyedRecords
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.atoms import KnownPeople
from tripcloak.ledger.disclosure import WITHHELD, Disclosure
from tripcloak.promises import Passages
from tripcloak.promises.promise import OfProducts


@dataclass(frozen=True, kw_only=True, eq=False)
class EarlierGroups:
    """The records of a new input in the groups of earlier releases.

    Earlier releases that share no published record, such as segments, slots or months, are one partition:
    a reader adds them up.

    Attributes
    ----------
    piece : array (partitions, flows + 1)
        Where the pieces of each new flow begin in every partition: its records of one earlier group.
    group, start : array
        The earlier group of every piece, -1 where it is in none; where the records of each begin, and one
        more. Groups are numbered over all releases.
    person : array
        The person of every record, partition by partition, -1 for nobody.
    beside : array (partitions, flows) of bool
        Which new flows have a piece that is in no group.
    group_start, member_flow, member_person : array
        Where the records of each earlier group begin, and one more; the flow of each now, -1 for none; whose.
    n_people : int
        How many people there are.
    """

    piece: Ints
    group: Ints
    start: Ints
    person: Ints
    beside: Bools
    group_start: Ints
    member_flow: Ints
    member_person: Ints
    n_people: int

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
        by_flow = sorted_by(records.flow, n_flows)
        pieces = _Pieces.of(by_flow, [row[place] for row in _joined(earlier, known)])
        own = whose.of(place, told_apart=True)
        members = [_members(one, known, flow, whose) for one in earlier]
        ends = np.cumsum([0, *(len(own[1]) for own in members)])
        return cls(
            piece=pieces.first,
            group=pieces.group,
            start=pieces.start,
            person=own[pieces.order],
            beside=pieces.beside(),
            group_start=np.concatenate(
                [*(own[0][:-1] + end for own, end in zip(members, ends, strict=False)), ends[-1:]]
            ),
            member_flow=np.concatenate([own[1] for own in members]),
            member_person=np.concatenate([own[2] for own in members]),
            n_people=whose.n,
        )


class _Pieces(NamedTuple):
    """Flows in pieces of one earlier group each, partition by partition."""

    first: Ints
    group: Ints
    start: Ints
    order: Ints

    @classmethod
    def of(cls, by_flow: tuple[Ints, Ints], partitions: Sequence[Ints]) -> _Pieces:
        """Return the pieces, given where the records of each flow begin, they, and the group of each."""
        from tripcloak.ledger._kernels.groups import split

        first, group, start, order = [], [], [np.zeros(1, dtype=np.int64)], []
        pieces = records = 0
        for partition in partitions:
            n_codes = int(partition.max(initial=-1)) + 2
            own, ends, flow, code = split(by_flow[1], by_flow[0], partition + np.int32(1), n_codes)
            first.append(pieces + np.searchsorted(flow, np.arange(len(by_flow[0]))))
            group.append(code.astype(np.int32) - np.int32(1))
            start.append(ends[1:] + records)
            order.append(own)
            pieces, records = pieces + len(code), records + len(own)
        return cls(np.stack(first), *(np.concatenate(parts) for parts in (group, start, order)))

    def beside(self) -> Bools:
        """Return, for every partition, which flows have a piece that is in no group."""
        beside = np.zeros((len(self.first), self.first.shape[1] - 1), dtype=bool)
        alone = np.flatnonzero(self.group < 0)
        for own, first in zip(beside, self.first, strict=True):
            here = alone[np.searchsorted(alone, first[0]) : np.searchsorted(alone, first[-1])]
            own[np.searchsorted(first, here, side="right") - 1] = True
        return beside


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
        from tripcloak.ledger._kernels.groups import remainders_hold

        runs, one = groups.runs, self.earlier
        return remainders_hold(
            (runs.flows, runs.first.astype(np.int64), runs.last.astype(np.int64)),
            (one.piece, one.group, one.start, one.person, one.beside),
            (one.group_start, one.member_flow, one.member_person),
            one.n_people,
            self.least,
        )

    def sentence(self) -> str:
        """Return the rule in words."""
        return f"nothing of fewer than {self.least:,} when earlier releases are subtracted"

    def in_full(self) -> Passages:
        """Return what it covers, and what not."""
        return Passages(f"**{self.sentence()}**\n", "", ())
