"""How much of a file may be lost before nothing is made of it: what counts as lost, and the error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.options import percent_hint
from tripcloak.ground.spelling import called, spelt, spelt_command
from tripcloak.records.cleaning import REASONS, CleaningReport
from tripcloak.records.file_counts import FileRows

if TYPE_CHECKING:
    from tripcloak.records.opening import Rows

UNREADABLE = ("unparsable", "bad_time", "swapped", "out_of_range", "bad_trips")
"""Reasons that say that a row holds what it cannot hold: the file was damaged, or is taken for another."""

EMPTY = (
    *("missing_person", "missing_time", "unknown_antenna", "missing_coordinate", "null_island"),
    *("missing_zone", "unknown_zone", "missing_weight", "missing_start"),
)
"""Reasons that say that a cell is empty. Public files have many such: they count from half of a file on."""

HALF = 0.5
PART = 0.001
"""Smaller files are looked at together: one taxi of ten thousand may be lost."""
TOLD = 5
"""Files that an error names."""


class Loss(NamedTuple):
    """A file that lost too much: which of all, the reasons, and the share of its rows that they took."""

    place: int
    file: FileRows
    reasons: tuple[str, ...]
    share: float

    def words(self) -> str:
        """Return what was lost of which file, and why.

        >>> may = FileRows(name="may.csv", kept=5, dropped={"unparsable": 15})
        >>> Loss(0, may, ("unparsable",), 0.75).words()
        'may.csv: 75 % of 20 rows (text where a number or a time must be, or a broken line)'
        """
        why = "; ".join(one.words for one in REASONS if one.name in self.reasons)
        rows = mask_small(self.file.rows, "rows")
        return f"{self.file.name}: {_percent(self.share)} of {rows} ({why})"


def checked_share(tolerate: float) -> float:
    """Return the share of a file that may be lost, or raise where it is none.

    >>> checked_share(5)
    Traceback (most recent call last):
    tripcloak.InputError: tolerate must be a share from 0 to 1; got 5: for 5 percent write 0.05 or 5%
    """
    if not (isinstance(tolerate, int | float) and 0 <= tolerate <= 1):
        hint = percent_hint(tolerate) if isinstance(tolerate, int | float) else ""
        raise InputError(f"{called('tolerate')} must be a share from 0 to 1; got {tolerate}{hint}")
    return float(tolerate)


def losses(report: CleaningReport, tolerate: float) -> list[Loss]:
    """Return the files that lost more than is tolerated, the worst first; all of them as one if that did.

    Examples
    --------
    >>> from tripcloak.records.cleaning import report_files
    >>> report = report_files([{0: 95, 1: 5}, {0: 94, 1: 6}], {"may.csv": 0, "june.csv": 0})
    >>> [loss.file.name for loss in losses(report, 0.05)], losses(report, 0.06)
    (['june.csv'], [])
    """
    files = report.by_file
    rows = sum(one.rows for one in files)
    large = [(place, one) for place, one in enumerate(files) if one.rows >= PART * rows]
    found = [loss for place, one in large for loss in _lost(place, one, tolerate)]
    if not found and len(files) > 1:
        stage = report.before or report
        whole = FileRows(name=f"{len(files)} files", kept=stage.kept, dropped=stage.dropped)
        found = list(_lost(-1, whole, tolerate))
    return sorted(found, key=lambda loss: (-loss.share, loss.place))


def refuse_losses(report: CleaningReport, tolerate: float, rows: Rows) -> None:
    """Raise an InputError that names the files which lost more rows than is tolerated, if there are any."""
    found = losses(report, tolerate)
    if found:
        raise InputError(
            f"{told_losses(found, rows)}. That is more than is left out unasked ({_percent(tolerate)}). Look "
            f"at the files with {spelt_command('describe')}, mend them or leave them out, or go on without "
            f"these rows: {spelt('tolerate', enough(found))}"
        )


def told_losses(found: list[Loss], rows: Rows | None) -> str:
    """Return what was lost of which files, and which column of the first could not be read."""
    told = [loss.words() for loss in found[:TOLD]]
    first = found[0]
    if rows is not None and "unparsable" in first.reasons and (column := rows.unread_column(first.place)):
        told[0] = f"{told[0][:-1]}: {column})"
    more = len(found) - TOLD
    return "rows that cannot be used: " + "; ".join(told) + (f"; and {more:,} more files" if more > 0 else "")


def enough(found: list[Loss]) -> str:
    """Return the share that would let the files pass, in whole percent.

    >>> enough([Loss(0, FileRows(name="may.csv", kept=1), (), 0.061)])
    '7%'
    """
    return f"{min(100, math.floor(100 * max(loss.share for loss in found)) + 1)}%"


def _lost(place: int, file: FileRows, tolerate: float) -> Iterator[Loss]:
    for reasons, most in ((UNREADABLE, tolerate), (EMPTY, max(HALF, tolerate))):
        share = file.share(reasons)
        if share > most:
            yield Loss(place, file, tuple(name for name in reasons if file.dropped.get(name)), share)
            return


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
