"""k^m-anonymity of trajectories: any m visits of a person are those of k people or more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.promises import KMSamples, TrajectoryPromise
from tripcloak.trajectories.methods.cells import (
    ABOUT_CELL,
    ABOUT_INTERVAL,
    Lattice,
    Visits,
    check_lengths,
    codes_of,
    firsts_of,
    levels_over,
    visits,
)
from tripcloak.trajectories.methods.method import HidingMethod
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution

MOST_SETS = 400_000_000
"""Sets of visits that are counted at most."""

AT_ONCE = 1 << 24
"""Sets that are made of one length of trajectories at a time."""


@dataclass(frozen=True, kw_only=True)
class KMTrajectories(HidingMethod):
    """k^m-anonymity (Terrovitis, Mamoulis and Kalnis 2008) of what people visited.

    A trajectory is the set of its visits: of each slot of time the cell in which most of the person's samples
    are. Apriori anonymisation: first single visits, then pairs and so on up to m are counted in a count tree;
    of every set that fewer than k people have, the visit whose cell is cheapest to double is made coarser,
    for everybody alike, until there is no such set left. The cut of cells belongs to its slot.

    The count tree is kept as the sorted numbers of its branches. Where the paper raises items set by set, all
    sets that are too rare vote at once. What is too rare though all its cells are as wide as everything is
    withheld, of those people alone who have it, the rarer visit first.

    Parameters
    ----------
    m
        How many visits of a person somebody may know.
    cell
        Metres of the finest cell.
    interval
        Seconds of a slot.
    withheld
        The share of visits that may be withheld.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> made = Trajectories.of(user=[0, 0, 1, 1], t=[0, 90] * 2, x=[1, 1, 2, 31], y=[0] * 4, grid=Grid())
    >>> release = KMTrajectories(k=2, m=2, cell=1000).anonymise(made)
    >>> release.boxes.x0.tolist(), release.boxes.x1.tolist()
    ([0, 0, 0, 0], [10, 40, 10, 40])
    """

    name: ClassVar[str] = "k-m"
    summary: ClassVar[str] = "cells as coarse as it takes for k people to share any m visits"
    source: ClassVar[str] = "Terrovitis, Mamoulis and Kalnis 2008, k^m-anonymity with a count tree"
    makes: ClassVar[type[TrajectoryPromise]] = KMSamples

    m: int = option(2, help="How many visits of a person somebody may know.", metavar="M", least=1)
    cell: int = option(500, **ABOUT_CELL)
    interval: int = option(3600, **ABOUT_INTERVAL)
    withheld: float = option(0.5, help="Share of visits that may be withheld.", metavar="SHARE", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_lengths(self.cell, self.interval)
        KMSamples(k=self.k, m=self.m)
        if not 0 <= self.withheld < 1:
            raise InputError(
                f"the share that may be withheld is 0 or more and below 1; got {self.withheld:g}"
            )

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return everybody's visits, in cells of a cut under which any m of them are those of k people."""
        lattice = Lattice.of(trajectories.grid, cell=self.cell, interval=self.interval)
        found = visits(trajectories, lattice, of_samples=True)
        cut = _Cut(found, levels_over(lattice, trajectories))
        size, turns = 1, 0
        # Invariant: sets of fewer visits than ``size`` are those of k people or more.
        while size <= self.m:
            self._require(cut, size)
            progress(f"counting sets of {size}", turns, None)
            size = cut.relieved(size, self.k)
            turns += 1
        self._require(cut, self.m)
        return _released(trajectories, lattice, found, cut, {"rounds": turns})

    def _require(self, cut: _Cut, size: int) -> None:
        """Raise where too much is withheld, or where there is too much to count in sets of this size."""
        if 1 - cut.kept.mean() > self.withheld:
            raise ImpossibleRequestError(
                f"not possible: with slots of {self.interval:,} seconds too many visits would be withheld, "
                f"since fewer than {self.k} people were recorded in the same {self.m} slots; lengthen the "
                f"slots ({spelt('interval', 24 * self.interval)}), ask for a smaller k or m, or allow more "
                f"to be withheld ({spelt('withheld', '0.9')})"
            )
        lengths, people = (column.tolist() for column in np.unique(cut.lengths, return_counts=True))
        sets = sum(comb(length, self.m) * many for length, many in zip(lengths, people, strict=True))
        # A set is counted by one number of 63 bits, which says all of its visits.
        if sets > MOST_SETS or cut.n_items**size >= 1 << 63:
            most = f"{MOST_SETS:,}" if sets > MOST_SETS else "2 to the 63"
            raise ImpossibleRequestError(
                f"not possible: there are more than {most} sets of {self.m} visits to count; lengthen "
                f"the slots ({spelt('interval', 24 * self.interval)}), take fewer days, or a smaller m"
            )


