"""What is in an input: how much, how thin, and what k and limit are realistic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.reading.matrix import Zoning, opened, read_matrix
from tripcloak.ground.masking import mask_small
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.promises import KAnonymity, Unit
from tripcloak.promises.counted import called_in_words
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.period import Period
from tripcloak.records.source import TripSource
from tripcloak.records.suspicions import on_losses
from tripcloak.records.whereabouts import Whereabouts

COMFORTABLE = 0.1
"""The share of trips below k that a common suppression limit can swallow."""

ONE_FLOW = (
    " At that height all is one flow, so expect little: ask for a smaller k, bring more data, or see to the "
    "warnings above."
)


@dataclass(frozen=True)
class HeightFacts:
    """All zones at one height: the pairs that occur, and the share of trips in pairs below k, by unit."""

    height: int
    pairs: int
    below: Mapping[Unit, float]


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is in an input; for the eyes of the data owner, not for publishing."""

    k: float
    hierarchy: str
    units: tuple[Unit, ...]
    numbers: Mapping[str, float]
    columns: Mapping[str, str]
    cleaning: CleaningReport
    notes: tuple[str, ...]
    levels: tuple[HeightFacts, ...]
    advice: tuple[str, ...]
    id_is: str | None = None
    warnings: tuple[str, ...] = ()
    form: str = "trips"
    where: Whereabouts | None = None
    when: Period | None = None
    sampling: str | None = None
    why: Mapping[str, str] = field(default_factory=dict, repr=False)
    unused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Description: {mask_small(int(self.numbers['trips']), 'trips')} in zones of {self.hierarchy}, "
            f"k = {self.k:g}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            **asdict(self),
            "cleaning": self.cleaning.to_dict(),
            "where": None if self.where is None else self.where.to_dict(),
            "when": None if self.when is None else self.when.to_dict(),
        }


def describe(
    source: TripSource,
    zoning: Zoning,
    *,
    k: float = 10,
    memory: Memory = None,
    progress: Progress = silent,
) -> Description:
    """Return what is in an input.

    Parameters
    ----------
    k
        The threshold to look at.
    """
    KAnonymity(k=k)
    # Whoever looks at an input wants to see what is wrong with it: nothing stops here.
    with opened(source, memory=memory) as within:
        lenient = replace(source, tolerate=1.0)
        reading = read_matrix(lenient, zoning, memory=memory, within=within, progress=progress)
        lost = on_losses(reading.trips.cleaning, source.tolerate, within[1].opened)
    matrix, canonical = reading.trips.matrix, reading.trips.canonical
    levels = _levels(matrix, k, progress)
    return Description(
        k=k,
        hierarchy=reading.tiling.name,
        units=matrix.units,
        numbers=_numbers(matrix),
        columns=dict(canonical.columns),
        cleaning=reading.trips.cleaning,
        notes=reading.trips.notes[len(reading.warnings) :],
        warnings=(*lost, *reading.warnings),
        form=canonical.form,
        where=reading.trips.where,
        when=reading.trips.when,
        sampling=canonical.sampling,
        why={role: canonical.opened.why[role] for role in canonical.columns},
        unused=canonical.opened.unused,
        levels=levels,
        advice=_advice(matrix, k, levels),
        id_is=matrix.id_is if "travellers" in matrix.units else None,
    )


def _numbers(matrix: ODMatrix) -> dict[str, float]:
    flows = matrix.flows
    numbers: dict[str, float] = {"trips": matrix.total("trips")}
    if "travellers" in matrix.units:
        numbers["travellers"] = _everybody(matrix)
    if flows.population is not None:
        numbers["population"] = matrix.total("population")
    numbers["flows (pairs of tiles)"] = matrix.n_flows
    numbers["origin tiles"] = len(np.unique(flows.origin))
    numbers["destination tiles"] = len(np.unique(flows.destination))
    numbers["flows of a single trip"] = int(np.count_nonzero(flows.trips == 1))
    return numbers


def _everybody(matrix: ODMatrix) -> int:
    if matrix.flows.travellers is None:
        return int(matrix.total("trips"))
    return len(np.unique(matrix.flows.travellers.people))


def _levels(matrix: ODMatrix, k: float, progress: Progress) -> tuple[HeightFacts, ...]:
    """Return one level per height, up to the first at which everything is one flow or nothing is below k."""
    there_are = np.union1d(matrix.origins.zones.height, matrix.destinations.zones.height)
    last = len(there_are) - 1
    heights = there_are[np.unique(np.linspace(0, last, min(last, 16) + 1).round().astype(np.int64))].tolist()
    total = matrix.total("trips")
    levels = []
    for number, height in enumerate(heights):
        progress("looking at each height", number, len(heights))
        groups = group_flows(
            matrix,
            matrix.origins.lift(height)[matrix.flows.origin],
            matrix.destinations.lift(height)[matrix.flows.destination],
        )
        assert groups is not None
        trips = groups.support("trips")
        below = {
            unit: float(trips[~KAnonymity(k=k, unit=unit).safe(groups)].sum() / total)
            for unit in matrix.units
        }
        levels.append(HeightFacts(height, len(groups), below))
        if len(groups) == 1 or not any(below.values()):
            break
    return tuple(levels)


def _advice(matrix: ODMatrix, k: float, levels: tuple[HeightFacts, ...]) -> tuple[str, ...]:
    unit: Unit = "travellers" if "travellers" in matrix.units else "trips"
    fits = [level for level in levels if level.below[unit] <= COMFORTABLE]
    counted = called_in_words(unit, matrix.id_is)
    told = []
    if unit == "trips":
        told.append("There is no column of ids, so k can only count trips: ten trips may be one person's.")
    if not fits:
        told.append(
            f"k = {k:,.0f} on {counted} is out of reach: all the input holds {_numbers(matrix)[unit]:,.0f}; "
            "ask for a smaller k, or bring more data."
        )
    elif fits[0].height == 0:
        told.append(
            f"k = {k:,.0f} on {counted} is easy here: "
            f"a limit of {fits[0].below[unit]:.1%} needs no coarser zones."
        )
    else:
        told.append(
            f"Realistic: k = {k:,.0f} on {counted} with a limit of {COMFORTABLE:.0%} lets zones stay "
            f"around height {fits[0].height} where trips are evenly spread, finer where they are dense."
            + (ONE_FLOW if fits[0].pairs == 1 else "")
        )
    return tuple(told)
