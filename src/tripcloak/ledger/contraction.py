"""Contraction: which published numbers can only be used together, if what is left is to be of few people."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.atoms import Atoms

SEED = 20_240_902
"""Decides the numbers by which forms are known; of 64 bits, so that no two forms ever share one."""


class Forms(NamedTuple):
    """Linear forms, one behind the other: of which row each term is, its unknown, and the coefficient."""

    row: Ints
    unknown: Ints
    coefficient: Ints

    def of(self, rows: Bools) -> Forms:
        """Return the terms of some rows."""
        return Forms(*(part[rows[self.row]] for part in self))


@dataclass(frozen=True, eq=False)
class Contraction:
    """Combinations of published numbers that hold no atom of enough people.

    Whoever adds and subtracts published numbers gives each group a coefficient. What is left is of few
    people only if every atom of enough people cancels out: the coefficients of its groups add up to zero.
    An atom in one group alone rules that group out; one in two groups ties them to each other, with
    opposite signs. So groups fall together, and few unknowns are left.

    Attributes
    ----------
    unknown, sign : array
        The unknown that each group's coefficient equals, but for the sign; -1 where it is zero.
    ties : Forms
        What must be zero still: atoms of enough people in three and more unknowns.
    left : Forms
        What every other atom then adds up to; rows are atoms.
    n_unknowns : int
        How many unknowns there are.
    """

    unknown: Ints
    sign: Ints
    ties: Forms
    left: Forms
    n_unknowns: int

    @cached_property
    def part(self) -> Ints:
        """Return which unknowns hang together, by what must be zero or by what is left of an atom."""
        n, shift = self.n_unknowns, int(self.left.row.max(initial=-1)) + 1
        rows = np.concatenate([self.left.row, self.ties.row + shift])
        size = n + int(rows.max(initial=-1)) + 1
        ends = np.concatenate([self.left.unknown, self.ties.unknown]), rows + n
        links = coo_array((np.ones(len(rows), dtype=np.int8), ends), shape=(size, size))
        part: Ints = connected_components(links, directed=False)[1][:n]
        return part

    @cached_property
    def together(self) -> Ints:
        """Return how many unknowns hang together with each, itself among them."""
        together: Ints = np.bincount(self.part, minlength=1)[self.part]
        return together


def contract(atoms: Atoms, large: Bools) -> Contraction:
    """Return which combinations of groups are left when all of some atoms cancel out.

    Parameters
    ----------
    large
        The atoms of enough people.

    Examples
    --------
    Where a coarser flow holds two finer ones and a single trip more, the three numbers go together:

    >>> atoms = Atoms(
    ...     group=np.array([[-1, 2], [0, 2], [1, 2]]),
    ...     trips=np.array([1, 9, 9]),
    ...     published=np.array([9, 9, 19]),
    ...     seen=np.array([0]),
    ...     seen_by=np.array([0]),
    ...     start=np.array([0, 2, 3]),
    ... )
    >>> found = contract(atoms, np.array([False, True, True]))
    >>> found.unknown.tolist(), (found.sign * found.sign[2]).tolist(), found.left.row.tolist()
    ([0, 0, 0], [-1, -1, 1], [0])
    """
    unknowns = Unknowns(len(atoms.published))
    atom, group = atoms.entries
    of_large = large[atom]
    unknowns.tie(Forms(atom[of_large], group[of_large], np.ones(np.count_nonzero(of_large), dtype=np.int64)))
    return unknowns.contraction(atom[~of_large], group[~of_large])


def numbers_of_unknowns(n: int) -> Ints:
    """Return a number for each of n unknowns: the sum of a form's own, by coefficients, is its own."""
    number = np.random.default_rng(SEED).integers(1, 2**63, n, dtype=np.int64).astype(np.uint64)
    odd: Ints = number * np.uint64(2) + np.uint64(1)
    return odd


class Unknowns:
    """The coefficients of groups, of which more and more are known to be equal, opposite or zero.

    Attributes
    ----------
    unknown, sign : array
        The unknown that each group's coefficient equals, but for the sign; -1 where it is zero.
    ties : Forms
        What must be zero besides.
    """

    def __init__(self, n: int) -> None:
        self.unknown, self.sign = np.arange(n), np.ones(n, dtype=np.int64)
        self.ties = Forms(*(np.empty(0, dtype=np.int64) for _ in range(3)))

    @classmethod
    def of(cls, contraction: Contraction) -> Unknowns:
        """Return the unknowns of a contraction, to be tied further."""
        made = cls(len(contraction.unknown))
        made.unknown, made.sign = contraction.unknown.copy(), contraction.sign.copy()
        made.ties = contraction.ties
        return made

    def tie(self, forms: Forms) -> None:
        """Let forms in the coefficients of groups be zero, and draw what follows from each by itself."""
        shift = int(self.ties.row.max(initial=-1)) + 1
        more = _renamed(forms, self.unknown, self.sign)
        ties = Forms(*(np.concatenate(parts) for parts in zip(self.ties, more, strict=True)))
        ties.row[len(self.ties.row) :] += shift
        # Invariant: a combination makes all forms zero if and only if it is told by `unknown` and `sign`
        # and makes every tie zero.
        while True:
            ties, free, opposite = _sorted_out(ties)
            if not len(free) and not len(opposite):
                break
            step, turn = _merged(len(self.unknown), free, opposite)
            ties = _renamed(ties, step, turn)
            here = self.unknown >= 0
            self.sign[here] *= turn[self.unknown[here]]
            self.unknown[here] = step[self.unknown[here]]
        self.ties = ties

    def contraction(self, atom: Ints, group: Ints) -> Contraction:
        """Return where some atoms are left, given the pairs of those and a group that holds them."""
        return _numbered(self.unknown, self.sign, self.ties, atom, group)


