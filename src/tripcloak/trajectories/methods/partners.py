"""Whom a trajectory may be merged with: its nearest ones by a proxy distance, and the cheapest of these.

Mishra and Fiore 2025, III-B and III-C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.progress import Progress
from tripcloak.ground.threads import blocks, in_threads
from tripcloak.trajectories.model import Trajectories

LEAF = 32
"""Squares in a leaf of the tree."""

SQUARES = 1 << 13
"""Trajectories whose squares one thread finds at a time."""


class Squares(NamedTuple):
    """The square of each trajectory: centre of mass, and the radius of gyration as half its side.

    In steps of the grid. A trajectory that never moves has half a step: a sample is a box itself.
    """

    x: Floats
    y: Floats
    half: Floats


def squares(trajectories: Trajectories, *, jobs: int = 1) -> Squares:
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
    parts = in_threads(
        lambda people: _squares(trajectories, people), blocks(trajectories.n_users, SQUARES), jobs
    )
    return Squares(*map(np.concatenate, zip(*parts, strict=True)))


def _squares(trajectories: Trajectories, people: slice) -> Squares:
    """Return the squares of some people."""
    bounds = trajectories.offsets[people.start : people.stop + 1]
    own = slice(bounds[0], bounds[-1])
    begins, lengths = bounds[:-1] - bounds[0], np.diff(bounds)
    places = [column[own].astype(np.float64) for column in (trajectories.x, trajectories.y)]
    x, y = (np.add.reduceat(place, begins) / lengths for place in places)
    spent = np.diff(trajectories.t[own].astype(np.float64), append=0.0)
    spent[begins + lengths - 1] = 1.0
    apart = (places[0] - np.repeat(x, lengths)) ** 2 + (places[1] - np.repeat(y, lengths)) ** 2
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
        from tripcloak.trajectories.methods._kernels import kscale as _kernels

        self._squares = of
        self.parts = _kernels.plant(*of, LEAF)

    def nearest(self, rows: slice, many: int) -> Ints:
        """Return the nearest other squares of each of these rows, nearest first, ties by row."""
        from tripcloak.trajectories.methods._kernels import kscale as _kernels

        return _kernels.nearest(*self._squares, *self.parts, rows.start, rows.stop, many)


ROWS = 256
"""Trajectories whose candidates one thread takes at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseCosts:
    """The cheapest partners of each trajectory among its nearest ones, cheapest first.

    Attributes
    ----------
    partners : array of int32, one row a trajectory
        Whom to merge with; ties in cost by row.
    costs : array of float
        The cost of that merge in steps: its mean a sample, or its total.
    passed_over, given_up, merged : int
        How many candidate pairs a bound ruled out before the merge, during it, or not at all.
    """

    partners: Ints
    costs: Floats
    passed_over: int
    given_up: int
    merged: int

    def facts(self) -> dict[str, Any]:
        """Return how many pairs there were and how many the bounds spared."""
        pairs = self.passed_over + self.given_up + self.merged
        return {
            "candidates": pairs,
            "passed_over": self.passed_over,
            "given_up": self.given_up,
            "merged": self.merged,
            "spared": 1 - self.merged / pairs,
        }


def sparse_costs(
    trajectories: Trajectories,
    *,
    neighbours: int,
    kept: int,
    by_total: bool = False,
    jobs: int,
    progress: Progress,
) -> SparseCosts:
    """Return the ``kept`` cheapest partners of each trajectory among its ``neighbours`` nearest ones.

    Costs are symmetric: the mean over the samples of both (eq. 4), or their sum. What is kept is exact;
    of the rest, most is never merged to the end, since its cost is known to be too high before that.
    """
    from tripcloak.trajectories.methods._kernels import kscale as _kernels

    tree = SquareTree(squares(trajectories, jobs=jobs))
    columns = trajectories.t, trajectories.x, trajectories.y, trajectories.offsets
    extent = extent_of(trajectories)

    def of_block(rows: slice) -> tuple[Ints, Floats, Ints]:
        candidates = tree.nearest(rows, neighbours)
        return _kernels.cheapest(*columns, extent, rows.start, candidates, kept, by_total)

    found, done = [], 0
    for block in in_threads(of_block, blocks(trajectories.n_users, ROWS), jobs):
        found.append(block)
        done += len(block[0])
        progress("comparing trajectories", done, trajectories.n_users)
    partners, costs, tallies = zip(*found, strict=True)
    passed_over, given_up, merged = (int(part) for part in np.sum(tallies, axis=0))
    return SparseCosts(
        partners=np.concatenate(partners),
        costs=np.concatenate(costs),
        passed_over=passed_over,
        given_up=given_up,
        merged=merged,
    )


def extent_of(trajectories: Trajectories) -> Ints:
    """Return the least and greatest x and y of each trajectory."""
    begins = trajectories.offsets[:-1]
    sides = [
        ends.reduceat(column, begins)
        for column in (trajectories.x, trajectories.y)
        for ends in (np.minimum, np.maximum)
    ]
    return np.stack(sides, axis=1)
