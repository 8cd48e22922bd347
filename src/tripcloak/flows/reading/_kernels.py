"""Compiled loops of reading; each has a plain twin in tests/oracles/flows/siphash.py."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_V0, _V1 = np.uint64(0x736F6D6570736575), np.uint64(0x646F72616E646F6D)
_V2, _V3 = np.uint64(0x6C7967656E657261), np.uint64(0x7465646279746573)
_LAST = np.uint64(0xFF)
_BYTE = np.uint64(8)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ROUNDS = 4


@njit(cache=True, inline="always")
def _rotated(word: np.uint64, by: int) -> np.uint64:  # pragma: no cover - compiled
    return np.uint64((word << np.uint64(by)) | (word >> np.uint64(64 - by)))


@njit(cache=True, inline="always")
def _stirred(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:  # pragma: no cover - compiled
    """Return the state after one round of SipHash."""
    v0 += v1
    v1 = _rotated(v1, 13) ^ v0
    v0 = _rotated(v0, 32)
    v2 += v3
    v3 = _rotated(v3, 16) ^ v2
    v0 += v3
    v3 = _rotated(v3, 21) ^ v0
    v2 += v1
    v1 = _rotated(v1, 17) ^ v2
    v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


@njit(cache=True, inline="always")
def _taken(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64, word: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:  # pragma: no cover - compiled
    """Return the state after eight bytes of the message: two rounds."""
    v3 ^= word
    v0, v1, v2, v3 = _stirred(v0, v1, v2, v3)
    v0, v1, v2, v3 = _stirred(v0, v1, v2, v3)
    return v0 ^ word, v1, v2, v3


@njit(cache=True, inline="always")
def _ended(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64
) -> np.uint64:  # pragma: no cover - compiled
    """Return the digest of a state: four rounds."""
    v2 ^= _LAST
    for _ in range(4):
        v0, v1, v2, v3 = _stirred(v0, v1, v2, v3)
    return np.uint64(v0 ^ v1 ^ v2 ^ v3)


@njit(cache=True)
def siphash_words(
    words: NDArray[np.uint64], k0: np.uint64, k1: np.uint64
) -> NDArray[np.uint64]:  # pragma: no cover - compiled
    """Return SipHash-2-4 of every row, given its words column by column, as bytes with the lowest first."""
    width, rows = words.shape
    out = np.empty(rows, np.uint64)
    length = np.uint64(8 * width) << np.uint64(56)
    for row in range(rows):
        v0, v1, v2, v3 = _V0 ^ k0, _V1 ^ k1, _V2 ^ k0, _V3 ^ k1
        for at in range(width):
            v0, v1, v2, v3 = _taken(v0, v1, v2, v3, words[at, row])
        v0, v1, v2, v3 = _taken(v0, v1, v2, v3, length)
        out[row] = _ended(v0, v1, v2, v3)
    return out


@njit(cache=True)
def siphash_texts(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], k0: np.uint64, k1: np.uint64
) -> NDArray[np.uint64]:  # pragma: no cover - compiled
    """Return SipHash-2-4 of every text ``data[offsets[i]:offsets[i + 1]]``."""
    out = np.empty(len(offsets) - 1, np.uint64)
    for row in range(len(out)):
        v0, v1, v2, v3 = _V0 ^ k0, _V1 ^ k1, _V2 ^ k0, _V3 ^ k1
        start, end = offsets[row], offsets[row + 1]
        word = np.uint64(0)
        # Invariant: the bytes since the last whole word of eight lie in word, the first one lowest.
        for at in range(start, end):
            place = np.uint64((at - start) & 7)
            word |= np.uint64(data[at]) << (place * _BYTE)
            if place == np.uint64(7):
                v0, v1, v2, v3 = _taken(v0, v1, v2, v3, word)
                word = np.uint64(0)
        word |= np.uint64((end - start) & 255) << np.uint64(56)
        v0, v1, v2, v3 = _taken(v0, v1, v2, v3, word)
        out[row] = _ended(v0, v1, v2, v3)
    return out


@njit(cache=True)
def permuted_words(
    words: NDArray[np.uint64], k0: np.uint64, k1: np.uint64
) -> NDArray[np.uint64]:  # pragma: no cover - compiled
    """Return every word under a keyed permutation: four Feistel rounds, each by SipHash-2-4."""
    out = np.empty(len(words), np.uint64)
    length = np.uint64(16) << np.uint64(56)
    for row in range(len(words)):
        left, right = words[row] >> _HALF, words[row] & _LOW
        for number in range(_ROUNDS):
            v0, v1, v2, v3 = _V0 ^ k0, _V1 ^ k1, _V2 ^ k0, _V3 ^ k1
            v0, v1, v2, v3 = _taken(v0, v1, v2, v3, np.uint64(number))
            v0, v1, v2, v3 = _taken(v0, v1, v2, v3, right)
            v0, v1, v2, v3 = _taken(v0, v1, v2, v3, length)
            left, right = right, left ^ (_ended(v0, v1, v2, v3) & _LOW)
        out[row] = (left << _HALF) | right
    return out


_FEW, _MANY, _MOST_BITS = 16, 64, 22
"""How many digests share their first bits; up to how many of those are sorted by inserting; bits at most."""


@njit(cache=True)
def sort_digests(
    digests: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:  # pragma: no cover - compiled
    """Return digests in ascending order, and the row of each; equal ones stay in their order.

    They are spread evenly over all numbers, so that their first bits nearly sort them; where many are equal
    all the same, those are sorted by comparing.
    """
    n, bits = len(digests), 1
    while (_FEW << bits) < n and bits < _MOST_BITS:
        bits += 1
    shift = np.uint64(64 - bits)
    ends = np.zeros((1 << bits) + 1, np.int64)
    for i in range(n):
        ends[np.int64(digests[i] >> shift) + 1] += 1
    for at in range(1, len(ends)):
        ends[at] += ends[at - 1]
    place = ends[:-1].copy()
    ordered, row = np.empty(n, np.uint64), np.empty(n, np.int32)
    for i in range(n):
        first = np.int64(digests[i] >> shift)
        ordered[place[first]], row[place[first]] = digests[i], i
        place[first] += 1
    for at in range(len(ends) - 1):
        begin, end = ends[at], ends[at + 1]
        if end - begin > _MANY:
            order = np.argsort(ordered[begin:end], kind="mergesort")
            ordered[begin:end], row[begin:end] = ordered[begin:end][order], row[begin:end][order]
            continue
        # Invariant: those from the first of these up to this one are sorted.
        for i in range(begin + 1, end):
            digest, own, to = ordered[i], row[i], i
            while to > begin and ordered[to - 1] > digest:
                ordered[to], row[to] = ordered[to - 1], row[to - 1]
                to -= 1
            ordered[to], row[to] = digest, own
    return ordered, row


@njit(cache=True)
def people_of_records(
    record: NDArray[np.uint64],
    row: NDArray[np.int32],
    number: NDArray[np.int32],
    people: NDArray[np.uint64],
) -> NDArray[np.uint64]:  # pragma: no cover - compiled
    """Return whose every record is, given the row of each and the person of each row; -1 has no number.

    Records of nobody are their own.
    """
    whose = np.empty(len(record), np.uint64)
    for i in range(len(record)):
        who = number[row[i]]
        whose[i] = people[who] if who >= 0 else record[i]
    return whose
