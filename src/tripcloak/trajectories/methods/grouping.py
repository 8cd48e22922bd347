"""Groups of k people or more with small merges, by local search: what ``full`` releases.

Everybody of a group is released as one and the same, so that a guess among them is right one time in k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.progress import Progress
from tripcloak.ground.threads import blocks, in_threads
from tripcloak.trajectories.methods.kmerge import Rates, k_merge
from tripcloak.trajectories.methods.matching import better_pairs, price_pairs
from tripcloak.trajectories.methods.partners import SparseCosts, sparse_costs
from tripcloak.trajectories.methods.pivots import ranges
from tripcloak.trajectories.model import Trajectories

PARTNERS = 100
"""Cheapest partners of everybody: with whom groups begin, and to whose groups people may move."""

TRIED = 8
"""Moves of a person that are merged, of all that were guessed: hardly more is won by more."""

TUNED, PASSES = 3, 8
"""So often everybody is asked, at most; after the first passes what time costs is set anew.

In these, only moves are merged that are guessed to save something, which takes a third of the time.
"""

SETTLED = 0.02
"""A pass in which no larger share of people moves is the last one."""

TIME = 0.65
"""What time costs of what space does, all in all, where the search begins: time is won more easily."""

ROUNDS = 64
"""In so many rounds a pass is done; within a round people do not see each other's moves."""

SEED = 20_251
"""Of the order in which people are asked."""

ANSWER = 4
"""Errors shift against each other by about the fourth root of what time costs; so this evens them out."""

BEYOND = 1.25
"""A pair that is not among the cheapest is taken to cost so many times the dearest of these."""


class Grouping(NamedTuple):
    """Groups of k people or more, each by row, and how they were found.

    Attributes
    ----------
    groups : list of array of int64
        The members of each group.
    rates : Rates
        What a sample costs.
    facts : dict
        What the search did; ``saved`` is the share of the cost that it saved.
    """

    groups: list[Ints]
    rates: Rates
    facts: dict[str, Any]


def best_groups(
    trajectories: Trajectories, costs: SparseCosts, k: int, *, neighbours: int, jobs: int, progress: Progress
) -> Grouping:
    """Return groups of k to 2 k - 1 people, whose merges are as small as local search can make them.

    A group of 2 k is not needed: parted in two, its merges cost no more. The cost of a group is what its
    samples lose: how far they are from the centres of their boxes, in time and in space. What time costs
    against space is set so that the mean errors of both shrink alike. A move that saves nothing is not
    made, and in the end the groups cost no more than those to begin with. Where k is 2, pairs also change
    partners in rings: see :func:`matching.better_pairs`.
    """
    start = start_groups(trajectories, costs, k, neighbours=neighbours, jobs=jobs, progress=progress)
    before = mean_losses(trajectories, start)
    search = _Search(trajectories, costs, start, k, jobs)
    search.set_rates(_first_rates(before))
    random = np.random.default_rng(SEED)
    passes, moved = 0, 0
    while passes <= TUNED or (passes < PASSES and moved > SETTLED * trajectories.n_users):
        if 0 < passes <= TUNED:
            search.set_rates(_evened(search.rates, before, search.losses()))
        passes += 1
        rounds = np.array_split(random.permutation(trajectories.n_users), min(ROUNDS, trajectories.n_users))
        moved = search.change_partners(random)
        for done, people in enumerate(rounds, start=1):
            moved += search.improve(people, most_guessed=0.0 if passes <= TUNED else np.inf)
            progress(f"looking for better groups, pass {passes}", done, len(rounds))
    first = sum(k_merge(trajectories, members, search.rates).cost for members in start)
    groups = search.groups() if search.cost < first else start
    facts = {
        "groups": len(groups),
        "largest": max(map(len, groups)),
        "passes": passes,
        "moves": search.moves,
        "saved": max(0.0, 1 - search.cost / first) if first else 0.0,
    }
    return Grouping(groups, search.rates, facts)


