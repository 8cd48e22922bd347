"""Glove: flows merged as boxes, by its own greedy rule or by scikit-learn's clustering."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.boxed import BoxMethod, boxed, least_support
from tripcloak.flows.methods.method import Solution
from tripcloak.flows.model import Groups, ODMatrix, Travellers
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.extras import needing
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import tile_centres
from tripcloak.hierarchy.places import EARTH_KM, MICRO
from tripcloak.promises import Promise

if TYPE_CHECKING:
    from tripcloak.flows.methods._kernels.glove import GloveSupport


QUERIES = 50_000
"""Flows whose nearest are looked up at a time: distances are only needed on the way."""


class Merges(NamedTuple):
    """Merges in order: the cluster at row ``joined`` goes into the one at row ``into``, a lower one.

    A cluster stands at the row of its first flow. ``stops`` are the numbers of merges at which it is
    allowed to stop, ascending from 0.
    """

    into: Ints
    joined: Ints
    stops: Ints

    def clusters(self, n_flows: int, step: int) -> Ints:
        """Return the cluster of every flow after some merges, numbered from 0.

        >>> Merges(np.array([0, 0]), np.array([2, 1]), np.arange(3)).clusters(4, 1).tolist()
        [0, 1, 0, 2]
        """
        row = np.arange(n_flows)
        row[self.joined[:step]] = self.into[:step]
        # A row leads to a lower one until it leads to itself; every look halves the way that is left.
        while ((further := row[row]) != row).any():
            row = further
        number: Ints = np.cumsum(row == np.arange(n_flows)) - 1
        return number[row]


def flow_points(matrix: ODMatrix) -> Floats:
    """Return four coordinates of every flow, in whole metres: two of its origin, two of its destination.

    The map is flat, with degrees of longitude as long as they are halfway between the southernmost
    and the northernmost tile.
    """
    ends = [(tile_centres(tree), tile) for tree, tile in matrix.axes[:2]]
    lat = np.concatenate([centres.lat for centres, _ in ends])
    metre = EARTH_KM * 1000 * np.pi / 180 / MICRO
    narrow = np.cos(np.radians((lat.min() + lat.max()) / (2 * MICRO)))
    columns = [
        degrees[tile] * scale
        for centres, tile in ends
        for degrees, scale in zip(centres, (metre, metre * narrow), strict=True)
    ]
    points: Floats = np.rint(np.stack(columns, axis=1))
    return points


def nearest(points: Floats, number: int) -> Ints:
    """Return the rows of the nearest points of every point (sum of distances along the axes), ascending.

    Where fewer points have other coordinates, all there are; a point is usually among its own nearest.

    >>> nearest(np.array([[0.0], [1.0], [5.0], [7.0]]), 1).tolist()
    [[0, 1], [0, 1], [2, 3], [2, 3]]
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(points, leafsize=32)
    found = np.empty((len(points), min(number + 1, len(points))), dtype=np.int32)
    for start in range(0, len(points), QUERIES):
        part = slice(start, start + QUERIES)
        found[part] = tree.query(points[part], k=found.shape[1], p=1)[1].reshape(-1, found.shape[1])
    found.sort(axis=1)
    return found


def refuse_many_flows(matrix: ODMatrix, name: str, most: int) -> None:
    """Raise if a matrix has more flows than a method can merge."""
    if matrix.n_flows > most:
        raise InputError(
            f"{name} compares flows with each other and takes at most {most:,} of them; this input has "
            f"more. Use coarser tiles ({spelt('hierarchy')}), or a method for large inputs: productcut, "
            "mondrian"
        )


def first_fit(matrix: ODMatrix, promise: Promise, limit: float, merges: Merges) -> Ints | None:
    """Return the group of every flow at the first stop at which the unsafe clusters fit the limit.

    They are suppressed (-1). None if they do not even fit after the last merge.
    """
    volume = matrix.volume(main_volume(promise))

    def released(stop: int) -> tuple[Ints, Bools]:
        cluster = merges.clusters(matrix.n_flows, int(merges.stops[stop]))
        nowhere = np.zeros(int(cluster.max()) + 1, dtype=np.int32)
        return cluster, promise.safe(Groups(matrix, cluster.astype(np.int32), nowhere, nowhere))

    def fits(stop: int) -> bool:
        cluster, safe = released(stop)
        return bool(volume[~safe[cluster]].sum() <= limit * volume.sum())

    low, high = -1, len(merges.stops) - 1
    if not fits(high):
        return None
    # Invariant: stop `high` fits, stop `low` does not; what is unsafe only shrinks from stop to stop.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    cluster, safe = released(high)
    return np.where(safe, np.cumsum(safe) - 1, -1)[cluster]


ROUNDING_TOLERANCE = 1 + 2**-30
"""More than sums of weights ever differ by for the order of their terms."""


