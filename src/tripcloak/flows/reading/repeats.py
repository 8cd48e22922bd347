"""Rows that tell of the same trip as another one, and what is to be known of people in the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tripcloak.engines.spool import Spool
from tripcloak.flows.model import WeightsSeen, WeightsTold
from tripcloak.ground.arrays import Ints
from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt
from tripcloak.records.cleaning import DUPLICATE, REFUND, CleaningReport
from tripcloak.records.files.tables import quoted
from tripcloak.records.fixes import uneven_fixes
from tripcloak.records.trips import WHOLE, Canonical

if TYPE_CHECKING:
    import duckdb

WITNESSES = ("origin", "destination", "person", "segment")
"""Columns compared besides the 64-bit mark, so that two different rows never pass for one.

The segment is there where several are looked at together, each by itself.
"""


REPEATED = (DUPLICATE, REFUND)
"""Reasons by which a row goes that tells of the same trip as another one."""


def find_repeated(spool: Spool, *, memory: int) -> Ints:
    """Return, for every row of the spool, why it goes beside another row of the same trip; 0 if it stays.

    Rows are compared by their 64-bit ``mark`` first; only rows that share one are looked at closely. A row
    that takes a fare back goes as a refund where the trip is there without it.
    """
    repeated = np.zeros(len(spool), dtype=np.uint8)
    # A power of two: the last bits of a mark tell its pass, which a division by others takes long for.
    passes = 1 << ((len(spool) * 16) // max(memory, 1)).bit_length()
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
        mine = [mark[mark & np.uint64(passes - 1) == number] for (mark,) in spool.chunks("mark")]
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
    columns = [spool.take(name, rows) for name in ("mark", *WITNESSES) if name in spool]
    nothing = np.zeros(len(rows), dtype=np.int32)
    refund = spool.take("refund", rows) if "refund" in spool else nothing.astype(bool)
    # Rows come in any order, but the first of two files keeps what both have.
    file = spool.take("file", rows) if "file" in spool else nothing
    order = np.lexsort((rows, file, refund, *columns[::-1]))
    first = np.ones(len(rows), dtype=bool)
    if len(rows):
        first[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    head = np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))
    taken_back = refund[order] & ~refund[order][head]
    why = np.zeros(len(rows), dtype=np.uint8)
    why[order] = np.where(first, 0, np.where(taken_back, REFUND, DUPLICATE))
    return why


def note_on_people(
    canonical: Canonical,
    cleaning: CleaningReport,
    seen: WeightsSeen | WeightsTold | None,
    uneven: Mapping[str, int],
) -> list[str]:
    """Return notes on weights and attributes; small numbers of people are not told.

    Parameters
    ----------
    seen
        The weights of the rows that were kept, where there are weights.
    uneven
        How many people have more than one value, per column.
    """
    uneven = dict(uneven)
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
    canonical: Canonical, weight: str, cleaning: CleaningReport, seen: WeightsSeen | WeightsTold
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


def uneven_people(canonical: Canonical) -> dict[str, int]:
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
