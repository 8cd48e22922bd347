"""Parts: pairs of zones, split into all pairs of their parts, whether they occur or not."""

from __future__ import annotations

import numpy as np

from tripcloak.flows.methods.noise.noisy import Domains
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Domain
from tripcloak.hierarchy.tiling import Keys

MOST_PAIRS = 10_000_000
"""Pairs of zones that may get noise at one height: some minutes of OpenDP's time."""


def zones_of_flows(matrix: ODMatrix, domains: Domains, height: int) -> tuple[Keys, Keys]:
    """Return the zones at most this high that every flow starts and ends in."""
    origin, destination = (
        domain.lift(tree, height)[tile] for domain, (tree, tile) in zip(domains, matrix.axes, strict=True)
    )
    return origin, destination


class Parts:
    """All pairs of parts of some pairs of zones, the parts of one pair in a row.

    Parameters
    ----------
    origin, destination
        The pairs that are split.
    height
        How high parts are at most.

    Attributes
    ----------
    sizes : array of int
        Into how many parts every pair falls.
    first : array of int
        Where its parts begin, and their number in the end.
    """

    def __init__(self, domains: Domains, origin: Keys, destination: Keys, height: int) -> None:
        self._sides = [
            _Side(domain, zones, height) for domain, zones in zip(domains, (origin, destination), strict=True)
        ]
        self.sizes: Ints = self._sides[0].size * self._sides[1].size
        _refuse_if_many(int(self.sizes.sum()))
        self.first: Ints = np.concatenate(([0], np.cumsum(self.sizes)))

    def holding(self, pair: Ints, origin: Keys, destination: Keys) -> Ints:
        """Return the part of its pair that each pair of zones is."""
        nth = [side.nth(pair, zones) for side, zones in zip(self._sides, (origin, destination), strict=True)]
        part: Ints = self.first[pair] + nth[0] * self._sides[1].size[pair] + nth[1]
        return part

    def zones(self, part: Ints) -> tuple[Ints, Keys, Keys]:
        """Return the pair that every part is of, and its two zones."""
        pair = np.searchsorted(self.first, part, side="right") - 1
        place = np.divmod(part - self.first[pair], self._sides[1].size[pair])
        origin, destination = (side.part(pair, at) for side, at in zip(self._sides, place, strict=True))
        return pair, origin, destination


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
            f"Choose coarser zones ({spelt('height')}), a smaller epsilon or more contributions."
        )
