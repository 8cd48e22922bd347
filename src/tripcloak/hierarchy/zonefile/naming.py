"""Which column of a zones file holds the ids, and zones that stand in several of its rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.zonefile.columns import Columns, parse_outlines

ID_NAMES = (
    "zone", "zone_id", "zoneid", "id", "geoid", "geoid20", "geoid10", "tract", "tract_id", "locationid",
    "location_id", "station_id", "cell_id", "nuts_id", "code",
)  # fmt: skip
_ROW_NUMBERS = frozenset(("objectid", "objectid_1", "fid", "ogc_fid", "gid", "index", "rowid", "cartodb_id"))
"""Names under which programs number rows: what is in them may look like ids by chance."""


@dataclass(frozen=True, kw_only=True)
class IdsSought:
    """What is known of the ids of zones before their file is read.

    Attributes
    ----------
    said : str, optional
        The column that the caller named.
    likely : tuple of str
        Names that the column has in the public file that belongs to the trips.
    seen : collection of str
        Ids that trips name.
    """

    said: str | None = None
    likely: tuple[str, ...] = ()
    seen: Collection[str] = ()


def find_ids(columns: Columns, sought: IdsSought) -> str:
    """Return the column of ids: the one said, the one that holds what trips name, or one usually named so.

    Examples
    --------
    >>> zones = Columns({"OBJECTID": [1, 2], "zone": ["Corona", "Corona"], "LocationID": [55, 56]})
    >>> find_ids(zones, IdsSought(seen={"55", "56"})), find_ids(zones, IdsSought(said="objectid"))
    ('LocationID', 'OBJECTID')
    """
    names = list(columns.values)
    if sought.said is not None:
        found = named(names, (sought.said.lower(),))
        if found is None:
            raise MissingColumnError(_no_column(columns, repr(sought.said)))
        if sought.seen and not _share(columns, found, sought.seen):
            raise InputError(_other_ids(columns, f"column {found!r} holds none of them"))
        return found
    usual = [name for name in (*sought.likely, *ID_NAMES) if named(names, (name.lower(),))]
    ranked = list(dict.fromkeys([*(str(named(names, (name.lower(),))) for name in usual), *names]))
    if sought.seen:
        return _best(columns, ranked, sought.seen)
    if (likely := named(names, tuple(name.lower() for name in sought.likely))) is not None:
        return likely
    whole = [name for name in ranked[: len(usual)] if _tells_apart(columns.values[name])]
    if not usual:
        raise MissingColumnError(_no_column(columns, "a usual name for zone ids"))
    return whole[0] if whole else ranked[0]


def _best(columns: Columns, ranked: Sequence[str], seen: Collection[str]) -> str:
    """Return the column that holds the most of what trips name; the first of those that hold as many."""
    shares = {name: _share(columns, name, seen) for name in ranked}
    own = [name for name in ranked if name.lower() not in _ROW_NUMBERS]
    best = max(own or ranked, key=lambda name: shares[name])
    counted = max(ranked, key=lambda name: shares[name])
    # Numbers of rows are often ids but for a few; a column that holds most ids is meant rather than they.
    chosen = best if shares[best] * 2 > shares[counted] else counted
    if not shares[chosen]:
        raise InputError(_other_ids(columns, "no column holds any of them"))
    return chosen


def _share(columns: Columns, name: str, seen: Collection[str]) -> float:
    values = {as_text(value) for value in columns.values[name]}
    return sum(one in values or as_whole(one) in values for one in seen) / len(seen)


def _tells_apart(values: Sequence[Any]) -> bool:
    texts = [as_text(value) for value in values]
    return "" not in texts and len(set(texts)) == len(texts)


def _no_column(columns: Columns, sought: str) -> str:
    return (
        f"zones file {columns.name}: no column has {sought}; it has {listed(columns.values)}. Name the "
        f"column of ids ({spelt('zone_id')}), or call it 'zone'"
    )


def _other_ids(columns: Columns, found: str) -> str:
    return (
        f"the zone ids of the trips are not those of zones file {columns.name}: {found}. Give the file of "
        f"the zones that the trips were counted in, or name the column of their ids ({spelt('zone_id')}); it "
        f"has {listed(columns.values)}"
    )


def named(names: Sequence[str], usual: tuple[str, ...]) -> str | None:
    """Return the first of the usual names (in small letters) that a column has, as it has it."""
    by_lowered = {name.lower(): name for name in reversed(names)}
    return next((by_lowered[name] for name in usual if name in by_lowered), None)


def as_text(value: Any) -> str:
    """Return a value as text, as a person would write it: no value is empty, 7.0 is 7.

    >>> as_text(7.0), as_text(None), as_text(" A7 ")
    ('7', '', 'A7')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.strip() if isinstance(value, str) else str(value)


def as_whole(text: str) -> str:
    """Return an id without the decimals that a whole number got where cells beside it were empty.

    >>> as_whole("8.0"), as_whole("6498.10"), as_whole("v1.0")
    ('8', '6498.10', 'v1.0')
    """
    whole = text.removesuffix(".0")
    return whole if whole.isdigit() else text


def listed(names: Sequence[str] | Mapping[str, Any]) -> str:
    """Return names for a message."""
    return ", ".join(names) if names else "no columns"


def dissolved(columns: Columns, name: str, sums: Collection[str], means: Collection[str]) -> Columns:
    """Return the columns with one row an id: outlines joined, areas added up, points averaged.

    Of other columns a value stays where all rows of the id agree, and is empty where they do not.

    Examples
    --------
    >>> parts = Columns({"id": ["a", "a"], "km2": [1, 2], "lat": [0, 1], "in": ["x", "x"], "of": ["p", "q"]})
    >>> dissolved(parts, "id", ["km2"], ["lat"]).values
    {'id': ['a'], 'km2': [3.0], 'lat': [0.5], 'in': ['x'], 'of': [None]}
    """
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(columns.values[name]):
        rows.setdefault(as_text(value), []).append(row)
    values: dict[str, list[Any]] = {}
    for key, column in columns.values.items():
        joined = [_joined([column[row] for row in of_id], key, sums, means) for of_id in rows.values()]
        values[key] = joined
    outlines = _joined_outlines(columns.geometry, list(rows.values()))
    return replace(columns, values=values, geometry=outlines)


def _joined(parts: list[Any], key: str, sums: Collection[str], means: Collection[str]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if key in sums or key in means:
        numbers = [float(part) for part in parts if part not in (None, "")]
        total = sum(numbers)
        return None if not numbers else total if key in sums else total / len(numbers)
    return parts[0] if len({as_text(part) for part in parts}) == 1 else None


def _joined_outlines(geometry: list[Any] | None, rows: Sequence[Sequence[int]]) -> list[Any] | None:
    if geometry is None:
        return None
    import shapely

    outlines = []
    for of_id in rows:
        parts = [geometry[row] for row in of_id]
        outlines.append(
            parts[0] if len(parts) == 1 else shapely.to_wkb(shapely.union_all(parse_outlines(parts)))
        )
    return outlines


def repeated(columns: Columns, name: str) -> int:
    """Return how many ids stand in more than one row."""
    ids, rows = np.unique([as_text(value) for value in columns.values[name]], return_counts=True)
    return int(np.count_nonzero((rows > 1) & (ids != "")))
