"""Hierarchy and Cut against plain trees: lifting, covering, counting, cutting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import kernels as oracle
from oracles.flows.kernels import Tree
from tripcloak.ground.errors import CutError, HierarchyError
from tripcloak.hierarchy import Cut, Hierarchy
from worlds.matrices import hierarchy_of, trees


def ids_of(tree: Hierarchy, zones: np.ndarray[tuple[int], np.dtype[np.int32]]) -> list[str]:
    return [str(tree.zones.ids[zone]) for zone in zones]


@given(plain=trees(20))
def test_zones_stand_in_the_promised_order(plain: Tree) -> None:
    tree = hierarchy_of(plain)
    names = [str(name) for name in tree.zones.ids]
    assert names == sorted(plain, key=lambda zone: (oracle.height(plain, zone), zone))
    assert names[: tree.n_tiles] == oracle.tiles(plain)
    assert plain[names[tree.root]] is None
    assert tree.zones.height.tolist() == [oracle.height(plain, zone) for zone in names]
    assert tree.zones.tiles.tolist() == [len(oracle.below(plain, zone)) for zone in names]


@given(plain=trees(20), data=st.data())
def test_the_order_of_the_table_does_not_matter(plain: Tree, data: st.DataObject) -> None:
    shuffled = dict(data.draw(st.permutations(list(plain.items()))))
    one, other = hierarchy_of(plain), hierarchy_of(shuffled)
    assert (one.zones.ids.tolist(), one.parent.tolist()) == (other.zones.ids.tolist(), other.parent.tolist())


@given(plain=trees(20), data=st.data())
def test_columns_follow_their_zones(plain: Tree, data: st.DataObject) -> None:
    names = data.draw(st.permutations(list(plain)))
    above = [-1 if plain[name] is None else names.index(plain[name] or "") for name in names]
    place = {name: float(ord(name[1]) * 100 + ord(name[2])) for name in names}
    seen = {name: name.endswith(("1", "4", "7")) for name in names}
    tree = Hierarchy.from_parents(
        names,
        above,
        lat=np.array([place[name] for name in names]),
        lon=np.array([-place[name] for name in names]),
        area_km2=np.array([2 * place[name] for name in names]),
        observed=np.array([seen[name] for name in names]),
        tiles=np.array([7 + len(oracle.below(plain, name)) for name in names]),
    )
    for row, name in enumerate(ids_of(tree, np.arange(len(tree), dtype=np.int32))):
        assert tree.zones.lat[row] == place[name] == -tree.zones.lon[row] == tree.zones.area_km2[row] / 2
        below = oracle.below(plain, name)
        assert tree.zones.tiles[row] == 7 + len(below)
        assert tree.zones.tiles_observed[row] == sum(seen[tile] for tile in below)


@given(plain=trees(20), limit=st.integers(-1, 9))
def test_lift_stops_below_the_limit(plain: Tree, limit: int) -> None:
    tree = hierarchy_of(plain)
    expected = [oracle.lift(plain, tile, max(limit, 0)) for tile in oracle.tiles(plain)]
    assert ids_of(tree, tree.lift(limit)) == expected


@given(plain=trees(20), data=st.data())
def test_highest_is_the_last_chosen_on_the_way_up(plain: Tree, data: st.DataObject) -> None:
    tree = hierarchy_of(plain)
    chosen = {str(zone): data.draw(st.booleans()) for zone in tree.zones.ids}
    expected = [
        [tile, *(zone for zone in oracle.path(plain, tile) if chosen[zone])][-1]
        for tile in oracle.tiles(plain)
    ]
    assert ids_of(tree, tree.highest(np.array(list(chosen.values())))) == expected


@given(plain=trees(20), data=st.data())
def test_covering_is_the_lowest_zone_above_all(plain: Tree, data: st.DataObject) -> None:
    tree = hierarchy_of(plain)
    some = data.draw(st.lists(st.integers(0, tree.n_tiles - 1), min_size=1))
    expected = oracle.covering(plain, [oracle.tiles(plain)[tile] for tile in some])
    assert str(tree.zones.ids[tree.covering(np.array(some))]) == expected


@given(plain=trees(20))
def test_members_and_sums_are_those_below(plain: Tree) -> None:
    tree = hierarchy_of(plain)
    worth = {tile: 3**place for place, tile in enumerate(oracle.tiles(plain))}
    sums = tree.sum_below(np.array(list(worth.values())))
    for zone, name in enumerate(ids_of(tree, np.arange(len(tree), dtype=np.int32))):
        below = oracle.below(plain, name)
        assert ids_of(tree, tree.members(zone)) == below
        assert sums[zone] == sum(worth[tile] for tile in below)


@given(plain=trees(20), limit=st.integers(0, 6))
def test_a_cut_at_a_height_covers_every_tile_once(plain: Tree, limit: int) -> None:
    tree = hierarchy_of(plain)
    cut = Cut.at_height(tree, limit)
    covered = sorted(tile for zone in cut.members for tile in tree.members(zone).tolist())
    assert covered == list(range(tree.n_tiles))
    assert cut.zone_of_tile.tolist() == tree.lift(limit).tolist()


SMALL: Tree = {"all": None, "ab": "all", "a": "ab", "b": "ab", "c": "all"}


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([], "0 tiles lie in two zones, 3 tiles lie in none"),
        ([0, 1], "0 tiles lie in two zones, 1 tile lies in none"),
        ([2, 3, 3], "2 tiles lie in two zones, 0 tiles in none"),
        ([4, 0], "1 tile lies in two zones"),
        ([2, 5], "numbered 0 to 4"),
        ([-1, 2], "numbered 0 to 4"),
    ],
)
def test_what_is_no_cut_is_refused(members: list[int], words: str) -> None:
    with pytest.raises(CutError, match=words):
        Cut(hierarchy=hierarchy_of(SMALL), members=np.array(members))


@pytest.mark.parametrize(
    ("ids", "parent", "words"),
    [
        (["a", "b"], [-1, -1], "exactly one root, found 2"),
        (["a", "b"], [1, 0], "exactly one root, found 0"),
        (["a", "b", "c"], [-1, 2, 1], "cycle: 2 zones"),
        (["a", "b"], [-1, 1], "cycle"),
        (["a", "a"], [1, -1], "occurs twice"),
        (["a", "b"], [2, -1], "one parent"),
        (["a", "b"], [-2, -1], "one parent"),
        (["a", "b"], [-1], "one parent"),
        ([], [], "at least one zone"),
    ],
)
def test_what_is_no_tree_is_refused(ids: list[str], parent: list[int], words: str) -> None:
    with pytest.raises(HierarchyError, match=words):
        Hierarchy.from_parents(ids, parent)


def test_a_single_zone_is_tile_and_root() -> None:
    tree = Hierarchy.from_parents(["only"], [-1])
    assert (tree.n_tiles, tree.root, tree.covering(np.array([0]))) == (1, 0, 0)
    assert (tree.lift(5).tolist(), tree.members(0).tolist()) == ([0], [0])
    assert Cut.at_height(tree, 0).zone_of_tile.tolist() == [0]
    assert [part.tolist() for part in tree.children] == [[0, 0], []]
