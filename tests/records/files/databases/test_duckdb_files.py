"""Rows of DuckDB files: tables, queries, points, and files that are none."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import shapely
from pyarrow import parquet

from tripcloak.exporting.beside import Exports
from tripcloak.exporting.databases import database_address
from tripcloak.ground.errors import InputError, MissingFileError, UnreadableFileError
from tripcloak.records.files.databases.addresses import address_of
from tripcloak.records.files.databases.fetching import fetch, fetched, forget_fetched
from tripcloak.records.files.databases.points import PointColumns
from tripcloak.records.source import TripSource


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "city.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(
            "CREATE TABLE trips AS SELECT 'p' || (i % 4) AS person, 48.8 + i / 1000 AS start_lat, "
            "2.3 + i / 1000 AS start_lon, 48.9 AS end_lat, 2.4 AS end_lon FROM range(10) t(i)"
        ).fetchall()
        con.execute('CREATE TABLE "odd ""name" AS SELECT [1, 2] AS parts, uuid() AS id').fetchall()
        con.execute("CREATE TABLE empty (start_lat DOUBLE)").fetchall()
    return path


def rows(address: str) -> pa.Table:
    path = fetch(address)
    assert path is not None
    return parquet.read_table(path)


def test_a_table_a_query_and_an_odd_name(file: Path) -> None:
    assert len(rows(f"{file}#trips")) == 10
    assert rows(f"{file}#SELECT person FROM trips WHERE start_lat > 48.8045").num_rows == 5
    odd = rows(f'{file}#"odd ""name"')
    assert odd["parts"].to_pylist() == ["[1, 2]"]
    assert rows(f"{file}#empty").column_names == ["start_lat"]


def test_what_a_table_may_be_is_told(file: Path) -> None:
    with pytest.raises(InputError, match=r"city.duckdb holds several tables: main.trips, "):
        fetch(str(file))
    with pytest.raises(InputError, match=r"holds no such table; there is main.trips"):
        fetch(f"{file}#trip")
    with pytest.raises(InputError, match=r"does not understand the query"):
        fetch(f"{file}#select secret from trips")
    with pytest.raises(InputError, match=r"expected a table after #"):
        fetch(f"{file}#a.b.c.d")


def test_a_query_reaches_no_other_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "others.csv").write_text("secret\n1\n")
    with pytest.raises(InputError, match=r"does not understand the query"):
        fetch(f"{file}#SELECT * FROM read_csv('{tmp_path / 'others.csv'}')")


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "lie.duckdb").write_text("person,lat\n")
    with pytest.raises(UnreadableFileError, match=r"lie.duckdb could not be read as a DuckDB file"):
        fetch(f"{tmp_path / 'lie.duckdb'}#trips")
    with pytest.raises(MissingFileError):
        fetch(f"{tmp_path / 'none.duckdb'}#trips")
    assert fetch(str(tmp_path / "trips.csv")) is None


def test_a_database_is_known_by_what_it_holds(file: Path) -> None:
    other = file.rename(file.with_suffix(".db"))
    assert len(rows(f"{other}#trips")) == 10


def test_a_file_whose_name_has_a_hash_is_that_file(tmp_path: Path) -> None:
    odd = tmp_path / "a.duckdb#b.csv"
    odd.write_text("person\n")
    assert address_of(str(odd)) is None


def test_a_name_that_begins_like_another_kind_of_database_is_that_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.rename(file.with_name("sqlite:city.duckdb"))
    monkeypatch.chdir(file.parent)
    assert rows("sqlite:city.duckdb#trips").num_rows == 10


def test_the_rows_are_private_and_go_away(file: Path) -> None:
    path = Path(fetch(f"{file}#trips") or "")
    assert path.parent.stat().st_mode & 0o077 == 0
    assert fetched(str(path)) is not None
    forget_fetched()
    assert not path.parent.exists()


def test_the_record_has_the_address(file: Path) -> None:
    source = TripSource(paths=(f"{file}#trips",))
    assert source.to_dict()["paths"] == [f"{file}#trips"]
    assert Path(str(source.paths[0])).is_file()


def test_points_of_any_kind_are_those_of_shapely() -> None:
    random = np.random.default_rng(1)
    x, y = random.uniform(0, 5, 20), random.uniform(40, 50, 20)
    shapes = shapely.points(x, y)
    odd = [*shapes[:5], shapely.LineString([(0, 0), (1, 1)]), None, shapely.Point(1, 2, 3)]
    for srid in (0, 4326):
        for given in (shapes, np.array(odd, dtype=object)):
            bytes_ = shapely.to_wkb(shapely.set_srid(given, srid), include_srid=srid > 0)
            batch = pa.record_batch({"geom": pa.array(bytes_.tolist(), pa.binary())})
            for part in (batch, batch.slice(3)):
                seen = PointColumns({"geom": 0})
                made = seen.replaced(part)
                own = given[len(given) - len(part) :]
                point = shapely.get_type_id(own) == 0
                for name, truth in (("lon", shapely.get_x(own)), ("lat", shapely.get_y(own))):
                    np.testing.assert_array_equal(made[name].to_numpy(), np.where(point, truth, np.nan))
                assert seen.others == int((shapely.get_type_id(own) == 1).sum())


def test_an_unknown_projection_is_told() -> None:
    bytes_ = shapely.to_wkb(shapely.set_srid(shapely.Point(1, 2), 987654), include_srid=True)
    with pytest.raises(InputError, match=r"EPSG:987654, which is not known"):
        PointColumns({"geom": 0}).replaced(pa.record_batch({"geom": pa.array([bytes_])}))


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql+psycopg2://ana:secret@db/city", "begins with postgresql:// here, without a driver"),
        (" postgresql://ana:secret@db/city", "begins with postgresql:// here"),
        ("host=db user=ana password=secret dbname=city", "begins with postgresql:// here"),
        ("mysql://ana:secret@db/city#trips", "got an address with mysql://"),
        ("https://ana:secret@web.example/trips.csv", "got an address with https://"),
    ],
)
def test_addresses_of_another_kind_are_refused_and_not_repeated(address: str, told: str) -> None:
    for ask in (fetch, database_address, lambda one: Exports.of([one], "flows")):
        with pytest.raises(InputError, match=re.escape(told)) as refused:
            ask(address)
        assert "secret" not in str(refused.value)


def test_a_file_may_be_called_like_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("by password=none.csv").touch()
    assert address_of("by password=none.csv") is None
