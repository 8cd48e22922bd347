"""Additive rounding: inner numbers become multiples of a base, chosen so that their sums stay close.

After the small-count rounding of Langsrud and Heldal only inner cells are rounded, and every total is a sum
of rounded ones. Which way each goes is decided as in the controlled rounding of Cox: a flow, the total of
every zone and the total of all become one of the two multiples around them, each as often as keeps it right
on average. The choices come from a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b, shake_256

import numpy as np

from tripcloak.flows.release.publication import Publication, Publish, main_volume, publication
from tripcloak.flows.release.release import Release
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Promise, Rounding, all_of

MOST = 10**6
"""The largest base: residues of all numbers then fit easily."""


@dataclass(frozen=True)
class RoundTo:
    """What numbers are rounded to, and the secret that decides which way.

    Examples
    --------
    >>> RoundTo(5, "not so secret")
    RoundTo(base=5)
    """

    base: int
    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        if not 2 <= self.base <= MOST:
            raise InputError(f"{spelt('round')} takes a whole number from 2 to {MOST:,}; got {self.base}")


def refuse_numbers(promise: Promise, publish: Publish, to: RoundTo | None) -> Publication:
    """Return what is published, or raise where a resolved promise does not cover it, or its rounding."""
    if to is not None:
        refuse_rounding(promise, to.base)
        promise = all_of([promise, Rounding(base=to.base)])
    return publication(promise, main_volume(promise), publish)


def refuse_rounding(promise: Promise, base: int) -> None:
    """Raise where numbers cannot be rounded to multiples of a base under a resolved promise.

    >>> from tripcloak.promises import KAnonymity
    >>> refuse_rounding(KAnonymity(k=10, unit="trips"), 5)
    >>> refuse_rounding(KAnonymity(k=10, unit="trips"), 4)
    Traceback (most recent call last):
    tripcloak.InputError: numbers from k = 10 on cannot be multiples of 4: the smallest would be told as ...
    """
    asked = spelt("round", base)
    if promise.segments or promise.by_release or not promise.joins:
        raise InputError(
            f"{asked} does not go with {spelt('segment_joint', True)}, {spelt('t')} or k^m-anonymity, "
            "which are promised of exact numbers"
        )
    # Trips are at least as many as the people who make them.
    least = max((int(k) for unit, k in promise.thresholds.items() if unit != "population"), default=0)
    if not least:
        raise InputError(
            f"{asked} is of trips, and where the population alone is protected none are published; ask for k "
            f"on travellers too ({spelt('unit', 'travellers,population')})"
        )
    if least % base:
        fits = [number for number in range(2, least + 1) if least % number == 0]
        raise InputError(
            f"numbers from k = {least:,} on cannot be multiples of {base:,}: the smallest would be told as "
            f"{least // base * base:,}. Take a base that divides k ({', '.join(map(str, fits[-6:]))}): "
            f"{spelt('round', max((one for one in fits if one <= base), default=fits[0]))}"
        )


def rounded_release(release: Release, to: RoundTo, kept: Ints | None = None) -> Release:
    """Return a release whose trips are published as multiples of a base.

    Parameters
    ----------
    kept
        Of every group the number that it was told as before, -1 where it was not: such a number stays as it
        is. Where there is one, the others are decided one by one, and nothing is known of sums.
    """
    refuse_rounding(release.promise, to.base)
    own = np.full(release.n_groups, -1, dtype=np.int64) if kept is None else kept
    names = [np.unique(zones.ids[column], return_inverse=True)[1] for _, zones, column in release.axes]
    order = np.lexsort(names[::-1])
    new = order[own[order] < 0]
    numbers = own.copy()
    key = blake2b(
        b"\0".join((release.input_digest.encode(), str(to.base).encode(), release.trips[new].tobytes())),
        key=blake2b(to.secret.encode(), digest_size=32).digest(),
        digest_size=32,
    ).digest()
    sums = len(new) == release.n_groups
    numbers[new] = (
        controlled(release.trips[new], names[0][new], names[1][new], to.base, key)
        if sums
        else one_by_one(release.trips[new], to.base, key)
    )
    promise = Rounding(base=to.base, sums=sums)
    return replace(release, promise=all_of([release.promise, promise]), rounded=numbers)


def controlled(numbers: Ints, origin: Ints, destination: Ints, base: int, key: bytes) -> Ints:
    """Return multiples of a base in place of numbers, whose sums are multiples around the true ones too.

    Every number and every sum over an origin, over a destination and over all becomes one of the two
    multiples around it; a multiple stays. Each is right on average over all keys.

    Parameters
    ----------
    origin, destination
        The row and the column that each number is of.
    key
        What decides.

    Examples
    --------
    >>> told = controlled(np.array([12, 13]), np.array([0, 0]), np.array([0, 1]), 5, b"not so secret")
    >>> sorted(told.tolist())
    [10, 15]
    """
    low = numbers // base * base
    cells = np.flatnonzero(numbers != low)
    graph = _Graph.of(numbers[cells] % base, origin[cells], destination[cells], base)
    graph.settle(key)
    rounded: Ints = low.astype(np.int64)
    rounded[cells] += graph.residue[: len(cells)]
    return rounded


def one_by_one(numbers: Ints, base: int, key: bytes) -> Ints:
    """Return one of the two multiples around each number, right on average; a multiple stays.

    Examples
    --------
    >>> told = one_by_one(np.array([10, 12]), 5, b"not so secret")
    >>> int(told[0]), int(told[1]) in (10, 15)
    (10, True)
    """
    words = next(_random_words(key, max(len(numbers), 1)))[: len(numbers)]
    residue = numbers % base
    rounded: Ints = numbers - residue + np.where(words * base >> 32 < residue, base, 0)
    return rounded


@dataclass(frozen=True, eq=False)
class _Graph:
    """Numbers and their sums as edges: from an origin to a destination, from all to it, and back to all."""

    tail: Ints
    head: Ints
    residue: Ints
    nodes: int
    base: int

    @classmethod
    def of(cls, residue: Ints, origin: Ints, destination: Ints, base: int) -> _Graph:
        rows, tail = np.unique(origin, return_inverse=True)
        columns, head = np.unique(destination, return_inverse=True)
        n, m = len(rows), len(columns)
        by_row, by_column = (
            np.bincount(side, residue, minlength=size).astype(np.int64) % base
            for side, size in ((tail, n), (head, m))
        )
        source, sink = n + m, n + m + 1
        return cls(
            tail=np.concatenate([tail, np.full(n, source), n + np.arange(m), [sink]]).astype(np.int64),
            head=np.concatenate([n + head, np.arange(n), np.full(m, sink), [source]]).astype(np.int64),
            residue=np.concatenate([residue, by_row, by_column, [residue.sum() % base]]).astype(np.int64),
            nodes=n + m + 2,
            base=base,
        )

    def settle(self, key: bytes) -> None:
        """Move the residues to 0 or the base, in place."""
        from tripcloak.flows.release._kernels import turn_cycles

        lists = self._lists()
        nowhere = np.full(self.nodes, -1, dtype=np.int64)
        path = nowhere.copy(), nowhere.copy(), nowhere
        state = np.zeros(2, dtype=np.int64)
        for words in _random_words(key, max(1 << 10, min(1 << 20, 4 * len(self.residue)))):
            if turn_cycles((self.tail, self.head), self.residue, self.base, lists, path, state, words):
                break
        if np.any(self.residue % self.base):
            raise InternalError("some numbers were left between two multiples; nothing was rounded")

    def _lists(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return every node's edges that lie between two multiples, one list behind the other."""
        open_still = np.flatnonzero(self.residue)
        node = np.concatenate([self.tail[open_still], self.head[open_still]])
        order = np.argsort(node, kind="stable")
        degree = np.bincount(node, minlength=self.nodes).astype(np.int64)
        place = np.full((2, len(self.residue)), -1, dtype=np.int64)
        side, at = np.divmod(order, max(len(open_still), 1))
        place[side, open_still[at]] = np.arange(len(order))
        return np.cumsum(degree) - degree, degree, open_still[at], place


def _random_words(key: bytes, number: int) -> Iterator[Ints]:
    """Yield random numbers of 32 bits that nobody knows without the key, so many at a time."""
    counter = 0
    while True:
        stream = shake_256(key + counter.to_bytes(8, "little")).digest(4 * number)
        yield np.frombuffer(stream, dtype="<u4").astype(np.int64)
        counter += 1
