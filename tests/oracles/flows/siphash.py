"""SipHash-2-4 in plain integers, written from the paper (Aumasson and Bernstein 2012), and what uses it."""

from __future__ import annotations

from collections.abc import Sequence

WORD = (1 << 64) - 1


def siphash(key: bytes, message: bytes) -> int:
    """Return the 64-bit digest of a message."""
    k0, k1 = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    state = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        state[3] ^= word
        sip_round(state)
        sip_round(state)
        state[0] ^= word
    state[2] ^= 0xFF
    for _ in range(4):
        sip_round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def sip_round(v: list[int]) -> None:
    """Stir the state once."""
    for a, b, shift, whole in ((0, 1, 13, 32), (2, 3, 16, 0), (0, 3, 21, 0), (2, 1, 17, 32)):
        v[a] = (v[a] + v[b]) & WORD
        v[b] = rotated(v[b], shift) ^ v[a]
        v[a] = rotated(v[a], whole)


def rotated(word: int, by: int) -> int:
    """Return 64 bits rotated to the left."""
    return ((word << by) | (word >> (64 - by))) & WORD


def siphash_words(key: bytes, rows: Sequence[Sequence[int]]) -> list[int]:
    """Return the digest of every row of 64-bit words."""
    return [siphash(key, b"".join(word.to_bytes(8, "little") for word in row)) for row in rows]


def siphash_texts(key: bytes, texts: Sequence[bytes]) -> list[int]:
    """Return the digest of every text."""
    return [siphash(key, text) for text in texts]


def permuted_words(key: bytes, words: Sequence[int]) -> list[int]:
    """Return every word after four Feistel rounds (Luby and Rackoff 1988)."""
    out = []
    for word in words:
        left, right = divmod(word, 1 << 32)
        for number in range(4):
            (stirred,) = siphash_words(key, [(number, right)])
            left, right = right, left ^ (stirred % (1 << 32))
        out.append((left << 32) | right)
    return out


def sort_digests(digests: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return numbers in ascending order, and where each was; equal ones in theirs."""
    rows = sorted(range(len(digests)), key=digests.__getitem__)
    return [digests[row] for row in rows], rows


def people_of_records(
    record: Sequence[int], row: Sequence[int], number: Sequence[int], people: Sequence[int]
) -> list[int]:
    """Return whose every record is: the person of its row, or itself where that has none."""
    numbers = [number[at] for at in row]
    return [people[who] if who >= 0 else own for own, who in zip(record, numbers, strict=True)]
