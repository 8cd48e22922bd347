"""Plain twins of k-merge: every way to cut the order of time into runs, and the loops in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np

from tripcloak.trajectories.model import Trajectories

Sample = tuple[int, int, int, int]
"""Time, x, y and which member."""


def lay_many(trajectories: Trajectories, members: list[int]) -> list[Sample]:
    """Return the samples of all members by time, ties by member."""
    return sorted(
        (
            (int(trajectories.t[s]), int(trajectories.x[s]), int(trajectories.y[s]), m)
            for m, member in enumerate(members)
            for s in range(trajectories.offsets[member], trajectories.offsets[member + 1])
        ),
        key=lambda sample: (sample[0], sample[3]),
    )


def run_cost(run: list[Sample]) -> float:
    """Return samples x duration x (width + height) of their box."""
    t, x, y, _ = (np.array(column) for column in zip(*run, strict=True))
    duration, sides = int(np.ptp(t)) + 1, int(np.ptp(x)) + 1 + int(np.ptp(y)) + 1
    return float(len(run) * duration * sides)


def covers(samples: list[Sample], n_members: int) -> Iterator[list[list[Sample]]]:
    """Yield every way to cut the samples into runs that hold each member and part no instant."""
    usable = [b for b in range(1, len(samples)) if samples[b][0] != samples[b - 1][0]]
    for many in range(len(usable) + 1):
        for chosen in combinations(usable, many):
            edges = [0, *chosen, len(samples)]
            runs = [samples[i:j] for i, j in pairwise(edges)]
            if all(len({s[3] for s in run}) == n_members for run in runs):
                yield runs


def cheapest_merge(trajectories: Trajectories, members: list[int]) -> float:
    """Return the least cost there is, by trying everything."""
    samples = lay_many(trajectories, members)
    return min(sum(run_cost(run) for run in runs) for runs in covers(samples, len(members)))


def cover(trajectories: Trajectories, members: list[int]) -> list[float]:
    """Return the cheapest cover up to every boundary, trying every start: quadratic, nothing left out."""
    samples = lay_many(trajectories, members)
    n = len(samples)
    cost = [0.0] + [np.inf] * n
    for j in range(1, n + 1):
        if j < n and samples[j][0] == samples[j - 1][0]:
            continue
        for i in range(j):
            run = samples[i:j]
            if cost[i] < np.inf and len({s[3] for s in run}) == len(members):
                cost[j] = min(cost[j], cost[i] + run_cost(run))
    return cost


def merge_buffers(size: int) -> dict[str, int]:
    """Return how much room a merge of so many samples needs: one for each, or for each boundary."""
    samples, boundaries = ("t", "x", "y", "place", "member"), ("usable", "reach", "cost", "back", "queue")
    return {**dict.fromkeys(samples, size), **dict.fromkeys(boundaries, size + 1)}


def lay_pair(trajectories: Trajectories, first: int, second: int) -> tuple[list[Sample], list[int]]:
    """Return the samples of two by time, and the last boundary from which a run to each one holds both.

    It is -1 at a boundary that parts an instant, and where no run to there holds both.
    """
    samples = lay_many(trajectories, [first, second])
    n = len(samples)
    usable = [b for b in range(n + 1) if b in (0, n) or samples[b][0] != samples[b - 1][0]]
    return samples, [
        max((a for a in usable if {s[3] for s in samples[a:b]} == {0, 1}), default=-1) if b in usable else -1
        for b in range(n + 1)
    ]


def pair_cost(trajectories: Trajectories, first: int, second: int, limit: float) -> float:
    """Return the total cost of merging two; infinity if it is above the limit."""
    cost = cover(trajectories, [first, second])[-1]
    return cost if cost <= limit else np.inf


def pair_costs(trajectories: Trajectories, first: list[int], second: list[int]) -> list[float]:
    """Return the mean cost a sample of merging each pair."""
    return [
        cover(trajectories, [a, b])[-1] / float(trajectories.lengths[[a, b]].sum())
        for a, b in zip(first, second, strict=True)
    ]


def write_runs(runs: list[list[Sample]]) -> list[tuple[int, ...]]:
    """Return the box of every run: begin and end of time, x and y."""
    sides = [[[sample[axis] for sample in run] for axis in range(3)] for run in runs]
    return [tuple(edge for side in box for edge in (min(side), max(side) + 1)) for box in sides]


def merge_sets(
    trajectories: Trajectories, sets: list[list[int]]
) -> list[tuple[float, list[tuple[int, ...]], list[int]]]:
    """Return the cost and the boxes of each set's cheapest cover, and the box of its first one's samples."""
    found = []
    for members in sets:
        samples = lay_many(trajectories, members)
        runs = min(covers(samples, len(members)), key=lambda cut: sum(map(run_cost, cut)))
        own = [box for box, run in enumerate(runs) for sample in run if sample[3] == 0]
        found.append((sum(map(run_cost, runs)), write_runs(runs), own))
    return found
