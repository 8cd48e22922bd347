"""Why a row is dropped, and the report of how many rows each reason took."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


class Reason(NamedTuple):
    """One rule of cleaning: its number in the view, its name, and the words of the table."""

    number: int
    name: str
    words: str


_NAMES_AND_WORDS = (
    ("unparsable", "text where a number or a time must be, or a broken line"),
    ("incomplete", "marked as incomplete by the source"),
    ("single_fix", "trip of a single fix"),
    ("missing_person", "GPS fix without an id"),
    ("missing_time", "GPS fix without a time"),
    ("bad_time", "clock never set (the beginning of 1970, or before) or in the future"),
    ("outside_window", "time outside the window"),
    ("unknown_antenna", "base station missing, or not in the table of stations"),
    ("missing_coordinate", "coordinate missing or not a finite number"),
    ("swapped", "latitude and longitude look swapped"),
    ("out_of_range", "coordinate out of range"),
    ("null_island", "coordinate is (0, 0)"),
    ("vacant", "GPS fix without a passenger on board"),
    ("missing_zone", "zone id missing"),
    ("outside_box", "outside the box"),
    ("outside_polygon", "outside the polygon"),
    ("end_before_start", "end before start"),
    ("missing_weight", "weight missing or not a finite number"),
    ("negative_weight", "negative weight"),
    ("bad_trips", "number of trips missing, negative or not whole"),
    ("zero_trips", "number of trips is zero"),
    ("missing_start", "start time missing or beyond four-digit years, so in no slot of time"),
    ("outside_tiling", "an end in no known zone"),
    ("duplicate", "exact duplicate of another row"),
    ("jump", "reached only faster than anybody travels"),
    ("outside_area", "outside the study area"),
    ("repeated", "in the same step of time and space as another fix of the same person"),
)

REASONS: tuple[Reason, ...] = tuple(
    Reason(number, name, words) for number, (name, words) in enumerate(_NAMES_AND_WORDS, start=1)
)
"""Every rule in the order in which it is tried: a row counts under the first rule that it breaks."""

NUMBERS: dict[str, int] = {reason.name: reason.number for reason in REASONS}

UNPARSABLE = NUMBERS["unparsable"]
MISSING_START = NUMBERS["missing_start"]
OUTSIDE_TILING = NUMBERS["outside_tiling"]
DUPLICATE = NUMBERS["duplicate"]

FEW = 10
"""Errors do not tell a number of rows below this one, nor one that concerns fewer people."""


class Reading(Protocol):
    """What a report asks of the view that was read."""

    def broken_lines(self) -> int:
        """Return the lines that had the wrong number of fields."""

    def fixes_report(self) -> CleaningReport | None:
        """Return what became of the GPS fixes, if trips were made of fixes."""

    def object_to(self, report: CleaningReport) -> None:
        """Raise an error if the rows show that the input was misread as a whole."""


@dataclass(frozen=True, kw_only=True)
class CleaningReport:
    """How many rows were read and kept, and how many each reason took.

    Attributes
    ----------
    kept : int
        Rows that became trips (or, among GPS fixes, part of a trip).
    dropped : mapping
        Rows dropped by the name of the reason, in the order of the rules; no zeros.
    word : str
        What a row is: ``"rows"``, ``"trips"`` made of fixes, or ``"fixes"``.
    before : CleaningReport, optional
        What became of the GPS fixes before they were joined to trips.
    lacking : int, optional
        People of whom a row was dropped that was no repetition of another, where people are known.

    Examples
    --------
    >>> report = CleaningReport(kept=95, dropped={"null_island": 14, "duplicate": 3})
    >>> report.rows, report.table()
    (112, [('coordinate is (0, 0)', 14), ('exact duplicate of another row', 3)])
    """

    kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    word: str = "rows"
    before: CleaningReport | None = None
    lacking: int | None = None

    @classmethod
    def from_rows(cls, rows: Iterable[int] | Mapping[int, int], reading: Reading) -> CleaningReport:
        """Return the report of a pass over the view, given its rows by number of reason.

        Lines that never became rows are added here. Raises an InputError when the rows show that the
        input as a whole was misread: swapped coordinates, a column of text, weights that are none.
        """
        by_number = {number: int(n) for number, n in _numbered(rows) if n}
        fixes = reading.fixes_report()
        if fixes is None:
            by_number[UNPARSABLE] = by_number.get(UNPARSABLE, 0) + reading.broken_lines()
        report = cls(
            kept=by_number.get(0, 0),
            dropped=named(by_number),
            word="rows" if fixes is None else "trips",
            before=fixes,
        )
        reading.object_to(report)
        return report

    @property
    def rows(self) -> int:
        """Return the number of rows read."""
        return self.kept + sum(self.dropped.values())

    def table(self) -> list[tuple[str, int]]:
        """Return the reasons in words with the rows that each took."""
        return describe_cleaning(self.dropped)

    def to_dict(self) -> dict[str, Any]:
        """Return exact numbers for the private part of a release."""
        before = {} if self.before is None else {"before": self.before.to_dict()}
        lacking = {} if self.lacking is None else {"people_lacking": self.lacking}
        return {
            "word": self.word,
            "read": self.rows,
            "kept": self.kept,
            "dropped": dict(self.dropped),
            **lacking,
            **before,
        }

    def why_empty(self, what: str = "trip", few: Container[str] = ()) -> str:
        """Return words for the error that no usable row is left; ``what`` is what a row should become.

        Numbers of the reasons ``few`` concern few people and are not told.
        """
        stages = [stage for stage in (self.before, self) if stage is not None and stage.dropped]
        if not stages:
            return f"no row was read; expected at least one {what} (check the condition, if one was given)"
        told = "; ".join(
            f"{reason.words}: {tell(n, 0 if reason.name in few else None)} {stage.word}"
            for stage in stages
            for reason in REASONS
            if (n := stage.dropped.get(reason.name))
        )
        return (
            f"no usable {what} is left after cleaning ({told}); check the columns, the box and the condition"
        )


def describe_cleaning(dropped: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the reasons in words with the rows that each took, in the order of the rules.

    Examples
    --------
    >>> describe_cleaning({"duplicate": 3, "null_island": 14})
    [('coordinate is (0, 0)', 14), ('exact duplicate of another row', 3)]
    """
    return [(reason.words, dropped[reason.name]) for reason in REASONS if dropped.get(reason.name)]


def named(by_number: Mapping[int, int]) -> dict[str, int]:
    """Return rows by the name of the reason, in the order of the rules, without zeros.

    Examples
    --------
    >>> named({0: 5, 12: 2, 1: 1, 3: 0})
    {'unparsable': 1, 'null_island': 2}
    """
    return {reason.name: by_number[reason.number] for reason in REASONS if by_number.get(reason.number)}


def tell(rows: int, people: int | None = None) -> str:
    """Return a number of rows for an error message: small ones, or those of few people, are not told.

    Examples
    --------
    >>> tell(1234), tell(3), tell(1234, people=3)
    ('1,234', 'some', 'some')
    """
    return f"{rows:,}" if min(rows, rows if people is None else people) >= FEW else "some"


def _numbered(rows: Iterable[int] | Mapping[int, int]) -> Iterable[tuple[int, int]]:
    return rows.items() if isinstance(rows, Mapping) else enumerate(rows)
