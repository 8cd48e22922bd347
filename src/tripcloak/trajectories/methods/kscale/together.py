"""Picking together: nu-k-pick in which every pick counts what its picker holds already."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.trajectories.merging.kmerge import blocks, in_threads
from tripcloak.trajectories.methods.base import Progress
from tripcloak.trajectories.methods.kscale.constraints import MergeSets, picked_sets
from tripcloak.trajectories.methods.kscale.costs import SparseCosts
from tripcloak.trajectories.trajectories import Trajectories

ROUNDS = 64
"""In so many rounds people choose; within a round they do not see each other's choice."""


def pick_together(
    trajectories: Trajectories, costs: SparseCosts, k: int, *, jobs: int, progress: Progress
) -> MergeSets:
    """Return sets under which each trajectory is picked by the k - 1 partners that lose least by it.

    The paper's rule (002, algorithm 1) lets each trajectory be picked by its cheapest partners, whoever
    else they pick; a few that are cheap for many then hold so much that they are hardly worth
    publishing. Here people choose one after the other, those who are hardest to hide first, and what a
    partner loses is counted with all it has picked so far: the growth of its own cost (eq. 4, summed
    over its samples). The constraint is the same, and so is the promise.
    """
    picks = _Picks(trajectories, costs, k, jobs)
    order = np.argsort(-costs.costs[:, 0], kind="stable")
    rounds = np.array_split(order, min(ROUNDS, len(order)))
    for done, rows in enumerate(rounds, start=1):
        picks.choose(rows)
        progress("choosing whom to merge", done, len(rounds))
    return picks.sets()


class _Picks:
    """Who picked whom so far, and what each one's own samples cost with that."""

    def __init__(self, trajectories: Trajectories, costs: SparseCosts, k: int, jobs: int) -> None:
        n = trajectories.n_users
        self._trajectories = trajectories
        self._partners = costs.partners.astype(np.int64)
        self._k, self._jobs = k, jobs
        # Pick p is of trajectory p // (k - 1); the picks of one picker are chained from its last one.
        self._picked = np.repeat(np.arange(n), k - 1)
        self._before = np.full(n * (k - 1), -1)
        self._last = np.full(n, -1)
        # Who picks nobody is merged with its cheapest partner all the same: that is lost already.
        self._cost = self._costs(np.arange(n), self._partners[:, 0])

    def choose(self, rows: Ints) -> None:
        """Let each of these be picked by the k - 1 of its partners whose cost grows least."""
        pickers = self._partners[rows]
        also = np.repeat(rows, pickers.shape[1])
        growth = self._costs(pickers.ravel(), also).reshape(pickers.shape) - self._cost[pickers]
        least = np.take_along_axis(pickers, np.lexsort((pickers, growth), axis=1)[:, : self._k - 1], axis=1)
        for row, chosen in zip(rows, least, strict=True):
            for nth, picker in enumerate(chosen):
                pick = row * (self._k - 1) + nth
                self._before[pick], self._last[picker] = self._last[picker], pick
        changed = np.unique(least)
        self._cost[changed] = self._costs(changed, np.full(len(changed), -1))

    def sets(self) -> MergeSets:
        """Return each trajectory with those it picked, or with its cheapest partner."""
        n = len(self._last)
        picker = np.empty(len(self._picked), dtype=np.int64)
        for one in range(n):
            pick = self._last[one]
            while pick >= 0:
                picker[pick] = one
                pick = self._before[pick]
        return picked_sets(n, picker, self._picked, self._partners[:, 0])

    def _costs(self, pickers: Ints, also: Ints) -> Floats:
        from tripcloak.trajectories.methods.kscale import _kernels

        made = self._trajectories
        fixed = made.t, made.x, made.y, made.offsets, self._last, self._before, self._picked

        def of_block(block: slice) -> Floats:
            return _kernels.costs_of_picking(*fixed, pickers[block], also[block])

        return np.concatenate(list(in_threads(of_block, blocks(len(pickers), 512), self._jobs)))
