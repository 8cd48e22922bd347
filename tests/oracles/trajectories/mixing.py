"""Plain twins: who was silent together in a zone, and the fewest zones that serve everybody."""

from __future__ import annotations

from itertools import combinations


def inside_at_once(silences: list[tuple[int, float, float]]) -> list[int]:
    """Return of each silence (zone, begin, end) how many of its zone share one of its moments at most."""
    return [
        max(
            sum(other == zone and a <= moment < b for other, a, b in silences)
            for _, moment, _ in silences
            if begin <= moment < end
        )
        for zone, begin, end in silences
    ]


def fewest_zones(serves: dict[int, set[int]]) -> int:
    """Return how few zones serve everybody whom any zone serves."""
    everybody = set().union(*serves.values())
    return next(
        size
        for size in range(len(serves) + 1)
        if any(
            set().union(*(serves[one] for one in some)) == everybody for some in combinations(serves, size)
        )
    )
