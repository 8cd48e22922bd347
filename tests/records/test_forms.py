"""Trips, zones, tables of counts, paths: what the view holds for each form of input."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import h3
import pyarrow as pa
import pytest

from tripcloak.ground.errors import InputError, MissingColumnError
from worlds.trip_readings import ReadPaths, WriteParquet, WriteText

TRIPS = "user_id,o_lat,o_lon,d_lat,d_lon\n"


def seconds(*moment: int) -> float:
    return datetime(*moment, tzinfo=UTC).timestamp()


def test_the_columns_of_the_view_are_those_the_input_has(write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text("a.csv", TRIPS + "p,48.8,2.3,48.9,2.4\n"))
    described = result.con.execute("DESCRIBE canonical").fetchall()
    assert [(name, type_) for name, type_, *_ in described] == [
        ("o_lat", "DOUBLE"),
        ("o_lon", "DOUBLE"),
        ("d_lat", "DOUBLE"),
        ("d_lon", "DOUBLE"),
        ("person", "VARCHAR"),
        ("reason", "UTINYINT"),
    ]
    canonical = result.canonical
    assert (canonical.form, canonical.endpoints, canonical.files) == ("trips", "points", 1)
    assert canonical.columns["person"] == "user_id"
    flags = (
        canonical.has_person,
        canonical.has_weight,
        canonical.has_trips,
        canonical.has_start,
        canonical.has_mark,
    )
    assert flags == (True, False, False, False, False)
    assert any("equal are kept as separate trips" in note for note in canonical.notes)


def test_all_columns_have_their_types(write_parquet: WriteParquet, read: ReadPaths) -> None:
    path = write_parquet(
        "a.parquet",
        {
            "o": ["A"],
            "d": ["B"],
            "trips": pa.array([3], pa.int32()),
            "weight": pa.array([2], pa.int8()),
            "start_time": pa.array([datetime(2024, 5, 1)], pa.timestamp("ns")),
            "end_time": pa.array([1_714_521_600_000], pa.int64()),
            "sex": pa.array(["f"]),
            "age": pa.array([30], pa.int16()),
        },
    )
    result = read(path, attributes=("sex", "Age"))
    types = ", ".join(f"typeof({name})" for name in result.canonical.names)
    assert dict(zip(result.canonical.names, result.rows(types)[0], strict=True)) == {
        "o_id": "VARCHAR",
        "d_id": "VARCHAR",
        "trips": "BIGINT",
        "weight": "DOUBLE",
        "start_time": "TIMESTAMP WITH TIME ZONE",
        "end_time": "TIMESTAMP WITH TIME ZONE",
        "attr_sex": "VARCHAR",
        "attr_Age": "SMALLINT",
        "mark": "UBIGINT",
        "reason": "UTINYINT",
    }
    assert result.rows("epoch(start_time), epoch(end_time)") == [(seconds(2024, 5, 1), seconds(2024, 5, 1))]


@pytest.mark.parametrize(
    ("written", "zone", "expected"),
    [
        ("2024-05-01 08:30:00", "UTC", seconds(2024, 5, 1, 8, 30)),
        ("2024-05-01 08:30:00", "Europe/Paris", seconds(2024, 5, 1, 6, 30)),
        ("2024-05-01T08:30:00Z", "Europe/Paris", seconds(2024, 5, 1, 8, 30)),
        ("2024-05-01T08:30:00.250+02:00", "UTC", seconds(2024, 5, 1, 6, 30) + 0.25),
        ("2024-05-01 08:30-0500", "Europe/Paris", seconds(2024, 5, 1, 13, 30)),
        ("2024-05-01", "UTC", seconds(2024, 5, 1)),
        ("2024-12-01 08:30:00", "America/New_York", seconds(2024, 12, 1, 13, 30)),
        ("1714552200", "Europe/Paris", 1_714_552_200.0),
        ("1714552200500", "UTC", 1_714_552_200.5),
        ("1714552200500000", "UTC", 1_714_552_200.5),
    ],
)
def test_written_times(
    written: str, zone: str, expected: float, write_text: WriteText, read: ReadPaths
) -> None:
    path = write_text("a.csv", f"o,d,start_time\nA,B,{written}\n")
    assert read(path, timezone=zone).rows("epoch(start_time)") == [(expected,)]


def test_typed_times_without_a_zone_use_the_given_one(write_parquet: WriteParquet, read: ReadPaths) -> None:
    path = write_parquet("a.parquet", {"o": ["A"], "d": ["B"], "start_time": [datetime(2024, 5, 1, 8, 30)]})
    assert read(path, timezone="Europe/Paris").rows("epoch(start_time)") == [(seconds(2024, 5, 1, 6, 30),)]
    with pytest.raises(InputError, match="unknown time zone"):
        read(path, timezone="Mars/Olympus")


def test_times_with_and_without_an_offset_get_a_note(write_text: WriteText, read: ReadPaths) -> None:
    mixed = "o,d,start_time\nA,B,2024-05-01 08:30:00\nA,B,2024-05-01 08:30:00+02\n"
    result = read(write_text("a.csv", mixed), timezone="Europe/Paris")
    assert [note for note in result.canonical.notes if "Europe/Paris (set timezone=...)" in note]
    assert len(set(result.rows("start_time::VARCHAR"))) == 1
    alike = write_text("b.csv", "o,d,start_time\nA,B,2024-05-01 08:30:00\n")
    assert not any("offset" in note for note in read(alike).canonical.notes)
    other = write_text("c.csv", "o,d,start_time\nA,B,2024-05-01 08:30:00Z\n")
    assert not any("offset" in note for note in read(other).canonical.notes)
    assert any("offset" in note for note in read(alike, other).canonical.notes)


def test_marks_tell_duplicates_from_equal_trips_of_other_people(
    write_text: WriteText, read: ReadPaths
) -> None:
    header = "row,user_id,o,d,start_time,sex\n"
    same = "p,A,B,2024-05-01 08:00:00,f\n"
    lines = [
        f"1,{same}",
        f"2,{same}",
        f"3,{same.replace('p', 'q')}",
        f"4,{same.replace('f', 'm')}",
        "5,p,A,B,,f\n",
        "6,p,A,B,,f\n",
    ]
    path = write_text("a.csv", header + "".join(lines))
    marks = [n for (n,) in read(path, attributes=("sex",)).rows("count(*) OVER (PARTITION BY mark)")]
    assert marks == [1, 1, 1, 1, 2, 2]
    # Without the attribute the fourth row is one more copy of the first.
    assert max(read(path).rows("count(*) OVER (PARTITION BY mark)")) == (3,)
    # Ids of rows say nothing; an id of its own makes a trip.
    path = write_text("b.csv", header.replace("row", "ride_id") + "".join(lines))
    assert max(read(path).rows("count(*) OVER (PARTITION BY mark)")) == (1,)


def test_zone_ids(write_parquet: WriteParquet, read: ReadPaths) -> None:
    cell = h3.latlng_to_cell(48.85, 2.35, 9)
    path = write_parquet(
        "a.parquet",
        {
            "station_o": ["012", "NA", "", None, "nan"],
            "number_o": pa.array([12, 7, 7, 7, 7], pa.int32()),
            "float_o": [12.0, 7.0, math.nan, 3.5, None],
            "h3_int": pa.array([int(cell, 16)] * 5, pa.uint64()),
            "d": ["B"] * 5,
        },
    )

    def origins(column: str) -> list[str]:
        return [value for (value,) in read(path, columns={"origin": column}).rows("o_id")]

    assert origins("station_o") == ["012", "NA"]
    assert origins("number_o") == ["12", "7", "7", "7", "7"]
    assert origins("float_o") == ["12", "7"]
    assert origins("h3_int") == [cell] * 5
    assert read(path, columns={"origin": "station_o"}).report.dropped == {"missing_zone": 3}
    assert read(path, columns={"origin": "station_o"}, zone_prefix=2).rows("o_id") == [("01",), ("NA",)]


def test_a_table_of_counts(write_text: WriteText, read: ReadPaths) -> None:
    text = (
        "origin,destination,flow\nA,B,3\nA,C,0\nA,D,\nA,E,-1\nA,F,2.5\nA,G,4.0\nA,H,many\n,B,3\nA,I,1e300\n"
    )
    result = read(write_text("a.csv", text))
    assert result.canonical.form == "counts"
    assert result.rows("d_id, trips") == [("B", 3), ("G", 4)]
    assert result.report.dropped == {"unparsable": 1, "missing_zone": 1, "bad_trips": 4, "zero_trips": 1}
    assert not result.canonical.people_once


@pytest.mark.parametrize(
    ("column", "given", "once"),
    [
        ("commuters", None, True),
        ("S000", None, True),
        ("Jobs", None, True),
        ("trips", None, False),
        ("trips", True, True),
        ("commuters", False, False),
    ],
)
def test_people_counted_once(
    column: str, given: bool | None, once: bool, write_text: WriteText, read: ReadPaths
) -> None:
    path = write_text("a.csv", f"origin,destination,{column}\nA,B,3\n")
    assert read(path, people_once=given).canonical.people_once is once


PATHS = {
    "[[-8.61,41.14],[-8.62,41.15],[-8.63,41.16]]": (41.14, -8.61, 41.16, -8.63),
    " [ [-8.61, 41.14, 9.5] , [-8.63, 41.16, 3] ] ": (41.14, -8.61, 41.16, -8.63),
    "[[-8.61,41.14],[-8.61,41.14]]": (41.14, -8.61, 41.14, -8.61),
}


def test_paths_give_their_first_and_last_pair(write_parquet: WriteParquet, read: ReadPaths) -> None:
    result = read(write_parquet("a.parquet", {"polyline": list(PATHS)}))
    assert result.canonical.form == "polyline"
    assert result.rows("o_lat, o_lon, d_lat, d_lon") == sorted(PATHS.values())


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("[]", "single_fix"),
        ("[[-8.61,41.14]]", "single_fix"),
        ("[[-8.61,41.14],[-8.62,41.15]", "unparsable"),
        ("[[-8.61,x],[-8.62,41.15]]", "unparsable"),
        ("LINESTRING (1 2, 3 4)", "unparsable"),
        ("", "missing_coordinate"),
        (None, "missing_coordinate"),
        ("[[-8.61,141.14],[-8.62,41.15]]", "swapped"),
    ],
)
def test_bad_paths(path: str | None, reason: str, write_parquet: WriteParquet, read: ReadPaths) -> None:
    result = read(write_parquet("a.parquet", {"polyline": [path, *PATHS]}))
    assert result.report.dropped == {reason: 1}


def test_paths_as_nested_lists(write_parquet: WriteParquet, read: ReadPaths) -> None:
    lists = [[[-8.61, 41.14], [-8.63, 41.16]], [[-8.61, 41.14]], [], None]
    result = read(write_parquet("a.parquet", {"polyline": lists}))
    assert result.rows("o_lat, o_lon, d_lat, d_lon") == [(41.14, -8.61, 41.16, -8.63)]
    assert result.report.dropped == {"single_fix": 2, "missing_coordinate": 1}


def test_a_condition_on_raw_columns(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("a.csv", "o,d,city,age\nA,B,x,30\nA,C,y,4\nA,D,x,\n")
    assert read(path, where="city = 'x' -- the first").rows("d_id") == [("B",), ("D",)]
    assert read(path, where="try_cast(age as int) > 10").report.rows == 1
    nothing = read(path, where="city = 'z'").report
    assert (nothing.rows, nothing.kept) == (0, 0)
    assert "no row was read" in nothing.why_empty()


def test_an_empty_person_column_is_no_person(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("a.csv", "o,d,user_id,city\nA,B,,x\nA,B,NA,x\nA,B,p,y\n")
    result = read(path, where="city = 'x'")
    assert not result.canonical.has_person
    assert any("'user_id' is empty" in note for note in result.canonical.notes)
    partly = read(path)
    assert partly.canonical.has_person
    assert any("volume but no traveller" in note for note in partly.canonical.notes)
    assert partly.rows("person") == [("p",), (None,), (None,)]


def test_vehicles_get_a_note(write_text: WriteText, read: ReadPaths) -> None:
    assert any(
        "vehicles" in note for note in read(write_text("a.csv", "o,d,bike_id\nA,B,1\n")).canonical.notes
    )
    assert not any(
        "vehicles" in note for note in read(write_text("b.csv", "o,d,uid\nA,B,1\n")).canonical.notes
    )


def test_a_missing_attribute_lists_the_columns(write_text: WriteText, read: ReadPaths) -> None:
    with pytest.raises(MissingColumnError, match=r"no attribute column mode; its columns are: o, d"):
        read(write_text("a.csv", "o,d\nA,B\n"), attributes=("mode",))


@pytest.mark.parametrize(
    ("role", "values"),
    [
        ("origin_lat", [True]),
        ("start_time", [True]),
        ("person", [[1]]),
        ("polyline", [1.5]),
        ("origin", [b"x"]),
    ],
)
def test_a_column_of_the_wrong_type_is_named(
    role: str, values: list[object], write_parquet: WriteParquet, read: ReadPaths
) -> None:
    numbers = {name: [1.5] for name in ("o_lat", "o_lon", "d_lat", "d_lon")}
    ids = {"d": ["B"]} if role == "origin" else {}
    path = write_parquet("a.parquet", {**numbers, **ids, "odd": values})
    form = "polyline" if role == "polyline" else None
    with pytest.raises(InputError, match=r"column 'odd' cannot be the .* expected .* such as"):
        read(path, columns={role: "odd"}, form=form)
