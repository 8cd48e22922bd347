"""What weights say about people: how many carry one, what they stand for, and whether weights agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.matrix.flows import NOBODY, Flows


class Represented(NamedTuple):
    """People who carry a weight, and the population that they stand for together.

    Where nobody is told apart, every trip stands for its own people.

    Examples
    --------
    >>> Represented(people=4, population=10_000.0).mean
    2500.0
    """

    people: int
    population: float

    @property
    def mean(self) -> float:
        """Return the population that one of them stands for on average."""
        return self.population / self.people


class WeightsSeen:
    """The weights that were seen with every person.

    Parameters
    ----------
    people
        How many person codes there are.

    Examples
    --------
    >>> seen = WeightsSeen(3)
    >>> seen.add(np.array([0, 0, 1, 2]), np.array([5.0, 5.0, 0.0, 1.0]))
    >>> seen.add(np.array([2]), np.array([3.0]))
    >>> seen.represented, seen.uneven, seen.zero
    (Represented(people=3, population=8.0), 1, 1)
    """

    def __init__(self, people: int) -> None:
        self._least, self._most = np.full(people, np.inf), np.full(people, -np.inf)
        self.zero_rows = 0

    def add(self, person: Ints, weight: Floats) -> None:
        """Look at rows: who, and with which weight; what rows of nobody weigh is no person's weight."""
        self.zero_rows += int(np.count_nonzero(weight == 0))
        known = person != NOBODY
        person, weight = person[known], weight[known]
        np.minimum.at(self._least, person, weight)
        np.maximum.at(self._most, person, weight)

    @property
    def represented(self) -> Represented | None:
        """Return the people seen, each with the largest of their weights; None where there are none.

        Sorted before they are added up: the sum must not depend on how people are numbered.
        """
        weights = np.sort(self._most[self._most >= 0])
        return Represented(len(weights), float(weights.sum())) if len(weights) else None

    @property
    def uneven(self) -> int:
        """Return how many people have more than one weight."""
        return int(np.count_nonzero(self._least < self._most))

    @property
    def zero(self) -> int:
        """Return how many people stand for nobody in at least one row."""
        return int(np.count_nonzero(self._least == 0))


def represented_by(flows: Flows, seen: WeightsSeen | None) -> Represented | None:
    """Return what the weights say about people, or about trips where no person was seen with a weight."""
    if flows.population is None:
        return None
    people = None if seen is None else seen.represented
    return people or Represented(int(flows.trips.sum()), float(flows.population.sum()))
