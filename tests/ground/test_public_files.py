"""Which public files there are: not one too many or too few, none that is elsewhere too, none changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tripcloak.ground.folders import file_digest
from tripcloak.ground.public_files import changed_files, wrong_files

EXPECTED = ("flows.csv", "manifest.json")


@pytest.fixture
def public(tmp_path: Path) -> Path:
    folder = tmp_path / "out" / "release"
    folder.mkdir(parents=True)
    for name in EXPECTED:
        (folder / name).write_text(name)
    return folder


def test_exactly_the_known_files_pass(public: Path) -> None:
    assert wrong_files(public, EXPECTED) is None
    (public / "verdict").write_text("")
    assert "does not belong" in (wrong_files(public, EXPECTED) or "")
    assert wrong_files(public, EXPECTED, ["verdict"]) is None
    (public / "flows.csv").unlink()
    assert wrong_files(public, EXPECTED, ["verdict"]) == "release/ lacks flows.csv"


def test_one_more_name_of_a_file_is_found(public: Path) -> None:
    os.link(public / "flows.csv", public.parent / "elsewhere")
    assert "hard link" in (wrong_files(public, EXPECTED) or "")
    (public.parent / "elsewhere").unlink()
    assert wrong_files(public, EXPECTED) is None


def test_links_and_folders_are_no_plain_files(public: Path) -> None:
    moved = public.parent / "moved"
    (public / "flows.csv").rename(moved)
    (public / "flows.csv").symlink_to(moved)
    assert "not a plain file" in (wrong_files(public, EXPECTED) or "")
    (public / "flows.csv").unlink()
    (public / "flows.csv").mkdir()
    assert "not a plain file" in (wrong_files(public, EXPECTED) or "")
    other = public.parent / "other"
    other.symlink_to(public, target_is_directory=True)
    assert wrong_files(other, EXPECTED) == "release/ is a link to another folder"


def test_the_digest_of_every_other_file_is_stated_and_right(public: Path) -> None:
    stated = {"flows.csv": file_digest(public / "flows.csv")}
    assert changed_files(public, stated, EXPECTED) is None
    for wrong in (None, [], {}, {**stated, "manifest.json": "0"}, {"zones.csv": stated["flows.csv"]}):
        assert "does not state" in (changed_files(public, wrong, EXPECTED) or "")
    (public / "flows.csv").write_text("flows.csw")
    assert changed_files(public, stated, EXPECTED) == "changed since the release was made: flows.csv"
    (public / "flows.csv").unlink()
    assert changed_files(public, stated, EXPECTED) == "changed since the release was made: flows.csv"
