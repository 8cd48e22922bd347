"""The best pruning of one tree: which zones are better released whole than cut further."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Bools, Floats
from tripcloak.hierarchy import Hierarchy


def stands_alone(tree: Hierarchy, cost: Floats) -> Bools:
    """Return the zones that are no dearer than the best cut below them.

    The highest of them make the cut of least total cost (algorithm 1 of the ATG paper); of two equal
    costs the undivided zone wins.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> own = stands_alone(tree, np.array([1.0, 1.0, 1.0, 1.5, 4.0]))
    >>> tree.zones.ids[tree.highest(own)].tolist()
    ['ab', 'ab', 'c']
    """
    own = np.ones(len(tree), dtype=bool)
    best, below = cost.copy(), np.zeros(len(tree))
    # Invariant: `below` holds the best cost of all children of the zones of a level when it is reached.
    for height, level in enumerate(tree.levels):
        if height:
            own[level] = cost[level] <= below[level]
            best[level] = np.minimum(cost[level], below[level])
        if level.stop < len(tree):
            np.add.at(below, tree.parent[level], best[level])
    return own
