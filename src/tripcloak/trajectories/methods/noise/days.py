"""Days of people, slot by slot from the first sample to the last, and what each weighs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.trajectories.methods.cells import Lattice, visits
from tripcloak.trajectories.model import Grid, Trajectories

DAY = 86400


class Days(NamedTuple):
    """Everybody's days, by person and time, and the cells of their slots.

    Attributes
    ----------
    offsets : array of int64
        Where the slots of each day begin; one more than there are.
    day, begin : array of int64
        Which day it is, from the first of all on, and the slot of the day in which it begins.
    weight : array of int64
        What each day weighs: a whole, shared by all days of a person.
    x, y : array of int64
        The cell of every slot; where nothing was recorded in between, that of the slot before.
    share : array of int64
        What each slot weighs: the weight of its day, shared by all slots.
    first, many, a_day : int
        The first day in days since 1970, how many there are up to the last, and slots a day has.
    """

    offsets: Ints
    day: Ints
    begin: Ints
    weight: Ints
    x: Ints
    y: Ints
    share: Ints
    first: int
    many: int
    a_day: int

    def __repr__(self) -> str:
        return "<Days>"

    @property
    def lengths(self) -> Ints:
        """Return how many slots each day has."""
        return np.diff(self.offsets)

    def moves(self) -> tuple[Ints, Ints]:
        """Return the rows of slots that follow each other in a day; of a single slot, itself and itself."""
        target = np.arange(len(self.x))
        first = np.zeros(len(self.x), dtype=bool)
        first[self.offsets[:-1]] = True
        alone = np.repeat(self.lengths == 1, self.lengths)
        target = target[~first | alone]
        return target - ~alone[target], target

    def per_move(self) -> Ints:
        """Return what each of them weighs: the weight of the day, shared by all its moves."""
        moves = np.maximum(self.lengths - 1, 1)
        return np.repeat(self.weight // moves, moves)


def slots_of_a_day(grid: Grid, lattice: Lattice) -> int:
    """Return how many slots a day has; the last may reach into the next.

    >>> slots_of_a_day(Grid(), Lattice(cell=5, slot=61, first=0))
    24
    """
    return math.ceil(DAY / (lattice.slot * grid.seconds))


def days_of(trajectories: Trajectories, lattice: Lattice, whole: int) -> Days:
    """Return the days of everybody, of whom each weighs a whole.

    Examples
    --------
    >>> made = Trajectories.of(user=[0] * 3, t=[0, 120, 1500], x=[0, 9, 5], y=[0] * 3, grid=Grid())
    >>> days = days_of(made, Lattice(cell=5, slot=60, first=0), whole=600)
    >>> days.x.tolist(), days.lengths.tolist(), days.weight.tolist(), days.share.tolist()
    ([0, 0, 1, 1], [3, 1], [300, 300], [100, 100, 100, 300])
    """
    found = visits(trajectories, lattice)
    a_day = slots_of_a_day(trajectories.grid, lattice)
    day = found.slot // a_day
    new = np.ones(len(day), dtype=bool)
    new[1:] = (found.owner[1:] != found.owner[:-1]) | (day[1:] != day[:-1])
    at = np.flatnonzero(new)
    # Until the next visit of the day; the last one of a day is one slot.
    lasts = np.ones(len(day), np.int64)
    lasts[:-1][~new[1:]] = np.diff(found.slot)[~new[1:]]
    lengths = np.add.reduceat(lasts, at)
    owner = found.owner[at]
    weight = whole // np.bincount(owner)[owner]
    # The period counts as known: days that nobody kept have numbers, too.
    first, last = (lattice.slots(trajectories.period) // a_day).tolist()
    return Days(
        np.concatenate(([0], np.cumsum(lengths))),
        day[at] - first,
        found.slot[at] - day[at] * a_day,
        weight,
        np.repeat(found.x, lasts),
        np.repeat(found.y, lasts),
        np.repeat(weight // lengths, lengths),
        first,
        last - first + 1,
        a_day,
    )
