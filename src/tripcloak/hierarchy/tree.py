"""Hierarchy: a tree of zones in plain arrays, and Cut: a set of its zones that covers every tile once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import CutError, HierarchyError


@dataclass(frozen=True, eq=False)
class Lineage:
    """The zones above every tile, by depth; worked out once a tree, however many matrices share it.

    Attributes
    ----------
    ancestors : array (depths, tiles)
        The tile's ancestor that many steps below the root, -1 for none.
    """

    ancestors: Ints

    def __repr__(self) -> str:
        return f"<Lineage of {self.ancestors.shape[1]:,} tiles>"

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

    @classmethod
    def through(cls, cuts: Sequence[Ints]) -> Lineage:
        """Return the lineage made of some cuts alone, each the zone of every tile, from coarse to fine.

        >>> Lineage.through([np.array([4, 4, 4]), np.array([0, 1, 2])]).ancestors.tolist()
        [[4, 4, 4], [0, 1, 2]]
        """
        at = np.full((len(cuts), len(cuts[0])), -1, dtype=np.int32)
        depth, tile = np.full(len(cuts[0]), -1), np.arange(len(cuts[0]))
        for cut in cuts:
            new = (depth < 0) | (at[depth, tile] != cut)
            depth[new] += 1
            at[depth[new], tile[new]] = cut[new]
        return cls(at[: depth.max() + 1])

    def down_to(self, depth: Ints) -> Lineage:
        """Return the lineage of every tile down to a depth of its own, the same for tiles of one zone there.

        >>> Lineage.of(np.array([3, 3, 4, 4, -1]), 3).down_to(np.array([1, 1, 1])).ancestors.tolist()
        [[4, 4, 4], [3, 3, 2]]
        """
        rows = np.arange(min(len(self.ancestors), int(depth.max()) + 1))[:, None]
        return Lineage(np.where(rows <= depth, self.ancestors[: len(rows)], np.int32(-1)))

    def without(self, gone: Bools) -> Lineage:
        """Return the lineage without some zones, of which none is a tile's lowest; what is below moves up.

        >>> Lineage.of(np.array([3, 3, 4, 4, -1]), 3).without(np.arange(5) == 3).ancestors.tolist()
        [[4, 4, 4], [0, 1, 2]]
        """
        kept = (self.ancestors >= 0) & ~gone[self.ancestors]
        order = np.argsort(~kept, axis=0, kind="stable")[: kept.sum(axis=0).max()]
        above = np.where(kept, self.ancestors, np.int32(-1))
        return Lineage(np.take_along_axis(above, order, axis=0))

    @cached_property
    def lowest(self) -> Ints:
        """Return, for every tile, the lowest zone that holds it: the tile itself, where that is in here."""
        depth = (self.ancestors >= 0).sum(axis=0) - 1
        zone: Ints = self.ancestors[depth, np.arange(len(depth))]
        return zone

    def parents(self, size: int) -> Ints:
        """Return, of so many zones, the one above each in here; -1 for the root, and for what is not in here.

        >>> Lineage(np.array([[4, 4, 4], [0, 1, 2]])).parents(5).tolist()
        [4, 4, 4, -1, -1]
        """
        parent = np.full(size + 1, -1, dtype=np.int32)
        for above, below in pairwise(self.ancestors):
            parent[below] = above
        return parent[:size]

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
        return np.ascontiguousarray(self.ancestors[:, self.leaves])

    @cached_property
    def behind(self) -> Ints:
        """Return, for every zone, the first place behind its tiles; one more number for zone -1."""
        behind = np.zeros(int(self.ancestors[0, 0]) + 2, dtype=np.int64)
        for zone in self.by_rank:
            behind[zone] = np.arange(1, len(self.leaves) + 1)
        return behind


Geometry = dict[str, Any]
"""A GeoJSON geometry: longitude and latitude in degrees."""

ROOT = -1


@dataclass(frozen=True, eq=False)
class Zones:
    """Facts about zones, one row a zone.

    Attributes
    ----------
    ids : array of str
        The zone's public name; an H3 cell is its hexadecimal text.
    height : array of int
        0 at tiles, grows with generalisation.
    tiles, tiles_observed : array of int
        Tiles below the zone: all of them, and those that occur in the data on this axis.
    area_km2, lat, lon : array of float
        Area, and the representative point (NaN where a hierarchy has no geometry).
    shape : callable, optional
        ``shape(row)`` gives the zone's outline as a GeoJSON geometry.
    outlined_km2 : callable, optional
        ``outlined_km2(row)`` gives the area inside that outline, where ``area_km2`` is only close to it.
    """

    ids: NDArray[np.str_]
    height: Ints
    tiles: Ints
    tiles_observed: Ints
    area_km2: Floats
    lat: Floats
    lon: Floats
    shape: Callable[[int], Geometry] | None = field(default=None, repr=False)
    outlined_km2: Callable[[int], float] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,}>"

    def __len__(self) -> int:
        return len(self.ids)

    def outline(self, row: int) -> Geometry | None:
        """Return the zone's outline as a GeoJSON geometry, or None where there is no geometry."""
        return None if self.shape is None else self.shape(int(row))

    def areas(self, rows: Ints) -> Floats:
        """Return the areas inside the outlines of some zones."""
        if self.outlined_km2 is None:
            return self.area_km2[rows]
        return np.array([self.outlined_km2(int(row)) for row in rows], dtype=float)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of zones held in arrays.

    Tiles come first (``0 .. n_tiles - 1``, sorted by id), then the inner zones sorted by height and id,
    so a parent always stands behind its children and the root is last. One pass forwards visits
    children before parents; one pass backwards does the reverse.

    A grid holds only the tiles that occur. A ``complete`` hierarchy (tracts, base stations) holds
    every tile there is, so that listing a zone's tiles tells nothing about the data.

    Build one with :meth:`from_parents` or with a builder of this package.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> tree.n_tiles, tree.zones.height.tolist(), tree.zones.tiles.tolist()
    (3, [0, 0, 0, 1, 2], [1, 1, 1, 2, 3])
    """

    name: str
    parent: Ints
    zones: Zones
    complete: bool = False

    def __repr__(self) -> str:
        return f"<Hierarchy {self.name}: {self.n_tiles:,} tiles, {len(self):,} zones>"

    @classmethod
    def from_parents(
        cls,
        ids: Sequence[str] | NDArray[np.str_],
        parent: Sequence[int] | Ints,
        *,
        name: str = "table",
        observed: Bools | None = None,
        tiles: Ints | None = None,
        height: Ints | None = None,
        area_km2: Floats | None = None,
        lat: Floats | None = None,
        lon: Floats | None = None,
    ) -> Hierarchy:
        """Return the hierarchy given by a parent index per zone (-1 at the root), in any order.

        Parameters
        ----------
        ids, parent
            Zone names and, for each, the row of its parent.
        observed
            For each zone, whether it is a tile that occurs in the data; every tile by default.
        tiles
            Full tile count per zone; counted from the tree by default.
        height
            Per zone, 0 at tiles and more at a parent than at its children; one more than the highest
            child by default. Give it where the height must not depend on which tiles occur.
        area_km2, lat, lon
            Per zone; NaN by default.
        """
        names = np.asarray(ids, dtype=np.str_)
        up = np.asarray(parent, dtype=np.int32)
        by_name = _sorted_names(names)
        _check_lengths(
            len(names), observed=observed, tiles=tiles, height=height, area_km2=area_km2, lat=lat, lon=lon
        )
        height = _heights(len(names), up) if height is None else _stated_heights(up, height)
        is_tile = height == 0
        seen = is_tile if observed is None else np.asarray(observed, dtype=bool) & is_tile
        order = by_name[np.argsort(height[by_name], kind="stable")]
        place = np.empty(len(order) + 1, dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        place[-1] = ROOT
        up, height = place[up[order]], height[order]
        nan = np.full(len(order), np.nan)
        return cls(
            name=name,
            parent=up,
            zones=Zones(
                ids=names[order],
                height=height,
                tiles=_sum_below(up, height, is_tile[order]) if tiles is None else np.asarray(tiles)[order],
                tiles_observed=_sum_below(up, height, seen[order]),
                area_km2=nan if area_km2 is None else np.asarray(area_km2, dtype=float)[order],
                lat=nan if lat is None else np.asarray(lat, dtype=float)[order],
                lon=nan if lon is None else np.asarray(lon, dtype=float)[order],
            ),
        )

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def root(self) -> int:
        """Return the index of the root."""
        return len(self.parent) - 1

    @cached_property
    def n_tiles(self) -> int:
        """Return the number of tiles held in the arrays (a grid may have more that never occur)."""
        return int(np.count_nonzero(self.zones.height == 0))

    @cached_property
    def levels(self) -> list[slice]:
        """Return the rows of every height, ascending: one slice each, since zones are sorted by height."""
        return _levels(self.zones.height)

    @cached_property
    def lineage(self) -> Lineage:
        """Return the zones above every tile, from the root downwards."""
        return Lineage.of(self.parent, self.n_tiles)

    @cached_property
    def id_rank(self) -> Ints:
        """Return the place of every zone in the order of ids."""
        rank = np.empty(len(self), dtype=np.int64)
        rank[np.argsort(self.zones.ids)] = np.arange(len(self))
        return rank

    @cached_property
    def children(self) -> tuple[Ints, Ints]:
        """Return (offsets, members): the children of zone z are ``members[offsets[z]:offsets[z + 1]]``."""
        below = self.parent[:-1]
        members = np.argsort(below, kind="stable").astype(np.int32)
        offsets = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(np.bincount(below, minlength=len(self)), out=offsets[1:])
        return offsets, members

    def sum_below(self, tile_values: NDArray[Any]) -> NDArray[Any]:
        """Return, for every zone, the sum of a value given per tile.

        >>> Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1]).sum_below(np.array([2, 5])).tolist()
        [2, 5, 7]
        """
        values = np.zeros(len(self), dtype=tile_values.dtype)
        values[: self.n_tiles] = tile_values
        return _sum_below(self.parent, self.zones.height, values)

    def lift(self, height: int) -> Ints:
        """Return, for every tile, its highest ancestor that is at most this high.

        In a tree of uneven depth a tile may have no ancestor of exactly this height; it then stays lower.
        """
        return self.highest(self.zones.height <= height)

    def highest(self, chosen: Bools) -> Ints:
        """Return, for every tile, its highest chosen ancestor; the tile itself where none is chosen.

        >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
        >>> tree.highest(np.array([True, True, True, True, False])).tolist()
        [3, 3, 2]
        """
        here = np.arange(self.n_tiles, dtype=np.int32)
        tiles = self._highest(chosen)[: self.n_tiles]
        return np.where(tiles == ROOT, here, tiles)

    def lifted(self, height: int) -> Ints:
        """Return, for every zone, its highest ancestor that is at most this high; itself where it is higher.

        >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
        >>> tree.lifted(1).tolist()
        [3, 3, 2, 3, 4]
        """
        zone = self._highest(self.zones.height <= height)
        return np.where(zone == ROOT, np.arange(len(self), dtype=np.int32), zone)

    def _highest(self, chosen: Bools) -> Ints:
        """Return, for every zone, the highest chosen one of itself and those above; ROOT for none."""
        zone = np.where(chosen, np.arange(len(self), dtype=np.int32), np.int32(ROOT))
        # Invariant: every zone above the level at hand already knows its highest chosen ancestor.
        for level in reversed(self.levels[:-1]):
            above = zone[self.parent[level]]
            zone[level] = np.where(above == ROOT, zone[level], above)
        return zone

    def holder(self, chosen: Bools) -> Ints:
        """Return, for every tile, its highest chosen ancestor; ROOT where none is chosen.

        >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
        >>> tree.holder(np.array([False, False, False, True, False])).tolist()
        [3, 3, -1]
        """
        return self._highest(chosen)[: self.n_tiles]

    def covering(self, tiles: Ints) -> int:
        """Return the lowest zone that has all these tiles below it."""
        occurs = np.zeros(self.n_tiles, dtype=np.int64)
        occurs[tiles] = 1
        whole = np.flatnonzero(self.sum_below(occurs) == occurs.sum())
        return int(whole[0])

    def members(self, zone: int) -> Ints:
        """Return the tiles below a zone, ascending."""
        order, start = self._leaf_order
        return np.sort(order[start[zone] : start[zone] + self._held[zone]])

    @cached_property
    def _held(self) -> Ints:
        return self.sum_below(np.ones(self.n_tiles, dtype=np.int64))

    @cached_property
    def _leaf_order(self) -> tuple[Ints, Ints]:
        """Tiles in depth-first order and, for every zone, where its own run of them starts."""
        offsets, members = self.children
        start = np.zeros(len(self), dtype=np.int64)
        for zone in range(self.root, self.n_tiles - 1, -1):
            kids = members[offsets[zone] : offsets[zone + 1]]
            start[kids] = start[zone] + np.concatenate(([0], np.cumsum(self._held[kids])[:-1]))
        return np.argsort(start[: self.n_tiles], kind="stable"), start


@dataclass(frozen=True, eq=False)
class Cut:
    """Zones of one hierarchy that cover every tile exactly once.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> Cut(hierarchy=tree, members=np.array([2, 3])).zone_of_tile.tolist()
    [3, 3, 2]
    >>> Cut(hierarchy=tree, members=np.array([0, 3]))
    Traceback (most recent call last):
    tripcloak.CutError: not a cut: 1 tile lies in two zones, 1 tile in none
    """

    hierarchy: Hierarchy
    members: Ints

    def __repr__(self) -> str:
        return f"<Cut of {len(self.members):,} zones>"

    def __post_init__(self) -> None:
        chosen = np.asarray(self.members, dtype=np.int64)
        if chosen.size and (chosen.min() < 0 or chosen.max() > self.hierarchy.root):
            raise CutError(f"not a cut: zones must be numbered 0 to {self.hierarchy.root}")
        above = self._chosen_above(np.bincount(chosen, minlength=len(self.hierarchy)))
        twice, none = int(np.count_nonzero(above > 1)), int(np.count_nonzero(above == 0))
        if twice or none:
            raise CutError(f"not a cut: {_tiles(twice)} in two zones, {_tiles(none, verb=not twice)} in none")

    @classmethod
    def at_height(cls, hierarchy: Hierarchy, height: int) -> Cut:
        """Return the full-domain cut: every tile's highest ancestor that is at most this high."""
        return cls(hierarchy=hierarchy, members=np.unique(hierarchy.lift(height)))

    @cached_property
    def zone_of_tile(self) -> Ints:
        """Return, for every tile, the zone of the cut it lies in."""
        chosen = np.zeros(len(self.hierarchy), dtype=bool)
        chosen[self.members] = True
        return self.hierarchy.highest(chosen)

    def _chosen_above(self, chosen: Ints) -> Ints:
        above = chosen.copy()
        for level in reversed(self.hierarchy.levels[:-1]):
            above[level] += above[self.hierarchy.parent[level]]
        return above[: self.hierarchy.n_tiles]


