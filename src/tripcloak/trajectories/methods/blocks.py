"""k-scale by blocks of people: what the machines of a cluster do with the samples that a block needs.

Samples lie in parts: so many people, one after the other. A block is people who are near each other, and
needs the samples of those and of all whom they are compared or merged with. Everything here runs on the
cluster. Within a block people stand in the order of their rows, so that ties fall as on one machine.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.methods.devices import Chains, Device
from tripcloak.trajectories.methods.kmerge import merge_sets
from tripcloak.trajectories.methods.partners import SquareTree, extent_of, squares
from tripcloak.trajectories.methods.pivots import ranges
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes

Told = tuple[str, bytes]
"""What a machine tells, pickled, after what it is."""


class Samples(NamedTuple):
    """The samples of some people, by row: which rows, how many samples each has, and these."""

    rows: Ints
    lengths: Ints
    t: Ints
    x: Ints
    y: Ints

    @classmethod
    def of(cls, trajectories: Trajectories, rows: Ints, called: Ints | None = None) -> Samples:
        """Return the samples of these rows, under other numbers where that is wanted."""
        lengths = trajectories.lengths[rows]
        own = ranges(trajectories.offsets[rows], lengths)
        columns = (column[own] for column in (trajectories.t, trajectories.x, trajectories.y))
        return cls(rows if called is None else called, lengths, *columns)

    @classmethod
    def joined(cls, pieces: Sequence[Samples]) -> Samples:
        """Return the samples of all pieces, by row."""
        first = cls(*(np.concatenate(column) for column in zip(*pieces, strict=True)))
        order = np.argsort(first.rows, kind="stable")
        begins = (np.cumsum(first.lengths) - first.lengths)[order]
        own = ranges(begins, first.lengths[order])
        return cls(first.rows[order], first.lengths[order], *(column[own] for column in first[2:]))

    def trajectories(self) -> Trajectories:
        """Return them as trajectories; what a step means plays no part here."""
        offsets = np.concatenate(([0], np.cumsum(self.lengths)))
        return Trajectories(grid=Grid(), offsets=offsets, t=self.t, x=self.x, y=self.y)


def packed(samples: Samples) -> bytes:
    """Return samples in little room: most steps of time are short."""
    told = samples._replace(t=np.diff(samples.t, prepend=np.int32(0)).astype(np.int32))
    return zlib.compress(pickle.dumps(tuple(told), protocol=5), 1)


def unpacked(samples: bytes) -> Samples:
    """Return samples that were packed."""
    told = Samples(*pickle.loads(zlib.decompress(samples)))
    return told._replace(t=np.cumsum(told.t, dtype=np.int32))


def keep_samples(_: None, parts: Iterator[bytes]) -> Iterator[Told]:
    """Yield the samples of parts, to wait where they are, and what is to be known of everybody in them."""
    for part in parts:
        samples = unpacked(part)
        made = samples.trajectories()
        yield "features", pickle.dumps((samples.rows, *squares(made), extent_of(made)), protocol=5)
        yield "samples", part


@dataclass(frozen=True, eq=False)
class Comparing:
    """Who is looked at: the nearest, so many by a tree of squares, and of these the cheapest."""

    tree: SquareTree
    extent: Ints
    neighbours: int
    kept: int
    by_total: bool


def find_candidates(plan: Comparing, tasks: Iterator[tuple[int, Ints]]) -> Iterator[Told]:
    """Yield whom each row of a block is compared with, and who is needed for that."""
    for block, rows in tasks:
        candidates = np.concatenate(
            [plan.tree.nearest(slice(row, row + 1), plan.neighbours) for row in rows.tolist()]
        )
        needed = np.union1d(rows, candidates).astype(np.int32)
        yield "needed", pickle.dumps((block, needed), protocol=5)
        yield "candidates", pickle.dumps((block, rows, candidates), protocol=5)


def deal_to_blocks(needed: Mapping[int, Ints], things: Iterator[Told]) -> Iterator[tuple[int, Told]]:
    """Yield the number of every block with the samples that it needs, and with its own candidates."""
    for kind, thing in things:
        if kind == "candidates":
            yield pickle.loads(thing)[0], (kind, thing)
        if kind != "samples":
            continue
        samples = unpacked(thing)
        made, (first, last) = samples.trajectories(), samples.rows[[0, -1]]
        for block, rows in needed.items():
            here = rows[np.searchsorted(rows, first) : np.searchsorted(rows, last, side="right")]
            if len(here):
                some = Samples.of(made, np.searchsorted(samples.rows, here), here)
                yield block, (kind, pickle.dumps(tuple(some), protocol=5))


def _laid_out(dealt: Iterator[tuple[int, Told]]) -> tuple[Samples | None, list[Any]]:
    """Return the samples that were dealt to a block, and its candidates."""
    pieces, others = [], []
    for _, (kind, thing) in dealt:
        told = pickle.loads(thing)
        if kind == "samples":
            pieces.append(Samples(*told))
        else:
            others.append(told)
    return (Samples.joined(pieces) if pieces else None), others


def compare(plan: Comparing, block: int, dealt: Iterator[tuple[int, Told]]) -> Iterator[bytes]:
    """Yield the cheapest partners of a block's rows, what they cost, and how many pairs were spared."""
    from tripcloak.trajectories.methods._kernels import kscale as _kernels

    samples, others = _laid_out(dealt)
    if samples is None:
        return
    made, extent = samples.trajectories(), plan.extent[samples.rows]
    columns = made.t, made.x, made.y, made.offsets, extent
    for _, rows, candidates in others:
        mine = np.searchsorted(samples.rows, rows)
        theirs = np.searchsorted(samples.rows, candidates).astype(np.int32)
        found = [
            _kernels.cheapest(*columns, int(row), theirs[at : at + 1], plan.kept, plan.by_total)
            for at, row in enumerate(mine)
        ]
        partners, costs, tally = (np.concatenate(column) for column in zip(*found, strict=True))
        told = rows, samples.rows[partners].astype(np.int32), costs, tally.reshape(-1, 3).sum(axis=0)
        yield pickle.dumps(told, protocol=5)


