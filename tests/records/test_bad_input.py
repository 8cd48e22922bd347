"""Input that is wrong as a whole: a clear error, of the right kind, that holds nothing of the data."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tripcloak.ground.engine import connect, plain_errors
from tripcloak.ground.errors import InputError, InternalError, MissingColumnError
from tripcloak.records.source import TripSource
from tripcloak.records.trips import open_canonical
from worlds.trip_readings import ReadPaths, WriteParquet, WriteText

SECRET = "secret42"
PLACE = "48.123456"
TRIPS = "user_id,o_lat,o_lon,d_lat,d_lon,weight\n"


def refused(call: Callable[[], object], kind: type[Exception] = InputError) -> str:
    """Return the words of an error after checking that neither they nor its trace hold data."""
    with pytest.raises(kind) as caught:
        call()
    shown = str(caught.value) + "".join(traceback.format_exception_only(caught.value))
    assert SECRET not in shown
    assert PLACE not in shown
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def test_text_in_a_number_column_names_the_column(write_text: WriteText, read: ReadPaths) -> None:
    rows = f"p,{SECRET},2,{PLACE},2,1\n" * 30 + f"p,{PLACE},2,{PLACE},2,1\n"
    words = refused(lambda: read(write_text("a.csv", TRIPS + rows)).report)
    assert "column 'o_lat'" in words
    assert "such as 48.8566" in words
    assert "origin_lat=" in words


def test_degrees_and_odd_dates_are_such_text(write_text: WriteText, read: ReadPaths) -> None:
    degrees = "o_lat;o_lon;d_lat;d_lon\n" + "48°12'3\";2.5;48.2;2.6\n" * 3
    assert "cannot be read as the latitude" in refused(lambda: read(write_text("a.csv", degrees)).report)
    dates = "o,d,start_time\n" + "A,B,the 31st of December\n" * 3
    words = refused(lambda: read(write_text("b.csv", dates)).report)
    assert "column 'start_time'" in words
    assert "2024-05-01 08:30:00" in words
    assert "time_format='%d/%m/%Y %H:%M'" in words


def test_decimal_commas_and_points_in_dates_are_read(write_text: WriteText, read: ReadPaths) -> None:
    commas = "o_lat;o_lon;d_lat;d_lon\n" + "48,123;2,5;48,2;2,6\n"
    assert read(write_text("a.csv", commas)).rows("o_lat, o_lon, d_lat, d_lon") == [(48.123, 2.5, 48.2, 2.6)]
    dates = "o,d,start_time\nA,B,31.12.2024 08:30\n"
    assert read(write_text("b.csv", dates)).rows("start_time::VARCHAR") == [("2024-12-31 08:30:00+00",)]


def test_text_in_gps_fixes_names_the_column(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("a.csv", "user_id,time,lat,lon\n" + f"p,{SECRET},{PLACE},2\n" * 5)
    assert "column 'time'" in refused(lambda: read(path).report)


def test_a_path_column_without_paths_is_named(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("a.csv", f"taxi_id,polyline\n1,{SECRET}\n2,{SECRET}\n")
    assert "column 'polyline'" in refused(lambda: read(path).report)


def test_some_text_in_a_number_column_is_counted_instead(write_text: WriteText, read: ReadPaths) -> None:
    rows = f"p,{SECRET},2,48,2,1\n" * 5 + "p,48,2,48,2,1\n" * 5
    assert read(write_text("a.csv", TRIPS + rows)).report.dropped == {"unparsable": 5}


def test_lines_that_do_not_fit_the_first_one(write_text: WriteText, read: ReadPaths) -> None:
    text = "origin,destination\n" + f"A,B,{SECRET}\n" * 20 + "A,B\n"
    assert "fields" in refused(lambda: read(write_text("a.csv", text)).report)


def test_negative_weights_are_counted(write_text: WriteText, read: ReadPaths) -> None:
    rows = "p,48,2,48,2,-1\n" * 25 + "p,48,2,48,2,1\n" * 25
    assert read(write_text("a.csv", TRIPS + rows)).report.dropped == {"negative_weight": 25}


def test_a_column_of_negative_numbers_is_no_weight(write_text: WriteText, read: ReadPaths) -> None:
    rows = f"p,{PLACE},2,48,2,-1\n" * 3 + "p,48,2,48,2,1\n" * 2
    words = refused(lambda: read(write_text("a.csv", TRIPS + rows)).report)
    assert "most values of column 'weight' are negative" in words
    assert "weight='none'" in words


def test_missing_weights_are_counted(write_parquet: WriteParquet, read: ReadPaths) -> None:
    columns = {"o": ["A"] * 3, "d": ["B"] * 3, "weight": [1.0, float("nan"), None]}
    assert read(write_parquet("a.parquet", columns)).report.dropped == {"missing_weight": 2}


def test_swapped_coordinates(write_text: WriteText, read: ReadPaths) -> None:
    rows = f"p,-122.5,{PLACE},-122.4,37.8,1\n" * 3 + "p,37.7,-122.5,37.8,-122.4,1\n" * 2
    words = refused(lambda: read(write_text("a.csv", TRIPS + rows)).report)
    assert "swapped" in words
    assert "origin_lat='o_lon', origin_lon='o_lat', destination_lat='d_lon', destination_lon='d_lat'" in words
    # As advised, the other way round, the swapped rows are the few.
    few = rows + "p,37.7,-122.5,37.8,-122.4,1\n" * 2
    assert read(write_text("a.csv", TRIPS + few)).report.dropped == {"swapped": 3}


def test_swapped_coordinates_that_only_an_area_shows(write_text: WriteText, read: ReadPaths) -> None:
    rows = f"p,2.35,{PLACE},2.36,48.86,1\n" * 5
    path = write_text("a.csv", TRIPS + rows)
    assert read(path).report.kept == 5
    assert "swapped" in refused(lambda: read(path, box=(48, 2, 49, 3)).report)
    ring = "[[2,48],[3,48],[3,49],[2,49],[2,48]]"
    polygon = write_text("area.json", f'{{"type": "Polygon", "coordinates": [{ring}]}}')
    assert "swapped" in refused(lambda: read(path, polygon=str(polygon)).report)


def test_swapped_gps_fixes_and_paths(write_text: WriteText, read: ReadPaths) -> None:
    fixes = "user_id,time,lat,lon\n" + f"p,60,-122.5,{PLACE}\np,90,-122.4,37.8\n"
    assert "lat='lon', lon='lat'" in refused(lambda: read(write_text("a.csv", fixes)).report)
    paths = f'taxi_id,polyline\n1,"[[{PLACE},-122.5],[37.8,-122.4]]"\n'
    assert "longitude first" in refused(lambda: read(write_text("b.csv", paths)).report)


def test_everything_dropped_says_why(write_text: WriteText, read: ReadPaths) -> None:
    rows = "p,0,0,48,2,1\n" * 20 + "p,,0,48,2,1\n" * 2
    words = read(write_text("a.csv", TRIPS + rows)).report.why_empty()
    assert "coordinate is (0, 0): 20 rows" in words
    assert "not a finite number: some rows" in words


def test_missing_columns_name_the_file(write_text: WriteText, read: ReadPaths) -> None:
    good = write_text("a.csv", "origin,destination\nA,B\n")
    bad = write_text("b.csv", "zone,name\nA,B\n")
    assert refused(lambda: read(good, bad), MissingColumnError).startswith("b.csv: ")


@pytest.mark.parametrize(
    "where",
    [
        "age >",
        "nothing = 3",
        "age::int > 3",
        "1 = 1; drop table x",
        "count(*) > 1",
        "age > 20",
        "error(user_id)",
    ],
)
def test_conditions_that_do_not_fit(where: str, write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("a.csv", f"origin,destination,user_id,age\nA,B,{SECRET},{SECRET}\n")
    refused(lambda: read(path, where=where).report)


def test_a_damaged_parquet_file(tmp_path: Path, read: ReadPaths) -> None:
    path = tmp_path / "a.parquet"
    rows = {
        name: [float(i % 89) + 0.123456 for i in range(20_000)]
        for name in ("o_lat", "o_lon", "d_lat", "d_lon")
    }
    pq.write_table(pa.table(rows), path, use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[1000:90_000] = bytes(len(content[1000:90_000]))
    path.write_bytes(content)
    assert "damaged" in refused(lambda: read(path).report)
    path.write_bytes(content[: len(content) // 2])
    assert "damaged" in refused(lambda: read(path))


def test_errors_while_rows_stream_hold_no_data(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    path = tmp_path / "a.parquet"
    # The bad row comes late, when Arrow already hands out rows and wraps the engine's errors.
    ids = [*map(str, range(300_000)), SECRET]
    pq.write_table(pa.table({"o": ids, "d": ids}), path, row_group_size=10_000)
    open_canonical(con, TripSource(paths=(str(path),)))

    def stream() -> None:
        with plain_errors("a.parquet"):
            for _ in con.sql("SELECT o_id::INT FROM canonical").to_arrow_reader(1000):
                pass

    refused(stream)


def test_wrong_sql_without_a_condition_is_our_own_bug(con: duckdb.DuckDBPyConnection) -> None:
    def ask(sql: str) -> None:
        with plain_errors("a.csv", has_condition=False):
            con.execute(sql).fetchall()

    refused(lambda: ask(f"SELECT {SECRET}"), InternalError)
    refused(lambda: ask(f"SELECT '{SECRET}'::INT"), InternalError)


def test_a_memory_limit_that_is_too_small(tmp_path: Path) -> None:
    with connect("20MB", threads=1) as con, plain_errors():
        con.execute("SET temp_directory = ''")
        words = refused(lambda: _sort(con))
    assert "memory=" in words


def _sort(con: duckdb.DuckDBPyConnection) -> None:
    with plain_errors():
        con.execute(
            "CREATE TEMP TABLE t AS SELECT hash(i) AS h, i::VARCHAR AS s FROM range(3000000) r(i) ORDER BY h"
        )


def test_errors_of_the_system_and_others_pass() -> None:
    for error in (FileNotFoundError(2, "no"), KeyError("x"), InputError("mine")):
        with pytest.raises(type(error)) as caught, plain_errors():
            raise error
        assert caught.value is error


def test_an_interruption_passes() -> None:
    with pytest.raises(KeyboardInterrupt), plain_errors():
        raise KeyboardInterrupt


def test_a_spill_folder_is_private_and_goes_away(tmp_path: Path) -> None:
    with connect("100MB", tmp_path) as con:
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        con.execute("CREATE TEMP TABLE t AS SELECT hash(i) AS h, hash(i + 1) AS g FROM range(10000000) r(i)")
        assert list(folder.iterdir())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"memory": "lots"}, "512MB"),
        ({"memory": "-1GB"}, "512MB"),
        ({"threads": 0}, "1 or more"),
        ({"spill_directory": Path("no/such/folder")}, "does not exist"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words), connect(**options):
        pass
