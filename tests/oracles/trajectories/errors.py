"""Plain twins of k-merge by errors: what a run loses, and the starts that are tried, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oracles.trajectories.merging import Sample, covers, lay_many
from tripcloak.trajectories.model import Trajectories

Rates = tuple[float, float]
"""Of time and of space."""


def run_cost(run: Sequence[Sample], rates: Rates) -> float:
    """Return what the samples of a run lose: how late they are, and how far away, as root mean square."""
    t, x, y, _ = (np.array(column, dtype=float) for column in zip(*run, strict=True))
    late, across, along = (np.abs(side - (side.min() + side.max()) / 2) for side in (t, x, y))
    return float(rates[0] * late.sum() + rates[1] * len(run) * np.sqrt((across**2 + along**2).mean()))


def cheapest_merge(trajectories: Trajectories, members: list[int], rates: Rates) -> float:
    """Return the least cost there is, by trying everything."""
    samples = lay_many(trajectories, members)
    return min(sum(run_cost(run, rates) for run in runs) for runs in covers(samples, len(members)))


def admit(cost: Sequence[float], divisible: int, p: int) -> list[int]:
    """Return the starts after ``divisible`` up to p that no later one undercuts, the earliest first."""
    return [
        i
        for i in range(divisible + 1, p + 1)
        if cost[i] < np.inf and all(cost[later] > cost[i] for later in range(i + 1, p + 1))
    ]


def least_so_far(cost: Sequence[float], p: int, j: int, cheapest: int) -> float:
    """Return the least of what one start costs and all boundaries between p and j do."""
    return min(cost[cheapest], *cost[p + 1 : j + 1])


def cover_by_errors(trajectories: Trajectories, members: list[int], rates: Rates) -> list[float]:
    """Return a cheap cover up to every boundary, trying the starts that the compiled loop tries."""
    samples = lay_many(trajectories, members)
    n = len(samples)
    usable = [b for b in range(n + 1) if b in (0, n) or samples[b][0] != samples[b - 1][0]]

    def reach(b: int) -> int:
        whole = [a for a in usable if len({s[3] for s in samples[a:b]}) == len(members)]
        return max(whole, default=-1) if b in usable else -1

    cost = [0.0] + [np.inf] * n
    for j in range(1, n + 1):
        p = reach(j)
        starts = admit(cost, reach(p), p) if p >= 0 else []
        for i in reversed(starts):
            run = run_cost(samples[i:j], rates)
            cost[j] = min(cost[j], cost[i] + run)
            if cost[starts[0]] + run >= cost[j]:
                break
    return cost


def group_cost(trajectories: Trajectories, members: list[int], rates: Rates, limit: float) -> float:
    """Return what a merge costs; infinity if it is above the limit."""
    cost = cover_by_errors(trajectories, members, rates)[-1]
    return cost if cost <= limit else np.inf


def pairs_by_errors(
    trajectories: Trajectories, first: Sequence[int], second: Sequence[int], rates: Rates
) -> list[float]:
    """Return what the merge of each pair costs."""
    return [cover_by_errors(trajectories, [a, b], rates)[-1] for a, b in zip(first, second, strict=True)]


def sums_of(size: int) -> dict[str, int]:
    """Return how much room sums of so many samples need: one for each boundary."""
    return dict.fromkeys(("t", "x", "y", "squares"), size + 1)


def sum_up(samples: Sequence[Sample]) -> list[tuple[float, ...]]:
    """Return the sums before every boundary, counted from the first sample: t, x, y, squares of both."""
    t, x, y, _ = samples[0]
    return [
        (
            sum(s[0] - t for s in samples[:b]),
            sum(s[1] - x for s in samples[:b]),
            sum(s[2] - y for s in samples[:b]),
            sum((s[1] - x) ** 2 + (s[2] - y) ** 2 for s in samples[:b]),
        )
        for b in range(len(samples) + 1)
    ]
