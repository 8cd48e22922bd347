"""DPTD: a prefix tree of which every second level is noisy, and the others follow from moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.options import option
from tripcloak.promises import NoisePart, TrajectoryNoise, UnprovenNoise
from tripcloak.trajectories.methods.cells import Lattice, Visits, visits
from tripcloak.trajectories.methods.noise.clusters import Clusters, dense_clusters, nearest, noisy_clusters
from tripcloak.trajectories.methods.noise.noisy import (
    Drawing,
    NoisyTrajectoryMethod,
    made_up,
    nothing_left,
    shared_budget,
)
from tripcloak.trajectories.methods.noise.prefix_tree import STRICT, Level, Step, agreed, ancestors
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution

PLACES, STARTS, MOVES, LEVELS = 0.2, 0.1, 0.3, 0.4
"""Shares of epsilon: where clusters are, when ways begin, the table of moves, and the levels of the tree."""


@dataclass(frozen=True, kw_only=True)
class DPTD(NoisyTrajectoryMethod):
    """DPTD (Cai, Lyu, Li, Ban and Zeng 2021), with a budget for what the paper takes without one.

    Places are told by clusters, and a person's way is the clusters of the first ``length`` visits (slots with
    samples), in their order. Odd levels of the tree of ways have noise; of every node on an even level the
    number is that of its parent times the share of people who move from the one cluster to the other.

    The paper takes clusters and those shares from the data as they are, and so is not differentially private;
    ``variant="published"`` does that and says so. Ours spends on both: clusters are the cells with most
    visits by noisy numbers, and moves are counted with noise.

    Parameters
    ----------
    epsilon, unit, window
        What is spent, and what is hidden.
    cell, interval
        Metres of a cell (published: how near the places of a cluster are) and seconds of a slot.
    length
        How many visits of everybody are counted.
    clusters
        How many clusters there are at most.
    variant
        ``private``: everything that is taken from the input is noisy. ``published``: as in the paper, to
        compare with.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> user = np.repeat(np.arange(3000), 2)
    >>> made = Trajectories.of(user=user, t=[0, 300] * 3000, x=[5, 95] * 3000, y=[5] * 6000, grid=Grid())
    >>> DPTD(epsilon=2.0, length=2).anonymise(made).promise.kind
    'differential privacy of trajectories'
    >>> DPTD(epsilon=2.0, length=2, variant="published").anonymise(made).promise.held
    'NOT private'
    """

    name: ClassVar[str] = "dptd"
    summary: ClassVar[str] = "made-up ways: every second level noisy, the others by a table of moves"
    source: ClassVar[str] = "Cai, Lyu, Li, Ban and Zeng 2021, DPTD, with a noisy table of moves"

    length: int = option(4, help="Visits of everybody that are counted.", metavar="N", least=1)
    clusters: int = option(48, help="Clusters at most.", metavar="N", least=1)
    variant: str = option(
        "private",
        help="Ours, or as published, which is not differentially private.",
        metavar="NAME",
        values=("private", "published"),
    )

    @property
    def promise(self) -> TrajectoryNoise:
        """Return what is promised: of the published variant that nothing is proven."""
        return super().promise if self.variant == "private" else UnprovenNoise(epsilon=self.epsilon)

    def planned(self, trajectories: Trajectories) -> tuple[NoisePart, ...]:
        """Return a part for clusters, for starts, for moves, and for every odd level of the tree."""
        unit, odd = self.hides, math.ceil(self.length / 2)
        levels = [(f"level {2 * level + 1}", unit.of_paths()) for level in range(odd)]
        if self.variant == "published":
            return shared_budget(self.epsilon, levels, [1 / odd] * odd)
        names = [
            ("places", unit.of_visits(self.length)),
            ("starts", unit.times),
            ("moves", unit.of_moves(self.length)),
            *levels,
        ]
        return shared_budget(self.epsilon, names, [PLACES, STARTS, MOVES, *[LEVELS / odd] * odd])

    def draw(self, trajectories: Trajectories, drawing: Drawing) -> TrajectorySolution:
        """Return the ways that the tree tells, each as often as it does."""
        lattice = Lattice.of(trajectories.grid, cell=self.cell, interval=self.interval)
        found = visits(trajectories, lattice)
        known = _first_visits(found, trajectories.n_users, self.length)
        if self.variant == "private":
            clusters = noisy_clusters(known.x[known.there], known.y[known.there], self.clusters, drawing)
        else:
            clusters = dense_clusters(found.x, found.y, self.clusters)
        if not len(clusters.x):
            raise nothing_left("no place where many are", instead="wider cells")
        way = np.where(known.there, nearest(known.x, known.y, clusters), -1)
        # The period counts as known; in which slots of it ways begin does not.
        period = lattice.slots(trajectories.period)
        begins = _starts(self, known.start, np.arange(period[0], period[1] + 1), drawing)
        shares = _shares(self, way, len(clusters.x), drawing)
        levels, steps = _tree(way, shares, len(clusters.x), drawing)
        return _released(trajectories, lattice, clusters, begins, levels, agreed(levels, steps))


class _Known(NamedTuple):
    """What is counted of everybody: when the way begins, and the cells of first visits, a row a person."""

    start: Ints
    x: Ints
    y: Ints
    there: Bools


def _first_visits(found: Visits, people: int, length: int) -> _Known:
    """Return everybody's first visits in their order; who has fewer is not there in the last columns."""
    first = np.searchsorted(found.owner, np.arange(people + 1))
    at = first[:-1, None] + np.arange(length)
    there = at < first[1:, None]
    at = np.where(there, at, 0)
    return _Known(found.slot[first[:-1]], found.x[at], found.y[at], there)