def start_groups(
    trajectories: Trajectories, costs: SparseCosts, k: int, *, neighbours: int, jobs: int, progress: Progress
) -> list[Ints]:
    """Return groups of k to 2 k - 1 people, each of somebody and its cheapest partners.

    Those whose partners are cheap come first, and take who is free. Those who find too few look for others
    among themselves, and so on. When fewer than k are left, each joins the group of its cheapest partner.
    """
    group_of = _seeded(costs, k)
    while len(left := np.flatnonzero(group_of < 0)) >= k:
        others = len(left) - 1
        among = sparse_costs(
            trajectories.take(left),
            neighbours=min(neighbours, others),
            kept=min(PARTNERS, neighbours, others),
            jobs=jobs,
            progress=progress,
        )
        # The first one has all its partners, so at least one more group is found.
        found = _seeded(among, k)
        group_of[left] = np.where(found < 0, -1, found + group_of.max() + 1)
    for one in left:
        partners = costs.partners[one]
        group_of[one] = group_of[partners[group_of[partners] >= 0][0]]
    order = np.argsort(group_of, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group_of))[:-1])


def _seeded(costs: SparseCosts, k: int) -> Ints:
    """Return the group of each trajectory; -1: it found no k - 1 partners that were free."""
    group_of = np.full(len(costs.partners), -1)
    groups = 0
    for seed in np.argsort(costs.costs[:, k - 2], kind="stable"):
        if group_of[seed] >= 0:
            continue
        free = costs.partners[seed][group_of[costs.partners[seed]] < 0][: k - 1]
        if len(free) == k - 1:
            group_of[seed], group_of[free] = groups, groups
            groups += 1
    return group_of


class Losses(NamedTuple):
    """How far a sample is from the centre of its box, on the mean, in steps of time and of space."""

    late: float
    away: float


def mean_losses(trajectories: Trajectories, groups: list[Ints], rates: Rates | None = None) -> Losses:
    """Return what samples lose when these groups are merged, by these rates or by the paper's cost.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> two = Trajectories.of(user=[0, 1], t=[0, 9], x=[0, 2], y=[0, 0], grid=Grid())
    >>> mean_losses(two, [np.array([0, 1])])
    Losses(late=4.5, away=1.0)
    """
    total = np.zeros(2)
    for members in groups:
        merged = k_merge(trajectories, members, rates)
        t0, t1, x0, x1, y0, y1 = (side.astype(np.float64)[merged.box_of] for side in merged.boxes)
        own = ranges(trajectories.offsets[members], trajectories.lengths[members])
        t, x, y = (2.0 * column[own] + 1 for column in (trajectories.t, trajectories.x, trajectories.y))
        away = np.hypot(x0 + x1 - x, y0 + y1 - y) / 2
        late = np.abs(t0 + t1 - t) / 2
        total += late.sum(), away.sum()
    return Losses(*(total / trajectories.n_samples).tolist())


def _first_rates(before: Losses) -> Rates:
    return Rates(TIME * before.away / before.late if before.late and before.away else 1.0)


def _evened(rates: Rates, before: Losses, now: Losses) -> Rates:
    """Return rates by which the error shrinks more that has shrunk less so far."""
    if not (before.late and before.away and now.late and now.away):
        return rates
    late, away = now.late / before.late, now.away / before.away
    return rates._replace(time=rates.time * (late / away) ** ANSWER)


