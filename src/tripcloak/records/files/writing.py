"""How the numbers and times of a table are written, as a bounded sample shows: commas, thousands, dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.records.columns import plain_name
from tripcloak.records.files.tables import Table, literal, quoted
from tripcloak.records.schema import ROLES, Decimal, option_of

if TYPE_CHECKING:
    import duckdb

FILES_LOOKED_AT = 100
ROWS_LOOKED_AT = 1000
ROWS_TO_SETTLE = 2_000_000
"""Where the first rows do not tell days from months, so many are asked."""


class Writing(NamedTuple):
    """How the cells of a column are written.

    Attributes
    ----------
    comma : bool
        Commas stand where a fraction begins.
    thousands : str
        What stands between groups of three digits; nothing where nothing does.
    formats : tuple of str
        Ways of writing times besides ISO 8601.
    """

    comma: bool = False
    thousands: str = ""
    formats: tuple[str, ...] = ()

    def number_sql(self, column: str) -> str:
        """Return SQL of the number in a cell; what is written otherwise is none."""
        if self == Writing():
            return f"TRY_CAST({column} AS DOUBLE)"
        point, gap = (",", re.escape(self.thousands)) if self.comma else (r"\.", re.escape(self.thousands))
        whole = rf"\d{{1,3}}({'[' + gap + ']'}\d{{3}})+|\d*" if gap else r"\d*"
        shape = rf"\s*[-+]?({whole})({point}\d*)?\s*"
        bare = f"replace(translate({column}, {literal(self.thousands)}, ''), {literal(self.point)}, '.')"
        read = f"CASE WHEN regexp_full_match({column}, {literal(shape)}) THEN {bare} ELSE {column} END"
        return f"TRY_CAST({read} AS DOUBLE)"

    @property
    def point(self) -> str:
        """Return what stands where a fraction begins."""
        return "," if self.comma else "."


@dataclass(frozen=True, kw_only=True)
class Writings:
    """How the columns of a table are written, and what a reader should know about it.

    Attributes
    ----------
    columns : mapping
        Column to how it is written, where that is unusual.
    notes : tuple of str
        What to know; holds no value.
    zoned : bool
        All times say their zone: by an offset, as seconds since 1970, or by the name of their column.
    """

    columns: Mapping[str, Writing] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    zoned: bool = True


def look_at_writing(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    roles: Mapping[str, str],
    *,
    decimal: Decimal | None = None,
    formats_known: bool = False,
) -> Writings:
    """Return how the text of a table is written, as its first rows and files show.

    Parameters
    ----------
    roles
        Role to column.
    decimal
        Where a fraction begins, if the caller said it.
    formats_known
        Whether the caller or a preset says how times are written.

    Raises
    ------
    InputError
        Numbers or dates may mean two things, and nothing tells which.
    """
    text = {role: name for role, name in roles.items() if table.types.get(name) == "VARCHAR"}
    numbers = {role: name for role, name in text.items() if ROLES[role].kind == "number"}
    clocks = {role: name for role, name in text.items() if ROLES[role].kind == "time"}
    zoned = not any(_is_naive(table.types[name], name) for role, name in roles.items() if role in _TIMES)
    asked = list(dict.fromkeys([*numbers.values(), *clocks.values()]))
    if not asked:
        return Writings(zoned=zoned)
    cells = _sample(con, table, asked)
    times = {} if formats_known else clocks
    found = _numbers({role: cells[name] for role, name in numbers.items()}, numbers, decimal)
    dates = _Dates(con, table, {name: cells[name] for name in times.values()}, times)
    formats = dates.formats()
    columns = {numbers[role]: writing for role, writing in found.items() if writing != Writing()}
    columns |= {name: Writing(formats=ways) for name, ways in formats.items() if ways}
    unix = {name for name in clocks.values() if not formats.get(name) and not formats_known}
    zoned = zoned and all(_says_zone(cells[name], name, unix=name in unix) for name in clocks.values())
    return Writings(columns=columns, notes=(*_number_notes(columns), *dates.notes), zoned=zoned)


_TIMES = tuple(role for role, one in ROLES.items() if one.kind == "time")
_ZONE = re.compile(r".*:\d\d(\.\d+)?\s*([zZ]|[-+]\d|[A-Za-z]{3,}|[-+]\d{4}\b).*")
_SECONDS = re.compile(r"[-+]?\d+(\.\d*)?")


def _is_naive(type_: str, column: str) -> bool:
    """Return whether a column of times has a type that knows no zone, and a name that tells none."""
    return type_.startswith(("TIMESTAMP", "DATE")) and not type_.endswith("ZONE") and not _named_zone(column)


def _says_zone(texts: Iterable[str], column: str, *, unix: bool) -> bool:
    """Return whether times as text say their zone; numbers do where they are seconds since 1970."""
    return _named_zone(column) or all(
        _ZONE.fullmatch(text) or (unix and _SECONDS.fullmatch(text)) for text in set(texts)
    )


def _named_zone(column: str) -> bool:
    return any(zone in plain_name(column) for zone in ("utc", "gmt"))


def _sample(con: duckdb.DuckDBPyConnection, table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Return some filled cells of each column, from the top of many of the files."""
    files = table.files[:: 1 + len(table.files) // FILES_LOOKED_AT]
    rows = max(20, ROWS_LOOKED_AT // len(files))
    cells: dict[str, list[str]] = {name: [] for name in names}
    listed = ", ".join(map(quoted, names))
    for file in files:
        top = con.execute(f"SELECT {listed} FROM ({table.probe_of(file)}) LIMIT {rows}").fetchall()
        for name, column in zip(names, zip(*top, strict=True), strict=False):
            cells[name] += [cell.strip() for cell in column if cell is not None and cell.strip()]
    return cells


_GAPS = " '\u2019\u00a0\u202f"
_SIGN = r"[-+]?"
# All in one pattern, so that a cell is looked at once; it is of the first shape that fits.
_SHAPE = re.compile(
    "|".join(
        f"(?P<{name}>{shape})"
        for name, shape in (
            ("whole", rf"{_SIGN}\d+"),
            # Three digits after one point: a fraction, unless other numbers show that points part thousands.
            ("one_point", rf"{_SIGN}[1-9]\d{{0,2}}\.\d{{3}}"),
            ("plain", rf"{_SIGN}(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"),
            # Groups of three after a comma: a fraction of three digits, or thousands.
            ("either", rf"{_SIGN}[1-9]\d{{0,2}},\d{{3}}"),
            ("comma", rf"{_SIGN}\d*,\d+"),
            ("thousands", rf"{_SIGN}[1-9]\d{{0,2}}((,\d{{3}})+\.\d*|(,\d{{3}}){{2,}})"),
            ("points", rf"{_SIGN}[1-9]\d{{0,2}}((\.\d{{3}})+,\d*|(\.\d{{3}}){{2,}})"),
            ("gaps", rf"{_SIGN}[1-9]\d{{0,2}}([{_GAPS}]\d{{3}})+(\.\d*)?"),
            ("gaps_and_comma", rf"{_SIGN}[1-9]\d{{0,2}}([{_GAPS}]\d{{3}})+,\d*"),
        )
    )
)
_COORDINATE = ("lat", "lon")


def _numbers(
    cells: Mapping[str, Sequence[str]], columns: Mapping[str, str], decimal: Decimal | None
) -> dict[str, Writing]:
    """Return how the numbers of each role are written; what one column shows settles the others."""
    shapes = {role: _shapes(texts) for role, texts in cells.items()}
    comma = decimal == "comma" or any({"comma", "points", "gaps_and_comma"} & s for s in shapes.values())
    point = decimal == "point" or any("thousands" in s for s in shapes.values())
    return {
        role: _writing(role, seen, columns[role], comma=comma, point=point, said=decimal is not None)
        for role, seen in shapes.items()
    }


def _shapes(texts: Iterable[str]) -> set[str]:
    found = (_SHAPE.fullmatch(text) for text in set(texts))
    return {(match.lastgroup if match else None) or "other" for match in found}


def _writing(role: str, seen: set[str], column: str, *, comma: bool, point: bool, said: bool) -> Writing:
    gaps = _GAPS if {"gaps", "gaps_and_comma"} & seen else ""
    if {"comma", "points", "gaps_and_comma"} & seen and "thousands" not in seen:
        # Beside fractions after a point, points cannot stand between thousands.
        return Writing(comma=True, thousands="." if "points" in seen and "plain" not in seen else gaps)
    if "thousands" in seen:
        return Writing(thousands=",")
    if "either" in seen:
        fraction = role.endswith(_COORDINATE) or (comma and not point)
        if not fraction and not point and role != "trips" and not said:
            raise InputError(
                f"the commas in column {column!r} may begin a fraction or stand between thousands; say which "
                f"with {spelt('decimal', 'comma')} or {spelt('decimal', 'point')}"
            )
        return Writing(comma=True) if fraction else Writing(thousands=",")
    return Writing(thousands=gaps)


def _number_notes(columns: Mapping[str, Writing]) -> Iterable[str]:
    commas = [name for name, writing in columns.items() if writing.comma]
    groups = [name for name, writing in columns.items() if writing.thousands]
    if commas:
        yield f"numbers are written with a decimal comma ({_listed(commas)}; set {spelt('decimal')})"
    if groups:
        yield f"numbers are written with separated thousands ({_listed(groups)}; set {spelt('decimal')})"


def _listed(names: Sequence[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


_NUMERIC_DATE = re.compile(
    r"(?P<first>\d{1,2})(?P<gap>[/.-])(?P<second>\d{1,2})(?P=gap)(?P<year>\d{4}|\d{2})(?P<clock>\D.*)?"
)
_CLOCK = re.compile(
    r"(?P<before>[ T]|, ) *\d{1,2}:\d{2}(?P<seconds>:\d{2}(?P<fraction>\.\d{1,6})?)?(?P<half> ?[AaPp][Mm])?"
)
_BARE_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?(\.\d+)?( ?[AaPp][Mm])?")
_COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_NAMED_DAYS = (
    "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%d/%b/%Y", "%b %d, %Y", "%b %d %Y", "%B %d, %Y",
    "%B %d %Y", "%Y-%b-%d",
)  # fmt: skip
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S.%f", ":%H:%M:%S")
_FRACTION = "%Y-%m-%d %H:%M:%S,%g"


class _Dates:
    """The dates of a table: which way they are written, and whether days or months come first."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        table: Table,
        cells: Mapping[str, Sequence[str]],
        roles: Mapping[str, str],
    ) -> None:
        self._con, self._table, self._cells, self._roles = con, table, cells, roles
        self.notes: list[str] = []

    def formats(self) -> dict[str, tuple[str, ...]]:
        """Return the ways in which the times of each column are written, besides ISO 8601."""
        numeric = {name: _matched(texts, _NUMERIC_DATE) for name, texts in self._cells.items()}
        dated = {name: found for name, found in numeric.items() if found}
        day_first = self._day_first(dated) if dated else False
        found: dict[str, tuple[str, ...]] = {}
        for name, texts in self._cells.items():
            ways = dict.fromkeys(_numeric_format(match, day_first=day_first) for match in numeric[name])
            others = [text for text in texts if not _NUMERIC_DATE.fullmatch(text)]
            found[name] = (*(way for way in ways if way), *_other_formats(others))
            if any(_BARE_CLOCK.fullmatch(text) for text in others):
                self.notes.append(
                    f"some times in column {name!r} are a clock without a day, as spreadsheet programs leave "
                    "them: their rows are dropped; bring the file as it was before"
                )
        return found

    def _day_first(self, dated: Mapping[str, Sequence[re.Match[str]]]) -> bool:
        """Return whether days come before months, or raise where nothing tells."""
        matches = [match for found in dated.values() for match in found]
        self._refuse_short_years(dated)
        firsts, seconds = (max(int(match[part]) for match in matches) for part in ("first", "second"))
        if firsts <= 12 and seconds <= 12 and any(match["gap"] != "." for match in matches):
            firsts, seconds = self._settled(list(dated))
        names = _listed(list(dated))
        if firsts > 12 and seconds > 12:
            raise InputError(
                f"some dates in {names} begin with the day and some with the month; bring them into one "
                f"form, or say which is right with {self._ways(dated)}: rows of the other form are dropped"
            )
        if firsts > 12 or seconds > 12:
            which, other = ("day", "first") if firsts > 12 else ("month", "second")
            self.notes.append(
                f"dates in {names} are read with the {which} first: a {other} number is above 12 somewhere "
                f"(set {spelt('time_format')})"
            )
            return firsts > 12
        if all(match["gap"] == "." for match in matches):
            self.notes.append(
                f"dates in {names} are read with the day first, as is usual with points (set "
                f"{spelt('time_format')})"
            )
            return True
        role = next(role for role, name in self._roles.items() if name in dated)
        without = f", or leave times out with {option_of(role, 'none')}" if role.endswith("_time") else ""
        raise InputError(
            f"dates in {names} may begin with the day or with the month, and no row tells; say which with "
            f"{self._ways(dated)}{without}"
        )

    def _refuse_short_years(self, dated: Mapping[str, Sequence[re.Match[str]]]) -> None:
        for name, matches in dated.items():
            if any(len(match["year"]) == 2 and match["gap"] == "-" for match in matches):
                raise InputError(
                    f"dates in column {name!r} are written with two digits for the year, which may come "
                    f"first or last; say how with {spelt('time_format', '%y-%m-%d', quoted=True)} or "
                    f"{spelt('time_format', '%d-%m-%y', quoted=True)}"
                )

    def _ways(self, dated: Mapping[str, Sequence[re.Match[str]]]) -> str:
        match = next(iter(dated.values()))[0]
        ways = (_numeric_format(match, day_first=day_first) or "%d/%m/%Y" for day_first in (True, False))
        return " or ".join(spelt("time_format", way, quoted=True) for way in ways)

    def _settled(self, names: Sequence[str]) -> tuple[int, int]:
        """Return the largest first and second number of many rows: the top of a file may be of one day."""
        sides = [
            "greatest("
            + ", ".join(
                f"coalesce(max(TRY_CAST(regexp_extract({quoted(name)}, {literal(_ENDS)}, {side}) AS INT)), 0)"
                for name in names
            )
            + ")"
            for side in (1, 2)
        ]
        listed = ", ".join(map(quoted, names))
        rows = f"SELECT {listed} FROM ({self._table.probe}) LIMIT {ROWS_TO_SETTLE}"
        ((firsts, seconds),) = self._con.execute(f"SELECT {', '.join(sides)} FROM ({rows})").fetchall()
        return int(firsts), int(seconds)


_ENDS = r"^\s*(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}"


def _matched(texts: Iterable[str], shape: re.Pattern[str]) -> list[re.Match[str]]:
    found = (shape.fullmatch(text) for text in dict.fromkeys(texts))
    return [match for match in found if match is not None]


def _numeric_format(match: re.Match[str], *, day_first: bool) -> str | None:
    """Return the way in which a date of numbers is written; None where its clock is none."""
    gap, year = match["gap"], "%Y" if len(match["year"]) == 4 else "%y"
    day = gap.join(("%d", "%m", year) if day_first else ("%m", "%d", year))
    if match["clock"] is None:
        return day
    clock = _CLOCK.fullmatch(match["clock"])
    if clock is None:
        return None
    half = "" if clock["half"] is None else (" %p" if clock["half"].startswith(" ") else "%p")
    seconds = "" if clock["seconds"] is None else ":%S" + (".%f" if clock["fraction"] else "")
    return f"{day}{clock['before']}{'%I' if half else '%H'}:%M{seconds}{half}"


def _other_formats(texts: Sequence[str]) -> list[str]:
    """Return the ways of dates with names of months, without gaps, and with a comma before fractions."""
    distinct = dict.fromkeys(texts)
    ways: dict[str, None] = {}
    digits = [text for text in distinct if text.isdigit()]
    for length, way in _COMPACT.items():
        of_length = [text for text in digits if len(text) == length]
        if of_length and len(of_length) == len(distinct) and all(_fits(text, way) for text in of_length):
            ways[way] = None
    for text in distinct:
        if re.search(r"[A-Za-z]{3}", text) and not any(_fits(text, way) for way in ways):
            ways |= dict.fromkeys(
                [day + clock for day in _NAMED_DAYS for clock in _CLOCKS if _fits(text, day + clock)][:1]
            )
        elif re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", text):
            ways[_FRACTION] = None
    return list(ways)


def _fits(text: str, way: str) -> bool:
    try:
        return 1900 <= datetime.strptime(text, way).year <= 2100
    except ValueError:
        return False
