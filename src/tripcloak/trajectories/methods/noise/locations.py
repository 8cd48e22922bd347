"""Interesting locations: places where many people stay, from noisy numbers of a quadtree and its cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.options import option
from tripcloak.promises import NoisePart
from tripcloak.trajectories.methods.cells import (
    ABOUT_CELL,
    ABOUT_REACH,
    COUNTRY,
    Lattice,
    codes_of,
    depth_over,
)
from tripcloak.trajectories.methods.noise.clusters import touching
from tripcloak.trajectories.methods.noise.noisy import (
    FURTHER,
    Drawing,
    NoisyTrajectoryMethod,
    made_up,
    nothing_left,
    shared_budget,
)
from tripcloak.trajectories.methods.noise.prefix_tree import Level, Step, ancestors, grow
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution
from tripcloak.trajectories.stays import Visits, find_stays

BITS = 3
"""A part of the quadtree that is not divided further has 8 by 8 cells."""
TREE, CELLS = 0.4, 0.6
"""Shares of epsilon: all levels of the quadtree, and the cells of its parts."""
MORE = f"wider cells, fewer places of everybody, shorter stays, {FURTHER}"
"""What lets more stand out of the noise."""


@dataclass(frozen=True, kw_only=True)
class InterestingLocations(NoisyTrajectoryMethod):
    """Interesting locations (Ho and Ruan 2011), with noise before places are joined.

    A stay is a while within some metres; a cell with enough stays of a person is one of the person's own
    places, of which the ``length`` with most stays are counted. A quadtree is divided where noisy numbers of
    people are large; in what is left of it all cells get noise. Cells that stand out and touch each other are
    one location (DBSCAN on cells), told by its middle and by how many people it is a place of.

    In the paper DBSCAN joins stays as they are and noise comes after. That is not differentially private:
    without one person a cluster may fall into two, and numbers change by half of all its people. Here
    clusters follow from noisy numbers alone.

    What is released is one sample over the whole period for each person that a location is said to have.

    Parameters
    ----------
    epsilon, unit, window
        What is spent, and what is hidden. One other sample may change all stays after it, so every unit but
        the user takes noise as for a user who is replaced.
    cell, interval
        Metres of a cell; seconds of a slot, by which the period is told.
    near, stay
        A stay is this many minutes or more within so many metres.
    stays
        How many stays in a cell make it a place of the person.
    length
        How many places of everybody are counted.
    crowd
        The noisy number of people that a location must reach.
    reach
        Metres from the middle of the projection up to which places are counted, at least.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> user = np.repeat(np.arange(2000), 2)
    >>> made = Trajectories.of(user=user, t=[0, 50] * 2000, x=user % 2 * 90, y=[0] * 4000, grid=Grid())
    >>> release = InterestingLocations(epsilon=4.0, length=1).anonymise(made)
    >>> np.unique(release.boxes.x0).tolist(), bool(abs(release.n_released - 2000) < 60)
    ([0, 90], True)
    """

    name: ClassVar[str] = "locations"
    summary: ClassVar[str] = "places where many stay, from a noisy quadtree and noisy cells"
    source: ClassVar[str] = "Ho and Ruan 2011, location pattern mining, with noise before clusters"

    cell: int = option(500, **ABOUT_CELL)
    near: int = option(200, help="Metres within which somebody stays.", metavar="METRES", least=1)
    stay: int = option(20, help="Minutes from which on that is a stay.", metavar="MINUTES", least=0)
    stays: int = option(1, help="Stays that make a cell a place of the person.", metavar="N", least=1)
    length: int = option(3, help="Places of everybody that are counted.", metavar="N", least=1)
    crowd: int = option(10, help="Noisy number of people that makes a location.", metavar="N", least=1)
    reach: int = option(COUNTRY, **ABOUT_REACH)

    def planned(self, trajectories: Trajectories) -> tuple[NoisePart, ...]:
        """Return a part for every level of the quadtree, and one for cells."""
        changes = self.hides.of_paths() * self.length
        depth = self._depth(trajectories)
        names = [*((f"quadtree {level + 1}", changes) for level in range(depth)), ("cells", changes)]
        return shared_budget(self.epsilon, names, [*[TREE / depth] * depth, CELLS])

    def draw(self, trajectories: Trajectories, drawing: Drawing) -> TrajectorySolution:
        """Return as many samples at every location as it has people by noisy numbers."""
        lattice = Lattice.of(trajectories.grid, cell=self.cell, interval=self.interval)
        steps = _steps(*_own_places(self, trajectories, lattice), self._depth(trajectories))
        levels = grow(steps, drawing.noisy, lambda: drawing.next_scale, _all_children(steps))
        if len(levels) < len(steps):
            raise nothing_left("no part of the quadtree stands out", instead=MORE)
        found = _locations(levels, drawing.parts[-1].scale, self.crowd)
        slots = lattice.slots(trajectories.period)
        first, last = (lattice.boxes(slots[i : i + 1], slots[:1], slots[:1]) for i in (0, 1))
        times = np.repeat(np.arange(len(found.x)), found.people)
        place = lattice.boxes(np.zeros(len(times), np.int64), found.x[times], found.y[times])
        begin, end = (np.full(len(times), edge[0]) for edge in (first.t0, last.t1))
        offsets = np.arange(len(times) + 1)
        boxes = place._replace(t0=begin, t1=end)
        return made_up(trajectories, offsets, boxes, {"locations": len(found.x)})

    def _depth(self, trajectories: Trajectories) -> int:
        """Return how often the area is divided in four, down to parts of so many cells."""
        return max(1, depth_over(trajectories.grid, self.cell, self.reach) - BITS)


def _own_places(
    method: InterestingLocations, trajectories: Trajectories, lattice: Lattice
) -> tuple[Ints, Ints]:
    """Return the cells of everybody's own places, those with most stays, a row each."""
    found = find_stays(Visits.of_trajectories(trajectories), metres=method.near, minutes=method.stay)
    metres = lattice.cell * trajectories.grid.metres
    x, y = (np.floor(side / metres).astype(np.int64) for side in (found.x, found.y))
    if not len(x):
        return x, y
    place = codes_of(found.owner, x, y)
    at, many = np.unique(place, return_index=True, return_counts=True)[1:]
    at, many = at[many >= method.stays], many[many >= method.stays]
    order = np.lexsort((at, -many, found.owner[at]))
    owner = found.owner[at][order]
    kept = np.arange(len(owner)) - np.searchsorted(owner, owner) < method.length
    rows = at[order][kept]
    return x[rows], y[rows]


