"""Moments: the steps of time in which somebody was recorded, and the box around what was recorded in each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.trajectories.model import Trajectories


class Moments(NamedTuple):
    """Every person's steps of time with samples in them, by person and time, and the box around these."""

    owner: Ints
    t: Ints
    x0: Ints
    x1: Ints
    y0: Ints
    y1: Ints
    of_sample: Ints

    def __repr__(self) -> str:
        return f"<Moments: {len(self.t):,}>"


def moments_of(trajectories: Trajectories) -> Moments:
    """Return the moments of everybody; ends of boxes are exclusive.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> made = Trajectories.of(user=[0, 0, 0], t=[0, 0, 5], x=[1, 3, 9], y=[0] * 3, grid=Grid())
    >>> found = moments_of(made)
    >>> found.t.tolist(), found.x0.tolist(), found.x1.tolist()
    ([0, 5], [1, 9], [4, 10])
    """
    owner, t = trajectories.owner, trajectories.t
    begins = np.ones(len(t), dtype=bool)
    begins[1:] = (owner[1:] != owner[:-1]) | (t[1:] != t[:-1])
    at = np.flatnonzero(begins)
    x0, x1, y0, y1 = (
        end.reduceat(column, at).astype(np.int64)
        for column in (trajectories.x, trajectories.y)
        for end in (np.minimum, np.maximum)
    )
    return Moments(owner[at], t[at].astype(np.int64), x0, x1 + 1, y0, y1 + 1, np.cumsum(begins) - 1)
