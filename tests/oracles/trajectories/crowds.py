"""Plain twins: people in boxes, and released trajectories that share boxes."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

Box = tuple[Any, ...]


def count_inside(people: list[list[tuple[Any, Any, Any]]], boxes: list[Box]) -> list[int]:
    """Return for each box how many people have a sample in it."""
    return [
        sum(any(t0 <= t < t1 and x0 <= x < x1 and y0 <= y < y1 for t, x, y in mine) for mine in people)
        for t0, t1, x0, x1, y0, y1 in boxes
    ]


def fewest_sharing(released: list[list[Box]], m: int) -> int:
    """Return the fewest trajectories that have all of any m boxes of one of them, or fewer."""
    sets = [set(one) for one in released]
    return min(
        sum(set(some) <= other for other in sets)
        for one in sets
        for size in range(1, m + 1)
        for some in combinations(one, min(size, len(one)))
    )


def listed(offsets: Any, *columns: Any) -> list[list[Box]]:
    """Return the rows of each trajectory."""
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    return [rows[a:b] for a, b in pairwise(offsets.tolist())]
