"""How far released places lie from the true ones (the papers' GDM), and how far people travel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from tripcloak.engines.spool import Spool
from tripcloak.flows.measures.comparison import ReleaseComparison
from tripcloak.flows.measures.placing import GroupFinder
from tripcloak.flows.model import EndsElsewhere, ODMatrix, TripEnds
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Zones
from tripcloak.promises import Volume

_DIGITS = 1 << 16
_ONE_EACH = np.zeros(0)
_WEIGHTED = {"bits": np.uint32, "weight": np.float64}
HELD = 64 << 20
"""Bytes of numbers that wait for a median in memory."""


class Figures(NamedTuple):
    """How many numbers there are by weight, their mean, and the squares of how far they are from it."""

    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: Floats, weights: Floats | None) -> Figures:
        """Return the figures of numbers, each with a weight; 1 by default."""
        here = float(len(values) if weights is None else weights.sum())
        if here == 0:
            return cls()
        mean = _weighted_sum(values, weights) / here
        return cls(here, mean, _weighted_sum(np.square(values - mean), weights))

    def join(self, other: Figures) -> Figures:
        """Return the figures of both."""
        if not self.weight or not other.weight:
            return self if self.weight else other
        step, both = other.mean - self.mean, self.weight + other.weight
        squares = self.squares + (other.squares + step * step * self.weight * other.weight / both)
        return Figures(both, self.mean + step * other.weight / both, squares)

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the numbers themselves (not of a larger whole)."""
        return math.sqrt(self.squares / self.weight)


