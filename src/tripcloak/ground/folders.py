"""The output folder: written aside, then put in place whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.spelling import called, spelt

PUBLIC = "release"
PRIVATE = "private"
OLD = "old"
PARTIAL = ".partial-"
PUBLIC_FILES = (
    "README.md",
    "flows.csv",
    "flows.parquet",
    "manifest.json",
    "map.html",
    "zones.geojson",
    "zones.parquet",
)
SEGMENT_FILES = ("segments.csv", "segments.parquet")
"""Public files of a release in which every segment is safe."""


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
RELEASE = FolderParts("release", folders=(PRIVATE, PUBLIC))


def refuse_if_taken(out: Path, *, force: bool, parts: FolderParts = RELEASE) -> None:
    """Raise if the folder already holds such parts, is no folder, or may not be written to."""
    if out.exists() and not out.is_dir():
        raise OutputExistsError(f"{out} is a file; {called('out')} needs a folder")
    if out.is_dir() and not force and any((out / name).exists() for name in parts.names):
        article = "an" if parts.what[0] in "aeiou" else "a"
        raise OutputExistsError(
            f"{out} already holds {article} {parts.what}; choose another folder, or replace it with "
            f"{spelt('force', True)}"
        )
    if any((folder / "manifest.json").is_file() for folder in (out, *out.resolve().parents)):
        raise OutputExistsError(
            f"{out} lies in the public part of a release, where all that is written is published; "
            "choose another folder"
        )
    there = next(folder for folder in (out, *out.parents) if folder.exists())
    if not there.is_dir():
        raise OutputExistsError(f"{there} is a file; {called('out')} needs a folder below folders")
    if not os.access(there, os.W_OK | os.X_OK):
        raise _explained(PermissionError(errno.EACCES, ""), out, parts)


def note_on_leftovers(out: Path) -> tuple[str, ...]:
    """Return a note where a run that was killed left its staging folder; another run may still need it.

    Examples
    --------
    >>> note_on_leftovers(Path("nowhere"))
    ()
    """
    left = sorted(path.name for path in out.glob(f"{PARTIAL}*"))
    if not left:
        return ()
    return (
        f"{out} holds what a run left behind that was stopped half-way ({', '.join(left)}); it may hold "
        "private data, and may be deleted unless a run is writing there now",
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
        with _alone(out):
            # Another run may have finished here in the meantime.
            refuse_if_taken(out, force=force, parts=parts)
            _swap(staging, out, parts)
            # Still alone: while another run moves parts about, these would look as if they were missing.
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise _explained(error, out, parts) from error
    finally:
        try:
            _tidy(staging, out, new, parts)
        finally:
            # A Ctrl-C may have cut the first attempt short.
            _tidy(staging, out, new, parts)


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


def _swap(staging: Path, out: Path, parts: FolderParts) -> None:
    """Move all parts into place; old ones are moved aside first and moved back if that fails."""
    old = staging / OLD
    old.mkdir()
    moves = [(out / name, old / name) for name in reversed(parts.names)]
    moves += [(staging / name, out / name) for name in parts.names]
    begun: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            if source.exists():
                # Noted before it is done: a Ctrl-C may come between the two.
                begun.append((source, target))
                source.rename(target)
    except BaseException:
        for source, target in reversed(begun):
            if target.exists() and not source.exists():
                target.rename(source)
        raise


def _tidy(staging: Path, out: Path, new: list[Path], parts: FolderParts) -> None:
    """Remove what was staged or moved aside, and the new folders that stayed empty."""
    for name in parts.folders:
        shutil.rmtree(staging / name, ignore_errors=True)
    for name in (*parts.files, *parts.optional):
        with suppress(OSError):
            (staging / name).unlink()
    # Should the old parts not have come back to their place, then those moved aside are all there is.
    if all((out / name).exists() for name in (*parts.folders, *parts.files)):
        shutil.rmtree(staging, ignore_errors=True)
    for folder in (staging / OLD, staging, *new):
        with suppress(OSError):
            folder.rmdir()


def _explained(error: OSError, out: Path, parts: FolderParts) -> InputError:
    """Return the system's error in words a stranger can act on."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        reason = "there is no room left on its disk"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = "writing there is not allowed"
    else:
        reason = error.strerror or type(error).__name__
    return InputError(f"cannot write the {parts.what} to {out}: {reason}; nothing was left behind")


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
