"""Who can contain whom, and who does: released trajectories that lie near each other are looked at together.

Whoever contains a trajectory contains every sample of it, so it is enough to compare it with those that
contain some, and the fewer boxes there are where these lie, the fewer comparisons are left. Time and space
are cut into cells, the boxes that touch each cell are counted, and everybody's witnesses are samples of
cells that few boxes touch. Released trajectories are taken some thousands at a time, a bit each: whoever has
all witnesses in cells that some of them touch is compared with all of these at once, sample by sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log2
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints, narrowed, to_read
from tripcloak.ground.errors import InternalError
from tripcloak.ground.threads import blocks, in_threads, processors

CHUNK = 1 << 14
"""People whose witnesses one thread looks for at a time."""

LANES = 2048
"""Released trajectories that are compared with somebody at once, a bit each."""

BOXES = 1 << 18
"""Boxes of them at most, but for one that has more alone."""

AT_ONCE = (1 << 17, 1 << 21, 8)
"""People who are compared with them at a time, about how many samples of theirs, how many of each first."""

FINE = (1 << 14, 1 << 8, 1 << 8)
"""Into how many bins time, x and y are cut to tell quickly what lies in a box."""

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


class _Fine(NamedTuple):
    """Bins of time, x and y: between which cuts, with the largest value of each; and those of samples."""

    edges: tuple[tuple[Any, Any], ...]
    bins: tuple[Any, ...]


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
        Where time, x and y are cut into cells.
    witnesses
        Cells in which everybody has samples, a row a person.
    fine
        Finer bins of all samples.
    """

    samples: Samples
    starts: Ints
    sides: tuple[Any, ...]
    cuts: tuple[Any, ...]
    witnesses: Ints
    fine: _Fine

    @staticmethod
    def of(samples: Samples, spans: BoxSpans, *, jobs: int | None = None) -> Screen:
        """Return everybody's witnesses against these boxes, and the bins of all samples."""
        if spans.offsets[0] != 0 or (np.diff(spans.offsets) < 1).any():
            raise InternalError("every released trajectory needs a sample")
        if (np.diff(samples.offsets) < 1).any():
            raise InternalError("every original trajectory needs a sample")
        columns = narrowed(*samples[1:], *spans[1:])
        read = Samples(to_read(samples.offsets), *columns[:3])
        sides, cuts = tuple(columns[3:]), cells_between(read)
        starts, found = to_read(spans.offsets), _witnesses(read, sides, cuts, jobs)
        return Screen(read, starts, sides, cuts, found, _fine(read, jobs))

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

        left = iter(self._near_each_other())

        def work(worker: int) -> None:
            mine = support[worker], both[worker], members, none, none, none.astype(np.uint8)
            # Each takes what no other one has taken yet.
            for rows in left:
                self._count(rows, *mine)

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
            support, both = np.zeros((2, end - begin), np.int64)
            told = support, both, np.zeros(released, np.int64), room, holders, verdicts
            for rows in self._near_each_other():
                part._count(rows, *told)
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
        fine = self.fine._replace(bins=tuple(bins[rows] for bins in self.fine.bins))
        return replace(self, samples=own, witnesses=self.witnesses[people], fine=fine)

    def _near_each_other(self) -> list[Ints]:
        """Return the released trajectories, those that are compared at once in one array."""
        lows, highs = (
            [np.asarray(step(side, self.starts[:-1]), np.float64) for side in sides]
            for step, sides in (
                (np.minimum.reduceat, self.sides[2::2]),
                (np.maximum.reduceat, self.sides[3::2]),
            )
        )
        x, y = (low + high for low, high in zip(lows, highs, strict=True))
        released = len(x)
        stripes = max(1, round((released / LANES) ** 0.5))
        stripe = np.empty(released, np.int64)
        stripe[np.argsort(x, kind="stable")] = np.arange(released) * stripes // released
        order = np.lexsort((y, stripe))
        ends = np.cumsum(np.diff(self.starts)[order])
        parts, at = [], 0
        while at < released:
            most = int(np.searchsorted(ends, (ends[at - 1] if at else 0) + BOXES, side="right"))
            end = max(at + 1, min(most, at + LANES))
            parts.append(order[at:end])
            at = end
        return parts

    def _count(self, rows: Ints, *told: Any) -> None:
        from tripcloak.trajectories.audit._kernels import count_holding

        told = self.cuts, self.witnesses, *self.fine, AT_ONCE, *told
        count_holding(rows, self.starts, self.sides, *self.samples, *told)


def cells_between(samples: Samples) -> tuple[Any, ...]:
    """Return where time, x and y are cut: more often the more people there are, each bin about as full."""
    fineness = min(max(round(0.35 * log2(len(samples.offsets))), 2), 6)
    return _cuts(samples, (1 << max(fineness - 2, 2), 1 << fineness, 1 << fineness))


def _cuts(samples: Samples, numbers: tuple[int, ...]) -> tuple[Any, ...]:
    """Return where time, x and y are cut into so many bins, each about as full."""
    every = 1 + len(samples.t) // ENOUGH
    return tuple(
        to_read(np.unique(np.quantile(values[::every], np.arange(1, number) / number, method="lower")))
        for values, number in zip(samples[1:], numbers, strict=True)
    )


def _fine(samples: Samples, jobs: int | None) -> _Fine:
    """Return fine bins of all samples."""
    from tripcloak.trajectories.audit._kernels import find_bins

    edges, bins = [], []
    for values, cuts in zip(samples[1:], _cuts(samples, FINE), strict=True):
        own = np.empty(len(values), np.uint16)

        def work(part: slice, values: Any = values, cuts: Any = cuts, own: Any = own) -> Any:
            most = np.full(len(cuts) + 1, values[0])
            own[part] = find_bins(values[part], cuts, most)
            return most

        most = np.maximum.reduce(list(in_threads(work, blocks(len(values), ENOUGH), processors(jobs))))
        edges.append((cuts, to_read(most)))
        bins.append(to_read(own))
    return _Fine(tuple(edges), tuple(bins))


def _witnesses(samples: Samples, sides: Any, cuts: tuple[Any, ...], jobs: int | None) -> Ints:
    """Return the cells of everybody's samples where the fewest boxes are."""
    from tripcloak.trajectories.audit._kernels import find_rarest, mark_corners

    n = len(samples.offsets) - 1
    cover = mark_corners(1 + len(sides[0]) // (4 * ENOUGH), cuts, sides)
    for axis in range(3):
        np.cumsum(cover, axis=axis, out=cover)
    found = np.empty((n, WITNESSES), np.int64)

    def work(part: slice) -> None:
        find_rarest(np.arange(part.start, part.stop), *samples, cuts, cover, found)

    _ = list(in_threads(work, blocks(n, CHUNK), processors(jobs)))
    bins = (
        np.searchsorted(cut, column[found], side="right")
        for cut, column in zip(cuts, samples[1:], strict=True)
    )
    cells = np.ravel_multi_index(tuple(bins), [len(cut) + 1 for cut in cuts])
    return to_read(cells.astype(np.int32))
