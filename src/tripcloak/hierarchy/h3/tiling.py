"""H3Tiling: the hexagons of H3 at one resolution, and their ancestors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy.geometry import EARTH_KM2, rectangle_outline, ring_outline
from tripcloak.hierarchy.h3.cells import (
    FINEST,
    TEXT_WIDTH,
    cells_to_text,
    descendants,
    encode_points,
    parent_cells,
    resolution_of,
    text_to_cells,
)
from tripcloak.hierarchy.h3.outlines import Outlined, tiles_outline
from tripcloak.hierarchy.tiling import OUTSIDE, Keys, occurring, rows_of
from tripcloak.hierarchy.tree import ROOT, Geometry, Hierarchy, Zones

WORLD = "world"
"""The id of the zone above all cells."""


class CellRows(NamedTuple):
    """Cells and what is known of them, one row a zone: the finest first, the world, if any, last.

    ``cells`` lacks the world, which is no cell.
    """

    cells: Keys
    ids: NDArray[np.str_]
    parent: Ints
    tiles: Ints
    area_km2: Floats
    lat: Floats
    lon: Floats


@dataclass(frozen=True)
class H3Tiling:
    """Tiles that are H3 cells of one resolution.

    The root is the ``world``, wherever the data lie: one trip far away must not show in it. Right below
    stands, for every base cell in which there are tiles, the finest cell that covers them, and between
    that and the tiles all their ancestors. Tile counts are counts of the whole grid, pentagons included.

    Parameters
    ----------
    resolution
        0 (about 4.4 million km2 a cell) to 15 (about 1 m2).
    root
        Another root, a cell by its hexadecimal text, and nothing outside it is a tile then; or a
        resolution, and the root is the one cell of that resolution that covers all tiles.

    Examples
    --------
    >>> tiling = H3Tiling(9)
    >>> keys = np.unique(tiling.encode(np.array([48.8584, 48.8606]), np.array([2.2945, 2.3376])))
    >>> tree = tiling.hierarchy(keys)
    >>> tree.n_tiles, tree.zones.ids[-2:].tolist(), tree.zones.tiles[-2:].tolist()
    (2, ['861fb4677ffffff', 'world'], [343, 4842432842])
    """

    resolution: int
    root: int | str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.resolution <= FINEST:
            raise HierarchyError(f"an H3 resolution is a number from 0 to {FINEST}; found {self.resolution}")
        if isinstance(self.root, str):
            self._require_cell(self.root)
        elif self.root is not None and not 0 <= self.root <= self.resolution:
            raise HierarchyError(
                f"the root of h3:{self.resolution} must be a resolution from 0 to {self.resolution}; "
                f"found {self.root}"
            )

    @property
    def name(self) -> str:
        """Return the tiling's text, ``h3:10``, ``h3:10/root=5`` or ``h3:10/root=851fb467fffffff``."""
        return f"h3:{self.resolution}" + ("" if self.root is None else f"/root={self.root}")

    def encode(self, lat: Floats, lon: Floats) -> Keys:
        """Return the cell of every point, or OUTSIDE the root where that is a cell."""
        return self._inside(encode_points(lat, lon, self.resolution))

    def keys(self, ids: Sequence[str] | NDArray[np.str_]) -> Keys:
        """Return the cell named by each hexadecimal text; finer cells are lifted, others are OUTSIDE."""
        cells = text_to_cells(ids)
        fits = (cells != OUTSIDE) & (resolution_of(cells) >= self.resolution)
        return self._inside(np.where(fits, parent_cells(cells, self.resolution), OUTSIDE))

    def hierarchy(self, keys: Keys) -> Hierarchy:
        """Return the hierarchy over these cells and their ancestors."""
        rows = self._rows(occurring(keys))
        tree = Hierarchy.from_parents(
            rows.ids,
            rows.parent,
            name=self.name,
            tiles=rows.tiles,
            height=self._heights(rows),
            area_km2=rows.area_km2,
            lat=rows.lat,
            lon=rows.lon,
        )
        return replace(tree, zones=outlined(tree.zones, self.resolution))

    def tiles(self, keys: Keys, hierarchy: Hierarchy) -> Ints:
        """Return the row of every cell in a hierarchy of this tiling, or -1."""
        return rows_of(keys, text_to_cells(hierarchy.zones.ids[: hierarchy.n_tiles]))

    def _inside(self, cells: Keys) -> Keys:
        if not isinstance(self.root, str):
            return cells
        root = text_to_cells([self.root])
        known = cells != OUTSIDE
        known[known] = parent_cells(cells[known], int(resolution_of(root)[0])) == root
        return np.where(known, cells, OUTSIDE)

    def _require_cell(self, root: str) -> None:
        cell = text_to_cells([root])
        if cell[0] == OUTSIDE or cells_to_text(cell)[0] != root or resolution_of(cell)[0] > self.resolution:
            raise HierarchyError(
                f"the root of h3:{self.resolution} must be an H3 cell of at most that resolution, in lower "
                f"case such as 851fb467fffffff; found {root!r}"
            )

    def _heights(self, rows: CellRows) -> Ints:
        """Return the height of every zone, which does not depend on what occurs below it."""
        cells = self.resolution - resolution_of(rows.cells)
        return np.append(cells, [self.resolution + 1] * (len(rows.ids) - len(cells)))

    def _rows(self, keys: Keys) -> CellRows:
        if np.any(resolution_of(keys) != self.resolution):
            raise HierarchyError(f"all tiles of {self.name} must be H3 cells of resolution {self.resolution}")
        cells, parent = self._below_root(keys) if self.root is None else self._up_to(keys, self._top(keys))
        lat, lon, area = measure_cells(cells)
        ids, tiles = cells_to_text(cells), descendants(cells, self.resolution)
        if self.root is None:
            # A fixed point: one taken from the tiles would tell about flows that are withheld.
            lat, lon = np.append(lat, 0.0), np.append(lon, 0.0)
            area = np.append(area, EARTH_KM2)
            ids, tiles = np.append(ids, WORLD), np.append(tiles, 2 + 120 * 7**self.resolution)
        return CellRows(cells, ids, parent, tiles, area, lat, lon)

    def _below_root(self, keys: Keys) -> tuple[Keys, Ints]:
        """Return the cells below the world, and the parent row of every zone, that of the world last."""
        base = parent_cells(keys, 0)
        cells, parents, start = [], [], 0
        for part in np.split(keys, np.flatnonzero(base[1:] != base[:-1]) + 1):
            own, parent = self._up_to(part, _covering(part, self.resolution))
            cells.append(own)
            parents.append(np.where(parent == ROOT, ROOT, parent + start))
            start += len(own)
        joined = np.concatenate(parents)
        joined[joined == ROOT] = start
        return np.concatenate(cells), np.append(joined, ROOT)

    def _up_to(self, keys: Keys, top: int) -> tuple[Keys, Ints]:
        """Return cells and their ancestors up to one of a resolution, and the parent row of each."""
        levels, parents, start = [keys], [], 0
        for resolution in range(self.resolution - 1, top - 1, -1):
            start += len(levels[-1])
            above = parent_cells(levels[-1], resolution)
            # Sorted cells have sorted ancestors, so equal ones stand together.
            first = np.append(True, above[1:] != above[:-1])
            levels.append(above[first])
            parents.append(start + np.cumsum(first) - 1)
        return np.concatenate(levels), np.concatenate([*parents, [ROOT]])

    def _top(self, keys: Keys) -> int:
        """Return the resolution of the root that was asked for."""
        if isinstance(self.root, str):
            if np.any(self._inside(keys) == OUTSIDE):
                raise HierarchyError(f"all tiles of {self.name} must lie inside its root")
            return int(resolution_of(text_to_cells([self.root]))[0])
        finest = _covering(keys, self.resolution)
        if self.root is not None and self.root <= finest:
            return self.root
        most = f"root={finest} or coarser" if finest >= 0 else "no root: they span several base cells"
        raise HierarchyError(
            f"{self.name}: no single H3 cell of resolution {self.root} covers all tiles; they need {most}"
        )


