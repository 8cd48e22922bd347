"""Bricks: disjoint sets of records, each of them safe, that all tables of a release are built of.

Every number that anybody can reach by adding and subtracting the cells of such tables is a sum over whole
bricks. So it is of enough people, or of nobody, whatever is combined with what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release.publication import Publication
from tripcloak.flows.release.release import Release
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Hierarchy
from tripcloak.hierarchy.levels import level_height
from tripcloak.promises import Promise

OWN, ALL = "own", "all"
"""Names of the finest tier, the released zones, and of the coarsest one, everywhere together."""

NONE = -1
"""Stands for no zone, no cell and no brick; the zone of :data:`ALL` is none either."""


@dataclass(frozen=True, kw_only=True)
class TablesWanted:
    """Which tables a release has beside its flows.

    Attributes
    ----------
    levels : tuple of int
        Levels of the hierarchy that flows are summed to, in any order.
    margins : bool
        Whether to sum over all destinations, all origins, and both.

    Examples
    --------
    >>> bool(TablesWanted()), bool(TablesWanted(levels=(8, 6)))
    (False, True)
    """

    levels: tuple[int, ...] = ()
    margins: bool = False

    def __post_init__(self) -> None:
        if len(set(self.levels)) != len(self.levels):
            raise InputError(f"{spelt('with_levels')} names every level once; got {_listed(self.levels)}")

    def __bool__(self) -> bool:
        return self.margins or bool(self.levels)

    def check_method(self, name: str, *, noisy: bool, draws_zones: bool) -> None:
        """Raise where no such tables can be published beside the flows of a method."""
        if noisy:
            raise InputError(
                f"{name} publishes noisy numbers, which anybody may add up; leave out "
                f"{spelt('with_margins')} and {spelt('with_levels')}"
            )
        if draws_zones:
            raise InputError(
                f"{name} draws zones of its own, which overlap and have no level; leave out "
                f"{spelt('with_margins')} and {spelt('with_levels')}, or choose a method that works on the "
                "hierarchy"
            )

    def check(self, promise: Promise, told: Publication) -> None:
        """Raise where such tables cannot be protected.

        Parameters
        ----------
        promise
            What is promised, resolved.
        told
            Which numbers are published of a flow, and how exactly.
        """
        if promise.by_release or not promise.of_every_group:
            raise InputError(
                f"{spelt('with_margins')} and {spelt('with_levels')} need k people in every flow by itself; "
                f"leave out {spelt('t')}, or take another method"
            )
        if promise.floors or promise.private_facts:
            raise InputError(
                f"{spelt('with_margins')} and {spelt('with_levels')} do not go together with "
                f"{spelt('l')}, {spelt('l_places')} or {spelt('hide_choices')}: what a total counts would "
                "tell of the places or the thresholds of what it does not"
            )
        if "trips" not in told.columns:
            raise InputError(
                f"{spelt('with_margins')} and {spelt('with_levels')} publish trips, which are not published "
                f"here; ask for k on travellers or trips ({spelt('unit')}), and leave out "
                f"{spelt('publish', 'travellers')}"
            )


class Table(NamedTuple):
    """One table: pairs of zones at two tiers, and the cell that each brick is counted in.

    ``origin`` and ``destination`` are rows of the hierarchies, :data:`NONE` for everywhere. The cell of a
    brick that is not counted is :data:`NONE`.
    """

    origin_tier: str
    destination_tier: str
    cell_of_brick: Ints
    origin: Ints
    destination: Ints

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self.origin):,} cells>"

    @property
    def name(self) -> str:
        """Return its two tiers, such as ``8,8`` or ``own,all``."""
        return f"{self.origin_tier},{self.destination_tier}"

    def summed(self, numbers: Ints) -> Ints:
        """Return a number of every brick summed cell by cell."""
        counted = self.cell_of_brick != NONE
        sums = np.bincount(self.cell_of_brick[counted], numbers[counted], minlength=len(self.origin))
        return sums.astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """The tables of a release beside its flows, all of them sums over the same bricks.

    Attributes
    ----------
    wanted : TablesWanted
        What was asked for.
    brick_of_flow : array of int
        The brick of every input flow, :data:`NONE` for flows that are counted nowhere. The first bricks are
        the released groups, in their order; those behind are of withheld flows.
    trips : array of int
        What every brick holds.
    laid_at : array of int
        The table in which each brick behind the released groups is counted first.
    tables : tuple of Table
        In the order that they were laid in: a finer one is before those that are coarser on both sides.
    """

    wanted: TablesWanted
    brick_of_flow: Ints
    trips: Ints
    laid_at: Ints
    tables: tuple[Table, ...]

    def __repr__(self) -> str:
        return f"<Tables: {', '.join(table.name for table in self.tables)}>"

    @property
    def n_groups(self) -> int:
        """Return how many bricks are released groups."""
        return len(self.trips) - len(self.laid_at)

    @cached_property
    def first_table(self) -> Ints:
        """Return the table that counts each withheld flow first; NONE for released and uncounted ones."""
        at = np.concatenate([np.full(self.n_groups, NONE), self.laid_at, [NONE]]).astype(np.int32)
        return at[self.brick_of_flow]


def table_names(wanted: TablesWanted, *, with_times: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the tiers of every table, finer ones before those that are coarser on both sides.

    Parameters
    ----------
    with_times
        Whether flows are told by time: all tables are of all times together, so that of the flows is one too.

    Examples
    --------
    >>> table_names(TablesWanted(levels=(8,), margins=True))
    (('8', '8'), ('own', 'all'), ('all', 'own'), ('8', 'all'), ('all', '8'), ('all', 'all'))
    """
    levels = [str(level) for level in wanted.levels]
    inner = [(tier, tier) for tier in ([OWN] if with_times else []) + levels]
    if not wanted.margins:
        return tuple(inner)
    sides = [pair for tier in (OWN, *levels) for pair in ((tier, ALL), (ALL, tier))]
    return (*inner, *sides, (ALL, ALL))


