"""Plain twins of pairs that change partners: all rings of a person tried, and the best pairs there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Costs = Mapping[frozenset[int], float]


def pair_cost(costs: Costs, one: int, other: int) -> float:
    """Return what two people cost; infinity where it is not listed."""
    return costs.get(frozenset((one, other)), np.inf)


def best_ring(mate: Sequence[int], costs: Costs, one: int, widths: Sequence[int]) -> tuple[float, list[int]]:
    """Return what the best ring of a person saves, and whom its members take, in turn."""
    left = mate[one]
    best: tuple[float, list[int]] = (1e-9 * pair_cost(costs, one, left), [])

    def extend(free: int, so_far: float, taken: list[int]) -> None:
        nonlocal best
        busy = {one, left, *taken, *(mate[other] for other in taken)}
        options = [
            (so_far - pair_cost(costs, free, other) + pair_cost(costs, other, mate[other]), other)
            for other in range(len(mate))
            if other not in busy and mate[other] >= 0 and pair_cost(costs, free, other) < so_far
        ]
        for saved, other in sorted(options, key=lambda option: -option[0])[: widths[len(taken)]]:
            closed = saved - pair_cost(costs, mate[other], left)
            if closed > best[0]:
                best = closed, [*taken, other]
            if len(taken) + 1 < len(widths):
                extend(mate[other], saved, [*taken, other])

    extend(one, pair_cost(costs, one, left), [])
    return best


def change_partners(
    mate: Sequence[int], costs: Costs, people: Sequence[int], widths: Sequence[int]
) -> tuple[int, list[int]]:
    """Return how many rings were closed, and who is whose partner then."""
    now, rings = list(mate), 0
    for one in people:
        if now[one] < 0:
            continue
        left, (_, taken) = now[one], best_ring(now, costs, one, widths)
        free = one
        for other in taken:
            following = now[other]
            now[free], now[other] = other, free
            free = following
        if taken:
            now[free], now[left] = left, free
            rings += 1
    return rings, now


def least_cost(costs: Costs, people: frozenset[int]) -> float:
    """Return what the cheapest pairs of all these people cost, by trying everything."""
    if not people:
        return 0.0
    one = min(people)
    return min(
        pair_cost(costs, one, other) + least_cost(costs, people - {one, other}) for other in people - {one}
    )
