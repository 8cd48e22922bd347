"""Releases of boxes: honest ones pass, and whoever shifts, renames or mismeasures a box is caught."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.audit import audit_files, audit_folder, audit_matrix
from tripcloak.flows.audit.boxes import Box, area_km2, is_outline, read_box, right_tiles
from tripcloak.flows.methods import METHODS
from tripcloak.flows.release import Release
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import BoxZones, Corners, Hierarchy, ZoneFile, box_grid, box_zones
from tripcloak.hierarchy.box_grid import longitude_step
from tripcloak.promises import AllOf, KAnonymity, LDiversity, TCloseness
from worlds.released_flows import TEN_TRAVELLERS, TOWNS, Folder, World, raw_trips, tract_file

AREA = (48.5, 2.0, 49.6, 3.2)
RAW = raw_trips(900, people=120)


def station_file(folder: Path) -> ZoneFile:
    """Return a zones file of stations: points that have no outline and no area."""
    places = [
        (town, lat + 0.002 * step, lon - 0.003 * step)
        for town, (lat, lon) in enumerate(TOWNS)
        for step in range(4)
    ]
    features = [
        {
            "type": "Feature",
            "properties": {"zone": f"s{town}{number}"},
            "geometry": {"type": "Point", "coordinates": [round(lon, 5), round(lat, 5)]},
        }
        for number, (town, lat, lon) in enumerate(places)
    ]
    path = folder / "stations.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return ZoneFile.read(path)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    """The same trips over tiles of every kind."""
    folder = tmp_path_factory.mktemp("zones")
    return {
        "h3": World.of(RAW),
        "h3 with unions": World.of(RAW, "h3:8/binary"),
        "quadtree": World.of(RAW, "quadtree:8", area=AREA),
        "tracts": World.of(RAW, "dendrogram", zones=tract_file(folder)),
        "stations": World.of(RAW, "dendrogram", zones=station_file(folder)),
    }


def boxed(world: World, k: Any = TEN_TRAVELLERS) -> Release:
    return METHODS["mondrian"](promise=k).anonymise(world.matrix)


def broken(world: World, folder: Folder, **more: Any) -> tuple[str, ...]:
    with world.connection() as con:
        return audit_folder(folder.path, con, **{"tiling": world.tiling, **more}).broken


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["h3", "h3 with unions", "quadtree", "tracts", "stations"])
@pytest.mark.parametrize(
    "k", [TEN_TRAVELLERS, KAnonymity(k=9000, unit="population")], ids=["travellers", "population"]
)
def test_honest_boxes_pass(kind: str, k: Any, worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds[kind]
    release = boxed(world, k)
    assert release.n_groups > 5
    assert audit_matrix(world.matrix, release).broken == ()
    folder = world.publish(tmp_path / "out", release)
    assert broken(world, folder) == ()
    assert folder.facts["zone_form"] == "boxes"
    assert (folder.facts["tile_km2"]["origins"] is None) == (kind == "stations")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["glove", "glove-sk"])
@pytest.mark.parametrize("kind", ["h3", "tracts"])
def test_boxes_of_merged_flows_pass(method: str, kind: str, worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds[kind]
    release = METHODS[method](promise=TEN_TRAVELLERS, suppression_limit=0.2).anonymise(world.matrix)
    report = audit_matrix(world.matrix, release)
    assert report.broken == ()
    assert report.smallest_support["travellers"] >= 10
    assert broken(world, world.publish(tmp_path / "out", release, unparsable=3)) == ()


def test_files_alone_are_checked_where_the_tiles_are_known(worlds: dict[str, World], tmp_path: Path) -> None:
    cells = worlds["h3"].publish(tmp_path / "cells", boxed(worlds["h3"]))
    assert [finding for finding in audit_files(cells.path) if not finding.ok] == []
    squares = worlds["quadtree"].publish(tmp_path / "squares", boxed(worlds["quadtree"]))
    with pytest.raises(InputError, match="boxes"):
        audit_files(squares.path)
    record = squares.path / "private" / "run.json"
    tiling = {"spec": "quadtree:8", "zones": None, "area": list(AREA)}
    squares.edit_manifest(lambda facts: facts["hierarchy"].update(area=list(AREA)))
    record.write_text(json.dumps({**json.loads(record.read_text()), "tiling": tiling}))
    assert [finding for finding in audit_files(squares.path) if not finding.ok] == []
    assert broken(worlds["quadtree"], squares, tiling=None) == ()


# --- forged in memory, then written by an accomplice: all files agree with each other -----------------


def with_origins(release: Release, **facts: Any) -> Release:
    """Return the release with other facts about its origin boxes; arrays are those of all boxes."""
    return replace(release, origins=replace(release.origins, **facts))


def at_zero(column: Any, value: Any) -> Any:
    changed = column.copy()
    changed[0] = value
    return changed


def moved(world: World, release: Release, **sides: int) -> Release:
    """Return the release with one box moved, and everything that is said of it to match."""
    zones = release.origins
    assert isinstance(zones, BoxZones)
    corners = {
        name: at_zero(side, side[0] + sides.get(name, 0))
        for name, side in zip(Corners._fields, zones.corners, strict=True)
    }
    return replace(release, origins=redrawn(world.matrix.origins, Corners(**corners)))


def by_steps(**sides: int) -> Callable[[World, Release], Release]:
    """Return a forgery that moves sides of one box by steps of the grid."""

    def forge(world: World, release: Release) -> Release:
        zones = release.origins
        assert isinstance(zones, BoxZones)
        wide = int(longitude_step(zones.step, zones.corners.south, zones.corners.north)[0])
        steps = {"south": zones.step, "north": zones.step, "west": wide, "east": wide}
        return moved(world, release, **{side: by * steps[side] for side, by in sides.items()})

    return forge


def redrawn(tree: Hierarchy, corners: Corners, tile_km2: float | None = None) -> BoxZones:
    return box_zones(tree, np.ones(tree.n_tiles, dtype=bool), corners, tile_km2)


def larger_tiles(world: World, release: Release) -> Release:
    """Measure all boxes by tiles of twice the area, consistently."""
    zones = release.origins
    assert isinstance(zones, BoxZones)
    return replace(
        release, origins=redrawn(world.matrix.origins, zones.corners, float(f"{2 * zones.tile_km2:.3g}"))
    )


def finer_tiles(world: World, release: Release) -> Release:
    """Tell the area of a tile to more digits than follow from the grid, consistently."""
    zones = release.origins
    assert isinstance(zones, BoxZones)
    return replace(release, origins=redrawn(world.matrix.origins, zones.corners, zones.tile_km2 * (1 + 1e-9)))


def named(change: Callable[[str], str]) -> Callable[[World, Release], Release]:
    return lambda _, release: with_origins(
        release, ids=np.array([change(str(release.origins.ids[0])), *release.origins.ids[1:]])
    )


def upside_down(name: str) -> str:
    box, south, west, north, east = name.split("_")
    return "_".join((box, north, west, south, east))


def fact(name: str, change: Callable[[Any], Any]) -> Callable[[World, Release], Release]:
    def forge(_: World, release: Release) -> Release:
        column = getattr(release.origins, name)
        return with_origins(release, **{name: at_zero(column, change(column[0]))})

    return forge


def other_outlines(_: World, release: Release) -> Release:
    return with_origins(release, shape=lambda row: release.origins.outline((row + 1) % len(release.origins)))


def same_boxes_twice(_: World, release: Release) -> Release:
    return replace(
        release,
        group_origin=at_zero(release.group_origin, release.group_origin[1]),
        group_destination=at_zero(release.group_destination, release.group_destination[1]),
    )


def group_elsewhere(_: World, release: Release) -> Release:
    """Send every group to the next group's boxes."""
    return replace(
        release,
        group_origin=np.roll(release.group_origin, 1),
        group_destination=np.roll(release.group_destination, 1),
    )


