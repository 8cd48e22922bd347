"""Likeness: how much alike originals and a release are as a whole, also where none of it is anybody's.

Jensen-Shannon divergences of what people share, as work on synthetic trajectories measures it (Gursoy et al.
2018; Du et al. 2023).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease

SLOT = 4 * 3600
"""Seconds of a slot; of everybody one place a slot is looked at."""
SIDE, WIDE = 64, 4
"""Columns and rows of cells over the area, and how many of them are one cell of moves, each way."""
WITHIN = 0.95
"""The share of people's slots that the area holds, west to east and south to north; the rest is elsewhere."""
KM = np.concatenate(([0.0], 0.5 * 10 ** (np.arange(15) / 4), [np.inf]))
"""Between which distances are one kind: staying, and four kinds for every power of ten."""
BATCH = 1 << 16


class Likeness(NamedTuple):
    """How far apart shares are: 0 the same, 1 nothing in common; None where originals have none.

    Attributes
    ----------
    places : float or None
        In which cells people are.
    distances : float or None
        How far they go from one slot to the next.
    moves : float or None
        From which wide cell to which other one they go.
    """

    places: float | None
    distances: float | None
    moves: float | None


def likeness(trajectories: Trajectories, release: TrajectoryRelease) -> Likeness:
    """Return how far apart originals and release are in places, distances and moves.

    Of every trajectory the place in each slot of four hours counts (the first sample of it), and every
    trajectory weighs the same. A box counts for all cells it covers, each by its part.

    Examples
    --------
    >>> from tripcloak.promises import Containment
    >>> from tripcloak.trajectories.release.release import TrajectorySolution, build_trajectory_release
    >>> made = Trajectories.of(user=[0, 0], t=[0, 300], x=[0, 90], y=[0, 0], grid=Grid())
    >>> boxes = Boxes(*map(np.array, ([0, 300], [1, 301], [0, 90], [1, 91], [0, 0], [1, 1])))
    >>> solution = TrajectorySolution(np.array([0, 2]), boxes, np.zeros(1), np.arange(2), {})
    >>> told = {"promise": Containment(k=2), "method": "by hand", "parameters": {}}
    >>> likeness(made, build_trajectory_release(made, solution, **told))
    Likeness(places=0.0, distances=0.0, moves=0.0)
    """
    t, x, y = trajectories.t, trajectories.x, trajectories.y
    before = _slotted(trajectories.grid, trajectories.offsets, Boxes(t, t + 1, x, x + 1, y, y + 1))
    after = _slotted(release.grid, release.offsets, release.boxes)
    area = _area(before)
    return Likeness(
        divergence(_places(before, area), _places(after, area)),
        divergence(_distances(before), _distances(after)),
        divergence(_moves(before, area), _moves(after, area)),
    )


def divergence(one: Floats, other: Floats) -> float | None:
    """Return the Jensen-Shannon divergence of two lists of numbers as shares, in bits: 0 to 1.

    >>> divergence(np.array([1, 1, 0]), np.array([2, 2, 0])), divergence(np.array([1, 0]), np.array([0, 3]))
    (0.0, 1.0)
    >>> divergence(np.array([1]), np.array([0])), divergence(np.array([0]), np.array([1]))
    (1.0, None)
    """
    if not one.sum():
        return None
    if not other.sum():
        return 1.0
    shares = [side / side.sum() for side in (one, other)]
    middle = (shares[0] + shares[1]) / 2
    apart = 0.0
    for share in shares:
        some = share > 0
        apart += float((share[some] * np.log2(share[some] / middle[some])).sum()) / 2
    return min(max(apart, 0.0), 1.0)


class _Slotted(NamedTuple):
    """Boxes that stand for slots, by trajectory and time: for how many, and where, in metres."""

    owner: Ints
    slots: Ints
    x0: Floats
    x1: Floats
    y0: Floats
    y1: Floats
    goes_on: Bools
    """Whether the next one is of the same trajectory in the slot after the last of this one."""

    @property
    def middle(self) -> tuple[Floats, Floats]:
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    @property
    def weight(self) -> Floats:
        """Return what each weighs: its share of all slots of the trajectory."""
        return np.asarray(self.slots / np.bincount(self.owner, self.slots)[self.owner])

    @property
    def per_step(self) -> Floats:
        """Return what a step from a slot to the next one weighs, of those that each begins."""
        steps = np.bincount(self.owner, self.slots - 1 + self.goes_on)
        return np.asarray(1 / np.maximum(steps, 1)[self.owner])


