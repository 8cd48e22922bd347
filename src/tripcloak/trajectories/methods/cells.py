"""Cells and slots: a grid over place and time that is the same for everybody, and who was where in it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints, to_read
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes

ABOUT_CELL: dict[str, Any] = {
    "help": "Metres of the finest cell; rounded up to whole steps of the input.",
    "metavar": "METRES",
    "least": 1,
}
ABOUT_INTERVAL: dict[str, Any] = {
    "help": "Seconds of a slot of time; rounded up to whole steps of the input.",
    "metavar": "SECONDS",
    "least": 1,
}
ABOUT_REACH: dict[str, Any] = {
    "help": "Metres from the middle up to which places are counted.",
    "metavar": "METRES",
    "least": 1,
}
"""Whoever adds noise must not look how far the input goes: a single sample would tell where its end is."""

COUNTRY = 512_000
"""Metres from the middle up to which places are counted where cells are divided as far as people are."""


WIDEST, LONGEST = 40_000_000, 1_000_000_000
"""Metres of a cell and seconds of a slot at most; beyond these steps are no whole numbers of 32 bits."""

LARGEST = 1 << 62
"""So many codes there may be, whatever is added to them."""


class Lattice(NamedTuple):
    """Square cells and slots of time in steps of a grid; both begin where the projection and 1970 do.

    Examples
    --------
    >>> Lattice.of(Grid(seconds=60, metres=100, start=120), cell=250, interval=600)
    Lattice(cell=3, slot=10, first=2)
    """

    cell: int
    slot: int
    first: int
    """Steps from 1970 to step 0."""

    @classmethod
    def of(cls, grid: Grid, *, cell: float, interval: float) -> Lattice:
        """Return the lattice of cells so many metres wide and slots of so many seconds."""
        return cls(
            math.ceil(cell / grid.metres), math.ceil(interval / grid.seconds), grid.start // grid.seconds
        )

    def slots(self, t: Ints) -> Ints:
        """Return the slot of each step of time."""
        return (np.asarray(t, np.int64) + self.first) // self.slot

    def cells(self, steps: Ints) -> Ints:
        """Return the column or row of the cell that each step of place is in."""
        return np.asarray(steps, np.int64) // self.cell

    def boxes(self, slot: Ints, x: Ints, y: Ints, level: Ints | int = 0) -> Boxes:
        """Return one slot by one cell each, of cells that are 2 to the level cells wide."""
        width = self.cell << np.asarray(level, np.int64)
        begin = slot * self.slot - self.first
        return Boxes(begin, begin + self.slot, x * width, (x + 1) * width, y * width, (y + 1) * width)


class Visits(NamedTuple):
    """One place a person and slot, by person and time.

    Attributes
    ----------
    owner, slot, x, y : array of int64
        Who, when, and the cell in which most of the person's samples of the slot are.
    of_sample : array of int64
        The visit that stands for each sample; -1 where the person was elsewhere most of the slot. Empty
        unless it was asked for.
    """

    owner: Ints
    slot: Ints
    x: Ints
    y: Ints
    of_sample: Ints

    def __repr__(self) -> str:
        return f"<Visits: {len(self.owner):,}>"


def visits(trajectories: Trajectories, lattice: Lattice, *, of_samples: bool = False) -> Visits:
    """Return where everybody was in each slot: the cell of most samples, of several the one visited first.

    Parameters
    ----------
    of_samples
        Whether to tell the visit of every sample, too.

    Examples
    --------
    >>> made = Trajectories.of(user=[0] * 4, t=[0, 1, 2, 9], x=[0, 5, 5, 9], y=[0] * 4, grid=Grid())
    >>> found = visits(made, Lattice(cell=5, slot=5, first=0), of_samples=True)
    >>> found.slot.tolist(), found.x.tolist(), found.of_sample.tolist()
    ([0, 1], [1, 1], [-1, 0, 0, 1])
    """
    from tripcloak.trajectories.methods._kernels.visits import Steps, most_visited

    of_sample = np.empty(trajectories.n_samples if of_samples else 0, np.int64)
    offsets, t = to_read(trajectories.offsets), to_read(trajectories.t)
    x, y = to_read(trajectories.x), to_read(trajectories.y)
    return Visits(*most_visited(offsets, t, x, y, Steps(*lattice), of_sample), of_sample)


def codes_of(*columns: Ints) -> Ints:
    """Return a number a row, the same of equal rows.

    >>> codes_of(np.array([7, 7, 9]), np.array([1, 2, 1])).tolist()
    [0, 1, 2]
    """
    code = np.zeros(len(columns[0]), np.int64)
    many = 1
    # Invariant: equal rows of the columns so far, and no others, have one code, from 0 to many - 1.
    for column in columns:
        least = int(column.min(initial=0))
        told, wide = column - least, int(column.max(initial=0)) - least + 1
        if many * wide > LARGEST:
            code, different = ranked(code, many)
            many = len(different)
        if many * wide > LARGEST:
            different, told = np.unique(told, return_inverse=True)
            wide = len(different)
        code, many = code * wide + told, many * wide
    return ranked(code, many)[0]


def firsts_of(codes: Ints) -> Ints:
    """Return the first row of every code, where codes are from 0 on without gaps.

    >>> firsts_of(np.array([1, 0, 1, 2])).tolist()
    [1, 0, 3]
    """
    first = np.empty(int(codes.max(initial=-1)) + 1, np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def ranked(numbers: Ints, below: int) -> tuple[Ints, Ints]:
    """Return the rank of each number among the different ones, and these.

    Parameters
    ----------
    below
        Numbers are from 0 on and below this; where that is little, nothing is sorted.

    Examples
    --------
    >>> [some.tolist() for some in ranked(np.array([5, 2, 5]), 6)]
    [[1, 0, 1], [2, 5]]
    """
    if below > 4 * len(numbers):
        different, rank = np.unique(numbers, return_inverse=True)
        return rank, different
    there = np.zeros(below, dtype=bool)
    there[numbers] = True
    return (np.cumsum(there) - 1)[numbers], np.flatnonzero(there)


def by_code(codes: Ints, many: int) -> Ints:
    """Return rows by their code, those of one code as they stand; so few codes are quickly sorted.

    >>> by_code(np.array([1, 0, 1, 0]), 2).tolist()
    [1, 3, 0, 2]
    """
    # NumPy sorts numbers of 16 bits by their digits, whose time is that of reading them twice.
    return np.argsort(codes.astype(np.uint16) if many <= 1 << 16 else codes, kind="stable")


def levels_over(lattice: Lattice, trajectories: Trajectories) -> int:
    """Return how often cells are doubled until one row or two of them hold everything."""
    reach = max(
        int(lattice.cells(side).max()) - int(lattice.cells(side).min()) + 1
        for side in (trajectories.x, trajectories.y)
    )
    return max(0, math.ceil(math.log2(reach)))


def depth_over(grid: Grid, cell: float, reach: int) -> int:
    """Return how often a square around the middle is halved down to cells of so many metres.

    >>> depth_over(Grid(), 500, 7100), depth_over(Grid(), 500, 32000)
    (5, 7)
    """
    width, half = math.ceil(cell / grid.metres), math.ceil(reach / grid.metres)
    return 1 + max(0, math.ceil(math.log2(max(1.0, half / width))))


def check_lengths(cell: float, interval: float) -> None:
    """Raise unless cells and slots have an extent that means something."""
    if not (math.isfinite(cell) and math.isfinite(interval)):
        raise InputError(
            f"a cell is so many metres wide and a slot so many seconds long; got {cell}, {interval}"
        )
    if cell > WIDEST or interval > LONGEST:
        raise InputError(
            f"a cell is up to {WIDEST:,} metres wide ({spelt('cell')}), once around the earth, and a slot up "
            f"to {LONGEST:,} seconds long ({spelt('interval')}), 30 years; got {cell:,}, {interval:,}"
        )
