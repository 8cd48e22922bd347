"""Flows and ends of trips that are worked on part by part: on one machine, or where a cluster keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from tripcloak.flows.model.flows import Flows
from tripcloak.ground.arrays import Ints

T = TypeVar("T")
EACH, MOST_PARTS = 1 << 18, 100
"""Flows that are worked on at a time, some 40 MB of them, and parts from which on they are more."""


class FlowParts(Protocol):
    """Somebody who keeps flows, and has them worked on part by part; what works on them may be sent away."""

    @property
    def each(self) -> int:
        """Return how many flows a part may hold, about."""

    def by_tile(self, axis: int, part: Ints, work: Callable[[Flows], Iterator[T]]) -> Iterator[T]:
        """Yield what comes of the flows of every part.

        Parameters
        ----------
        axis
            The axis by whose tiles flows are parted: 0 origins, 1 destinations.
        part
            The part of every tile; flows of tiles with -1 are left out.
        work
            Is given all flows of a part, in their order.
        """

    def in_any_way(self, work: Callable[[Flows], Iterator[T]]) -> Iterator[T]:
        """Yield what comes of all flows, parted in whatever way is at hand.

        A flow may come in several pieces, none of which has a traveller of another; people who are the same
        have the same number in all pieces.
        """


class Elsewhere(Protocol):
    """Things that were made on other machines and wait there."""

    def joined(self, of: Callable[[Any], Any], join: Callable[[Any, Any], Any]) -> Any:
        """Return what all things say of themselves, joined two by two on the way."""

    def let_go(self) -> None:
        """Forget them."""


@runtime_checkable
class PeopleElsewhere(Protocol):
    """Flows whose travellers other machines can count; what counts them is sent there."""

    def people_by_number(self, numbers: Ints, count: Callable[[Ints, Ints], T]) -> Iterator[T]:
        """Yield what is counted of flows, all those of one number together.

        Parameters
        ----------
        numbers
            A number of every flow; flows below 0 are left out.
        count
            Is given numbers, and beside each somebody who is in a flow of it, once or more; people who are
            the same are the same number.
        """


@runtime_checkable
class EndsElsewhere(Protocol):
    """Raw ends of trips that other machines keep; what works on them is sent there."""

    def worked_on(self, numbers: Ints, work: Callable[[Any, Ints], Iterator[Any]]) -> Elsewhere:
        """Return what comes of the ends of all trips, piece by piece.

        Parameters
        ----------
        numbers
            A number of every flow.
        work
            Is given ends of trips (:class:`TripEnds`), and the number of each one's flow.
        """


@runtime_checkable
class WorkersElsewhere(Protocol):
    """Other machines that do pieces of work, each by itself; what works is sent there."""

    def each_apart(self, pieces: Iterable[T], work: Callable[[T], Any]) -> Iterator[Any]:
        """Yield what comes of every piece, in their order."""


@dataclass(frozen=True, eq=False)
class FlowsInBlocks:
    """Flows of one machine, of which only some are worked on at a time; the others may lie on disk.

    Examples
    --------
    >>> flows = Flows(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([5, 6, 7]))
    >>> blocks = FlowsInBlocks(flows, 2)
    >>> list(blocks.by_tile(1, np.array([0, 1]), lambda some: iter([some.trips.tolist()])))
    [[5, 7], [6]]
    >>> list(blocks.in_any_way(lambda some: iter([some.trips.tolist()])))
    [[5, 6], [7]]
    """

    flows: Flows
    each: int

    @classmethod
    def of(cls, flows: Flows) -> FlowsInBlocks:
        """Return flows in parts that a processor keeps near itself, and not too many of them."""
        return cls(flows, max(EACH, len(flows.trips) // MOST_PARTS))

    def by_tile(self, axis: int, part: Ints, work: Callable[[Flows], Iterator[T]]) -> Iterator[T]:
        """Yield what comes of the flows of every part."""
        from tripcloak.flows.model._kernels import members_of

        tile = self.flows.destination if axis else self.flows.origin
        starts, rows = members_of(part.astype(np.int32, copy=False)[tile], int(part.max(initial=-1)) + 1)
        for first, last in pairwise(starts.tolist()):
            if last > first:
                yield from work(self.flows.only(rows[first:last]))

    def in_any_way(self, work: Callable[[Flows], Iterator[T]]) -> Iterator[T]:
        """Yield what comes of all flows, block by block."""
        for start in range(0, len(self.flows.trips), self.each):
            yield from work(self.flows.between(start, min(start + self.each, len(self.flows.trips))))
