"""Numbering: small integers for 64-bit keys that arrive in batches."""

from __future__ import annotations

import numpy as np

from tripcloak.ground.arrays import Ints


class Numbering:
    """Numbers keys by first appearance, over as many batches as there are.

    Examples
    --------
    >>> numbering = Numbering()
    >>> numbering.add(np.array([70, 50, 70], dtype=np.uint64)).tolist()
    [0, 1, 0]
    >>> numbering.add(np.array([50, 90], dtype=np.uint64)).tolist(), numbering.keys.tolist()
    ([1, 2], [70, 50, 90])
    """

    def __init__(self) -> None:
        self._n = 0
        self._found = np.empty(0, np.int64)
        self._slot_key = np.empty(0, np.int64)
        self._slot_number = np.empty(0, np.int32)

    def __len__(self) -> int:
        return self._n

    @property
    def keys(self) -> Ints:
        """Return the keys by number."""
        return self._found[: self._n].view(np.uint64)

    @property
    def table(self) -> tuple[Ints, Ints]:
        """Return the hash table itself, for compiled loops that look keys up one by one."""
        self._make_room(1)
        return self._slot_key, self._slot_number

    def add(self, keys: Ints) -> Ints:
        """Return the number of every key; the largest 64-bit value is no key and gets -1."""
        from tripcloak.flows.model._kernels import number_into

        self._make_room(self._n + len(keys))
        number = np.empty(len(keys), np.int32)
        signed = np.ascontiguousarray(keys, dtype=np.uint64).view(np.int64)
        self._n = number_into(signed, self._slot_key, self._slot_number, self._found, self._n, number)
        return number

    def find(self, keys: Ints) -> Ints:
        """Return the number of every key, -1 for those never added.

        >>> numbering = Numbering()
        >>> _ = numbering.add(np.array([70, 50], dtype=np.uint64))
        >>> numbering.find(np.array([50, 60], dtype=np.uint64)).tolist()
        [1, -1]
        """
        from tripcloak.flows.model._kernels import look_up

        self._make_room(1)
        return look_up(
            np.ascontiguousarray(keys, dtype=np.uint64).view(np.int64), self._slot_key, self._slot_number
        )

    def _make_room(self, needed: int) -> None:
        """Keep the table at most half full whatever the next batch brings."""
        from tripcloak.flows.model._kernels import number_into

        if needed <= len(self._found):
            return
        known = self._found[: self._n]
        room = 1 << (needed - 1).bit_length()
        self._found = np.empty(room, np.int64)
        self._slot_key = np.full(2 * room, -1, np.int64)
        self._slot_number = np.empty(2 * room, np.int32)
        number_into(known, self._slot_key, self._slot_number, self._found, 0, np.empty(len(known), np.int32))
