"""One set of zones for several periods: the best for the worst of them, each within the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.methods.fixed_zones import place_flows
from tripcloak.flows.methods.method import budget_of, whole_units
from tripcloak.flows.model import ODMatrix, SegmentPart, group_flows
from tripcloak.flows.model.kept import AXES, KeptZones
from tripcloak.flows.release import Release, main_volume
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.promises import EverySegment, Promise

UNSTATED = "0" * 64
"""The digest of zones that are not yet written down anywhere."""

MOST = 0.95
"""The largest limit that zones are planned with."""

HALVINGS = 7
PILOTS = 4
"""Periods, from the smallest on, whose own zones are tried on all of them."""


@dataclass(frozen=True, kw_only=True)
class PeriodFit:
    """How planned zones suit one period: tiles of a released trip (G), and the share that is withheld."""

    name: str
    tiles: float
    withheld: float
    fits: bool
    """Whether no more is withheld than the limit allows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """Zones for several periods, how they were found, and how they suit every one of them."""

    zones: KeptZones
    way: str
    fits: tuple[PeriodFit, ...]

    def __repr__(self) -> str:
        return f"<Plan of {self.zones!r} by {self.way}>"

    @property
    def feasible(self) -> bool:
        """Return whether every period keeps to the limit."""
        return all(fit.fits for fit in self.fits)

    @property
    def worst(self) -> PeriodFit:
        """Return the period whose released trips lie in the most tiles."""
        return max(self.fits, key=lambda fit: fit.tiles)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "way": self.way,
            "worst": self.worst.name,
            "periods": {fit.name: {"G": fit.tiles, "S": fit.withheld} for fit in self.fits},
        }


def plan_zones(
    method: FlowMethod,
    whole: ODMatrix,
    parts: Sequence[SegmentPart],
    *,
    pilot: str | None = None,
    hierarchy: dict[str, Any] | None = None,
    progress: Progress = silent,
) -> Plan:
    """Return zones in which every period can be released within the method's limit.

    Zones are looked for in two ways: those in which a flow is safe in every period at once, found on all of
    them together, and those of one period alone, of the smallest few. In both the limit that a method is
    given is moved as far as all periods still keep to theirs; and where zones leave places out, it is also
    tried what comes of adding the largest zones that fit there. Of all that were tried, those zones are
    returned with which the worst period loses least. That they are the best possible is not proven.

    Parameters
    ----------
    whole
        The flows of all periods together.
    parts
        Every period as a part of the whole, over its trees (:func:`as_part`).
    pilot
        The period to plan on, and no other: with its limit, as if it stood alone.

    Raises
    ------
    ImpossibleRequestError
        There are no zones in which all periods keep to the limit.
    """
    judge = _Judge(method, parts, hierarchy or {})
    tried: list[Plan] = []
    if pilot is not None:
        (own,) = [part for part in parts if part.name == pilot]
        tried += judge.plans(method.anonymise(own.matrix, progress), f"the period {pilot}")
    else:
        for way, solve in _ways(method, parts, whole):
            tried += _moved(judge, way, solve, method.suppression_limit, progress)
    good = [plan for plan in tried if plan.feasible]
    if not good:
        raise ImpossibleRequestError(_refusal(tried, pilot))
    return min(good, key=lambda plan: (plan.worst.tiles, sum(fit.tiles for fit in plan.fits)))


def completed(kept: KeptZones, matrix: ODMatrix) -> KeptZones:
    """Return cuts with the largest zones added that hold none of theirs, so that every tile is in one.

    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0]), np.array([1]))
    >>> kept = KeptZones(digest=UNSTATED, zones={"origin": ("a",), "destination": ("all",)})
    >>> completed(kept, matrix).zones["origin"]
    ('a', 'b', 'cd')
    """
    zones = {}
    for axis, (tree, _) in zip(kept.zones, matrix.axes, strict=True):
        rows = kept.rows(axis, tree)
        chosen = np.zeros(len(tree), dtype=bool)
        chosen[rows[rows >= 0]] = True
        holds = chosen.copy()
        # Parents stand behind their children, so that all below a zone is known when it is reached.
        for level in tree.levels[:-1]:
            np.logical_or.at(holds, tree.parent[level], holds[level])
        left = ~chosen[tree.highest(chosen)]
        added = np.unique(tree.highest(~holds)[left])
        zones[axis] = tuple(sorted({*kept.zones[axis], *tree.zones.ids[added].tolist()}))
    return replace(kept, zones=zones)


def in_zones(kept: KeptZones, matrix: ODMatrix, promise: Promise) -> tuple[tuple[Ints, ...], Bools]:
    """Return the kept zones of every flow, and whether it would be withheld in them."""
    zone, known, _ = place_flows(kept, matrix)
    suppressed: Bools = ~known
    if known.any():
        origin, destination, *time = zone
        groups = group_flows(matrix, origin, destination, time_zone=time[0] if time else None, keep=known)
        assert groups is not None
        suppressed = ~np.append(promise.safe(groups), False)[groups.of_flow]
    return zone, suppressed


