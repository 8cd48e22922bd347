"""Why a row is dropped: the reasons, the rules as SQL, and the report of how many rows each took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

from tripcloak.ground.masking import mask_small
from tripcloak.records.area import Area
from tripcloak.records.file_counts import FileRows
from tripcloak.records.files.tables import literal


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
    ("refund", "refund of another row: the same trip, its fare taken back"),
    ("jump", "reached only faster than anybody travels"),
    ("outside_area", "outside the study area"),
    ("repeated", "in the same step of time and space as another fix of the same person"),
    ("outside_period", "begun outside the period"),
    ("unknown_zone", "zone id that stands for an unknown place"),
)

REASONS: tuple[Reason, ...] = tuple(
    Reason(number, name, words) for number, (name, words) in enumerate(_NAMES_AND_WORDS, start=1)
)
"""Every rule in the order in which it is tried: a row counts under the first rule that it breaks."""

NUMBERS: dict[str, int] = {reason.name: reason.number for reason in REASONS}

UNPARSABLE = NUMBERS["unparsable"]
MISSING_START = NUMBERS["missing_start"]
OUTSIDE_TILING = NUMBERS["outside_tiling"]
OUTSIDE_AREA = NUMBERS["outside_area"]
OUTSIDE_PERIOD = NUMBERS["outside_period"]
DUPLICATE = NUMBERS["duplicate"]
REFUND = NUMBERS["refund"]


RowsByNumber: TypeAlias = Iterable[int] | Mapping[int, int]
"""Numbers of rows by number of reason; 0 for those that are kept."""


class ReadView(Protocol):
    """What a report asks of the view that was read."""

    def broken_lines(self) -> Mapping[str, int]:
        """Return the name of every file, with its lines that had the wrong number of fields."""

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
    people : mapping, optional
        Different people behind the rows that each reason took, where rows carry an id.
    lacking : int, optional
        People of whom a row was dropped that was no repetition of another, where people are known.
    files : tuple of FileRows
        The same for every file; of trips made of fixes, what ``before`` says of the fixes.

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
    people: Mapping[str, int] | None = None
    lacking: int | None = None
    files: tuple[FileRows, ...] = ()

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[RowsByNumber],
        reading: ReadView,
        people: Mapping[int, int] | None = None,
        without_id: Sequence[int] | None = None,
    ) -> CleaningReport:
        """Return the report of a pass over the view.

        Lines that never became rows are added here. Raises an InputError when the rows show that the
        input as a whole was misread: swapped coordinates, a column of text, weights that are none.

        Parameters
        ----------
        rows
            Rows by number of reason, for every file; of trips made of fixes, all under the first.
        people
            Different people behind the rows, by number of reason.
        without_id
            Rows that are used and have no id, for every file.
        """
        fixes = reading.fixes_report()
        if fixes is None:
            report = report_files(rows, reading.broken_lines(), without_id)
        else:
            by_number = dict(_numbered(rows[0]))
            report = cls(kept=by_number.get(0, 0), dropped=named(by_number), word="trips", before=fixes)
        report = replace(report, people=None if people is None else named(people))
        reading.object_to(report)
        return report

    def less(self, reason: str, lost: Sequence[int]) -> CleaningReport:
        """Return the report after so many more rows of each file were dropped for a reason.

        >>> report_files([{0: 7}, {0: 5}], {"a": 0, "b": 0}).less("jump", [2, 0]).files[0].dropped
        {'jump': 2}
        """
        if not sum(lost):
            return self
        files = tuple(
            replace(one, kept=one.kept - n, dropped=_with(one.dropped, reason, n))
            for one, n in zip(self.files, lost, strict=True)
        )
        dropped = _with(self.dropped, reason, sum(lost))
        return replace(self, kept=self.kept - sum(lost), dropped=dropped, files=files)

    @property
    def by_file(self) -> tuple[FileRows, ...]:
        """Return what became of the rows of each file: of trips made of fixes, of the fixes."""
        return (self.before or self).files

    @property
    def without_id(self) -> int | None:
        """Return the rows that are used and have no id; None where there is no column of ids."""
        known = [one.without_id for one in self.files if one.without_id is not None]
        return sum(known) if known else None

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
        people = {} if self.people is None else {"people": dict(self.people)}
        return {
            "word": self.word,
            "read": self.rows,
            "kept": self.kept,
            "dropped": dict(self.dropped),
            **people,
            **lacking,
            **({"files": [one.to_dict() for one in self.files]} if self.files else {}),
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
            f"{reason.words}: {mask_small(n, people=0 if reason.name in few else n)} {stage.word}"
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


def report_files(
    rows: Sequence[RowsByNumber],
    broken: Mapping[str, int],
    without_id: Sequence[int] | None = None,
    word: str = "rows",
) -> CleaningReport:
    """Return the report of files, given the rows of each by number of reason.

    Parameters
    ----------
    broken
        The name of every file, with its lines that never became rows.
    without_id
        Rows that are used and have no id, for every file.

    Examples
    --------
    >>> report = report_files([{0: 7, 12: 1}, {0: 5}], {"may.csv": 0, "june.csv": 2})
    >>> report.kept, report.dropped, [one.rows for one in report.files]
    (12, {'unparsable': 2, 'null_island': 1}, [8, 7])
    """
    files, whole = [], Counter[int]()
    for place, ((name, lines), of_file) in enumerate(zip(broken.items(), rows, strict=True)):
        by_number = Counter({number: int(n) for number, n in _numbered(of_file)})
        by_number[UNPARSABLE] += lines
        whole.update(by_number)
        nobody = None if without_id is None else int(without_id[place])
        files.append(FileRows(name=name, kept=by_number[0], dropped=named(by_number), without_id=nobody))
    return CleaningReport(kept=whole[0], dropped=named(whole), word=word, files=tuple(files))


def _with(dropped: Mapping[str, int], reason: str, more: int) -> Mapping[str, int]:
    numbers = {NUMBERS[name]: n for name, n in dropped.items()}
    return named({**numbers, NUMBERS[reason]: numbers.get(NUMBERS[reason], 0) + more})


def _numbered(rows: RowsByNumber) -> Iterable[tuple[int, int]]:
    return rows.items() if isinstance(rows, Mapping) else enumerate(rows)


_ENDS = (("o_lat", "o_lon"), ("d_lat", "d_lon"))
_MOST_TRIPS = 2**53
"""Beyond this a double no longer holds every whole number."""


class CleaningRule(NamedTuple):
    """A reason, SQL that is true for rows that break it, and quick SQL that is true for most that do not."""

    reason: str
    breaks: str
    fine: str | None = None


def reason_sql(rules: Sequence[CleaningRule]) -> str:
    """Return SQL of the number of the first rule that a row breaks, 0 if none.

    Good rows are nearly all rows, so one quick test of everything comes first; it may miss a good
    row but never passes a bad one.

    Examples
    --------
    >>> reason_sql([CleaningRule("end_before_start", "e < s", "e >= s")])
    '(CASE WHEN e >= s THEN 0 WHEN e < s THEN 17 ELSE 0 END)::UTINYINT'
    """
    ordered = sorted(rules, key=lambda rule: NUMBERS[rule.reason])
    if not ordered:
        return "0::UTINYINT"
    fine = " AND ".join(rule.fine for rule in ordered if rule.fine)
    cases = " ".join(f"WHEN {rule.breaks} THEN {NUMBERS[rule.reason]}" for rule in ordered)
    return f"(CASE WHEN {fine} THEN 0 {cases} ELSE 0 END)::UTINYINT"


def place_rules(area: Area, places: Sequence[tuple[str, str]] = _ENDS) -> list[CleaningRule]:
    """Return the rules on coordinates.

    Parameters
    ----------
    area
        Where both ends must lie.
    places
        Pairs of columns, latitude first.
    """
    earth = Area()
    finite = " AND ".join(f"isfinite({column})" for place in places for column in place)
    island = " OR ".join(f"({lat} = 0 AND {lon} = 0)" for lat, lon in places)
    # A range alone would let NaN through: the engine drops tests that a Parquet file's smallest and
    # largest value seem to settle, and NaN is in neither. A sum is finite only if all its parts are.
    total = " + ".join(column for place in places for column in place)
    rules = [
        CleaningRule("missing_coordinate", f"NOT coalesce({finite}, false)", f"isfinite({total})"),
        CleaningRule("swapped", _swapped(area, places)),
        CleaningRule("out_of_range", f"NOT {_all_in(earth, places)}", _all_in(area, places)),
        CleaningRule("null_island", f"({island})", f"NOT ({island})"),
    ]
    if area.box is not None:
        rules.append(CleaningRule("outside_box", f"NOT {_all_in(area, places)}"))
    if area.has_polygon:
        inside = _all_in_polygon(area, places)
        rules.append(CleaningRule("outside_polygon", f"NOT {inside}", inside))
    return rules


def zone_rules(unknown: Sequence[str] = ()) -> list[CleaningRule]:
    """Return the rules on zone ids, some of which may stand for no zone."""
    rules = [
        CleaningRule(
            "missing_zone", "(o_id IS NULL OR d_id IS NULL)", "o_id IS NOT NULL AND d_id IS NOT NULL"
        )
    ]
    if unknown:
        listed = ", ".join(literal(one) for one in unknown)
        breaks = f"(o_id IN ({listed}) OR d_id IN ({listed}))"
        rules.append(CleaningRule("unknown_zone", breaks, f"NOT {breaks}"))
    return rules


def column_rules(columns: Sequence[str]) -> list[CleaningRule]:
    """Return the rules on everything but places, for the columns that exist."""
    finite_trips = f"isfinite(trips) AND trips >= 0 AND trips <= {_MOST_TRIPS} AND trips = floor(trips)"
    rules = {
        "bad": [CleaningRule("unparsable", "bad", "NOT bad")],
        "unplaced": [CleaningRule("unknown_antenna", "unplaced", "NOT unplaced")],
        "incomplete": [CleaningRule("incomplete", "incomplete", "NOT incomplete")],
        "single": [CleaningRule("single_fix", "single", "NOT single")],
        "weight": [
            CleaningRule("missing_weight", "NOT coalesce(isfinite(weight), false)", "isfinite(weight)"),
            CleaningRule("negative_weight", "weight < 0", "weight >= 0"),
        ],
        "trips": [
            CleaningRule("bad_trips", f"NOT coalesce({finite_trips}, false)", finite_trips),
            CleaningRule("zero_trips", "trips = 0", "trips > 0"),
        ],
        "end_time": [CleaningRule("end_before_start", "end_time < start_time", "end_time >= start_time")],
    }
    if "start_time" not in columns:
        del rules["end_time"]
    return [rule for column, of_column in rules.items() if column in columns for rule in of_column]


def fix_rules(columns: Sequence[str], area: Area | None = None) -> list[CleaningRule]:
    """Return the rules on single GPS fixes, which are cleaned before they are joined to trips.

    Parameters
    ----------
    columns
        The columns there are; without ``occupied``, fixes of vacant vehicles are as good as others.
    area
        Where every fix must lie; anywhere on earth if not given.
    """
    rules = [
        CleaningRule("missing_person", "key IS NULL", "key IS NOT NULL"),
        CleaningRule("missing_time", "t IS NULL", "t IS NOT NULL"),
        *place_rules(area or Area(), (("lat", "lon"),)),
        *column_rules([column for column in columns if column in ("bad", "incomplete", "unplaced")]),
    ]
    return [*rules, CleaningRule("vacant", "NOT occupied", "occupied")] if "occupied" in columns else rules


def _all_in(area: Area, places: Sequence[tuple[str, str]]) -> str:
    return "(" + " AND ".join(area.in_box(lat, lon) for lat, lon in places) + ")"


def _all_in_polygon(area: Area, places: Sequence[tuple[str, str]]) -> str:
    return "(" + " AND ".join(area.in_polygon(lat, lon) for lat, lon in places) + ")"


def _swapped(area: Area, places: Sequence[tuple[str, str]]) -> str:
    """Return SQL that is true where a place is impossible or unwanted as written, but fine the other way."""
    turned = [(lon, lat) for lat, lon in places]
    here, there = _all_in(area, places), _all_in(area, turned)
    if area.has_polygon:
        here = f"({here} AND {_all_in_polygon(area, places)})"
        there = f"({there} AND {_all_in_polygon(area, turned)})"
    return f"(NOT {here} AND {there})"
