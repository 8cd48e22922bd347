"""Staging of files beside each other: all of them appear, or none, and what else lies there stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripcloak.ground import moving
from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.folders import RELEASE, FolderParts, staged
from worlds.folders import contents

PARTS = FolderParts("comparison", files=("a.txt", "b.txt", "c.txt"))


def write(out: Path, words: str, *, force: bool = False) -> None:
    with staged(out, force=force, parts=PARTS) as staging:
        for name in PARTS.files:
            (staging / name).write_text(words)


def fail_half_way(out: Path, failure: BaseException) -> None:
    with staged(out, force=True, parts=PARTS) as staging:
        (staging / "a.txt").write_text("half")
        raise failure


@pytest.fixture(params=["nothing there", "old files", "some old files"])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "nothing there":
        return tmp_path / "a" / "b"
    write(tmp_path / "out", "old")
    (tmp_path / "out" / "other.txt").write_text("other")
    if request.param == "some old files":
        (tmp_path / "out" / "b.txt").unlink()
    return tmp_path / "out"


def test_all_files_appear_together_and_others_stay(out):
    others = {name for name in contents(out) if name not in PARTS.files} if out.exists() else set()
    write(out, "new", force=True)
    assert set(contents(out)) == {*PARTS.files, *others}
    assert {(out / name).read_text() for name in PARTS.files} == {"new"}


@pytest.mark.parametrize("failure", [OSError(28, "full"), KeyboardInterrupt(), ValueError()])
def test_a_failure_half_way_changes_nothing(tmp_path, out, failure):
    before = contents(tmp_path)
    wanted = InputError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(wanted):
        fail_half_way(out, failure)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
def test_a_failure_while_moving_brings_the_old_files_back(tmp_path, monkeypatch, after):
    write(tmp_path / "out", "old")
    before, whole, moves = contents(tmp_path), Path.rename, []

    def breaks(self: Path, target: Path) -> Path:
        moves.append(target)
        if len(moves) == after:
            raise OSError(5, "broken")
        return whole(self, target)

    monkeypatch.setattr(moving, "swap", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", breaks)
    with pytest.raises(InputError, match="cannot write the comparison"):
        write(tmp_path / "out", "new", force=True)
    assert contents(tmp_path) == before


def test_one_old_file_is_enough_to_refuse(tmp_path):
    (tmp_path / "b.txt").write_text("mine")
    with pytest.raises(OutputExistsError, match="already holds a comparison"):
        write(tmp_path, "new")
    assert (tmp_path / "b.txt").read_text() == "mine"


@pytest.mark.parametrize("below", ["", "deeper/down"])
def test_nothing_is_written_into_the_public_part_of_a_release(tmp_path: Path, below: str) -> None:
    """What lies there is published: internal tables, and whole private folders, must not."""
    public = tmp_path / "out" / "release"
    public.mkdir(parents=True)
    (public / "manifest.json").write_text("{}")
    out = public / below
    for parts in (RELEASE, FolderParts("table", files=("table.csv",))):
        with (
            pytest.raises(OutputExistsError, match="public part of a release"),
            staged(out, force=True, parts=parts),
        ):
            raise AssertionError("a place to write was given")
    assert [path.name for path in public.iterdir()] == ["manifest.json"]
