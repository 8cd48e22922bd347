"""Sets of atoms whose total follows from published numbers: found exactly, the least ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tripcloak.ground.arrays import Ints
from tripcloak.ledger.elimination import PRIME, fraction, kernel, reduced

STEPS = 10_000
"""Choices that are looked at in one part of a block; where there are more, not all sets may be found."""


class Determined(NamedTuple):
    """A set of columns that adds up to a known number, and the factor of every unknown that shows it."""

    columns: tuple[int, ...]
    factors: tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class Block:
    """Unknowns that hang together: what must be zero, and what every column adds up to.

    Attributes
    ----------
    ties : array (ties, unknowns)
        Combinations that must be zero.
    forms : array (columns, unknowns)
        What each column adds up to.
    people : sequence of arrays
        Who is in each column.
    """

    ties: Ints
    forms: Ints
    people: Sequence[Ints]


def determined_sets(block: Block, below: int) -> tuple[list[Determined], bool]:
    """Return all least sets of columns of fewer people whose total is known, and whether those are all.

    A set is least where no part of it is known; a set that holds a known one is no further fact.

    Parameters
    ----------
    below
        Sets of so many people, and more, are of no interest.

    Examples
    --------
    >>> block = Block(np.empty((0, 1), int), np.array([[1], [1]]), [np.array([7]), np.array([7, 8])])
    >>> determined_sets(block, 3)
    ([Determined(columns=(0, 1), factors=(Fraction(1, 1),))], True)
    >>> determined_sets(block, 2)
    ([], True)
    """
    basis = kernel(block.ties) if len(block.ties) else np.eye(block.forms.shape[1], dtype=np.int64)
    values = _product(basis, np.remainder(block.forms, PRIME).T)
    rows, pivots = reduced(np.hstack([values, basis]), values.shape[1])
    width, rows = values.shape[1], rows[: len(pivots)]
    sets, complete = [], True
    for part in _apart(rows[:, :width]):
        search = _Search(rows[part], width, block.people, below)
        sets += [_told(rows[part], width, chosen) for chosen in search.run()]
        complete &= search.complete
    return [one for one in sets if _holds(one, block)], complete


def _apart(values: Ints) -> Iterator[Ints]:
    """Yield rows that share columns with each other, and with no others."""
    row, column = np.nonzero(values)
    n = len(values)
    links = coo_array((np.ones(len(row)), (row, column + n)), shape=(n + values.shape[1],) * 2)
    _, part = connected_components(links, directed=False)
    for number in np.unique(part[:n]):
        yield np.flatnonzero(part[:n] == number)


class _Search:
    """Looks for all choices of rows whose sum is zero or one in every column.

    In the column of its pivot a row is alone, so that column is in every set the row is chosen for. What a
    choice has too much, or too little, of in another column only further rows can mend: those are tried.
    """

    def __init__(self, rows: Ints, width: int, people: Sequence[Ints], below: int) -> None:
        self.below, self.steps = below, 0
        self.values = [_sparse(row[:width]) for row in rows]
        self.pivot = [min(row) for row in self.values]
        self.holders: dict[int, list[int]] = {}
        for number, row in enumerate(self.values):
            for column in row:
                self.holders.setdefault(column, []).append(number)
        self.people = {column: frozenset(people[column].tolist()) for column in self.holders}
        self.found: dict[frozenset[int], frozenset[int]] = {}

    @property
    def complete(self) -> bool:
        """Return whether the search came to its end."""
        return self.steps < STEPS

    def run(self) -> list[frozenset[int]]:
        """Return the choices that make least sets of fewer people."""
        barred: set[int] = set()
        for number in range(len(self.values)):
            self._extend(frozenset([number]), dict(self.values[number]), frozenset(), frozenset(barred))
            barred.add(number)
        sets = list(self.found)
        return [self.found[one] for one in sets if not any(other < one for other in sets)]

    def _extend(
        self, chosen: frozenset[int], total: dict[int, int], sure: frozenset[int], barred: frozenset[int]
    ) -> None:
        """Find the sets that hold the chosen rows and none that is barred."""
        sure = sure.union(*(self.people[self.pivot[row]] for row in chosen))
        self.steps += 1
        if len(sure) >= self.below or not self.complete:
            return
        wrong = [column for column, value in total.items() if value > 1]
        if wrong:
            ways = min((self._ways(column, chosen, barred) for column in wrong), key=len)
        else:
            columns = frozenset(column for column, value in total.items() if value)
            if len(frozenset().union(*(self.people[column] for column in columns))) < self.below:
                self.found[columns] = chosen
            # A set that does not hold this one lacks one of its columns, which a further row takes away.
            ways = [row for column in sorted(columns) for row in self._ways(column, chosen, barred)]
        for row in dict.fromkeys(ways):
            more = dict(total)
            for column, value in self.values[row].items():
                more[column] = (more.get(column, 0) + value) % PRIME
            self._extend(chosen | {row}, more, sure, barred)
            barred |= {row}

    def _ways(self, column: int, chosen: frozenset[int], barred: frozenset[int]) -> list[int]:
        return [row for row in self.holders[column] if row not in chosen and row not in barred]


def _sparse(row: Ints) -> dict[int, int]:
    return {int(column): int(row[column]) for column in np.flatnonzero(row)}


def _told(rows: Ints, width: int, chosen: frozenset[int]) -> Determined:
    values = rows[sorted(chosen)].sum(axis=0) % PRIME
    factors = [fraction(int(value)) for value in values[width:]]
    # One that is no fraction of small numbers is given up, as nobody could follow it.
    return Determined(
        tuple(int(column) for column in np.flatnonzero(values[:width])),
        tuple(factor if factor is not None else Fraction(0) for factor in factors),
    )


def _holds(one: Determined, block: Block) -> bool:
    """Return whether a set follows in whole numbers too, and not only modulo a prime."""
    common = int(np.lcm.reduce([factor.denominator for factor in one.factors]))
    factors = np.array([int(factor * common) for factor in one.factors], dtype=np.int64)
    wanted = np.zeros(len(block.forms), dtype=np.int64)
    wanted[list(one.columns)] = common
    return bool(np.array_equal(block.forms @ factors, wanted) and not np.any(block.ties @ factors))


def _product(first: Ints, second: Ints) -> Ints:
    """Return the product of two matrices modulo the prime."""
    # Halves of 16 bits, so that sums of many products stay below 64 bits.
    high, low = np.divmod(np.asarray(first, dtype=np.int64), 1 << 16)
    product: Ints = ((high @ second % PRIME << 16) + low @ second) % PRIME
    return product
