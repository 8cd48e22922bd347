"""Whom each trajectory is merged with: the three constraints of the paper, picked alone or together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.progress import Progress
from tripcloak.ground.threads import blocks, in_threads
from tripcloak.trajectories.methods.kscale.costs import SparseCosts
from tripcloak.trajectories.model import Trajectories


class MergeSets(NamedTuple):
    """One set of trajectories for each released one: itself first, then those merged into it."""

    offsets: Ints
    members: Ints
    unpicked: int = 0
    """How many picked nobody, and are merged with their cheapest partner all the same."""


def nu_k_pick(costs: SparseCosts, k: int) -> MergeSets:
    """Return sets under which each trajectory is picked by its k - 1 cheapest partners.

    Trajectory j is released merged with everybody whom it picked; one that picked nobody is merged with
    its cheapest partner, for its resolution would give it away.
    """
    n = len(costs.partners)
    picker = costs.partners[:, : k - 1].ravel().astype(np.int64)
    return picked_sets(n, picker, np.repeat(np.arange(n), k - 1), costs.partners[:, 0])


def k_pick(costs: SparseCosts, k: int) -> MergeSets:
    """Return sets under which everybody picks k - 1 others and is picked by k - 1 others.

    k - 1 rounds, in each of which everybody picks one and is picked by one (closed cycles), at the least
    total cost there is for that round; nobody picks the same one twice.

    Raises
    ------
    ImpossibleRequestError
        Where the candidates do not allow it.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n, many = costs.partners.shape
    left, right = np.repeat(np.arange(n), many), costs.partners.ravel().astype(np.int64)
    pairs = np.concatenate((left * n + right, right * n + left))
    keys, first = np.unique(pairs, return_index=True)
    weights = _whole(np.concatenate((costs.costs.ravel(),) * 2)[first], n)
    chosen = []
    for _ in range(k - 1):
        graph = csr_array((weights, (keys // n, keys % n)), shape=(n, n))
        try:
            picker, picked = min_weight_full_bipartite_matching(graph)
        except ValueError:
            raise ImpossibleRequestError(
                f"not possible: among the {many} candidates of each trajectory there is no way for "
                f"everybody to pick {k - 1} others and be picked by as many; raise the number of "
                "neighbours, or use the constraint nu-k-pick, which always has an answer"
            ) from None
        chosen.append(picker.astype(np.int64) * n + picked)
        left_over = ~np.isin(keys, chosen[-1])
        keys, weights = keys[left_over], weights[left_over]
    picks = np.concatenate(chosen)
    return picked_sets(n, picks // n, picks % n)


def full(costs: SparseCosts, k: int) -> MergeSets:
    """Return disjoint clusters of k trajectories or more; all of a cluster are released as one and the same.

    Trajectories whose k - 1 cheapest partners are cheap come first, each with its cheapest partners that
    are still free. Who is left without k - 1 free partners joins the cluster of the cheapest one.
    """
    cluster = _seeded_clusters(costs, k)
    n = len(cluster)
    order = np.argsort(cluster, kind="stable")
    sizes = np.bincount(cluster)
    begins = np.concatenate(([0], np.cumsum(sizes)))
    lengths = sizes[cluster]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    members = order[np.arange(offsets[-1]) + np.repeat(begins[cluster] - offsets[:-1], lengths)]
    # The first member of a set is the one it is released as.
    mine = np.flatnonzero(members == np.repeat(np.arange(n), lengths))
    members[mine] = members[offsets[:-1]]
    members[offsets[:-1]] = np.arange(n)
    return MergeSets(offsets, members)


def _seeded_clusters(costs: SparseCosts, k: int) -> Ints:
    """Return the cluster of each trajectory."""
    n = len(costs.partners)
    cluster = np.full(n, -1)
    n_clusters = 0
    for seed in np.argsort(costs.costs[:, k - 2], kind="stable"):
        if cluster[seed] >= 0:
            continue
        free = costs.partners[seed][cluster[costs.partners[seed]] < 0][: k - 1]
        if len(free) == k - 1:
            cluster[seed], cluster[free] = n_clusters, n_clusters
            n_clusters += 1
    # Whoever is left has a settled partner: it was passed over because one of its k - 1 or more was taken.
    for one in np.flatnonzero(cluster < 0):
        partners = costs.partners[one]
        cluster[one] = cluster[partners[cluster[partners] >= 0][0]]
    return cluster


def _whole(costs: Floats, n: int) -> Floats:
    """Return costs as whole numbers of the finest unit in which sums of n of them stay exact.

    The solver shifts costs by differences of costs, and need not come to an end where these are rounded.
    """
    unit = 2.0 ** np.ceil(np.log2(costs.max() * n) - 50)
    whole: Floats = np.maximum(np.round(costs / unit), 1.0)
    return whole


def picked_sets(n: int, picker: Ints, picked: Ints, cheapest: Ints | None = None) -> MergeSets:
    """Return each trajectory with those it picked, itself first, the others by row.

    Who picked nobody gets its cheapest partner.

    >>> picked_sets(3, np.array([0, 0, 1]), np.array([1, 2, 0]), np.array([1, 0, 0])).members.tolist()
    [0, 1, 2, 1, 0, 2, 0]
    """
    idle = np.setdiff1d(np.arange(n), picker)
    if cheapest is not None:
        picker = np.concatenate((picker, idle))
        picked = np.concatenate((picked, cheapest[idle]))
    order = np.lexsort((picked, picker))
    picker, picked = picker[order], picked[order]
    lengths = np.bincount(picker, minlength=n) + 1
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    members = np.empty(offsets[-1], dtype=np.int64)
    members[offsets[:-1]] = np.arange(n)
    others = np.ones(len(members), dtype=bool)
    others[offsets[:-1]] = False
    members[others] = picked
    return MergeSets(offsets, members, len(idle))


CONSTRAINTS = {"nu-k-pick": nu_k_pick, "k-pick": k_pick, "full": full}
"""The paper's constraints by name, each with the paper's way to meet it."""


ROUNDS = 64
"""In so many rounds people choose; within a round they do not see each other's choice."""


def pick_together(
    trajectories: Trajectories, costs: SparseCosts, k: int, *, jobs: int, progress: Progress
) -> MergeSets:
    """Return sets under which each trajectory is picked by the k - 1 partners that lose least by it.

    The rule of Mishra and Fiore (2025, method 1) lets each one be picked by its cheapest partners, whoever
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
        from tripcloak.trajectories.methods._kernels import kscale as _kernels

        made = self._trajectories
        fixed = made.t, made.x, made.y, made.offsets, self._last, self._before, self._picked

        def of_block(block: slice) -> Floats:
            return _kernels.costs_of_picking(*fixed, pickers[block], also[block])

        return np.concatenate(list(in_threads(of_block, blocks(len(pickers), 512), self._jobs)))
