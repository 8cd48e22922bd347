"""Sets of atoms whose total follows from published numbers: found exactly, the least ones first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ledger.atoms import ALL, Atoms
from tripcloak.ledger.contraction import Contraction, Forms, numbers_of_unknowns


class Effort(NamedTuple):
    """What a search may cost; where it costs more, not all sets may be found, and the answer says so.

    Attributes
    ----------
    narrow : int
        Unknowns that hang together and are looked at as they are. Where more do, it is concluded first what
        must cancel out.
    terms : int
        Terms that are added up to eliminate the unknowns that hang together.
    steps : int
        Choices that are looked at among columns that hang together.
    """

    narrow: int = 1_000
    terms: int = 20_000_000
    steps: int = 200_000


USUAL = Effort()


class Determined(NamedTuple):
    """Columns that add up to a known number: that of some unknowns by their factors, divided by a number."""

    columns: Ints
    unknowns: Ints
    factors: Ints
    divisor: int


@dataclass(frozen=True, eq=False)
class Blocks:
    """Unknowns that hang together, block by block: what must be zero, and what every column adds up to.

    Attributes
    ----------
    start, n_ties : array
        Where the rows of each block begin, and one more; how many of these, the first ones, must be zero.
        The others are columns.
    rows : tuple of arrays
        Where the terms of each row begin, and one more; the unknowns; the coefficients.
    people : tuple of arrays
        Where the people of each row begin, and one more; the people.
    """

    start: Ints
    n_ties: Ints
    rows: tuple[Ints, Ints, Ints]
    people: tuple[Ints, Ints]

    def __repr__(self) -> str:
        return f"<Blocks: {len(self.n_ties):,} of {len(self.rows[0]) - 1:,} rows>"


def determined_sets(blocks: Blocks, below: int, effort: Effort = USUAL) -> tuple[list[Determined], bool]:
    """Return all least sets of columns of fewer people whose total is known, and whether those are all.

    A set is least where no part of it is known; a set that holds a known one is no further fact.

    Parameters
    ----------
    below
        Sets of so many people, and more, are of no interest.

    Examples
    --------
    Three columns of two unknowns: their sum, and each of them.

    >>> rows = np.array([0, 2, 3, 4]), np.array([0, 1, 0, 1]), np.array([1, 1, 1, 1])
    >>> people = np.array([0, 1, 3, 4]), np.array([7, 7, 8, 9])
    >>> block = Blocks(np.array([0, 3]), np.array([0]), rows, people)
    >>> sets, complete = determined_sets(block, 3)
    >>> [(one.columns.tolist(), one.unknowns.tolist(), one.factors.tolist()) for one in sets], complete
    ([([0, 2], [1], [1]), ([0, 1], [0], [1])], True)
    >>> determined_sets(block, 2)
    ([], True)
    """
    from tripcloak.ledger._kernels.combining import known_sets

    sizes = int(blocks.rows[1].max(initial=-1)) + 1, int(blocks.people[1].max(initial=-1)) + 1
    limits = below, effort.terms, effort.steps
    complete, sets, shown, divisor = known_sets(
        (blocks.start, blocks.n_ties), blocks.rows, blocks.people, sizes, limits
    )
    return list(_each(sets, shown, divisor)), bool(complete.all())


def _each(sets: tuple[Ints, Ints], shown: tuple[Ints, Ints, Ints], divisor: Ints) -> Iterator[Determined]:
    for one in range(len(divisor)):
        own = slice(shown[0][one], shown[0][one + 1])
        columns = np.sort(sets[1][sets[0][one] : sets[0][one + 1]])
        yield Determined(columns, shown[1][own], shown[2][own], int(divisor[one]))


@dataclass(frozen=True, eq=False)
class Hanging:
    """All that is left of some atoms, block by block; those of one form are one column.

    Attributes
    ----------
    start, atom : array
        Where the atoms of each row begin, and one more, and they; rows that must be zero have none.
    """

    blocks: Blocks
    start: Ints
    atom: Ints

    @classmethod
    def of(cls, atoms: Atoms, contraction: Contraction) -> Hanging:
        """Return what hangs together in a contraction, as far as something is left of it."""
        ties, left, part = contraction.ties, contraction.left, contraction.part
        columns = _Columns.of(left, part, contraction.n_unknowns)
        tie_at = _starts(ties.row)
        tie_part = part[ties.unknown[tie_at[:-1]]] if len(ties.row) else np.empty(0, dtype=np.int64)
        kept = np.flatnonzero(np.isin(tie_part, columns.part))
        whole = np.concatenate([tie_part[kept], columns.part])
        order = np.lexsort((np.arange(len(whole)), whole))
        start = np.append(np.flatnonzero(np.diff(whole[order], prepend=-1)), len(order))
        is_tie = order < len(kept)
        n_ties = np.add.reduceat(is_tie, start[:-1]) if len(order) else np.empty(0, dtype=np.int64)
        # The terms of ties and columns, one behind the other, and then in the order of rows.
        sides = (ties, tie_at[kept], tie_at[kept + 1]), (left, columns.first, columns.last)
        shift = np.repeat([0, len(ties.row)], [len(kept), len(columns.part)])
        first, last = (np.concatenate([side[end] for side in sides]) + shift for end in (1, 2))
        taken, row_start = _ranges(first[order], last[order])
        terms = Forms(*(np.concatenate(both) for both in zip(ties, left, strict=True)))
        members, of_row = columns.members(order - len(kept))
        return cls(
            Blocks(
                start,
                n_ties.astype(np.int64),
                (row_start, terms.unknown[taken], terms.coefficient[taken]),
                _people(atoms, members, of_row),
            ),
            of_row,
            members,
        )

    def atoms_of(self, one: Determined) -> Ints:
        """Return the atoms of a set that is known."""
        return np.concatenate([self.atom[self.start[row] : self.start[row + 1]] for row in one.columns])


class _Columns(NamedTuple):
    """Atoms by the part they are in and their form; the terms of each form, as its first atom has them."""

    atom: Ints
    start: Ints
    part: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, left: Forms, part: Ints, n_unknowns: int) -> _Columns:
        at = _starts(left.row)
        if not len(left.row):
            return cls(*(np.empty(0, dtype=np.int64) for _ in range(5)))
        number = numbers_of_unknowns(n_unknowns)
        form = np.add.reduceat(number[left.unknown] * left.coefficient.astype(np.uint64), at[:-1])
        own = part[left.unknown[at[:-1]]]
        order = np.lexsort((form, own))
        new = np.append(True, (np.diff(own[order]) != 0) | (np.diff(form[order]) != 0))
        start = np.flatnonzero(new)
        one = order[start]
        return cls(left.row[at[order]], np.append(start, len(order)), own[one], at[one], at[one + 1])

    def members(self, column: Ints) -> tuple[Ints, Ints]:
        """Return the atoms of some columns, and where those of each begin, and one more; -1 has none."""
        there = column >= 0
        first, last = (np.where(there, self.start[np.where(there, column + end, 0)], 0) for end in (0, 1))
        taken, start = _ranges(first, last)
        return self.atom[taken], start


def _people(atoms: Atoms, members: Ints, start: Ints) -> tuple[Ints, Ints]:
    """Return where the different people of each row begin, and one more, and the people."""
    from tripcloak.ledger._kernels.groups import people_of_sets

    seen, n_people = (atoms.first_seen, atoms.seen_by), int(atoms.seen_by.max(initial=-1)) + 1
    row, who = people_of_sets(members, start[:-1], start[1:], seen, n_people, ALL)
    return np.searchsorted(row, np.arange(len(start))), who


def _starts(row: Ints) -> Ints:
    """Return where the terms of each row begin, and one more."""
    return np.append(np.flatnonzero(np.diff(row, prepend=-1)), len(row))


def _ranges(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return all places from some firsts to their lasts, and where those of each begin, and one more."""
    start = np.concatenate([[0], np.cumsum(last - first)])
    return np.arange(start[-1]) + np.repeat(first - start[:-1], last - first), start
