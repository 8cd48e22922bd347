"""k-scale on a Spark cluster: the driver's side, which holds numbers of people and never compares samples.

Published k-scale is a pass over neighbours, one over pairs, picks and merges. Each is done block by block
where the samples are; see :mod:`tripcloak.trajectories.methods.blocks`.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tripcloak.engines.spark import Cluster, Waiting
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.progress import Progress
from tripcloak.trajectories.methods.blocks import (
    Comparing,
    Picks,
    Samples,
    Sets,
    Told,
    compare,
    cost_picks,
    deal_to_blocks,
    find_candidates,
    keep_samples,
    lay_out,
    merge,
    packed,
)
from tripcloak.trajectories.methods.devices import Chains, Device
from tripcloak.trajectories.methods.kscale import KScale
from tripcloak.trajectories.methods.partners import SparseCosts, Squares, SquareTree
from tripcloak.trajectories.methods.pivots import ranges
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes

PART_SAMPLES = 500_000
"""Samples of a part, and of the people that a block is about; what it needs besides is some times as much."""
PEOPLE = 1 << 16
"""People whose partners are looked through at a time."""


class Spark(Device):
    """A cluster: the same releases as by processors, pick by pick. Samples go there once."""

    name: ClassVar[str] = "spark"

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self._cluster = cluster
        self._people: _People | None = None
        self._asked: Waiting | None = None

    def sparse_costs(
        self,
        trajectories: Trajectories,
        *,
        neighbours: int,
        kept: int,
        by_total: bool = False,
        progress: Progress,
    ) -> SparseCosts:
        """Return the cheapest partners of everybody: see :func:`partners.sparse_costs`."""
        people = self._of(trajectories)
        plan = Comparing(people.tree, people.extent, neighbours, kept, by_total)
        candidates = self._cluster.spread(list(enumerate(people.blocks)), find_candidates, plan)
        needed = dict(pickle.loads(told) for _, told in candidates.told(_is_needed))
        progress("comparing trajectories", 0, trajectories.n_users)
        found = people.samples.beside(candidates).dealt(
            deal_to_blocks, needed, len(people.blocks), compare, plan
        )
        partners = np.empty((trajectories.n_users, kept), np.int32)
        costs, tally, done = np.empty((trajectories.n_users, kept)), np.zeros(3, np.int64), 0
        for told in found.told():
            rows, theirs, cost, more = pickle.loads(told)
            partners[rows], costs[rows] = theirs, cost
            tally, done = tally + more, done + len(rows)
            progress("comparing trajectories", done, trajectories.n_users)
        found.let_go()
        candidates.let_go()
        passed_over, given_up, merged = tally.tolist()
        return SparseCosts(
            partners=partners, costs=costs, passed_over=passed_over, given_up=given_up, merged=merged
        )

    def lay_out(self, trajectories: Trajectories, partners: Ints) -> None:
        """Give each block the samples of all who may be picked by its people, to be asked about in rounds."""
        people = self._of(trajectories)
        n, found = len(partners), np.empty(0, np.int64)
        for start in range(0, n, PEOPLE):
            rows = np.arange(start, min(start + PEOPLE, n))
            theirs = partners[rows].astype(np.int64)
            # Whoever lists a picker may be picked by it; who picks nobody is merged with its cheapest.
            keys = [people.block_of[theirs] * n + rows[:, None], (people.block_of[rows] * n + theirs[:, 0])]
            found = np.union1d(found, np.concatenate([one.ravel() for one in keys]))
        found = np.union1d(found, people.block_of * n + np.arange(n))
        self._asked = people.dealt(_by_block(found, n), lay_out, None)
        self._cluster.stays.append(self._asked)

    def costs_of_picking(self, trajectories: Trajectories, chains: Chains, pickers: Any, also: Any) -> Any:
        """Return what each picker's own samples cost, merged with all it picked and one more (-1: none)."""
        assert self._asked is not None
        block_of = self._of(trajectories).block_of[pickers]
        order = np.argsort(block_of, kind="stable")
        blocks, first = np.unique(block_of[order], return_index=True)
        asked = {
            block: Picks(at, pickers[at], also[at], *_chained(chains, np.unique(pickers[at])))
            for block, at in zip(blocks.tolist(), np.split(order, first[1:]), strict=True)
        }
        costs = np.empty(len(pickers))
        for at, cost in self._asked.asked(cost_picks, asked):
            costs[at] = cost
        return costs

    def merge_sets(
        self, trajectories: Trajectories, set_offsets: Ints, members: Ints
    ) -> tuple[Ints, Boxes, Ints, Floats]:
        """Return one generalised trajectory a set: see :func:`kmerge.merge_sets`."""
        people, n = self._of(trajectories), trajectories.n_users
        first = members[set_offsets[:-1]]
        own = np.repeat(people.block_of[first], np.diff(set_offsets))
        needed = _by_block(np.unique(own * n + members), n)
        plan = {block: _sets_of(people.block_of[first] == block, set_offsets, members) for block in needed}
        found = people.dealt(needed, merge, plan)
        many, costs = np.empty(len(first), np.int64), np.empty(len(first))
        for _, told in found.told(_is_sizes):
            at, sizes, cost = pickle.loads(told)
            many[at], costs[at] = sizes, cost
        offsets = np.concatenate(([0], np.cumsum(many)))
        room = np.concatenate(([0], np.cumsum(trajectories.lengths[first])))
        boxes = Boxes(*(np.empty(offsets[-1], np.int32) for _ in Boxes._fields))
        box_of = np.empty(room[-1], np.int32 if offsets[-1] < 2**31 else np.int64)
        for _, told in found.told_again(_is_boxes):
            at, sides, lengths, box = pickle.loads(told)
            mine = ranges(offsets[at], many[at])
            for side, theirs in zip(boxes, sides, strict=True):
                side[mine] = theirs
            box_of[ranges(room[at], lengths)] = box + np.repeat(offsets[at], lengths)
        found.let_go()
        return offsets, boxes, box_of, costs

    def _of(self, trajectories: Trajectories) -> _People:
        if self._people is None or self._people.trajectories is not trajectories:
            self._people = _People.of(self._cluster, trajectories)
            self._cluster.stays.append(self._people.samples)
        return self._people


