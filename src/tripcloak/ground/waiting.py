"""Where private data waits that does not fit in memory: a temporary folder, or one of the run's own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