def _tiles(number: int, verb: bool = True) -> str:
    noun = "tile" if number == 1 else "tiles"
    if not verb:
        return f"{number} {noun}"
    return f"{number} {noun} {'lies' if number == 1 else 'lie'}"


def _sorted_names(names: NDArray[np.str_]) -> Ints:
    """Return the order that sorts the zones by id after checking that there are any and that they differ."""
    if len(names) == 0:
        raise HierarchyError("a hierarchy needs at least one zone; found none")
    order = np.argsort(names, kind="stable")
    ascending = names[order]
    if np.any(ascending[1:] == ascending[:-1]):
        raise HierarchyError("zone ids must differ; at least one occurs twice")
    return order


def _check_lengths(n: int, **columns: NDArray[Any] | None) -> None:
    for name, column in columns.items():
        if column is not None and len(column) != n:
            raise HierarchyError(f"{name} needs one value a zone: expected {n}, found {len(column)}")


def _heights(n: int, parent: Ints) -> Ints:
    """Return heights (1 + the highest child) after checking that the parents form one tree."""
    _check_parents(n, parent)
    # Peel the childless zones off, round by round: what never comes off lies on a cycle.
    height = np.zeros(n, dtype=np.int32)
    waiting = np.bincount(parent[parent != ROOT], minlength=n)
    front = np.flatnonzero(waiting == 0)
    peeled = 0
    while front.size:
        peeled += front.size
        up, below = parent[front], height[front]
        up, below = up[up != ROOT], below[up != ROOT]
        np.maximum.at(height, up, below + 1)
        np.subtract.at(waiting, up, 1)
        front = np.unique(up[waiting[up] == 0])
    if peeled != n:
        raise HierarchyError(f"the parents form a cycle: {n - peeled} zones never reach the root")
    return height