class _Search:
    """Groups on the way to better ones."""

    def __init__(
        self,
        trajectories: Trajectories,
        costs: SparseCosts,
        groups: list[Ints],
        k: int,
        jobs: int,
    ) -> None:
        from tripcloak.trajectories.methods._kernels import errors
        from tripcloak.trajectories.methods._kernels import grouping as _kernels

        n = trajectories.n_users
        self.moves, self.rates = 0, Rates(1.0)
        self._trajectories, self._k, self._jobs = trajectories, k, jobs
        self._samples = errors.Samples(trajectories.t, trajectories.x, trajectories.y, trajectories.offsets)
        self._room = int(np.sort(trajectories.lengths)[::-1][: 2 * k].sum())
        self._partners = costs.partners.astype(np.int64)
        self._pairs: Any = None
        group_of, sizes = np.empty(n, np.int64), np.array([len(members) for members in groups])
        members = np.full((len(groups), 2 * k - 1), -1)
        for at, people in enumerate(groups):
            group_of[people], members[at, : len(people)] = at, people
        changed = np.zeros(len(groups), np.int64)
        self._grouped = _kernels.Grouped(group_of, members, sizes, np.zeros(len(groups)), changed)
        self._looked = np.zeros(n, np.int64)
        self._round = 0

    def set_rates(self, rates: Rates) -> None:
        """Let errors cost as much as this; everything is worth a look again."""
        from tripcloak.trajectories.methods._kernels.grouping import Pairs

        self.rates = rates
        if self._pairs is None or self._k == 2:
            others, costs = price_pairs(self._samples, self._partners, rates, self._jobs)
            self._pairs = Pairs(others, costs, BEYOND * costs.max(axis=1))
        for at, members in enumerate(self.groups()):
            self._grouped.costs[at] = k_merge(self._trajectories, members, rates).cost
        self._looked[:] = 0

    def losses(self) -> Losses:
        """Return what samples lose now."""
        return mean_losses(self._trajectories, self.groups(), self.rates)

    @property
    def cost(self) -> float:
        """Return what all groups cost."""
        return float(self._grouped.costs.sum())

    def groups(self) -> list[Ints]:
        """Return the members of each group, by row."""
        now = self._grouped
        return [np.sort(row[:size]) for row, size in zip(now.members, now.sizes, strict=True)]

    def improve(self, people: Ints, most_guessed: float = np.inf) -> int:
        """Let each of these make its best move, those first that gain most; return how many moved.

        Moves that are guessed to cost that much more, or above, are not merged.
        Two moves that touch the same group are not both made: the second one was priced without the first.
        """
        moves = self._best_moves(people, most_guessed)
        self._round += 1
        self._looked[people] = self._round
        changed, moved = self._grouped.changed, 0
        for r in np.lexsort((people, -moves.gain)):
            one, to = people[r], moves.to[r]
            if to < 0 or self._round in (changed[self._grouped.group_of[one]], changed[to]):
                continue
            self._move(one, to, moves.place[r], moves.left[r], moves.entered[r])
            moved += 1
        self.moves += moved
        return moved

    def change_partners(self, random: np.random.Generator) -> int:
        """Let pairs change partners in rings, where all groups are pairs but a few; return how many did."""
        if self._k > 2:
            return 0
        rings, changed = better_pairs(self._pairs, self._grouped, random)
        self._round += 1
        self._grouped.changed[changed] = self._round
        self.moves += rings
        return rings

    def _best_moves(self, people: Ints, most_guessed: float) -> Any:
        from tripcloak.trajectories.methods._kernels import grouping as _kernels

        def of_block(block: slice) -> Any:
            return _kernels.best_moves(
                self._samples,
                self._pairs,
                self._partners,
                self._grouped,
                self.rates.floats,
                self._k,
                people[block],
                self._looked,
                TRIED,
                most_guessed,
                self._room,
            )

        found = list(in_threads(of_block, blocks(len(people), 64), self._jobs))
        return _kernels.Moves(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def _move(self, one: int, to: int, place: int, left: float, entered: float) -> None:
        """Put one into another group, in the place of one of its members or of nobody."""
        now = self._grouped
        own = now.group_of[one]
        mine = int(np.flatnonzero(now.members[own] == one)[0])
        if place < 0:
            now.sizes[own] -= 1
            now.members[own, mine] = now.members[own, now.sizes[own]]
            now.members[own, now.sizes[own]] = -1
            now.members[to, now.sizes[to]] = one
            now.sizes[to] += 1
        else:
            other = now.members[to, place]
            now.members[own, mine], now.members[to, place] = other, one
            now.group_of[other] = own
        now.group_of[one] = to
        now.costs[own], now.costs[to] = left, entered
        now.changed[own] = now.changed[to] = self._round
