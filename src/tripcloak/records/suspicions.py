"""What is suspicious in an input: rows that count for nobody, and files that would be lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt, spelt_command
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.tolerance import enough, losses, told_losses

if TYPE_CHECKING:
    from tripcloak.records.opening import Rows

NAMED = 5
"""Files that a sentence names."""


def on_losses(
    report: CleaningReport, tolerate: float, rows: Rows | None = None, command: str = "anonymise"
) -> list[str]:
    """Return the warning that a release would be refused, where files lost more rows than is tolerated."""
    found = losses(report, tolerate)
    if not found:
        return []
    return [
        f"{told_losses(found, rows)}: {spelt_command(command)} stops at such files; mend them or leave "
        f"them out, or go on without these rows ({spelt('tolerate', enough(found))})"
    ]


def no_ids(column: str) -> str:
    """Return the note that some rows have no id, where it is not known how many."""
    return f"some rows have no id in {column!r}: they add volume but no traveller"


def counted_ids(report: CleaningReport, column: str) -> str | None:
    """Return how many rows have no id and what they count as; None where all have one.

    Examples
    --------
    >>> from tripcloak.records.cleaning import report_files
    >>> counted_ids(report_files([{0: 40}], {"may.csv": 0}, [10]), "bike")[:67]
    "10 of 40 rows have no id in 'bike': they add volume but no traveller"
    """
    nobody = report.without_id or 0
    if not nobody:
        return None
    bare = [one.name for one in report.files if (one.without_id or 0) * 2 > one.kept]
    where = f", most of {_listed(bare)}" if 0 < len(bare) < len(report.files) else ""
    return (
        f"{mask_small(nobody)} of {report.kept:,} rows have no id in {column!r}{where}: they add volume but "
        "no traveller, so k on travellers counts the others alone; k on trips counts all"
    )


def on_ids(report: CleaningReport, column: str) -> list[str]:
    """Return the warning that most rows have no id; nothing where most have one."""
    nobody, told = report.without_id or 0, counted_ids(report, column)
    if told is None or nobody * 2 <= report.kept:
        return []
    return [
        f"most rows lack the id that k counts: {told}. Zones grow until the rows with an id reach k in each: "
        f"leave out the files without ids, or ask for k trips ({spelt('unit', 'trips')})"
    ]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more files" if more > 0 else "")
