"""Glove-sk: flows clustered by scikit-learn, blind to their volume, and cut as low as the limit allows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tripcloak.algorithms.base import Progress, Solution
from tripcloak.algorithms.boxed import BoxMethod, boxed
from tripcloak.algorithms.glove.merges import Merges, first_fit, flow_points, nearest, refuse_many_flows
from tripcloak.arrays import Floats
from tripcloak.criteria import Criterion
from tripcloak.errors import InputError, InternalError
from tripcloak.matrix import ODMatrix


@dataclass(frozen=True, kw_only=True)
class GloveSk(BoxMethod):
    """Glove-sk of the ATG paper (section 4.2, appendix B): the nearest thing to Glove in scikit-learn.

    Flows are points with four coordinates in metres. scikit-learn's agglomerative clustering joins
    them into a dendrogram, by complete linkage and the sum of distances along the axes. It is cut at the
    lowest height at which the clusters that are unsafe fit the suppression limit; they are
    suppressed, the others are released as the boxes around their origins and destinations.

    The clustering knows nothing of volumes, so it goes on to join clusters that are safe already. The
    paper includes it for its speed and as a bad example; so do we.

    Parameters
    ----------
    neighbours
        Only clusters with flows among each other's nearest are joined, and only the distances of such
        flows count, as in the paper; None for all pairs of flows, which is finer, but takes memory that
        grows with the square of their number.

    Examples
    --------
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> at = {"lat": np.zeros(5), "lon": np.array([0.0, 0.1, 0.3, 0.4, 0.2])}
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "all"], [4, 4, 4, 4, -1], **at)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([3, 3, 3, 3]))
    >>> release = GloveSk(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> release.origins.ids[release.group_origin].tolist()
    ['box_0.000000_0.000000_0.000000_0.100000', 'box_0.000000_0.300000_0.000000_0.400000']
    """

    name: ClassVar[str] = "glove-sk"
    summary: ClassVar[str] = "scikit-learn's clustering of flows, blind to volume; boxes overlap"
    source: ClassVar[str] = "the ATG paper, 4.2 and appendix B; scikit-learn"

    most_flows: ClassVar[int] = 120_000
    """Beyond this many flows the clustering takes more than ten minutes, and more than 3 GB of memory."""
    most_for_all_pairs: ClassVar[int] = 20_000
    """Beyond this many flows the distances of all pairs, twice over, outgrow 3 GB of memory."""

    neighbours: int | None = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.neighbours is not None and self.neighbours < 1:
            raise InputError(f"every flow needs at least one neighbour; got {self.neighbours}")

    def check_request(self) -> None:
        """Raise if scikit-learn is not there."""
        super().check_request()
        _scikit_learn()

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if there are too many flows, if tiles lack coordinates, or if time is an axis."""
        most = self.most_for_all_pairs if self.neighbours is None else self.most_flows
        refuse_many_flows(matrix, self.name, most)
        super().refuse(matrix)

    def solve(self, matrix: ODMatrix, criterion: Criterion, progress: Progress) -> Solution:
        """Return a pair of boxes, or suppression, for every flow."""
        progress("clustering flows", 0, None)
        merges = _dendrogram(flow_points(matrix), self.neighbours)
        group = first_fit(matrix, criterion, self.suppression_limit, merges)
        if group is None:
            raise InternalError("all flows together are safe, but the top of the dendrogram is not")
        return boxed(matrix, group)


def _dendrogram(points: Floats, neighbours: int | None) -> Merges:
    """Return scikit-learn's dendrogram as merges; it can be cut between heights, not within one."""
    if len(points) == 1:
        return Merges(np.empty(0, dtype=int), np.empty(0, dtype=int), np.zeros(1, dtype=int))
    graph = None if neighbours is None else _graph(points, neighbours)
    clustering = _scikit_learn()(
        n_clusters=None, distance_threshold=0, metric="manhattan", linkage="complete", connectivity=graph
    )
    with warnings.catch_warnings():
        # It says that it adds links where the graph is in pieces, which is what we want.
        warnings.simplefilter("ignore", UserWarning)
        clustering.fit(points)
    row = np.arange(2 * len(points) - 1)
    pairs = np.empty((len(points) - 1, 2), dtype=np.int64)
    for merge, (a, b) in enumerate(clustering.children_.tolist()):
        pairs[merge] = sorted((row[a], row[b]))
        row[len(points) + merge] = pairs[merge, 0]
    last_of_height = np.append(np.diff(clustering.distances_) > 0, True)
    stops = np.concatenate(([0], np.flatnonzero(last_of_height) + 1))
    return Merges(pairs[:, 0], pairs[:, 1], stops)


def _graph(points: Floats, neighbours: int) -> Any:
    from scipy.sparse import csr_array

    near = nearest(points, neighbours)
    offsets = np.arange(len(near) + 1) * near.shape[1]
    return csr_array((np.ones(near.size), near.ravel(), offsets), shape=(len(near), len(near)))


def _scikit_learn() -> Any:
    try:
        from sklearn.cluster import AgglomerativeClustering
    except ImportError:
        raise InputError(
            "glove-sk needs scikit-learn; install it with `pip install 'tripcloak[sklearn]'`, "
            "or use the method glove, which does not"
        ) from None
    return AgglomerativeClustering
