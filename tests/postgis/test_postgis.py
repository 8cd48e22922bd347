"""Trips from and releases into a real PostgreSQL with PostGIS, started on the loopback address."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import shapely
from pyarrow import parquet

from tripcloak.cli.run import run
from tripcloak.exporting import databases
from tripcloak.exporting.export import export_release
from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.records.files.databases.fetching import fetch, fetched
from worlds.postgres import Server, running, why_not
from worlds.released_flows import World, raw_trips

N = 400


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    with running() as server:
        server.run(
            "CREATE TABLE trips AS SELECT 'p' || (i % 40) AS person, "
            "timestamptz '2024-05-06 08:00+02' + i * interval '1 minute' AS start_time, "
            "48.80::float8 + (i % 7) * 0.01 AS start_lat, 2.30::float8 + (i % 5) * 0.01 AS start_lon, "
            "48.80::float8 + (i % 3) * 0.01 AS end_lat, 2.30::float8 + (i % 4) * 0.01 AS end_lon, "
            "1.5 AS weight "
            f"FROM generate_series(0, {N - 1}) i;"
            "CREATE SCHEMA mobility;"
            "CREATE TABLE mobility.rides AS SELECT person, start_time, "
            "ST_SetSRID(ST_Point(start_lon, start_lat), 4326) AS start_geom, "
            "ST_Transform(ST_SetSRID(ST_Point(end_lon, end_lat), 4326), 2154) AS end_geom FROM trips;"
            """CREATE TABLE "rides""; drop table trips; --" AS SELECT * FROM trips;"""
            "CREATE ROLE reader LOGIN PASSWORD 'looking'; GRANT SELECT ON trips TO reader;"
            "CREATE SCHEMA shut;"
        )
        yield server


@pytest.fixture(autouse=True)
def known_password(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSFILE", str(server.passwords))


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = World.of(raw_trips(), "h3:8")
    return world.publish(tmp_path_factory.mktemp("flows") / "out", world.release()).path


def rows(address: str) -> pa.Table:
    path = fetch(address)
    assert path is not None
    return parquet.read_table(path)


def test_a_table_comes_as_it_is(server: Server) -> None:
    table = rows(server.address("trips"))
    assert len(table) == N
    assert table["start_time"][0].as_py().isoformat() == "2024-05-06T06:00:00+00:00"
    assert table["weight"][0].as_py() == "1.5"
    told = server.run("SELECT sum(start_lat), min(person) FROM trips").split("|")
    assert float(np.sum(table["start_lat"].to_numpy())) == pytest.approx(float(told[0]))


def test_points_become_degrees_whatever_their_projection(server: Server) -> None:
    plain, points = rows(server.address("trips")), rows(server.address("mobility.rides"))
    assert points.column_names == ["person", "start_time", "start_lat", "start_lon", "end_lat", "end_lon"]
    for name in ("start_lat", "start_lon"):
        assert points[name].to_numpy().tolist() == plain[name].to_numpy().tolist()
    for name in ("end_lat", "end_lon"):
        np.testing.assert_allclose(points[name].to_numpy(), plain[name].to_numpy(), atol=1e-7)


def test_what_was_turned_is_said(server: Server) -> None:
    told = fetched(fetch(server.address("mobility.rides")) or "")
    assert told is not None
    assert told.notes == ("points in EPSG:2154 were turned into degrees",)


def test_what_is_no_point_has_no_place(server: Server) -> None:
    table = rows(
        server.address(
            "SELECT 1 AS trip, ST_GeomFromText('LINESTRING(0 0, 1 1)', 4326) AS start_geom UNION ALL "
            "SELECT 2, ST_SetSRID(ST_Point(2, 48), 4326) UNION ALL SELECT 3, NULL ORDER BY 1"
        )
    )
    assert np.isnan(table["start_lat"].to_numpy()).tolist() == [True, False, True]
    assert table["start_lon"][1].as_py() == 2.0


def test_a_query_reads_and_never_writes(server: Server) -> None:
    assert len(rows(server.address("select * from trips where start_lat > 48.84;"))) == N // 7 * 2
    with pytest.raises(InputError, match="does not"):
        fetch(server.address("with gone as (delete from trips returning *) select * from gone"))
    with pytest.raises(InputError, match="does not understand"):
        fetch(server.address("select 1; drop table trips"))
    assert server.run("SELECT count(*) FROM trips") == str(N)


def test_a_hostile_name_is_a_name(server: Server) -> None:
    assert len(rows(server.address('"rides""; drop table trips; --"'))) == N
    with pytest.raises(InputError, match="no such table"):
        fetch(server.address('"x""; drop table trips; --"'))
    assert server.run("SELECT count(*) FROM trips") == str(N)


def test_without_a_table_those_there_are_are_told(server: Server) -> None:
    with pytest.raises(InputError, match=r"several tables: .*public\.trips"):
        fetch(server.address())
    with pytest.raises(InputError, match=r"no such table that may be read; there is public\.trips"):
        fetch(server.address("trip"))


def test_a_password_never_comes_in_or_out(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    secret = server.password
    given = server.address("trips").replace("owner@", f"owner:{secret}@")
    for address in (given, server.address().replace("/city", f"/city?password={secret}") + "#trips"):
        assert run(["describe", address]) == 2
    told = capfd.readouterr()
    assert "~/.pgpass" in told.err
    assert secret not in told.out + told.err


def test_who_is_not_let_in_is_told_how(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong").write_text("*:*:*:*:wrong-and-secret\n")
    (tmp_path / "wrong").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "wrong"))
    with pytest.raises(
        InputError, match=r"does not let this user in; put the password into ~/.pgpass"
    ) as told:
        fetch(server.address("trips"))
    assert "wrong-and-secret" not in str(told.value)


def test_the_file_in_the_home_is_found(server: Server, tmp_path: Path) -> None:
    shutil.copy(server.passwords, tmp_path / ".pgpass")
    environment = {name: value for name, value in os.environ.items() if name != "PGPASSFILE"}
    script = "import sys; from tripcloak.records.files.databases.fetching import fetch; fetch(sys.argv[1])"
    command = [sys.executable, "-c", script, server.address("trips")]
    done = subprocess.run(command, env={**environment, "HOME": str(tmp_path)}, check=False)
    assert done.returncode == 0


def test_what_cannot_be_reached_is_told(server: Server) -> None:
    with pytest.raises(InputError, match=r"cannot be reached; expected an address such as"):
        fetch("postgresql://owner@127.0.0.1:9/city#trips")
    with pytest.raises(InputError, match="no such database"):
        fetch(server.address("trips", database="village"))
    with pytest.raises(InputError, match="could not be read; expected postgresql"):
        fetch("postgresql://owner@host:many/city")


def test_a_release_from_the_database_is_that_from_a_file(server: Server, tmp_path: Path) -> None:
    parquet.write_table(rows(server.address("trips")), tmp_path / "trips.parquet")
    address = server.address("trips")
    for source, out in ((address, "a"), (str(tmp_path / "trips.parquet"), "b")):
        assert run(["anonymise", source, "--hierarchy", "h3:6", "--out", str(tmp_path / out)]) == 0
    for name in ("flows.parquet", "zones.parquet"):
        assert (tmp_path / "a/release" / name).read_bytes() == (tmp_path / "b/release" / name).read_bytes()
    record = json.loads((tmp_path / "a/private/run.json").read_text())
    assert record["source"]["paths"] == [address]
    assert run(["audit", str(tmp_path / "a"), "--against", address]) == 0
    for file in tmp_path.joinpath("a").rglob("*"):
        assert file.is_dir() or server.password.encode() not in file.read_bytes()
        assert "release" not in file.parts or file.is_dir() or b"postgresql://" not in file.read_bytes()


def test_a_release_goes_in_whole(server: Server, release: Path) -> None:
    made = export_release(release, "postgresql", server.address("open data"))
    flows = parquet.read_table(release / "release/flows.parquet")
    told = server.run('SELECT origin, destination, trips FROM "open data".flows')
    found = sorted((o, d, int(n)) for o, d, n in (line.split("|") for line in told.splitlines()))
    assert made.rows == len(flows)
    assert found == sorted(
        zip(*(flows[name].to_pylist() for name in ("origin", "destination", "trips")), strict=True)
    )
    zones = parquet.read_table(release / "release/zones.parquet")
    outline = server.run(
        'SELECT axis, zone, ST_AsBinary(geometry) FROM "open data".zones ORDER BY 1, 2 LIMIT 1'
    )
    axis, zone, shape = outline.split("|")
    rows = zones.filter((np.asarray(zones["axis"]) == axis) & (np.asarray(zones["zone"]) == zone))
    assert shapely.from_wkb(shape[2:]).equals(shapely.from_wkb(rows["geometry"][0].as_py()))
    manifest = json.loads(server.run('SELECT manifest FROM "open data".manifest'))
    assert manifest == json.loads((release / "release/manifest.json").read_text())
    indexes = server.run("SELECT indexdef FROM pg_indexes WHERE schemaname = 'open data'")
    assert "USING gist (geometry)" in indexes


def test_an_earlier_export_goes_only_when_asked(server: Server, release: Path) -> None:
    address = server.address("twice")
    export_release(release, "postgresql", address)
    with pytest.raises(OutputExistsError, match="has a release there already"):
        export_release(release, "postgresql", address)
    export_release(release, "postgresql", address, force=True)
    server.run("CREATE SCHEMA taken; CREATE TABLE taken.zones (mine int)")
    with pytest.raises(OutputExistsError, match="none of ours, and stays"):
        export_release(release, "postgresql", server.address("taken"), force=True)
    assert server.run("SELECT count(*) FROM taken.zones") == "0"


def test_a_cut_connection_leaves_nothing(
    server: Server, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object, **__: object) -> None:
        server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
            "datname = 'city'"
        )

    export_release(release, "postgresql", server.address("cut"))
    before = server.run("SELECT count(*) FROM cut.flows")
    server.run("DELETE FROM cut.manifest")
    monkeypatch.setattr(databases, "_dress", cut)
    with pytest.raises(InputError, match=r"cut the connection; nothing was written"):
        export_release(release, "postgresql", server.address("cut"), force=True)
    with pytest.raises(InputError, match=r"cut the connection; nothing was written"):
        export_release(release, "postgresql", server.address("unborn"))
    assert server.run("SELECT count(*) FROM cut.flows") == before
    assert server.run("SELECT count(*) FROM cut.manifest") == "0"
    assert server.run("SELECT count(*) FROM pg_namespace WHERE nspname = 'unborn'") == "0"


def test_a_schema_that_is_shut_is_told(
    server: Server, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reader").write_text("*:*:*:reader:looking\n")
    (tmp_path / "reader").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "reader"))
    assert len(rows(server.address("trips", user="reader"))) == N
    for schema in ("shut", "another"):
        with pytest.raises(InputError, match=r"does not allow this user that; nothing was written"):
            export_release(release, "postgresql", server.address(schema, user="reader"))


def test_a_hostile_schema_is_a_name(server: Server, release: Path) -> None:
    name = 'a"; drop table trips; --'
    export_release(release, "postgresql", server.address('"' + name.replace('"', '""') + '"'))
    assert server.run(f"SELECT count(*) FROM pg_namespace WHERE nspname = '{name}'") == "1"
    assert server.run("SELECT count(*) FROM trips") == str(N)


def test_without_postgis_nothing_is_written(server: Server, release: Path) -> None:
    server.run("CREATE DATABASE bare")
    with pytest.raises(InputError, match=r"has no PostGIS.*CREATE EXTENSION postgis"):
        export_release(release, "postgresql", server.address(database="bare"))
