"""E, D, CPC and the order of the largest flows, against a look at every cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import measures as oracle
from tripcloak.flows.measures import (
    cpc,
    cpc_of_shares,
    distribution_loss,
    measure,
    reconstruction_loss,
    top_flow_agreement,
)
from tripcloak.flows.measures._kernels import next_released, sum_of_covering
from tripcloak.flows.measures.comparison import ReleaseComparison
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity, Volume
from worlds.releases import SHAPES, Drawn, drawn_releases, one_group

VOLUMES = st.sampled_from(["trips", "population"])
MEASURES = {
    reconstruction_loss: oracle.reconstruction_loss,
    distribution_loss: oracle.distribution_loss,
    cpc: oracle.cpc,
    cpc_of_shares: oracle.cpc_of_shares,
}


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data(), volume=VOLUMES)
def test_fidelity_equals_a_look_at_every_cell(shape: str, data: st.DataObject, volume: Volume) -> None:
    drawn = data.draw(drawn_releases((shape,)))
    world = drawn.world(volume)
    for function, twin in MEASURES.items():
        found, expected = function(drawn.matrix, drawn.release, volume=volume), twin(world)
        assert (found is None) == (expected is None)
        assert found is None or found == pytest.approx(expected, abs=1e-12)


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_every_flow_gets_the_share_of_the_groups_that_cover_it(drawn: Drawn, volume: Volume) -> None:
    rebuilt = drawn.world(volume).rebuilt()
    found = ReleaseComparison.of(drawn.matrix, drawn.release, volume).reconstructed
    assert found == pytest.approx([float(rebuilt.get(cell, 0)) for cell in drawn.cells], rel=1e-12)


@st.composite
def groups_over_trees(draw: st.DrawFn) -> tuple[list, list, list]:
    """Return flows, the parents of three small trees, and groups of their zones with shares; some twice."""
    parents, sizes = [], []
    for _ in range(3):
        n = draw(st.integers(1, 7))
        parents.append([draw(st.integers(i + 1, n - 1)) for i in range(n - 1)] + [-1])
        sizes.append(n)
    zones = st.tuples(*(st.integers(0, n - 1) for n in sizes))
    flows = draw(st.lists(zones, min_size=1, max_size=6))
    return flows, parents, draw(st.lists(st.tuples(zones, st.integers(1, 8).map(float)), max_size=9))


@given(drawn=groups_over_trees())
def test_shares_of_covering_groups_are_added_up(drawn: tuple[list, list, list]) -> None:
    flows, parents, groups = drawn
    groups.sort()
    used = [{zones[axis] for zones, _ in groups} for axis in range(3)]
    above = tuple(
        np.array(oracle.next_released(parent, [zone in some for zone in range(len(parent))]))
        for parent, some in zip(parents, used, strict=True)
    )
    numbers = np.bincount([zones[0] for zones, _ in groups], minlength=len(parents[0])) if groups else []
    found = sum_of_covering(
        tuple(np.array(column, np.int32) for column in zip(*flows, strict=True)),
        above,
        np.append(0, np.cumsum(numbers)).astype(np.int64) if groups else np.zeros(len(parents[0]) + 1, int),
        np.array([d * len(parents[2]) + t for (_, d, t), _ in groups], np.int64),
        np.array([share for _, share in groups]),
    )
    assert found.tolist() == oracle.sum_of_covering(flows, parents, groups)


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_fidelity_stays_in_its_range(drawn: Drawn, volume: Volume) -> None:
    for function, most in ((reconstruction_loss, 2), (distribution_loss, 2), (cpc, 1), (cpc_of_shares, 1)):
        found = function(drawn.matrix, drawn.release, volume=volume)
        assert found is None or 0 <= found <= most * (1 + 1e-12)


@given(drawn=drawn_releases(suppress=False), volume=VOLUMES)
def test_with_nothing_suppressed_cpc_is_one_minus_half_the_loss(drawn: Drawn, volume: Volume) -> None:
    loss = reconstruction_loss(drawn.matrix, drawn.release, volume=volume)
    if loss is not None:
        assert cpc(drawn.matrix, drawn.release, volume=volume) == pytest.approx(1 - loss / 2, abs=1e-12)
        assert distribution_loss(drawn.matrix, drawn.release, volume=volume) == pytest.approx(loss, abs=1e-12)


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_shares_in_common_are_one_minus_the_total_variation(drawn: Drawn, volume: Volume) -> None:
    loss = distribution_loss(drawn.matrix, drawn.release, volume=volume)
    found = cpc_of_shares(drawn.matrix, drawn.release, volume=volume)
    assert found == (None if loss is None else pytest.approx(1 - loss / 2, abs=1e-12))


@given(drawn=drawn_releases(suppress=False), volume=VOLUMES)
def test_releasing_every_flow_as_it_is_loses_nothing(drawn: Drawn, volume: Volume) -> None:
    same = replace(drawn, zones={cell: cell for cell in drawn.cells})
    if sum(same.volume(volume).values()):
        assert reconstruction_loss(same.matrix, same.release, volume=volume) == 0
        assert distribution_loss(same.matrix, same.release, volume=volume) == 0
        assert cpc(same.matrix, same.release, volume=volume) == 1


@given(drawn=drawn_releases(("cuts",)), volume=VOLUMES)
def test_what_the_release_says_of_itself_changes_no_measure(drawn: Drawn, volume: Volume) -> None:
    generic = replace(drawn.release, homogeneous=False)
    assert measure(drawn.matrix, drawn.release, volume) == measure(drawn.matrix, generic, volume)


@given(drawn=drawn_releases(), data=st.data())
def test_the_order_of_released_groups_does_not_matter(drawn: Drawn, data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(drawn.release.n_groups))))
    found = ReleaseComparison.of(drawn.matrix, shuffled(drawn.release, order), None).reconstructed
    assert found == pytest.approx(
        ReleaseComparison.of(drawn.matrix, drawn.release, None).reconstructed, rel=1e-12
    )


def test_a_suppressed_flow_inside_a_group_gets_the_groups_share() -> None:
    tree = Hierarchy.from_parents(
        ["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1], tiles=np.array([1, 1, 1, 4, 9])
    )
    trips = np.array([8, 3, 5])
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2]), np.array([2, 2, 2]), trips=trips)
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=2, unit="trips"),
        suppression_limit=0.6,
        origin_zone=np.array([3, 3, 2], dtype=np.int32),
        destination_zone=np.array([2, 2, 2], dtype=np.int32),
        suppressed=np.array([False, True, True]),
        homogeneous=True,
    )
    # The 8 trips of a are spread over the 4 tiles of ab; b gets 2 of them; c lies outside.
    assert ReleaseComparison.of(matrix, release, None).reconstructed.tolist() == [2, 2, 0]
    assert reconstruction_loss(matrix, release) == (6 + 1 + 5 + 4) / 16


def test_zones_of_more_tile_pairs_than_64_bits_hold() -> None:
    tiles = np.array([1, 1, 7**15])
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1], tiles=tiles)
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([1, 0]))
    release = one_group(matrix)
    assert reconstruction_loss(matrix, release) == pytest.approx(2)
    assert measure(matrix, release)["G"] == 2.0 * 7**15


@given(drawn=drawn_releases(), volume=VOLUMES, n=st.integers(2, 10))
def test_agreement_equals_the_rank_correlation_of_the_largest_flows(
    drawn: Drawn, volume: Volume, n: int
) -> None:
    before, rebuilt = drawn.volume(volume), drawn.world(volume).rebuilt()
    # Python's sort is stable, so equals keep the order of the tiles.
    top = sorted(drawn.cells, key=lambda cell: -before[cell])[:n]
    expected = oracle.rank_correlation([before[c] for c in top], [rebuilt.get(c, 0) for c in top])
    found = top_flow_agreement(drawn.matrix, drawn.release, n, volume=volume)
    assert (found is None) == (expected is None)
    # Sums over groups that overlap are rounded, which may split equal volumes.
    if drawn.shape != "any":
        assert found is None or found == pytest.approx(expected, abs=1e-12)
        assert found is None or -1 - 1e-12 <= found <= 1 + 1e-12


def test_agreement_needs_two_flows() -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0]), np.array([1, 1]))
    release = one_group(matrix)
    assert top_flow_agreement(matrix, release) is None
    with pytest.raises(InputError, match="at least two flows; got n = 1"):
        top_flow_agreement(matrix, release, 1)


def test_a_release_that_makes_all_flows_equal_agrees_by_nothing() -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([1, 1, 1]))
    assert top_flow_agreement(matrix, one_group(matrix)) == 0


@given(data=st.data())
def test_next_released_walks_up(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    parent = [data.draw(st.integers(i + 1, n - 1)) for i in range(n - 1)] + [-1]
    released = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    found = next_released(np.array(parent, dtype=np.int32), np.array(released))
    assert found.tolist() == oracle.next_released(parent, released)


def shuffled(release: Release, order: np.ndarray) -> Release:
    """Return the same release with its groups in another order."""
    number = np.append(np.argsort(order), -1)
    assert release.population is not None
    return replace(
        release,
        group_of_flow=number[release.group_of_flow],
        group_origin=release.group_origin[order],
        group_destination=release.group_destination[order],
        trips=release.trips[order],
        population=release.population[order],
        group_time=None if release.group_time is None else release.group_time[order],
    )
