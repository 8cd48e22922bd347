"""Honest releases of every kind pass; their trees and lists are checked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h3
import numpy as np
import pyarrow as pa
import pytest

from tripcloak.flows.audit import audit_files, audit_folder, audit_matrix
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import Verdict
from tripcloak.promises import AllOf, KAnonymity
from worlds.released_flows import TEN_TRAVELLERS, Folder, World, raw_trips, tract_file

PEOPLE = KAnonymity(k=20_000, unit="population")
BOTH = AllOf(promises=(TEN_TRAVELLERS, PEOPLE))
AREA = (48.5, 2.0, 49.6, 3.2)


@pytest.fixture(scope="module")
def tracts(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A zones file."""
    return tract_file(tmp_path_factory.mktemp("zones"))


def audit(world: World, folder: Path, **more: Any) -> Verdict:
    given = {"tiling": world.tiling, "each_trip_is_a_person": world.people_once, **more}
    with world.connection() as con:
        return audit_folder(folder, con, **given)


def commuters(tracts: Any, seed: int = 5) -> pa.Table:
    """Return a table of people between tracts, some of which the zones file does not know."""
    rng = np.random.default_rng(seed)
    ids = np.append(tracts.ids, "elsewhere")
    pairs = np.unique(rng.integers(0, len(ids), (600, 2)), axis=0)
    trips = rng.integers(1, 9, len(pairs))
    ends = {"o_id": ids[pairs[:, 0]], "d_id": ids[pairs[:, 1]]}
    return pa.table({**ends, "trips": trips, "reason": np.zeros(len(pairs), np.int32)})


def assert_honest(world: World, folder: Path, promise: Any, limit: float = 0.1, **more: Any) -> Verdict:
    release = world.release(promise, limit)
    world.publish(folder, release)
    report = audit(world, folder, **more)
    assert [finding for finding in report.findings if not finding.ok] == []
    assert audit_matrix(world.matrix, release).broken == ()
    for unit, k in release.promise.thresholds.items():
        assert report.smallest_support[unit] == pytest.approx(release.support(unit).min(), rel=1e-12)
        assert report.smallest_support[unit] >= k
    return report


@pytest.mark.one_in(3)
@pytest.mark.parametrize("promise", [TEN_TRAVELLERS, PEOPLE, BOTH, KAnonymity(k=30, unit="trips")])
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_h3_points(promise: Any, limit: float, tmp_path: Path) -> None:
    assert_honest(World.of(raw_trips()), tmp_path / "out", promise, limit)


def test_h3_with_a_root_and_a_world(tmp_path: Path) -> None:
    raw = raw_trips()
    assert_honest(World.of(raw, "h3:8/root=2"), tmp_path / "rooted", TEN_TRAVELLERS)
    across = raw.set_column(2, "d_lat", pa.array(-np.asarray(raw["d_lat"])))
    world = World.of(across, "h3:5")
    assert_honest(world, tmp_path / "world", KAnonymity(k=190, unit="travellers"), limit=0.0)


def test_h3_without_people_and_marks(tmp_path: Path) -> None:
    raw = raw_trips().drop_columns(["person", "mark", "weight"])
    assert_honest(World.of(raw), tmp_path / "out", KAnonymity(k=10))


def test_h3_ids_are_lifted_and_others_left_out(tmp_path: Path) -> None:
    raw = raw_trips()
    ends = {
        f"{end}_id": [
            h3.latlng_to_cell(*place, 10)
            for place in zip(raw[f"{end}_lat"].to_pylist(), raw[f"{end}_lon"].to_pylist(), strict=True)
        ]
        for end in "od"
    }
    ends["o_id"][50:70] = [h3.cell_to_parent(ends["o_id"][50], 5)] * 10 + ["no cell"] * 10
    table = pa.table({**ends, **{name: raw[name] for name in ("person", "reason", "mark")}})
    assert_honest(World.of(table, "h3:9"), tmp_path / "out", TEN_TRAVELLERS)


def test_quadtree_points(tmp_path: Path) -> None:
    assert_honest(World.of(raw_trips(), "quadtree:8", area=AREA), tmp_path / "out", TEN_TRAVELLERS)


