"""SQL that turns a raw cell into a number, a time or an id, and says when it could not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from tripcloak.ground.errors import InputError
from tripcloak.records.files.tables import literal, quoted
from tripcloak.records.files.writing import Writing
from tripcloak.records.schema import ROLES, option_of

_INTEGERS = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"))
_WIDE = frozenset(("UBIGINT", "HUGEINT", "UHUGEINT"))
_FLOATS = frozenset(("FLOAT", "DOUBLE"))
_NAIVE = frozenset(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "DATE"))

_MISSING = ("", "NA", "N/A", "NULL", "null", "None", "nan", "NaN", "\\N")
"""Texts that stand for nothing."""

_MISSING_ZONE = tuple(text for text in _MISSING if text not in ("NA", "N/A"))
"""The same for zones: NA is the code of a country."""

_LEAST_H3 = 2**59
"""Every H3 cell, as an integer, is beyond this; no other numbering of zones is."""

OFFSET = r":\d\d(\.\d+)?\s*([zZ]|[-+]\d|[A-Za-z])"
"""How a written time with an offset or a zone goes on after its minutes or seconds."""


class Value(NamedTuple):
    """SQL of a value, and SQL that is true where the raw cell holds something else (None: it cannot)."""

    sql: str
    bad: str | None = None


@dataclass(frozen=True, kw_only=True)
class Casts:
    """How cells of one source become values.

    Attributes
    ----------
    timezone : str
        Zone of times written without an offset.
    time_formats : sequence of str
        Ways of writing times besides ISO 8601.
    formats_said : bool
        The caller said how times are written: they are written in no other way.
    writings : mapping
        Column to how its cells are written, where that is unusual.
    zone_prefix : int, optional
        Number of leading characters of zone ids to keep.
    """

    timezone: str = "UTC"
    time_formats: Sequence[str] = ()
    formats_said: bool = False
    writings: Mapping[str, Writing] = field(default_factory=dict)
    zone_prefix: int | None = None

    def value(self, role: str, column: str, type_: str) -> Value:
        """Return the SQL that reads a column in a role.

        Examples
        --------
        >>> Casts().value("origin_lat", "lat", "DOUBLE")
        Value(sql='"lat"', bad=None)
        >>> Casts().value("person", "user", "INTEGER").sql
        '"user"::BIGINT'
        """
        writing = self.writings.get(column, Writing())
        makers: dict[str, Callable[[str, str], Value | None]] = {
            "number": partial(_number, writing=writing),
            "time": partial(self._time, formats=(*self.time_formats, *writing.formats)),
            "person": _person,
            "separator": _person,
            "zone": self._zone,
            "truth": _truth,
            "amount": _amount,
        }
        raw = f"{quoted(column)}::VARCHAR" if type_.startswith("ENUM") else quoted(column)
        made = makers[ROLES[role].kind](raw, _plain_type(type_))
        if made is None:
            raise InputError(
                f"column {column!r} cannot be the {ROLES[role].words} ({option_of(role)}): "
                f"expected values such as {ROLES[role].example}, found a column of type {type_}. Name "
                f"another column, or say {option_of(role, 'none')}"
            )
        return made

    def _time(self, column: str, type_: str, formats: Sequence[str]) -> Value | None:
        if type_.endswith("WITH TIME ZONE"):
            return Value(f"{column}::TIMESTAMPTZ")
        if type_ in _NAIVE:
            return Value(self._zoned(column if type_ == "TIMESTAMP" else f"{column}::TIMESTAMP"))
        if _numeric(type_):
            return Value(_unix(f"{column}::DOUBLE"))
        if type_ == "NULL":
            return Value("NULL::TIMESTAMPTZ")
        return self._written_time(column, formats) if type_ == "VARCHAR" else None

    def _written_time(self, column: str, formats: Sequence[str]) -> Value:
        """Return the SQL of a time as text: the formats that were said, or ISO 8601, others, or Unix time."""
        # The session's zone is UTC, so a plain cast reads a time without an offset as UTC. The detour by
        # microseconds makes nothing of the word infinity, which is a time to the engine.
        iso = f"make_timestamptz(epoch_us(TRY_CAST({column} AS TIMESTAMPTZ)))"
        if self.timezone != "UTC":
            naive = self._zoned(f"TRY_CAST({column} AS TIMESTAMP)")
            iso = f"CASE WHEN regexp_matches({column}, {literal(OFFSET)}) THEN {iso} ELSE {naive} END"
        ways = [] if self.formats_said else [iso]
        for way in formats:
            tried = f"try_strptime({column}, {literal(way)})"
            # One with an offset says its zone itself.
            ways.append(f"make_timestamptz(epoch_us({tried}))" if "%z" in way else self._zoned(tried))
        if not self.formats_said:
            ways.append(_unix(f"TRY_CAST({column} AS DOUBLE)"))
        return _tried(f"coalesce({', '.join(ways)})", column)

    def _zoned(self, timestamp: str) -> str:
        if self.timezone == "UTC":
            # Five times quicker than the calendar, with the same result.
            return f"make_timestamptz(epoch_us({timestamp}))"
        return f"timezone({literal(self.timezone)}, {timestamp})"

    def _zone(self, column: str, type_: str) -> Value | None:
        if type_ in _INTEGERS | _WIDE:
            # The id of an H3 cell is its number in hexadecimal.
            text = (
                f"CASE WHEN {column} >= {_LEAST_H3} THEN lower(to_hex({column})) ELSE {column}::VARCHAR END"
            )
            text = text if type_ in ("BIGINT", "UBIGINT") else f"{column}::VARCHAR"
        elif type_ in _FLOATS:
            # Whole numbers beside empty cells arrive as 132.0.
            whole = f"isfinite({column}) AND {column} = round({column})"
            text = f"CASE WHEN {whole} THEN TRY_CAST({column} AS BIGINT)::VARCHAR END"
        elif type_ in ("VARCHAR", "NULL"):
            text = _unless_missing(column, _MISSING_ZONE)
        else:
            return None
        return Value(text if self.zone_prefix is None else f"left({text}, {self.zone_prefix})")


def _number(column: str, type_: str, writing: Writing) -> Value | None:
    if type_ == "DOUBLE":
        return Value(column)
    if _numeric(type_) or type_ == "NULL":
        return Value(f"{column}::DOUBLE")
    return _tried(writing.number_sql(column), column) if type_ == "VARCHAR" else None


def _amount(column: str, type_: str) -> Value:
    """Return the SQL of a number that helps to tell rows apart; one that cannot be read makes no row bad."""
    if _numeric(type_):
        return Value(f"{column}::DOUBLE")
    return Value(
        f"TRY_CAST(translate({column}, '$, ', '') AS DOUBLE)" if type_ == "VARCHAR" else "NULL::DOUBLE"
    )


def _person(column: str, type_: str) -> Value | None:
    if type_ in _INTEGERS:
        return Value(f"{column}::BIGINT")
    if type_ == "VARCHAR":
        return Value(_unless_missing(column, _MISSING))
    if type_ in _FLOATS:
        return Value(f"CASE WHEN isfinite({column}) THEN {column}::VARCHAR END")
    return Value(f"{column}::VARCHAR") if type_ in _WIDE | {"UUID", "NULL"} or _numeric(type_) else None


def _truth(column: str, type_: str) -> Value | None:
    if type_ == "BOOLEAN":
        return Value(f"coalesce({column}, false)")
    if type_ == "VARCHAR":
        return Value(f"coalesce(lower({column}) IN ('true', 't', '1', 'yes'), false)")
    return Value(f"coalesce({column} <> 0, false)") if _numeric(type_) else None


def _tried(sql: str, column: str) -> Value:
    missing = ", ".join(literal(text) for text in _MISSING)
    return Value(sql, f"({sql} IS NULL AND {column} IS NOT NULL AND trim({column}) NOT IN ({missing}))")


def _unless_missing(column: str, missing: Sequence[str]) -> str:
    texts = ", ".join(literal(text) for text in missing)
    return f"CASE WHEN {column} NOT IN ({texts}) THEN {column}::VARCHAR END"


def _unix(seconds: str) -> str:
    """Return SQL of a Unix time in seconds, milliseconds or microseconds, told apart by their size."""
    return (
        f"make_timestamptz(CASE WHEN abs({seconds}) < 1e11 THEN {seconds} * 1e6 WHEN abs({seconds}) < 1e14 "
        f"THEN {seconds} * 1e3 WHEN abs({seconds}) < 1e17 THEN {seconds} END::BIGINT)"
    )


def _numeric(type_: str) -> bool:
    return type_ in _INTEGERS | _WIDE | _FLOATS or type_.startswith("DECIMAL")


def _plain_type(type_: str) -> str:
    """Return a type's family: enumerations and JSON are text, quoted names of types lose their quotes."""
    return "VARCHAR" if type_.startswith("ENUM") or type_ == "JSON" else type_.strip('"')


def is_text(type_: str) -> bool:
    """Return whether a column of this type holds text."""
    return _plain_type(type_) == "VARCHAR"
