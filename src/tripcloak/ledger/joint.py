"""Sets of several atoms that are proven to hold some trips together, and few, though none of them is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ledger.atoms import NONE, Atoms
from tripcloak.ledger.bounds import CLOSE, SMALL, UNBOUNDED, Parts, Span, Together, sums_of
from tripcloak.ledger.contraction import numbers_of_unknowns

STEPS = 20_000
"""Linear programmes that are solved in a search of all parts."""


class Proven(NamedTuple):
    """A set of atoms, and the least and the greatest trips that it can hold."""

    atoms: Ints
    least: int
    most: int


class LeftOver(NamedTuple):
    """The same of what a group holds beside others inside it, and the groups that tell how many at most."""

    atoms: Ints
    least: int
    most: int
    group: int
    inside: Ints
    beside: Ints


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
    nested = [
        _Nested.of(atoms, around, inside)
        for around, inside in permutations(range(len(rounded)), 2)
        if rounded[around] or rounded[inside]
    ]
    if not nested:
        return []
    limits = _carried(*atoms.limits, nested)
    number = numbers_of_unknowns(len(atoms))
    rests = [_Rest.of(atoms, at, one, limits, number) for at, one in enumerate(nested)]
    mark, pair, group, low, high = (np.concatenate(column) for column in zip(*rests, strict=True))
    # What is left of one group may be that of another, too: the one tells how few, and the other how many.
    different, which = np.unique(mark, return_inverse=True)
    least, most = np.full(len(different), NONE), np.full(len(different), UNBOUNDED)
    np.maximum.at(least, which, low)
    np.minimum.at(most, which, high)
    few = np.flatnonzero(((least >= 1) & (most < k))[which])
    tells_least = {int(which[at]): int(at) for at in few[low[few] == least[which[few]]]}
    tells_most = {int(which[at]): int(at) for at in few[high[few] == most[which[few]]]}
    found = []
    for one, at in sorted(tells_least.items()):
        own, other = nested[pair[at]], tells_most[one]
        inside = own.inside_of(int(group[at]))
        named = np.append(nested[pair[other]].inside_of(int(group[other])), group[other])
        beside = np.setdiff1d(named, np.append(inside, group[at]))
        some = np.flatnonzero(own.beside(atoms) & (atoms.told[:, own.around] == group[at]))
        found.append(LeftOver(some, int(least[one]), int(most[one]), int(group[at]), inside, beside))
    return found


def beside_the_known(atoms: Atoms, span: Span, k: int) -> list[Proven]:
    """Return what groups surely hold beside atoms of which enough is known, where that is few.

    It is looked for in parts that are too wide for programmes: there bounds of single atoms are all that is
    known, and those that leave least open are taken away first.

    Examples
    --------
    Five trips, and an atom of three of them: two are left, in two atoms that may each be empty.

    >>> atoms = Atoms(
    ...     group=np.array([[0], [0], [0]]),
    ...     trips=np.array([3, 1, 1]),
    ...     published=np.array([5]),
    ...     seen=np.array([0, 1]),
    ...     seen_by=np.array([0, 1]),
    ...     start=np.array([0, 1]),
    ... )
    >>> span = Span(np.array([3, 0, 0]), np.array([3, 2, 2]))
    >>> beside_the_known(atoms, span, 3)
    []
    >>> (one,) = _beside(atoms, span, np.array([True]), 3)
    >>> one.atoms.tolist(), one.least, one.most
    ([1, 2], 2, 2)
    """
    if not np.any(span.least > 0):
        return []
    atom, group = atoms.told_entries
    wide = ~Parts.of(atoms, span).are_narrow
    there = np.zeros(len(atoms.published), dtype=bool)
    there[group[wide[atom]]] = True
    return list(_beside(atoms, span, there, k)) if there.any() else []


def _beside(atoms: Atoms, span: Span, there: Bools, k: int) -> Iterator[Proven]:
    """Yield what some groups surely hold beside atoms of them that are known."""
    (atom, group), (low, high) = atoms.told_entries, atoms.limits
    atom, group = atom[there[group]], group[there[group]]
    open_share = np.full(len(atom), np.inf)
    sure = span.least[atom] > 0
    open_share[sure] = span.most[atom[sure]] / span.least[atom[sure]]
    order = np.lexsort((open_share, group))
    atom, group, sure = atom[order], group[order], sure[order]
    start = np.flatnonzero(np.diff(group, prepend=-1))
    size = np.diff(np.append(start, len(group)))

    def taken(bound: Ints) -> Ints:
        # Invariant: what the atoms of a group up to each one hold, of those that are taken away first.
        running = np.append(0, np.cumsum(bound[atom]))
        gone: Ints = running[1:] - np.repeat(running[start], size)
        return gone

    least, most = low[group] - taken(span.most), high[group] - taken(span.least)
    few = np.flatnonzero(sure & (least >= 1) & (most < k))
    last = few[np.diff(group[few], append=-1) != 0]
    for at, end in zip(last.tolist(), (start + size)[np.searchsorted(start, last, "right") - 1], strict=True):
        rest = atom[at + 1 : end]
        rest = rest[span.most[rest] > 0]
        yield Proven(np.sort(rest), int(least[at]), int(min(most[at], span.most[rest].sum())))


class _Nested(NamedTuple):
    """Groups of a release that lie inside groups of another: those, what is around each, and what they fill.

    Attributes
    ----------
    around, inside : int
        The releases.
    whole, outer : array
        The groups that lie inside others, and the one around each.
    filled : array
        The groups around that hold nothing else.
    """

    around: int
    inside: int
    whole: Ints
    outer: Ints
    filled: Ints

    @classmethod
    def of(cls, atoms: Atoms, around: int, inside: int) -> _Nested:
        outer, inner, n = atoms.told[:, around], atoms.told[:, inside], len(atoms.published)
        there = np.flatnonzero(inner >= 0)
        first, last = np.full(n, n), np.full(n, NONE)
        np.minimum.at(first, inner[there], outer[there])
        np.maximum.at(last, inner[there], outer[there])
        whole = np.flatnonzero((first == last) & (last >= 0))
        taken = np.zeros(n + 1, dtype=bool)
        taken[whole] = True
        open_still = np.zeros(n + 1, dtype=bool)
        open_still[outer[~taken[inner]]] = True
        # What is in no group at all stands at the end.
        filled = np.setdiff1d(last[whole], np.flatnonzero(open_still))
        return cls(around, inside, whole, last[whole], filled)

    def beside(self, atoms: Atoms) -> Bools:
        """Return which atoms are in a group around others, and in none of these."""
        taken, there = np.zeros((2, len(atoms.published) + 1), dtype=bool)
        taken[self.whole], there[self.outer] = True, True
        # What is in no group at all stands at the end.
        found: Bools = there[atoms.told[:, self.around]] & ~taken[atoms.told[:, self.inside]]
        return found

    def inside_of(self, group: int) -> Ints:
        """Return the groups that lie inside one."""
        found: Ints = self.whole[self.outer == group]
        return found

    def sums(self, limit: Ints) -> Ints:
        """Return what the groups inside hold together, by the one around them."""
        total: Ints = np.bincount(self.outer, limit[self.whole], len(limit)).astype(np.int64)
        return total


CARRIED = 5
"""How often limits are carried on from groups to those inside them."""


def _carried(low: Ints, high: Ints, nested: Sequence[_Nested]) -> tuple[Ints, Ints]:
    """Return the limits of all groups, given that what lies inside a group is no more than it holds."""
    low, high = low.copy(), high.copy()
    for _ in range(CARRIED):
        before = low.copy(), high.copy()
        for one in nested:
            least, most = one.sums(low), one.sums(high)
            np.maximum(low, least, out=low)
            high[one.filled] = np.minimum(high[one.filled], most[one.filled])
            inner = one.whole
            high[inner] = np.minimum(high[inner], (high - least)[one.outer] + low[inner])
            within = np.isin(one.outer, one.filled)
            inner, outer = inner[within], one.outer[within]
            low[inner] = np.maximum(low[inner], (low - most)[outer] + high[inner])
        if np.array_equal(low, before[0]) and np.array_equal(high, before[1]):
            break
    return low, high


class _Rest(NamedTuple):
    """What groups hold beside others inside them: a mark of its atoms, and between what it lies.

    Attributes
    ----------
    mark : array of uint64
        The sum of random numbers of the atoms: that of no other set.
    pair, group : array
        Which groups inside which others these are, by their place, and the group around.
    low, high : array
        The least and the greatest trips.
    """

    mark: Ints
    pair: Ints
    group: Ints
    low: Ints
    high: Ints

    @classmethod
    def of(cls, atoms: Atoms, at: int, nested: _Nested, limits: tuple[Ints, Ints], number: Ints) -> _Rest:
        low, high = limits
        around = atoms.told[:, nested.around]
        rest = np.flatnonzero(nested.beside(atoms))
        mark = np.zeros(len(low), dtype=np.uint64)
        np.add.at(mark, around[rest], number[rest])
        group = np.unique(around[rest])
        least, most = (low - nested.sums(high))[group], (high - nested.sums(low))[group]
        return cls(mark[group], np.full(len(group), at), group, least, most)


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
