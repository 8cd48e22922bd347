"""Contributions: at most so many trips of every traveller, chosen by looking at that traveller alone."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import ODMatrix

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Contributions(NamedTuple):
    """The trips that are counted, and whose presence they may tell of.

    Attributes
    ----------
    trips : array of int
        Trips of every input flow that are counted.
    unit : str
        Whose presence is to be hidden.
    most : int
        Trips by which one of them changes all numbers together, at most.
    """

    trips: Ints
    unit: Literal["traveller", "trip"]
    most: int


def bound_contributions(matrix: ODMatrix, most: int) -> Contributions:
    """Return the trips that are counted when every traveller may add so many at most.

    Where there are no ids, every trip is hidden by itself, and all are counted. Where there are, a trip
    without an id is left out: nobody could tell how many of those are one person's. In tables in which
    everybody is counted once, every trip is a traveller.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> columns = np.array([[0, 0, 0, 1], [1, 1, 1, 0], [7, 7, 7, 8]])
    >>> matrix = ODMatrix.from_trips(tree, tree, columns[0], columns[1], person=columns[2], repeats=True)
    >>> bound_contributions(matrix, 2)
    Contributions(trips=array([2, 1]), unit='traveller', most=2)
    """
    flows = matrix.flows
    if flows.travellers is None:
        return Contributions(flows.trips, "traveller" if matrix.each_trip_is_a_person else "trip", 1)
    if flows.repeats is None:
        raise InputError(
            "this matrix does not tell how many trips each traveller makes in each flow; "
            "read it with repeats=True"
        )
    kept = flows.repeats.copy()
    total = np.bincount(flows.travellers.people, kept).astype(np.int64)
    busy = np.flatnonzero(total[flows.travellers.people] > most)
    if len(busy):
        kept[busy] = _sampled(matrix, busy, most)
    flow = np.repeat(np.arange(matrix.n_flows), np.diff(flows.travellers.offsets))
    trips = np.bincount(flow, kept, minlength=matrix.n_flows).astype(np.int64)
    return Contributions(trips, "traveller", most)


def _sampled(matrix: ODMatrix, rows: Ints, most: int) -> Ints:
    """Return the trips kept of every (flow, person) in ``rows``, all rows of people who have too many.

    A systematic sample: the person's flows are laid end to end in an order that looks random, and every
    total/most-th trip is kept, from a start that looks random. Both follow from the ids of the person's
    own flows, so nothing that anybody else does can change them.
    """
    flows = matrix.flows
    assert flows.travellers is not None
    assert flows.repeats is not None
    person, repeats = flows.travellers.people[rows], flows.repeats[rows]
    mark = _flow_marks(matrix)[np.searchsorted(flows.travellers.offsets, rows, side="right") - 1]
    start, size = _runs(np.sort(person))
    by_person = np.argsort(person, kind="stable")
    own = np.add.reduceat(mark[by_person] * repeats[by_person].astype(np.uint64), start)
    salt = np.empty(len(rows), dtype=np.uint64)
    salt[by_person] = np.repeat(_mixed(own), size)
    order = np.lexsort((_mixed(mark ^ salt), person))
    ends = np.cumsum(repeats[order])
    before = np.repeat(ends[start] - repeats[order][start], size)
    total = np.repeat(np.add.reduceat(repeats[order], start), size)
    offset = (salt[order] % total.astype(np.uint64)).astype(np.int64)
    upto = ((ends - before) * most + offset) // total
    below = ((ends - before - repeats[order]) * most + offset) // total
    kept = np.empty(len(rows), dtype=np.int64)
    kept[order] = upto - below
    return kept


def _runs(people: Ints) -> tuple[Ints, Ints]:
    """Return where each person starts in a sorted column, and how many rows they have."""
    _, start, size = np.unique(people, return_index=True, return_counts=True)
    return start, size


def _flow_marks(matrix: ODMatrix) -> Ints:
    """Return a number for every flow that follows from the ids of its two tiles."""
    origin, destination = (_id_marks(tree) for tree in (matrix.origins, matrix.destinations))
    return _mixed(_mixed(origin[matrix.flows.origin]) + destination[matrix.flows.destination])


def _id_marks(tree: Hierarchy) -> Ints:
    """Return a number for every tile that follows from its id, whatever other ids there are."""
    ids = np.ascontiguousarray(tree.zones.ids[: tree.n_tiles])
    letters = ids.view(np.uint32).reshape(len(ids), -1)
    mark = np.zeros(len(ids), dtype=np.uint64)
    for letter in letters.T.astype(np.uint64):
        # Ids shorter than the longest are filled up with zeros, which must not count.
        mark = np.where(letter == 0, mark, (mark ^ letter) * _MIX + np.uint64(1))
    return mark


def _mixed(bits: Ints) -> Ints:
    """Return numbers whose bits all depend on all bits of the ones given."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits
