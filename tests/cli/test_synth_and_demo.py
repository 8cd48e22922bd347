"""tripcloak synth and tripcloak demo: made-up data, whole or not at all, never over something else."""

from __future__ import annotations

import re

import pytest
from pyarrow import csv, parquet

from worlds.folders import contents, is_whole


def test_a_city_of_exactly_so_many_trips(tripcloak, tmp_path):
    file = tmp_path / "city.parquet"
    told = tripcloak("synth", "city", "--trips", 1234, "--people", 300, "--seed", 5, "--out", file)
    assert (told.code, told.out, told.err) == (0, "", "")
    table = parquet.read_table(file)
    assert table.num_rows == 1234
    assert len(table["person_id"].unique()) == 300


def test_the_same_seed_gives_the_same_city(tripcloak, tmp_path):
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        assert tripcloak("synth", "city", "--trips", 500, "--seed", seed, "--out", tmp_path / name).code == 0
    found = contents(tmp_path)
    assert found["one"] == found["two"] != found["three"]


def test_a_file_that_is_there_is_not_replaced_without_force(tripcloak, untouched, tmp_path):
    file = tmp_path / "city.parquet"
    file.write_text("mine")
    with untouched():
        told = tripcloak("synth", "city", "--trips", 500, "--out", file)
    assert told.code == 2
    assert "--force" in told.words
    assert tripcloak("synth", "city", "--trips", 500, "--out", file, "--force").code == 0
    assert parquet.read_metadata(file).num_rows == 500


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--trips", "0"], "trips"),
        (["--trips", "many"], "valid integer"),
        (["--people", "9", "--trips", "5"], "people"),
        (["--days", "0"], "days"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_a_city_that_cannot_be(tripcloak, untouched, tmp_path, options, words):
    with untouched():
        told = tripcloak("synth", "city", "--out", tmp_path / "city.parquet", *options)
    assert told.code == 2
    assert words in told.words


@pytest.mark.parametrize("name", ["survey.parquet", "survey.csv"])
@pytest.mark.parametrize("form", ["points", "trips"])
def test_a_survey_can_be_described_as_it_is(tripcloak, tmp_path, name, form):
    file = tmp_path / name
    told = tripcloak("synth", "survey", "--people", 40, "--seed", 7, "--form", form, "--out", file)
    assert (told.code, told.out, told.err) == (0, "", "")
    found = tripcloak("describe", file, "--json").json
    assert found["numbers"]["travellers"] == 40
    assert found["units"] == ["trips", "travellers", "population"]
    assert ("before" in found["cleaning"]) == (form == "points")


@pytest.mark.parametrize(
    ("options", "words"), [(["--people", "0"], "people"), (["--form", "fixes"], "expected points or trips")]
)
def test_a_survey_that_cannot_be(tripcloak, untouched, tmp_path, options, words):
    with untouched():
        told = tripcloak("synth", "survey", "--out", tmp_path / "survey.parquet", *options)
    assert told.code == 2
    assert words in told.words


@pytest.mark.parametrize("name", ["cdr.parquet", "cdr.csv"])
def test_calls_of_exactly_so_many_users(tripcloak, tmp_path, name):
    file = tmp_path / name
    told = tripcloak("synth", "cdr", "--users", 30, "--samples", 12, "--equal", "--seed", 5, "--out", file)
    assert (told.code, told.out, told.err) == (0, "", "")
    table = csv.read_csv(file) if name.endswith("csv") else parquet.read_table(file)
    assert table.column_names == ["user_id", "timestamp", "antenna_id", "lat", "lon"]
    assert set(table["user_id"].value_counts().field("counts").to_pylist()) == {12}
    assert len(table) == 360


def test_calls_in_two_files(tripcloak, tmp_path):
    calls, stations = tmp_path / "cdr.parquet", tmp_path / "stations.csv"
    options = ("--users", 30, "--antennas", 90, "--no-positions", "--stations", stations)
    told = tripcloak("synth", "cdr", *options, "--out", calls)
    assert (told.code, told.out, told.err) == (0, "", "")
    table, antennas = parquet.read_table(calls), csv.read_csv(stations)
    assert table.column_names == ["user_id", "timestamp", "antenna_id"]
    assert antennas.column_names == ["antenna_id", "lat", "lon"]
    assert len(antennas) == 90
    assert set(table["antenna_id"].to_pylist()) <= set(antennas["antenna_id"].to_pylist())


@pytest.mark.parametrize("taken", ["cdr.parquet", "stations.parquet"])
def test_neither_file_of_calls_is_replaced_without_force(tripcloak, untouched, tmp_path, taken):
    (tmp_path / taken).write_text("mine")
    files = ("--out", tmp_path / "cdr.parquet", "--stations", tmp_path / "stations.parquet")
    with untouched():
        told = tripcloak("synth", "cdr", "--users", 5, *files)
    assert told.code == 2
    assert "--force" in told.words
    assert tripcloak("synth", "cdr", "--users", 5, *files, "--force").code == 0
    assert parquet.read_metadata(tmp_path / taken).num_rows > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--users", "0"], "users"),
        (["--samples", "0"], "samples"),
        (["--days", "400"], "days"),
        (["--antennas", "1"], "antennas"),
        (["--stations", "here"], "file of their own"),
    ],
)
def test_calls_that_cannot_be(tripcloak, untouched, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    with untouched():
        told = tripcloak("synth", "cdr", "--out", tmp_path / "here", *options)
    assert told.code == 2
    assert words in told.words


def test_a_city_needs_a_folder(tripcloak, untouched, tmp_path):
    with untouched():
        assert (
            tripcloak("synth", "city", "--trips", 500, "--out", tmp_path / "none" / "city.parquet").code == 2
        )
        assert tripcloak("synth", "city", "--trips", 500, "--out", tmp_path, "--force").code == 2


def test_the_demo_walks_the_whole_road(tripcloak, tmp_path):
    out = tmp_path / "demo"
    told = tripcloak("demo", "--trips", 3000, "--out", out)
    assert (told.code, told.err) == (0, "")
    lines = told.out.splitlines()
    assert [line[:2] for line in lines] == ["1.", "2.", "3.", "4.", "5."]
    assert "at least 10 people" in lines[1]
    assert "safe" in lines[2]
    assert (out / "release" / "map.html").resolve().as_uri() in lines[3]
    assert (out / "report.html").resolve().as_uri() in lines[4]
    assert is_whole(out)
    assert parquet.read_metadata(out / "city.parquet").num_rows == 3000
    assert tripcloak("audit", out, "--against", out / "city.parquet").code == 0


def test_the_demo_refuses_to_replace_a_release_or_a_city(tripcloak, untouched, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "city.parquet").write_text("mine")
    (tmp_path / "taken" / "release").mkdir(parents=True)
    with untouched():
        for folder in ("demo", "taken"):
            told = tripcloak("demo", "--trips", 3000, "--out", tmp_path / folder)
            assert told.code == 2
            assert "--force" in told.words


def test_a_second_demo_replaces_the_first_if_forced(tripcloak, tmp_path):
    out = tmp_path / "demo"
    assert tripcloak("demo", "--trips", 3000, "--out", out).code == 0
    before = contents(out)
    assert tripcloak("demo", "--trips", 2500, "--seed", 2, "--out", out, "--force").code == 0
    after = contents(out)
    assert set(after) == set(before)
    assert after["city.parquet"] != before["city.parquet"]
    assert is_whole(out)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")], ids=str)
@pytest.mark.parametrize("old", [False, True], ids=["nothing there", "an old demo"])
def test_a_demo_that_fails_leaves_things_as_they_were(
    tripcloak, untouched, tmp_path, monkeypatch, failure, old
):
    from tripcloak.flows import anonymise

    out = tmp_path / "below" / "demo"
    if old:
        assert tripcloak("demo", "--trips", 2500, "--out", out).code == 0

    def failing(*_, **__):
        raise failure

    monkeypatch.setattr(anonymise, "anonymise", failing)
    with untouched():
        told = tripcloak("demo", "--trips", 2000, "--out", out, "--force")
    assert told.code in (2, 130)
    assert "2. Released" not in told.out


def test_a_city_too_small_to_hide_anybody_in(tripcloak, untouched, tmp_path):
    with untouched():
        told = tripcloak("demo", "--trips", 20, "--out", tmp_path / "demo")
    assert told.code == 1
    assert re.search(r"not possible.*10 people", told.words)
