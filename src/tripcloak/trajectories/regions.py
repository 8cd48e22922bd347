"""Several regions, each a release of its own under one promise; all of them are written, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import refuse_if_taken
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.records.source import checked_box
from tripcloak.trajectories.anonymise import (
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
    boxes = regions or find_regions(request.source, k=request.method.k, memory=request.memory)
    refuse_overlap(boxes)
    requests = [
        replace(request, source=replace(request.source, box=box), out=request.out / f"region-{number}")
        for number, box in enumerate(boxes, start=1)
    ]
    for one in requests:
        refuse_if_taken(one.out, force=one.force)
    made = [make_trajectories(one, progress) for one in requests]
    return tuple(
        write_trajectories(release, one.out, force=one.force, progress=progress)
        for release, one in zip(made, requests, strict=True)
    )


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
            "expected auto, or boxes with a semicolon between them, such as '40,-75,41,-73;51,-1,52,0'"
        ) from None
    return tuple(checked_box(box) for box in boxes)


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
