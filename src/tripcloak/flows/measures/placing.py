"""GroupFinder: the released group of raw trips, by a look at their tiles where these decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tripcloak.flows.model import ODMatrix, TripEnds
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.threads import blocks

MOST_CELLS = 1 << 24
"""Pairs of zones up to which a table of all of them is made."""
AT_ONCE = 1 << 20
"""Flows that are held against the table at a time."""


class GroupFinder:
    """The group of every raw trip, -1 where it is withheld.

    Where every tile lies in one released zone, and all flows between two zones are in one group, a trip's
    tiles tell its group; elsewhere its flow is looked up.

    Examples
    --------
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> ends = np.array([0, 1]), np.array([0, 0])
    >>> matrix = ODMatrix.from_trips(tree, tree, *ends)
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> finder = GroupFinder(matrix, release)
    >>> finder.by_zones, finder.of(TripEnds(*ends, *[np.zeros(2)] * 4, None)).tolist()
    (True, [0, 0])
    """

    def __init__(self, matrix: ODMatrix, release: Release) -> None:
        self.matrix, self.release = matrix, release
        self._sides, self._table = _table(matrix, release)
        self._seen = np.zeros(release.n_groups + 1, dtype=np.int64)

    @property
    def by_zones(self) -> bool:
        """Return whether tiles tell the group."""
        return self._table is not None

    def of(self, points: TripEnds) -> Ints:
        """Return the group of some trips."""
        if self._table is None:
            return self.release.group_of_flow[self._found(points)]
        group = self._table[self._sides[0][points.origin], self._sides[1][points.destination]]
        # In place: a table of all groups for every piece takes longer than the piece.
        np.add.at(self._seen, group + 1, 1)
        return group

    def check(self, chunks: Callable[[], Iterator[TripEnds]]) -> None:
        """Raise if the trips, of which all groups were asked for, are others than those of the matrix."""
        told = np.zeros_like(self._seen)
        for some in blocks(self.matrix.n_flows, AT_ONCE):
            np.add.at(told, self.release.group_of_flow[some] + 1, self.matrix.flows.trips[some])
        if self._table is not None and not np.array_equal(told, self._seen):
            # Rows may stand for several trips; else some lie where the matrix has none.
            for points in chunks():
                self._found(points)

    def _found(self, points: TripEnds) -> Ints:
        flow = self.matrix.find(points.origin, points.destination, points.slot)
        if (flow < 0).any():
            raise InputError(
                "the raw points name a pair of tiles that the matrix does not have; "
                "give the points of the same trips the matrix was made from"
            )
        return flow


def _table(matrix: ODMatrix, release: Release) -> tuple[tuple[Ints, Ints], Ints | None]:
    """Return the zone of every tile, by number, and the group of every pair; None where none holds."""
    nothing = np.empty(0, np.int32), np.empty(0, np.int32)
    columns = release.group_origin, release.group_destination
    numbered = [np.unique(column, return_inverse=True) for column in columns]
    widths = [len(found) for found, _ in numbered]
    if matrix.times is not None or np.prod([width + 1 for width in widths]) > MOST_CELLS:
        return nothing, None
    # One row and one column more, for tiles in no released zone: -1 is the last.
    table = np.full((widths[0] + 1, widths[1] + 1), -1, dtype=np.int32)
    table[numbered[0][1], numbered[1][1]] = np.arange(release.n_groups, dtype=np.int32)
    first, second = (np.full(tree.n_tiles, -1, dtype=np.int32) for tree, _ in matrix.axes[:2])
    tiles, group = (matrix.flows.origin, matrix.flows.destination), release.group_of_flow
    for some in blocks(matrix.n_flows, AT_ONCE):
        kept = np.flatnonzero(group[some] >= 0)
        for side, tile, (_, number) in zip((first, second), tiles, numbered, strict=True):
            side[tile[some][kept]] = number[group[some][kept]]
    for some in blocks(matrix.n_flows, AT_ONCE):
        if not np.array_equal(table[first[tiles[0][some]], second[tiles[1][some]]], group[some]):
            return nothing, None
    return (first, second), table
