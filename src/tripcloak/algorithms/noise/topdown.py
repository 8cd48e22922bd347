"""Top down: pairs of zones that hold trips are split into all pairs of their parts, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tripcloak.algorithms.noise.noisy import Domains
from tripcloak.arrays import Ints
from tripcloak.errors import ImpossibleRequestError
from tripcloak.hierarchy import Domain
from tripcloak.hierarchy.tiling import Keys
from tripcloak.matrix import ODMatrix

MOST_PAIRS = 10_000_000
"""Pairs of zones that may get noise at one height: some minutes of OpenDP's time."""


class Pairs(NamedTuple):
    """Pairs of zones with their noisy trips, 1 or more, and the pair of every flow (-1: in none of them)."""

    origin: Keys
    destination: Keys
    trips: Ints
    of_flow: Ints


def whole(domains: Domains, total: Ints, n_flows: int) -> Pairs:
    """Return the one pair that holds everything; none if the noisy total is 0 or less."""
    kept = total > 0
    of_flow = np.full(n_flows, 0 if kept.any() else -1, dtype=np.int32)
    return Pairs(domains[0].root[kept], domains[1].root[kept], total[kept], of_flow)


def zones_of_flows(matrix: ODMatrix, domains: Domains, height: int) -> tuple[Keys, Keys]:
    """Return the zones at most this high that every flow starts and ends in."""
    origin, destination = (
        domain.lift(tree, height)[tile] for domain, (tree, tile) in zip(domains, matrix.axes, strict=True)
    )
    return origin, destination


def split(
    pairs: Pairs,
    domains: Domains,
    height: int,
    flows: tuple[Keys, Keys],
    counted: Ints,
    add: Callable[[Ints], Ints],
) -> Pairs:
    """Return the pairs of parts, at most this high, that hold trips once noise is added and sums are kept.

    Parameters
    ----------
    flows
        The zones at most this high that every flow starts and ends in.
    counted
        The trips of every flow.
    add
        Adds noise. It sees all parts of a pair, also those that no flow lies in: which those are must not
        show.
    """
    from tripcloak.algorithms.noise._kernels import closest_with_sums

    alive = np.flatnonzero(pairs.of_flow >= 0)
    within = pairs.of_flow[alive]
    sides = [
        _Side(domain, zones, height)
        for domain, zones in zip(domains, (pairs.origin, pairs.destination), strict=True)
    ]
    sizes = sides[0].size * sides[1].size
    _refuse_if_many(int(sizes.sum()))
    first = np.concatenate(([0], np.cumsum(sizes)))
    nth = [side.nth(within, zones[alive]) for side, zones in zip(sides, flows, strict=True)]
    part = first[within] + nth[0] * sides[1].size[within] + nth[1]
    exact = np.bincount(part, counted[alive], minlength=first[-1]).astype(np.int64)
    # A pair that is not split keeps its number; its exact one is not looked at again.
    noisy, open_ = np.zeros(first[-1], dtype=np.int64), np.repeat(sizes > 1, sizes)
    noisy[open_] = add(exact[open_])
    trips = closest_with_sums(noisy, first, pairs.trips)
    kept = np.flatnonzero(trips)
    number = np.full(first[-1], -1, dtype=np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    of_flow = pairs.of_flow.copy()
    of_flow[alive] = number[part]
    parent = np.searchsorted(first, kept, side="right") - 1
    place = np.divmod(kept - first[parent], sides[1].size[parent])
    origin, destination = (side.part(parent, at) for side, at in zip(sides, place, strict=True))
    return Pairs(origin, destination, trips[kept], of_flow)


class _Side:
    """One axis of some pairs of zones: the parts that each pair's zone is split into."""

    def __init__(self, domain: Domain, zones: Keys, height: int) -> None:
        known, row = np.unique(zones, return_inverse=True)
        offsets, self._members = domain.split(known, height)
        self._start = offsets[row]
        self.size: Ints = offsets[row + 1] - offsets[row]
        self._order = np.argsort(self._members)

    def nth(self, pair: Ints, zone: Keys) -> Ints:
        """Return which part of the zone of its pair a zone is."""
        at = np.searchsorted(self._members, zone, sorter=self._order)
        place: Ints = self._order[at] - self._start[pair]
        return place

    def part(self, pair: Ints, nth: Ints) -> Keys:
        """Return the nth part of the zone of a pair."""
        members: Keys = self._members[self._start[pair] + nth]
        return members


def _refuse_if_many(pairs: int) -> None:
    # What is left after noise is no secret, so neither is this.
    if pairs > MOST_PAIRS:
        raise ImpossibleRequestError(
            f"not possible: more than {MOST_PAIRS:,} pairs of zones would need noise at one height. "
            "Choose coarser zones (--height), a smaller epsilon or more contributions."
        )
