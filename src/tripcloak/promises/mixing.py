"""Mixing: pseudonyms change only among k people who are silent together in one zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.counted import ONES
from tripcloak.promises.promise import Passages
from tripcloak.promises.trajectories import AmongPromise


@dataclass(frozen=True, kw_only=True)
class Mixing(AmongPromise):
    """Wherever a pseudonym changes, ``k`` people were inside one zone at one moment, and silent in it.

    What mix zones promise (Beresford and Stajano 2003): by order of time, which says that who comes out
    has gone in before, k of those who went in fit each who comes out. Places are told as they were recorded,
    so nothing is promised against whoever knows some of them.

    Parameters
    ----------
    width
        Metres of a zone from side to side, at most.
    longest
        Seconds of silence of one person, at most.

    Examples
    --------
    >>> Mixing(k=5, width=500, longest=3600).sentence().partition(", in a zone ")[2]
    '500 m wide at most, for 3600 s at most'
    >>> Mixing(k=5, width=500, longest=3600).safe(np.array([4, 5])).tolist()
    [False, True]
    """

    kind: ClassVar[str] = "mixing"
    meaning: ClassVar[str] = (
        "A pseudonym changes only where k people are silent together; who knows a place of a person finds "
        "the piece that holds it, and may link it to others by its times and ways."
    )
    lacks: ClassVar[str] = "mixing is promised of trajectories, and flows are none"
    held: ClassVar[str] = "k where pseudonyms change only"
    withholds: ClassVar[bool] = True
    parted: ClassVar[bool] = True

    width: int
    longest: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width < 1 or self.longest < 1:
            raise InputError("a zone is 1 metre wide or more, and silence lasts 1 second or more")

    def safe(self, groups: Ints) -> Bools:
        """Return whether each change is one among k, given how many were inside at once."""
        return np.asarray(groups) >= self.k

    def sentence(self) -> str:
        """Return the promise in words."""
        several = ONES[self.id_is].several
        return (
            f"k = {self.k}: {self._whose} pseudonym changes only where {self.k} {several} or more are silent "
            f"at once, in a zone {self.width} m wide at most, for {self.longest} s at most"
        )

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        several = ONES[self.id_is].several
        return "Promise", f"pseudonyms change where {self.k:,} {several} or more are silent at once"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return (
            f"k = {self.k} holds wherever a pseudonym changes; of places, and of whoever knows some of them, "
            "nothing is promised"
        )

    def note(self) -> str:
        """Return that it is weaker than it looks."""
        return (
            f"that pseudonyms change among {self.k} only. Places are told as they were recorded: whoever "
            "knows one of a person finds the piece that holds it; k-scale and glove hide people from them too"
        )

    def in_full(self) -> Passages:
        """Return what silence and new pseudonyms promise, in short, and what not."""
        k, several, one = f"{self.k:,}", ONES[self.id_is].several, ONES[self.id_is].one
        return Passages(
            f"""\
**Trajectories are cut into pieces, each under a pseudonym of its own. They are cut only where {k} {several}
or more were inside one zone at one moment, and of none of them anything is told there.** Zones are
{self.width:,} metres wide at most, and nobody is silent for longer than {self.longest:,} seconds.
Outside of them everything is told as it was recorded.
""",
            f"""\
- Against following {self._of_whom} through a zone by order of time alone: who comes out has gone in before,
  and {k} or more of those who went in fit each who comes out.
""",
            (
                f"""\
- It hides no place. Whoever knows one sample of {self._of_whom} finds the piece that holds it, and
  everything else in that piece.
""",
                """\
- Those who fit are not equally likely. Whoever knows how long people take, and which way they mostly go on,
  links pieces more often than by chance, and whoever compares their places mostly; above it says how often.
""",
                f"""\
- Not every {one} is cut: who never passed a zone together with enough others has one piece.
""",
                f"- It does not hide that {self._somebody} is in the data.\n",
                f"""\
- It is about this release alone: it does not cover comparing it with another release of the same {several}.
""",
            ),
        )