@pytest.mark.parametrize("spec", ["dendrogram", "table:county,state"])
def test_zones_of_a_file(spec: str, tracts: Any, tmp_path: Path) -> None:
    world = World.of(raw_trips(), spec, zones=tracts)
    assert_honest(world, tmp_path / "out", TEN_TRAVELLERS, 0.3)


@pytest.mark.parametrize("spec", ["dendrogram", "table:county,state"])
def test_table_of_people(spec: str, tracts: Any, tmp_path: Path) -> None:
    world = replace(World.of(commuters(tracts), spec, zones=tracts), people_once=True)
    assert_honest(world, tmp_path / "out", TEN_TRAVELLERS, 0.3)
    report = audit(world, tmp_path / "out", each_trip_is_a_person=False)
    assert "every-group-safe" in report.broken, "without a word from the caller trips are no people"


def test_zones_by_name_alone(tracts: Any, tmp_path: Path) -> None:
    """Records that hold zone ids need no zones file: the release's own tree names the tiles."""
    world = replace(World.of(commuters(tracts), "dendrogram", zones=tracts), people_once=True)
    assert_honest(world, tmp_path / "out", TEN_TRAVELLERS, 0.3, tiling=None)


def test_the_zones_are_found_in_the_private_record(tmp_path: Path) -> None:
    world = World.of(raw_trips(), "quadtree:8", area=AREA)
    folder = world.publish(tmp_path / "out", world.release())
    folder.edit_manifest(lambda facts: facts["hierarchy"].update(area=list(AREA)))
    record = folder.path / "private" / "run.json"
    tiling = {"spec": world.spec, "zones": None, "area": list(AREA)}
    record.write_text(json.dumps({**json.loads(record.read_text()), "tiling": tiling}))
    assert audit(world, folder.path, tiling=None).safe


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("people", "told", "rules"),
    [
        (10, {"bad_time": 15}, ()),
        (9, {"bad_time": 15}, ("dropped-match-recount",)),
        (10, {"bad_time": 14}, ("dropped-match-recount",)),
        (10, {"null_island": 15}, ("dropped-match-recount",)),
        (10, {"unparsable": 0}, ("dropped-told-safely", "dropped-match-recount")),
        (10, {"swapped": None}, ("dropped-told-safely", "dropped-match-recount")),
        (10, {"duplicate": "fewer than 10"}, ("dropped-told-safely",)),
        (10, {"duplicate": 9}, ("dropped-told-safely",)),
        (10, {"duplicate": 10}, ()),
    ],
)
def test_dropped_rows_are_told_of_enough_people_and_as_many_as_there_are(
    people: int, told: dict[str, Any], rules: tuple[str, ...], tmp_path: Path
) -> None:
    raw = raw_trips()
    dropped = np.array(raw["reason"]) == 6
    names = np.array(raw["person"].to_pylist(), dtype=object)
    names[dropped] = [f"lost {number % people}" for number in range(dropped.sum())]
    world = World.of(raw.set_column(4, "person", pa.array(names, pa.string())))
    folder = world.publish(tmp_path / "out", world.release())
    folder.edit_manifest(lambda facts: facts.update(dropped_rows=told))
    assert audit(world, folder.path).broken == rules


def test_points_need_the_zones(tracts: Any, tmp_path: Path) -> None:
    world = World.of(raw_trips(), "dendrogram", zones=tracts)
    world.publish(tmp_path / "out", world.release(limit=0.3))
    with pytest.raises(InputError, match="coordinates"):
        audit(world, tmp_path / "out", tiling=None)


@pytest.fixture(scope="module")
def of_tracts(tracts: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path]:
    """A release over a dendrogram of tracts."""
    world = World.of(raw_trips(), "dendrogram", zones=tracts)
    out = tmp_path_factory.mktemp("tracts") / "out"
    world.publish(out, world.release(limit=0.3))
    return world, out


def second_root(rows: list[dict[str, Any]]) -> None:
    rows[40]["parent"] = None


def cycle(rows: list[dict[str, Any]]) -> None:
    inner = [row for row in rows if row["axis"] == "origin" and row["height"] > 1]
    inner[0]["parent"] = inner[0]["zone"]


def unknown_parent(rows: list[dict[str, Any]]) -> None:
    rows[0]["parent"] = "nobody"


def zone_twice(rows: list[dict[str, Any]]) -> None:
    rows.append(dict(rows[0]))


def wrong_tiles(rows: list[dict[str, Any]]) -> None:
    rows[-1]["tiles"] += 1


