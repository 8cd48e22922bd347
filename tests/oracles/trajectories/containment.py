"""Plain twins of the audit's compiled loops over trajectories: every pair, every sample, every box."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np


def count_holding(samples: tuple, spans: tuple) -> tuple[list[int], list[int], list[int]]:
    """Return, as the audit does, support and two-sided support of originals and members of released ones."""
    offsets, t, x, y = samples
    starts, *sides = spans
    boxes = list(zip(*sides, strict=True))
    support, both, members = [], [], [0] * (len(starts) - 1)
    for i in range(len(offsets) - 1):
        mine = [(t[s], x[s], y[s]) for s in range(offsets[i], offsets[i + 1])]
        support.append(0)
        both.append(0)
        for r in range(len(starts) - 1):
            theirs = boxes[starts[r] : starts[r + 1]]
            if all(any(inside(sample, box) for box in theirs) for sample in mine):
                support[-1] += 1
                if all(any(inside(sample, box) for sample in mine) for box in theirs):
                    both[-1] += 1
                    members[r] += 1
    return support, both, members


def inside(sample: tuple, box: tuple) -> bool:
    t, x, y = sample
    t0, t1, x0, x1, y0, y1 = box
    return bool(t0 <= t < t1 and x0 <= x < x1 and y0 <= y < y1)


def mark_cells(cells: list[list[tuple[int, int, int]]], space: int, coarse: int) -> list[set[tuple]]:
    """Return the fine cells of space and the coarse cells of space and time that each trajectory touches."""
    ratio = space // coarse
    return [
        {("space", x, y) for _, x, y in mine} | {("time", t, x // ratio, y // ratio) for t, x, y in mine}
        for mine in cells
    ]


def join_marks(marks: list[set], block: int) -> list[set]:
    """Return the cells touched by any trajectory of each block."""
    return [set().union(*marks[at : at + block]) for at in range(0, len(marks), block)]


def count_near(offsets: np.ndarray, t: np.ndarray, x: np.ndarray, y: np.ndarray, delta: float) -> list[int]:
    """Return how many others have the time stamps of each trajectory and stay within delta of it."""
    ranges = [range(offsets[i], offsets[i + 1]) for i in range(len(offsets) - 1)]
    return [
        sum(
            other is not mine
            and [t[s] for s in other] == [t[s] for s in mine]
            and all(math.dist((x[a], y[a]), (x[b], y[b])) <= delta for a, b in zip(mine, other, strict=True))
            for other in ranges
        )
        for mine in ranges
    ]


def find_holding(mine: list[tuple], spans: tuple) -> list[int]:
    """Return, by released trajectory, 0 unless it holds all samples; 2 if no box is without one, else 1."""
    starts, *sides = spans
    boxes = list(zip(*sides, strict=True))
    found = []
    for first, last in pairwise(starts):
        theirs = boxes[first:last]
        holds = all(any(inside(sample, box) for box in theirs) for sample in mine)
        filled = all(any(inside(sample, box) for sample in mine) for box in theirs)
        found.append(2 if holds and filled else int(holds))
    return found


def find_held(lost: list[tuple], spans: tuple) -> list[list[bool]]:
    """Return, by released trajectory, which of these samples lie in one of its boxes."""
    starts, *sides = spans
    boxes = list(zip(*sides, strict=True))
    return [
        [any(inside(sample, box) for box in boxes[first:last]) for sample in lost]
        for first, last in pairwise(starts)
    ]


def fewest_by_any_of(mine: list[tuple], lost: list[tuple], spans: tuple) -> tuple[int, int]:
    """Return the fewest that fit, of one side and of two, by anything that is known of dropped samples."""
    verdict, held = find_holding(mine, spans), find_held(lost, spans)
    fewest = []
    for least in (1, 2):
        numbers = [
            sum(told >= least and all(held[r][s] for s in known) for r, told in enumerate(verdict))
            for size in range(len(lost) + 1)
            for known in combinations(range(len(lost)), size)
        ]
        fewest.append(min((number for number in numbers if number), default=0))
    return fewest[0], fewest[1]
