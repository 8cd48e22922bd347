"""The trials of noise themselves, number by number: which numbers are looked at, and with which chance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.audit import noise
from tripcloak.flows.audit.noise import (
    Counted,
    NoiseTrial,
    NoisyNumbers,
    beside,
    chernoff,
    gaussian_hit,
    too_few_made_up,
    too_many,
    verdict,
)
from tripcloak.flows.audit.privacy import Privacy

NUMBERS = NoisyNumbers(
    np.array([1, 1, 5, 9]),
    np.array([0, 1, 5, 1]),
    np.array([0, 2, 5, 1]),
    np.array([True, False, True, True]),
)


def stated(**other: Any) -> Privacy:
    told = {
        "epsilon": 1,
        "delta": 0,
        "unit": "trip",
        "contributions": 1,
        "noise": "Laplace",
        "noise_scale": 4.0,
    }
    return Privacy(**{**told, **other})


def laplace(reach: int, least: int, scale: float) -> float:
    """Return the chance that noise of ``least`` or more is no larger than ``reach``, by adding up."""
    mass = {z: math.exp(-abs(z) / scale) for z in range(least, 400)}
    return math.fsum(mass[z] for z in mass if abs(z) <= reach) / math.fsum(mass.values())


def test_laplace_trials_look_at_pairs_that_occur_and_at_numbers_that_are_certain() -> None:
    found = list(noise._laplace(stated(threshold=2), NUMBERS))
    near = [-math.expm1(-width / 4.0) for width in (1, 3)]
    assert [trial.close.tolist() for trial in found] == [
        *([True, True, False], [True, True, False]),
        *([False, True, False], [True, True, False]),
        *([True], [True, True, False]),
    ]
    assert len(found) == noise.TRIALS
    assert [trial.telling for trial in found] == [True, True, False, False, True, True]
    for trial, chance in zip(found[:4], near * 2, strict=True):
        np.testing.assert_allclose(trial.chance, [chance] * 3)
    np.testing.assert_allclose(found[4].chance, [laplace(0, -3, 4.0)])
    np.testing.assert_allclose(found[5].chance, [laplace(2, least, 4.0) for least in (2, -3, 1)])


def largest_hit(beyond: int, scale: float) -> float:
    z = np.linspace(0, 60, 60_001)
    return min(1.0, float(((z + 0.8) / scale * np.exp(-z * beyond / scale)).max()))


@pytest.mark.parametrize("scale", [2.0, 8.0, 20.0])
def test_the_bound_on_gaussian_noise_is_the_largest_product(scale: float) -> None:
    beyond = np.array([-3, 0, 1, 2, 5, 9, 10, 25, 26, 300])
    found = gaussian_hit(beyond, scale)
    assert found[:2].tolist() == [1.0, 1.0]
    # The chance to stop falls no slower than exp(0.8 b / scale - 1) / b, its value at the best z.
    for at, b in enumerate(beyond[2:].tolist(), start=2):
        assert found[at] == pytest.approx(largest_hit(b, scale), rel=1e-5)


def test_gaussian_trials_leave_out_what_tells_nothing() -> None:
    exact = np.array([1, 3, 40, 41, 200])
    numbers = NoisyNumbers(np.array([1, 3, 40, 43, 203]), exact, exact + 1, exact > 0)
    found = list(noise._gaussian(stated(noise="Gaussian", noise_scale=32.0), numbers))
    expected = []
    for told, telling in ((exact, True), (exact + 1, False)):
        for reach in (0, 2):
            chance = np.array([min(1, 3 * (2 * reach + 1) * largest_hit(n - 1 - reach, 32.0)) for n in told])
            clear = chance <= 0.5
            close = np.abs(numbers.published - told) <= reach
            expected.append((close[clear].tolist(), np.sqrt(chance[clear]), telling))
    assert len(found) == len(expected)
    for trial, (close, chance, telling) in zip(found, expected, strict=True):
        assert (trial.close.tolist(), trial.telling) == (close, telling)
        np.testing.assert_allclose(trial.chance, chance, rtol=1e-5)


def test_a_trial_weighs_how_many_are_close_against_how_many_should_be() -> None:
    close, chance = np.array([True, True, True, False]), np.array([0.2, 0.3, 0.2, 0.3])
    trial = NoiseTrial(close, chance)
    assert trial.exponent == pytest.approx(4 * (0.75 * math.log(3) + 0.25 * math.log(0.25 / 0.75)))
    assert trial.strongest == pytest.approx(4 * math.log(4))
    assert NoiseTrial(close, chance, telling=False).strongest == 0.0
    none = NoiseTrial(close[:0], chance[:0])
    assert (none.exponent, none.strongest) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("successes", "n", "mean", "bound"),
    [
        (1, 1, 0.5, math.log(2)),
        (5, 10, 0.5, 0.0),
        (6, 10, 0.5, 10 * (0.6 * math.log(1.2) + 0.4 * math.log(0.8))),
        (10, 10, 0.1, 10 * math.log(10)),
        (10, 10, 1.0, 0.0),
        (0, 0, 0.5, 0.0),
    ],
)
def test_chernoffs_exponent(successes: int, n: int, mean: float, bound: float) -> None:
    assert chernoff(successes, n, mean) == pytest.approx(bound)


def test_one_trip_more_than_noise_could_add_is_too_many() -> None:
    told = stated(noise="Gaussian", noise_scale=10.0, unit="traveller", contributions=3)
    reach = 10 * math.sqrt(2 * math.log(1e9)) + 1
    one = np.array([1000, 1000])
    for over, found in ((math.floor(reach), False), (math.floor(reach) + 1, True)):
        numbers = NoisyNumbers(one, one, one, one > 0, 2000 - over)
        assert too_many(told, numbers) is found
        assert not too_many(stated(), numbers)
        assert not too_many(told, numbers._replace(all_counted=None))


def test_made_up_pairs_are_too_few_from_one_number_on() -> None:
    """Half a threshold stands for the next whole one: 3 is reached by noise of 3 and more."""
    q = math.exp(-1 / 4)
    stays = 1 - q**3 / (1 + q)
    few = [too_few_made_up(stated(threshold=2.5), n, 200) for n in range(201)]
    right = [n < 200 and chernoff(200 - n, 200, stays) > math.log(1e9) for n in range(201)]
    assert few == right
    assert any(few)
    assert not all(few)


def test_numbers_are_certain_where_nobody_has_too_many_and_all_are_known() -> None:
    counted = Counted(np.array([2, 1, 4]), np.array([False, True, False]))
    trips = np.array([2, 3, 4])
    found = beside(np.array([9, 9, 9]), np.array([5, 4, 1]), np.array([0, 0, 1]), trips, counted)
    assert found.counted.tolist() == [3, 4, 0]
    assert found.certain.tolist() == [False, True, False]


def test_as_many_numbers_as_it_takes_and_one_fewer() -> None:
    """Without noise a coin that should come up half the time always does."""
    told = stated(noise_scale=1 / math.log(2))
    alarm = math.log(noise.TRIALS / noise.FALSE_ALARM)
    enough = math.floor(alarm / math.log(2)) + 1
    for n, found in ((enough - 1, None), (enough, False)):
        exact = np.full(n, 1000)
        assert verdict(told, NoisyNumbers(exact, exact, exact, np.zeros(n, dtype=bool))) is found
        away = NoisyNumbers(exact + 9, exact, exact, np.zeros(n, dtype=bool))
        assert verdict(told, away) is (None if found is None else True)


@pytest.mark.parametrize(
    ("scale", "reaches"), [(63.9, [0]), (64.0, [0, 1]), (127.9, [0, 1]), (128.0, [0, 2]), (1.0, [0])]
)
def test_scaled_numbers_are_looked_at_as_closely_as_their_noise_allows(
    scale: float, reaches: list[int]
) -> None:
    """Those that have four times the noise, published and counted; close is a 64th of it."""
    least = math.ceil(4 * scale)
    published = np.array([least, least, least - 1, least + 3])
    recount = np.array([least, least + 1, least, least])
    told = stated(noise="Gaussian", noise_scale=scale, unit="traveller")
    trials = list(noise._scaled(told, NoisyNumbers(published, recount, recount, recount > 0)))
    for trial, reach in zip(trials, reaches, strict=True):
        assert trial.close.tolist() == [True, reach >= 1, reach >= 3]
        np.testing.assert_allclose(trial.chance, math.sqrt(min(2 * (2 * reach + 1) / scale, 1)))
        assert not trial.telling
    of_trips = stated(noise="Gaussian", noise_scale=scale, unit="trip")
    numbers = NoisyNumbers(published, recount, recount, recount > 0)
    assert all(trial.telling for trial in noise._scaled(of_trips, numbers))


@pytest.mark.parametrize(("scale", "reaches"), [(15.9, [0]), (16.0, [0, 1]), (32.0, [0, 2])])
def test_gaussian_numbers_are_close_within_a_sixteenth_of_their_noise(
    scale: float, reaches: list[int]
) -> None:
    many = np.array([10**6, 10**6 + 1, 10**6 + 2])
    exact = np.full(3, 10**6)
    told = stated(noise="Gaussian", noise_scale=scale, unit="traveller")
    trials = list(noise._gaussian(told, NoisyNumbers(many, exact, exact.copy(), exact > 0)))
    assert [trial.telling for trial in trials] == [True] * len(reaches) + [False] * len(reaches)
    for trial, reach in zip(trials, reaches * 2, strict=True):
        chance = 3 * (2 * reach + 1) * 0.8 / scale
        if chance <= noise.CLEAR:
            assert trial.close.tolist() == [True, reach >= 1, reach >= 2]
            np.testing.assert_allclose(trial.chance, math.sqrt(chance))
        else:
            assert len(trial.close) == 0


@pytest.mark.parametrize(
    ("kind", "norms", "tried"),
    [("Laplace", (), "_laplace"), ("Gaussian", (), "_gaussian"), ("Gaussian", (1.0,), "_scaled")],
)
def test_numbers_are_tried_by_the_noise_that_is_stated(
    kind: str, norms: tuple[float, ...], tried: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_laplace", "_gaussian", "_scaled"):
        monkeypatch.setattr(noise, name, lambda privacy, numbers, name=name: iter([name]))
    told: Any = {"epsilon": 1, "delta": 0, "unit": "trip", "contributions": 1, "noise_scale": 1}
    numbers: Any = None
    assert list(noise._trials(Privacy(noise=kind, norms=norms, **told), numbers)) == [tried]
