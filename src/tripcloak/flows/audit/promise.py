"""What a public manifest promises, read with distrust, and what the caller ordered beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tripcloak.flows.audit.calendar import FOLDS
from tripcloak.flows.audit.grids import H3Grid, NamedGrid, grid_of
from tripcloak.flows.audit.privacy import Privacy, read_privacy
from tripcloak.ground.entries import is_number, unreadable
from tripcloak.ground.errors import InputError


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

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            raise InputError(f"unit must be one of {', '.join(UNITS)}; got {self.unit!r}")
        if self.k is None and self.unit is not None:
            raise InputError("give k together with the unit it counts")
        if self.k is not None and not self.k >= 2:
            raise InputError(f"k must be at least 2 (a group of one hides nobody); got {self.k:g}")
        if self.known_items is not None and (self.k is None or not self.known_items >= 1):
            raise InputError("give the number of known items, 1 or more, together with k")
        for what, least in self.diversity.items():
            if what not in COVERED or not least >= 2:
                raise InputError(
                    f"l must be a whole number of at least 2, of {' or '.join(COVERED)}; got {least}"
                )
        if self.closeness is not None and not 0 < self.closeness < 1:
            raise InputError(
                f"t is a share of the volume, neither none nor all of it; got {self.closeness:g}"
            )

    def thresholds(self, main: str) -> dict[str, float]:
        """Return the threshold that was ordered, by unit; ``main`` is the unit where none was named."""
        return {} if self.k is None else {self.unit or main: self.k}


TOLERANCE = 1e-9
"""Relative, for sums of weights."""

UNITS = ("trips", "travellers", "population")
GRIDS = ("h3", "quadtree")
SPACE = ("origin", "destination")
COVERED = ("tiles", "places")


@dataclass(frozen=True)
class StatedPromise:
    """What a release promises.

    Attributes
    ----------
    thresholds : mapping
        The smallest support per unit; the first unit is the main one. None under differential privacy.
    volume : str
        What is summed: trips, or population when nothing else is protected.
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
    floors : mapping
        How many different tiles or places that occur every released zone covers at least.
    closeness : float, optional
        How far the destinations of an origin zone are from those of all at most.
    privacy : Privacy, optional
        The differential privacy that is promised in place of thresholds.
    known_items : int, optional
        How many of origin, destination and time a reader may know for the thresholds to hold; all of
        them if not given.
    tile_km2 : mapping
        The area of a tile of each axis, None where tiles have none, if zones are boxes.
    fold : str, optional
        The period that slots are folded over.
    apart : bool
        Every slot was anonymised on its own, so released times are slots.
    segment : mapping
        The segment that the release is about, where it is about one only.
    segments : tuple of str
        The segments of which each must be safe in every flow, where that is promised.
    segmented_by : tuple of str
        What parts people into these segments, such as ``sex`` or ``age:10``.
    """

    thresholds: Mapping[str, float]
    volume: str
    limit: float
    homogeneous: bool
    spec: str
    slot: int | None = None
    timezone: str = "UTC"
    floors: Mapping[str, int] = field(default_factory=dict)
    closeness: float | None = None
    privacy: Privacy | None = None
    tile_km2: Mapping[str, float | None] = field(default_factory=dict)
    known_items: int | None = None
    fold: str | None = None
    apart: bool = False
    segment: Mapping[str, str] = field(default_factory=dict)
    segments: tuple[str, ...] = ()
    segmented_by: tuple[str, ...] = ()

    @property
    def boxes(self) -> bool:
        """Return whether zones are boxes, and not zones of the hierarchy."""
        return bool(self.tile_km2)

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the axes of the released flows."""
        return SPACE if self.slot is None else (*SPACE, "time")

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
        """Return the numbers that may be published: trips go with their travellers, others stand alone.

        Under differential privacy they are the noisy trips; where a flow may be small, its volume only.
        """
        if self.privacy is not None:
            return ("trips",)
        if self.known_items is not None:
            return (self.volume,)
        allowed = set(self.thresholds) | ({"trips"} if "travellers" in self.thresholds else set())
        return tuple(unit for unit in UNITS if unit in allowed)

    @property
    def row_threshold(self) -> float:
        """Return the smallest number of rows that may be told: a row is a trip at most."""
        heads = [k for unit, k in self.thresholds.items() if unit != "population"]
        return min(heads) if heads else self.k

    @cached_property
    def names(self) -> NamedGrid | None:
        """Return what the names of zones tell, None where they tell nothing."""
        return grid_of(self.spec)

    @property
    def resolution(self) -> int | None:
        """Return the H3 resolution of the tiles, None for another hierarchy.

        >>> StatedPromise({"trips": 10}, "trips", 0.1, True, "h3:9/root=5").resolution
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
    >>> facts = {"protects": {"travellers": 10}, "volume": "trips", "homogeneous": True,
    ...          "parameters": {"suppression_limit": 0.1}, "hierarchy": {"spec": "h3:9"}}
    >>> read_promise(facts).columns
    ('trips', 'travellers')
    """
    privacy = read_privacy(facts)
    thresholds = _thresholds(facts, privacy)
    volume = facts.get("volume")
    if volume != ("population" if set(thresholds) == {"population"} else "trips"):
        raise unreadable("volume", "population when nothing else is protected, trips otherwise")
    hierarchy = facts.get("hierarchy")
    spec = hierarchy.get("spec") if isinstance(hierarchy, Mapping) else None
    if not isinstance(spec, str):
        raise unreadable("hierarchy.spec", "a text such as h3:10")
    homogeneous = facts.get("homogeneous")
    if not isinstance(homogeneous, bool):
        raise unreadable("homogeneous", "true or false")
    promise = StatedPromise(
        thresholds,
        str(volume),
        _limit(facts, privacy),
        homogeneous,
        spec,
        *_clock(facts["hierarchy"]),
        *_beyond(facts),
        privacy=privacy,
        tile_km2=_tile_sizes(facts),
    )
    return replace(
        promise,
        known_items=_known_items(facts, promise),
        fold=_fold(facts["hierarchy"]),
        apart=_apart(facts["hierarchy"]),
        segment=_segment(facts),
        segments=_segments(facts, "names"),
        segmented_by=_segments(facts, "by"),
    )