def _steps(x: Ints, y: Ints, depth: int) -> list[Step]:
    """Return the quarter that every place is in, level by level, and the cell in the last of them."""
    half = 1 << (BITS + depth - 1)
    across, up = x + half, y + half
    inside = (across >= 0) & (across < 2 * half) & (up >= 0) & (up < 2 * half)
    across, up = across[inside], up[inside]
    steps = []
    for level in range(depth):
        shift = BITS + depth - 1 - level
        steps.append(Step(((across >> shift) & 1) << 1 | (up >> shift) & 1, 4, False))
    low = (1 << BITS) - 1
    return [*steps, Step((across & low) << BITS | up & low, 1 << 2 * BITS, False)]


def _all_children(steps: list[Step]) -> Callable[[int, list[Level]], Bools]:
    def possible(number: int, above: list[Level]) -> Bools:
        return np.ones((len(above[-1].parent) if above else 1, steps[number].fan), dtype=bool)

    return possible


class _Locations(NamedTuple):
    """The cell in the middle of each location, and its noisy number of people."""

    x: Ints
    y: Ints
    people: Ints


def _locations(levels: list[Level], scale: float, crowd: int) -> _Locations:
    """Return cells that stand out and touch each other, joined."""
    depth, last = len(levels) - 1, levels[-1]
    # So strict that about one cell stands out where nobody stays, or none.
    clear = np.flatnonzero(last.people >= math.log(max(1, len(levels[-2].parent)) << 2 * BITS) * scale)
    if not len(clear):
        raise nothing_left("no cell stands out", instead=MORE)
    x = y = np.zeros(len(clear), np.int64)
    for level in range(depth):
        digit = levels[level].digit[ancestors(levels, depth, level)[clear]]
        x, y = x << 1 | digit >> 1, y << 1 | digit & 1
    low, half = (1 << BITS) - 1, 1 << (BITS + depth - 1)
    x = (x << BITS | last.digit[clear] >> BITS) - half
    y = (y << BITS | last.digit[clear] & low) - half
    people, label = last.people[clear], touching(x, y)
    many = np.bincount(label, people)
    middle = (np.floor(np.bincount(label, (side + 0.5) * people) / many).astype(np.int64) for side in (x, y))
    kept = many >= crowd
    if not kept.any():
        raise nothing_left(f"no location of {crowd:,} people or more", instead=f"a smaller crowd, {MORE}")
    across, up = middle
    return _Locations(across[kept], up[kept], np.rint(many[kept]).astype(np.int64))
