"""The owner attack as every release tells it: the same people, the same seed, a number that may be told."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tripcloak.trajectories.attacks.attack import attack
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.guess import TRIED, OwnerGuess
from tripcloak.trajectories.release.release import TrajectoryRelease

SEED = 0


def guess_owner(trajectories: Trajectories, release: TrajectoryRelease) -> OwnerGuess | None:
    """Return how often somebody who knows all samples names the right trajectory, by the best simple guess.

    Where samples are moved, nothing need fit, and nothing is said. Where some are withheld, those are known
    that are not: who knows that a sample was withheld learns from it, too. Where trajectories are released in
    pieces, all samples of one piece are known.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.trajectories import Grid
    >>> from tripcloak.trajectories.methods.registry import find_trajectory_method
    >>> user = np.repeat(np.arange(200), 2)
    >>> made = Trajectories.of(user=user, t=np.arange(400) % 7, x=user % 9, y=user % 5, grid=Grid())
    >>> release = find_trajectory_method("glove")(k=4).anonymise(made)
    >>> guess_owner(made, release).blind
    19
    """
    if release.promise.moves_samples:
        return None
    known, told = _kept(trajectories, release) if release.promise.withholds else (trajectories, release)
    found = attack(known, "owner", release=told, people=TRIED, seed=SEED)
    best = max(found.chances.values(), key=math.fsum)
    return OwnerGuess.of(best.tolist(), found.chances["blind"].tolist())


def _kept(trajectories: Trajectories, release: TrajectoryRelease) -> tuple[Trajectories, TrajectoryRelease]:
    """Return the samples that were not withheld, of those who have any, and the release of these people."""
    kept = np.flatnonzero(release.box_of >= 0)
    if release.pieces is not None:
        whose = np.repeat(np.arange(release.n_released), np.diff(release.offsets))[release.box_of[kept]]
        order = np.argsort(whose, kind="stable")
        kept, owner, released_of = kept[order], whose[order], np.arange(release.n_released)
    else:
        owner, released_of = trajectories.owner[kept], release.released_of
    samples = np.bincount(owner, minlength=len(released_of))
    people = np.flatnonzero(samples)
    left = Trajectories(
        grid=trajectories.grid,
        offsets=np.concatenate(([0], np.cumsum(samples[people]))),
        **{column: getattr(trajectories, column)[kept] for column in "txy"},
    )
    box_of = release.box_of[kept]
    return left, replace(release, released_of=released_of[people], box_of=box_of, pieces=None)
