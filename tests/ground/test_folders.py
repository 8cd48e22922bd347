"""Staging: whatever fails, and whenever, there is the old release whole, the new one whole, or none."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tripcloak.ground import moving
from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.folders import (
    REPORT_FILES,
    file_digest,
    note_on_leftovers,
    refuse_if_taken,
    staged,
    write_json,
    write_page,
)
from worlds.folders import contents

PARTS = ("release", "private")


def write(out: Path, words: str, *, force: bool = False) -> None:
    """Stage one file in either part."""
    with staged(out, force=force) as staging:
        for part in PARTS:
            (staging / part / "file.txt").write_text(words)


def fail_half_way(out: Path, failure: BaseException) -> None:
    with staged(out, force=True) as staging:
        (staging / "release" / "file.txt").write_text("half")
        raise failure


def words_in(out: Path) -> dict[str, str]:
    return {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()}


def both(words: str) -> dict[str, str]:
    return {f"{part}/file.txt": words for part in PARTS}


@pytest.fixture(params=["nothing there", "an old release"])
def out(request: Any, tmp_path: Path) -> Path:
    """A folder below folders that do not exist yet, or one that holds a release."""
    if request.param == "nothing there":
        return tmp_path / "a" / "b"
    write(tmp_path / "out", "old")
    return tmp_path / "out"


def test_what_a_killed_run_left_is_named_and_left_alone(out):
    kill = (
        "import os, sys, pathlib; from tripcloak.ground.folders import staged\n"
        "with staged(pathlib.Path(sys.argv[1]), force=True): os.kill(os.getpid(), 9)"
    )
    assert note_on_leftovers(out) == ()
    assert subprocess.run([sys.executable, "-c", kill, str(out)], check=False).returncode == -9
    (left,) = out.glob(".partial-*")
    (note,) = note_on_leftovers(out)
    assert left.name in note
    assert "may be deleted" in note
    write(out, "new", force=True)
    assert left.is_dir()
    shutil.rmtree(left)
    assert note_on_leftovers(out) == ()


def test_both_parts_appear_together(tmp_path):
    out = tmp_path / "a" / "b"
    with staged(out, force=False) as staging:
        for part in PARTS:
            (staging / part / "file.txt").write_text("new")
            assert not (out / part).exists()
    assert words_in(out) == both("new")
    assert sorted(os.listdir(out)) == sorted(PARTS)


def test_force_replaces_both_parts_and_forgets_the_old_files(tmp_path):
    out = tmp_path / "out"
    write(out, "old")
    (out / "release" / "another.txt").write_text("old")
    write(out, "new", force=True)
    assert words_in(out) == both("new")
    assert sorted(os.listdir(out)) == sorted(PARTS)


def report(out: Path) -> None:
    """Write what a report leaves: beside both parts, and in the private one."""
    for place in (out, out / "private"):
        for name in REPORT_FILES:
            (place / name).write_text("a report of the old release")


def test_the_reports_of_a_release_that_is_replaced_go_away_with_it(tmp_path):
    write(tmp_path, "old")
    report(tmp_path)
    write(tmp_path, "new", force=True)
    assert words_in(tmp_path) == both("new")


def test_the_reports_of_a_release_stay_where_another_one_fails(tmp_path, monkeypatch):
    write(tmp_path, "old")
    report(tmp_path)
    before = contents(tmp_path)
    monkeypatch.setattr(moving, "_moved", Mock(side_effect=OSError(errno.EIO, "")))
    with pytest.raises(InputError, match="nothing was left behind"):
        write(tmp_path, "new", force=True)
    assert contents(tmp_path) == before


def test_a_report_without_its_release_is_not_put_beside_another_one(tmp_path):
    (tmp_path / "report.html").write_text("of a release that was moved away")
    with pytest.raises(OutputExistsError, match=r"already holds a report \(report\.html\); "):
        write(tmp_path, "new")
    write(tmp_path, "new", force=True)
    assert words_in(tmp_path) == both("new")


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_a_failure_while_writing_changes_nothing(tmp_path, out, failure):
    before = contents(tmp_path)
    with pytest.raises(failure):
        fail_half_way(out, failure())
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no room left"),
        (errno.EDQUOT, "no room left"),
        (errno.EFBIG, "no room left"),
        (errno.EACCES, "not allowed"),
        (errno.EROFS, "not allowed"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_the_systems_errors_come_in_words(tmp_path, out, number, words):
    before = contents(tmp_path)
    with pytest.raises(InputError, match=words):
        fail_half_way(out, OSError(number, os.strerror(number)))
    assert contents(tmp_path) == before


def no_swap(one: Path, other: Path) -> bool:
    """What a disk without exchanges says."""
    return False


class Trap:
    """Makes the n-th call of a function fail, before or after its work is done."""

    def __init__(
        self, monkeypatch: Any, owner: Any, name: str, nth: int, failure: BaseException, after: bool
    ):
        self.calls, self.nth, self.failure, self.after = 0, nth, failure, after
        whole = getattr(owner, name)

        def trapped(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            if self.calls != self.nth:
                return whole(*arguments, **options)
            if self.after:
                whole(*arguments, **options)
            raise self.failure

        monkeypatch.setattr(owner, name, trapped)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "failure", [OSError(errno.EIO, "broken"), KeyboardInterrupt()], ids=["error", "ctrl-c"]
)
@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_a_failing_rename_brings_the_old_state_back(tmp_path, monkeypatch, nth, failure, after):
    out = tmp_path / "out"
    write(out, "old")
    before = contents(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(moving, "swap", no_swap)
        trap = Trap(patched, Path, "rename", nth, failure, after)
        with pytest.raises((InputError, KeyboardInterrupt)):
            write(out, "new", force=True)
    assert trap.calls >= nth
    assert contents(tmp_path) == before


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_failing_rename_leaves_no_first_release(tmp_path, monkeypatch, nth, after):
    with monkeypatch.context() as patched:
        Trap(patched, Path, "rename", nth, KeyboardInterrupt(), after)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "a" / "b", "new")
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("nth", range(1, 6))
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_folder_that_cannot_be_made_leaves_nothing(tmp_path, out, monkeypatch, nth, after):
    before = contents(tmp_path)
    with monkeypatch.context() as patched:
        Trap(patched, os, "mkdir", nth, OSError(errno.ENOSPC, "full"), after)
        try:
            write(out, "new", force=True)
        except InputError:
            assert contents(tmp_path) == before
        else:
            # Not so many folders are made, or the one at hand was there all the same.
            assert words_in(out) == both("new")


@pytest.mark.parametrize("nth", range(1, 6))
def test_ctrl_c_while_tidying_up_still_tidies_up(tmp_path, out, monkeypatch, nth):
    """By then the new release is in place: it stays, whole, and the staging folder goes."""
    with monkeypatch.context() as patched:
        trap = Trap(patched, shutil, "rmtree", nth, KeyboardInterrupt(), after=False)
        try:
            write(out, "new", force=True)
        except KeyboardInterrupt:
            assert trap.calls >= nth
    assert words_in(out) == both("new")
    assert sorted(os.listdir(out)) == sorted(PARTS)


def test_an_old_release_that_cannot_be_moved_back_is_not_thrown_away(tmp_path, monkeypatch):
    out = tmp_path / "out"
    write(out, "old")
    whole, calls = Path.rename, []

    def rename(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) >= 3:
            raise OSError(errno.EIO, "broken")
        return whole(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(moving, "swap", no_swap)
        patched.setattr(Path, "rename", rename)
        with pytest.raises(InputError):
            write(out, "new", force=True)
    kept = {name: words for name, words in words_in(out).items() if words == "old"}
    assert len(kept) == 2
    (note,) = note_on_leftovers(out)
    assert "do not delete it" in note
    refuse_if_taken(out, force=True)
    assert words_in(out / "release") == words_in(out / "private") == {"file.txt": "old"}
    (note,) = note_on_leftovers(out)
    assert "may be deleted" in note


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "failure", [OSError(errno.EIO, "broken"), KeyboardInterrupt()], ids=["error", "ctrl-c"]
)
@pytest.mark.parametrize("nth", [1, 2])
def test_a_failing_exchange_brings_the_old_state_back(tmp_path, monkeypatch, nth, failure, after):
    out = tmp_path / "out"
    write(out, "old")
    before = contents(tmp_path)
    with monkeypatch.context() as patched:
        trap = Trap(patched, moving, "swap", nth, failure, after)
        with pytest.raises((InputError, KeyboardInterrupt)):
            write(out, "new", force=True)
    assert trap.calls >= nth
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("force", [False, True])
def test_nothing_is_written_through_a_link(tmp_path, name, force):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    write(out, "old")
    (out / name).rename(elsewhere)
    for target in (elsewhere, tmp_path / "nowhere"):
        (out / name).symlink_to(target)
        before = contents(tmp_path)
        with pytest.raises(OutputExistsError, match="is a link to another place"):
            write(out, "new", force=force)
        assert contents(tmp_path) == before
        (out / name).unlink()


def test_private_files_are_for_their_owner_alone(tmp_path):
    mask = os.umask(0)
    try:
        for words in ("old", "new"):
            with staged(tmp_path / "out", force=True) as staging:
                (staging / "release" / "file.txt").write_text(words)
                (staging / "private" / "file.txt").write_text(words)
                (staging / "private" / "deep").mkdir()
                (staging / "private" / "deep" / "file.txt").write_text(words)
            modes = {path: path.stat().st_mode & 0o777 for path in (tmp_path / "out").rglob("*")}
            private = {mode for path, mode in modes.items() if "private" in path.parts and path.is_file()}
            assert private == {0o600}
            assert modes[tmp_path / "out" / "private" / "deep"] == 0o700
            assert modes[tmp_path / "out" / "private"] == 0o700
            assert modes[tmp_path / "out" / "release" / "file.txt"] == 0o666
    finally:
        os.umask(mask)


def test_a_release_that_was_finished_in_the_meantime_is_not_replaced(tmp_path):
    out = tmp_path / "out"

    def second() -> None:
        with staged(out, force=False) as staging:
            write(out, "first")
            (staging / "release" / "file.txt").write_text("second")

    with pytest.raises(OutputExistsError, match="force=True"):
        second()
    assert words_in(out) == both("first")
    assert sorted(os.listdir(out)) == sorted(PARTS)


RACER = """
import sys
from pathlib import Path
from tripcloak.ground.folders import staged

