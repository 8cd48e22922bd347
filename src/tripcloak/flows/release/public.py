"""What the public part of a release may say: the released table, and totals that hide small numbers.

Everything written to ``release/`` is a function of the released flows, the hierarchy and the
parameters. The only exceptions, the withheld volume (told in a band, see ``withheld.py``) and the rows
dropped in cleaning, are guarded. A threshold that was left to the mean weight is a parameter too:
it looks at everybody at once, and is refused where they are few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model import Groups, ODMatrix, SegmentPart
from tripcloak.flows.release.largest import LargestParts, largest_entry, restated_largest
from tripcloak.flows.release.publication import publication_of
from tripcloak.flows.release.release import Release
from tripcloak.flows.release.totals import order_of, tables_entry, totals_table
from tripcloak.flows.release.withheld import restated_withheld, withheld_entry
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.manifest import new_manifest
from tripcloak.hierarchy import BoxZones, Zones
from tripcloak.hierarchy.places import MICRO
from tripcloak.pages.background import WORDS
from tripcloak.promises import Promise, Unit


def published_numbers(release: Release) -> dict[str, Ints]:
    """Return the published columns, one value per group, as they are rounded."""
    return {unit: release.published(unit) for unit in release.publication.columns}


class ToldSegment(NamedTuple):
    """A segment: the groups that it is told of, and its published columns there."""

    name: str
    groups: Ints
    numbers: dict[Unit, Ints]


def segment_numbers(release: Release) -> list[ToldSegment]:
    """Return what is told of every segment that is promised to be safe; nothing without segments."""
    told, parts = release.publication, release.promise.segments
    found = []
    for part, where in zip(parts, segments_told(release, parts), strict=True):
        groups = _of_segment(release, part)
        numbers = {unit: told.rounded(unit, groups.support(unit))[where] for unit in told.by_segment}
        found.append(ToldSegment(part.name, np.flatnonzero(where), numbers))
    return found


def segments_told(release: Release, parts: Sequence[SegmentPart]) -> list[Bools]:
    """Return, for each of all segments, the groups that it is told of."""
    groups = [_of_segment(release, part) for part in parts]
    asked = release.promise.of_everybody.of_people
    return release.promise.tells(
        [asked.safe(one) for one in groups], [one.support("trips") for one in groups]
    )


def _of_segment(release: Release, part: SegmentPart) -> Groups:
    members = release.group_of_flow[part.row]
    return Groups(part.matrix, members, release.group_origin, release.group_destination)


class ReleasedZones(NamedTuple):
    """The zones of one axis that occur in the released flows, with their volumes."""

    axis: str
    zones: Zones
    rows: Ints
    volumes: dict[str, Ints]


def released_zones(release: Release) -> tuple[ReleasedZones, ...]:
    """Return the origin, the destination and, if any, the time zones that occur in a released flow.

    Travellers are left out, unless they alone are published: one person may be in several flows of a zone.
    """
    told = release.publication.summed
    numbers: dict[str, Ints] = {unit: n for unit, n in published_numbers(release).items() if unit in told}
    sides = []
    for axis, zones, column in release.axes:
        rows, place = np.unique(column, return_inverse=True)
        volumes = {
            unit: np.bincount(place, n, minlength=len(rows)).astype(np.int64) for unit, n in numbers.items()
        }
        sides.append(ReleasedZones(axis, zones, rows, volumes))
    return tuple(sides)


def manifest(
    matrix: ODMatrix,
    release: Release,
    *,
    dropped: Mapping[str, int],
    people: Mapping[str, int] | None = None,
    tilings: Mapping[str, Any],
    segment: Mapping[str, str] | None = None,
    during: str | None = None,
    title: str | None = None,
    names: Mapping[str, Any] | None = None,
    background: Mapping[str, Any] | None = None,
    largest: LargestParts | None = None,
) -> dict[str, Any]:
    """Return the public description of a release.

    Parameters
    ----------
    dropped
        Input rows dropped in cleaning, by reason.
    people
        Different people behind them, by reason, where rows carry an id.
    tilings
        How the zones were made: the hierarchy's text and what else is needed to rebuild it.
    segment
        The segment of the input that the release is about, where it is about one only.
    during
        The period of the input that the release is about, where it is about one only.
    title
        What the owner calls the release.
    names
        From which list of places zones have their names, who made it, and which towns maps label; None where
        zones have no names.
    background
        What is drawn behind the map, if anything is.
    largest
        What one traveller has of released flows, where that was looked for already.
    """
    publication = release.publication
    numbers = published_numbers(release)
    exact = release.support(publication.volume) if publication.base is None else numbers[publication.volume]
    released = int(np.rint(exact.sum()))
    smallest = {unit: int(n.min()) for unit, n in numbers.items()}
    begun = new_manifest(
        "flows",
        version=release.version,
        method=release.method,
        parameters=_parameters(release),
        promise=release.promise.stated(),
    )
    told = {
        **begun,
        "counted": release.promise.counted(),
        **_boxes(release),
        **({"segment": dict(segment)} if segment else {}),
        **({} if during is None else {"during": during}),
        **({} if title is None else {"title": title}),
        **({} if names is None else {"names": dict(names)}),
        **({} if background is None else {"background": WORDS}),
        "seed": release.seed,
        "hierarchy": dict(tilings),
        "homogeneous": release.homogeneous,
        "groups": release.n_groups,
        "zones": dict(zip(("origins", "destinations", "times"), release.zone_numbers, strict=False)),
        "columns": list(publication.columns),
        **({"steps": publication.steps} if publication.steps else {}),
        **({"columns_words": words} if (words := publication.words()) else {}),
        "volume": publication.volume,
        "released": released,
        "withheld": withheld_entry(matrix, release, released),
        "smallest": smallest,
        "typical_zone_km2": typical_zone_km2(release),
        **largest_entry(matrix, release, largest),
        "bound": _public_bound(release),
        "measures": _measures(release, released),
        "dropped_rows": release.promise.told_rows(dropped, people),
    }
    return told if release.tables is None else {**told, **_tables(matrix, release, told)}


ENTRIES = (
    *("format", "kind", "version", "method", "parameters", "promise", "counted", "zone_form", "tile_km2"),
    *(
        "box_grid_degrees",
        "segment",
        "during",
        "title",
        "names",
        "background",
        "seed",
        "hierarchy",
        "homogeneous",
        "groups",
        "zones",
        "columns",
    ),
    *("steps", "columns_words", "volume", "released", "withheld", "smallest", "typical_zone_km2"),
    *("largest_parts", "bound", "measures", "dropped_rows", "tables", "files"),
)
INNER = {
    "counted": ("trips", "travellers", "population"),
    "tile_km2": ("origins", "destinations"),
    "box_grid_degrees": ("origins", "destinations"),
    "names": ("source", "attribution", "towns"),
    "hierarchy": ("spec", "area", "time_slot_minutes", "fold", "period", "slots", "timezone"),
    "zones": ("origins", "destinations", "times"),
    "steps": ("travellers", "population"),
    "withheld": ("at_least", "at_most", "words"),
    "smallest": ("trips", "travellers", "population"),
    "bound": ("within_percent", "relaxation"),
    "measures": ("G", "C_AVG", "G_time"),
    "tables": ("levels", "margins", "counted"),
}
"""Entries of a manifest, and of those within it, as they follow each other."""
OPTIONAL = (
    *(
        "zone_form",
        "tile_km2",
        "box_grid_degrees",
        "segment",
        "during",
        "title",
        "names",
        "background",
        "steps",
    ),
    *("columns_words",),
    *("largest_parts", "tables"),
)
"""Entries that some manifests do not have."""


def restated(facts: Mapping[str, Any], reasons: Sequence[str]) -> dict[str, Any]:
    """Return a manifest as it would be written anew: its own entries in their order, its words said again.

    Parameters
    ----------
    reasons
        Why rows may be dropped, in their order.
    """
    promise = Promise.from_manifest(facts["promise"])
    said = {"promise": promise.stated(), "counted": promise.counted(), "withheld": restated_withheld(facts)}
    told = {**facts, **said}
    told.pop("columns_words", None)
    if words := publication_of(facts, promise).words():
        told["columns_words"] = words
    if "largest_parts" in facts:
        told["largest_parts"] = restated_largest(facts)
    orders = {**INNER, "dropped_rows": reasons, "files": sorted(facts["files"])}
    for name in (name for name in orders if isinstance(told.get(name), dict)):
        told[name] = {entry: told[name][entry] for entry in orders[name] if entry in told[name]}
    return {name: told[name] for name in ENTRIES if name in told or name not in OPTIONAL}


def _tables(matrix: ODMatrix, release: Release, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of the tables beside the flows."""
    assert release.tables is not None
    order = order_of(release.tables)
    return {"tables": tables_entry(totals_table(matrix, release), release.tables.wanted, order, told)}


