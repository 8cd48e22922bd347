"""Places: points of interest inside tiles, such as stations or sites, and how many a zone covers."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.hierarchy import Hierarchy


class Places(NamedTuple):
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
