"""Every registered method under both thresholds at once: few travellers never pass for their weight."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.flows.kernels import Tree
from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.model import ODMatrix
from tripcloak.promises import AllOf, AveragePeople, KAnonymity, Promise
from worlds.matrices import grid, hierarchy_of
from worlds.methods import HELD_TO_IT

pytestmark = pytest.mark.parametrize("method", HELD_TO_IT.values(), ids=HELD_TO_IT)

TREE: Tree = (
    {"all": None} | {f"q{q}": "all" for q in "abcd"} | {f"{q}{i}": f"q{q}" for q in "abcd" for i in range(4)}
)
PEOPLE, TRIPS = 120, 1500

TRAVELLERS, POPULATION = KAnonymity(k=6, unit="travellers"), AveragePeople(k=6)
TARGETS: dict[str, Promise] = {
    "travellers": TRAVELLERS,
    "population": POPULATION,
    "both": AllOf(promises=(TRAVELLERS, POPULATION)),
}


def survey(method: type[FlowMethod], *, spread: float = 1.2) -> ODMatrix:
    """People with skewed weights who mostly travel near home."""
    rng = np.random.default_rng(5)
    tiles = sum(zone[0] != "q" for zone in TREE) - 1
    home, person = rng.integers(0, tiles, PEOPLE), np.sort(rng.integers(0, PEOPLE, TRIPS))
    origin = np.where(rng.random(TRIPS) < 0.7, home[person], rng.integers(0, tiles, TRIPS))
    destination = np.where(rng.random(TRIPS) < 0.6, home[person], rng.integers(0, tiles, TRIPS))
    # Round numbers: exact programmes keep a table of every sum there may be.
    weight = 500.0 * np.ceil(4 * np.exp(spread * rng.standard_normal(PEOPLE)))[person]
    hierarchy = hierarchy_of(TREE, places=grid(TREE) if method.draws_zones else None)
    return ODMatrix.from_trips(hierarchy, hierarchy, origin, destination, person=person, weight=weight)


@pytest.mark.parametrize("target", TARGETS)
def test_every_group_reaches_every_threshold(method: type[FlowMethod], target: str) -> None:
    matrix = survey(method)
    assert matrix.represented is not None
    release = method(promise=TARGETS[target], suppression_limit=0.3).anonymise(matrix)
    assert release.travellers is not None
    assert release.population is not None
    if target != "population":
        assert release.travellers.min() >= 6
    if target != "travellers":
        assert release.population.min() >= 6 * matrix.represented.mean
    assert set(release.promise.thresholds) == {"both": {"travellers", "population"}}.get(target, {target})
