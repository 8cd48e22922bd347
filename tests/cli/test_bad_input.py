"""Bad input: the right exit code, words that help, nothing personal in them, and nothing left behind."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from worlds.trips import COORDINATES, Row, leaks, some_trips, without, write_csv


def changed(rows: list[Row], column: str, value: str, *, every: int = 1) -> list[Row]:
    """Return the rows with every n-th value of a column replaced."""
    return [{**row, column: value} if number % every == 0 else row for number, row in enumerate(rows)]


def refused(tripcloak, untouched, tmp_path: Path, *arguments: object, rows: list[Row], code: int = 2):
    """Run anonymise, check that it refuses and leaves nothing, and return what it said."""
    with untouched():
        told = tripcloak("anonymise", *arguments, "--out", tmp_path / "out")
    assert told.code == code
    assert told.out == ""
    assert told.err.startswith("Error: ")
    assert leaks(told.err, rows) == []
    return told.words


def test_an_empty_file(tripcloak, untouched, tmp_path):
    empty = tmp_path / "trips.csv"
    empty.touch()
    assert "trips.csv is empty" in refused(tripcloak, untouched, tmp_path, empty, rows=[])


def test_a_file_of_column_names_only(tripcloak, untouched, tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", [], columns=list(rows[0]))
    assert "no rows" in refused(tripcloak, untouched, tmp_path, file, rows=rows)


def test_missing_columns_are_named_with_their_flags(tripcloak, untouched, tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", without(rows, "end_lat", "end_lon"))
    words = refused(tripcloak, untouched, tmp_path, file, rows=rows)
    assert "--destination-lat" in words
    assert "--destination-lon" in words
    assert "start_lat" in words


def test_text_in_some_rows_of_a_number_column_is_counted(tripcloak, tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", changed(rows, "start_lat", "unknown", every=20))
    told = tripcloak("anonymise", file, "--out", tmp_path / "out", "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json["cleaning"] == {
        "word": "rows",
        "read": len(rows),
        "kept": len(rows) - len(rows) // 20,
        "dropped": {"unparsable": len(rows) // 20},
        "people": {"unparsable": len({row["person_id"] for row in rows[::20]})},
        "files": [
            {
                "name": "trips.csv",
                "read": len(rows),
                "kept": len(rows) - len(rows) // 20,
                "dropped": {"unparsable": len(rows) // 20},
                "without_id": 0,
            }
        ],
    }


def test_a_number_column_of_text_is_named(tripcloak, untouched, tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", changed(rows, "start_lat", "unknown"))
    words = refused(tripcloak, untouched, tmp_path, file, rows=rows)
    assert "'start_lat'" in words
    assert "--origin-lat" in words
    assert "unknown" not in words


@pytest.mark.parametrize("n", [1, 9])
def test_fewer_trips_than_k_are_impossible(tripcloak, untouched, tmp_path, n):
    rows = some_trips(n, people=1000)
    file = write_csv(tmp_path / "trips.csv", rows)
    words = refused(tripcloak, untouched, tmp_path, file, rows=rows, code=1)
    assert "at least 10 people" in words
    assert "smaller k" in words


def test_equal_trips_of_one_person_hide_nobody(tripcloak, untouched, tmp_path, rows):
    same = without(rows[:1] * 50, "start_time")
    file = write_csv(tmp_path / "trips.csv", same)
    assert "10 people" in refused(tripcloak, untouched, tmp_path, file, rows=rows, code=1)


def test_equal_trips_of_different_people_are_one_flow(tripcloak, tmp_path, rows):
    same = [{**rows[0], "person_id": f"somebody {number}"} for number in range(50)]
    file = write_csv(tmp_path / "trips.csv", same)
    told = tripcloak("anonymise", file, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    assert told.json["groups"] == 1
    assert told.json["metrics"]["G"] == 2
    assert told.json["metrics"]["S"] == 0


def test_trips_that_are_all_different_still_form_safe_groups(tripcloak, tmp_path):
    rows = [{**row, "person_id": f"somebody {n}"} for n, row in enumerate(some_trips(120, spread=3.0))]
    file = write_csv(tmp_path / "trips.csv", rows)
    told = tripcloak("anonymise", file, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    assert told.json["audit"]["smallest_support"] >= 10


def test_k_larger_than_the_data_is_impossible(tripcloak, untouched, tmp_path, trips, rows):
    words = refused(tripcloak, untouched, tmp_path, trips, "--k", 41, rows=rows, code=1)
    assert "at least 41 people" in words
    assert "tripcloak describe" in words


def test_a_column_of_negative_numbers_is_no_weight(tripcloak, untouched, tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", changed(rows, "weight", "-2.5", every=1))
    words = refused(tripcloak, untouched, tmp_path, file, rows=rows)
    assert "'weight' are negative" in words
    assert "2.5" not in words


def test_weights_that_cannot_be_are_dropped_and_counted(tripcloak, tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", changed(rows, "weight", "-2.5", every=10))
    told = tripcloak("anonymise", file, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    assert told.json["cleaning"]["dropped"] == {"negative_weight": len(rows) // 10}
    assert "--weight none" in " ".join(told.json["notes"])


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", ""])
@pytest.mark.parametrize(
    ("column", "reason"), [("end_lon", "missing_coordinate"), ("weight", "missing_weight")]
)
def test_nan_is_dropped_and_counted(tripcloak, tmp_path, rows, column, value, reason):
    file = write_csv(tmp_path / "trips.csv", changed(rows, column, value, every=10))
    told = tripcloak("anonymise", file, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    assert told.json["cleaning"]["dropped"] == {reason: len(rows) // 10}


def test_a_file_of_nan_has_no_usable_trip(tripcloak, untouched, tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", changed(rows, "end_lon", "nan"))
    words = refused(tripcloak, untouched, tmp_path, file, rows=rows)
    assert "no usable trip" in words
    assert "coordinate missing" in words


def test_swapped_coordinates_are_recognised_and_the_flags_given(tripcloak, untouched, tmp_path, rows):
    # Sydney: a latitude of 151 is off the map.
    moved = [
        {
            **row,
            **{name: f"{float(row[name]) - 82:.7f}" for name in COORDINATES[::2]},
            **{name: f"{float(row[name]) + 149:.7f}" for name in COORDINATES[1::2]},
        }
        for row in rows
    ]
    turned = [
        {**row, "start_lat": row["start_lon"], "start_lon": row["start_lat"]}
        | {"end_lat": row["end_lon"], "end_lon": row["end_lat"]}
        for row in moved
    ]
    file = write_csv(tmp_path / "trips.csv", turned)
    words = refused(tripcloak, untouched, tmp_path, file, rows=turned)
    assert "swapped" in words
    flags = words[words.index("--origin-lat") :].replace("'", "").split()
    told = tripcloak("anonymise", file, *flags, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    assert told.json["cleaning"]["kept"] == len(rows)


def test_mixed_time_zones_are_read_and_noted(tripcloak, tmp_path, rows):
    mixed = [
        {**row, "start_time": row["start_time"] + ("+02:00" if number % 2 else "")}
        for number, row in enumerate(rows)
    ]
    file = write_csv(tmp_path / "trips.csv", mixed)
    told = tripcloak("anonymise", file, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    (note,) = (note for note in told.json["notes"] if "offset" in note)
    assert "offset" in note
    assert "--timezone" in note
    assert told.json["cleaning"]["kept"] == len(rows)


@pytest.mark.parametrize("damage", ["garbage", "cut"])
def test_a_corrupt_parquet_file(tripcloak, untouched, tmp_path, trips, rows, damage):
    import duckdb

    whole, file = tmp_path / "whole.parquet", tmp_path / "trips.parquet"
    duckdb.sql(f"copy (from read_csv('{trips}')) to '{whole}'")
    data = whole.read_bytes()
    file.write_bytes(data[: len(data) // 2] if damage == "cut" else b"PAR1" + b"x" * 500 + b"PAR1")
    words = refused(tripcloak, untouched, tmp_path, file, rows=rows)
    assert "trips.parquet" in words
    assert "damaged" in words


def test_a_parquet_file_damaged_in_the_middle(tripcloak, untouched, tmp_path, trips, rows):
    import duckdb

    file = tmp_path / "trips.parquet"
    duckdb.sql(f"copy (from read_csv('{trips}')) to '{file}'")
    data = bytearray(file.read_bytes())
    data[200 : len(data) // 2] = b"\xff" * (len(data) // 2 - 200)
    file.write_bytes(data)
    assert "damaged" in refused(tripcloak, untouched, tmp_path, file, rows=rows)


def test_no_such_file_and_no_match(tripcloak, untouched, tmp_path):
    assert "no file" in refused(tripcloak, untouched, tmp_path, tmp_path / "none.csv", rows=[])
    assert "no file matches" in refused(tripcloak, untouched, tmp_path, tmp_path / "*.csv", rows=[])


def test_binary_data_named_csv(tripcloak, untouched, tmp_path):
    file = tmp_path / "trips.csv"
    file.write_bytes(bytes(range(256)) * 4)
    assert "UTF-8" in refused(tripcloak, untouched, tmp_path, file, rows=[])


@pytest.mark.parametrize("command", ["describe", "anonymise"])
def test_describe_refuses_what_anonymise_refuses(tripcloak, tmp_path, rows, command):
    file = write_csv(tmp_path / "trips.csv", changed(rows, "start_lat", "unknown"))
    out = ["--out", tmp_path / "out"] if command == "anonymise" else []
    told = tripcloak(command, file, *out, "--json")
    assert (told.code, told.out) == (2, "")
    assert "'start_lat'" in told.words
    assert leaks(told.err, rows) == []


def test_what_was_dropped_is_part_of_the_result(tripcloak, tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", changed(rows, "start_lat", "0", every=10) + rows[:5])
    told = tripcloak("anonymise", file, "--out", tmp_path / "out", "--box", "48,2,50,3")
    assert told.code == 0
    assert "outside the box" in " ".join(told.out.replace("│", " ").split())
    run = json.loads((tmp_path / "out" / "private" / "run.json").read_text())
    assert run["cleaning"]["dropped"] == {"outside_box": 40, "duplicate": 4}


def test_what_was_dropped_of_gps_fixes_is_told_too(tripcloak, tmp_path):
    fixes = [
        {"user": f"u{user}", "time": f"2024-05-01 08:{minute:02d}:00", "lat": lat, "lon": f"2.3{minute:02d}"}
        for user in range(30)
        for minute, lat in enumerate(["48.85", "195.0", "48.86", "48.87"])
    ]
    file = write_csv(tmp_path / "fixes.csv", fixes)
    assert tripcloak("anonymise", file, "--out", tmp_path / "out").code == 2
    told = tripcloak("anonymise", file, "--out", tmp_path / "out", "--tolerate", "25%")
    assert told.code == 0
    flat = " ".join(told.out.replace("│", " ").split())
    assert "fixes read 120" in flat
    assert "trips read 30" in flat
    assert "coordinate out of range 30" in flat


def test_what_was_lost_is_said_on_stderr_before_anything_is_made(tripcloak, tmp_path, rows):
    good = write_csv(tmp_path / "good.csv", rows)
    bad = write_csv(tmp_path / "bad.csv", changed(rows, "start_lat", "", every=4))
    told = tripcloak("anonymise", good, bad, "--out", tmp_path / "out")
    assert told.code == 0
    first, second, third, *_ = told.err.splitlines()
    assert re.fullmatch(r"The trips are from \S+ to \S+; their middle is \d+ km from Paris\.", first)
    assert re.fullmatch(r"Used [\d,]+ of [\d,]+ rows. Dropped:", second)
    assert re.match(r"  bad.csv: coordinate missing or not a finite number: \d+", third)
    assert tripcloak("anonymise", good, "--out", tmp_path / "other").err == ""
    holed = changed(changed(rows, "start_lat", "", every=40), "person_id", "", every=3)
    bare = write_csv(tmp_path / "bare.csv", holed)
    told = tripcloak("anonymise", bare, "--unit", "trips", "--out", tmp_path / "fourth")
    # Rows that are used without an id are not dropped, and not said to be.
    assert re.search(r"^  bare.csv: coordinate missing [^;]*: 10; kept without an id: \d+$", told.err, re.M)
    assert tripcloak("anonymise", good, bad, "--out", tmp_path / "third", "--json").err == ""
