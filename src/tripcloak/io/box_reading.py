"""Reads boxes back from the table that says which flow went where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.errors import HierarchyError
from tripcloak.hierarchy import BoxZones, Hierarchy, box_zones, read_box_names
from tripcloak.matrix import ODMatrix


class SentToBoxes(NamedTuple):
    """The boxes of origins and of destinations, and the box of every row on each axis, -1 for null."""

    zones: tuple[BoxZones, BoxZones]
    rows: list[Ints]


def read_boxes(matrix: ODMatrix, tile_km2: Mapping[str, float | None], columns: Sequence[Any]) -> SentToBoxes:
    """Return the boxes that two columns of the table name, and where every row went.

    Parameters
    ----------
    matrix
        The input that the release was made from.
    tile_km2
        The area of a tile by axis, from the manifest.
    columns
        The columns of released origins and released destinations.
    """
    if matrix.times is not None:
        raise ValueError("boxes do not go with slots of time")
    sides = [
        _boxes(tree, tile, column, tile_km2[axis])
        for axis, (tree, tile), column in zip(("origins", "destinations"), matrix.axes, columns, strict=True)
    ]
    return SentToBoxes((sides[0][0], sides[1][0]), [rows for _, rows in sides])


def _boxes(tree: Hierarchy, tile: Ints, column: Any, tile_km2: float | None) -> tuple[BoxZones, Ints]:
    coded = column.combine_chunks().dictionary_encode()
    try:
        corners = read_box_names(np.asarray(coded.dictionary.to_pylist(), dtype=np.str_))
    except HierarchyError:
        raise ValueError("the table of groups names zones that are no boxes") from None
    occurs = np.bincount(tile, minlength=tree.n_tiles) > 0
    zones = box_zones(tree, occurs, corners, np.nan if tile_km2 is None else float(tile_km2))
    return zones, coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
