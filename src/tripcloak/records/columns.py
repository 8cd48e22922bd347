"""Which column plays which role: by the field's usual names, a preset's names, or the caller's word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.ground.spelling import spelt
from tripcloak.records.schema import (
    COORDINATES,
    KNOWN_NAMES,
    NEEDED,
    OPTIONAL,
    ROLES,
    Endpoints,
    Form,
    option_of,
)

_NONE = "none"
_DETECTION_ORDER: tuple[Form, ...] = ("counts", "trips", "zones", "points", "polyline")


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """The form of a table and the column that plays each role in it."""

    form: Form
    columns: Mapping[str, str]

    @property
    def endpoints(self) -> Endpoints:
        """Return how the ends of trips are given."""
        return "zones" if "origin" in self.columns else "points"


def assign_columns(
    names: Sequence[str],
    *,
    given: Mapping[str, str] | None = None,
    known: Mapping[str, Sequence[str]] | None = None,
    form: Form | None = None,
) -> Assignment:
    """Return the form of a table and which of its columns plays which role.

    Parameters
    ----------
    names
        The columns of the table.
    given
        Role to column, as the caller said; wins over detection.
    known
        Role to usual names, best first; those of the field if not given.
    form
        The form, if the caller knows it.

    Raises
    ------
    MissingColumnError
        The message lists the columns found and the flags that would help.

    Examples
    --------
    >>> found = assign_columns(["ride_id", "Start Lat", "start_lng", "end_lat", "end_lng", "started_at"])
    >>> found.form, found.columns["origin_lon"], "person" in found.columns
    ('trips', 'start_lng', False)
    """
    given = given or {}
    found = find_roles(names, given, KNOWN_NAMES if known is None else known)
    # Somebody who names a zone column wants zones, even where coordinates exist.
    if {"origin", "destination"} & set(given) and form in (None, "zones", "counts"):
        found = {role: column for role, column in found.items() if role not in COORDINATES}
    forms = (form,) if form is not None else _DETECTION_ORDER
    for candidate in forms:
        for needed in NEEDED[candidate]:
            if all(role in found for role in needed):
                wanted = (*needed, *OPTIONAL[candidate])
                return Assignment(
                    form=candidate, columns={r: found[r] for r in dict.fromkeys(wanted) if r in found}
                )
    raise MissingColumnError(_what_is_missing(names, found, form))


def find_roles(
    names: Sequence[str], given: Mapping[str, str], known: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the column of each role that has one: the given one, or the best of the known names.

    Examples
    --------
    >>> find_roles(["Lat", "lng", "site"], {"antenna": "site"}, {"lat": ("lat",), "lon": ("lon", "lng")})
    {'lat': 'Lat', 'lon': 'lng', 'antenna': 'site'}
    """
    by_plain: dict[str, str] = {}
    for name in names:
        by_plain.setdefault(plain_name(name), name)
    found: dict[str, str] = {}
    for role in ROLES:
        if role in given:
            column = match_column(given[role], names)
            if column is None and given[role].lower() != _NONE:
                raise MissingColumnError(
                    f"the input has no column {given[role]!r} ({option_of(role)}); "
                    f"its columns are: {listed(names)}. Name one of these, or say {option_of(role, 'none')}."
                )
        else:
            usual = (plain_name(name) for name in known.get(role, ()))
            column = next((by_plain[name] for name in usual if name in by_plain), None)
        if column is not None:
            found[role] = column
    return found


def match_column(name: str, names: Iterable[str]) -> str | None:
    """Return the column that a name means: the same, or the same but for case, spaces and underscores.

    Examples
    --------
    >>> match_column("start_station_id", ["Start Station ID", "End Station ID"])
    'Start Station ID'
    """
    names = list(names)
    if name in names:
        return name
    return next((column for column in names if plain_name(column) == plain_name(name)), None)


def listed(names: Sequence[str], most: int = 40) -> str:
    """Return column names for a message, the first of them if there are many.

    A table that was read without its line of names has a row of data for names: then none is told.

    >>> listed(["lat", "lon"]), listed(["p17", "48.8566"])
    ('lat, lon', '2 columns with names that look like data')
    """
    if any(looks_like_data(name) for name in names):
        return f"{len(names)} {'column' if len(names) == 1 else 'columns'} with names that look like data"
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


