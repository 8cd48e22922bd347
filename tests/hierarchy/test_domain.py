"""Domains hold every zone of a study area, whatever occurs, and agree with the trees where that does."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import h3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import Tree, below
from tripcloak.hierarchy import (
    H3BinaryTiling,
    H3Tiling,
    Hierarchy,
    QuadtreeTiling,
    shared_domains,
    steps_down,
)
from tripcloak.hierarchy.domains import FANOUT, Domain, H3Domain, QuadtreeDomain, TreeDomain
from tripcloak.hierarchy.h3.cells import PENTAGONS, base_cells, cells_to_text, text_to_cells
from worlds.matrices import hierarchy_of, trees

AREA = (40.0, -75.0, 41.0, -73.0)
pentagon = int(base_cells()[PENTAGONS[0]])
hexagon = int(base_cells()[0])


def parts(domain: Domain, zones: np.ndarray, height: int) -> list[list[int]]:
    offsets, members = domain.split(zones, height)
    return [members[a:b].tolist() for a, b in pairwise(offsets)]


def tree_of(tiling: H3Tiling | QuadtreeTiling, lat: list[float], lon: list[float]) -> Hierarchy:
    return tiling.hierarchy(np.unique(tiling.encode(np.array(lat), np.array(lon))))


@pytest.mark.parametrize("cell", [hexagon, pentagon])
@pytest.mark.parametrize("down", [0, 1, 2])
def test_cells_split_as_h3_splits_them(cell: int, down: int) -> None:
    domain = H3Domain(3, cell)
    found = parts(domain, domain.root, 3 - down)[0]
    expected = h3.cell_to_children(str(cells_to_text(domain.root)[0]), down)
    assert sorted(cells_to_text(np.array(found, dtype=np.uint64)).tolist()) == sorted(expected)
    assert domain.size(3 - down) == len(expected)


def test_the_world_splits_into_every_cell_there_is() -> None:
    domain = H3Domain(1, None)
    found = parts(domain, domain.root, 0)[0]
    children = {child for cell in h3.get_res0_cells() for child in h3.cell_to_children(cell, 1)}
    assert set(cells_to_text(np.array(found, dtype=np.uint64)).tolist()) == children
    assert (domain.size(0), domain.size(1), domain.size(2)) == (len(children), 122, 1)
    assert (domain.height, domain.study_area) == (2, "world")


def test_axes_share_the_finest_cell_that_holds_both() -> None:
    near, far = (text_to_cells([h3.latlng_to_cell(48.85, lon, 7)]) for lon in (2.3, 2.31))
    other = text_to_cells([h3.latlng_to_cell(-33.9, 151.2, 7)])
    finest = max(
        r for r in range(8) if len({h3.cell_to_parent(str(cells_to_text(c)[0]), r) for c in (near, far)}) == 1
    )
    domains = [H3Domain(9, int(cell[0])) for cell in (near, far, other)]
    assert domains[0].joined(domains[1]).height == 9 - finest
    assert domains[0].joined(domains[2]).cell is None
    assert domains[0].joined(domains[0]) == domains[0]


@pytest.mark.parametrize(
    "tiling",
    [H3Tiling(2), H3Tiling(6, h3.latlng_to_cell(40.1, -74.1, 1)), QuadtreeTiling(6, AREA)],
    ids=lambda tiling: tiling.name,
)
def test_grids_agree_with_the_trees_where_tiles_occur(tiling: H3Tiling | QuadtreeTiling) -> None:
    trees = (
        tree_of(tiling, [40.1, 40.15, 40.7], [-74.1, -74.11, -73.8]),
        tree_of(tiling, [40.2], [-74.2]),
    )
    shared = shared_domains(*trees)
    assert shared is not None
    for domain, tree in zip(shared, trees, strict=True):
        assert domain == shared[0]
        # Between the cell that holds the data and the world a tree has no zones; a domain has them all.
        for height in np.unique(tree.zones.height).tolist():
            keys = domain.lift(tree, height)
            zones, rows = domain.released(keys, tree)
            expected = tree.lift(height)
            assert zones.ids[rows].tolist() == tree.zones.ids[expected].tolist()
            for name in ("height", "tiles", "tiles_observed", "area_km2", "lat", "lon"):
                told, held = getattr(zones, name)[rows], getattr(tree.zones, name)[expected]
                assert told == pytest.approx(held, rel=1e-12), name
            assert zones.outline(rows[0])["coordinates"][0] == pytest.approx(  # type: ignore[index]
                np.array(tree.zones.outline(expected[0])["coordinates"][0])  # type: ignore[index]
            )
            held_by_root = set(parts(domain, domain.root, height)[0])
            assert set(keys.tolist()) <= held_by_root
            assert len(held_by_root) == domain.size(height)


def test_a_zone_above_the_trees_own_root_holds_all_its_tiles() -> None:
    tiling = H3Tiling(8)
    near, far = tree_of(tiling, [40.1], [-74.1]), tree_of(tiling, [40.9], [-73.1])
    shared = shared_domains(near, far)
    assert shared is not None
    zones, rows = shared[0].released(shared[0].lift(near, shared[0].height), near)
    assert zones.ids[rows].tolist() == [shared[0].study_area]
    assert zones.tiles_observed.tolist() == [1]


def test_the_world_is_a_zone_like_others() -> None:
    tree = tree_of(H3Tiling(2), [40.1, -33.9], [-74.1, 151.2])
    shared = shared_domains(tree, tree)
    assert shared is not None
    zones, rows = shared[0].released(shared[0].lift(tree, 3), tree)
    assert zones.ids[rows].tolist() == ["world", "world"]
    assert (zones.height.tolist(), zones.tiles.tolist(), zones.tiles_observed.tolist()) == ([3], [5882], [2])


def test_a_quadtree_over_the_antimeridian_keeps_its_area() -> None:
    area = (-20.0, 177.0, -15.0, -178.0)
    tree = tree_of(QuadtreeTiling(3, area), [-18.0, -16.0], [178.0, -179.0])
    shared = shared_domains(tree, tree)
    assert shared is not None
    assert isinstance(shared[0], QuadtreeDomain)
    assert shared[0].tiling.area == pytest.approx(area)


def test_trees_that_do_not_tell_what_there_could_be_have_no_domain() -> None:
    plain = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    union = tree_of(H3BinaryTiling(8), [40.1, 40.15], [-74.1, -74.11])
    assert shared_domains(plain, plain) is None
    assert shared_domains(union, union) is None
    around_the_data = tree_of(H3Tiling(8, 2), [40.1], [-74.1])
    assert shared_domains(around_the_data, around_the_data) is None
    assert shared_domains(plain, replace(plain, complete=True)) is None


@given(drawn=trees(), data=st.data())
def test_a_tree_splits_into_its_highest_zones_below_a_height(drawn: Tree, data: st.DataObject) -> None:
    tree = replace(hierarchy_of(drawn), complete=True)
    domain = TreeDomain(tree)
    top = domain.height
    high = data.draw(st.integers(0, top))
    low = data.draw(st.integers(0, high))
    zones = np.unique(tree.lift(high)).astype(np.uint64)
    found = parts(domain, zones, low)
    cut = set(np.unique(tree.lift(low)).tolist())
    assert sorted(key for part in found for key in part) == sorted(cut)
    assert domain.size(low) == len(cut)
    ids = tree.zones.ids
    for zone, members in zip(zones.tolist(), found, strict=True):
        covered = {tile for member in members for tile in below(drawn, str(ids[member]))}
        assert covered == set(below(drawn, str(ids[zone])))


@given(drawn=trees(), data=st.data())
def test_steps_go_down_height_by_height_or_split_few_zones_at_once(drawn: Tree, data: st.DataObject) -> None:
    tree = replace(hierarchy_of(drawn), complete=True)
    domains = TreeDomain(tree), TreeDomain(tree)
    last = data.draw(st.integers(0, domains[0].height))
    steps = steps_down(domains, last)
    assert (steps[0], steps[-1]) == (domains[0].height, last)
    for high, low in pairwise(steps):
        assert low < high
        assert low == high - 1 or domains[0].size(low) <= FANOUT * domains[0].size(high)
        assert low == last or domains[0].size(low - 1) > FANOUT * domains[0].size(high)


def test_hexagons_are_split_one_resolution_at_a_time() -> None:
    domain = H3Domain(9, int(text_to_cells(["851fb467fffffff"])[0]))
    assert steps_down((domain, domain), 1) == [4, 3, 2, 1]
