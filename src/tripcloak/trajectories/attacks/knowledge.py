"""What an attacker knows of somebody: some samples, chosen at random but the same for the same seed."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.trajectories.attacks.index import Index
from tripcloak.trajectories.trajectories import Trajectories


def random_points(trajectories: Trajectories, known: int, seed: int) -> Ints:
    """Return samples of everybody, ``known`` of each or all where there are fewer, as ascending rows.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> made = Trajectories.of(user=[0, 0, 0, 1], t=[0, 1, 2, 0], x=[0] * 4, y=[0] * 4, grid=Grid())
    >>> len(random_points(made, 2, seed=0))
    3
    """
    drawn = np.random.default_rng(seed).random(trajectories.n_samples)
    order = np.lexsort((drawn, trajectories.owner))
    place = np.arange(trajectories.n_samples) - trajectories.offsets[trajectories.owner]
    return np.sort(order[place < known])


def random_window(trajectories: Trajectories, hours: int, seed: int) -> Ints:
    """Return all samples of everybody in a window of time that begins with one of theirs."""
    random = np.random.default_rng(seed)
    chosen = trajectories.offsets[:-1] + (random.random(trajectories.n_users) * trajectories.lengths).astype(
        np.int64
    )
    begin = trajectories.t[chosen].astype(np.int64)[trajectories.owner]
    length = max(1, hours * 3600 // trajectories.grid.seconds)
    return np.flatnonzero((trajectories.t >= begin) & (trajectories.t < begin + length))


def top_places(index: Index, known: int) -> tuple[Ints, Ints]:
    """Return where the places of each person begin, and the codes of those that are visited most."""
    n = len(index.offsets) - 1
    owner = np.repeat(np.arange(n), np.diff(index.offsets))
    # By visits, descending; of equals the place that comes first on the map.
    order = np.lexsort((index.codes, -index.values, owner))
    chosen = order[np.arange(len(owner)) - index.offsets[owner] < known]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(owner[chosen], minlength=n))))
    return offsets, index.codes[chosen]


def only(trajectories: Trajectories, samples: Ints) -> Trajectories:
    """Return the trajectories with these samples alone, ascending rows; everybody keeps one or more."""
    sizes = np.bincount(trajectories.owner[samples], minlength=trajectories.n_users)
    return Trajectories(
        grid=trajectories.grid,
        offsets=np.concatenate(([0], np.cumsum(sizes))),
        t=trajectories.t[samples],
        x=trajectories.x[samples],
        y=trajectories.y[samples],
    )
