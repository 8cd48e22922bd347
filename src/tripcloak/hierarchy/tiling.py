"""Tiling: how places become tiles, and tiles a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy.tree import Hierarchy

Keys = NDArray[np.uint64]
"""One 64-bit number a tile; sorting keys sorts the tiles' ids."""

OUTSIDE: Final = np.uint64(2**64 - 1)
"""The key of a place that lies in no tile."""


@runtime_checkable
class Tiling(Protocol):
    """How places become tiles, and tiles a hierarchy.

    The road from records to a tree has three steps: :meth:`encode` points (or :meth:`keys` for records
    that already hold zone ids), :meth:`hierarchy` over the keys that occur on one axis, and
    :meth:`tiles` to turn every key into a row of that hierarchy.
    """

    @property
    def name(self) -> str:
        """Return the text that :func:`~tripcloak.hierarchy.parse_tiling` reads, such as ``h3:10``."""

    def encode(self, lat: Floats, lon: Floats) -> Keys:
        """Return the tile of every point, or OUTSIDE; points are finite and in range."""

    def keys(self, ids: Sequence[str] | NDArray[np.str_]) -> Keys:
        """Return the tile named by every id, or OUTSIDE where this tiling has no such tile."""

    def hierarchy(self, keys: Keys) -> Hierarchy:
        """Return the hierarchy over the tiles that occur on one axis: keys sorted, unique, none OUTSIDE."""

    def tiles(self, keys: Keys, hierarchy: Hierarchy) -> Ints:
        """Return the row of every key's tile in a hierarchy of this tiling, or -1."""


def occurring(keys: Keys) -> Keys:
    """Return the keys after checking that they can found a hierarchy.

    Examples
    --------
    >>> occurring(np.array([3, 5], dtype=np.uint64)).tolist()
    [3, 5]
    >>> occurring(np.array([], dtype=np.uint64))
    Traceback (most recent call last):
    tripcloak.HierarchyError: a hierarchy needs at least one tile that occurs in the data; found none
    """
    keys = np.asarray(keys, dtype=np.uint64)
    if keys.size == 0:
        raise HierarchyError("a hierarchy needs at least one tile that occurs in the data; found none")
    if np.any(keys[1:] <= keys[:-1]):
        raise HierarchyError("tile keys must be sorted and differ; apply numpy.unique to them first")
    if keys[-1] == OUTSIDE:
        raise HierarchyError("some places lie outside the tiling; drop them before building its hierarchy")
    return keys


def rows_of(keys: Keys, held: Keys) -> Ints:
    """Return where each key stands among the sorted keys held, or -1 where it is not among them.

    >>> rows_of(np.array([7, 4, 9], dtype=np.uint64), np.array([4, 7], dtype=np.uint64)).tolist()
    [1, 0, -1]
    """
    row = np.searchsorted(held, keys).astype(np.int32)
    found = held[np.minimum(row, len(held) - 1)] == keys
    return np.where(found, row, np.int32(-1))
