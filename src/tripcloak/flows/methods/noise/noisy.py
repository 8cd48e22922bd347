"""NoisyMethod: what methods of differential privacy have in common, and which trips of a traveller count."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from tripcloak.flows.methods.method import FlowMethod, Solution
from tripcloak.flows.model import ODMatrix, Travellers
from tripcloak.flows.release import Release, build_noisy_release
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError, InternalError
from tripcloak.ground.noise import NoiseSource, OpenDPNoise, require_opendp
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Domain, Hierarchy, shared_domains
from tripcloak.promises import DifferentialPrivacy, Promise
from tripcloak.promises.differential_privacy import Detail

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Hidden(NamedTuple):
    """Whose presence is to be hidden.

    Attributes
    ----------
    unit : str
        That of a traveller, or of a single trip.
    most : int, optional
        Trips by which one of them changes all numbers together, at most; None where noise decides it.
    id_is : str, optional
        What a traveller is, where travellers are hidden.
    """

    unit: Literal["traveller", "trip"]
    most: int | None
    id_is: str | None = None


class Contributions(NamedTuple):
    """The trips that are counted, and whose presence they may tell of; the rest is that of :class:`Hidden`.

    Attributes
    ----------
    trips : array of int
        Trips of every input flow that are counted.
    """

    trips: Ints
    unit: Literal["traveller", "trip"]
    most: int | None
    id_is: str | None = None


def most_of(hidden: Hidden | Contributions) -> int:
    """Return the trips by which one traveller changes all numbers together, at most, where that is known."""
    if hidden.most is None:
        raise InternalError("it is not known how many trips of a traveller count; nothing was released")
    return hidden.most


def hidden_of(matrix: ODMatrix, most: int | None) -> Hidden:
    """Return whose presence is hidden when every traveller may add so many trips at most.

    Where there are no ids, every trip is hidden by itself. In tables in which everybody is counted once,
    every trip is a traveller.

    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> hidden_of(ODMatrix.from_trips(tree, tree, np.array([0]), np.array([1])), 5)
    Hidden(unit='trip', most=1, id_is=None)
    """
    if matrix.flows.travellers is not None:
        return Hidden("traveller", most, matrix.id_is)
    if matrix.each_trip_is_a_person:
        return Hidden("traveller", 1, matrix.id_is)
    return Hidden("trip", 1)


def bound_contributions(matrix: ODMatrix, most: int) -> Contributions:
    """Return the trips that are counted when every traveller may add so many at most.

    Where there are no ids, all are counted. Where there are, a trip without an id is left out: nobody could
    tell how many of those are one person's. Whose presence is hidden says :func:`hidden_of`.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> columns = np.array([[0, 0, 0, 1], [1, 1, 1, 0], [7, 7, 7, 8]])
    >>> matrix = ODMatrix.from_trips(tree, tree, columns[0], columns[1], person=columns[2], repeats=True)
    >>> bound_contributions(matrix, 2)
    Contributions(trips=array([2, 1]), unit='traveller', most=2, id_is='person')
    """
    flows, hidden = matrix.flows, hidden_of(matrix, most)
    if flows.travellers is None:
        return Contributions(flows.trips, hidden.unit, 1, hidden.id_is)
    travellers, repeats = repeats_of(matrix)
    kept = repeats.copy()
    total = np.bincount(travellers.people, kept).astype(np.int64)
    busy = np.flatnonzero(total[travellers.people] > most)
    if len(busy):
        kept[busy] = _sampled(matrix, busy, most)
    flow = np.repeat(np.arange(matrix.n_flows), np.diff(travellers.offsets))
    trips = np.bincount(flow, kept, minlength=matrix.n_flows).astype(np.int64)
    return Contributions(trips, hidden.unit, most, hidden.id_is)


def repeats_of(matrix: ODMatrix) -> tuple[Travellers, Ints]:
    """Return who is in which flow, and how many trips each makes there, or raise if that is not told."""
    flows = matrix.flows
    if flows.travellers is None or flows.repeats is None:
        raise InputError(
            "this matrix does not tell how many trips each traveller makes in each flow; "
            "read it with repeats=True"
        )
    return flows.travellers, flows.repeats


def _sampled(matrix: ODMatrix, rows: Ints, most: int) -> Ints:
    """Return the trips kept of every (flow, person) in ``rows``, all rows of people who have too many.

    A systematic sample: the person's flows are laid end to end in an order that looks random, and every
    total/most-th trip is kept, from a start that looks random. Both follow from the ids of the person's
    own flows, so nothing that anybody else does can change them.
    """
    flows = matrix.flows
    assert flows.travellers is not None
    assert flows.repeats is not None
    person, repeats = flows.travellers.people[rows], flows.repeats[rows]
    mark = _flow_marks(matrix)[np.searchsorted(flows.travellers.offsets, rows, side="right") - 1]
    start, size = _runs(np.sort(person))
    by_person = np.argsort(person, kind="stable")
    own = np.add.reduceat(mark[by_person] * repeats[by_person].astype(np.uint64), start)
    salt = np.empty(len(rows), dtype=np.uint64)
    salt[by_person] = np.repeat(_mixed(own), size)
    order = np.lexsort((_mixed(mark ^ salt), person))
    ends = np.cumsum(repeats[order])
    before = np.repeat(ends[start] - repeats[order][start], size)
    total = np.repeat(np.add.reduceat(repeats[order], start), size)
    offset = (salt[order] % total.astype(np.uint64)).astype(np.int64)
    upto = ((ends - before) * most + offset) // total
    below = ((ends - before - repeats[order]) * most + offset) // total
    kept = np.empty(len(rows), dtype=np.int64)
    kept[order] = upto - below
    return kept


def _runs(people: Ints) -> tuple[Ints, Ints]:
    """Return where each person starts in a sorted column, and how many rows they have."""
    _, start, size = np.unique(people, return_index=True, return_counts=True)
    return start, size


def _flow_marks(matrix: ODMatrix) -> Ints:
    """Return a number for every flow that follows from the ids of its two tiles."""
    origin, destination = (_id_marks(tree) for tree in (matrix.origins, matrix.destinations))
    return _mixed(_mixed(origin[matrix.flows.origin]) + destination[matrix.flows.destination])


def _id_marks(tree: Hierarchy) -> Ints:
    """Return a number for every tile that follows from its id, whatever other ids there are."""
    ids = np.ascontiguousarray(tree.zones.ids[: tree.n_tiles])
    letters = ids.view(np.uint32).reshape(len(ids), -1)
    mark = np.zeros(len(ids), dtype=np.uint64)
    for letter in letters.T.astype(np.uint64):
        # Ids shorter than the longest are filled up with zeros, which must not count.
        mark = np.where(letter == 0, mark, (mark ^ letter) * _MIX + np.uint64(1))
    return mark


def _mixed(bits: Ints) -> Ints:
    """Return numbers whose bits all depend on all bits of the ones given."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits


