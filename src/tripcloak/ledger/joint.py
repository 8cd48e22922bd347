"""Sets of several atoms that are proven to hold some trips together, and few, though none of them is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ledger.atoms import NONE, Atoms
from tripcloak.ledger.bounds import CLOSE, SMALL, Parts, Span, Together, sums_of

STEPS = 20_000
"""Linear programmes that are solved in a search of all parts."""


class Proven(NamedTuple):
    """A set of atoms, and the least and the greatest trips that it can hold."""

    atoms: Ints
    least: int
    most: int


class LeftOver(NamedTuple):
    """The same of what a group holds beside others inside it."""

    atoms: Ints
    least: int
    most: int
    group: int
    inside: Ints


def few_together(atoms: Atoms, span: Span, asked: Bools, k: int) -> tuple[list[Proven], bool]:
    """Return the least sets of atoms that surely hold a trip and fewer than k, and whether those are all.

    No atom of such a set does so alone: it may be empty. Parts are looked at in which bounds are tightened.

    Parameters
    ----------
    span
        What is known of single atoms.
    asked
        The atoms that sets are looked for among.
    """
    candidates = asked & (span.least < 1) & (span.least < span.most) & (atoms.trips < k)
    if not candidates.any():
        return [], True
    parts = Parts.of(atoms, span)
    candidates &= parts.are_narrow
    n = int(parts.part.max(initial=-1)) + 1
    candidates &= (np.bincount(parts.part[candidates], minlength=n) > 1)[parts.part]
    if not candidates.any():
        return [], True
    together = Together(atoms, parts, candidates, span)
    candidates = _that_may_be(together, parts.part, candidates, k)
    found: list[Proven] = []
    steps = STEPS
    for members in together.parts_with(candidates):
        search = _Search(atoms, span, members, parts.fixed, k, steps)
        found += [
            Proven(members[list(one.atoms)], one.least, one.most)
            for one in search.least_sets(np.flatnonzero(candidates[members]).tolist())
        ]
        steps = search.steps
        if steps <= 0 or search.failed:
            return found, False
    return found, True


def left_over(atoms: Atoms, k: int) -> list[LeftOver]:
    """Return what groups surely hold beside all groups of another release inside them, where that is few.

    It takes numbers that are rounded: what follows from exact ones is found exactly. However many atoms hang
    together, it is looked for.

    Examples
    --------
    Ten trips, of which a release tells seven to nine. Two atoms are left, by a third release:

    >>> atoms = Atoms(
    ...     group=np.array([[0, -1, -1], [0, -1, 2], [0, 1, 2]]),
    ...     trips=np.array([1, 1, 8]),
    ...     published=np.array([10, 8, 9]),
    ...     seen=np.array([0, 1]),
    ...     seen_by=np.array([0, 1]),
    ...     start=np.array([0, 1, 2, 3]),
    ...     room=np.array([[10, 7, 9], [10, 9, 9]]),
    ...     rounded=np.array([False, True, False]),
    ... )
    >>> (one,) = left_over(atoms, 5)
    >>> one.atoms.tolist(), one.least, one.most, one.group, one.inside.tolist()
    ([0, 1], 1, 3, 0, [1])
    """
    rounded = np.zeros(len(atoms.start) - 1, dtype=bool) if atoms.rounded is None else atoms.rounded
    found: dict[bytes, LeftOver] = {}
    for around, inside in permutations(range(len(rounded)), 2):
        if rounded[around] or rounded[inside]:
            for one in _beside_those_inside(atoms, atoms.told[:, around], atoms.told[:, inside], k):
                found.setdefault(one.atoms.tobytes(), one)
    return list(found.values())


def _beside_those_inside(atoms: Atoms, around: Ints, inside: Ints, k: int) -> Iterator[LeftOver]:
    """Yield what groups of one release surely hold beside those of another, given every atom's groups."""
    low, high = atoms.limits
    n = len(atoms.published)
    there = np.flatnonzero(inside >= 0)
    first, last = np.full(n, n), np.full(n, NONE)
    np.minimum.at(first, inside[there], around[there])
    np.maximum.at(last, inside[there], around[there])
    whole = np.flatnonzero((first == last) & (last >= 0))
    taken = np.zeros(n, dtype=bool)
    taken[whole] = True
    least = low - np.bincount(last[whole], high[whole], n).astype(np.int64)
    most = high - np.bincount(last[whole], low[whole], n).astype(np.int64)
    few = (least >= 1) & (most < k)
    rest = np.flatnonzero((around >= 0) & few[around] & ~((inside >= 0) & taken[inside]))
    rest = rest[np.argsort(around[rest], kind="stable")]
    ends = np.flatnonzero(np.diff(around[rest])) + 1
    for some in np.split(rest, ends) if len(rest) else ():
        group = int(around[some[0]])
        of_it = whole[last[whole] == group]
        yield LeftOver(np.sort(some), int(least[group]), int(most[group]), group, of_it)