def _sorted_out(ties: Forms) -> tuple[Forms, Ints, Ints]:
    """Return ties of three and more unknowns, unknowns that must be zero, and pairs that are tied.

    Pairs have three columns: two unknowns, and 1 where they are equal, -1 where opposite.
    """
    length = np.bincount(ties.row, minlength=1)[ties.row] if len(ties.row) else ties.row
    single = ties.unknown[length == 1]
    two = length == 2
    order = np.argsort(ties.row[two], kind="stable")
    pairs = ties.unknown[two][order].reshape(-1, 2)
    factors = ties.coefficient[two][order].reshape(-1, 2)
    same = np.abs(factors[:, 0]) == np.abs(factors[:, 1])
    relation = np.where(factors[:, 0] == factors[:, 1], -1, 1)[:, None]
    long = length > 2
    uneven = np.zeros(len(ties.row), dtype=bool)
    # Twice one group and once another can only cancel in company; that is left to elimination.
    uneven[np.flatnonzero(two)[order]] = np.repeat(~same, 2)
    kept = long | uneven
    return (
        Forms(*(part[kept] for part in ties)),
        np.unique(single),
        np.unique(np.hstack([pairs, relation])[same], axis=0),
    )


def _merged(n: int, zero: Ints, pairs: Ints) -> tuple[Ints, Ints]:
    """Return for every unknown which one it equals, -1 for zero, and with which sign."""
    # Every unknown stands there twice, as it is and negated; what is tied to its own negation is zero.
    first, second, relation = pairs.T
    other, there = np.where(relation > 0, second, second + n), np.where(relation > 0, second + n, second)
    ends = np.concatenate([first, first + n]), np.concatenate([other, there])
    links = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(2 * n, 2 * n))
    _, part = connected_components(links, directed=False)
    gone = np.zeros(part.max() + 1, dtype=bool)
    gone[part[:n][part[:n] == part[n:]]] = True
    gone[part[zero]] = gone[part[zero + n]] = True
    alike, opposed = np.full((2, len(gone)), n)
    np.minimum.at(alike, part[:n], np.arange(n))
    np.minimum.at(opposed, part[n:], np.arange(n))
    step = np.minimum(alike, opposed)[part[:n]]
    turn = np.where(alike[part[:n]] < opposed[part[:n]], 1, -1)
    step[gone[part[:n]]] = -1
    return step, turn


def _renamed(forms: Forms, step: Ints, turn: Ints) -> Forms:
    """Return the forms in other unknowns, with equal terms added up and those that vanish left out."""
    unknown = step[forms.unknown]
    coefficient = forms.coefficient * turn[forms.unknown]
    kept = unknown >= 0
    return _added_up(Forms(forms.row[kept], unknown[kept], coefficient[kept]))


def _added_up(forms: Forms) -> Forms:
    if not len(forms.row):
        return forms
    width = int(forms.unknown.max()) + 1
    key, at = np.unique(forms.row * width + forms.unknown, return_inverse=True)
    total = np.bincount(at, forms.coefficient).astype(np.int64)
    row, unknown = np.divmod(key[total != 0], width)
    return Forms(row, unknown, total[total != 0])


def _numbered(unknown: Ints, sign: Ints, ties: Forms, atom: Ints, group: Ints) -> Contraction:
    """Return the contraction with unknowns numbered one by one."""
    there = unknown >= 0
    known, number = np.unique(unknown[there], return_inverse=True)
    own = np.full(len(unknown), -1)
    own[there] = number
    step = np.full(len(unknown), -1)
    step[known] = np.arange(len(known))
    ones = np.ones(len(unknown), dtype=np.int64)
    left = Forms(atom, group, np.ones(len(atom), dtype=np.int64))
    ties = _renamed(ties, step, ones)
    ties = ties._replace(row=np.unique(ties.row, return_inverse=True)[1])
    return Contraction(own, sign.copy(), ties, _renamed(left, own, sign), len(known))