def _starts(method: DPTD, start: Ints, slots: Ints, drawing: Drawing) -> tuple[Ints, Ints]:
    """Return the slots of the period, and about how many ways begin in each."""
    people = np.bincount(start - slots[0], minlength=len(slots))
    if method.variant == "private":
        people = np.maximum(drawing.noisy(people), 0)
    return slots, people if people.any() else np.ones(len(slots), np.int64)


def _shares(method: DPTD, way: Ints, many: int, drawing: Drawing) -> Floats:
    """Return for every cluster which share of people moves on to each of them; evenly if nothing is left."""
    both = way[:, 1:] >= 0
    moves = np.bincount((way[:, :-1] * many + way[:, 1:])[both], minlength=many * many)
    if method.variant == "private":
        moves = drawing.noisy(moves)
    table = np.maximum(moves, 0).reshape(many, many).astype(np.float64)
    table += 1e-9
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _tree(way: Ints, shares: Floats, many: int, drawing: Drawing) -> tuple[list[Level], list[Step]]:
    """Return the levels of the tree: odd ones counted with noise, even ones by shares."""
    levels: list[Level] = []
    at, nodes = np.zeros(len(way), np.int64), 1
    for slot in range(way.shape[1]):
        if slot % 2 == 0:
            here = (at >= 0) & (way[:, slot] >= 0)
            exact = np.bincount((at * many + way[:, slot])[here], minlength=nodes * many)
            # So strict that fewer than one child of a node is followed that nobody went to.
            least = math.ceil(max(STRICT, math.log(many)) * drawing.next_scale)
            people = drawing.noisy(exact)
        else:
            above = levels[-1]
            least, people = 1, np.rint(above.people[:, None] * shares[above.digit]).astype(np.int64).ravel()
        kept = np.flatnonzero(people >= least)
        levels.append(Level(kept // many, kept % many, people[kept]))
        row = np.full(nodes * many, -1, np.int64)
        row[kept] = np.arange(len(kept))
        gone = (at < 0) | (way[:, slot] < 0)
        at = np.where(gone, -1, row[np.where(gone, 0, at * many + way[:, slot])])
        nodes = len(kept)
        if not nodes:
            levels.pop()
            break
    if not levels:
        raise nothing_left(
            "an empty prefix tree", instead="wider cells, longer slots, fewer visits of everybody"
        )
    return levels, [Step(at, many, True)] * len(levels)


def _released(
    trajectories: Trajectories,
    lattice: Lattice,
    clusters: Clusters,
    begins: tuple[Ints, Ints],
    levels: list[Level],
    people: list[Ints],
) -> TrajectorySolution:
    """Return every way as often as it ends, a box a slot; they begin when noisy numbers say."""
    ways, lengths = [], []
    for last in range(len(levels)):
        left = people[last].copy()
        if last + 1 < len(levels):
            left -= np.bincount(levels[last + 1].parent, people[last + 1], minlength=len(left)).astype(
                np.int64
            )
        path = [levels[above].digit[ancestors(levels, last, above)] for above in range(last + 1)]
        ways.append(np.repeat(np.stack(path, axis=1), np.maximum(left, 0), axis=0))
        lengths.append(np.full(len(ways[-1]), last + 1))
    length = np.concatenate(lengths)
    offsets = np.concatenate(([0], np.cumsum(length)))
    cluster = np.concatenate([way.ravel() for way in ways])
    slots, many = begins
    # Ways and starts are told apart from each other: every second way gets the next of the starts in turn.
    start = np.repeat(slots, np.ceil(many * max(len(length), 1) / max(int(many.sum()), 1)).astype(np.int64))
    mixed = start[np.argsort((np.arange(len(start)) * 0.6180339887498949) % 1.0)][: len(length)]
    slot = (
        np.repeat(np.resize(mixed, len(length)), length)
        + np.arange(len(cluster))
        - np.repeat(offsets[:-1], length)
    )
    boxes = lattice.boxes(slot, clusters.x[cluster], clusters.y[cluster])
    facts: dict[str, Any] = {"clusters": len(clusters.x), "nodes": sum(len(level.parent) for level in levels)}
    return made_up(trajectories, offsets.astype(np.int64), boxes, facts)
