"""Rooms: what published sums leave possible, solved once for all parts that are alike.

Most parts are a few atoms and a few sums, and many are the very same but for whose they are: the outcome of
one is that of all, in this attack and in the next.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.alike import Forms
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.bounds import UNBOUNDED, Parts, Span, shuttled, tightened, to_be_tightened
from tripcloak.ledger.joint import Proven, few_together


class Room(NamedTuple):
    """What published sums leave possible of single atoms, and the sets that are few together; whether all."""

    span: Span
    sets: list[Proven]
    complete: bool


class _Outcome(NamedTuple):
    """What was found of a part, by its members' places in it."""

    least: Ints
    most: Ints
    sets: tuple[Proven, ...]


class Rooms:
    """Looks at what sums leave possible, and remembers what it found of every part by its content.

    Examples
    --------
    Two pairs of a release in which another counts three of four trips: they are alike, and one is solved.

    >>> atoms = Atoms(
    ...     group=np.array([[0, -1], [0, 2], [1, -1], [1, 3]]),
    ...     trips=np.array([1, 3, 1, 3]),
    ...     published=np.array([4, 4, 3, 3]),
    ...     room=np.array([[4, 4, 2, 2], [4, 4, 4, 4]]),
    ...     seen=np.arange(4),
    ...     seen_by=np.arange(4),
    ...     start=np.array([0, 2, 4]),
    ... )
    >>> rooms = Rooms()
    >>> room = rooms.of(atoms, np.ones(4, dtype=bool), 4)
    >>> [bound.tolist() for bound in room.span], rooms
    ([[0, 2, 0, 2], [2, 4, 2, 4]], <Rooms: 1 part known>)
    """

    def __init__(self) -> None:
        self._known: dict[bytes, _Outcome] = {}
        # Drawn anew, so that no input can be made up to make two parts seem alike.
        self._secrets = secrets.randbits(64), secrets.randbits(64)

    def __repr__(self) -> str:
        number = len(self._known)
        return f"<Rooms: {number:,} {'part' if number == 1 else 'parts'} known>"

    def of(self, atoms: Atoms, asked: Bools, k: int) -> Room:
        """Return how few and how many trips atoms can hold, as tight as it takes for those asked for."""
        if not asked.any():
            return Room(Span(np.zeros(len(atoms), dtype=np.int64), np.full(len(atoms), UNBOUNDED)), [], True)
        span = shuttled(atoms)
        parts = Parts.of(atoms, span)
        open_still = to_be_tightened(parts, span, asked, k)
        if not open_still.any():
            return Room(span, [], True)
        chosen = np.isin(parts.part, parts.part[open_still])
        forms = Forms.of(atoms, parts, span, chosen, asked, k=k, secrets=self._secrets)
        complete = self._learn(atoms, forms, span, asked, k)
        return self._spread(forms, span, complete)

    def _learn(self, atoms: Atoms, forms: Forms, span: Span, asked: Bools, k: int) -> bool:
        """Solve one part of every form that is not known; return whether all of them could be."""
        first = {key: part for part, key in reversed(list(enumerate(forms.keys))) if key not in self._known}
        chosen = np.sort(np.fromiter(first.values(), dtype=np.int64, count=len(first)))
        some = np.zeros(len(atoms), dtype=bool)
        some[forms.members_of(chosen)] = asked[forms.members_of(chosen)]
        tight = tightened(atoms, span, some, k)
        sets, complete = few_together(atoms, tight, some, k)
        place, part = forms.places(len(atoms))
        own: dict[int, list[Proven]] = {}
        for one in sets:
            at = one._replace(atoms=np.sort(place[one.atoms]))
            own.setdefault(int(part[one.atoms[0]]), []).append(at)
        for one in chosen.tolist():
            members = forms.members(one)
            self._known[forms.keys[one]] = _Outcome(
                tight.least[members], tight.most[members], tuple(own.get(one, ()))
            )
        return complete

    def _spread(self, forms: Forms, span: Span, complete: bool) -> Room:
        """Return what was found of every part; what is not complete is not kept."""
        least, most = span.least.copy(), span.most.copy()
        outcomes = [self._known[key] for key in forms.keys]
        least[forms.member] = np.concatenate([one.least for one in outcomes])
        most[forms.member] = np.concatenate([one.most for one in outcomes])
        sets = [
            found._replace(atoms=np.sort(forms.members(part)[found.atoms]))
            for part, one in enumerate(outcomes)
            for found in one.sets
        ]
        if not complete:
            self._known.clear()
        return Room(Span(least, most), sets, complete)