@dataclass(eq=False)
class WeightedSpread:
    """Running figures of non-negative numbers.

    Mean and deviation are summed in double precision as numbers arrive. The numbers themselves wait for
    the median in single precision, four bytes each, on disk where they are many.

    Examples
    --------
    >>> spread = WeightedSpread()
    >>> spread.add(np.array([1.0, 2.0]))
    >>> spread.add(np.array([6.0]), weights=np.array([2.0]))
    >>> spread.mean, spread.median(), round(spread.deviation, 3)
    (3.75, 4.0, 2.278)
    """

    figures: Figures = Figures()
    _even: Spool = field(default_factory=lambda: Spool({"bits": np.uint32}, memory=HELD))
    _weighted: Spool = field(default_factory=lambda: Spool(_WEIGHTED, memory=HELD))

    def add(self, values: Floats, weights: Floats | None = None) -> None:
        """Take in numbers, each with a weight; 1 by default."""
        here = Figures.of(values, weights)
        if here.weight == 0:
            return
        self.figures = self.figures.join(here)
        bits = _bits(values)
        if weights is None:
            self._even.append(bits=bits)
        else:
            self._weighted.append(bits=bits, weight=weights)

    @property
    def weight(self) -> float:
        """Return how many numbers there are, by weight."""
        return self.figures.weight

    @property
    def mean(self) -> float:
        """Return their mean."""
        return self.figures.mean

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the numbers themselves (not of a larger whole)."""
        return self.figures.deviation

    def median(self) -> float:
        """Return the weighted median: the middle one, or the mean of both where the weights split evenly."""
        return _median(self._weigh)

    def _weigh(self, prefix: int) -> Floats:
        out = np.zeros(_DIGITS)
        for (bits,) in self._even.chunks("bits"):
            _weigh_into(out, bits, None, prefix)
        for bits, weights in self._weighted.chunks("bits", "weight"):
            _weigh_into(out, bits, weights, prefix)
        return out


def _bits(values: Floats) -> Ints:
    """Return numbers in single precision by their bits, which sort as non-negative ones do."""
    return values.astype(np.float32).view(np.uint32)


def _weigh_into(out: Floats, bits: Ints, weights: Floats | None, prefix: int) -> None:
    """Add the weight of every digit of 16 bits: the first one (prefix -1), or that which follows one."""
    from tripcloak.flows.measures._kernels import weigh_digits

    weigh_digits(bits, _ONE_EACH if weights is None else weights, prefix, out)


def _median(weigh: Callable[[int], Floats]) -> float:
    """Return the weighted median of numbers, given how the weight of their digits is found."""
    upper = weigh(-1)
    total, found, lower = upper.sum(), [], {}
    for beyond in (False, True):
        # The bits of non-negative floats sort as the floats do, so two digits of 16 bits find it exactly.
        prefix, before = _digit(upper, total / 2, beyond)
        if prefix not in lower:
            lower[prefix] = weigh(prefix)
        digit, _ = _digit(lower[prefix], total / 2 - before, beyond)
        found.append(float(np.uint32(prefix << 16 | digit).view(np.float32)))
    return (found[0] + found[1]) / 2


def _weighted_sum(values: Floats, weights: Floats | None) -> float:
    return float(values.sum() if weights is None else (values * weights).sum())


def _digit(weights: Floats, target: float, beyond: bool) -> tuple[int, float]:
    """Return the digit at which the running weight meets the target, and the weight before it."""
    running = np.cumsum(weights)
    at = int(np.searchsorted(running, target, side="right" if beyond else "left"))
    # Rounding may leave the target a hair above the whole weight: then it is the last digit in use.
    at = min(at, int(np.flatnonzero(weights)[-1]))
    return at, float(running[at - 1]) if at else 0.0


class GeodesicPlaces:
    """The representative points of zones, ready for many lengths.

    Examples
    --------
    >>> from tripcloak.hierarchy import Hierarchy
    >>> points = {"lat": np.array([0.0, 0.0, 0.0]), "lon": np.array([0.0, 1.0, 0.5])}
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **points)
    >>> places = GeodesicPlaces(tree.zones)
    >>> places.metres_to(places, np.array([0, 0]), np.array([1, 2])).round(3).tolist()
    [111319.491, 55659.745]
    >>> places.metres_from(np.array([0.0]), np.array([180.0]), np.array([0])).round(3).tolist()
    [20003931.459]
    """

    def __init__(self, zones: Zones) -> None:
        from tripcloak.flows.measures._kernels import places

        self.lat, self.lon = zones.lat, zones.lon
        self.table = places(self.lat, self.lon)

    def metres_from(self, lat: Floats, lon: Floats, rows: Ints) -> Floats:
        """Return the metres from points in degrees to zones; NaN where a zone has no point."""
        from tripcloak.flows.measures._kernels import metres_to

        metres = metres_to(lat, lon, self.table, rows.astype(np.int32, copy=False))
        return _mend_long(metres, lat, lon, self.lat, self.lon, rows)

    def metres_to(self, other: GeodesicPlaces, rows: Ints, other_rows: Ints) -> Floats:
        """Return the metres from zones to other zones; NaN where either has no point."""
        from tripcloak.flows.measures._kernels import metres_between

        here, there = (one.astype(np.int32, copy=False) for one in (rows, other_rows))
        metres = metres_between(self.table, here, other.table, there)
        return _mend_long(metres, self.lat[rows], self.lon[rows], other.lat, other.lon, other_rows)


def _mend_long(
    metres: Floats, lat: Floats, lon: Floats, to_lat: Floats, to_lon: Floats, rows: Ints
) -> Floats:
    """Return the lengths with those beyond the short formula's reach measured by the full geodesic."""
    from tripcloak.flows.measures._kernels import TOO_LONG

    far = np.flatnonzero(metres == TOO_LONG)
    if far.size:
        from pyproj import Geod

        ends = rows[far]
        _, _, metres[far] = Geod(ellps="WGS84").inv(lon[far], lat[far], to_lon[ends], to_lat[ends])
    return metres


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
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> points = {"lat": np.zeros(3), "lon": np.array([0.0, 0.02, 0.01])}
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **points)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([0, 0]))
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> found = displacement(matrix, release)
    >>> round(found.mean, 2), round(found.median, 2)
    (556.6, 556.6)
    """
    return displacement_of(ReleaseComparison.of(matrix, release, volume))


def displacement_of(comparison: ReleaseComparison) -> Displacement | None:
    """Return GDM of a comparison."""
    points = comparison.matrix.points
    if isinstance(points, EndsElsewhere):
        return _displacement_there(comparison, points)
    spread = WeightedSpread()
    ends = _centres(comparison) if points is None else _raw_ends(comparison)
    for metres, weights in ends:
        if np.isnan(metres).any():
            return None
        spread.add(metres, weights)
    if spread.weight == 0:
        return None
    return Displacement(mean=spread.mean, median=spread.median(), std=spread.deviation)


def _displacement_there(comparison: ReleaseComparison, points: EndsElsewhere) -> Displacement | None:
    """Return GDM of trips whose raw ends other machines keep; what comes here is figures."""
    there = points.worked_on(comparison.release.group_of_flow, _MetresThere(_Metres.of(comparison)))
    try:
        found: Figures = there.joined(attrgetter("figures"), Figures.join)
        if found.weight == 0 or math.isnan(found.mean):
            return None
        median = _median(lambda prefix: there.joined(partial(_digits_of, prefix), np.add))
        return Displacement(mean=found.mean, median=median, std=found.deviation)
    finally:
        there.let_go()


def _centres(comparison: ReleaseComparison) -> Iterator[tuple[Floats, Floats]]:
    """Yield the metres from the tile centres of every kept flow, and the flow's volume; end by end."""
    matrix, release = comparison.matrix, comparison.release
    kept = np.flatnonzero(~release.suppressed)
    group = release.group_of_flow[kept]
    weights = comparison.original[kept]
    for tree, zones, tile, zone in (
        (matrix.origins, release.origins, matrix.flows.origin, release.group_origin),
        (matrix.destinations, release.destinations, matrix.flows.destination, release.group_destination),
    ):
        yield GeodesicPlaces(tree.zones).metres_to(GeodesicPlaces(zones), tile[kept], zone[group]), weights


