"""Plain twin of rounding by cycles, and all roundings that there are of a small table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np


def turn_cycles(
    edges: Sequence[tuple[int, int]], residue: list[int], base: int, nodes: int, words: Iterator[int]
) -> list[int]:
    """Return 0 or the base in place of every residue, walking and turning as the words say."""
    lists = [[] for _ in range(nodes)]
    for side in (0, 1):
        for edge, ends in enumerate(edges):
            if residue[edge]:
                lists[ends[side]].append(edge)
    for start in range(nodes):
        path, taken = [start], []
        while lists[start]:
            own = lists[path[-1]]
            n = len(own) - bool(taken)
            edge = own[next(words) * n >> 32]
            if taken and edge == taken[-1]:
                edge = own[n]
            tail, head = edges[edge]
            other = head if tail == path[-1] else tail
            taken.append(edge)
            if other not in path:
                path.append(other)
                continue
            low = path.index(other)
            cycle = [(one, edges[one][0] == node) for one, node in zip(taken[low:], path[low:], strict=True)]
            up = min(base - residue[one] if forward else residue[one] for one, forward in cycle)
            down = min(residue[one] if forward else base - residue[one] for one, forward in cycle)
            by = up if next(words) * (up + down) >> 32 < down else -down
            for one, forward in cycle:
                residue[one] += by if forward else -by
                if residue[one] in (0, base):
                    for node in edges[one]:
                        place = lists[node].index(one)
                        lists[node][place] = lists[node][-1]
                        lists[node].pop()
            del path[low + 1 :], taken[low:]
    return residue


def all_roundings(
    numbers: Sequence[int], rows: Sequence[int], columns: Sequence[int], base: int
) -> set[tuple[int, ...]]:
    """Return every way to round all numbers such that no sum is a base, or more, away from the true one."""
    ways = [sorted({number // base * base, -(-number // base) * base}) for number in numbers]
    sums = [[1 if row == r else 0 for row in rows] for r in set(rows)]
    sums += [[1 if column == c else 0 for column in columns] for c in set(columns)]
    sums.append([1] * len(numbers))
    return {
        told
        for told in product(*ways)
        if all(abs(np.dot(one, told) - np.dot(one, numbers)) < base for one in sums)
    }
