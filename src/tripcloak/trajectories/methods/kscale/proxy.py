"""The proxy distance of k-scale, and each trajectory's nearest ones by it (paper 002 III-B, III-C)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.trajectories.trajectories import Trajectories

LEAF = 32
"""Squares in a leaf of the tree."""


class Squares(NamedTuple):
    """The square of each trajectory: centre of mass, and the radius of gyration as half its side.

    In steps of the grid. A trajectory that never moves has half a step: a sample is a box itself.
    """

    x: Floats
    y: Floats
    half: Floats


def squares(trajectories: Trajectories) -> Squares:
    """Return each trajectory's square.

    The centre is the mean of all samples; the radius weighs each sample by the time until the next
    one (the last: one step), as the paper's footnote 5 does.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> one = Trajectories.of(user=[0, 0, 0], t=[0, 1, 2], x=[0, 0, 6], y=[1, 1, 1], grid=Grid())
    >>> [side.round(3).tolist() for side in squares(one)]
    [[2.0], [1.0], [2.828]]
    """
    begins = trajectories.offsets[:-1]
    places = [column.astype(np.float64) for column in (trajectories.x, trajectories.y)]
    x, y = (np.add.reduceat(place, begins) / trajectories.lengths for place in places)
    spent = np.diff(trajectories.t.astype(np.float64), append=0.0)
    spent[trajectories.offsets[1:] - 1] = 1.0
    owner = trajectories.owner
    apart = (places[0] - x[owner]) ** 2 + (places[1] - y[owner]) ** 2
    radius = np.sqrt(np.add.reduceat(spent * apart, begins) / np.add.reduceat(spent, begins))
    return Squares(x, y, np.maximum(radius, 0.5))


class SquareTree:
    """Squares in a tree, to find the nearest ones.

    The distance is (1 - c) / (1 + c) where squares overlap, c being twice their common area over the
    sum of their areas, and 1 plus the Manhattan distance of their centres where they do not. (The
    paper divides by the union; twice the common area over the union is 2 for equal squares, and the
    distance would be negative. By their order alone both are the same.)

    Nodes are boxes of centres and half sides. The proxy is no metric, so their bounds come from the
    greatest overlap a square of the node can have, not from the triangle inequality: exact all the same.

    Examples
    --------
    >>> import numpy as np
    >>> tree = SquareTree(Squares(np.array([0.0, 1, 50]), np.zeros(3), np.ones(3)))
    >>> tree.nearest(slice(0, 3), 1).tolist()
    [[1], [0], [1]]
    """

    def __init__(self, of: Squares) -> None:
        from tripcloak.trajectories.methods.kscale import _kernels

        self._squares = of
        self._tree = _kernels.plant(*of, LEAF)

    def nearest(self, rows: slice, many: int) -> Ints:
        """Return the nearest other squares of each of these rows, nearest first, ties by row."""
        from tripcloak.trajectories.methods.kscale import _kernels

        return _kernels.nearest(*self._squares, *self._tree, rows.start, rows.stop, many)