class _Cut:
    """Which cells are told apart in each slot, and which visits are told at all."""

    def __init__(self, found: Visits, top: int) -> None:
        self._found, self.top = found, top
        self.kept: Bools = np.ones(len(found.owner), dtype=bool)
        base = codes_of(found.slot, found.x, found.y)
        self._base = base
        first = firsts_of(base)
        self._slot, self._x, self._y = found.slot[first], found.x[first], found.y[first]
        self._level = np.zeros(len(first), np.int64)
        self._visits = np.bincount(base)

    @property
    def levels(self) -> Ints:
        """Return how often the cell of each visit is doubled; one more than the top is everything."""
        return self._level[self._base]

    @property
    def n_items(self) -> int:
        """Return how many cells are told apart, of all slots together."""
        return int(self._items().max(initial=0)) + 1

    @property
    def lengths(self) -> Ints:
        """Return how many visits are kept of everybody."""
        return np.bincount(self._found.owner[self.kept])

    def relieved(self, size: int, k: int) -> int:
        """Return which sets to look at next, after helping those of this size that are too rare."""
        items = self._items()
        rare = _rare_sets(self._found.owner[self.kept], items[self._base][self.kept], size, k)
        if not len(rare):
            return size + 1
        if self._raise(items, rare):
            return size
        self._withhold(items, rare)
        # Who loses a visit no longer counts for the others who have it.
        return 1

    def _items(self) -> Ints:
        """Return a number for every base cell, the same of those that are not told apart."""
        return codes_of(self._slot, self._level, *self._nodes(self._level))

    def _nodes(self, level: Ints) -> tuple[Ints, Ints]:
        """Return column and row of the cells that hold base cells; beyond the top there is but one."""
        below = level <= self.top
        return np.where(below, self._x >> level, 0), np.where(below, self._y >> level, 0)

    def _raise(self, items: Ints, rare: Ints) -> bool:
        """Return whether a cell could be doubled: of each rare set the one that costs least."""
        many = int(items.max()) + 1
        level = np.zeros(many, np.int64)
        level[items] = self._level
        parents = codes_of(self._slot, *self._nodes(self._level + 1), self._level + 1)
        price = np.full(many, np.inf)
        # What lies under the parent is made coarser: as many visits, and as wide as the parent is.
        price[items] = np.bincount(parents, self._visits)[parents] * 2.0 ** (self._level + 1)
        price[level > self.top] = np.inf
        chosen = rare[np.arange(len(rare)), np.argmin(price[rare], axis=1)]
        chosen = np.unique(chosen[np.isfinite(price[chosen])])
        if not len(chosen):
            return False
        self._double(np.isin(items, chosen))
        return True

    def _double(self, asked: Bools) -> None:
        """Double the cells of these base cells, and whatever else lies in the doubled ones."""
        for level in np.unique(self._level[asked]):
            wide = np.full(len(self._level), level + 1)
            cell = codes_of(self._slot, *self._nodes(wide))
            doubled = np.zeros(int(cell.max()) + 1, dtype=bool)
            doubled[cell[asked & (self._level == level)]] = True
            self._level = np.where(doubled[cell], np.maximum(self._level, level + 1), self._level)

    def _withhold(self, items: Ints, rare: Ints) -> None:
        """Leave out, of everybody who has a rare set, the visit that fewest have."""
        rows = np.flatnonzero(self.kept)
        mine = items[self._base][rows]
        people = np.bincount(mine)
        wanted = np.unique(_joined(rare, int(items.max()) + 1))
        for at in _sets(self._found.owner[rows], rare.shape[1]):
            chosen = np.sort(mine[at], axis=1)
            hit = at[np.isin(_joined(chosen, int(items.max()) + 1), wanted)]
            rarest = np.argmin(people[mine[hit]], axis=1)
            self.kept[rows[hit[np.arange(len(hit)), rarest]]] = False


def _rare_sets(owner: Ints, items: Ints, size: int, k: int) -> Ints:
    """Return the sets of so many visits that somebody has and fewer than k people have, a row a set."""
    many = int(items.max(initial=0)) + 1
    # A branch of the count tree is a number; people have each of their visits once.
    parts = [_joined(np.sort(items[at], axis=1), many) for at in _sets(owner, size)]
    if not parts:
        return np.empty((0, size), np.int64)
    sets, people = np.unique(np.concatenate(parts), return_counts=True)
    rare, columns = sets[people < k], []
    for _ in range(size):
        rare, column = np.divmod(rare, many)
        columns.append(column)
    return np.stack(columns[::-1], axis=1)


def _sets(owner: Ints, size: int) -> Iterator[Ints]:
    """Yield rows of visits, each with so many of one person; visits are ordered by person."""
    _people, lengths = np.unique(owner, return_counts=True)
    begins = np.cumsum(lengths) - lengths
    for length in np.unique(lengths[lengths >= size]):
        first = begins[lengths == length]
        chosen = np.array(list(combinations(range(int(length)), size)))
        for some in np.array_split(chosen, 1 + len(chosen) * len(first) // AT_ONCE):
            yield (first[:, None, None] + some[None, :, :]).reshape(-1, size)


def _joined(sets: Ints, many: int) -> Ints:
    """Return a number for each row of items."""
    code = sets[:, 0]
    for column in sets.T[1:]:
        code = code * many + column
    return code


def _released(
    trajectories: Trajectories, lattice: Lattice, found: Visits, cut: _Cut, facts: dict[str, int]
) -> TrajectorySolution:
    """Return a box for every visit that is kept."""
    rows = np.flatnonzero(cut.kept)
    level, slot = cut.levels[rows], found.slot[rows]
    boxes = lattice.boxes(slot, found.x[rows] >> level, found.y[rows] >> level, level)
    everything = level > cut.top
    reach = lattice.cell << cut.top
    low, high = (np.where(everything, side, 0) for side in (-reach, reach))
    sides = (np.where(everything, edge, side) for side, edge in zip(boxes[2:], (low, high) * 2, strict=True))
    people, first = np.unique(found.owner[rows], return_index=True)
    released_of = np.full(trajectories.n_users, -1, np.int64)
    released_of[people] = np.arange(len(people))
    box_of = np.full(len(found.owner), -1, np.int64)
    box_of[rows] = np.arange(len(rows))
    of_sample = np.where(found.of_sample >= 0, box_of[found.of_sample], -1)
    return TrajectorySolution(
        np.append(first, len(rows)), Boxes(*boxes[:2], *sides), released_of, of_sample, facts
    )
