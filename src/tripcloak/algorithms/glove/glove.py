"""Glove: boxes around flows, merged two by two, cheapest first, until each is safe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tripcloak.algorithms.base import Progress, Solution
from tripcloak.algorithms.boxed import BoxMethod, boxed, least_support
from tripcloak.algorithms.glove.merges import Merges, first_fit, flow_points, nearest, refuse_many_flows
from tripcloak.arrays import Floats
from tripcloak.criteria import Criterion
from tripcloak.errors import InputError, InternalError
from tripcloak.matrix import ODMatrix, Travellers
from tripcloak.release import main_volume

if TYPE_CHECKING:
    from tripcloak.algorithms.glove._kernels import Support

HAIR = 1 + 2**-30
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
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> at = {"lat": np.zeros(5), "lon": np.array([0.0, 0.1, 0.3, 0.4, 0.2])}
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "all"], [4, 4, 4, 4, -1], **at)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 3]), np.array([3, 3, 3, 3]))
    >>> release = Glove(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> release.origins.ids[release.group_origin].tolist()
    ['box_0.000000_0.000000_0.000000_0.100000', 'box_0.000000_0.300000_0.000000_0.400000']
    """

    name: ClassVar[str] = "glove"
    summary: ClassVar[str] = "merges boxes of flows, cheapest pair first, until each is safe; boxes overlap"
    source: ClassVar[str] = "Gramaglia and Fiore 2015, on flows as in the ATG paper, 4.2 and appendix B"

    most_flows: ClassVar[int] = 400_000
    """Beyond this many flows the graph of neighbours outgrows 1 GB of memory."""

    neighbours: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.neighbours < 1:
            raise InputError(f"every flow needs at least one neighbour; got {self.neighbours}")

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if there are too many flows, if tiles lack coordinates, or if time is an axis."""
        refuse_many_flows(matrix, self.name, self.most_flows)
        super().refuse(matrix)

    def solve(self, matrix: ODMatrix, criterion: Criterion, progress: Progress) -> Solution:
        """Return a pair of boxes, or suppression, for every flow."""
        for merges in self._merges(matrix, criterion, progress):
            group = first_fit(matrix, criterion, self.suppression_limit, merges)
            if group is not None:
                return boxed(matrix, group)
        raise InternalError("all flows together are safe, but merging them did not get there")

    def _merges(self, matrix: ODMatrix, criterion: Criterion, progress: Progress) -> Iterator[Merges]:
        """Yield merges until all clusters are safe, and again if they are not quite.

        The criterion has the last word, and adds up weights to the last bit. A cluster whose weights
        only seem to reach k here is merged further the second time.
        """
        from tripcloak.algorithms.glove._kernels import greedy_merges

        progress("finding neighbours", 0, None)
        points = flow_points(matrix)
        near = nearest(points, self.neighbours)
        volume = matrix.volume(main_volume(criterion)).astype(float)
        progress("merging boxes", 0, None)
        least = least_support(matrix, criterion)
        for more in (1.0, HAIR):
            support = _support(matrix, least * (1.0, 1.0, more))
            pairs = greedy_merges(points, volume, support, near)
            yield Merges(pairs[:, 0], pairs[:, 1], np.arange(len(pairs) + 1))


def _support(matrix: ODMatrix, least: Floats) -> Support:
    from tripcloak.algorithms.glove._kernels import TRAVELLERS, Support

    flows = matrix.flows
    travellers = flows.travellers if least[TRAVELLERS] > 0 else None
    if travellers is None:
        travellers = Travellers(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    return Support(
        flows.trips.astype(float),
        np.zeros(matrix.n_flows) if flows.population is None else flows.population,
        travellers.offsets,
        travellers.people,
        least,
    )
