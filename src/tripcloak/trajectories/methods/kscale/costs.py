"""The sparse matrix of merging costs: each trajectory's candidates, and what merging with them costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.trajectories.merging.kmerge import blocks, in_threads
from tripcloak.trajectories.methods.base import Progress
from tripcloak.trajectories.methods.kscale.proxy import SquareTree, squares
from tripcloak.trajectories.trajectories import Trajectories

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
    from tripcloak.trajectories.methods.kscale import _kernels

    tree = SquareTree(squares(trajectories))
    columns = trajectories.t, trajectories.x, trajectories.y, trajectories.offsets
    extent = _extent(trajectories)

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


def _extent(trajectories: Trajectories) -> Ints:
    """Return the least and greatest x and y of each trajectory."""
    begins = trajectories.offsets[:-1]
    sides = [
        ends.reduceat(column, begins)
        for column in (trajectories.x, trajectories.y)
        for ends in (np.minimum, np.maximum)
    ]
    return np.stack(sides, axis=1)