@dataclass(frozen=True, kw_only=True)
class Glove(BoxMethod):
    """Glove (Gramaglia and Fiore 2015) on flows, as in the ATG paper (section 4.2, appendix B).

    Every flow starts as a box of its own: a point with four coordinates in metres, two of its origin
    and two of its destination. The two boxes that are cheapest to merge are merged, again and again,
    each time into the smallest box around both; a box that is safe merges with no other safe one. As
    soon as what is left unsafe fits the suppression limit, it is suppressed, and the safe boxes are
    released.

    Merging a and b costs the metres by which their trips are stretched, per trip that is not safe yet::

        cost(a, b) = (volume(a) * stretch(a) + volume(b) * stretch(b)) / unsafe volume of a and b
        stretch(a) = the sides of the box around both - the sides of a, all four added up

    For two unsafe boxes this is Glove's own measure, the mean stretch. A safe box takes in an unsafe one
    only if that is cheap although all trips of the safe one pay for it too. Only flows that are among
    each other's nearest are candidates; a merged box has the neighbours of both, and one without any
    gets the cheapest of all as its neighbour. Ties go to the flows that come first.

    Boxes overlap, on the map and with each other: there are no shared zones.

    Parameters
    ----------
    neighbours
        How many nearest flows are candidates for every flow.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> at = {"lat": np.zeros(5), "lon": np.array([0.0, 0.1, 0.3, 0.6, 0.2])}
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "all"], [4, 4, 4, 4, -1], **at)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([3, 3, 3, 3]))
    >>> release = Glove(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> release.origins.ids[release.group_origin].tolist()
    ['box_0.000000_0.000000_0.500000_0.500000', 'box_0.000000_0.000000_1.000000_1.000000']
    """

    name: ClassVar[str] = "glove"
    summary: ClassVar[str] = "merges boxes of flows, cheapest pair first, until each is safe; boxes overlap"
    source: ClassVar[str] = "Gramaglia and Fiore 2015, on flows as in Matet et al. 2023, 4.2 and appendix B"

    most_flows: ClassVar[int] = 400_000
    """Beyond this many flows the graph of neighbours outgrows 1 GB of memory."""

    neighbours: int = option(100, help="Nearest flows that are candidates for every flow.", metavar="N")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.neighbours < 1:
            raise InputError(f"every flow needs at least one neighbour; got {self.neighbours}")

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if there are too many flows, if tiles lack coordinates, or if time is an axis."""
        refuse_many_flows(matrix, self.name, self.most_flows)
        super().refuse(matrix)

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return a pair of boxes, or suppression, for every flow."""
        for merges in self._merges(matrix, promise, progress):
            group = first_fit(matrix, promise, self.suppression_limit, merges)
            if group is not None:
                return boxed(matrix, group)
        raise InternalError("all flows together are safe, but merging them did not get there")

    def _merges(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Iterator[Merges]:
        """Yield merges until all clusters are safe, and again if they are not quite.

        The promise has the last word, and adds up weights to the last bit. A cluster whose weights
        only seem to reach k here is merged further the second time.
        """
        from tripcloak.flows.methods._kernels.glove import greedy_merges

        progress("finding neighbours", 0, None)
        points = flow_points(matrix)
        near = nearest(points, self.neighbours)
        volume = matrix.volume(main_volume(promise)).astype(float)
        progress("merging boxes", 0, None)
        least = least_support(matrix, promise)
        for more in (1.0, ROUNDING_TOLERANCE):
            support = _support(matrix, least * (1.0, 1.0, more))
            pairs = greedy_merges(points, volume, support, near)
            yield Merges(pairs[:, 0], pairs[:, 1], np.arange(len(pairs) + 1))


def _support(matrix: ODMatrix, least: Floats) -> GloveSupport:
    from tripcloak.flows.methods._kernels.glove import TRAVELLERS, GloveSupport

    flows = matrix.flows
    travellers = flows.travellers if least[TRAVELLERS] > 0 else None
    if travellers is None:
        travellers = Travellers(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    return GloveSupport(
        flows.trips.astype(float),
        np.zeros(matrix.n_flows) if flows.population is None else flows.population,
        travellers.offsets,
        travellers.people,
        least,
    )


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
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> at = {"lat": np.zeros(5), "lon": np.array([0.0, 0.1, 0.3, 0.6, 0.2])}
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "all"], [4, 4, 4, 4, -1], **at)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([3, 3, 3, 3]))
    >>> release = GloveSk(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> release.origins.ids[release.group_origin].tolist()
    ['box_0.000000_0.000000_0.500000_0.500000', 'box_0.000000_0.000000_1.000000_1.000000']
    """

    name: ClassVar[str] = "glove-sk"
    summary: ClassVar[str] = "scikit-learn's clustering of flows, blind to volume; boxes overlap"
    source: ClassVar[str] = "Matet et al. 2023, 4.2 and appendix B; scikit-learn"

    most_flows: ClassVar[int] = 120_000
    """Beyond this many flows the clustering takes more than ten minutes, and more than 3 GB of memory."""
    most_for_all_pairs: ClassVar[int] = 20_000
    """Beyond this many flows the distances of all pairs, twice over, outgrow 3 GB of memory."""

    neighbours: int | None = option(
        100, help="Nearest flows that are candidates for every flow.", metavar="N"
    )

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

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return a pair of boxes, or suppression, for every flow."""
        progress("clustering flows", 0, None)
        merges = _dendrogram(flow_points(matrix), self.neighbours)
        group = first_fit(matrix, promise, self.suppression_limit, merges)
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
    with needing("sklearn", "glove-sk", "use the method glove, which does without"):
        from sklearn.cluster import AgglomerativeClustering
    return AgglomerativeClustering
