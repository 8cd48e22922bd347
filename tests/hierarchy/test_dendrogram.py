"""Dendrograms over zones."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from oracles.soundness import area_of, assert_sound
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy import OUTSIDE, DendrogramTiling, Tiling, ZoneFile


def csv_of(rows: list[str], path) -> ZoneFile:
    path.write_text("id,lat,lon\n" + "\n".join(rows) + "\n")
    return ZoneFile.read(path)


def every(zones: ZoneFile) -> np.ndarray:
    return np.arange(len(zones), dtype=np.uint64)


def square_grid(side: int, lon_0: float = 11.0, step: float = 0.01) -> ZoneFile:
    """Return zones on a square grid: nothing but ties."""
    lat, lon = np.divmod(np.arange(side * side), side)
    lon = (lon_0 + lon * step + 180) % 360 - 180
    ids = np.array([f"z{n:03}" for n in range(side * side)])
    return ZoneFile(ids, 48 + lat * step, lon)


def spread(points: np.ndarray) -> float:
    return float(((points - points.mean(axis=0)) ** 2).sum())


def test_every_merge_is_the_cheapest_by_wards_rule() -> None:
    rng = np.random.default_rng(5)
    zones = ZoneFile(np.array(list("abcdefghijkl")), rng.uniform(48, 49, 12), rng.uniform(11, 12, 12))
    tree = DendrogramTiling(zones).hierarchy(every(zones))
    assert_sound(tree)
    flat = np.column_stack([np.cos(np.radians(48.5)) * zones.lon, zones.lat])
    groups = [[n] for n in range(12)]
    for merge in range(11):
        costs = {
            (a, b): spread(flat[groups[a] + groups[b]]) - spread(flat[groups[a]]) - spread(flat[groups[b]])
            for a in range(len(groups))
            for b in range(a)
        }
        a, b = min(costs, key=costs.__getitem__)
        joined = groups[a] + groups[b]
        groups = [group for at, group in enumerate(groups) if at not in (a, b)] + [joined]
        row = int(np.flatnonzero(tree.zones.ids == f"d{merge:02}")[0])
        assert tree.members(row).tolist() == sorted(joined)


def test_the_order_of_rows_does_not_matter_even_with_ties(tmp_path) -> None:
    zones = square_grid(7)
    rows = [f"{z},{a},{b}" for z, a, b in zip(zones.ids, zones.lat, zones.lon, strict=True)]
    first = DendrogramTiling(csv_of(rows, tmp_path / "a.csv")).hierarchy(every(zones))
    np.random.default_rng(0).shuffle(rows)
    second = DendrogramTiling(csv_of(rows, tmp_path / "b.csv")).hierarchy(every(zones))
    assert_sound(first)
    assert first.zones.ids.tolist() == second.zones.ids.tolist()
    assert first.parent.tolist() == second.parent.tolist()
    np.testing.assert_array_equal(first.zones.lat, second.zones.lat)


def test_zones_that_do_not_occur_are_tiles_all_the_same() -> None:
    zones = square_grid(3)
    tiling = DendrogramTiling(zones)
    assert isinstance(tiling, Tiling)
    tree = tiling.hierarchy(np.array([1, 4], dtype=np.uint64))
    assert (tree.n_tiles, tree.zones.tiles[tree.root], tree.zones.tiles_observed[tree.root]) == (9, 9, 2)
    assert tree.complete
    keys = tiling.keys(["z008", "z000", "elsewhere"])
    assert tiling.tiles(keys, tree).tolist() == [8, 0, -1]
    assert keys[2] == OUTSIDE
    assert (
        tree.zones.ids[tiling.tiles(tiling.encode(zones.lat, zones.lon), tree)].tolist() == zones.ids.tolist()
    )


def test_the_antimeridian_is_no_border() -> None:
    there, elsewhere = square_grid(5, lon_0=179.98), square_grid(5, lon_0=20.0)
    assert there.lon.min() < 0 < there.lon.max()
    tree, same = (DendrogramTiling(zones).hierarchy(every(zones)) for zones in (there, elsewhere))
    assert_sound(tree)
    middle = tree.zones.lon[tree.root]
    assert abs(middle) == pytest.approx(180, abs=0.01)
    outline = area_of(tree.zones.outline(tree.root))
    assert outline.geom_type == "MultiPolygon"
    assert outline.area == pytest.approx(area_of(same.zones.outline(same.root)).area, rel=1e-6)


def test_inner_zones_have_areas_points_and_outlines_of_their_members() -> None:
    boxes = [shapely.box(11 + n * 0.1, 48, 11.1 + n * 0.1, 48.1) for n in range(4)]
    ids = np.array(["a", "b", "c", "d"])
    zones = ZoneFile(ids, np.full(4, 48.05), 11.05 + np.arange(4) * 0.1, {}, [box.wkb for box in boxes])
    tree = DendrogramTiling(zones).hierarchy(every(zones))
    assert_sound(tree)
    for row in range(len(tree)):
        members = tree.members(row)
        assert tree.zones.area_km2[row] == pytest.approx(zones.area_km2[members].sum())
        assert tree.zones.lon[row] == pytest.approx(zones.lon[members].mean())
        assert area_of(tree.zones.outline(row)).equals(shapely.union_all([boxes[m] for m in members]))


def test_one_zone_and_zones_at_one_place() -> None:
    one = ZoneFile(np.array(["only"]), np.array([1.0]), np.array([2.0]))
    tree = DendrogramTiling(one).hierarchy(every(one))
    assert_sound(tree)
    assert tree.zones.ids.tolist() == ["only"]
    stacked = ZoneFile(np.array(["a", "b", "c"]), np.ones(3), np.ones(3))
    tiling = DendrogramTiling(stacked)
    assert_sound(tiling.hierarchy(every(stacked)))
    assert tiling.encode(np.array([1.0]), np.array([1.1])).tolist() == [0]


def test_ids_like_those_of_merges_are_kept_apart() -> None:
    zones = ZoneFile(np.array(["d0", "d1", "d2"]), np.array([0.0, 0.1, 3.0]), np.zeros(3))
    tree = DendrogramTiling(zones).hierarchy(every(zones))
    assert_sound(tree)
    assert tree.zones.ids.tolist() == ["d0", "d1", "d2", "d0*", "d1*"]


def test_keys_beyond_the_file_are_refused() -> None:
    zones = square_grid(2)
    with pytest.raises(HierarchyError, match="0 to 3"):
        DendrogramTiling(zones).hierarchy(np.array([4], dtype=np.uint64))
