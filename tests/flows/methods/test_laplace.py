"""Laplace: a threshold that hides single travellers, noise on every pair where few, true chances."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.noise import gaussian_chance, laplace_chance, partitions
from tripcloak.flows.methods import Laplace
from tripcloak.flows.methods.noise import laplace as module
from tripcloak.flows.methods.noise.laplace import chance_to_show, threshold
from tripcloak.ground.errors import InputError
from tripcloak.ground.noise import CHUNK, OpenDPNoise, in_chunks, laplace_scale
from tripcloak.promises import DifferentialPrivacy
from worlds.noise_sources import Recorded, Same
from worlds.noisy import TREE, Trip, World

SAMPLE = 20_000
ONCE_IN_A_BILLION = math.sqrt(math.log(2e9) / (2 * SAMPLE))
"""How far a share of the sample may be from its chance, by Hoeffding, before a test fails by bad luck."""


def tail(least: int, scale: float) -> float:
    """Return the chance that noise is this large or larger, term by term."""
    return math.fsum(laplace_chance(value, scale) for value in range(least, least + math.ceil(60 * scale)))


def chance_of_spread(trips: tuple[int, ...], least: int, scale: float) -> float:
    """Return the chance that at least one pair with so many trips is published."""
    return 1 - math.prod(1 - tail(least - held, scale) for held in trips)


@given(most=st.integers(1, 7), scale=st.floats(0.3, 9), above=st.integers(1, 12))
def test_no_way_to_spread_trips_shows_more_often_than_said(most: int, scale: float, above: int) -> None:
    least = most + above
    spreads = [spread for total in range(1, most + 1) for spread in partitions(total)]
    worst = max(chance_of_spread(spread, least, scale) for spread in spreads)
    assert chance_to_show(least, scale, most) == pytest.approx(worst, rel=1e-6, abs=1e-12)


@given(most=st.integers(1, 50), epsilon=st.floats(0.05, 8), exponent=st.floats(-12, -0.1))
def test_the_threshold_is_the_least_that_keeps_delta(most: int, epsilon: float, exponent: float) -> None:
    scale, delta = laplace_scale(most, epsilon), 10**exponent
    least = threshold(scale, most, delta)
    assert least > most
    assert chance_to_show(least, scale, most) <= delta
    assert least == most + 1 or chance_to_show(least - 1, scale, most) > delta * (1 - 1e-8)


@given(most=st.integers(1, 4), epsilon=st.sampled_from([0.5, 1.0, 3.0]), data=st.data())
def test_neighbours_are_told_apart_no_better_than_promised(
    most: int, epsilon: float, data: st.DataObject
) -> None:
    """Exactly: over every outcome, with and without one traveller, pair by pair.

    Pairs are independent, so the worst is a pair that others use too, changed by some of the trips, next
    to pairs that are the traveller's own with the rest.
    """
    delta = 10.0 ** -data.draw(st.integers(1, 4))
    scale = laplace_scale(most, epsilon)
    least = threshold(scale, most, delta)
    shared = data.draw(st.integers(0, most))
    own = data.draw(st.sampled_from([(), *(s for n in range(1, most - shared + 1) for s in partitions(n))]))
    others = data.draw(st.integers(least - 3, least + 3))
    with_, without = (_outcomes(others + trips, least, scale) for trips in (shared, 0))
    shows = chance_of_spread(own, least, scale)
    for first, second, lost in ((with_, without, shows), (without, with_, 0.0)):
        # The traveller's own pairs show, which can never happen without them, or they do not.
        stay = 1 - shows if first is with_ else 1.0
        other = 1 - shows if second is with_ else 1.0
        excess = math.fsum(
            max(0.0, a * stay - math.exp(epsilon) * b * other) for a, b in zip(first, second, strict=True)
        )
        assert excess + lost <= delta * (1 + 1e-6) + 1e-12


def _outcomes(exact: int, least: int, scale: float) -> list[float]:
    """Return the chance of every outcome of one pair: not published, or published with some number."""
    numbers = [laplace_chance(value - exact, scale) for value in range(least, least + 400)]
    return [1 - math.fsum(numbers), *numbers]


def test_where_every_pair_fits_all_get_noise_and_delta_is_nothing() -> None:
    matrix = World("tree").matrix([Trip(0, 1, person) for person in range(9)])
    noise = Same(seed=5)
    release = Laplace(epsilon=1.0).anonymise(matrix, noise=noise)
    assert noise.exact[0].tolist() == [9 if pair == 1 else 0 for pair in range(144)]
    assert noise.asked[0] == {"scale": 10.0, "sensitivity": 10, "epsilon": 1.0}
    assert isinstance(release.promise, DifferentialPrivacy)
    assert release.promise.delta == 0
    assert dict(release.promise.details)["threshold"] == 1
    # Most of what is published nobody travelled: that is what hides who did.
    assert release.n_groups > 30
    assert set(release.group_of_flow.tolist()) <= {-1, *range(release.n_groups)}


def test_with_too_many_pairs_only_those_that_occur_get_noise_and_small_ones_stay_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "EVERY_PAIR", 143)
    trips = [Trip(0, 1, person) for person in range(200)] + [Trip(2, 3, person) for person in range(155)]
    noise = Recorded()
    release = Laplace(epsilon=1.0).anonymise(World("tree").matrix(trips), noise=noise)
    assert [exact.tolist() for exact in noise.exact] == [[200, 155]]
    assert release.trips.tolist() == [200]
    assert release.group_of_flow.tolist() == [0, -1]
    assert release.promise.to_manifest() == {
        "kind": "differential privacy",
        "epsilon": 1.0,
        "delta": 1e-6,
        "unit": "traveller",
        "id_is": "person",
        "contributions": 10,
        "mechanism": "discrete Laplace noise on pairs of zones that occur",
        "noise_scale": 10.0,
        "threshold": 156,
        "study_area": "all",
    }


def test_grids_are_lifted_three_heights_and_hide_pairs_by_the_threshold() -> None:
    trips = [Trip(number % 49, number % 7, number) for number in range(500)]
    release = Laplace(epsilon=1.0).anonymise(World("h3").matrix(trips), noise=Recorded())
    asked = {"epsilon": 1.0, "delta": 1e-6, "bounding": "sample"}
    assert release.parameters == {**asked, "contributions": 10, "height": 3}
    assert release.origins.ids.tolist() == ["861fb4677ffffff"]
    assert release.trips.tolist() == [500]


def test_without_a_delta_every_pair_of_a_grid_gets_noise() -> None:
    noise = Recorded()
    matrix = World("h3").matrix([Trip(0, 1, person) for person in range(9)])
    release = Laplace(epsilon=1.0, delta=0.0, height=1).anonymise(matrix, noise=noise)
    assert len(noise.exact[0]) == 49
    assert isinstance(release.promise, DifferentialPrivacy)
    assert (release.promise.delta, release.trips.tolist()) == (0, [9])


def test_without_a_delta_too_many_pairs_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY_PAIR", 7**4 - 1)
    matrix = World("h3").matrix([Trip(0, 1, 3)])
    monkeypatch.setattr("tripcloak.flows.methods.noise.noisy.bound_contributions", None)
    with pytest.raises(InputError, match="2,401, more than 2,400; choose coarser zones"):
        Laplace(epsilon=1.0, delta=0.0, height=0).anonymise(matrix)


def test_a_pair_that_only_trips_left_out_use_does_not_occur() -> None:
    # Without an id a trip is not counted; were the pair given noise, it would tell that there was one.
    trips = [*(Trip(0, 1, person) for person in range(120)), Trip(2, 3)]
    noise = Recorded()
    matrix = World("quadtree").matrix(trips)
    Laplace(epsilon=1.0, height=0, delta=1e-2).anonymise(matrix, noise=noise)
    assert matrix.n_flows == 2
    assert [exact.tolist() for exact in noise.exact] == [[120]]


def test_a_hierarchy_of_one_complete_axis_is_not_complete() -> None:
    ends = np.zeros(500, dtype=int)
    matrix = World("h3").matrix([Trip(0, 0)] * 500, ids=False)
    mixed = replace(
        matrix, destinations=TREE, flows=replace(matrix.flows, destination=ends[:1].astype(np.int32))
    )
    noise = Recorded()
    Laplace(epsilon=1.0, height=0).anonymise(mixed, noise=noise)
    assert [exact.tolist() for exact in noise.exact] == [[500]]


@given(sensitivity=st.integers(1, 10**6), epsilon=st.floats(1e-3, 50))
def test_the_scale_never_rounds_to_less_privacy(sensitivity: int, epsilon: float) -> None:
    scale = laplace_scale(sensitivity, epsilon)
    assert Fraction(sensitivity) <= Fraction(scale) * Fraction(epsilon)
    assert scale == pytest.approx(sensitivity / epsilon, rel=1e-15)


def test_opendp_draws_the_noise_it_says() -> None:
    drawn = OpenDPNoise().laplace(np.full(SAMPLE, 50), scale=2.0, sensitivity=2, epsilon=1.0) - 50
    for value in (-3, -1, 0, 1, 5):
        share = np.count_nonzero(drawn <= value) / SAMPLE
        chance = math.fsum(laplace_chance(v, 2.0) for v in range(-120, value + 1))
        assert abs(share - chance) < ONCE_IN_A_BILLION, value
    drawn = OpenDPNoise().gaussian(np.full(SAMPLE, 50), scale=3.0, sensitivity=3, rho=0.5) - 50
    for value in (-4, -1, 0, 2, 6):
        share = np.count_nonzero(drawn <= value) / SAMPLE
        chance = math.fsum(gaussian_chance(v, 3.0) for v in range(-36, value + 1))
        assert abs(share - chance) < ONCE_IN_A_BILLION, value


def test_noise_comes_in_chunks_between_which_a_run_can_stop() -> None:
    told: list[tuple[str, int, int | None]] = []
    exact = np.arange(2 * CHUNK + 5)
    noise = Recorded()
    drawn = in_chunks(noise.laplace, exact, lambda *step: told.append(step))
    assert drawn.tolist() == exact.tolist()
    assert [len(part) for part in noise.exact] == [CHUNK, CHUNK, 5]
    assert [step[1:] for step in told] == [(0, len(exact)), (CHUNK, len(exact)), (2 * CHUNK, len(exact))]
