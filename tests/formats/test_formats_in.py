"""Files of other tools, written by those tools' own libraries, read as trips and fixes."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import geopandas
import movingpandas
import numpy as np
import openmatrix
import pandas as pd
import pytest
import shapely
from pyarrow import parquet

from tripcloak.cli.run import run
from tripcloak.exporting.beside import Exports
from tripcloak.exporting.export import export_release
from tripcloak.ground.engine import connect
from tripcloak.ground.errors import InputError, UnreadableFileError
from tripcloak.records.files.moving_features import moving_rows
from tripcloak.records.files.open_matrices import matrix_rows
from tripcloak.records.files.tables import open_tables
from tripcloak.records.presets import find_preset
from tripcloak.records.source import TripSource
from tripcloak.records.trips import open_canonical
from worlds.released_flows import World, raw_trips


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = World.of(raw_trips(), "h3:8")
    return world.publish(tmp_path_factory.mktemp("flows") / "out", world.release()).path


@pytest.fixture(scope="module")
def released(folder: Path) -> list[tuple[str, str, int]]:
    flows = parquet.read_table(folder / "release" / "flows.parquet")
    return sorted(zip(*(flows[name].to_pylist() for name in ("origin", "destination", "trips")), strict=True))


@pytest.mark.parametrize("name", ["spanishoddata", "flowmap", "omx"])
def test_an_export_is_an_input(
    name: str, folder: Path, released: list[tuple[str, str, int]], tmp_path: Path
) -> None:
    endings = {"spanishoddata": "od.parquet", "flowmap": "map", "omx": "flows.omx"}
    made = Path(export_release(folder, name, tmp_path / endings[name]).path)
    path = made / "flows.csv" if name == "flowmap" else made
    with connect() as con:
        open_canonical(con, TripSource(paths=(str(path),)))
        rows = con.sql("SELECT o_id, d_id, trips FROM canonical").fetchall()
    assert sorted((origin, destination, int(n)) for origin, destination, n in rows) == released


def test_matrices_of_openmatrix_are_trips(tmp_path: Path) -> None:
    car = np.array([[0.0, 12.0], [np.nan, 3.5]])
    with openmatrix.open_file(str(tmp_path / "two.omx"), "w") as file:
        file["car"], file["bus"] = car, np.array([[0.0, 0.0], [7.0, 0.0]])
        file.create_mapping("taz", [101, 205])
    assert list(matrix_rows(tmp_path / "two.omx", "two.omx")) == [
        ["origin", "destination", "bus", "car"],
        ["101", "205", "0", "12"],
        ["205", "101", "7", "0"],
        ["205", "205", "0", "3.5"],
    ]
    with openmatrix.open_file(str(tmp_path / "one.omx"), "w") as file:
        file["all"] = car
    assert list(matrix_rows(tmp_path / "one.omx", "one.omx"))[:2] == [
        ["origin", "destination", "trips"],
        ["1", "2", "12"],
    ]


def test_a_matrix_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "lie.omx").write_text("origin,destination\n")
    with pytest.raises(UnreadableFileError, match=r"lie.omx could not be read as an open matrix"):
        list(matrix_rows(tmp_path / "lie.omx", "lie.omx"))


def test_moving_features_of_movingpandas_are_fixes(tmp_path: Path) -> None:
    start = datetime(2024, 5, 6, 8)
    frame = pd.DataFrame(
        {
            "who": ["a", "a", "b", "b"],
            "t": [start + timedelta(minutes=row) for row in range(4)],
            "x": [2.1, 2.2, 2.3, 2.4],
            "y": [48.1, 48.2, 48.3, 48.4],
        }
    )
    made = movingpandas.TrajectoryCollection(frame, "who", t="t", x="x", y="y", crs=4326)
    (tmp_path / "moves.json").write_text(json.dumps(made.to_mf_json(datetime_to_str=True), default=str))
    names, *rows = moving_rows(tmp_path / "moves.json", "moves.json")
    found = [dict(zip(names, row, strict=True)) for row in rows]
    assert [float(row["lat"]) for row in found] == frame["y"].tolist()
    assert [float(row["lon"]) for row in found] == frame["x"].tolist()
    assert [pd.Timestamp(row["time"]) for row in found] == frame["t"].tolist()
    assert len({row["object_id"] for row in found}) == 2


def test_moving_features_that_are_none_are_told(tmp_path: Path) -> None:
    odd = {
        "type": "Feature",
        "temporalGeometry": {"type": "MovingPoint", "datetimes": [1], "coordinates": []},
    }
    (tmp_path / "odd.json").write_text(json.dumps(odd))
    with pytest.raises(UnreadableFileError, match="as many datetimes as coordinates"):
        list(moving_rows(tmp_path / "odd.json", "odd.json"))


def test_points_of_geoparquet_are_fixes(tmp_path: Path) -> None:
    frame = geopandas.GeoDataFrame(
        {"user_id": ["a", "a"], "time": ["2024-05-06 08:00", "2024-05-06 08:05"]},
        geometry=shapely.points([2.1, 2.2], [48.1, 48.2]),
        crs=4326,
    ).to_crs(2154)
    frame.to_parquet(tmp_path / "fixes.parquet")
    with connect() as con:
        (table,) = open_tables(con, [str(tmp_path / "fixes.parquet")], None)
        places = con.sql(f"SELECT lat, lon FROM ({table.scan}) ORDER BY time").fetchall()
    np.testing.assert_allclose(places, [(48.1, 2.1), (48.2, 2.2)], atol=1e-7)
    assert table.notes == ("points in EPSG:2154 were turned into degrees",)
    assert table.name == "fixes.parquet"


def test_mds_goes_by_both_names() -> None:
    assert find_preset("mds-trips") is find_preset("mds")


def test_exports_are_made_with_the_release(tmp_path: Path) -> None:
    raw = str(tmp_path / "trips.parquet")
    parquet.write_table(raw_trips(), raw)
    asked = ["anonymise", raw, "--hierarchy", "h3:7", "--out", str(tmp_path / "out")]
    assert run([*asked, "--also", "flowmap", "--also", "duckdb"]) == 0
    made = tmp_path / "out" / "exports"
    assert sorted(one.name for one in made.iterdir()) == ["duckdb.duckdb", "flowmap"]
    flows = parquet.read_table(tmp_path / "out" / "release" / "flows.parquet")
    with duckdb.connect(str(made / "duckdb.duckdb"), read_only=True) as con:
        assert con.sql("SELECT sum(trips) FROM flows").fetchall() == [(sum(flows["trips"].to_pylist()),)]


def test_what_cannot_be_exported_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    asked = ["anonymise", str(tmp_path / "none.csv"), "--out", str(tmp_path / "out"), "--also"]
    for wrong in ("dbf", "mfjson", "postgresql", "postgresql://a:secret@b/c"):
        assert run([*asked, wrong]) == 2
    with pytest.raises(InputError, match="must not hold a password"):
        Exports.of(["postgresql://a:secret@b/c"], "flows")
    with pytest.raises(InputError, match="about one release"):
        Exports.of(["flowmap"], "flows").refuse_several()
