"""Products found part by part are those of one search: the same ones, in the same order, to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tripcloak.flows.methods.losses import Loss, find_loss
from tripcloak.flows.methods.method import all_in_one
from tripcloak.flows.methods.parted_products import Cells, Shares, depths_of, find_in_parts, join_cells
from tripcloak.flows.methods.products import Axis, Descent, ProductSpace, SafeProducts, find_products
from tripcloak.flows.model import FlowsInBlocks, ODMatrix
from tripcloak.promises import AllOf, KAnonymity, LDiversity, Promise
from worlds.cuts import Place, Request, placed, requests
from worlds.depth import size
from worlds.matrices import Case, cases, hierarchy_of

PLAIN = (
    KAnonymity(k=2, unit="trips"),
    KAnonymity(k=3, unit="travellers"),
    AllOf(promises=(KAnonymity(k=2, unit="travellers"), KAnonymity(k=4, unit="trips"))),
)
TILES = find_loss("tiles")


def in_parts(matrix: ODMatrix, parts: FlowsInBlocks, promise: Promise, loss: Loss, **how: Any) -> Any:
    """Return what is found in parts between the matrix's own axes."""
    space = ProductSpace(tuple(Axis(tree, codes) for tree, codes in matrix.axes), loss)
    return find_in_parts(matrix, parts, promise, space, **how)


def same(one: SafeProducts, other: SafeProducts) -> None:
    """Hold every array of two sets of products against each other, to the bit."""
    # Trips are whole numbers already, and are not copied.
    assert np.array_equal(one.flow_volume, other.flow_volume)
    for name in ("zone", "volume", "loss", "up", "inner"):
        mine, yours = getattr(one, name), getattr(other, name)
        assert mine.dtype == yours.dtype, name
        assert np.array_equal(mine, yours), name
    assert one.complete
    assert np.array_equal(one.numbering.keys, other.numbering.keys)


@settings(max_examples=size(2, 4) * settings().max_examples)
@given(request=requests(max_zones=12, max_rows=40), each=st.integers(1, 30), asked=st.sampled_from(PLAIN))
def test_parts_of_any_size_give_the_products_of_one_search(
    request: Request, each: int, asked: Promise
) -> None:
    matrix = request.case.matrix()
    assume(set(asked.thresholds) <= set(matrix.units))
    promise = asked.resolve(matrix)
    assume(all_in_one(matrix, promise))
    found = in_parts(matrix, FlowsInBlocks(matrix.flows, each), promise, TILES)
    assert found is not None
    assert np.shares_memory(found.flow_volume, matrix.flows.trips)
    same(found, find_products(matrix, promise, TILES))


@given(request=requests(max_zones=12, max_rows=40), each=st.integers(1, 30))
def test_every_flow_is_in_one_part_or_its_tile_is_heavy(request: Request, each: int) -> None:
    matrix = request.case.matrix()
    tree, tile = matrix.axes[0]
    sizes = np.bincount(tile, minlength=tree.n_tiles)
    shares, held = Shares.of(tree, sizes, each), tree.sum_below(sizes)
    assert np.array_equal(shares.part < 0, held[: tree.n_tiles] > each)
    assert (np.bincount(shares.part[tile][shares.part[tile] >= 0], minlength=1) < 2 * each).all()
    for zone in np.flatnonzero(~shares.heavy):
        below = np.flatnonzero((tree.lineage.ancestors == zone).any(axis=0))
        assert len(np.unique(shares.part[below])) == 1, "a light zone is never parted"
    depth = depths_of(tree)
    for row, lowest in enumerate(shares.lowest):
        above = [z for z in tree.lineage.ancestors[:, row] if z >= 0 and held[z] > each]
        assert lowest == (max(above, key=lambda zone: depth[zone]) if above else -1)


def test_what_numbers_of_people_do_not_decide_is_left_to_one_search() -> None:
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    matrix = ODMatrix.from_trips(
        tree, tree, np.array([0, 1]), np.array([1, 0]), weight=np.array([3.0, 4.0]), person=np.array([0, 1])
    )
    for asked in (KAnonymity(k=5, unit="population"), AllOf(promises=(PLAIN[0], LDiversity(l=2)))):
        assert in_parts(matrix, FlowsInBlocks(matrix.flows, 1), asked.resolve(matrix), TILES) is None
    far = {name: Place(place, place, 1.0) for place, name in enumerate(("a", "b", "all"))}
    there = replace(matrix, origins=placed(tree, far), destinations=placed(tree, far))
    parts = FlowsInBlocks(matrix.flows, 1)
    assert in_parts(there, parts, PLAIN[0], find_loss("metres")) is None


def test_a_search_whose_time_is_up_finds_nothing_in_parts() -> None:
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([1, 1, 0]))
    assert in_parts(matrix, FlowsInBlocks(matrix.flows, 1), PLAIN[0], TILES, stop=lambda: True) is None


@pytest.mark.parametrize("far", [0, 2**31, 2**62, -(2**62)])
def test_people_of_cells_are_told_apart_whatever_numbers_they_have(far: int) -> None:
    people = np.array([5, 6, 6, 5, 7, 8]) + far
    cells = Cells(np.array([3, 9]), np.array([4, 2]), np.array([0, 0, 0, 1, 1, 1]), people)
    joined = join_cells([cells, cells], KAnonymity(k=3, unit="travellers"))
    assert (joined.pair.tolist(), joined.trips.tolist()) == ([3, 9], [8, 4])
    assert joined.cell.tolist() == [0, 0, 1, 1, 1]
    assert (joined.person - far).tolist() == [5, 6, 5, 7, 8]


@given(case=cases(max_rows=30), each=st.sampled_from([1, 4, 30]))
def test_a_zone_alone_below_another_has_the_products_of_that_one(case: Case, each: int) -> None:
    drawn = case.matrix()
    names = {"top": None, "all": "top", "a": "all", "b": "all", "c": "b", "d": "b"}
    tree = hierarchy_of(names)
    ends = (drawn.flows.origin % 3).astype(np.int32), (drawn.flows.destination % 3).astype(np.int32)
    matrix = ODMatrix.from_trips(tree, tree, *ends)
    assume(all_in_one(matrix, PLAIN[0]))
    quick = find_products(matrix, PLAIN[0], TILES)
    parted = in_parts(matrix, FlowsInBlocks(matrix.flows, each), PLAIN[0], TILES)
    with patch.object(Descent, "_as_above", return_value=False):
        plainly = find_products(matrix, PLAIN[0], TILES)
    same(quick, plainly)
    same(parted, plainly)
