"""A name that exists is that file, whatever characters it holds; only else may it be a pattern."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

import duckdb
import pytest

from tripcloak.ground.engine import connect
from tripcloak.ground.errors import InputError
from tripcloak.ground.exact_files import exact_path
from tripcloak.records.files.paths import expand_paths
from worlds.file_names import ODD_NAMES
from worlds.trip_readings import ReadPaths, WriteParquet, WriteText

LINES = 'origin,destination\n"{0}","{0}"\n'


def columns(place: str) -> dict[str, list[str]]:
    return {"origin": [place], "destination": [place]}


@pytest.fixture
def neighbours(write_text: WriteText, write_parquet: WriteParquet) -> None:
    """Every odd name as a file, and as the folder of one, side by side with what patterns would match."""
    for name in (*ODD_NAMES, "x", "a1b", "q1", "n", "b", "b/in", "b/s"):
        for place in (name, f"{name}/in"):
            write_text(f"{place}.csv", LINES.format(place))
            write_parquet(f"{place}.parquet", columns(place))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.usefixtures("neighbours")
def test_a_name_that_exists_is_that_file(
    ending: str, tmp_path: Path, read: ReadPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ODD_NAMES:
        for place in (name, f"{name}/in"):
            for path in (f"{place}.{ending}", tmp_path / f"{place}.{ending}"):
                found = read(path)
                assert (found.canonical.files, found.rows("o_id, d_id")) == (1, [(place, place)]), path


@pytest.mark.usefixtures("neighbours")
def test_a_folder_that_exists_is_that_folder(tmp_path: Path, read: ReadPaths) -> None:
    for name in ODD_NAMES:
        found = read(tmp_path / name)
        assert found.canonical.files == len([file for file in (tmp_path / name).rglob("*") if file.is_file()])


@pytest.mark.usefixtures("neighbours")
def test_what_does_not_exist_is_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "a*b.csv").unlink()
    assert [file.name for file in expand_paths([str(tmp_path / "a*b.csv")])] == ["a1b.csv"]
    (tmp_path / "[x].csv").unlink()
    assert [file.name for file in expand_paths([str(tmp_path / "[x].csv")])] == ["x.csv"]


def test_a_home_is_meant_only_where_nothing_has_that_name(
    tmp_path: Path, write_text: WriteText, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text("home/trips.csv", LINES)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert expand_paths(["~/trips.csv"]) == [tmp_path / "home" / "trips.csv"]
    write_text("~/trips.csv", LINES)
    assert expand_paths(["~/trips.csv"]) == [Path("~/trips.csv")]
    with pytest.raises(InputError, match="there is no file"):
        expand_paths(["~nobody-of-that-name/trips.csv"])


def test_a_table_of_base_stations_is_that_file(
    write_text: WriteText, write_parquet: WriteParquet, read: ReadPaths
) -> None:
    calls = write_text(
        "calls.csv",
        "user,timestamp,antenna_id\nu,2024-05-01 10:00:00,A\nu,2024-05-01 10:01:00,B\n",
    )
    for name, lat in (("x", 10.0), ("[x]", 20.0)):
        at = {"antenna_id": ["A", "B"], "lat": [lat, lat + 0.1], "lon": [5.0, 5.1]}
        stations = write_parquet(f"{name}.parquet", at)
    assert read(calls, stations=str(stations)).rows("o_lat, d_lat") == [(20.0, 20.1)]


def test_names_that_are_ids_stay_different(tmp_path: Path, read: ReadPaths) -> None:
    """Geolife's folders are called after people: those of odd names are people apart."""
    line = "39.9{0},116.3,0,100,39000.{1},2008-10-23,0{2}:53:04\n"
    for number, name in enumerate(("0*", "0?", "0%2A", "00")):
        folder = tmp_path / "Data" / name / "Trajectory"
        folder.mkdir(parents=True)
        lines = "".join(line.format(number, at, at) for at in (1, 2))
        (folder / "1.plt").write_text("\n" * 6 + lines, encoding="utf-8")
    people = read(tmp_path / "Data", preset="geolife", silence=10_000).rows("person", kept=False)
    assert len({person for (person,) in people}) == 4


def test_a_folder_that_exists_is_that_folder_in_a_pattern_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("[d]", "d"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trips.csv").write_text(LINES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for start in ("", f"{tmp_path}/"):
        assert expand_paths([f"{start}[d]/*.csv"]) == [Path(f"{start}[d]/trips.csv")]
        assert expand_paths([f"{start}[d]*/*.csv"]) == [Path(f"{start}d/trips.csv")]


def test_links_are_plain_private_and_gone_with_the_connection(tmp_path: Path) -> None:
    odd = tmp_path / "[x]" / ("*" * 250)
    odd.parent.mkdir()
    odd.write_text(LINES, encoding="utf-8")
    with connect(threads=1) as con:
        link = Path(exact_path(con, odd))
        assert link.resolve() == odd.resolve()
        assert exact_path(con, odd) == str(link)
        assert not set(str(link)) & set("*?[]\\")
        folder = link.parents[len(odd.parts) - 2]
        assert folder.stat().st_mode & 0o777 == 0o700
        assert os.listdir(folder) == [odd.parts[1]]
        with duckdb.connect() as other:
            assert exact_path(other, odd) != str(link)
    del con, other
    gc.collect()
    assert not folder.exists()
    assert odd.exists()


def test_where_no_plain_folder_is_left_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "[t]").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "[t]"))
    with duckdb.connect() as con, pytest.raises(InputError, match="set TMPDIR"):
        exact_path(con, tmp_path / "a*b.csv")
    shutil.rmtree(tmp_path / "[t]")
