"""Cross-exposure against plain recounts: what one protection leaves open on the other side."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tripcloak.fairness.exposure import TARGETS, Thresholds, cross_exposure
from tripcloak.flows.measures import measure
from tripcloak.flows.methods import ODkAnon, Suppression, TwinCut
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import InputError
from tripcloak.promises import KAnonymity
from worlds.matrices import hierarchy_of

TREE = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


@pytest.fixture(scope="module")
def matrix() -> ODMatrix:
    draw = np.random.default_rng(5)
    n, tree = 600, hierarchy_of(TREE)
    person = draw.integers(0, 150, n)
    weight = draw.lognormal(6, 1.2, 150)[person]
    ends = draw.choice(4, (2, n), p=[0.55, 0.25, 0.15, 0.05])
    return ODMatrix.from_trips(tree, tree, ends[0], ends[1], person=person, weight=weight)


def test_every_side_is_told_as_it_is(matrix: ODMatrix) -> None:
    thresholds = Thresholds(k=30, unit="travellers", population=20_000)
    found = {one.target: one for one in cross_exposure(matrix, [TwinCut()], thresholds)}
    assert tuple(found) == TARGETS
    for target in TARGETS:
        release = TwinCut(promise=thresholds.promise(target)).anonymise(matrix)
        people, population = defaultdict(set), defaultdict(float)
        offsets, ids = matrix.flows.travellers[:2]  # type: ignore[index]
        for flow, group in enumerate(release.group_of_flow.tolist()):
            people[group] |= set(ids[offsets[flow] : offsets[flow + 1]].tolist())
            population[group] += float(matrix.volume("population")[flow])
        sizes = [len(people[group]) for group in people if group >= 0]
        masses = [population[group] for group in population if group >= 0]
        one = found[target]
        assert one.participants is not None
        assert one.population is not None
        assert one.participants.smallest == min(sizes)
        assert one.participants.below == sum(size < 30 for size in sizes)
        assert one.participants.furthest == pytest.approx(max(0, 1 - min(sizes) / 30))
        assert one.population.smallest == pytest.approx(min(masses))
        assert one.population.below == sum(mass < 20_000 for mass in masses)
        assert one.measures["participants"]["G"] == measure(matrix, release, volume="trips")["G"]
        assert one.measures["population"]["G"] == measure(matrix, release, volume="population")["G"]
        released = sum(masses)
        assert one.measures["population"]["C_AVG"] == pytest.approx(released / len(masses) / 20_000)


def test_protecting_both_leaves_nobody_exposed(matrix: ODMatrix) -> None:
    thresholds = Thresholds(k=30, unit="travellers", population=20_000)
    for one in cross_exposure(matrix, [TwinCut(), ODkAnon()], thresholds):
        sides = {"participants": one.participants, "population": one.population}
        for name, side in sides.items():
            assert side is not None
            if one.target in (name, "both"):
                assert side.below == 0
                assert side.furthest == 0


def test_a_method_that_cannot_says_why_and_the_others_go_on(matrix: ODMatrix) -> None:
    thresholds = Thresholds(k=100, unit="travellers", population=20_000)
    methods = [Suppression(suppression_limit=0.01), TwinCut()]
    found = cross_exposure(matrix, methods, thresholds)
    failed = [one for one in found if one.failure is not None]
    assert {one.method for one in failed} == {"suppression"}
    assert all(one.participants is None and one.measures == {} for one in failed)


def test_an_input_without_weights_is_refused() -> None:
    tree, ends = hierarchy_of(TREE), np.zeros(9, dtype=int)
    matrix = ODMatrix.from_trips(tree, tree, ends, ends)
    with pytest.raises(InputError, match="--weight"):
        cross_exposure(matrix, [TwinCut()], Thresholds(k=2, unit="trips", population=10))
    assert KAnonymity(k=2, unit="trips") == Thresholds(k=2, unit="trips", population=10).promise(
        "participants"
    )
