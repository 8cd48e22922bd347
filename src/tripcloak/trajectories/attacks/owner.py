"""The owner attack as every release tells it: the same people, the same seed, a number that may be told."""

from __future__ import annotations

import math

from tripcloak.trajectories.attacks.attack import attack
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.guess import TRIED, OwnerGuess
from tripcloak.trajectories.release.release import TrajectoryRelease

SEED = 0


def guess_owner(trajectories: Trajectories, release: TrajectoryRelease) -> OwnerGuess | None:
    """Return how often somebody who knows all samples names the right trajectory, by the best simple guess.

    Where samples are moved, nothing need fit, and nothing is said.

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
    found = attack(trajectories, "owner", release=release, people=TRIED, seed=SEED)
    best = max(found.chances.values(), key=math.fsum)
    return OwnerGuess.of(best.tolist(), found.chances["blind"].tolist())
