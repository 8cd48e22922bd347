"""Spool: columns that grow batch by batch, in memory while they fit, and the exact duplicates among them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt

CHUNK = 1 << 18


class Spool:
    """Fixed columns of equal length, appended in batches and read back in chunks.

    Beyond ``memory`` bytes the columns move to a private folder that is removed with the spool.

    Parameters
    ----------
    dtypes
        The columns and their types.
    memory
        Bytes to hold before moving to disk.
    folder
        Where the private folder is made; the system's temporary folder by default.

    Examples
    --------
    >>> spool = Spool({"tile": np.int32}, memory=8)
    >>> for part in ([1, 2], [3]):
    ...     spool.append(tile=np.array(part))
    >>> len(spool), spool.on_disk, spool.column("tile").tolist()
    (3, True, [1, 2, 3])
    """

    def __init__(self, dtypes: Mapping[str, Any], *, memory: int, folder: Path | None = None) -> None:
        self._dtypes = {name: np.dtype(dtype) for name, dtype in dtypes.items()}
        self._held: dict[str, list[NDArray[Any]]] = {name: [] for name in dtypes}
        self._memory = memory
        self._parent = folder
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._rows = 0
        self._bytes = 0

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, name: str) -> bool:
        return name in self._dtypes

    @property
    def on_disk(self) -> bool:
        """Return whether the columns have moved to disk."""
        return self._folder is not None

    def append(self, **columns: NDArray[Any]) -> None:
        """Add one batch: every column, all of one length."""
        lengths = {len(column) for column in columns.values()}
        assert columns.keys() == self._dtypes.keys()
        assert len(lengths) == 1
        self._rows += lengths.pop()
        for name, column in columns.items():
            part = np.ascontiguousarray(column, dtype=self._dtypes[name])
            self._held[name].append(part)
            self._bytes += part.nbytes
        if self._bytes > self._memory:
            self._flush()

    def chunks(self, *names: str) -> Iterator[list[NDArray[Any]]]:
        """Yield the named columns in pieces, in the order they were added."""
        for start in range(0, self._rows, CHUNK):
            yield [self._read(name, start, min(CHUNK, self._rows - start)) for name in names]

    def column(self, name: str) -> NDArray[Any]:
        """Return one whole column."""
        return self._read(name, 0, self._rows)

    def close(self) -> None:
        """Forget everything and remove the private folder."""
        self._held = {name: [] for name in self._dtypes}
        self._rows = 0
        if self._folder is not None:
            self._folder.cleanup()

    def _flush(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tripcloak-", dir=self._parent)
        try:
            for name, parts in self._held.items():
                with self._path(name).open("ab") as file:
                    for part in parts:
                        # Not tofile, whose error does not say that the disk is full.
                        file.write(part.data)
                parts.clear()
        except OSError as error:
            reason = error.strerror or "writing failed"
            raise InputError(
                f"the temporary folder cannot hold what does not fit in memory ({reason}); "
                f"free some room, set TMPDIR to a larger disk, or allow more {spelt('memory')}"
            ) from None
        self._bytes = 0

    def _read(self, name: str, start: int, rows: int) -> NDArray[Any]:
        if self._folder is None:
            # One array per column from the first reading on: later chunks are views of it.
            if len(self._held[name]) != 1:
                self._held[name] = [np.concatenate([*self._held[name], np.empty(0, self._dtypes[name])])]
            return self._held[name][0][start : start + rows]
        if self._bytes:
            self._flush()
        dtype = self._dtypes[name]
        return np.fromfile(self._path(name), dtype=dtype, count=rows, offset=start * dtype.itemsize)

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / name


WITNESSES = ("origin", "destination", "person")
"""Columns compared besides the 64-bit mark, so that two different rows never pass for one."""


def find_duplicates(spool: Spool, *, memory: int) -> Bools:
    """Return, for every row of the spool, whether an equal row came before it.

    Rows are compared by their 64-bit ``mark`` first; only rows that share one are looked at closely.
    """
    repeated = np.zeros(len(spool), dtype=bool)
    passes = 1 + (len(spool) * 16) // max(memory, 1)
    for number in range(passes):
        shared = _shared_marks(spool, number, passes)
        if len(shared):
            rows = _rows_with(spool, shared)
            repeated[rows[_equal_to_earlier(spool, rows)]] = True
    return repeated


def _shared_marks(spool: Spool, number: int, passes: int) -> Ints:
    """Return the marks, among those of this pass, that more than one row carries."""
    if passes == 1:
        marks = np.sort(spool.column("mark"))
    else:
        mine = [mark[mark % np.uint64(passes) == number] for (mark,) in spool.chunks("mark")]
        marks = np.sort(np.concatenate(mine))
    return np.unique(marks[1:][marks[1:] == marks[:-1]])


def _rows_with(spool: Spool, shared: Ints) -> Ints:
    found, start = [], 0
    for (mark,) in spool.chunks("mark"):
        at = np.minimum(np.searchsorted(shared, mark), len(shared) - 1)
        found.append(np.flatnonzero(shared[at] == mark) + start)
        start += len(mark)
    return np.concatenate(found)


def _equal_to_earlier(spool: Spool, rows: Ints) -> Bools:
    columns = [spool.column(name)[rows] for name in ("mark", *WITNESSES) if name in spool]
    order = np.lexsort((rows, *columns[::-1]))
    same = np.ones(max(len(rows) - 1, 0), dtype=bool)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    equal = np.zeros(len(rows), dtype=bool)
    equal[order[1:]] = same
    return equal
