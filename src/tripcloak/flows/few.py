"""Releases whose promise does not count people: how few of them stand behind a flow, and what is refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Promise, Unit
from tripcloak.promises.counted import called_in_words


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
    id_is : str, optional
        What travellers are.
    """

    fewer_than: int
    unit: Unit
    groups: int
    smallest: int
    of_trips: bool = False
    id_is: str | None = None

    def note(self) -> str:
        """Return the warning that goes with groups of few people."""
        counted = called_in_words(self.unit, self.id_is)
        better = f"{spelt('unit', 'travellers,population')} protects both sides"
        if self.of_trips:
            better = f"{spelt('unit', 'travellers')} counts {counted}"
        return (
            f"{self.groups:,} released flows hold fewer than {self.fewer_than:,} {counted} (the smallest "
            f"{self.smallest:,}): people are not protected by what was asked for; {better}"
        )


def refuse_hollow(matrix: ODMatrix, promise: Promise) -> None:
    """Raise if only the population is protected, and one average person is enough to reach its threshold."""
    thresholds = promise.resolve(matrix).thresholds
    if set(thresholds) != {"population"} or matrix.represented is None:
        return
    if thresholds["population"] <= matrix.represented.mean:
        raise InputError(
            f"k = {thresholds['population']:,.0f} on population protects nobody here: one average record "
            f"stands for as many people. Ask for {spelt('k_population', 'auto')} (k times the mean weight) "
            f"or a larger number, best with {spelt('unit', 'travellers,population')}"
        )


def groups_of_few(matrix: ODMatrix, release: Release) -> Few | None:
    """Return the released groups of few people; None where the promise itself counts people.

    Weights make a group of one participant as large as one of ten: by the papers' definition it is
    safe for the population, and still everybody knows whose trips these are.
    """
    thresholds = release.promise.thresholds
    people: Unit = "travellers" if "travellers" in matrix.units else "trips"
    if not thresholds or people in thresholds:
        return None
    fewer_than = expected_people(matrix, thresholds)
    found = np.asarray(release.support(people))
    few, smallest = int(np.count_nonzero(found < fewer_than)), int(found.min())
    id_is = matrix.id_is if people == "travellers" else None
    return Few(fewer_than, people, few, smallest, of_trips="trips" in thresholds, id_is=id_is)


def expected_people(matrix: ODMatrix, thresholds: dict[Unit, float]) -> int:
    """Return the people that a threshold means: k for k trips, and those who make up a population."""
    if "trips" in thresholds:
        return int(thresholds["trips"])
    mean = 1.0 if matrix.represented is None else matrix.represented.mean
    # A hair more, so that k times the mean means k whatever the rounding.
    return max(2, int(thresholds["population"] / mean * (1 + 1e-12))) if mean > 0 else 2


def few_facts(few: Few | None) -> dict[str, Any]:
    """Return what JSON says about groups of few people; nothing where people are counted anyway."""
    return {} if few is None else {"groups_of_few": few._asdict()}
