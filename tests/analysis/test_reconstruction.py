"""Flows between drawn zones against a plain twin on boxes, and what must hold for every estimate."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.analysis import Reconstruction, area_overlap, expected_flows, reconstruct
from worlds.squares import Box, boards, drawn_worlds, shapes, share, some_boxes


class Numbers(NamedTuple):
    """What is known of one pair of drawn zones."""

    volume: float
    variance: float
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


def rebuilt(world: World) -> Reconstruction:
    origin, destination, volume = (np.array(column) for column in zip(*world.flows, strict=True))
    overlap = area_overlap(shapes(world.zones), shapes(world.drawn))
    return reconstruct(origin, destination, volume, overlap, overlap)


def plainly_rebuilt(world: World) -> dict[tuple[int, int], Numbers]:
    """Return the numbers of every pair that a released flow touches, flow by flow and pair by pair."""
    sums: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * 4)
    for origin, destination, volume in world.flows:
        for i, start in enumerate(world.drawn):
            for j, end in enumerate(world.drawn):
                shares = share(world.zones[origin], start), share(world.zones[destination], end)
                chance = shares[0] * shares[1]
                if chance > 0:
                    own = (volume * chance, volume * chance * (1 - chance), volume * (chance == 1), volume)
                    sums[i, j] = [sum(pair) for pair in zip(sums[i, j], own, strict=True)]
    return {pair: Numbers(*numbers) for pair, numbers in sums.items()}


@given(worlds())
def test_it_equals_its_plain_twin(world: World) -> None:
    found, expected = rebuilt(world), plainly_rebuilt(world)
    pairs = list(zip(found.origin.tolist(), found.destination.tolist(), strict=True))
    assert sorted(pairs) == sorted(expected)
    for row, pair in enumerate(pairs):
        numbers = expected[pair]
        wide = 1.96 * math.sqrt(max(numbers.variance, 0.0))
        assert found.volume[row] == pytest.approx(numbers.volume)
        assert found.least[row] == pytest.approx(numbers.least)
        assert found.most[row] == pytest.approx(numbers.most)
        assert found.low[row] == pytest.approx(max(numbers.volume - wide, numbers.least), abs=1e-5)
        assert found.high[row] == pytest.approx(min(numbers.volume + wide, numbers.most), abs=1e-5)


@given(worlds())
def test_bounds_hold_around_interval_and_estimate(world: World) -> None:
    found = rebuilt(world)
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
