"""Rule about the period that a release is about."""

from __future__ import annotations

import re
from datetime import date, timedelta

from tripcloak.flows.audit.evidence import BOOK, FlowEvidence, column_names
from tripcloak.ground.entries import unreadable
from tripcloak.ground.manifest import read_run
from tripcloak.ground.rulebook import NotPromised, Remark

ENTRY = "during"


@BOOK.rule("period-as-read", "raw")
def period_as_read(case: FlowEvidence) -> str | Remark | None:
    """Where a release is about one period, the raw records it was counted from began in that period."""
    told = case.facts.get(ENTRY)
    recorded = read_run(case.folder).get("source", {})
    if not isinstance(recorded, dict) or recorded.get(ENTRY) != told:
        return "the manifest names another period than the record of how the input was read"
    if told is None:
        return NotPromised("not promised: the release is about all records that were read, not one period")
    first, last = _days(told)
    if "start_time" not in column_names(case.con, "canonical"):
        return "the raw records do not tell when they began, and the manifest names a period"
    # Whose clock it was is not asked again: no clock of the Earth is more than a day from another.
    early, late = first - timedelta(days=1), last + timedelta(days=2)
    others = case.value(
        f"""select count(*) from canonical where reason = 0 and not coalesce(
            start_time >= timestamptz '{early} 00:00:00+00' and start_time < timestamptz '{late} 00:00:00+00',
            false
        )"""
    )
    return (
        "the release was counted from records of another period than the manifest names" if others else None
    )


def _days(told: object) -> tuple[date, date]:
    """Return the first and the last day of a month, a week or a day."""
    text = told if isinstance(told, str) else ""
    try:
        if re.fullmatch(r"\d{4}-\d\d", text):
            first = date.fromisoformat(f"{text}-01")
            return first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        if re.fullmatch(r"\d{4}-W\d\d", text):
            first = date.fromisocalendar(int(text[:4]), int(text[6:]), 1)
            return first, first + timedelta(days=6)
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text), date.fromisoformat(text)
    except ValueError:
        pass
    raise unreadable(ENTRY, "a month, a week or a day such as 2024-05, 2024-W21 or 2024-05-01")
