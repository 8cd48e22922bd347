"""Travellers scaled instead of sampled, in all methods that can: norms, budgets, totals, and what it buys."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows.audit.privacy import read_privacy, too_little
from tripcloak.flows.methods import InfTDA, Laplace
from tripcloak.flows.methods.noise.scaling import CLASSES, LONGEST, PARTS, class_norm, presence_of, scaled
from tripcloak.ground.errors import InputError
from tripcloak.ground.noise import Purse, largest_rho
from tripcloak.hierarchy import shared_domains
from worlds.matrices import seeds
from worlds.noise_sources import Recorded, Same
from worlds.noisy import KINDS, Trip, World, diced_trips

every_world = pytest.mark.parametrize("world", [World(kind) for kind in KINDS], ids=KINDS)
METHODS: dict[str, Any] = {"inftda": InfTDA, "laplace": Laplace}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@every_world
@given(dice=seeds, norm=st.integers(0, 8), height=st.integers(0, 2))
def test_without_any_one_traveller_sums_change_by_what_is_allowed_at_most(
    world: World, dice: Random, norm: int, height: int
) -> None:
    """What Laplace noise must hide: all changes between zones of one height, added up in whole parts."""
    trips = diced_trips(dice, world, trips=20, people=4, repeats=40)
    allowed = class_norm(norm)

    def counted(some: list[Trip]) -> int:
        matrix = world.matrix(some)
        domains = shared_domains(matrix.origins, matrix.destinations)
        assert domains is not None
        return int(scaled(presence_of(matrix), matrix, domains, [height], [allowed], 1).sum())

    for person in {trip.person for trip in trips}:
        others = [trip for trip in trips if trip.person != person]
        # Nobody else's parts change, and none is negative, so the sum of changes is the change of the sum.
        if others:
            assert 0 <= counted(trips) - counted(others) <= allowed


@every_world
@every_method
@pytest.mark.parametrize("contributions", [None, 4])
def test_the_budget_adds_up_and_the_auditor_agrees(
    world: World, method: Any, contributions: int | None
) -> None:
    noise = Recorded()
    matrix = world.matrix(diced_trips(Random(1), world, trips=60, people=30))
    asked = {"epsilon": 1.0, "bounding": "scale", "contributions": contributions, "height": 1}
    # Without a threshold, which so few trips would not reach.
    asked |= {"delta": 0.0} if method is Laplace else {}
    release = method(**asked).anonymise(matrix, noise=noise)
    stated = release.promise.to_manifest()
    assert too_little(read_privacy(stated)) is None
    laplace = method is Laplace
    budget = 1.0 if laplace else largest_rho(1.0, 1e-6)

    def cost(scale: float, sensitivity: float = 1.0) -> float:
        return sensitivity / scale if laplace else sensitivity**2 / (2 * scale**2)

    spent = math.fsum(cost(one["scale"], one["sensitivity"]) for one in noise.asked)
    assert spent <= budget * (1 + 1e-9)
    assert math.fsum(map(cost, stated["multipliers"])) == pytest.approx(budget)
    sizes = [one for exact, one in zip(noise.exact, noise.asked, strict=True) if len(exact) == CLASSES]
    assert len(sizes) == (0 if contributions else len(stated["norms"]))
    assert all(one["sensitivity"] == 1 for one in sizes)
    assert stated["noise_scale"] == pytest.approx(stated["multipliers"][-1] * stated["norms"][-1])
    assert release.parameters["contributions"] == stated["contributions"] == contributions


@every_method
def test_numbers_are_rescaled_to_all_trips(method: Any) -> None:
    """Two hundred people make eight trips and a hundred make eleven: scaled to eight, all are still there."""
    trips = [Trip(0, 1, person, 8) for person in range(200)] + [Trip(1, 0, 500 + n, 11) for n in range(100)]
    release = method(epsilon=5.0, height=0, bounding="scale").anonymise(
        World("tree").matrix(trips), noise=Recorded()
    )
    assert dict(release.promise.details)["norms"][-1] == 8
    assert release.trips.sum() == pytest.approx(2700, abs=2)
    assert sorted(release.trips.tolist()) == pytest.approx([900, 1800], abs=2)


@every_method
def test_without_ids_scaling_changes_nothing(method: Any) -> None:
    world = World("tree")
    matrix = world.matrix(diced_trips(Random(3), world, trips=60, people=9), ids=False)
    one, other = (
        method(epsilon=1.0, height=0, bounding=way).anonymise(matrix, noise=Same())
        for way in ("sample", "scale")
    )
    assert one.trips.tolist() == other.trips.tolist()
    assert one.promise == other.promise


@every_method
def test_norms_whose_squares_are_not_exact_are_refused(method: Any) -> None:
    with pytest.raises(InputError, match="contributions must be"):
        method(epsilon=1.0, bounding="scale", contributions=LONGEST + 1)
    with pytest.raises(InputError, match="bounding"):
        method(epsilon=1.0, bounding="both")


def test_a_purse_pays_for_what_it_draws() -> None:
    noise = Recorded()
    Purse(noise, 1).add(np.array([1]), 3 * PARTS, 0.5)
    Purse(noise, 2).add(np.array([1]), 10, 0.02)
    assert noise.asked[0] == {"scale": 6.0 * PARTS, "sensitivity": 3 * PARTS, "epsilon": 0.5}
    assert noise.asked[1]["scale"] == pytest.approx(50)
    assert noise.asked[1]["rho"] == 0.02
