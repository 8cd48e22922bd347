"""Who can contain whom: a few samples of everybody that few boxes hold, looked for box by box.

Whoever contains a trajectory contains every sample of it, so it is enough to compare it with those that
contain some, and the fewer boxes there are where these lie, the fewer comparisons are left. Time and space
are cut into cells, the boxes that touch each cell are counted, and everybody's witnesses are samples of
cells that few boxes touch. The first is filed by its cell, and a box looks into the cells that it touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints, narrowed, to_read
from tripcloak.ground.errors import InternalError
from tripcloak.ground.threads import blocks, in_threads, processors

CHUNK = 256
"""Trajectories that one thread takes at a time."""

ENOUGH = 1 << 20
"""Samples that are looked at to choose where to cut; four times as many boxes to see where there are few."""

WITNESSES = 3
"""Samples of everybody that are looked for."""

ROOM = 1 << 22
"""Pairs of somebody and whoever contains them that are held at a time."""


class Samples(NamedTuple):
    """Samples of many trajectories, by time within each; of trajectory i at offsets[i]:offsets[i + 1]."""

    offsets: Ints
    t: Any
    x: Any
    y: Any


class BoxSpans(NamedTuple):
    """Boxes of many trajectories, with exclusive ends, in the same units as the samples."""

    offsets: Ints
    t0: Any
    t1: Any
    x0: Any
    x1: Any
    y0: Any
    y1: Any


class _Witnesses(NamedTuple):
    """People by the cell of their first witness: of cell c at cells[c]:cells[c + 1]; witnesses as t, x, y."""

    cells: Ints
    person: Ints
    known: Any


@dataclass(frozen=True, eq=False)
class Screen:
    """Original samples and released boxes, as the compiled loops take them.

    Attributes
    ----------
    samples
        The original trajectories.
    starts, sides
        Where the boxes of each released trajectory begin, and the six sides of boxes.
    cuts
        Where time, x and y are cut.
    """

    samples: Samples
    starts: Ints
    sides: tuple[Any, ...]
    cuts: tuple[Any, ...]
    witnesses: _Witnesses

    @staticmethod
    def of(samples: Samples, spans: BoxSpans, *, jobs: int | None = None) -> Screen:
        """Return everybody's witnesses against these boxes."""
        if spans.offsets[0] != 0 or (np.diff(spans.offsets) < 1).any():
            raise InternalError("every released trajectory needs a sample")
        if (np.diff(samples.offsets) < 1).any():
            raise InternalError("every original trajectory needs a sample")
        columns = narrowed(*samples[1:], *spans[1:])
        read = Samples(to_read(samples.offsets), *columns[:3])
        sides, cuts = tuple(columns[3:]), cells_between(read)
        return Screen(read, to_read(spans.offsets), sides, cuts, _witnesses(read, sides, cuts, jobs))

    def held(self, jobs: int | None = None) -> tuple[Ints, Ints, Ints]:
        """Return how many contain everybody, how many both ways, and how many each contains so.

        That is, per original trajectory, the released ones that contain all its samples, and those among
        them that have no box without one; and per released trajectory, the original ones that it contains
        in this second way.
        """
        workers, (n, released) = processors(jobs), self._sizes
        support, both = np.zeros((2, workers, n), np.int64)
        members = np.zeros(released, np.int64)
        none = np.empty(0, np.int64)

        def work(worker: int) -> None:
            seen = np.full(n, -1, np.int64)
            mine = seen, support[worker], both[worker], members, none, none, none.astype(np.uint8)
            for at in range(worker * CHUNK, released, workers * CHUNK):
                self._count(slice(at, min(at + CHUNK, released)), *mine)

        _ = list(in_threads(work, range(workers), workers))
        return support.sum(axis=0), both.sum(axis=0), members

    def holders(self) -> Iterator[tuple[int, Ints, Any]]:
        """Yield everybody, the released trajectories that contain them, and 2 for both ways or else 1."""
        n, released = self._sizes
        ends = np.concatenate(([0], np.cumsum(self.held(1)[0])))
        begin = 0
        while begin < n:
            end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + ROOM, side="right")) - 1)
            part = self._only(slice(begin, end))
            room = ends[begin : end + 1] - ends[begin]
            holders, verdicts = np.empty(room[-1], np.int64), np.empty(room[-1], np.uint8)
            seen, both = np.full(end - begin, -1, np.int64), np.zeros(end - begin, np.int64)
            told = seen, np.zeros_like(both), both, np.zeros(released, np.int64), room, holders, verdicts
            part._count(slice(0, released), *told)
            for at in range(end - begin):
                mine = slice(room[at], room[at + 1])
                yield begin + at, holders[mine], verdicts[mine]
            begin = end

    @property
    def _sizes(self) -> tuple[int, int]:
        return len(self.samples.offsets) - 1, len(self.starts) - 1

    def _only(self, people: slice) -> Screen:
        """Return the screen of some people, who stand one after the other."""
        if people == slice(0, self._sizes[0]):
            return self
        offsets = self.samples.offsets[people.start : people.stop + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        own = Samples(to_read(offsets - offsets[0]), *(column[rows] for column in self.samples[1:]))
        found = _witnesses(own, self.sides, self.cuts, 1)
        return Screen(own, self.starts, self.sides, self.cuts, found)

    def _count(self, released: slice, *told: Any) -> None:
        from tripcloak.trajectories.audit._kernels import count_holding

        rows = np.arange(released.start, released.stop)
        count_holding(rows, self.starts, self.sides, *self.samples, self.cuts, *self.witnesses, *told)


def cells_between(samples: Samples) -> tuple[Any, ...]:
    """Return where time, x and y are cut: more often the more people there are, each bin about as full."""
    fineness = min(max(round(0.35 * log2(len(samples.offsets))), 2), 7)
    times, space = 1 << max(fineness - 2, 2), 1 << fineness
    every = 1 + len(samples.t) // ENOUGH
    return tuple(
        to_read(np.unique(np.quantile(values[::every], np.arange(1, number) / number, method="lower")))
        for values, number in zip(samples[1:], (times, space, space), strict=True)
    )


def _witnesses(samples: Samples, sides: Any, cuts: tuple[Any, ...], jobs: int | None) -> _Witnesses:
    """Return everybody's samples where the fewest boxes are."""
    from tripcloak.trajectories.audit._kernels import find_rarest, mark_corners

    n = len(samples.offsets) - 1
    cover = mark_corners(1 + len(sides[0]) // (4 * ENOUGH), cuts, sides)
    for axis in range(3):
        np.cumsum(cover, axis=axis, out=cover)
    found, cell = np.empty((n, WITNESSES), np.int64), np.empty(n, np.int64)

    def work(part: slice) -> None:
        find_rarest(np.arange(part.start, part.stop), *samples, cuts, cover, found, cell)

    _ = list(in_threads(work, blocks(n, 64 * CHUNK), processors(jobs)))
    person = np.argsort(cell, kind="stable")
    number = np.prod([len(cut) + 1 for cut in cuts])
    cells = np.searchsorted(cell[person], np.arange(number + 1))
    known = np.stack([column[found[person]] for column in samples[1:]], axis=2)
    return _Witnesses(cells, person, known)
