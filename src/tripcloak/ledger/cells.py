"""Cells: records that neither earlier releases nor the flows of a new input tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tripcloak.flows.model import KeyedRecords
from tripcloak.ground.arrays import Ints, to_read
from tripcloak.ledger.atoms import NONE, Atoms, Splitting, told_atoms
from tripcloak.ledger.disclosure import Disclosure


class Cells:
    """The records of earlier releases and of a new input, in sets from which atoms are quickly made.

    A new release puts all records of a flow into one group, whatever its zones are. So records are gone
    through once, and every release that is tried for the same input is split by cells.

    Parameters
    ----------
    before
        The records as earlier releases tell them apart.
    records
        Those of the new input.
    enough
        So many people of a cell are counted: who is more is not few, whatever else is in an atom.
    """

    def __init__(self, before: Splitting, records: KeyedRecords, enough: int) -> None:
        self.before, self.records, self.enough = before, records, enough
        # A record of every flow, which stands for all of them in releases that group whole flows.
        self._example = np.zeros(int(records.flow.max(initial=-1)) + 1, dtype=np.int32)
        self._example[records.flow] = np.arange(len(records.flow), dtype=np.int32)
        flow = np.zeros(len(before.known), dtype=np.int32)
        flow[before.known.place(records.record)] = records.flow + 1
        self.order, self.start = before.order, before.start
        self.atom = np.arange(len(before.start) - 1)
        self._people: tuple[Ints, tuple[Ints, Ints]] | None = None
        # The flow of every cell, -1 for none.
        self._flow = np.full(len(self.atom), NONE, dtype=np.int32)
        self._flow = self._split(flow, len(self._example) + 1) - np.int32(1)

    def __repr__(self) -> str:
        return f"<Cells: {len(self.atom):,} of {self.before!r}>"

    def atoms(self, new: Sequence[Disclosure]) -> Atoms:
        """Return the atoms of all earlier releases and new ones.

        Where a new release tells a cell's records apart, as by segment, cells are split further.
        """
        from tripcloak.ledger._kernels.groups import are_uniform, split

        known = self.before.known
        by_flow = [self._by_flow(one) for one in new]
        for one, whole in zip(new, by_flow, strict=True):
            known.learn(one)
            if not whole and not are_uniform(self.order, self.start, known.codes(one)):
                self._split(known.codes(one), one.n_groups + 1)
        n = self.before.n_groups
        order, group = np.arange(len(self.atom), dtype=np.int32), self.before.group
        start = np.searchsorted(self.atom, np.arange(len(group) + 1))
        for one, whole in zip(new, by_flow, strict=True):
            code = self._codes_by_flow(one) if whole else self._codes(one)
            order, start, before, told = split(order, start, code, one.n_groups + 1)
            group = np.column_stack([group[before], np.where(told > 0, told - 1 + n, NONE)])
            n += one.n_groups
        trips = np.add.reduceat(self._trips()[order], start[:-1]) if len(group) else np.empty(0, int)
        people = self._people_of_cells()
        return told_atoms(
            (*self.before.releases, *new),
            group,
            trips,
            lambda at: known.people_of((order, start), at, people, self.enough),
        )

    def _by_flow(self, one: Disclosure) -> bool:
        """Return whether a release has all records of a flow in one group."""
        from tripcloak.ledger._kernels.groups import groups_follow_flows

        if one.among is not self.records.record:
            return False
        return groups_follow_flows(to_read(self.records.flow), to_read(one.group), self._example)

    def _codes(self, one: Disclosure) -> Ints:
        """Return the group of every cell in a release, from 1; 0 where it is in none."""
        return self.before.known.codes(one)[self.order[self.start[:-1]]]

    def _codes_by_flow(self, one: Disclosure) -> Ints:
        """Return the same of a release that has all records of a flow in one group."""
        of_flow = np.append(np.maximum(one.group[self._example] + 1, 0), 0).astype(np.int32)
        code: Ints = of_flow[self._flow]
        return code

    def _split(self, code: Ints, n_codes: int) -> Ints:
        """Split the cells further by a code of every record, and return that of every cell."""
        from tripcloak.ledger._kernels.groups import split

        self.order, self.start, before, told = split(self.order, self.start, code, n_codes)
        self.atom, self._flow, self._people = self.atom[before], self._flow[before], None
        return told

    def _trips(self) -> Ints:
        weight = self.before.known.weight
        if weight is None:
            return np.diff(self.start)
        trips: Ints = np.add.reduceat(weight[self.order], self.start[:-1])
        return trips

    def _people_of_cells(self) -> tuple[Ints, Ints]:
        """Return where the people of every cell begin, and one more, and they, as often as they travel."""
        known = self.before.known
        # A new release may tell people apart whom no earlier one did.
        if self._people is None or self._people[0] is not known.person:
            self._people = known.person, (self.start, known.person[self.order])
        return self._people[1]
