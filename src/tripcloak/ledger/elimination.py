"""Exact elimination: sparse linear systems modulo a prime, and the fractions that are got back from it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

PRIME = 2**31 - 1
"""A prime that no small whole number is a multiple of."""

SMALL = 32_767
"""The largest numerator and denominator that a remainder can stand for without doubt."""

Row: TypeAlias = dict[int, int]
"""A sum by the coefficients of its terms, none of which is zero."""


class Elimination:
    """Values that are sums of unknowns, with the unknowns eliminated, those of the shortest sums first.

    Parameters
    ----------
    ties
        Sums of unknowns that are zero.
    values
        The sum of unknowns that each value is.
    effort
        Terms that may be added up; where it takes more, the elimination is given up.

    Attributes
    ----------
    checks : list of Row
        Sums of values, modulo the prime, which are zero just if there are such unknowns.
    complete : bool
        Whether it came to its end.

    Examples
    --------
    >>> found = Elimination([], [{0: 1}, {1: 1}, {0: 1, 1: 1}], effort=100)
    >>> [{value: fraction(factor) for value, factor in check.items()} for check in found.checks]
    [{2: Fraction(-1, 1), 0: Fraction(1, 1), 1: Fraction(1, 1)}]
    >>> found.unknowns([0, 2])
    {0: 1}
    """

    def __init__(self, ties: Iterable[Row], values: Sequence[Row], effort: int) -> None:
        self.checks: list[Row] = []
        self.effort = effort
        self._steps: list[tuple[int, Row]] = []
        # A value is one more term, by the number of its complement: minus one is the value 0.
        own = ({**row, ~value: -1} for value, row in enumerate(values))
        self._rows = {at: dict(row) for at, row in enumerate((*ties, *own))}
        self._holders: dict[int, set[int]] = {}
        for at, row in self._rows.items():
            for term in row:
                if term >= 0:
                    self._holders.setdefault(term, set()).add(at)
        self._run()
        self._at: dict[int, list[int]] = {}
        for at, (_, row) in enumerate(self._steps):
            for term in row:
                self._at.setdefault(term, []).append(at)

    @property
    def complete(self) -> bool:
        """Return whether it came to its end."""
        return self.effort >= 0

    def unknowns(self, values: Iterable[int]) -> Row:
        """Return unknowns, modulo the prime, for which some values are one and all others zero."""
        found = {~value: 1 for value in values}
        waiting = {-at for term in found for at in self._at.get(term, ())}
        heap = sorted(waiting)
        # Invariant: all unknowns that were eliminated later are found; those that never were are zero.
        while heap:
            pivot, row = self._steps[-heapq.heappop(heap)]
            rest = sum(factor * found.get(term, 0) for term, factor in row.items())
            if rest % PRIME:
                found[pivot] = -rest * pow(row[pivot], -1, PRIME) % PRIME
                for at in self._at[pivot]:
                    if -at not in waiting:
                        waiting.add(-at)
                        heapq.heappush(heap, -at)
        return {term: factor for term, factor in found.items() if term >= 0}

    def _run(self) -> None:
        heap = [(len(row), at) for at, row in self._rows.items()]
        heapq.heapify(heap)
        # Invariant: an unknown that was eliminated is in no row that is left.
        while heap and self.effort >= 0:
            length, at = heapq.heappop(heap)
            row = self._rows.get(at)
            if row is None or len(row) != length:
                continue
            del self._rows[at]
            unknowns = [term for term in row if term >= 0]
            for term in unknowns:
                self._holders[term].discard(at)
            if not unknowns:
                self.checks += [{~term: factor for term, factor in row.items()}] if row else []
                continue
            pivot = min(unknowns, key=lambda term: len(self._holders[term]))
            self._steps.append((pivot, row))
            for other in sorted(self._holders[pivot]):
                self._subtract(row, pivot, other)
                heapq.heappush(heap, (len(self._rows[other]), other))

    def _subtract(self, row: Row, pivot: int, other: int) -> None:
        """Take a row from another one as often as rids that of the pivot."""
        changed = self._rows[other]
        times = changed[pivot] * pow(row[pivot], -1, PRIME) % PRIME
        self.effort -= len(row)
        for term, factor in row.items():
            value = (changed.get(term, 0) - times * factor) % PRIME
            if value:
                if term >= 0 and term not in changed:
                    self._holders[term].add(other)
                changed[term] = value
            elif term in changed:
                del changed[term]
                if term >= 0:
                    self._holders[term].discard(other)


def fraction(remainder: int) -> Fraction | None:
    """Return the fraction of small numbers that a remainder stands for; None where there is none.

    >>> fraction(PRIME - 1), fraction(pow(3, -1, PRIME) * 2 % PRIME)
    (Fraction(-1, 1), Fraction(2, 3))
    """
    before, now = (PRIME, 0), (remainder % PRIME, 1)
    while now[0] > SMALL:
        times = before[0] // now[0]
        before, now = now, (before[0] - times * now[0], before[1] - times * now[1])
    if now[1] == 0 or abs(now[1]) > SMALL:
        return None
    return Fraction(now[0], now[1])