def _raw_ends(comparison: ReleaseComparison) -> Iterator[tuple[Floats, Floats | None]]:
    """Yield the metres from the raw ends of kept trips, and the trips' weights; chunk by chunk."""
    metres, matrix = _Metres.of(comparison), comparison.matrix
    assert matrix.points is not None
    finder = GroupFinder(matrix, comparison.release)
    for points in _pieces(matrix.points()):
        yield from metres(points, finder.of(points))
    finder.check(matrix.points)


@dataclass(frozen=True, eq=False)
class _Metres:
    """Measures from raw ends of trips to the zones that they are released in, end by end."""

    places: tuple[GeodesicPlaces, GeodesicPlaces]
    zones: tuple[Ints, Ints]
    weighted: bool

    @classmethod
    def of(cls, comparison: ReleaseComparison) -> _Metres:
        release = comparison.release
        places = GeodesicPlaces(release.origins), GeodesicPlaces(release.destinations)
        zones = release.group_origin, release.group_destination
        return cls(places, zones, comparison.volume != "trips")

    def __call__(self, points: TripEnds, group: Ints) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield the metres of kept trips, and their weights."""
        if self.weighted and points.weight is None:
            raise InputError(
                "the raw points carry no weight, so they have no population; measure them on trips"
            )
        kept = np.flatnonzero(group >= 0)
        weights = points.weight[kept] if self.weighted and points.weight is not None else None
        ends = (points.origin_lat, points.origin_lon), (points.destination_lat, points.destination_lon)
        for (lat, lon), places, zones in zip(ends, self.places, self.zones, strict=True):
            yield places.metres_from(lat[kept], lon[kept], zones[group[kept]]), weights


class _MetresOfPiece(NamedTuple):
    """What is kept of metres where they were measured: their figures, and the numbers for the median."""

    figures: Figures
    bits: Ints
    weights: Floats | None


@dataclass(frozen=True, eq=False)
class _MetresThere:
    """Measures where the ends are."""

    metres: _Metres

    def __call__(self, points: TripEnds, group: Ints) -> Iterator[_MetresOfPiece]:
        for metres, weights in self.metres(points, group):
            yield _MetresOfPiece(Figures.of(metres, weights), _bits(metres), weights)


def _digits_of(prefix: int, piece: _MetresOfPiece) -> Floats:
    """Return the weights of the digits of what was measured."""
    out = np.zeros(_DIGITS)
    _weigh_into(out, piece.bits, piece.weights, prefix)
    return out


def _pieces(chunks: Iterator[TripEnds]) -> Iterator[TripEnds]:
    """Yield the chunks in pieces of bounded size, so that one huge chunk costs no huge temporary arrays."""
    for points in chunks:
        for start in range(0, len(points.origin), _PIECE):
            piece: list[Any] = [None if c is None else c[start : start + _PIECE] for c in points]
            yield TripEnds(*piece)


def trip_length_distance(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return the kilometres by which trip lengths shift: the earth mover's distance of both distributions.

    The length of an original trip is measured between the centres of its tiles, that of a released one
    between the points of its zones, on the ellipsoid. A trip within one zone is 0 km long. None where
    zones have no points or nothing has volume.

    Examples
    --------
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> points = {"lat": np.zeros(3), "lon": np.array([0.0, 0.02, 0.01])}
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **points)
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([1, 0]))
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> round(trip_length_distance(matrix, release), 3)
    2.226
    """
    return trip_length_distance_of(ReleaseComparison.of(matrix, release, volume))


