"""Several promises at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.ldiversity import LDiversity
from tripcloak.promises.promise import Covered, FlowGroups, Input, Promise, Unit


@dataclass(frozen=True, kw_only=True)
class AllOf:
    """Several promises at once: a group is safe only if every one holds.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> both = AllOf(promises=(KAnonymity(k=10, unit="travellers"), KAnonymity(k=5000, unit="population")))
    >>> both.words()
    'at least 10 travellers and at least 5,000 population'
    >>> AllOf(promises=(LDiversity(l=3),))
    Traceback (most recent call last):
    tripcloak.InputError: l-diversity counts places, not people: give it together with k-anonymity
    """

    promises: tuple[Promise, ...]

    def __post_init__(self) -> None:
        if not self.promises:
            raise InputError("give at least one promise")
        if all(isinstance(promise, LDiversity) for promise in self.promises):
            raise InputError("l-diversity counts places, not people: give it together with k-anonymity")

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return the largest threshold asked for, per unit."""
        merged: dict[Unit, float] = {}
        for promise in self.promises:
            for unit, k in promise.thresholds.items():
                merged[unit] = max(k, merged.get(unit, 0))
        return merged

    @property
    def floors(self) -> dict[Covered, int]:
        """Return the largest floor asked for, of tiles and of places."""
        merged: dict[Covered, int] = {}
        for promise in self.promises:
            for what, least in promise.floors.items():
                merged[what] = max(least, merged.get(what, 0))
        return merged

    def resolve(self, matrix: Input) -> AllOf:
        """Return every promise resolved."""
        return AllOf(promises=tuple(promise.resolve(matrix) for promise in self.promises))

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether all promises hold."""
        verdicts = [promise.safe(groups) for promise in self.promises]
        return np.asarray(np.logical_and.reduce(verdicts))

    def words(self) -> str:
        """Return the promises in words."""
        return " and ".join(promise.words() for promise in self.promises)
