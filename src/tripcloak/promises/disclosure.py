"""Disclosure: a trajectory among dummies, as many and as far apart as a profile asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.counted import ONES
from tripcloak.promises.promise import Passages
from tripcloak.promises.trajectories import TrajectoryPromise


@dataclass(frozen=True, kw_only=True)
class Disclosure(TrajectoryPromise):
    """Beside each trajectory dummies are released, so that a guess among them is seldom right.

    The privacy profile of You, Peng and Lee (2007), equations 1 to 3: short-term disclosure ``sd``, the mean
    over time of one over the number of different places; long-term disclosure ``ld``, one over the number of
    ways that can be followed from beginning to end, changing over where two meet; and ``dst``, how far
    dummies are from the trajectory on average.

    Parameters
    ----------
    sd, ld
        At most so much, each a share above 0 and below 1.
    dst
        At least so many cells.
    cell
        Metres of a cell: what counts as one place, and the unit of ``dst``.

    Examples
    --------
    >>> Disclosure(sd=0.4, ld=0.25, dst=2.0, cell=500).sentence().partition(": ")[2]
    'short-term disclosure 0.4 at most, long-term 0.25 at most, 2 cells of 500 m away or more on average'
    """

    kind: ClassVar[str] = "disclosure"
    meaning: ClassVar[str] = (
        "Made-up trajectories are released beside each person's own, which is told as it was recorded; who "
        "knows a place of a person finds it."
    )
    lacks: ClassVar[str] = "disclosure is promised of trajectories, and flows are none"
    held: ClassVar[str] = "among dummies only"
    withholds: ClassVar[bool] = True
    adds: ClassVar[bool] = True

    sd: float
    ld: float
    dst: float
    cell: int

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("sd", "ld"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(
                    f"{name} is the chance that a guess among a trajectory and its dummies is right, above 0 "
                    f"and below 1; got {getattr(self, name):g}"
                )
        if not (0 <= self.dst < math.inf) or self.cell < 1:
            raise InputError("dst is a number of cells, 0 or more, and a cell is 1 metre wide or more")

    def safe(self, groups: Ints) -> Bools:
        """Return that everything may be released: what is promised is of each person's dummies together."""
        return np.ones(len(groups), dtype=bool)

    def sentence(self) -> str:
        """Return the promise in words."""
        return (
            f"{self._whose} trajectory is among dummies: short-term disclosure {self.sd:g} at most, "
            f"long-term {self.ld:g} at most, {self.dst:g} cells of {self.cell} m away or more on average"
        )

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        return "Promise", f"each {ONES[self.id_is].one} is among dummies; most of this is made up"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return (
            f"SD <= {self.sd:g}, LD <= {self.ld:g} and dst >= {self.dst:g} hold for everybody; of whoever "
            "knows a place of somebody nothing is promised"
        )

    def note(self) -> str:
        """Return that it is weaker than it looks."""
        return (
            "dummies beside each trajectory only. The trajectory itself is told as it was recorded: whoever "
            "knows one place of a person mostly finds it; k-scale and glove hide people from them too"
        )

    def in_full(self) -> Passages:
        """Return what dummies promise, in short, and what not."""
        one, several = ONES[self.id_is].one, ONES[self.id_is].several
        return Passages(
            f"""\
**Beside the trajectory of each {one} there are dummies, made-up ones with the same times, and nothing says
which is which.** Guess where it was at a time, and you are right {self.sd:g} of the time at most on average;
guess the whole way, {self.ld:g} at most. Dummies are {self.dst:g} cells of {self.cell:,} metres away on
average, or more, and go no faster than the {one} did.
""",
            f"""\
- Against readers who know nothing of {self._of_whom} but which trajectories belong together (equal times tell
  that): by the numbers above, every one of them may be the true one.
""",
            (
                f"""\
- It hides no place from whoever knows one: the true trajectory is told as it was recorded, and whoever knows
  a sample of {self._of_whom} mostly finds it; above it says how often.
""",
                """\
- Dummies are drawn, not lived: they go where hardly anybody goes, through water and walls. Whoever looks at
  where others are, at who meets whom and at speeds tells many of them; above it says how often.
""",
                """\
- Numbers of trajectories and of samples, and what is counted from them, are mostly those of dummies.
""",
                f"- It does not hide that {self._somebody} is in the data.\n",
                f"""\
- It is about this release alone: in another release of the same {several} dummies are others, and what is in
  both is true.
""",
            ),
        )
