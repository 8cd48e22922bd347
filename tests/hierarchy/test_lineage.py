"""The lineage of tiles against a walk up the tree, tile by tile."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from worlds.matrices import hierarchy_of, trees


@given(tree=trees())
def test_the_zones_above_a_tile_are_those_of_a_walk_to_the_root(tree: Any) -> None:
    made = hierarchy_of(tree)
    found = made.lineage.ancestors
    for tile in range(made.n_tiles):
        above = [tile]
        while made.parent[above[0]] >= 0:
            above.insert(0, int(made.parent[above[0]]))
        assert found[:, tile].tolist() == above + [-1] * (len(found) - len(above))


@given(tree=trees())
def test_in_the_order_of_the_tree_the_tiles_of_every_zone_stand_together(tree: Any) -> None:
    made = hierarchy_of(tree)
    lineage = made.lineage
    assert lineage.leaves[lineage.rank].tolist() == list(range(made.n_tiles))
    for zone in range(len(made)):
        places = sorted(lineage.rank[made.members(zone)].tolist())
        assert places == list(range(places[0], places[-1] + 1))
        assert lineage.behind[zone] == places[-1] + 1
    assert (lineage.by_rank[:, lineage.rank] == lineage.ancestors).all()