@dataclass(frozen=True, eq=False)
class _People:
    """People whose samples wait on a cluster; what the driver knows of each, and the block each is in."""

    trajectories: Trajectories
    samples: Waiting
    tree: SquareTree
    extent: Ints
    blocks: list[Ints]
    block_of: Ints

    @classmethod
    def of(cls, cluster: Cluster, trajectories: Trajectories) -> _People:
        """Send samples to a cluster part by part, and cut people into blocks of those who are near."""
        parts = _cut(np.arange(trajectories.n_users), trajectories.lengths)
        sent = [packed(Samples.of(trajectories, rows)) for rows in parts]
        samples = cluster.spread(sent, keep_samples, None)
        told = [pickle.loads(one) for _, one in samples.told(_is_features)]
        rows, x, y, half, extent = (np.concatenate(column) for column in zip(*told, strict=True))
        assert np.array_equal(rows, np.arange(trajectories.n_users))
        tree = SquareTree(Squares(x, y, half))
        blocks = [np.sort(block) for block in _cut(tree.parts[0], trajectories.lengths)]
        block_of = np.empty(trajectories.n_users, np.int64)
        for number, block in enumerate(blocks):
            block_of[block] = number
        return cls(trajectories, samples, tree, extent, blocks, block_of)

    def dealt(self, needed: Mapping[int, Ints], take: Any, plan: Any) -> Waiting:
        """Return what is made of every block, once it has the samples that it needs."""
        return self.samples.dealt(deal_to_blocks, needed, len(self.blocks), take, plan)


def _cut(order: Ints, lengths: Ints) -> list[Ints]:
    """Return rows in this order, in pieces of about as many samples as a part has."""
    number = (np.cumsum(lengths[order]) - 1) // PART_SAMPLES
    return np.split(order, np.flatnonzero(np.diff(number)) + 1)


def _by_block(keys: Ints, n: int) -> dict[int, Ints]:
    """Return the rows of each block, of ascending numbers that hold both."""
    block, row = np.divmod(keys, n)
    blocks, first = np.unique(block, return_index=True)
    return dict(zip(blocks.tolist(), np.split(row.astype(np.int32), first[1:]), strict=True))


def _sets_of(here: Any, set_offsets: Ints, members: Ints) -> Sets:
    """Return some of all sets."""
    at = np.flatnonzero(here)
    sizes = np.diff(set_offsets)[at]
    own = ranges(set_offsets[:-1][at], sizes)
    return Sets(at, np.concatenate(([0], np.cumsum(sizes))), members[own])


def _chained(chains: Chains, pickers: Ints) -> tuple[Ints, Ints, Ints]:
    """Return these pickers, where the picks of each begin, and whom they picked, the latest first."""
    whose, whom = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    of, pick = np.arange(len(pickers)), chains.last[pickers]
    while (there := pick >= 0).any():
        of, pick = of[there], pick[there]
        whose.append(of)
        whom.append(chains.picked[pick])
        pick = chains.before[pick]
    owner = np.concatenate(whose)
    bounds = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(pickers)))))
    return pickers, bounds, np.concatenate(whom)[np.argsort(owner, kind="stable")]


def _is_features(told: Told) -> bool:
    return told[0] == "features"


def _is_needed(told: Told) -> bool:
    return told[0] == "needed"


def _is_sizes(told: Told) -> bool:
    return told[0] == "sizes"


def _is_boxes(told: Told) -> bool:
    return told[0] == "boxes"


@dataclass(frozen=True, kw_only=True)
class SpreadKScale(KScale):
    """k-scale whose heavy work is done on a cluster; the same release.

    Parameters
    ----------
    cluster
        The machines that do it.
    """

    cluster: Cluster = field(repr=False, compare=False)

    def worker(self) -> Device:
        """Return the cluster."""
        return Spark(self.cluster)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of k-scale; who works is none."""
        return {name: value for name, value in super().parameters().items() if name != "cluster"}