def _that_may_be(together: Together, part: Ints, candidates: Bools, k: int) -> Bools:
    """Return the candidates that solutions of all parts at once do not rule out.

    Where all of a part can be empty at once, any of their sets can; and one that can hold k is in none.
    """
    candidates = candidates & ~together.exchange(candidates, k)
    candidates &= together.high < k - CLOSE
    before = -1
    while (number := int(np.count_nonzero(candidates))) != before and number:
        before = number
        # What is too many goes first: it is half of them, and what is left is then soon seen to be empty.
        together.meet(candidates, -1)
        candidates = candidates & (together.high < k - CLOSE)
        met, value = together.meet(candidates, 1)
        held = np.bincount(part, np.where(candidates & met, value, 0)) > CLOSE
        candidates = candidates & (held[part] | ~met)
    return candidates


class _Found(NamedTuple):
    atoms: frozenset[int]
    least: int
    most: int


class _Search:
    """The search in one part: of a set that surely holds a trip some atom does, in any solution.

    So a set of which all are empty in some solution needs another atom, of those that hold trips there.
    """

    def __init__(self, atoms: Atoms, span: Span, members: Ints, fixed: Ints, k: int, steps: int) -> None:
        self.k, self.steps, self.n = k, steps, len(members)
        self.programme: dict[str, Any] = {
            **sums_of(atoms, members, fixed),
            "bounds": np.column_stack([span.least[members], span.most[members]]),
            # Where groups of three releases cross, a fraction of a trip may fit where no whole one does.
            "integrality": np.full(self.n, int(self.n <= SMALL)),
        }
        self.solutions = [atoms.trips[members].astype(float)]
        self.failed = False

    def least_sets(self, among: Sequence[int]) -> list[_Found]:
        """Return all sets that hold a trip for certain and fewer than k, none of which holds another."""
        found: list[_Found] = []
        # A set so far, and what may be added to it: what one branch takes, those after it do without.
        waiting: list[tuple[list[int], list[int]]] = [([], list(among))]
        while waiting and self.steps > 0:
            some, more = waiting.pop()
            if any(one.atoms <= set(some) for one in found):
                continue
            solution = self._emptiest(some, more)
            if solution is None:
                continue
            if some and solution[some].sum() > CLOSE:
                found.append(_Found(frozenset(some), *self._range(some)))
                continue
            support = [one for one in more if solution[one] > CLOSE]
            few = [one for one in support if self._is_few([*some, one])]
            if len(few) < len(support):
                # Without those that are too many, others may be all that is left.
                waiting.append((some, [one for one in more if one in few or one not in support]))
                continue
            for at, one in enumerate(few):
                waiting.append(([*some, one], [each for each in more if each not in few[: at + 1]]))
        return [one for one in found if not any(other.atoms < one.atoms for other in found)]

    def _emptiest(self, some: Sequence[int], more: Sequence[int]) -> Floats | None:
        """Return a solution in which a set is empty if it can be, and others are then as empty as can be."""
        cost = np.zeros(self.n)
        cost[more] = 1
        cost[some] = self.n * self.k
        return self._solved(cost)

    def _is_few(self, some: Sequence[int]) -> bool:
        """Return whether a set holds fewer than k trips for certain."""
        if any(one[some].sum() > self.k - 1 + CLOSE for one in self.solutions):
            return False
        cost = np.zeros(self.n)
        cost[some] = -1
        solution = self._solved(cost)
        return solution is not None and bool(np.floor(solution[some].sum() + CLOSE) < self.k)

    def _range(self, some: Sequence[int]) -> tuple[int, int]:
        ends = []
        for sign in (1, -1):
            cost = np.zeros(self.n)
            cost[some] = sign
            solution = self._solved(cost)
            assert solution is not None
            ends.append(float(solution[some].sum()))
        return int(np.ceil(ends[0] - CLOSE)), int(np.floor(ends[1] + CLOSE))

    def _solved(self, cost: Floats) -> Floats | None:
        self.steps -= 1
        found = linprog(cost, **self.programme)
        if found.status != 0:
            # The truth fits, so something does; but it could not be found.
            self.failed = True
            return None
        solution: Floats = found.x
        if self.n > SMALL or not np.any(np.abs(solution - np.rint(solution)) > CLOSE):
            self.solutions.append(solution)
        return solution
