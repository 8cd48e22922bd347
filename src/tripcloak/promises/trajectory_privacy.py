"""Differential privacy of trajectories, by what it hides, and noise of which nothing is proven."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.counted import ONES
from tripcloak.promises.promise import Passages
from tripcloak.promises.trajectories import TrajectoryPromise

HIDDEN = {
    "user": "everything of {whose} trajectory",
    "event": "any one visit of {whose} trajectory",
    "w-event": "all of {whose} visits in any {window} slots in a row",
    "l-trajectory": "any {window} visits in a row of {whose} trajectory",
    "element": "all of {whose} visits to any one place",
}
"""Units of privacy: by what two inputs differ that nobody can tell apart."""
WINDOWED = ("w-event", "l-trajectory")


LARGEST = 1e12
"""An epsilon that means nothing any more; auditors take longer numbers for messages."""


class NoisePart(NamedTuple):
    """Noisy numbers: what they spend, by how much what is hidden changes them in all, and their noise."""

    name: str
    epsilon: float
    changes: int
    scale: float


@dataclass(frozen=True, kw_only=True)
class TrajectoryNoise(TrajectoryPromise):
    """Trajectories that were made up from noisy numbers; what that amounts to the promises say."""

    moves_samples: ClassVar[bool] = True
    withholds: ClassVar[bool] = True
    made_up: ClassVar[bool] = True
    noisy: ClassVar[bool] = True

    epsilon: float
    parts: tuple[NoisePart, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.epsilon > 0 and math.isfinite(self.epsilon)):
            raise InputError(f"epsilon must be a finite number above 0; got {self.epsilon:g}")
        if self.epsilon > LARGEST:
            raise InputError(f"an epsilon above {LARGEST:g} hides nobody; got {self.epsilon:g}")

    def safe(self, groups: Ints) -> Bools:
        """Return that everything may be released: the noise protects, not a number of people."""
        return np.ones(len(groups), dtype=bool)

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        told = super().to_manifest()
        parts = told.pop("parts")
        return {**told, "parts": [list(part) for part in parts]}

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        if not isinstance(told["parts"], list):
            raise TypeError("the parts of noise are a list")
        return cls(**{**told, "parts": tuple(NoisePart(*part) for part in told["parts"])})


@dataclass(frozen=True, kw_only=True)
class TrajectoryPrivacy(TrajectoryNoise):
    """Differential privacy: without any one unit of the input, the release would look much the same.

    Parameters
    ----------
    epsilon
        By how much one unit may change the odds of any release, as a power of e.
    unit, window
        What one unit is (Guerra-Balboa et al. 2022): a user, an event, a window of w slots or of l visits, an
        element; and of how many, where that is asked.
    parts
        The noisy numbers from which everything was made, and what each of them spends.

    Examples
    --------
    >>> TrajectoryPrivacy(epsilon=1.0).sentence()
    "differential privacy of everything of a person's trajectory (epsilon 1)"
    >>> TrajectoryPrivacy(epsilon=0.5, unit="w-event", window=3).sentence()
    "differential privacy of all of a person's visits in any 3 slots in a row (epsilon 0.5)"
    """

    kind: ClassVar[str] = "differential privacy of trajectories"
    brief: ClassVar[str] = "DP"
    meaning: ClassVar[str] = (
        "Trajectories are made up from noisy numbers, so that nobody can tell from them whether any one "
        "person was in the input, whatever else they know; none is anybody's."
    )
    lacks: ClassVar[str] = "this differential privacy is promised of trajectories, and flows are none"
    held: ClassVar[str] = "DP as stated"

    unit: str = "user"
    window: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit not in HIDDEN:
            raise InputError(f"what is hidden must be one of {', '.join(HIDDEN)}; got {self.unit!r}")
        if (self.window is None) == (self.unit in WINDOWED) or (self.window is not None and self.window < 1):
            raise InputError(f"{' and '.join(WINDOWED)} need a window of 1 or more, and the others have none")

    def sentence(self) -> str:
        """Return the promise in words."""
        return f"differential privacy of {self._hidden} (epsilon {self.epsilon:g})"

    @property
    def _hidden(self) -> str:
        return HIDDEN[self.unit].format(whose=self._whose, window=self.window)

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        return "Promise", f"made up from noisy numbers that hide {self._hidden}"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return f"what the noise spends adds up to epsilon {self.epsilon:g}; nobody's trajectory is released"

    def note(self) -> str:
        """Return whom it hides, and that no two releases are alike."""
        return f"{self.sentence()}; noise is drawn anew every time, so another run differs"

    @property
    def budget(self) -> float:
        """Return epsilon."""
        return self.epsilon

    def noise_facts(self) -> dict[str, Any]:
        """Return the promise under a name of its own, as accounts of noise ask for it."""
        return {"differential_privacy": {"epsilon": self.epsilon, "delta": 0.0, "unit": self.unit}}

    def in_full(self) -> Passages:
        """Return what noisy numbers promise, in short, and what not."""
        one = ONES[self.id_is].one
        return Passages(
            f"""\
**These trajectories were made up from noisy numbers, so that nobody can tell from them {self._hidden}.**
None of them is anybody's. What many have in common is about as it was.
""",
            f"""\
- Whatever a reader knows already: leaving {self._hidden} out of the data, or putting another in its
  place, would change the odds of every possible release by a factor of exp({self.epsilon:g}) at most.
""",
            (
                f"""\
- What is true of many is not hidden: if most who were at one place went on to another, so did probably any
  {one} who is known to have been there.
""",
                *(
                    ()
                    if self.unit == "user"
                    else (f"- More is hidden less: twice as much of one {one} at twice the epsilon.\n",)
                ),
                """\
- That the data lie in this area and in this period counts as known.
""",
                """\
- Every further release of the same people adds to what may be learnt of them.
""",
                """\
- A single made-up trajectory says nothing; rare places and long paths are lost in the noise.
""",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class UnprovenNoise(TrajectoryNoise):
    """Noise on some numbers beside others that are exact: published so, and not differentially private.

    Examples
    --------
    >>> UnprovenNoise(epsilon=1.0).sentence()
    "no proven privacy: some numbers of a person's trajectory have noise of epsilon 1, others have none"
    """

    kind: ClassVar[str] = "noise without a proof"
    meaning: ClassVar[str] = (
        "Some numbers are noisy and others exact: it looks like differential privacy, and is not."
    )
    lacks: ClassVar[str] = "noise without a proof is a thing of trajectories, and flows are none"
    held: ClassVar[str] = "NOT private"

    def sentence(self) -> str:
        """Return in words that nothing is proven."""
        return (
            f"no proven privacy: some numbers of {self._whose} trajectory have noise of epsilon "
            f"{self.epsilon:g}, others have none"
        )

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        return "Promise", "none: some numbers behind these made-up trajectories are exact"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return "NOT differentially private: some numbers behind it are exact"

    def note(self) -> str:
        """Return that it is for comparison alone."""
        return "nothing: it is not differentially private, and is there to compare with. Do not publish it"

    def in_full(self) -> Passages:
        """Return that nothing is promised, and why."""
        return Passages(
            """\
**Nothing is promised here.** Some of the numbers from which these trajectories were made up are noisy; others
are exact, and follow from single people.
""",
            f"- Noise of epsilon {self.epsilon:g} was added to some numbers.\n",
            (
                """\
- It is not differentially private: numbers that are used without noise may give a single person away.
""",
                "- It is there to compare methods, and not to be published.\n",
            ),
        )
