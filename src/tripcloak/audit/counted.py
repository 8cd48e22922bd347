"""Which trips of busy travellers are counted under differential privacy, worked out anew.

Of somebody with more trips than may be counted, a systematic sample is taken that follows from their own
flows and nothing else. Every flow has a mark: its tiles' ids, letter by letter, mixed to 64 bits. The sum of
a person's marks, one per trip, is mixed to their salt. Their flows are laid end to end, trip by trip, in the
order of the mixed exclusive-or of mark and salt; so that ``most`` of all are kept, the trip at which
``position * most + salt modulo all`` passes a multiple of all their trips.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.arrays import Bools, Ints

Marks = NDArray[np.uint64]
GOLDEN = 0x9E3779B97F4A7C15
BITS = 2**64 - 1


class Counted(NamedTuple):
    """How many trips of every row are counted, and whether they are those of somebody with too many."""

    trips: Ints
    busy: Bools


def counted_trips(person: Ints, origin: Marks, destination: Marks, trips: Ints, most: int) -> Counted:
    """Return how many trips of every row are counted; a row is what one person makes in one flow.

    All rows of a person must be there; ends are given by the marks of their tiles.

    Examples
    --------
    >>> ends = id_marks(["a", "b", "a"]), id_marks(["b", "a", "a"])
    >>> counted = counted_trips(np.array([1, 1, 2]), *ends, np.array([6, 6, 3]), 4)
    >>> int(counted.trips[:2].sum()), int(counted.trips[2]), counted.busy.tolist()
    (4, 3, [True, True, False])
    """
    kept = trips.astype(np.int64).copy()
    people, at = np.unique(person, return_inverse=True)
    totals = np.bincount(at, trips, minlength=len(people)).astype(np.int64)
    too_many = totals[at] > most
    busy = np.flatnonzero(too_many)
    if not len(busy):
        return Counted(kept, too_many)
    marks = _mixed(_mixed(origin[busy]) + destination[busy])
    who, made, total = at[busy], kept[busy], totals[at[busy]]
    sums = np.zeros(len(people), dtype=np.uint64)
    np.add.at(sums, who, marks * made.astype(np.uint64))
    salt = _mixed(sums)[who]
    order = np.lexsort((_mixed(marks ^ salt), who))
    # Where every flow ends when a person's are laid end to end.
    run = np.cumsum(made[order])
    first = np.flatnonzero(np.append(True, np.diff(who[order]) != 0))
    before = np.repeat(run[first] - made[order][first], np.diff(np.append(first, len(order))))
    start = (salt[order] % total[order].astype(np.uint64)).astype(np.int64)
    upto = ((run - before) * most + start) // total[order]
    below = ((run - before - made[order]) * most + start) // total[order]
    kept[busy[order]] = upto - below
    return Counted(kept, too_many)


def id_marks(names: Iterable[str]) -> Marks:
    """Return a number for every tile that follows from its id.

    >>> int(id_marks(["a"])[0]) == ord("a") * GOLDEN + 1 & BITS
    True
    """
    return np.array([_id_mark(name) for name in names], dtype=np.uint64)


def _id_mark(name: str) -> int:
    mark = 0
    for letter in name:
        mark = ((mark ^ ord(letter)) * GOLDEN + 1) & BITS
    return mark


def _mixed(bits: Marks) -> Marks:
    """Return the numbers after the last steps of the generator SplitMix64."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))
