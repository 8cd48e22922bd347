"""What the public part of a release may say: the released table, and totals that hide small numbers.

Everything written to ``release/`` is a function of the released flows, the hierarchy and the
parameters. The only exceptions, the suppressed volume and the rows dropped in cleaning, pass
through the guards of this module. A threshold that was left to the mean weight is a parameter too:
it looks at everybody at once, and is refused where they are few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model import Groups, ODMatrix, group_flows
from tripcloak.flows.release.release import Release
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.manifest import new_manifest
from tripcloak.hierarchy import BoxZones, Zones
from tripcloak.promises import Promise, Unit, Volume


def published_units(release: Release) -> tuple[Unit, ...]:
    """Return the numbers that may be published per flow."""
    return release.promise.published(release.volume)


def published_numbers(release: Release) -> dict[str, Ints]:
    """Return the published columns, one value per group; population is rounded to whole people."""
    return {unit: np.rint(release.support(unit)).astype(np.int64) for unit in published_units(release)}


def segment_numbers(release: Release) -> dict[str, dict[str, Ints]]:
    """Return the published columns of every segment that is safe in every group; nothing without segments."""
    numbers: dict[str, dict[str, Ints]] = {}
    units = release.promise.published_by_segment(release.volume)
    for part in release.promise.segments:
        members = release.group_of_flow[part.row]
        groups = Groups(part.matrix, members, release.group_origin, release.group_destination)
        numbers[part.name] = {unit: np.rint(groups.support(unit)).astype(np.int64) for unit in units}
    return numbers


class ReleasedZones(NamedTuple):
    """The zones of one axis that occur in the released flows, with their volumes."""

    axis: str
    zones: Zones
    rows: Ints
    volumes: dict[str, Ints]


def released_zones(release: Release) -> tuple[ReleasedZones, ...]:
    """Return the origin, the destination and, if any, the time zones that occur in a released flow.

    Travellers are left out: one person may be in several flows of a zone.
    """
    numbers = {unit: n for unit, n in published_numbers(release).items() if unit != "travellers"}
    sides = []
    for axis, zones, column in release.axes:
        rows, place = np.unique(column, return_inverse=True)
        volumes = {
            unit: np.bincount(place, n, minlength=len(rows)).astype(np.int64) for unit, n in numbers.items()
        }
        sides.append(ReleasedZones(axis, zones, rows, volumes))
    return tuple(sides)


def suppressed_volume(matrix: ODMatrix, release: Release) -> int | None:
    """Return the withheld volume, or None where the number itself would tell about too few people.

    It is told when nothing was withheld, or when the withheld flows, taken as one group, are safe.
    Two exceptions, both needed so that nobody can solve for a small number. Zero is not told where
    not telling could mean one single trip or person only. And a volume is not told that leaves all
    absent pairs of released zones only one way to share it. Under differential privacy every exact
    number about the input is out, and where flows may be small the volume is never told: what may
    be in absent pairs could be solved for in more ways than are looked at here.
    """
    hidden = release.suppressed
    if not release.promise.tells_withheld:
        return None
    if not hidden.any():
        return None if _silence_would_tell(release) else 0
    roots = (np.full(matrix.n_flows, tree.root) for tree in (matrix.origins, matrix.destinations))
    withheld = group_flows(matrix, *roots, keep=hidden)
    if withheld is None or not release.promise.safe(withheld).all():
        return None
    volume = int(np.rint(matrix.volume(release.volume)[hidden].sum()))
    return None if _fills_absent_pairs(release, volume) else volume


def manifest(
    matrix: ODMatrix,
    release: Release,
    *,
    dropped: Mapping[str, int],
    tilings: Mapping[str, Any],
    segment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the public description of a release.

    Parameters
    ----------
    dropped
        Input rows dropped in cleaning, by reason.
    tilings
        How the zones were made: the hierarchy's text and what else is needed to rebuild it.
    segment
        The segment of the input that the release is about, where it is about one only.
    """
    suppressed = suppressed_volume(matrix, release)
    released = int(np.rint(release.support(release.volume).sum()))
    units = published_units(release)
    smallest = {unit: int(n.min()) for unit, n in published_numbers(release).items()}
    begun = new_manifest(
        "flows",
        version=release.version,
        method=release.method,
        parameters=_parameters(release),
        promise=release.promise.stated(),
    )
    return {
        **begun,
        **_boxes(release),
        **({"segment": dict(segment)} if segment else {}),
        "seed": release.seed,
        "hierarchy": dict(tilings),
        "homogeneous": release.homogeneous,
        "groups": release.n_groups,
        "zones": dict(zip(("origins", "destinations", "times"), release.zone_numbers, strict=False)),
        "columns": list(units),
        "volume": release.volume,
        "released": released,
        "suppressed": suppressed,
        "suppressed_share": None if suppressed is None else suppressed / (released + suppressed),
        "suppressed_words": withheld_words(
            release.promise, suppressed, release.volume, release.suppression_limit
        ),
        "smallest": smallest,
        "bound": None if suppressed is None else _public_bound(release),
        "measures": _measures(release, released),
        "dropped_rows": release.promise.told_rows(dropped),
    }


