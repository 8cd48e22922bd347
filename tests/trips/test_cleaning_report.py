"""The report adds up, and its public version lets nobody compute a small number."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.trips.cleaning import NUMBERS, REASONS, CleaningReport, describe_cleaning

NAMES = ["unparsable", "null_island", "duplicate"]
REPORTS = st.builds(
    CleaningReport,
    kept=st.integers(0, 40),
    dropped=st.dictionaries(st.sampled_from(NAMES), st.integers(1, 30)),
)


class Nothing:
    """A reading that adds no broken lines and objects to nothing."""

    broken = 0

    def broken_lines(self) -> int:
        return self.broken

    def fixes_report(self) -> CleaningReport | None:
        return None

    def object_to(self, report: CleaningReport) -> None:
        pass


def test_reasons_are_numbered_from_one_without_gaps() -> None:
    assert [reason.number for reason in REASONS] == list(range(1, len(REASONS) + 1))
    assert len(NUMBERS) == len(REASONS) == len({reason.words for reason in REASONS})


def test_a_report_from_the_rows_of_a_pass() -> None:
    rows = [0] * 256
    rows[0], rows[NUMBERS["null_island"]], rows[NUMBERS["duplicate"]] = 7, 2, 1
    reading = Nothing()
    reading.broken = 4
    report = CleaningReport.from_rows(rows, reading)
    assert (report.kept, report.rows) == (7, 14)
    assert report.dropped == {"unparsable": 4, "null_island": 2, "duplicate": 1}
    assert report == CleaningReport.from_rows(dict(enumerate(rows)), reading)
    assert report.table() == describe_cleaning(report.dropped)
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()


def test_both_stages_are_told() -> None:
    fixes = CleaningReport(kept=50, dropped={"null_island": 20, "vacant": 3}, word="fixes")
    report = CleaningReport(kept=0, dropped={"single_fix": 12}, word="trips", before=fixes)
    assert report.to_dict()["before"]["dropped"] == fixes.dropped
    assert report.guarded(10)["before"]["dropped"] == {"null_island": None, "vacant": None}
    assert "20 fixes" in report.why_empty()
    assert "12 trips" in report.why_empty()


@given(report=REPORTS, k=st.integers(2, 12))
def test_no_small_number_is_told(report: CleaningReport, k: int) -> None:
    public = report.guarded(k)
    told = [public["read"], public["kept"], *public["dropped"].values()]
    assert all(n is None or n == 0 or n >= k for n in told)
    assert set(public["dropped"]) == set(report.dropped)


@given(report=REPORTS, k=st.integers(2, 12))
def test_no_small_number_can_be_computed(report: CleaningReport, k: int) -> None:
    """Whoever knows the public numbers still has several possible values for every hidden small one."""
    public = report.guarded(k)
    hidden = [name for name, n in public["dropped"].items() if n is None]
    small = [name for name in hidden if report.dropped[name] < k]
    if public["read"] is None or public["kept"] is None:
        return
    total = public["read"] - public["kept"] - sum(n for n in public["dropped"].values() if n)
    worlds = [
        dict(zip(hidden, numbers, strict=True))
        for numbers in product(range(1, total + 1), repeat=len(hidden))
        if sum(numbers) == total
    ]
    alike = [
        world
        for world in worlds
        if CleaningReport(kept=report.kept, dropped=report.dropped | world).guarded(k)["dropped"]
        == public["dropped"]
    ]
    for name in small:
        assert len({world[name] for world in alike}) > 1


def test_large_numbers_are_told() -> None:
    report = CleaningReport(kept=95, dropped={"null_island": 14, "duplicate": 30})
    public = report.guarded(10)
    assert (public["read"], public["kept"], public["dropped"]) == (139, 95, report.dropped)


@pytest.mark.parametrize("kept", [0, 3])
def test_few_kept_rows(kept: int) -> None:
    public = CleaningReport(kept=kept, dropped={"null_island": 14}).guarded(10)
    assert public["kept"] == (0 if kept == 0 else None)
    assert public["read"] == (14 if kept == 0 else None)
