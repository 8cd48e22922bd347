"""Glove-sk: its cut against every cut of scipy's dendrogram, ties, and a missing package."""

from __future__ import annotations

import sys
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from tripcloak.flows.methods import GloveSk
from tripcloak.flows.methods.boxed import boxed
from tripcloak.flows.methods.glove import flow_points
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity
from worlds.matrices import limits, seeds


def diced_matrix(dice: Random, n: int) -> ODMatrix:
    """Return flows that have no tile in common, so that hardly two of them are as far apart as two others."""
    trips = [row for row in range(n) for _ in range(dice.choice([1, 1, 2, 5]))]
    person = np.array([dice.randrange(12) for _ in trips])
    return ODMatrix.from_trips(
        diced_tree(dice, n), diced_tree(dice, n), *[np.array(trips)] * 2, person=person
    )


def diced_tree(dice: Random, tiles: int) -> Hierarchy:
    """Return tiles anywhere in a city."""
    ids = [*(f"t{i:02d}" for i in range(tiles)), "z"]
    lat, lon = (corner + 0.4 * np.array([dice.random() for _ in ids]) for corner in (45, 9))
    return Hierarchy.from_parents(ids, [tiles] * tiles + [-1], lat=lat, lon=lon)


def lowest_cut(matrix: ODMatrix, k: int, unit: str, limit: float) -> set[frozenset[int]] | None:
    """Return the safe clusters of the lowest cut that keeps the limit, trying one height after the other."""
    points = flow_points(matrix)
    assert matrix.flows.travellers is not None
    offsets, people = matrix.flows.travellers
    who = [set(people[a:b].tolist()) for a, b in pairwise(offsets)]
    trips = matrix.flows.trips.tolist()
    tree = linkage(points, method="complete", metric="cityblock")
    for height in (-1.0, *tree[:, 2]):
        label = fcluster(tree, height, criterion="distance")
        clusters = [frozenset(np.flatnonzero(label == one).tolist()) for one in np.unique(label)]
        held = {
            cluster: sum(trips[row] for row in cluster)
            if unit == "trips"
            else len(set[int]().union(*(who[row] for row in cluster)))
            for cluster in clusters
        }
        unsafe = sum(trips[row] for cluster in clusters for row in cluster if held[cluster] < k)
        if unsafe <= limit * sum(trips):
            return {cluster for cluster in clusters if held[cluster] >= k}
    return None


def with_one_box(matrix: ODMatrix, clusters: set[frozenset[int]]) -> set[frozenset[int]]:
    """Return clusters, those as one whose boxes on the grid are the same: they are one released flow."""
    label = np.full(len(matrix.flows.trips), -1)
    for number, cluster in enumerate(clusters):
        label[list(cluster)] = number
    solution = boxed(matrix, label)
    held: dict[tuple[int, int], frozenset[int]] = {}
    for cluster in clusters:
        row = min(cluster)
        pair = int(solution.origin_zone[row]), int(solution.destination_zone[row])
        held[pair] = held.get(pair, frozenset()) | cluster
    return set(held.values())


@given(
    dice=seeds,
    n=st.integers(2, 40),
    k=st.integers(2, 6),
    unit=st.sampled_from(["trips", "travellers"]),
    limit=limits,
    neighbours=st.sampled_from([100, None]),
)
def test_the_cut_is_the_lowest_that_keeps_the_limit(
    dice: Random, n: int, k: int, unit: str, limit: float, neighbours: int | None
) -> None:
    matrix = diced_matrix(dice, n)
    distances = pdist(flow_points(matrix), "cityblock")
    # Among ties a dendrogram may be any of several. A hundred neighbours are all the flows there are.
    assume(len(np.unique(distances)) == len(distances))
    expected = lowest_cut(matrix, k, unit, limit)
    assume(expected is not None)
    assert expected is not None
    promise = KAnonymity(k=k, unit=unit)
    method = GloveSk(promise=promise, suppression_limit=limit, neighbours=neighbours)
    release = method.anonymise(matrix)
    groups = {
        frozenset(np.flatnonzero(release.group_of_flow == group).tolist())
        for group in range(release.n_groups)
    }
    assert groups == with_one_box(matrix, expected)


def row_of_four() -> ODMatrix:
    """Return four flows of one trip each, a step apart."""
    at = {"lat": np.zeros(5), "lon": np.array([0.0, 0.01, 0.02, 0.03, 0.0])}
    tree = Hierarchy.from_parents(["a", "b", "c", "d", "z"], [4, 4, 4, 4, -1], **at)
    return ODMatrix.from_trips(tree, tree, np.arange(4), np.zeros(4, dtype=int))


@pytest.mark.parametrize("neighbours", [100, None])
def test_all_merges_of_one_height_are_made(neighbours: int | None) -> None:
    """One of two merges at the same height would be enough for the limit, but which?"""
    method = GloveSk(promise=KAnonymity(k=2), suppression_limit=0.5, neighbours=neighbours)
    release = method.anonymise(row_of_four())
    assert release.trips.tolist() == [2, 2]
    assert not release.suppressed.any()


def test_a_graph_in_pieces_is_joined_in_silence(recwarn: pytest.WarningsRecorder) -> None:
    at = {"lat": np.zeros(5), "lon": np.array([0.0, 0.01, 5.0, 5.01, 0.0])}
    tree = Hierarchy.from_parents(["a", "b", "c", "d", "z"], [4, 4, 4, 4, -1], **at)
    matrix = ODMatrix.from_trips(tree, tree, np.arange(4), np.zeros(4, dtype=int))
    method = GloveSk(promise=KAnonymity(k=3), suppression_limit=0, neighbours=1)
    assert method.anonymise(matrix).trips.tolist() == [4]
    assert not recwarn.list


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(InputError, match=r"pip install 'tripcloak\[sklearn\]'"):
        GloveSk(promise=KAnonymity(k=2)).anonymise(row_of_four())
