"""Cells that are the finer, the more people are in them: leaves of a noisy quadtree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.trajectories.methods.noise.noisy import Drawing
from tripcloak.trajectories.methods.noise.prefix_tree import STRICT


class Leaves(NamedTuple):
    """Cells of several widths: each covers 2 to the level finest cells, in columns and rows of its width."""

    x: Ints
    y: Ints
    level: Ints

    def of(self, x: Ints, y: Ints) -> Ints:
        """Return the leaf of every finest cell: the one that holds it, or else that with the nearest middle.

        >>> wide_and_fine = Leaves(np.array([0, 2]), np.array([0, 0]), np.array([1, 0]))
        >>> wide_and_fine.of(np.array([1, 2, 9]), np.array([1, 0, 0])).tolist()
        [0, 1, 1]
        """
        from scipy.spatial import cKDTree

        found = np.full(len(x), -1, np.int64)
        for level in np.unique(self.level).tolist():
            rows = np.flatnonzero(self.level == level)
            # No leaf lies in another, so each cell is found at one level at most.
            here = _code(x >> level, y >> level)
            own = _code(self.x[rows], self.y[rows])
            order = np.argsort(own)
            at = np.minimum(np.searchsorted(own[order], here), len(own) - 1)
            found = np.where(own[order][at] == here, rows[order][at], found)
        wide = 1 << self.level
        middles = np.stack([(self.x + 0.5) * wide, (self.y + 0.5) * wide], axis=1)
        astray = np.flatnonzero(found < 0)
        found[astray] = cKDTree(middles).query(np.stack([x[astray] + 0.5, y[astray] + 0.5], axis=1))[1]
        return found


def _code(x: Ints, y: Ints) -> Ints:
    """Return one number for a column and a row."""
    return (x << 32) + y


def divided(places: tuple[Ints, Ints, Ints], *, depth: int, least: float, drawing: Drawing) -> Leaves:
    """Return the leaves of a quadtree that is divided where noisy numbers are large.

    Of everything that is divided all four quarters get noise, and those are kept that reach two standard
    deviations of it; where none does, it stays whole. Nothing may be left.

    Parameters
    ----------
    places
        Column, row and weight of what is counted; in columns and rows of less than 2 to ``depth - 1`` to each
        side of the middle.
    depth
        How often the area is divided at most: down to the finest cells.
    least
        From which noisy number on a cell is divided.
    drawing
        Where noise comes from; a part of it is drawn for every time, as long as there is something to divide.
    """
    x, y, weight = places
    half = 1 << (depth - 1)
    inside = (x >= -half) & (x < half) & (y >= -half) & (y < half)
    x, y, weight = (column[inside] for column in (x + half, y + half, weight))
    told: list[tuple[Ints, Ints, int]] = []
    # Invariant: nodes are divided next, and node is the one that each place is in.
    nodes, node = (np.zeros(1, np.int64), np.zeros(1, np.int64)), np.zeros(len(x), np.int64)
    for level in range(depth - 1, -1, -1):
        quarter = ((x >> level) & 1) << 1 | (y >> level) & 1
        exact = np.bincount(node * 4 + quarter, weight, minlength=4 * len(nodes[0]))
        clear = STRICT * drawing.next_scale
        noisy = drawing.noisy(np.rint(exact).astype(np.int64))
        kept = noisy >= clear
        whole = ~kept.reshape(-1, 4).any(axis=1)
        if level < depth - 1:
            told.append((nodes[0][whole], nodes[1][whole], level + 1))
        on = kept & (noisy >= least) & (level > 0)
        parent, digit = np.repeat(np.arange(len(nodes[0])), 4), np.tile(np.arange(4), len(nodes[0]))
        across, up = nodes[0][parent] << 1 | digit >> 1, nodes[1][parent] << 1 | digit & 1
        told.append((across[kept & ~on], up[kept & ~on], level))
        row = np.where(on, np.cumsum(on) - 1, -1)[node * 4 + quarter]
        x, y, weight, node = (column[row >= 0] for column in (x, y, weight, row))
        nodes = across[on], up[on]
        if not on.any():
            break
    across, up = (np.concatenate([one[side] for one in told]) for side in (0, 1))
    level_of = np.concatenate([np.full(len(one[0]), one[2]) for one in told])
    middle = half >> level_of
    return Leaves(across - middle, up - middle, level_of)
