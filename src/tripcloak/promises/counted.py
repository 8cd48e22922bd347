"""What is counted, in words: people, vehicles, devices, cards, households, trips or the population."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import called

IdKind = Literal["person", "vehicle", "device", "card", "household"]
ID_KINDS: tuple[IdKind, ...] = get_args(IdKind)
UNKNOWN = "unknown"
"""In place of a kind: nobody said what an id stands for, and neither its column's name nor its use tells."""


class Ones(NamedTuple):
    """One and several of what an id stands for, and what to know where that is not people."""

    one: str
    several: str
    known: str


ONES: dict[str, Ones] = {
    "person": Ones("person", "people", "people: every id stands for one person"),
    "vehicle": Ones(
        "vehicle", "vehicles", "vehicles, not people: several of them may have carried the same person"
    ),
    "device": Ones("device", "devices", "devices, not people: several of them may be one person's"),
    "card": Ones("card", "cards", "cards, not people: several of them may be one person's"),
    "household": Ones("household", "households", "households, not people: each may be one person or many"),
    UNKNOWN: Ones(
        "id of unknown kind",
        "ids of unknown kind",
        "ids of unknown kind: nobody said what they stand for, so they may not be people",
    ),
}
TRAVELLERS = Ones("traveller", "travellers", "")
"""Where it is still open what the ids of an input stand for."""

KNOWN = {
    "trips": "trips, not people: all of them may be one person's",
    "population": "people that the records stand for: few records may stand for many",
}


def checked_kind(given: str | None) -> str | None:
    """Return what an id stands for, or raise an error that names the words there are.

    >>> checked_kind("bus")
    Traceback (most recent call last):
    tripcloak.InputError: id_is says what an id stands for: person, vehicle, device, card or household; ...
    """
    if given is None or given in ID_KINDS:
        return given
    *most, last = ID_KINDS
    raise InputError(
        f"{called('id_is')} says what an id stands for: {', '.join(most)} or {last}; got {given!r}"
    )


def ones_of(id_is: str | None) -> Ones:
    """Return the words for ids of a kind; None where that is still open."""
    return TRAVELLERS if id_is is None else ONES[id_is]


def number_of(unit: str, least: float, id_is: str | None) -> str:
    """Return a number of a unit in words that call nothing people which is not.

    Examples
    --------
    >>> number_of("travellers", 10, "person"), number_of("travellers", 10, "vehicle")
    ('10 people', '10 vehicles (not people)')
    >>> number_of("trips", 1400, None)
    "1,400 trips, which may be one person's"
    """
    if unit == "trips":
        return f"{least:,} trips, which may be one person's"
    if unit != "travellers":
        return f"{least:,} {unit}"
    aside = "" if id_is in (None, "person", UNKNOWN) else " (not people)"
    return f"{least:,} {ones_of(id_is).several}{aside}"


def called_in_words(unit: str, id_is: str | None) -> str:
    """Return what is counted under a unit's name, in a word or two.

    >>> called_in_words("travellers", "vehicle"), called_in_words("trips", "vehicle")
    ('vehicles (not people)', 'trips')
    """
    return unit if unit != "travellers" else number_of(unit, 0, id_is).removeprefix("0 ")


def known_of(unit: str, id_is: str | None) -> str:
    """Return what a reader must know of what is counted under a unit's name.

    >>> known_of("travellers", "card")
    "cards, not people: several of them may be one person's"
    """
    return KNOWN[unit] if unit in KNOWN else ONES[id_is or UNKNOWN].known


def counted_as(facts: Mapping[str, Any], column: str | None) -> str:
    """Return in plain words what a release counted, and by which column; for the owner of the data.

    A column that was wrongly taken for people shows in no number, so that somebody must read its name.

    Parameters
    ----------
    facts
        The manifest.
    column
        The raw column of ids; None where there is none.

    Examples
    --------
    >>> counted_as({"counted": {"travellers": "people: every id stands for one person"}}, "bike_id")
    'counted as people: column bike_id'
    >>> counted_as({"counted": {"trips": KNOWN["trips"]}}, None)
    'counted as trips, not people: no column of ids'
    """
    told = facts.get("counted")
    words = [str(one) for one in told.values()] if isinstance(told, Mapping) else ["nobody knows what"]
    what = " and ".join(one.partition(":")[0] for one in words)
    return f"counted as {what}: {'no column of ids' if column is None else f'column {column}'}"
