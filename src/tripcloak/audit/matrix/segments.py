"""The rule on releases in which every segment is promised to be safe in every group."""

from __future__ import annotations

from dataclasses import replace

from tripcloak.audit.findings import least
from tripcloak.audit.matrix.book import BOOK
from tripcloak.audit.matrix.case import MatrixCase
from tripcloak.findings import some


@BOOK.rule("segments-safe", "recount")
def segments_safe(case: MatrixCase) -> str | None:
    """Where it is promised, every segment reaches every threshold in every group."""
    for part in case.release.segments:
        groups = case.release.group_of_flow[part.row]
        alone = MatrixCase(part.matrix, replace(case.release, group_of_flow=groups), case.con.cursor())
        alone.load("recount")
        for unit, k in case.release.criterion.thresholds.items():
            reached = alone.value(
                f"select count(*) from recount where number >= 0 and {unit} >= {least(unit, k)!r}"
            )
            if reached != case.release.n_groups:
                short = case.release.n_groups - reached
                return f"{some(short, 'groups')} hold fewer than {k:g} {unit} of a segment"
    return None
