"""Unevenness: how clumped trips are inside zones, learnt from how unevenly neighbouring zones share theirs.

Nobody sees into a released zone. But released zones can be joined, some neighbours at a time, as if only
their union had been released; what an even spread would give each of them is then held against what was
released. What it takes to cover 95 % of those known cases is taken for the unknown ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tripcloak.analysis.overlap import Overlap
from tripcloak.analysis.reconstruction import NORMAL_95, moments
from tripcloak.ground.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEIGHBOURS = (2, 4, 8)
"""Zones that are joined: several scales, of which the most uneven counts."""

FEWEST_CASES = 30
"""With fewer known cases nothing is learnt, and all trips of a flow may be in one place."""

MOST_ZONES = 1500
"""Zones of an axis that are looked at, those with most volume: tables of pairs are whole."""


class Places(NamedTuple):
    """Zones of one axis that do not overlap: middles, areas, and the zone of every flow (-1: none)."""

    lat: Floats
    lon: Floats
    area: Floats
    of_flow: Ints


def unevenness(origins: Places, destinations: Places, volume: Floats, hidden: float) -> float:
    """Return how clumped trips are: 0 where they spread evenly, 1 where all of a flow may be in one place.

    Parameters
    ----------
    volume
        What every flow holds.
    hidden
        What a pair of zones without a flow may hold and not be released.

    Examples
    --------
    >>> n = 12
    >>> line = Places(np.zeros(n), np.arange(n) / 100, np.ones(n), np.repeat(np.arange(n), n))
    >>> other = line._replace(of_flow=np.tile(np.arange(n), n))
    >>> unevenness(line, other, np.full(n * n, 50.0), 9.0)
    0.0
    >>> lumps = np.where((line.of_flow % 2 == 0) & (other.of_flow % 2 == 0), 200.0, 0.0)
    >>> unevenness(line, other, lumps, 9.0) > 0.2
    True
    """
    known = (origins.of_flow >= 0) & (destinations.of_flow >= 0)
    shape = len(origins.area), len(destinations.area)
    truth = np.zeros(shape)
    np.add.at(truth, (origins.of_flow[known], destinations.of_flow[known]), volume[known])
    found = [_at_scale(origins, destinations, truth, hidden, many) for many in NEIGHBOURS]
    return max(found)


def _at_scale(origins: Places, destinations: Places, truth: Floats, hidden: float, many: int) -> float:
    """Return the least clumpiness that covers 95 % of the cases of one scale."""
    from scipy.sparse import csr_array

    shares = [_joined(places, many) for places in (origins, destinations)]
    whole = csr_array((shares[0] > 0).astype(float) @ truth @ (shares[1] > 0).astype(float).T)
    found = moments(whole, *(Overlap(share, np.zeros(share.shape[0])) for share in shares))
    expected, clumped, even = (table.toarray() for table in found)
    cases = clumped > 1e-9 * np.maximum(expected, 1e-300)
    if cases.sum() < FEWEST_CASES:
        return 1.0
    off = np.where(truth > 0, np.abs(truth - expected), np.maximum(expected - hidden, 0.0))[cases]
    needed = ((off / NORMAL_95) ** 2 - even[cases]) / clumped[cases]
    return float(np.clip(np.quantile(needed, 0.95), 0.0, 1.0))


def _joined(places: Places, many: int) -> csr_array:
    """Return the share of every zone (columns) in the union it belongs to (rows), neighbours together."""
    from scipy.sparse import coo_array

    union = np.empty(len(places.area), dtype=np.int64)
    union[_along_a_curve(places.lat, places.lon)] = np.arange(len(union)) // many
    share = places.area / np.bincount(union, places.area)[union]
    return coo_array((share, (union, np.arange(len(union))))).tocsr()


def _along_a_curve(lat: Floats, lon: Floats) -> Ints:
    """Return places in an order in which neighbours follow each other (Morton's)."""
    key = np.zeros(len(lat), dtype=np.int64)
    for shift, degrees in enumerate((lon, lat)):
        extent = max(float(np.ptp(degrees)), 1e-12)
        step = ((degrees - degrees.min()) / extent * 1023).astype(np.int64)
        for bit in range(10):
            key |= ((step >> bit) & 1) << (2 * bit + shift)
    return np.argsort(key, kind="stable")


def largest(volume: Floats, of_flow: Ints, kept: Bools) -> Ints:
    """Return the rows of the zones that are kept and have most volume, ascending.

    >>> largest(np.array([1.0, 2.0]), np.array([1, 2]), np.array([True, True, False])).tolist()
    [1]
    """
    total = np.bincount(of_flow, volume, minlength=len(kept)) * kept
    order = np.argsort(-total, kind="stable")[:MOST_ZONES]
    rows: Ints = np.sort(order[total[order] > 0])
    return rows
