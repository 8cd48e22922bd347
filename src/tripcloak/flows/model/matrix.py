"""ODMatrix: coded flows between the tiles of two hierarchies, in slots of time where wanted."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model.flows import (
    Flows,
    Represented,
    WeightsSeen,
    flows_from_trips,
    represented_by,
)
from tripcloak.flows.model.parting import FlowParts
from tripcloak.ground.arrays import Floats, Ints, to_read
from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import UNITS, Covered, Unit, Volume


class Slot(NamedTuple):
    """A slot of time: its tile in the tree of time, the flows that lie in it, and their own matrix."""

    tile: int
    rows: Ints
    matrix: ODMatrix


def by_slot(matrix: ODMatrix) -> Iterator[Slot]:
    """Yield the slots that occur, in the order of time, each with a matrix that knows no time.

    The matrices share the trees of the whole, so that their zones are the same zones.

    Examples
    --------
    >>> from tripcloak.hierarchy import Hierarchy, time_hierarchy
    >>> tree, ends = Hierarchy.from_parents(["a"], [-1]), np.zeros(4, dtype=int)
    >>> times = {"times": time_hierarchy(np.array([8, 9]), 60), "slot": np.array([0, 1, 0, 0])}
    >>> matrix = ODMatrix.from_trips(tree, tree, ends, ends, **times)
    >>> [(slot.tile, slot.matrix.total("trips")) for slot in by_slot(matrix)]
    [(0, 3), (1, 1)]
    """
    flows = matrix.flows
    if flows.slot is None:
        raise InputError("this matrix has no slots of time; read it with slots first")
    # Stable, so that the flows of a slot stay sorted by origin and destination.
    order = np.argsort(flows.slot, kind="stable")
    tiles, first = np.unique(flows.slot[order], return_index=True)
    for tile, rows in zip(tiles, np.split(order, first[1:]), strict=True):
        some = replace(flows.only(rows), slot=None)
        alone = replace(matrix, flows=some, points=None, times=None, parts=None)
        yield Slot(tile=int(tile), rows=rows, matrix=alone)


class PlaceCounts(NamedTuple):
    """For every zone of the origins and of the destinations, how many different places lie below it."""

    origins: Ints
    destinations: Ints


def count_places(tree: Hierarchy, tile: Ints, place: Ints) -> Ints:
    """Return, for every zone, the number of different places that occur below it.

    Parameters
    ----------
    tile, place
        Where which place occurs: tiles of the tree, and numbers of places. A place on the edge of
        tiles may occur in several; a zone that holds them all counts it once.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> count_places(tree, np.array([0, 0, 1, 1]), np.array([7, 8, 8, 9])).tolist()
    [2, 2, 3]
    """
    places = np.zeros(len(tree), dtype=np.int64)
    waiting = defaultdict(list)
    waiting[0].append((tile.astype(np.int64), place.astype(np.int64)))
    # Invariant: when a height is reached, all that lies below its zones is waiting there.
    for height in range(len(tree.levels)):
        zone, found = (np.concatenate(parts) for parts in zip(*waiting.pop(height, [_NOTHING]), strict=True))
        order = np.lexsort((found, zone))
        zone, found = zone[order], found[order]
        first = np.append(True, (zone[1:] != zone[:-1]) | (found[1:] != found[:-1]))[: len(zone)]
        zone, found = zone[first], found[first]
        places += np.bincount(zone, minlength=len(tree))
        up = tree.parent[zone]
        above = tree.zones.height[up]
        for next_height in np.unique(above[up >= 0]):
            there = (above == next_height) & (up >= 0)
            waiting[int(next_height)].append((up[there].astype(np.int64), found[there]))
    return places


_NOTHING = np.empty(0, np.int64), np.empty(0, np.int64)


class TripEnds(NamedTuple):
    """Raw ends of some trips: tile codes, degrees, and each trip's weight and slot if there are any."""

    origin: Ints
    destination: Ints
    origin_lat: Floats
    origin_lon: Floats
    destination_lat: Floats
    destination_lon: Floats
    weight: Floats | None
    slot: Ints | None = None


