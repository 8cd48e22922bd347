"""The output folder: written aside, then put in place whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.moving import is_half_moved, put_in_place, put_right
from tripcloak.ground.spelling import called, spelt

PUBLIC = "release"
PRIVATE = "private"
PARTIAL = ".partial-"
PUBLIC_FILES = (
    "README.md",
    "flows.csv",
    "flows.parquet",
    "lines.parquet",
    "manifest.json",
    "map.html",
    "zones.geojson",
    "zones.parquet",
)
SEGMENT_FILES = ("segments.csv", "segments.parquet")
"""Public files of a release in which every segment is safe."""
TABLE_FILES = ("tables.csv", "tables.parquet")
"""Public files of a release with totals or several heights."""
LEVEL_FILES = ("levels.geojson", "levels.parquet")
"""Public files of a release with several heights."""
BACKGROUND = "background.geojson"
"""Public file of a release whose map has something behind it."""
REPORT_FILES = ("report.html", "report.json")
"""What a report writes beside both parts; it tells of one release, and goes away with it."""


class FolderParts(NamedTuple):
    """What is put in place together: its name, and its folders and files in the order they are moved.

    Optional files need not be written; those of an earlier run go away all the same.
    """

    what: str
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the folders and files."""
        return (*self.folders, *self.files, *self.optional)


# The private part first: a public part without its evidence must never stand alone.
RELEASE = FolderParts("release", folders=(PRIVATE, PUBLIC), optional=REPORT_FILES)


def refuse_if_taken(out: Path, *, force: bool, parts: FolderParts = RELEASE) -> None:
    """Raise if the folder already holds such parts, is no folder, or may not be written to.

    What a run that was killed has left half moved there is put right first.
    """
    if out.exists() and not out.is_dir():
        raise OutputExistsError(f"{out} is a file; {called('out')} needs a folder")
    _put_right(out)
    for name in parts.names:
        if (out / name).is_symlink():
            raise OutputExistsError(
                f"{out / name} is a link to another place, which would not get what is written here; remove "
                "the link, or choose another folder"
            )
    refuse_taken(out, lambda name: (out / name).exists(), force=force, parts=parts)
    refuse_public(out, ((folder / "manifest.json").is_file() for folder in (out, *out.resolve().parents)))
    there = next(folder for folder in (out, *out.parents) if folder.exists())
    if not there.is_dir():
        raise OutputExistsError(f"{there} is a file; {called('out')} needs a folder below folders")
    if not os.access(there, os.W_OK | os.X_OK):
        raise explained(PermissionError(errno.EACCES, ""), out, parts.what)


def refuse_taken(
    out: Path | str, is_there: Callable[[str], bool], *, force: bool, parts: FolderParts = RELEASE
) -> None:
    """Raise where a folder holds such parts, and they are not to be replaced."""
    taken = [] if force else [name for name in parts.names if is_there(name)]
    if taken:
        raise OutputExistsError(
            f"{out} already holds {_held(parts, taken)}; choose another folder, or replace it with "
            f"{spelt('force', True)}"
        )


def refuse_public(out: Path | str, manifests: Iterable[bool]) -> None:
    """Raise where a folder, or one that it lies in, has a manifest."""
    if any(manifests):
        raise OutputExistsError(
            f"{out} lies in the public part of a release, where all that is written is published; "
            "choose another folder"
        )


def _held(parts: FolderParts, taken: Sequence[str]) -> str:
    """Return what a folder holds, by the names that are taken there."""
    if set(taken) <= {*REPORT_FILES}:
        # Its release was moved away, and it would tell of another one.
        return f"a report ({', '.join(taken)})"
    return f"{'an' if parts.what[0] in 'aeiou' else 'a'} {parts.what}"


def note_on_leftovers(out: Path) -> tuple[str, ...]:
    """Return a note where a run that was killed left its staging folder; another run may still need it.

    Examples
    --------
    >>> note_on_leftovers(Path("nowhere"))
    ()
    """
    left = sorted(out.glob(f"{PARTIAL}*"))
    needed = ", ".join(path.name for path in left if is_half_moved(path))
    others = ", ".join(path.name for path in left if not is_half_moved(path))
    notes = []
    if needed:
        notes.append(
            f"{out} was being replaced when a run was stopped, and {needed} holds parts of what stood there: "
            f"do not delete it. The next run that writes to {out} puts them back"
        )
    if others:
        notes.append(
            f"{out} holds what a run left behind that was stopped half-way ({others}); it may hold private "
            "data, and may be deleted unless a run is writing there now"
        )
    return tuple(notes)


