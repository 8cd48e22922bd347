"""A threshold on the population that goes by what people stand for on average."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tripcloak.arrays import Bools
from tripcloak.criteria.kanonymity import KAnonymity
from tripcloak.errors import ImpossibleRequestError, InputError
from tripcloak.matrix import Covered, Groups, ODMatrix, Unit


@dataclass(frozen=True, kw_only=True)
class AveragePeople:
    """As much population in every group as ``k`` average people stand for: k times the mean weight.

    How the NetMob paper (section 4.A) and the ODkAnon thesis (section 5.2) set k when the population is
    protected instead of the participants: 10 times 2,674. The mean is one over people, each with the
    largest of their weights, or over trips where nobody is told apart. Resolving gives k-anonymity on
    the population with that number, rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree, here = Hierarchy.from_parents(["a"], [-1]), np.zeros(3, dtype=int)
    >>> people = {"person": np.array([0, 1, 1]), "weight": np.array([1000.0, 3000.5, 3000.5])}
    >>> AveragePeople(k=2).resolve(ODMatrix.from_trips(tree, tree, here, here, **people))
    KAnonymity(k=4001, unit='population')
    """

    k: float = 10

    def __post_init__(self) -> None:
        KAnonymity(k=self.k)

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Raise: the threshold is not known before there is a matrix."""
        raise InputError(
            "the threshold on population is still open; resolve the criterion with a matrix first"
        )

    @property
    def floors(self) -> dict[Covered, int]:
        """Return nothing: it asks for people, not for places."""
        return {}

    def resolve(self, matrix: ODMatrix) -> KAnonymity:
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

    def safe(self, groups: Groups) -> Bools:
        """Return, for every group, whether its population is large enough."""
        return self.resolve(groups.matrix).safe(groups)

    def words(self) -> str:
        """Return the criterion in words."""
        return f"at least the population that {int(self.k):,} average people stand for"
