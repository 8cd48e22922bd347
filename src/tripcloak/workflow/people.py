"""People behind weights: thresholds on the population that protect nobody, and groups of few people."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.criteria import Criterion
from tripcloak.errors import InputError
from tripcloak.matrix import ODMatrix, Unit
from tripcloak.release import Release


class Few(NamedTuple):
    """Released groups with fewer people (trips, where nobody is told apart) than one would expect.

    Attributes
    ----------
    fewer_than : int
        The k that was asked for, or as many average people as the threshold on population makes.
    unit : str
        What was counted: travellers, or trips.
    groups : int
        Groups with fewer.
    smallest : int
        The smallest number of them behind any released group.
    of_trips : bool
        Trips were protected, and not the population.
    """

    fewer_than: int
    unit: Unit
    groups: int
    smallest: int
    of_trips: bool = False

    def note(self) -> str:
        """Return the warning that goes with groups of few people."""
        better = "--unit travellers,population protects both sides"
        if self.of_trips:
            better = "--unit travellers counts people"
        return (
            f"{self.groups:,} released flows hold fewer than {self.fewer_than:,} {self.unit} (the smallest "
            f"{self.smallest:,}): people are not protected by what was asked for; {better}"
        )


def refuse_hollow(matrix: ODMatrix, criterion: Criterion) -> None:
    """Raise if only the population is protected, and one average person is enough to reach its threshold."""
    thresholds = criterion.resolve(matrix).thresholds
    if set(thresholds) != {"population"} or matrix.represented is None:
        return
    if thresholds["population"] <= matrix.represented.mean:
        raise InputError(
            f"k = {thresholds['population']:,.0f} on population protects nobody here: one average record "
            "stands for as many people. Ask for --k-population auto (k times the mean weight) or a larger "
            "number, best with --unit travellers,population"
        )


def groups_of_few(matrix: ODMatrix, release: Release) -> Few | None:
    """Return the released groups of few people; None where the criterion itself counts people.

    Weights make a group of one participant as large as one of ten: by the papers' definition it is
    safe for the population, and still everybody knows whose trips these are.
    """
    thresholds = release.criterion.thresholds
    people: Unit = "travellers" if "travellers" in matrix.units else "trips"
    if not thresholds or people in thresholds:
        return None
    fewer_than = _expected(matrix, thresholds)
    found = np.asarray(release.support(people))
    few, smallest = int(np.count_nonzero(found < fewer_than)), int(found.min())
    return Few(fewer_than, people, few, smallest, of_trips="trips" in thresholds)


def few_facts(few: Few | None) -> dict[str, Any]:
    """Return what JSON says about groups of few people; nothing where people are counted anyway."""
    return {} if few is None else {"groups_of_few": few._asdict()}


def _expected(matrix: ODMatrix, thresholds: dict[Unit, float]) -> int:
    """Return the people that a threshold means: k for k trips, and those who make up a population."""
    if "trips" in thresholds:
        return int(thresholds["trips"])
    mean = 1.0 if matrix.represented is None else matrix.represented.mean
    # A hair more, so that k times the mean means k whatever the rounding.
    return max(2, int(thresholds["population"] / mean * (1 + 1e-12))) if mean > 0 else 2
