"""k^m-anonymity of trajectories: any m visits of a person are those of k people or more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import called, spelt
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

DAY = 86_400

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
    sets that are too rare vote at once, and only sets with a cell that was doubled are counted again. What is
    too rare though all its cells are as wide as everything is withheld before, of those people alone who have
    it, the rarer visit first.

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
        rows = np.flatnonzero(self._helped(found, trajectories, progress))
        cut = _Cut(found, rows, levels_over(lattice, trajectories))
        turns = 0
        # Invariant: sets of fewer visits than ``size`` are those of k people or more.
        for size in range(1, self.m + 1):
            changed: Bools = np.ones(len(rows), dtype=bool)
            while changed.any():
                _require_numbers(cut.n_items, size)
                progress(f"counting sets of {size}", turns, None)
                changed = cut.relieved(size, self.k, changed)
                turns += 1
        return _released(trajectories, lattice, found, rows, cut, {"rounds": turns})

    def _helped(self, found: Visits, trajectories: Trajectories, progress: Progress) -> Bools:
        """Return visits of which, in cells as wide as everything, any m are those of k people; or raise."""
        kept = _shared(found, self.m, self.k, progress)
        if 1 - kept.mean() <= self.withheld:
            return kept
        same = "slot" if self.m == 1 else f"{self.m} slots"
        raise ImpossibleRequestError(
            f"not possible: with slots of {self.interval:,} seconds too many visits would be withheld, "
            f"{_percent(kept)} %, since fewer than {self.k} people were recorded in the same {same}, however "
            f"wide cells are. {self._advice(kept, trajectories)}"
        )

    def _advice(self, kept: Bools, trajectories: Trajectories) -> str:
        """Return what would do instead, each tried: the share it takes, with longer slots or a smaller m."""
        ways = [self._would_do("", kept)]
        others = {
            "m": [1] if self.m > 1 else [],
            "interval": [n * DAY for n in (1, 7) if n * DAY > self.interval],
        }
        for name, value in ((name, value) for name, values in others.items() for value in values):
            other = replace(self, **{name: value})
            lattice = Lattice.of(trajectories.grid, cell=other.cell, interval=other.interval)
            try:
                shared = _shared(visits(trajectories, lattice), other.m, self.k, silent)
            except ImpossibleRequestError:
                continue
            ways.append(self._would_do(spelt(name, value), shared))
        told = ", or ".join(filter(None, ways))
        return f"What would do: {told}" if told else "Ask for a smaller k, or bring more people"

    def _would_do(self, way: str, kept: Bools) -> str:
        """Return a way with the share withheld that it takes, or nothing where it takes all."""
        share = _percent(kept)
        if share == 100:
            return ""
        more = "" if 1 - kept.mean() <= self.withheld else spelt("withheld", share / 100)
        return " with ".join(filter(None, (way, more)))


def _percent(kept: Bools) -> int:
    """Return the least share of 100 that may be withheld for these visits to be told."""
    return next(share for share in range(101) if 1 - kept.mean() <= share / 100)


def _shared(found: Visits, m: int, k: int, progress: Progress) -> Bools:
    """Return which visits are left where any m slots of a person, or fewer, are to be those of k people.

    What is rare in cells as wide as everything is rare in all cells: nothing but withholding helps it. So it
    is left out before cells are doubled, for which it no longer votes.
    """
    kept: Bools = np.ones(len(found.owner), dtype=bool)
    size = 1
    # Invariant: sets of fewer slots than ``size`` are those of k people or more.
    while size <= m:
        rows = np.flatnonzero(kept)
        owner, slot = found.owner[rows], codes_of(found.slot[rows])
        _require_few(owner, size)
        _require_numbers(int(slot.max(initial=0)) + 1, size)
        progress(f"counting sets of {size} slots", 0, None)
        lost = _lost(owner, slot, size, k)
        kept[rows[lost]] = False
        # Who loses a visit no longer counts for the others who have it.
        size = 1 if len(lost) else size + 1
    return kept


def _lost(owner: Ints, slot: Ints, size: int, k: int) -> Ints:
    """Return visits in the slot that fewest have, of everybody who has a set of slots that too few have."""
    every: Bools = np.ones(len(owner), dtype=bool)
    rare = _rare_sets(owner, slot, size, k, every)
    if not len(rare):
        return np.empty(0, np.int64)
    many, people, lost = int(slot.max()) + 1, np.bincount(slot), []
    wanted = _joined(rare, many)
    for at in _sets(owner, size, every):
        chosen = np.sort(slot[at], axis=1)
        hit = at[np.isin(_joined(chosen, many), wanted)]
        lost.append(hit[np.arange(len(hit)), np.argmin(people[slot[hit]], axis=1)])
    return np.unique(np.concatenate(lost))


def _require_few(owner: Ints, size: int) -> None:
    """Raise where there are too many sets of so many visits to count."""
    lengths, people = (column.tolist() for column in np.unique(np.bincount(owner), return_counts=True))
    if sum(comb(length, size) * many for length, many in zip(lengths, people, strict=True)) > MOST_SETS:
        raise _too_many(f"{MOST_SETS:,}", size)


def _require_numbers(many: int, size: int) -> None:
    """Raise where a set of so many different visits is no number of 63 bits."""
    if many**size >= 1 << 63:
        raise _too_many("2 to the 63", size)


def _too_many(most: str, size: int) -> ImpossibleRequestError:
    return ImpossibleRequestError(
        f"not possible: there are more than {most} sets of {size} visits to count; lengthen the slots "
        f"({called('interval')}), take fewer days, or a smaller m"
    )


class _Cut:
    """Which cells are told apart in each slot, of the visits that are told."""

    def __init__(self, found: Visits, rows: Ints, top: int) -> None:
        self._owner, self.top = found.owner[rows], top
        slot, x, y = found.slot[rows], found.x[rows], found.y[rows]
        base = codes_of(slot, x, y)
        self._base = base
        first = firsts_of(base)
        self._slot, self._x, self._y = slot[first], x[first], y[first]
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

    def relieved(self, size: int, k: int, changed: Bools) -> Bools:
        """Return which visits are in wider cells after helping the sets of so many that are too rare.

        Parameters
        ----------
        changed
            Visits whose cell is another one than when sets were counted last; there is no rare set of others.
        """
        items, before = self._items(), self._level
        rare = _rare_sets(self._owner, items[self._base], size, k, changed)
        if len(rare):
            self._raise(items, rare)
        moved: Bools = self._level != before
        return moved[self._base]

    def _items(self) -> Ints:
        """Return a number for every base cell, the same of those that are not told apart."""
        return codes_of(self._slot, self._level, *self._nodes(self._level))

    def _nodes(self, level: Ints) -> tuple[Ints, Ints]:
        """Return column and row of the cells that hold base cells; beyond the top there is but one."""
        below = level <= self.top
        return np.where(below, self._x >> level, 0), np.where(below, self._y >> level, 0)

    def _raise(self, items: Ints, rare: Ints) -> None:
        """Double the cell of each rare set that costs least; not all of its cells are everything yet."""
        many = int(items.max()) + 1
        level = np.zeros(many, np.int64)
        level[items] = self._level
        parents = codes_of(self._slot, *self._nodes(self._level + 1), self._level + 1)
        price = np.full(many, np.inf)
        # What lies under the parent is made coarser: as many visits, and as wide as the parent is.
        price[items] = np.bincount(parents, self._visits)[parents] * 2.0 ** (self._level + 1)
        price[level > self.top] = np.inf
        chosen = rare[np.arange(len(rare)), np.argmin(price[rare], axis=1)]
        self._double(np.isin(items, chosen))

    def _double(self, asked: Bools) -> None:
        """Double the cells of these base cells, and whatever else lies in the doubled ones."""
        for level in np.unique(self._level[asked]):
            wide = np.full(len(self._level), level + 1)
            cell = codes_of(self._slot, *self._nodes(wide))
            doubled = np.zeros(int(cell.max()) + 1, dtype=bool)
            doubled[cell[asked & (self._level == level)]] = True
            self._level = np.where(doubled[cell], np.maximum(self._level, level + 1), self._level)


def _rare_sets(owner: Ints, items: Ints, size: int, k: int, changed: Bools) -> Ints:
    """Return sets of so many visits that somebody has and fewer than k people have, a row a set.

    Only sets with a visit that changed are counted; whoever has such a set has a changed visit of it.
    """
    many = int(items.max(initial=0)) + 1
    # A branch of the count tree is a number; people have each of their visits once.
    parts = [_joined(np.sort(items[at], axis=1), many) for at in _sets(owner, size, changed)]
    if not parts:
        return np.empty((0, size), np.int64)
    sets, people = np.unique(np.concatenate(parts), return_counts=True)
    rare, columns = sets[people < k], []
    for _ in range(size):
        rare, column = np.divmod(rare, many)
        columns.append(column)
    return np.stack(columns[::-1], axis=1)


def _sets(owner: Ints, size: int, changed: Bools) -> Iterator[Ints]:
    """Yield rows of visits, each with so many of one person, one of them changed; visits are by person."""
    _people, lengths = np.unique(owner, return_counts=True)
    begins = np.cumsum(lengths) - lengths
    for length in np.unique(lengths[lengths >= size]):
        first = begins[lengths == length]
        chosen = np.array(list(combinations(range(int(length)), size)))
        for some in np.array_split(chosen, 1 + len(chosen) * len(first) // AT_ONCE):
            at = (first[:, None, None] + some[None, :, :]).reshape(-1, size)
            yield at if changed.all() else at[changed[at].any(axis=1)]


def _joined(sets: Ints, many: int) -> Ints:
    """Return a number for each row of items."""
    code = sets[:, 0]
    for column in sets.T[1:]:
        code = code * many + column
    return code


def _released(
    trajectories: Trajectories, lattice: Lattice, found: Visits, rows: Ints, cut: _Cut, facts: dict[str, int]
) -> TrajectorySolution:
    """Return a box for every visit that is kept."""
    level, slot = cut.levels, found.slot[rows]
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
