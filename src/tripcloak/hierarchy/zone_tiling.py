"""ZoneTiling: what tilings over the zones of a file have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tripcloak.arrays import Bools, Floats, Ints
from tripcloak.errors import HierarchyError
from tripcloak.hierarchy.sphere import to_degrees, unit_vectors
from tripcloak.hierarchy.tiling import Keys, occurring
from tripcloak.hierarchy.tree import Geometry, Hierarchy
from tripcloak.hierarchy.zonefile import ZoneFile


@dataclass(frozen=True, eq=False)
class ZoneTiling:
    """Tiles that are the zones of a file; a tile's key is the zone's row in it.

    Every zone of the file is a tile of the hierarchy, whether it occurs in the data or not.
    """

    zones: ZoneFile

    def encode(self, lat: Floats, lon: Floats) -> Keys:
        """Return the zone that holds each point, or OUTSIDE; the nearest where zones have no outlines."""
        return self.zones.locate(lat, lon)

    def keys(self, ids: Sequence[str] | NDArray[np.str_]) -> Keys:
        """Return the key of every zone named, or OUTSIDE where the file has no such zone."""
        return self.zones.keys(ids)

    def tiles(self, keys: Keys, hierarchy: Hierarchy) -> Ints:
        """Return the row of every key's zone in a hierarchy of this tiling, or -1."""
        return np.where(keys < hierarchy.n_tiles, keys, 0).astype(np.int32) - (keys >= hierarchy.n_tiles)

    def _observed(self, keys: Keys, zones: int) -> Bools:
        """Return which of all zones (the file's first) are tiles that occur."""
        if int(occurring(keys)[-1]) >= len(self.zones):
            raise HierarchyError(f"tile keys must be rows of the zones file, 0 to {len(self.zones) - 1}")
        seen = np.zeros(zones, dtype=bool)
        seen[keys] = True
        return seen


def with_places(tree: Hierarchy, zones: ZoneFile) -> Hierarchy:
    """Return the tree, complete, with areas summed up, points averaged on the sphere and outlines joined.

    Rows of tiles are rows of the file: both are sorted by id. Every tile weighs the same in its zone's
    point, as it does in the number of tiles that measures a zone.
    """
    tiles = unit_vectors(zones.lat, zones.lon)
    lat, lon = to_degrees(np.column_stack([tree.sum_below(tiles[:, axis]) for axis in range(3)]))
    lat[: len(zones)], lon[: len(zones)] = zones.lat, zones.lon
    shape = partial(_joined, tree, zones)
    area = tree.sum_below(zones.area_km2)
    placed = replace(tree.zones, area_km2=area, lat=lat, lon=lon, shape=shape)
    return replace(tree, zones=placed, complete=True)


def fresh_id(wanted: str, taken: set[str]) -> str:
    """Return an id like the one wanted that no zone has yet.

    >>> fresh_id("all", {"all", "a"})
    'all*'
    """
    while wanted in taken:
        wanted += "*"
    return wanted


def _joined(tree: Hierarchy, zones: ZoneFile, row: int) -> Geometry:
    return zones.outline(tree.members(row))