def _stated_heights(parent: Ints, height: Ints) -> Ints:
    """Return the heights given after checking that they grow upwards, which rules out cycles too."""
    _check_parents(len(height), parent)
    stated = np.asarray(height, dtype=np.int32)
    below = np.flatnonzero(parent != ROOT)
    inner = np.zeros(len(stated), dtype=bool)
    inner[parent[below]] = True
    if np.any(stated[parent[below]] <= stated[below]) or np.any(inner != (stated > 0)):
        raise HierarchyError("heights must be 0 at tiles, above 0 elsewhere, and grow from child to parent")
    return stated


def _check_parents(n: int, parent: Ints) -> None:
    if len(parent) != n or parent.min() < ROOT or parent.max() >= n:
        raise HierarchyError("every zone needs one parent: a row of the same table, or -1 at the root")
    roots = int(np.count_nonzero(parent == ROOT))
    if roots != 1:
        raise HierarchyError(
            f"a hierarchy needs exactly one root, found {roots}; join several by a common zone"
        )


def _levels(height: Ints) -> list[slice]:
    """Return one slice of rows per height, ascending; rows are sorted by height."""
    edges = np.searchsorted(height, np.arange(int(height[-1]) + 2))
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def _sum_below(parent: Ints, height: Ints, values: NDArray[Any]) -> NDArray[Any]:
    """Return values summed upwards; rows are sorted by height."""
    total = values.astype(np.int64 if values.dtype.kind in "bui" else np.float64)
    for level in _levels(height)[:-1]:
        np.add.at(total, parent[level], total[level])
    return total
