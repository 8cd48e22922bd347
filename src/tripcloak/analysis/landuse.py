"""Land use: zones of one kind have trips at the same hours, so their profiles cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.analysis.profiles import Profiles
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.extras import needing


class ProfileClusters(NamedTuple):
    """The cluster of every row, and the middle of every cluster."""

    of_row: Ints
    centres: Floats


def k_means(rows: Floats, clusters: int, weight: Floats, *, seed: int, starts: int) -> ProfileClusters:
    """Return rows in clusters, the tightest that several starts lead to.

    >>> import numpy as np
    >>> found = k_means(np.array([[0.0], [1.0], [9.0]]), 2, np.ones(3), seed=0, starts=3)
    >>> sorted(found.centres.ravel().tolist()), bool(found.of_row[0] == found.of_row[1])
    ([0.5, 9.0], True)
    """
    with needing("sklearn", "this analysis"):
        from sklearn.cluster import KMeans
    found = KMeans(clusters, n_init=starts, random_state=seed).fit(rows, sample_weight=weight)
    return ProfileClusters(found.labels_, found.cluster_centers_)


LEFT_OUT = -1
LEAST_A_SLOT = 2.0
"""Trips that a zone needs in a slot, on average and in each direction, for its profile to tell anything."""
STARTS = 10


class LandUse(NamedTuple):
    """The cluster of every zone, and what the clusters look like.

    Attributes
    ----------
    cluster : array of int
        0 is the cluster with the largest volume; -1 a zone with too little volume to tell.
    profiles : array of float
        One row a cluster: its zones' share of trips that start slot by slot, then of those that end.
    """

    cluster: Ints
    profiles: Floats


def land_use(profiles: Profiles, clusters: int, *, seed: int, weight: float = 1.0) -> LandUse:
    """Return zones clustered by the shape of their profiles (Matet, Côme and Furno).

    k-means on the shares of a zone's trips that start and end in each slot. Zones count by their volume,
    since the shape of a small one is mostly chance.

    Parameters
    ----------
    clusters
        How many kinds of zones to tell apart.
    weight
        What a trip counts for in the profiles.

    Raises
    ------
    ImpossibleRequestError
        There are fewer different profiles than clusters.

    Examples
    --------
    >>> morning, evening, never = [90.0, 10.0], [10.0, 90.0], [1.0, 0.0]
    >>> out = np.array([morning, evening, morning, never])
    >>> land_use(Profiles(out, out[[1, 0, 1, 3]]), 2, seed=0).cluster.tolist()
    [0, 1, 0, -1]
    """
    told = telling(profiles, weight)
    shapes, volume = profiles.shapes[told], profiles.volume[told]
    if len(np.unique(shapes.round(6), axis=0)) < clusters:
        raise ImpossibleRequestError(
            f"fewer than {clusters} zones with enough trips have profiles that differ: the release is too "
            "coarse for this many kinds of land use, or the zones are too small; ask for fewer (--clusters) "
            "or give larger zones (--zones)"
        )
    found = k_means(shapes, clusters, volume, seed=seed, starts=STARTS)
    held = np.bincount(found.of_row, volume, minlength=clusters)
    order = np.argsort(-held, kind="stable")
    cluster = np.full(len(told), LEFT_OUT)
    cluster[told] = np.argsort(order, kind="stable")[found.of_row]
    return LandUse(cluster, found.centres[order])


def telling(profiles: Profiles, weight: float = 1.0) -> Bools:
    """Return which zones have trips enough for their profile to be more than chance.

    >>> telling(Profiles(np.array([[4.0, 4.0], [3.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 3.0]]))).tolist()
    [True, False]
    """
    enough: Bools = profiles.volume >= 2 * LEAST_A_SLOT * weight * profiles.out.shape[1]
    return enough
