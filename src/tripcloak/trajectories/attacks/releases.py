"""Attacks on a release: how many released trajectories fit what is known of somebody, and which is whose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tripcloak.ground.arrays import Floats, Ints, narrowed, to_read
from tripcloak.ground.threads import in_threads, processors
from tripcloak.trajectories.attacks.originals import (
    PRECISIONS,
    Settings,
    for_each,
    index_of,
    known_samples,
    only,
    place_codes,
    random_points,
    slots,
    top_places,
)
from tripcloak.trajectories.audit.containment import count_supports
from tripcloak.trajectories.audit.screening import BoxSpans, Samples
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

FAR = np.iinfo(np.int64).max


def match_release(
    trajectories: Trajectories, release: TrajectoryRelease, rows: Ints, kind: str, settings: Settings
) -> Ints:
    """Return how many released trajectories fit what is known of each of these people."""
    if kind in {"points", "window"}:
        known = only(trajectories, known_samples(trajectories, kind, settings)).take(rows)
        samples = Samples(known.offsets, known.t, known.x, known.y)
        return count_supports(samples, BoxSpans(release.offsets, *release.boxes), jobs=settings.jobs).support
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
    from tripcloak.trajectories.attacks._kernels.originals import least_common
    from tripcloak.trajectories.attacks._kernels.releases import mark_covering

    boxes, frames = _boxes(release)

    def least(row: int) -> int:
        known = known_of(row)
        marks = mark_covering(known, to_read(release.offsets), boxes, frames)
        return least_common(marks, np.arange(len(known) + 1), min(many, len(known)))

    return for_each(rows, lambda: least, settings.jobs)


def _passing(trajectories: Trajectories, release: TrajectoryRelease, rows: Ints, settings: Settings) -> Ints:
    from tripcloak.trajectories.attacks._kernels.releases import least_passing

    boxes, _ = _boxes(release)
    everybody, offsets = np.arange(release.n_released), to_read(release.offsets)
    codes = place_codes(trajectories)

    def least(row: int) -> int:
        mine = slice(trajectories.offsets[row], trajectories.offsets[row + 1])
        _, first, places = np.unique(codes[mine], return_index=True, return_inverse=True)
        x, y = (side[mine][first].astype(np.int64) for side in (trajectories.x, trajectories.y))
        known = min(settings.known, len(places))
        return least_passing(x, y, places.astype(np.int64), offsets, boxes, everybody, known)

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


GUESSES = ("blind", "most-boxes", "least-cost", "shortest", "innermost")
"""Any that fits; of most boxes; whose boxes are smallest; of the least duration in all; where the person's
samples reach the fewest sides of boxes, as they do in the middle of others who were merged to them."""


def name_owners(
    trajectories: Trajectories, release: TrajectoryRelease, rows: Ints, known: int | None, settings: Settings
) -> tuple[Ints, dict[str, Floats]]:
    """Return how many released trajectories fit each of these people, and how often guesses are right.

    Parameters
    ----------
    known
        How many samples the attacker knows of a person, drawn at random; all of them if None, and then
        trajectories with a box in which the person never was do not fit.

    Returns
    -------
    matches : array of int64
        Released trajectories that fit what is known.
    chances : dict of str to array of float64
        By guess, see :data:`GUESSES`, the chance of each person that it names the own released
        trajectory; of those that are equally good one is drawn.

    Examples
    --------
    >>> from tripcloak.trajectories import Boxes, Grid, TrajectorySolution
    >>> from tripcloak.trajectories.release.release import build_trajectory_release
    >>> made = Trajectories.of(user=[0, 1], t=[0, 1], x=[0, 0], y=[0, 0], grid=Grid())
    >>> wide = Boxes(*(np.array(side) for side in ([0, 0], [2, 3], [0, 0], [1, 1], [0, 0], [1, 1])))
    >>> solution = TrajectorySolution(np.array([0, 1, 2]), wide, np.array([0, 1]), np.array([0, 1]), {})
    >>> from tripcloak.promises import Containment
    >>> told = {"promise": Containment(k=2), "method": "by hand", "parameters": {}}
    >>> release = build_trajectory_release(made, solution, **told)
    >>> matches, chances = name_owners(made, release, np.arange(2), None, Settings(0))
    >>> matches.tolist(), chances["blind"].tolist(), chances["shortest"].tolist()
    ([2, 2], [0.5, 0.5], [1.0, 0.0])
    """
    from tripcloak.trajectories.attacks._kernels.releases import guess_owners

    if known is not None:
        trajectories = only(trajectories, random_points(trajectories, known, settings.seed))
    samples = trajectories.take(rows)
    boxes = np.ascontiguousarray(np.stack(narrowed(*release.boxes), axis=1))
    lengths = (release.boxes.t1 - release.boxes.t0).astype(np.int64)
    told = (to_read(release.offsets), boxes, np.add.reduceat(lengths, release.offsets[:-1]))
    screen = _screen(release, boxes, whole=known is None)
    matches, chances = np.zeros(len(rows), np.int64), np.zeros((len(rows), len(GUESSES)))
    workers = processors(settings.jobs)
    own = release.released_of[rows].astype(np.int64)

    def work(worker: int) -> None:
        mine = np.arange(worker, len(rows), workers)
        columns = (samples.offsets, samples.t, samples.x, samples.y)
        guess_owners(mine, own, *columns, *told, screen, known is None, matches, chances)

    list(in_threads(work, range(workers), workers))
    return matches, dict(zip(GUESSES, chances.T, strict=True))


def _screen(release: TrajectoryRelease, boxes: Ints, *, whole: bool) -> Ints:
    """Return, by released trajectory, the box in which the first known sample is, and that of the last.

    Who knows everything needs the first and the last box; who does not, the frame around all boxes.
    """
    begins, ends = release.offsets[:-1], release.offsets[1:]
    if whole:
        return np.concatenate([boxes[begins], boxes[ends - 1]], axis=1)
    sides = [
        (np.maximum if side % 2 else np.minimum).reduceat(column, begins)
        for side, column in enumerate(release.boxes)
    ]
    return np.ascontiguousarray(np.stack([*sides, *sides], axis=1))