TripEndSource = Callable[[], Iterator[TripEnds]]
"""Gives the raw trip ends chunk by chunk, as often as it is called."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ODMatrix:
    """Flows between tiles, with the hierarchies that give the codes meaning.

    Attributes
    ----------
    origins, destinations : Hierarchy
        One tree per axis; ``flows.origin`` and ``flows.destination`` are tile indices in them.
    flows : Flows
        Sorted by origin, destination and slot, each combination once.
    each_trip_is_a_person : bool
        True for tables of people in which everybody is counted in exactly one flow (home to work).
    points : callable, optional
        The raw trip ends, for measures in metres.
    times : Hierarchy, optional
        The tree of time; ``flows.slot`` is a tile index in it.
    places : PlaceCounts, optional
        How many points of interest every zone covers, where the input names them.
    represented : Represented, optional
        How many people carry a weight, and what they stand for together.
    id_is : str
        What the id of a traveller stands for: a person, a vehicle and so on, or that nothing tells.
    parts : FlowParts, optional
        Who works on the same flows part by part, where they are too many to be worked on at once.

    Examples
    --------
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> origin, destination, person = np.array([[0, 0, 1], [1, 1, 0], [7, 8, 7]])
    >>> matrix = ODMatrix.from_trips(tree, tree, origin, destination, person=person)
    >>> matrix.n_flows, matrix.total("trips"), matrix.units
    (2, 3, ('trips', 'travellers'))
    """

    origins: Hierarchy
    destinations: Hierarchy
    flows: Flows
    each_trip_is_a_person: bool = False
    points: TripEndSource | None = None
    times: Hierarchy | None = None
    places: PlaceCounts | None = None
    represented: Represented | None = None
    id_is: str = "person"
    parts: FlowParts | None = None

    def __repr__(self) -> str:
        return (
            f"<ODMatrix: {mask_small(self.n_flows, 'flows')} between {self.origins.n_tiles:,} origin and "
            f"{self.destinations.n_tiles:,} destination tiles>"
        )

    @classmethod
    def from_trips(
        cls,
        origins: Hierarchy,
        destinations: Hierarchy,
        origin: Ints,
        destination: Ints,
        *,
        person: Ints | None = None,
        weight: Floats | None = None,
        trips: Ints | None = None,
        times: Hierarchy | None = None,
        slot: Ints | None = None,
        repeats: bool = False,
        weights: bool = False,
    ) -> ODMatrix:
        """Return the matrix of trips given as tile and person codes, one row a trip."""
        columns = {"slot": slot, "person": person, "weight": weight, "trips": trips}
        flows = flows_from_trips(origin, destination, repeats=repeats, weights=weights, **columns)
        seen = None
        if person is not None and weight is not None:
            seen = WeightsSeen(int(person.max(initial=0)) + 1)
            seen.add(person, weight)
        return cls(
            origins=origins,
            destinations=destinations,
            flows=flows,
            times=times,
            represented=represented_by(flows, seen),
        )

    def __post_init__(self) -> None:
        f = self.flows
        if len(f.trips) == 0:
            raise InputError("an OD matrix needs at least one flow; found none")
        if (f.slot is None) != (self.times is None):
            raise InputError("slots of time need a hierarchy of time, and the other way round")
        for tree, tile in self.axes:
            if tile.min() < 0 or tile.max() >= tree.n_tiles:
                raise InputError("a flow names a tile outside its hierarchy")
        if f.trips.min() < 1:
            raise InputError("every flow needs one trip or more; leave out the pairs that have none")
        if f.population is not None and not (np.isfinite(f.population).all() and f.population.min() >= 0):
            raise InputError("population must be finite and zero or more")

    @property
    def n_flows(self) -> int:
        """Return the number of flows: pairs of tiles that occur, each slot of time apart."""
        return len(self.flows.trips)

    @property
    def axes(self) -> tuple[tuple[Hierarchy, Ints], ...]:
        """Return each axis' tree and the tile of every flow in it: origins, destinations, then times."""
        space = (self.origins, self.flows.origin), (self.destinations, self.flows.destination)
        if self.times is None or self.flows.slot is None:
            return space
        return (*space, (self.times, self.flows.slot))

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Return the units this matrix can protect."""
        has = {
            "trips": True,
            "travellers": self.flows.travellers is not None or self.each_trip_is_a_person,
            "population": self.flows.population is not None,
        }
        return tuple(unit for unit in UNITS if has[unit])

    def volume(self, volume: Volume) -> Floats:
        """Return the trips or the population of every flow."""
        if volume == "trips":
            return self.flows.trips
        if self.flows.population is None:
            raise InputError("this input has no weights, so it has no population; give a weight column")
        return self.flows.population

    def require_parts(self, volume: Volume) -> None:
        """Raise where the matrix does not tell what each traveller has of every flow's volume."""
        self.volume(volume)
        if self.flows.travellers is None:
            raise InputError(
                "which traveller has how much of a flow needs a person or vehicle id column "
                f"({spelt('person')})"
            )
        if (self.flows.repeats if volume == "trips" else self.flows.weights) is None:
            raise InputError(f"the matrix was read without the {volume} of each traveller; read it with them")

    def total(self, volume: Volume = "trips") -> Any:
        """Return the sum over all flows."""
        if volume not in self._totals:
            self._totals[volume] = self.volume(volume).sum().item()
        return self._totals[volume]

    @cached_property
    def _totals(self) -> dict[Volume, Any]:
        """Return the sums that somebody asked for."""
        return {}

    @cached_property
    def origin_offsets(self) -> Ints:
        """Return where each origin tile's flows start: rows ``offsets[o]:offsets[o + 1]``."""
        sizes = np.bincount(self.flows.origin, minlength=self.origins.n_tiles)
        return np.concatenate(([0], np.cumsum(sizes)))

    @cached_property
    def _within_origin(self) -> Ints:
        """Return what sorts the flows of one origin: the destination, with the slot where there is one."""
        if self.times is None or self.flows.slot is None:
            return self.flows.destination
        return self.flows.destination.astype(np.int64) * self.times.n_tiles + self.flows.slot

    def covers(self, what: Covered) -> tuple[Ints, Ints]:
        """Return, for every zone of the origins and of the destinations, how much that occurs lies below it.

        Tiles occur where a flow starts or ends; a hierarchy may hold others that never do.
        """
        if what == "tiles":
            return self._tiles_below
        if self.places is None:
            raise InputError(
                "this input does not say at which places its trips start and end; "
                f"name the columns with {spelt('origin_place')} and {spelt('destination_place')}"
            )
        return self.places

    @cached_property
    def _tiles_below(self) -> tuple[Ints, Ints]:
        f = self.flows
        ends = (self.origins, f.origin), (self.destinations, f.destination)
        first, second = (tree.sum_below(np.bincount(tile, minlength=tree.n_tiles) > 0) for tree, tile in ends)
        return first, second

    def find(self, origin: Ints, destination: Ints, slot: Ints | None = None) -> Ints:
        """Return the flow of every (origin tile, destination tile, slot), -1 where there is none."""
        from tripcloak.flows.model._kernels import find_pairs

        if (slot is None) != (self.times is None):
            raise InputError("flows in slots of time are found by their slot, and others without one")
        wanted = destination
        if slot is not None and self.times is not None:
            wanted = destination.astype(np.int64) * self.times.n_tiles + slot
        within = self._within_origin
        asked = to_read(np.asarray(origin, np.int32)), to_read(np.asarray(wanted, within.dtype))
        return find_pairs(self.origin_offsets, within, *asked)

    def digest(self) -> str:
        """Return a fingerprint of the flows that does not depend on the order of the input's rows."""
        mark = hashlib.sha256()
        for hierarchy, _ in self.axes:
            mark.update("\n".join(hierarchy.zones.ids[: hierarchy.n_tiles]).encode())
        f = self.flows
        members = None if f.travellers is None else f.travellers.offsets
        for column in (f.origin, f.destination, f.slot, f.trips, f.population, members):
            if column is not None:
                mark.update(np.ascontiguousarray(column).data)
        return mark.hexdigest()
