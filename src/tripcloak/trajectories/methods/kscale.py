"""k-scale: k-anonymous trajectories without deleting or inventing a sample (Mishra and Fiore 2025).

A proxy distance finds nearest neighbours; among them merging costs are counted; a constraint says whom each
trajectory is merged with.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.trajectories.methods.devices import Chains, Device, find_device
from tripcloak.trajectories.methods.grouping import PARTNERS, best_groups
from tripcloak.trajectories.methods.kmerge import merge_groups
from tripcloak.trajectories.methods.method import ABOUT_DEVICE, ABOUT_JOBS, HidingMethod
from tripcloak.trajectories.methods.partners import SparseCosts
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution

if TYPE_CHECKING:
    from tripcloak.engines.spark import Cluster


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


PICKS = {"nu-k-pick": nu_k_pick, "k-pick": k_pick}
"""The constraints under which people are picked, each with the paper's way to meet it."""


ROUNDS = 64
"""In so many rounds people choose; within a round they do not see each other's choice."""


def pick_together(
    trajectories: Trajectories, costs: SparseCosts, k: int, *, device: Device, progress: Progress
) -> MergeSets:
    """Return sets under which each trajectory is picked by the k - 1 partners that lose least by it.

    The rule of Mishra and Fiore (2025, method 1) lets each one be picked by its cheapest partners, whoever
    else they pick; a few that are cheap for many then hold so much that they are hardly worth
    publishing. Here people choose one after the other, those who are hardest to hide first, and what a
    partner loses is counted with all it has picked so far: the growth of its own cost (eq. 4, summed
    over its samples). The constraint is the same, and so is the promise.
    """
    picks = _Picks(trajectories, costs, k, device)
    order = np.argsort(-costs.costs[:, 0], kind="stable")
    rounds = np.array_split(order, min(ROUNDS, len(order)))
    for done, rows in enumerate(rounds, start=1):
        picks.choose(rows)
        progress("choosing whom to merge", done, len(rounds))
    return picks.sets()


class _Picks:
    """Who picked whom so far, and what each one's own samples cost with that; arrays are the device's."""

    def __init__(self, trajectories: Trajectories, costs: SparseCosts, k: int, device: Device) -> None:
        n, xp = trajectories.n_users, device.arrays
        device.lay_out(trajectories, costs.partners)
        self._trajectories, self._device, self._k = trajectories, device, k
        self._partners = costs.partners
        self._lengths = xp.asarray(trajectories.lengths)
        # Pick p is of trajectory p // (k - 1).
        self._chains = Chains(
            last=xp.full(n, -1),
            before=xp.full(n * (k - 1), -1),
            picked=xp.arange(n * (k - 1)) // (k - 1),
            samples=self._lengths.copy(),
            members=xp.ones(n, dtype=np.int64),
        )
        self._picker = np.empty(n * (k - 1), dtype=np.int64)
        # Who picks nobody is merged with its cheapest partner all the same: that is lost already.
        self._cost = self._costs(xp.arange(n), xp.asarray(costs.partners[:, 0], dtype=np.int64))
        self._changed = xp.empty(0, dtype=np.int64)

    def choose(self, rows: Ints) -> None:
        """Let each of these be picked by the k - 1 of its partners whose cost grows least."""
        xp = self._device.arrays
        pickers = xp.asarray(self._partners[rows], dtype=np.int64)
        also = xp.asarray(np.repeat(rows, pickers.shape[1]))
        # One question for both: where another machine answers, asking takes its time.
        asked = xp.concatenate((self._changed, pickers.ravel()))
        costs = self._costs(asked, xp.concatenate((xp.full(len(self._changed), -1), also)))
        self._cost[self._changed] = costs[: len(self._changed)]
        growth = costs[len(self._changed) :].reshape(pickers.shape) - self._cost[pickers]
        least = self._device.least(growth, pickers, self._k - 1)
        self._chain(rows, least.ravel())
        self._changed = xp.unique(least)

    def _chain(self, rows: Ints, pickers: Any) -> None:
        """Put the picks of these rows at the ends of their pickers' chains."""
        xp, (last, before, picked, samples, members) = self._device.arrays, self._chains
        picks = xp.asarray((rows[:, None] * (self._k - 1) + np.arange(self._k - 1)).ravel())
        self._picker[self._device.fetch(picks)] = self._device.fetch(pickers)
        order = xp.argsort(pickers, kind="stable")
        pickers, picks = pickers[order], picks[order]
        begins = xp.ones(len(picks), dtype=bool)
        begins[1:] = pickers[1:] != pickers[:-1]
        before[picks[1:]] = picks[:-1]
        before[picks[begins]] = last[pickers[begins]]
        ends = xp.roll(begins, -1)
        last[pickers[ends]] = picks[ends]
        members += xp.bincount(pickers, minlength=len(members))
        grown = xp.bincount(pickers, weights=self._lengths[picked[picks]], minlength=len(samples))
        samples += grown.astype(np.int64)

    def sets(self) -> MergeSets:
        """Return each trajectory with those it picked, or with its cheapest partner."""
        n = self._trajectories.n_users
        picked = np.repeat(np.arange(n), self._k - 1)
        return picked_sets(n, self._picker, picked, self._partners[:, 0])

    def _costs(self, pickers: Any, also: Any) -> Any:
        return self._device.costs_of_picking(self._trajectories, self._chains, pickers, also)


PER_K = 100
"""Neighbours looked at for each of k, unless said otherwise (Mishra and Fiore 2025, III-C)."""

