"""What must hold of every hierarchy, whoever built it."""

from __future__ import annotations

import numpy as np
import shapely

from tripcloak.hierarchy import Cut, Hierarchy


def assert_sound(
    tree: Hierarchy, *, grid: bool = False, places: bool = True, stated_heights: bool = False
) -> None:
    """Check the promises of a tree: order, heights, tile numbers, places and cuts.

    A grid counts tiles that never occur, so its zones may have more tiles than the tree holds below them.
    A tree that states its heights may leave some out; otherwise a zone is one higher than its highest child.
    """
    zones, parent, rows = tree.zones, tree.parent, np.arange(len(tree))
    assert np.count_nonzero(parent == -1) == 1
    assert parent[tree.root] == -1
    assert np.all(parent[:-1] > rows[:-1])
    expected = np.zeros(len(tree), dtype=int)
    below = np.zeros(len(tree), dtype=int)
    observed = np.where(zones.height == 0, zones.tiles_observed, 0)
    held = (zones.height == 0).astype(int)
    for row in rows[:-1]:
        up = parent[row]
        expected[up] = max(expected[up], expected[row] + 1)
        below[up] += zones.tiles[row]
        observed[up] += observed[row]
        held[up] += held[row]
    if stated_heights:
        assert np.all(zones.height[parent[:-1]] > zones.height[:-1])
        np.testing.assert_array_equal(zones.height > 0, expected > 0)
    else:
        np.testing.assert_array_equal(zones.height, expected)
    np.testing.assert_array_equal(zones.tiles_observed, observed)
    inner = zones.height > 0
    assert np.all(zones.tiles[~inner] == 1)
    assert np.all(zones.tiles[inner] >= below[inner]) if grid else np.all(zones.tiles[inner] == below[inner])
    assert len(set(zones.ids.tolist())) == len(tree)
    keys = list(zip(zones.height.tolist(), zones.ids.tolist(), strict=True))
    assert keys == sorted(keys)
    for height in range(int(zones.height[-1]) + 1):
        assert len(Cut.at_height(tree, height).zone_of_tile) == tree.n_tiles
    if places:
        assert np.all(np.abs(zones.lat) <= 90)
        assert np.all(np.abs(zones.lon) <= 180)


def area_of(outline: dict) -> shapely.Geometry:
    """Return an outline as a shapely area after checking that RFC 7946 would have it so."""
    shape = shapely.geometry.shape(outline)
    assert shape.is_valid, shapely.is_valid_reason(shape)
    west, south, east, north = shape.bounds
    assert -180 <= west <= east <= 180
    assert -90 <= south <= north <= 90
    for part in shapely.get_parts(shape):
        assert part.exterior.is_ccw
    return shape
