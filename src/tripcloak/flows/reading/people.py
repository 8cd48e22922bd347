"""Notes on what belongs to people: weights and attributes that are missing, zero, or not always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tripcloak.flows.model import WeightsSeen
from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.fixes import uneven_fixes
from tripcloak.records.tables import quoted
from tripcloak.records.trips import WHOLE, Canonical

if TYPE_CHECKING:
    import duckdb


def note_on_people(canonical: Canonical, cleaning: CleaningReport, seen: WeightsSeen | None) -> list[str]:
    """Return notes on weights and attributes; small numbers of people are not told.

    Parameters
    ----------
    seen
        The weights of the rows that were kept, where there are weights.
    """
    uneven = _uneven(canonical)
    notes = []
    if seen is not None:
        weight = canonical.columns.get("weight", "weight")
        notes += _weight_notes(canonical, weight, cleaning, seen)
        differing = uneven.pop("weight", seen.uneven)
        if differing:
            whom = mask_small(differing, "people", people=differing)
            notes.append(
                f"{weight!r} differs between rows of one person, for {whom}: "
                "every trip counts with the weight of its own row"
            )
    return notes + [
        f"{column!r} differs between rows of one person, for {mask_small(people, 'people', people=people)}: "
        "they are in more than one segment by it"
        for column, people in uneven.items()
        if people
    ]


def _weight_notes(
    canonical: Canonical, weight: str, cleaning: CleaningReport, seen: WeightsSeen
) -> list[str]:
    notes = []
    if {"missing_weight", "negative_weight"} & set(cleaning.dropped):
        notes.append(
            f"rows whose {weight!r} is missing, not finite or negative are left out; "
            f"give {spelt('weight', 'none')} to keep them and do without a population"
        )
    zero, word = (seen.zero, "people") if canonical.has_person else (seen.zero_rows, "rows")
    if zero:
        whom = mask_small(zero, word, people=zero)
        notes.append(f"{weight!r} is zero for {whom}: they add trips, but no population")
    return notes


def _uneven(canonical: Canonical) -> dict[str, int]:
    """Return how many people have more than one value, per column; the weight only among GPS fixes."""
    con = canonical.connection
    if not canonical.has_person:
        return {}
    if canonical.form == "points":
        return uneven_fixes(con, canonical.has_weight, canonical.attributes)
    return _uneven_rows(con, canonical.attributes) if canonical.attributes else {}


def _uneven_rows(con: duckdb.DuckDBPyConnection, attributes: tuple[str, ...]) -> dict[str, int]:
    columns = [quoted(f"attr_{name}") for name in attributes]
    differ = ", ".join(f"min({column}) <> max({column}) AS {column}" for column in columns)
    # In a segment everybody has one value: whether they are in others too, only the whole input tells.
    people = f"SELECT {differ} FROM {WHOLE} WHERE reason = 0 AND person IS NOT NULL GROUP BY person"
    (found,) = con.execute(
        f"SELECT {', '.join(f'count_if({c})' for c in columns)} FROM ({people})"
    ).fetchall()
    return dict(zip(attributes, found, strict=True))