out, words = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for turn in range(100):
    with staged(out, force=True) as staging:
        for part in ("release", "private"):
            (staging / part / "file.txt").write_text(f"{words} {turn}")
"""


def test_runs_at_the_same_time_leave_the_release_of_one_of_them(tmp_path):
    out = tmp_path / "out"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    racers = [
        subprocess.Popen([sys.executable, "-c", RACER, str(out), words], **pipes)
        for words in ("first", "second")
    ]
    assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 2
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    assert [racer.wait(timeout=60) for racer in racers] == [0, 0]
    found = words_in(out)
    assert set(found) == set(both(""))
    assert len(set(found.values())) == 1
    assert sorted(os.listdir(out)) == sorted(PARTS)


def test_one_run_waits_for_another_to_put_its_release_in_place(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    held = os.open(out, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    waiting = threading.Thread(target=write, args=(out, "new"))
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    assert not (out / "release").exists()
    os.close(held)
    waiting.join(60)
    assert words_in(out) == both("new")


def test_the_private_part_is_closed_to_others_from_the_start(tmp_path):
    mask = os.umask(0)
    try:
        with staged(tmp_path / "out", force=False) as staging:
            assert staging.stat().st_mode & 0o777 == 0o700
            assert (staging / "private").stat().st_mode & 0o777 == 0o700
            assert (staging / "release").stat().st_mode & 0o777 == 0o777
    finally:
        os.umask(mask)
    assert (tmp_path / "out" / "private").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("place", ["file", "file/below", "file/far/below"])
def test_a_file_in_the_way_is_refused(tmp_path, place):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputExistsError, match="is a file"):
        refuse_if_taken(tmp_path / place, force=True)


def test_a_relative_folder_is_fine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("out"), "new")
    write(Path("a/b"), "new")
    assert words_in(tmp_path / "out") == words_in(tmp_path / "a" / "b") == both("new")


def test_json_is_written_for_people_and_never_holds_nan(tmp_path):
    file = tmp_path / "file.json"
    write_json(file, {"place": "Île", "number": 1.5})
    assert file.read_text(encoding="utf-8") == '{\n  "place": "Île",\n  "number": 1.5\n}\n'
    with pytest.raises(ValueError, match="JSON"):
        write_json(file, {"number": float("nan")})


def test_a_digest_is_the_files_sha256(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    assert file_digest(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_page_is_written_once_and_never_where_it_would_be_published(tmp_path):
    page, public = tmp_path / "page.html", tmp_path / "release"
    write_page(page, "one")
    with pytest.raises(OutputExistsError, match="already there"):
        write_page(page, "two")
    assert page.read_text() == "one"
    write_page(page, "two", force=True)
    assert page.read_text() == "two"
    (public / "deeper").mkdir(parents=True)
    (public / "manifest.json").write_text("{}")
    for place in (public, public / "deeper"):
        with pytest.raises(OutputExistsError, match="public part of a release"):
            write_page(place / "page.html", "three", force=True)
    write_page(tmp_path / "beside.html", "beside is fine")
    with pytest.raises(InputError, match="cannot be written"):
        write_page(tmp_path / "nowhere" / "page.html", "four")


@pytest.mark.parametrize("part", PARTS)
def test_one_old_part_is_enough_to_refuse(tmp_path, part):
    (tmp_path / part).mkdir()
    with pytest.raises(OutputExistsError, match="already holds a release"):
        refuse_if_taken(tmp_path, force=False)
    refuse_if_taken(tmp_path, force=True)
    (tmp_path / part).rmdir()
    refuse_if_taken(tmp_path, force=False)


def test_a_link_into_the_public_part_of_a_release_is_refused_too(tmp_path):
    public = tmp_path / "release"
    (public / "deeper").mkdir(parents=True)
    (public / "manifest.json").write_text("{}")
    (tmp_path / "link").symlink_to(public / "deeper")
    with pytest.raises(OutputExistsError, match="public part of a release"):
        refuse_if_taken(tmp_path / "link", force=True)
    refuse_if_taken(tmp_path, force=True)


def test_a_file_is_no_place_for_a_release_though_it_is_to_be_replaced(tmp_path):
    (tmp_path / "out").write_text("notes")
    for force in (False, True):
        with pytest.raises(OutputExistsError, match=r"is a file; .* needs a folder$"):
            refuse_if_taken(tmp_path / "out", force=force)
    assert (tmp_path / "out").read_text() == "notes"
