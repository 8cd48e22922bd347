"""Small made-up trajectories, and releases of them that no method made."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tripcloak.promises import Containment, TrajectoryPromise
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import (
    Boxes,
    TrajectoryRelease,
    TrajectorySolution,
    build_trajectory_release,
)

NEXT_TO_NOTHING = Containment(k=2)
PARIS = "+proj=laea +lat_0=48.9 +lon_0=2.3"


def made(
    *,
    users: int = 6,
    samples: int = 12,
    seed: int = 0,
    days: int = 3,
    spread: int = 60,
    grid: Grid | None = None,
) -> Trajectories:
    """Return trajectories of people who go to and fro between places of their own, all times different."""
    random = np.random.default_rng(seed)
    grid = grid or Grid(projection=PARIS)
    steps = days * 86_400 // grid.seconds
    begin = (1_700_000_000 - grid.start) // grid.seconds
    rows = []
    for user in range(users):
        places = random.integers(-spread, spread + 1, size=(4, 2))
        times = np.sort(random.choice(steps, size=min(samples, steps), replace=False))
        for t in times:
            x, y = places[random.integers(4)] + random.integers(-1, 2, size=2)
            rows.append((f"u{user:04d}", begin + t, x, y))
    user, t, x, y = zip(*rows, strict=True)
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=grid)


def without_ties(seed: int) -> Trajectories:
    """Return three people of three samples each, in places of many digits: no two merges cost the same."""
    random = np.random.default_rng(seed)
    t, x, y = (random.choice(10**6, 9, replace=False) for _ in range(3))
    return Trajectories.of(user=np.repeat([0, 1, 2], 3), t=t, x=x, y=y, grid=Grid())


def identity_release(trajectories: Trajectories) -> TrajectoryRelease:
    """Return the release in which every sample stands for itself."""
    sides = (side + d for side in (trajectories.t, trajectories.x, trajectories.y) for d in (0, 1))
    own = np.arange(trajectories.n_samples)
    return released(trajectories, trajectories.offsets, Boxes(*sides), np.arange(trajectories.n_users), own)


def one_box_release(trajectories: Trajectories) -> TrajectoryRelease:
    """Return the release in which one box that holds everything stands for everybody's samples."""
    people = trajectories.n_users
    sides = []
    for column in (trajectories.t, trajectories.x, trajectories.y):
        sides += [np.full(people, column.min()), np.full(people, column.max() + 1)]
    offsets = np.arange(people + 1)
    return released(trajectories, offsets, Boxes(*sides), np.arange(people), trajectories.owner)


def random_release(trajectories: Trajectories, *, seed: int = 0, deleting: bool = False) -> TrajectoryRelease:
    """Return a release of random runs of samples in boxes that are larger than they need be, in random order.

    With ``deleting``, the last person (of several) and about one in five runs are left out.
    """
    random = np.random.default_rng(seed)
    n, people = trajectories.n_samples, trajectories.n_users
    rows, lengths = [], []
    released_of, box_of = np.full(people, -1), np.full(n, -1)
    kept = people - 1 if deleting and people > 1 else people
    for at, person in enumerate(random.permutation(kept)):
        first, end = trajectories.offsets[person : person + 2]
        edges = [i for i in range(first + 1, end) if trajectories.t[i] > trajectories.t[i - 1]]
        cuts = [first, *(i for i in edges if random.random() < 0.5), end]
        lengths.append(0)
        for low, high in pairwise(cuts):
            if deleting and lengths[-1] and random.random() < 0.2:
                continue
            box_of[low:high] = len(rows)
            grown = random.integers(0, 5, size=4)
            x, y = trajectories.x[low:high], trajectories.y[low:high]
            box = (x.min() - grown[0], x.max() + 1 + grown[1], y.min() - grown[2], y.max() + 1 + grown[3])
            rows.append((trajectories.t[low], trajectories.t[high - 1] + 1, *box))
            lengths[-1] += 1
        released_of[person] = at
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return released(
        trajectories, offsets, Boxes(*map(np.array, zip(*rows, strict=True))), released_of, box_of
    )


def released(
    trajectories: Trajectories,
    offsets: np.ndarray,
    boxes: Boxes,
    released_of: np.ndarray,
    box_of: np.ndarray,
    promise: TrajectoryPromise = NEXT_TO_NOTHING,
) -> TrajectoryRelease:
    """Return the release of these arrays, checked as every release is."""
    solution = TrajectorySolution(offsets, boxes, released_of, box_of, {})
    return build_trajectory_release(trajectories, solution, promise=promise, method="by-hand", parameters={})
