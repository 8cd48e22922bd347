"""BoxMethod: what methods have in common that release groups of flows as the boxes around their ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tripcloak.flows.methods.method import FlowMethod, Solution
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.hierarchy import (
    BoxZones,
    Hierarchy,
    bounding_boxes,
    box_zones,
    distinct_boxes,
    on_grid,
    tile_centres,
    tile_extents,
)
from tripcloak.promises import Promise


@dataclass(frozen=True, kw_only=True)
class BoxMethod(FlowMethod):
    """A method that sees a flow as a point with four coordinates: where it starts and where it ends."""

    draws_zones: ClassVar[bool] = True

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if tiles lack coordinates, or if time is an axis."""
        super().refuse(matrix)
        for tree in (matrix.origins, matrix.destinations):
            tile_centres(tree)


def boxed(matrix: ODMatrix, group: Ints) -> Solution:
    """Return every group as the smallest boxes on the grid around its origins and its destinations.

    ``group`` is the group of every flow, numbered from 0, and -1 where it is suppressed. Groups whose boxes
    come out the same are one released flow.

    Examples
    --------
    >>> at = {"lat": np.zeros(3), "lon": np.array([0.0, 0.1, 0.05])}
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **at)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 1]), np.array([0, 0, 1]))
    >>> solution = boxed(matrix, np.array([0, 0, -1]))
    >>> str(solution.zones[0].ids[0]), solution.suppressed.tolist()
    ('box_0.000000_0.000000_0.100000_0.100000', [False, False, True])
    """
    (origins, origin), (destinations, destination) = (
        _boxes(tree, tile, group) for tree, tile in matrix.axes[:2]
    )
    return Solution(
        origin_zone=origin[group],
        destination_zone=destination[group],
        suppressed=group < 0,
        homogeneous=False,
        zones=(origins, destinations),
    )


def least_support(matrix: ODMatrix, promise: Promise) -> Floats:
    """Return the thresholds on trips, travellers and population; 0 where there is none."""
    asked = dict(promise.thresholds)
    if matrix.each_trip_is_a_person:
        asked["trips"] = max(asked.get("trips", 0), asked.pop("travellers", 0))
    return np.array([asked.get(unit, 0) for unit in ("trips", "travellers", "population")], dtype=float)


def _boxes(tree: Hierarchy, tile: Ints, group: Ints) -> tuple[BoxZones, Ints]:
    """Return the boxes around the tiles of every group, each once, and every group's row among them."""
    occurs = np.bincount(tile, minlength=tree.n_tiles) > 0
    tight = bounding_boxes(tile_extents(tree), tile, group, int(group.max()) + 1)
    corners, row = distinct_boxes(on_grid(tree, tight))
    return box_zones(tree, occurs, corners), row
