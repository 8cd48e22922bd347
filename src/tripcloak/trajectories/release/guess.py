"""OwnerGuess: how often a simple guess names the right one of those that fit, as far as it may be told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

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
    def of(cls, right: Sequence[float], blind: Sequence[float]) -> OwnerGuess:
        """Return what may be told of the chances of each person that a simple and a blind guess are right."""
        return cls(people=len(right), right=_of_a_hundred(right), blind=_of_a_hundred(blind))

    def to_manifest(self) -> dict[str, Any]:
        """Return the entry of a manifest."""
        return asdict(self)

    @classmethod
    def from_manifest(cls, entry: Mapping[str, Any]) -> OwnerGuess:
        """Return what an entry of a manifest says."""
        return cls(**entry)

    def sentence(self) -> str:
        """Return it in words.

        >>> OwnerGuess(people=1000, right=62, blind=19).sentence().partition("right")[2]
        ' trajectory for about 62 in 100 people (a blind guess for 19)'
        """
        if self.right is None:
            return "how often a simple guess names the right trajectory is not told of so few people"
        about = "about" if self.people >= MANY else "up to"
        return (
            "a simple guess by somebody who knows all samples names the right trajectory for "
            f"{about} {self.right} in 100 people (a blind guess for {self.blind})"
        )


def _of_a_hundred(chances: Sequence[float]) -> int | None:
    people = len(chances)
    if people < FEW:
        return None
    # What a sum of thirds loses in binary must not decide.
    share = round(100 * math.fsum(chances) / people, 6)
    return math.floor(share + 0.5) if people >= MANY else math.ceil(share / BAND) * BAND