ENTRIES = (
    *("format", "kind", "version", "method", "parameters", "promise", "zone_form", "tile_km2", "segment"),
    *("seed", "hierarchy", "homogeneous", "groups", "zones", "columns", "volume", "released", "suppressed"),
    *("suppressed_share", "suppressed_words", "smallest", "bound", "measures", "dropped_rows", "files"),
)
INNER = {
    "tile_km2": ("origins", "destinations"),
    "hierarchy": ("spec", "area", "time_slot_minutes", "fold", "slots", "timezone"),
    "zones": ("origins", "destinations", "times"),
    "smallest": ("trips", "travellers", "population"),
    "bound": ("within_percent", "relaxation"),
    "measures": ("G", "C_AVG", "G_time"),
}
"""Entries of a manifest, and of those within it, as they follow each other."""


def restated(facts: Mapping[str, Any], reasons: Sequence[str]) -> dict[str, Any]:
    """Return a manifest as it would be written anew: its own entries in their order, its words said again.

    Parameters
    ----------
    reasons
        Why rows may be dropped, in their order.
    """
    promise = Promise.from_manifest(facts["promise"])
    limit = facts["parameters"].get("suppression_limit", 0.0)
    words = withheld_words(promise, facts["suppressed"], facts["volume"], limit)
    told = {**facts, "promise": promise.stated(), "suppressed_words": words}
    orders = {**INNER, "dropped_rows": reasons, "files": sorted(facts["files"])}
    for name in (name for name in orders if isinstance(told.get(name), dict)):
        told[name] = {entry: told[name][entry] for entry in orders[name] if entry in told[name]}
    return {name: told[name] for name in ENTRIES if name in told}


def _parameters(release: Release) -> dict[str, Any]:
    """Return the method's parameters, and the limit where there is one: noise does not look at it."""
    limit = {} if release.promise.noisy else {"suppression_limit": release.suppression_limit}
    return {**release.parameters, **limit}


def _boxes(release: Release) -> dict[str, Any]:
    """Return that zones are boxes, and the area of a tile they are measured by; else nothing."""
    sides = {"origins": release.origins, "destinations": release.destinations}
    areas = {
        axis: None if np.isnan(zones.tile_km2) else zones.tile_km2
        for axis, zones in sides.items()
        if isinstance(zones, BoxZones)
    }
    return {"zone_form": "boxes", "tile_km2": areas} if areas else {}


def _public_bound(release: Release) -> dict[str, Any] | None:
    """Return how close to the best possible the release is, in whole percent.

    The bound itself is worked out from unreleased flows, so its digits stay inside.
    """
    if release.bound is None:
        return None
    return {"within_percent": math.ceil(release.bound.gap), "relaxation": release.bound.relaxation}


def _silence_would_tell(release: Release) -> bool:
    """Return whether a withheld volume that is not told could have one value only, were it not for zero.

    With a k of 2 that is one person; with a tight limit, the one trip there is room for.
    """
    limit = release.suppression_limit
    released = float(release.support(release.volume).sum())
    room = math.inf if limit >= 1 else limit * released / (1 - limit) * (1 + 1e-9)
    return room >= 1 and (room < 2 or min(release.promise.thresholds.values()) <= 2)


def _fills_absent_pairs(release: Release, volume: int) -> bool:
    """Return whether every absent pair of released zones must hold k - 1 for the withheld volume to fit."""
    k, absent = release.k, math.prod(release.zone_numbers) - release.n_groups
    return k is not None and release.volume == "trips" and volume == absent * (k - 1)


def withheld_words(promise: Promise, suppressed: int | None, volume: Volume, limit: float) -> str:
    """Return what is said of the withheld volume: the number, or why it is not told.

    >>> from tripcloak.promises import KAnonymity
    >>> withheld_words(KAnonymity(k=10, unit="trips"), 5998, "trips", 0.1)
    '5,998 trips'
    """
    return promise.silence(volume, limit) if suppressed is None else f"{suppressed:,} {volume}"


def _measures(release: Release, released: int) -> dict[str, float]:
    """Return the measures that anyone can compute from the released table itself."""
    volume: Floats = published_numbers(release)[release.volume].astype(float)
    tiles = (
        release.origins.tiles[release.group_origin] + release.destinations.tiles[release.group_destination]
    )
    measures = {"G": float((tiles * volume).sum() / volume.sum())}
    if release.k:
        measures["C_AVG"] = float(released / release.n_groups / release.k)
    if release.times is not None:
        slots = release.times.tiles[release.group_time]
        measures["G_time"] = float((slots * volume).sum() / volume.sum())
    return measures
