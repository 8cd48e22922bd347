"""Trip lengths: does the release still tell how far people travel."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Floats
from tripcloak.matrix import ODMatrix, Volume
from tripcloak.metrics.comparison import Comparison
from tripcloak.metrics.geodesic import Places
from tripcloak.release import Release


def trip_length_distance(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return the kilometres by which trip lengths shift: the earth mover's distance of both distributions.

    The length of an original trip is measured between the centres of its tiles, that of a released one
    between the points of its zones, on the ellipsoid. A trip within one zone is 0 km long. None where
    zones have no points or nothing has volume.

    Examples
    --------
    >>> from tripcloak.algorithms import ODkAnon
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> points = {"lat": np.zeros(3), "lon": np.array([0.0, 0.02, 0.01])}
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **points)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([1, 0]))
    >>> release = ODkAnon(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> round(trip_length_distance(matrix, release), 3)
    2.226
    """
    return trip_length_distance_of(Comparison.of(matrix, release, volume))


def trip_length_distance_of(comparison: Comparison) -> float | None:
    """Return the shift in trip length of a comparison."""
    matrix, release = comparison.matrix, comparison.release
    if comparison.total == 0 or comparison.released_total == 0:
        return None
    before = Places(matrix.origins.zones).metres_to(
        Places(matrix.destinations.zones), matrix.flows.origin, matrix.flows.destination
    )
    after = Places(release.origins).metres_to(
        Places(release.destinations), release.group_origin, release.group_destination
    )
    if np.isnan(before).any() or np.isnan(after).any():
        return None
    shares = comparison.original / comparison.total, comparison.released / comparison.released_total
    return earth_movers_distance(before, shares[0], after, shares[1]) / 1000


def earth_movers_distance(a: Floats, share_a: Floats, b: Floats, share_b: Floats) -> float:
    """Return the least work that turns one distribution on a line into another; shares sum to 1.

    It is the area between the two distribution functions, so one sort finds it.

    >>> whole, halves = np.array([1.0]), np.array([0.5, 0.5])
    >>> earth_movers_distance(np.array([3.0]), whole, np.array([1.0, 4.0]), halves)
    1.5
    """
    values = np.concatenate((a, b))
    order = np.argsort(values, kind="stable")
    gap = np.cumsum(np.concatenate((share_a, -share_b))[order])[:-1]
    return float((np.abs(gap) * np.diff(values[order])).sum())
