"""Mondrian: against its plain twin, on boxes worked by hand, and what it refuses."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import mondrian as oracle
from oracles.flows.kernels import Tree, safe, tiles
from oracles.flows.mondrian import Point
from tripcloak.flows.methods import Mondrian
from tripcloak.flows.methods._kernels.mondrian import MondrianSupport, median_cuts
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.hierarchy import BoxZones, time_hierarchy
from tripcloak.promises import AllOf, KAnonymity, LDiversity, Promise, TCloseness
from worlds.matrices import DYADIC_WEIGHTS, Case, Places, cases, grid, hierarchy_of, promises, seeds
from worlds.plain_boxes import plain_boxes  # noqa: F401 - a fixture of the module

UNITS = ("trips", "travellers", "population")
UNEVEN_WEIGHTS = (0.7, 0.7, 0.1, 0.3, 2.0, 1 / 3)
"""Weights whose sum in doubles reaches whole numbers that the sum itself just misses."""


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@given(dice=seeds, n=st.integers(1, 60), data=st.data())
def test_the_cuts_are_those_of_the_textbook(
    compiled: bool, dice: Random, n: int, data: st.DataObject
) -> None:
    points = diced_points(dice, n)
    asked = data.draw(st.sampled_from([("trips",), ("travellers",), ("population",), UNITS]))
    least = {unit: float(data.draw(st.integers(2, 12))) for unit in asked}
    cut = median_cuts if compiled else median_cuts.py_func
    found = cut(
        np.array([point.at for point in points], dtype=np.int32),
        np.array([point.weight for point in points]),
        support_of(points, least),
    )
    assert groups_of(found) == oracle.median_cuts(points, least)


def test_a_sum_that_only_rounding_brings_up_to_k_is_not_enough() -> None:
    assert sum([0.7] * 10) >= 7 > 10 * Fraction(0.7)
    n = 20
    names = [f"t{i:02}" for i in range(n)]
    tree = hierarchy_of(
        dict.fromkeys(names, "all") | {"all": None},
        places={name: (48.0, 2 + i / 100) for i, name in enumerate(names)},
    )
    rows = np.arange(n)
    matrix = ODMatrix.from_trips(tree, tree, rows, rows, weight=np.full(n, 0.7))
    release = Mondrian(promise=KAnonymity(k=7, unit="population")).anonymise(matrix)
    assert np.bincount(release.group_of_flow).tolist() == [n]
    smaller = Mondrian(promise=KAnonymity(k=6, unit="population")).anonymise(matrix)
    assert np.bincount(smaller.group_of_flow).tolist() == [n // 2] * 2


def diced_points(dice: Random, n: int) -> list[Point]:
    """Return flows of few coordinates, so that medians are shared; volumes that add up exactly."""
    reach = dice.choice([2, 6, 40, 10**6])
    corner = dice.choice([(48_850_000, 2_350_000), (-33_870_000, -179_500_000), (-3, -3), (89_990_000, 0)])
    return [
        Point(
            (
                *(side + dice.randint(0, min(reach, 9000)) for side in corner),
                *(dice.randint(0, reach) for _ in "ab"),
            ),
            weight=dice.choice(DYADIC_WEIGHTS),
            trips=dice.choice([1, 1, 2, 9]),
            population=dice.choice(UNEVEN_WEIGHTS),
            people=tuple(sorted(dice.sample(range(12), dice.randint(0, 3)))),
        )
        for _ in range(n)
    ]


def support_of(points: list[Point], least: dict[str, float]) -> MondrianSupport:
    people = [person for point in points for person in point.people]
    return MondrianSupport(
        np.array([point.trips for point in points]),
        np.array([point.population for point in points]),
        np.cumsum([0, *(len(point.people) for point in points)]),
        np.array(people, dtype=np.int32),
        np.array([least.get(unit, 0.0) for unit in UNITS]),
    )


def groups_of(number: Any) -> list[list[int]]:
    members = defaultdict(list)
    for row, group in enumerate(number.tolist()):
        members[group].append(row)
    return sorted(members.values())


@given(case=cases(placed=True, weights=DYADIC_WEIGHTS), data=st.data())
def test_a_release_holds_the_groups_of_the_textbook_in_the_smallest_boxes(
    case: Case, data: st.DataObject
) -> None:
    promise = data.draw(promises(case))
    least = case.thresholds(promise)
    matrix = case.matrix()
    if not safe(case.rows, least):
        with pytest.raises(ImpossibleRequestError):
            Mondrian(promise=promise).anonymise(matrix)
        return
    release = Mondrian(promise=promise).anonymise(matrix)
    points = points_of(matrix, promise)
    assert not release.suppressed.any()
    assert groups_of(release.group_of_flow) == oracle.median_cuts(points, least)
    for group, (origin, destination) in enumerate(boxes_of(release)):
        ends = np.array(
            [point.at for point, own in zip(points, release.group_of_flow, strict=True) if own == group]
        )
        assert [*origin, *destination] == [
            *(*ends[:, :2].min(axis=0), *ends[:, :2].max(axis=0)),
            *(*ends[:, 2:].min(axis=0), *ends[:, 2:].max(axis=0)),
        ]


def points_of(matrix: ODMatrix, promise: Promise) -> list[Point]:
    """Return the flows of a matrix as points; they weigh what is published."""
    flows, asked = matrix.flows, set(promise.resolve(matrix).thresholds)
    weights = flows.population if asked == {"population"} else flows.trips
    assert weights is not None
    degrees = [column[tile] for tree, tile in matrix.axes for column in (tree.zones.lat, tree.zones.lon)]
    corners = zip(*(np.rint(column * 1e6).astype(int).tolist() for column in degrees), strict=True)
    offsets, people = flows.travellers or (np.zeros(matrix.n_flows + 1, dtype=int), np.empty(0))
    return [
        Point(
            corner,
            weight=float(weights[row]),
            trips=int(flows.trips[row]),
            population=0.0 if flows.population is None else float(flows.population[row]),
            people=tuple(people[offsets[row] : offsets[row + 1]].tolist()),
        )
        for row, corner in enumerate(corners)
    ]


def boxes_of(release: Release) -> list[tuple[list[int], list[int]]]:
    assert isinstance(release.origins, BoxZones)
    assert isinstance(release.destinations, BoxZones)
    first, second = (np.stack(zones.corners, axis=1) for zones in (release.origins, release.destinations))
    return list(
        zip(first[release.group_origin].tolist(), second[release.group_destination].tolist(), strict=True)
    )


@given(case=cases(placed=True))
def test_no_pair_of_tiles_lies_in_two_groups(case: Case) -> None:
    matrix = case.matrix()
    if matrix.total() < 2:
        return
    release = Mondrian(promise=KAnonymity(k=2, unit="trips")).anonymise(matrix)
    points = points_of(matrix, release.promise)
    for row, point in enumerate(points):
        inside = [
            group
            for group, pair in enumerate(boxes_of(release))
            if all(
                box[0] <= lat <= box[2] and box[1] <= lon <= box[3]
                for box, (lat, lon) in zip(pair, (point.at[:2], point.at[2:]), strict=True)
            )
        ]
        assert inside == [release.group_of_flow[row]]


LINE: Tree = {"all": None, **dict.fromkeys("abcdef", "all")}
ROW: Places = {tile: (0.0, number / 100) for number, tile in enumerate("abcdef")}


def line_of(ends: Any, **columns: Any) -> ODMatrix:
    tree = hierarchy_of(LINE, places=ROW)
    codes = np.array([[tiles(LINE).index(tile) for tile in pair] for pair in ends], dtype=np.int32)
    return ODMatrix.from_trips(tree, tree, *codes.T, **columns)


def sizes(release: Release) -> list[tuple[int, int]]:
    """Return each group's trips and the tiles between its origins' edges, from west to east."""
    assert isinstance(release.origins, BoxZones)
    west, east = (
        side[release.group_origin] for side in (release.origins.corners.west, release.origins.corners.east)
    )
    return [(int(n), int(wide) // 10_000 + 1) for n, wide in zip(release.trips, east - west, strict=True)]


def test_a_busy_tile_stands_alone_where_its_neighbours_are_safe_too() -> None:
    """The median is the busy tile, at the far end: a cut behind it would leave nothing over there."""
    matrix = line_of(["aa", "ba", "ca", "da"], trips=np.array([2, 1, 1, 90]))
    assert sizes(Mondrian(promise=KAnonymity(k=2)).anonymise(matrix)) == [(2, 1), (2, 2), (90, 1)]


def test_the_next_side_is_tried_where_the_widest_has_no_cut() -> None:
    matrix = line_of(["aa", "aa", "fb", "fb"], person=np.array([0, 1, 0, 1]))
    # Origins are wider apart, and either side holds both people; so each flow is released by itself.
    assert sizes(Mondrian(promise=KAnonymity(k=2)).anonymise(matrix)) == [(2, 1), (2, 1)]
    matrix = line_of(["aa", "fa", "ab", "fb", "fb"], person=np.array([0, 1, 0, 1, 1]))
    # Each origin is the habit of one person: only a cut by destinations leaves two on either side.
    assert sizes(Mondrian(promise=KAnonymity(k=2)).anonymise(matrix)) == [(2, 6), (3, 6)]


def test_people_on_both_sides_of_a_cut_count_on_both() -> None:
    """The number of people is no sum: here three on either side, of only three."""
    person = np.array([0, 1, 2] * 2)
    matrix = line_of(["aa", "ab", "ab", "ea", "fa", "fb"], person=person)
    assert sizes(Mondrian(promise=KAnonymity(k=3)).anonymise(matrix)) == [(3, 1), (3, 2)]


def test_every_unit_that_is_asked_for_must_be_reached_on_both_sides() -> None:
    columns = {"person": np.arange(4), "weight": np.array([50.0, 50.0, 1.0, 1.0])}
    matrix = line_of(["aa", "ba", "ca", "da"], **columns)
    both = AllOf(promises=(KAnonymity(k=2, unit="travellers"), KAnonymity(k=50, unit="population")))
    assert sizes(Mondrian(promise=KAnonymity(k=2)).anonymise(matrix)) == [(2, 2), (2, 2)]
    assert sizes(Mondrian(promise=both).anonymise(matrix)) == [(4, 4)]


def test_tiles_without_coordinates_are_refused_before_any_work() -> None:
    tree = hierarchy_of(LINE)
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([0, 1]))
    with pytest.raises(InputError, match="boxes need coordinates"):
        Mondrian(promise=KAnonymity(k=2)).refuse(matrix)


def test_time_diversity_and_closeness_are_refused_before_any_work() -> None:
    tree = hierarchy_of(LINE, places=grid(LINE))
    times = {"times": time_hierarchy(np.array([8, 9]), 60), "slot": np.array([0, 1])}
    ends = np.array([0, 1]), np.array([0, 1])
    with pytest.raises(InputError, match="mondrian does not know time"):
        Mondrian(promise=KAnonymity(k=2)).refuse(ODMatrix.from_trips(tree, tree, *ends, **times))
    matrix = ODMatrix.from_trips(tree, tree, *ends)
    for method in (
        Mondrian(promise=AllOf(promises=(KAnonymity(k=2), LDiversity(l=2)))),
        Mondrian(promise=AllOf(promises=(KAnonymity(k=2), TCloseness(t=0.5)))),
    ):
        with pytest.raises(InputError, match="mondrian draws zones of its own"):
            method.refuse(matrix)
