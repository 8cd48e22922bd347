"""GroupFinder: tiles tell the group of a trip just as its flow does, or are not asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tripcloak.flows.measures.placing import GroupFinder
from tripcloak.flows.methods import NestedCut, TwinCut
from tripcloak.flows.model import ODMatrix, TripEnds
from tripcloak.flows.release import Release
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity
from worlds.releases import Drawn, drawn_releases

TREE = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])


def ends_of(matrix: ODMatrix) -> TripEnds:
    """Return one trip of every flow."""
    somewhere = [np.zeros(matrix.n_flows)] * 4
    return TripEnds(matrix.flows.origin, matrix.flows.destination, *somewhere, None, matrix.flows.slot)


@given(drawn=drawn_releases())
def test_the_group_of_a_trip_is_that_of_its_flow(drawn: Drawn) -> None:
    finder = GroupFinder(drawn.matrix, drawn.release)
    assert finder.of(ends_of(drawn.matrix)).tolist() == drawn.release.group_of_flow.tolist()


def made() -> tuple[ODMatrix, Release]:
    """Return a release of a few trips, of which some are withheld."""
    origin, destination = np.array([0, 0, 1, 1, 2, 3]), np.array([0, 0, 0, 1, 2, 3])
    matrix = ODMatrix.from_trips(TREE, TREE, origin, destination)
    release = TwinCut(promise=KAnonymity(k=2), suppression_limit=0.4).anonymise(matrix)
    assert release.suppressed.any()
    assert not release.suppressed.all()
    return matrix, release


def test_zones_that_do_not_overlap_tell_the_group() -> None:
    matrix, release = made()
    finder = GroupFinder(matrix, release)
    assert finder.by_zones
    assert finder.of(ends_of(matrix)).tolist() == release.group_of_flow.tolist()


def test_a_single_flow_withheld_of_a_pair_of_zones_is_looked_up() -> None:
    origin, destination = np.array([0, 0, 1]), np.array([0, 1, 0])
    matrix = ODMatrix.from_trips(TREE, TREE, origin, destination)
    release = TwinCut(promise=KAnonymity(k=3), suppression_limit=0).anonymise(matrix)
    group = release.group_of_flow.copy()
    group[0] = -1
    finder = GroupFinder(matrix, replace(release, group_of_flow=group))
    assert not finder.by_zones
    assert finder.of(ends_of(matrix)).tolist() == group.tolist()


def test_zones_that_overlap_are_looked_up() -> None:
    origin, destination = np.repeat([0, 0, 1, 2, 3], 3), np.repeat([0, 1, 2, 3, 0], 3)
    matrix = ODMatrix.from_trips(TREE, TREE, origin, destination)
    release = NestedCut(promise=KAnonymity(k=3), suppression_limit=0).anonymise(matrix)
    finder = GroupFinder(matrix, release)
    assert finder.of(ends_of(matrix)).tolist() == release.group_of_flow.tolist()


def test_trips_between_tiles_without_a_flow_are_refused() -> None:
    """Both tiles are known, and so is the pair of their zones; nobody went from the one to the other."""
    matrix, release = made()
    finder = GroupFinder(matrix, release)
    points = ends_of(matrix)
    other = points._replace(origin=points.origin[::-1].copy())
    finder.of(other)
    with pytest.raises(InputError, match="a pair of tiles that the matrix does not have"):
        finder.check(lambda: iter([other]))


def test_rows_that_stand_for_several_trips_are_not_refused() -> None:
    matrix, release = made()
    finder = GroupFinder(matrix, release)
    finder.of(ends_of(matrix))
    assert (matrix.flows.trips > 1).any()
    finder.check(lambda: iter([ends_of(matrix)]))
