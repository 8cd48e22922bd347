"""A reader who claims of every edge of a box that somebody of its flow was in the tile that it fits best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Box = tuple[int, int, int, int]
"""South, west, north, east, as those of tiles, in millionths of a degree."""


class Claims(NamedTuple):
    """What became of the claims, as shares of them."""

    right: float
    by_chance: float
    only_choice: float


def claim_tiles(
    boxes: Sequence[Box],
    was_in: Sequence[set[int]],
    tiles: NDArray[np.int64],
    widths: Mapping[str, Sequence[int]],
) -> Claims:
    """Return how often the claims are right, how often those on any tile that fits are, and where one does.

    An edge fits the tiles (one column each) that lie in the box and end within a width of it; the one that
    ends closest fits best.
    """
    right, chance, single = [], [], []
    for number, (box, mine) in enumerate(zip(boxes, was_in, strict=True)):
        edges = np.array(box)[:, None]
        held = np.flatnonzero((tiles[:2] >= edges[:2]).all(axis=0) & (tiles[2:] <= edges[2:]).all(axis=0))
        for side, axis in enumerate(("lat", "lon", "lat", "lon")):
            gap = np.abs(tiles[side, held] - box[side])
            near = gap <= widths[axis][number]
            fits = held[near][np.argsort(gap[near], kind="stable")].tolist()
            if fits:
                right.append(fits[0] in mine)
                chance.append(np.mean([tile in mine for tile in fits]))
                single.append(len(fits) == 1)
    return Claims(float(np.mean(right)), float(np.mean(chance)), float(np.mean(single)))
