"""Plain twins of k-scale's loops, after the paper's words."""

from __future__ import annotations

import numpy as np

from oracles.trajectories import merging as oracle_merging
from tripcloak.trajectories.methods.partners import Squares
from tripcloak.trajectories.model import Trajectories


def proxy(of: Squares, i: int, j: int) -> float:
    """Return the proxy distance of two squares, from their corners (eqs. 6 and 7)."""

    def common(centre: np.ndarray) -> float:
        low = max(centre[i] - of.half[i], centre[j] - of.half[j])
        high = min(centre[i] + of.half[i], centre[j] + of.half[j])
        return max(0.0, float(high - low))

    shared = common(of.x) * common(of.y)
    if shared == 0:
        return 1 + abs(of.x[i] - of.x[j]) + abs(of.y[i] - of.y[j])
    c = 2 * shared / (4 * of.half[i] ** 2 + 4 * of.half[j] ** 2)
    return (1 - c) / (1 + c)


def nearest(of: Squares, many: int) -> list[list[float]]:
    """Return the distances of the nearest squares to each one."""
    n = len(of.x)
    return [sorted(proxy(of, i, j) for j in range(n) if j != i)[:many] for i in range(n)]


def pair_total(trajectories: Trajectories, i: int, j: int) -> float:
    """Return the total cost of merging two trajectories."""
    return oracle_merging.cover(trajectories, [i, j])[-1]


def cheapest(trajectories: Trajectories, many: int, by_total: bool) -> list[list[tuple[float, int]]]:
    """Return the cheapest partners of everybody among all others, with their costs."""
    n = trajectories.n_users
    found = []
    for i in range(n):
        costs = []
        for j in set(range(n)) - {i}:
            samples = trajectories.lengths[i] + trajectories.lengths[j]
            costs.append((pair_total(trajectories, i, j) / (1 if by_total else samples), j))
        found.append(sorted(costs)[:many])
    return found


def holding(release_boxes: list[tuple[int, ...]], samples: list[tuple[int, int, int]]) -> bool:
    """Return whether every sample lies in a box and every box holds a sample."""

    def inside(sample: tuple[int, int, int], box: tuple[int, ...]) -> bool:
        t0, t1, x0, x1, y0, y1 = box
        t, x, y = sample
        return t0 <= t < t1 and x0 <= x < x1 and y0 <= y < y1

    return all(any(inside(s, box) for box in release_boxes) for s in samples) and all(
        any(inside(s, box) for s in samples) for box in release_boxes
    )


def keep(entries: list[tuple[float, int]], many: int) -> list[tuple[float, int]]:
    """Return the least entries, by key and then by row."""
    return sorted(entries)[:many]


def own_cost(trajectories: Trajectories, members: list[int]) -> float:
    """Return what the first member's samples cost in the cheapest cover of all, if there is one cheapest."""
    samples = oracle_merging.lay_many(trajectories, members)
    runs = min(
        oracle_merging.covers(samples, len(members)), key=lambda cut: sum(map(oracle_merging.run_cost, cut))
    )
    return sum(oracle_merging.run_cost(run) / len(run) * sum(s[3] == 0 for s in run) for run in runs)


def costs_of_picking(
    trajectories: Trajectories, picks: dict[int, list[int]], asked: list[tuple[int, int | None]]
) -> list[float]:
    """Return what each picker's own samples cost, merged with all it picked and, perhaps, one more."""
    return [
        own_cost(trajectories, [picker, *([] if also is None else [also]), *picks.get(picker, [])])
        for picker, also in asked
    ]


def cost_floor(trajectories: Trajectories, first: int, second: int) -> float:
    """Return a cost that no merge of two is below.

    Every sample costs a step of time by the steps between the places of both. Samples of one before the
    other begins are in one run with the beginning, which lasts from the first of them; so at the end.
    """
    bounds = [slice(*trajectories.offsets[i : i + 2]) for i in (first, second)]
    columns = trajectories.t, trajectories.x, trajectories.y
    t, x, y = ([column[own].tolist() for own in bounds] for column in columns)
    apart = 2 + sum(max(0, min(a) - max(b), min(b) - max(a)) for a, b in (x, y))
    begin, end = max(map(min, t)), min(map(max, t))
    times = [*t[0], *t[1]]
    early, late = [s for s in times if s < begin], [s for s in times if s > end]
    steps = len(times) - len(early) - len(late)
    if early:
        steps += len(early) * (begin - min(early) + 1)
    if late:
        steps += len(late) * (max(late) - end + 1)
    return float(apart * steps)


def proxy_floor(of: Squares, i: int, others: list[int]) -> float:
    """Return the least distance to some squares: no floor of what holds them may lie above it."""
    return min(proxy(of, i, j) for j in others)


def plant(of: Squares, leaf: int) -> list[list[int]]:
    """Return the rows below every node of a tree, level by level, each halved along its widest side."""
    level = [list(range(len(of.x)))]
    nodes = list(level)
    while max(map(len, level)) > leaf:
        level = [half for rows in level for half in _halves(of, rows)]
        nodes += level
    return nodes


def _halves(of: Squares, rows: list[int]) -> tuple[list[int], list[int]]:
    widest = max(of, key=lambda side: side[rows].max() - side[rows].min())
    ordered = sorted(rows, key=lambda row: widest[row])
    return ordered[: len(rows) // 2], ordered[len(rows) // 2 :]
