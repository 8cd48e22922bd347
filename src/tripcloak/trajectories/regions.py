"""Several regions, each a release of its own under one promise; all of them are written, or none."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import FolderParts, refuse_if_taken, staged
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.records.source import checked_box
from tripcloak.trajectories.anonymise import (
    MadeTrajectories,
    TrajectoryOutcome,
    TrajectoryRequest,
    make_trajectories,
    write_trajectories,
)
from tripcloak.trajectories.reading.projection import Box
from tripcloak.trajectories.reading.reading import find_regions

AUTO = "auto"


def anonymise_regions(
    request: TrajectoryRequest, regions: Sequence[Box] | None = None, progress: Progress = silent
) -> tuple[TrajectoryOutcome, ...]:
    """Return the outcome of each region; all releases are on disk if and only if this returns.

    Each is made of the fixes within its box alone, in a folder of its own (``region-1`` and so on), and k is
    counted there. Somebody who was in two regions is in two releases, under pseudonyms that nothing joins.

    Parameters
    ----------
    request
        What is asked for, without a box.
    regions
        The boxes, which may not overlap; found from where people are if not given.
    """
    if request.source.box is not None or request.source.polygon is not None:
        raise InputError(
            f"regions are boxes themselves: leave out {spelt('box')} and {spelt('polygon')}, or the regions"
        )
    refuse_if_taken(request.out, force=False)
    progress("finding regions", 0, None)
    boxes = regions or find_regions(request.source, k=request.method.fewest, memory=request.memory)
    refuse_overlap(boxes)
    parts = _parts(request.out, len(boxes))
    refuse_if_taken(request.out, force=request.force, parts=parts)
    made = [
        make_trajectories(replace(request, source=replace(request.source, box=half_open(box))), progress)
        for box in boxes
    ]
    return _written(made, request, parts, progress)


def _parts(out: Path, number: int) -> FolderParts:
    """Return the folders of so many regions; those that an earlier run had beyond them go away."""
    names = tuple(f"region-{one}" for one in range(1, number + 1))
    others = {path.name for path in out.glob("region-*") if re.fullmatch(r"region-\d+", path.name)}
    return FolderParts("release", files=names, optional=tuple(sorted(others - {*names})))


def _written(
    made: Sequence[MadeTrajectories], request: TrajectoryRequest, parts: FolderParts, progress: Progress
) -> tuple[TrajectoryOutcome, ...]:
    """Return the outcomes after writing all releases aside, and moving them into place together."""
    with staged(request.out, force=request.force, parts=parts) as staging:
        written = [
            write_trajectories(one, staging / name, progress=progress)
            for one, name in zip(made, parts.files, strict=True)
        ]
    return tuple(replace(one, out=request.out / one.out.name) for one in written)


def read_regions(text: str) -> tuple[Box, ...] | None:
    """Return the boxes of a text, None for ``auto``.

    Examples
    --------
    >>> read_regions("auto"), read_regions("40,-75,41,-73; 51,-1,52,0")
    (None, ((40.0, -75.0, 41.0, -73.0), (51.0, -1.0, 52.0, 0.0)))
    """
    if text.strip().lower() == AUTO:
        return None
    try:
        boxes = [tuple(float(edge) for edge in part.split(",")) for part in text.split(";")]
    except ValueError:
        raise InputError(
            "expected auto, or boxes with a semicolon between them: "
            f"{spelt('regions', AUTO)}, or {spelt('regions', '40,-75,41,-73;51,-1,52,0', quoted=True)}"
        ) from None
    return tuple(checked_box(box) for box in boxes)


def half_open(box: Box) -> Box:
    """Return the box without its northern and its eastern edge, which may be those of another region.

    Edges of boxes are part of them, so that these end at the last number before. The pole and the 180th
    meridian have nothing beyond them.

    Examples
    --------
    >>> half_open((40.0, -75.0, 41.0, -73.0))[2:], half_open((80.0, 170.0, 90.0, 180.0))[2:]
    ((40.99999999999999, -73.00000000000001), (90.0, 180.0))
    """
    south, west, north, east = box
    return (
        south,
        west,
        north if north == 90 else math.nextafter(north, -math.inf),
        east if east == 180 else math.nextafter(east, -math.inf),
    )


def refuse_overlap(boxes: Sequence[Box]) -> None:
    """Raise where the same fixes would be in two releases, which no promise covers.

    >>> refuse_overlap([(40, -75, 41, -73), (41, -75, 42, -73)])
    >>> refuse_overlap([(40, -75, 41, -73), (40, -74, 42, -70)])
    Traceback (most recent call last):
    ...
    tripcloak.InputError: two regions overlap, so that the same fixes would be in two releases; ...
    """
    if any(_overlap(one, other) for one, other in combinations(boxes, 2)):
        raise InputError(
            "two regions overlap, so that the same fixes would be in two releases; let them meet at their "
            "edges at most"
        )


def _overlap(one: Box, other: Box) -> bool:
    tall = max(one[0], other[0]) < min(one[2], other[2])
    return tall and any(
        max(west, other_west) < min(east, other_east)
        for west, east in _spans(one)
        for other_west, other_east in _spans(other)
    )


def _spans(box: Box) -> list[tuple[float, float]]:
    """Return the longitudes of a box, in two parts where it lies across the antimeridian."""
    _, west, _, east = box
    return [(west, east)] if west < east else [(west, 180.0), (-180.0, east)]
