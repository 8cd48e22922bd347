"""Release: what may leave the building, and which input flow went where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak._version import __version__
from tripcloak.flows.model import Groups, ODMatrix, group_flows
from tripcloak.flows.release.publication import Publication, Publish, main_volume, publication
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InternalError
from tripcloak.hierarchy import Zones
from tripcloak.promises import Promise, Unit, Volume

if TYPE_CHECKING:
    from tripcloak.flows.release.bricks import Tables


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A proven lower bound on the loss of any release of this kind, for this data, k and limit."""

    value: float
    gap: float
    relaxation: str

    def words(self) -> str:
        """Return how close to the best possible a release is proven to be.

        >>> [Bound(value=2.0, gap=gap, relaxation="").words() for gap in (1.26, 0.0)]
        ['within 1.3 % of the best possible', 'the best possible']
        """
        return proven(self.gap)


def proven(gap: float) -> str:
    """Return in words what a gap in percent says; none at all is proof that nothing is better."""
    return f"within {gap:.2g} % of the best possible" if gap else "the best possible"


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """What is released of an OD matrix: k-anonymous groups, or noisy numbers under differential privacy.

    Attributes
    ----------
    promise : Promise
        What it is held to; whoever wants to know what was promised asks it.
    group_of_flow : array of int
        The released group of every input flow; -1 where the flow is suppressed.
    group_origin, group_destination : array of int
        Each group's pair of zones: rows of ``origins`` and ``destinations``, which are the zones of the
        matrix's hierarchies unless the method draws its own.
    trips, travellers, population : array
        What each group holds; None where the input does not tell. Under differential privacy the
        trips are the noisy ones, and a group may hold no input flow at all.
    homogeneous : bool
        One cut for all origins and one for all destinations, so zones never overlap.
    times, group_time : optional
        The zones of time and each group's row in them, where time is an axis.
    volume : str
        What is summed for utility: trips, or population when only that is protected.
    publish : str
        Which numbers of a flow are published, and how exactly.
    rounded : array of int, optional
        The trips of every group as they are published, where they are rounded together.
    tables : Tables, optional
        Totals and other heights that are published beside the flows.
    """

    method: str
    parameters: Mapping[str, Any]
    promise: Promise
    suppression_limit: float
    origins: Zones
    destinations: Zones
    group_of_flow: Ints
    group_origin: Ints
    group_destination: Ints
    trips: Ints
    travellers: Ints | None
    population: Floats | None
    homogeneous: bool
    volume: Volume
    input_digest: str
    times: Zones | None = None
    group_time: Ints | None = None
    publish: Publish = "rounded"
    rounded: Ints | None = None
    tables: Tables | None = None
    bound: Bound | None = None
    seed: int | None = None
    seconds: float = 0.0
    version: str = field(default=__version__)

    def __repr__(self) -> str:
        return (
            f"<Release by {self.method}: {self.n_groups:,} flows between "
            f"{' x '.join(f'{n:,}' for n in self.zone_numbers)} zones; {self.promise.sentence()}>"
        )

    @property
    def n_groups(self) -> int:
        """Return the number of released flows."""
        return len(self.group_origin)

    @property
    def suppressed(self) -> Bools:
        """Return, for every input flow, whether it is withheld."""
        return self.group_of_flow < 0

    @property
    def k(self) -> float | None:
        """Return the threshold on the main unit; None where no number of people is promised."""
        return self.promise.k

    def support(self, unit: Unit) -> Any:
        """Return what stands behind every released group."""
        return {"trips": self.trips, "travellers": self.travellers, "population": self.population}[unit]

    @property
    def publication(self) -> Publication:
        """Return which numbers are published, and how exactly."""
        return publication(self.promise, self.volume, self.publish)

    def published(self, unit: Unit) -> Ints:
        """Return the published numbers of a column, one a group."""
        told = self.publication
        if told.base is None:
            return told.rounded(unit, self.support(unit))
        if self.rounded is None or unit not in told.columns:
            raise InternalError("the release promises rounded numbers and has none; nothing was released")
        return self.rounded

    @property
    def axes(self) -> tuple[tuple[str, Zones, Ints], ...]:
        """Return each axis' name, its zones, and each group's row in them."""
        space = (
            ("origin", self.origins, self.group_origin),
            ("destination", self.destinations, self.group_destination),
        )
        if self.times is None or self.group_time is None:
            return space
        return (*space, ("time", self.times, self.group_time))

    @cached_property
    def zone_numbers(self) -> tuple[int, ...]:
        """Return how many different origins, destinations and, if any, times are released."""
        return tuple(len(np.unique(column)) for _, _, column in self.axes)


