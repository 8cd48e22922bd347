"""The auditor's own list of reasons names those of the readers, by the same numbers."""

from __future__ import annotations

from tripcloak.flows.audit.rules.manifest import VIEWED
from tripcloak.records.cleaning import MISSING_START, REASONS


def test_reasons_of_the_view_have_the_same_numbers() -> None:
    assert list(VIEWED) == [reason.name for reason in REASONS[: MISSING_START - 1]]