def tile_elsewhere(rows: list[dict[str, Any]]) -> None:
    """Let two tiles at opposite ends of the map change places, in a tree that is still one."""
    tiles = [row for row in rows if row["axis"] == "origin" and row["height"] == 0]
    tiles[0]["parent"], tiles[-1]["parent"] = tiles[-1]["parent"], tiles[0]["parent"]


@pytest.mark.parametrize("change", [second_root, cycle, unknown_parent, zone_twice, wrong_tiles])
def test_a_tree_that_is_none_is_not_believed(
    change: Callable[[Any], None], of_tracts: tuple[World, Path], tmp_path: Path
) -> None:
    world, out = of_tracts
    shutil.copytree(out, tmp_path / "out")
    Folder(tmp_path / "out").edit_rows("private/hierarchy.parquet", change)
    report = audit(world, tmp_path / "out")
    assert {"zones-contain-tiles", "zones-disjoint", "zones-table-matches"} <= set(report.broken)
    assert "hierarchy.parquet" in next(f.words for f in report.findings if f.rule == "zones-disjoint")


def test_another_tree_is_held_against_the_published_lists(
    of_tracts: tuple[World, Path], tmp_path: Path
) -> None:
    world, out = of_tracts
    shutil.copytree(out, tmp_path / "out")
    Folder(tmp_path / "out").edit_rows("private/hierarchy.parquet", tile_elsewhere)
    assert {"zones-contain-tiles", "zones-table-matches"} & set(audit(world, tmp_path / "out").broken)


def test_lists_of_tiles_are_checked(of_tracts: tuple[World, Path], tmp_path: Path) -> None:
    world, out = of_tracts
    for number, change in enumerate(
        (lambda tiles: tiles.pop(), lambda tiles: tiles.append("t99"), lambda tiles: tiles.append(tiles[0]))
    ):
        folder = Folder(tmp_path / f"out{number}")
        shutil.copytree(out, folder.path)
        folder.edit_rows("release/zones.parquet", lambda rows, change=change: change(rows[0]["members"]))
        folder.refresh()
        assert "zones-table-matches" in audit(world, folder.path).broken


def test_zones_of_a_tree_must_not_nest(of_tracts: tuple[World, Path], tmp_path: Path) -> None:
    """A zone replaced by the root overlaps every other zone of its axis."""
    world, _ = of_tracts
    release = world.release(limit=0.3)
    zones = release.group_destination
    lifted = np.where(zones == zones[0], world.matrix.destinations.root, zones)
    forged = replace(release, group_destination=lifted)
    assert len(np.unique(forged.group_destination)) > 1
    world.publish(tmp_path / "out", forged)
    assert audit(world, tmp_path / "out").broken == ("zones-disjoint",)
    assert audit_matrix(world.matrix, forged).broken == ("zones-disjoint",)
    torn = replace(forged, homogeneous=False)
    world.publish(tmp_path / "torn", torn)
    assert audit(world, tmp_path / "torn").safe, "what does not promise disjoint zones may overlap"


def test_quadtree_cells_are_quarters_of_their_parents(tmp_path: Path) -> None:
    world = World.of(raw_trips(), "quadtree:8", area=AREA)
    folder = world.publish(tmp_path / "out", world.release())

    def swap(rows: list[dict[str, Any]]) -> None:
        quarters = [row for row in rows if row["axis"] == "origin" and row["height"] == 0]
        first = quarters[0]
        other = next(row for row in quarters if row["parent"] != first["parent"])
        first["parent"], other["parent"] = other["parent"], first["parent"]

    folder.edit_rows("private/hierarchy.parquet", swap)
    assert "zones-contain-tiles" in audit(world, folder.path).broken


def test_files_alone(of_tracts: tuple[World, Path], tmp_path: Path) -> None:
    _, out = of_tracts
    findings = audit_files(out)
    assert all(finding.ok for finding in findings)
    assert {"every-group-safe", "totals-add-up"}.isdisjoint(finding.rule for finding in findings)
    shutil.copytree(out, tmp_path / "out")
    Folder(tmp_path / "out").edit_text("flows.csv", lambda text: text + "x,y,1,1\n")
    broken = {finding.rule for finding in audit_files(tmp_path / "out") if not finding.ok}
    assert broken == {"digests-match", "csv-equals-parquet"}
