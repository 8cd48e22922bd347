"""Promises that samples keep, and whole trajectories do not: k in every box, and k for any m samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.counted import ONES
from tripcloak.promises.promise import Passages
from tripcloak.promises.trajectories import AmongPromise

MOST_KNOWN = 3
"""Samples that somebody may know at most under k^m: beyond, nobody can count what there is to know."""


@dataclass(frozen=True, kw_only=True)
class Presence(AmongPromise):
    """In every released box ``k`` people or more were recorded; nothing is promised of several boxes.

    What spatial cloaking promises (Gruteser and Grunwald 2003), here of grids (Gidofalvi, Huang and Pedersen
    2007): whoever reads one box does not know which of k people was in it. The boxes of one trajectory
    belong together all the same, and several of them may fit one person alone.

    Examples
    --------
    >>> Presence(k=5).sentence()
    "k = 5: in every box of a person's trajectory 5 people or more were recorded"
    >>> Presence(k=5).safe(np.array([4, 5])).tolist()
    [False, True]
    """

    kind: ClassVar[str] = "presence"
    meaning: ClassVar[str] = (
        "In every released box k people or more were recorded; who knows several samples of a person may "
        "find the trajectory all the same."
    )
    lacks: ClassVar[str] = "presence is promised of trajectories, and flows are none"
    held: ClassVar[str] = "k in every box only"
    withholds: ClassVar[bool] = True

    def safe(self, groups: Ints) -> Bools:
        """Return whether each box may be released, given how many people were recorded in it."""
        return np.asarray(groups) >= self.k

    def sentence(self) -> str:
        """Return the promise in words."""
        several = ONES[self.id_is].several
        return (
            f"k = {self.k}: in every box of {self._whose} trajectory {self.k} {several} or more were recorded"
        )

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        return "Promise", f"{self.k:,} {ONES[self.id_is].several} or more were recorded in every box"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return f"k = {self.k} holds of every box by itself; of whole trajectories nothing is promised"

    def note(self) -> str:
        """Return that it is weaker than it looks."""
        return (
            "k in every box by itself, and nothing of several boxes. Whoever knows some samples of a person "
            "may still find the trajectory; k-scale and glove hide people from them too"
        )

    def in_full(self) -> Passages:
        """Return what boxes with k people in them promise, in short, and what not."""
        k, several = f"{self.k:,}", ONES[self.id_is].several
        return Passages(
            f"""\
**In every released box {k} {several} or more were recorded.** Places were made coarser until that was true;
samples of which it could not be made true were left out.
""",
            f"""\
- Against reading a single box: whoever sees it, and knows that {self._somebody} was in it, cannot tell by the
  box alone which of {k} or more it was about.
""",
            (
                f"""\
- It does not hide a whole trajectory: its boxes stand under one pseudonym, and whoever knows a few samples of
  {self._of_whom} mostly finds one trajectory that fits all of them.
""",
                f"- It does not hide what everybody in a box has in common, nor that {self._somebody} is in "
                "the data.\n",
                """\
- How coarse a box is tells how many were about, and where somebody stays often, if places were treated apart.
""",
                f"""\
- It is about this release alone: it does not cover comparing it with another release of the same {several}.
""",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class KMSamples(AmongPromise):
    """Whoever knows up to ``m`` released samples of a person finds them in ``k`` released trajectories.

    k^m-anonymity (Terrovitis, Mamoulis and Kalnis 2008) of what people visited: a trajectory is the set of
    its places, each at its time.

    Examples
    --------
    >>> KMSamples(k=5, m=2).sentence()
    "k = 5, m = 2: any 2 of a person's released samples are in 5 trajectories or more"
    """

    kind: ClassVar[str] = "k^m-anonymity of trajectories"
    brief: ClassVar[str] = "k^m"
    meaning: ClassVar[str] = (
        "Whoever knows up to m samples of a person finds k released trajectories that hold them; who knows "
        "more may find one."
    )
    lacks: ClassVar[str] = "k^m-anonymity of samples is promised of trajectories, and flows are none"
    held: ClassVar[str] = "k^m only"
    withholds: ClassVar[bool] = True

    m: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.m <= MOST_KNOWN:
            raise InputError(
                f"m says how many samples somebody may know, from 1 to {MOST_KNOWN}; got {self.m}"
            )

    def safe(self, groups: Ints) -> Bools:
        """Return whether each set of samples is safe, given how many released trajectories hold all of it."""
        return np.asarray(groups) >= self.k

    def sentence(self) -> str:
        """Return the promise in words."""
        return (
            f"k = {self.k}, m = {self.m}: any {self.m} of {self._whose} released samples are in {self.k} "
            "trajectories or more"
        )

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        return "Promise", f"any {self.m} released samples fit {self.k:,} trajectories or more"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return f"k^m holds (k = {self.k}, m = {self.m}); nothing is promised of more than {self.m} samples"

    def note(self) -> str:
        """Return that it is weaker than it looks."""
        return (
            f"k for whoever knows {self.m} samples or fewer. Whoever knows more may still find the "
            "trajectory; k-scale and glove hide people from them too"
        )

    def in_full(self) -> Passages:
        """Return what is promised of m samples, in short, and what not of more."""
        k, m, several = f"{self.k:,}", self.m, ONES[self.id_is].several
        return Passages(
            f"""\
**Whoever knows up to {m} released samples of {self._of_whom} finds at least {k} trajectories that hold
them.** Places were made coarser, for everybody alike, until that was true; samples of which it could not be
made true were left out.
""",
            f"""\
- Against linking with little knowledge: take any {m} samples of one trajectory, or fewer, and at least {k}
  released trajectories hold all of them.
""",
            (
                f"""\
- Nothing is promised against whoever knows {m + 1} samples or more: they may be in one trajectory alone,
  which then tells all its other samples.
""",
                f"""\
- It does not hide what the {k} have in common, nor that {self._somebody} is in the data.
""",
                """\
- What was left out is not spread evenly: rare places and times go first.
""",
                f"""\
- It is about this release alone: it does not cover comparing it with another release of the same {several}.
""",
            ),
        )
