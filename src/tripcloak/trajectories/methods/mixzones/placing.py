"""Where zones are placed: as few as let enough people change their pseudonym often enough."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints


class Extents(NamedTuple):
    """The rectangle around every zone that could be, in steps; ends are exclusive."""

    x0: Ints
    x1: Ints
    y0: Ints
    y1: Ints

    def touching(self, zone: int) -> Ints:
        """Return the zones that share a place or an edge with this one, itself among them."""
        x0, x1, y0, y1 = (int(side[zone]) for side in self)
        return np.flatnonzero((self.x0 <= x1) & (x0 <= self.x1) & (self.y0 <= y1) & (y0 <= self.y1))


def placed(
    zone: Ints, owner: Ints, extents: Extents, *, people: int, changes: int, coverage: float
) -> list[int]:
    """Return zones, the busiest first, in which enough changes of pseudonyms happen.

    Greedy set cover (Chvatal 1979): again and again the zone that adds most changes which somebody still
    lacks; of equals the one with most ways through, then the first. Zones that touch a chosen one are out.

    Parameters
    ----------
    zone, owner
        The ways with k inside: through which zone, and whose.
    extents
        Where the zones are.
    people
        How many there are.
    changes
        How many changes each person should have.
    coverage
        Which share of the changes that are possible is enough.

    Examples
    --------
    >>> side = np.array([0, 10, 20])
    >>> where = Extents(side, side + 1, side, side + 1)
    >>> placed(np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 1, 2, 3, 0]), where, people=4, changes=1,
    ...     coverage=1.0)
    [1, 0]
    """
    pairs, ways = np.unique(zone * people + owner, return_counts=True)
    of_zone, of_person = pairs // people, pairs % people
    starts = np.searchsorted(of_zone, np.arange(len(extents.x0) + 1))
    lacking = np.minimum(np.bincount(owner, minlength=people), changes)
    wanted = coverage * float(lacking.sum())
    everything = np.bincount(zone, minlength=len(extents.x0))
    open_to = np.ones(len(extents.x0), dtype=bool)

    def gain(one: int) -> int:
        mine = slice(starts[one], starts[one + 1])
        return int(np.minimum(lacking[of_person[mine]], ways[mine]).sum())

    heap = [(-gain(one), -int(everything[one]), one) for one in np.unique(of_zone).tolist()]
    heapq.heapify(heap)
    chosen: list[int] = []
    reached = 0
    # Invariant: what the heap says of a zone is no less than it would add now; most of it is old.
    while heap and reached < wanted:
        told, ways_through, one = heapq.heappop(heap)
        now = gain(one) if open_to[one] else 0
        if now < -told:
            if now:
                heapq.heappush(heap, (-now, ways_through, one))
            continue
        chosen.append(one)
        reached += now
        mine = slice(starts[one], starts[one + 1])
        lacking[of_person[mine]] -= np.minimum(lacking[of_person[mine]], ways[mine])
        open_to[extents.touching(one)] = False
    return chosen
