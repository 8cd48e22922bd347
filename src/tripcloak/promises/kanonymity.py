"""k-anonymity: a group of flows is safe when at least k of something stand behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.spelling import spelt
from tripcloak.promises.counted import ONES, number_of
from tripcloak.promises.promise import UNITS, FlowGroups, Input, Promise, Unit, whole_number


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Promise):
    """At least ``k`` trips, distinct travellers, or people of the population, in every group.

    With ``unit=None`` travellers are counted where the input tells them apart, trips otherwise:
    ten trips of one person hide nobody. ``id_is`` says what the input's ids stand for; it follows from the
    matrix, and is None where trips or the population are counted.

    Examples
    --------
    >>> KAnonymity(k=10, unit="travellers").sentence()
    'at least 10 travellers'
    >>> KAnonymity(k=10, unit="travellers", id_is="vehicle").sentence()
    'at least 10 vehicles (not people)'
    >>> KAnonymity(k=1)
    Traceback (most recent call last):
    tripcloak.InputError: k must be at least 2 (a group of one hides nobody); got 1
    """

    kind: ClassVar[str] = "k-anonymity"
    brief: ClassVar[str] = "k"
    joins: ClassVar[bool] = True
    meaning: ClassVar[str] = (
        "At least k of what is counted (people, or vehicles, devices, cards, households or trips, as said "
        "under Counted) stand behind every released number."
    )

    k: float = 10
    unit: Unit | None = None
    id_is: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.k >= 2:
            raise InputError(f"k must be at least 2 (a group of one hides nobody); got {self.k:g}")
        if self.k > 2**53:
            raise InputError("k must be a finite number that a computer can count exactly, at most 2**53")
        if self.unit is not None and self.unit not in UNITS:
            raise InputError(f"unit must be one of {', '.join(UNITS)}; got {self.unit!r}")
        if self.k != int(self.k):
            raise InputError(f"k counts whole trips or people; got {self.k:g}")
        if self.id_is is not None and (self.id_is not in ONES or self.unit != "travellers"):
            raise InputError(f"ids stand for {', '.join(ONES)}, where travellers are counted")

    @property
    def counts_people(self) -> bool:
        """Return that it does."""
        return True

    @property
    def plain(self) -> bool:
        """Return that it asks for nothing else."""
        return True

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return {unit: k}."""
        if self.unit is None:
            raise InputError("the unit of k is still open; resolve the promise with a matrix first")
        return {self.unit: self.k}

    def resolve(self, matrix: Input) -> KAnonymity:
        """Return the promise with its unit settled; an error where the matrix cannot tell that unit."""
        unit = self.unit or ("travellers" if "travellers" in matrix.units else "trips")
        if unit not in matrix.units:
            raise InputError(
                f"k on {unit} needs {_needed(unit)}; this input can only protect {' or '.join(matrix.units)}"
            )
        return replace(self, unit=unit, id_is=matrix.id_is if unit == "travellers" else None)

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether its support reaches k."""
        (unit,) = self.thresholds
        # Travellers need not be counted any further than that.
        cap = {"cap": int(self.k)} if unit == "travellers" else {}
        reached: Bools = groups.support(unit, **cap) >= self.k
        return reached

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        told = {"kind": self.kind, "k": whole_number(self.k), "unit": self.unit}
        return told if self.id_is is None else {**told, "id_is": self.id_is}

    def sentence(self) -> str:
        """Return the promise in words."""
        if self.unit is None:
            return f"at least {int(self.k):,} travellers (trips without an id)"
        return f"at least {number_of(self.unit, int(self.k), self.id_is)}"


def _needed(unit: Unit) -> str:
    """Return what an input needs for a unit to be counted."""
    if unit == "travellers":
        return f"a person or vehicle id column ({spelt('person')})"
    return "trips" if unit == "trips" else f"a weight column ({spelt('weight')})"


@dataclass(frozen=True, kw_only=True)
class AveragePeople(Promise):
    """As much population in every group as ``k`` average people stand for: k times the mean weight.

    How the NetMob paper (section 4.A) and the ODkAnon thesis (section 5.2) set k when the population is
    protected instead of the participants: 10 times 2,674. The mean is one over people, each with the
    largest of their weights, or over trips where nobody is told apart. Resolving gives k-anonymity on
    the population with that number, rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.flows.model import ODMatrix
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree, here = Hierarchy.from_parents(["a"], [-1]), np.zeros(3, dtype=int)
    >>> people = {"person": np.array([0, 1, 1]), "weight": np.array([1000.0, 3000.5, 3000.5])}
    >>> AveragePeople(k=2).resolve(ODMatrix.from_trips(tree, tree, here, here, **people))
    KAnonymity(k=4001, unit='population')
    """

    kind: ClassVar[str] = "average people"
    joins: ClassVar[bool] = True

    k: float = 10

    def __post_init__(self) -> None:
        KAnonymity(k=self.k)

    @property
    def counts_people(self) -> bool:
        """Return that it does."""
        return True

    @property
    def averages(self) -> bool:
        """Return that it is."""
        return True

    @property
    def plain(self) -> bool:
        """Return that it asks for nothing else."""
        return True

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Raise: the threshold is not known before there is a matrix."""
        raise InputError("the threshold on population is still open; resolve the promise with a matrix first")

    def resolve(self, matrix: Input) -> KAnonymity:
        """Return k-anonymity on the population, its threshold rounded up to whole people.

        The mean is told with the release, so it must not tell about few: an input of fewer than k
        people is refused.
        """
        told = matrix.represented
        if "population" not in matrix.units or told is None:
            # Says which column is missing.
            return KAnonymity(k=self.k, unit="population").resolve(matrix)
        if told.people < self.k:
            raise ImpossibleRequestError(
                f"not possible: the mean weight of fewer than {int(self.k):,} people would tell about them; "
                "give the threshold on population as a number, or bring more data"
            )
        threshold = math.ceil(Fraction(self.k) * Fraction(told.population) / told.people)
        if threshold < 2:
            raise InputError("the weights are too small to stand for people: k times their mean is below 2")
        return KAnonymity(k=threshold, unit="population")

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether its population is large enough."""
        return self.resolve(groups.matrix).safe(groups)

    def limits(self) -> tuple[str, ...]:
        """Return what k-anonymity does not cover."""
        return KAnonymity(k=self.k, unit="population").limits()

    def sentence(self) -> str:
        """Return the promise in words."""
        return f"at least the population that {int(self.k):,} average people stand for"
