"""Dominance: no traveller makes so much of a flow that its number is nearly theirs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.promises.promise import FlowGroups, Input, Largest, OfProducts, Passages, Volume

MOST = 10**6
"""The largest denominator of a share: products with numbers of trips then fit 64 bits."""

VOLUMES: tuple[Volume, ...] = ("trips", "population")


@dataclass(frozen=True, kw_only=True)
class LargestPart(OfProducts):
    """A rule on the largest parts of a flow: what one traveller has of it, and the next one.

    It is not monotone: a group that contains a group without a dominant traveller may have one. So it is
    decided product by product by methods that look at all of them, and of the answer of others what breaks
    it is withheld.
    """

    of: tuple[Volume, ...] = ("trips",)

    def __post_init__(self) -> None:
        if not self.of or not set(self.of) <= set(VOLUMES):
            raise InputError(f"{self.kind} looks at {' or '.join(VOLUMES)}; got {self.of!r}")

    @property
    def parts_of(self) -> tuple[Volume, ...]:
        """Return what it looks at."""
        return self.of

    def resolve(self, matrix: Input) -> Self:
        """Return the rule as it is; an error where the matrix does not tell whose trips are whose."""
        for volume in self.of:
            matrix.require_parts(volume)
        return self

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether the rule holds on all that it looks at."""
        verdicts = [self._holds(groups.support(volume), groups.largest(volume)) for volume in self.of]
        return np.asarray(np.logical_and.reduce(verdicts))

    @abstractmethod
    def _holds(self, total: Any, largest: Largest) -> Bools:
        """Return whether the rule holds, given what groups hold and what the two largest have of it."""

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**super().to_manifest(), "of": list(self.of)}

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        return cls(**{**told, "of": tuple(told["of"])})

    def further(self) -> tuple[str, ...]:
        """Return the rule in words."""
        return (self.sentence(),)

    @property
    def _words(self) -> str:
        return " and of the ".join(self.of)


@dataclass(frozen=True, kw_only=True)
class Dominance(LargestPart):
    """No traveller has more than a share of a released flow's trips, or population.

    The (1, k)-dominance rule of statistical offices. k people are not enough where one of them makes
    nearly all trips: the number of trips then is nearly theirs. Trips without an id are nobody's.

    Parameters
    ----------
    share
        The largest share of one traveller.
    of
        What is shared: trips, population, or both.

    Examples
    --------
    >>> Dominance(share=0.5).sentence()
    'no single id has more than 50 % of the trips of a flow'
    >>> Dominance(share=1.5)
    Traceback (most recent call last):
    tripcloak.InputError: the largest share of one traveller lies above 0 and below 1; got 1.5
    """

    kind: ClassVar[str] = "dominance"
    lacks: ClassVar[str] = "dominance looks at shares and counts nobody: give it together with k-anonymity"

    share: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share < 1:
            raise InputError(
                f"the largest share of one traveller lies above 0 and below 1; got {self.share:g}"
            )
        exact_share(self.share)

    def _holds(self, total: Any, largest: Largest) -> Bools:
        share = exact_share(self.share)
        kept: Bools = largest.first * share.denominator <= total * share.numerator
        return kept

    def sentence(self) -> str:
        """Return the rule in words."""
        return f"no single id has more than {100 * self.share:g} % of the {self._words} of a flow"

    def in_full(self) -> Passages:
        """Return what it covers, and what not."""
        return Passages(
            f"**{self.sentence()}**\n",
            "Whoever travels most in a flow does not make up so much of its numbers that these are theirs. ",
            ("It says nothing of how many people there are; k-anonymity does.",),
        )


@dataclass(frozen=True, kw_only=True)
class PPercent(LargestPart):
    """Nobody in a released flow can tell what another has of it to within p percent.

    The p % rule of statistical offices: the traveller with the second largest part, who knows their own,
    must be left with at least p percent of the largest part that is others'. A flow is unsafe where all
    but the two largest have less than that.

    Parameters
    ----------
    p
        Percent.
    of
        What is shared: trips, population, or both.

    Examples
    --------
    >>> PPercent(p=10).sentence()
    'what one id has of the trips of a flow cannot be told to within 10 % by another one in it'
    """

    kind: ClassVar[str] = "p-percent"
    lacks: ClassVar[str] = (
        "the p percent rule looks at shares and counts nobody: give it together with k-anonymity"
    )

    p: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.p <= 100:
            raise InputError(f"{spelt('p_percent')} lies above 0 and is at most 100; got {self.p:g}")
        exact_share(self.p)

    def _holds(self, total: Any, largest: Largest) -> Bools:
        share = exact_share(self.p) / 100
        rest = total - largest.first - largest.second
        kept: Bools = rest * share.denominator >= largest.first * share.numerator
        return kept

    def sentence(self) -> str:
        """Return the rule in words."""
        return (
            f"what one id has of the {self._words} of a flow cannot be told to within {self.p:g} % "
            "by another one in it"
        )

    def in_full(self) -> Passages:
        """Return what it covers, and what not."""
        return Passages(
            f"**{self.sentence()}**\n",
            "Not even somebody who is in a flow, and knows their own trips, learns those of another. ",
            ("It says nothing of how many people there are; k-anonymity does.",),
        )


def exact_share(share: float) -> Fraction:
    """Return a share as the decimal fraction that was written, so that nothing is lost at its edge.

    >>> exact_share(0.29)
    Fraction(29, 100)
    """
    exact = Fraction(repr(float(share)))
    if exact.denominator > MOST:
        raise InputError(f"a share has at most six digits behind the point; got {share!r}")
    return exact
