"""Plain twins of the noisy methods: literal, slow, and for tiny inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise


def closest_with_sums(noisy: Sequence[int], first: Sequence[int], totals: Sequence[int]) -> list[int]:
    """Return, run by run, whole numbers of 0 or more with a given sum, lowering the smallest step by step."""
    found = []
    for (start, end), total in zip(pairwise(first), totals, strict=True):
        values = [int(value) for value in noisy[start:end]]
        alike = math.ceil((total - sum(values)) / len(values))
        moved = [max(value + alike, 0) for value in values]
        reach = max(abs(new - old) for new, old in zip(moved, values, strict=True))
        while sum(moved) > total:
            for at in sorted(range(len(values)), key=lambda i: (values[i], i)):
                lowest = max(values[at] - reach, 0)
                moved[at] -= min(moved[at] - lowest, sum(moved) - total)
            reach += 1
        found += moved
    return found


def vectors(n: int, total: int) -> Iterator[tuple[int, ...]]:
    """Yield every vector of n whole numbers of 0 or more with this sum."""
    if n == 1:
        yield (total,)
        return
    for head in range(total + 1):
        for tail in vectors(n - 1, total - head):
            yield (head, *tail)


def partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield every way to share a total among pairs, 1 or more each."""
    if total == 0:
        yield ()
        return
    for head in range(min(total, largest or total), 0, -1):
        for tail in partitions(total - head, head):
            yield (head, *tail)


def laplace_chance(value: int, scale: float) -> float:
    """Return the chance of one value of discrete Laplace noise: in proportion to exp(-|value| / scale)."""
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** abs(value)


def gaussian_chance(value: int, scale: float) -> float:
    """Return the chance of one value of discrete Gaussian noise: in proportion to a bell curve."""
    reach = math.ceil(12 * scale)
    weights = [math.exp(-(v**2) / (2 * scale**2)) for v in range(-reach, reach + 1)]
    return math.exp(-(value**2) / (2 * scale**2)) / math.fsum(weights)
