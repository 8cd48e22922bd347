"""NoisyCut: nobody is longer than allowed at any height, budgets add up, and cuts follow noisy numbers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows.audit.privacy import read_privacy, too_little
from tripcloak.flows.methods import NoisyCut
from tripcloak.flows.methods.noise.bounding import whole
from tripcloak.flows.methods.noise.noisy_tree import NoisyLevel, reconcile
from tripcloak.flows.methods.noise.scaling import (
    CLASSES,
    LONGEST,
    PARTS,
    class_norm,
    class_sizes,
    norm_classes,
    norms,
    presence_of,
    scaled,
)
from tripcloak.flows.model import NOBODY, ODMatrix
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.noise import largest_rho
from tripcloak.hierarchy import shared_domains, steps_down
from worlds.matrices import seeds
from worlds.noise_sources import Recorded, Same
from worlds.noisy import KINDS, Trip, World, by_ids, diced_trips

every_world = pytest.mark.parametrize("world", [World(kind) for kind in KINDS], ids=KINDS)


def vectors(matrix: ODMatrix, counted: np.ndarray) -> list[Counter[tuple[int, int]]]:
    """Return what is counted between every pair of zones, height by height, added up one by one."""
    domains = shared_domains(matrix.origins, matrix.destinations)
    assert domains is not None
    found = []
    for height in steps_down(domains, 0):
        sums: Counter[tuple[int, int]] = Counter()
        lifted = [
            domain.lift(tree, height)[tile].tolist()
            for domain, (tree, tile) in zip(domains, matrix.axes, strict=True)
        ]
        for origin, destination, parts in zip(*lifted, counted.tolist(), strict=True):
            sums[origin, destination] += parts
        found.append(sums)
    return found


def counted_of(world: World, trips: list[Trip], allowed: list[int]) -> tuple[ODMatrix, np.ndarray]:
    matrix = world.matrix(trips)
    domains = shared_domains(matrix.origins, matrix.destinations)
    assert domains is not None
    steps = steps_down(domains, 0)
    return matrix, scaled(presence_of(matrix), matrix, domains, steps, allowed[: len(steps)])


@every_world
@given(dice=seeds, norm=st.integers(0, 8), wider=st.lists(st.integers(0, 3), min_size=9, max_size=9))
def test_without_any_one_traveller_every_height_changes_by_the_norm_allowed_at_most(
    world: World, dice: Random, norm: int, wider: list[int]
) -> None:
    """The sensitivity itself, on neighbouring inputs: exact whole numbers, at every height at once."""
    allowed = [class_norm(norm + more) for more in wider]
    trips = diced_trips(dice, world, trips=20, people=4, repeats=40)
    matrix, counted = counted_of(world, trips, allowed)
    whole_input = vectors(matrix, counted)
    for person in {trip.person for trip in trips} - {NOBODY}:
        others = [trip for trip in trips if trip.person != person]
        if not any(trip.person != NOBODY for trip in others):
            continue
        rest = vectors(*counted_of(world, others, allowed))
        for number, (with_them, without) in enumerate(zip(whole_input, rest, strict=True)):
            # Nobody else's parts change, and theirs are short enough.
            assert not without - with_them
            assert sum(parts**2 for parts in (with_them - without).values()) <= allowed[number] ** 2


@pytest.mark.parametrize("spread", [1, 5, 12])
def test_a_traveller_fills_what_is_allowed_and_no_more(spread: int) -> None:
    """At the very edge: one trip too many in a flow, or a vector exactly as long as allowed."""
    world = World("tree")
    trips = [Trip(number, number, 7, 3) for number in range(spread)]
    exact = 3 * math.isqrt(spread) if math.isqrt(spread) ** 2 == spread else None
    longest = 3 * spread * PARTS
    matrix, counted = counted_of(world, trips, [longest] * 9)
    assert set(counted.tolist()) == {3 * PARTS}
    matrix, counted = counted_of(world, trips, [longest - 1] * 9)
    assert counted.max() < 3 * PARTS
    assert counted.sum() > 0.999 * longest - 2 * spread
    if exact is not None:
        domains = shared_domains(matrix.origins, matrix.destinations)
        assert domains is not None
        lengths = norms(presence_of(matrix), matrix, domains, steps_down(domains, 0))
        assert lengths[0, -1] == exact
        assert lengths[0, 0] == 3 * spread


def test_trips_are_kept_in_proportion_and_without_sampling() -> None:
    world = World("tree")
    trips = [Trip(0, 1, 7, 300), Trip(2, 3, 7, 100), Trip(4, 5, 8, 2)]
    matrix, counted = counted_of(world, trips, [40 * PARTS] * 9)
    kept = by_ids(matrix, counted)
    assert kept["t04", "t05"] == 2 * PARTS
    assert kept["t00", "t01"] == 3 * kept["t02", "t03"] == 30 * PARTS


def test_who_is_longer_than_allowed_is_never_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tripcloak.flows.methods.noise.scaling.norms",
        lambda presence, matrix, domains, heights, order: np.ones((presence.people, len(heights))),
    )
    with pytest.raises(InternalError, match="more than the noise hides"):
        counted_of(World("tree"), [Trip(0, 1, 7, 3)], [2 * PARTS] * 9)


@given(lengths=st.lists(st.floats(1, 1e9), min_size=1, max_size=30))
def test_one_traveller_more_changes_one_class_by_one(lengths: list[float]) -> None:
    sizes = class_sizes(norm_classes(np.array(lengths)))
    fewer = class_sizes(norm_classes(np.array(lengths[1:])))
    assert len(sizes) == len(fewer) == CLASSES
    assert sorted((sizes - fewer).tolist()) == [0] * (CLASSES - 1) + [1]
    for length, number in zip(lengths, norm_classes(np.array(lengths)).tolist(), strict=True):
        assert number == CLASSES - 1 or length * PARTS <= class_norm(number) + 1


@every_world
@pytest.mark.parametrize("contributions", [None, 4])
def test_the_budget_adds_up_and_the_auditor_agrees(world: World, contributions: int | None) -> None:
    noise = Same()
    matrix = world.matrix(diced_trips(Random(1), world, trips=60, people=30))
    release = NoisyCut(epsilon=1.0, contributions=contributions).anonymise(matrix, noise=noise)
    stated = release.promise.to_manifest()
    spent = math.fsum(asked["sensitivity"] ** 2 / (2 * asked["scale"] ** 2) for asked in noise.asked)
    # Fewer heights may have been looked at than there are.
    assert spent <= stated["rho"] == largest_rho(1.0, 1e-6)
    assert math.fsum(1 / (2 * times**2) for times in stated["multipliers"]) == pytest.approx(stated["rho"])
    histograms = [
        asked for exact, asked in zip(noise.exact, noise.asked, strict=True) if len(exact) == CLASSES
    ]
    assert len(histograms) == (0 if contributions else stated["heights"])
    assert all(asked["sensitivity"] == 1 for asked in histograms)
    assert stated["contributions"] == contributions
    assert stated["noise_scale"] == pytest.approx(stated["multipliers"][-1] * stated["norms"][-1])
    assert too_little(read_privacy(stated)) is None


LIES = {
    "one draw": (
        lambda told: {"multipliers": [0.99 * told["multipliers"][0], *told["multipliers"][1:]]},
        "rho",
    ),
    "rho": (lambda told: {"rho": 0.99 * told["rho"]}, "rho"),
    "more rho": (
        lambda told: {"rho": 1.1 * told["rho"], "multipliers": [0.99 * one for one in told["multipliers"]]},
        "epsilon and delta",
    ),
    "epsilon": (lambda told: {"epsilon": 0.9}, "epsilon and delta"),
    "delta": (lambda told: {"delta": 1e-7}, "epsilon and delta"),
    "noise": (lambda told: {"noise_scale": 0.99 * told["noise_scale"]}, "norms"),
}


@pytest.mark.parametrize("lie", LIES)
def test_less_noise_than_promised_is_seen(lie: str) -> None:
    matrix = World("tree").matrix(diced_trips(Random(1), World("tree"), trips=60, people=30))
    told = NoisyCut(epsilon=1.0).anonymise(matrix, noise=Same()).promise.to_manifest()
    forged, words = LIES[lie]
    found = too_little(read_privacy({**told, **forged(told)}))
    assert found is not None
    assert f"for the stated {words}" in found


def test_a_norm_that_is_longer_than_the_contributions_is_seen() -> None:
    matrix = World("tree").matrix(diced_trips(Random(1), World("tree"), trips=60, people=30))
    told = NoisyCut(epsilon=1.0, contributions=3).anonymise(matrix, noise=Same()).promise.to_manifest()
    assert too_little(read_privacy({**told, "contributions": 2})) == (
        "the stated norms are longer than the stated contributions"
    )


@every_world
def test_without_noise_numbers_are_those_of_the_tiles(world: World) -> None:
    """Noise that is announced but not added: what is clear enough keeps its own tiles."""
    trips = [Trip(number % 4, 5 + number % 3, person, 1) for number in range(12) for person in range(999)]
    matrix = world.matrix(trips)
    release = NoisyCut(epsilon=40.0, contributions=20).anonymise(matrix, noise=Recorded())
    found = dict(
        zip(
            zip(
                release.origins.ids[release.group_origin].tolist(),
                release.destinations.ids[release.group_destination].tolist(),
                strict=True,
            ),
            release.trips.tolist(),
            strict=True,
        )
    )
    assert found == by_ids(matrix, matrix.flows.trips)
    assert (release.group_of_flow >= 0).all()


def test_the_more_noise_the_coarser_the_zones() -> None:
    world = World("h3")
    dice = Random(3)
    trips = [Trip(dice.randrange(6), dice.randrange(6), person, 1) for person in range(3000)]
    matrix = world.matrix(trips)
    heights = []
    for epsilon in (0.01, 20.0):
        release = NoisyCut(epsilon=epsilon, contributions=1).anonymise(matrix, noise=Same(scale=30 / epsilon))
        weight = release.trips / release.trips.sum()
        heights.append(float((release.origins.height[release.group_origin] * weight).sum()))
    assert heights[0] > heights[1]


@given(dice=seeds)
def test_numbers_of_all_heights_are_the_least_squares_fit(dice: Random) -> None:
    """Against the normal equations, solved as they stand."""
    shape = [1, dice.randint(1, 3), dice.randint(3, 6)]
    parents = [[-1], [0] * shape[1], [dice.randrange(shape[1]) for _ in range(shape[2])]]
    scales = [dice.uniform(0.5, 4) for _ in shape]
    levels = [
        NoisyLevel(
            np.zeros(size, dtype=np.uint64),
            np.zeros(size, dtype=np.uint64),
            np.array(parent),
            np.array([dice.randint(-9, 40) for _ in range(size)]),
            scale,
            np.zeros(0, dtype=int),
        )
        for size, parent, scale in zip(shape, parents, scales, strict=True)
    ]
    # Free are the numbers of the last level, and of pairs that were not split.
    childless = [pair for pair in range(shape[1]) if pair not in parents[2]]
    free = [(2, part) for part in range(shape[2])] + [(1, pair) for pair in childless]
    rows = defaultdict(list)
    for level, size in enumerate(shape):
        for pair in range(size):
            below = {
                0: lambda _, p: True,
                1: lambda f, p: f == (1, p) or (f[0] == 2 and parents[2][f[1]] == p),
            }
            holds = below.get(level, lambda f, p: f == (2, p))
            rows["a"].append([float(holds(one, pair)) / scales[level] for one in free])
            rows["b"].append(levels[level].noisy[pair] / scales[level])
    best = np.linalg.lstsq(np.array(rows["a"]), np.array(rows["b"]), rcond=None)[0]
    fitted = np.array(rows["a"]) @ best * np.repeat(scales, shape)
    found = np.concatenate([level.value for level in reconcile(levels)])
    assert found == pytest.approx(fitted, abs=1e-6)


@given(masses=st.lists(st.floats(0.001, 100), min_size=1, max_size=12), total=st.integers(0, 500))
def test_whole_numbers_add_up_to_the_total_and_are_close(masses: list[float], total: int) -> None:
    found = whole(np.array(masses), total, np.arange(len(masses))).tolist()
    assert sum(found) == total
    exact = [mass / sum(masses) * total for mass in masses]
    assert all(abs(one - other) < 1 + 1e-6 for one, other in zip(found, exact, strict=True))


def test_released_pairs_never_overlap() -> None:
    world = World("h3")
    dice = Random(5)
    trips = [Trip(dice.randrange(6), dice.randrange(6), person, 2) for person in range(800)]
    release = NoisyCut(epsilon=3.0).anonymise(world.matrix(trips), noise=Same(scale=9))
    origin = release.origins.ids[release.group_origin].tolist()
    destination = release.destinations.ids[release.group_destination].tolist()
    from h3 import cell_to_parent, get_resolution

    def apart(one: str, other: str) -> bool:
        coarse, fine = sorted((one, other), key=get_resolution)
        return cell_to_parent(fine, get_resolution(coarse)) != coarse

    for first, second in combinations(range(release.n_groups), 2):
        assert apart(origin[first], origin[second]) or apart(destination[first], destination[second])


def test_norms_whose_squares_are_not_exact_are_refused() -> None:
    assert class_norm(CLASSES - 1, 1) == LONGEST == NoisyCut(contributions=LONGEST).contributions
    with pytest.raises(InputError, match="contributions must be 1,048,576 at most"):
        NoisyCut(contributions=LONGEST + 1)


def test_gaussian_noise_needs_a_delta() -> None:
    with pytest.raises(InputError, match="needs a delta above 0"):
        NoisyCut(epsilon=1.0, delta=0.0).anonymise(World("h3").matrix([Trip(0, 1, 5)]))
