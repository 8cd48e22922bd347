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
    """Return samples x duration x (width + height)."""
    t, x, y, _ = (np.array(column) for column in zip(*run, strict=True))
    return float(len(run) * (np.ptp(t) + 1) * (np.ptp(x) + 1 + np.ptp(y) + 1))


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
    return min(sum(map(run_cost, runs)) for runs in covers(samples, len(members)))


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
