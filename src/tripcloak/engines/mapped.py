"""Columns that wait in files and are mapped into memory: what is not in use can leave it again."""

from __future__ import annotations

import mmap
import os
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.engines.disk import appended
from tripcloak.engines.work import Stage
from tripcloak.ground.waiting import waiting_folder

LOOKS_A_SECOND = 20
"""How often the process looks at how much memory it holds, while columns are mapped."""
WORTH_IT = 64 << 20
"""Bytes of mapped columns in memory below which nothing is gained by letting go of them."""


class MappedColumns:
    """Columns of any length, appended to in parts, each in a file of a private folder.

    A column that is read is mapped, not loaded: an array like any other, whose pages come from the file as
    they are touched. Where the process holds more than ``memory`` bytes, all mapped pages are let go; they
    come back from the file, or from the system's cache of it, when they are touched again.

    Parameters
    ----------
    memory
        Bytes that the process should hold at most.
    folder
        Where the private folder is made; by default where all waits.
    kept
        A stage of a run instead, in which the columns stay; those that it has already are there at once.

    Examples
    --------
    >>> columns = MappedColumns(memory=10**9)
    >>> for part in ([1, 2], [3]):
    ...     columns.append("tile", np.array(part, dtype=np.int32))
    >>> columns.column("tile").tolist()
    [1, 2, 3]
    """

    def __init__(self, *, memory: int, folder: Path | None = None, kept: Stage | None = None) -> None:
        self._memory = memory
        self._kept = kept
        self._private = waiting_folder(folder) if kept is None else None
        self._dtypes: dict[str, np.dtype[Any]] = {}
        if kept is not None and kept.is_done:
            self._dtypes = {name: np.dtype(kind) for name, kind in kept.facts().items()}
        elif kept is not None:
            kept.begin()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self._dtypes)

    @property
    def is_done(self) -> bool:
        """Return whether all columns are there, made by a run before."""
        return self._kept is not None and self._kept.is_done

    def finish(self) -> None:
        """Say that the columns are whole: where they are kept, a later run finds them."""
        if self._kept is not None:
            self._kept.finish({name: dtype.str for name, dtype in self._dtypes.items()})

    def append(self, name: str, part: NDArray[Any]) -> None:
        """Add to the end of a column."""
        dtype = self._dtypes.setdefault(name, part.dtype)
        appended(self._path(name), [np.ascontiguousarray(part, dtype=dtype)])

    def column(self, name: str) -> NDArray[Any]:
        """Return a whole column."""
        dtype = self._dtypes[name]
        with self._path(name).open("r+b") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return np.empty(0, dtype)
            # Writable, although nobody writes: compiled loops know one kind of array only.
            mapped = mmap.mmap(file.fileno(), 0)
        _let_go_above(self._memory, mapped)
        return np.frombuffer(mapped, dtype)

    def _path(self, name: str) -> Path:
        if self._kept is not None:
            return self._kept.folder / name
        assert self._private is not None
        return Path(self._private.name) / name


class _Watch:
    """Looks again and again at how much memory the process holds, as long as anything is mapped."""

    def __init__(self) -> None:
        self.memory = 0
        self.mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self.lock = threading.Lock()
        self.running = False

    def run(self) -> None:
        while self._look():
            time.sleep(1 / LOOKS_A_SECOND)

    def _look(self) -> bool:
        with self.lock:
            mapped = list(self.mapped)
            self.running = bool(mapped)
        held, of_files = _pages()
        if held > self.memory and of_files > WORTH_IT:
            for one in mapped:
                # Pages of a shared mapping of a file: nothing is lost, whatever was written to them.
                one.madvise(mmap.MADV_DONTNEED)
        return bool(mapped)


_WATCH = _Watch()


def _let_go_above(memory: int, mapped: mmap.mmap) -> None:
    """Let go of what is mapped whenever the process holds more than so many bytes, where the system can."""
    if not hasattr(mmap, "MADV_DONTNEED") or not Path("/proc/self/statm").exists():
        return
    with _WATCH.lock:
        _WATCH.memory = memory
        _WATCH.mapped.add(mapped)
        if _WATCH.running:
            return
        _WATCH.running = True
    threading.Thread(target=_WATCH.run, name="tripcloak-memory", daemon=True).start()


def _pages() -> tuple[int, int]:
    """Return the bytes that the process holds in memory, and how many of them are of files."""
    held, of_files = Path("/proc/self/statm").read_text().split()[1:3]
    page = os.sysconf("SC_PAGE_SIZE")
    return int(held) * page, int(of_files) * page
