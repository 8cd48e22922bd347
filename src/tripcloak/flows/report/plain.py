"""The result in plain words: how coarse, how far, how much withheld, and how good that is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.release import Release
from tripcloak.flows.release.public import typical_zone_km2
from tripcloak.ground.arrays import Ints


def area_words(km2: float) -> str:
    """Return an area, and how far it is across: the width of a circle of that size.

    >>> area_words(12.3), area_words(0.0153), area_words(1740.0)
    ('12.3 km² (4.0 km across)', '0.0153 km² (140 m across)', '1,740 km² (47.1 km across)')
    """
    across = 2000 * math.sqrt(km2 / math.pi)
    far = f"{across / 1000:,.1f} km" if across >= 1000 else f"{across:,.0f} m"
    return f"{km2:,.0f} km² ({far} across)" if km2 >= 1000 else f"{km2:.3g} km² ({far} across)"


class WithheldSafe(NamedTuple):
    """What is withheld although it is safe as it stands: groups of flows, the flows in them, their trips."""

    groups: int
    flows: int
    trips: int


def withheld_although_safe(matrix: ODMatrix, release: Release) -> WithheldSafe:
    """Return what was withheld to spend the limit, and not because it could not be made safe.

    Withheld flows are put into the zones that others of their tiles went to, where all flows share one
    set of zones; elsewhere they are looked at tile by tile.
    """
    hidden = release.suppressed
    if not hidden.any() or release.promise.noisy:
        return WithheldSafe(0, 0, 0)
    zones = [
        _zones_of(tile, column, release) if release.homogeneous and axis != "time" else tile
        for (_, tile), (axis, _, column) in zip(matrix.axes, release.axes, strict=True)
    ]
    time = zones[2] if len(zones) > 2 else None
    groups = group_flows(matrix, zones[0], zones[1], time_zone=time, keep=hidden, in_order=False)
    if groups is None:
        return WithheldSafe(0, 0, 0)
    safe = release.promise.by_group.of_everybody.safe(groups)
    flows = hidden & (groups.of_flow >= 0)
    flows[flows] = safe[groups.of_flow[flows]]
    return WithheldSafe(int(safe.sum()), int(flows.sum()), int(matrix.flows.trips[flows].sum()))


def _zones_of(tile: Ints, column: Ints, release: Release) -> Ints:
    """Return the zone of every flow on one axis: that of the released flows of its tile, else the tile."""
    zone = np.arange(int(tile.max()) + 1)
    kept = release.group_of_flow >= 0
    zone[tile[kept]] = column[release.group_of_flow[kept]]
    found: Ints = zone[tile]
    return found


def plain_words(matrix: ODMatrix, release: Release, measures: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the result in sentences for the owner of the data; numbers in them are not released.

    Parameters
    ----------
    measures
        All measures of the release, by their symbols.
    """
    told = [_released(release), *_size(release), *_moved(measures), _withheld(matrix, release)]
    if release.bound is not None:
        told.append(f"It is proven to be {release.bound.words()} for this data, k and limit.")
    return tuple(words for words in told if words)


def _released(release: Release) -> str:
    origins, destinations = release.zone_numbers[:2]
    promised = release.promise.in_brief()
    if release.n_groups == 1:
        return (
            f"One flow is left: {promised}, and everything became one number of trips between two zones. Ask "
            "for a smaller k, or allow more to be withheld, for more flows."
        )
    return (
        f"{release.n_groups:,} flows between {origins:,} origin and {destinations:,} destination zones are "
        f"released; {promised}."
    )


def _size(release: Release) -> list[str]:
    km2 = typical_zone_km2(release)
    if km2 is None:
        return []
    return [
        f"A typical zone covers {area_words(km2)}: half of the {release.publication.volume} begin in one as "
        "small."
    ]


def _moved(measures: Mapping[str, Any]) -> list[str]:
    metres = measures.get("GDM_mean")
    return [] if metres is None else [f"Trips were moved by {metres:,.0f} m on average (GDM)."]


def _withheld(matrix: ODMatrix, release: Release) -> str:
    """Return the exact share that is withheld, and how much of it was safe as it stood."""
    if release.promise.noisy:
        return ""
    volume = matrix.volume(release.volume)
    hidden, total = float(volume[release.suppressed].sum()), float(volume.sum())
    share = f"{hidden / total:.1%} of the {release.volume} are withheld ({hidden:,.0f} of {total:,.0f})."
    if "zones_from" in release.parameters:
        return f"{share} The zones were kept, whatever that costs." if hidden else share
    spent = withheld_although_safe(matrix, release)
    if not hidden or not spent.groups:
        return f"{share} None of them could be released as they stand." if hidden else share
    return (
        f"{share} {spent.trips:,} of these trips, in {_some(spent.groups, 'group')} of "
        f"{_some(spent.flows, 'flow')}, were safe as they stood, and were withheld within the limit because "
        "that leaves the other zones finer."
    )


def _some(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