def _covering(keys: Keys, resolution: int) -> int:
    """Return the finest resolution at which one cell covers all tiles, -1 where there is none."""
    # Cells are sorted, so an ancestor that the first and the last share is shared by all.
    ends = keys[[0, -1]]
    shared = (len(np.unique(parent_cells(ends, above))) == 1 for above in range(resolution + 1))
    return sum(takewhile(bool, shared)) - 1


def cell_zones(cells: Keys, resolution: int, *, world: bool = False) -> Zones:
    """Return facts about cells as zones above tiles of a resolution; with the world, that is the first row.

    None of the tiles below them is said to occur.

    Examples
    --------
    >>> zones = cell_zones(np.array([0x861FB4677FFFFFF], dtype=np.uint64), 9)
    >>> zones.ids.tolist(), zones.height.tolist(), zones.tiles.tolist()
    (['861fb4677ffffff'], [3], [343])
    """
    lat, lon, area = measure_cells(cells)
    first = [0] if world else []
    ids = np.insert(cells_to_text(cells).astype(f"<U{TEXT_WIDTH}"), first, WORLD)
    tiles = np.insert(descendants(cells, resolution), first, 2 + 120 * 7**resolution)
    zones = Zones(
        ids=ids,
        height=np.insert(resolution - resolution_of(cells), first, resolution + 1).astype(np.int32),
        tiles=tiles,
        tiles_observed=np.zeros_like(tiles),
        area_km2=np.insert(area, first, EARTH_KM2),
        lat=np.insert(lat, first, 0.0),
        lon=np.insert(lon, first, 0.0),
    )
    return outlined(zones, resolution)


