"""Bounds: how few and how many trips an atom can hold under all published sums."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse.csgraph import connected_components

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.facts import Fact, Term

ROUNDS = 100
"""How often bounds are carried on from atom to atom; they nearly always rest long before."""

WIDE = 200
"""Atoms of a part in which linear programmes tighten the bounds of atoms that are known to be few."""

UNBOUNDED = 2**62
"""The greatest total of what is in no published sum."""

SMALL = 12
"""Atoms of a part in which they tighten all bounds; in wider ones those of the shuttle stand."""


AT_ONCE = 5_000
"""About how many atoms one linear programme takes, of many parts."""

CLOSE = 1e-6
"""What linear programmes may be off by."""


class Span(NamedTuple):
    """The least and the greatest total that is possible."""

    least: Ints
    most: Ints


def bounded(atoms: Atoms, asked: Bools, k: int) -> list[Fact]:
    """Return a fact for every atom of those asked for that is proven to hold some trips, and fewer than k.

    One of few people is a fact too where its trips are known exactly, however many they are.
    """
    if not asked.any():
        return []
    span = tightened(atoms, shuttled(atoms), asked, k)
    exact = (span.least == span.most) & (atoms.people < k)
    sure = asked & (span.least >= 1) & ((span.most < k) | exact)
    members = _members(atoms)
    return [
        Fact(
            kind="between",
            least=int(span.least[atom]),
            most=int(span.most[atom]),
            people=int(atoms.people[atom]),
            terms=_around(atoms, np.array([atom])),
            beside=_beside(atoms, int(atom), members),
            atoms=np.array([atom]),
        )
        for atom in np.flatnonzero(sure)
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
    open_still = asked & ((span.least < 1) | (span.most >= k)) & (span.least < span.most)
    atom, group = atoms.told_entries
    n, known = len(atoms), (span.least == span.most)[atom]
    # Atoms that are known tie nothing together: what is left of a sum without them is as good.
    fixed = np.bincount(group[known], span.least[atom[known]], len(atoms.published)).astype(np.int64)
    atom, group = atom[~known], group[~known]
    links = coo_array((np.ones(len(atom)), (atom, group + n)), shape=(n + len(atoms.published),) * 2)
    part = connected_components(links, directed=False)[1][:n]
    size = np.bincount(part)[part]
    open_still &= (size <= SMALL) | ((size <= WIDE) & (span.most < k))
    least, most = span.least.copy(), span.most.copy()
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(part.max(initial=-1) + 2))
    numbers = np.unique(part[open_still])
    if not len(numbers):
        return span
    # Many parts at once: each is solved by itself there too, and a programme costs more than its solution.
    for some in np.split(numbers, np.flatnonzero(np.diff(np.cumsum(np.diff(ends)[numbers]) // AT_ONCE)) + 1):
        members = np.concatenate([order[ends[one] : ends[one + 1]] for one in some])
        rows = _sums(atoms, members, fixed)
        open_still[members] &= ~_may_be_empty(rows, members, open_still, part, span)
        open_still[members] &= ~_solve_together(rows, members, open_still, part, (least, most))
    for number in np.unique(part[open_still]):
        members = order[ends[number] : ends[number + 1]]
        rows = _sums(atoms, members, fixed)
        _solve(rows, members, np.flatnonzero(open_still[members]), least, most)
    return Span(least, most)


def _may_be_empty(rows: dict[str, Any], members: Ints, asked: Bools, part: Ints, span: Span) -> Bools:
    """Return which members of some parts are empty in solutions that fit all sums, of those asked for.

    Each programme asks for as little as possible of what was not empty yet. In small parts a solution counts
    if it is in whole trips: elsewhere, as for the bounds, fractions do.
    """
    limits = np.column_stack([span.least[members], span.most[members]])
    _, own, size = np.unique(part[members], return_inverse=True, return_counts=True)
    left, empty = asked[members].copy(), np.zeros(len(members), dtype=bool)
    while left.any():
        found = linprog(left.astype(float), **rows, bounds=limits)
        if found.status != 0:
            break
        broken = np.abs(found.x - np.rint(found.x)) > CLOSE
        counts = (size > SMALL) | (np.bincount(own, broken) == 0)
        new = left & (found.x < CLOSE) & counts[own]
        if not new.any():
            break
        empty, left = empty | new, left & ~new
    return empty


def _solve_together(
    rows: dict[str, Any], members: Ints, asked: Bools, part: Ints, bounds: tuple[Ints, Ints]
) -> Bools:
    """Tighten bounds of members of many parts, in place, one of each at a time; return which are settled.

    In small parts a bound holds if it is reached in whole trips; others are left.
    """
    least, most = bounds
    limits = np.column_stack([least[members], most[members]])
    _, own, size = np.unique(part[members], return_inverse=True, return_counts=True)
    waiting, settled = asked[members].copy(), np.zeros(len(members), dtype=bool)
    while waiting.any():
        at = np.flatnonzero(waiting)
        at = at[np.unique(own[at], return_index=True)[1]]
        waiting[at] = False
        found = []
        for sign in (1, -1):
            cost = np.zeros(len(members))
            cost[at] = sign
            found.append(linprog(cost, **rows, bounds=limits))
        if any(one.status != 0 for one in found):
            continue
        broken = [np.bincount(own, np.abs(one.x - np.rint(one.x)) > CLOSE) for one in found]
        sure = at[(size[own[at]] > SMALL) | ((broken[0] + broken[1])[own[at]] == 0)]
        settled[sure] = True
        low, high = np.ceil(found[0].x[sure] - CLOSE), np.floor(found[1].x[sure] + CLOSE)
        least[members[sure]] = np.maximum(least[members[sure]], low.astype(np.int64))
        most[members[sure]] = np.minimum(most[members[sure]], high.astype(np.int64))
    return settled


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


def _sums(atoms: Atoms, members: Ints, fixed: Ints) -> dict[str, Any]:
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


def _beside(atoms: Atoms, atom: int, members: tuple[Ints, Ints]) -> tuple[Term, ...]:
    """Return the published sums that an atom is not in, and some other one of its own sums is."""
    own = atoms.told[atom]
    others = np.concatenate([members[1][members[0][one] : members[0][one + 1]] for one in own[own >= 0]])
    around = set(_around(atoms, np.array([atom])))
    return tuple(term for term in _around(atoms, others) if term not in around)
