"""Parts that are alike: of the same numbers and sums, whoever they are of, and wherever they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.atoms import NONE, Atoms
from tripcloak.ledger.bounds import Parts, Span

ROUNDS = 3
"""How far around atoms and sums it is looked to put them into an order that parts that are alike share."""

CHOICES = 8
"""How often one is chosen of atoms that look the same, in every part, so that the others no longer do."""

GOLDEN = 0x9E3779B97F4A7C15
MULTIPLIERS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@dataclass(frozen=True, eq=False)
class Forms:
    """Parts, the members of each in an order that those that are alike share.

    Attributes
    ----------
    member, start : array
        The atoms, part by part, and where those of each part begin, and one more.
    keys : list of bytes
        What each part is known by: those of one key differ in nothing but who is in them.
    """

    member: Ints
    start: Ints
    keys: list[bytes]

    def __repr__(self) -> str:
        return f"<Forms: {len(self.keys):,} parts of {len(self.member):,} atoms>"

    @classmethod
    def of(
        cls,
        atoms: Atoms,
        parts: Parts,
        span: Span,
        chosen: Bools,
        asked: Bools,
        *,
        k: int,
        secrets: tuple[int, int],
    ) -> Forms:
        """Return the parts of chosen atoms, with what is known of each atom and whether it is asked for.

        Parameters
        ----------
        secrets
            What keys are drawn by, so that nobody can make up parts of the same key.
        """
        atom = np.flatnonzero(chosen)
        atom = atom[np.argsort(parts.part[atom], kind="stable")]
        start = np.flatnonzero(np.diff(parts.part[atom], prepend=-1))
        part = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(atom))))
        numbers = span.least[atom], span.most[atom], atoms.trips[atom], asked[atom]
        sums = _Sums.of(atoms, atom, parts.fixed)
        order, seen_sum = sums.ordered(part, _mixed(1, *numbers), _mixed(2, sums.low, sums.high))
        place = np.empty(len(atom), dtype=np.int64)
        place[order] = np.arange(len(atom)) - start[part]
        place_of_sum = sums.places(part, seen_sum, place)
        lanes = []
        for secret in secrets:
            lane = np.add.reduceat(_mixed(secret, place, *numbers), start)
            lane += _mixed(secret + 1, np.diff(np.append(start, len(atom))), np.array(k))
            entries = _mixed(secret + 2, place[sums.atom], place_of_sum[sums.sum])
            entries += _mixed(secret + 3, place_of_sum[sums.sum], sums.low[sums.sum], sums.high[sums.sum])
            np.add.at(lane, part[sums.atom], entries)
            lanes.append(lane)
        keys = [one.tobytes() for one in np.stack(lanes, axis=1)]
        return cls(atom[order], np.append(start, len(atom)), keys)

    def members(self, part: int) -> Ints:
        """Return the atoms of a part, in their order."""
        return self.member[self.start[part] : self.start[part + 1]]

    def members_of(self, some: Ints) -> Ints:
        """Return the atoms of some parts."""
        chosen = np.zeros(len(self.keys), dtype=bool)
        chosen[some] = True
        members: Ints = self.member[np.repeat(chosen, np.diff(self.start))]
        return members

    def places(self, n: int) -> tuple[Ints, Ints]:
        """Return for each of n atoms its place in its part, and that part."""
        place, part = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        part[self.member] = np.repeat(np.arange(len(self.keys)), np.diff(self.start))
        place[self.member] = np.arange(len(self.member)) - self.start[part[self.member]]
        return place, part


@dataclass(frozen=True, eq=False)
class _Sums:
    """Published sums around some atoms: pairs of an atom and a sum, by the atom's place, and what is left of
    each sum.
    """

    atom: Ints
    sum: Ints
    low: Ints
    high: Ints

    def __repr__(self) -> str:
        return f"<_Sums: {len(self.low):,} in {len(self.atom):,} pairs>"

    @classmethod
    def of(cls, atoms: Atoms, atom: Ints, fixed: Ints) -> _Sums:
        told = atoms.told[atom]
        at, release = np.nonzero(told != NONE)
        groups, number = np.unique(told[at, release], return_inverse=True)
        low, high = ((limit - fixed)[groups] for limit in atoms.limits)
        return cls(at, number, low, high)

    def ordered(self, part: Ints, seen_atom: Ints, seen_sum: Ints) -> tuple[Ints, Ints]:
        """Return an order of atoms part by part, by what each is and what is around it; and that of sums."""
        for choice in range(CHOICES + 1):
            seen_atom, seen_sum = self.seen_around(seen_atom, seen_sum)
            order = np.lexsort((seen_atom, part))
            same = (np.diff(part[order], append=-1) == 0) & (np.diff(seen_atom[order], append=0) == 0)
            tied = order[same]
            if not len(tied) or choice == CHOICES:
                break
            # Where atoms are alike in all respects, it makes no difference which of them is chosen.
            one = tied[np.unique(part[tied], return_index=True)[1]]
            seen_atom[one] = _mixed(7, seen_atom[one])
        return order, seen_sum

    def seen_around(self, seen_atom: Ints, seen_sum: Ints) -> tuple[Ints, Ints]:
        """Return a number for each atom and each sum that tells what is around it, given what each is."""
        for _ in range(ROUNDS):
            around = np.zeros_like(seen_atom)
            np.add.at(around, self.atom, _mixed(3, seen_sum)[self.sum])
            seen_atom = _mixed(4, seen_atom, around)
            around = np.zeros_like(seen_sum)
            np.add.at(around, self.sum, _mixed(5, seen_atom)[self.atom])
            seen_sum = _mixed(6, seen_sum, around)
        return seen_atom, seen_sum

    def places(self, part: Ints, seen: Ints, place: Ints) -> Ints:
        """Return the place of each sum in its part: by what is around it, and then by its first atom."""
        first = np.full(len(seen), len(part))
        np.minimum.at(first, self.sum, place[self.atom])
        of_part = np.empty(len(seen), dtype=np.int64)
        of_part[self.sum] = part[self.atom]
        order = np.lexsort((first, seen, of_part))
        start = np.searchsorted(of_part[order], of_part[order])
        found = np.empty(len(seen), dtype=np.int64)
        found[order] = np.arange(len(seen)) - start
        return found


def _mixed(seed: int, *columns: Ints) -> Ints:
    """Return a number for each row of some columns; those of other rows are nearly surely others."""
    mixed = np.full(np.broadcast_shapes(*(one.shape for one in columns)), seed % 2**64, dtype=np.uint64)
    for one in columns:
        mixed = (mixed ^ one.astype(np.uint64)) * np.uint64(GOLDEN) + np.uint64(seed % 2**64)
        for shift, multiplier in zip((30, 27), MULTIPLIERS, strict=True):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(multiplier)
        mixed ^= mixed >> np.uint64(31)
    return mixed
