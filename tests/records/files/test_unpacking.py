"""What is unpacked stays in a private folder and goes away; what is given is told by its own bytes."""

from __future__ import annotations

import bz2
import gc
import hashlib
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tripcloak.ground.engine import connect
from tripcloak.ground.errors import InputError
from tripcloak.records.files import encodings, features, unpacking
from tripcloak.records.files.fingerprints import input_digests
from tripcloak.records.source import TripSource
from tripcloak.records.trips import clean, open_canonical
from worlds.made_files.text_forms import TRIPS, lines, packed, taped


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty at first."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_nothing_is_left_outside_a_private_folder_and_nothing_at_all_in_the_end(
    tmp_path: Path, temporary: Path
) -> None:
    given = tmp_path / "a.zip"
    given.write_bytes(packed({"../../../../elsewhere.csv": TRIPS, "/root.csv": TRIPS, "b.csv": TRIPS}))
    before = sorted(tmp_path.rglob("*"))
    with connect() as con:
        canonical = open_canonical(con, TripSource(paths=(str(given),)))
        assert clean(canonical).kept == 12
        made = [path for path in tmp_path.rglob("*") if path not in before]
        assert all(temporary in path.parents for path in made)
        assert {path.stat().st_mode & 0o077 for path in temporary.iterdir()} == {0}
    del canonical, con
    gc.collect()
    assert sorted(tmp_path.rglob("*")) == before
    assert os.listdir(temporary) == []


