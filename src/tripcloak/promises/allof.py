"""Several criteria at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripcloak.flows.model import Covered, Groups, ODMatrix, Unit
from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.kanonymity import Promise
from tripcloak.promises.ldiversity import LDiversity


@dataclass(frozen=True, kw_only=True)
class AllOf:
    """Several criteria at once: a group is safe only if every one holds.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> both = AllOf(criteria=(KAnonymity(k=10, unit="travellers"), KAnonymity(k=5000, unit="population")))
    >>> both.words()
    'at least 10 travellers and at least 5,000 population'
    >>> AllOf(criteria=(LDiversity(l=3),))
    Traceback (most recent call last):
    tripcloak.InputError: l-diversity counts places, not people: give it together with k-anonymity
    """

    criteria: tuple[Promise, ...]

    def __post_init__(self) -> None:
        if not self.criteria:
            raise InputError("give at least one criterion")
        if all(isinstance(criterion, LDiversity) for criterion in self.criteria):
            raise InputError("l-diversity counts places, not people: give it together with k-anonymity")

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return the largest threshold asked for, per unit."""
        merged: dict[Unit, float] = {}
        for criterion in self.criteria:
            for unit, k in criterion.thresholds.items():
                merged[unit] = max(k, merged.get(unit, 0))
        return merged

    @property
    def floors(self) -> dict[Covered, int]:
        """Return the largest floor asked for, of tiles and of places."""
        merged: dict[Covered, int] = {}
        for criterion in self.criteria:
            for what, least in criterion.floors.items():
                merged[what] = max(least, merged.get(what, 0))
        return merged

    def resolve(self, matrix: ODMatrix) -> AllOf:
        """Return every criterion resolved."""
        return AllOf(criteria=tuple(criterion.resolve(matrix) for criterion in self.criteria))

    def safe(self, groups: Groups) -> Bools:
        """Return, for every group, whether all criteria hold."""
        verdicts = [criterion.safe(groups) for criterion in self.criteria]
        return np.asarray(np.logical_and.reduce(verdicts))

    def words(self) -> str:
        """Return the criteria in words."""
        return " and ".join(criterion.words() for criterion in self.criteria)
