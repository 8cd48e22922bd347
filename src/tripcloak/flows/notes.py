"""What the owner of the data should know of a release that was made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.methods.fixed_zones import place_flows
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.reading.matrix import MatrixReading
from tripcloak.flows.release import Release, segment_numbers
from tripcloak.ground.spelling import spelt


def notes_on(method: FlowMethod, reading: MatrixReading, release: Release) -> list[str]:
    """Return notes on its columns, segments and zones, and on what hiding its choices costs."""
    return [
        *_note_on_columns(release),
        *_note_on_segments(release),
        *_note_on_hiding(method, reading.trips.matrix, release),
        *_note_on_kept(reading),
    ]


def _note_on_columns(release: Release) -> list[str]:
    """Return what to know where several numbers of a flow are published exactly."""
    told = release.publication
    return (
        []
        if told.steps or told.base is not None or not (words := told.words())
        else [f"{words} ({spelt('publish', release.publish)})"]
    )


def _note_on_segments(release: Release) -> list[str]:
    """Return how much of what is released is told by segment, where not all of it is."""
    told = segment_numbers(release)
    if sum(len(one.groups) for one in told) == len(told) * release.n_groups:
        return []
    unit = release.publication.by_segment[0]
    share = sum(one.numbers[unit].sum() for one in told) / release.support(unit).sum()
    return [f"{share:.1%} of the released {unit} are told by segment; the others in totals alone"]


def _note_on_kept(reading: MatrixReading) -> list[str]:
    """Return how many trips lie in none of the zones that were kept; nothing where all do."""
    kept, matrix = reading.zoning.kept, reading.trips.matrix
    if kept is None:
        return []
    lost = int(matrix.flows.trips[~place_flows(kept, matrix).known].sum())
    return [f"{lost:,} trips lie in none of the kept zones, and are withheld"] if lost else []


def _note_on_hiding(method: FlowMethod, matrix: ODMatrix, release: Release) -> list[str]:
    """Return what hiding the choices costs, by making the same release without; nothing where it is not.

    Kept zones stay as coarse as they are, and more of them is withheld: that is told anyway.
    """
    if not release.promise.private_facts or "zones_from" in release.parameters:
        return []
    openly = replace(method, promise=method.promise.openly).anonymise(matrix)
    mean, less = (mean_tiles(one) for one in (release, openly))
    return [
        f"hidden choices cost {100 * (mean / less - 1):.0f} %: a released trip lies in {mean:,.4g} tiles on "
        f"average (G), and in {less:,.4g} without them"
    ]


def mean_tiles(release: Release) -> float:
    """Return how many tiles the zones of a released trip have together, on average (G)."""
    volume = np.asarray(release.support(release.volume), dtype=float)
    ends = ((release.origins, release.group_origin), (release.destinations, release.group_destination))
    tiles = sum(zones.tiles[column] for zones, column in ends)
    return float(tiles @ volume / volume.sum())
