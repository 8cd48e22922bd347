"""Rules on public files that hold for every release, whatever it is of: which there are, and unchanged."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PUBLIC, file_digest
from tripcloak.ground.manifest import NAME, is_sealed


def wrong_files(public: Path, expected: Collection[str], allowed: Collection[str] = ()) -> str | None:
    """Return what is wrong with the files of the public part: one is missing, or something does not belong.

    What lies behind a link may be changed from elsewhere, whether the link is to a name or to the file.

    Parameters
    ----------
    expected, allowed
        Names of files that must be there, and of others that may.
    """
    if public.is_symlink():
        return f"{PUBLIC}/ is a link to another folder"
    found = list(public.iterdir())
    if any(path.is_symlink() or not path.is_file() for path in found):
        return f"{PUBLIC}/ holds something that is not a plain file"
    if any(path.stat().st_nlink > 1 for path in found):
        return f"{PUBLIC}/ holds a file that is also elsewhere under another name (a hard link)"
    names = {path.name for path in found}
    if missing := sorted(set(expected) - names):
        return f"{PUBLIC}/ lacks {', '.join(missing)}"
    return f"{PUBLIC}/ holds a file that does not belong there" if names - {*expected, *allowed} else None


def changed_files(public: Path, stated: object, expected: Collection[str]) -> str | None:
    """Return which files have another digest than the manifest states; it must state that of every file."""
    others = set(expected) - {NAME}
    if not isinstance(stated, dict) or set(stated) != others:
        return "the manifest does not state the digest of every public file"
    changed = [name for name in sorted(others) if _digest(public / name) != stated[name]]
    return f"changed since the release was made: {', '.join(changed)}" if changed else None


def _digest(path: Path) -> str | None:
    return file_digest(path) if path.is_file() else None


def another_manifest(folder: Path) -> str | None:
    """Return what is wrong if the manifest is not the very one that was written with the private record."""
    try:
        sealed = is_sealed(folder)
    except InputError:
        return "could not be checked: private/run.json cannot be read"
    return None if sealed else "the manifest is not the one that was written with the private record"