def typical_zone_km2(release: Release) -> float | None:
    """Return the area of the zone in which the middle one of all released trips begins, in three digits."""
    side = released_zones(release)[0]
    area = side.zones.areas(side.rows)
    known = np.isfinite(area)
    if not known.any() or release.publication.volume not in side.volumes:
        return None
    order = np.argsort(area[known], kind="stable")
    below = np.cumsum(side.volumes[release.publication.volume][known][order])
    middle = area[known][order][np.searchsorted(below, below[-1] / 2)]
    return float(f"{middle:.3g}")


def _parameters(release: Release) -> dict[str, Any]:
    """Return the method's parameters, and the limit where there is one: noise does not look at it."""
    limit = {} if release.promise.noisy else {"suppression_limit": release.suppression_limit}
    return {**release.parameters, **limit}


def _boxes(release: Release) -> dict[str, Any]:
    """Return that zones are boxes, the area of a tile they are measured by, and their grid; else nothing."""
    sides = {"origins": release.origins, "destinations": release.destinations}
    boxes = {axis: zones for axis, zones in sides.items() if isinstance(zones, BoxZones)}
    if not boxes:
        return {}
    return {
        "zone_form": "boxes",
        "tile_km2": {
            axis: None if np.isnan(zones.tile_km2) else zones.tile_km2 for axis, zones in boxes.items()
        },
        "box_grid_degrees": {axis: zones.step / MICRO for axis, zones in boxes.items()},
    }


