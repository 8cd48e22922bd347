"""Mondrian: the four-dimensional space of trips, cut in two at medians for as long as both parts are safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tripcloak.algorithms.base import Algorithm, Progress, Solution
from tripcloak.arrays import Floats, Ints
from tripcloak.criteria import Criterion
from tripcloak.hierarchy import BoxZones, Hierarchy, bounding_boxes, box_zones, distinct_boxes, tile_centres
from tripcloak.matrix import ODMatrix, Travellers
from tripcloak.release import main_volume


@dataclass(frozen=True, kw_only=True)
class Mondrian(Algorithm):
    """Strict multidimensional Mondrian (LeFevre, DeWitt and Ramakrishnan 2006) on both ends of trips.

    A flow is a point with four coordinates: latitude and longitude of its origin's tile and of its
    destination's. All flows together are one part. A part is cut in two at the median of the coordinate
    in which it is widest (in metres), if both sides are safe; else at that of the next widest; else it is
    a group, released as the two smallest boxes around its origins and its destinations.

    Medians weigh every flow by its volume: its trips, or its population where only that is protected.
    Flows with the same coordinate stay together; of the two cuts beside the median, the one that halves
    the volume more evenly is tried first. Nothing is suppressed.

    The boxes of different groups overlap on the map. The groups themselves never do: no two of them
    can hold the same pair of tiles.

    Examples
    --------
    >>> from tripcloak.criteria import KAnonymity
    >>> at = {"lat": np.zeros(5), "lon": np.array([0.0, 0.1, 0.2, 0.3, 0.0])}
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "all"], [4, 4, 4, 4, -1], **at)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([3, 3, 3, 3]))
    >>> release = Mondrian(criterion=KAnonymity(k=2)).anonymise(matrix)
    >>> release.origins.ids[release.group_origin].tolist()
    ['box_0.000000_0.000000_0.000000_0.100000', 'box_0.000000_0.200000_0.000000_0.300000']
    """

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "cuts boxes of trips at medians while both halves are safe; nothing withheld"
    source: ClassVar[str] = "LeFevre, DeWitt and Ramakrishnan 2006, on origin and destination at once"
    draws_zones: ClassVar[bool] = True

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if tiles lack coordinates, or if time is an axis."""
        super().refuse(matrix)
        for tree in (matrix.origins, matrix.destinations):
            tile_centres(tree)

    def solve(self, matrix: ODMatrix, criterion: Criterion, progress: Progress) -> Solution:
        """Return a pair of boxes for every flow."""
        progress("cutting at medians", 0, None)
        group = _groups(matrix, criterion)
        sides = [_boxes(tree, tile, group) for tree, tile in matrix.axes]
        return Solution(
            origin_zone=sides[0][1][group],
            destination_zone=sides[1][1][group],
            suppressed=np.zeros(matrix.n_flows, dtype=bool),
            homogeneous=False,
            zones=(sides[0][0], sides[1][0]),
        )


def _groups(matrix: ODMatrix, criterion: Criterion) -> Ints:
    from tripcloak.algorithms.mondrian._kernels import Support, median_cuts

    flows = matrix.flows
    at = np.empty((matrix.n_flows, 4), dtype=np.int32)
    for end, (tree, tile) in enumerate(matrix.axes):
        centres = tile_centres(tree)
        at[:, 2 * end], at[:, 2 * end + 1] = centres.lat[tile], centres.lon[tile]
    travellers = flows.travellers or Travellers(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    return median_cuts(
        at,
        matrix.volume(main_volume(criterion)).astype(float),
        Support(
            flows.trips.astype(np.int64, copy=False),
            np.empty(0) if flows.population is None else flows.population,
            travellers.offsets,
            travellers.people,
            _least(matrix, criterion),
        ),
    )


def _least(matrix: ODMatrix, criterion: Criterion) -> Floats:
    """Return the thresholds on trips, travellers and population; 0 where there is none."""
    asked = dict(criterion.thresholds)
    if matrix.each_trip_is_a_person:
        asked["trips"] = max(asked.get("trips", 0), asked.pop("travellers", 0))
    return np.array([asked.get(unit, 0) for unit in ("trips", "travellers", "population")], dtype=float)


def _boxes(tree: Hierarchy, tile: Ints, group: Ints) -> tuple[BoxZones, Ints]:
    """Return the boxes around the tiles of every group, each once, and every group's row among them."""
    occurs = np.bincount(tile, minlength=tree.n_tiles) > 0
    corners, row = distinct_boxes(bounding_boxes(tile_centres(tree), tile, group, int(group.max()) + 1))
    return box_zones(tree, occurs, corners), row
