"""The output folder: refused, replaced, full, forbidden; in every case one whole release or none."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tripcloak.engines import cluster_files
from tripcloak.flows import anonymise
from worlds.folders import contents, is_whole
from worlds.trips import leaks


def test_a_release_that_is_there_is_refused(tripcloak, untouched, tmp_path, trips):
    assert tripcloak("anonymise", trips, "--out", tmp_path / "out").code == 0
    with untouched():
        told = tripcloak("anonymise", trips, "--out", tmp_path / "out", "--k", 5)
    assert told.code == 2
    assert "already holds a release" in told.words
    assert "--force" in told.words


@pytest.mark.parametrize("part", ["release", "private"])
def test_half_a_release_is_refused_too(tripcloak, untouched, tmp_path, trips, part):
    (tmp_path / "out" / part).mkdir(parents=True)
    with untouched():
        assert tripcloak("anonymise", trips, "--out", tmp_path / "out").code == 2


def test_force_replaces_a_release_and_nothing_else(tripcloak, tmp_path, trips):
    out = tmp_path / "out"
    assert tripcloak("anonymise", trips, "--out", out, "--k", 20).code == 0
    (out / "notes.txt").write_text("mine")
    before = contents(out)
    told = tripcloak("anonymise", trips, "--out", out, "--k", 5, "--force", "--json")
    assert told.code == 0
    after = contents(out)
    assert after["notes.txt"] == before["notes.txt"]
    assert after["release/flows.csv"] != before["release/flows.csv"]
    assert set(after) == set(before)
    (out / "notes.txt").unlink()
    assert is_whole(out)


def test_a_folder_with_other_files_is_fine(tripcloak, tmp_path, trips):
    assert tripcloak("anonymise", trips, "--out", tmp_path).code == 0
    assert trips.exists()


@pytest.mark.parametrize("options", [["--k", "41"], ["--where", "nonsense"]])
def test_the_old_release_stays_when_the_new_run_fails(tripcloak, untouched, tmp_path, trips, options):
    assert tripcloak("anonymise", trips, "--out", tmp_path / "out").code == 0
    with untouched():
        assert tripcloak("anonymise", trips, "--out", tmp_path / "out", "--force", *options).code in (1, 2)


def test_out_must_not_be_a_file(tripcloak, untouched, tmp_path, trips):
    (tmp_path / "out").write_text("a file")
    with untouched():
        for place in ("out", "out/below"):
            told = tripcloak("anonymise", trips, "--out", tmp_path / place, "--force")
            assert told.code == 2
            assert "is a file" in told.words


@contextmanager
def mounted(place: Path, options: str) -> Iterator[Path]:
    """Give a file system of its own below a folder; the test is skipped where that is not allowed."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        print("skipped: mounting is not allowed here")
        pytest.skip("mounting is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def closed_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that may not be written to, by root neither."""
    if os.geteuid() == 0:
        with mounted(tmp_path / "closed", "ro") as place:
            yield place
    else:
        (tmp_path / "closed").mkdir(mode=0o555)
        yield tmp_path / "closed"


def test_a_forbidden_folder_is_refused_before_reading(
    tripcloak, untouched, closed_folder, trips, monkeypatch
):
    from tripcloak.flows import anonymise

    monkeypatch.setattr(anonymise, "read_matrix", lambda *_, **__: pytest.fail("read before it was checked"))
    with untouched():
        for place in (closed_folder, closed_folder / "out"):
            told = tripcloak("anonymise", trips, "--out", place)
            assert told.code == 2
            assert "not allowed" in told.words


def test_a_folder_forbidden_in_the_meantime(tripcloak, untouched, closed_folder, trips, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_, **__: True)
    with untouched():
        told = tripcloak("anonymise", trips, "--out", closed_folder / "out")
    assert told.code == 2
    assert "not allowed" in told.words


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    with mounted(tmp_path / "small", "size=64k") as place:
        yield place


def test_a_full_disk(tripcloak, tmp_path, small_disk, trips, rows):
    told = tripcloak("anonymise", trips, "--out", small_disk / "out")
    assert told.code == 2
    assert "no room left" in told.words
    assert leaks(told.err, rows) == []
    assert contents(small_disk) == {}


@pytest.mark.parametrize("most", [500, 20_000])
def test_files_that_may_not_grow(tripcloak, real_tripcloak, untouched, tmp_path, trips, rows, most):
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    order = ("anonymise", trips, "--out", tmp_path / "out", "--method", "odkanon")
    assert tripcloak(*order).code == 0
    with untouched():
        told = real_tripcloak(*order, "--force", "--k", 5, preexec_fn=limit)
    assert (told.code, told.out) == (2, "")
    assert "no room left" in told.words
    assert leaks(told.err, rows) == []


def test_private_things_are_for_the_owner_only(tripcloak, tmp_path, trips):
    before = os.umask(0o022)
    try:
        assert tripcloak("anonymise", trips, "--out", tmp_path / "out").code == 0
        assert tripcloak("anonymise", trips, "--out", tmp_path / "out", "--force").code == 0
    finally:
        os.umask(before)
    assert (tmp_path / "out" / "private").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "out" / "release").stat().st_mode & 0o777 == 0o755


def test_an_address_is_no_folder_of_that_name(tripcloak, untouched, tmp_path, trips, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with untouched():
        told = tripcloak("anonymise", trips, "--out", "hdfs://namenode/out")
    assert told.code == 2
    assert "found an address with hdfs://" in told.words
    assert "--engine spark" in told.words
    told = tripcloak("check", "hdfs://namenode/out")
    assert (told.code, "from which only records are read" in told.words) == (2, True)
    assert tripcloak("anonymise", trips, "--out", f"file://{tmp_path}/a%20b").code == 0
    assert is_whole(tmp_path / "a b")
    told = tripcloak("anonymise", f"file://{trips}", "--out", f"file://{tmp_path}/other", "--json")
    assert (told.code, told.json["out"]) == (0, str(tmp_path / "other"))


def test_a_release_for_a_cluster_is_told_of_where_it_is(tripcloak, tmp_path, trips, monkeypatch):
    here, asked = anonymise.anonymise, []

    @contextmanager
    def written_to(address, *, master, force):
        asked.append((address, master, force))
        yield tmp_path / "aside"
        (tmp_path / "aside").rename(tmp_path / "there")

    monkeypatch.setattr(cluster_files, "written_to", written_to)
    monkeypatch.setattr(
        anonymise, "anonymise", lambda told, progress: here(replace(told, engine=None, master=None), progress)
    )
    (tmp_path / "run.toml").write_text('out = "viewfs:///data/out"\nengine = "spark"\nmaster = "yarn"\n')
    told = tripcloak("anonymise", trips, "--config", tmp_path / "run.toml", "--report")
    assert told.code == 0, told.err
    assert "Publish viewfs:///data/out/release (open map.html); keep viewfs:///data/out/private" in told.out
    assert "The report: viewfs:///data/out/report.html" in told.out
    assert "aside" not in told.out
    assert asked == [("viewfs:///data/out", "yarn", False)]
    assert (tmp_path / "there" / "report.html").exists()
    told = tripcloak(
        "anonymise", trips, "--out=hdfs://h/o", "--engine", "spark", "--master", "yarn", "--k", 999, "--force"
    )
    assert (told.code, told.out) == (1, "")
    assert asked[1] == ("hdfs://h/o", "yarn", True)