def trip_length_distance_of(comparison: ReleaseComparison) -> float | None:
    """Return the shift in trip length of a comparison."""
    matrix, release = comparison.matrix, comparison.release
    if comparison.total == 0 or comparison.released_total == 0:
        return None
    before = GeodesicPlaces(matrix.origins.zones).metres_to(
        GeodesicPlaces(matrix.destinations.zones), matrix.flows.origin, matrix.flows.destination
    )
    after = GeodesicPlaces(release.origins).metres_to(
        GeodesicPlaces(release.destinations), release.group_origin, release.group_destination
    )
    if np.isnan(before).any() or np.isnan(after).any():
        return None
    values = np.concatenate((before, after))
    del before, after
    shares = comparison.original / comparison.total, comparison.released / comparison.released_total
    return _work_between(values, *shares) / 1000


def earth_movers_distance(a: Floats, share_a: Floats, b: Floats, share_b: Floats) -> float:
    """Return the least work that turns one distribution on a line into another; shares sum to 1.

    It is the area between the two distribution functions, so one sort finds it.

    >>> whole, halves = np.array([1.0]), np.array([0.5, 0.5])
    >>> earth_movers_distance(np.array([3.0]), whole, np.array([1.0, 4.0]), halves)
    1.5
    """
    return _work_between(np.concatenate((a, b)), share_a, share_b)


def _work_between(values: Floats, share_a: Floats, share_b: Floats) -> float:
    """Return the same of values that stand one behind the other."""
    order = _ascending(values)
    work, gap = 0.0, 0.0
    # Invariant: gap is what one distribution has before the piece and the other has not; pieces share an end.
    for start in range(0, len(order) - 1, _PIECE):
        piece = order[start : start + _PIECE + 1]
        gaps = np.cumsum(_differences(piece[:-1], share_a, share_b)) + gap
        work += float((np.abs(gaps) * np.diff(values[piece])).sum())
        gap = float(gaps[-1])
    return work


def _ascending(values: Floats) -> Ints:
    """Return the rows of values in ascending order, equal ones as they stand."""
    from tripcloak.flows.model._kernels import sort_keys

    bits = (values + 0.0).view(np.uint64)
    # The bits of floats that are not negative sort as the floats do.
    return sort_keys(bits, 64)[1] if not (values < 0).any() else np.argsort(values, kind="stable")


def _differences(rows: Ints, share_a: Floats, share_b: Floats) -> Floats:
    """Return what each of some rows adds to one distribution, or takes from it for the other's."""
    found = np.empty(len(rows))
    one = rows < len(share_a)
    found[one], found[~one] = share_a[rows[one]], -share_b[rows[~one] - len(share_a)]
    return found
