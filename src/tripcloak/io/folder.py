"""The release folder: written aside, then put in place whole; read back for audit and measures."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tripcloak.errors import InputError, OutputExistsError

PUBLIC = "release"
PRIVATE = "private"
PUBLIC_FILES = (
    "README.md",
    "flows.csv",
    "flows.parquet",
    "manifest.json",
    "map.html",
    "zones.geojson",
    "zones.parquet",
)


def refuse_if_taken(out: Path, *, force: bool) -> None:
    """Raise if the folder already holds a release, or something that is not ours to replace."""
    if out.exists() and not out.is_dir():
        raise OutputExistsError(f"{out} is a file; --out needs a folder")
    if out.is_dir() and not force and any((out / part).exists() for part in (PUBLIC, PRIVATE)):
        raise OutputExistsError(
            f"{out} already holds a release; choose another folder, or replace it with --force"
        )


@contextmanager
def staged(out: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder to write ``release/`` and ``private/`` into; put both in place when all went well.

    On any error, or Ctrl-C, the staging folder is removed and what stood in ``out`` is untouched.
    """
    refuse_if_taken(out, force=force)
    made = _make(out)
    staging = Path(tempfile.mkdtemp(prefix=".partial-", dir=out))
    try:
        for part in (PUBLIC, PRIVATE):
            (staging / part).mkdir()
        (staging / PRIVATE).chmod(0o700)
        yield staging
        _swap(staging, out)
    except OSError as error:
        raise _explained(error, out) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _make(out: Path) -> list[Path]:
    """Make the folder and its parents; return those that are new, innermost first."""
    new = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _explained(error, out) from error
    return new


def _swap(staging: Path, out: Path) -> None:
    """Move both parts into place; an old release is moved aside first and moved back if that fails."""
    old = staging / "old"
    old.mkdir()
    moved: list[tuple[Path, Path]] = []
    try:
        for part in (PUBLIC, PRIVATE):
            if (out / part).exists():
                (out / part).rename(old / part)
                moved.append((old / part, out / part))
        # The private part first: a public part without its evidence must never stand alone.
        for part in (PRIVATE, PUBLIC):
            (staging / part).rename(out / part)
            moved.append((out / part, staging / part))
    except BaseException:
        for source, target in reversed(moved):
            source.rename(target)
        raise


def _explained(error: OSError, out: Path) -> InputError:
    """Return the system's error in words a stranger can act on."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        reason = "there is no room left on its disk"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = "writing there is not allowed"
    else:
        reason = error.strerror or type(error).__name__
    return InputError(f"cannot write the release to {out}: {reason}; nothing was left behind")


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file people can read."""
    path.write_text(
        json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
    )


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a release folder."""
    return _read_json(folder / PUBLIC / "manifest.json")


def read_run(folder: Path) -> dict[str, Any]:
    """Return the private record of how the release was made."""
    return _read_json(folder / PRIVATE / "run.json")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        where = path.parent.parent
        raise InputError(f"{where} holds no release: {path.parent.name}/{path.name} is missing") from None
    except (OSError, ValueError):
        raise InputError(f"{path} cannot be read as JSON") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a manifest")
    return content
