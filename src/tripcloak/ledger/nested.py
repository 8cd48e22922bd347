"""People of flows, one inside another: who are not in it, and who come again, as numbers of both tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.facts import Fact, Term


def fewer_people(atoms: Atoms, disclosures: Sequence[Disclosure], k: int) -> list[Fact]:
    """Return a fact for every pair of nested flows whose travellers differ by at least one, and fewer than k.

    Where all trips of a flow are in a flow of another release too, the difference of their travellers are
    people that only the larger one has.
    """
    found = []
    for inner, told in enumerate(disclosures):
        for outer, more in enumerate(disclosures):
            if inner != outer and told.travellers is not None and more.travellers is not None:
                found += _between(atoms, (inner, told.travellers), (outer, more.travellers), k)
    return found


def _between(atoms: Atoms, inner: tuple[int, Ints], outer: tuple[int, Ints], k: int) -> list[Fact]:
    """Return the facts of the flows of one release that lie in flows of another."""
    (one, told), (other, more) = inner, outer
    small, large, same = _lying(atoms, one, other)
    small, large = small[~same], large[~same]
    least = np.maximum(more[0, large] - told[1, small], 0)
    most = more[1, large] - told[0, small]
    facts = []
    for number in np.flatnonzero((least >= 1) & (most < k)):
        a, b = int(small[number]), int(large[number])
        inside = atoms.group[:, other] == b + atoms.start[other]
        left = np.flatnonzero(inside & (atoms.group[:, one] != a + atoms.start[one]))
        facts.append(
            Fact(
                kind="people",
                least=int(least[number]),
                most=int(most[number]),
                people=atoms.different_people(left),
                terms=(Term(1, other, b, int(more[0, b])), Term(-1, one, a, int(told[0, a]))),
                atoms=left,
            )
        )
    return facts


def repeated_trips(atoms: Atoms, disclosures: Sequence[Disclosure], k: int) -> list[Fact]:
    """Return a fact for every flow in which at least one trip, and fewer than k, are of people with another.

    Trips less travellers are those. Travellers in steps leave enough room in one release; steps of another k
    may narrow it, of the same flow, of one inside it, or of one around it. What a release tells by itself is
    no further fact.
    """
    told = [(at, one) for at, one in enumerate(disclosures) if one.travellers is not None and one.tells_trips]
    known = {at: _Known.of(one, k) for at, one in told}
    for inner, one in known.items():
        for outer, other in known.items():
            if inner != outer:
                small, large, same = _lying(atoms, inner, outer)
                one.share(other, small[same], large[same], later=inner < outer)
                one.lies_in(other, (inner, outer), (small, large))
    return [fact for at, one in known.items() for fact in one.facts(at, k)]


class _Known:
    """How many travellers each flow of a release may have, and by which other flows that is known."""

    def __init__(self, trips: Ints, travellers: Ints, alone: Bools) -> None:
        self.trips, self.own, self.alone = trips, travellers, alone
        self.least, self.most = travellers.copy()
        self.beside: list[tuple[int, Ints, Ints, Ints]] = []
        self.again = np.zeros(len(trips), dtype=bool)

    @classmethod
    def of(cls, one: Disclosure, k: int) -> _Known:
        assert one.travellers is not None
        least, most = one.travellers
        return cls(one.trips, one.travellers, (one.trips - most >= 1) & (one.trips - least < k))

    def share(self, other: _Known, mine: Ints, theirs: Ints, *, later: bool) -> None:
        """Take in which flows of two releases are the same: what one of them tells is told of both."""
        told = self.alone[mine] | other.alone[theirs]
        self.alone[mine] = other.alone[theirs] = told
        if later:
            other.again[theirs] = True

    def lies_in(self, other: _Known, numbers: tuple[int, int], lying: tuple[Ints, Ints]) -> None:
        """Take in what flows of another release around these tell of these, and these of those.

        Parameters
        ----------
        numbers
            Which release this one is, and which the other.
        lying
            Flows of this one, and for each a flow of the other that it lies in.
        """
        small, large = lying
        np.minimum.at(self.most, small, other.own[1, large])
        np.maximum.at(other.least, large, self.own[0, small])
        self.beside.append((numbers[1], small, large, other.own))
        other.beside.append((numbers[0], large, small, self.own))

    def facts(self, at: int, k: int) -> list[Fact]:
        """Return the facts about the flows of this release, given its number."""
        least, most = self.trips - self.most, self.trips - self.least
        found = np.flatnonzero((least >= 1) & (most < k) & ~self.alone & ~self.again)
        return [
            Fact(
                kind="repeated",
                least=int(least[group]),
                most=int(most[group]),
                people=int(most[group]),
                terms=(Term(1, at, group, int(self.trips[group])), *self._by(group)),
            )
            for group in found.tolist()
        ]

    def _by(self, group: int) -> list[Term]:
        """Return the flows by which the travellers of one are known as they are, but for its own."""
        terms = set()
        for release, mine, theirs, own in self.beside:
            for other in theirs[mine == group].tolist():
                below = own[1, other] == self.most[group] < self.own[1, group]
                if below or own[0, other] == self.least[group] > self.own[0, group]:
                    terms.add(Term(-1, release, other, int(own[0, other])))
        return sorted(terms)


def _lying(atoms: Atoms, one: int, other: int) -> tuple[Ints, Ints, Bools]:
    """Return the groups of one release that lie in a group of another, that group, and which are the same."""
    from tripcloak.ledger._kernels.groups import lying_in

    ends = (int(atoms.start[at]) for at in (one, one + 1, other, other + 1))
    return lying_in(atoms.group[:, one], atoms.group[:, other], *ends)
