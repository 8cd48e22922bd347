"""What one traveller has of released flows: exact figures for the owner, a coarse statement for everybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model import Groups, ODMatrix
from tripcloak.flows.release.release import Release

ENOUGH = 20
"""Flows below which no share of them is told: it would be about single ones."""

FEW, SOME, MANY, UNTOLD = (
    # An id need not be a person's: what it stands for, the promise says.
    "in fewer than one in ten flows one id makes half or more of the trips",
    "in one in ten to one in two of the flows one id makes half or more of the trips",
    "in more than one in two of the flows one id makes half or more of the trips",
    "not told how often one id makes half or more of a flow's trips: there are too few flows",
)


class LargestParts(NamedTuple):
    """What the traveller with most trips has of released flows; for the eyes of the data owner.

    Attributes
    ----------
    largest : float
        The largest share of one traveller in the trips of any released flow.
    half_or_more : int
        Flows in which one traveller makes half or more of the trips.
    flows : int
        All released flows.
    """

    largest: float
    half_or_more: int
    flows: int

    @property
    def public(self) -> str:
        """Return what everybody may know.

        Bands of a tenth and a half, so that no flow is named, and neither none nor all is told; nothing
        where flows are few, since a share of them would be about single flows.

        >>> LargestParts(0.9, 0, 500).public == LargestParts(0.9, 49, 500).public == FEW
        True
        >>> LargestParts(0.9, 50, 500).public == SOME, LargestParts(0.9, 19, 19).public == UNTOLD
        (True, True)
        """
        if self.flows < ENOUGH:
            return UNTOLD
        if 10 * self.half_or_more < self.flows:
            return FEW
        return SOME if 2 * self.half_or_more <= self.flows else MANY

    def words(self) -> str:
        """Return the exact figures in words.

        >>> LargestParts(0.982, 67, 233).words()
        'one traveller has up to 98.2 % of the trips of a flow, and half or more in 67 of 233 flows'
        """
        return (
            f"one traveller has up to {100 * self.largest:.3g} % of the trips of a flow, and half or more in "
            f"{self.half_or_more:,} of {self.flows:,} flows"
        )


def largest_parts(matrix: ODMatrix, release: Release) -> LargestParts | None:
    """Return what one traveller has of released flows; None where nobody is told apart, or by noise."""
    flows = matrix.flows
    if release.promise.noisy or flows.travellers is None or flows.repeats is None:
        return None
    groups = Groups(matrix, release.group_of_flow, release.group_origin, release.group_destination)
    first = groups.largest("trips").first
    return LargestParts(
        largest=float((first / release.trips).max()),
        half_or_more=int(np.count_nonzero(2 * first >= release.trips)),
        flows=release.n_groups,
    )


def largest_entry(matrix: ODMatrix, release: Release, known: LargestParts | None = None) -> dict[str, Any]:
    """Return the manifest's entry on the largest parts, known or not yet; nothing where trips are untold."""
    told = release.publication.columns
    if "trips" not in told or release.promise.parts_of or not release.promise.of_every_group:
        return {}
    found = known or largest_parts(matrix, release)
    return {} if found is None else {"largest_parts": found.public}


def restated_largest(facts: Mapping[str, Any]) -> str:
    """Return the entry as it would be written anew; a ValueError where it is none of those there are."""
    if facts["largest_parts"] not in (FEW, SOME, MANY, UNTOLD):
        raise ValueError("the manifest says of the largest parts what is never said")
    return str(facts["largest_parts"])