def tables_of(
    matrix: ODMatrix, release: Release, wanted: TablesWanted, first_table: Ints, tiers: Tiers
) -> Tables:
    """Return the tables of bricks: all withheld flows of one first table and one cell of it are a brick."""
    brick, laid_at, member = _bricks(tiers, first_table)
    of_flow = release.group_of_flow.astype(np.int32).copy()
    of_flow[tiers.rows] = np.where(brick == NONE, NONE, brick + release.n_groups)
    withheld = np.bincount(brick[brick != NONE], matrix.flows.trips[tiers.rows][brick != NONE], len(laid_at))
    trips = np.concatenate([release.trips, withheld.astype(np.int64)])
    return Tables(
        wanted=tiers.wanted,
        brick_of_flow=of_flow,
        trips=trips,
        laid_at=laid_at,
        tables=tuple(_table(tiers, at, laid_at, member) for at in range(len(tiers.tables))),
    )


def _table(tiers: Tiers, at: int, laid_at: Ints, member: Ints) -> Table:
    """Return one table, given where each brick of withheld flows is counted first and one of its flows."""
    ends = [tiers.of_groups[axis][tier] for axis, tier in enumerate(tiers.tables[at])]
    held = [tiers.of_rows[axis][tier][member] for axis, tier in enumerate(tiers.tables[at])]
    counted = tiers.finer(at)[laid_at]
    origin, destination = (np.concatenate([own, more]) for own, more in zip(ends, held, strict=True))
    key = _keys(origin, destination)
    key[len(ends[0]) :][~counted] = NONE
    found, cell = np.unique(key, return_inverse=True)
    none = int(len(found) > 0 and found[0] == NONE)
    rows, columns = _ends(found[none:])
    return Table(
        origin_tier=tiers.names[tiers.tables[at][0]],
        destination_tier=tiers.names[tiers.tables[at][1]],
        cell_of_brick=(cell - none).astype(np.int32),
        origin=rows,
        destination=columns,
    )


def _keys(origin: Ints, destination: Ints) -> Ints:
    """Return a number for every pair of zones, in their order."""
    return (origin.astype(np.int64) + 1) * 2**32 + destination + 1


