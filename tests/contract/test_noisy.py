"""The contract of noisy methods: bounded contributions, nothing but noise looks at numbers, true words."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.flows.methods import METHODS
from tripcloak.flows.methods.noise import NoisyMethod
from tripcloak.flows.methods.noise.noisy import bound_contributions
from tripcloak.flows.methods.noise.scaling import PARTS
from tripcloak.flows.model import NOBODY, ODMatrix
from tripcloak.flows.publish import publish
from tripcloak.flows.release import Release, build_noisy_release
from tripcloak.flows.release.reading import read_release
from tripcloak.ground.errors import ImpossibleRequestError, InputError, InternalError
from tripcloak.ground.noise import OpenDPNoise
from tripcloak.hierarchy import H3BinaryTiling, H3Tiling, Hierarchy
from tripcloak.promises import AllOf, AveragePeople, KAnonymity, LDiversity, TCloseness
from worlds.matrices import seeds
from worlds.noise_sources import Blind, Recorded, Same
from worlds.noisy import KINDS, Trip, World, by_ids, diced_trips

NOISY = {name: method for name, method in METHODS.items() if method.noisy}
every_method = pytest.mark.parametrize("method", NOISY.values(), ids=NOISY)
every_world = pytest.mark.parametrize("world", [World(kind) for kind in KINDS], ids=KINDS)


def made(method: type[NoisyMethod], **asked: Any) -> NoisyMethod:
    return method(**{"epsilon": 1.0, "contributions": 3, "height": 0, **asked})


def published(release: Release) -> dict[tuple[str, str], int]:
    origin = release.origins.ids[release.group_origin].tolist()
    destination = release.destinations.ids[release.group_destination].tolist()
    return dict(zip(zip(origin, destination, strict=True), release.trips.tolist(), strict=True))


@every_world
@given(dice=seeds, most=st.integers(1, 6), counted=st.booleans())
def test_nobody_counts_more_often_than_allowed_and_nobody_changes_what_others_count(
    world: World, dice: Random, most: int, counted: bool
) -> None:
    trips = diced_trips(dice, world, trips=20, people=4)
    matrix = world.matrix(trips, counted=counted)
    found = bound_contributions(matrix, most)
    whole = Counter(by_ids(matrix, found.trips))
    assert (found.unit, found.most) == ("traveller", most)
    assert all(0 <= kept <= total for kept, total in zip(found.trips, matrix.flows.trips, strict=True))
    totals: dict[int, int] = defaultdict(int)
    for trip in trips:
        totals[trip.person] += trip.times
    kept = {person: min(total, most) for person, total in totals.items() if person != NOBODY}
    assert sum(whole.values()) == sum(kept.values())
    for person, own in kept.items():
        others = [trip for trip in trips if trip.person != person]
        rest = (
            Counter(by_ids(m := world.matrix(others), bound_contributions(m, most).trips))
            if others
            else Counter()
        )
        # Without one traveller exactly their own trips are gone, and those are few enough.
        assert not rest - whole
        assert (whole - rest).total() == own


def test_a_traveller_with_too_many_trips_keeps_them_in_proportion() -> None:
    world = World("tree")
    trips = [Trip(0, 1, 7, 300), Trip(2, 3, 7, 100), Trip(4, 5, 8, 2)]
    matrix = world.matrix(trips)
    kept = by_ids(matrix, bound_contributions(matrix, 40).trips)
    assert kept == {("t00", "t01"): 30, ("t02", "t03"): 10, ("t04", "t05"): 2}


def test_different_people_keep_different_trips() -> None:
    # Everybody makes the same ten trips and one of their own, which is what tells them apart.
    world = World("quadtree")
    trips = [Trip(0, number, person) for person in range(40) for number in (*range(10), 12 + person)]
    matrix = world.matrix(trips)
    kept = list(by_ids(matrix, bound_contributions(matrix, 1).trips).values())
    assert sum(kept) == 40
    assert max(kept) < 15


def test_without_ids_every_trip_counts_and_is_hidden_by_itself() -> None:
    matrix = World("tree").matrix([Trip(0, 1, 5, 9), Trip(1, 2)], ids=False)
    assert matrix.flows.repeats is None
    found = bound_contributions(matrix, 4)
    assert (found.trips.tolist(), found.unit, found.most) == ([9, 1], "trip", 1)
    once = bound_contributions(replace(matrix, each_trip_is_a_person=True), 4)
    assert (once.unit, once.most) == ("traveller", 1)


def test_a_matrix_that_does_not_tell_repeats_is_refused() -> None:
    matrix = World("tree").matrix([Trip(0, 1, 5)])
    poor = replace(matrix, flows=replace(matrix.flows, repeats=None))
    with pytest.raises(InputError, match="repeats=True"):
        bound_contributions(poor, 2)


@pytest.mark.one_in(2)
@every_method
@every_world
@given(dice=seeds)
def test_released_numbers_are_whole_and_flows_lie_in_the_pair_they_are_said_to(
    method: type[NoisyMethod], world: World, dice: Random
) -> None:
    matrix = world.matrix(diced_trips(dice, world, trips=30, people=9))
    height = dice.randint(0, 2)
    try:
        release = made(method, height=height, delta=0.4).anonymise(
            matrix, noise=Same(seed=dice.randint(0, 99))
        )
    except ImpossibleRequestError:
        return
    assert release.trips.dtype == np.int64
    assert release.trips.min() >= 1
    assert len(published(release)) == release.n_groups
    assert (release.travellers, release.population, release.seed, release.k) == (None, None, None, None)
    assert release.homogeneous == method.one_height
    for zones in (release.origins, release.destinations):
        assert (zones.tiles_observed <= zones.tiles).all()
    for flow, group in enumerate(release.group_of_flow.tolist()):
        if group < 0:
            continue
        for tree, tile, zones, column in (
            (matrix.origins, matrix.flows.origin, release.origins, release.group_origin),
            (matrix.destinations, matrix.flows.destination, release.destinations, release.group_destination),
        ):
            lowest = tree.lift(height)[tile[flow]]
            at = height if method.one_height else zones.height[column[group]]
            assert at >= tree.zones.height[lowest] or method.one_height
            assert zones.ids[column[group]] == tree.zones.ids[tree.lift(at)[tile[flow]]]


@pytest.mark.one_in(2)
@every_method
@every_world
@given(dice=seeds)
def test_nothing_but_the_noise_looks_at_the_numbers(
    method: type[NoisyMethod], world: World, dice: Random
) -> None:
    """With noise that ignores the exact numbers, different inputs of one study area give one release."""
    release = []
    for _ in range(2):
        matrix = world.matrix(diced_trips(dice, world, trips=dice.randint(5, 30), people=5))
        # Every pair gets noise: that is what laplace does without a delta, and inftda always.
        asked = {"delta": 0.0} if method.name == "laplace" else {}
        release.append(made(method, height=1, **asked).anonymise(matrix, noise=Blind()))
    assert published(release[0]) == published(release[1])
    assert release[0].promise == release[1].promise


@every_method
def test_one_traveller_far_away_changes_no_public_fact(method: type[NoisyMethod]) -> None:
    tiling, facts = H3Tiling(6), []
    lat, lon = np.append(np.full(3000, 48.85), -33.9), np.append(np.full(3000, 2.35), 151.2)
    for trips in (3000, 3001):
        keys = tiling.encode(lat[:trips], lon[:trips])
        tree = tiling.hierarchy(np.unique(keys))
        tiles, person = tiling.tiles(keys, tree), np.arange(trips, dtype=np.int32)
        matrix = ODMatrix.from_trips(tree, tree, tiles, tiles, person=person, repeats=True)
        made_of = made(method, height=3).anonymise(matrix, noise=Same())
        assert made_of.promise.noisy
        facts.append((made_of.promise.to_manifest(), made_of.parameters))
    assert facts[0] == facts[1]
    assert facts[0][0]["study_area"] == "world"


@every_method
@given(dice=seeds)
def test_the_order_of_rows_does_not_matter(method: type[NoisyMethod], dice: Random) -> None:
    world = World("tree")
    trips = diced_trips(dice, world, trips=25, people=4)
    shuffled = [trip._replace(person=trip.person if trip.person < 0 else 9 - trip.person) for trip in trips]
    dice.shuffle(shuffled)
    one, other = (
        made(method, delta=1e-3).anonymise(world.matrix(rows), noise=Same()) for rows in (trips, shuffled)
    )
    assert published(one) == published(other)
    assert one.group_of_flow.tolist() == other.group_of_flow.tolist()


@every_method
def test_the_input_stays_as_it_is(method: type[NoisyMethod]) -> None:
    matrix = World("tree").matrix(diced_trips(Random(1), World("tree"), trips=25, people=4))
    before = [column.copy() for column in (matrix.flows.trips, matrix.flows.repeats)]
    made(method).anonymise(matrix, noise=Same())
    assert [column.tolist() for column in (matrix.flows.trips, matrix.flows.repeats)] == [
        column.tolist() for column in before
    ]


@every_method
def test_numbers_of_k_and_limit_play_no_part(method: type[NoisyMethod]) -> None:
    matrix = World("tree").matrix(diced_trips(Random(1), World("tree"), trips=25, people=4))
    ks = (AveragePeople(k=10**9), AllOf(promises=(KAnonymity(k=2), KAnonymity(k=3, unit="trips"))))
    one, other = (
        made(method, promise=k, suppression_limit=limit).anonymise(matrix, noise=Same())
        for k, limit in zip(ks, (0.0, 0.9), strict=True)
    )
    assert published(one) == published(other)


@every_method
def test_what_cannot_be_had_is_refused_before_any_work(
    method: type[NoisyMethod], monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = World("tree").matrix([Trip(0, 1, 5)])
    plain = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    tiling = H3BinaryTiling(8)
    union = tiling.hierarchy(np.unique(tiling.encode(np.array([48.1, 48.2]), np.array([2.0, 2.1]))))
    monkeypatch.setattr("tripcloak.flows.methods.noise.noisy.bound_contributions", None)
    with pytest.raises(InputError, match=f"{method.name} needs epsilon="):
        method().anonymise(matrix)
    with pytest.raises(InputError, match=r"\bt="):
        made(method, promise=AllOf(promises=(KAnonymity(), TCloseness(t=0.5)))).anonymise(matrix)
    with pytest.raises(InputError, match=r"\bl=\.\.\.,"):
        made(method, promise=AllOf(promises=(KAnonymity(), LDiversity(l=2)))).anonymise(matrix)
    for tree in (plain, union):
        ends = np.zeros(3, dtype=int)
        with pytest.raises(InputError, match="do not depend on the data"):
            made(method).anonymise(ODMatrix.from_trips(tree, tree, ends, ends))
    monkeypatch.setattr("tripcloak.ground.noise.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"tripcloak\[dp\]"):
        made(method).anonymise(matrix)


@every_method
@pytest.mark.parametrize(
    "asked",
    [
        *({"epsilon": bad} for bad in (0.0, float("inf"), float("nan"))),
        *({"delta": bad} for bad in (1.0, -0.1)),
        {"contributions": 0},
        {"epsilon": 1e-16},
        {"contributions": 10**15},
        {"delta": 1e-320},
        {"height": -1},
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(method: type[NoisyMethod], asked: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(asked))):
        made(method, **asked)


@every_method
def test_when_noise_leaves_nothing_there_is_no_release(method: type[NoisyMethod]) -> None:
    matrix = World("h3").matrix([Trip(0, 1, 5)])

    class Low(Recorded):
        def noise(self, n: int) -> Any:
            return np.full(n, -1000)

    with pytest.raises(ImpossibleRequestError, match="larger epsilon"):
        made(method).anonymise(matrix, noise=Low())


@every_method
def test_the_source_is_told_a_budget_that_opendp_agrees_to(method: type[NoisyMethod]) -> None:
    noise = Same()
    matrix = World("tree").matrix(diced_trips(Random(1), World("tree"), trips=25, people=4))
    asked_of = made(method, epsilon=0.3)
    asked_of.anonymise(matrix, noise=noise)
    real = OpenDPNoise()
    for asked in noise.asked:
        # Three trips, or as many of the parts that trips are counted in.
        assert asked["sensitivity"] in ({3, 3 * PARTS} if asked_of.scales else {3})
        draw = real.laplace if "epsilon" in asked else real.gaussian
        draw(np.zeros(1, dtype=np.int64), **asked)
        with pytest.raises(InternalError, match="less private"):
            draw(np.zeros(1, dtype=np.int64), **{**asked, "scale": asked["scale"] * 0.999})


@pytest.fixture(scope="module")
def busy() -> ODMatrix:
    """Return a matrix whose exact numbers are easy to recognise: 41,537 trips, 98,765 of one traveller."""
    trips = [Trip(0, 1, person, 1) for person in range(41_537)]
    return World("h3").matrix([*trips, Trip(2, 3, 50_000, 98_765)])


@every_method
def test_a_folder_tells_no_exact_number_and_promises_no_k(
    method: type[NoisyMethod], busy: ODMatrix, tmp_path: Path
) -> None:
    release = made(method, delta=1e-6).anonymise(busy, noise=Same(seed=3, scale=40))
    facts = publish(
        tmp_path / "out",
        busy,
        release,
        run={},
        dropped={"null_island": 77_777},
        tilings={"spec": "h3:8/root=861fb4677ffffff"},
    )
    assert not release.promise.thresholds
    assert facts["seed"] is None
    assert "suppression_limit" not in facts["parameters"]
    stated = facts["promise"]
    assert stated["kind"] == "differential privacy"
    assert "k" not in stated
    assert (stated["epsilon"], stated["unit"], stated["contributions"]) == (1.0, "traveller", 3)
    assert stated["study_area"] == "861fb4677ffffff"
    total = int(busy.flows.trips.sum())
    exact = (41_537, 98_765, total, 41_540, 77_777, busy.n_flows * 10**6)
    for path in sorted((tmp_path / "out" / "release").iterdir()):
        text = path.read_bytes().decode("utf-8", errors="ignore")
        for secret in exact:
            assert f"{secret:,}" not in text, path.name
            assert str(secret) not in text, path.name
    readme = (tmp_path / "out" / "release" / "README.md").read_text()
    page = (tmp_path / "out" / "release" / "map.html").read_text()
    assert "holds at least" not in readme + page
    assert "no k-anonymity" in readme
    assert "no k-anonymity" in page
    assert "exp(1)" in readme
    assert json.loads((tmp_path / "out" / "release" / "manifest.json").read_text())["dropped_rows"] == {}


@every_method
@every_world
def test_a_folder_reads_back_as_the_release_it_was(
    method: type[NoisyMethod], world: World, tmp_path: Path
) -> None:
    matrix = world.matrix(diced_trips(Random(4), world, trips=60, people=20))
    release = made(method, height=1, delta=0.3).anonymise(matrix, noise=Same(seed=3))
    spec = {"h3": "h3:8/root=861fb4677ffffff", "quadtree": "quadtree:3", "tree": "table:x"}[world.kind]
    publish(tmp_path / "out", matrix, release, run={}, dropped={}, tilings={"spec": spec})
    again = read_release(tmp_path / "out", matrix)
    assert published(again) == published(release)
    assert again.promise == release.promise
    assert again.parameters == release.parameters
    pairs = [*published(release), None], [*published(again), None]
    assert [pairs[0][g] for g in release.group_of_flow] == [pairs[1][g] for g in again.group_of_flow]
    order = [list(published(again)).index(pair) for pair in published(release)]
    for name in ("height", "tiles", "tiles_observed", "lat", "lon"):
        told, held = (getattr(r.origins, name)[r.group_origin] for r in (again, release))
        assert told[order] == pytest.approx(held, nan_ok=True), name
    # What is published are the areas inside the outlines.
    drawn = release.origins.areas(release.group_origin)
    assert again.origins.area_km2[again.group_origin][order] == pytest.approx(drawn, nan_ok=True)
    (tmp_path / "out" / "release" / "flows.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="changed since"):
        read_release(tmp_path / "out", matrix)


def test_more_destinations_than_origins_read_back(tmp_path: Path) -> None:
    # As if there were as many of both, the pair of zones 0 and 2 would be taken for that of 1 and 0.
    trips = [
        Trip(origin, destination, times=500 + 9 * origin + destination)
        for origin in (0, 1)
        for destination in (0, 1, 2)
    ]
    matrix = World("h3").matrix(trips, ids=False)
    release = made(METHODS["laplace"], delta=0.3).anonymise(matrix, noise=Recorded())
    tilings = {"spec": "h3:8/root=861fb4677ffffff"}
    publish(tmp_path / "out", matrix, release, run={}, dropped={}, tilings=tilings)
    again = read_release(tmp_path / "out", matrix)
    assert len(again.origins) < len(again.destinations)
    pairs = list(published(again))
    flows = (
        matrix.origins.zones.ids[matrix.flows.origin],
        matrix.destinations.zones.ids[matrix.flows.destination],
    )
    assert [pairs[group] for group in again.group_of_flow] == list(zip(*flows, strict=True))


@settings(max_examples=20)
@given(data=st.data())
def test_odd_numbers_are_never_released(data: st.DataObject) -> None:
    matrix = World("tree").matrix([Trip(0, 1, 5), Trip(2, 3, 5), Trip(4, 5, 5)])
    release = made(NOISY["laplace"], epsilon=50.0).anonymise(matrix)  # type: ignore[arg-type]
    good = {
        "group_of_flow": release.group_of_flow,
        "group_origin": release.group_origin,
        "group_destination": release.group_destination,
        "trips": release.trips,
    }
    broken = {
        "trips": [release.trips * 0, release.trips + 0.5, release.trips[:-1], release.trips[:0]],
        "group_origin": [release.group_origin - 1000, release.group_origin + 1000],
        "group_destination": [np.full_like(release.group_destination, 99)],
        "group_of_flow": [
            release.group_of_flow[:-1],
            release.group_of_flow * 0 - 2,
            release.group_of_flow + 10**6,
        ],
    }
    if release.n_groups > 1:
        broken["group_origin"].append(np.zeros_like(release.group_origin))
        broken["group_origin"][-1][:] = release.group_origin[0]
    name = data.draw(st.sampled_from(sorted(broken)))
    bad = {**good, name: data.draw(st.sampled_from(broken[name]))}
    if name == "group_origin" and (bad[name] == release.group_origin[0]).all():
        bad["group_destination"] = np.full_like(release.group_destination, release.group_destination[0])
    zones = release.origins, release.destinations
    shared = {"method": "by hand", "parameters": {}, "promise": release.promise, "homogeneous": True}
    build_noisy_release(matrix, zones=zones, **shared, **good)  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="nothing was released"):
        build_noisy_release(matrix, zones=zones, **shared, **bad)  # type: ignore[arg-type]
