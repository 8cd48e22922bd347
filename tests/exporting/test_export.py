"""Exports, read back by each format's own library: they hold what the release holds, and no more."""

from __future__ import annotations

import json
import resource
import sqlite3
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import geopandas
import movingpandas
import numpy as np
import openmatrix
import pyarrow as pa
import pytest
import shapely
from pyarrow import csv, dataset, parquet

from tripcloak.exporting.export import PublicTables, export_release
from tripcloak.exporting.formats import FORMATS, Format, check_needs
from tripcloak.exporting.long_table import write_long_table, write_parts
from tripcloak.exporting.matrices import MOST_ZONES, write_omx
from tripcloak.exporting.places import places_of
from tripcloak.ground.errors import InputError, OutputExistsError
from worlds.released_flows import World, raw_trips
from worlds.released_trajectories import written
from worlds.trajectories import made, random_release


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = World.of(raw_trips(), "h3:8")
    return world.publish(tmp_path_factory.mktemp("flows") / "out", world.release()).path


@pytest.fixture(scope="module")
def flows(folder: Path) -> pa.Table:
    return parquet.read_table(folder / "release" / "flows.parquet")


@pytest.fixture(scope="module")
def zones(folder: Path) -> pa.Table:
    return parquet.read_table(folder / "release" / "zones.parquet")


def pairs(rows: Any, origin: str = "origin", destination: str = "destination", trips: str = "trips") -> Any:
    return sorted(zip(*(list(rows[name]) for name in (origin, destination, trips)), strict=True))


def released(flows: pa.Table) -> Any:
    return pairs({name: flows[name].to_pylist() for name in flows.column_names})


def test_the_long_table_has_the_names_of_spanishoddata(folder: Path, flows: pa.Table, tmp_path: Path) -> None:
    made = export_release(folder, "spanishoddata", tmp_path / "od.parquet")
    table = parquet.read_table(tmp_path / "od.parquet")
    assert made.rows == len(flows)
    assert table.column_names[:5] == ["date", "hour", "id_origin", "id_destination", "n_trips"]
    assert set(table.column_names[5:]) <= set(flows.column_names)
    assert pairs(table.to_pydict(), "id_origin", "id_destination", "n_trips") == released(flows)
    assert table["date"].null_count == table["hour"].null_count == len(flows)


def test_only_days_and_hours_are_dates(tmp_path: Path) -> None:
    times = ["2024-05-06", "2024-05-06T07:00", "2024-05-06T07:15", "2024-W19", "2024-05-06T07"]
    flows = pa.table({"origin": ["a"] * 5, "destination": ["b"] * 5, "time": times, "trips": [10] * 5})
    write_long_table(PublicTables({"volume": "trips"}, flows, pa.table({})), tmp_path / "od.parquet")
    table = parquet.read_table(tmp_path / "od.parquet")
    day = date(2024, 5, 6)
    assert table["date"].to_pylist() == [day, day, None, None, day]
    assert table["hour"].to_pylist() == [None, 7, None, None, 7]
    assert table["time"].to_pylist() == times


def test_parts_are_put_together_again_by_their_folders(tmp_path: Path) -> None:
    times = ["2024-05-06T07:00", "Mon / Tue = 50 %", "all time", "2024-05-06T07:00"]
    flows = pa.table(
        {"origin": list("abca"), "destination": list("dddd"), "time": times, "trips": [10, 11, 12, 13]}
    )
    assert write_parts(PublicTables({}, flows, pa.table({})), tmp_path / "parts") == 4
    assert sorted(p.name for p in (tmp_path / "parts").rglob("*.parquet")) == ["part-0.parquet"] * 3
    expected = sorted(zip(*(flows[name].to_pylist() for name in ("origin", "time", "trips")), strict=True))
    where = str(tmp_path / "parts" / "*" / "*.parquet")
    read = duckdb.execute("select origin, time, trips from read_parquet(?, hive_partitioning=true)", [where])
    assert sorted(read.fetchall()) == expected
    table = dataset.dataset(tmp_path / "parts", partitioning="hive").to_table().to_pydict()
    assert sorted(zip(table["origin"], table["time"], table["trips"], strict=True)) == expected


def test_flows_of_no_time_are_one_part(folder: Path, flows: pa.Table, tmp_path: Path) -> None:
    assert export_release(folder, "hive", tmp_path / "parts").rows == len(flows)
    assert parquet.read_table(tmp_path / "parts" / "part-0.parquet").equals(flows)


def test_lines_are_read_by_geopandas(folder: Path, flows: pa.Table, tmp_path: Path) -> None:
    export_release(folder, "geoparquet", tmp_path / "lines.parquet")
    lines = geopandas.read_parquet(tmp_path / "lines.parquet")
    assert pairs(lines) == released(flows)
    first = lines.iloc[0]
    assert first.geometry.coords[0] == (first.origin_lon, first.origin_lat)
    assert set(lines.columns) == {*flows.column_names, "geometry"}


