"""k-scale: k-anonymous trajectories without deleting or inventing a sample (Mishra and Fiore 2025).

A proxy distance finds nearest neighbours; among them merging costs are counted; a constraint says whom each
trajectory is merged with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.threads import blocks, in_threads, processors
from tripcloak.trajectories.methods.kmerge import merge_sets
from tripcloak.trajectories.methods.method import ABOUT_JOBS, TrajectoryMethod
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution

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
        from tripcloak.trajectories.methods._kernels import kscale as _kernels

        self._squares = of
        self._tree = _kernels.plant(*of, LEAF)

    def nearest(self, rows: slice, many: int) -> Ints:
        """Return the nearest other squares of each of these rows, nearest first, ties by row."""
        from tripcloak.trajectories.methods._kernels import kscale as _kernels

        return _kernels.nearest(*self._squares, *self._tree, rows.start, rows.stop, many)


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
        pickers, also = np.ascontiguousarray(pickers), np.ascontiguousarray(also)

        def of_block(block: slice) -> Floats:
            return _kernels.costs_of_picking(*fixed, pickers[block], also[block])

        return np.concatenate(list(in_threads(of_block, blocks(len(pickers), 512), self._jobs)))


PER_K = 100
"""Neighbours looked at for each of k, unless said otherwise (Mishra and Fiore 2025, III-C)."""

LEAST = 1000
"""Neighbours looked at in any case, where nothing is said: the proxy knows nothing of time."""

CHOICE = 200
"""Partners among whom people choose together: so many over k, since merges grow with k; 4 k at least."""


@dataclass(frozen=True, kw_only=True)
class KScale(TrajectoryMethod):
    """k-scale (Mishra and Fiore 2025).

    Parameters
    ----------
    neighbours
        How many candidates each trajectory has: its nearest ones by the proxy distance. 100 k if not
        given, and 1,000 at least.
    constraint
        ``nu-k-pick``: each trajectory is merged into k - 1 others, its cheapest. ``k-pick``: everybody
        also picks k - 1 others. ``full``: disjoint clusters, whose members are released as one and the same.
    picking
        How nu-k-pick is met. ``together`` (ours): each pick counts what its picker holds already.
        ``alone`` (the paper's method 1): each trajectory goes by the costs of pairs.
    jobs
        Threads that work at a time; all there are if not given. The release does not depend on it.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> made = Trajectories.of(
    ...     user=[0, 0, 1, 1, 2, 2], t=[0, 9, 1, 9, 0, 8], x=[5, 0, 6, 0, 5, 1], y=[0] * 6, grid=Grid()
    ... )
    >>> release = KScale(k=2).anonymise(made)
    >>> release.n_released, int(release.deleted.sum()), int(release.created.sum())
    (3, 0, 0)
    """

    name: ClassVar[str] = "k-scale"
    summary: ClassVar[str] = "merges each trajectory with similar ones; nothing deleted, nothing invented"
    source: ClassVar[str] = "Mishra and Fiore 2025, k-scale"

    neighbours: int | None = option(
        None,
        help="Candidates looked at for each person.",
        unset="100 k, 1,000 at least",
        metavar="N",
    )
    constraint: str = option(
        "nu-k-pick",
        help="Who is merged with whom.",
        metavar="NAME",
        values=("nu-k-pick", "k-pick", "full"),
    )
    picking: str = option(
        "together",
        help="How nu-k-pick is met: with an eye on the others or, as in the paper, by pairs.",
        metavar="NAME",
        values=("together", "alone"),
    )
    jobs: int | None = option(None, **ABOUT_JOBS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.neighbours is not None and self.neighbours < self.k - 1:
            raise InputError(
                f"each trajectory needs k - 1 = {self.k - 1} candidates or more; "
                f"raise the number of neighbours, which is {self.neighbours}"
            )

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return each trajectory merged with those it picked."""
        neighbours = min(self.neighbours or max(LEAST, PER_K * self.k), trajectories.n_users - 1)
        jobs = processors(self.jobs)
        together = self.constraint == "nu-k-pick" and self.picking == "together"
        kept = neighbours
        if self.constraint == "nu-k-pick":
            kept = min(neighbours, max(CHOICE // self.k, 4 * self.k)) if together else self.k - 1
        costs = sparse_costs(
            trajectories, neighbours=neighbours, kept=kept, by_total=together, jobs=jobs, progress=progress
        )
        if together:
            sets = pick_together(trajectories, costs, self.k, jobs=jobs, progress=progress)
        else:
            sets = CONSTRAINTS[self.constraint](costs, self.k)
        progress("merging trajectories", 0, None)
        offsets, boxes, box_of, _ = merge_sets(trajectories, sets.offsets, sets.members, jobs=jobs)
        facts = {"neighbours": neighbours, "pairs": costs.facts(), "sets": _set_facts(sets)}
        return TrajectorySolution(offsets, boxes, np.arange(trajectories.n_users), box_of, facts)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that play a part: only nu-k-pick can be met in two ways."""
        left_out = set() if self.constraint == "nu-k-pick" else {"picking"}
        return {name: value for name, value in super().parameters().items() if name not in left_out}


def _set_facts(sets: MergeSets) -> dict[str, Any]:
    """Return how many trajectories are merged into one."""
    sizes = np.diff(sets.offsets)
    return {"unpicked": sets.unpicked, "mean_size": float(sizes.mean()), "largest": int(sizes.max())}
