"""Safe products found part by part: some flows are worked on at a time, on whatever machine.

A zone is light if a part can hold all flows that begin (or end) in it, and heavy otherwise. All flows of a
product with a light origin are in one part by origins, those of one with a light destination in one part by
destinations, and each part is searched as if there were nothing else. Of products between two heavy zones
there are few: their flows are counted cell by cell, with no more people of a cell than a threshold asks for,
and cells are joined on the way up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods.method import whole_units
from tripcloak.flows.methods.products import (
    DESTINATION,
    ORIGIN,
    Descent,
    ProductSpace,
    SafeProducts,
    numbered_products,
)
from tripcloak.flows.model import FlowParts, Flows, Numbering, ODMatrix, Travellers
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.progress import Progress, silent
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import Promise, Unit

FEW_TO_LOOK_AT = 4
"""People already met that each of all people may be held against, on average, while cells are counted."""


def can_be_parted(promise: Promise, space: ProductSpace) -> bool:
    """Return whether counts decide what is safe, and zones alone what is lost, between two axes."""
    return (
        len(space.axes) == 2
        and space.zone_loss is not None
        and promise.plain
        and set(promise.thresholds) <= {"trips", "travellers"}
        and not space.turned
        and not any(axis.must_split or axis.zones is not None or axis.lineage for axis in space.axes)
    )


@dataclass(frozen=True, eq=False)
class Shares:
    """How the flows of one axis are shared out.

    Attributes
    ----------
    heavy : array of bool
        The zones that hold more than a part may.
    part : array
        The part of every tile, -1 where the tile itself is heavy.
    lowest : array
        The lowest heavy zone above every tile, which may be the tile itself; -1 for none.
    """

    heavy: Bools
    part: Ints
    lowest: Ints

    @classmethod
    def of(cls, tree: Hierarchy, sizes: Ints, each: int) -> Shares:
        """Return how flows are shared out to parts of about a size, given what begins (or ends) in each tile.

        Examples
        --------
        >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
        >>> shares = Shares.of(tree, np.array([1, 1, 1, 9]), 3)
        >>> shares.part.tolist(), tree.zones.ids[shares.lowest].tolist()
        ([0, 0, 0, -1], ['all', 'all', 'cd', 'd'])
        """
        held = tree.sum_below(sizes.astype(np.int64))
        heavy = held > each
        top, lowest = (np.full(tree.n_tiles, -1, np.int32) for _ in range(2))
        for zone in tree.lineage.ancestors:
            there = zone >= 0
            light = there & (top < 0) & ~heavy[zone]
            top[light] = zone[light]
            below = there & heavy[zone]
            lowest[below] = zone[below]
        return cls(heavy, _packed(tree, top, held, each), lowest)


def _packed(tree: Hierarchy, top: Ints, held: Ints, each: int) -> Ints:
    """Return the part of every tile, given the highest light zone above it: neighbours go together."""
    leaves = tree.lineage.leaves
    zones = top[leaves]
    first = np.flatnonzero((zones >= 0) & np.append(True, zones[1:] != zones[:-1]))
    number = (np.cumsum(held[zones[first]]) - 1) // max(each, 1)
    of_zone = np.full(len(tree) + 1, -1, np.int32)
    of_zone[zones[first]] = np.unique(number, return_inverse=True)[1]
    return of_zone[top]


class FoundInPart(NamedTuple):
    """Safe products in no order: their zones axis by axis, and their volume."""

    zone: Ints
    volume: Floats


@dataclass(frozen=True, eq=False)
class PartSearch:
    """Finds the safe products that all flows of one part decide.

    Of parts by destinations (``axis`` 1) only products with a heavy origin count: the others are found by
    origins.
    """

    promise: Promise
    space: ProductSpace
    shares: Sequence[Shares]
    axis: int
    trips_are_people: bool

    def __call__(self, flows: Flows) -> Iterator[FoundInPart]:
        """Yield what is found among flows."""
        space = self.space.of((flows.origin, flows.destination))
        origins, destinations = space.trees
        matrix = ODMatrix(
            origins=origins,
            destinations=destinations,
            flows=flows,
            each_trip_is_a_person=self.trips_are_people,
        )
        by_destination, heavy = self.axis == DESTINATION, self.shares[ORIGIN].heavy
        if by_destination:
            above = space.ancestors[ORIGIN]
            space.ancestors = np.where((above >= 0) & heavy[above], above, -1), space.ancestors[DESTINATION]
        descent = Descent(matrix, self.promise, space, whole_units(flows.trips))
        tiles = np.flatnonzero(np.bincount(flows.origin))
        for depths in descent.rows:
            zone = space.ancestors[ORIGIN][depths[0]][tiles]
            if not ((zone >= 0) & (heavy[zone] == by_destination)).any():
                continue
            for found in descent.row(depths):
                own = heavy[found.zone[ORIGIN]] == by_destination
                own &= ~self.shares[self.axis].heavy[found.zone[self.axis]]
                yield FoundInPart(found.zone[:, own], found.volume[own])


class Cells(NamedTuple):
    """Flows between pairs of heavy zones: the pairs, each once, their trips, and some of their people.

    ``cell`` and ``person`` are as many different people of each as a threshold asks for, or all there are.
    """

    pair: Ints
    trips: Ints
    cell: Ints
    person: Ints


@dataclass(frozen=True, eq=False)
class CellCount:
    """Counts flows whose both ends lie in heavy zones."""

    promise: Promise
    shares: Sequence[Shares]

    def __call__(self, flows: Flows) -> Iterator[Cells]:
        """Yield the cells of flows."""
        origins, destinations = self.shares
        # One number for each pair of lowest heavy zones, and below 0 where a flow has none.
        first = origins.lowest.astype(np.int64) * len(destinations.heavy)
        first[origins.lowest < 0] = -(2**62)
        keys = first[flows.origin] + destinations.lowest[flows.destination]
        keys[(keys < 0) | (destinations.lowest[flows.destination] < 0)] = -1
        numbering = Numbering()
        number = numbering.add(keys.view(np.uint64))
        pair = numbering.keys.view(np.int64)
        cell = person = np.empty(0, np.int64)
        if flows.travellers is not None and "travellers" in self.promise.thresholds:
            cell, person = self._people(number, len(pair), flows.travellers)
        within = number >= 0
        trips = np.bincount(number[within], flows.trips[within], len(pair)).astype(np.int64)
        yield Cells(pair, trips, cell, person.astype(np.int64))

    def _people(self, number: Ints, cells: int, travellers: Travellers) -> tuple[Ints, Ints]:
        """Return some of the people of every cell, given the cell of every flow, -1 for none."""
        from tripcloak.flows.model._kernels import people_up_to

        most = int(self.promise.thresholds["travellers"])
        if cells * most**2 <= FEW_TO_LOOK_AT * len(travellers.people):
            # One by one: nearly all cells are full after some of the flows.
            return people_up_to(number, cells, *travellers, most)
        cell = np.repeat(number, np.diff(travellers.offsets)).astype(np.int64)
        return _capped(cell[cell >= 0], travellers.people[cell >= 0], self.promise)


def join_cells(cells: Sequence[Cells], promise: Promise) -> Cells:
    """Return the cells of all flows, given those of some and of others."""
    pair, number = np.unique(np.concatenate([one.pair for one in cells]), return_inverse=True)
    starts = np.cumsum([0, *(len(one.pair) for one in cells)])
    cell = np.concatenate([number[one.cell + start] for one, start in zip(cells, starts, strict=False)])
    person = np.concatenate([one.person for one in cells])
    trips = np.zeros(len(pair), np.int64)
    np.add.at(trips, number, np.concatenate([one.trips for one in cells]))
    return Cells(pair, trips, *_capped(cell, person, promise))


def _capped(cell: Ints, person: Ints, promise: Promise) -> tuple[Ints, Ints]:
    """Return every person of a cell once, and no more of them than the threshold on travellers."""
    most = int(promise.thresholds.get("travellers", 0))
    cell, person = _different(cell, person)
    within = np.arange(len(cell)) - np.searchsorted(cell, cell)
    return cell[within < most], person[within < most]


def _different(cell: Ints, person: Ints) -> tuple[Ints, Ints]:
    """Return every person of a cell once, cells ascending."""
    width = int(person.max(initial=0)) + 1
    if person.min(initial=0) >= 0 and (int(cell.max(initial=0)) + 1) * width < 2**63:
        # One number for both sorts in a tenth of the time; the numbers of a cluster may be too long for it.
        keys = np.sort(cell * width + person)
        new = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        return keys[new] // width, keys[new] % width
    order = np.lexsort((person, cell))
    cell, person = cell[order], person[order]
    new = np.append(True, (cell[1:] != cell[:-1]) | (person[1:] != person[:-1]))[: len(cell)]
    return cell[new], person[new]


@dataclass(frozen=True, eq=False)
class _CountedGroups:
    """What a promise asks of groups, where only numbers are left of them."""

    trips: Ints
    travellers: Ints

    def support(self, unit: Unit, cap: int | None = None) -> Ints:
        """Return the trips, or the travellers up to the cap."""
        return self.trips if unit == "trips" else self.travellers


def join_upwards(
    cells: Cells, promise: Promise, space: ProductSpace, *, trips_are_people: bool
) -> list[FoundInPart]:
    """Return the safe products between heavy zones.

    Parameters
    ----------
    trips_are_people
        Everybody makes one trip, so that travellers need not be told apart.
    """
    size = len(space.trees[DESTINATION])
    above = [
        _above(tree, zones) for tree, zones in zip(space.trees, np.divmod(cells.pair, size), strict=True)
    ]
    found = []
    for origin in above[ORIGIN]:
        for destination in above[DESTINATION]:
            there = np.flatnonzero((origin >= 0) & (destination >= 0))
            if not len(there):
                continue
            pair, number = np.unique(origin[there] * size + destination[there], return_inverse=True)
            of_cell = np.full(len(cells.pair), -1)
            of_cell[there] = number
            joined = of_cell[cells.cell]
            cell, _ = _capped(joined[joined >= 0], cells.person[joined >= 0], promise)
            trips = np.bincount(number, cells.trips[there], len(pair))
            travellers = trips if trips_are_people else np.bincount(cell, minlength=len(pair))
            safe = promise.monotone.safe(_CountedGroups(trips, travellers))
            zone = np.stack(np.divmod(pair, size)).astype(np.int32)
            found.append(FoundInPart(zone[:, safe], trips[safe]))
    return found


def _above(tree: Hierarchy, zones: Ints) -> Ints:
    """Return, for every depth, the zone that deep above each of some zones, itself included; -1 for none."""
    depth = depths_of(tree)
    at = np.full((int(depth.max()) + 1, len(zones)), -1, np.int64)
    here = zones.astype(np.int64)
    column = np.arange(len(zones))
    while len(column):
        at[depth[here], column] = here
        here = tree.parent[here].astype(np.int64)
        column, here = column[here >= 0], here[here >= 0]
    return at


def depths_of(tree: Hierarchy) -> Ints:
    """Return how many steps below the root every zone is."""
    depth = np.zeros(len(tree), np.int32)
    for steps, zone in enumerate(tree.lineage.ancestors):
        depth[zone[zone >= 0]] = steps
    return depth


def put_together(space: ProductSpace, flow_volume: Ints, found: list[FoundInPart]) -> SafeProducts:
    """Return the products of all parts, which are taken, in the order in which one search would find them."""
    zone = np.concatenate([one.zone for one in found], axis=1)
    volume = np.concatenate([one.volume for one in found])
    found.clear()
    (origins, destinations), behind = space.trees, space.trees[DESTINATION].lineage.behind
    depth = [depths_of(tree)[zones].astype(np.int64) for tree, zones in zip(space.trees, zone, strict=True)]
    columns = depth[ORIGIN], depth[DESTINATION], zone[ORIGIN], behind[zone[DESTINATION]]
    most = len(origins.lineage.ancestors), len(destinations.lineage.ancestors), len(origins)
    # One number sorts in a fraction of the time; where 63 bits do not hold it, column by column.
    if math.prod(most) * (len(destinations) + 1) < 2**63:
        key = columns[0]
        for column, size in zip(columns[1:], (*most[1:], len(destinations) + 1), strict=True):
            key *= size
            key += column
        order = np.argsort(key)
    else:
        order = np.lexsort(columns[::-1])
    del depth, columns
    zone, volume = np.ascontiguousarray(zone[:, order], np.int32), volume[order]
    del order
    return numbered_products(space, flow_volume, zone=zone, above=None, volume=volume)


def find_in_parts(
    matrix: ODMatrix,
    parts: FlowParts,
    promise: Promise,
    space: ProductSpace,
    progress: Progress = silent,
    stop: Callable[[], bool] = lambda: False,
) -> SafeProducts | None:
    """Return all safe products, found by whoever keeps the flows; None if that cannot be done.

    It cannot where more is asked for than counts tell (:func:`can_be_parted`), and where the time is up.
    """
    if not can_be_parted(promise, space):
        return None
    sizes = [np.bincount(tile, minlength=tree.n_tiles) for tree, tile in matrix.axes]
    shares = tuple(Shares.of(tree, n, parts.each) for tree, n in zip(space.trees, sizes, strict=True))
    nowhere = space.of((np.empty(0, np.int32),) * 2)
    found: list[FoundInPart] = []
    for axis, share in enumerate(shares):
        search = PartSearch(promise, nowhere, shares, axis, matrix.each_trip_is_a_person)
        for one in parts.by_tile(axis, share.part, search):
            found.append(one)
            if stop():
                return None
        progress("finding safe products", axis + 1, 3)
    cells = join_cells(list(parts.in_any_way(CellCount(promise, shares))), promise)
    found += join_upwards(cells, promise, space, trips_are_people=matrix.each_trip_is_a_person)
    progress("finding safe products", 3, 3)
    # Whole already, and where flows wait in files these do: a copy would be eight bytes of every flow.
    return put_together(space, matrix.flows.trips, found)
