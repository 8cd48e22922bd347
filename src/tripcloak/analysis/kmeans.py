"""k-means, as scikit-learn does it."""

from __future__ import annotations

from typing import NamedTuple

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError


class Clusters(NamedTuple):
    """The cluster of every row, and the middle of every cluster."""

    of_row: Ints
    centres: Floats


def k_means(rows: Floats, clusters: int, weight: Floats, *, seed: int, starts: int) -> Clusters:
    """Return rows in clusters, the tightest that several starts lead to.

    >>> import numpy as np
    >>> found = k_means(np.array([[0.0], [1.0], [9.0]]), 2, np.ones(3), seed=0, starts=3)
    >>> sorted(found.centres.ravel().tolist()), bool(found.of_row[0] == found.of_row[1])
    ([0.5, 9.0], True)
    """
    try:
        from sklearn.cluster import KMeans
    except ImportError:
        raise InputError(
            "this analysis needs scikit-learn; install it with `pip install 'tripcloak[sklearn]'`"
        ) from None
    found = KMeans(clusters, n_init=starts, random_state=seed).fit(rows, sample_weight=weight)
    return Clusters(found.labels_, found.cluster_centers_)
