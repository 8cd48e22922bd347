"""What a public manifest promises, read with distrust, and what the caller ordered beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from tripcloak.flows.audit.calendar import FOLDS
from tripcloak.flows.audit.columns import TOLERANCE, UNITS, StatedColumns, read_columns
from tripcloak.flows.audit.dominance import PartRule, check_ordered, read_rule
from tripcloak.flows.audit.grids import H3Grid, NamedGrid, grid_of
from tripcloak.flows.audit.hidden import HiddenThresholds, read_hidden
from tripcloak.flows.audit.privacy import NOISE, Privacy, read_privacy
from tripcloak.flows.audit.rounding import StatedRounding, read_rounding
from tripcloak.ground.entries import figures, is_number, unreadable
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt

ENTRY = "promise"
COVERED = ("tiles", "places")
ID_KINDS = ("person", "vehicle", "device", "card", "household", "unknown")
SEGMENTS = "every segment"
WHERE_SAFE = "segments where safe"
FEW_ITEMS = "k^m-anonymity"


@dataclass(frozen=True)
class AuditRequest:
    """What was ordered; a release that promises less fails.

    Parameters
    ----------
    k, unit
        A threshold, and what it counts: the manifest's main unit if not given.
    known_items
        How many items of a trip a reader may know for k to hold, if not all of them.
    diversity
        How many different tiles or places every released zone must cover.
    closeness
        How far the destinations of an origin zone may be from those of all.
    parts
        What one traveller may have of a flow: the largest share (``dominance``), or within how many percent
        nobody in it can tell it (``p-percent``).
    earlier
        The release or series that zones are said to be from, to be compared.

    Examples
    --------
    >>> AuditRequest(k=10).thresholds("travellers")
    {'travellers': 10}
    >>> AuditRequest(k=1)
    Traceback (most recent call last):
    tripcloak.InputError: k must be at least 2 (a group of one hides nobody); got 1
    """

    k: float | None = None
    unit: str | None = None
    diversity: Mapping[str, int] = field(default_factory=dict)
    closeness: float | None = None
    known_items: int | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    earlier: Path | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            raise InputError(f"unit must be one of {', '.join(UNITS)}; got {self.unit!r}")
        if self.k is None and self.unit is not None:
            raise InputError("give k together with the unit it counts")
        if self.k is not None and not self.k >= 2:
            raise InputError(f"k must be at least 2 (a group of one hides nobody); got {self.k:g}")
        if self.known_items is not None and (self.k is None or not self.known_items >= 1):
            raise InputError(
                "give the number of known items, 1 or more, together with k: "
                f"{spelt('k', 10)} and {spelt('m', 1)}"
            )
        for what, least in self.diversity.items():
            if what not in COVERED or not least >= 2:
                raise InputError(
                    f"l must be a whole number of at least 2, of {' or '.join(COVERED)}; got {least}"
                )
        if self.closeness is not None and not 0 < self.closeness < 1:
            raise InputError(
                f"t is a share of the volume, neither none nor all of it; got {self.closeness:g}"
            )
        check_ordered(self.parts)

    def thresholds(self, main: str) -> dict[str, float]:
        """Return the threshold that was ordered, by unit; ``main`` is the unit where none was named."""
        return {} if self.k is None else {self.unit or main: self.k}


GRIDS = ("h3", "quadtree")
SPACE = ("origin", "destination")


@dataclass(frozen=True, kw_only=True)
class StatedParts:
    """What is promised to people.

    Attributes
    ----------
    thresholds : mapping
        The smallest support per unit; the first unit is the main one. None under differential privacy.
    id_is : str, optional
        What the ids that are counted as travellers are said to stand for.
    floors : mapping
        How many different tiles or places that occur every released zone covers at least.
    closeness : float, optional
        How far the destinations of an origin zone are from those of all at most.
    part_rules : tuple of PartRule
        What one traveller may have of a flow.
    hidden : HiddenThresholds, optional
        The range that every flow's own threshold is drawn from by a secret.
    rounding : StatedRounding, optional
        What numbers are multiples of, and which sums are close to the true ones.
    privacy : Privacy, optional
        The differential privacy that is promised in place of thresholds.
    known_items : int, optional
        How many of origin, destination and time a reader may know for the thresholds to hold; all of
        them if not given.
    segments : tuple of str
        The segments of which each must be safe in every flow, where that is promised.
    segmented_by : tuple of str
        What parts people into these segments, such as ``sex`` or ``age:10``.
    where_safe : bool
        They need not be told of every flow.
    spoken : tuple of str
        The numbers that a sentence on it gives, in their order.
    """

    thresholds: Mapping[str, float] = field(default_factory=dict)
    id_is: str | None = None
    floors: Mapping[str, int] = field(default_factory=dict)
    closeness: float | None = None
    part_rules: tuple[PartRule, ...] = ()
    hidden: HiddenThresholds | None = None
    rounding: StatedRounding | None = None
    privacy: Privacy | None = None
    known_items: int | None = None
    segments: tuple[str, ...] = ()
    segmented_by: tuple[str, ...] = ()
    where_safe: bool = False
    spoken: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StatedPromise(StatedParts):
    """What a release promises to people, and what else it is held to.

    Attributes
    ----------
    told : StatedColumns
        The numbers of a flow that are published.
    limit : float
        Share of the volume that may be withheld; all of it where no limit is promised.
    homogeneous : bool
        Zones of one axis never overlap.
    spec : str
        The hierarchy's text, such as ``h3:10``.
    slot : int, optional
        Minutes of a slot, where time is an axis.
    timezone : str
        The zone whose clock the slots follow.
    tile_km2 : mapping
        The area of a tile of each axis, None where tiles have none, if zones are boxes.
    box_grid : mapping
        The step in degrees that the edges of boxes are said to have, by axis.
    fold : str, optional
        The period that slots are folded over.
    period : tuple of date, optional
        The first and the last day of the trips, where that is stated.
    apart : bool
        Every slot was anonymised on its own, so released times are slots.
    segment : mapping
        The segment that the release is about, where it is about one only.
    """

    told: StatedColumns
    limit: float
    homogeneous: bool
    spec: str
    slot: int | None = None
    timezone: str = "UTC"
    tile_km2: Mapping[str, float | None] = field(default_factory=dict)
    box_grid: Mapping[str, float] = field(default_factory=dict)
    fold: str | None = None
    period: tuple[date, date] | None = None
    apart: bool = False
    segment: Mapping[str, str] = field(default_factory=dict)

    @property
    def boxes(self) -> bool:
        """Return whether zones are boxes, and not zones of the hierarchy."""
        return bool(self.tile_km2)

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the axes of the released flows."""
        return axes_of(self.slot)

    @property
    def main(self) -> str:
        """Return the main unit; trips where no unit is protected."""
        return next(iter(self.thresholds), "trips")

    @property
    def k(self) -> float:
        """Return the threshold on the main unit."""
        return self.thresholds[self.main]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the numbers of a flow that are published."""
        return self.told.columns

    @property
    def volume(self) -> str:
        """Return the number that is summed over flows."""
        return self.told.volume

    @property
    def row_threshold(self) -> float:
        """Return how many people, or rows without ids, must stand behind a number of rows that is told.

        None under differential privacy, where no such number may be told at all.
        """
        heads = [k for unit, k in self.thresholds.items() if unit != "population"]
        return max(heads or self.thresholds.values(), default=0)

    @cached_property
    def names(self) -> NamedGrid | None:
        """Return what the names of zones tell, None where they tell nothing."""
        return grid_of(self.spec)

    @property
    def resolution(self) -> int | None:
        """Return the H3 resolution of the tiles, None for another hierarchy.

        >>> told = StatedColumns(columns=("trips",), volume="trips", limited="trips")
        >>> StatedPromise(told=told, limit=0.1, homogeneous=True, spec="h3:9/root=5").resolution
        9
        """
        return self.names.resolution if isinstance(self.names, H3Grid) else None

    @property
    def unions(self) -> bool:
        """Return whether zones may be unions of H3 cells that have one parent."""
        return isinstance(self.names, H3Grid) and self.names.unions

    @property
    def grid(self) -> bool:
        """Return whether the tiles are those of a grid, of which only some occur in the data."""
        return self.spec.partition(":")[0] in GRIDS


def read_promise(facts: Mapping[str, Any]) -> StatedPromise:
    """Return the promise of a manifest, or raise :class:`BrokenPart`.

    Examples
    --------
    >>> facts = {"promise": {"kind": "k-anonymity", "k": 10, "unit": "travellers"}, "volume": "trips",
    ...          "homogeneous": True, "parameters": {"suppression_limit": 0.1}, "hierarchy": {"spec": "h3:9"}}
    >>> read_promise(facts).columns
    ('trips', 'travellers')
    """
    hierarchy = facts.get("hierarchy")
    spec = hierarchy.get("spec") if isinstance(hierarchy, Mapping) else None
    if not isinstance(hierarchy, Mapping) or not isinstance(spec, str) or not _is_hierarchy(spec):
        raise unreadable("hierarchy.spec", "a text such as h3:10")
    slot, timezone = _clock(hierarchy)
    stated = read_stated(facts.get("promise"), axes_of(slot))
    homogeneous = facts.get("homogeneous")
    if not isinstance(homogeneous, bool):
        raise unreadable("homogeneous", "true or false")
    return StatedPromise(
        **vars(stated),
        told=read_columns(facts, stated),
        limit=_limit(facts, stated.privacy),
        homogeneous=homogeneous,
        spec=spec,
        slot=slot,
        timezone=timezone,
        tile_km2=_tile_sizes(facts),
        box_grid=_box_grid(facts),
        fold=_fold(hierarchy),
        period=_period(hierarchy),
        apart=_apart(hierarchy),
        segment=_segment(facts),
    )


def _is_hierarchy(spec: str) -> bool:
    """Return whether a text names a hierarchy: of a grid, or of the zones of a file.

    >>> [_is_hierarchy(spec) for spec in ("h3:9/root=5", "table:county,state", "h3:9 ", "table:")]
    [True, True, False, False]
    """
    return grid_of(spec) is not None or re.fullmatch(r"dendrogram|table:[^,]+(,[^,]+)*", spec) is not None


def axes_of(slot: int | None) -> tuple[str, ...]:
    """Return the axes of released flows, given the length of a slot, if time is one of them."""
    return SPACE if slot is None else (*SPACE, "time")


def _fold(hierarchy: Mapping[str, Any]) -> str | None:
    """Return the period that slots are folded over."""
    fold = hierarchy.get("fold")
    if fold is not None and (fold not in FOLDS or "time_slot_minutes" not in hierarchy):
        raise unreadable("hierarchy.fold", f"one of {', '.join(FOLDS)}, for slots of time")
    return fold


def _period(hierarchy: Mapping[str, Any]) -> tuple[date, date] | None:
    """Return the first and the last day of the trips; stated wherever slots are joined over all time."""
    told: Any = hierarchy.get("period")
    expected = "the first and the last day of the trips, for slots of time"
    timed = "time_slot_minutes" in hierarchy
    if told is None and not (timed and "fold" not in hierarchy and "slots" not in hierarchy):
        return None
    try:
        first, last = (date.fromisoformat(day) for day in told)
    except (TypeError, ValueError):
        raise unreadable("hierarchy.period", expected) from None
    if not timed or last < first or [first.isoformat(), last.isoformat()] != told:
        raise unreadable("hierarchy.period", expected)
    return first, last


def _apart(hierarchy: Mapping[str, Any]) -> bool:
    """Return whether slots were kept apart."""
    slots = hierarchy.get("slots")
    if slots is not None and (slots != "apart" or "time_slot_minutes" not in hierarchy):
        raise unreadable("hierarchy.slots", "apart, for slots of time")
    return slots is not None


def _segment(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the segment that a release is about."""
    segment = facts.get("segment", {})
    if not isinstance(segment, Mapping) or not all(isinstance(value, str) for value in segment.values()):
        raise unreadable("segment", "a value by column")
    return dict(segment)


