"""A plain twin of Mondrian, as the textbook tells it: recursive, sorting and summing everything anew."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple


class Point(NamedTuple):
    """A flow as a point: millionths of a degree of both ends, what it weighs, and what stands behind it."""

    at: tuple[int, int, int, int]
    weight: float
    trips: int = 1
    population: float = 0.0
    people: tuple[int, ...] = ()


def median_cuts(points: Sequence[Point], least: Mapping[str, float]) -> list[list[int]]:
    """Return the groups, as rows of the points, that no allowable cut at a median makes smaller."""
    return sorted(_split(points, list(range(len(points))), least))


def _split(points: Sequence[Point], part: list[int], least: Mapping[str, float]) -> list[list[int]]:
    for side in sorted(range(4), key=lambda side: -width(points, part, side)):
        for left, right in _cuts(points, part, side):
            if left and right and _safe(points, left, least) and _safe(points, right, least):
                return _split(points, left, least) + _split(points, right, least)
    return [part]


def width(points: Sequence[Point], part: list[int], side: int) -> float:
    """Return how wide a part is on one side, in a unit that is the same for all."""
    low, high = (extreme(points[row].at[side] for row in part) for extreme in (min, max))
    if side in (0, 2):
        return high - low
    south, north = (extreme(points[row].at[side - 1] for row in part) for extreme in (min, max))
    return (high - low) * math.cos(math.radians((south + north) / 2e6))


def _cuts(points: Sequence[Point], part: list[int], side: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the cuts behind and before the median, the evener first."""
    total = _weight(points, part)
    median = min(
        points[row].at[side]
        for row in part
        if 2 * _weight(points, [r for r in part if points[r].at[side] <= points[row].at[side]]) >= total
    )
    lefts = [[row for row in part if points[row].at[side] < edge] for edge in (median + 1, median)]
    # Python's sort is stable: of two equally even cuts the one behind the median stays first.
    for left in sorted(lefts, key=lambda left: abs(2 * _weight(points, left) - total)):
        yield left, [row for row in part if row not in left]


def _weight(points: Sequence[Point], part: list[int]) -> Fraction:
    return sum((Fraction(points[row].weight) for row in part), Fraction(0))


def _safe(points: Sequence[Point], part: list[int], least: Mapping[str, float]) -> bool:
    held = {
        "trips": sum(points[row].trips for row in part),
        "travellers": len({person for row in part for person in points[row].people}),
        "population": sum(Fraction(points[row].population) for row in part),
    }
    return all(held[unit] >= k for unit, k in least.items())