Domains = tuple[Domain, Domain]

SAMPLE = 10
"""Trips of one traveller that are counted at most, where nothing else is asked for."""
LARGEST_NOISE = 1_000_000_000
"""Contributions by epsilon, at most: beyond that thresholds and sums are no longer exact."""
SMALLEST_DELTA = 1e-100
"""A chance so small that smaller ones promise nothing more, and are no longer exact."""


class Drawn(NamedTuple):
    """Noisy numbers of pairs of zones, 1 or more each, the pair that each input flow lies in, the promise."""

    origin: Ints
    destination: Ints
    trips: Ints
    group_of_flow: Ints
    promise: DifferentialPrivacy


@dataclass(frozen=True, kw_only=True)
class NoisyMethod(FlowMethod):
    """A method that adds noise to numbers of trips, so that nobody can tell who was in the input.

    It promises differential privacy and no k: the promise and the suppression limit play no part.
    The noise is drawn anew every time, without a seed: whoever knew the seed could take it off again.

    Parameters
    ----------
    epsilon
        How much one traveller may change the odds of any outcome: by a factor of exp(epsilon) at most.
        There is no default; it is for the publisher to choose.
    delta
        The chance that this fails.
    contributions
        Trips of one traveller that are counted at most.
    height
        How high the released zones are; must not be chosen by looking at the data.
    """

    noisy: ClassVar[bool] = True
    needs_repeats: ClassVar[bool] = True
    one_height: ClassVar[bool] = True
    """Whether all released zones are of one height."""

    epsilon: float | None = option(
        None,
        help="How much one traveller may change the odds of what is released; smaller is more private.",
        unset="none, yours to choose",
        metavar="EPSILON",
    )
    delta: float = option(1e-6, help="Chance that the promise of epsilon fails.", metavar="CHANCE")
    contributions: int | None = option(
        SAMPLE, help="Trips of one traveller that are counted at most.", metavar="N", least=1
    )
    height: int | None = option(
        None,
        help="Height of the released zones, 0 being tiles; never chosen by looking at the data.",
        unset="0 for zones of a file, 3 for grids",
        metavar="HEIGHT",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon is not None and not 0 < self.epsilon < math.inf:
            raise InputError(f"epsilon must be a finite number above 0; got {self.epsilon:g}")
        if not 0 <= self.delta < 1:
            raise InputError(f"delta must be a chance from 0 to below 1; got {self.delta:g}")
        if 0 < self.delta < SMALLEST_DELTA:
            raise InputError(f"delta must be 0, or {SMALLEST_DELTA:g} or more; got {self.delta:g}")
        most = self.most or 1
        if self.epsilon is not None and most / self.epsilon > LARGEST_NOISE:
            raise InputError(
                f"epsilon {self.epsilon:g} with contributions {most:,} asks for noise of more "
                f"than {LARGEST_NOISE:,} trips, in which every number drowns; choose a larger epsilon or "
                "fewer contributions"
            )
        if self.height is not None and self.height < 0:
            raise InputError(f"height must be 0 (tiles) or more; got {self.height}")

    @property
    def scales(self) -> bool:
        """Return whether travellers are scaled to a norm, instead of some of their trips being counted."""
        return False

    @property
    def most(self) -> int | None:
        """Return how many trips of one traveller count; None where noise chooses."""
        return self.contributions

    def check_request(self) -> None:
        """Raise if there is no epsilon, or no OpenDP to draw noise with."""
        if self.epsilon is None:
            raise InputError(
                f"{self.name} needs {spelt('epsilon')}, which is yours to choose: the smaller, the better "
                "it hides one traveller and the noisier its numbers; 1 is a usual value"
            )
        require_opendp()

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if the zones there could be are not known, or more than noise is asked for."""
        super().refuse(matrix)
        if not self.promise.plain:
            raise InputError(
                f"{self.name} promises differential privacy, which knows no l-diversity, t-closeness, "
                f"dominance, hidden choices or safe segments; leave out {spelt('l')}, {spelt('l_places')}, "
                f"{spelt('t')}, {spelt('dominance')}, {spelt('p_percent')}, {spelt('hide_choices')} and "
                f"{spelt('segment_joint')}"
            )
        if shared_domains(matrix.origins, matrix.destinations) is None:
            raise InputError(
                f"{self.name} needs zones that do not depend on the data: use h3:RES (of the whole world), "
                f"h3:RES/root=CELL (of one H3 cell), quadtree:DEPTH with {spelt('area')}, or a zones file "
                "with dendrogram or table (h3:RES/root=RES takes the cell that holds the data, and "
                "h3:RES/binary leaves out unions that do not occur)"
            )

    def anonymise(
        self, matrix: ODMatrix, progress: Progress = silent, *, noise: NoiseSource | None = None
    ) -> Release:
        """Return a differentially private release of the matrix, different each time.

        Parameters
        ----------
        noise
            Where noise comes from; OpenDP by default, and nothing else is private.
        """
        self.refuse(matrix)
        started = time.perf_counter()
        domains = shared_domains(matrix.origins, matrix.destinations)
        assert domains is not None
        counted = self.count(matrix)
        drawn = self.draw(matrix, counted, domains, noise or OpenDPNoise(), progress)
        if len(drawn.trips) == 0:
            raise ImpossibleRequestError(
                "not possible: with so much noise no number is large enough to be published. Choose a larger "
                f"epsilon, fewer contributions or coarser zones ({spelt('height')}), or bring more data."
            )
        origins, origin = domains[0].released(drawn.origin, matrix.origins)
        destinations, destination = domains[1].released(drawn.destination, matrix.destinations)
        return build_noisy_release(
            matrix,
            method=self.name,
            parameters=self.parameters(matrix),
            promise=drawn.promise,
            zones=(origins, destinations),
            group_of_flow=drawn.group_of_flow,
            group_origin=origin,
            group_destination=destination,
            trips=drawn.trips,
            homogeneous=self.one_height,
            seconds=time.perf_counter() - started,
        )

    def will_promise(self, matrix: ODMatrix) -> DifferentialPrivacy:
        """Return what a release of the matrix will promise, before any noise is drawn.

        It follows from what is asked for and from the zones that there could be; of the data it tells only
        whether they have ids.
        """
        self.refuse(matrix)
        domains = shared_domains(matrix.origins, matrix.destinations)
        assert domains is not None
        return self.stated(matrix, domains, hidden_of(matrix, self.most))

    def count(self, matrix: ODMatrix) -> Contributions:
        """Return the trips that are counted, of every traveller so many at most."""
        if self.most is None:
            raise InputError(f"{self.name} needs contributions, a whole number of 1 or more")
        return bound_contributions(matrix, self.most)

    @abstractmethod
    def stated(
        self, matrix: ODMatrix, domains: Domains, hidden: Hidden | Contributions
    ) -> DifferentialPrivacy:
        """Return what is promised of a release of such a matrix."""

    @abstractmethod
    def draw(
        self,
        matrix: ODMatrix,
        counted: Contributions,
        domains: Domains,
        noise: NoiseSource,
        progress: Progress,
    ) -> Drawn:
        """Return noisy numbers of pairs of zones of the domains."""

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Raise: noise goes to pairs of zones, most of which no input flow lies in."""
        raise InternalError(f"{self.name} does not send flows to zones; nothing was released")

    def promised(
        self, hidden: Hidden | Contributions, delta: float, mechanism: str, **details: Detail
    ) -> DifferentialPrivacy:
        """Return what is promised."""
        assert self.epsilon is not None
        return DifferentialPrivacy(
            epsilon=float(self.epsilon),
            delta=delta,
            unit=hidden.unit,
            id_is=hidden.id_is,
            contributions=hidden.most,
            mechanism=mechanism,
            details=tuple(details.items()),
        )
