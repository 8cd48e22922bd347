"""tripcloak compare: tables, files and exit codes; Ctrl-C leaves no process and no file."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worlds.folders import contents
from worlds.trips import leaks

FILES = {"compare.csv", "compare.json", "compare.md", "compare.html"}
QUICK = ("--hierarchy", "h3:9", "--k", 5)


def test_two_methods_side_by_side(tripcloak, tmp_path, trips, rows, private_temporary_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    out = tmp_path / "out"
    told = tripcloak("compare", trips, *QUICK, "--methods", "odkanon,mondrian", "--out", out)
    assert (told.code, told.err) == (0, "")
    assert all(word in told.out for word in ("odkanon", "mondrian", "Use ", "Internal, not for publication"))
    drawn = [line for line in told.out.split("Use ")[0].splitlines() if not line.startswith("Note: ")]
    assert max(map(len, drawn)) <= 100
    assert set(os.listdir(out)) == FILES
    assert all((out / name).stat().st_mode & 0o077 == 0 for name in FILES)
    assert all("not for publication" in (out / name).read_text(encoding="utf-8") for name in FILES)
    for name in FILES:
        assert leaks((out / name).read_text(encoding="utf-8"), rows) == []
    assert os.listdir(private_temporary_folder) == []
    check_files(out)


def check_files(out: Path) -> None:
    """All files tell the same rows."""
    whole = json.loads((out / "compare.json").read_text(encoding="utf-8"))
    with (out / "compare.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert (
        [row["method"] for row in whole["rows"]]
        == [row["method"] for row in table]
        == ["odkanon", "mondrian"]
    )
    for mine, theirs in zip(whole["rows"], table, strict=True):
        assert {"internal", *mine} == set(theirs)
        assert float(theirs["GDM_mean"]) == mine["GDM_mean"]
        assert theirs["audit"] == mine["audit"] == "safe"
    chosen = whole["recommendations"][0]["method"]
    page = (out / "compare.html").read_text(encoding="utf-8")
    for text in ((out / "compare.md").read_text(encoding="utf-8"), page):
        assert f"Use {chosen} at k = 5 people with up to 10 % withheld." in text
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


def test_json_is_one_object_and_failures_are_rows(tripcloak, trips):
    told = tripcloak(
        "compare", trips, *QUICK, "--methods", "suppression,odkanon", "--suppress", "0.1", "--json"
    )
    assert (told.code, told.err) == (0, "")
    first, second = told.json["rows"]
    assert (first["ran"], second["ran"]) == (False, True)
    assert "not possible" in first["reason"]
    assert first["G"] is None
    assert told.json["recommendations"][0]["method"] == "odkanon"


def test_when_nothing_runs_the_answer_is_no_and_every_row_says_why(tripcloak, trips, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    told = tripcloak("compare", trips, "--methods", "suppression,odkanon", "--k", 5000, "--hierarchy", "h3:9")
    assert told.code == 1
    assert told.out.count("did not run: not possible") == 2
    assert "Nothing to recommend" in told.out
    assert "no method came to a release" in told.words


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--methods", "magic"), "there is no method 'magic'"),
        (("--k", "ten"), "--k takes numbers"),
        (("--suppress", "0.1,1"), "from 0 to below 1"),
        (("--time-limit", "soon"), "--time-limit takes a time"),
        (("--jobs", "0"), "at least one method must run"),
        (("--unit", "cats"), "unit must be one of"),
        (("--out", "trips.csv"), "is a file"),
    ],
)
def test_bad_usage_is_told_before_anything_runs(
    tripcloak, untouched, tmp_path, trips, flags, words, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with untouched():
        told = tripcloak("compare", trips, *flags)
    assert (told.code, told.out) == (2, "")
    assert words in told.words


def test_an_old_comparison_is_kept_unless_told_otherwise(tripcloak, tmp_path, trips):
    out = tmp_path / "out"
    out.mkdir()
    (out / "compare.md").write_text("old")
    (out / "mine.txt").write_text("mine")
    before = contents(out)
    told = tripcloak("compare", trips, *QUICK, "--methods", "odkanon", "--out", out)
    assert told.code == 2
    assert "already holds a comparison" in told.words
    assert contents(out) == before
    assert tripcloak("compare", trips, *QUICK, "--methods", "odkanon", "--out", out, "--force").code == 0
    assert set(os.listdir(out)) == FILES | {"mine.txt"}
    assert (out / "compare.md").read_text() != "old"
    assert (out / "mine.txt").read_text() == "mine"


WAITS = """
import sys
from forgeries import methods as misbehaving
from tripcloak.flows.methods import METHODS
from tripcloak.cli import main

METHODS["sleeps"] = misbehaving.Sleeps
main()
"""


def test_ctrl_c_leaves_no_process_and_no_file(untouched, tmp_path, trips, private_temporary_folder):
    arguments = ["compare", str(trips), "--methods", "sleeps", "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with untouched():
        process = subprocess.Popen(
            [sys.executable, "-c", WAITS, *arguments], env=environment, stderr=subprocess.PIPE, text=True
        )
        end = time.monotonic() + 60
        while not (children := started_by(process.pid)):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "Interrupted; no half-written release was left behind."
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < end
        time.sleep(0.02)


def started_by(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        listed = list(Path(f"/proc/{parent}/task").glob("*/children"))
        return [int(child) for file in listed for child in file.read_text().split()]
    except OSError:
        return []


@pytest.mark.parametrize("asked", [("--unit", "population"), ("--unit", "travellers,population")])
def test_what_anonymise_refuses_is_not_recommended(tripcloak, tmp_path, trips, asked):
    told = tripcloak("compare", trips, *QUICK, *asked, "--methods", "odkanon")
    alone = tripcloak("anonymise", trips, *QUICK, *asked, "--method", "odkanon", "--out", tmp_path / "out")
    assert told.code == alone.code == 2
    assert told.err == alone.err
    assert "--k-population" in told.err
    assert told.out == ""
