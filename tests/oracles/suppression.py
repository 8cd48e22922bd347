"""A second opinion on tables that add up: the attack of cell suppression, a linear programme a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog

Cell = frozenset[int]
"""The flows that a cell is the sum of."""


def least(published: Sequence[Cell], cell: Cell, trips: Sequence[int], most: int) -> int:
    """Return the least total of a cell that all published sums leave possible.

    Flows are whole numbers. One that is published by itself is what it is; others hold at most so many.
    """
    alone = {next(iter(one)) for one in published if len(one) == 1}
    limits = [(trips[at], trips[at]) if at in alone else (0, most) for at in range(len(trips))]
    sums = {"A_eq": _rows(published, len(trips)), "b_eq": [_sum(one, trips) for one in published]}
    found = linprog(_rows([cell], len(trips))[0], **sums, bounds=limits, integrality=1)
    assert found.status == 0, "the truth itself fits"
    return round(found.fun)


def solved(published: Sequence[Cell], cell: Cell, flows: int) -> bool:
    """Return whether a cell is a combination of published ones."""
    if not published:
        return False
    rank = [np.linalg.matrix_rank(_rows(cells, flows)) for cells in (published, [*published, cell])]
    return bool(rank[0] == rank[1])


def small_cells(tables: Sequence[Sequence[Cell]], trips: Sequence[int], k: int) -> set[Cell]:
    """Return the cells of any table that hold fewer than k trips."""
    return {cell for table in tables for cell in table if 0 < sum(trips[flow] for flow in cell) < k}


def protected(published: Sequence[Cell], small: set[Cell], trips: Sequence[int], k: int) -> set[Cell]:
    """Return the small cells of which it is not proven that they hold somebody, and so not how many."""
    return {cell for cell in small if least(published, cell, trips, k - 1) == 0}


def suppressed(
    tables: Sequence[Sequence[Cell]], trips: Sequence[int], k: int
) -> tuple[list[Cell], set[Cell]]:
    """Return the cells that cell suppression publishes, and the small ones it protects.

    Small cells go; then, as long as one can be solved for, the smallest published cell that shares a flow
    with it.
    """
    small = small_cells(tables, trips, k)
    every = sorted(
        {cell for table in tables for cell in table} - small, key=lambda one: (_sum(one, trips), sorted(one))
    )
    while True:
        open_to_all = {cell for cell in small if solved(every, cell, len(trips))}
        near = [cell for cell in every if any(cell & one for one in open_to_all)]
        if not near:
            return every, small - open_to_all
        every.remove(near[0])


def _rows(cells: Sequence[Cell], flows: int) -> np.ndarray:
    return np.array([[flow in cell for flow in range(flows)] for cell in cells], dtype=float)


def _sum(cell: Cell, trips: Sequence[int]) -> int:
    return sum(trips[flow] for flow in cell)
