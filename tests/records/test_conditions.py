"""A condition tests columns of the input and reads nothing else, whoever wrote it down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from tripcloak.ground.engine import close_to_files, connect
from tripcloak.ground.errors import InputError
from tripcloak.records.conditions import check_condition
from worlds.trip_readings import ReadPaths, WriteText

CSV = "origin,destination,city,age\nA,B,x,9\nC,D,x,30\nE,F,y,70\n"

CONDITIONS = {
    "city = 'x'": 2,
    "city = 'x' -- the first": 2,
    "city = 'x' /* and more */ and try_cast(age as double) > 10": 1,
    "city in ('x', 'y') and age between '3' and '8'": 2,
    "case when city = 'x' then age = '9' else true end": 2,
    "len(list_filter([1, 2, 3], lambda n: n > try_cast(age as int))) = 0": 3,
    "city || ';' = 'x;'": 2,
    "(city = 'x') or (city = 'y')": 3,
    "city = 'x') or (city = 'y'": 3,
    "true": 3,
}


@pytest.mark.parametrize("where", CONDITIONS)
def test_a_test_of_columns_is_taken(where: str, write_text: WriteText, read: ReadPaths) -> None:
    assert read(write_text("trips.csv", CSV), where=where).report.rows == CONDITIONS[where]


REFUSED = {
    "city in (select city from 'other.csv')": "query of its own",
    "exists (from read_text('other.csv'))": "query of its own",
    "city = any (select city from read_csv('other.csv'))": "query of its own",
    "array(select 1) = [1]": "query of its own",
    "case when (with q as (select 1 as n) select n from q) = 1 then true end": "query of its own",
    "row_number() over () < 2": "other rows",
    "city = $1": "not one SQL condition",
    "city = ?": "not one SQL condition",
    "true; select 1": "not one SQL condition",
    "true); drop table x; select (1": "not one SQL condition",
    "true) union all select * from read_csv('other.csv') where (true": "not one SQL condition",
    "true)) union all (select * from read_csv('other.csv') where (true": "not one SQL condition",
    "true) group by (city": "not one SQL condition",
    "true) order by (city": "not one SQL condition",
    "true) limit (1": "not one SQL condition",
    "true) qualify (row_number() over () < 2": "not one SQL condition",
    "city >": "not one SQL condition",
    "": "empty",
    " \n": "empty",
    "-- nothing": "not one SQL condition",
    "/*": "not one SQL condition",
    "(" * 5000 + "true" + ")" * 5000: "not one SQL condition",
    "not " * 900 + "true": "not one SQL condition",
}


@pytest.mark.parametrize("where", REFUSED, ids=[where[:60] for where in REFUSED])
def test_anything_else_is_refused(where: str, write_text: WriteText, read: ReadPaths) -> None:
    write_text("other.csv", "city\nsecret\n")
    with pytest.raises(InputError, match=REFUSED[where]) as told:
        read(write_text("trips.csv", CSV), where=where)
    assert "secret" not in str(told.value)
    assert "put what it needs into a column" in str(told.value)


def test_what_is_no_text_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    words: Any = ["true"]
    with pytest.raises(InputError, match="is not text"):
        check_condition(con, words)


def test_the_engine_opens_no_other_file_once_there_is_a_condition(
    write_text: WriteText, read: ReadPaths, con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Should the parser ever let something through, there is still nothing to be had."""
    other = write_text("other.csv", "city\nsecret\n")
    inputs = [write_text(f"{name}.csv", CSV) for name in ("trips", "a*b", "[x]")]
    assert read(*inputs, where="city = 'x'").report.rows == 6
    for query in (
        f"select * from '{other}'",
        f"select * from read_text('{other}')",
        f"select * from glob('{tmp_path}/*')",
        f"copy (select 1) to '{tmp_path}/made.csv'",
        f"attach '{tmp_path}/made.db'",
        "set enable_external_access = true",
        f"set allowed_paths = ['{other}']",
    ):
        with pytest.raises(duckdb.Error):
            con.execute(query)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "[x].csv",
        "a*b.csv",
        "other.csv",
        "trips.csv",
    ]


def test_a_condition_goes_on_when_memory_is_short() -> None:
    """What does not fit waits in the connection's own folder, which stays open to it."""
    with connect("40MB", threads=1) as con:
        close_to_files(con, [])
        many = "select distinct md5(n::varchar) || md5((n + 1)::varchar) as text from range(600000) t(n)"
        assert con.execute(f"select count(*) from ({many})").fetchall() == [(600000,)]
