"""The folder a run works in: private, found again by a run of the same request, gone at the end."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.folders import explained
from tripcloak.ground.waiting import waiting_in

PREFIX = ".private-work-"
"""Beside the release, so that a run that is killed leaves nothing private in another place."""
_LOCK, _STATE, _FACTS = "lock", "state.npz", "facts.json"


@dataclass(frozen=True)
class Stage:
    """A step of a run whose outcome stays in the run's folder until the run is done.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stage = Stage(Path(folder) / "rows")
    ...     stage.begin()
    ...     before = stage.is_done
    ...     stage.finish({"rows": 3}, {"tile": np.array([1, 2])})
    ...     before, stage.is_done, stage.facts(), stage.arrays()["tile"].tolist()
    (False, True, {'rows': 3}, [1, 2])
    """

    folder: Path

    @property
    def is_done(self) -> bool:
        """Return whether the step has ended, with all that it leaves written."""
        return (self.folder / _FACTS).exists()

    def begin(self) -> None:
        """Make room for the outcome; what an attempt before has left is removed."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700, parents=True)

    def finish(self, facts: Mapping[str, Any], arrays: Mapping[str, Ints] | None = None) -> None:
        """Write down what the next steps must know; the step has ended when this returns, and not before."""
        contents: dict[str, Any] = dict(arrays or {})
        for path in self.folder.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        with (self.folder / _STATE).open("wb") as file:
            np.savez(file, **contents)
            os.fsync(file.fileno())
        aside = self.folder / f"{_FACTS}.new"
        with aside.open("w", encoding="utf-8") as text:
            json.dump(dict(facts), text)
            text.flush()
            os.fsync(text.fileno())
        # Last, and in one step: a stage without its facts has not ended.
        aside.rename(self.folder / _FACTS)

    def facts(self) -> dict[str, Any]:
        """Return what was written down."""
        found: dict[str, Any] = json.loads((self.folder / _FACTS).read_text(encoding="utf-8"))
        return found

    def arrays(self) -> dict[str, Ints]:
        """Return the arrays that were written down."""
        with np.load(self.folder / _STATE, allow_pickle=False) as found:
            return dict(found)


@contextmanager
def work_folder(out: Path, key: str | None) -> Iterator[Path]:
    """Give a private folder below ``out``, where all waits that does not fit in memory, inside this block.

    A run that is killed leaves it behind. The next run of the same key finds its stages there; one of another
    key removes it, and so nothing of two requests is ever mixed. Folders of runs that still go on are left
    alone.

    Parameters
    ----------
    key
        A digest of all that decides what is read; None where that cannot be known, and nothing is taken up.
    """
    new = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
        taken = _taken(out, key)
    except OSError as error:
        _tidy(None, new)
        raise explained(error, out, "release") from error
    # Also where the process ends without coming back here: what hangs in compiled code is left behind.
    tidied = weakref.finalize(taken, _tidy, taken.folder, new)
    try:
        _remove_others(out, taken.folder)
        with waiting_in(taken.folder):
            yield taken.folder
    finally:
        try:
            tidied()
        finally:
            # A Ctrl-C may have cut the first attempt short.
            _tidy(taken.folder, new)
        if taken.lock is not None:
            os.close(taken.lock)


@dataclass(frozen=True)
class _Taken:
    """A folder, and the lock on it, where the file system knows locks."""

    folder: Path
    lock: int | None


def _tidy(folder: Path | None, new: Sequence[Path]) -> None:
    """Remove the folder, and those that were made for it while nothing is in them."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    for made in new:
        with suppress(OSError):
            made.rmdir()


def _taken(out: Path, key: str | None) -> _Taken:
    """Return the folder of a key, and the lock on it; another one where a run of that key goes on.

    Where the file system knows no locks, nobody can tell whether it does, and it is another one always.
    """
    folder = out.absolute() / f"{PREFIX}{secrets.token_hex(16)}"
    folder.mkdir(mode=0o700)
    lock = _locked(folder)
    if key is None or lock is None:
        return _Taken(folder, lock)
    known = out.absolute() / f"{PREFIX}{key}"
    known.mkdir(mode=0o700, exist_ok=True)
    found = _locked(known)
    if found is None:
        return _Taken(folder, lock)
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
    return _Taken(known, found)


def _locked(folder: Path) -> int | None:
    """Return a lock on a folder that goes with the process; None where there is none to be had."""
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Another process has it; or, on some network file systems, nobody can have any.
        os.close(lock)
        return None
    return lock


def _remove_others(out: Path, mine: Path) -> None:
    """Remove what runs of other requests left here that do not go on any more."""
    for folder in out.absolute().glob(f"{PREFIX}*"):
        if folder == mine:
            continue
        with suppress(OSError):
            lock = _locked(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)
