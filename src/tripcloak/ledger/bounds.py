"""Bounds: how few and how many trips an atom can hold under all published sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse.csgraph import connected_components

from tripcloak.ground.arrays import Bools, Floats, Ints, to_read
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.contraction import numbers_of_unknowns
from tripcloak.ledger.facts import Fact, Term

ROUNDS = 100
"""How often bounds are carried on from atom to atom; they nearly always rest long before."""

WIDE = 200
"""Atoms of a part in which linear programmes tighten bounds; in wider ones those of the shuttle stand."""

UNBOUNDED = 2**62
"""The greatest total of what is in no published sum."""

SMALL = 12
"""Atoms of a part in which they look for whole numbers of trips."""


AT_ONCE = 5_000
"""About how many atoms one linear programme takes, of many parts."""

CLOSE = 1e-6
"""What linear programmes may be off by."""


class Span(NamedTuple):
    """The least and the greatest total that is possible."""

    least: Ints
    most: Ints


def bounded(atoms: Atoms, span: Span, asked: Bools, k: int) -> list[Fact]:
    """Return a fact for every atom of those asked for that is proven to hold some trips, and fewer than k.

    One of few people is a fact too where its trips are known exactly, however many they are.
    """
    exact = (span.least == span.most) & (atoms.people < k)
    sure = asked & (span.least >= 1) & ((span.most < k) | exact)
    return facts_of_room(
        atoms,
        [(np.array([one]), int(span.least[one]), int(span.most[one])) for one in np.flatnonzero(sure)],
    )


def facts_of_room(atoms: Atoms, proven: Sequence[tuple[Ints, int, int]]) -> list[Fact]:
    """Return facts of sets of atoms, each with the least and the greatest trips that it can hold."""
    if not proven:
        return []
    members = _members(atoms)
    return [
        Fact(
            kind="between",
            least=least,
            most=most,
            people=atoms.different_people(some),
            terms=_around(atoms, some),
            beside=_beside(atoms, some, members),
            atoms=some,
        )
        for some, least, most in proven
    ]


def shuttled(atoms: Atoms) -> Span:
    """Return bounds by the shuttle algorithm: what a group's other atoms leave is carried from sum to sum.

    In a two-way table its first round is Frechet's bounds.

    Examples
    --------
    >>> atoms = Atoms(
    ...     group=np.array([[0, 2], [0, 3], [1, 3]]),
    ...     trips=np.array([7, 1, 9]),
    ...     published=np.array([8, 9, 7, 10]),
    ...     seen=np.array([0]),
    ...     seen_by=np.array([0]),
    ...     start=np.array([0, 2, 4]),
    ... )
    >>> [bound.tolist() for bound in shuttled(atoms)]
    [[7, 1, 9], [7, 1, 9]]
    """
    atom, group = atoms.told_entries
    low, high = atoms.limits
    first = np.flatnonzero(np.diff(atom, prepend=-1))
    held, atom = atom[first], np.repeat(np.arange(len(first)), np.diff(np.append(first, len(atom))))
    n = len(atoms.published)
    least = np.zeros(len(held), dtype=np.int64)
    most = np.minimum.reduceat(high[group], first)
    for _ in range(ROUNDS):
        others = np.bincount(group, least[atom], minlength=n).astype(np.int64)[group] - least[atom]
        lower = np.minimum(most, np.minimum.reduceat(high[group] - others, first))
        others = np.bincount(group, lower[atom], minlength=n).astype(np.int64)[group] - lower[atom]
        higher = np.maximum(least, np.maximum.reduceat(low[group] - others, first))
        if np.array_equal(lower, most) and np.array_equal(higher, least):
            break
        least, most = higher, lower
    return Span(*(_spread(bound, held, len(atoms), rest) for bound, rest in ((least, 0), (most, UNBOUNDED))))


def _spread(bound: Ints, held: Ints, n: int, rest: int) -> Ints:
    """Return the bounds of all atoms, given those of the ones that some published sum holds."""
    every = np.full(n, rest, dtype=np.int64)
    every[held] = bound
    return every


def tightened(atoms: Atoms, span: Span, asked: Bools, k: int) -> Span:
    """Return bounds by linear programmes where those of the shuttle are open and a part is not too wide.

    Only atoms that may turn out to be few are looked at.
    """
    parts = Parts.of(atoms, span)
    open_still = to_be_tightened(parts, span, asked, k)
    if not open_still.any():
        return span
    together = Together(atoms, parts, open_still, span)
    left = together.settle(open_still, k)
    least, most = together.least, together.most
    for members in together.parts_with(left):
        rows = sums_of(atoms, members, parts.fixed)
        _solve(rows, members, np.flatnonzero(left[members]), least, most)
    return Span(least, most)


def to_be_tightened(parts: Parts, span: Span, asked: Bools, k: int) -> Bools:
    """Return which atoms, of those asked for, are open still and in a part that is not too wide."""
    open_still: Bools = asked & ((span.least < 1) | (span.most >= k)) & (span.least < span.most)
    return open_still & parts.are_narrow


class Parts(NamedTuple):
    """Which atoms hang together by published sums, and what every sum holds of atoms that are known.

    Those tie nothing together: what is left of a sum without them is as good.
    """

    part: Ints
    fixed: Ints

    @classmethod
    def of(cls, atoms: Atoms, span: Span) -> Parts:
        """Return the parts of some atoms, given what is known of each."""
        atom, group = atoms.told_entries
        n, known = len(atoms), (span.least == span.most)[atom]
        fixed = np.bincount(group[known], span.least[atom[known]], len(atoms.published)).astype(np.int64)
        atom, group = atom[~known], group[~known]
        links = coo_array((np.ones(len(atom)), (atom, group + n)), shape=(n + len(atoms.published),) * 2)
        return cls(connected_components(links, directed=False)[1][:n], fixed)

    @property
    def are_narrow(self) -> Bools:
        """Return which atoms are in a part so small that linear programmes tighten their bounds."""
        narrow: Bools = np.bincount(self.part)[self.part] <= WIDE
        return narrow


class Together:
    """Linear programmes of many parts at once: one costs more than its solution, and each part is solved by
    itself there too.

    Where something is proven of an atom, it holds in every solution. So it is kept in what range each
    atom lies in the solutions met so far, of which the truth is the first: one that is empty in some, or
    k in one and another number in another, is no fact, and is not asked for any more. In small parts a
    solution counts if it is in whole trips: in wider ones, as for their bounds, fractions do.
    """

    def __init__(self, atoms: Atoms, parts: Parts, asked: Bools, span: Span) -> None:
        self.atoms, self.fixed, self.part = atoms, parts.fixed, parts.part
        self.limits = np.column_stack(span)
        self.least, self.most = span.least.copy(), span.most.copy()
        self.low, self.high = atoms.trips.astype(float), atoms.trips.astype(float)
        self.small = np.bincount(self.part) <= SMALL
        there = np.zeros(len(self.small), dtype=bool)
        there[self.part[asked]] = True
        inside = np.flatnonzero(there[self.part])
        self.inside = inside[np.argsort(self.part[inside], kind="stable")]

    def settle(self, asked: Bools, k: int) -> Bools:
        """Tighten the bounds of those asked for that may be facts; return which need whole programmes."""
        left = asked & ~self._refuted(k)
        self.exchange(left, k)
        left &= ~self._refuted(k)
        for sign in (1, -1):
            found = True
            while found:
                self.meet(left, sign)
                still = left & ~self._refuted(k)
                found, left = bool(np.any(left & ~still)), still
        unsolved = np.zeros(len(left), dtype=bool)
        for sign in (1, -1):
            waiting = left.copy()
            while waiting.any():
                at = self._one_of_each_part(waiting)
                solved = self._tighten(at, sign)
                unsolved[at] |= ~solved
                waiting[at] = False
                left &= ~self._refuted(k)
                waiting &= left
        return unsolved & left

    def exchange(self, some: Bools, k: int) -> Bools:
        """Meet solutions that exchanges lead to, in which some atoms are empty, or hold k.

        Returns
        -------
        empty
            Those, of some, that can be empty all at once, or hold k, with all others of their parts.
        """
        from tripcloak.ledger._kernels.exchanging import met_by_exchanges

        members = self._members(some)
        if not len(members):
            return some
        new = np.diff(self.part[members], prepend=-1) != 0
        told = self.atoms.told[members].astype(np.int64)
        numbers = numbers_of_unknowns(len(self.atoms.published))
        mark = np.where(told >= 0, numbers[told], np.uint64(0)).sum(axis=1, dtype=np.uint64)
        trips, least, most = self.atoms.trips[members].astype(np.int64), *self.limits[members].T
        low, high = self.low[members], self.high[members]
        empty = met_by_exchanges(
            (to_read(np.append(np.flatnonzero(new), len(members))), to_read(told), to_read(mark)),
            (to_read(trips), to_read(least), to_read(most)),
            to_read(some[members]),
            k,
            (low, high),
        )
        self.low[members], self.high[members] = low, high
        at_once = np.zeros(len(some), dtype=bool)
        at_once[members] = empty[np.cumsum(new) - 1]
        return at_once & some

    def parts_with(self, some: Bools) -> list[Ints]:
        """Return the members of every part that holds any of some atoms."""
        members = self._members(some)
        return np.split(members, np.flatnonzero(np.diff(self.part[members])) + 1) if len(members) else []

    def _members(self, some: Bools) -> Ints:
        there = np.zeros(len(self.small), dtype=bool)
        there[self.part[some]] = True
        return self.inside[there[self.part[self.inside]]]

    def _refuted(self, k: int) -> Bools:
        return (self.low < CLOSE) | ((self.high >= k - CLOSE) & (self.low < self.high - CLOSE))

    def _one_of_each_part(self, some: Bools) -> Ints:
        at = np.flatnonzero(some)
        return at[np.unique(self.part[at], return_index=True)[1]]

    def _tighten(self, at: Ints, sign: int) -> Bools:
        """Tighten the least (1) or greatest (-1) of atoms, one a part; return for which that was possible."""
        asked = np.zeros(len(self.atoms), dtype=bool)
        asked[at] = True
        met, value = self.meet(asked, sign)
        solved = met[at]
        sure = at[solved]
        # Trips are whole: a bound between two numbers is the inner one, but for what floats lose.
        if sign == 1:
            self.least[sure] = np.maximum(self.least[sure], np.ceil(value[sure] - CLOSE).astype(np.int64))
        else:
            self.most[sure] = np.minimum(self.most[sure], np.floor(value[sure] + CLOSE).astype(np.int64))
        return solved

    def meet(self, some: Bools, sign: int) -> tuple[Bools, Floats]:
        """Meet solutions in which some atoms hold as little (1) or as much (-1) as they can together.

        Returns
        -------
        solved, value
            Of which atoms there is a solution that counts, and what they hold in it.
        """
        solved, value = np.zeros(len(some), dtype=bool), np.zeros(len(some))
        members = self._members(some)
        new = np.diff(self.part[members], prepend=-1) != 0
        # Parts are not torn: each begins in one programme, and is in that one whole.
        begins = np.flatnonzero(new)
        batch = np.repeat(begins // AT_ONCE, np.diff(np.append(begins, len(members))))
        for own in np.split(members, np.flatnonzero(np.diff(batch)) + 1) if len(members) else ():
            rows = sums_of(self.atoms, own, self.fixed)
            found = linprog(sign * some[own].astype(float), **rows, bounds=self.limits[own])
            if found.status != 0:
                continue
            broken = np.abs(found.x - np.rint(found.x)) > CLOSE
            torn = np.bincount(self.part[own], broken, len(self.small)) > 0
            counts = ~(torn & self.small)[self.part[own]]
            solved[own], value[own] = counts, found.x
            held = own[counts]
            self.low[held] = np.minimum(self.low[held], found.x[counts])
            self.high[held] = np.maximum(self.high[held], found.x[counts])
        return solved, value


def _solve(rows: dict[str, Any], members: Ints, asked: Ints, least: Ints, most: Ints) -> None:
    """Tighten the bounds of some members of a part, in place."""
    limits = np.column_stack([least[members], most[members]])
    # Where groups of three releases cross, a fraction of a trip may fit where no whole one does.
    whole = np.full(len(members), int(len(members) <= SMALL))
    empty = np.zeros(len(members), dtype=bool)
    # One that may be empty is no fact, whatever its most is; most of them are in one and the same solution.
    single = np.split(asked, len(asked))
    for some in [asked, *single] if len(asked) > 1 else single:
        if len(some) == 1 and empty[some[0]]:
            continue
        cost = np.zeros(len(members))
        cost[some] = 1
        fewest = linprog(cost, **rows, bounds=limits, integrality=whole)
        if fewest.status != 0:
            continue
        empty |= fewest.x < CLOSE
        if len(some) > 1 or empty[some[0]]:
            continue
        # Trips are whole: a bound between two numbers is the inner one, but for what floats lose.
        at = members[some[0]]
        least[at] = max(least[at], int(np.ceil(fewest.fun - CLOSE)))
        greatest = linprog(-cost, **rows, bounds=limits, integrality=whole)
        if greatest.status == 0:
            most[at] = min(most[at], int(np.floor(-greatest.fun + CLOSE)))


def sums_of(atoms: Atoms, members: Ints, fixed: Ints) -> dict[str, Any]:
    """Return what the members of a part must add up to, exactly or about, as linear programmes take it.

    Parameters
    ----------
    fixed
        What every group holds of atoms that are known.
    """
    groups, at = np.unique(atoms.told[members], return_inverse=True)
    row, column = at.reshape(len(members), -1), np.arange(len(members))[:, None]
    inside = atoms.told[members] >= 0
    shift = int(groups[0] < 0)
    sums = csr_array(
        (
            np.ones(np.count_nonzero(inside)),
            (row[inside] - shift, np.broadcast_to(column, row.shape)[inside]),
        ),
        shape=(len(groups) - shift, len(members)),
    )
    low, high = ((limit - fixed)[groups[shift:]] for limit in atoms.limits)
    exact = np.flatnonzero(low == high)
    about = np.flatnonzero(low < high)
    rows: dict[str, Any] = {"A_eq": sums[exact], "b_eq": low[exact]} if len(exact) else {}
    if len(about):
        rows |= {"A_ub": vstack([sums[about], -sums[about]]), "b_ub": np.append(high[about], -low[about])}
    return rows


def _around(atoms: Atoms, some: Ints) -> tuple[Term, ...]:
    """Return the published sums that some atoms are in, from which bounds begin."""
    groups = np.unique(atoms.told[some])
    found = []
    for group in groups[groups >= 0].tolist():
        release = atoms.release_of(group)
        found.append(Term(1, release, int(group - atoms.start[release]), int(atoms.published[group])))
    return tuple(found)


def _members(atoms: Atoms) -> tuple[Ints, Ints]:
    """Return where the atoms of each group begin, and one more, and the atoms."""
    atom, group = atoms.told_entries
    order = np.argsort(group, kind="stable")
    return np.searchsorted(group[order], np.arange(len(atoms.published) + 1)), atom[order]


def _beside(atoms: Atoms, some: Ints, members: tuple[Ints, Ints]) -> tuple[Term, ...]:
    """Return the published sums that some atoms are not in, and others of their sums are."""
    around = _around(atoms, some)
    own = np.unique(atoms.told[some])
    others = np.concatenate([members[1][members[0][one] : members[0][one + 1]] for one in own[own >= 0]])
    return tuple(term for term in _around(atoms, others) if term not in set(around))