def lay_out(_: None, block: int, dealt: Iterator[tuple[int, Told]]) -> Iterator[tuple[int, bytes]]:
    """Yield the samples that a block needs, to be asked about again and again."""
    samples, _others = _laid_out(dealt)
    if samples is not None:
        yield block, pickle.dumps(tuple(samples), protocol=5)


class Picks(NamedTuple):
    """What is asked of a block: what pickers cost, with all that they picked so far and one more (-1: none).

    The picks of ``chained[i]`` are ``picked[bounds[i]:bounds[i + 1]]``, the latest first.
    """

    at: Ints
    pickers: Ints
    also: Ints
    chained: Ints
    bounds: Ints
    picked: Ints


def cost_picks(
    asked: Mapping[int, Picks], blocks: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[Ints, Floats]]:
    """Yield what was asked of each block, after which of all questions it answers."""
    for block, thing in blocks:
        if block not in asked:
            continue
        samples, picks = Samples(*pickle.loads(thing)), asked[block]
        find = _finder(samples.rows)
        last = np.full(len(samples.rows), -1)
        held = np.diff(picks.bounds) > 0
        last[find(picks.chained[held])] = picks.bounds[:-1][held]
        before = np.arange(1, len(picks.picked) + 1)
        before[picks.bounds[1:][held] - 1] = -1
        chains = Chains(last, before, find(picks.picked), samples=None, members=None)
        also = np.where(picks.also >= 0, find(np.maximum(picks.also, samples.rows[0])), -1)
        costs = Device(jobs=1).costs_of_picking(samples.trajectories(), chains, find(picks.pickers), also)
        yield picks.at, costs


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets of a block: which of all they are, and their members by row, the first one's first."""

    at: Ints
    offsets: Ints
    members: Ints


def merge(plan: Mapping[int, Sets], block: int, dealt: Iterator[tuple[int, Told]]) -> Iterator[Told]:
    """Yield the merges of a block's sets, after how many boxes each has and what it costs."""
    samples, _others = _laid_out(dealt)
    if samples is None:
        return
    sets, find = plan[block], _finder(samples.rows)
    made = samples.trajectories()
    offsets, boxes, box_of, costs = merge_sets(made, sets.offsets, find(sets.members))
    yield "sizes", pickle.dumps((sets.at, np.diff(offsets), costs), protocol=5)
    lengths = made.lengths[find(sets.members[sets.offsets[:-1]])]
    own = box_of - np.repeat(offsets[:-1], lengths)
    yield "boxes", pickle.dumps((sets.at, Boxes(*boxes), lengths, own.astype(np.int32)), protocol=5)


def _finder(rows: Ints) -> Callable[[Ints], Ints]:
    """Return what finds the places of rows that are among these."""
    return lambda wanted: np.searchsorted(rows, wanted).astype(np.int64)
