"""Domains: all zones of a study area, whether they occur in the data or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.hierarchy.h3.cells import (
    base_cells,
    cells_to_text,
    child_cells,
    descendants,
    is_pentagon,
    parent_cells,
    resolution_of,
    text_to_cells,
)
from tripcloak.hierarchy.h3.tiling import WORLD, cell_zones
from tripcloak.hierarchy.quadtree import QuadtreeTiling
from tripcloak.hierarchy.tiling import Keys
from tripcloak.hierarchy.tree import Geometry, Hierarchy, Zones

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
        made = cell_zones(cells[cells != NO_CELL], self.resolution, world=bool((cells == NO_CELL).any()))
        return _observed(made, cells, partial(self.lift, tree)), row.astype(np.int32)

    def tiles(self, zones: Keys) -> Ints:
        """Return the number of tiles inside every cell."""
        world = zones == NO_CELL
        some = np.where(world, base_cells()[0], zones).astype(np.uint64)
        whole = np.int64(2 + 120 * 7**self.resolution)
        return np.where(world, whole, descendants(some, self.resolution))

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
        levels = np.array([_level(key) for key in cells.tolist()], dtype=np.int64)
        # Deeper cells have larger keys, so that cells of one level stand together.
        parts = [
            self.tiling.cells(cells[levels == level] ^ np.uint64(4**level), self.height - level)
            for level in np.unique(levels).tolist() or [0]
        ]
        return _observed(joined_zones(parts), cells, partial(self.lift, tree)), row.astype(np.int32)

    def tiles(self, zones: Keys) -> Ints:
        """Return the number of tiles inside every cell."""
        known, row = np.unique(zones, return_inverse=True)
        sizes = [4 ** (self.height - _level(key)) for key in known.tolist()]
        return np.array(sizes, dtype=np.int64)[row]


def _level(key: int) -> int:
    """Return how many cuts a key of a quadtree names."""
    return (key.bit_length() - 1) // 2


def _observed(zones: Zones, keys: Keys, lifted: Callable[[int], Keys]) -> Zones:
    """Return zones with the number of tiles that occur below them, given their zones at every height."""
    below = np.zeros(len(keys), dtype=np.int64)
    for height in np.unique(zones.height).tolist():
        tiles, here = np.sort(lifted(height)), zones.height == height
        first, last = (np.searchsorted(tiles, keys[here], side=side) for side in ("left", "right"))
        below[here] = last - first
    return replace(zones, tiles_observed=below)


def joined_zones(parts: Sequence[Zones]) -> Zones:
    """Return several zones as one table, in the order given.

    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> joined_zones([tree.zones, tree.zones]).ids.tolist()
    ['a', 'b', 'ab', 'a', 'b', 'ab']
    """
    if len(parts) == 1:
        return parts[0]
    names = ("ids", "height", "tiles", "tiles_observed", "area_km2", "lat", "lon")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in names
    }
    outlined = all(part.shape is not None for part in parts)
    return Zones(**columns, shape=_JoinedShapes(tuple(parts)) if outlined else None)


@dataclass(frozen=True, eq=False)
class _JoinedShapes:
    """Outlines of several zones as one table."""

    parts: tuple[Zones, ...]

    def __call__(self, row: int) -> Geometry:
        for part in self.parts:
            if row < len(part):
                outline = part.outline(row)
                assert outline is not None
                return outline
            row -= len(part)
        raise IndexError(row)


FANOUT = 8
"""Zones that one step down may make of one, on average, where a single height would make fewer."""


class Domain(Protocol):
    """All zones of a study area, as 64-bit keys; none of it depends on which of them occur."""

    @property
    def study_area(self) -> str:
        """Return the id of the zone that holds everything."""

    @property
    def height(self) -> int:
        """Return the height of the study area."""

    @property
    def root(self) -> Keys:
        """Return the key of the study area, alone in an array."""

    def size(self, height: int) -> int:
        """Return how many zones cover the study area when none is higher than this."""

    def split(self, zones: Keys, height: int) -> tuple[Ints, Keys]:
        """Return (offsets, members): what is left of every zone when none may be higher than this.

        The parts of zone i are ``members[offsets[i]:offsets[i + 1]]``; a zone that is low enough is its
        own only part.
        """

    def lift(self, tree: Hierarchy, height: int) -> Keys:
        """Return, for every tile of a tree over this study area, its zone that is at most this high."""

    def released(self, zones: Keys, tree: Hierarchy) -> tuple[Zones, Ints]:
        """Return facts about zones, and the row of every zone given in them.

        The tree says which tiles occur; only ``tiles_observed`` depends on it. Zones may be of several
        heights.
        """

    def tiles(self, zones: Keys) -> Ints:
        """Return the number of tiles of every zone, whether they occur or not."""


def shared_domains(origins: Hierarchy, destinations: Hierarchy) -> tuple[Domain, Domain] | None:
    """Return the domains of both axes over one study area, or None where a tree does not tell its own.

    The study area never follows from where the data lie: it is the whole of a file's zones, the area of a
    quadtree, and of an H3 grid the cell that its text names as the root (``h3:9/root=871fb4674ffffff``),
    or else the world.

    Examples
    --------
    >>> from tripcloak.hierarchy import H3Tiling
    >>> tiling = H3Tiling(9, "871fb4674ffffff")
    >>> ends = (tiling.hierarchy(tiling.encode(np.array([lat]), np.array([2.3]))) for lat in (48.85, 48.86))
    >>> origins, destinations = shared_domains(*ends)
    >>> origins.study_area, origins.size(0), origins == destinations
    ('871fb4674ffffff', 49, True)
    >>> shared_domains(*(Hierarchy.from_parents(["a"], [-1]) for _ in range(2))) is None
    True
    """
    first, second = _domain(origins), _domain(destinations)
    if first is None or second is None:
        return None
    if isinstance(first, H3Domain) and isinstance(second, H3Domain):
        both = first.joined(second)
        return both, both
    return first, second


def steps_down(domains: tuple[Domain, Domain], height: int) -> list[int]:
    """Return the heights from the study area down to a height, several at once where few zones are split.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(list("abcd") + ["ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> steps_down((TreeDomain(tree), TreeDomain(tree)), 0)
    [2, 0]
    """
    heights = [max(domain.height for domain in domains)]
    while heights[-1] > height:
        sizes = [domain.size(heights[-1]) for domain in domains]
        below = heights[-1] - 1
        while below > height and all(
            domain.size(below - 1) <= FANOUT * size for domain, size in zip(domains, sizes, strict=True)
        ):
            below -= 1
        heights.append(below)
    return heights


def _domain(tree: Hierarchy) -> Domain | None:
    if tree.complete:
        return TreeDomain(tree)
    # A root given by its resolution alone is the cell that holds the data.
    if match := re.fullmatch(r"h3:(\d+)(?:/root=([0-9a-f]{15}))?", tree.name):
        return H3Domain(int(match[1]), int(match[2], 16) if match[2] else None)
    outline = tree.zones.outline(tree.root)
    if (match := re.fullmatch(r"quadtree:(\d+)", tree.name)) and outline is not None:
        parts = outline["coordinates"] if outline["type"] == "MultiPolygon" else [outline["coordinates"]]
        (west, south), (east, north) = parts[0][0][0], parts[-1][0][2]
        return QuadtreeDomain(QuadtreeTiling(int(match[1]), (south, west, north, east)))
    return None


@dataclass(frozen=True)
class TreeDomain:
    """The zones of a tree that holds every tile there is; a zone's key is its row.

    Examples
    --------
    >>> domain = TreeDomain(Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1]))
    >>> domain.size(1), [part.tolist() for part in domain.split(domain.root, 1)]
    (2, [[0, 2], [2, 3]])
    """

    tree: Hierarchy

    @property
    def study_area(self) -> str:
        """Return the id of the root."""
        return str(self.tree.zones.ids[self.tree.root])

    @property
    def height(self) -> int:
        """Return the height of the root."""
        return int(self.tree.zones.height[self.tree.root])

    @property
    def root(self) -> Keys:
        """Return the row of the root."""
        return np.array([self.tree.root], dtype=np.uint64)

    def size(self, height: int) -> int:
        """Return how many zones cover all tiles when none is higher than this."""
        return len(np.unique(self.tree.lift(height)))

    def split(self, zones: Keys, height: int) -> tuple[Ints, Keys]:
        """Return the parts of every zone that are at most this high, by row."""
        offsets, members = self.tree.children
        within, part = np.arange(len(zones)), zones.astype(np.int64)
        # Invariant: part holds zones below zones[within] that cover the same tiles.
        while (high := self.tree.zones.height[part] > height).any():
            sizes = np.where(high, offsets[part + 1] - offsets[part], 1)
            starts = np.repeat(offsets[part], sizes)
            nth = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            opened = np.repeat(high, sizes)
            kept = np.repeat(part, sizes)
            # A zone that stays has no nth child to look up.
            at = np.where(opened, starts + nth, 0)
            within, part = np.repeat(within, sizes), np.where(opened, members[at], kept)
        order = np.lexsort((part, within))
        return _offsets(within, len(zones)), part[order].astype(np.uint64)

    def lift(self, tree: Hierarchy, height: int) -> Keys:
        """Return the row of every tile's zone."""
        return tree.lift(height).astype(np.uint64)

    def released(self, zones: Keys, tree: Hierarchy) -> tuple[Zones, Ints]:
        """Return the zones of the tree and the rows themselves."""
        return tree.zones, zones.astype(np.int32)

    def tiles(self, zones: Keys) -> Ints:
        """Return the number of tiles of every zone."""
        return self.tree.zones.tiles[zones.astype(np.int64)]


def _offsets(within: Ints, n: int) -> Ints:
    return np.concatenate(([0], np.cumsum(np.bincount(within, minlength=n))))
