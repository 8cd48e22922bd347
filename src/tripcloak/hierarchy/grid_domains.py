"""Domains of grids: every cell of a study area, by arithmetic on its key."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.hierarchy.h3 import WORLD, cell_zones
from tripcloak.hierarchy.h3_cells import (
    base_cells,
    cells_to_text,
    child_cells,
    descendants,
    is_pentagon,
    parent_cells,
    resolution_of,
    text_to_cells,
)
from tripcloak.hierarchy.quadtree import QuadtreeTiling
from tripcloak.hierarchy.tiling import Keys
from tripcloak.hierarchy.tree import Hierarchy, Zones

NO_CELL = np.uint64(0)
"""The key of the world, which is no H3 cell."""


@dataclass(frozen=True)
class H3Domain:
    """All cells of H3 inside one cell, or inside the world; a zone's key is the cell.

    Parameters
    ----------
    resolution
        Resolution of the tiles.
    cell
        The study area; None for the world.

    Examples
    --------
    >>> domain = H3Domain(9, 0x861FB4677FFFFFF)
    >>> domain.height, domain.size(1), len(domain.split(domain.root, 1)[1])
    (3, 49, 49)
    """

    resolution: int
    cell: int | None

    @property
    def study_area(self) -> str:
        """Return the text of the cell."""
        return WORLD if self.cell is None else str(cells_to_text(self.root)[0])

    @property
    def height(self) -> int:
        """Return how many resolutions the study area is above the tiles."""
        return self.resolution - (-1 if self.cell is None else int(resolution_of(self.root)[0]))

    @property
    def root(self) -> Keys:
        """Return the cell, alone in an array."""
        return np.array([NO_CELL if self.cell is None else self.cell], dtype=np.uint64)

    def joined(self, other: H3Domain) -> H3Domain:
        """Return the domain of the finest cell that holds both study areas."""
        if self.cell is None or other.cell is None:
            return replace(self, cell=None)
        both = np.array([self.cell, other.cell], dtype=np.uint64)
        for resolution in range(int(resolution_of(both).min()), -1, -1):
            above = np.unique(parent_cells(both, resolution))
            if len(above) == 1:
                return replace(self, cell=int(above[0]))
        return replace(self, cell=None)

    def size(self, height: int) -> int:
        """Return the number of cells at this height, pentagons counted right."""
        if height >= self.height:
            return 1
        if self.cell is None:
            return int(2 + 120 * 7 ** (self.resolution - height))
        return int(descendants(self.root, self.resolution - height)[0])

    def split(self, zones: Keys, height: int) -> tuple[Ints, Keys]:
        """Return the cells at this height inside every cell."""
        within, part = np.arange(len(zones)), zones
        # Invariant: part holds cells, all of one resolution, inside zones[within].
        while len(part) and self._height(part) > height:
            if part[0] == NO_CELL:
                within, part = np.repeat(within, len(base_cells())), np.tile(base_cells(), len(part))
                continue
            digit = np.tile(np.arange(7), len(part))
            within, part = np.repeat(within, 7), np.repeat(part, 7)
            exists = ~(is_pentagon(part) & (digit == 1))
            within, part = within[exists], child_cells(part[exists], digit[exists])
        return np.concatenate(([0], np.cumsum(np.bincount(within, minlength=len(zones))))), part

    def lift(self, tree: Hierarchy, height: int) -> Keys:
        """Return the cell of every tile at this height."""
        tiles = text_to_cells(tree.zones.ids[: tree.n_tiles])
        if height >= self.height:
            return np.repeat(self.root, len(tiles))
        return parent_cells(tiles, self.resolution - height)

    def released(self, zones: Keys, tree: Hierarchy) -> tuple[Zones, Ints]:
        """Return facts about the cells, and each one's row."""
        cells, row = np.unique(zones, return_inverse=True)
        height = self._height(cells) if len(cells) else 0
        made = cell_zones(
            cells[cells != NO_CELL], self.resolution, world=self.cell is None and height > self.resolution
        )
        return _observed(made, cells, self.lift(tree, height)), row.astype(np.int32)

    def _height(self, cells: Keys) -> int:
        return self.resolution - (-1 if cells[0] == NO_CELL else int(resolution_of(cells[:1])[0]))


@dataclass(frozen=True)
class QuadtreeDomain:
    """All cells of a quadtree; a zone's key is a one followed by two bits a cut.

    Examples
    --------
    >>> domain = QuadtreeDomain(QuadtreeTiling(3, (40.0, -75.0, 41.0, -73.0)))
    >>> domain.size(1), domain.split(domain.root, 2)[1].tolist()
    (16, [4, 5, 6, 7])
    """

    tiling: QuadtreeTiling

    @property
    def study_area(self) -> str:
        """Return the id of the root, which stands for the area that the hierarchy states."""
        return "q"

    @property
    def height(self) -> int:
        """Return the number of cuts."""
        return self.tiling.depth

    @property
    def root(self) -> Keys:
        """Return the key of the whole area, alone in an array."""
        return np.ones(1, dtype=np.uint64)

    def size(self, height: int) -> int:
        """Return the number of cells at this height."""
        return int(4 ** (self.height - min(height, self.height)))

    def split(self, zones: Keys, height: int) -> tuple[Ints, Keys]:
        """Return the cells at this height inside every cell."""
        cuts = 0 if len(zones) == 0 else max(self.height - _level(int(zones[0])) - height, 0)
        parts = np.arange(4**cuts, dtype=np.uint64)
        members = ((zones[:, None] << np.uint64(2 * cuts)) | parts).ravel()
        return np.arange(len(zones) + 1) * len(parts), members

    def lift(self, tree: Hierarchy, height: int) -> Keys:
        """Return the cell of every tile at this height."""
        tiles = self.tiling.keys(tree.zones.ids[: tree.n_tiles]) | np.uint64(4**self.height)
        return tiles >> np.uint64(2 * min(height, self.height))

    def released(self, zones: Keys, tree: Hierarchy) -> tuple[Zones, Ints]:
        """Return facts about the cells, and each one's row."""
        cells, row = np.unique(zones, return_inverse=True)
        level = _level(int(cells[0])) if len(cells) else 0
        made = self.tiling.cells(cells ^ np.uint64(4**level), self.height - level)
        return _observed(made, cells, self.lift(tree, self.height - level)), row.astype(np.int32)


def _level(key: int) -> int:
    """Return how many cuts a key of a quadtree names."""
    return (key.bit_length() - 1) // 2


def _observed(zones: Zones, keys: Keys, of_tile: Keys) -> Zones:
    """Return zones with the number of tiles that occur below them, given the zone of each of those."""
    tiles = np.sort(of_tile)
    below = np.searchsorted(tiles, keys, side="right") - np.searchsorted(tiles, keys, side="left")
    return replace(zones, tiles_observed=below)
