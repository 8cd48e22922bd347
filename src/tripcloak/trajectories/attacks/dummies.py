"""Which of several trajectories with the same times is the true one: the one that goes where others are."""

from __future__ import annotations

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.guess import TRIED, ApartGuess
from tripcloak.trajectories.release.release import TrajectoryRelease

SEED = 0


def guess_apart(trajectories: Trajectories, release: TrajectoryRelease) -> ApartGuess:
    """Return how often a true trajectory is told from its dummies, by how many others are where it goes.

    The attacker knows nothing but the release. He puts trajectories with the same times together, counts for
    each in how many of the other sets somebody, person or dummy, ever goes through the cells that it goes
    through, and takes the one with most: people meet, and dummies are alone. Of equals one is drawn.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> from tripcloak.trajectories.methods.registry import find_trajectory_method
    >>> user, x = np.repeat(np.arange(30), 9), np.tile(np.arange(9) * 20, 30)
    >>> made = Trajectories.of(user=user, t=np.tile(np.arange(9), 30), x=x, y=x, grid=Grid())
    >>> guess_apart(made, find_trajectory_method("dummies")(sd=0.6, ld=0.3).anonymise(made)).right
    100
    """
    assert release.guards is not None
    person = np.maximum(release.whose, release.guards)
    score = _company(release, person)
    people = np.flatnonzero(release.released_of >= 0)
    tried = np.sort(np.random.default_rng(SEED).permutation(people)[:TRIED])
    order = np.argsort(person, kind="stable")
    starts = np.searchsorted(person[order], np.arange(trajectories.n_users + 1))
    right, blind = [], []
    for one in tried.tolist():
        row, group = release.released_of[one], order[starts[one] : starts[one + 1]]
        best = score[group] >= score[group].max() - 1e-12
        right.append(float((group[best] == row).sum() / best.sum()))
        blind.append(1 / len(group))
    return ApartGuess.of(right, blind)


def _company(release: TrajectoryRelease, person: Ints) -> Floats:
    """Return how many sets go through the cells of each trajectory: the mean logarithm over its moments."""
    cell = max(1, int(release.parameters["cell"]) // release.grid.metres)
    x, y = (np.asarray(side, np.int64) // cell for side in (release.boxes.x0, release.boxes.y0))
    group, people = np.repeat(person, np.diff(release.offsets)), int(person.max()) + 1
    _, place = np.unique(x * (1 << 32) + y, return_inverse=True)
    # The set itself is among those who go through, so that 1 stands for nobody else.
    many: Ints = np.bincount(np.unique(place * people + group) // people, minlength=int(place.max()) + 1)
    sums = np.add.reduceat(np.log(many[place]), release.offsets[:-1])
    return np.asarray(sums / np.diff(release.offsets))
