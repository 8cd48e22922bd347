"""The report adds up and tells both stages."""

from __future__ import annotations

import json

from tripcloak.records.cleaning import NUMBERS, REASONS, CleaningReport, describe_cleaning


class Nothing:
    """A reading that adds no broken lines and objects to nothing."""

    broken = 0

    def broken_lines(self) -> dict[str, int]:
        return {"trips.csv": self.broken}

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
    report = CleaningReport.from_rows([rows], reading)
    assert (report.kept, report.rows) == (7, 14)
    assert report.dropped == {"unparsable": 4, "null_island": 2, "duplicate": 1}
    assert report == CleaningReport.from_rows([dict(enumerate(rows))], reading)
    assert report.table() == describe_cleaning(report.dropped)
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()


def test_both_stages_are_told() -> None:
    fixes = CleaningReport(kept=50, dropped={"null_island": 20, "vacant": 3}, word="fixes")
    report = CleaningReport(kept=0, dropped={"single_fix": 12}, word="trips", before=fixes)
    assert report.to_dict()["before"]["dropped"] == fixes.dropped
    assert "20 fixes" in report.why_empty()
    assert "12 trips" in report.why_empty()
