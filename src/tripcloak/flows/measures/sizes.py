"""How much is withheld, how large released groups are, and how many tiles their zones hold."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tripcloak.flows.measures.comparison import ReleaseComparison, ratio
from tripcloak.flows.measures.rebuilding import rows_by_id
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import BoxZones
from tripcloak.promises import Volume


def suppressed_share(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return S, the suppressed share of the input's volume; None if the input has no volume.

    Examples
    --------
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> origin, destination = np.array([[0, 0, 1, 1, 2], [2, 2, 2, 2, 3]])
    >>> matrix = ODMatrix.from_trips(tree, tree, origin, destination)
    >>> method = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0.4, levels=0)
    >>> release = method.anonymise(matrix)
    >>> suppressed_share(matrix, release), discernability(matrix, release)
    (0.2, 13)
    >>> average_group_size(matrix, release)
    1.0
    """
    return suppressed_share_of(ReleaseComparison.of(matrix, release, volume))


def discernability(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float:
    """Return C_DM: the squares of the group sizes plus, for what is suppressed, the whole input each.

    An exact whole number when the volume is trips. See :func:`suppressed_share` for an example.
    """
    return discernability_of(ReleaseComparison.of(matrix, release, volume))


def average_group_size(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return C_AVG, the mean volume of a released group in units of the threshold k.

    See :func:`suppressed_share` for an example.
    """
    return average_group_size_of(ReleaseComparison.of(matrix, release, volume))


def suppressed_share_of(comparison: ReleaseComparison) -> float | None:
    """Return S of a comparison."""
    return ratio(comparison.suppressed_total, comparison.total)


def discernability_of(comparison: ReleaseComparison) -> float:
    """Return C_DM of a comparison."""
    lost: float = comparison.total * comparison.suppressed_total
    return _sum_of_squares(comparison.released, comparison.released_total) + lost


def average_group_size_of(comparison: ReleaseComparison) -> float | None:
    """Return C_AVG of a comparison; None where no k is promised."""
    release = comparison.release
    return None if release.k is None else ratio(comparison.released_total, release.n_groups * release.k)


def _sum_of_squares(sizes: Floats, total: float) -> float:
    # The squares of whole numbers below 2**31 in total stay below 2**62; beyond that, Python's integers.
    fits = sizes.dtype.kind == "f" or total < 2**31
    squares = np.square(sizes if fits else sizes.astype(object))
    square_sum: float = squares.sum().item() if fits else squares.sum()
    return square_sum


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
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([2, 3, 0, 1]))
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> generalisation(matrix, release)
    4.0
    """
    if tiles not in ("full", "observed"):
        raise InputError(f"tiles must be 'full' or 'observed'; got {tiles!r}")
    return generalisation_of(ReleaseComparison.of(matrix, release, volume), tiles)


def generalisation_in_time(
    matrix: ODMatrix, release: Release, *, volume: Volume | None = None
) -> float | None:
    """Return G_time, the mean number of slots of a released trip's time; None where time is no axis.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.flows.methods import ProductCut
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy, time_hierarchy
    >>> tree, ends = Hierarchy.from_parents(["a"], [-1]), np.zeros(4, dtype=int)
    >>> times = {"times": time_hierarchy(np.array([8, 9]), 60), "slot": np.array([0, 0, 0, 1])}
    >>> matrix = ODMatrix.from_trips(tree, tree, ends, ends, **times)
    >>> release = ProductCut(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> generalisation_in_time(matrix, release)
    6.0
    """
    return generalisation_in_time_of(ReleaseComparison.of(matrix, release, volume))


def generalisation_of(comparison: ReleaseComparison, tiles: Tiles) -> float | None:
    """Return G of a comparison."""
    release = comparison.release
    origins, destinations = _full(release) if tiles == "full" else _observed(comparison.matrix, release)
    # As floats: tiles times trips can be larger than 64 bits hold.
    both = origins[release.group_origin].astype(float) + destinations[release.group_destination]
    return ratio(float((both * comparison.released).sum()), comparison.released_total)


def generalisation_in_time_of(comparison: ReleaseComparison) -> float | None:
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
