"""What k cannot promise: who knows some moments of somebody reads off a box where it was at others."""

from __future__ import annotations

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.trajectories.attacks.originals import Settings, random_points
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

ANYBODY = 200
"""Released trajectories, drawn at random, that tell how often a box holds somebody by mere chance."""


def read_whereabouts(
    trajectories: Trajectories, release: TrajectoryRelease, rows: Ints, settings: Settings
) -> tuple[Ints, dict[str, Floats]]:
    """Return how many released trajectories fit samples of each person, and how often they hold the others.

    The attacker takes any of those that fit; he need not know which is the person's own. Asked where the
    person was at a moment of which he knows nothing, he answers with its box of that moment.

    Returns
    -------
    matches : array of int64
        Released trajectories that hold the known samples.
    chances : dict of str to array of float64
        For each person with other samples the share of these that lie within the answer: ``fitting``, by
        one of those that fit, 0 where none does; ``anybody``, by any released trajectory.

    Examples
    --------
    >>> from tripcloak.trajectories import Boxes, Grid, TrajectorySolution
    >>> from tripcloak.trajectories.release.release import build_trajectory_release
    >>> made = Trajectories.of(user=[0, 0, 1, 1], t=[0, 5, 0, 5], x=[0, 0, 9, 9], y=[0] * 4, grid=Grid())
    >>> sides = ([0, 5] * 2, [1, 6] * 2, [0, 0, 9, 9], [1, 1, 10, 10], [0] * 4, [1] * 4)
    >>> alone = Boxes(*(np.array(side) for side in sides))
    >>> solution = TrajectorySolution(np.array([0, 2, 4]), alone, np.arange(2), np.arange(4), {})
    >>> from tripcloak.promises import Containment
    >>> told = {"promise": Containment(k=2), "method": "by hand", "parameters": {}}
    >>> release = build_trajectory_release(made, solution, **told)
    >>> matches, chances = read_whereabouts(made, release, np.arange(2), Settings(1))
    >>> matches.tolist(), chances["fitting"].tolist(), chances["anybody"].tolist()
    ([1, 1], [1.0, 1.0], [0.5, 0.5])
    """
    boxes = _Boxes(release)
    every = np.stack([trajectories.t, trajectories.x, trajectories.y], axis=1).astype(np.int64)
    known = np.zeros(trajectories.n_samples, dtype=bool)
    known[random_points(trajectories, settings.known, settings.seed)] = True
    random = np.random.default_rng(settings.seed)
    anybody = np.sort(random.permutation(release.n_released)[:ANYBODY])
    matches = np.zeros(len(rows), np.int64)
    held: list[float] = []
    by_chance: list[float] = []
    for at, row in enumerate(rows):
        mine = np.arange(trajectories.offsets[row], trajectories.offsets[row + 1])
        others = every[mine[~known[mine]]]
        fitting = boxes.holding_all(every[mine[known[mine]]])
        matches[at] = len(fitting)
        if len(others):
            held.append(float(boxes.hold(fitting, others).mean()) if len(fitting) else 0.0)
            by_chance.append(float(boxes.hold(anybody, others).mean()))
    return matches, {"fitting": np.array(held), "anybody": np.array(by_chance)}


class _Boxes:
    """The boxes of released trajectories, found by time."""

    def __init__(self, release: TrajectoryRelease) -> None:
        self._boxes = np.stack(release.boxes, axis=1).astype(np.int64)
        self._owner = np.repeat(np.arange(release.n_released), np.diff(release.offsets))
        self._first = int(self._boxes[:, 0].min())
        self._span = int(self._boxes[:, 1].max()) - self._first + 2
        self._begins = self._owner * self._span + self._boxes[:, 0] - self._first
        self._everybody = np.arange(release.n_released)

    def holding_all(self, samples: Ints) -> Ints:
        """Return the released trajectories that hold all these samples."""
        rows = self._everybody
        for sample in samples:
            rows = rows[self.hold(rows, sample[None, :])[:, 0]]
        return rows

    def hold(self, rows: Ints, samples: Ints) -> Bools:
        """Return, by released trajectory and sample, whether the box of that moment holds it."""
        moment = samples[:, 0] - self._first
        key = rows[:, None] * self._span + np.clip(moment, -1, self._span - 1)[None, :]
        at = np.maximum(np.searchsorted(self._begins, key, side="right") - 1, 0)
        holds: Bools = self._owner[at] == rows[:, None]
        for axis in range(3):
            low, high = self._boxes[at, 2 * axis], self._boxes[at, 2 * axis + 1]
            holds &= (low <= samples[:, axis]) & (samples[:, axis] < high)
        return holds
