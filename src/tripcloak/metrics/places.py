"""Displacement: how far the released places lie from the true ones (the papers' GDM)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.matrix import ODMatrix, Points, Volume
from tripcloak.metrics.comparison import Comparison
from tripcloak.metrics.geodesic import Places
from tripcloak.metrics.spread import Spread
from tripcloak.release import Release

_PIECE = 1 << 18


class Displacement(NamedTuple):
    """Metres from true to released places: mean, median and standard deviation."""

    mean: float
    median: float
    std: float


def displacement(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> Displacement | None:
    """Return GDM: the metres from where trips began and ended to the released zones' points.

    Measured on the WGS 84 ellipsoid, for kept trips, both ends together, each trip by its volume. Where
    the raw points are gone the centre of the tile stands in for them. None where zones have no points
    or nothing kept has volume. The thesis on ODkAnon (section 4.3) calls it the generalisation distance.

    Examples
    --------
    >>> from tripcloak.algorithms import ODkAnon
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> points = {"lat": np.zeros(3), "lon": np.array([0.0, 0.02, 0.01])}
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **points)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([0, 0]))
    >>> release = ODkAnon(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> found = displacement(matrix, release)
    >>> round(found.mean, 2), round(found.median, 2)
    (556.6, 556.6)
    """
    return displacement_of(Comparison.of(matrix, release, volume))


def displacement_of(comparison: Comparison) -> Displacement | None:
    """Return GDM of a comparison."""
    spread = Spread()
    ends = _centres(comparison) if comparison.matrix.points is None else _raw_ends(comparison)
    for metres, weights in ends:
        if np.isnan(metres).any():
            return None
        spread.add(metres, weights)
    if spread.weight == 0:
        return None
    return Displacement(mean=spread.mean, median=spread.median(), std=spread.deviation)


def _centres(comparison: Comparison) -> Iterator[tuple[Floats, Floats]]:
    """Yield the metres from the tile centres of every kept flow, and the flow's volume; end by end."""
    matrix, release = comparison.matrix, comparison.release
    kept = np.flatnonzero(~release.suppressed)
    group = release.group_of_flow[kept]
    weights = comparison.original[kept]
    for tree, zones, tile, zone in (
        (matrix.origins, release.origins, matrix.flows.origin, release.group_origin),
        (matrix.destinations, release.destinations, matrix.flows.destination, release.group_destination),
    ):
        yield Places(tree.zones).metres_to(Places(zones), tile[kept], zone[group]), weights


def _raw_ends(comparison: Comparison) -> Iterator[tuple[Floats, Floats | None]]:
    """Yield the metres from the raw ends of kept trips, and the trips' weights; chunk by chunk."""
    matrix, release = comparison.matrix, comparison.release
    origins, destinations = Places(release.origins), Places(release.destinations)
    assert matrix.points is not None
    for points in _pieces(matrix.points()):
        group = _groups(comparison, points)
        kept = np.flatnonzero(group >= 0)
        group = group[kept]
        weights = _weights(comparison, points)
        # One array for both ends: it is held until the median is known.
        picked = None if weights is None else weights[kept]
        yield (
            origins.metres_from(
                points.origin_lat[kept], points.origin_lon[kept], release.group_origin[group]
            ),
            picked,
        )
        yield (
            destinations.metres_from(
                points.destination_lat[kept], points.destination_lon[kept], release.group_destination[group]
            ),
            picked,
        )


def _pieces(chunks: Iterator[Points]) -> Iterator[Points]:
    """Yield the chunks in pieces of bounded size, so that one huge chunk costs no huge temporary arrays."""
    for points in chunks:
        for start in range(0, len(points.origin), _PIECE):
            piece: list[Any] = [None if c is None else c[start : start + _PIECE] for c in points]
            yield Points(*piece)


def _groups(comparison: Comparison, points: Points) -> Ints:
    flow = comparison.matrix.find(points.origin, points.destination, points.slot)
    if (flow < 0).any():
        raise InputError(
            "the raw points name a pair of tiles that the matrix does not have; "
            "give the points of the same trips the matrix was made from"
        )
    return comparison.release.group_of_flow[flow]


def _weights(comparison: Comparison, points: Points) -> Floats | None:
    if comparison.volume == "trips":
        return None
    if points.weight is None:
        raise InputError("the raw points carry no weight, so they have no population; measure them on trips")
    return points.weight
