"""People of one flow who are not in another flow inside it: told by the difference of two numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tripcloak.ground.arrays import Ints
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
    small, large = _nested(atoms, one, other)
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


def _nested(atoms: Atoms, one: int, other: int) -> tuple[Ints, Ints]:
    """Return the groups of one release that lie in a group of another, and that group, which holds more."""
    from tripcloak.ledger._kernels.groups import lying_in

    ends = (int(atoms.start[at]) for at in (one, one + 1, other, other + 1))
    return lying_in(atoms.group[:, one], atoms.group[:, other], *ends)
