"""Lineage: the zones above every tile from the root downwards, and the tiles in the order of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tripcloak.arrays import Ints


@dataclass(frozen=True, eq=False)
class Lineage:
    """The zones above every tile, by depth; worked out once a tree, however many matrices share it.

    Attributes
    ----------
    ancestors : array (depths, tiles)
        The tile's ancestor that many steps below the root, -1 for none.
    """

    ancestors: Ints

    @classmethod
    def of(cls, parent: Ints, n_tiles: int) -> Lineage:
        """Return the lineage in a tree given by its parents, tiles first.

        >>> Lineage.of(np.array([3, 3, 4, 4, -1]), 3).ancestors.tolist()
        [[4, 4, 4], [3, 3, 2], [0, 1, -1]]
        """
        tile = zone = np.arange(n_tiles, dtype=np.int32)
        depth = np.full(n_tiles, -1, dtype=np.int32)
        steps = []
        while len(tile):
            steps.append((tile, zone))
            depth[tile] += 1
            up = parent[zone]
            tile, zone = tile[up >= 0], up[up >= 0]
        at = np.full((len(steps), n_tiles), -1, dtype=np.int32)
        for step, (tile, zone) in enumerate(steps):
            at[depth[tile] - step, tile] = zone
        return cls(at)

    @cached_property
    def leaves(self) -> Ints:
        """Return the tiles in the order of the tree, in which those of one zone stand together."""
        return np.lexsort(self.ancestors[::-1])

    @cached_property
    def rank(self) -> Ints:
        """Return the place of every tile in that order."""
        rank = np.empty(len(self.leaves), dtype=np.int32)
        rank[self.leaves] = np.arange(len(self.leaves))
        return rank

    @cached_property
    def by_rank(self) -> Ints:
        """Return the ancestors, tiles in that order."""
        return self.ancestors[:, self.leaves]

    @cached_property
    def behind(self) -> Ints:
        """Return, for every zone, the first place behind its tiles; one more number for zone -1."""
        behind = np.zeros(int(self.ancestors[0, 0]) + 2, dtype=np.int64)
        for zone in self.by_rank:
            behind[zone] = np.arange(1, len(self.leaves) + 1)
        return behind