def build_release(
    matrix: ODMatrix,
    *,
    method: str,
    parameters: Mapping[str, Any],
    promise: Promise,
    suppression_limit: float,
    origin_zone: Ints,
    destination_zone: Ints,
    suppressed: Bools,
    homogeneous: bool,
    time_zone: Ints | None = None,
    bound: Bound | None = None,
    zones: tuple[Zones, Zones] | None = None,
    seed: int | None = None,
    seconds: float = 0.0,
) -> Release:
    """Return the release in which every flow that is kept goes to its pair of zones.

    Fails closed: an unsafe group or a broken limit is our own bug and raises :class:`InternalError`.

    Parameters
    ----------
    origin_zone, destination_zone, time_zone
        For every input flow, the zone that replaces its tile.
    suppressed
        For every input flow, whether it is withheld.
    zones
        Zones of origins and destinations of the method's own; those of the matrix's hierarchies by default.
    """
    if (time_zone is None) != (matrix.times is None):
        raise InternalError("a matrix with times needs a time for every flow; nothing was released")
    groups = group_flows(matrix, origin_zone, destination_zone, time_zone=time_zone, keep=~suppressed)
    assert groups is not None
    volume = main_volume(promise)
    if not promise.thresholds:
        raise InternalError("the promise protects nobody; nothing was released")
    if len(groups) == 0 or not promise.safe(groups).all():
        raise InternalError("the method returned a group that is not safe; nothing was released")
    if matrix.volume(volume)[suppressed].sum() > suppression_limit * matrix.total(volume) * (1 + 1e-12):
        raise InternalError("the method suppressed more than its limit; nothing was released")
    if not _close(matrix, groups, volume, promise):
        raise InternalError("the method left an origin too far from the others; nothing was released")
    units = matrix.units
    origins, destinations = zones or (matrix.origins.zones, matrix.destinations.zones)
    return Release(
        method=method,
        parameters=dict(parameters),
        promise=promise,
        suppression_limit=suppression_limit,
        origins=origins,
        destinations=destinations,
        group_of_flow=groups.of_flow,
        group_origin=groups.origin,
        group_destination=groups.destination,
        trips=groups.support("trips"),
        travellers=groups.support("travellers") if "travellers" in units else None,
        population=groups.support("population") if "population" in units else None,
        homogeneous=homogeneous,
        volume=volume,
        times=None if matrix.times is None else matrix.times.zones,
        group_time=groups.time,
        input_digest=matrix.digest(),
        bound=bound,
        seed=seed,
        seconds=seconds,
    )


def _close(matrix: ODMatrix, groups: Groups, volume: Volume, promise: Promise) -> bool:
    """Return whether the numbers that will be published keep what is promised of the whole release."""
    published = np.rint(groups.support(volume))
    return not any(
        len(part.too_far(matrix.destinations, groups.origin, groups.destination, published))
        for part in promise.by_release
    )


def build_noisy_release(
    matrix: ODMatrix,
    *,
    method: str,
    parameters: Mapping[str, Any],
    promise: Promise,
    zones: tuple[Zones, Zones],
    group_of_flow: Ints,
    group_origin: Ints,
    group_destination: Ints,
    trips: Ints,
    homogeneous: bool,
    seconds: float = 0.0,
) -> Release:
    """Return the release of noisy numbers between pairs of zones.

    Whether noise was added, and enough of it, cannot be seen from the numbers; what can be seen is
    checked, and anything odd raises :class:`InternalError`.

    Parameters
    ----------
    zones
        The zones of origins and of destinations that the groups name.
    group_of_flow
        The group whose pair of zones holds each input flow; -1 where that pair is not released.
    group_origin, group_destination, trips
        A pair of zones and a noisy number of trips for every group. No input flow need lie in it.
    homogeneous
        Zones of one axis never overlap.
    """
    groups = len(trips)
    if not promise.noisy:
        raise InternalError("noisy numbers keep no threshold; nothing was released")
    if not len(group_origin) == len(group_destination) == groups or len(group_of_flow) != matrix.n_flows:
        raise InternalError("the noisy groups do not fit the matrix; nothing was released")
    if groups == 0 or trips.dtype.kind != "i" or trips.min() < 1:
        raise InternalError("noisy numbers must be whole and 1 or more; nothing was released")
    for rows, known in zip((group_origin, group_destination), zones, strict=True):
        if rows.min() < 0 or rows.max() >= len(known):
            raise InternalError("a noisy group names a zone that there is not; nothing was released")
    if len(np.unique(group_origin.astype(np.int64) * len(zones[1]) + group_destination)) != groups:
        raise InternalError("two noisy groups share one pair of zones; nothing was released")
    if group_of_flow.min() < -1 or group_of_flow.max() >= groups:
        raise InternalError("a flow went to a group that there is not; nothing was released")
    return Release(
        method=method,
        parameters=dict(parameters),
        promise=promise,
        suppression_limit=0.0,
        origins=zones[0],
        destinations=zones[1],
        group_of_flow=group_of_flow.astype(np.int32),
        group_origin=group_origin.astype(np.int32),
        group_destination=group_destination.astype(np.int32),
        trips=trips.astype(np.int64),
        travellers=None,
        population=None,
        homogeneous=homogeneous,
        volume="trips",
        input_digest=matrix.digest(),
        seconds=seconds,
    )
