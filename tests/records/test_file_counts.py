"""What became of the rows of each file: every row is counted, and names that are ids are never told."""

from __future__ import annotations

import json
from pathlib import Path

import tripcloak as tc
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.file_counts import FileRows, file_names
from worlds.made_files.damaged import ISLAND, trips


def test_names_that_are_ids_are_numbers(tmp_path: Path) -> None:
    for cab, fixes in (("abboip", 4), ("udwadla", 5)):
        lines = [f"37.7{n} -122.4{n} 1 {1211018404 + 60 * n}" for n in range(fixes)]
        (tmp_path / f"new_{cab}.txt").write_text("\n".join([*lines, "0 0 1 1211018404", ""]))
    told = tc.describe(tmp_path, preset="cabspotting", k=2).to_dict()
    found = told["cleaning"]["before"]["files"]
    assert [one["name"] for one in found] == ["file 1 of 2", "file 2 of 2"]
    assert [one["read"] for one in found] == [5, 6]
    assert [one["dropped"] for one in found] == [{"null_island": 1}] * 2
    assert not any(cab in json.dumps(told) for cab in ("abboip", "udwadla"))


def test_rows_without_an_id_are_counted_by_file(tmp_path: Path) -> None:
    (tmp_path / "may.csv").write_text(trips(20))
    (tmp_path / "june.csv").write_text(trips(20, day=2).replace("\nu3,", "\n,"))
    told = tc.describe(sorted(tmp_path.glob("*.csv")), k=2).to_dict()["cleaning"]["files"]
    assert {one["name"]: one["without_id"] for one in told} == {"may.csv": 0, "june.csv": 3}


def test_a_release_keeps_the_counts_inside(tmp_path: Path) -> None:
    for name, day in (("may.csv", 1), ("june.csv", 2)):
        (tmp_path / name).write_text(trips(40, day=day, bad=[ISLAND] * day))
    out = tmp_path / "out"
    tc.anonymise(sorted(tmp_path.glob("*.csv")), k=2, hierarchy="h3:7").save(out)
    files = json.loads((out / "private" / "run.json").read_text())["cleaning"]["files"]
    assert [(one["name"], one["read"], one["dropped"]) for one in files] == [
        ("june.csv", 42, {"null_island": 2}),
        ("may.csv", 41, {"null_island": 1}),
    ]
    public = [path for path in (out / "release").iterdir() if path.suffix in (".json", ".md", ".html")]
    assert public
    assert not any("june.csv" in path.read_text() for path in public)


def test_more_rows_may_be_dropped_later() -> None:
    files = (FileRows(name="a", kept=5), FileRows(name="b", kept=3, dropped={"jump": 1}))
    report = CleaningReport(kept=8, dropped={"jump": 1}, files=files).less("jump", [0, 2])
    assert (report.kept, report.dropped, report.rows) == (6, {"jump": 3}, 9)
    assert [(one.kept, one.dropped) for one in report.files] == [(5, {}), (1, {"jump": 3})]
    assert report.less("repeated", [0, 0]) is report


def test_files_are_named_so_that_each_has_a_name_of_its_own() -> None:
    assert file_names(["/a/x.csv"]) == ("x.csv",)
    assert file_names(["/a/b/x.csv", "/a/c/x.csv", "/a/y.csv"]) == ("b/x.csv", "c/x.csv", "y.csv")
    assert file_names(["the data frame"] * 2) == ("the data frame (1)", "the data frame (2)")
