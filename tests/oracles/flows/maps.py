"""Every way to cut and release, spelt out on tiny trees: the oracle of ATG and of the tree knapsack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

from oracles.flows.kernels import Row, Thresholds, Tree, below, children, safe, support

Outcome = tuple[float, float]
"""Suppressed volume, and the loss of what is released."""


def every_cut(tree: Tree, zone: str) -> list[tuple[str, ...]]:
    """Return all cuts of the part of a tree below a zone."""
    parts = [every_cut(tree, child) for child in children(tree, zone)]
    split = [sum(combined, ()) for combined in product(*parts)] if parts else []
    return [(zone,), *split]


def root_of(tree: Tree) -> str:
    """Return the zone that has no parent."""
    return next(zone for zone, above in tree.items() if above is None)


def deviation(tree: Tree, volumes: dict[str, float], cut: Iterable[str], target: float) -> Fraction:
    """Return the sum of squares of how far the zones of a cut are from the target volume."""
    exact = Fraction(target)
    return sum(
        ((sum(Fraction(volumes[tile]) for tile in below(tree, zone)) - exact) ** 2 for zone in cut),
        start=Fraction(0),
    )


def outcomes_of_map(
    rows: Sequence[Row], tree: Tree, origin_size: int, unseen: int, thresholds: Thresholds
) -> set[Outcome]:
    """Return what each destination cut, and each choice of what to withhold, makes of one origin's rows."""
    found: set[Outcome] = set()
    for cut in every_cut(tree, root_of(tree)):
        options = []
        for zone in cut:
            inside = [row for row in rows if row.destination in below(tree, zone)]
            volume = support(inside, "trips")
            each = [(volume, 0.0)]
            if inside and safe(inside, thresholds):
                each.append((0.0, volume * (origin_size + size(tree, zone, unseen))))
            options.append(each)
        found |= {added(chosen) for chosen in product(*options)}
    return found


def outcomes(maps: Iterable[set[Outcome]]) -> set[Outcome]:
    """Return every sum of one outcome of each map."""
    together: set[Outcome] = {(0.0, 0.0)}
    for one in maps:
        together = {added(pair) for pair in product(together, one)}
    return together


def added(some: Iterable[Outcome]) -> Outcome:
    """Return the sum of outcomes."""
    hidden, loss = zip(*some, strict=True)
    return sum(hidden), sum(loss)


def size(tree: Tree, zone: str, unseen: int) -> int:
    """Return the tiles of a zone; inner zones may have more than those held."""
    return len(below(tree, zone)) + (unseen if children(tree, zone) else 0)


def least_mean(found: Iterable[Outcome], total: float, budget: float) -> float:
    """Return the least loss per released unit of the outcomes within a budget."""
    return min(loss / (total - hidden) for hidden, loss in found if hidden <= budget)


def lower_hull(found: Iterable[Outcome]) -> list[Outcome]:
    """Return the corners of the outcomes that some price makes the best, ascending in what they suppress."""
    hull: list[Outcome] = []
    for hidden, loss in sorted(found):
        if hull and loss >= hull[-1][1]:
            continue
        while len(hull) > 1:
            (a, x), (b, y) = hull[-2:]
            if (y - x) * (hidden - a) < (loss - x) * (b - a):
                break
            hull.pop()
        hull.append((hidden, loss))
    return hull


def at_critical_price(found: Iterable[Outcome], total: float, budget: float) -> tuple[Outcome, float]:
    """Return the last corner within the budget, and the best bound on the mean that any price proves."""
    hull = lower_hull(found)
    last = max(i for i, (hidden, _) in enumerate(hull) if hidden <= budget)
    (less, dear), (more, cheap) = hull[last], hull[min(last + 1, len(hull) - 1)]
    slope = (cheap - dear) / (more - less) if more > less else 0.0
    return hull[last], (dear + slope * (budget - less)) / (total - budget)


def knapsack(loss: Sequence[float], volume: Sequence[float], parent: Sequence[int]) -> set[Outcome]:
    """Return every outcome of the products of a tree, each released, suppressed or split."""

    def of(p: int) -> set[Outcome]:
        parts = [q for q in range(p + 1, len(parent)) if parent[q] == p]
        found = {(0.0, loss[p] * volume[p]), (volume[p], 0.0)}
        if parts:
            outside = volume[p] - sum(volume[q] for q in parts)
            found |= {(hidden + outside, cost) for hidden, cost in outcomes(map(of, parts))}
        return found

    return of(0)