def _limit(facts: Mapping[str, Any], privacy: Privacy | None) -> float:
    """Return the share that may be withheld."""
    parameters = facts.get("parameters")
    if not isinstance(parameters, Mapping):
        raise unreadable("parameters", "a table")
    limit = parameters.get("suppression_limit")
    if privacy is not None:
        if "suppression_limit" in parameters:
            raise unreadable("parameters.suppression_limit", "left out: noise does not keep to a limit")
        return 1.0
    if not is_number(limit) or not 0 <= limit < 1:
        raise unreadable("parameters.suppression_limit", "a share from 0 to below 1")
    return float(limit)


def _tile_sizes(facts: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the area of a tile of every axis where zones are boxes, nothing where they are not."""
    form, sizes = facts.get("zone_form"), facts.get("tile_km2")
    if form is None and "zone_form" not in facts and "tile_km2" not in facts:
        return {}
    if form != "boxes":
        raise unreadable("zone_form", "boxes, where there is such an entry")
    if not isinstance(sizes, Mapping) or set(sizes) != {f"{axis}s" for axis in SPACE}:
        raise unreadable("tile_km2", "the area of a tile for origins and destinations")
    if not all(size is None or (is_number(size) and size > 0) for size in sizes.values()):
        raise unreadable("tile_km2", "areas above 0, or null where tiles have none")
    return {axis: sizes[f"{axis}s"] for axis in SPACE}


def _box_grid(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return the step of the grid of every axis where zones are boxes, nothing where they are not."""
    steps = facts.get("box_grid_degrees")
    if "zone_form" not in facts and "box_grid_degrees" not in facts:
        return {}
    if not isinstance(steps, Mapping) or set(steps) != {f"{axis}s" for axis in SPACE}:
        raise unreadable("box_grid_degrees", "the step of origins and destinations, where zones are boxes")
    if not all(is_number(step) and step > 0 for step in steps.values()):
        raise unreadable("box_grid_degrees", "steps above 0")
    return {axis: float(steps[f"{axis}s"]) for axis in SPACE}


def _clock(hierarchy: Mapping[str, Any]) -> tuple[int | None, str]:
    """Return the length of a slot, None where time is no axis, and the time zone."""
    slot, timezone = hierarchy.get("time_slot_minutes"), hierarchy.get("timezone", "UTC")
    if slot is None:
        return None, "UTC"
    if type(slot) is not int or slot < 1 or (60 % slot and (slot % 60 or 1440 % slot)):
        raise unreadable("hierarchy.time_slot_minutes", "minutes that divide an hour, or hours a day")
    if not isinstance(timezone, str) or not re.fullmatch(r"[\w+/-]{1,64}", timezone):
        raise unreadable("hierarchy.timezone", "a time zone such as Europe/Paris")
    return slot, timezone


def least(unit: str, k: float) -> float:
    """Return the smallest recount that reaches a threshold.

    Sums of weights depend on their order in the last digits; trips and people are whole.

    Examples
    --------
    >>> least("travellers", 10), least("population", 5000) < 5000
    (10, True)
    """
    return k * (1 - TOLERANCE) if unit == "population" else k


def read_stated(entry: Any, axes: Sequence[str]) -> StatedParts:
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
        return StatedParts(privacy=privacy, id_is=privacy.id_is, spoken=tuple(figures(privacy.figures)))
    outer: dict[str, Any] = {}
    if kind in (SEGMENTS, WHERE_SAFE):
        outer, told, spoken = _segments(told)
    elif kind == FEW_ITEMS:
        outer, told, spoken = _few_items(told, axes)
    else:
        spoken = []
    parts = _parts(told)
    inner = _all_of(parts)
    if inner["rounding"] and (kind in (SEGMENTS, FEW_ITEMS) or inner["closeness"] is not None):
        raise unreadable(ENTRY, "without rounding where exact numbers are promised")
    if kind == FEW_ITEMS and (inner["closeness"] is not None or inner["part_rules"] or inner["hidden"]):
        raise unreadable(ENTRY, "without close destinations or parts where readers know few items")
    if kind in (SEGMENTS, WHERE_SAFE) and (inner["part_rules"] or inner["hidden"]):
        raise unreadable(ENTRY, "without parts of flows where segments are promised")
    said = [figure for part in parts for figure in figures(_said(part))]
    return StatedParts(**outer, **inner, spoken=(*said, *spoken))


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
    outer = {"segments": tuple(names), "segmented_by": tuple(by), "where_safe": told["kind"] == WHERE_SAFE}
    return outer, _table(inner), [f"{len(names):,}"]


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
    kinds: set[str | None] = set()
    rules: list[PartRule] = []
    hidden: HiddenThresholds | None = None
    rounding: StatedRounding | None = None
    for part in parts:
        match part.get("kind"):
            case "k-anonymity":
                unit, k = _threshold(part)
                kinds |= {part.get("id_is")} if unit == "travellers" else set()
                thresholds[unit] = max(k, thresholds.get(unit, k))
            case "l-diversity":
                what, least = _floor(part)
                floors[what] = max(least, floors.get(what, least))
            case "t-closeness":
                closeness = min(_closeness(part), 1.0 if closeness is None else closeness)
            case "dominance" | "p-percent":
                rules.append(read_rule(part))
            case "hidden choices":
                hidden = read_hidden(part)
            case "rounding" if rounding is None:
                rounding = read_rounding(part)
            case _:
                raise unreadable(f"{ENTRY}.kind", "one that this audit knows, where it may stand")
    if not thresholds:
        raise unreadable(ENTRY, f"a threshold on one or more of {', '.join(UNITS)}")
    if len(kinds) > 1:
        raise unreadable(f"{ENTRY}.id_is", "one word for what the ids stand for")
    id_is = kinds.pop() if kinds else None
    told = {"thresholds": thresholds, "floors": floors, "closeness": closeness, "id_is": id_is}
    if hidden is not None and thresholds.get(hidden.unit) != hidden.k:
        raise unreadable(ENTRY, "thresholds drawn from the k that is promised upwards")
    if rounding is not None and not rounding.fits(thresholds):
        raise unreadable(ENTRY, "multiples of a number that divides the k on trips or travellers")
    return {**told, "part_rules": tuple(rules), "hidden": hidden, "rounding": rounding}


def _threshold(part: dict[str, Any]) -> tuple[str, float]:
    told = {name: value for name, value in part.items() if name != "id_is"}
    k, unit = _exactly(told, "k", "unit")
    id_is = part.get("id_is")
    if "id_is" in part and (unit != "travellers" or id_is not in ID_KINDS):
        raise unreadable(f"{ENTRY}.id_is", f"what ids stand for: {', '.join(ID_KINDS)}")
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
    if part["kind"] in ("dominance", "p-percent"):
        return read_rule(part).figure
    if part["kind"] == "hidden choices":
        return read_hidden(part).figures
    if part["kind"] == "rounding":
        return read_rounding(part).figures
    return f"{int(part['k' if part['kind'] == 'k-anonymity' else 'l']):,}"