def _slotted(grid: Grid, offsets: Ints, boxes: Boxes) -> _Slotted:
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first = grid.times(boxes.t0) // SLOT
    last = (grid.times(boxes.t1) - 1) // SLOT
    same = owner[1:] == owner[:-1]
    # Boxes of a trajectory come by time: a slot is told by the first that is in it.
    first[1:] = np.where(same, np.maximum(first[1:], last[:-1] + 1), first[1:])
    kept = first <= last
    owner, first, last = owner[kept], first[kept], last[kept]
    goes_on = np.zeros(len(owner), dtype=bool)
    goes_on[:-1] = (owner[1:] == owner[:-1]) & (first[1:] == last[:-1] + 1)
    x0, x1, y0, y1 = (grid.places(side[kept]).astype(np.float64) for side in boxes[2:])
    return _Slotted(owner, last - first + 1, x0, x1, y0, y1, goes_on)


class _Area(NamedTuple):
    """A square in metres with nearly all of the originals in it: where it begins, and how wide a cell is."""

    x: float
    y: float
    cell: float


def _area(before: _Slotted) -> _Area:
    ends = [_quantiles(side, before.weight) for side in before.middle]
    wide = max(high - low for low, high in ends)
    # A little wider, so that the outermost place is in a cell and not on the edge.
    cell = max(wide * (1 + 1e-9), 1.0) / SIDE
    west, south = ((low + high - SIDE * cell) / 2 for low, high in ends)
    return _Area(west, south, cell)


def _quantiles(values: Floats, weight: Floats) -> tuple[float, float]:
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(weight[order])
    cuts = np.array([(1 - WITHIN) / 2, (1 + WITHIN) / 2]) * up_to[-1]
    low, high = values[order][np.searchsorted(up_to, cuts)]
    return float(low), float(high)


def _places(told: _Slotted, area: _Area) -> Floats:
    """Return what weighs in each cell, and elsewhere; boxes weigh evenly on all of their area."""
    inside, weight = np.zeros((SIDE, SIDE)), told.weight
    for start in range(0, len(weight), BATCH):
        some = slice(start, start + BATCH)
        columns = _covered(told.x0[some], told.x1[some], area.x, area.cell)
        rows = _covered(told.y0[some], told.y1[some], area.y, area.cell)
        inside += (columns * weight[some, None]).T @ rows
    return np.append(inside.ravel(), max(float(weight.sum() - inside.sum()), 0.0))


def _covered(low: Floats, high: Floats, begin: float, cell: float) -> Floats:
    """Return which share of each span lies in every column."""
    edges = begin + cell * np.arange(SIDE + 1)
    up_to = np.clip((edges - low[:, None]) / (high - low)[:, None], 0.0, 1.0)
    return np.asarray(np.diff(up_to, axis=1))


def _distances(told: _Slotted) -> Floats:
    """Return what weighs of each kind of distance from a slot to the next."""
    x, y = told.middle
    at = np.flatnonzero(told.goes_on)
    km = np.hypot(x[at + 1] - x[at], y[at + 1] - y[at]) / 1000
    weight = told.per_step
    kinds = np.bincount(np.searchsorted(KM, km, side="right") - 1, weight[at], minlength=len(KM) - 1)
    # Within a box of several slots nobody goes anywhere.
    kinds[0] += float(((told.slots - 1) * weight).sum())
    return np.asarray(kinds)


def _moves(told: _Slotted, area: _Area) -> Floats:
    """Return what weighs from each wide cell to each other one; whoever stays in one does not move."""
    many = SIDE // WIDE
    sides = [
        np.floor((side - begin) / (WIDE * area.cell)).astype(np.int64)
        for side, begin in zip(told.middle, (area.x, area.y), strict=True)
    ]
    inside = np.logical_and.reduce([(side >= 0) & (side < many) for side in sides])
    cell = np.where(inside, sides[0] * many + sides[1], many * many)
    at = np.flatnonzero(told.goes_on)
    at = at[cell[at] != cell[at + 1]]
    places = many * many + 1
    return np.bincount(cell[at] * places + cell[at + 1], told.per_step[at], minlength=places**2)
