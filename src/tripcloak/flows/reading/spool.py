"""Spool: columns that grow batch by batch, in memory while they fit, and the repeated rows among them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.flows.model import WeightsSeen
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt
from tripcloak.records.cleaning import DUPLICATE, REFUND, CleaningReport
from tripcloak.records.files.tables import quoted
from tripcloak.records.fixes import uneven_fixes
from tripcloak.records.trips import WHOLE, Canonical

if TYPE_CHECKING:
    import duckdb


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


REPEATED = (DUPLICATE, REFUND)
"""Reasons by which a row goes that tells of the same trip as another one."""


def find_repeated(spool: Spool, *, memory: int) -> Ints:
    """Return, for every row of the spool, why it goes beside another row of the same trip; 0 if it stays.

    Rows are compared by their 64-bit ``mark`` first; only rows that share one are looked at closely. A row
    that takes a fare back goes as a refund where the trip is there without it.
    """
    repeated = np.zeros(len(spool), dtype=np.uint8)
    passes = 1 + (len(spool) * 16) // max(memory, 1)
    for number in range(passes):
        shared = _shared_marks(spool, number, passes)
        if len(shared):
            rows = _rows_with(spool, shared)
            repeated[rows] = _why_repeated(spool, rows)
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


def _why_repeated(spool: Spool, rows: Ints) -> Ints:
    """Return why each of some rows goes: of those that are equal the first one stays, best no refund."""
    columns = [spool.column(name)[rows] for name in ("mark", *WITNESSES) if name in spool]
    nothing = np.zeros(len(rows), dtype=np.int32)
    refund = spool.column("refund")[rows] if "refund" in spool else nothing.astype(bool)
    # Rows come in any order, but the first of two files keeps what both have.
    file = spool.column("file")[rows] if "file" in spool else nothing
    order = np.lexsort((rows, file, refund, *columns[::-1]))
    first = np.ones(len(rows), dtype=bool)
    if len(rows):
        first[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    head = np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))
    taken_back = refund[order] & ~refund[order][head]
    why = np.zeros(len(rows), dtype=np.uint8)
    why[order] = np.where(first, 0, np.where(taken_back, REFUND, DUPLICATE))
    return why


def note_on_people(canonical: Canonical, cleaning: CleaningReport, seen: WeightsSeen | None) -> list[str]:
    """Return notes on weights and attributes; small numbers of people are not told.

    Parameters
    ----------
    seen
        The weights of the rows that were kept, where there are weights.
    """
    uneven = _uneven(canonical)
    notes = []
    if seen is not None:
        weight = canonical.columns.get("weight", "weight")
        notes += _weight_notes(canonical, weight, cleaning, seen)
        differing = uneven.pop("weight", seen.uneven)
        if differing:
            whom = mask_small(differing, "people", people=differing)
            notes.append(
                f"{weight!r} differs between rows of one person, for {whom}: "
                "every trip counts with the weight of its own row"
            )
    return notes + [
        f"{column!r} differs between rows of one person, for {mask_small(people, 'people', people=people)}: "
        "they are in more than one segment by it"
        for column, people in uneven.items()
        if people
    ]


def _weight_notes(
    canonical: Canonical, weight: str, cleaning: CleaningReport, seen: WeightsSeen
) -> list[str]:
    notes = []
    if {"missing_weight", "negative_weight"} & set(cleaning.dropped):
        notes.append(
            f"rows whose {weight!r} is missing, not finite or negative are left out; "
            f"give {spelt('weight', 'none')} to keep them and do without a population"
        )
    zero, word = (seen.zero, "people") if canonical.has_person else (seen.zero_rows, "rows")
    if zero:
        whom = mask_small(zero, word, people=zero)
        notes.append(f"{weight!r} is zero for {whom}: they add trips, but no population")
    return notes


def _uneven(canonical: Canonical) -> dict[str, int]:
    """Return how many people have more than one value, per column; the weight only among GPS fixes."""
    con = canonical.connection
    if not canonical.has_person:
        return {}
    if canonical.form == "points":
        return uneven_fixes(con, canonical.has_weight, canonical.attributes)
    return _uneven_rows(con, canonical.attributes) if canonical.attributes else {}


def _uneven_rows(con: duckdb.DuckDBPyConnection, attributes: tuple[str, ...]) -> dict[str, int]:
    columns = [quoted(f"attr_{name}") for name in attributes]
    differ = ", ".join(f"min({column}) <> max({column}) AS {column}" for column in columns)
    # In a segment everybody has one value: whether they are in others too, only the whole input tells.
    people = f"SELECT {differ} FROM {WHOLE} WHERE reason = 0 AND person IS NOT NULL GROUP BY person"
    (found,) = con.execute(
        f"SELECT {', '.join(f'count_if({c})' for c in columns)} FROM ({people})"
    ).fetchall()
    return dict(zip(attributes, found, strict=True))
