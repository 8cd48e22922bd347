"""The array tree: what from_parents accepts and refuses, and what can be asked of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.soundness import assert_sound
from tripcloak.ground.errors import CutError, HierarchyError
from tripcloak.hierarchy import Cut, Hierarchy


@st.composite
def parent_lists(draw: st.DrawFn) -> list[int]:
    """Make any tree: every zone but the last hangs below a later one; then the rows are shuffled."""
    n = draw(st.integers(1, 25))
    up = [draw(st.integers(row + 1, n - 1)) for row in range(n - 1)] + [-1]
    place = draw(st.permutations(range(n)))
    shuffled = [0] * n
    for row, parent in enumerate(up):
        shuffled[place[row]] = place[parent] if parent >= 0 else -1
    return shuffled


@given(parent_lists(), st.randoms())
def test_any_tree_is_sound_and_keeps_its_parents(parent: list[int], random) -> None:
    ids = [f"z{random.random():.12f}-{row}" for row in range(len(parent))]
    tree = Hierarchy.from_parents(ids, parent)
    assert_sound(tree, places=False)
    above = {ids[row]: None if up < 0 else ids[up] for row, up in enumerate(parent)}
    found = {
        str(tree.zones.ids[row]): None if up < 0 else str(tree.zones.ids[up])
        for row, up in enumerate(tree.parent)
    }
    assert found == above


@given(parent_lists())
def test_members_children_and_sums_agree(parent: list[int]) -> None:
    tree = Hierarchy.from_parents([f"z{row:02}" for row in range(len(parent))], parent)
    below = {row: {row} if row < tree.n_tiles else set() for row in range(len(tree))}
    for row in range(len(tree) - 1):
        below[int(tree.parent[row])] |= below[row]
    offsets, members = tree.children
    value = np.arange(tree.n_tiles) + 1.5
    for row in range(len(tree)):
        assert tree.members(row).tolist() == sorted(below[row])
        assert all(tree.parent[child] == row for child in members[offsets[row] : offsets[row + 1]])
        assert tree.sum_below(value)[row] == pytest.approx(sum(tile + 1.5 for tile in below[row]))
        covering = tree.covering(np.array(sorted(below[row])))
        assert below[covering] == below[row]


@given(parent_lists(), st.data())
def test_cuts_are_exactly_the_sets_that_cover_every_tile_once(parent: list[int], data) -> None:
    tree = Hierarchy.from_parents([f"z{row:02}" for row in range(len(parent))], parent)
    chosen = data.draw(st.lists(st.integers(0, len(tree) - 1), max_size=6))
    times = np.zeros(tree.n_tiles, dtype=int)
    for zone in chosen:
        times[tree.members(zone)] += 1
    if np.all(times == 1):
        cut = Cut(hierarchy=tree, members=np.array(chosen))
        assert all(tile in tree.members(zone) for tile, zone in enumerate(cut.zone_of_tile))
    else:
        with pytest.raises(CutError, match="not a cut"):
            Cut(hierarchy=tree, members=np.array(chosen))


@pytest.mark.parametrize(
    ("ids", "parent", "words"),
    [
        ([], [], "at least one zone"),
        (["a", "a", "b"], [2, 2, -1], "must differ"),
        (["a", "b"], [-1, -1], "exactly one root, found 2"),
        (["a", "b"], [1, 0], "exactly one root, found 0"),
        (["a", "b", "c"], [1, 0, -1], "cycle"),
        (["a", "b"], [7, -1], "one parent"),
        (["a", "b"], [1], "one parent"),
    ],
)
def test_what_is_no_tree_is_refused(ids: list[str], parent: list[int], words: str) -> None:
    with pytest.raises(HierarchyError, match=words):
        Hierarchy.from_parents(ids, np.array(parent, dtype=int))


def test_columns_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(HierarchyError, match="lat needs one value a zone: expected 2, found 3"):
        Hierarchy.from_parents(["a", "b"], [1, -1], lat=np.zeros(3))


@given(parent_lists(), st.data())
def test_heights_may_be_stated_and_left_out(parent: list[int], data: st.DataObject) -> None:
    ids = [f"z{row:02}" for row in range(len(parent))]
    plain = Hierarchy.from_parents(ids, parent)
    row_of = {zone: row for row, zone in enumerate(plain.zones.ids.tolist())}
    given_heights = [int(plain.zones.height[row_of[zone]]) for zone in ids]
    scale = np.cumsum([0, *data.draw(st.lists(st.integers(1, 3), min_size=26, max_size=26))])
    tree = Hierarchy.from_parents(ids, parent, height=scale[given_heights])
    assert_sound(tree, places=False, stated_heights=True)
    np.testing.assert_array_equal(tree.zones.height, scale[plain.zones.height])
    np.testing.assert_array_equal(tree.parent, plain.parent)
    for height in range(int(plain.zones.height[-1]) + 1):
        np.testing.assert_array_equal(tree.lift(int(scale[height])), plain.lift(height))


@pytest.mark.parametrize("height", [[0, 0, 0], [0, 1, 2], [1, 0, 2], [0, 0, -1], [0, 3, 3]])
def test_heights_that_do_not_grow_are_refused(height: list[int]) -> None:
    with pytest.raises(HierarchyError, match="heights must be 0 at tiles"):
        Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], height=np.array(height))


def test_stated_heights_rule_out_cycles_and_second_roots() -> None:
    with pytest.raises(HierarchyError, match="grow from child to parent"):
        Hierarchy.from_parents(["a", "b", "c"], [1, 0, -1], height=np.array([1, 1, 2]))
    with pytest.raises(HierarchyError, match="exactly one root"):
        Hierarchy.from_parents(["a", "b"], [-1, -1], height=np.array([0, 1]))
    with pytest.raises(HierarchyError, match="height needs one value a zone: expected 2, found 1"):
        Hierarchy.from_parents(["a", "b"], [1, -1], height=np.array([0]))