def test_what_is_compressed_stops_before_it_fills_the_disk(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How large a bzip2 file or a tar archive becomes, nothing at its beginning tells."""
    (tmp_path / "a.csv.bz2").write_bytes(bz2.compress(TRIPS.encode() + b"\n" * (64 << 20)))
    (tmp_path / "b.tar.bz2").write_bytes(bz2.compress(taped({"b.csv": TRIPS.encode() + b"\n" * (64 << 20)})))
    room = 8 << 20

    def free(folder: str) -> Any:
        used = sum(file.stat().st_size for file in temporary.rglob("*") if file.is_file())
        return SimpleNamespace(free=unpacking._LEFT_FREE + room - used)

    monkeypatch.setattr(unpacking.shutil, "disk_usage", free)
    for name in ("a.csv.bz2", "b.tar.bz2"):
        with connect() as con, pytest.raises(InputError, match=r"no room in the temporary folder.*TMPDIR"):
            open_canonical(con, TripSource(paths=(str(tmp_path / name),)))


def test_a_tar_archive_of_too_many_files_is_not_unpacked(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.tar").write_bytes(taped({"a.csv": TRIPS, "b.csv": TRIPS}))
    for limit, most in (("MOST_MEMBERS", 1), ("_MOST_ENTRIES", 3)):
        with monkeypatch.context() as patch, connect() as con:
            patch.setattr(unpacking, limit, most)
            with pytest.raises(InputError, match=r"many files|more than 1 files"):
                open_canonical(con, TripSource(paths=(str(tmp_path / "a.tar"),)))
    with monkeypatch.context() as patch, connect() as con:
        # A link and a folder are entries too.
        patch.setattr(unpacking, "MOST_MEMBERS", 2)
        patch.setattr(unpacking, "_MOST_ENTRIES", 4)
        assert open_canonical(con, TripSource(paths=(str(tmp_path / "a.tar"),)))


def test_features_a_line_are_never_all_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of that size is refused; a line that is longer than any feature is, too."""
    point = ([2.35, 48.85], {"user_id": "u"})
    (tmp_path / "a.geojsonl").write_text(lines(*[point] * 50))
    monkeypatch.setattr(features, "MOST_BYTES", 1000)
    assert len(list(features.feature_rows(tmp_path / "a.geojsonl", "a"))) == 51
    monkeypatch.setattr(features, "MOST_LINE", 60)
    with pytest.raises(InputError, match="too large"):
        list(features.feature_rows(tmp_path / "a.geojsonl", "a"))


@pytest.mark.parametrize("name", ["a.zip", "a.csv"])
def test_a_fingerprint_is_of_the_file_as_it_was_given(tmp_path: Path, name: str) -> None:
    content = packed({"a.csv": TRIPS}) if name == "a.zip" else TRIPS.encode("latin-1")
    (tmp_path / name).write_bytes(content)
    assert input_digests([str(tmp_path / name)]) == [hashlib.sha256(content).hexdigest()]


def test_an_archive_that_would_fill_the_disk_is_not_unpacked(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.zip").write_bytes(packed({"a.csv": TRIPS}))
    # Others write to the disk, too: what is free is held still.
    usage = unpacking.shutil.disk_usage(temporary)
    monkeypatch.setattr(unpacking.shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(unpacking, "_LEFT_FREE", usage.free)
    with connect() as con, pytest.raises(InputError, match=r"no room in the temporary folder.*TMPDIR"):
        open_canonical(con, TripSource(paths=(str(tmp_path / "a.zip"),)))
    assert not list(temporary.rglob("*.csv"))


def test_an_archive_of_too_many_files_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.zip").write_bytes(packed({"a.csv": TRIPS, "b.csv": TRIPS}))
    for most, words in ((2, ""), (1, "more than 1 files")):
        monkeypatch.setattr(unpacking, "MOST_MEMBERS", most)
        with connect() as con:
            if words:
                with pytest.raises(InputError, match=words):
                    open_canonical(con, TripSource(paths=(str(tmp_path / "a.zip"),)))
            else:
                open_canonical(con, TripSource(paths=(str(tmp_path / "a.zip"),)))


@pytest.mark.parametrize("words", ["README.txt", "docs/readme_2024.txt", "LICENSE.txt"])
def test_words_about_the_tables_beside_them_are_no_table(words: str, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(packed({words: "Trips of May\n", "b.csv": TRIPS, "readmes.txt": TRIPS}))
    folder = tmp_path / "folder"
    (folder / "docs").mkdir(parents=True)
    (folder / words).write_text("Trips of May\n")
    (folder / "b.csv").write_text(TRIPS)
    for given, rows in ((tmp_path / "a.zip", 8), (folder, 4)):
        with connect() as con:
            assert clean(open_canonical(con, TripSource(paths=(str(given),)))).kept == rows


def test_archives_of_a_folder_are_read_where_there_is_no_plain_table(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(packed({"a.csv": TRIPS}))
    with connect() as con:
        assert clean(open_canonical(con, TripSource(paths=(str(tmp_path),)))).kept == 4
    (tmp_path / "b.csv").write_text("".join(TRIPS.splitlines(keepends=True)[:2]))
    with connect() as con:
        assert clean(open_canonical(con, TripSource(paths=(str(tmp_path),)))).kept == 1


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"a,b\n", "utf-8"),
        ("a,é\n".encode(), "utf-8"),
        ("a,é\n".encode("latin-1"), "windows-1252"),
        ("a,é\n".encode("utf-16-be"), "utf-16-be"),
        ("a,é\n".encode("utf-32"), "utf-32"),
        (b"a\0,b\n", None),
        (("é" * 40_000).encode(), "utf-8"),
    ],
)
def test_an_encoding_is_found(tmp_path: Path, content: bytes, encoding: str | None) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    assert encodings.found_encoding(tmp_path / "a.csv") == encoding


@pytest.mark.parametrize("beyond", [70_000, 1 << 20])
def test_letters_far_from_the_top_are_found_and_none_is_cut(tmp_path: Path, beyond: int) -> None:
    for letters, encoding in (("é€😀" * 30_000, "utf-8"), ("é" * 60_000, "windows-1252")):
        name = "utf-8" if encoding == "utf-8" else "cp1252"
        (tmp_path / "a.csv").write_bytes(b"a" * beyond + letters.encode(name))
        assert encodings.found_encoding(tmp_path / "a.csv") == encoding
