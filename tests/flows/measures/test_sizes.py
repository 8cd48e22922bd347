"""G, S, C_DM and C_AVG against their definitions, and numbers too large for 64 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import measures as oracle
from tripcloak.flows.measures import (
    average_group_size,
    discernability,
    generalisation,
    generalisation_in_time,
    suppressed_share,
)
from tripcloak.flows.measures.sizes import Tiles
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import Volume
from worlds.releases import Drawn, drawn_releases, one_group

VOLUMES = st.sampled_from(["trips", "population"])


@given(drawn=drawn_releases(), volume=VOLUMES, tiles=st.sampled_from(["full", "observed"]))
def test_generalisation_is_the_mean_number_of_tiles(drawn: Drawn, volume: Volume, tiles: Tiles) -> None:
    expected = oracle.generalisation(drawn.world(volume), tiles)
    found = generalisation(drawn.matrix, drawn.release, tiles, volume=volume)
    assert (found is None) == (expected is None)
    assert found is None or found == pytest.approx(expected, rel=1e-12)


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_generalisation_in_time_is_the_mean_number_of_slots(drawn: Drawn, volume: Volume) -> None:
    release, found = drawn.release, generalisation_in_time(drawn.matrix, drawn.release, volume=volume)
    if release.times is None or release.group_time is None:
        assert found is None
        return
    slots = [int(release.times.tiles[row]) for row in release.group_time]
    volumes = release.support(volume).tolist()
    if sum(volumes):
        mean = sum(n * v for n, v in zip(slots, volumes, strict=True)) / sum(volumes)
        assert found == pytest.approx(mean, rel=1e-12)


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_group_sizes_follow_their_definitions(drawn: Drawn, volume: Volume) -> None:
    world = drawn.world(volume)
    assert discernability(drawn.matrix, drawn.release, volume=volume) == oracle.discernability(world)
    assert suppressed_share(drawn.matrix, drawn.release, volume=volume) == oracle.ratio(
        world.lost, world.total
    )
    assert average_group_size(drawn.matrix, drawn.release, volume=volume) == pytest.approx(
        float(world.released / len(world.groups) / 2), rel=1e-12
    )


def test_observed_tiles_are_counted_on_each_axis_though_one_tree_serves_both() -> None:
    tree = Hierarchy.from_parents(["a", "b", "c", "all"], [3, 3, 3, -1], tiles=np.array([1, 1, 1, 50]))
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0]), np.array([1, 2]))
    release = one_group(matrix)
    assert generalisation(matrix, release, "observed") == 1 + 2
    assert generalisation(matrix, release) == 100


@pytest.mark.parametrize("trips", [10**7, 2**31 - 3, 2**31, 3 * 10**9, 2**40 + 1])
def test_discernability_of_trips_is_exact_however_large(trips: int) -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    both = np.array([trips, 3], dtype=np.int64)
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([1, 1]), trips=both)
    release = replace(one_group(matrix), group_of_flow=np.array([0, -1]), trips=np.array([trips]))
    found = discernability(matrix, release)
    assert isinstance(found, int)
    assert found == trips**2 + (trips + 3) * 3


def test_the_volume_defaults_to_what_the_release_publishes() -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    weight = np.array([1.0, 2.5])
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([1, 1]), weight=weight)
    release = one_group(matrix)
    assert discernability(matrix, release) == 4
    assert discernability(matrix, replace(release, volume="population")) == 3.5**2
    assert discernability(matrix, release, volume="population") == 3.5**2


def test_wrong_questions_are_refused_in_words() -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([1, 1]))
    release = one_group(matrix)
    other = ODMatrix.from_trips(tree, tree, np.array([0]), np.array([1]))
    with pytest.raises(InputError, match="not made from this matrix"):
        suppressed_share(other, release)
    with pytest.raises(InputError, match="no population"):
        suppressed_share(matrix, release, volume="population")
    with pytest.raises(InputError, match="one of trips, population; got 'travellers'"):
        suppressed_share(matrix, release, volume="travellers")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'full' or 'observed'; got 'some'"):
        generalisation(matrix, release, "some")  # type: ignore[arg-type]
