"""Several promises at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.promise import Covered, FlowGroups, Input, Promise, Unit, Volume
from tripcloak.promises.rounding import Rounding
from tripcloak.promises.tcloseness import TCloseness


@dataclass(frozen=True, kw_only=True)
class AllOf(Promise):
    """Several promises at once: a group is safe only if every one holds.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity, LDiversity
    >>> both = AllOf(promises=(KAnonymity(k=10, unit="travellers"), KAnonymity(k=5000, unit="population")))
    >>> both.sentence()
    'at least 10 travellers and at least 5,000 population'
    >>> AllOf(promises=(LDiversity(l=3),))
    Traceback (most recent call last):
    tripcloak.InputError: l-diversity counts places, not people: give it together with k-anonymity
    """

    kind: ClassVar[str] = "all of"
    joins: ClassVar[bool] = True

    promises: tuple[Promise, ...]

    def __post_init__(self) -> None:
        if not self.promises:
            raise InputError("give at least one promise")
        if not self.counts_people:
            raise InputError(self.promises[0].lacks)
        for promise in self.promises:
            if not promise.joins:
                raise InputError(f"{promise.kind} does not stand beside other promises; promise it alone")
        flat = tuple(part for promise in self.promises for part in getattr(promise, "promises", (promise,)))
        object.__setattr__(self, "promises", flat)

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return the largest threshold asked for, per unit."""
        merged: dict[Unit, float] = {}
        for promise in self.promises:
            for unit, k in promise.thresholds.items():
                merged[unit] = max(k, merged.get(unit, k))
        return merged

    @property
    def floors(self) -> dict[Covered, int]:
        """Return the largest floor asked for, of tiles and of places."""
        merged: dict[Covered, int] = {}
        for promise in self.promises:
            for what, least in promise.floors.items():
                merged[what] = max(least, merged.get(what, least))
        return merged

    @property
    def counts_people(self) -> bool:
        """Return whether any of them does."""
        return any(promise.counts_people for promise in self.promises)

    @property
    def averages(self) -> bool:
        """Return whether any of them does."""
        return any(promise.averages for promise in self.promises)

    @property
    def plain(self) -> bool:
        """Return whether all of them are."""
        return all(promise.plain for promise in self.promises)

    @property
    def id_is(self) -> str | None:
        """Return what the ids stand for, which is the same for all of them."""
        return next((promise.id_is for promise in self.promises if promise.id_is is not None), None)

    @property
    def by_group(self) -> Promise:
        """Return those that are decided group by group."""
        return all_of(promise for promise in self.promises if not promise.by_release)

    @property
    def by_release(self) -> tuple[TCloseness, ...]:
        """Return those that are judged of a finished release."""
        return tuple(part for promise in self.promises for part in promise.by_release)

    @property
    def monotone(self) -> Promise:
        """Return those that are."""
        return all_of(promise for promise in self.promises if not promise.by_product)

    @property
    def by_product(self) -> tuple[Promise, ...]:
        """Return those that are decided of every group by itself."""
        return tuple(part for promise in self.promises for part in promise.by_product)

    @property
    def openly(self) -> Promise:
        """Return those that do not depend on a secret."""
        return all_of(promise for promise in self.promises if not promise.needs_products)

    @property
    def parts_of(self) -> tuple[Volume, ...]:
        """Return the volumes of which any of them asks what each traveller has."""
        return tuple(dict.fromkeys(volume for promise in self.promises for volume in promise.parts_of))

    @property
    def rounding(self) -> Rounding | None:
        """Return the one on rounding, if any."""
        return next((promise.rounding for promise in self.promises if promise.rounding is not None), None)

    @property
    def of_people(self) -> Promise:
        """Return those that ask for people."""
        return all_of(promise for promise in self.promises if promise.counts_people)

    @property
    def family(self) -> str:
        """Return the kind of the first that counts people."""
        return next(promise.family for promise in self.promises if promise.counts_people)

    def resolve(self, matrix: Input) -> AllOf:
        """Return every promise resolved."""
        return AllOf(promises=tuple(promise.resolve(matrix) for promise in self.promises))

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether all promises hold."""
        verdicts = [promise.safe(groups) for promise in self.promises]
        return np.asarray(np.logical_and.reduce(verdicts))

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"kind": self.kind, "promises": [promise.to_manifest() for promise in self.promises]}

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        parts = told.pop("promises")
        return cls(promises=tuple(Promise.from_manifest(part) for part in parts), **told)

    def sentence(self) -> str:
        """Return the promises in words."""
        return " and ".join(promise.sentence() for promise in self.promises)

    def limits(self) -> tuple[str, ...]:
        """Return what any of them does not cover, each sentence once."""
        return tuple(dict.fromkeys(words for promise in self.promises for words in promise.limits()))


def all_of(promises: Iterable[Promise]) -> Promise:
    """Return several promises as one; a single one as it is.

    >>> from tripcloak.promises import KAnonymity
    >>> all_of([KAnonymity(k=5, unit="trips")])
    KAnonymity(k=5, unit='trips')
    """
    parts = tuple(promises)
    return parts[0] if len(parts) == 1 else AllOf(promises=parts)