def _ends(keys: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of zones that numbers stand for."""
    origin, destination = np.divmod(keys, 2**32)
    return (origin - 1).astype(np.int32), (destination - 1).astype(np.int32)


def _bricks(tiers: Tiers, first_table: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the brick of every withheld flow, and of every brick its first table and one of its flows."""
    brick = np.full(len(first_table), NONE, dtype=np.int64)
    laid_at, members, so_far = [], [], 0
    for at in range(len(tiers.tables)):
        here = np.flatnonzero(first_table == at)
        _, member, number = np.unique(tiers.cells(at)[here], return_index=True, return_inverse=True)
        brick[here] = number + so_far
        so_far += len(member)
        laid_at.append(np.full(len(member), at))
        members.append(here[member])
    return brick, np.concatenate(laid_at), np.concatenate(members)


@dataclass(frozen=True, eq=False)
class Tiers:
    """The zone of every released group and every withheld flow at every tier of both axes.

    ``of_groups`` and ``of_rows`` are indexed by axis and tier, and ``tables`` holds pairs of tiers.
    """

    wanted: TablesWanted
    names: tuple[str, ...]
    tables: tuple[tuple[int, int], ...]
    rows: Ints
    of_groups: tuple[tuple[Ints, ...], ...]
    of_rows: tuple[tuple[Ints, ...], ...]
    own: Ints
    """Which absent flow of the release each withheld flow lies in; all that is in no released zone is one."""

    @classmethod
    def of(
        cls,
        matrix: ODMatrix,
        release: Release,
        wanted: TablesWanted,
        order: Sequence[tuple[str, str]] | None = None,
    ) -> Tiers:
        """Return the tiers of what was asked for.

        Parameters
        ----------
        order
            The tables in the order that they are laid in; those with most cells come first, if not given.
        """
        rows = np.flatnonzero(release.suppressed)
        trees = [tree for tree, _ in matrix.axes]
        heights = {level: _height(trees[:2], level) for level in wanted.levels}
        levels = tuple(sorted(wanted.levels, key=lambda level: heights[level]))
        wanted = TablesWanted(levels=levels, margins=wanted.margins)
        names = (OWN, *(str(level) for level in levels), ALL)
        held = [
            _own_zones(tree, tile[rows], column, release.homogeneous)
            for (tree, tile), (_, _, column) in zip(matrix.axes, release.axes, strict=True)
        ]
        lifts = [[tree.lifted(heights[level]) for level in levels] for tree in trees[:2]]
        known = [
            np.where(own == NONE, tile[rows], own) for (_, tile), own in zip(matrix.axes, held, strict=True)
        ]
        columns = [column for _, _, column in release.axes]
        of_groups = _at_tiers(columns, columns, lifts)
        told = order or table_names(wanted, with_times=matrix.times is not None)
        tables = [(names.index(a), names.index(b)) for a, b in told]
        return cls(
            wanted=wanted,
            names=names,
            tables=tuple(tables if order else _most_cells_first(tables, of_groups)),
            rows=rows,
            of_groups=of_groups,
            of_rows=_at_tiers(held, known, lifts),
            own=_numbered(trees, held),
        )

    def finer(self, at: int) -> Bools:
        """Return which tables are as fine as one on both axes; the last answer, no, stands for no table."""
        rows, columns = self.tables[at]
        return np.array([one <= rows and other <= columns for one, other in self.tables] + [False])

    def cells(self, at: int) -> Ints:
        """Return the cell of a table that each withheld flow lies in, NONE where it lies in none."""
        zones = [self.of_rows[axis][tier] for axis, tier in enumerate(self.tables[at])]
        known = np.ones(len(self.rows), dtype=bool)
        for zone, tier in zip(zones, self.tables[at], strict=True):
            known &= (zone != NONE) | (self.names[tier] == ALL)
        return np.where(known, _keys(*zones), NONE)


def _most_cells_first(
    tables: list[tuple[int, int]], of_groups: tuple[tuple[Ints, ...], ...]
) -> list[tuple[int, int]]:
    """Return tables by how much their cells tell apart; sums over either side stay beside each other.

    What a table takes is lost to others that are not coarser than it, so that detailed ones choose first.
    A table never has more cells than one that is finer than it.
    """

    def cells(sides: tuple[int, int]) -> int:
        both = {sides, sides[::-1]}
        return max(len(np.unique(_keys(of_groups[0][a], of_groups[1][b]))) for a, b in both)

    return sorted(tables, key=lambda sides: -cells(sides))


def _at_tiers(
    own: Sequence[Ints], zones: Sequence[Ints], lifts: Sequence[Sequence[Ints]]
) -> tuple[tuple[Ints, ...], ...]:
    """Return the zones at every tier of both axes: the own ones, those of every level, and everywhere."""
    return tuple(
        (mine, *(lift[zone] for lift in lifted), np.full(len(mine), NONE))
        for mine, zone, lifted in zip(own, zones, lifts, strict=False)
    )


def _numbered(trees: Sequence[Hierarchy], zones: Sequence[Ints]) -> Ints:
    """Return a number for the zones of all axes together; no zone counts as one of them."""
    number = np.zeros(len(zones[0]), dtype=np.int64)
    for tree, zone in zip(trees, zones, strict=True):
        number = number * (len(tree) + 1) + zone
    return number


def _height(trees: Sequence[Hierarchy], level: int) -> int:
    height = level_height(trees[0].name, level)
    if height > max(int(tree.zones.height[-1]) for tree in trees):
        raise InputError(
            f"level {level} is above the whole of {trees[0].name}; {spelt('with_margins')} publishes what is "
            "everywhere together"
        )
    return height


def _own_zones(tree: Hierarchy, tile: Ints, released: Ints, homogeneous: bool) -> Ints:
    """Return the released zone that holds each tile; NONE where there is none, or where zones overlap."""
    if not homogeneous:
        return np.full(len(tile), NONE, dtype=np.int32)
    chosen = np.zeros(len(tree), dtype=bool)
    chosen[released] = True
    return tree.holder(chosen)[tile]


def _listed(levels: Sequence[Any]) -> str:
    return ", ".join(str(level) for level in levels)
