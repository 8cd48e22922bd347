"""Remainders: what is left of a flow when earlier releases are subtracted must be nothing, or of k people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tripcloak.flows.model import Groups, KeyedRecords, Numbering
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.disclosure import WITHHELD, Disclosure
from tripcloak.promises import Passages, Promise


@dataclass(frozen=True, kw_only=True, eq=False)
class EarlierGroups:
    """The records of a new input in the groups of earlier releases.

    Earlier releases that share no published record, such as segments, slots or months, are one partition:
    a reader adds them up.

    Attributes
    ----------
    start, person : array
        Where the records of each new flow begin, and one more; the person of every record, -1 for nobody.
    group : array (partitions, records)
        The earlier group of every record, -1 where it is in none. Groups are numbered over all releases.
    group_start, member_flow, member_person : array
        Where the records of each earlier group begin, and one more; the flow of each now, -1 for none; whose.
    n_people : int
        How many people there are.
    """

    start: Ints
    person: Ints
    group: Ints
    group_start: Ints
    member_flow: Ints
    member_person: Ints
    n_people: int

    @classmethod
    def of(
        cls, records: KeyedRecords, n_flows: int, earlier: Sequence[Disclosure], *, people: bool
    ) -> EarlierGroups:
        """Return where the records of a new input were in earlier releases.

        Parameters
        ----------
        people
            Whether people are counted, and not trips.
        """
        numbering = Numbering()
        own = _codes(numbering, records.record, records.person, people=people)
        order = np.argsort(records.flow, kind="stable")
        first = np.cumsum([0, *(one.n_groups for one in earlier)])
        group = np.full((len(earlier), len(records)), -1, dtype=np.int64)
        members, flows, whose = [], [], []
        for number, one in enumerate(earlier):
            at = np.minimum(np.searchsorted(records.record, one.record), max(len(records) - 1, 0))
            known = records.record[at] == one.record
            told = one.group != WITHHELD
            group[number, at[known & told]] = one.group[known & told] + first[number]
            members.append(one.group[told].astype(np.int64) + first[number])
            flows.append(np.where(known, records.flow[at], -1)[told])
            counted = people and one.counted == "travellers"
            whose.append(_codes(numbering, one.record[told], one.person[told], people=counted))
        member = np.concatenate(members)
        by_group = np.argsort(member, kind="stable")
        return cls(
            start=np.searchsorted(records.flow[order], np.arange(n_flows + 1)),
            person=own[order],
            group=_joined(group, [one.record[one.group != WITHHELD] for one in earlier])[:, order],
            group_start=np.searchsorted(member[by_group], np.arange(first[-1] + 1)),
            member_flow=np.concatenate(flows)[by_group].astype(np.int64),
            member_person=np.concatenate(whose)[by_group],
            n_people=len(numbering),
        )


def _codes(numbering: Numbering, record: Ints, person: Ints, *, people: bool) -> Ints:
    """Return a number for every person, -1 for nobody; where trips are counted every record is one."""
    codes = numbering.add(person if people else record).astype(np.int64)
    return np.where(person == record, -1, codes) if people else codes


def _joined(group: Ints, published: Sequence[Ints]) -> Ints:
    """Return the groups with releases that share no published record joined into one partition."""
    rows: list[Ints] = []
    taken: list[Ints] = []
    for own, records in zip(group, published, strict=True):
        for number, others in enumerate(taken):
            if not len(np.intersect1d(others, records, assume_unique=True)):
                rows[number] = np.where(own >= 0, own, rows[number])
                taken[number] = np.union1d(others, records)
                break
        else:
            rows.append(own)
            taken.append(records)
    return np.array(rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class Remainders(Promise):
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

    joins: ClassVar[bool] = True
    lacks: ClassVar[str] = "remainders are of flows that are safe by themselves: give them together with k"

    least: int
    earlier: EarlierGroups = field(repr=False)

    @property
    def monotone(self) -> Promise:
        """Raise: nothing of it is."""
        raise NotImplementedError(self.lacks)

    @property
    def by_product(self) -> tuple[Promise, ...]:
        """Return the rule itself."""
        return (self,)

    @property
    def private_facts(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def safe(self, groups: Groups) -> Bools:
        """Return, for every group, whether nothing of few people is left."""
        from tripcloak.ledger._kernels import remainders_hold

        one = self.earlier
        runs = groups.runs
        return remainders_hold(
            (runs.flows.astype(np.int64), runs.first.astype(np.int64), runs.last.astype(np.int64)),
            (one.start, one.person),
            one.group,
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
