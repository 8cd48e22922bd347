"""Facts: what several releases together tell of few people, with the published numbers that give it away."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints

Kind = Literal["exact", "between", "people", "limits", "repeated"]

IN_WORDS: dict[Kind, str] = {
    "exact": "a number of trips that follows by adding and subtracting",
    "between": "a number of trips that published numbers leave little room for",
    "people": "people of one flow who are not in another one inside it",
    "repeated": "trips of people who have another one in the same flow, by numbers of trips and of people",
    "limits": "trips that are withheld, or left an input, where a stated limit leaves little room",
}

WHOLE_INPUT = -1
"""The group of a term that is of all trips of an input, released or not."""


class Term(NamedTuple):
    """A published number, and how often it is added, or subtracted, to arrive at a fact."""

    factor: int
    release: int
    group: int
    published: int


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something that follows from published numbers, about fewer people than every flow promises to hold.

    Attributes
    ----------
    kind : str
        How it follows.
    least, most : int
        What is proven: so many trips, or people, at least and at most; equal where it is exact.
    people : int
        How many people it is about; which ones, nobody is told.
    terms : tuple of Term
        The published numbers that give it away.
    divisor : int
        What their sum is divided by; mostly 1.
    beside : tuple of Term
        Where it is a matter of room: what is published of the others in these numbers.
    """

    kind: Kind
    least: int
    most: int
    people: int
    terms: tuple[Term, ...]
    divisor: int = 1
    beside: tuple[Term, ...] = ()
    atoms: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False, compare=False)

    @property
    def releases(self) -> tuple[int, ...]:
        """Return which releases it takes."""
        return tuple(sorted({term.release for term in (*self.terms, *self.beside)}))

    @property
    def unit(self) -> str:
        """Return what is counted."""
        return "people" if self.kind == "people" else "trips"

    def words(self) -> str:
        """Return what is proven, in words.

        >>> terms = Term(1, 0, 4, 19), Term(-1, 1, 0, 16)
        >>> Fact(kind="exact", least=3, most=3, people=2, terms=terms).words()
        'exactly 3 trips'
        """
        if self.least == self.most:
            return f"exactly {self.least:,} {self.unit}"
        return f"between {self.least:,} and {self.most:,} {self.unit}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Facts:
    """All facts that were found in some releases.

    Attributes
    ----------
    found : tuple of Fact
        Those with the fewest terms first.
    complete : bool
        Whether every number that follows by adding and subtracting was looked at.
    k : int
        Facts are about fewer people than this.
    people : int
        How many different people they are about.
    groups, atoms : int
        How many published flows were looked at, and how many sets of records they tell apart.
    """

    found: tuple[Fact, ...]
    complete: bool
    k: int
    people: int
    groups: int
    atoms: int

    def __len__(self) -> int:
        return len(self.found)

    def by_kind(self) -> dict[Kind, int]:
        """Return how many facts there are of each kind."""
        return {kind: sum(one.kind == kind for one in self.found) for kind in IN_WORDS}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without the facts themselves."""
        return {
            "facts": len(self),
            "by_kind": dict(self.by_kind()),
            "people": self.people,
            "complete": self.complete,
            "k": self.k,
            "groups": self.groups,
            "atoms": self.atoms,
        }