BOXES = ("zone_form", "tile_km2", "box_grid_degrees")
PLACE, TABLE, DRAWN = "zones-contain-tiles", "zones-table-matches", "outlines-are-zones"
MISDRAWN = (
    *("south above north", "fewer digits", "a name of another form"),
    *("wrong area", "wrong point", "wrong outline"),
)
"""Forgeries that the names of boxes show by themselves, without the raw input."""
FORGERIES: dict[str, tuple[Callable[[World, Release], Release], set[str]]] = {
    "shifted": (by_steps(west=2, east=2), {PLACE}),
    "shrunk by a step": (by_steps(north=-1), {PLACE}),
    "off the grid by a hair": (lambda w, r: moved(w, r, north=1), {TABLE}),
    "another step": (lambda w, r: with_origins(r, step=2 * r.origins.step), {TABLE}),
    "sent to another box": (group_elsewhere, {PLACE}),
    "south above north": (named(upside_down), {PLACE, TABLE}),
    "fewer digits": (named(lambda name: name[:-1]), {PLACE, TABLE}),
    "a name of another form": (named(lambda name: name.replace("box_", "Box_")), {PLACE, TABLE}),
    "wrong tiles": (fact("tiles", lambda tiles: tiles + 1), {TABLE}),
    "wrong area": (fact("area_km2", lambda area: area * 1.001), {TABLE}),
    "wrong point": (fact("lat", lambda lat: lat + 1e-6), {TABLE}),
    "wrong height": (fact("height", lambda height: height + 1), {TABLE}),
    "wrong outline": (other_outlines, {TABLE}),
    "larger tiles": (larger_tiles, {TABLE}),
    "an area with more digits": (finer_tiles, {TABLE}),
    "homogeneous": (lambda _, release: replace(release, homogeneous=True), {"zones-disjoint"}),
    "released twice": (same_boxes_twice, {"flows-match-recount"}),
    "diverse": (
        lambda _, r: replace(r, promise=AllOf(promises=(r.promise, LDiversity(l=2)))),
        {"zones-diverse"},
    ),
    "close": (
        lambda _, r: replace(r, promise=AllOf(promises=(r.promise, TCloseness(t=0.9)))),
        {"destinations-close"},
    ),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_boxes_are_caught(forgery: str, worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["h3"]
    change, rules = FORGERIES[forgery]
    forged = change(world, boxed(world))
    quick = set(audit_matrix(world.matrix, forged).broken)
    found = set(broken(world, world.publish(tmp_path / "out", forged)))
    assert rules <= quick
    assert rules <= found
    if "twice" not in forgery and "another box" not in forgery:
        assert quick == rules
        assert found - {DRAWN} == rules
        assert (DRAWN in found) == (forgery in MISDRAWN)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["quadtree", "tracts", "stations"])
@pytest.mark.parametrize("forgery", ["off the grid by a hair", "wrong tiles", "another step"])
def test_boxes_over_other_tiles_lie_on_their_own_grid(
    forgery: str, kind: str, worlds: dict[str, World], tmp_path: Path
) -> None:
    world = worlds[kind]
    change, rules = FORGERIES[forgery]
    forged = change(world, boxed(world))
    assert set(audit_matrix(world.matrix, forged).broken) == rules
    assert set(broken(world, world.publish(tmp_path / "out", forged))) == rules


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["quadtree", "tracts", "stations"])
def test_a_box_holds_all_of_its_tiles(kind: str, worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds[kind]
    release = boxed(world)
    zones, inwards = release.origins, 0
    assert isinstance(zones, BoxZones)
    # By steps of the finest grid until the northernmost tile no longer fits.
    while PLACE not in audit_matrix(world.matrix, moved(world, release, north=-inwards * zones.step)).broken:
        inwards += 1
    forged = moved(world, release, north=-inwards * zones.step)
    assert inwards >= 1
    assert PLACE in broken(world, world.publish(tmp_path / "out", forged))


@pytest.mark.parametrize("kind", ["tracts", "stations"])
def test_an_edge_that_fits_few_zones_of_a_file_is_found(
    kind: str, worlds: dict[str, World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method that stops one tile early: all edges lie on the grid, and some fit two tiles."""
    world = worlds[kind]
    with monkeypatch.context() as patch:
        patch.setattr(box_grid, "FITS", 2)
        careless = boxed(world)
    assert set(audit_matrix(world.matrix, careless).broken) == {TABLE}
    assert set(broken(world, world.publish(tmp_path / "out", careless))) == {TABLE}


def test_zones_that_are_no_zones_are_noticed(worlds: dict[str, World]) -> None:
    world = worlds["h3"]
    release = boxed(world)
    beyond = replace(release, group_origin=at_zero(release.group_origin, len(release.origins)))
    assert PLACE in audit_matrix(world.matrix, beyond).broken
    plain = world.release()
    strangers = replace(plain, origins=replace(plain.origins, ids=plain.origins.ids[::-1].copy()))
    assert PLACE in audit_matrix(world.matrix, strangers).broken


# --- forged on disk -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "rule"),
    [
        ({"tile_km2": {"origins": 0.2, "destinations": 0.0937}}, TABLE),
        ({"tile_km2": {"origins": 0.09391, "destinations": 0.0937}}, TABLE),
        ({"tile_km2": {"origins": None, "destinations": 0.0937}}, TABLE),
        ({"box_grid_degrees": {"origins": 0.01, "destinations": 0.02}}, TABLE),
        ({"box_grid_degrees": {"origins": 0.010001, "destinations": 0.01}}, TABLE),
        ({"box_grid_degrees": {"origins": 0.01}}, "every-group-safe"),
        ({"box_grid_degrees": {"origins": 0.01, "destinations": 0}}, "every-group-safe"),
        ({"box_grid_degrees": None}, "every-group-safe"),
        ({"tile_km2": {"origins": 0.0939}}, "every-group-safe"),
        ({"tile_km2": {"origins": -1, "destinations": 0.0937}}, "every-group-safe"),
        ({"tile_km2": [0.0939, 0.0937]}, "every-group-safe"),
        ({"tile_km2": None}, "every-group-safe"),
        ({"zone_form": "circles"}, "every-group-safe"),
        ({"zone_form": None}, "every-group-safe"),
        ({"homogeneous": True}, "zones-disjoint"),
        ({"promise": AllOf(promises=(TEN_TRAVELLERS, TCloseness(t=0.9))).stated()}, "destinations-close"),
        ({"promise": AllOf(promises=(TEN_TRAVELLERS, LDiversity(l=2))).stated()}, "zones-diverse"),
    ],
)
def test_a_forged_manifest_is_caught(
    entries: dict[str, Any], rule: str, worlds: dict[str, World], tmp_path: Path
) -> None:
    world = worlds["h3"]
    folder = world.publish(tmp_path / "out", boxed(world))
    folder.edit_manifest(lambda facts: facts.update(entries))
    assert rule in broken(world, folder)


def test_boxes_that_are_not_announced_are_no_zones(worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["h3"]
    folder = world.publish(tmp_path / "out", boxed(world))
    folder.edit_manifest(lambda facts: [facts.pop(name) for name in BOXES])
    assert {PLACE, TABLE} <= set(broken(world, folder))


def test_cells_that_are_announced_as_boxes_are_no_boxes(worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["h3"]
    folder = world.publish(tmp_path / "out", world.release())
    entries = {
        "zone_form": "boxes",
        "tile_km2": {"origins": 0.0939, "destinations": 0.0937},
        "box_grid_degrees": {"origins": 0.01, "destinations": 0.01},
        "homogeneous": False,
    }
    folder.edit_manifest(lambda facts: facts.update(entries))
    assert {PLACE, TABLE} <= set(broken(world, folder))


def test_a_tile_that_is_none_is_in_no_box(worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["h3"]
    folder = world.publish(tmp_path / "out", boxed(world))
    folder.edit_groups(lambda rows: rows[0].update(origin="nowhere"))
    assert PLACE in broken(world, folder)


# --- the arithmetic -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "box_-0.000000_0.000000_0.000000_0.000000",
        "box_00.000000_0.000000_0.000000_0.000000",
        "box_0.000000_0.000000_0.000000",
        "box_0.000000_0.000000_0.000000_0.000000 ",
        "box_0.000000_0.000000_0.000000_180.000001",
        "box_-90.000001_0.000000_0.000000_0.000000",
        "box_0.000000_1.000000_0.000000_0.999999",
        "box_0.000000_0.000000_0.000000_1e0",
        "",
    ],
)
def test_odd_names_are_no_boxes(name: str) -> None:
    assert read_box(name) is None


def test_sizes_are_those_of_the_hierarchy_module() -> None:
    """Two programs, one definition: the auditor's own arithmetic gives what the boxes were made with."""
    rng = np.random.default_rng(7)
    south, west = rng.integers(-80_000_000, 80_000_000, 200), rng.integers(-179_000_000, 179_000_000, 200)
    high, wide = rng.integers(0, 2_000_000, (2, 200)) * rng.integers(0, 2, (2, 200))
    corners = Corners(south, west, south + high, np.minimum(west + wide, 180_000_000))
    at = {"lat": np.zeros(2), "lon": np.zeros(2), "area_km2": np.ones(2)}
    tree = Hierarchy.from_parents(["a", "all"], [1, -1], **at)
    zones = redrawn(tree, corners, 0.73)
    for row, name in enumerate(zones.ids.tolist()):
        box = read_box(name)
        assert box == Box(*(int(side[row]) for side in corners))
        assert area_km2(box) == pytest.approx(zones.area_km2[row], rel=1e-9)
        assert right_tiles(int(zones.tiles[row]), zones.area_km2[row], 0.73)
        assert is_outline([(lon, lat) for lon, lat in zones.outline(row)["coordinates"][0]], box)
