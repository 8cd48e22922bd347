"""Promises on trajectories: what they share, containment in k of them, and co-location of k within delta."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.counted import ONES, UNKNOWN, known_of
from tripcloak.promises.promise import Passages, Promise


@dataclass(frozen=True, kw_only=True)
class TrajectoryPromise(Promise):
    """What released trajectories are held to; how people are hidden is for the promises themselves to say."""

    withholds: ClassVar[bool] = False
    """Whether samples, and all there is of a person, may be left out."""
    parted: ClassVar[bool] = False
    """Whether a trajectory is released in pieces, each under a pseudonym of its own."""
    adds: ClassVar[bool] = False
    """Whether made-up trajectories are released beside people's own; they are drawn anew every time."""

    id_is: str = "person"

    def __post_init__(self) -> None:
        if self.id_is not in ONES:
            raise InputError(f"a trajectory is that of one of {', '.join(ONES)}")

    def of_ids(self, id_is: str) -> Self:
        """Return the same of trajectories whose ids stand for something else."""
        return replace(self, id_is=id_is)

    def counted(self) -> dict[str, str]:
        """Return whose the trajectories are."""
        return {"trajectories": known_of("travellers", self.id_is)}

    @property
    def _whose(self) -> str:
        """Return whose a trajectory is, in the genitive; where it is no person's, that is said."""
        if self.id_is == UNKNOWN:
            return "one id's (of unknown kind)"
        own = f"a {ONES[self.id_is].one}'s"
        return own if self.id_is == "person" else f"{own} (not a person's)"

    @property
    def _of_whom(self) -> str:
        """Return of whom something may be known."""
        return "an id" if self.id_is == UNKNOWN else f"a {ONES[self.id_is].one}"

    @property
    def _somebody(self) -> str:
        """Return the same where a person needs no further word."""
        return "somebody" if self.id_is == "person" else self._of_whom

    def in_brief(self) -> str:
        """Return what the headline says, which needs no heading."""
        return self.headline()[1]


@dataclass(frozen=True, kw_only=True)
class AmongPromise(TrajectoryPromise):
    """A promise by which people are hidden among ``k``; of whom or of what the promises say."""

    k: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k < 2:
            raise InputError(f"k says among how many trajectories each one hides, 2 or more; got {self.k}")

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON, k first."""
        told = super().to_manifest()
        return {"kind": told.pop("kind"), "k": told.pop("k"), **told}


@dataclass(frozen=True, kw_only=True)
class Containment(AmongPromise):
    """Whoever knows all samples of a trajectory finds them in ``k`` released ones or more.

    Examples
    --------
    >>> Containment(k=3).sentence()
    "k = 3: all of a person's samples are in 3 trajectories or more"
    >>> Containment(k=3, id_is="vehicle").sentence()
    "k = 3: all of a vehicle's (not a person's) samples are in 3 trajectories or more"
    >>> Containment(k=3).safe(np.array([2, 3])).tolist()
    [False, True]
    """

    kind: ClassVar[str] = "containment"
    meaning: ClassVar[str] = (
        "Whatever is known of where and when a person was fits k released trajectories or more."
    )
    lacks: ClassVar[str] = "containment is promised of trajectories, and flows are none"
    contains: ClassVar[bool] = True

    def safe(self, groups: Ints) -> Bools:
        """Return whether each original trajectory is hidden, given how many released ones contain it."""
        return np.asarray(groups) >= self.k

    def sentence(self) -> str:
        """Return the promise in words."""
        return f"k = {self.k}: all of {self._whose} samples are in {self.k} trajectories or more"

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        return "Promise", f"what is known of {self._of_whom} fits {self.k:,} trajectories or more"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return f"safe by containment (k = {self.k}); smallest support {smallest} trajectories"

    def in_full(self) -> Passages:
        """Return what boxes promise, in short, and what not."""
        k, one, several = f"{self.k:,}", ONES[self.id_is].one, ONES[self.id_is].several
        somebody = self._somebody
        return Passages(
            f"""\
**Whoever knows where and when {somebody} was, all of it or any part, finds at least {k} released
trajectories that fit.** Samples were joined and made coarser in time and space until that was true. All
samples that were kept when the data was read are in it, and none was invented.
""",
            f"""\
