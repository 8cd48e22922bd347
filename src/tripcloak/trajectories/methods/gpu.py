"""The same work on a GPU: loops of ``_kernels/device.cpp``, over blocks that fit its memory.

The driver knows a GPU by what it can do (:class:`Machine`); tests give it a host in the place of one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.progress import Progress
from tripcloak.trajectories.methods.devices import Chains, Device
from tripcloak.trajectories.methods.kmerge import merge_sets
from tripcloak.trajectories.methods.partners import SparseCosts, Squares, SquareTree, squares
from tripcloak.trajectories.methods.pivots import ranges
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes

SOURCE = Path(__file__).parent / "_kernels" / "device.cpp"

ROWS = 1 << 17
"""People whose candidates are compared in one go, or sets that are merged, at most."""

LANES = 32
"""Threads that go in step, as ``device.cpp`` has it."""


PAIR_LANES = 8
"""Threads that share the merge of a pair; other merges are shared by all that go in step."""

PAIR_RING, PICK_RING, MERGE_RING = 128, 256, 512
"""Boundaries, a power of two, that they keep close at hand; what needs more has its notes farther away."""

FEW = 4
"""Merges of so many people need no more, most of the time."""

PLAIN, OWNED, ROOM = 32, 52, 88
"""Bytes of a boundary, of one with what was spent on one's own samples, and of one farther away."""

ALONE = 16
"""Lists of more people are laid by threads that share them."""

