"""Glove: merges against their plain twin, the step it stops at, flows worked by hand, and what it refuses."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows import glove as oracle
from oracles.flows.glove import Least, Member
from oracles.flows.kernels import safe
from oracles.readback import contents
from tripcloak.flows.methods import Glove, GloveSk
from tripcloak.flows.methods._kernels.glove import GloveSupport, greedy_merges
from tripcloak.flows.methods.boxed import least_support
from tripcloak.flows.methods.glove import Merges, first_fit, flow_points, nearest
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, main_volume
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy, time_hierarchy
from tripcloak.promises import AllOf, KAnonymity, Promise, TCloseness
from worlds.matrices import DYADIC_WEIGHTS, Case, cases, hierarchy_of, limits, promises, seeds
from worlds.plain_boxes import plain_boxes  # noqa: F401 - a fixture of the module

LEASTS: tuple[Least, ...] = ((6, 0, 0), (0, 3, 0), (0, 0, 5), (4, 2, 3), (2, 0, 0), (10**6, 0, 0))


@settings(max_examples=4 * settings().max_examples)
@given(dice=seeds, n=st.integers(1, 24), neighbours=st.integers(1, 8), least=st.sampled_from(LEASTS))
def test_the_merges_are_those_of_the_plain_twin(dice: Random, n: int, neighbours: int, least: Least) -> None:
    flows = diced_flows(dice, n)
    points = np.array([flow.at for flow in flows])
    near = nearest(points, neighbours)
    volume = np.array([flow.volume for flow in flows])
    found = greedy_merges(points, volume, support_of(flows, least), near)
    assert [tuple(pair) for pair in found.tolist()] == oracle.greedy_merges(flows, least, near.tolist())


def diced_flows(dice: Random, n: int) -> list[Member]:
    """Return flows at few places, so that prices tie, or in far pockets; weights that add up exactly."""
    reach, gap = dice.choice([2, 9, 5000]), dice.choice([0, 0, 10**6])
    return [
        Member(
            tuple(float(dice.randint(0, reach) + gap * (row // 4)) for _ in range(4)),
            volume=dice.choice(DYADIC_WEIGHTS),
            trips=dice.choice([1, 1, 2, 7]),
            population=dice.choice(DYADIC_WEIGHTS),
            people=frozenset(dice.sample(range(9), dice.randint(0, 3))),
        )
        for row in range(n)
    ]


def support_of(flows: list[Member], least: Least) -> GloveSupport:
    people = [person for flow in flows for person in sorted(flow.people)]
    return GloveSupport(
        np.array([float(flow.trips) for flow in flows]),
        np.array([flow.population for flow in flows]),
        np.cumsum([0, *(len(flow.people) for flow in flows)]),
        np.array(people, dtype=np.int32),
        np.array(least, dtype=float),
    )


def members_of(matrix: ODMatrix, promise: Promise) -> list[Member]:
    """Return the flows of a matrix in plain Python."""
    f, volume = matrix.flows, matrix.volume(main_volume(promise))
    people = [frozenset[int]()] * matrix.n_flows
    if f.travellers is not None:
        people = [frozenset(f.travellers.people[a:b].tolist()) for a, b in pairwise(f.travellers.offsets)]
    return [
        Member(
            tuple(at),
            volume=float(volume[row]),
            trips=float(f.trips[row]),
            population=0.0 if f.population is None else float(f.population[row]),
            people=people[row],
        )
        for row, at in enumerate(flow_points(matrix).tolist())
    ]


def least_of(matrix: ODMatrix, promise: Promise) -> Least:
    trips, travellers, population = least_support(matrix, promise.resolve(matrix))
    return float(trips), float(travellers), float(population)


def assert_released(matrix: ODMatrix, release: Release, clusters: list[list[int]] | None) -> None:
    """Assert that exactly these clusters are released; those with the same boxes are one group."""
    assert clusters is not None
    kept = np.flatnonzero(~release.suppressed).tolist()
    assert kept == sorted(row for rows in clusters for row in rows)
    zones = (release.origins, release.group_origin), (release.destinations, release.group_destination)
    for rows in clusters:
        groups = set(release.group_of_flow[rows].tolist())
        assert len(groups) == 1
        group = groups.pop()
        for (tree, tile), (boxes, column) in zip(matrix.axes, zones, strict=True):
            lat, lon = tree.zones.lat[tile[rows]], tree.zones.lon[tile[rows]]
            box = [float(side) for side in boxes.ids[column[group]].split("_")[1:]]
            assert box == pytest.approx([lat.min(), lon.min(), lat.max(), lon.max()], abs=1e-6)


@given(data=st.data(), limit=limits, neighbours=st.integers(1, 40))
def test_a_release_is_the_first_step_that_fits_the_limit(
    data: st.DataObject, limit: float, neighbours: int
) -> None:
    case = data.draw(cases(placed=True, weights=DYADIC_WEIGHTS, max_rows=40))
    promise = data.draw(promises(case))
    assume(safe(case.rows, case.thresholds(promise)))
    matrix = case.matrix()
    method = Glove(promise=promise, suppression_limit=limit, neighbours=neighbours)
    release = method.anonymise(matrix)
    flows, least = members_of(matrix, release.promise), least_of(matrix, promise)
    merges = oracle.greedy_merges(flows, least, nearest(flow_points(matrix), neighbours).tolist())
    steps = [merges[:step] for step in range(len(merges) + 1)]
    assert_released(matrix, release, oracle.first_fit(flows, least, limit, steps))


def line(*lon: float) -> Hierarchy:
    """Return tiles in a row on the equator, named in their order, under one root."""
    ids = [*(f"t{i}" for i in range(len(lon))), "z"]
    at = {"lat": np.zeros(len(ids)), "lon": np.array([*lon, np.mean(lon)])}
    return Hierarchy.from_parents(ids, [len(lon)] * len(lon) + [-1], **at)


def along(*stops: tuple[float, int]) -> ODMatrix:
    """Return flows from places on the equator, each of some trips, all to the first place."""
    tree = line(*(lon for lon, _ in stops))
    origin = np.repeat(np.arange(len(stops)), [trips for _, trips in stops])
    return ODMatrix.from_trips(tree, tree, origin, np.zeros(len(origin), dtype=int))


def boxes_of(release: Release) -> list[tuple[float, float, int]]:
    """Return west, east and trips of every released group on a line."""
    sides = [name.split("_") for name in release.origins.ids[release.group_origin]]
    return [
        (float(side[2]), float(side[4]), trips)
        for side, trips in zip(sides, release.trips.tolist(), strict=True)
    ]


def test_safe_flows_are_left_alone() -> None:
    release = Glove(promise=KAnonymity(k=2), suppression_limit=0).anonymise(along((0.0, 2), (0.01, 3)))
    assert boxes_of(release) == [(0.0, 0.0, 2), (0.01, 0.01, 3)]


def test_an_unsafe_flow_joins_a_safe_one_only_if_that_is_cheapest() -> None:
    """The other unsafe flow is four steps away, the safe one a step, which all of its trips would pay."""
    light, heavy = (
        Glove(promise=KAnonymity(k=2), suppression_limit=0.25).anonymise(
            along((0.0, trips), (0.01, 1), (0.05, 1))
        )
        for trips in (2, 4)
    )
    # Three trips stretched by a step, for one that is not safe: 3 a trip; both unsafe ones by four: 4.
    assert boxes_of(light) == [(0.0, 0.01, 3)]
    # Five trips by a step, for one: 5.
    assert boxes_of(heavy) == [(0.0, 0.0, 4), (0.01, 0.05, 2)]


def test_heavy_flows_are_not_stretched_for_light_ones() -> None:
    matrix = along((0.0, 100), (0.01, 1), (0.03, 1))
    release = Glove(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    assert boxes_of(release) == [(0.0, 0.0, 100), (0.01, 0.03, 2)]


def test_what_is_hard_to_hide_is_withheld() -> None:
    matrix = along((0.0, 1), (0.01, 1), (0.02, 1), (0.03, 1), (5.0, 1))
    release = Glove(promise=KAnonymity(k=2), suppression_limit=0.2).anonymise(matrix)
    assert boxes_of(release) == [(0.0, 0.01, 2), (0.02, 0.03, 2)]
    assert release.suppressed.tolist() == [False] * 4 + [True]
    whole = Glove(promise=KAnonymity(k=2), suppression_limit=0.19).anonymise(matrix)
    assert not whole.suppressed.any()


def test_pockets_that_run_out_of_neighbours_find_others() -> None:
    """Six flows of one person, far from everybody: the graph of nearest flows falls apart."""
    lon = [*(0.001 * i for i in range(6)), *(3 + 0.001 * i for i in range(6))]
    person = np.array([0] * 6 + [1, 2, 3, 4, 5, 6])
    tree = line(*lon)
    matrix = ODMatrix.from_trips(tree, tree, np.arange(12), np.zeros(12, dtype=int), person=person)
    release = Glove(promise=KAnonymity(k=3), suppression_limit=0, neighbours=2).anonymise(matrix)
    assert not release.suppressed.any()
    assert release.travellers is not None
    assert release.travellers.min() >= 3


def test_weights_that_only_seem_to_reach_k_are_merged_further() -> None:
    """1.9 + 0.1 is 2 in floating point, and less than 2 in truth."""
    tree = line(0.0, 0.01, 2.0, 2.01)
    weight = np.array([1.9, 0.1, 1.9, 0.1])
    matrix = ODMatrix.from_trips(tree, tree, np.arange(4), np.zeros(4, dtype=int), weight=weight)
    release = Glove(promise=KAnonymity(k=2, unit="population"), suppression_limit=0).anonymise(matrix)
    assert (release.n_groups, release.suppressed.any()) == (1, False)


def test_flows_without_weight_are_not_worth_stretching_others() -> None:
    tree = line(0.0, 0.01, 0.02)
    matrix = ODMatrix.from_trips(
        tree, tree, np.arange(3), np.zeros(3, dtype=int), weight=np.array([2.0, 0.0, 2.0])
    )
    release = Glove(promise=KAnonymity(k=2, unit="population"), suppression_limit=0).anonymise(matrix)
    assert [box[:2] for box in boxes_of(release)] == [(0.0, 0.0), (0.02, 0.02)]


@given(dice=seeds, n=st.integers(1, 60), neighbours=st.integers(1, 12))
def test_nearest_are_nearest(dice: Random, n: int, neighbours: int) -> None:
    points = np.array([[float(dice.randint(0, 9)) for _ in range(4)] for _ in range(n)])
    distance = np.abs(points[:, None] - points).sum(axis=2)
    near = nearest(points, neighbours)
    assert near.shape == (n, min(neighbours + 1, n))
    for row, found in enumerate(near):
        assert len(set(found)) == len(found)
        assert found.tolist() == sorted(found)
        assert sorted(distance[row, found]) == sorted(distance[row])[: len(found)]


def test_points_are_as_far_apart_as_on_the_globe() -> None:
    at = {"lat": np.array([48.80, 48.95, 48.87]), "lon": np.array([2.20, 2.45, 2.3])}
    tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **at)
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([1, 0]))
    points = flow_points(matrix)
    north, east = 0.15 * 111_195, 0.25 * 111_195 * np.cos(np.radians(48.875))
    assert np.abs(points[1] - points[0]) == pytest.approx([north, east, north, east], abs=2)


@given(dice=seeds, n=st.integers(1, 12), limit=limits)
def test_the_first_fit_is_found_by_halving(dice: Random, n: int, limit: float) -> None:
    """Merges in any order, stops anywhere: as if every stop were tried from the first."""
    rows = list(range(n))
    merges = []
    while len(rows) > 1:
        i, j = sorted(dice.sample(rows, 2))
        rows.remove(j)
        merges.append((i, j))
    trips = [dice.choice([1, 2, 5]) for _ in range(n)]
    assume(sum(trips) >= 3)
    matrix = along(*((0.01 * i, trip) for i, trip in enumerate(trips)))
    promise = KAnonymity(k=3, unit="trips")
    stops = sorted({0, n - 1, *dice.sample(range(n), n // 2)})
    pairs = np.array(merges, dtype=int).reshape(-1, 2)
    found = first_fit(matrix, promise, limit, Merges(pairs[:, 0], pairs[:, 1], np.array(stops)))
    expected = oracle.first_fit(
        members_of(matrix, promise), (3, 0, 0), limit, [merges[:stop] for stop in stops]
    )
    assert (found is None) == (expected is None)
    if found is not None:
        groups = [np.flatnonzero(found == group).tolist() for group in range(found.max() + 1)]
        assert sorted(groups) == expected


def test_no_stop_may_be_enough() -> None:
    matrix = along((0.0, 1), (0.01, 1))
    never = Merges(np.empty(0, dtype=int), np.empty(0, dtype=int), np.zeros(1, dtype=int))
    assert first_fit(matrix, KAnonymity(k=2, unit="trips"), 0.5, never) is None


class Small(Glove):
    """Glove for three flows at most."""

    most_flows: ClassVar[int] = 3


class SmallSk(GloveSk):
    """The same for scikit-learn's clustering, and two for all pairs."""

    most_flows: ClassVar[int] = 3
    most_for_all_pairs: ClassVar[int] = 2


