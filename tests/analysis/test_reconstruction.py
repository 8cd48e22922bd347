"""Flows between drawn zones against a plain twin on boxes, and what must hold for every estimate."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.analysis import Reconstruction, Unseen, area_overlap, expected_flows, reconstruct
from tripcloak.analysis.reconstruction import unlisted
from worlds.squares import SIDE, Box, boards, drawn_worlds, shapes, share, some_boxes


class Numbers(NamedTuple):
    """What is known of one pair of drawn zones."""

    volume: float
    even: float
    clumped: float
    least: float
    most: float


class World(NamedTuple):
    """Released zones, drawn zones, and released flows: origin, destination, volume."""

    zones: list[Box]
    drawn: list[Box]
    flows: list[tuple[int, int, float]]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    zones, drawn = draw(drawn_worlds())
    end = st.integers(0, len(zones) - 1)
    flow = st.tuples(end, end, st.integers(1, 500).map(float))
    return World(zones, drawn, draw(st.lists(flow, min_size=1, max_size=6)))


def rebuilt(world: World, unseen: Unseen | None = None) -> Reconstruction:
    origin, destination, volume = (np.array(column) for column in zip(*world.flows, strict=True))
    overlap = area_overlap(shapes(world.zones), shapes(world.drawn))
    return reconstruct(origin, destination, volume, overlap, overlap, unseen)


def plainly_rebuilt(world: World) -> dict[tuple[int, int], Numbers]:
    """Return the numbers of every pair that a released flow touches, flow by flow and pair by pair."""
    sums: dict[tuple[int, int], Numbers] = {}
    flows: dict[tuple[int, int], float] = defaultdict(float)
    for origin, destination, volume in world.flows:
        flows[origin, destination] += volume
    for i, start in enumerate(world.drawn):
        for j, end in enumerate(world.drawn):
            into = {row: share(zone, start) for row, zone in enumerate(world.zones)}
            out = {row: share(zone, end) for row, zone in enumerate(world.zones)}
            chance = {pair: into[pair[0]] * out[pair[1]] for pair in flows}
            if not any(chance.values()):
                continue
            even = sum(n * chance[pair] * (1 - chance[pair]) for pair, n in flows.items())
            clumped = sum(n**2 * chance[pair] * (1 - chance[pair]) for pair, n in flows.items())
            for zone in range(len(world.zones)):
                leaves = sum(n * out[d] for (o, d), n in flows.items() if o == zone)
                enters = sum(n * into[o] for (o, d), n in flows.items() if d == zone)
                clumped += into[zone] * (1 - into[zone]) * leaves**2 + out[zone] * (1 - out[zone]) * enters**2
            sums[i, j] = Numbers(
                sum(n * chance[pair] for pair, n in flows.items()),
                even,
                clumped,
                sum(n for pair, n in flows.items() if chance[pair] == 1),
                sum(n for pair, n in flows.items() if chance[pair] > 0),
            )
    return sums


@given(worlds(), st.sampled_from([0.0, 0.3, 1.0]))
def test_it_equals_its_plain_twin(world: World, clumpiness: float) -> None:
    found, expected = rebuilt(world, Unseen(unevenness=clumpiness)), plainly_rebuilt(world)
    pairs = list(zip(found.origin.tolist(), found.destination.tolist(), strict=True))
    assert sorted(pairs) == sorted(expected)
    for row, pair in enumerate(pairs):
        numbers = expected[pair]
        wide = 1.96 * math.sqrt(max(numbers.even + clumpiness * numbers.clumped, 0.0))
        assert found.volume[row] == pytest.approx(numbers.volume)
        assert found.least[row] == pytest.approx(numbers.least)
        assert found.most[row] == pytest.approx(numbers.most)
        low, high = math.floor(numbers.volume - wide + 1e-5), math.ceil(numbers.volume + wide - 1e-5)
        assert low - 1 <= found.low[row] <= max(numbers.volume - wide + 1e-4, numbers.least)
        assert min(numbers.volume + wide - 1e-4, numbers.most) <= found.high[row] <= high + 1
        assert found.low[row] == pytest.approx(max(low, numbers.least), abs=1e-4)
        assert found.high[row] == pytest.approx(min(high, numbers.most), abs=1e-4)


UNSEEN = st.builds(
    lambda clumpiness, volume, rounding: Unseen(clumpiness, volume, volume, rounding),
    st.floats(0, 1),
    st.integers(0, 90).map(float),
    st.sampled_from([0.0, 0.5, 10.0]),
)


@given(worlds(), UNSEEN)
def test_bounds_hold_around_interval_and_estimate(world: World, unseen: Unseen) -> None:
    found = rebuilt(world, unseen)
    ladder = (np.zeros(len(found.volume)), found.least, found.low, found.volume, found.high, found.most)
    for below, above in pairwise(ladder):
        assert (below <= above).all()


@given(st.lists(some_boxes(), min_size=1, max_size=4), boards(), st.integers(1, 99))
def test_volume_is_conserved_where_drawn_zones_cover_everything(
    zones: list[Box], drawn: list[Box], volume: int
) -> None:
    flows = [(row, len(zones) - 1 - row, float(volume + row)) for row in range(len(zones))]
    found = rebuilt(World(zones, drawn, flows))
    assert found.volume.sum() == pytest.approx(sum(flow[2] for flow in flows))


@given(st.lists(st.integers(1, 99), min_size=1, max_size=5))
def test_zones_drawn_as_they_were_released_give_the_flows_back(volumes: list[int]) -> None:
    zones = [Box(at, 0, at + 1, 1) for at in range(len(volumes))]
    flows = [(row, (row * 2) % len(zones), float(volume)) for row, volume in enumerate(volumes)]
    found = rebuilt(World(zones, zones, flows))
    for column in found[2:]:
        np.testing.assert_array_equal(column, found.volume)
    assert {(o, d): v for o, d, v in zip(*(column.tolist() for column in found[:3]), strict=True)} == {
        (o, d): v for o, d, v in flows
    }


@given(worlds())
def test_the_estimates_alone_are_the_same(world: World) -> None:
    origin, destination, volume = (np.array(column) for column in zip(*world.flows, strict=True))
    overlap = area_overlap(shapes(world.zones), shapes(world.drawn))
    alone = expected_flows(origin, destination, volume, overlap, overlap).toarray()
    found = rebuilt(world)
    np.testing.assert_allclose(alone[found.origin, found.destination], found.volume)
    assert alone.sum() == pytest.approx(found.volume.sum())


def test_the_interval_holds_as_often_as_it_says() -> None:
    """Trips drawn evenly over a released zone fall into a half of it within the interval 19 times of 20."""
    found = rebuilt(World([Box(0, 0, 2, 1)], [Box(0, 0, 1, 1), Box(1, 0, 2, 1)], [(0, 0, 400.0)]))
    draw = np.random.default_rng(1)
    held = 0
    for _ in range(500):
        left = draw.random((400, 2)) < 0.5
        both = (left[:, 0] & left[:, 1]).sum()
        held += int(found.low[0] <= both <= found.high[0])
    assert 0.92 < held / 500 < 0.98


def test_some_of_the_flows_can_be_kept() -> None:
    found = rebuilt(World([Box(0, 0, 2, 1)], [Box(0, 0, 1, 1), Box(1, 0, 2, 1)], [(0, 0, 8.0)]))
    kept = found.where(found.origin == 1)
    assert kept.origin.tolist() == [1, 1]
    assert kept.volume.tolist() == [2.0, 2.0]


NUDGES = st.sampled_from([-0.3, -3e-4, 0.0, 3e-4, 0.3])
"""Drawn edges lie on those of zones, beside them by a sliver, or somewhere else."""


@given(st.data(), boards(), st.integers(1, 40), st.integers(0, 12))
def test_no_bound_is_ever_broken(data: st.DataObject, zones: list[Box], trips: int, hidden: int) -> None:
    """Trips anywhere in their zones, some of them withheld: a trip a row, from square to square."""
    place = st.tuples(*(st.floats(1e-6, SIDE - 1e-6) for _ in range(2)))
    ends = data.draw(st.lists(st.tuples(place, place), min_size=trips + hidden, max_size=trips + hidden))
    edges = sorted({0.0, *(cut + data.draw(NUDGES) for cut in (2.0, 4.0)), float(SIDE)})
    drawn = [(west, 0.0, east, float(SIDE)) for west, east in pairwise(edges)]
    zone = [(where(zones, start), where(zones, end)) for start, end in ends]
    rows = np.array(zone[:trips])
    overlap = area_overlap(shapes(zones), np.array([shapely.box(*area) for area in drawn], dtype=object))
    unseen = Unseen(unevenness=data.draw(st.floats(0, 1)), volume=float(hidden), likely=float(hidden))
    found = reconstruct(rows[:, 0], rows[:, 1], np.ones(trips), overlap, overlap, unseen)
    told = {pair: row for row, pair in enumerate(zip(*(end.tolist() for end in found[:2]), strict=True))}
    truth = Counter((where(drawn, start), where(drawn, end)) for start, end in ends)
    for pair in {*told, *truth}:
        least, most = 0.0, unlisted(found, unseen)[1]
        if pair in told:
            least, most = found.least[told[pair]], found.most[told[pair]]
        assert least <= truth[pair] <= most


def where(areas: Sequence[tuple[float, ...]], point: tuple[float, float]) -> int:
    """Return the first area that a point lies in."""
    x, y = point
    return next(row for row, (w, s, e, n) in enumerate(areas) if w <= x <= e and s <= y <= n)


def test_noise_has_no_bounds_and_rounding_widens_them() -> None:
    world = World([Box(0, 0, 2, 1)], [Box(0, 0, 2, 1)], [(0, 0, 8.0)])
    noisy = rebuilt(world, Unseen(volume=math.inf, likely=math.inf, exact=False))
    assert (noisy.least[0], noisy.low[0], noisy.high[0], noisy.most[0]) == (0, 0, math.inf, math.inf)
    rounded = rebuilt(world, Unseen(rounding=0.5))
    assert (rounded.least[0], rounded.most[0]) == (7.5, 8.5)


def test_withheld_trips_are_in_every_bound_and_shared_out_among_intervals() -> None:
    zones = [Box(at, 0, at + 1, 1) for at in range(4)]
    world = World(zones, zones, [(0, 0, 90.0), (1, 1, 10.0)])
    unseen = Unseen(volume=20.0, likely=20.0)
    found = rebuilt(world, unseen)
    assert (found.most - found.volume).tolist() == [20, 20]
    more = found.high - found.volume
    assert more[0] > more[1] >= 10
    assert unlisted(found, unseen) == (10.0, 20.0)
