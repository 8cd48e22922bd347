"""Plain twins of the audit's compiled loops over trajectories: every pair, every sample, every box."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product

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


def cell_of(sample: tuple, cuts: tuple) -> tuple[int, ...]:
    """Return the bins of a sample's time, x and y: how many cuts are no greater."""
    return tuple(sum(cut <= value for cut in own) for value, own in zip(sample, cuts, strict=True))


def find_bins(values: list, cuts: list) -> tuple[list[int], dict[int, float]]:
    """Return how many cuts are no greater than each value, and the largest value of each bin that has any."""
    bins = [sum(cut <= value for cut in cuts) for value in values]
    pairs = list(zip(bins, values, strict=True))
    return bins, {found: max(value for other, value in pairs if other == found) for found in bins}


def mark_corners(cuts: tuple, boxes: list[tuple]) -> dict[tuple[int, ...], int]:
    """Return how many boxes touch each cell, as corners say when summed up."""
    touched: dict[tuple[int, ...], int] = {}
    for box in boxes:
        bins = []
        for own, low, high in zip(cuts, box[::2], box[1::2], strict=True):
            begins = [-math.inf, *own]
            ends = [*own, math.inf]
            bins.append(
                [b for b, (lo, hi) in enumerate(zip(begins, ends, strict=True)) if lo < high and low < hi]
            )
        for cell in product(*bins):
            touched[cell] = touched.get(cell, 0) + 1
    return touched


def find_rarest(mine: list[tuple], cuts: tuple, cover: dict[tuple[int, ...], int], many: int) -> list[int]:
    """Return the first samples, of places apart, in cells that the fewest boxes touch."""
    found: list[int] = []
    for _ in range(many):
        places = {cell_of(mine[s], cuts)[1:] for s in found}
        left = [s for s in range(len(mine)) if cell_of(mine[s], cuts)[1:] not in places]
        found.append(min(left, key=lambda s: (cover.get(cell_of(mine[s], cuts), 0), s)) if left else found[0])
    return found


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
