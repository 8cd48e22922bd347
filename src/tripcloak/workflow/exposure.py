"""Cross-exposure: who is left exposed when participants, the population or both are protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from tripcloak.algorithms import Algorithm
from tripcloak.algorithms.base import Progress, silent
from tripcloak.criteria import AllOf, Criterion, KAnonymity
from tripcloak.errors import ImpossibleRequestError, InputError
from tripcloak.matrix import ODMatrix, Unit, Volume
from tripcloak.metrics import measure
from tripcloak.release import Release

Target = Literal["participants", "population", "both"]
TARGETS: tuple[Target, ...] = ("participants", "population", "both")


class Side(NamedTuple):
    """What one side has to fear of a release.

    Attributes
    ----------
    smallest : float
        The smallest support of a released group.
    below : int
        Groups whose support is below the threshold.
    furthest : float
        How far the smallest is below the threshold, as a share of it; 0 where none is.
    """

    smallest: float
    below: int
    furthest: float

    @classmethod
    def of(cls, release: Release, unit: Unit, threshold: float) -> Side:
        """Return what a side has to fear, given the threshold that would protect it."""
        support = np.asarray(release.support(unit), dtype=float)
        smallest = float(support.min())
        return cls(smallest, int((support < threshold).sum()), max(0.0, 1 - smallest / threshold))


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """One method under one protection target; for the eyes of the data owner.

    ``metrics`` holds all measures twice: on participants (their trips) and on the population they
    stand for. Where the target cannot be met, ``failure`` says why and the rest is empty.
    """

    method: str
    target: Target
    groups: int = 0
    zones: tuple[int, int] = (0, 0)
    participants: Side | None = None
    population: Side | None = None
    metrics: dict[str, dict[str, float | None]]
    failure: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "method": self.method,
            "target": self.target,
            "groups": self.groups,
            "zones": {"origins": self.zones[0], "destinations": self.zones[1]},
            "participants": None if self.participants is None else self.participants._asdict(),
            "population": None if self.population is None else self.population._asdict(),
            "metrics": self.metrics,
            "failure": self.failure,
        }


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What would protect each side: k participants, counted in a unit, and so much of the population."""

    k: float
    unit: Unit
    population: float

    def criterion(self, target: Target) -> Criterion:
        """Return what a group must reach under a protection target."""
        participants = KAnonymity(k=self.k, unit=self.unit)
        population = KAnonymity(k=self.population, unit="population")
        if target == "both":
            return AllOf(criteria=(participants, population))
        return participants if target == "participants" else population


def cross_exposure(
    matrix: ODMatrix, methods: Sequence[Algorithm], thresholds: Thresholds, *, progress: Progress = silent
) -> list[Exposure]:
    """Return every method under every protection target.

    The form of table 5.5 of the ODkAnon thesis (table 3 of the NetMob paper), and of its tables 5.6 to
    5.9, with the third target that both ask for: participants and population at once.

    Parameters
    ----------
    methods
        Methods with their parameters; their criterion is replaced by each target's.
    """
    if "population" not in matrix.units:
        raise InputError("weights tell the population, and this input has none; name their column (--weight)")
    exposures = []
    for done, method in enumerate(methods):
        for target in TARGETS:
            what = f"{method.name}, protecting {target}"
            progress(what, done, len(methods))
            exposures.append(_exposure(matrix, method, target, thresholds, _about(what, progress)))
    return exposures


def _about(what: str, progress: Progress) -> Progress:
    return lambda step, done, total: progress(f"{what}: {step}", done, total)


def _exposure(
    matrix: ODMatrix, method: Algorithm, target: Target, thresholds: Thresholds, progress: Progress
) -> Exposure:
    try:
        release = replace(method, criterion=thresholds.criterion(target)).anonymise(matrix, progress)
    except (ImpossibleRequestError, InputError) as error:
        return Exposure(method=method.name, target=target, metrics={}, failure=str(error))
    return Exposure(
        method=method.name,
        target=target,
        groups=release.n_groups,
        zones=(release.zone_numbers[0], release.zone_numbers[1]),
        participants=Side.of(release, thresholds.unit, thresholds.k),
        population=Side.of(release, "population", thresholds.population),
        metrics={
            "participants": _measured(matrix, release, "trips", thresholds.k),
            "population": _measured(matrix, release, "population", thresholds.population),
        },
    )


def _measured(matrix: ODMatrix, release: Release, volume: Volume, k: float) -> dict[str, float | None]:
    """Return all measures in a volume, group sizes in multiples of the threshold that goes with it."""
    found = measure(matrix, release, volume=volume)
    released = float(np.sum(release.support(volume)))
    return {**found, "C_AVG": released / release.n_groups / k}
