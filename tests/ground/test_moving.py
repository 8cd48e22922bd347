"""A run that is killed while it moves a release into place: nothing is lost, and nothing stands alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tripcloak.ground import moving
from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.folders import FolderParts, note_on_leftovers, refuse_if_taken, staged
from tripcloak.ground.manifest import release_folder

PARTS = ("private", "release")
STEPS: tuple[tuple[Any, str], ...] = (
    (os, "replace"),
    (moving, "swap"),
    (Path, "rename"),
    (Path, "unlink"),
    (shutil, "rmtree"),
)
"""All that touches what stands in a folder, or what is kept of it."""
KILLED = 9


def write(out: Path, words: str) -> None:
    with staged(out, force=True) as staging:
        for part in PARTS:
            (staging / part / "file.txt").write_text(words)


def there(out: Path) -> dict[str, str | None]:
    """Return what stands in place of each part."""
    files = {part: out / part / "file.txt" for part in PARTS}
    return {part: file.read_text() if file.exists() else None for part, file in files.items()}


def both(words: str | None) -> dict[str, str | None]:
    return dict.fromkeys(PARTS, words)


def killed(step: int, *, after: bool, swaps: bool, work: Callable[[], None]) -> bool:
    """Do some work in a process of its own that is killed at a step; return whether it came that far."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) == KILLED
    done = 0

    def trapped(whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            mine = done
            if mine == step and not after:
                os._exit(KILLED)
            found = whole(*arguments, **options)
            if mine == step:
                os._exit(KILLED)
            return found

        return call

    try:
        if not swaps:
            moving.swap = lambda one, other: False
        for owner, name in STEPS:
            setattr(owner, name, trapped(getattr(owner, name)))
        work()
    finally:
        os._exit(0)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("swaps", [True, False], ids=["exchange", "renames"])
@pytest.mark.parametrize("old", ["old", None], ids=["a release there", "nothing there"])
def test_whenever_a_run_is_killed_the_old_or_the_new_is_whole(
    tmp_path: Path, old: str | None, swaps: bool, after: bool
) -> None:
    seen = set()
    for step in range(1, 50):
        out = tmp_path / str(step)
        if old:
            write(out, old)
        if not killed(step, after=after, swaps=swaps, work=lambda: write(out, "new")):  # noqa: B023
            break
        left = there(out)
        seen.add(tuple(left.values()))
        # A public part never stands without the private part it was made with.
        if left["release"] == "new":
            assert left["private"] == "new"
        if swaps and old:
            assert left["release"] is not None
        if left not in (both(old), both("new")):
            notes = " ".join(note_on_leftovers(out))
            assert "do not delete it" in notes
        refuse_if_taken(out, force=True)
        assert there(out) in (both(old), both("new"))
        assert "do not delete" not in " ".join(note_on_leftovers(out))
        for leftover in out.glob(".partial-*"):
            shutil.rmtree(leftover)
        assert there(out) in (both(old), both("new"))
        write(out, "newer")
        assert there(out) == both("newer")
    else:
        raise AssertionError("the work has no end")
    assert {(old, old), ("new", "new")} <= seen
    assert step > 4


def test_recovery_that_is_killed_is_taken_up_again(tmp_path: Path) -> None:
    for step in range(1, 20):
        out = tmp_path / str(step)
        write(out, "old")
        # The fourth step without exchanges: both old parts are aside, and one of the new is there.
        assert killed(5, after=False, swaps=False, work=lambda: write(out, "new"))  # noqa: B023
        assert there(out)["release"] is None
        stopped = killed(step, after=True, swaps=False, work=lambda: refuse_if_taken(out, force=True))  # noqa: B023
        refuse_if_taken(out, force=True)
        assert there(out) == both("old")
        if not stopped:
            break
    assert step > 2


def test_while_another_run_is_moving_nothing_is_put_right(tmp_path: Path) -> None:
    import fcntl

    out = tmp_path / "out"
    write(out, "old")
    assert killed(3, after=False, swaps=True, work=lambda: write(out, "new"))
    assert there(out) == {"private": "new", "release": "old"}
    held = os.open(out, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(OutputExistsError, match="already holds"):
        refuse_if_taken(out, force=False)
    assert there(out) == {"private": "new", "release": "old"}
    os.close(held)
    with pytest.raises(OutputExistsError, match="already holds"):
        refuse_if_taken(out, force=False)
    assert there(out) == both("old")


def test_parts_of_two_releases_are_not_read_as_one(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def make(words: str) -> None:
        with staged(out, force=True) as staging:
            for part, file in zip(PARTS, ("run.json", "manifest.json"), strict=True):
                (staging / part / file).write_text(words)

    make("old")
    assert release_folder(out) == out
    assert killed(3, after=False, swaps=True, work=lambda: make("new"))
    for given in (out, out / "release"):
        with pytest.raises(InputError, match="may be of two releases"):
            release_folder(given)
    refuse_if_taken(out, force=True)
    assert release_folder(out) == out
    assert (out / "release" / "manifest.json").read_text() == "old"


def test_a_journal_that_makes_no_sense_moves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, "old")
    for text in ("", "[", "[[]]", '[["release", [1]]]', "{}", "7", '[["../out/release", [1, 2]]]'):
        left = out / ".partial-0"
        left.mkdir()
        (left / moving.JOURNAL).write_text(text)
        refuse_if_taken(out, force=True)
        assert there(out) == both("old")
        shutil.rmtree(left)


def test_files_that_are_no_longer_written_go_and_come_back(tmp_path: Path, monkeypatch: Any) -> None:
    parts = FolderParts("table", files=("a.txt",), optional=("b.txt",))
    out = tmp_path / "out"
    for words, names in (("old", ("a.txt", "b.txt")), ("new", ("a.txt",))):
        with staged(out, force=True, parts=parts) as staging:
            for name in names:
                (staging / name).write_text(words)
    assert {path.name: path.read_text() for path in out.iterdir()} == {"a.txt": "new"}


def test_swap_says_where_it_cannot(tmp_path: Path, monkeypatch: Any) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.mkdir()
    assert moving.swap(one, other)
    assert one.is_dir()
    assert other.read_text() == "1"
    with pytest.raises(FileNotFoundError):
        moving.swap(one, tmp_path / "nowhere")
    monkeypatch.setattr(moving, "_EXCHANGE", 1 << 20)
    assert not moving.swap(one, other)
    monkeypatch.setattr(moving.ctypes, "CDLL", lambda *_, **__: object())
    assert not moving.swap(one, other)


@pytest.mark.parametrize("swaps", [True, False], ids=["exchange", "renames"])
@pytest.mark.parametrize("old", ["old", None], ids=["a release there", "nothing there"])
@pytest.mark.parametrize("fails", range(6))
def test_the_public_part_never_stands_without_its_private_one(
    tmp_path: Path, monkeypatch: Any, swaps: bool, old: str | None, fails: int
) -> None:
    """Looked at after every single step, also on the way back from one that failed."""
    out, seen = tmp_path / "out", []
    if old:
        write(out, old)

    def watched(whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            found = whole(*arguments)
            seen.append(there(out))
            if len(seen) == fails:
                raise OSError("broken")
            return found

        return call

    with monkeypatch.context() as patched:
        patched.setattr(moving, "swap", watched(moving.swap if swaps else lambda one, other: False))
        patched.setattr(Path, "rename", watched(Path.rename))
        if 0 < fails <= (2 if old is None or swaps else 5):
            with pytest.raises(InputError):
                write(out, "new")
        else:
            write(out, "new")
    assert seen
    for parts in seen:
        assert parts["release"] is None or parts["private"] is not None
        assert parts["release"] != "new" or parts["private"] == "new"
    assert there(out) in (both("new"), both(old))
