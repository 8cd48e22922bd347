"""Ties by people: what must cancel out because too many people would be left of it otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, islice
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.contraction import Contraction, Forms, Unknowns, numbers_of_unknowns

ROUNDS = 30
"""How often conclusions are drawn from conclusions; there are hardly ever so many."""

WAYS = 100
"""Ways in which atoms may differ that are looked at: in one release, then in two of them."""

NEAR = 8
"""Atoms that differ in the same way from one are compared with so many others."""

WORTHWHILE = 0.01
"""Conclusions are drawn again where so many came of the last ones, as a share of the forms that are left."""


def tied_by_people(atoms: Atoms, contraction: Contraction, wide: Bools, k: int) -> Contraction:
    """Return a contraction in which atoms cancel out that no set of fewer than k people can hold.

    A number that follows holds an atom whole or not at all. So atoms of one form are held together, and if
    they are of k people, not at all; and where many pairs of atoms differ by one and the same form, it is
    the same for all of them: one, if all firsts are held and no second; minus one, the other way round; or
    zero. If the firsts are of k people, and the seconds too, it is zero.

    Parameters
    ----------
    contraction
        What is left when atoms of enough people cancel out.
    wide
        The unknowns that are looked at.
    """
    left = contraction.left
    alive = np.zeros(len(atoms), dtype=bool)
    alive[left.row[wide[left.unknown]]] = True
    known = contraction.unknown >= 0
    touched = np.zeros(len(known), dtype=bool)
    touched[known] = wide[contraction.unknown[known]]
    # Atoms of enough people cancel out already; what they are in is compared with others all the same.
    atom, group = atoms.entries
    alive[atom[touched[group]]] = True
    drawn = _Drawing(atoms, contraction, np.flatnonzero(alive), k)
    drawn.run()
    kept = np.zeros(len(atoms), dtype=bool)
    kept[left.row] = True
    kept[drawn.gone] = False
    return drawn.unknowns.contraction(atom[kept[atom]], group[kept[atom]])


class _Kinds(NamedTuple):
    """Kinds of atoms, of one form each: it release by release, and in all; the atoms; whether it is zero."""

    parts: Ints
    form: Ints
    start: Ints
    atom: Ints
    zero: Bools

    @property
    def first(self) -> Ints:
        """Return an atom of every kind."""
        return self.atom[self.start[:-1]]


class _Drawing:
    """Draws conclusions until there are none left."""

    def __init__(self, atoms: Atoms, contraction: Contraction, alive: Ints, k: int) -> None:
        self.atoms, self.alive, self.k = atoms, alive, k
        self.gone = np.empty(0, dtype=np.int64)
        self.unknowns = Unknowns.of(contraction)
        self.seen = atoms.first_seen, atoms.seen_by
        self.n_people = int(atoms.seen_by.max(initial=-1)) + 1
        self.number = numbers_of_unknowns(len(atoms.published))

    def run(self) -> None:
        """Draw them all."""
        for _ in range(ROUNDS):
            kinds = self._kinds()
            fresh = self._enough(np.arange(len(kinds.form) + 1), np.arange(len(kinds.form)), kinds)
            fresh |= _among(kinds.form, np.sort(_negated(kinds.form)))
            fresh &= ~kinds.zero
            if fresh.any():
                first = kinds.first[fresh]
                self.unknowns.tie(self._forms(first, np.arange(len(first)), 1))
                continue
            pairs = list(self._equal_pairs(kinds))
            if not pairs:
                break
            one, other = (np.concatenate(side) for side in zip(*pairs, strict=True))
            row = np.arange(len(one))
            both = self._forms(one, row, 1), self._forms(other, row, -1)
            self.unknowns.tie(Forms(*(np.concatenate(parts) for parts in zip(*both, strict=True))))
            if len(one) < WORTHWHILE * np.count_nonzero(~kinds.zero):
                # What is left hangs together in small parts mostly, which are eliminated more quickly.
                break
        self._kinds()

    def _kinds(self) -> _Kinds:
        """Return the atoms that do not cancel out by themselves, by their form; note those that do."""
        known = self.unknowns.unknown >= 0
        of_group = np.zeros(len(known) + 1, dtype=np.uint64)
        own = self.number[self.unknowns.unknown[known]]
        of_group[:-1][known] = np.where(self.unknowns.sign[known] > 0, own, _negated(own))
        # The last entry stands for no group, whose number is -1.
        parts = of_group[self.atoms.summed[self.alive]]
        form = parts.sum(axis=1, dtype=np.uint64)
        order = np.argsort(form, kind="stable")
        start = np.flatnonzero(np.append(True, np.diff(form[order]) != 0))[: len(order)]
        distinct = form[order[start]]
        zero = (distinct == 0) | _among(distinct, np.sort(self._tied_forms()))
        start = np.append(start, len(order))
        self.gone = self.alive[order[np.repeat(zero, np.diff(start))]]
        return _Kinds(parts[order[start[:-1]]], distinct, start, self.alive[order], zero)

    def _tied_forms(self) -> Ints:
        """Return the forms that are zero, and their negations."""
        ties = self.unknowns.ties
        order = np.argsort(ties.row, kind="stable")
        if not len(order):
            return np.empty(0, dtype=np.uint64)
        term = self.number[ties.unknown[order]] * ties.coefficient[order].astype(np.uint64)
        form = np.add.reduceat(term, np.flatnonzero(np.diff(ties.row[order], prepend=-1)))
        return np.concatenate([form, _negated(form)])

    def _equal_pairs(self, kinds: _Kinds) -> Iterator[tuple[Ints, Ints]]:
        """Yield atoms, and others, that are held together: one pair for every form that they differ by."""
        n_releases = kinds.parts.shape[1]
        ways = chain.from_iterable(combinations(range(n_releases), size) for size in (1, 2))
        known = np.sort(self._tied_forms())
        for way in islice(ways, WAYS):
            one, other = _differing(kinds, list(way))
            by = kinds.form[one] - kinds.form[other]
            turned = by > _negated(by)
            one, other = np.where(turned, other, one), np.where(turned, one, other)
            by = np.where(turned, _negated(by), by)
            new = ~_among(by, known)
            order = np.flatnonzero(new)[np.argsort(by[new], kind="stable")]
            start = np.flatnonzero(np.append(True, np.diff(by[order]) != 0))[: len(order)]
            segments = np.append(start, len(order))
            held = self._enough(segments, one[order], kinds) & self._enough(segments, other[order], kinds)
            if held.any():
                first = order[start[held]]
                known = np.sort(np.concatenate([known, by[first]]), kind="stable")
                yield kinds.first[one[first]], kinds.first[other[first]]

    def _enough(self, start: Ints, kind: Ints, kinds: _Kinds) -> Bools:
        from tripcloak.ledger._kernels.groups import enough_people

        members = kinds.start, kinds.atom, kinds.zero
        return enough_people((start, kind), members, self.seen, self.n_people, self.k)

    def _forms(self, atoms: Ints, row: Ints, factor: int) -> Forms:
        """Return what some atoms add up to, in the coefficients of groups."""
        at, release = np.nonzero(self.atoms.summed[atoms] >= 0)
        return Forms(row[at], self.atoms.summed[atoms[at], release], np.full(len(at), factor))


def _differing(kinds: _Kinds, releases: list[int]) -> tuple[Ints, Ints]:
    """Return pairs of kinds, not both zero, that differ in the groups of some releases and in no other."""
    own = kinds.parts[:, releases]
    rest = kinds.form - own.sum(axis=1, dtype=np.uint64)
    order = np.argsort(rest)
    again = rest[order][1:] == rest[order][:-1]
    order = order[(np.append(again, False) | np.append(False, again))[: len(order)]]
    order = order[np.lexsort((kinds.form[order], own[order, 0], rest[order]))]
    ends: tuple[list[Ints], list[Ints]] = ([], [])
    for step in range(1, NEAR):
        same = rest[order[step:]] == rest[order[:-step]]
        if not same.any():
            break
        ends[0].append(order[:-step][same])
        ends[1].append(order[step:][same])
    one, other = (np.concatenate([*side, np.empty(0, dtype=np.int64)]) for side in ends)
    apart = np.all(own[one] != own[other], axis=1) & ~(kinds.zero[one] & kinds.zero[other])
    return one[apart], other[apart]


def _among(form: Ints, known: Ints) -> Bools:
    """Return which forms are among known ones, which ascend."""
    at = np.searchsorted(known, form)
    among: Bools = np.append(known, np.uint64(0))[at] == form
    return among & (at < len(known))


def _negated(form: Ints) -> Ints:
    negated: Ints = np.uint64(0) - form
    return negated
