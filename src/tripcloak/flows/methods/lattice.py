"""The lattice of uniform levels, one level an axis, and the search for the best of the lowest that fit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods.losses import depths
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.progress import Progress, silent
from tripcloak.hierarchy import Hierarchy

MOST_LEVELS = 1000
"""Levels of one axis that are tried; all of them, but for trees that are next to chains."""
EVEN = 1 + 1e-9
"""Means that differ by no more than sums are rounded are the same."""

Node = tuple[int, ...]
"""One level an axis."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The uniform cuts of one tree, from its tiles (level 0) up to its root.

    Where all tiles are equally deep, a level is a height. Elsewhere zones of one height may be of very
    different sizes, and a step up generalises only what is smallest among the parents within reach, as
    the ATG paper does (appendix B): a level is a number of tiles.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> levels = Levels(tree)
    >>> len(levels), [tree.zones.ids[levels.cut(level)].tolist() for level in range(3)]
    (3, [['a', 'b', 'c'], ['ab', 'ab', 'c'], ['all', 'all', 'all']])
    """

    tree: Hierarchy

    def __len__(self) -> int:
        return int(self.of_zone[-1]) + 1

    @cached_property
    def of_zone(self) -> Ints:
        """Return the level of every zone, more at a parent than at its children (no less, where thinned)."""
        deep = depths(self.tree)[: self.tree.n_tiles]
        even = bool((deep == deep[0]).all())
        key = self.tree.zones.height[:, None] if even else _sizes(self.tree)
        level = np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)
        top = int(level[-1])
        kept = np.unique(np.linspace(0, top, min(top, MOST_LEVELS) + 1).round().astype(np.int64))
        return np.searchsorted(kept, level)

    @cached_property
    def behind(self) -> Ints:
        """Return, for every zone, the first level at which it is no longer in the cut."""
        level = self.of_zone
        return np.append(level[self.tree.parent[:-1]], len(self))

    def chosen(self, level: int) -> Bools:
        """Return which zones are at most at this level; the highest of them make the cut."""
        at_most: Bools = self.of_zone <= level
        return at_most

    def cut(self, level: int) -> Ints:
        """Return, for every tile, its zone at this level."""
        return self.tree.highest(self.chosen(level))


class Weighed(NamedTuple):
    """What a node of the lattice suppresses, and the mean loss of what it releases."""

    hidden: float
    mean: float


def best_node(shape: Node, weigh: Callable[[Node], Weighed | None], progress: Progress = silent) -> Node:
    """Return the best of the lowest nodes that fit: the least mean loss.

    Where means are the same the node that suppresses less wins, then the one with the lower level on
    the first axis where they differ.

    Predictive tagging (section 2.5.2 of the ODkAnon thesis): above a node that fits all nodes fit, below
    one that does not none does, so most are never weighed. It holds with suppression too: a group at a
    higher node contains whole groups of the lower one, and contains a safe one if any of its flows was
    safe there, so a flow that is released at a node is released at every node above.

    Parameters
    ----------
    shape
        The number of levels of every axis. The topmost node fits.
    weigh
        Gives what a node is worth, or None if it does not fit.
    """
    found = _tagged(shape, weigh, progress)
    least = min(one.mean for one in found.values())
    alike = {node: one for node, one in found.items() if one.mean <= least * EVEN}
    return min(alike, key=lambda node: (alike[node].hidden, node))


def _tagged(shape: Node, weigh: Callable[[Node], Weighed | None], progress: Progress) -> dict[Node, Weighed]:
    """Return the nodes that fit and have no node below them that fits."""
    fits, known = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    weighed: dict[Node, Weighed] = {}
    rows = list(product(*(_halving(size) for size in shape[:-1])))
    for number, row in enumerate(rows):
        # Invariant: the tags of known nodes are right, and every node that was weighed is known.
        while len(open_nodes := np.flatnonzero(~known[row])):
            node = (*row, int(open_nodes[len(open_nodes) // 2]))
            if (one := weigh(node)) is None:
                known[tuple(slice(0, level + 1) for level in node)] = True
            else:
                above = tuple(slice(level, None) for level in node)
                known[above] = fits[above] = True
                weighed[node] = one
        progress("searching the lattice", number + 1, len(rows))
    return {node: one for node, one in weighed.items() if not _fits_below(fits, node)}


def _fits_below(fits: Bools, node: Node) -> bool:
    """Return whether a node one level below on some axis fits."""
    below = ((*node[:axis], level - 1, *node[axis + 1 :]) for axis, level in enumerate(node) if level)
    return any(fits[one] for one in below)


def _halving(size: int) -> Iterator[int]:
    """Yield 0 to size - 1, the middle first, then the middles of what is left: tags then reach furthest."""
    spans = deque([(0, size)])
    while spans:
        first, last = spans.popleft()
        if first < last:
            middle = (first + last) // 2
            yield middle
            spans += [(first, middle), (middle + 1, last)]


def _sizes(tree: Hierarchy) -> Ints:
    """Return a number of tiles for every zone, and its place among ancestors of the same number."""
    size, place = tree.zones.tiles.astype(np.int64), np.zeros(len(tree), dtype=np.int64)
    # Invariant: sizes and places of a level are settled when it is reached; all children stand below it.
    for level in tree.levels[:-1]:
        up = tree.parent[level]
        np.maximum.at(size, up, size[level])
    for level in tree.levels[:-1]:
        up = tree.parent[level]
        np.maximum.at(place, up, np.where(size[up] == size[level], place[level] + 1, 0))
    return np.column_stack((size, place))
