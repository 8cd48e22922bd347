"""ODMatrix: coded flows between the tiles of two hierarchies."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix.flows import Flows, flows_from_trips

Unit = Literal["trips", "travellers", "population"]
Volume = Literal["trips", "population"]
UNITS: tuple[Unit, ...] = get_args(Unit)


class Points(NamedTuple):
    """Raw ends of some trips: tile codes, degrees, and the weight of each trip if there is one."""

    origin: Ints
    destination: Ints
    origin_lat: Floats
    origin_lon: Floats
    destination_lat: Floats
    destination_lon: Floats
    weight: Floats | None


PointSource = Callable[[], Iterator[Points]]
"""Gives the raw trip ends chunk by chunk, as often as it is called."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ODMatrix:
    """Flows between tiles, with the hierarchies that give the codes meaning.

    Attributes
    ----------
    origins, destinations : Hierarchy
        One tree per axis; ``flows.origin`` and ``flows.destination`` are tile indices in them.
    flows : Flows
        Sorted by origin and destination, each pair once.
    each_trip_is_a_person : bool
        True for tables of people in which everybody is counted in exactly one flow (home to work).
    points : callable, optional
        The raw trip ends, for measures in metres.

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
    points: PointSource | None = None

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
    ) -> ODMatrix:
        """Return the matrix of trips given as tile and person codes, one row a trip."""
        flows = flows_from_trips(origin, destination, person=person, weight=weight, trips=trips)
        return cls(origins=origins, destinations=destinations, flows=flows)

    def __post_init__(self) -> None:
        f = self.flows
        if len(f.trips) == 0:
            raise InputError("an OD matrix needs at least one flow; found none")
        for tile, tree in ((f.origin, self.origins), (f.destination, self.destinations)):
            if tile.min() < 0 or tile.max() >= tree.n_tiles:
                raise InputError("a flow names a tile outside its hierarchy")
        if f.trips.min() < 1:
            raise InputError("every flow needs one trip or more; leave out the pairs that have none")
        if f.population is not None and not (np.isfinite(f.population).all() and f.population.min() >= 0):
            raise InputError("population must be finite and zero or more")

    @property
    def n_flows(self) -> int:
        """Return the number of origin-destination pairs that occur."""
        return len(self.flows.trips)

    @property
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

    def total(self, volume: Volume = "trips") -> Any:
        """Return the sum over all flows."""
        return self.volume(volume).sum().item()

    @cached_property
    def origin_offsets(self) -> Ints:
        """Return where each origin tile's flows start: rows ``offsets[o]:offsets[o + 1]``."""
        sizes = np.bincount(self.flows.origin, minlength=self.origins.n_tiles)
        return np.concatenate(([0], np.cumsum(sizes)))

    def find(self, origin: Ints, destination: Ints) -> Ints:
        """Return the flow of every (origin tile, destination tile), -1 where there is none."""
        from tripcloak.matrix._kernels import find_pairs

        return find_pairs(self.origin_offsets, self.flows.destination, origin, destination)

    def digest(self) -> str:
        """Return a fingerprint of the flows that does not depend on the order of the input's rows."""
        mark = hashlib.sha256()
        for hierarchy in (self.origins, self.destinations):
            mark.update("\n".join(hierarchy.zones.ids[: hierarchy.n_tiles]).encode())
        f = self.flows
        members = None if f.travellers is None else f.travellers.offsets
        for column in (f.origin, f.destination, f.trips, f.population, members):
            if column is not None:
                mark.update(np.ascontiguousarray(column).data)
        return mark.hexdigest()
