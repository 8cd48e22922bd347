"""The arithmetic behind the rules on noise, against slow sums, the noisy methods' own, and honest noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.flows.audit import noise as trials
from tripcloak.flows.audit.noise import (
    FALSE_ALARM,
    TRIALS,
    NoisyNumbers,
    chernoff,
    counted_trips,
    gaussian_hit,
    id_marks,
    laplace_within,
    too_few_made_up,
    verdict,
)
from tripcloak.flows.audit.privacy import Privacy, concentrated_delta, shown_by_one, too_little
from tripcloak.flows.methods.noise.laplace import threshold
from tripcloak.flows.methods.noise.noisy import bound_contributions
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.noise import largest_rho
from tripcloak.hierarchy import Hierarchy

SCALES = [0.3, 1.0, 2.5, 10.0]


def laplace_masses(scale: float) -> dict[int, float]:
    q = math.exp(-1 / scale)
    far = math.ceil(60 * scale) + 5
    return {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-far, far + 1)}


def gaussian_masses(scale: float) -> dict[int, float]:
    far = math.ceil(12 * scale) + 5
    heights = {z: math.exp(-(z**2) / (2 * scale**2)) for z in range(-far, far + 1)}
    return {z: height / sum(heights.values()) for z, height in heights.items()}


def given_that(masses: dict[int, float], least: int) -> dict[int, float]:
    held = {z: mass for z, mass in masses.items() if z >= least}
    return {z: mass / math.fsum(held.values()) for z, mass in held.items()}


@pytest.mark.parametrize("scale", SCALES)
def test_the_chance_of_small_noise_is_the_sum_of_its_parts(scale: float) -> None:
    masses = laplace_masses(scale)
    for least in (-30, -2, -1, 0, 1, 2, 9):
        held = given_that(masses, least)
        for reach in (0, 1, 7):
            slow = math.fsum(mass for z, mass in held.items() if abs(z) <= reach)
            assert laplace_within(reach, np.array([least]), scale)[0] == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_no_run_of_numbers_holds_laplace_noise_more_often_than_said(scale: float) -> None:
    masses = laplace_masses(scale)
    for least in (-30, -3, 0, 1, 12):
        held = given_that(masses, least)
        for width in (1, 3, 9):
            most = max(math.fsum(held.get(z + i, 0) for i in range(width)) for z in range(least, least + 60))
            assert most <= -math.expm1(-width / scale) + 1e-9


@pytest.mark.parametrize("scale", [2.0, 8.0])
def test_no_number_is_hit_by_gaussian_noise_more_often_than_said(scale: float) -> None:
    masses = gaussian_masses(scale)
    for beyond in (0, 1, 2, 5, 20, 200):
        bound = gaussian_hit(np.array([beyond]), scale)[0]
        for least in range(-int(5 * scale), int(6 * scale), 3):
            assert given_that(masses, least).get(least + beyond, 0.0) <= bound + 1e-12


@given(st.integers(1, 400), st.floats(0.01, 0.99), st.floats(0, 1))
def test_chernoffs_bound_is_one(n: int, mean: float, share: float) -> None:
    from scipy.stats import binom

    successes = round(share * n)
    assert binom.sf(successes - 1, n, mean) <= math.exp(-chernoff(successes, n, mean)) * (1 + 1e-9)


LAPLACE: dict[str, Any] = {"epsilon": 1, "delta": 0, "unit": "trip", "contributions": 1, "noise": "Laplace"}


@pytest.mark.parametrize("scale", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("least", [1, 15])
def test_honest_noise_is_far_from_an_alarm(scale: float, least: int) -> None:
    """With trips of busy people left out at random, which the auditor does not know of."""
    random = np.random.default_rng(11)
    stated = Privacy(**LAPLACE, noise_scale=scale, threshold=least)
    stop = -math.expm1(-1 / scale)
    for _ in range(300):
        recount = random.integers(0, 60, 400)
        counted = np.maximum(recount - random.integers(0, 4, 400) * (random.random(400) < 0.5), 0)
        noisy = counted + random.geometric(stop, 400) - random.geometric(stop, 400)
        shown = noisy >= least
        numbers = NoisyNumbers(noisy[shown], counted[shown], recount[shown], (counted == recount)[shown])
        assert verdict(stated, numbers) is not False
    alone = NoisyNumbers(recount, recount, recount, np.ones(400, dtype=bool))
    assert verdict(stated, alone) is False


def test_the_level_of_all_trials_together_is_stated() -> None:
    """A coin that comes up right by itself: no alarm just below the level, one just above."""
    stated = Privacy(**LAPLACE, noise_scale=1 / math.log(2))
    needed = math.ceil(math.log2(TRIALS / FALSE_ALARM))
    for n, found in (needed - 1, None), (needed + 1, False):
        exact = np.full(n, 1000)
        assert verdict(stated, NoisyNumbers(exact, exact, exact, np.zeros(n, dtype=bool))) is found


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_made_up_pairs_are_missed_only_if_they_are_missing(scale: float) -> None:
    random = np.random.default_rng(5)
    stated = Privacy(**LAPLACE, noise_scale=scale)
    stop = -math.expm1(-1 / scale)
    for _ in range(50):
        noise = random.geometric(stop, 500) - random.geometric(stop, 500)
        assert not too_few_made_up(stated, int((noise >= 1).sum()), 500)
    assert too_few_made_up(stated, 20, 500)
    assert not too_few_made_up(stated, 0, 3)
    assert not too_few_made_up(stated, 7, 5), "more than there could be is for other rules to judge"


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_rho_is_judged_as_the_method_reckons_it(epsilon: float, delta: float) -> None:
    rho = largest_rho(epsilon, delta)
    assert concentrated_delta(rho, epsilon) == pytest.approx(delta, rel=1e-6)
    assert concentrated_delta(1.001 * rho, epsilon) > delta * (1 + 1e-6)


@pytest.mark.parametrize("most", [1, 3, 10, 200])
@pytest.mark.parametrize("scale", [0.7, 5.0, 60.0])
def test_the_methods_threshold_is_just_high_enough(most: int, scale: float) -> None:
    least = threshold(scale, most, 1e-6)
    told = {"unit": "traveller", "contributions": most, "noise": "Laplace", "noise_scale": scale}
    right, lower = (
        Privacy(epsilon=most / scale, delta=1e-6, threshold=number, **told) for number in (least, least - 1)
    )
    assert too_little(right) is None
    assert shown_by_one(lower) > 1e-6
    assert too_little(lower) is not None


def test_a_threshold_within_reach_of_one_person_shows_them() -> None:
    told = {"unit": "traveller", "contributions": 10, "noise": "Laplace", "noise_scale": 10.0, "epsilon": 1}
    assert shown_by_one(Privacy(delta=0.1, threshold=1, **told)) > 0.99


def test_half_a_number_is_no_threshold_but_the_next_whole_one_is() -> None:
    """Nobody publishes half a trip, so 2.5 keeps as much back as 3, and more than 2."""
    told = {"unit": "traveller", "contributions": 2, "noise": "Laplace", "noise_scale": 1.0, "epsilon": 2}
    low, half, high = (Privacy(delta=0.1, threshold=least, **told) for least in (2, 2.5, 3))
    assert shown_by_one(low) > shown_by_one(half) == shown_by_one(high)
    few = [[too_few_made_up(one, made_up, 1000) for made_up in range(200)] for one in (low, half, high)]
    assert few[0] != few[1] == few[2]
    exact = np.arange(1, 9)
    numbers = NoisyNumbers(exact, exact, exact, exact > 0)
    chances = [
        [trial.chance.tolist() for trial in trials._laplace(one, numbers)] for one in (low, half, high)
    ]
    assert chances[0] != chances[1] == chances[2]


TREE = Hierarchy.from_parents(["a", "b7", "c", "ab", "all"], [3, 3, 4, 4, -1])


@settings(max_examples=60)
@given(
    trips=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-1, 4), st.integers(1, 5)), min_size=1
    ),
    most=st.integers(1, 9),
)
def test_the_same_trips_are_counted_as_by_the_methods(
    trips: list[tuple[int, int, int, int]], most: int
) -> None:
    """Two programs, one rule: which trips of busy travellers are counted."""
    start, end, person, number = np.array(trips, dtype=np.int32).T
    matrix = ODMatrix.from_trips(TREE, TREE, start, end, person=person, trips=number, repeats=True)
    travellers, repeats = matrix.flows.travellers, matrix.flows.repeats
    assert travellers is not None
    assert repeats is not None
    flow = np.repeat(np.arange(matrix.n_flows), np.diff(travellers.offsets))
    origin, destination = (id_marks(tree.zones.ids[tile[flow]].tolist()) for tree, tile in matrix.axes)
    counted = counted_trips(travellers.people, origin, destination, repeats, most)
    summed = np.bincount(flow, counted.trips, minlength=matrix.n_flows)
    np.testing.assert_array_equal(summed, bound_contributions(matrix, most).trips)
    for one in np.unique(travellers.people):
        own = travellers.people == one
        assert counted.trips[own].sum() == min(most, repeats[own].sum())
        assert counted.busy[own].all() == (repeats[own].sum() > most)
