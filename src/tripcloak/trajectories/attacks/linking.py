"""Linking: whose trajectory of one release is whose of another, guessed by places that both come back to.

Pseudonyms are drawn anew for every release, and k-anonymity is promised of each by itself. People go home
and to work in both, so that what is rare and in both tells who is who. Nothing is proven that way, and
nothing can be ruled out; how often the guess is right can be measured by whoever knows the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tripcloak.ground.arrays import Floats, Ints

FINEST = 250.0
"""Metres of the smallest cells that places are compared by."""

MOST_CELLS = 64
"""Cells that a released sample may lie over to say where somebody was."""

PART = 6 * 3600
"""Seconds of a part of the day."""

ROWS = 256
"""Trajectories that are compared with all others at a time."""

RANKS = (1, 5, 10, 100)


class ReleasedSamples(NamedTuple):
    """Released samples: the trajectory of each, its time in seconds since 1970, and its edges in degrees."""

    trajectory: Ints
    start: Floats
    end: Floats
    west: Floats
    south: Floats
    east: Floats
    north: Floats
    trajectories: int

    def __repr__(self) -> str:
        return f"<ReleasedSamples: {len(self.trajectory):,} of {self.trajectories:,} trajectories>"


@dataclass(frozen=True, eq=False)
class Links:
    """How well people of one release are found in another.

    Attributes
    ----------
    candidates : int
        How many trajectories of the other release there are to choose from.
    better : array of int64
        How many of them fit a person better than the right one, person by person.
    alike : array of int64
        How many fit as well, the right one among them.

    Examples
    --------
    >>> Links(4, np.array([0, 0, 2]), np.array([1, 2, 1])).within(1)
    0.5
    """

    candidates: int
    better: Ints = field(repr=False)
    alike: Ints = field(repr=False)

    def within(self, ranks: int) -> float:
        """Return the share of people whose right trajectory is among so many that fit best."""
        chance: Floats = np.clip((ranks - self.better) / self.alike, 0, 1)
        return float(chance.mean())

    @property
    def chance(self) -> float:
        """Return the share of people that a blind guess would find."""
        return 1 / self.candidates

    def summary(self) -> dict[str, Any]:
        """Return shares of people and quantiles of ranks; nothing that tells of one person."""
        rank = self.better + (self.alike + 1) / 2
        return {
            "people": len(self.better),
            "candidates": self.candidates,
            "first": self.within(1),
            "chance": self.chance,
            "within": {str(n): self.within(n) for n in RANKS if n < self.candidates},
            "rank": {f"{q:.0%}": float(np.quantile(rank, q)) for q in (0.05, 0.25, 0.5, 0.75, 0.95)},
        }


def link(one: ReleasedSamples, other: ReleasedSamples, pairs: tuple[Ints, Ints]) -> Links:
    """Return how well trajectories of one release are found among those of another.

    Places are cells about half as wide as a usual sample; what a trajectory has of a cell, by the part of the
    day too, counts the more the fewer others have it (Salton and Buckley 1988). Where both are of the same
    time, being somewhere at the same hours counts as well.

    Parameters
    ----------
    pairs
        The truth: trajectories of the one, and those of the other that belong to the same people.

    Examples
    --------
    Three people, each at a place of their own in both weeks:

    >>> def week(start):
    ...     who = np.arange(3)
    ...     begin, west = np.full(3, float(start)), who / 10
    ...     return ReleasedSamples(who, begin, begin + 3600, west, west, west + 0.01, west + 0.01, 3)
    >>> links = link(week(0), week(7 * 86400), (np.arange(3), np.arange(3)))
    >>> links.within(1), round(links.chance, 2)
    (1.0, 0.33)
    """
    profiles = _profiles(one, other)
    mine, theirs = pairs
    better = np.zeros(len(mine), dtype=np.int64)
    alike = np.zeros(len(mine), dtype=np.int64)
    for first in range(0, len(mine), ROWS):
        here = slice(first, first + ROWS)
        fits = (profiles[0][mine[here]] @ profiles[1].T).toarray()
        # What differs in the last digits alone is the same.
        right = np.take_along_axis(fits, theirs[here, None], axis=1)
        close = np.abs(fits - right) <= 1e-9
        better[here] = ((fits > right) & ~close).sum(axis=1)
        alike[here] = close.sum(axis=1)
    return Links(other.trajectories, better, alike)


def _profiles(one: ReleasedSamples, other: ReleasedSamples) -> tuple[Any, Any]:
    """Return what each trajectory has of each place, rare places weighing more; rows of length one."""
    side = _cell_metres(one, other)
    middle = float(np.mean([one.south.mean(), other.south.mean()]))
    together = _shared_time(one, other)
    found = [_visits(each, side, middle, together=together) for each in (one, other)]
    names, column = np.unique(np.concatenate([visits.place for visits in found]), return_inverse=True)
    columns = np.split(column, [len(found[0].place)])
    tables = [
        sparse.csr_array((visits.weight, (visits.trajectory, at)), shape=(each.trajectories, len(names)))
        for visits, at, each in zip(found, columns, (one, other), strict=True)
    ]
    people = sum(np.bincount(table.indices, minlength=len(names)) for table in tables)
    rarity = np.log((one.trajectories + other.trajectories) / np.maximum(people, 1))
    weighed = [table.sqrt().multiply(rarity[None, :]).tocsr() for table in tables]
    return _of_length_one(weighed[0]), _of_length_one(weighed[1])


class _Visits(NamedTuple):
    """What trajectories have of places, as numbers of places."""

    trajectory: Ints
    place: Ints
    weight: Floats


def _visits(samples: ReleasedSamples, side: float, middle: float, *, together: bool) -> _Visits:
    """Return every cell that samples lie over, each sample parted evenly; by itself, and by time."""
    across = side / (111_320 * max(np.cos(np.radians(middle)), 0.01))
    up = side / 110_574
    sides = ((samples.west, across), (samples.south, up), (samples.east, across), (samples.north, up))
    edges = [np.floor(edge / step).astype(np.int64) for edge, step in sides]
    wide, high = edges[2] - edges[0] + 1, edges[3] - edges[1] + 1
    told = np.flatnonzero(wide * high <= MOST_CELLS)
    cells = (wide * high)[told]
    sample = np.repeat(told, cells)
    number = np.arange(len(sample)) - np.repeat(np.cumsum(cells) - cells, cells)
    x = edges[0][sample] + number % wide[sample]
    y = edges[1][sample] + number // wide[sample]
    weight = 1.0 / np.repeat(cells, cells)
    cell = ((x + (1 << 24)) << 26 | (y + (1 << 24))) << 5
    between = (samples.start + samples.end)[sample] / 2
    short = (samples.end - samples.start)[sample] <= 2 * PART
    kinds = [(cell, np.ones(len(cell), dtype=bool))]
    kinds.append((cell | (1 + (between // PART % 4)).astype(np.int64), short))
    if together:
        slot = (between // PART).astype(np.int64)
        kinds.append((_mixed(cell, slot), short))
    return _Visits(
        np.concatenate([samples.trajectory[sample][kept] for _, kept in kinds]),
        np.concatenate([place[kept] for place, kept in kinds]),
        np.concatenate([weight[kept] for _, kept in kinds]),
    )


def _mixed(cell: Ints, slot: Ints) -> Ints:
    """Return a number of its own for every cell at every time; two of them may rarely be the same."""
    mixed = cell.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ slot.astype(np.uint64)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(1)).astype(np.int64) | np.int64(31)


def _cell_metres(one: ReleasedSamples, other: ReleasedSamples) -> float:
    sides = []
    for each in (one, other):
        high = (each.north - each.south) * 110_574
        wide = (each.east - each.west) * 111_320 * np.cos(np.radians(each.south))
        sides.append(np.sqrt(np.maximum(high * wide, 0)))
    return max(FINEST, float(np.median(np.concatenate(sides))) / 2)


def _shared_time(one: ReleasedSamples, other: ReleasedSamples) -> bool:
    """Return whether both are of the same time, for half of the shorter one or more."""
    shared = min(one.end.max(), other.end.max()) - max(one.start.min(), other.start.min())
    shorter = min(each.end.max() - each.start.min() for each in (one, other))
    return bool(shared >= shorter / 2)


def _of_length_one(table: Any) -> Any:
    length = np.sqrt(table.multiply(table).sum(axis=1))
    return sparse.diags_array(1 / np.where(length > 0, length, 1)).tocsr() @ table
