"""What is told of the withheld volume: a band, whose edges follow from public numbers alone.

The number itself would tell about absent pairs of released zones: all of them together hold it, and each
of them fewer than k. Of a band, every absent pair taken alone may still hold nothing, or k - 1; zero and
small volumes share the lowest one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release.release import Release
from tripcloak.flows.release.totals import counts_more
from tripcloak.ground.errors import InternalError
from tripcloak.promises import Promise, Volume

LADDER = (1, 2, 5, 10, 20, 50)
"""Percent of the whole volume at which bands may end, below the limit."""

WITHOUT_TRIPS = "within the limit; not told, because trips are not published"

OF_ROUNDED = "within the limit; not told more closely, because numbers are rounded"

_HAIR = Fraction(1, 10**12)
"""By so much releases may pass their limit, where sums differ by rounding alone."""


class Band(NamedTuple):
    """The withheld volume lies between these two numbers, both included, or these two shares in percent."""

    at_least: int
    at_most: int
    percent: tuple[float, float]

    def entry(self, volume: Volume) -> dict[str, Any]:
        """Return what a manifest says of it.

        >>> Band(0, 200, (0, 2)).entry("trips")
        {'at_least': 0, 'at_most': 200, 'words': 'between 0 and 2 % of the trips'}
        """
        low, high = (f"{share:g}" for share in self.percent)
        words = f"between {low} and {high} % of the {volume}" if self.percent[1] else f"none of the {volume}"
        return {"at_least": self.at_least, "at_most": self.at_most, "words": words}


def withheld_bands(
    promise: Promise, *, volume: Volume, released: int, limit: float, absent: int
) -> list[Band]:
    """Return the bands that the withheld volume may be told in, the lowest first.

    The lowest holds 0 and k - 1. A band begins above that only if the absent pairs but one can hold all
    of it, each with fewer than k: so none of them need hold anything. The last ends where the limit does.

    Parameters
    ----------
    released
        The released volume.
    limit
        Share of the volume that may be withheld.
    absent
        Pairs of released zones that are not released and share no place; 0 tells nothing but the limit.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> ten = KAnonymity(k=10, unit="trips")
    >>> [band[:2] for band in withheld_bands(ten, volume="trips", released=900, limit=0.1, absent=4)]
    [(0, 9), (10, 18), (19, 100)]
    >>> [band[:2] for band in withheld_bands(ten, volume="trips", released=900, limit=0.1, absent=2)]
    [(0, 100)]
    """
    # Where trips are the volume, a traveller makes one at least, and a population may be any.
    kept = [k for unit, k in promise.thresholds.items() if volume == "population" or unit != "population"]
    fewest, most = int(min(kept)) - 1, int(max(kept)) - 1
    room = (absent - 1) * fewest if promise.tells_withheld else 0
    top = _within(released, limit, volume)
    edges = [(released * share // (100 - share), share) for share in LADDER]
    inner = [(edge, share) for edge, share in edges if most <= edge < top and edge < room]
    begins = [(0, 0.0), *((edge + 1, share) for edge, share in inner)]
    ends = [*inner, (top, 100 * limit)]
    return [Band(first, last, (low, high)) for (first, low), (last, high) in zip(begins, ends, strict=True)]


def withheld_entry(matrix: ODMatrix, release: Release, released: int) -> dict[str, Any]:
    """Return what the manifest says of the withheld volume, given the released one; of noise, nothing."""
    if release.promise.noisy:
        return _untold(release.promise.silence)
    if release.promise.rounding is not None:
        return _untold(OF_ROUNDED)
    if release.volume not in release.publication.columns:
        return _untold(WITHOUT_TRIPS)
    volume = float(matrix.volume(release.volume)[release.suppressed].sum())
    # Sums of weights depend on their order in the last digits.
    number = math.ceil(volume * (1 - 1e-9))
    bands = withheld_bands(
        release.promise,
        volume=release.volume,
        released=released,
        limit=release.suppression_limit,
        absent=_absent(release.zone_numbers, release.n_groups, release.homogeneous and not _laid(release)),
    )
    for band in bands:
        if number <= band.at_most:
            return band.entry(release.volume)
    raise InternalError("the withheld volume is in no band; nothing was released")


def restated_withheld(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry on the withheld volume as it would be written anew, given the manifest."""
    promise, told = Promise.from_manifest(facts["promise"]), facts["withheld"]
    if promise.noisy:
        return _untold(promise.silence)
    if promise.rounding is not None:
        return _untold(OF_ROUNDED)
    if facts["volume"] == "travellers":
        return _untold(WITHOUT_TRIPS)
    bands = withheld_bands(
        promise,
        volume=facts["volume"],
        released=facts["released"],
        limit=facts["parameters"]["suppression_limit"],
        absent=_absent(
            tuple(facts["zones"].values()), facts["groups"], facts["homogeneous"] and not counts_more(facts)
        ),
    )
    (band,) = (band for band in bands if [*band[:2]] == [told["at_least"], told["at_most"]])
    return band.entry(facts["volume"])


def _laid(release: Release) -> bool:
    """Return whether tables tell where some of the withheld volume is: a band would tell of the rest."""
    return release.tables is not None and len(release.tables.laid_at) > 0


def _untold(words: str) -> dict[str, Any]:
    return {"at_least": None, "at_most": None, "words": words}


def _absent(zones: tuple[int, ...], groups: int, homogeneous: bool) -> int:
    """Return the absent pairs of released zones; none where zones overlap, and so would pairs."""
    return math.prod(zones) - groups if homogeneous else 0


def _within(released: int, limit: float, volume: Volume) -> int:
    """Return the largest volume that may be withheld beside a released one."""
    share = min(Fraction(limit) * (1 + _HAIR), 1 - _HAIR)
    if volume == "trips":
        return math.floor(share * released / (1 - share))
    # The released population is told in whole people.
    return math.ceil(share * (released + Fraction(1, 2)) / (1 - share))
