"""Files of a ledger: written aside, safe on disk before they count, for their owner alone; and the lock."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import explained

ASIDE = ".aside-"
"""What files begin with that are being written."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file for its owner alone, so that at any moment the old or the new one is there, whole."""
    with written_aside(path) as aside:
        aside.write_bytes(content)


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Give a path to write a file to, and put it in its place when it is safe on the disk."""
    # From the root, as Arrow takes a path that begins with ~ or s3: for another place.
    aside = path.absolute().with_name(f"{ASIDE}{secrets.token_hex(8)}")
    try:
        os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield aside
        _sync(aside)
        os.replace(aside, path)
        _sync(path.parent)
    finally:
        with suppress(OSError):
            aside.unlink()


@contextmanager
def explained_errors(folder: Path) -> Iterator[None]:
    """Say in words what the system objects to."""
    try:
        yield
    except OSError as error:
        raise explained(error, folder, "ledger") from error


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Let one run at a time change a ledger, and none while others read its chain; the others wait.

    Without locks two runs could each find that nothing speaks against their release, so none may go on.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        except OSError:
            raise InputError(
                f"{folder} lies on a disk that knows no locks, so that two runs at once could each publish "
                "what is not safe together; keep the ledger on a disk of this machine"
            ) from None
        yield
    finally:
        os.close(descriptor)


def tidy(folder: Path, ours: str = "", needed: Collection[str] = ()) -> None:
    """Remove what a stopped run has left in a folder: what was being written, and what nothing names.

    Parameters
    ----------
    ours
        The pattern of files that something must name; files of other names stay.
    needed
        The files that are named.
    """
    leftovers = [*folder.glob(f"{ASIDE}*"), *(folder.glob(ours) if ours else ())]
    for path in leftovers:
        if path.name not in needed:
            with suppress(OSError):
                path.unlink()


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
