"""Tiles that make a hierarchy hold certain zones, whether anybody was there or not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tripcloak.hierarchy.h3.binary import H3BinaryTiling, member_cells
from tripcloak.hierarchy.h3.tiling import H3Tiling
from tripcloak.hierarchy.quadtree import QuadtreeTiling
from tripcloak.hierarchy.tiling import OUTSIDE, Keys, Tiling


def keys_within(tiling: Tiling, zones: Iterable[str]) -> Keys:
    """Return keys of tiles in zones of a grid: a hierarchy over them has these zones.

    Of other tilings there are none, since their hierarchies hold every zone anyway.

    >>> tiling = H3Tiling(9)
    >>> "8626cb787ffffff" in tiling.hierarchy(keys_within(tiling, ["8626cb787ffffff"])).zones.ids
    True
    """
    below = [tile for zone in zones for tile in _tiles_within(tiling, zone)]
    keys: Keys = np.unique(tiling.keys(below)) if below else np.empty(0, dtype=np.uint64)
    inside: Keys = keys[keys != OUTSIDE]
    return inside


def _tiles_within(tiling: Tiling, zone: str) -> list[str]:
    """Return names of tiles in a zone of a grid; none of other zones, and of the world.

    Of H3 there are several, in different parts of the zone: its hierarchies leave out zones with one part
    alone.
    """
    if isinstance(tiling, QuadtreeTiling):
        return [zone.ljust(tiling.depth + 1, "0")]
    import h3

    if isinstance(tiling, H3BinaryTiling) and h3.is_valid_cell(zone.partition("/")[0]) and "/" in zone:
        parts = member_cells(zone)
    elif isinstance(tiling, H3Tiling) and h3.is_valid_cell(zone):
        finer = min(h3.get_resolution(zone) + 1, tiling.resolution)
        parts = h3.cell_to_children(zone, finer)[:2]
    else:
        return []
    return [str(h3.cell_to_center_child(part, tiling.resolution)) for part in parts]
