"""The attack: everything of few people that follows from several releases, by adding and subtracting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import gcd

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InternalError
from tripcloak.ground.progress import Progress, silent
from tripcloak.ledger.atoms import Atoms, atoms_of
from tripcloak.ledger.bounds import bounded, facts_of_room
from tripcloak.ledger.contraction import Contraction, contract
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.facts import Fact, Facts, Term
from tripcloak.ledger.joint import LeftOver, Proven, beside_the_known, left_over
from tripcloak.ledger.nested import fewer_people, repeated_trips
from tripcloak.ledger.rooms import Rooms
from tripcloak.ledger.sets import USUAL, Determined, Effort, Hanging, determined_sets
from tripcloak.ledger.tying import tied_by_people


def attack(
    disclosures: Sequence[Disclosure],
    *,
    k: int | None = None,
    atoms: Atoms | None = None,
    effort: Effort = USUAL,
    rooms: Rooms | None = None,
    progress: Progress = silent,
) -> Facts:
    """Return all that some releases together tell of fewer than k people.

    The reader is taken to know which records share their groups in all releases, though not how many there
    are or whose. A set of such atoms is exposed if its total follows exactly and it is of fewer than k
    people; or if it is proven to hold at least one trip and fewer than k.

    Parameters
    ----------
    k
        The smallest k that any of them promises, if not given.
    atoms
        The atoms of all of them, where they are known already.
    effort
        What it may cost to look at all that hangs together; where it costs more, the answer says so.
    rooms
        What other attacks found of parts, and where it is remembered what this one finds.

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
    atoms = atoms_of(disclosures) if atoms is None else atoms
    _refuse_wrong_sums(atoms)
    small = atoms.people < k
    progress("adding and subtracting", 0, None)
    contraction = contract(atoms, ~small)
    wide = contraction.together > effort.narrow
    tied = tied_by_people(atoms, contraction, wide, k) if wide.any() else contraction
    exact, complete = _Exact(atoms, tied, k, effort).facts()
    progress("bounding", 0, None)
    # Where every combination holds some atom of enough people, there is no bound below k either. Of rounded
    # numbers that is not known.
    asked = small & any(one.rounded is not None for one in disclosures)
    asked[contraction.left.row] = True
    for fact in exact:
        asked[fact.atoms] = False
    between, all_room = _room(atoms, asked, k, exact, Rooms() if rooms is None else rooms)
    fewer = fewer_people(atoms, disclosures, k) + repeated_trips(atoms, disclosures, k)
    found = sorted((*exact, *between, *fewer), key=lambda fact: (len(fact.terms), fact.terms))
    concerned = np.unique(np.concatenate([fact.atoms for fact in found])) if found else np.empty(0, int)
    return Facts(
        found=tuple(found),
        complete=complete and all_room,
        k=k,
        people=max(
            [atoms.different_people(concerned) if len(concerned) else 0, *(one.people for one in found)]
        ),
        groups=len(atoms.published),
        atoms=len(atoms),
    )


def _room(atoms: Atoms, asked: Bools, k: int, exact: Sequence[Fact], rooms: Rooms) -> tuple[list[Fact], bool]:
    """Return what published numbers leave too little room for, and whether those are all.

    Parameters
    ----------
    exact
        What follows exactly: what holds one of these sets is no further fact.
    """
    room = rooms.of(atoms, asked, k)
    found = bounded(atoms, room.span, asked, k) + facts_of_room(atoms, room.sets)
    known: dict[int, list[set[int]]] = {}
    for fact in (*exact, *found):
        known.setdefault(int(fact.atoms[0]), []).append(set(fact.atoms.tolist()))

    def is_new(some: Ints) -> bool:
        own = set(some.tolist())
        return not any(known_one <= own for atom in own for known_one in known.get(atom, ()))

    beside = [one for one in beside_the_known(atoms, room.span, k) if is_new(one.atoms)]
    for fact in facts_of_room(atoms, _least(beside)):
        known.setdefault(int(fact.atoms[0]), []).append(set(fact.atoms.tolist()))
        found.append(fact)
    found += [_left_over_fact(atoms, one) for one in left_over(atoms, k) if is_new(one.atoms)]
    return found, room.complete


def _least(proven: Sequence[Proven]) -> list[Proven]:
    """Return the sets that hold no other one, each once."""
    least: list[tuple[set[int], Proven]] = []
    for one in sorted(proven, key=lambda one: len(one.atoms)):
        own = set(one.atoms.tolist())
        if not any(other <= own for other, _ in least):
            least.append((own, one))
    return [one for _, one in least]


def _left_over_fact(atoms: Atoms, one: LeftOver) -> Fact:
    return Fact(
        kind="between",
        least=one.least,
        most=one.most,
        people=atoms.different_people(one.atoms),
        terms=(term_of(atoms, 1, one.group), *(term_of(atoms, -1, int(group)) for group in one.inside)),
        beside=tuple(term_of(atoms, 1, int(group)) for group in one.beside),
        atoms=one.atoms,
    )


def _refuse_wrong_sums(atoms: Atoms) -> None:
    """Raise where the records do not add up to what was published: nothing could be concluded."""
    atom, group = atoms.told_entries
    total = np.bincount(group, atoms.trips[atom], minlength=len(atoms.published))
    told = np.flatnonzero(np.bincount(group, minlength=len(atoms.published)))
    least, most = atoms.limits
    if np.any(total[told] < least[told]) or np.any(total[told] > most[told]):
        raise InternalError("the records do not add up to the published numbers; nothing was concluded")


class _Exact:
    """Sets of atoms whose total is known exactly."""

    def __init__(self, atoms: Atoms, contraction: Contraction, k: int, effort: Effort) -> None:
        self.atoms, self.contraction, self.k, self.effort = atoms, contraction, k, effort

    def facts(self) -> tuple[list[Fact], bool]:
        """Return all facts, and whether those are all."""
        hanging = Hanging.of(self.atoms, self.contraction)
        sets, complete = determined_sets(hanging.blocks, self.k, self.effort)
        return [self._fact(one, hanging.atoms_of(one)) for one in sets], complete

    @cached_property
    def _groups_of(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.contraction.unknown, kind="stable")
        return order, self.contraction.unknown[order]

    def _fact(self, one: Determined, atoms: Ints) -> Fact:
        order, sorted_unknown = self._groups_of
        common = gcd(one.divisor, *one.factors.tolist())
        divisor = one.divisor // common
        terms = []
        for unknown, factor in zip(one.unknowns.tolist(), one.factors.tolist(), strict=True):
            first, last = np.searchsorted(sorted_unknown, (unknown, unknown + 1))
            for group in order[first:last]:
                times = factor // common * int(self.contraction.sign[group])
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


def term_of(atoms: Atoms, factor: int, group: int) -> Term:
    """Return a published number as a term of a fact."""
    release = atoms.release_of(group)
    return Term(factor, release, group - int(atoms.start[release]), int(atoms.published[group]))
