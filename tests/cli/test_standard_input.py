"""A table that is piped in: read like a file, kept to its owner, and gone with the command."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import stat
import sys

import pytest

from tripcloak.records.files.standard_input import forget_input, spooled_input
from worlds.fixes import some_fixes
from worlds.made_files.text_forms import TRIPS, features, lines, packed, taped, workbook
from worlds.trips import write_csv


@pytest.fixture
def pipe(monkeypatch):
    """Pipes some bytes in."""

    def piped(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    yield piped
    forget_input()


def test_a_release_of_what_is_piped_in(tripcloak, pipe, tmp_path, trips, private_temporary_folder):
    pipe(trips.read_bytes())
    assert tripcloak("anonymise", "-", "--method", "odkanon", "--out", tmp_path / "out").code == 0
    assert os.listdir(private_temporary_folder) == []
    record = (tmp_path / "out" / "private" / "run.json").read_text()
    assert json.loads(record)["source"]["paths"] == ["-"]
    assert str(private_temporary_folder) not in record
    told = tripcloak("audit", tmp_path / "out", "--against", trips, "--json")
    assert (told.code, told.json["same_input"]) == (0, True)
    pipe(trips.read_bytes())
    told = tripcloak("audit", tmp_path / "out", "--against", "-", "--json")
    assert (told.code, told.json["same_input"]) == (0, True)
    pipe(trips.read_bytes()[:-100])
    told = tripcloak("audit", tmp_path / "out", "--against", "-", "--json")
    assert told.json["same_input"] is False
    assert os.listdir(private_temporary_folder) == []


def test_trajectories_of_what_is_piped_in(tripcloak, pipe, private_temporary_folder):
    pipe(b"user_id,time,lat,lon\n" + b"".join(b"u%d,2024-05-01 08:30:00,48.85,2.35\n" % n for n in range(3)))
    told = tripcloak("trajectories", "describe", "-", "--json")
    assert (told.code, told.json["users"]) == (0, 3), told.err
    assert os.listdir(private_temporary_folder) == []


def test_trajectories_that_were_piped_in_are_audited_by_their_file(tripcloak, pipe, tmp_path):
    fixes, out = write_csv(tmp_path / "fixes.csv", some_fixes(14)), tmp_path / "out"
    pipe(fixes.read_bytes())
    assert tripcloak("trajectories", "anonymise", "-", "--k", 2, "--out", out).code == 0
    assert json.loads((out / "private" / "run.json").read_text())["source"]["paths"] == ["-"]
    told = tripcloak("trajectories", "audit", out, "--against", fixes, "--json")
    assert (told.code, told.json["same_input"]) == (0, True)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (TRIPS.encode(), "stdin.csv"),
        (b"\xef\xbb\xbf" + TRIPS.encode(), "stdin.csv"),
        (packed({"a.csv": TRIPS}), "stdin.zip"),
        (workbook([["a"]]), "stdin.xlsx"),
        (features("Point").encode(), "stdin.geojson"),
        (b"PAR1", "stdin.parquet"),
        (b"\x1f\x8b", "stdin.csv.gz"),
        (gzip.compress(TRIPS.encode()), "stdin.csv.gz"),
        (gzip.compress(taped({"a.csv": TRIPS})), "stdin.tar.gz"),
        (bz2.compress(features("Point").encode()), "stdin.geojson.bz2"),
        (taped({"a.csv": TRIPS}), "stdin.tar"),
        (lines(([2.3, 48.8], {}), mark="\x1e").encode(), "stdin.geojsonl"),
    ],
)
def test_what_is_piped_in_is_known_by_its_beginning_and_private(pipe, content, name):
    pipe(content)
    path = spooled_input()
    assert (path.name, path.read_bytes()) == (name, content)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert spooled_input() == path
    forget_input()
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "stdin.csv is empty"), (b"a,b\nx,y\n", "missing columns")]
)
def test_what_is_piped_in_and_is_no_table(tripcloak, pipe, private_temporary_folder, content, words):
    pipe(content)
    told = tripcloak("describe", "-")
    assert told.code == 2
    assert words in told.words
    assert os.listdir(private_temporary_folder) == []


def test_nothing_is_piped_in(tripcloak, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    told = tripcloak("describe", "-")
    assert told.code == 2
    assert "`tripcloak describe - < trips.csv`" in told.words
