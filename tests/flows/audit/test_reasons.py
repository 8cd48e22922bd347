"""The auditor's own list of reasons names those of the readers, by the same numbers."""

from __future__ import annotations

from tripcloak.flows.audit.rules.manifest import NUMBERED, VIEWED
from tripcloak.records.cleaning import MISSING_START, REASONS


def test_reasons_of_the_view_have_the_same_numbers() -> None:
    assert list(VIEWED) == [reason.name for reason in REASONS[: MISSING_START - 1]]


def test_numbers_are_those_of_the_reading() -> None:
    named = {reason.number: reason.name for reason in REASONS}
    assert {number: named[number] for number in NUMBERED} == NUMBERED
    assert "unknown_zone" in NUMBERED.values()