@pytest.mark.parametrize(
    ("method", "most"),
    [(Small(), 3), (SmallSk(), 3), (SmallSk(neighbours=None), 2)],
    ids=["glove", "sk", "pairs"],
)
def test_too_many_flows_are_refused_before_anything_is_done(method: Glove | GloveSk, most: int) -> None:
    calls: list[object] = []
    matrix = along(*((0.01 * i, 50) for i in range(most + 1)))
    with pytest.raises(InputError, match=f"at most {most} of them.* coarser tiles .* productcut"):
        method.anonymise(matrix, progress=lambda *call: calls.append(call))
    assert not calls
    assert method.anonymise(along(*((0.01 * i, 50) for i in range(most)))).n_groups >= 1


@pytest.mark.parametrize("method", [Glove, GloveSk])
def test_what_boxes_cannot_do_is_refused(method: type[Glove | GloveSk]) -> None:
    bare = hierarchy_of({"all": None, "a": "all", "b": "all"})
    nowhere = ODMatrix.from_trips(bare, bare, np.zeros(20, dtype=int), np.ones(20, dtype=int))
    with pytest.raises(InputError, match="boxes need coordinates"):
        method().anonymise(nowhere)
    tree, hours = line(0.0, 1.0), time_hierarchy(np.array([8]), 60)
    timed = ODMatrix.from_trips(
        tree, tree, np.zeros(20, dtype=int), np.ones(20, dtype=int), times=hours, slot=np.zeros(20, dtype=int)
    )
    with pytest.raises(InputError, match="does not know time"):
        method().anonymise(timed)
    with pytest.raises(InputError, match="l-diversity and t-closeness are not defined"):
        method(promise=AllOf(promises=(KAnonymity(), TCloseness(t=0.3)))).anonymise(along((0.0, 20)))
    with pytest.raises(InputError, match="at least one neighbour; got 0"):
        method(neighbours=0)


@given(case=cases(placed=True, max_rows=30))
def test_more_neighbours_than_flows_are_all_of_them(case: Case) -> None:
    promise = KAnonymity(k=2, unit="trips")
    matrix = case.matrix()
    assume(matrix.total() >= 2)
    releases = [
        contents(Glove(promise=promise, neighbours=neighbours).anonymise(matrix))
        for neighbours in (matrix.n_flows, 10**6)
    ]
    assert {**releases[0], "parameters": 0} == {**releases[1], "parameters": 0}
