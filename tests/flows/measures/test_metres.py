"""Lengths on the ellipsoid, the spread of displacements, and the shift of trip lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import measures as oracle
from tripcloak.flows.measures import displacement, trip_length_distance
from tripcloak.flows.measures._kernels import REACH_M, metres_between, metres_to, places, weigh_digits
from tripcloak.flows.measures.distances import GeodesicPlaces, WeightedSpread, earth_movers_distance
from tripcloak.flows.model import TripEnds
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Zones
from tripcloak.promises import Volume
from worlds.releases import Drawn, Trip, drawn_releases

VOLUMES = st.sampled_from(["trips", "population"])
MILLIMETRE = 1e-3
FLOAT32 = 1e-7


def lines(metres: float, n: int = 20_000) -> tuple[np.ndarray, ...]:
    """Return the two ends of lines up to this long, anywhere: a quarter of them near a pole."""
    rng = np.random.default_rng(int(metres))
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, n)))
    lat[: n // 4] = rng.choice([-1, 1], n // 4) * rng.uniform(89.5, 90, n // 4)
    lon = rng.uniform(-180, 180, n)
    to_lon, to_lat, _ = oracle.ELLIPSOID.fwd(lon, lat, rng.uniform(0, 360, n), rng.uniform(0, metres, n))
    return lat, lon, np.asarray(to_lat), np.asarray(to_lon)


@pytest.mark.parametrize("metres", [0.01, 30, 5_000, 100_000, 499_000])
def test_short_lines_are_right_to_a_millimetre(metres: float) -> None:
    lat, lon, to_lat, to_lon = lines(metres)
    rows = np.arange(len(lat), dtype=np.int32)
    here, there = places(lat, lon), places(to_lat, to_lon)
    assert np.abs(there - oracle.places(to_lat, to_lon)).max() < 1e-8
    ends = lat, lon, to_lat, to_lon
    for found, expected in (
        (metres_to(lat, lon, there, rows), oracle.metres_to(*ends)),
        (metres_between(here, rows, there, rows), oracle.metres_between(*ends)),
    ):
        assert (found >= 0).all()
        assert np.abs(found - expected).max() < MILLIMETRE
        assert metres > 100_000 or np.abs(found - expected).max() < 1e-6


@pytest.mark.parametrize("metres", [2 * REACH_M, 2e7])
def test_long_lines_are_right_too(metres: float) -> None:
    lat, lon, to_lat, to_lon = lines(metres, 2_000)
    here, there = GeodesicPlaces(zones(lat, lon)), GeodesicPlaces(zones(to_lat, to_lon))
    _, _, expected = oracle.ELLIPSOID.inv(lon, lat, to_lon, to_lat)
    rows = np.random.default_rng(1).permutation(len(lat))
    assert (expected > REACH_M).any()
    for found in (there.metres_from(lat[rows], lon[rows], rows), here.metres_to(there, rows, rows)):
        assert np.abs(found - expected[rows]).max() < MILLIMETRE


def test_points_at_the_antimeridian_and_the_poles() -> None:
    lat, lon = np.array([10.0, 90.0, -90.0, 0.0]), np.array([179.999, 0.0, 5.0, 0.0])
    to_lat, to_lon = np.array([10.0, 90.0, -90.0, 0.0]), np.array([-179.999, 123.0, -175.0, 0.0])
    found = GeodesicPlaces(zones(to_lat, to_lon)).metres_from(lat, lon, np.arange(4))
    assert found == pytest.approx([oracle.metres((10.0, 0.0), (10.0, 0.002)), 0, 0, 0], abs=1e-6)


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_displacement_is_measured_from_every_raw_point(drawn: Drawn, volume: Volume) -> None:
    distances = []
    for trip in drawn.trips:
        if trip.cell in drawn.suppressed:
            continue
        weight = Fraction(trip.weight) if volume == "population" else Fraction(1)
        for axis, point in ((0, trip.start), (1, trip.end)):
            distances.append((oracle.metres(point, drawn.places[axis][drawn.zones[trip.cell][axis]]), weight))
    check_displacement(drawn, volume, distances)


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_without_raw_points_the_centres_of_tiles_stand_in(drawn: Drawn, volume: Volume) -> None:
    distances = []
    for cell, weight in drawn.volume(volume).items():
        for axis in (0, 1) if cell not in drawn.suppressed else ():
            place = drawn.places[axis]
            distances.append((oracle.metres(place[cell[axis]], place[drawn.zones[cell][axis]]), weight))
    check_displacement(replace(drawn, has_points=False), volume, distances)


def check_displacement(drawn: Drawn, volume: Volume, distances: list[tuple[float, Fraction]]) -> None:
    found = displacement(drawn.matrix, drawn.release, volume=volume)
    if sum(weight for _, weight in distances) == 0:
        assert found is None
        return
    assert found is not None
    mean, median, std = oracle.spread(distances)
    assert found.mean == pytest.approx(mean, abs=1e-5)
    assert found.median == pytest.approx(median, rel=FLOAT32, abs=1e-5)
    assert found.std == pytest.approx(std, abs=1e-3)


@given(drawn=drawn_releases(), rows=st.integers(1, 5))
def test_the_chunks_of_raw_points_do_not_matter(drawn: Drawn, rows: int) -> None:
    again = replace(drawn, chunk=rows)
    once, twice = (displacement(d.matrix, d.release) for d in (drawn, again))
    assert once is not None
    assert once == pytest.approx(twice, rel=1e-9, abs=1e-4)
    assert once.median == twice.median


def test_huge_chunks_are_taken_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = example()
    before = displacement(drawn.matrix, drawn.release)
    sizes = []
    add = WeightedSpread.add
    monkeypatch.setattr("tripcloak.flows.measures.distances._PIECE", 2)
    monkeypatch.setattr(
        WeightedSpread, "add", lambda self, v, w=None: (sizes.append(len(v)), add(self, v, w))[1]
    )
    assert displacement(drawn.matrix, drawn.release) == pytest.approx(before)
    assert max(sizes) <= 2
    assert sum(sizes) == 2 * len(drawn.trips)


def test_read_only_points_are_measured() -> None:
    drawn = example()

    def frozen() -> Iterator[TripEnds]:
        for points in drawn.matrix.points():
            for column in points[:-1]:
                column.flags.writeable = False
            yield points

    again = replace(drawn.matrix, points=frozen)
    assert displacement(again, drawn.release) == displacement(drawn.matrix, drawn.release)


def test_points_of_other_trips_are_refused() -> None:
    drawn = example()
    other = TripEnds(*(np.array([0]) for _ in range(2)), *(np.zeros(1) for _ in range(4)), None)
    stray = replace(drawn.matrix, points=lambda: iter([other]))
    assert (0, 0) not in set(zip(drawn.matrix.flows.origin, drawn.matrix.flows.destination, strict=True))
    with pytest.raises(InputError, match="the matrix does not have"):
        displacement(stray, drawn.release)


def test_population_needs_points_with_weights() -> None:
    drawn = example()
    bare = replace(drawn.matrix, points=lambda: (p._replace(weight=None) for p in drawn.matrix.points()))
    assert displacement(bare, drawn.release) == displacement(drawn.matrix, drawn.release)
    with pytest.raises(InputError, match="carry no weight"):
        displacement(bare, drawn.release, volume="population")


def test_without_geometry_there_are_no_metres() -> None:
    drawn = example()
    for axis in (0, 1):
        places = list(drawn.places)
        places[axis] = dict.fromkeys(places[axis], (float("nan"), float("nan")))
        blind = replace(drawn, places=tuple(places))
        assert displacement(blind.matrix, blind.release) is None
        assert trip_length_distance(blind.matrix, blind.release) is None
        assert displacement(replace(blind.matrix, points=None), blind.release) is None


@given(
    values=st.lists(st.tuples(st.floats(0, 1e6, width=32), st.integers(0, 4)), min_size=1, max_size=30),
    chunk=st.integers(1, 30),
)
def test_a_weight_counts_as_so_many_repetitions(values: list[tuple[float, int]], chunk: int) -> None:
    repeated = [value for value, weight in values for _ in range(weight)]
    spread = WeightedSpread()
    for at in range(0, len(values), chunk):
        numbers, weights = np.array(values[at : at + chunk]).T
        spread.add(numbers, weights)
    assert spread.weight == len(repeated)
    if repeated:
        assert spread.median() == np.median(repeated)
        assert spread.mean == pytest.approx(np.mean(repeated), rel=1e-12, abs=1e-9)
        assert spread.deviation == pytest.approx(np.std(repeated), rel=1e-9, abs=1e-6)


@given(weights=st.lists(st.sampled_from([0.1, 0.2, 0.3, 1.1, 1e9 / 3, 1e-9]), min_size=1, max_size=30))
def test_the_weighted_median_is_a_value_or_between_two_under_rounding(weights: list[float]) -> None:
    spread = WeightedSpread()
    spread.add(np.arange(len(weights), dtype=float), np.array(weights))
    running = np.cumsum(weights)
    middle, slack = running[-1] / 2, running[-1] * 1e-12
    median = spread.median()
    assert running[int(np.ceil(median))] >= middle - slack
    assert median < 1 or running[int(np.floor(median)) - 1] <= middle + slack


@given(
    bits=st.lists(st.integers(0, 2**20), max_size=20),
    weighted=st.booleans(),
    prefix=st.integers(-1, 16),
)
def test_weigh_digits_equals_its_plain_twin(bits: list[int], weighted: bool, prefix: int) -> None:
    weights = [0.5 * (i % 5) for i in range(len(bits))] if weighted else []
    out = np.zeros(1 << 16)
    weigh_digits(np.array(bits, dtype=np.uint32), np.array(weights, dtype=float), prefix, out)
    expected = oracle.weigh_digits(bits, weights, prefix)
    assert {int(i): float(out[i]) for i in np.flatnonzero(out)} == {i: w for i, w in expected.items() if w}


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_the_shift_of_trip_lengths_is_the_least_work(drawn: Drawn, volume: Volume) -> None:
    world = drawn.world(volume)
    found = trip_length_distance(drawn.matrix, drawn.release, volume=volume)
    if world.total == 0 or world.released == 0:
        assert found is None
        return
    before, after = (
        [
            (oracle.metres(drawn.places[0][row.cell[0]], drawn.places[1][row.cell[1]]), row.volume)
            for row in rows
        ]
        for rows in (world.flows, world.groups)
    )
    assert found == pytest.approx(oracle.earth_movers_distance(before, after) / 1000, rel=1e-10, abs=1e-8)


@given(
    a=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=12),
    b=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=12),
)
def test_earth_movers_distance_equals_both_references(a: list[tuple], b: list[tuple]) -> None:
    from scipy.stats import wasserstein_distance

    (x, v), (y, w) = np.array(a, dtype=float).T, np.array(b, dtype=float).T
    found = earth_movers_distance(x, v / v.sum(), y, w / w.sum())
    assert found == pytest.approx(oracle.earth_movers_distance(a, b), abs=1e-12)
    assert found == pytest.approx(wasserstein_distance(x, y, v, w), abs=1e-12)


def example() -> Drawn:
    """Return a fixed release of four trips, two of them from b to b."""
    axis = oracle.Axis({"a": "all", "b": "all", "all": None})
    place = {"a": (48.0, 2.0), "b": (48.1, 2.1), "all": (48.05, 2.04)}
    first = Trip(("a", "b"), (48.01, 2.02), (48.11, 2.12), 1.5)
    second = Trip(("b", "b"), (48.09, 2.12), (48.12, 2.1), 3.0)
    return Drawn(
        axes=(axis, axis),
        places=(place, place),
        trips=(first, replace(first, start=(48.0, 2.01)), second, second),
        zones=dict.fromkeys([first.cell, second.cell], ("all", "b")),
        suppressed=frozenset(),
        shape="cuts",
        chunk=100,
    )


def zones(lat: np.ndarray, lon: np.ndarray) -> Zones:
    """Return zones at these points."""
    n = len(lat)
    one = np.ones(n, dtype=np.int64)
    return Zones(np.arange(n).astype(str), one * 0, one, one, np.ones(n), lat, lon)
