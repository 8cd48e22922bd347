"""What a release promises to people, as its manifest's entry states it, read with distrust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tripcloak.flows.audit.privacy import NOISE, Privacy, read_privacy
from tripcloak.ground.entries import figures, is_number, unreadable

ENTRY = "promise"
UNITS = ("trips", "travellers", "population")
COVERED = ("tiles", "places")
SEGMENTS = "every segment"
FEW_ITEMS = "k^m-anonymity"


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What is promised to people.

    Attributes
    ----------
    thresholds : mapping
        The smallest support per unit; the first unit is the main one. None under differential privacy.
    floors : mapping
        How many different tiles or places that occur every released zone covers at least.
    closeness : float, optional
        How far the destinations of an origin zone are from those of all at most.
    privacy : Privacy, optional
        The differential privacy that is promised in place of thresholds.
    known_items : int, optional
        How many of origin, destination and time a reader may know for the thresholds to hold; all of
        them if not given.
    segments : tuple of str
        The segments of which each must be safe in every flow, where that is promised.
    segmented_by : tuple of str
        What parts people into these segments, such as ``sex`` or ``age:10``.
    spoken : tuple of str
        The numbers that a sentence on it gives, in their order.
    """

    thresholds: Mapping[str, float] = field(default_factory=dict)
    floors: Mapping[str, int] = field(default_factory=dict)
    closeness: float | None = None
    privacy: Privacy | None = None
    known_items: int | None = None
    segments: tuple[str, ...] = ()
    segmented_by: tuple[str, ...] = ()
    spoken: tuple[str, ...] = ()


def read_stated(entry: Any, axes: Sequence[str]) -> Stated:
    """Return what an entry promises, or raise :class:`BrokenPart`.

    A promise for every segment, or for readers who know few items, goes around one or several on groups;
    nothing else goes around another.

    Parameters
    ----------
    axes
        The items of a trip.

    Examples
    --------
    >>> read_stated({"kind": "k-anonymity", "k": 10, "unit": "trips"}, ("origin", "destination")).thresholds
    {'trips': 10.0}
    """
    told = _table(entry)
    told.pop("sentence", None)
    kind = told.get("kind")
    if kind == NOISE:
        privacy = read_privacy(told)
        return Stated(privacy=privacy, spoken=tuple(figures(privacy.figures)))
    outer: dict[str, Any] = {}
    if kind == SEGMENTS:
        outer, told, spoken = _segments(told)
    elif kind == FEW_ITEMS:
        outer, told, spoken = _few_items(told, axes)
    else:
        spoken = []
    parts = _parts(told)
    inner = _all_of(parts)
    if kind == FEW_ITEMS and inner["closeness"] is not None:
        raise unreadable(ENTRY, "without close destinations where readers know few items")
    said = [figure for part in parts for figure in figures(_said(part))]
    return Stated(**outer, **inner, spoken=(*said, *spoken))


def _table(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise unreadable(ENTRY, "a table of what is promised")
    return dict(entry)


def _exactly(told: dict[str, Any], *names: str) -> list[Any]:
    """Return the values of these entries, of which there must be no others."""
    if set(told) != {"kind", *names}:
        raise unreadable(ENTRY, f"of a known kind, with {', '.join(names)} and no more")
    return [told[name] for name in names]


def _segments(told: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    by, names, inner = _exactly(told, "by", "names", "promise")
    for what, listed in (("by", by), ("names", names)):
        if not isinstance(listed, list) or not listed or not all(isinstance(name, str) for name in listed):
            raise unreadable(f"{ENTRY}.{what}", "a list of names")
        if len(set(listed)) < len(listed):
            raise unreadable(f"{ENTRY}.{what}", "a list in which every name is there once")
    return {"segments": tuple(names), "segmented_by": tuple(by)}, _table(inner), [f"{len(names):,}"]


def _few_items(told: dict[str, Any], axes: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    known, of, inner = _exactly(told, "m", "of", "promise")
    if of != list(axes):
        raise unreadable(f"{ENTRY}.of", f"the items of a trip: {', '.join(axes)}")
    if type(known) is not int or not 1 <= known < len(axes):
        raise unreadable(f"{ENTRY}.m", f"a whole number from 1 to {len(axes) - 1}")
    return {"known_items": known}, _table(inner), [] if known == 1 else [str(known)]


def _parts(told: dict[str, Any]) -> list[dict[str, Any]]:
    if told.get("kind") != "all of":
        return [told]
    (listed,) = _exactly(told, "promises")
    if not isinstance(listed, list):
        raise unreadable(f"{ENTRY}.promises", "a list of promises")
    return [_table(part) for part in listed]


def _all_of(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the thresholds, floors and closeness of some parts: the strictest of each."""
    thresholds: dict[str, float] = {}
    floors: dict[str, int] = {}
    closeness: float | None = None
    for part in parts:
        match part.get("kind"):
            case "k-anonymity":
                unit, k = _threshold(part)
                thresholds[unit] = max(k, thresholds.get(unit, 0))
            case "l-diversity":
                what, least = _floor(part)
                floors[what] = max(least, floors.get(what, 0))
            case "t-closeness":
                closeness = min(_closeness(part), 1.0 if closeness is None else closeness)
            case _:
                raise unreadable(f"{ENTRY}.kind", "one that this audit knows, where it may stand")
    if not thresholds:
        raise unreadable(ENTRY, f"a threshold on one or more of {', '.join(UNITS)}")
    return {"thresholds": thresholds, "floors": floors, "closeness": closeness}


def _threshold(part: dict[str, Any]) -> tuple[str, float]:
    k, unit = _exactly(part, "k", "unit")
    if unit not in UNITS:
        raise unreadable(f"{ENTRY}.unit", f"one of {', '.join(UNITS)}")
    if not is_number(k) or not k >= 2 or k != int(k):
        raise unreadable(f"{ENTRY}.k", "a whole number of 2 or more")
    return unit, float(k)


def _floor(part: dict[str, Any]) -> tuple[str, int]:
    least, what = _exactly(part, "l", "of")
    if what not in COVERED:
        raise unreadable(f"{ENTRY}.of", f"one of {', '.join(COVERED)}")
    if type(least) is not int or least < 2:
        raise unreadable(f"{ENTRY}.l", "a whole number of 2 or more")
    return what, least


def _closeness(part: dict[str, Any]) -> float:
    (t,) = _exactly(part, "t")
    if not is_number(t) or not 0 < t < 1:
        raise unreadable(f"{ENTRY}.t", "a share of the volume, neither none nor all of it")
    return float(t)


def _said(part: Mapping[str, Any]) -> str:
    """Return the number of a part as a sentence gives it."""
    if part["kind"] == "t-closeness":
        return f"{part['t']:g}"
    return f"{int(part['k' if part['kind'] == 'k-anonymity' else 'l']):,}"