LEAST = 1000
"""Neighbours looked at in any case, where nothing is said: the proxy knows nothing of time."""

CHOICE = 200
"""Partners among whom people choose together: so many over k, since merges grow with k; 4 k at least."""


@dataclass(frozen=True, kw_only=True)
class KScale(HidingMethod):
    """k-scale (Mishra and Fiore 2025).

    Parameters
    ----------
    neighbours
        How many candidates each trajectory has: its nearest ones by the proxy distance. 100 k if not
        given, and 1,000 at least.
    constraint
        ``full``: disjoint groups of k or more, found by local search, whose members are released as one and
        the same, so that a guess is right one time in k. ``nu-k-pick``: each trajectory is merged into
        k - 1 others, its cheapest; boxes are smaller, and simple guesses are right far more often than
        one time in k. ``k-pick``: everybody also picks k - 1 others.
    picking
        How nu-k-pick is met. ``together`` (ours): each pick counts what its picker holds already.
        ``alone`` (the paper's method 1): each trajectory goes by the costs of pairs.
    jobs
        Threads that work at a time; all there are if not given. The release does not depend on it.
    device
        ``gpu``: neighbours, costs, picks and merges on an NVIDIA GPU. ``auto``: so, if there is one. The
        release does not depend on it.

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
        "full",
        help="Who is merged with whom.",
        metavar="NAME",
        values=("full", "nu-k-pick", "k-pick"),
    )
    picking: str = option(
        "together",
        help="How nu-k-pick is met: with an eye on the others or, as in the paper, by pairs.",
        metavar="NAME",
        values=("together", "alone"),
    )
    jobs: int | None = option(None, **ABOUT_JOBS)
    device: str = option("auto", **ABOUT_DEVICE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.neighbours is not None and self.neighbours < self.k - 1:
            raise InputError(
                f"each trajectory needs k - 1 = {self.k - 1} candidates or more; "
                f"raise the number of neighbours, which is {self.neighbours}"
            )

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return each trajectory merged with its group, or with those it picked."""
        if self.picking == "alone" and self.constraint != "nu-k-pick":
            raise InputError(
                f"{spelt('picking', 'alone')} is a way to meet nu-k-pick, and the constraint is "
                f"{self.constraint}; add {spelt('constraint', 'nu-k-pick')}, or leave it out"
            )
        neighbours = min(self.neighbours or max(LEAST, PER_K * self.k), trajectories.n_users - 1)
        device = self.worker()
        together = self.constraint == "nu-k-pick" and self.picking == "together"
        costs = device.sparse_costs(
            trajectories,
            neighbours=neighbours,
            kept=self._kept(neighbours),
            by_total=together,
            progress=progress,
        )
        facts = {"neighbours": neighbours, "pairs": costs.facts()}
        if self.constraint == "full":
            found = best_groups(
                trajectories, costs, self.k, neighbours=neighbours, jobs=device.jobs, progress=progress
            )
            progress("merging trajectories", 0, None)
            return merge_groups(trajectories, found.groups, {**facts, "search": found.facts}, found.rates)
        if together:
            sets = pick_together(trajectories, costs, self.k, device=device, progress=progress)
        else:
            sets = PICKS[self.constraint](costs, self.k)
        progress("merging trajectories", 0, None)
        offsets, boxes, box_of, _ = device.merge_sets(trajectories, sets.offsets, sets.members)
        facts["sets"] = _set_facts(sets)
        return TrajectorySolution(offsets, boxes, np.arange(trajectories.n_users), box_of, facts)

    def worker(self) -> Device:
        """Return what does the heavy work."""
        return find_device(self.device, self.jobs)

    def require_cluster(self) -> None:
        """Raise where the search for groups would need everybody's samples on one machine."""
        if self.constraint == "full":
            others = f"{spelt('constraint', 'nu-k-pick')} and {spelt('constraint', 'k-pick')}"
            raise InputError(
                f"{spelt('constraint', 'full')} looks for groups among everybody again and again, and needs "
                f"their samples on one machine; on a cluster there are {others}, which promise the same k "
                f"with less against guesses; or leave out {spelt('engine', 'spark')}"
            )
        if self.device == "gpu":
            raise InputError(
                f"a cluster works with processors; leave out {spelt('device', 'gpu')} or "
                f"{spelt('engine', 'spark')}"
            )

    def on_cluster(self, cluster: Cluster) -> KScale:
        """Return k-scale by blocks of people, on a cluster."""
        from tripcloak.trajectories.methods.spark import SpreadKScale

        self.require_cluster()
        return SpreadKScale(**{one.name: getattr(self, one.name) for one in fields(self)}, cluster=cluster)

    def _kept(self, neighbours: int) -> int:
        """Return how many of its cheapest candidates are kept of each trajectory."""
        if self.constraint == "full":
            return min(neighbours, max(PARTNERS, 4 * self.k))
        if self.constraint == "k-pick":
            return neighbours
        return (
            min(neighbours, max(CHOICE // self.k, 4 * self.k)) if self.picking == "together" else self.k - 1
        )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that play a part: only nu-k-pick can be met in two ways."""
        left_out = set() if self.constraint == "nu-k-pick" else {"picking"}
        return {name: value for name, value in super().parameters().items() if name not in left_out}


def _set_facts(sets: MergeSets) -> dict[str, Any]:
    """Return how many trajectories are merged into one."""
    sizes = np.diff(sets.offsets)
    return {"unpicked": sets.unpicked, "mean_size": float(sizes.mean()), "largest": int(sizes.max())}
