"""Zones of two releases compared by their outlines: which lie inside which, and which overlap.

A zone's name is not one place: an H3 zone is the tiles below it, and other tiles make another zone of the
same name. So outlines are compared, as they are published, and never names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints

HAIR = 1e-6
"""Share of a zone's area that may lie outside of another one, for rounded corners alone."""

NEARLY = 1e-2
"""Share of a zone's area that may lie outside, for it to be likely that nobody is there."""

Shapes = NDArray[Any]
"""Outlines as shapely has them; None where a zone has none."""


class Overlaps(NamedTuple):
    """Pairs of zones that share some area: the one, the other, and what share of the one that is."""

    one: Ints
    other: Ints
    share: Floats

    def inside(self, outside: float = HAIR) -> dict[int, list[int]]:
        """Return, for every zone of the one, those of the other that it lies in."""
        found: dict[int, list[int]] = {}
        for at in np.flatnonzero(self.share >= 1 - outside):
            found.setdefault(int(self.one[at]), []).append(int(self.other[at]))
        return found

    def of_each(self) -> dict[int, list[tuple[int, float]]]:
        """Return, for every zone of the one, those that it shares area with, and what share of its own."""
        found: dict[int, list[tuple[int, float]]] = {}
        for one, other, share in zip(self.one, self.other, self.share, strict=True):
            found.setdefault(int(one), []).append((int(other), float(share)))
        return found


def overlaps(one: Shapes, other: Shapes) -> Overlaps:
    """Return which zones share area, and how much.

    Examples
    --------
    >>> import shapely
    >>> west, both = shapely.box(0, 0, 1, 1), shapely.box(0, 0, 2, 1)
    >>> found = overlaps(np.array([west, both]), np.array([west, both]))
    >>> found.inside()
    {0: [0, 1], 1: [1]}
    >>> found.share.tolist()
    [1.0, 1.0, 0.5, 1.0]
    """
    import shapely

    tree = shapely.STRtree(other)
    first, second = tree.query(one, predicate="intersects")
    area = shapely.area(one)
    share = np.zeros(len(first))
    # Most zones lie inside or apart, which is quick to see; the rest is measured.
    shapely.prepare(other)
    within = shapely.covers(other[second], one[first])
    share[within] = 1.0
    rest = np.flatnonzero(~within)
    common = shapely.area(shapely.intersection(one[first[rest]], other[second[rest]]))
    share[rest] = np.divide(common, area[first[rest]], out=np.zeros(len(rest)), where=area[first[rest]] > 0)
    order = np.lexsort((second, first))
    kept = order[share[order] > HAIR]
    return Overlaps(first[kept], second[kept], share[kept])
