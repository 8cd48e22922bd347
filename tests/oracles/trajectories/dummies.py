"""Plain twins of dummies: disclosures by their equations, ways followed one by one, greedy choice."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

MANY = 1e15


def all_ways(tracks: list[list[Any]]) -> set[tuple[Any, ...]]:
    """Return every way from beginning to end, changing over where two tracks are in one place at a moment."""
    ways = {(track[0],) for track in tracks}
    for at in range(1, len(tracks[0])):
        ways = {(*way, track[at]) for way in ways for track in tracks if track[at - 1] == way[-1]}
    return ways


def count_ways(codes: Any, rows: Any, n: int) -> float:
    """Return how many ways there are along the first n of these rows."""
    return float(min(len(all_ways([list(codes[row]) for row in list(rows)[:n]])), MANY))


def mean_disclosure(codes: Any, rows: Any, n: int) -> float:
    """Return equation 2.6 of the first n of these rows."""
    moments = len(codes[0])
    return sum(1 / len({codes[row][at] for row in list(rows)[:n]}) for at in range(moments)) / moments


def lacking(codes: Any, away: Any, rows: Any, n: int, sd: float, ld: float, dst: float) -> float:
    """Return by how much a profile is missed."""
    missing = max(0.0, mean_disclosure(codes, rows, n) / sd - 1)
    missing += max(0.0, 1 / count_ways(codes, rows, n) / ld - 1)
    if dst:
        missing += max(0.0, 1 - sum(away[row] for row in list(rows)[1:n]) / (n - 1) / dst) if n > 1 else 1.0
    return missing if missing > 1e-12 else 0.0


def choose_dummies(
    codes: Any, away: Any, fits: Any, most: int, sd: float, ld: float, dst: float, rows: Any
) -> int:
    """Return how many are taken, the true one among them, and put them into rows."""

    def misses(taken: list[int]) -> float:
        return lacking(codes, away, taken, len(taken), sd, ld, dst)

    taken = [0]
    while misses(taken) > 0 and len(taken) <= most:
        left = [one for one in range(1, len(codes)) if fits[one] and one not in taken]
        if not left:
            return 0
        taken.append(min(left, key=lambda one: (misses([*taken, one]), one)))
    if misses(taken) > 0:
        return 0
    for one in reversed(taken[1:]):
        rest = [other for other in taken if other != one]
        if misses(rest) == 0:
            taken = rest
    rows[: len(taken)] = taken
    return len(taken)


def fewest(codes: Any, away: Any, most: int, sd: float, ld: float, dst: float) -> float:
    """Return how few dummies meet a profile, of all that there are."""
    for size in range(most + 1):
        for some in combinations(range(1, len(codes)), size):
            if lacking(codes, away, [0, *some], size + 1, sd, ld, dst) == 0:
                return size
    return math.inf
