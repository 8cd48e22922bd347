"""PlaceCounts: every zone counts the different ones below it, each once."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import Tree, below, tiles
from tripcloak.flows.model import ODMatrix, PlaceCounts, count_places
from tripcloak.ground.errors import InputError
from worlds.matrices import hierarchy_of, seeds, trees


@given(tree=trees(), dice=seeds, sightings=st.integers(0, 60), places=st.integers(1, 12))
def test_every_zone_counts_each_place_below_it_once(
    tree: Tree, dice: Random, sightings: int, places: int
) -> None:
    leaves = tiles(tree)
    seen = [(dice.choice(leaves), dice.randrange(places)) for _ in range(sightings)]
    hierarchy = hierarchy_of(tree)
    tile = np.array([leaves.index(name) for name, _ in seen], dtype=np.int32)
    found = count_places(hierarchy, tile, np.array([place for _, place in seen], dtype=np.int64))
    expected = [
        len({place for name, place in seen if name in below(tree, zone)})
        for zone in hierarchy.zones.ids.tolist()
    ]
    assert found.tolist() == expected


def test_a_matrix_tells_its_places_or_says_which_columns_it_needs() -> None:
    hierarchy = hierarchy_of({"all": None, "a": "all", "b": "all"})
    matrix = ODMatrix.from_trips(hierarchy, hierarchy, np.array([0, 1]), np.array([1, 0]))
    with pytest.raises(InputError, match=r"origin_place=\.\.\. and destination_place="):
        matrix.covers("places")
    counted = count_places(hierarchy, np.array([0, 1]), np.array([3, 4]))
    told = ODMatrix(
        origins=hierarchy, destinations=hierarchy, flows=matrix.flows, places=PlaceCounts(counted, counted)
    )
    assert [side.tolist() for side in told.covers("places")] == [[1, 1, 2]] * 2