def refuse_half_moved(folder: Path) -> None:
    """Raise where a run was stopped while it replaced a release, so that the parts in place are of two."""
    if any(is_half_moved(path) for path in folder.glob(f"{PARTIAL}*")):
        raise InputError(
            f"{folder} was being replaced when a run was stopped, and what is there may be of two releases; "
            "the next run that is told to write there puts the old one back first"
        )


@contextmanager
def staged(out: Path, *, force: bool, parts: FolderParts = RELEASE) -> Iterator[Path]:
    """Give a folder to write all parts into; put them in place together when all went well.

    Without ``parts`` they are ``release/`` and ``private/``. On any error, or Ctrl-C, the staging folder
    is removed and what stood in ``out`` is untouched.
    """
    refuse_if_taken(out, force=force, parts=parts)
    new = [folder for folder in (out, *out.parents) if not folder.exists()]
    # Named before it is made, so that there is no moment at which nobody knows what to remove.
    # From the root, as Arrow takes a path that begins with ~ or s3: for another place.
    staging = out.absolute() / f"{PARTIAL}{secrets.token_hex(8)}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        staging.mkdir(mode=0o700)
        for name in parts.folders:
            (staging / name).mkdir(mode=0o777 if name == PUBLIC else 0o700)
        yield staging
        _close_to_others(staging / PRIVATE)
        with _alone(out):
            # Another run may have finished here in the meantime.
            refuse_if_taken(out, force=force, parts=parts)
            put_in_place(staging, out, parts.names)
            # Still alone: while another run moves parts about, these would look as if they were missing.
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise explained(error, out, parts.what) from error
    finally:
        try:
            _tidy(staging, new)
        finally:
            # A Ctrl-C may have cut the first attempt short.
            _tidy(staging, new)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Let one run at a time put its release into a folder."""
    import fcntl

    folder = os.open(out, os.O_RDONLY)
    try:
        # Some network file systems know no locks; renaming is still all or nothing there.
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _put_right(out: Path) -> None:
    """Bring back what killed runs have left half moved, unless a run is moving parts there now."""
    import fcntl

    halves = [path for path in out.glob(f"{PARTIAL}*") if is_half_moved(path)]
    if not halves:
        return
    folder = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for staging in halves:
            put_right(staging, out)
    except OSError:
        # Busy, or without locks, or not ours to write: the note on what was left says so.
        return
    finally:
        os.close(folder)


def _close_to_others(private: Path) -> None:
    """Let nobody but the owner read the private files, wherever they are copied or moved to."""
    for path in private.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def _tidy(staging: Path, new: list[Path]) -> None:
    """Remove what was staged or moved aside, and the new folders that stayed empty."""
    # Should the old parts not have come back to their place, then those in there are all there is.
    if not is_half_moved(staging):
        shutil.rmtree(staging, ignore_errors=True)
    for folder in (staging, *new):
        with suppress(OSError):
            folder.rmdir()


def explained(error: OSError, out: Path, what: str) -> InputError:
    """Return the system's error in words a stranger can act on."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        reason = "there is no room left on its disk"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = "writing there is not allowed"
    else:
        reason = error.strerror or type(error).__name__
    return InputError(f"cannot write the {what} to {out}: {reason}; nothing was left behind")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file people can read."""
    path.write_text(json_text(content), encoding="utf-8")


def json_text(content: Mapping[str, Any]) -> str:
    """Return JSON as it is written, to the last blank."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_page(path: Path, text: str, *, force: bool = False) -> None:
    """Write a page of its own; never into the public part of a release, where it would not belong."""
    if any((folder / "manifest.json").is_file() for folder in path.absolute().parents):
        raise OutputExistsError(f"{path} lies in the public part of a release; choose another place")
    if path.exists() and not force:
        raise OutputExistsError(
            f"{path} is already there; choose another file, or replace it with {spelt('force', True)}"
        )
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or type(error).__name__})") from None