def _public_bound(release: Release) -> dict[str, Any] | None:
    """Return how close to the best possible the release is, in whole percent.

    The bound itself is worked out from unreleased flows, so its digits stay inside.
    """
    if release.bound is None:
        return None
    return {"within_percent": math.ceil(release.bound.gap), "relaxation": release.bound.relaxation}


def _measures(release: Release, released: int) -> dict[str, float]:
    """Return the measures that anyone can compute from the released table itself."""
    volume = published_numbers(release)[release.publication.volume]
    tiles = (
        release.origins.tiles[release.group_origin] + release.destinations.tiles[release.group_destination]
    )
    slots = None if release.times is None else release.times.tiles[release.group_time]
    return measures_of_table(volume, tiles, slots, released=released, k=release.k)


def measures_of_table(
    volume: Ints, tiles: Ints, slots: Ints | None = None, *, released: int, k: float | None
) -> dict[str, float]:
    """Return the measures that anyone can compute from a released table.

    Sums are of whole numbers, so that the order of the flows does not change a digit.

    Parameters
    ----------
    volume, tiles, slots
        Of every released flow its volume, the tiles of its two zones, and the slots of its time if any.

    Examples
    --------
    >>> measures_of_table(np.array([30, 10]), np.array([2, 6]), released=40, k=5)
    {'G': 3.0, 'C_AVG': 4.0}
    """
    weight: Floats = volume.astype(float)
    measures = {"G": float((tiles * weight).sum() / weight.sum())}
    if k:
        measures["C_AVG"] = float(released / len(volume) / k)
    if slots is not None:
        measures["G_time"] = float((slots * weight).sum() / weight.sum())
    return measures
