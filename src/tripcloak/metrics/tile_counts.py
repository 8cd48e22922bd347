"""Generalisation: how many tiles, and slots of time, the zones of a released trip hold."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.errors import InputError
from tripcloak.hierarchy import BoxZones
from tripcloak.matrix import ODMatrix, Volume
from tripcloak.metrics.comparison import Comparison, ratio
from tripcloak.metrics.rebuilding import rows_by_id
from tripcloak.release import Release

Tiles = Literal["full", "observed"]


def generalisation(
    matrix: ODMatrix, release: Release, tiles: Tiles = "full", *, volume: Volume | None = None
) -> float | None:
    """Return G, the mean number of tiles of a released trip's two zones; None if nothing has volume.

    Parameters
    ----------
    matrix, release
        The input and what was released of it.
    tiles
        ``full`` takes every tile of a zone, ``observed`` those that occur in the input on that axis.
    volume
        What is summed: trips or population; by default what the release publishes.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.algorithms import ODkAnon
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([2, 3, 0, 1]))
    >>> release = ODkAnon(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> generalisation(matrix, release)
    4.0
    """
    if tiles not in ("full", "observed"):
        raise InputError(f"tiles must be 'full' or 'observed'; got {tiles!r}")
    return generalisation_of(Comparison.of(matrix, release, volume), tiles)


def generalisation_in_time(
    matrix: ODMatrix, release: Release, *, volume: Volume | None = None
) -> float | None:
    """Return G_time, the mean number of slots of a released trip's time; None where time is no axis.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.algorithms import ProductCut
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy, time_hierarchy
    >>> tree, ends = Hierarchy.from_parents(["a"], [-1]), np.zeros(4, dtype=int)
    >>> times = {"times": time_hierarchy(np.array([8, 9]), 60), "slot": np.array([0, 0, 0, 1])}
    >>> matrix = ODMatrix.from_trips(tree, tree, ends, ends, **times)
    >>> release = ProductCut(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> generalisation_in_time(matrix, release)
    6.0
    """
    return generalisation_in_time_of(Comparison.of(matrix, release, volume))


def generalisation_of(comparison: Comparison, tiles: Tiles) -> float | None:
    """Return G of a comparison."""
    release = comparison.release
    origins, destinations = _full(release) if tiles == "full" else _observed(comparison.matrix, release)
    # As floats: tiles times trips can be larger than 64 bits hold.
    both = origins[release.group_origin].astype(float) + destinations[release.group_destination]
    return ratio(float((both * comparison.released).sum()), comparison.released_total)


def generalisation_in_time_of(comparison: Comparison) -> float | None:
    """Return G_time of a comparison."""
    release = comparison.release
    if release.times is None:
        return None
    slots = release.times.tiles[release.group_time].astype(float)
    return ratio(float((slots * comparison.released).sum()), comparison.released_total)


def _full(release: Release) -> tuple[Ints, Ints]:
    return release.origins.tiles, release.destinations.tiles


def _observed(matrix: ODMatrix, release: Release) -> tuple[Ints, Ints]:
    """Return how many tiles that occur every released zone of origins and of destinations holds.

    Counted by the matrix: one tree may serve both axes, and its own column then speaks of both.
    """
    origins, destinations = (
        zones.tiles_observed if isinstance(zones, BoxZones) else np.append(below, 0)[rows_by_id(tree, zones)]
        for tree, zones, below in zip(
            (matrix.origins, matrix.destinations),
            (release.origins, release.destinations),
            matrix.covers("tiles"),
            strict=True,
        )
    )
    return origins, destinations
