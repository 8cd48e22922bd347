"""Where private data waits that does not fit in memory: a temporary folder, or one of the run's own."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

_WAITS_IN: ContextVar[Path | None] = ContextVar("waits_in", default=None)


@contextmanager
def waiting_in(folder: Path) -> Iterator[None]:
    """Let all that does not fit in memory wait in a folder, inside this block."""
    token = _WAITS_IN.set(folder)
    try:
        yield
    finally:
        _WAITS_IN.reset(token)


def waiting_folder(folder: Path | None = None) -> tempfile.TemporaryDirectory[str]:
    """Return a new private folder that goes away with this object: below a folder, or where things wait.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as run, waiting_in(Path(run)), waiting_folder() as new:
    ...     Path(new).parent == Path(run)
    True
    """
    below = folder or _WAITS_IN.get()
    return tempfile.TemporaryDirectory(prefix="tripcloak-", dir=below, ignore_cleanup_errors=True)


_COPIES = "tripcloak-copy-"
_LOCK = "lock"


def folder_of_copies() -> Path:
    """Return a new private folder for copies of an input, which goes away with the process at the latest.

    A process that is killed leaves its own behind: the next one that asks for such a folder removes it.

    Examples
    --------
    >>> folder = folder_of_copies()
    >>> folder.stat().st_mode & 0o077, [path.name for path in folder.iterdir()]
    (0, ['lock'])
    >>> shutil.rmtree(folder)
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_COPIES}*"):
        _remove_abandoned(folder)
    folder = Path(tempfile.mkdtemp(prefix=_COPIES))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Held until the process ends. Under another name until it is: nobody takes the folder for abandoned.
    lock = os.open(folder / f"{_LOCK}.new", os.O_RDWR | os.O_CREAT, 0o600)
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (folder / f"{_LOCK}.new").rename(folder / _LOCK)
    return folder


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder of copies of ours whose process has ended, where the system tells that."""
    with suppress(OSError):
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        lock = os.open(folder / _LOCK, os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
