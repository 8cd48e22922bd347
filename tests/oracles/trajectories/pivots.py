"""Plain twins of the compiled loops of clustering round pivots, W4M and NWA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.release.release import TrajectoryRelease


def greedy_clusters(distance: Floats, k: int, radius: float) -> list[int]:
    """Return the pivot of every trajectory, -1 for those that fit no cluster."""
    n = len(distance)
    pivot_of, tried = [-1] * n, []
    while sum(pivot < 0 for pivot in pivot_of) >= k:
        free = [i for i in range(n) if pivot_of[i] < 0]
        open_ones = [i for i in free if i not in tried]
        if not open_ones:
            break
        if tried:
            pivot = max(open_ones, key=lambda i: (min(distance[p, i] for p in tried), -i))
        else:
            pivot = max(open_ones, key=lambda i: (distance[i].sum(), -i))
        tried.append(pivot)
        near = sorted((i for i in free if i != pivot), key=lambda i: (distance[pivot, i], i))[: k - 1]
        if distance[pivot, near[-1]] <= radius:
            for i in (pivot, *near):
                pivot_of[i] = pivot
    pivots = sorted({pivot for pivot in pivot_of if pivot >= 0})
    for i in range(n):
        if pivot_of[i] < 0 and pivots:
            nearest = min(pivots, key=lambda pivot: (distance[i, pivot], pivot))
            if distance[i, nearest] <= radius:
                pivot_of[i] = nearest
    return pivot_of


def match_in_order(short: Sequence[int], long: Sequence[int]) -> list[int]:
    """Return, for each time of the shorter, its match: the nearest that leaves enough for the rest."""
    match: list[int] = []
    for i, time in enumerate(short):
        first = match[-1] + 1 if match else 0
        last = len(long) - len(short) + i
        match.append(min(range(first, last + 1), key=lambda j: (abs(long[j] - time), j)))
    return match


def lst_distances(
    offsets: Ints, columns: tuple[Ints, Ints, Ints], rows: Ints, scales: tuple[float, float, float]
) -> Floats:
    """Return the linear spatiotemporal distance of every two of these rows."""
    metres, pace, unmatched = scales
    paths = [
        list(zip(*(c[offsets[r] : offsets[r + 1]].tolist() for c in columns), strict=True)) for r in rows
    ]
    distance = np.zeros((len(rows), len(rows)))
    for i, a in enumerate(paths):
        for j, b in enumerate(paths):
            if i == j:
                continue
            short, long = (a, b) if len(a) <= len(b) else (b, a)
            match = match_in_order([p[0] for p in short], [p[0] for p in long])
            cost = sum(
                metres * math.dist(p[1:], long[m][1:]) + pace * abs(p[0] - long[m][0])
                for p, m in zip(short, match, strict=True)
            )
            distance[i, j] = cost / len(short) + unmatched * (len(long) - len(short)) / len(long)
    return distance


def matched_points(offsets: Ints, t: Ints, rows: Ints, pivots: Ints) -> list[int]:
    """Return, for every point of each row's pivot, the matched point of the row itself, -1 for none."""
    found: list[int] = []
    for row, pivot in zip(rows, pivots, strict=True):
        own, other = (t[offsets[i] : offsets[i + 1]].tolist() for i in (row, pivot))
        match = [-1] * len(other)
        if len(other) <= len(own):
            match = [offsets[row] + j for j in match_in_order(other, own)]
        else:
            for i, j in enumerate(match_in_order(own, other)):
                match[j] = offsets[row] + i
        found += match
    return found


def mean_distances(x: Ints, y: Ints) -> Floats:
    """Return the mean over time of the distance of every two rows."""
    rows = range(len(x))
    return np.array([[np.hypot(x[i] - x[j], y[i] - y[j]).mean() for j in rows] for i in rows])


def place_at(path: Sequence[tuple[int, int, int]], time: int) -> tuple[float, float]:
    """Return where a person is who goes straight from point to point (t, x, y)."""
    for (t, x, y), (later, x2, y2) in pairwise([*path, path[-1]]):
        if t <= time <= later:
            gone = (time - t) / (later - t) if later > t else 0.0
            return x + gone * (x2 - x), y + gone * (y2 - y)
    raise AssertionError("the time lies outside")


def companions(release: TrajectoryRelease) -> list[int]:
    """Return how many released trajectories, itself among them, stay within delta of each one always."""
    assert release.promise.delta is not None
    limit = release.promise.delta / release.grid.metres
    boxes = release.boxes
    paths = [
        {int(boxes.t0[i]): (int(boxes.x0[i]), int(boxes.y0[i])) for i in range(*release.offsets[j : j + 2])}
        for j in range(release.n_released)
    ]
    return [
        sum(a.keys() == b.keys() and all(math.dist(a[t], b[t]) <= limit + 1e-9 for t in a) for b in paths)
        for a in paths
    ]
