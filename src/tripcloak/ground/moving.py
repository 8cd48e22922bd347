"""Parts moved into place together: at any moment old or new ones stand there, or can be brought back."""

from __future__ import annotations

import ctypes
import errno
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tripcloak.ground.documents import parse_json

OLD = "old"
JOURNAL = "moving.json"

_HERE = -100
_EXCHANGE = 2
# Where a sandbox forbids the call it is EPERM; plain renames then say whether writing is allowed.
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM)

Journal = dict[str, tuple[int, int] | None]
"""The parts in the order they are moved, each with what tells the new one from the old: device and inode."""


def put_in_place(staging: Path, out: Path, names: Sequence[str]) -> None:
    """Move the staged parts into place; on any error the old ones are put back.

    Where the system can, the old and the new part change places in one step, the first name first. Else
    the old ones are moved aside first, the last name first. Either way a journal beside them says which
    part is new until all is done, so that :func:`put_right` can finish the work of a run that was killed.
    """
    journal = {name: _identity(staging / name) for name in names}
    _write_journal(staging, journal)
    try:
        if not _exchanged(staging, out, journal):
            _moved(staging, out, journal)
    except BaseException:
        _roll_back(staging, out, journal)
        raise
    (staging / JOURNAL).unlink()


def is_half_moved(staging: Path) -> bool:
    """Return whether a staging folder may hold parts that belong in place."""
    return (staging / JOURNAL).exists()


def put_right(staging: Path, out: Path) -> None:
    """Bring the old parts back that a killed run has left half moved; if all were moved, leave the new."""
    journal = _read_journal(staging)
    if journal is None:
        return
    if all(_is_new(out / name, new) for name, new in journal.items() if new is not None):
        # What has no new part should be aside, and is old all the same.
        (staging / JOURNAL).unlink()
    else:
        _roll_back(staging, out, journal)


def swap(one: Path, other: Path) -> bool:
    """Let two names change places in one step; return False where system or disk know no such thing."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _exchanged(staging: Path, out: Path, journal: Journal) -> bool:
    """Put every part in place in one step each; return False as soon as the system cannot."""
    for name, new in journal.items():
        there = os.path.lexists(out / name)
        if new is None:
            if there:
                return False
        elif not there:
            (staging / name).rename(out / name)
        elif not swap(staging / name, out / name):
            return False
    return True


def _moved(staging: Path, out: Path, journal: Journal) -> None:
    """Move old parts aside and new ones into place, wherever they are by now."""
    (staging / OLD).mkdir(exist_ok=True)
    for name, new in reversed(journal.items()):
        if os.path.lexists(out / name) and not _is_new(out / name, new):
            (out / name).rename(staging / OLD / name)
    for name, new in journal.items():
        if new is not None and not _is_new(out / name, new):
            (staging / name).rename(out / name)


def _roll_back(staging: Path, out: Path, journal: Journal) -> None:
    """Put the old parts back, the public one last; the journal stays should this fail."""
    for name, new in reversed(journal.items()):
        if _is_new(out / name, new):
            if not os.path.lexists(staging / name):
                (out / name).rename(staging / name)
            elif not swap(staging / name, out / name):
                raise OSError(errno.EIO, "what changed places cannot be changed back", str(out / name))
    for name in journal:
        if os.path.lexists(staging / OLD / name) and not os.path.lexists(out / name):
            (staging / OLD / name).rename(out / name)
    (staging / JOURNAL).unlink()


def _is_new(path: Path, new: tuple[int, int] | None) -> bool:
    return new is not None and _identity(path) == new


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what a file or folder keeps when it is renamed, and shares with no other."""
    with suppress(FileNotFoundError):
        found = os.lstat(path)
        return found.st_dev, found.st_ino
    return None


def _read_journal(staging: Path) -> Journal | None:
    """Return which part is new; None where nothing says so that makes sense."""
    try:
        told = parse_json((staging / JOURNAL).read_text(encoding="utf-8"))
        journal = {name: None if new is None else (int(new[0]), int(new[1])) for name, new in told}
    except (OSError, ValueError, TypeError, LookupError):
        return None
    return journal if all(isinstance(name, str) and Path(name).name == name for name in journal) else None


def _write_journal(staging: Path, journal: Journal) -> None:
    """Write which part is new, whole or not at all."""
    aside = staging / f"{JOURNAL}.new"
    aside.write_text(json.dumps(list(journal.items())), encoding="utf-8")
    os.replace(aside, staging / JOURNAL)
