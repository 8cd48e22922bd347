"""Who of those that fit: simple guesses at the released trajectory that was made of somebody's samples."""

from __future__ import annotations

import os

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.trajectories.attacks.knowledge import only, random_points
from tripcloak.trajectories.attacks.originals import Settings
from tripcloak.trajectories.audit.containment import in_threads
from tripcloak.trajectories.release import TrajectoryRelease
from tripcloak.trajectories.trajectories import Trajectories

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
    >>> from tripcloak.trajectories import Boxes, Grid, Solution
    >>> from tripcloak.trajectories.release import build_trajectory_release
    >>> made = Trajectories.of(user=[0, 1], t=[0, 1], x=[0, 0], y=[0, 0], grid=Grid())
    >>> wide = Boxes(*(np.array(side) for side in ([0, 0], [2, 3], [0, 0], [1, 1], [0, 0], [1, 1])))
    >>> solution = Solution(np.array([0, 1, 2]), wide, np.array([0, 1]), np.array([0, 1]), {})
    >>> told = {"promise": "containment", "method": "by hand", "parameters": {}, "k": 2}
    >>> release = build_trajectory_release(made, solution, **told)
    >>> matches, chances = name_owners(made, release, np.arange(2), None, Settings(0))
    >>> matches.tolist(), chances["blind"].tolist(), chances["shortest"].tolist()
    ([2, 2], [0.5, 0.5], [1.0, 0.0])
    """
    from tripcloak.trajectories.attacks.after._kernels import guess_owners

    if known is not None:
        trajectories = only(trajectories, random_points(trajectories, known, settings.seed))
    samples = trajectories.take(rows)
    boxes = np.ascontiguousarray(np.stack(release.boxes, axis=1))
    lengths = (release.boxes.t1 - release.boxes.t0).astype(np.int64)
    told = (release.offsets, boxes, np.add.reduceat(lengths, release.offsets[:-1]))
    screen = _screen(release, boxes, whole=known is None)
    matches, chances = np.zeros(len(rows), np.int64), np.zeros((len(rows), len(GUESSES)))
    workers = settings.jobs or os.cpu_count() or 1
    own = release.released_of[rows].astype(np.int64)

    def work(worker: int) -> None:
        mine = np.arange(worker, len(rows), workers)
        columns = (samples.offsets, samples.t, samples.x, samples.y)
        guess_owners(mine, own, *columns, *told, screen, known is None, matches, chances)

    in_threads(work, workers)
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
