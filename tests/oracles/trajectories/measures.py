"""Plain twins of the measures of trajectories: the definitions, person by person and point by point."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Point = tuple[int, int]


def gyrations(t: Sequence[int], x: Sequence[int], y: Sequence[int], lasting: int) -> tuple[float, ...]:
    """Return centre and radii of gyration of one person, by the formulas of footnote 5."""
    n = len(t)
    cx, cy = Fraction(sum(x), n), Fraction(sum(y), n)
    stays = []
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        stays.append(Fraction(t[i] - t[before], 2) + Fraction(t[after] - t[i], 2) + lasting)
    away = [(a - cx) ** 2 + (b - cy) ** 2 for a, b in zip(x, y, strict=True)]
    timed = sum(s * d for s, d in zip(stays, away, strict=True)) / sum(stays)
    return float(cx), float(cy), math.sqrt(sum(away) / n), math.sqrt(timed)


def hull_areas(points: Sequence[Point]) -> float:
    """Return the area of the convex hull of one person's points, whose edges have all points on one side."""
    different = sorted(set(points))
    edges = []
    for a in different:
        for b in different:
            sides = [(b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) for p in different]
            if a != b and min(sides) >= 0 and max(sides) > 0:
                edges.append((a, b))
    # An edge and the parts of it that lie between points on it would be added up more than once.
    whole = [
        (a, b)
        for a, b in edges
        if not any((a, b) != (c, d) and _holds(c, d, a) and _holds(c, d, b) for c, d in edges)
    ]
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in whole) / 2


def _holds(a: Point, b: Point, p: Point) -> bool:
    """Return whether a point lies on the line from one point to another."""
    straight = (b[0] - a[0]) * (p[1] - a[1]) == (b[1] - a[1]) * (p[0] - a[0])
    return straight and all(min(u, v) <= w <= max(u, v) for u, v, w in zip(a, b, p, strict=True))


def most_visited(points: Sequence[Point], chosen: Sequence[bool], cell: int) -> tuple[float, float] | None:
    """Return the mean of one person's chosen points in the cell that holds most; lowest cell of equals."""
    some = [p for p, take in zip(points, chosen, strict=True) if take]
    if not some:
        return None
    held = Counter((x // cell, y // cell) for x, y in some)
    best = min(held, key=lambda c: (-held[c], c))
    inside = [p for p in some if (p[0] // cell, p[1] // cell) == best]
    return sum(p[0] for p in inside) / len(inside), sum(p[1] for p in inside) / len(inside)


def new_lengths(places: Sequence[int]) -> int:
    """Return the sum of the lengths of the shortest runs that were not seen before, by looking everywhere."""
    n, total = len(places), 0
    for i in range(n):
        length = 1
        while i + length <= n and _occurs(places[i : i + length], places[:i]):
            length += 1
        total += length
    return total


def _occurs(run: Sequence[int], among: Sequence[int]) -> bool:
    return any(list(among[j : j + len(run)]) == list(run) for j in range(len(among) - len(run) + 1))


def fano(p: float, places: int) -> float:
    """Return the entropy at which a share p of so many places can be foretold at best."""
    bits = -sum(q * math.log2(q) for q in (p, 1 - p) if q > 0)
    return bits + (1 - p) * math.log2(places - 1) if places > 1 else bits