- Against linking records: take any samples of one {one}, some or all, and look for released
  trajectories whose boxes hold them. At least {k} do. This holds for knowledge as fine as the finest step
  above, or coarser, and for all samples that were kept when the data was read. Records that were left out
  then, such as places that nobody could have reached in time, lead no further: add any of them to what was
  kept, and at least {k} released trajectories fit all of it, or none does.
""",
            (
                f"""\
- It does not hide what all {k} have in common. If every trajectory that fits was at a hospital at one
  hour, then so was the {one} (homogeneity).
""",
                f"""\
- It does not hide where {somebody} was at other moments: whoever knows some moments takes any trajectory
  that fits and reads off its boxes. On made-up calls, under `full` with k = 5, the box of another moment held
  the right place in 64, 85 and 96 of 100 cases after one, three and ten known samples.
""",
                f"""\
- {k} is the number of released trajectories that fit what is known of {self._of_whom}. It is not the number
  of {several} in a box: a released trajectory may be a merge of fewer, down to two (constraint `nu-k-pick`).
""",
                f"""\
- The edges of a box come from the samples of those who were merged: {somebody} was at each side of it.
""",
                f"- It does not hide that {somebody} is in the data, nor how many {several} are.\n",
                f"""\
- It is about this release alone: it does not cover comparing it with another release of the same {several},
  nor readers who know the samples of others in it and can set those aside.
""",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class CoLocation(AmongPromise):
    """(k, delta)-anonymity: each released trajectory has k - 1 others within ``delta`` metres at all times.

    After Abul, Bonchi and Nanni (2008). It promises nothing against somebody who knows original samples.

    Examples
    --------
    >>> CoLocation(k=2, delta=2000.0).sentence()
    '(k, delta) = (2, 2000 m): 2 trajectories move together'
    """

    kind: ClassVar[str] = "colocation"
    meaning: ClassVar[str] = (
        "At all times k released trajectories are close together; nothing is promised against somebody who "
        "knows true samples."
    )
    lacks: ClassVar[str] = "co-location is promised of trajectories, and flows are none"
    held: ClassVar[str] = "(k, delta) only"
    moves_samples: ClassVar[bool] = True
    withholds: ClassVar[bool] = True

    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 <= self.delta < math.inf):
            raise InputError(f"delta is a distance in metres, 0 or more; got {self.delta:g}")

    def safe(self, groups: Ints) -> Bools:
        """Return whether each released trajectory is hidden, given how many others keep within delta."""
        return np.asarray(groups) >= self.k - 1

    def sentence(self) -> str:
        """Return the promise in words."""
        whose = "" if self.id_is == "person" else f", each {self._whose}"
        return f"(k, delta) = ({self.k}, {self.delta:g} m): {self.k} trajectories move together{whose}"

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        return "Promise", f"{self.k - 1:,} others or more within {self.delta:,g} m at all times"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return "(k, delta) holds; no smallest support is promised"

    def note(self) -> str:
        """Return that it is weaker than it looks."""
        return (
            "(k, delta)-anonymity alone: at every moment k - 1 other released trajectories are within delta. "
            "Whoever knows original samples may still find their person; k-scale and glove hide people from "
            "them too"
        )

    def in_full(self) -> Passages:
        """Return what moved samples promise, in short, and what not."""
        k, delta = f"{self.k:,}", f"{self.delta:,g}"
        return Passages(
            f"""\
**At every time, each released trajectory has at least {self.k - 1:,} others within
{delta} metres of it** ((k, delta)-anonymity, k = {k}). Samples were moved in space and time until that was
true; some were left out, and some were made up in between.
""",
            f"""\
- A reader who knows somebody's place only to within {delta} metres cannot tell {k} trajectories apart.
""",
            (
                f"""\
- It is a weaker promise than containment of samples. Somebody who knows a few exact samples may still find
  the nearest trajectory and be right: that {k} trajectories go together does not mean that each of
  them fits what that reader knows.
""",
                "- A released sample is not where somebody was: it may be moved, or made up.\n",
                f"- It does not hide what the {k} have in common, nor that somebody is in the data.\n",
                """\
- It is about this release alone: it does not cover comparing it with another release of the same people.
""",
            ),
        )
