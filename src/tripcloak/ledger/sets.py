"""Sets of atoms whose total follows from published numbers: found exactly, the least ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tripcloak.ground.arrays import Ints
from tripcloak.ledger.elimination import Elimination, Row, fraction


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

    narrow: int = 40
    terms: int = 5_000_000
    steps: int = 20_000


USUAL = Effort()
DEEP = 500
"""Columns of one set, at most: people of so many different atoms could not be told from others."""


class Determined(NamedTuple):
    """A set of columns that adds up to a known number, and the factors of unknowns that show it."""

    columns: tuple[int, ...]
    factors: dict[int, Fraction]


@dataclass(frozen=True, eq=False)
class Block:
    """Unknowns that hang together: what must be zero, and what every column adds up to.

    Attributes
    ----------
    ties : sequence of Row
        Sums of unknowns that must be zero.
    forms : sequence of Row
        The sum of unknowns that each column adds up to.
    people : sequence of arrays
        Who is in each column.
    """

    ties: Sequence[Row]
    forms: Sequence[Row]
    people: Sequence[Ints]

    @cached_property
    def rows_of(self) -> dict[int, list[tuple[int, int]]]:
        """Return the columns, and complements of ties, that an unknown is in, with its coefficient there."""
        found: dict[int, list[tuple[int, int]]] = {}
        numbered = ((~at, row) for at, row in enumerate(self.ties))
        for at, row in (*numbered, *enumerate(self.forms)):
            for unknown, coefficient in row.items():
                found.setdefault(unknown, []).append((at, coefficient))
        return found


def determined_sets(block: Block, below: int, effort: Effort = USUAL) -> tuple[list[Determined], bool]:
    """Return all least sets of columns of fewer people whose total is known, and whether those are all.

    A set is least where no part of it is known; a set that holds a known one is no further fact.

    Parameters
    ----------
    below
        Sets of so many people, and more, are of no interest.

    Examples
    --------
    >>> block = Block([], [{0: 1, 1: 1}, {0: 1}, {1: 1}], [np.array([7]), np.array([7, 8]), np.array([9])])
    >>> determined_sets(block, 3)
    ([Determined(columns=(0, 1), factors={0: Fraction(1, 1)}),
      Determined(columns=(0, 2), factors={1: Fraction(1, 1)})], True)
    >>> determined_sets(block, 2)
    ([], True)
    """
    solved = Elimination(block.ties, block.forms, effort.terms)
    if not solved.complete:
        return [], False
    checks = [_whole(check) for check in solved.checks]
    complete = all(check is not None for check in checks)
    sets: list[frozenset[int]] = []
    for columns, own in _apart(len(block.forms), [check for check in checks if check is not None]):
        search = _Search(columns, own, block.people, below, effort.steps)
        sets += search.run()
        complete &= search.complete
    told = [_told(solved, columns) for columns in _least(sets)]
    found = [one for one in told if _holds(one, block)]
    return found, complete and len(found) == len(told)


def _whole(check: Row) -> Row | None:
    """Return a check in whole numbers; None where it is none of small ones."""
    factors = {column: fraction(factor) for column, factor in check.items()}
    common = lcm(*(one.denominator for one in factors.values() if one is not None))
    whole = {column: int(one * common) for column, one in factors.items() if one is not None}
    return whole if len(whole) == len(check) else None


def _apart(n: int, checks: Sequence[Row]) -> Iterator[tuple[list[int], list[Row]]]:
    """Yield columns that checks tie to each other, and to no others, with those checks."""
    at = np.repeat(np.arange(len(checks)), [len(check) for check in checks])
    column = np.array([column for check in checks for column in check], dtype=np.int64)
    links = coo_array((np.ones(len(at)), (column, at + n)), shape=(n + len(checks),) * 2)
    _, part = connected_components(links, directed=False)
    found: dict[int, tuple[list[int], list[Row]]] = {}
    for number, own in enumerate(part[:n].tolist()):
        found.setdefault(own, ([], []))[0].append(number)
    for check, own in zip(checks, part[n:].tolist(), strict=True):
        found[own][1].append(check)
    yield from found.values()


class _Search:
    """Looks for all sets of columns that every check adds up to zero over.

    A check that does not is one that further columns must mend: those are tried, each with all before it
    barred. Sets are looked for column by column, of the shortest checks first; a column that all was found
    of is barred from then on.
    """

    def __init__(
        self, columns: Sequence[int], checks: Sequence[Row], people: Sequence[Ints], below: int, steps: int
    ) -> None:
        self.checks, self.below, self.left = checks, below, steps
        self.people = {column: frozenset(people[column].tolist()) for column in columns}
        self.of: dict[int, list[int]] = {column: [] for column in columns}
        for number, check in enumerate(checks):
            for column in check:
                self.of[column].append(number)
        self.found: list[frozenset[int]] = []

    @property
    def complete(self) -> bool:
        """Return whether the search came to its end."""
        return self.left > 0

    def run(self) -> list[frozenset[int]]:
        """Return the sets of fewer people, among which are all least ones."""
        barred: set[int] = set()
        for column in sorted(self.of, key=self._shortest):
            if not self.complete:
                break
            self._extend(frozenset(), column, {}, frozenset(), barred)
            barred.add(column)
        return self.found

    def _shortest(self, column: int) -> tuple[int, int]:
        return min((len(self.checks[number]) for number in self.of[column]), default=0), column

    def _extend(
        self, held: frozenset[int], column: int, sums: Row, people: frozenset[int], barred: set[int]
    ) -> None:
        """Find the sets that hold some columns and one more, and none that is barred."""
        self.left -= 1
        people |= self.people[column]
        if len(people) >= self.below or not self.complete:
            return
        held |= {column}
        if len(held) > DEEP:
            self.left = 0
            return
        sums = dict(sums)
        for number in self.of[column]:
            sums[number] = sums.get(number, 0) + self.checks[number][column]
        wrong = [self._ways(number, total, held, barred) for number, total in sums.items() if total]
        if not wrong:
            self.found.append(held)
            return
        ways = min(wrong, key=len)
        for more in ways:
            self._extend(held, more, sums, people, barred)
            barred.add(more)
        barred.difference_update(ways)

    def _ways(self, number: int, total: int, held: frozenset[int], barred: set[int]) -> list[int]:
        """Return columns of which one must be held too, so that a check may add up to zero."""
        check = self.checks[number]
        return [
            column
            for column, factor in check.items()
            if (factor < 0) == (total > 0) and column not in held and column not in barred
        ]


def _least(sets: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Return the sets that hold no other one."""
    of: dict[int, list[frozenset[int]]] = {}
    for one in sets:
        for column in one:
            of.setdefault(column, []).append(one)
    more = {larger for one in sets for larger in min((of[column] for column in one), key=len) if one < larger}
    return [one for one in sets if one not in more]


def _told(solved: Elimination, columns: frozenset[int]) -> Determined:
    factors = {one: fraction(factor) for one, factor in solved.unknowns(columns).items()}
    # One that is no fraction of small numbers is given up, as nobody could follow it.
    told = {one: factors[one] or Fraction(0) for one in sorted(factors)}
    return Determined(tuple(sorted(columns)), told)


def _holds(one: Determined, block: Block) -> bool:
    """Return whether a set follows in whole numbers too, and not only modulo a prime."""
    common = lcm(*(factor.denominator for factor in one.factors.values()))
    whole = {unknown: int(factor * common) for unknown, factor in one.factors.items() if factor}
    totals = dict.fromkeys(one.columns, -common)
    for unknown, factor in whole.items():
        for row, coefficient in block.rows_of.get(unknown, ()):
            totals[row] = totals.get(row, 0) + coefficient * factor
    return not any(totals.values())