def _fold(hierarchy: Mapping[str, Any]) -> str | None:
    """Return the period that slots are folded over."""
    fold = hierarchy.get("fold")
    if fold is not None and (fold not in FOLDS or "time_slot_minutes" not in hierarchy):
        raise unreadable("hierarchy.fold", f"one of {', '.join(FOLDS)}, for slots of time")
    return fold


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


def _segments(facts: Mapping[str, Any], entry: str) -> tuple[str, ...]:
    """Return the segments that are promised to be safe in every flow, or what parts people into them."""
    if "segments" not in facts:
        return ()
    told = facts["segments"].get(entry) if isinstance(facts["segments"], Mapping) else None
    if not isinstance(told, list) or not told or not all(isinstance(name, str) for name in told):
        raise unreadable(f"segments.{entry}", "a list of names")
    if len(set(told)) < len(told):
        raise unreadable(f"segments.{entry}", "a list in which every name is there once")
    return tuple(told)


def _thresholds(facts: Mapping[str, Any], privacy: Privacy | None) -> dict[str, float]:
    """Return the thresholds: at least one, or differential privacy in their place."""
    protects = facts.get("protects")
    if privacy is not None:
        if protects != {}:
            raise unreadable("protects", "empty under differential privacy, which promises no threshold")
        return {}
    if not isinstance(protects, Mapping) or not protects or set(protects) - set(UNITS):
        raise unreadable("protects", f"a threshold on one or more of {', '.join(UNITS)}")
    if not all(is_number(k) and k >= 2 for k in protects.values()):
        raise unreadable("protects", "thresholds of 2 or more")
    return {unit: float(k) for unit, k in protects.items()}


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


def _known_items(facts: Mapping[str, Any], promise: StatedPromise) -> int | None:
    """Return how many items of a trip a reader may know, None where it is all of them."""
    if "known_items" not in facts:
        return None
    known = facts["known_items"]
    if type(known) is not int or not 1 <= known < len(promise.axes):
        raise unreadable("known_items", f"a whole number from 1 to {len(promise.axes) - 1}")
    if promise.privacy is not None or promise.closeness is not None:
        raise unreadable("known_items", "left out where noise or close destinations are promised")
    return known


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


def _beyond(facts: Mapping[str, Any]) -> tuple[dict[str, int], float | None]:
    """Return what is promised beyond thresholds: floors of places, and how close destinations are."""
    floors, closeness = facts.get("diversity", {}), facts.get("closeness")
    if not isinstance(floors, Mapping) or set(floors) - set(COVERED):
        raise unreadable("diversity", f"a number of {' or '.join(COVERED)}")
    if not all(type(least) is int and least >= 2 for least in floors.values()):
        raise unreadable("diversity", "whole numbers of 2 or more")
    if closeness is not None and not (is_number(closeness) and 0 < closeness < 1):
        raise unreadable("closeness", "a share of the volume, neither none nor all of it")
    return dict(floors), closeness


def least(unit: str, k: float) -> float:
    """Return the smallest recount that reaches a threshold.

    Sums of weights depend on their order in the last digits; trips and people are whole.

    Examples
    --------
    >>> least("travellers", 10), least("population", 5000) < 5000
    (10, True)
    """
    return k * (1 - TOLERANCE) if unit == "population" else k
