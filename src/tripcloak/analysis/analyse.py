"""What analysts do next, asked of a release and of the original trips."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tripcloak.analysis import (
    AgreementSpread,
    Answers,
    Overlap,
    Profiles,
    Questions,
    Scores,
    SlotFlows,
    aligned,
    ask,
    ask_again,
    busiest,
    compare_answers,
    counted_profile,
    expected_flows,
    released_profile,
    spread_over,
)
from tripcloak.analysis.drawn import original_ends, overlaps_with, placed_flows, read_drawn
from tripcloak.analysis.profiles import regular_zones
from tripcloak.analysis.slot_axis import SlotAxis, slot_axis
from tripcloak.flows.checking import read_as_released
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release.reading import Published, read_published
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.hierarchy import ZoneFile
from tripcloak.promises import Volume

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, kw_only=True, eq=False)
class Analysis:
    """What a release tells about zones and hours and, for the data owner, how true it is.

    Attributes
    ----------
    drawn : ZoneFile
        The zones that the questions are about.
    regular : bool
        They are H3 cells that cover the release; nobody drew them.
    outside : dict
        Share of the released volume whose origin, or destination, lies in none of them.
    reach : dict
        Over how many of the zones a released zone spreads, and a released time over how many slots.
    original, scores : optional
        The answers of the original trips, and how alike those of the release are. Kinds of land use and
        typical flows of the release then have the numbers of those that are most alike.
    by_chance : Scores, optional
        How alike the answers would be that the same city gives another time: what no release can beat.
    """

    questions: Questions
    drawn: ZoneFile
    regular: bool
    axis: SlotAxis
    outside: dict[str, float]
    reach: dict[str, AgreementSpread]
    release: Answers
    original: Answers | None = None
    scores: Scores | None = None
    by_chance: Scores | None = None


def analyse(
    folder: Path,
    inputs: tuple[str, ...] = (),
    *,
    zones: str | None = None,
    id_column: str | None = None,
    questions: Questions | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> Analysis:
    """Return profiles, land use and typical flows of a release, and of the original trips if given.

    Of the release nothing but the public files is read.

    Parameters
    ----------
    inputs
        The raw input, for the data owner.
    zones
        A file of zones with outlines, or ``h3:RESOLUTION``; H3 cells that fit the release if not given.
    """
    questions = Questions() if questions is None else questions
    published = read_published(folder)
    axis = slot_axis(published)
    progress("laying out zones", 0, None)
    drawn = _zones(published, zones, id_column)
    placed = placed_flows(published)
    overlaps = overlaps_with(published, drawn)
    found = Analysis(
        questions=questions,
        drawn=drawn,
        regular=zones is None or _cells(zones) is not None,
        axis=axis,
        outside=_outside(published, placed, overlaps),
        reach=_reach(published, overlaps, axis),
        release=_of_release(published, placed, overlaps, axis, questions, progress),
    )
    if not inputs:
        return found
    matrix = read_as_released(folder, inputs, memory=memory, progress=progress)
    original = _of_trips(matrix, found, published.facts["volume"], progress)
    progress("asking the same of other trips", 0, None)
    return replace(
        found,
        original=original,
        release=aligned(original, found.release),
        scores=compare_answers(original, found.release),
        by_chance=compare_answers(original, ask_again(original, questions)),
    )


def _zones(published: Published, zones: str | None, id_column: str | None) -> ZoneFile:
    if zones is None:
        return regular_zones(published)
    resolution = _cells(zones)
    return read_drawn(zones, id_column) if resolution is None else regular_zones(published, resolution)


def _cells(zones: str) -> int | None:
    """Return the resolution of ``h3:RESOLUTION``, None for anything else."""
    match = re.fullmatch(r"h3:(\d{1,2})", zones)
    if match is None:
        return None
    if int(match[1]) > 15:
        raise InputError(f"an H3 resolution is a number from 0 to 15; got --zones {zones}")
    return int(match[1])


def _outside(published: Published, placed: Bools, overlaps: dict[str, Overlap]) -> dict[str, float]:
    total = float(published.volume.sum())
    outside = {}
    for axis, rows in (("origin", published.origin), ("destination", published.destination)):
        lost = np.where(placed, overlaps[axis].outside[rows], 1.0) * published.volume
        outside[f"{axis}s"] = float(lost.sum()) / total
    if min(outside.values()) > 1 - 1e-9:
        raise InputError("the release and these zones have nothing in common: no released zone overlaps one")
    return outside


def _reach(published: Published, overlaps: dict[str, Overlap], axis: SlotAxis) -> dict[str, AgreementSpread]:
    ends = (("origin", published.origin), ("destination", published.destination))
    zones = np.concatenate([spread_over(overlaps[end].shares)[rows] for end, rows in ends])
    slots = spread_over(axis.shares)[published.time]
    return {
        "zones": AgreementSpread.of(zones, np.tile(published.volume, 2)),
        "slots": AgreementSpread.of(slots, published.volume),
    }


def _of_release(
    published: Published,
    placed: Bools,
    overlaps: dict[str, Overlap],
    axis: SlotAxis,
    questions: Questions,
    progress: Progress,
) -> Answers:
    """Return the answers of a release, spread evenly over its zones and times."""
    assert published.time is not None
    time, volume = published.time[placed], published.volume[placed]
    ends = {"origin": published.origin[placed], "destination": published.destination[placed]}
    profiles = Profiles(
        *(released_profile(ends[end], time, volume, overlaps[end], axis.shares) for end in ends)
    )

    def between(flows: Bools) -> csr_array:
        shares = overlaps["origin"], overlaps["destination"]
        return expected_flows(ends["origin"][flows], ends["destination"][flows], volume[flows], *shares)

    pair = busiest(between(volume > 0).toarray().reshape(-1))
    by_time = np.zeros((axis.shares.shape[0], len(pair)))
    for row in range(len(by_time)):
        progress("rebuilding flows", row, len(by_time))
        by_time[row] = between(time == row).reshape((1, -1)).tocsr()[:, pair].toarray()
    progress("asking the release", 0, None)
    return ask(profiles, SlotFlows(pair, axis.shares.T @ by_time), questions)


def _of_trips(matrix: ODMatrix, found: Analysis, volume: Volume, progress: Progress) -> Answers:
    """Return the answers of the original trips."""
    drawn, axis = found.drawn, found.axis
    n, slots = len(drawn), len(axis.names)
    if matrix.times is None:
        raise InputError("the input was read without slots of time, so it is not the input of this release")
    out, into, flows = np.zeros((n, slots)), np.zeros((n, slots)), []
    total = 0.0
    slot_of = axis.places(matrix.times)
    for ends in original_ends(matrix, drawn, volume):
        progress("placing the original trips", 0, None)
        slot = slot_of[ends.slot]
        out += counted_profile(ends.origin, slot, ends.volume, n, slots)
        into += counted_profile(ends.destination, slot, ends.volume, n, slots)
        flows.append(_pairs(ends.origin, ends.destination, slot, ends.volume, (slots, n)))
        total += float(ends.volume.sum())
    if not (out.any() or into.any()):
        raise InputError(
            "no original trip starts or ends in these zones at a time that the release speaks of"
        )
    every = sum(flows[1:], flows[0])
    pair = busiest(np.asarray(every.sum(axis=0)).reshape(-1))
    progress("asking the original trips", 0, None)
    weight = total / matrix.total("trips")
    return ask(Profiles(out, into), SlotFlows(pair, every[:, pair].toarray()), found.questions, weight=weight)


def _pairs(origin: Ints, destination: Ints, slot: Ints, volume: Floats, shape: tuple[int, int]) -> csr_array:
    """Return the volume of every pair of zones (columns) in every slot (rows)."""
    from scipy.sparse import coo_array

    slots, n = shape
    kept = (origin >= 0) & (destination >= 0) & (slot >= 0)
    key = origin[kept] * n + destination[kept]
    return coo_array((volume[kept], (slot[kept], key)), shape=(slots, n * n)).tocsr()