CROWD = 256
"""Sets of more people are merged by processors: a GPU would look at all of them for every sample."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Machine(ABC):
    """What the driver needs of a GPU.

    Attributes
    ----------
    arrays : module
        NumPy, or what is like it for arrays on the GPU.
    threads, block : int
        How many threads are worth starting at a time, and of what their number must be a multiple.
    memory : int
        Bytes that the driver may use.
    shares : bool
        Whether threads share a merge.
    """

    arrays: Any
    threads: int
    block: int
    memory: int
    shares: bool = True

    @abstractmethod
    def launch(self, kernel: str, threads: int, *given: Any, near: int = 0) -> None:
        """Let so many threads run a loop on arrays, whole numbers of 64 bits and doubles.

        Those that go in step have so many bytes close at hand.
        """

    @abstractmethod
    def fetch(self, array: Any) -> Any:
        """Return an array of the GPU as NumPy has it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Cuda(Machine):
    """A GPU as CuPy knows it."""

    module: Any

    def launch(self, kernel: str, threads: int, *given: Any, near: int = 0) -> None:
        kinds = {int: np.int64, float: np.float64}
        told = tuple(kinds[type(one)](one) if type(one) in kinds else one for one in given)
        loop = self.module.get_function(kernel)
        loop((threads // self.block,), (self.block,), told, shared_mem=near)

    def fetch(self, array: Any) -> Any:
        return self.arrays.asnumpy(array)


def cuda_machine(threads_each: int = 1024) -> Machine:
    """Return the GPU that CuPy uses, or raise a RuntimeError where there is none.

    Parameters
    ----------
    threads_each
        Threads that each of its multiprocessors is given.
    """
    import cupy

    if not cupy.cuda.runtime.getDeviceCount():
        raise RuntimeError("no CUDA device")
    free, _ = cupy.cuda.runtime.memGetInfo()
    return _Cuda(
        arrays=cupy,
        threads=threads_each * cupy.cuda.Device().attributes["MultiProcessorCount"],
        block=LANES,
        memory=int(0.8 * (free + cupy.get_default_memory_pool().free_bytes())),
        module=_compiled(),
    )


@cache
def _compiled() -> Any:
    """Return the loops, compiled for the GPU at hand."""
    import cupy

    options = ("--std=c++17", "--fmad=false")
    module = cupy.RawModule(code=SOURCE.read_text(encoding="utf-8"), options=options)
    module.compile()
    return module


LISTED = 16
"""Bytes of a sample in a list."""


class Gpu(Device):
    """A GPU, or what stands for one: the same releases as by processors, pick by pick."""

    name: ClassVar[str] = "gpu"

    def __init__(self, machine: Machine, jobs: int | None = None) -> None:
        super().__init__(jobs)
        self._machine = machine
        self._held: _Samples | None = None

    @property
    def arrays(self) -> Any:
        """Return the library that arrays on this device are of."""
        return self._machine.arrays

    def fetch(self, array: Any) -> Any:
        """Return an array of this device as NumPy has it."""
        return self._machine.fetch(array)

    def sparse_costs(
        self,
        trajectories: Trajectories,
        *,
        neighbours: int,
        kept: int,
        by_total: bool = False,
        progress: Progress,
    ) -> SparseCosts:
        """Return the cheapest partners of everybody; every candidate is merged to the end."""
        n, samples = trajectories.n_users, self._samples(trajectories)
        nearest = _Nearest(self._machine, squares(trajectories, jobs=self.jobs), neighbours)
        partners, costs = np.empty((n, kept), np.int32), np.empty((n, kept))
        for block in samples.blocks(n, self._rows(32 * neighbours), nearest.candidates):
            rows, candidates = nearest.candidates(block)
            # Merges of about one length go in step.
            lengths = samples.length[candidates].astype(np.float64)
            candidates = self._least(lengths, candidates, neighbours)[1]
            keys = self._pair_costs(samples, rows, candidates, 0 if by_total else 1)
            people = nearest.people[block]
            found = self._least(keys, candidates, kept)
            costs[people], partners[people] = map(self.fetch, found)
            progress("comparing trajectories", block.stop, n)
        return SparseCosts(partners=partners, costs=costs, passed_over=0, given_up=0, merged=n * neighbours)

    def pair_costs(self, trajectories: Trajectories, first: Ints, second: Ints) -> Floats:
        """Return the cost of merging each pair, a sample."""
        samples, xp = self._samples(trajectories), self.arrays
        ones, others = xp.asarray(first, dtype=np.int64), xp.asarray(second, dtype=np.int32)
        costs = np.empty(len(first))
        for block in samples.blocks(
            len(first), self._rows(8), lambda block: (ones[block], others[block].astype(np.int64))
        ):
            found = self._pair_costs(samples, ones[block], others[block, None], 2)
            costs[block] = self.fetch(found[:, 0])
        return costs

    def costs_of_picking(self, trajectories: Trajectories, chains: Chains, pickers: Any, also: Any) -> Any:
        """Return what each picker's own samples cost, merged with all it picked and one more (-1: none)."""
        samples, xp = self._samples(trajectories), self.arrays
        sizes = chains.samples[pickers] + xp.where(also >= 0, samples.length[also], 0)
        costs = xp.empty(len(pickers))
        for block in samples.blocks(
            len(pickers),
            self._share(sizes, LISTED),
            lambda block: _involved(xp, chains, pickers[block], also[block]),
        ):
            people, slots = xp.unique(pickers[block], return_inverse=True)
            given = (chains.last, chains.before, chains.picked, people)
            lists = self._laid("lay_picked", samples, given, chains.samples[people], chains.members[people])
            found = xp.full(len(slots), -1.0)
            told = (*samples.columns, *lists, slots, also[block])
            few = chains.members[pickers[block]] + (also[block] >= 0) <= FEW
            self._merge("costs_of_picking", told, found, sizes[block], few, PICK_RING, OWNED)
            costs[block] = found
        return costs

    def least(self, keys: Any, rows: Any, many: int) -> Any:
        """Return the rows of the least keys of each line, least first, ties by row."""
        return self._least(keys, rows.astype(np.int32), many)[1].astype(np.int64)

    def merge_sets(
        self, trajectories: Trajectories, set_offsets: Ints, members: Ints
    ) -> tuple[Ints, Boxes, Ints, Floats]:
        """Return one generalised trajectory a set: see :func:`kmerge.merge_sets`."""
        samples, parts, rows = self._samples(trajectories), [], 0

        def of(block: slice) -> Ints:
            return members[set_offsets[block.start] : set_offsets[block.stop]]

        for block in samples.blocks(len(set_offsets) - 1, ROWS, lambda block: (of(block),)):
            bounds = set_offsets[block.start : block.stop + 1] - set_offsets[block.start]
            parts.append(self._merged(samples, bounds, of(block), rows))
            rows += len(parts[-1][1][0])
        many, boxes, box_of, costs = zip(*parts, strict=True)
        return (
            np.concatenate(([0], np.cumsum(np.concatenate(many)))),
            Boxes(*(np.concatenate(side) for side in zip(*boxes, strict=True))),
            np.concatenate(box_of),
            np.concatenate(costs),
        )

    def _merged(
        self, samples: _Samples, set_offsets: Ints, members: Ints, before: int
    ) -> tuple[Ints, tuple[Ints, ...], Ints, Floats]:
        """Return how many boxes each set of a block has, the boxes, the box of each sample, and costs."""
        xp, fetch = self.arrays, self.fetch
        lengths, n = samples.trajectories.lengths, len(set_offsets) - 1
        own = lengths[members[set_offsets[:-1]]]
        room = np.concatenate(([0], np.cumsum(own)))
        first, total = xp.asarray(room), int(room[-1])
        boxes, box_of = xp.empty((6, total), np.int32), xp.empty(total, np.int32)
        many, costs = xp.empty(n, np.int32), xp.full(n, -1.0)
        sizes, people = np.add.reduceat(lengths[members], set_offsets[:-1]), np.diff(set_offsets)
        few = people <= CROWD
        if few.any():
            sets = xp.asarray(set_offsets), xp.asarray(members)
            asked = xp.asarray(np.where(few, sizes, 0)), xp.asarray(np.where(few, people, 0))
            lists = self._laid("lay_sets", samples, sets, *asked)
            back = (xp.empty(int(asked[0].sum()) + n, np.int32) for _ in range(2))
            told = (*lists, *back, first, boxes, total, box_of, many)
            self._merge("merge_lists", told, costs, asked[0], asked[1] <= FEW, MERGE_RING, PLAIN)
        if len(crowded := np.flatnonzero(~few)):
            bounds = np.concatenate(([0], np.cumsum(people[crowded])))
            crowds = members[ranges(set_offsets[crowded], people[crowded])]
            ends, found, of, cost = merge_sets(samples.trajectories, bounds, crowds, jobs=self.jobs)
            at, counts = xp.asarray(crowded), np.diff(ends)
            many[at], costs[at] = xp.asarray(counts), xp.asarray(cost)
            boxes[:, xp.asarray(ranges(room[crowded], counts))] = xp.asarray(np.stack(found))
            own_rows = xp.asarray(ranges(room[crowded], own[crowded]))
            box_of[own_rows] = xp.asarray(of - np.repeat(ends[:-1], own[crowded]))
        # A set has room for as many boxes as its first member has samples, and may have fewer.
        set_of = xp.asarray(np.repeat(np.arange(n), own))
        used = xp.arange(total) - first[set_of] < many[set_of]
        firsts = before + xp.cumsum(many.astype(np.int64)) - many
        return (
            fetch(many),
            tuple(fetch(side[used]) for side in boxes),
            fetch(box_of + firsts[set_of]),
            fetch(costs),
        )

    def _samples(self, trajectories: Trajectories) -> _Samples:
        """Return these trajectories as the device has them; those of the last call are still there."""
        if self._held is None or self._held.trajectories is not trajectories:
            self._held = None
            self._held = _Samples(self._machine, trajectories)
        return self._held

    def _rows(self, each: int) -> int:
        """Return how many rows of so many bytes are taken in one go."""
        return max(1, min(ROWS if each > 8 else 1 << 26, self._machine.memory // (8 * each)))

    def _share(self, sizes: Any, each: int) -> int:
        """Return how many merges of such sizes, of so many bytes a sample, may be made in one go."""
        most = self._machine.memory // 4
        return max(1, int(len(sizes) * min(1.0, most / max(1, each * int(sizes.sum())))))

    def _pair_costs(self, samples: _Samples, first: Any, second: Any, how: int) -> Any:
        """Return what the one of each line costs with each of its others."""
        xp, each = self.arrays, second.shape[1]
        costs = xp.empty(second.size)
        told = (*samples.columns, first, second, each, how)
        near = PAIR_RING * PLAIN * LANES // PAIR_LANES
        threads = self._sharing(len(costs), PAIR_LANES)
        self._machine.launch("pair_costs", threads, *told, len(costs), PAIR_RING, costs, near=near)
        if len(left := xp.flatnonzero(costs < 0)):
            sizes = samples.length[first[left // each]] + samples.length[second.ravel()[left]]
            self._merge_wide("wide_pair_costs", told, costs, left, sizes)
        return costs.reshape(second.shape)

    def _merge(self, kernel: str, given: Any, costs: Any, sizes: Any, few: Any, ring: int, each: int) -> None:
        """Make merges of such sizes, those of few people close at hand where such a ring will do."""
        xp = self.arrays
        if len(tasks := _largest_first(xp, xp.where(few, sizes, 0))):
            told = (*given, tasks, len(tasks), ring, costs)
            self._machine.launch(kernel, self._sharing(len(tasks), LANES), *told, near=ring * each)
        if len(tasks := _largest_first(xp, xp.where(costs < 0, sizes, 0))):
            self._merge_wide(f"wide_{kernel}", given, costs, tasks, sizes[tasks])

    def _merge_wide(self, kernel: str, given: Any, costs: Any, tasks: Any, sizes: Any) -> None:
        """Make merges of such sizes, as many at a time as there is room for."""
        xp = self.arrays
        ends = xp.cumsum(sizes.astype(np.int64) + 1)
        most = max(1, self._machine.memory // 4 // ROOM)
        begin, before = 0, 0
        while begin < len(tasks):
            end = max(begin + 1, int(xp.searchsorted(ends, before + most, side="right")))
            bounds = xp.zeros(end - begin, np.int64)
            bounds[1:] = ends[begin : end - 1] - before
            entries = int(ends[end - 1]) - before
            room = (bounds, entries, xp.empty(entries * ROOM, np.uint8))
            told = (*given, tasks[begin:end], end - begin, *room, costs)
            self._machine.launch(kernel, self._sharing(end - begin, LANES), *told)
            begin, before = end, before + entries

    def _sharing(self, tasks: int, lanes: int) -> int:
        """Return how many threads to start for tasks that so many share."""
        return _threads(self._machine, tasks * lanes if self._machine.shares else tasks)

    def _laid(self, kernel: str, samples: _Samples, given: Any, sizes: Any, members: Any) -> tuple[Any, ...]:
        """Return lists of such sizes, one after the other: where each begins, and their samples."""
        xp = self.arrays
        rows = xp.zeros(len(sizes) + 1, np.int64)
        rows[1:] = xp.cumsum(sizes)
        lists = xp.empty((int(rows[-1]), 4), np.int32)
        for lanes, some in ((1, members <= ALONE), (LANES, members > ALONE)):
            order = _largest_first(xp, xp.where(some, sizes, 0))
            if not len(order):
                continue
            most = int(members[order].max())
            step = max(LANES, self._machine.memory // 8 // (24 * most))
            for begin in range(0, len(order), step):
                slots = order[begin : begin + step]
                sharing = lanes if self._machine.shares else 1
                threads = _threads(self._machine, len(slots) * sharing)
                room = 2 * most * (threads // sharing)
                heads = xp.empty(room, np.int32), xp.empty(room, np.int64)
                told = (*given, slots, len(slots), most, *heads, rows, lists)
                self._machine.launch(f"{kernel}_{lanes}", threads, *samples.columns, *told)
        return rows, lists

    def _least(self, keys: Any, rows: Any, many: int) -> tuple[Any, Any]:
        """Return the least keys of each line and their rows."""
        lines, width = rows.shape
        xp, threads = self.arrays, _threads(self._machine, lines, 12 * many)
        heap = xp.empty(threads * many), xp.empty(threads * many, np.int32)
        found = xp.empty((lines, many)), xp.empty((lines, many), np.int32)
        keys, rows = xp.ascontiguousarray(keys), xp.ascontiguousarray(rows)
        self._machine.launch("least_of", threads, keys, rows, lines, width, many, *heap, *found)
        return found


def _largest_first(xp: Any, sizes: Any) -> Any:
    """Return the rows of sizes above 0, the largest first."""
    order = xp.argsort(-sizes)
    return order[: int((sizes > 0).sum())]


def _threads(machine: Machine, tasks: int, each: int = 0) -> int:
    """Return how many threads to start: one a task, or as many of so many bytes as there is room for."""
    most = min(machine.threads, tasks, machine.memory // 4 // each) if each else tasks
    return max(1, -(-most // machine.block)) * machine.block


def _involved(xp: Any, chains: Chains, pickers: Any, also: Any) -> tuple[Any, ...]:
    """Return everybody whose samples are merged: pickers, those they picked, and one more."""
    people, picks = [pickers, also[also >= 0]], chains.last[pickers]
    while len(picks := xp.unique(picks[picks >= 0])):
        people.append(chains.picked[picks])
        picks = chains.before[picks]
    return tuple(people)


class _Samples:
    """Samples on the device: all of them if they fit, else those of the people that are looked at.

    ``begin`` and ``length`` say where each person's samples stand; those of others may be anywhere.
    """

    def __init__(self, machine: Machine, trajectories: Trajectories) -> None:
        self.trajectories = trajectories
        self._machine, self._most = machine, machine.memory // 4 // 16
        self.resident = trajectories.n_samples <= self._most
        self.longest = int(trajectories.lengths.max())
        xp = machine.arrays
        self.length = xp.asarray(trajectories.lengths, dtype=np.int32)
        self._begin = xp.array(trajectories.offsets[:-1])
        self._steps = self._sent(slice(None)) if self.resident else None

    @property
    def columns(self) -> tuple[Any, ...]:
        """Return what every loop is given."""
        return (self._steps, self._begin, self.length)

    def blocks(self, n: int, size: int, people: Callable[[slice], tuple[Any, ...]]) -> Iterator[slice]:
        """Yield slices that cover n rows, once the samples of the people they need are on the device."""
        begin = 0
        while begin < n:
            block = slice(begin, min(begin + size, n))
            if self.resident or self._hold(people(block), alone=block.stop == begin + 1):
                yield block
                begin = block.stop
            else:
                size = (block.stop - begin) // 2

    def _hold(self, people: tuple[Any, ...], *, alone: bool) -> bool:
        """Put these people's samples on the device and return whether they fit; one row's always do."""
        fetched = [self._machine.fetch(some).ravel() for some in people]
        rows = np.unique(np.concatenate(fetched))
        lengths = self.trajectories.lengths[rows]
        if lengths.sum() > self._most and not alone:
            return False
        self._steps = self._sent(ranges(self.trajectories.offsets[rows], lengths))
        xp = self._machine.arrays
        self._begin[xp.asarray(rows)] = xp.asarray(np.cumsum(lengths) - lengths)
        return True

    def _sent(self, samples: Any) -> Any:
        """Return samples as loops take them: four numbers each, of which the last is free."""
        made, xp = self.trajectories, self._machine.arrays
        columns = [xp.asarray(column[samples]) for column in (made.t, made.x, made.y)]
        return xp.stack((*columns, columns[0]), axis=1)


class _Nearest:
    """Candidates of everybody, block after block in the order of the tree."""

    def __init__(self, machine: Machine, of: Squares, many: int) -> None:
        xp = machine.arrays
        self.people, nodes, extent = SquareTree(of).parts
        self._machine, self._many, self._nodes = machine, many, len(nodes)
        self._order = xp.asarray(self.people)
        self._tree = (*map(xp.asarray, of), self._order, xp.asarray(nodes), xp.asarray(extent))
        self._latest: tuple[slice, tuple[Any, Any]] | None = None

    def candidates(self, block: slice) -> tuple[Any, Any]:
        """Return the people of a block and their nearest ones; those of the latest block are kept."""
        if self._latest is None or self._latest[0] != block:
            self._latest = block, self._found(block)
        return self._latest[1]

    def _found(self, block: slice) -> tuple[Any, Any]:
        xp, n, many = self._machine.arrays, block.stop - block.start, self._many
        threads = _threads(self._machine, n, 12 * many)
        heap = xp.empty(threads * many), xp.empty(threads * many, np.int32)
        found = xp.empty((n, many), np.int32)
        self._machine.launch("nearest", threads, *self._tree, self._nodes, block.start, n, many, *heap, found)
        return self._order[block], found