def measure_cells(cells: Keys) -> tuple[Floats, Floats, Floats]:
    """Return latitude and longitude of every cell's centre, and its area in km2."""
    before, measures = _MEASURED[-1]
    place = np.minimum(np.searchsorted(before, cells), len(before) - 1)
    known = before[place] == cells
    found = np.empty((3, len(cells)))
    found[:, known], found[:, ~known] = measures[:, place[known]], _measured(cells[~known])
    if 0 < len(cells) <= REMEMBERED:
        order = np.argsort(cells)
        _MEASURED[-1] = cells[order], found[:, order]
    return found[0], found[1], found[2]


REMEMBERED = 1 << 20
"""Cells whose measures are kept until others are measured: trips begin and end in much the same ones."""

_MEASURED: list[tuple[Keys, Floats]] = [(np.zeros(1, np.uint64), np.zeros((3, 1)))]
"""The cells that were measured last, ascending, and their measures. No cell has the number 0."""


def _measured(cells: Keys) -> Floats:
    from h3.api.basic_int import cell_area, cell_to_latlng

    numbers = cells.tolist()
    return np.array([(*cell_to_latlng(cell), cell_area(cell)) for cell in numbers]).reshape(-1, 3).T


def cell_outline(zone: str) -> Geometry:
    """Return H3's own outline of a cell."""
    from h3.api.basic_str import cell_to_boundary

    lat, lon = np.array(cell_to_boundary(zone)).T
    return ring_outline(lat, lon)


def itself(zone: str) -> tuple[str, ...]:
    """Return the cells that a zone is made of where zones are cells."""
    return (zone,)


def outlined(zones: Zones, resolution: int, members: Callable[[str], Sequence[str]] = itself) -> Zones:
    """Return zones with the outlines, and the areas inside them, of the tiles of a resolution below them.

    Parameters
    ----------
    members
        The cells that a zone is made of, by its id.
    """
    cells = partial(_cells_of, zones.ids, members)
    known = np.where(zones.tiles == 1, zones.area_km2, np.nan)
    return replace(
        zones,
        shape=partial(_shape, cells, resolution),
        outlined_km2=partial(_area, cells, resolution, known),
    )


def _cells_of(ids: NDArray[np.str_], members: Callable[[str], Sequence[str]], row: int) -> tuple[str, ...]:
    return tuple(members(str(ids[row])))


def _shape(cells: Callable[[int], tuple[str, ...]], resolution: int, row: int) -> Geometry:
    return _outlined(cells(row), resolution).geometry


def _area(cells: Callable[[int], tuple[str, ...]], resolution: int, known: Floats, row: int) -> float:
    # H3 knows the area of a single cell better than its rounded corners do.
    return _drawn_km2(cells(row), resolution) if np.isnan(known[row]) else float(known[row])


@lru_cache(maxsize=1 << 16)
def _drawn_km2(members: tuple[str, ...], resolution: int) -> float:
    """Return the area of an outline, which several parts of a release ask for and takes long to draw."""
    return _outlined(members, resolution).area_km2


def _outlined(members: tuple[str, ...], resolution: int) -> Outlined:
    if members == (WORLD,):
        return Outlined(rectangle_outline(-90, -180, 90, 180), EARTH_KM2)
    return tiles_outline(_numbers(members), resolution)


@lru_cache(maxsize=1 << 16)
def _numbers(members: tuple[str, ...]) -> tuple[int, ...]:
    """Return the cells of a few texts, asked for one by one and again and again."""
    return tuple(text_to_cells(members).tolist())
