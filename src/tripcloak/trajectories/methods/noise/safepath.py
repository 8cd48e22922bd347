"""SafePath: ways of people as a noisy prefix tree over time and place, from coarse to fine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.options import option
from tripcloak.promises import NoisePart
from tripcloak.trajectories.methods.cells import Lattice, visits
from tripcloak.trajectories.methods.noise.noisy import (
    FURTHER,
    Drawing,
    NoisyTrajectoryMethod,
    made_up,
    nothing_left,
    shared_budget,
)
from tripcloak.trajectories.methods.noise.prefix_tree import Level, Step, agreed, ancestors, grow
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution

HOURS, QUARTERS = 3, 2
"""Bits by which one level of the tree tells a time, and each side of a place: 8 and 4 by 4 children."""


@dataclass(frozen=True, kw_only=True)
class SafePath(NoisyTrajectoryMethod):
    """SafePath (Al-Hussaeni, Fung, Iqbal, Dagher and Park 2018).

    A person's way is the sequence of visits (slot and cell) with another cell than the one before, the first
    ``length`` of them. All ways are a prefix tree in which a visit is told from coarse to fine: eighths of
    the period down to a slot, then sixteenths of the area down to a cell. Every level has noise of its own,
    and only nodes are followed that reach two standard deviations of it. Then numbers are made to agree, and
    each way is released as many times as it says.

    Parameters
    ----------
    epsilon
        What the whole tree spends, the same on every level.
    unit, window
        What is hidden. In a tree of ways an event changes all of the way that is left, so every unit but the
        user takes noise as for a user who is replaced.
    cell, interval
        Metres of a cell and seconds of a slot.
    length
        How many visits of everybody are counted.
    reach
        Metres from the middle of the projection up to which places are counted, at least.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> user = np.repeat(np.arange(4000), 2)
    >>> made = Trajectories.of(user=user, t=[0, 300] * 4000, x=[5, 95] * 4000, y=[5] * 8000, grid=Grid())
    >>> release = SafePath(epsilon=2.0, length=2).anonymise(made)
    >>> release.promise.sentence(), bool(release.n_released > 3000)
    ("differential privacy of everything of a person's trajectory (epsilon 2)", True)
    """

    name: ClassVar[str] = "safepath"
    summary: ClassVar[str] = "made-up ways from a noisy prefix tree over time and place"
    source: ClassVar[str] = "Al-Hussaeni, Fung, Iqbal, Dagher and Park 2018, SafePath"

    length: int = option(3, help="Visits of everybody that are counted.", metavar="N", least=1)
    reach: int = option(
        32000, help="Metres from the middle up to which places are counted.", metavar="METRES", least=1
    )

    def planned(self, trajectories: Trajectories) -> tuple[NoisePart, ...]:
        """Return a part for every level of the tree, all of the same epsilon."""
        frame = _Frame.of(self, trajectories)
        changes = self.hides.of_paths()
        names = [
            (f"visit {visit + 1} {what} {level + 1}", changes)
            for visit in range(self.length)
            for what, levels in (("time", frame.times), ("place", frame.places))
            for level in range(levels)
        ]
        return shared_budget(self.epsilon, names, [1 / len(names)] * len(names))

    def draw(self, trajectories: Trajectories, drawing: Drawing) -> TrajectorySolution:
        """Return the ways that the noisy tree tells, each as often as it does."""
        frame = _Frame.of(self, trajectories)
        steps = _steps(self, trajectories, frame)
        levels = grow(
            steps,
            drawing.noisy,
            lambda: drawing.next_scale,
            lambda number, above: _possible(frame, steps[number], number, above),
        )
        ways = _ways(frame, levels, agreed(levels, steps), self.length)
        return _released(trajectories, frame, ways, {"nodes": sum(len(level.parent) for level in levels)})


class _Frame(NamedTuple):
    """The period and the area that count as known, and how many levels of the tree tell a slot and a cell."""

    lattice: Lattice
    first: int
    slots: int
    times: int
    places: int

    @classmethod
    def of(cls, method: SafePath, trajectories: Trajectories) -> _Frame:
        lattice = Lattice.of(trajectories.grid, cell=method.cell, interval=method.interval)
        slot = lattice.slots(trajectories.period)
        slots = int(slot[1] - slot[0]) + 1
        wide = 2 * math.ceil(method.reach / (lattice.cell * trajectories.grid.metres))
        return cls(
            lattice,
            int(slot[0]),
            slots,
            max(1, math.ceil(math.log2(slots) / HOURS)),
            max(1, math.ceil(math.log2(wide) / QUARTERS)),
        )

    @property
    def half(self) -> int:
        """Return how many cells lie on each side of the middle."""
        return 1 << (QUARTERS * self.places - 1)

    @property
    def per_visit(self) -> int:
        """Return how many levels tell one visit."""
        return self.times + self.places


def _steps(method: SafePath, trajectories: Trajectories, frame: _Frame) -> list[Step]:
    """Return by what the tree branches, level by level."""
    slot, x, y = _sequences(method, trajectories, frame)
    steps = []
    for visit in range(method.length):
        there = slot[:, visit] >= 0
        for level in range(frame.times):
            shift = HOURS * (frame.times - 1 - level)
            digit = (slot[:, visit] >> shift) & ((1 << HOURS) - 1)
            steps.append(Step(np.where(there, digit, -1), 1 << HOURS, level == 0))
        for level in range(frame.places):
            shift = QUARTERS * (frame.places - 1 - level)
            across, up = ((side[:, visit] >> shift) & ((1 << QUARTERS) - 1) for side in (x, y))
            steps.append(Step(np.where(there, (across << QUARTERS) | up, -1), 1 << (2 * QUARTERS), False))
    return steps


def _sequences(method: SafePath, trajectories: Trajectories, frame: _Frame) -> tuple[Ints, Ints, Ints]:
    """Return slot, column and row of everybody's first visits, a row a person; -1 where there are fewer."""
    found = visits(trajectories, frame.lattice)
    inside = (np.abs(2 * found.x + 1) < 2 * frame.half) & (np.abs(2 * found.y + 1) < 2 * frame.half)
    owner, slot, x, y = (column[inside] for column in found[:4])
    new = np.ones(len(owner), dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    owner, slot, x, y = owner[new], slot[new] - frame.first, x[new] + frame.half, y[new] + frame.half
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    kept = rank < method.length
    told = [np.full((trajectories.n_users, method.length), -1, np.int64) for _ in range(3)]
    for table, column in zip(told, (slot, x, y), strict=True):
        table[owner[kept], rank[kept]] = column[kept]
    return told[0], told[1], told[2]


def _possible(frame: _Frame, step: Step, number: int, above: list[Level]) -> Bools:
    """Return which children there can be: slots after the visit before, and within the period."""
    nodes = len(above[-1].parent) if above else 1
    level = number % frame.per_visit
    if level >= frame.times:
        return np.ones((nodes, step.fan), dtype=bool)
    begun = _prefix(above, number, number - level, HOURS) if level else np.zeros(nodes, np.int64)
    after = np.full(nodes, -1)
    if number >= frame.per_visit:
        whose = ancestors(above, number - 1, number - level - 1) if level else np.arange(nodes)
        after = _slots(frame, above, number - level - 1)[whose]
    shift = HOURS * (frame.times - 1 - level)
    first = ((begun[:, None] << HOURS) + np.arange(step.fan)) << shift
    may: Bools = (first + (1 << shift) - 1 > after[:, None]) & (first < frame.slots)
    return may


def _slots(frame: _Frame, levels: list[Level], last: int) -> Ints:
    """Return the slot of the visit that ends with this level, of every node of it."""
    begin = last + 1 - frame.per_visit
    whole = _prefix(levels, begin + frame.times, begin, HOURS)
    return whole[ancestors(levels, last, begin + frame.times - 1)]


def _prefix(levels: list[Level], end: int, begin: int, bits: int) -> Ints:
    """Return what the digits of some levels spell, of every node of the last of them."""
    told = np.zeros(len(levels[end - 1].parent), np.int64)
    for level in range(begin, end):
        digit = levels[level].digit[ancestors(levels, end - 1, level)]
        told = (told << bits) | digit
    return told


class _Ways(NamedTuple):
    """Ways of one length each: slots, columns and rows of their visits, and how often each is told."""

    slot: Ints
    x: Ints
    y: Ints
    times: Ints


def _ways(frame: _Frame, levels: list[Level], people: list[Ints], length: int) -> list[_Ways]:
    """Return all ways that end after one visit, after two, and so on."""
    ways: list[_Ways] = []
    whole = [frame.per_visit * (visit + 1) - 1 for visit in range(length)]
    whole = [last for last in whole if last < len(levels) and len(levels[last].parent)]
    for visit, last in enumerate(whole):
        left = people[last].copy()
        if visit + 1 < len(whole):
            below = ancestors(levels, whole[visit + 1], last)
            left -= np.bincount(below, people[whole[visit + 1]], minlength=len(left)).astype(np.int64)
        columns = []
        for earlier in whole[: visit + 1]:
            rows = ancestors(levels, last, earlier)
            columns.append([column[rows] for column in _visit(frame, levels, earlier)])
        slot, x, y = (np.stack([column[side] for column in columns], axis=1) for side in range(3))
        ways.append(_Ways(slot, x, y, np.maximum(left, 0)))
    return ways


def _visit(frame: _Frame, levels: list[Level], last: int) -> tuple[Ints, Ints, Ints]:
    """Return slot, column and row of the visit that ends with this level, of every node of it."""
    x, y = np.zeros(len(levels[last].parent), np.int64), np.zeros(len(levels[last].parent), np.int64)
    for level in range(last + 1 - frame.places, last + 1):
        digit = levels[level].digit[ancestors(levels, last, level)]
        x = (x << QUARTERS) | (digit >> QUARTERS)
        y = (y << QUARTERS) | (digit & ((1 << QUARTERS) - 1))
    return _slots(frame, levels, last) + frame.first, x - frame.half, y - frame.half


def _released(
    trajectories: Trajectories, frame: _Frame, ways: list[_Ways], facts: dict[str, int]
) -> TrajectorySolution:
    """Return each way as often as it is told, a box a visit."""
    slot, x, y = (
        np.concatenate([np.repeat(getattr(one, side), one.times, axis=0).ravel() for one in ways])
        if ways
        else np.empty(0, np.int64)
        for side in ("slot", "x", "y")
    )
    lengths = [np.full(int(one.times.sum()), one.slot.shape[1]) for one in ways]
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths) if lengths else [])))
    if len(offsets) < 2:
        raise nothing_left(
            "an empty prefix tree",
            instead=f"wider cells, longer slots, fewer visits of everybody, {FURTHER}",
        )
    return made_up(trajectories, offsets.astype(np.int64), frame.lattice.boxes(slot, x, y), facts)
