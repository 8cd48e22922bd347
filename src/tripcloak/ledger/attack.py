"""The attack: everything of few people that follows from several releases, by adding and subtracting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InternalError
from tripcloak.ground.progress import Progress, silent
from tripcloak.ledger.atoms import Atoms, atoms_of
from tripcloak.ledger.bounds import bounded
from tripcloak.ledger.contraction import Contraction, contract
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.facts import Fact, Facts, Term
from tripcloak.ledger.nested import fewer_people
from tripcloak.ledger.sets import Block, Determined, determined_sets

WIDE = 500
"""Unknowns that may hang together to be solved; where more do, the answer says that it is not complete."""


def attack(disclosures: Sequence[Disclosure], *, k: int | None = None, progress: Progress = silent) -> Facts:
    """Return all that some releases together tell of fewer than k people.

    The reader is taken to know which records share their groups in all releases, though not how many there
    are or whose. A set of such atoms is exposed if its total follows exactly and it is of fewer than k
    people; or if it is proven to hold at least one trip and fewer than k.

    Parameters
    ----------
    k
        The smallest k that any of them promises, if not given.

    Examples
    --------
    A flow of five people, published again without its one withheld trip, tells of that trip:

    >>> records, people = np.arange(1, 6, dtype=np.uint64), np.arange(11, 16, dtype=np.uint64)
    >>> groups = np.array([0, 0, 0, 0, -1]), np.array([0, 0, 0, 0, 0])
    >>> both = [
    ...     Disclosure(name=str(n), record=records, person=people, group=group, trips=np.array([n]), k=2)
    ...     for n, group in zip((4, 5), groups)
    ... ]
    >>> found = attack(both)
    >>> [fact.words() for fact in found.found], found.people, found.complete
    (['exactly 1 trips'], 1, True)
    >>> len(attack(both[:1]))
    0
    """
    k = min(one.k for one in disclosures) if k is None else k
    progress("finding atoms", 0, None)
    atoms = atoms_of(disclosures)
    _refuse_wrong_sums(atoms)
    small = atoms.people < k
    progress("adding and subtracting", 0, None)
    contraction = contract(atoms, ~small)
    exact, complete = _Exact(atoms, contraction, k).facts()
    progress("bounding", 0, None)
    # Where every combination holds some atom of enough people, there is no bound below k either.
    asked = np.zeros(len(atoms), dtype=bool)
    asked[contraction.left.row] = True
    for fact in exact:
        asked[fact.atoms] = False
    between = bounded(atoms, asked, k)
    fewer = fewer_people(atoms, disclosures, k)
    found = sorted((*exact, *between, *fewer), key=lambda fact: (len(fact.terms), fact.terms))
    concerned = np.unique(np.concatenate([fact.atoms for fact in found])) if found else np.empty(0, int)
    return Facts(
        found=tuple(found),
        complete=complete,
        k=k,
        people=atoms.different_people(concerned) if len(concerned) else 0,
        groups=len(atoms.published),
        atoms=len(atoms),
    )


def _refuse_wrong_sums(atoms: Atoms) -> None:
    """Raise where the records do not add up to what was published: nothing could be concluded."""
    atom, group = atoms.entries
    total = np.bincount(group, atoms.trips[atom], minlength=len(atoms.published))
    told = np.unique(group)
    if not np.array_equal(total[told], atoms.published[told]):
        raise InternalError("the records do not add up to the published numbers; nothing was concluded")


class _Exact:
    """Sets of atoms whose total is known exactly."""

    def __init__(self, atoms: Atoms, contraction: Contraction, k: int) -> None:
        self.atoms, self.contraction, self.k = atoms, contraction, k

    def facts(self) -> tuple[list[Fact], bool]:
        """Return all facts, and whether those are all."""
        found, complete = list(self._of_one_unknown()), not self._too_wide.any()
        for block in self._blocks():
            sets, all_of_them = block.sets(self.k)
            complete &= all_of_them
            for unknowns, one, atoms in sets:
                found.append(self._fact(unknowns, one.factors, atoms))
        return found, complete

    @cached_property
    def _part(self) -> Ints:
        """Return which unknowns hang together, by what must be zero or by what is left of an atom."""
        n, ties, left = self.contraction.n_unknowns, self.contraction.ties, self.contraction.left
        rows = np.concatenate([left.row, ties.row + len(self.atoms)])
        links = coo_array(
            (np.ones(len(rows)), (np.concatenate([left.unknown, ties.unknown]), rows + n)),
            shape=(n + 2 * len(self.atoms),) * 2,
        )
        part: Ints = connected_components(links, directed=False)[1][:n]
        return part

    @cached_property
    def _alone(self) -> Bools:
        """Return which unknowns hang together with no other, and need not be zero."""
        alone = np.bincount(self._part)[self._part] == 1 if len(self._part) else np.empty(0, dtype=bool)
        alone[self.contraction.ties.unknown] = False
        return alone

    @cached_property
    def _too_wide(self) -> Bools:
        """Return which unknowns hang together with too many others."""
        wide: Bools = np.bincount(self._part)[self._part] > WIDE if len(self._part) else self._alone
        return wide

    def _of_one_unknown(self) -> Iterator[Fact]:
        """Yield the sets that one unknown alone decides: all its atoms, if it has all of them as often."""
        left = self.contraction.left
        here = self._alone[left.unknown] if len(left.unknown) else np.empty(0, dtype=bool)
        order = np.flatnonzero(here)[np.argsort(left.unknown[here], kind="stable")]
        if not len(order):
            return
        unknown, factor, atom = left.unknown[order], left.coefficient[order], left.row[order]
        first = np.flatnonzero(np.diff(unknown, prepend=-1))
        even = np.minimum.reduceat(factor, first) == np.maximum.reduceat(factor, first)
        last = np.append(first[1:], len(order))
        for a, b in zip(first[even], last[even], strict=True):
            atoms = atom[a:b]
            if self.atoms.different_people(atoms) < self.k:
                yield self._fact(unknown[a : a + 1], (Fraction(1, int(factor[a])),), atoms)

    def _blocks(self) -> Iterator[_Hanging]:
        """Yield the unknowns that hang together with others."""
        ties, left = self.contraction.ties, self.contraction.left
        if not len(self._part):
            return
        own = np.where(self._alone | self._too_wide, -1, self._part)
        of_left, of_ties, of_unknown = (_by_part(own[at]) for at in (left.unknown, ties.unknown, slice(None)))
        for part in np.unique(own[left.unknown]) if len(left.unknown) else ():
            if part < 0:
                continue
            a, b = of_left(part), of_ties(part)
            yield _Hanging(
                self.atoms,
                of_unknown(part),
                (left.row[a], left.unknown[a], left.coefficient[a]),
                (ties.row[b], ties.unknown[b], ties.coefficient[b]),
            )

    @cached_property
    def _groups_of(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.contraction.unknown, kind="stable")
        return order, self.contraction.unknown[order]

    def _fact(self, unknowns: Ints, factors: Sequence[Fraction], atoms: Ints) -> Fact:
        order, sorted_unknown = self._groups_of
        divisor = int(np.lcm.reduce([factor.denominator for factor in factors]))
        terms = []
        for unknown, factor in zip(unknowns, factors, strict=True):
            if factor:
                first, last = np.searchsorted(sorted_unknown, (unknown, unknown + 1))
                for group in order[first:last]:
                    times = int(factor * divisor) * int(self.contraction.sign[group])
                    terms.append(term_of(self.atoms, times, int(group)))
        total = sum(term.factor * term.published for term in terms)
        holds = int(self.atoms.trips[atoms].sum())
        if total != divisor * holds:
            raise InternalError("a fact does not follow from its own numbers")
        return Fact(
            kind="exact",
            least=holds,
            most=holds,
            people=self.atoms.different_people(atoms),
            terms=tuple(sorted(terms, key=lambda term: (-term.factor, term.release, term.group))),
            divisor=divisor,
            atoms=np.sort(atoms),
        )


class _Hanging:
    """Unknowns that hang together, numbered among themselves, with atoms of one form taken as one."""

    def __init__(self, atoms: Atoms, unknowns: Ints, left: tuple[Ints, ...], ties: tuple[Ints, ...]) -> None:
        self.unknowns = unknowns
        forms, rows = _dense(unknowns, *left)
        forms, kind = np.unique(forms, axis=0, return_inverse=True)
        self.members = [rows[kind.ravel() == number] for number in range(len(forms))]
        self.block = Block(
            _dense(unknowns, *ties)[0], forms, [atoms.people_in(members) for members in self.members]
        )

    def sets(self, k: int) -> tuple[list[tuple[Ints, Determined, Ints]], bool]:
        """Return the sets that are known: the unknowns, what shows it, and the atoms."""
        found, complete = determined_sets(self.block, k)
        return [
            (self.unknowns, one, np.concatenate([self.members[column] for column in one.columns]))
            for one in found
        ], complete


def term_of(atoms: Atoms, factor: int, group: int) -> Term:
    """Return a published number as a term of a fact."""
    release = atoms.release_of(group)
    return Term(factor, release, group - int(atoms.start[release]), int(atoms.published[group]))


def _dense(unknowns: Ints, row: Ints, unknown: Ints, coefficient: Ints) -> tuple[Ints, Ints]:
    """Return forms as a matrix in the unknowns of a block, and the number of every row."""
    rows, at = np.unique(row, return_inverse=True)
    dense = np.zeros((len(rows), len(unknowns)), dtype=np.int64)
    dense[at, np.searchsorted(unknowns, unknown)] = coefficient
    return dense, rows


class _by_part:
    """Finds the places that belong to a part."""

    def __init__(self, part: Ints) -> None:
        self.order = np.argsort(part, kind="stable")
        self.sorted = part[self.order]

    def __call__(self, part: int) -> Ints:
        first, last = np.searchsorted(self.sorted, (part, part + 1))
        return self.order[first:last]
