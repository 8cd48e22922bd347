"""Attacks on a release. Boxes tell neither how often a place was visited nor in which order within.

So whoever knows numbers of visits is left with the places, and places that follow each other may have
been visited in one box.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.trajectories.attacks.index import PRECISIONS, index_of, place_codes, slots
from tripcloak.trajectories.attacks.knowledge import only, top_places
from tripcloak.trajectories.attacks.originals import Settings, for_each, known_samples
from tripcloak.trajectories.audit.containment import Samples, Spans, count_supports
from tripcloak.trajectories.release import TrajectoryRelease
from tripcloak.trajectories.trajectories import Trajectories

FAR = np.iinfo(np.int64).max


def match_release(
    trajectories: Trajectories, release: TrajectoryRelease, rows: Ints, kind: str, settings: Settings
) -> Ints:
    """Return how many released trajectories fit what is known of each of these people."""
    if kind in {"points", "window"}:
        known = only(trajectories, known_samples(trajectories, kind, settings)).take(rows)
        samples = Samples(known.offsets, known.t, known.x, known.y)
        return count_supports(samples, Spans(release.offsets, *release.boxes), jobs=settings.jobs).support
    if kind == "location-sequence":
        return _passing(trajectories, release, rows, settings)
    if kind == "location-time":
        return _covering(
            release, rows, _known_slots(trajectories, settings.precision), settings.known, settings
        )
    top = {"places": settings.known, "home-work": 2}.get(kind)
    return _covering(release, rows, _known_places(trajectories, top), top or settings.known, settings)


def _known_places(trajectories: Trajectories, top: int | None) -> Callable[[int], Ints]:
    """Return a function that gives the places of a person, or the top ones: x, y and any time."""
    places = place_codes(trajectories)
    index = index_of(trajectories, places)
    at = np.unique(places, return_index=True)[1]
    x, y = (side[at].astype(np.int64) for side in (trajectories.x, trajectories.y))
    offsets, codes = (index.offsets, index.codes) if top is None else top_places(index, top)

    def known(row: int) -> Ints:
        mine = codes[offsets[row] : offsets[row + 1]]
        return np.stack([x[mine], y[mine], np.full(len(mine), -FAR), np.full(len(mine), FAR)], axis=1)

    return known


def _known_slots(trajectories: Trajectories, precision: str) -> Callable[[int], Ints]:
    """Return a function that gives the places of a person and the steps that their hours, ... touch."""
    slot, grid = slots(trajectories, precision), trajectories.grid
    edges = [
        (slot + more).astype(f"datetime64[{PRECISIONS[precision]}]").astype("datetime64[s]").astype(np.int64)
        for more in (0, 1)
    ]
    begin, end = (edges[0] - grid.start) // grid.seconds, -((grid.start - edges[1]) // grid.seconds)
    columns = np.stack([trajectories.x, trajectories.y, begin, end], axis=1).astype(np.int64)

    def known(row: int) -> Ints:
        return np.unique(columns[trajectories.offsets[row] : trajectories.offsets[row + 1]], axis=0)

    return known


def _covering(
    release: TrajectoryRelease, rows: Ints, known_of: Callable[[int], Ints], many: int, settings: Settings
) -> Ints:
    from tripcloak.trajectories.attacks._kernels import least_common
    from tripcloak.trajectories.attacks.after._kernels import mark_covering

    boxes, frames = _boxes(release)

    def least(row: int) -> int:
        known = known_of(row)
        marks = mark_covering(known, release.offsets, boxes, frames)
        return least_common(marks, np.arange(len(known) + 1), min(many, len(known)))

    return for_each(rows, lambda: least, settings.jobs)


def _passing(trajectories: Trajectories, release: TrajectoryRelease, rows: Ints, settings: Settings) -> Ints:
    from tripcloak.trajectories.attacks.after._kernels import least_passing

    boxes, _ = _boxes(release)
    everybody = np.arange(release.n_released)
    codes = place_codes(trajectories)

    def least(row: int) -> int:
        mine = slice(trajectories.offsets[row], trajectories.offsets[row + 1])
        _, first, places = np.unique(codes[mine], return_index=True, return_inverse=True)
        x, y = (side[mine][first].astype(np.int64) for side in (trajectories.x, trajectories.y))
        known = min(settings.known, len(places))
        return least_passing(x, y, places.astype(np.int64), release.offsets, boxes, everybody, known)

    return for_each(rows, lambda: least, settings.jobs)


def _boxes(release: TrajectoryRelease) -> tuple[Ints, Ints]:
    """Return a row a box, and the least and most x and y of each released trajectory."""
    _, _, x0, x1, y0, y1 = release.boxes
    begins = release.offsets[:-1]
    ends = [
        (np.minimum if side in {0, 2} else np.maximum).reduceat(column, begins)
        for side, column in enumerate((x0, x1, y0, y1))
    ]
    return np.ascontiguousarray(np.stack(release.boxes, axis=1)), np.stack(ends, axis=1).astype(np.int64)
