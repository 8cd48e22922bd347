"""InfTDA: sums that hold, closest numbers as brute force finds them, a budget that adds up."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.noise import closest_with_sums as plain_twin
from oracles.flows.noise import vectors
from tripcloak.flows.methods import InfTDA
from tripcloak.flows.methods._kernels.noise import closest_with_sums
from tripcloak.flows.methods.noise import parts as splitting
from tripcloak.flows.methods.noise.noisy import bound_contributions
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.noise import OpenDPNoise, failure_chance, gaussian_scale, largest_rho
from tripcloak.ground.progress import silent
from tripcloak.hierarchy import Domain, shared_domains, steps_down
from worlds.matrices import seeds
from worlds.noise_sources import Recorded, Same
from worlds.noisy import KINDS, Trip, World, by_ids, diced_trips

every_world = pytest.mark.parametrize("world", [World(kind) for kind in KINDS], ids=KINDS)

runs = st.lists(
    st.tuples(st.lists(st.integers(-40, 60), min_size=1, max_size=9), st.integers(0, 80)),
    min_size=1,
    max_size=6,
)


@given(drawn=runs)
def test_the_compiled_loop_is_its_plain_twin(drawn: list[tuple[list[int], int]]) -> None:
    noisy = [value for values, _ in drawn for value in values]
    first = np.cumsum([0, *(len(values) for values, _ in drawn)])
    totals = [total for _, total in drawn]
    expected = plain_twin(noisy, first.tolist(), totals)
    for kernel in (closest_with_sums, closest_with_sums.py_func):  # type: ignore[attr-defined]
        found = kernel(np.array(noisy), first, np.array(totals))
        assert found.tolist() == expected


@given(values=st.lists(st.integers(-9, 12), min_size=1, max_size=4), total=st.integers(0, 9))
def test_no_vector_with_the_sum_is_closer(values: list[int], total: int) -> None:
    found = closest_with_sums(np.array(values), np.array([0, len(values)]), np.array([total])).tolist()
    assert sum(found) == total
    assert min(found) >= 0

    def distance(vector: tuple[int, ...]) -> int:
        return max(abs(new - old) for new, old in zip(vector, values, strict=True))

    assert distance(tuple(found)) == min(map(distance, vectors(len(values), total)))


@pytest.mark.parametrize(
    ("values", "total", "expected"),
    [
        # Exact numbers stay, and so does a run that is not split.
        ([3, 0, 4], 7, [3, 0, 4]),
        ([5], 9, [9]),
        # All down alike; the smallest first.
        ([5, 7, 9], 18, [4, 6, 8]),
        ([5, 7, 9], 19, [4, 6, 9]),
        # One that must come up by 6 lets small ones fall by as much, so they become 0.
        ([-6, 1, 2, 30], 27, [0, 0, 0, 27]),
        ([0, 0, 0], 0, [0, 0, 0]),
    ],
)
def test_closest_numbers_worked_by_hand(values: list[int], total: int, expected: list[int]) -> None:
    found = closest_with_sums(np.array(values), np.array([0, len(values)]), np.array([total]))
    assert found.tolist() == expected


@every_world
@given(dice=seeds)
def test_without_noise_the_numbers_are_exact(world: World, dice: Random) -> None:
    matrix = world.matrix(diced_trips(dice, world, trips=25, people=6))
    release = InfTDA(epsilon=1.0, contributions=5).anonymise(matrix, noise=Recorded())
    expected = by_ids(matrix, bound_contributions(matrix, 5).trips)
    origin, destination = (
        release.origins.ids[release.group_origin],
        release.destinations.ids[release.group_destination],
    )
    found = dict(
        zip(zip(origin.tolist(), destination.tolist(), strict=True), release.trips.tolist(), strict=True)
    )
    assert found == expected


@every_world
@given(dice=seeds)
def test_every_number_is_the_sum_of_its_parts(world: World, dice: Random) -> None:
    """With the same noise, a release that stops higher holds the sums of one that goes on."""
    matrix = world.matrix(diced_trips(dice, world, trips=60, people=30))
    domains = shared_domains(matrix.origins, matrix.destinations)
    assert domains is not None
    counted = bound_contributions(matrix, 10)
    coarse = None
    for height in steps_down(domains, 0):
        method, noise = InfTDA(epsilon=1.0, height=height), Same(seed=2, scale=6)
        fine = method.draw(matrix, counted, domains, noise, silent)
        if coarse is not None:
            above = [
                {part: zone for zone in set(keys.tolist()) for part in parts_of(domain, zone, height)}
                for domain, keys in zip(domains, coarse[:2], strict=True)
            ]
            sums: Counter[tuple[int, int]] = Counter()
            for origin, destination, trips in zip(*(column.tolist() for column in fine[:3]), strict=True):
                sums[above[0][origin], above[1][destination]] += trips
            held = zip(
                zip(*(keys.tolist() for keys in coarse[:2]), strict=True), coarse.trips.tolist(), strict=True
            )
            assert dict(held) == sums
        coarse = fine


def parts_of(domain: Domain, zone: int, height: int) -> list[int]:
    parts: list[int] = domain.split(np.array([zone], dtype=np.uint64), height)[1].tolist()
    return parts


@every_world
def test_every_part_of_what_is_left_gets_noise_and_nothing_else(world: World) -> None:
    matrix = world.matrix([Trip(0, 1, person) for person in range(50)])
    noise = Recorded()
    InfTDA(epsilon=1.0).anonymise(matrix, noise=noise)
    domains = shared_domains(matrix.origins, matrix.destinations)
    assert domains is not None
    assert noise.exact[0].tolist() == [50]
    sizes = [1]
    pair = [domains[0].lift(matrix.origins, 99)[0], domains[1].lift(matrix.destinations, 99)[0]]
    for _, height in pairwise(steps_down(domains, 0)):
        parts = [
            len(domain.split(np.array([zone]), height)[1]) for domain, zone in zip(domains, pair, strict=True)
        ]
        pair = [domains[0].lift(matrix.origins, height)[0], domains[1].lift(matrix.destinations, height)[0]]
        if math.prod(parts) > 1:
            sizes.append(math.prod(parts))
    assert [len(exact) for exact in noise.exact if len(exact)] == sizes
    assert all(exact.sum() == 50 for exact in noise.exact if len(exact))


def test_what_falls_to_nothing_is_not_followed() -> None:
    class Falls(Recorded):
        """Takes the busiest part away, so that others take its place."""

        def _answer(self, exact: np.ndarray, asked: dict) -> np.ndarray:  # type: ignore[type-arg]
            answer = super()._answer(exact, asked)
            if len(self.exact) == 2:
                answer = np.where(answer > 0, -100, 10)
            return answer

    matrix = World("h3").matrix([Trip(0, 1, person) for person in range(50)])
    noise = Falls()
    release = InfTDA(epsilon=1.0).anonymise(matrix, noise=noise)
    assert release.group_of_flow.tolist() == [-1]
    assert all(exact.sum() == 0 for exact in noise.exact[2:])
    assert release.trips.sum() == 50


def test_the_budget_is_shared_among_the_heights_and_adds_up() -> None:
    noise = Same()
    matrix = World("h3").matrix(diced_trips(Random(1), World("h3"), trips=60, people=30))
    release = InfTDA(epsilon=1.0, contributions=4).anonymise(matrix, noise=noise)
    stated = dict(release.promise.details)  # type: ignore[attr-defined]
    assert stated["rho"] == largest_rho(1.0, 1e-6)
    assert stated["heights"] == 3
    shares = {asked["rho"] for asked in noise.asked}
    assert len(noise.asked) == 3
    assert shares == {stated["rho"] / 3}
    assert {asked["scale"] for asked in noise.asked} == {stated["noise_scale"]}
    # One traveller moves each height by 4 at most: rho = 4² / (2 scale²) there.
    assert 3 * 4**2 / (2 * float(stated["noise_scale"]) ** 2) == pytest.approx(stated["rho"], rel=1e-9)  # type: ignore[arg-type]
    assert noise.asked[0]["sensitivity"] == 4


@given(epsilon=st.floats(0.01, 30), exponent=st.floats(-12, -0.5))
def test_rho_is_as_large_as_can_be_shown_and_no_larger(epsilon: float, exponent: float) -> None:
    delta = 10**exponent
    rho = largest_rho(epsilon, delta)
    assert failure_chance(rho, epsilon) <= delta
    assert failure_chance(rho * (1 + 1e-9), epsilon) > delta * (1 - 1e-6)
    # The usual, simpler bound gives less.
    root = math.sqrt(math.log(1 / delta))
    assert rho >= (math.sqrt(root**2 + epsilon) - root) ** 2 * (1 - 1e-9)


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_opendp_finds_the_same_epsilon(epsilon: float, delta: float) -> None:
    import opendp.prelude as dp

    OpenDPNoise().gaussian(np.zeros(1, dtype=np.int64), scale=1.0, sensitivity=1, rho=0.5)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    rho = largest_rho(epsilon, delta)
    measurement = dp.m.make_gaussian(*space, scale=gaussian_scale(5, rho))
    profile = dp.c.make_zCDP_to_approxDP(measurement).map(5.0)
    assert profile.epsilon(delta) == pytest.approx(epsilon, rel=1e-9)
    assert profile.epsilon(delta) <= epsilon


@given(order=st.floats(1.01, 200), rho=st.floats(1e-4, 2), epsilon=st.floats(0.05, 10))
def test_no_order_gives_a_smaller_delta(order: float, rho: float, epsilon: float) -> None:
    told = (order - 1) * (order * rho - epsilon) + order * math.log1p(-1 / order) - math.log(order - 1)
    assert failure_chance(rho, epsilon) <= math.exp(min(told, 0.0)) * (1 + 1e-9)


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "MOST_PAIRS", 48)
    with pytest.raises(ImpossibleRequestError, match="more than 48 pairs of zones"):
        InfTDA(epsilon=1.0).anonymise(World("h3").matrix([Trip(0, 1, 5, 9)]), noise=Recorded())


def test_gaussian_noise_needs_a_delta() -> None:
    with pytest.raises(InputError, match="needs a delta above 0"):
        InfTDA(epsilon=1.0, delta=0.0).anonymise(World("h3").matrix([Trip(0, 1, 5)]))
