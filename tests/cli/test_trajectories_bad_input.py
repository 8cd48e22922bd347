"""Bad input of trajectories: the right exit code, words that help, nothing personal, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from worlds.fixes import leaked, some_fixes
from worlds.trips import Row, without, write_csv


def refused(tripcloak, untouched, tmp_path: Path, *arguments: object, rows: list[Row], code: int = 2) -> str:
    """Run anonymise, check that it refuses and leaves nothing, and return what it said."""
    with untouched():
        told = tripcloak("trajectories", "anonymise", *arguments, "--out", tmp_path / "out")
    assert told.code == code
    assert told.out == ""
    assert told.err.startswith("Error: ")
    assert "Traceback" not in told.err
    assert leaked(told.err, rows) == []
    return str(told.words)


def cleaned(tripcloak, tmp_path: Path, rows: list[Row], *arguments: object, k: int = 2):
    """Run anonymise on rows, check that it goes well, and return what it says as JSON."""
    file = write_csv(tmp_path / "fixes.csv", rows)
    told = tripcloak(
        "trajectories", "anonymise", file, "--k", k, "--out", tmp_path / "out", "--json", *arguments
    )
    assert (told.code, told.err) == (0, "")
    assert told.json["audit"]["safe"]
    assert told.json["audit"]["smallest_support"] >= k
    assert leaked(" ".join(told.json["notes"]), rows) == []
    return told.json


@pytest.fixture
def rows() -> list[Row]:
    return some_fixes()


@pytest.fixture
def fixes(tmp_path: Path, rows: list[Row]) -> Path:
    return write_csv(tmp_path / "fixes.csv", rows)


def test_no_such_file(tripcloak, untouched, tmp_path):
    assert "no file" in refused(tripcloak, untouched, tmp_path, tmp_path / "none.csv", rows=[])


def test_an_empty_file(tripcloak, untouched, tmp_path):
    empty = tmp_path / "fixes.csv"
    empty.touch()
    assert "fixes.csv is empty" in refused(tripcloak, untouched, tmp_path, empty, rows=[])


def test_a_file_of_column_names_only(tripcloak, untouched, tmp_path, rows):
    file = write_csv(tmp_path / "fixes.csv", [], columns=list(rows[0]))
    assert "no row" in refused(tripcloak, untouched, tmp_path, file, rows=rows)


@pytest.mark.parametrize(
    ("column", "flag"), [("lat", "--lat"), ("timestamp", "--time"), ("user_id", "--person")]
)
def test_a_missing_column_is_named_with_its_flag(tripcloak, untouched, tmp_path, rows, column, flag):
    file = write_csv(tmp_path / "fixes.csv", without(rows, column))
    words = refused(tripcloak, untouched, tmp_path, file, rows=rows)
    assert flag in words
    assert "lon" in words


def test_a_column_that_is_not_there(tripcloak, untouched, tmp_path, fixes, rows):
    words = refused(tripcloak, untouched, tmp_path, fixes, "--person", "rider", rows=rows)
    assert "'rider'" in words
    assert "user_id" in words


def test_one_person_alone(tripcloak, untouched, tmp_path):
    rows = some_fixes(1)
    file = write_csv(tmp_path / "fixes.csv", rows)
    assert "one person alone" in refused(tripcloak, untouched, tmp_path, file, rows=rows)


def test_k_above_the_number_of_people(tripcloak, untouched, tmp_path, fixes, rows):
    words = refused(tripcloak, untouched, tmp_path, fixes, "--k", 13, rows=rows, code=1)
    assert "k = 13 needs 13 people" in words
    assert "smaller k" in words


@pytest.mark.parametrize("k", [1, 0, -3])
def test_a_k_that_hides_nobody(tripcloak, untouched, tmp_path, fixes, rows, k):
    assert "2 or more" in refused(tripcloak, untouched, tmp_path, fixes, "--k", k, rows=rows)


def test_an_empty_window_of_time(tripcloak, untouched, tmp_path, fixes, rows):
    words = refused(tripcloak, untouched, tmp_path, fixes, "--since", "2031-01-01", rows=rows)
    assert "window" in words
    assert "--since" in words


def test_a_window_that_ends_before_it_begins(tripcloak, untouched, tmp_path, fixes, rows):
    window = ("--since", "2024-05-14", "--until", "2024-05-13")
    assert "--until must be later" in refused(tripcloak, untouched, tmp_path, fixes, *window, rows=rows)


def test_a_box_elsewhere(tripcloak, untouched, tmp_path, fixes, rows):
    words = refused(tripcloak, untouched, tmp_path, fixes, "--box", "10,10,11,11", rows=rows)
    assert "outside the box" in words


def test_text_for_a_box(tripcloak, untouched, tmp_path, fixes, rows):
    assert "--box takes" in refused(tripcloak, untouched, tmp_path, fixes, "--box", "here", rows=rows)


def test_a_method_that_is_not_there(tripcloak, untouched, tmp_path, fixes, rows):
    words = refused(tripcloak, untouched, tmp_path, fixes, "--method", "k-magic", rows=rows)
    assert all(name in words for name in ("k-scale", "glove", "w4m", "nwa"))


@pytest.mark.parametrize(
    ("method", "option", "value"),
    [("k-scale", "--delta", 100), ("glove", "--neighbours", 5), ("w4m", "--constraint", "full")],
)
def test_an_option_of_another_method(tripcloak, untouched, tmp_path, fixes, rows, method, option, value):
    words = refused(tripcloak, untouched, tmp_path, fixes, "--method", method, option, value, rows=rows)
    assert f"{method} has no option {option}" in words


def test_an_output_folder_that_is_taken(tripcloak, tmp_path, fixes, rows):
    arguments = ("trajectories", "anonymise", fixes, "--k", 2, "--out", tmp_path / "out")
    assert tripcloak(*arguments).code == 0
    manifest = tmp_path / "out" / "release" / "manifest.json"
    before = manifest.read_bytes()
    told = tripcloak(*arguments)
    assert told.code == 2
    assert "already holds a release" in told.words
    assert "--force" in told.words
    assert manifest.read_bytes() == before
    assert tripcloak(*arguments, "--force").code == 0
    assert manifest.read_bytes() != before


def test_people_of_one_sample_are_hidden_too(tripcloak, tmp_path):
    rows = some_fixes(10) + some_fixes(4, samples=1, seed=2)
    found = cleaned(tripcloak, tmp_path, rows)
    assert found["users"] == 14
    assert found["released"]["trajectories"] == 14


def test_unsorted_rows_give_the_same(tripcloak, tmp_path, rows):
    def told(rows):
        found = cleaned(tripcloak, tmp_path, rows, "--force")
        return {name: found[name] for name in ("users", "samples", "released", "metrics", "facts")}

    backwards, mixed = rows[::-1], rows[1::2] + rows[::2]
    assert told(rows) == told(backwards) == told(mixed)


def test_equal_rows_count_once(tripcloak, tmp_path, rows):
    found = cleaned(tripcloak, tmp_path, rows + rows[:7])
    assert found["samples"] == len(rows)
    assert sum(found["cleaning"]["dropped"].values()) == 7


def test_two_places_at_one_instant_are_kept_and_noted(tripcloak, tmp_path, rows):
    twice = [{**row, "lat": f"{float(row['lat']) + 0.01:.9f}"} for row in rows[:5]]
    found = cleaned(tripcloak, tmp_path, rows + twice)
    assert found["samples"] == len(rows) + 5
    assert any("same person and instant" in note for note in found["notes"])


def test_jumps_across_the_world_are_dropped_and_counted(tripcloak, tmp_path, rows):
    jumped = [{**row, "lat": "-33.9", "lon": "151.2"} if n % 24 == 3 else row for n, row in enumerate(rows)]
    found = cleaned(tripcloak, tmp_path, jumped)
    assert found["cleaning"]["dropped"] == {"jump": 4}
    assert found["metrics"]["spatial_error_km"]["q95"] < 100


def test_times_that_are_none_are_dropped_and_counted(tripcloak, tmp_path, rows):
    odd = [{**row, "timestamp": "1901-01-01 00:00:00"} if n % 24 == 3 else row for n, row in enumerate(rows)]
    found = cleaned(tripcloak, tmp_path, odd)
    assert sum(found["cleaning"]["dropped"].values()) == 4


def test_trips_that_end_before_they_begin_are_dropped_and_counted(tripcloak, tmp_path):
    rows = some_fixes(12)
    trips = [trip(one, other) for one, other in zip(rows[::2], rows[1::2], strict=True)]
    trips[3] = {**trips[3], "start_time": "2024-05-15 00:00:00"}
    found = cleaned(tripcloak, tmp_path, trips)
    assert found["cleaning"]["dropped"] == {"end_before_start": 2}
    assert found["samples"] == 2 * len(trips) - 2


def trip(one: Row, other: Row) -> Row:
    """Return the trip from one fix to another."""
    return {
        "person": one["user_id"],
        "start_time": one["timestamp"],
        "end_time": other["timestamp"],
        **{f"origin_{axis}": one[axis] for axis in ("lat", "lon")},
        **{f"destination_{axis}": other[axis] for axis in ("lat", "lon")},
    }


def test_trips_without_an_end_are_no_trajectories(tripcloak, untouched, tmp_path, rows):
    trips = [trip(one, other) for one, other in zip(rows[::2], rows[1::2], strict=True)]
    file = write_csv(tmp_path / "trips.csv", without(trips, "end_time"))
    assert "--end-time" in refused(tripcloak, untouched, tmp_path, file, rows=rows)


def test_a_format_that_is_not_there(tripcloak, untouched, tmp_path, fixes, rows):
    words = refused(tripcloak, untouched, tmp_path, fixes, "--formats", "geojson,shp", rows=rows)
    assert "no such format: shp" in words
    assert "mfjson" in words


def test_trips_of_nobody_are_no_trajectories(tripcloak, untouched, tmp_path, rows):
    trips = [trip(one, other) for one, other in zip(rows[::2], rows[1::2], strict=True)]
    file = write_csv(tmp_path / "trips.csv", without(trips, "person"))
    assert "--person" in refused(tripcloak, untouched, tmp_path, file, rows=rows)
