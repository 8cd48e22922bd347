"""AdaTrace: days that nobody had, drawn from noisy tables of places, trips, moves and hours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.options import option
from tripcloak.ground.spelling import spelt
from tripcloak.promises import NoisePart
from tripcloak.trajectories.methods.cells import ABOUT_CELL, ABOUT_REACH, COUNTRY, Lattice, depth_over
from tripcloak.trajectories.methods.noise.days import DAY, Days, days_of, slots_of_a_day
from tripcloak.trajectories.methods.noise.leaves import Leaves, divided
from tripcloak.trajectories.methods.noise.noisy import (
    FURTHER,
    Drawing,
    NoisyTrajectoryMethod,
    made_up,
    nothing_left,
    shared_budget,
)
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution

PEOPLE, QUADTREE = 0.05, 0.25
TABLES = {"trips": 0.3, "moves": 0.2, "hours": 0.15, "days": 0.05}
"""Shares of epsilon: how many people there are, the quadtree over places, and the four tables."""
WHOLE = 1_000_000
"""What everybody weighs in every table, however many days and slots there are of them."""
CLEAR = 5.0
"""Scales of noise that the number of people must reach, so that hardly ever noise alone is taken for them."""
FINEST = 288
"""Slots of a day at most, of five minutes: hours are told by two numbers for every two of them."""
MOST = 100
"""About so many cells are enough: tables have a number for every two of them."""
BATCH = 2048
HARDLY = 1e-9
"""Added to shares, so that there is a way from everywhere to everywhere."""


@dataclass(frozen=True, kw_only=True)
class AdaTrace(NoisyTrajectoryMethod):
    """AdaTrace (Gursoy, Liu, Truex, Yu and Wei 2018), its four features with noise, and times beside them.

    A person's record is cut into days, and a day is the place in every slot from the first sample to the
    last. Everybody weighs the same, whatever number of days there are. Noisy tables say how many people are
    where (cells are divided where there are many), between which cells days begin and end, how people move
    from a slot to the next, when days begin and how long they are, and which days there are. Days are then
    drawn from them: begin and end, hours, and a random walk by the moves that comes to its end in time.

    From the paper come density-aware cells, the distribution of trips, the first-order Markov model and the
    distribution of lengths. The paper has no times: tables of hours and days are ours. Its checks that single
    made-up trajectories withstand given attacks are left out; they are no part of the differential privacy.

    Parameters
    ----------
    epsilon, unit, window
        What is spent, and what is hidden. Everybody weighs one in all, so every unit but the user takes noise
        as for a user who is replaced.
    cell, interval
        Metres of the finest cell and seconds of a slot.
    reach
        Metres from the middle of the projection up to which places are told apart, at least; who is further
        away counts for the nearest cell.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> user = np.repeat(np.arange(3000), 2)
    >>> made = Trajectories.of(user=user, t=[0, 300] * 3000, x=[5, 95] * 3000, y=[5] * 6000, grid=Grid())
    >>> release = AdaTrace(epsilon=2.0).anonymise(made)
    >>> release.promise.sentence(), bool(abs(release.n_released - 3000) < 300)
    ("differential privacy of everything of a person's trajectory (epsilon 2)", True)
    """

    name: ClassVar[str] = "adatrace"
    summary: ClassVar[str] = "made-up days from noisy tables of places, trips, moves and hours"
    source: ClassVar[str] = "Gursoy, Liu, Truex, Yu and Wei 2018, AdaTrace"

    cell: int = option(500, **ABOUT_CELL)
    reach: int = option(COUNTRY, **ABOUT_REACH)

    def planned(self, trajectories: Trajectories) -> tuple[NoisePart, ...]:
        """Return a part for the number of people, and one for each table."""
        self._require_long_slots(trajectories)
        changes, depth = self.hides.of_paths(), depth_over(trajectories.grid, self.cell, self.reach)
        names = [
            ("people", changes),
            *((f"quadtree {level + 1}", changes * WHOLE) for level in range(depth)),
            *((name, changes * WHOLE) for name in TABLES),
        ]
        return shared_budget(self.epsilon, names, [PEOPLE, *[QUADTREE / depth] * depth, *TABLES.values()])

    def _require_long_slots(self, trajectories: Trajectories) -> None:
        """Raise where a table of hours would be of so many numbers that all it tells is noise."""
        lattice = Lattice.of(trajectories.grid, cell=self.cell, interval=self.interval)
        a_day = slots_of_a_day(trajectories.grid, lattice)
        if a_day > FINEST:
            raise ImpossibleRequestError(
                f"not possible: with slots of {lattice.slot * trajectories.grid.seconds:,} seconds a day has "
                f"{a_day:,}, and when days begin and how long they are would be {2 * a_day**2:,} noisy "
                f"numbers, of which next to all tell noise alone; a day may have {FINEST} slots. Lengthen "
                f"them ({spelt('interval', DAY // FINEST)} or more)"
            )

    def draw(self, trajectories: Trajectories, drawing: Drawing) -> TrajectorySolution:
        """Return as many made-up days as noise says that there are people."""
        lattice = Lattice.of(trajectories.grid, cell=self.cell, interval=self.interval)
        days = days_of(trajectories, lattice, WHOLE)
        least = CLEAR * drawing.next_scale
        people = int(drawing.noisy(np.array([trajectories.n_users]))[0])
        wanted = min(math.sqrt(max(people, 1) * self.epsilon), MOST)
        before = drawing.drawn
        depth = depth_over(trajectories.grid, self.cell, self.reach)
        leaves = divided(
            (days.x, days.y, days.share), depth=depth, least=people * WHOLE / wanted, drawing=drawing
        )
        # Levels of the quadtree that nothing was left to divide for are paid for and not drawn.
        drawing.drawn = before + depth
        if people < least or not len(leaves.x):
            raise nothing_left(
                "no more people, or places, than noise alone makes up", instead=f"wider cells, {FURTHER}"
            )
        tables = _tables(days, leaves, people, drawing)
        leaf, slot, lengths = _drawn(tables, people)
        boxes = lattice.boxes(
            slot + days.first * days.a_day, leaves.x[leaf], leaves.y[leaf], leaves.level[leaf]
        )
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        return made_up(trajectories, offsets, boxes, {"cells": len(leaves.x)})


class _Tables(NamedTuple):
    """What days are drawn from; each adds up to one, moves for each cell."""

    trips: Floats
    moves: Floats
    hours: Floats
    """By whether a day ends elsewhere than it began, the slot in which it begins, and its slots less one."""
    days: Floats
    dice: np.random.Generator


def _tables(days: Days, leaves: Leaves, people: int, drawing: Drawing) -> _Tables:
    many, total = len(leaves.x), people * WHOLE
    leaf = leaves.of(days.x, days.y)
    begin, end = leaf[days.offsets[:-1]], leaf[days.offsets[1:] - 1]
    trips = _added(begin * many + end, days.weight, many * many)
    # Of a day of one slot the one move is to stay.
    origin, target = days.moves()
    moves = _added(leaf[origin] * many + leaf[target], days.per_move(), many * many)
    kind = (begin != end) * days.a_day + days.begin
    hours = _added(kind * days.a_day + days.lengths - 1, days.weight, 2 * days.a_day**2)
    dates = _added(days.day, days.weight, days.many)
    trips, moves, hours, dates = (drawing.noisy(one) for one in (trips, moves, hours, dates))
    # The walks follow from noisy numbers alone, dice and all: the same noise, the same walks.
    dice = np.random.default_rng(np.abs(np.concatenate([trips[:64], dates[:64]])))
    table = on_simplex(moves, total).reshape(many, many) + HARDLY * WHOLE
    table[np.diag_indices(many)] += np.where(table.sum(axis=1) < WHOLE * 1e-3, WHOLE, 0)
    shape = 2, days.a_day, days.a_day
    hourly = (on_simplex(hours, total).reshape(shape) + HARDLY) * _possible(days.a_day)
    return _Tables(
        on_simplex(trips, total) / total,
        table / table.sum(axis=1, keepdims=True),
        hourly / hourly.sum(axis=(1, 2), keepdims=True),
        on_simplex(dates, total) / total,
        dice,
    )


def _added(code: Ints, weight: Ints, many: int) -> Ints:
    return np.rint(np.bincount(code, weight, minlength=many)).astype(np.int64)


def _possible(a_day: int) -> Floats:
    """Return 1 where a day can begin in a slot and be so long; who ends elsewhere needs two slots."""
    begin, more = np.indices((a_day, a_day))
    fits = begin + more < a_day
    if a_day == 1:
        return np.ones((2, 1, 1))
    return np.stack([fits, fits & (more > 0)]).astype(np.float64)


def on_simplex(numbers: Ints, total: float) -> Floats:
    """Return the numbers of 0 or more that add up to a total and are nearest to these.

    All are lowered, or raised, by the same, and none below 0: the likely ones of all that noise may hide.

    >>> on_simplex(np.array([5, 3, -4, 1]), 6).tolist()
    [4.0, 2.0, 0.0, 0.0]
    """
    ordered = np.sort(numbers.astype(np.float64))[::-1]
    lowered = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    last = int(np.flatnonzero(ordered > lowered)[-1])
    nearest: Floats = np.maximum(numbers - lowered[last], 0.0)
    return nearest


def _drawn(tables: _Tables, people: int) -> tuple[Ints, Ints, Ints]:
    """Return cells and slots of days one after the other, and how many slots each has."""
    many, a_day = len(tables.moves), tables.hours.shape[1]
    trip = tables.dice.choice(len(tables.trips), people, p=tables.trips)
    begin, end = trip // many, trip % many
    hour = np.empty(people, np.int64)
    for kind, some in enumerate((begin == end, begin != end)):
        hour[some] = tables.dice.choice(a_day**2, int(some.sum()), p=tables.hours[kind].ravel())
    day = tables.dice.choice(len(tables.days), people, p=tables.days)
    lengths = hour % a_day + 1
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    leaf = np.empty(int(offsets[-1]), np.int64)
    reaching = [np.eye(many)]
    for length in range(1, a_day + 1):
        rows = np.flatnonzero(lengths == length)
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            walks = _walks(tables, reaching, begin[some], end[some], length)
            leaf[offsets[some][:, None] + np.arange(length)] = walks
        reaching.append(reaching[-1] @ tables.moves)
    within = np.arange(len(leaf)) - np.repeat(offsets[:-1], lengths)
    return leaf, np.repeat(day * a_day + hour // a_day, lengths) + within, lengths


def _walks(tables: _Tables, reaching: list[Floats], begin: Ints, end: Ints, length: int) -> Ints:
    """Return walks of so many slots from begin to end, drawn by moves among all that come to the end.

    ``reaching[n]`` says how likely n moves lead from one cell to another.
    """
    walks = np.empty((len(begin), length), np.int64)
    walks[:, 0], walks[:, -1] = begin, end
    for slot in range(1, length - 1):
        # Invariant: a walk is at walks[:, slot - 1], and at its end after length - slot moves.
        likely = tables.moves[walks[:, slot - 1]] * reaching[length - 1 - slot].T[end]
        up_to = np.cumsum(likely, axis=1)
        dice = tables.dice.random(len(begin)) * up_to[:, -1]
        walks[:, slot] = np.minimum((up_to <= dice[:, None]).sum(axis=1), likely.shape[1] - 1)
    return walks
