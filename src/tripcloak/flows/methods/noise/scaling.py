"""Scaling: every traveller's whole vector of flows, made as short as the noise allows, and how short that is.

Travellers are not sampled but scaled: who makes too many trips counts in every flow with a part of each. What
is counted are whole parts of a trip, so that sums and norms are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods.noise.noisy import Domains, repeats_of
from tripcloak.flows.methods.noise.parts import zones_of_flows
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InternalError

PARTS = 1024
"""Parts that a trip is counted in."""
CLASSES = 41
"""Classes of norms: up to 1, √2, 2, ... trips; the last one holds all that are longer."""
LONGEST = 2**20
"""Trips that anybody may be scaled to: squares of norms, in parts of a trip, then fit into 64 bits."""
CLEAR = 2.0
"""Standard deviations that a class must be above 0 by to be believed to hold anybody."""


class Presence(NamedTuple):
    """What travellers do in flows: a row for every flow of every traveller, with their trips."""

    person: Ints
    flow: Ints
    trips: Ints
    people: int


def presence_of(matrix: ODMatrix) -> Presence:
    """Return who makes how many trips in which flow; travellers are numbered from 0."""
    travellers, repeats = repeats_of(matrix)
    flow = np.repeat(np.arange(matrix.n_flows), np.diff(travellers.offsets))
    known, person = np.unique(travellers.people, return_inverse=True)
    return Presence(person, flow, repeats.astype(np.int64), len(known))


def norms(
    presence: Presence, matrix: ODMatrix, domains: Domains, heights: Sequence[int], order: int = 2
) -> Floats:
    """Return the norm of every traveller's trips between zones, for every height a column.

    The Euclidean norm, or with an ``order`` of 1 their sum.
    """
    found = np.zeros((presence.people, len(heights)))
    for column, (person, trips) in _by_height(presence, presence.trips, matrix, domains, heights):
        powers = np.bincount(person, trips.astype(float) ** order, minlength=presence.people)
        found[:, column] = powers ** (1 / order)
    return found


def norm_classes(norms: Floats) -> Ints:
    """Return the class of every norm: class j holds those above 2**((j - 1) / 2) and up to 2**(j / 2).

    >>> norm_classes(np.array([1.0, 1.2, 2.0, 1e30])).tolist()
    [0, 1, 2, 40]
    """
    classes = np.ceil(2 * np.log2(np.maximum(norms, 1)) - 1e-9)
    return np.minimum(classes, CLASSES - 1).astype(np.int64)


def class_sizes(classes: Ints) -> Ints:
    """Return how many travellers each class holds. One traveller more or less changes one number by one."""
    return np.bincount(classes, minlength=CLASSES)


def class_at(noisy: Ints, scale: float, share: float) -> int:
    """Return the class up to which this share of the travellers lies, told from noisy sizes alone.

    Only the largest class and those that join it are believed: there are many classes, most are empty, and
    one of those may well look large by its noise.

    >>> class_at(np.array([0, 60, 40, 5, 0]), 2.0, 0.5), class_at(np.array([9, 0, 60, 40, 5]), 2.0, 0.9)
    (1, 3)
    """
    first, last = seen_classes(noisy, scale)
    sizes = noisy[first : last + 1]
    if sizes.sum() <= 0:
        return int(noisy.argmax())
    return first + int(np.searchsorted(np.cumsum(sizes), share * sizes.sum()))


def seen_classes(noisy: Ints, scale: float) -> tuple[int, int]:
    """Return the first and the last of the classes that are seen to hold travellers, in one run.

    >>> seen_classes(np.array([9, 0, 60, 40, 5, 2, 50]), 2.0)
    (2, 4)
    """
    top = int(noisy.argmax())
    empty = np.flatnonzero(noisy <= CLEAR * scale)
    below, above = empty[empty < top], empty[empty > top]
    first = int(below[-1]) + 1 if len(below) else 0
    return first, int(above[0]) - 1 if len(above) else len(noisy) - 1


def class_norm(number: int, parts: int = PARTS) -> int:
    """Return the largest norm of a class, in whole parts of a trip.

    >>> class_norm(0), class_norm(1), class_norm(2)
    (1024, 1448, 2048)
    """
    return math.isqrt(2**number * parts**2)


def scaled(
    presence: Presence,
    matrix: ODMatrix,
    domains: Domains,
    heights: Sequence[int],
    allowed: Sequence[int],
    order: int = 2,
) -> Ints:
    """Return the parts of trips that are counted of every flow, no traveller longer than allowed.

    At every height, the parts that one traveller has between pairs of zones have a norm of ``allowed`` at
    most. Each is scaled by one factor of their own, which no one else changes, and rounded
    down; then norms are checked in whole numbers.
    """
    lengths = norms(presence, matrix, domains, heights, order)
    room = np.array(allowed, dtype=float) / (PARTS * np.maximum(lengths, 1))
    factor = np.minimum(room.min(axis=1), 1.0)
    parts = np.floor(presence.trips * (PARTS * factor)[presence.person]).astype(np.int64)
    long = too_long(presence, parts, matrix, domains, heights, allowed, order)
    # A factor that was rounded up by the last bit may leave somebody a hair too long.
    shorter = np.floor(presence.trips * (PARTS * factor * (1 - 1e-6))[presence.person]).astype(np.int64)
    parts = np.where(long[presence.person], shorter, parts)
    if too_long(presence, parts, matrix, domains, heights, allowed, order).any():
        raise InternalError("a traveller counts for more than the noise hides; nothing was released")
    return np.bincount(presence.flow, parts, minlength=matrix.n_flows).astype(np.int64)


def too_long(
    presence: Presence,
    parts: Ints,
    matrix: ODMatrix,
    domains: Domains,
    heights: Sequence[int],
    allowed: Sequence[int],
    order: int = 2,
) -> Ints:
    """Return whose parts are longer than allowed at some height, in whole numbers."""
    long = np.zeros(presence.people, dtype=bool)
    for column, (person, counted) in _by_height(presence, parts, matrix, domains, heights):
        powers = np.zeros(presence.people, dtype=np.int64)
        # Norms are 2**30 parts at most, and never much longer here: squares fit.
        np.add.at(powers, person, counted**order)
        long |= powers > allowed[column] ** order
    return long


def bounded_total(presence: Presence, most: int) -> int:
    """Return the trips of all travellers, of each so many at most."""
    trips = np.bincount(presence.person, presence.trips, minlength=presence.people)
    return int(np.minimum(trips, most).sum())


def _by_height(
    presence: Presence, values: Ints, matrix: ODMatrix, domains: Domains, heights: Sequence[int]
) -> Iterator[tuple[int, tuple[Ints, Ints]]]:
    """Yield, for every height's number, travellers and what each has between one pair of zones."""
    for column, height in enumerate(heights):
        zones = [np.unique(side, return_inverse=True) for side in zones_of_flows(matrix, domains, height)]
        pair = zones[0][1].astype(np.int64) * len(zones[1][0]) + zones[1][1]
        known, pair = np.unique(pair, return_inverse=True)
        keys, at = np.unique(presence.person * len(known) + pair[presence.flow], return_inverse=True)
        yield column, (keys // len(known), np.bincount(at, values).astype(np.int64))
