"""Spool: columns that grow batch by batch, in memory while they fit, on disk beyond that."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.engines.disk import appended
from tripcloak.ground.arrays import Ints
from tripcloak.ground.waiting import waiting_folder

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
        Where the private folder is made; by default where all waits.
    kept
        A folder of the caller's instead, in which the columns stay when the spool goes.

    Examples
    --------
    >>> spool = Spool({"tile": np.int32}, memory=8)
    >>> for part in ([1, 2], [3]):
    ...     spool.append(tile=np.array(part))
    >>> len(spool), spool.on_disk, spool.column("tile").tolist()
    (3, True, [1, 2, 3])
    """

    def __init__(
        self,
        dtypes: Mapping[str, Any],
        *,
        memory: int,
        folder: Path | None = None,
        kept: Path | None = None,
    ) -> None:
        self._dtypes = {name: np.dtype(dtype) for name, dtype in dtypes.items()}
        self._held: dict[str, list[NDArray[Any]]] = {name: [] for name in dtypes}
        self._memory = memory
        self._parent, self._kept = folder, kept
        self._private: tempfile.TemporaryDirectory[str] | None = None
        self._folder: Path | None = None
        self._rows = 0
        self._bytes = 0

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, name: str) -> bool:
        return name in self._dtypes

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self._dtypes)

    def dtype(self, name: str) -> np.dtype[Any]:
        """Return the type of a column."""
        found: np.dtype[Any] = self._dtypes[name]
        return found

    @property
    def on_disk(self) -> bool:
        """Return whether the columns have moved to disk."""
        return self._folder is not None

    @classmethod
    def reopened(cls, dtypes: Mapping[str, Any], kept: Path, rows: int) -> Spool:
        """Return a spool whose columns were kept in a folder, all on disk."""
        spool = cls(dtypes, memory=0, kept=kept)
        spool._folder, spool._rows = kept, rows
        return spool

    def append(self, **columns: NDArray[Any]) -> None:
        """Add one batch: every column, all of one length."""
        lengths = {len(column) for column in columns.values()}
        assert columns.keys() == self._dtypes.keys()
        assert len(lengths) == 1
        self._rows += lengths.pop()
        for name, column in columns.items():
            # A copy: a view of one column of a batch would hold all its columns.
            part = np.array(column, dtype=self._dtypes[name], order="C")
            self._held[name].append(part)
            self._bytes += part.nbytes
        if self._bytes > self._memory:
            self.flush()

    def chunks(self, *names: str) -> Iterator[list[NDArray[Any]]]:
        """Yield the named columns in pieces, in the order they were added."""
        for start in range(0, self._rows, CHUNK):
            yield [self._read(name, start, min(CHUNK, self._rows - start)) for name in names]

    def column(self, name: str) -> NDArray[Any]:
        """Return one whole column."""
        return self._read(name, 0, self._rows)

    def take(self, name: str, rows: Ints) -> NDArray[Any]:
        """Return some rows of a column, given in ascending order; a column on disk is never read whole."""
        if not self.on_disk:
            found: NDArray[Any] = self.column(name)[rows]
            return found
        edges = np.searchsorted(rows, np.arange(0, self._rows + CHUNK, CHUNK))
        parts = [np.empty(0, self._dtypes[name])]
        for number, (first, last) in enumerate(pairwise(edges.tolist())):
            if last > first:
                start = number * CHUNK
                chunk = self._read(name, start, min(CHUNK, self._rows - start))
                parts.append(chunk[rows[first:last] - start])
        return np.concatenate(parts)

    def close(self) -> None:
        """Forget everything and remove the private folder."""
        self._held = {name: [] for name in self._dtypes}
        self._rows = 0
        if self._private is not None:
            self._private.cleanup()

    def flush(self) -> None:
        """Move all to disk."""
        if self._folder is None:
            self._folder = self._kept or self._made_folder()
        for name, parts in self._held.items():
            appended(self._path(name), parts)
            parts.clear()
        self._bytes = 0

    def _made_folder(self) -> Path:
        self._private = waiting_folder(self._parent)
        return Path(self._private.name)

    def _read(self, name: str, start: int, rows: int) -> NDArray[Any]:
        if self._folder is None:
            if rows == self._rows and len(self._held[name]) != 1:
                # One array from the first time on that all is asked for.
                self._held[name] = [np.concatenate([*self._held[name], np.empty(0, self._dtypes[name])])]
            return self._held_between(name, start, start + rows)
        if self._bytes:
            self.flush()
        dtype = self._dtypes[name]
        return np.fromfile(self._path(name), dtype=dtype, count=rows, offset=start * dtype.itemsize)

    def _held_between(self, name: str, first: int, last: int) -> NDArray[Any]:
        """Return some rows that are in memory: a view where they lie in one batch, as most do."""
        pieces, start = [], 0
        for part in self._held[name]:
            if start < last and start + len(part) > first:
                pieces.append(part[max(first - start, 0) : last - start])
            start += len(part)
        return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, self._dtypes[name]), *pieces])

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / name