@pytest.mark.filterwarnings("error:Field format")
def test_a_geopackage_has_layers_and_styles(
    folder: Path, flows: pa.Table, zones: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "flows.gpkg"
    export_release(folder, "gpkg", path)
    lines = geopandas.read_file(path, layer="flows")
    assert lines.crs.to_epsg() == 4326
    assert pairs(lines) == released(flows)
    for axis in ("origin", "destination"):
        side = zones.filter(np.asarray(zones["axis"]) == axis)
        layer = geopandas.read_file(path, layer=f"{axis}s")
        assert sorted(layer["zone"]) == sorted(side["zone"].to_pylist())
        outline = shapely.from_wkb(side["geometry"][0].as_py())
        assert layer.set_index("zone").loc[side["zone"][0].as_py()].geometry.equals(outline)
    assert geopandas.read_file(path, layer="layer_styles").update_time.dt.year.unique() == [1970]
    with sqlite3.connect(path) as con:
        told = con.execute(
            "select f_table_name, useAsDefault, styleQML from layer_styles order by 1"
        ).fetchall()
    assert [(name, default) for name, default, _ in told] == [
        ("destinations", 1),
        ("flows", 1),
        ("origins", 1),
    ]
    assert all(style.startswith("<!DOCTYPE qgis") for _, _, style in told)


def test_a_matrix_is_opened_by_openmatrix(folder: Path, flows: pa.Table, tmp_path: Path) -> None:
    export_release(folder, "omx", tmp_path / "flows.omx")
    with openmatrix.open_file(str(tmp_path / "flows.omx")) as file:
        matrix = np.array(file["trips"])
        numbers = file.mapping("zone")
        names = [name.decode() for name in file.root.lookup_names.zone[:]]
    assert list(numbers) == list(range(1, len(names) + 1))
    told = np.argwhere(~np.isnan(matrix))
    found = sorted((names[row], names[column], matrix[row, column]) for row, column in told)
    assert found == released(flows)


def test_a_matrix_of_too_many_zones_is_refused(tmp_path: Path) -> None:
    n = MOST_ZONES + 1
    names = [f"z{row:05d}" for row in range(n)]
    zones = pa.table({"axis": ["origin"] * n, "zone": names, "lat": [0.0] * n, "lon": [0.0] * n})
    end = pa.table({"axis": ["destination"], "zone": names[:1], "lat": [0.0], "lon": [0.0]})
    flows = pa.table({"origin": names[:1], "destination": names[:1], "trips": [10]})
    both = pa.concat_tables([zones, end])
    with pytest.raises(InputError, match=r"20,001 zones is too large"):
        write_omx(PublicTables({"volume": "trips"}, flows, both), tmp_path / "a.omx")


def test_flowmaps_tables_join(folder: Path, flows: pa.Table, tmp_path: Path) -> None:
    export_release(folder, "flowmap", tmp_path / "map")
    places = csv.read_csv(tmp_path / "map" / "locations.csv")
    table = csv.read_csv(tmp_path / "map" / "flows.csv")
    assert pairs(table.to_pydict(), "origin", "dest", "count") == released(flows)
    assert {*table["origin"].to_pylist(), *table["dest"].to_pylist()} == set(places["id"].to_pylist())
    assert len(set(places["id"].to_pylist())) == len(places)


def test_a_map_of_kepler_holds_the_flows(folder: Path, flows: pa.Table, tmp_path: Path) -> None:
    export_release(folder, "kepler", tmp_path / "map.json")
    told = json.loads((tmp_path / "map.json").read_text())
    arcs, outlines = (one["data"] for one in told["datasets"])
    names = [field["name"] for field in arcs["fields"]]
    assert arcs["allData"] == [list(row.values()) for row in flows.to_pylist()]
    layer = told["config"]["config"]["visState"]["layers"][0]
    assert set(layer["config"]["columns"].values()) <= set(names)
    assert shapely.from_geojson(json.dumps(json.loads(outlines["allData"][0][0])["geometry"])).is_valid


def test_moving_points_are_read_by_movingpandas(tmp_path: Path) -> None:
    people = made(users=6, samples=12, days=1, spread=300)
    folder = written(tmp_path / "out", people, random_release(people))
    samples = parquet.read_table(folder / "release" / "samples.parquet").to_pandas()
    export_release(folder, "mfjson", tmp_path / "points.json")
    found = movingpandas.read_mf_json(tmp_path / "points.json", "trajectory")
    assert {one.id for one in found} <= set(samples["trajectory"])
    one = found.trajectories[0]
    own = samples[samples["trajectory"] == one.id]
    assert len(one.df) == len(own)
    middle = (own["lon_min"] + own["lon_max"]).to_numpy() / 2
    np.testing.assert_allclose(one.df.geometry.x.to_numpy(), middle, atol=1e-6)


def test_one_name_for_two_places_is_told_apart() -> None:
    axis, zone = ["origin", "origin", "destination", "destination"], ["a", "b", "a", "b"]
    zones = pa.table({"axis": axis, "zone": zone, "lat": [1.0, 2.0, 1.0, 3.0], "lon": [1.0, 2.0, 1.0, 2.0]})
    flows = pa.table({"origin": ["a", "b"], "destination": ["b", "b"], "trips": [10, 11]})
    places = places_of(PublicTables({"volume": "trips"}, flows, zones))
    assert places.names.tolist() == ["a", "b as destination", "b as origin"]
    assert places.origin.tolist() == [0, 2]
    assert places.destination.tolist() == [1, 1]
    assert places.lat.tolist() == [1.0, 3.0, 2.0]


def test_a_changed_release_is_not_exported(tmp_path: Path) -> None:
    world = World.of(raw_trips(), "h3:8")
    folder = world.publish(tmp_path / "out", world.release())
    folder.edit_rows("release/flows.parquet", lambda rows: rows[0].update(trips=rows[0]["trips"] + 1))
    with pytest.raises(InputError, match="is not the file that the manifest states"):
        export_release(folder.path, "flowmap", tmp_path / "map")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_is_there_stays_unless_it_is_to_be_replaced(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "map"
    export_release(folder, "flowmap", place)
    (place / "mine.txt").write_text("kept")
    with pytest.raises(OutputExistsError, match="is already there"):
        export_release(folder, "flowmap", place)
    assert (place / "mine.txt").exists()
    export_release(folder, "flowmap", place, force=True)
    assert sorted(path.name for path in place.iterdir()) == ["flows.csv", "locations.csv"]
    assert [path.name for path in tmp_path.iterdir()] == ["map"]


def test_nothing_is_left_of_an_export_that_fails(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.parquet").write_text("old")

    def fail(*given: Any) -> int:
        given[1].write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Format, "write", lambda _: fail)
    with pytest.raises(InputError, match="no room left on its disk; nothing was left behind"):
        export_release(folder, "geoparquet", tmp_path / "a.parquet", force=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.parquet": "old"}


@pytest.mark.parametrize("name", ["gpkg", "omx", "duckdb"])
def test_a_library_that_finds_no_room_leaves_nothing(name: str, folder: Path, tmp_path: Path) -> None:
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, kept[1]))
    try:
        with pytest.raises(InputError, match=r"cannot write the export .*; nothing was left behind"):
            export_release(folder, name, tmp_path / f"a{FORMATS[name].suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)
    assert not list(tmp_path.iterdir())


def test_exports_stay_out_of_the_public_part(folder: Path) -> None:
    with pytest.raises(OutputExistsError, match="public part"):
        export_release(folder, "geoparquet", folder / "release" / "lines2.parquet")


def test_formats_of_the_other_wing_and_missing_libraries_are_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        InputError, match=r"mfjson is for releases of trajectories; .* for which there is span"
    ):
        export_release(folder, "mfjson", tmp_path / "a.json")
    with pytest.raises(InputError, match=r"to must be one of duckdb, flowmap, .*; got 'dbf'"):
        export_release(folder, "dbf", tmp_path / "a.dbf")
    missing = FORMATS["omx"]._replace(needs=("no_such_module",))
    monkeypatch.setitem(FORMATS, "omx", missing)  # type: ignore[misc]
    with pytest.raises(InputError, match=r"pip install 'tripcloak\[formats\]'"):
        check_needs("omx")


def test_a_duckdb_file_holds_flows_zones_and_manifest(
    folder: Path, flows: pa.Table, zones: pa.Table, tmp_path: Path
) -> None:
    export_release(folder, "duckdb", tmp_path / "release.duckdb")
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as con:
        assert con.sql("SELECT * FROM flows").to_arrow_table().to_pylist() == flows.to_pylist()
        (kind,) = (row[1] for row in con.sql("DESCRIBE zones").fetchall() if row[0] == "geometry")
        shapes = con.sql("SELECT ST_AsWKB(geometry) FROM zones").fetchall()
        (told,) = con.sql("SELECT manifest FROM manifest").fetchall()
    assert kind == "GEOMETRY"
    assert shapely.equals(
        shapely.from_wkb([shape for (shape,) in shapes]), shapely.from_wkb(zones["geometry"].to_pylist())
    ).all()
    assert json.loads(told[0]) == json.loads((folder / "release" / "manifest.json").read_text())
