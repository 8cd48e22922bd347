"""One matrix per slot of time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tripcloak.flows.model.flows import Flows, Travellers
from tripcloak.flows.model.matrix import ODMatrix
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError


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
        part = Flows(
            origin=flows.origin[rows],
            destination=flows.destination[rows],
            trips=flows.trips[rows],
            population=None if flows.population is None else flows.population[rows],
            travellers=None if flows.travellers is None else _picked(flows.travellers, rows),
        )
        yield Slot(
            tile=int(tile),
            rows=rows,
            matrix=ODMatrix(
                origins=matrix.origins,
                destinations=matrix.destinations,
                flows=part,
                each_trip_is_a_person=matrix.each_trip_is_a_person,
                places=matrix.places,
                represented=matrix.represented,
            ),
        )


def _picked(travellers: Travellers, rows: Ints) -> Travellers:
    """Return the travellers of some flows."""
    sizes = np.diff(travellers.offsets)[rows]
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    place = np.repeat(travellers.offsets[:-1][rows] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Travellers(offsets, travellers.people[place])
