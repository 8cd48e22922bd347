"""Laying tables: which withheld flows are counted in which totals, so that no difference is of few people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tripcloak.flows.model import Groups, ODMatrix
from tripcloak.flows.release.bricks import NONE, Tables, TablesWanted, Tiers, tables_of
from tripcloak.flows.release.release import Release
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Promise

PARTS = 3
"""Cells of every finer table that a brick of withheld flows takes from at least: each alone may be empty."""


def lay_tables(matrix: ODMatrix, release: Release, wanted: TablesWanted) -> Tables:
    """Return the tables that were asked for, with every brick in them safe by the release's promise.

    Released groups are bricks. Where zones of one axis never overlap, withheld flows are collected upwards:
    from the finest table to the coarsest, what is in no brick yet and shares a cell becomes one if it is
    safe, and if it comes from so many cells of the finer tables that each of them may still be empty. It is
    counted in that table and in those that are coarser on both axes. Where numbers are rounded, tables are
    sums of the released ones alone.

    Examples
    --------
    >>> from tripcloak.flows.release import build_release
    >>> from tripcloak.hierarchy import Hierarchy
    >>> from tripcloak.promises import KAnonymity
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "abc"], [3, 3, 3, -1])
    >>> origin = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 1, 1, 2])
    >>> destination = np.append(origin[:12], [1, 2, 2, 0])
    >>> matrix = ODMatrix.from_trips(tree, tree, origin, destination)
    >>> release = build_release(
    ...     matrix, method="by hand", parameters={}, promise=KAnonymity(k=4, unit="trips"),
    ...     suppression_limit=0.5, origin_zone=matrix.flows.origin,
    ...     destination_zone=matrix.flows.destination, suppressed=matrix.flows.trips < 4, homogeneous=True,
    ... )
    >>> tables = lay_tables(matrix, release, TablesWanted(margins=True))
    >>> [(table.name, table.summed(tables.trips).tolist()) for table in tables.tables]
    [('own,all', [4, 4, 4]), ('all,own', [4, 4, 4]), ('all,all', [16])]
    """
    if not wanted:
        raise InputError(f"ask for tables with {spelt('with_margins')} or {spelt('with_levels')}")
    strange = any(
        not np.array_equal(zones.ids, tree.zones.ids)
        for (_, zones, _), (tree, _) in zip(release.axes, matrix.axes, strict=True)
    )
    wanted.check_method(release.method, noisy=release.promise.noisy, draws_zones=strange)
    wanted.check(release.promise, release.publication)
    tiers = Tiers.of(matrix, release, wanted)
    if release.promise.rounding is None:
        laid = _Laying(matrix, release, tiers).laid()
    else:
        laid = np.full(len(tiers.rows), NONE)
    return tables_of(matrix, release, wanted, laid, tiers)


def read_tables(
    matrix: ODMatrix,
    release: Release,
    wanted: TablesWanted,
    order: Sequence[tuple[str, str]],
    first_table: Ints,
) -> Tables:
    """Return tables again, given their order and for every input flow the table that counts it first."""
    tiers = Tiers.of(matrix, release, wanted, order)
    return tables_of(matrix, release, wanted, first_table[tiers.rows], tiers)


class _Laying:
    """Collects withheld flows to bricks, table by table."""

    def __init__(self, matrix: ODMatrix, release: Release, tiers: Tiers) -> None:
        self.matrix, self.release, self.tiers = matrix, release, tiers
        self.trips = matrix.flows.trips[tiers.rows]
        self.first = np.full(len(tiers.rows), NONE, dtype=np.int32)
        self.cells = [tiers.cells(at) for at in range(len(tiers.tables))]
        # The cells of the flows themselves come first, so that those of a table follow its number.
        self.codes = [np.unique(one, return_inverse=True)[1] for one in (tiers.own, *self.cells)]

    def laid(self) -> Ints:
        """Return, for every withheld flow, the table that counts it first."""
        # Where zones overlap nobody can say which absent flows a brick is of, so nothing is collected.
        if not self.release.homogeneous or not len(self.first):
            return self.first
        for step in self._steps():
            if len(step) == 1:
                self.first = self._lay(self.first, step[0])
            else:
                self.first = self._balanced(*step)
        return self.first

    def _steps(self) -> Iterator[tuple[int, ...]]:
        """Yield the tables from fine to coarse; two that compete for the same flows come together."""
        tables, names = self.tiers.tables, self.tiers.names
        last = len(names) - 1
        at = 0
        while at < len(tables):
            both = tables[at][1] == last != tables[at][0]
            yield (at, at + 1) if both else (at,)
            at += 2 if both else 1

    def _balanced(self, rows: int, columns: int) -> Ints:
        """Return what is laid where sums over rows and columns want the same flows.

        Rows first, columns first, and each flow to the smaller of its two sums that is safe are tried; that
        in which the side that loses more loses least is taken.
        """
        ways = [
            self._lay(self._lay(self.first, rows), columns),
            self._lay(self._lay(self.first, columns), rows),
            self._shared(rows, columns),
        ]

        def lost(first: Ints) -> tuple[int, int]:
            sides = [self._lost(first, at) for at in (rows, columns)]
            return max(sides), sum(sides)

        return min(ways, key=lost)

    def _lost(self, first: Ints, at: int) -> int:
        return int(self.trips[~self.tiers.finer(at)[first]].sum())

    def _shared(self, rows: int, columns: int) -> Ints:
        """Return what is laid where each flow goes to the smaller of its two sums that is safe."""
        sums = []
        for at in (rows, columns):
            flows, group, safe = self._groups(self.first, at)
            size = np.bincount(group, self.trips[flows], len(safe))
            here = np.full(len(self.first), np.inf)
            here[flows] = np.where(safe, size, np.inf)[group]
            sums.append(here)
        to_rows = sums[0] <= sums[1]
        first = self._lay(self.first, rows, among=to_rows)
        first = self._lay(first, columns, among=~to_rows)
        first = self._joined(self._joined(first, rows), columns)
        return self._lay(self._lay(first, rows), columns)

    def _joined(self, first: Ints, at: int) -> Ints:
        """Return what is laid when flows that are left over join the brick of their cell."""
        cell = self.cells[at]
        known = (first == NONE) & np.isin(cell, cell[first == at]) & (cell != NONE)
        return np.where(known, at, first).astype(np.int32)

    def _lay(self, first: Ints, at: int, among: Bools | None = None) -> Ints:
        """Return what is laid when all flows that are in no brick yet, and may be one in this table, are."""
        flows, group, safe = self._groups(first, at, among)
        first = first.copy()
        first[flows[safe[group]]] = at
        return first

    def _groups(self, first: Ints, at: int, among: Bools | None = None) -> tuple[Ints, Ints, Bools]:
        """Return the flows in no brick, the group of each by a table's cells, and which groups may be one."""
        cell = self.cells[at]
        free = (first == NONE) & (cell != NONE)
        flows = np.flatnonzero(free if among is None else free & among)
        found, group = np.unique(cell[flows], return_inverse=True)
        if not len(found):
            return flows, group, np.zeros(0, dtype=bool)
        of_flow = np.full(self.matrix.n_flows, NONE, dtype=np.int32)
        of_flow[self.tiers.rows[flows]] = group
        # No promise that tables go together with asks where a group is: a tile has room for least.
        nowhere = np.zeros(len(found), dtype=np.int32)
        groups = Groups(self.matrix, of_flow, nowhere, nowhere)
        safe = self.release.promise.safe(groups)
        hopeful = safe[group]
        safe &= self._leaves_room(at, flows[hopeful], group[hopeful], len(found))
        return flows, group, safe

    def _leaves_room(self, at: int, flows: Ints, group: Ints, groups: int) -> Bools:
        """Return which groups leave open, of every cell of finer tables, that it holds nothing.

        A cell that is not told is known to be of fewer than k. All but any one of the cells that a group is
        of must be able to hold all of it: two can where people are counted, who make any number of trips.
        """
        trips = np.bincount(group, self.trips[flows], groups)
        room = np.ones(groups, dtype=bool)
        most = _most_trips(self.matrix, self.release.promise)
        for code in self.codes[: at + 1]:
            parts = _different(group, code[flows], groups)
            room &= parts >= PARTS
            if most is not None:
                room &= (parts - 1) * most >= trips
        return room


def _most_trips(matrix: ODMatrix, promise: Promise) -> int | None:
    """Return how many trips a cell that is not told holds at most; None where that may be any number."""
    kept = {unit: k for unit, k in promise.thresholds.items() if unit != "population"}
    if "trips" in kept or matrix.each_trip_is_a_person:
        return int(min(kept.values())) - 1
    return None


def _different(group: Ints, code: Ints, groups: int) -> Ints:
    """Return how many different codes the members of every group have.

    >>> _different(np.array([0, 0, 0, 2]), np.array([5, 5, 7, 7]), 3).tolist()
    [2, 0, 1]
    """
    width = int(code.max(initial=0)) + 1
    pairs = np.unique(group.astype(np.int64) * width + code)
    return np.bincount(pairs // width, minlength=groups)