_DATA_LIKE = re.compile(
    r"\s*([-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?"  # a number
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?"  # a date
    r"|[0-9a-fA-F]{12,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # a hash, a UUID
    r"|\S+@\S+\.\S+)\s*"  # an address
)


def looks_like_data(name: str) -> bool:
    """Return whether a column name looks like a cell: a number, a date, a hash, an address.

    A line of several such is data too, whatever parts them.

    >>> looks_like_data("48.8566"), looks_like_data("start_lat"), looks_like_data("48.85 2.35 0")
    (True, False, True)
    """
    parts = name.split() if " " in name.strip() else [name]
    return _DATA_LIKE.fullmatch(name) is not None or all(_DATA_LIKE.fullmatch(part) for part in parts)


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return stripped names, each different from the others whatever the case.

    >>> unique_names(["Lat", "lat", " "])
    ('Lat', 'lat_1', 'column2')
    """
    seen: dict[str, str] = {}
    for place, raw in enumerate(names):
        name = base = raw.strip() or f"column{place}"
        number = 1
        while name.lower() in seen:
            name, number = f"{base}_{number}", number + 1
        seen[name.lower()] = name
    return tuple(seen.values())


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """Return a column name without case, spaces, dots and underscores."""
    return re.sub(r"[^0-9a-z]", "", name.lower())


_OUTLINES = {"geometry", "geom", "wkt", "wkb", "wkbgeometry", "thegeom"}
"""Names of columns that hold the outlines of zones."""


def _what_is_missing(names: Sequence[str], found: Mapping[str, str], form: Form | None) -> str:
    wanted = form or _closest_form(found)
    needed = min(NEEDED[wanted], key=lambda roles: sum(role not in found for role in roles))
    missing = [role for role in needed if role not in found]
    words = "; ".join(f"{ROLES[role].words} ({option_of(role, 'NAME')})" for role in missing)
    other = (
        ""
        if form
        else (
            f" Other tables need {spelt('origin')} and {spelt('destination')} (zone ids), "
            f"{spelt('polyline')}, or {' '.join(map(spelt, ('person', 'time', 'lat', 'lon')))} (GPS fixes)."
        )
    )
    if {"lat", "lon"} & set(missing) and "antenna" in found:
        other += f" Records that name a base station need the table of their places ({spelt('stations')})."
    if _OUTLINES & {plain_name(name) for name in names} and not {"time", "start_time"} & set(found):
        other += (
            f" It looks like a table of zones: such go beside a table of trips ({spelt('zones', 'FILE')})."
        )
    found_words = f"Columns found: {listed(names)}. Name the right ones with these."
    return f"missing columns: {words}. {found_words}{other}"


def _closest_form(found: Mapping[str, str]) -> Form:
    """Return the form that lacks the fewest columns; rows are trips unless the place of a fix is found."""

    def lacking(form: Form) -> float:
        return min(sum(role not in found for role in roles) / len(roles) for roles in NEEDED[form])

    # A person and a time are columns of trips as well as of fixes, and a number of trips needs ends first.
    fixes = bool({"lat", "lon"} & set(found)) and not {*COORDINATES, "origin", "destination"} & set(found)
    if fixes:
        return "points"
    forms: tuple[Form, ...] = ("trips", "zones", "counts")
    best: Form = min(forms, key=lacking)
    return best if lacking(best) < 1 else "trips"


def check_attributes(attributes: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return attribute to column, or raise an error that lists the columns."""
    found = {attribute: match_column(attribute, names) for attribute in attributes}
    missing = [attribute for attribute, column in found.items() if column is None]
    if missing:
        raise MissingColumnError(
            f"the input has no attribute column {', '.join(missing)}; its columns are: {listed(names)}. Name "
            f"one of these with {spelt('attribute')} or {spelt('segment')}"
        )
    return {attribute: column for attribute, column in found.items() if column is not None}


def check_same_form(assignments: Sequence[Assignment]) -> Assignment:
    """Return the first assignment after checking that all files hold the same kind of table."""
    first = assignments[0]
    if any((a.form, a.endpoints) != (first.form, first.endpoints) for a in assignments):
        raise InputError(
            "the files hold different kinds of tables (for example one with coordinates and one with "
            f"zone ids); read them one kind at a time, or say which with {spelt('form')} or "
            f"{spelt('origin')} and {spelt('destination')}"
        )
    return first
