"""Differential privacy: the released numbers would look much the same without any one person."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.counted import ONES, UNKNOWN, known_of, ones_of
from tripcloak.promises.promise import FlowGroups, Passages, Promise, Unit, Volume

UNITS = ("traveller", "trip")
Detail = float | str | tuple[float, ...]
"""A public fact about a mechanism."""
NAMED = ("epsilon", "delta", "unit", "id_is", "contributions", "mechanism")


@dataclass(frozen=True, kw_only=True)
class DifferentialPrivacy(Promise):
    """(epsilon, delta)-differential privacy of everything that is released.

    It promises no smallest group: a released flow may stand for a single person, or for nobody.
    What is promised is that nobody can tell from the release whether any one person was in the input.

    Parameters
    ----------
    epsilon, delta
        How much one person may change the odds of any outcome, and the chance that this fails.
    unit
        Whose presence is hidden: a traveller with all that is kept of their trips, or a single trip.
    id_is
        What a traveller is: what the ids of the input stand for; None where trips are hidden.
    contributions
        Trips of one traveller that are kept at most; 1 where a single trip is hidden; None where what
        all do is scaled to a norm that noisy numbers tell.
    mechanism
        What was done, in words.
    details
        Public facts about the mechanism, such as the scale of its noise and its threshold.

    Examples
    --------
    >>> DifferentialPrivacy(epsilon=1.0, delta=1e-6, contributions=10, mechanism="noise").sentence()
    'differential privacy of every traveller (epsilon 1, delta 1e-06, at most 10 trips each)'
    """

    kind: ClassVar[str] = "differential privacy"
    brief: ClassVar[str] = "DP"
    meaning: ClassVar[str] = (
        "Numbers are noisy, so that nobody can tell from them whether any one person was "
        "in the input at all, whatever else they know. No smallest group is promised: a released flow may "
        "stand for one person or for nobody, so the smallest flow is shown but not judged."
    )
    lacks: ClassVar[str] = "differential privacy is promised by methods that add noise, such as laplace"
    noisy: ClassVar[bool] = True
    of_every_group: ClassVar[bool] = False
    tells_withheld: ClassVar[bool] = False
    silence: ClassVar[str] = (
        "not told: under differential privacy no exact number about the input is published"
    )

    epsilon: float
    delta: float = 0.0
    unit: Literal["traveller", "trip"] = "traveller"
    id_is: str | None = None
    contributions: int | None = 1
    mechanism: str
    details: tuple[tuple[str, Detail], ...] = ()

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and math.isfinite(self.epsilon)):
            raise InputError(f"epsilon must be a finite number above 0; got {self.epsilon:g}")
        if not 0 <= self.delta < 1:
            raise InputError(f"delta must be a chance from 0 to below 1; got {self.delta:g}")
        if self.unit not in UNITS:
            raise InputError(f"the presence of one {' or of one '.join(UNITS)} is hidden; got {self.unit!r}")
        if self.id_is is not None and (self.id_is not in ONES or self.unit != "traveller"):
            raise InputError(f"ids stand for {', '.join(ONES)}, where travellers are hidden")
        if self.contributions is not None and self.contributions < 1:
            raise InputError(f"contributions must be 1 or more; got {self.contributions}")

    def safe(self, groups: FlowGroups) -> Bools:
        """Return that every group may be released: the noise protects, not the size."""
        return np.ones(len(groups), dtype=bool)

    def published(self, volume: Volume) -> tuple[Unit, ...]:
        """Return the noisy trips."""
        return ("trips",)

    def told_rows(self, rows: Mapping[str, int], people: Mapping[str, int] | None = None) -> dict[str, int]:
        """Return nothing: exact numbers are not private in themselves."""
        return {}

    def further(self) -> tuple[str, ...]:
        """Return the promise in words: there are no thresholds to say it with."""
        return (self.sentence(),)

    def headline(self) -> tuple[str, str]:
        """Return that numbers are noisy, and that no smallest one is promised."""
        return "Numbers", "noisy; no smallest number of people is promised (no k-anonymity)"

    def in_brief(self) -> str:
        """Return the same as a sentence."""
        return "numbers are noisy; no smallest number of people is promised"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit."""
        return "safe; numbers are noisy, and no smallest number of people is promised"

    def note(self) -> str:
        """Return the promise, and that no two releases are alike."""
        return f"{self.sentence()}; noise is drawn anew every time, so another run differs"

    @property
    def budget(self) -> float:
        """Return epsilon."""
        return self.epsilon

    def sentence(self) -> str:
        """Return the promise in words."""
        delta = f", delta {self.delta:g}" if self.delta else ""
        each = f", {self._each}" if self.unit == "traveller" else ""
        return f"differential privacy of every {self._hidden} (epsilon {self.epsilon:g}{delta}{each})"

    @property
    def _each(self) -> str:
        """Return how much of a traveller counts."""
        if self.contributions is None:
            return "each scaled to one norm"
        return f"at most {self.contributions:,} trips each"

    def counted(self) -> dict[str, str]:
        """Return whose presence is hidden."""
        unit = f"{self.unit}s"
        return {unit: known_of(unit, self.id_is)}

    @property
    def _hidden(self) -> str:
        """Return what is hidden, in the singular; where it is no person, that is said."""
        one = ones_of(self.id_is).one if self.unit == "traveller" else self.unit
        return one if one in ("traveller", "person", ONES[UNKNOWN].one) else f"{one} (not person)"

    def noise_facts(self) -> dict[str, Any]:
        """Return the promise and its noise under a name of their own."""
        named = {name: getattr(self, name) for name in NAMED}
        if self.id_is is None:
            del named["id_is"]
        details = {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in self.details}
        return {"differential_privacy": named | details}

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON, details among them."""
        return {"kind": self.kind, **self.noise_facts()["differential_privacy"]}

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        named = {name: told.pop(name) for name in NAMED if name != "id_is"}
        id_is = told.pop("id_is", None)
        details = ((name, tuple(fact) if isinstance(fact, list) else fact) for name, fact in told.items())
        return cls(**named, id_is=id_is, details=tuple(details))

    def in_full(self) -> Passages:
        """Return what is promised of noisy numbers, in short, and what is not."""
        noise, who = dict(self.details), self._hidden
        scale = f" (scale {noise['noise_scale']:.4g})" if "noise_scale" in noise else ""
        how = f"{self.mechanism[:1].upper()}{self.mechanism[1:]}{scale}"
        chance = f", but for a chance of {self.delta:g}" if self.delta else ""
        one = ones_of(self.id_is).one
        counted = (
            "A traveller who made several trips is hidden less well than one trip is."
            if self.unit == "trip"
            else f"What every {one} did was scaled down to one norm before it was counted."
            if self.contributions is None
            else f"Trips that were counted of every {one}: {self.contributions:,} at most."
        )
        area = f" (zone `{noise['study_area']}`)" if "study_area" in noise else ""
        return Passages(
            f"""\
**The numbers carry noise, so that nobody can tell from them whether any one {who} was in the data.**
{how}; numbers below {noise.get("threshold", 1):,} are not published.
No smallest number of people is promised: a flow may stand for one person, or for nobody.
""",
            f"""\
Whatever a reader knows already: leaving any one {who} out of the data would change the odds of
every possible release by a factor of exp({self.epsilon:g}) at most{chance}.
""",
            (
                f"{counted}\n",
                "This is no k-anonymity. ",
                """\
Every further release of the same people adds to what may be learnt of them,
and what is true of everybody is not hidden.
""",
                f"That the data lie in the study area{area} counts as known.\n",
            ),
        )