def released_zones_of(plan: Plan, method: FlowMethod, parts: Sequence[SegmentPart]) -> dict[str, list[str]]:
    """Return the zones of flows that some period releases, axis by axis, one value a flow.

    Zones of a plan in which nothing is ever released are not told: that they were chosen would say that
    somebody was there.
    """
    found: dict[str, list[str]] = {axis: [] for axis in plan.zones.zones}
    for part in parts:
        promise = method.promise.resolve(part.matrix).by_group
        zone, suppressed = in_zones(plan.zones, part.matrix, promise)
        flows = np.unique(np.stack(zone)[:, ~suppressed], axis=1)
        for axis, (tree, _), column in zip(found, part.matrix.axes, flows, strict=True):
            found[axis] += tree.zones.ids[column].tolist()
    return found


def as_part(name: str, matrix: ODMatrix, whole: ODMatrix) -> SegmentPart:
    """Return a period as a part of a whole matrix, with the hierarchies of the whole."""
    part = SegmentPart.of(name, matrix, whole)
    flows = whole.flows
    slot = None if flows.slot is None else flows.slot[part.row]
    own = replace(
        matrix.flows, origin=flows.origin[part.row], destination=flows.destination[part.row], slot=slot
    )
    shared = replace(
        matrix,
        origins=whole.origins,
        destinations=whole.destinations,
        times=whole.times,
        flows=own,
        points=None,
        places=None,
    )
    return part._replace(matrix=shared)


Solve = Callable[[float], Release]


def _ways(method: FlowMethod, parts: Sequence[SegmentPart], whole: ODMatrix) -> Iterator[tuple[str, Solve]]:
    """Yield ways to find zones: what they are called, and what gives a release for a limit."""
    if not method.promise.by_product and len(parts) > 1:
        joint = EverySegment(
            promise=method.promise, parts=tuple(parts), by=("period",), people_in_several=True
        )
        yield (
            "all periods at once",
            lambda limit: replace(method, promise=joint, suppression_limit=limit).anonymise(whole),
        )
    volume = main_volume(method.promise.resolve(whole))
    for part in sorted(parts, key=lambda part: (part.matrix.total(volume), part.name))[:PILOTS]:
        yield f"the period {part.name}", partial(_alone, method, part)


def _alone(method: FlowMethod, part: SegmentPart, limit: float) -> Release:
    return replace(method, suppression_limit=limit).anonymise(part.matrix)


def _moved(judge: _Judge, way: str, solve: Solve, limit: float, progress: Progress) -> list[Plan]:
    """Return plans for limits between none and nearly all, moved towards the largest that is feasible."""
    tried: list[Plan] = []

    def feasible(share: float) -> bool:
        progress(f"planning on {way}", len(tried), None)
        with suppress(ImpossibleRequestError):
            plans = judge.plans(solve(share), way)
            tried.extend(plans)
            return any(plan.feasible for plan in plans)
        return False

    # Invariant: below is feasible or none at all; above is not, or as far as it goes.
    below, above = 0.0, MOST
    first = limit if feasible(limit) else 0.0
    if first:
        below = first
    else:
        above = limit
        if not feasible(0.0):
            return tried
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        below, above = (middle, above) if feasible(middle) else (below, middle)
    return tried


@dataclass(frozen=True, eq=False)
class _Judge:
    """Looks at how zones suit every period."""

    method: FlowMethod
    parts: Sequence[SegmentPart]
    hierarchy: dict[str, Any]

    def plans(self, release: Release, way: str) -> list[Plan]:
        """Return a release's zones as plans for all periods: as they are, and with no place left out."""
        kept = zones_of(release, hierarchy=self.hierarchy)
        every = [kept, completed(kept, self.parts[0].matrix)] if kept.homogeneous else [kept]
        return [
            Plan(zones=one, way=way, fits=tuple(self._fit(part, one) for part in self.parts)) for one in every
        ]

    def _fit(self, part: SegmentPart, kept: KeptZones) -> PeriodFit:
        matrix = part.matrix
        promise = self.method.promise.resolve(matrix).by_group
        (origin, destination, *_), suppressed = in_zones(kept, matrix, promise)
        units = whole_units(matrix.volume(main_volume(promise)))
        hidden, released = float(units[suppressed].sum()), units[~suppressed]
        tiles = matrix.origins.zones.tiles[origin] + matrix.destinations.zones.tiles[destination]
        return PeriodFit(
            name=part.name,
            tiles=float((tiles[~suppressed] * released).sum() / max(released.sum(), 1.0)),
            withheld=hidden / float(units.sum()),
            fits=hidden <= budget_of(units, self.method.suppression_limit),
        )


def zones_of(
    release: Release, *, digest: str = UNSTATED, hierarchy: dict[str, Any] | None = None
) -> KeptZones:
    """Return the zones of the flows of a release."""
    columns = {axis: zones.ids[column] for axis, zones, column in release.axes}
    return KeptZones.of_pairs(
        {axis: columns[axis].tolist() for axis in AXES if axis in columns},
        digest=digest,
        homogeneous=release.homogeneous,
        hierarchy=hierarchy or {},
    )


def _refusal(tried: Sequence[Plan], pilot: str | None) -> str:
    over = sorted({fit.name for plan in tried[-1:] for fit in plan.fits if not fit.fits})
    which = f" ({', '.join(over)} withhold more)" if over else ""
    way = (
        f"the zones of {pilot} do not suit every period{which}. Leave out {spelt('pilot')} to plan on all"
        if pilot
        else f"no zones were found in which every period keeps to the limit{which}. Take longer periods "
        f"({spelt('periods')}), raise the limit ({spelt('suppress')})"
    )
    return f"not possible: {way}, or ask for less; nothing was written"
