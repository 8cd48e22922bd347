"""Plain twin of visits: of every person and slot the cell of most samples, by counting."""

from __future__ import annotations

from collections import Counter
from itertools import groupby


def most_visited(
    owner: list[int], slot: list[int], x: list[int], y: list[int]
) -> tuple[list[tuple[int, int, int, int]], list[int]]:
    """Return person, slot and cell of every visit, and the visit of each sample, -1 of those elsewhere."""
    rows = list(zip(owner, slot, x, y, strict=True))
    found, of_sample = [], []
    for (who, when), group in groupby(rows, key=lambda row: row[:2]):
        cells = [row[2:] for row in group]
        # Of equal numbers a counter tells the one first seen first.
        best = Counter(cells).most_common(1)[0][0]
        of_sample += [len(found) if cell == best else -1 for cell in cells]
        found.append((who, when, *best))
    return found, of_sample
