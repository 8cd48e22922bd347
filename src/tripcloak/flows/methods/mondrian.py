"""Mondrian: the four-dimensional space of trips, cut in two at medians for as long as both parts are safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tripcloak.flows.methods.boxed import BoxMethod, boxed, least_support
from tripcloak.flows.methods.method import Solution
from tripcloak.flows.model import ODMatrix, Travellers
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Ints
from tripcloak.ground.progress import Progress
from tripcloak.hierarchy import tile_centres
from tripcloak.promises import Promise


@dataclass(frozen=True, kw_only=True)
class Mondrian(BoxMethod):
    """Strict multidimensional Mondrian (LeFevre, DeWitt and Ramakrishnan 2006) on both ends of trips.

    A flow is a point with four coordinates: latitude and longitude of its origin's tile and of its
    destination's. All flows together are one part. A part is cut in two at the median of the coordinate
    in which it is widest (in metres), if both sides are safe; else at that of the next widest; else it is
    a group, released as the two smallest boxes around its origins and its destinations whose edges lie on
    the grid of the tiling (:mod:`tripcloak.hierarchy.box_grid`).

    Medians weigh every flow by its volume: its trips, or its population where only that is protected.
    Flows with the same coordinate stay together; of the two cuts beside the median, the one that halves
    the volume more evenly is tried first. Nothing is suppressed.

    The boxes of different groups overlap on the map. The groups themselves never do: no two of them
    can hold the same pair of tiles. Groups whose boxes come out the same are released as one.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> at = {"lat": np.zeros(5), "lon": np.array([0.0, 0.1, 0.2, 0.3, 0.0])}
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "all"], [4, 4, 4, 4, -1], **at)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([3, 3, 3, 3]))
    >>> release = Mondrian(promise=KAnonymity(k=2)).anonymise(matrix)
    >>> release.origins.ids[release.group_origin].tolist()
    ['box_0.000000_0.000000_0.200000_0.200000', 'box_0.000000_0.000000_0.500000_0.500000']
    """

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "cuts boxes of trips at medians while both halves are safe; nothing withheld"
    source: ClassVar[str] = "LeFevre, DeWitt and Ramakrishnan 2006, on origin and destination at once"

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return a pair of boxes for every flow."""
        progress("cutting at medians", 0, None)
        return boxed(matrix, _groups(matrix, promise))


def _groups(matrix: ODMatrix, promise: Promise) -> Ints:
    from tripcloak.flows.methods._kernels.mondrian import MondrianSupport, median_cuts

    flows = matrix.flows
    at = np.empty((matrix.n_flows, 4), dtype=np.int32)
    for end, (tree, tile) in enumerate(matrix.axes):
        centres = tile_centres(tree)
        at[:, 2 * end], at[:, 2 * end + 1] = centres.lat[tile], centres.lon[tile]
    travellers = flows.travellers or Travellers(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    return median_cuts(
        at,
        matrix.volume(main_volume(promise)).astype(float),
        MondrianSupport(
            flows.trips.astype(np.int64, copy=False),
            np.empty(0) if flows.population is None else flows.population,
            travellers.offsets,
            travellers.people,
            least_support(matrix, promise),
        ),
    )
