"""Which of several trajectories with the same times is the true one: by others, by meetings, by speeds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.guess import TRIED, ApartGuess
from tripcloak.trajectories.release.release import TrajectoryRelease

SEED = 0


def guess_apart(trajectories: Trajectories, release: TrajectoryRelease) -> ApartGuess:
    """Return how often a true trajectory is told from its dummies, by the best of three ways to guess.

    The attacker knows nothing but the release. He puts trajectories with the same times together, and takes

    - the one through whose cells somebody, person or dummy, of most other sets ever goes: people meet, and
      dummies are alone;
    - or the one that has a box in common with one of the others at most moments: what was turned about places
      of the true one meets it there, and the others seldom;
    - or the one whose speed is most like that a moment before: people stay, and go on.

    Which way is best for a pattern, he knows. Of equals one is drawn.

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
    people = np.flatnonzero(release.released_of >= 0)
    tried = np.sort(np.random.default_rng(SEED).permutation(people)[:TRIED])
    order = np.argsort(person, kind="stable")
    starts = np.searchsorted(person[order], np.arange(trajectories.n_users + 1))
    groups = [order[starts[one] : starts[one + 1]] for one in tried.tolist()]
    sets = _Sets.of(release, groups)
    of_sets = np.split(_company(release, person)[sets.rows], sets.begins[1:])
    ways = (of_sets, *(np.split(score, sets.begins[1:]) for score in (_meetings(sets), _steadiness(sets))))
    true = release.released_of[tried].tolist()
    chances = [list(map(_chance, groups, scores, true)) for scores in ways]
    return ApartGuess.of(max(chances, key=sum), [1 / len(group) for group in groups])


def _chance(group: Ints, score: Floats, true: int) -> float:
    """Return how likely the true one is drawn of those with the highest score."""
    best = group[score >= score.max() - 1e-12]
    return float((best == true).sum() / len(best))


class _Sets(NamedTuple):
    """The boxes of some sets of trajectories with the same times."""

    rows: Ints
    """The released trajectories, set by set."""
    begins: Ints
    """Where each set begins among them."""
    number: Ints
    """Of each box, which of these trajectories it is of."""
    which: Ints
    """Of each box, the set that its trajectory is of."""
    t: Ints
    x: Ints
    y: Ints

    @classmethod
    def of(cls, release: TrajectoryRelease, groups: list[Ints]) -> _Sets:
        rows, sizes = np.concatenate(groups), np.array([len(group) for group in groups])
        lengths = np.diff(release.offsets)[rows]
        number = np.repeat(np.arange(len(rows)), lengths)
        before = np.cumsum(lengths) - lengths
        at = np.arange(len(number)) + np.repeat(release.offsets[rows] - before, lengths)
        sides = (np.asarray(side, np.int64)[at] for side in release.boxes[::2])
        which = np.repeat(np.arange(len(groups)), sizes)[number]
        return cls(rows, np.cumsum(sizes) - sizes, number, which, *sides)


def _meetings(sets: _Sets) -> Floats:
    """Return at how many moments each trajectory has a box that another of its set has."""
    keys = (sets.y, sets.x, sets.t, sets.which)
    order = np.lexsort(keys)
    same = np.ones(len(order) - 1, dtype=bool)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    met = np.zeros(len(order), dtype=bool)
    met[order[1:]] |= same
    met[order[:-1]] |= same
    return np.bincount(sets.number, met, minlength=len(sets.rows))


def _steadiness(sets: _Sets) -> Floats:
    """Return how each trajectory's speed goes with that a moment before: a correlation, or 0."""
    mine = sets.number[1:] == sets.number[:-1]
    speed = np.hypot(np.diff(sets.x), np.diff(sets.y)) / np.where(mine, np.diff(sets.t), 1)
    rows = np.flatnonzero(mine[1:] & mine[:-1]) + 1
    whose, now, before = sets.number[rows], speed[rows], speed[rows - 1]

    def summed(values: Floats) -> Floats:
        return np.bincount(whose, values, minlength=len(sets.rows))

    many = np.maximum(summed(np.ones(len(rows))), 1)
    now, before = now - (summed(now) / many)[whose], before - (summed(before) / many)[whose]
    spread = np.sqrt(summed(now**2) * summed(before**2))
    # What rounding leaves of a steady speed is none.
    return np.where(spread > 1e-9, summed(now * before) / np.maximum(spread, 1e-9), 0.0)


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
