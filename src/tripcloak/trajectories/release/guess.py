"""How often a guess names the right trajectory of those that fit, or the right piece; as may be told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

from tripcloak.ground.masking import FEW

TRIED = 1000
"""People who are tried at most, drawn with the same seed in every release and in every audit."""

MANY = 100
"""People from which on whole numbers of 100 are told: nobody alone moves them by more than one."""

BAND = 10
"""In what steps it is told of fewer people, rounded up."""


@dataclass(frozen=True, kw_only=True)
class OwnerGuess:
    """Of 100 people, how many somebody names who knows all their samples, by a simple guess and blindly.

    Attributes
    ----------
    people : int
        How many people were tried.
    right : int, optional
        For how many of 100 the best of some simple guesses names the right trajectory; None of few people.
    blind : int, optional
        The same of a guess among those that fit, whichever.

    Examples
    --------
    >>> OwnerGuess.of([1.0, 0.0] * 100, [0.2] * 200)
    OwnerGuess(people=200, right=50, blind=20)
    >>> OwnerGuess.of([1.0, 0.0, 0.0] * 10, [0.2] * 30)
    OwnerGuess(people=30, right=40, blind=20)
    >>> OwnerGuess.of([1.0] * 9, [0.5] * 9)
    OwnerGuess(people=9, right=None, blind=None)
    """

    people: int
    right: int | None
    blind: int | None

    @classmethod
    def of(cls, right: Sequence[float], blind: Sequence[float]) -> Self:
        """Return what may be told of the chances of each person that a simple and a blind guess are right."""
        return cls(people=len(right), right=_of_a_hundred(right), blind=_of_a_hundred(blind))

    def to_manifest(self) -> dict[str, Any]:
        """Return the entry of a manifest."""
        return asdict(self)

    @classmethod
    def from_manifest(cls, entry: Mapping[str, Any]) -> Self:
        """Return what an entry of a manifest says."""
        return cls(**entry)

    def sentence(self, of: str = "people") -> str:
        """Return it in words; of people, or of pieces of trajectories where these are known.

        >>> OwnerGuess(people=1000, right=62, blind=19).sentence().partition("right")[2]
        ' trajectory for about 62 in 100 people (a blind guess for 19)'
        """
        if self.right is None:
            return "how often a simple guess names the right trajectory is not told of so few people"
        about = "about" if self.people >= MANY else "up to"
        return (
            "a simple guess by somebody who knows all samples names the right trajectory for "
            f"{about} {self.right} in 100 {of} (a blind guess for {self.blind})"
        )


@dataclass(frozen=True, kw_only=True)
class LinkGuess:
    """Of 100 changes of pseudonyms, after how many somebody names the right piece, by what is known.

    Attributes
    ----------
    changes : int
        How many changes were tried.
    blind, timing, transition, both, places : int, optional
        How often the right one is named of 100: of all that begin later any, the likeliest by how long
        people are silent, by which way they mostly go on, by both, and by these and the places that the
        pieces before and after have in common; None of few changes.
    alike : float, optional
        How many equally likely ones what is left after both amounts to: 2 to the mean entropy.

    Examples
    --------
    >>> ways = "blind", "timing", "transition", "both", "places"
    >>> LinkGuess.of({name: [0.25] * 200 for name in ways}, [2.0] * 200)
    LinkGuess(changes=200, blind=25, timing=25, transition=25, both=25, places=25, alike=4.0)
    """

    entry: ClassVar[str] = "links"

    changes: int
    blind: int | None
    timing: int | None
    transition: int | None
    both: int | None
    places: int | None
    alike: float | None

    @classmethod
    def of(cls, right: Mapping[str, Sequence[float]], bits: Sequence[float]) -> LinkGuess:
        """Return what may be told of the chances of each change, by attack, and of what is left in bits."""
        alike = None if len(bits) < FEW else round(2 ** (math.fsum(bits) / len(bits)), 1)
        told = {name: _of_a_hundred(chances) for name, chances in right.items()}
        return cls(changes=len(bits), alike=alike, **told)

    def to_manifest(self) -> dict[str, Any]:
        """Return the entry of a manifest."""
        return asdict(self)

    @classmethod
    def from_manifest(cls, entry: Mapping[str, Any]) -> LinkGuess:
        """Return what an entry of a manifest says."""
        return cls(**entry)

    def sentence(self) -> str:
        """Return it in words.

        >>> told = {"blind": 9, "timing": 12, "transition": 14, "both": 20, "places": 61}
        >>> LinkGuess(changes=999, **told, alike=9.5).sentence()[:60]
        'after a change of pseudonym the right piece is named for abo'
        """
        if self.both is None:
            return "how often pieces of one person can be linked is not told of so few changes of pseudonyms"
        about = "about" if self.changes >= MANY else "up to"
        return (
            f"after a change of pseudonym the right piece is named for {about} {self.both} in 100 by "
            f"somebody who knows how long people are silent and which way they mostly go on ({self.timing} "
            f"by the first alone, {self.transition} by the second, {self.blind} blindly); what is left is as "
            f"good as {self.alike:g} that are equally likely; and for {self.places} in 100 by somebody who "
            "also compares the places of pieces"
        )


@dataclass(frozen=True, kw_only=True)
class ApartGuess(OwnerGuess):
    """Of 100 people, how many own trajectories are told from their dummies, by looking and blindly.

    Examples
    --------
    >>> ApartGuess.of([1.0, 0.0] * 100, [0.25] * 200)
    ApartGuess(people=200, right=50, blind=25)
    """

    entry: ClassVar[str] = "apart"

    def sentence(self, of: str = "people") -> str:
        """Return it in words.

        >>> ApartGuess(people=1000, right=62, blind=33).sentence()[:71]
        'the true trajectory is told from its dummies for about 62 in 100 people'
        """
        if self.right is None:
            return "how often a true trajectory is told from its dummies is not told of so few people"
        about = "about" if self.people >= MANY else "up to"
        return (
            f"the true trajectory is told from its dummies for {about} {self.right} in 100 {of} by somebody "
            f"who looks at where and how all of them go (blindly for {self.blind})"
        )


BesideGuess = LinkGuess | ApartGuess
BESIDE: dict[str, type[LinkGuess] | type[ApartGuess]] = {one.entry: one for one in (LinkGuess, ApartGuess)}
"""Guesses that some releases tell beside the owner's, by their entry in the manifest."""


def _of_a_hundred(chances: Sequence[float]) -> int | None:
    people = len(chances)
    if people < FEW:
        return None
    # What a sum of thirds loses in binary must not decide.
    share = round(100 * math.fsum(chances) / people, 6)
    return math.floor(share + 0.5) if people >= MANY else math.ceil(share / BAND) * BAND
