"""From keywords to requests: their defaults, and what their values ask for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.flows.protection import asked_promise
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.ground.threads import processors
from tripcloak.records.frames import Input
from tripcloak.records.schema import FLAGGED

if TYPE_CHECKING:
    from tripcloak.flows.methods import FlowMethod
    from tripcloak.flows.reading.matrix import Zoning
    from tripcloak.records.segments import SegmentBy
    from tripcloak.records.source import TripSource
    from tripcloak.trajectories.methods.method import TrajectoryMethod
    from tripcloak.trajectories.reading import TrajectorySource

TRIP_READING = {
    **dict.fromkeys(("preset", "form", "where", "box", "polygon"), None),
    "silence": 180.0,
    "timezone": "UTC",
    **dict.fromkeys(("stations", "people_once", "zone_prefix", "attribute", *FLAGGED), None),
    "hierarchy": "h3:10",
    **dict.fromkeys(("zones", "area", "memory"), None),
}
FIX_COLUMNS = (
    *("person", "time", "lat", "lon", "antenna"),
    *("origin_lat", "origin_lon", "destination_lat", "destination_lon", "start_time", "end_time"),
)
FIX_READING = {
    **dict.fromkeys(("preset", "where", "box", "polygon", "since", "until"), None),
    "timezone": "UTC",
    **dict.fromkeys(("stations", "sample_users"), None),
    "seed": 1,
    **dict.fromkeys((*FIX_COLUMNS, "seconds", "metres", "max_speed", "memory"), None),
}
FLOW_OPTIONS = (
    *("loss", "first", "time_weight", "m", "v_target", "multiplier", "table_memory", "time_limit", "levels"),
    *("epsilon", "delta", "contributions", "height"),
)
TRAJECTORY_OPTIONS = (
    *("neighbours", "constraint", "picking", "delta", "trash", "chunk", "period", "sampling"),
    *("radius", "growth", "unmatched", "jobs"),
)
PRIVACY = {"k": 10, "unit": None, "k_population": None, "suppress": 0.1}
DEFAULTS: dict[str, dict[str, Any]] = {
    "anonymise": {
        "method": "twincut",
        **PRIVACY,
        **dict.fromkeys(("l", "l_places", "t", "segment"), None),
        "segment_joint": False,
        "draws": 3,
        **dict.fromkeys(("time_slot", "slot", "fold"), None),
        **dict.fromkeys(FLOW_OPTIONS, None),
        **TRIP_READING,
    },
    "describe": {"k": 10, **TRIP_READING},
    "compare": {
        "methods": "all",
        **PRIVACY,
        "epsilon": None,
        "time_limit": "5min",
        "jobs": None,
        **TRIP_READING,
    },
    "trajectories anonymise": {
        "method": "k-scale",
        "k": 5,
        "formats": None,
        **dict.fromkeys(TRAJECTORY_OPTIONS, None),
        **FIX_READING,
    },
    "trajectories describe": FIX_READING,
    "trajectories compare": {
        "methods": "k-scale,glove,w4m",
        "k": 2,
        **dict.fromkeys(TRAJECTORY_OPTIONS, None),
        **FIX_READING,
    },
}


def defaults(verb: str) -> dict[str, Any]:
    """Return the keywords of a verb beside its input, with their defaults."""
    return DEFAULTS[verb]


def values_of(verb: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every keyword of a verb."""
    readers: dict[str, Callable[[str, Any], Any]] = {
        "box": _box, "area": _box, "stations": _path, "zones": _path, "polygon": _path, "attribute": _texts,
        "segment": _texts, "time_slot": _minutes, "slot": _minutes, "time_limit": _seconds, "formats": _names,
        "methods": _names,
    }  # fmt: skip
    if verb == "compare":
        readers |= {"k": _numbers, "suppress": _numbers}
    known = {**defaults(verb), **given}
    return {
        name: value if value is None or name not in readers else readers[name](name, value)
        for name, value in known.items()
    }


def trip_source(inputs: Sequence[Input], given: Mapping[str, Any]) -> TripSource:
    """Return what to read and how, from inputs and the values of keywords."""
    from tripcloak.records.source import TripSource

    named = ("preset", "form", "where", "box", "polygon", "silence", "timezone", "stations", "people_once")
    return TripSource(
        paths=tuple(inputs),
        columns={role: given[role] for role in FLAGGED if given.get(role) is not None},
        attributes=given.get("attribute") or (),
        **{name: given[name] for name in (*named, "zone_prefix") if given.get(name) is not None},
    )


def zoning(given: Mapping[str, Any]) -> Zoning:
    """Return how places become zones and times slots, from the values of keywords."""
    from tripcloak.flows.reading.matrix import Zoning

    slot, time_slot = given.get("slot"), given.get("time_slot")
    if slot is not None and time_slot is not None:
        raise InputError(
            f"{spelt('slot')} keeps slots apart and {spelt('time_slot')} makes time an axis; give one of them"
        )
    return Zoning(
        spec=given["hierarchy"],
        zones=given["zones"],
        area=given["area"],
        time_slot=time_slot if slot is None else slot,
        fold=given.get("fold"),
        apart=slot is not None,
    )


def flow_method(given: Mapping[str, Any]) -> FlowMethod:
    """Return the method that is asked for, with its promise and its own options."""
    from tripcloak.flows.methods import SlotBySlot, find_method
    from tripcloak.promises import TCloseness

    kind = find_method(given["method"])
    own = {name: given[name] for name in FLOW_OPTIONS if given[name] is not None}
    _refuse_others(given["method"], kind, own)
    if given["t"] is not None:
        own["closeness"] = TCloseness(t=given["t"])
    promise = asked_promise(
        given["k"], given["unit"], given["l"], given["l_places"], k_population=given["k_population"]
    )
    chosen = kind(promise=promise, suppression_limit=given["suppress"], **own)
    return chosen if given["slot"] is None else SlotBySlot.of(chosen, jobs=processors())


def segments(given: Mapping[str, Any]) -> tuple[SegmentBy, ...]:
    """Return what parts the people."""
    from tripcloak.records.segments import SegmentBy

    by = tuple(SegmentBy.parse(text) for text in given["segment"] or ())
    if given["segment_joint"] and not by:
        raise InputError(
            f"{spelt('segment_joint')} needs what parts the people; give it with {spelt('segment')}"
        )
    return by


def trajectory_source(inputs: Sequence[Input], given: Mapping[str, Any]) -> TrajectorySource:
    """Return what to read and how, from inputs and the values of keywords."""
    from tripcloak.trajectories.reading import TrajectorySource

    named = [
        item.name for item in fields(TrajectorySource) if item.name not in {"paths", "columns", "sample"}
    ]
    return TrajectorySource(
        paths=tuple(inputs),
        columns={role: given[role] for role in FIX_COLUMNS if given.get(role) is not None},
        sample=None if given["sample_users"] is None else (given["sample_users"], given["seed"]),
        **{name: given[name] for name in named if given.get(name) is not None},
    )


def trajectory_method(given: Mapping[str, Any]) -> TrajectoryMethod:
    """Return the method that is asked for, with its own options."""
    from tripcloak.trajectories.methods.registry import find_trajectory_method

    kind = find_trajectory_method(given["method"])
    own = {name: given[name] for name in TRAJECTORY_OPTIONS if given[name] is not None}
    _refuse_others(given["method"], kind, own)
    return kind(k=given["k"], **own)


def trajectory_methods(given: Mapping[str, Any]) -> list[TrajectoryMethod]:
    """Return the methods that are asked for, each with its own among the options; nobody's is an error."""
    from tripcloak.trajectories.methods.registry import find_trajectory_method

    known = {name: set(find_trajectory_method(name).__dataclass_fields__) for name in given["methods"]}
    for option in TRAJECTORY_OPTIONS:
        if given[option] is not None and not any(option in fields for fields in known.values()):
            raise InputError(f"none of {', '.join(known)} has an option {spelt(option)}")
    own = {
        name: {option: None for option in TRAJECTORY_OPTIONS if option not in known[name]} for name in known
    }
    return [trajectory_method({**given, **own[name], "method": name}) for name in known]


def _refuse_others(method: str, kind: Any, own: Mapping[str, Any]) -> None:
    for name in own:
        if name not in kind.__dataclass_fields__:
            raise InputError(f"{method} has no option {spelt(name)}")


def _box(name: str, given: Any) -> tuple[float, ...]:
    edges = _numbers(name, given)
    if len(edges) != 4:
        raise InputError(f"{spelt(name)} takes south,west,north,east in degrees; got {len(edges)} numbers")
    return edges


def _numbers(name: str, given: Any) -> tuple[float, ...]:
    if isinstance(given, (int, float)):
        return (given,)
    try:
        return tuple(float(part) for part in (given.split(",") if isinstance(given, str) else given))
    except (TypeError, ValueError):
        raise InputError(f"{spelt(name)} takes numbers, or text with commas between them") from None


def _names(name: str, given: Any) -> tuple[str, ...]:
    return tuple(part.strip() for part in given.split(",")) if isinstance(given, str) else tuple(given)


def _texts(name: str, given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _path(name: str, given: Any) -> str:
    return str(Path(given).resolve())


def _minutes(name: str, given: Any) -> Any:
    return _time(name, given, {"min": 1, "m": 1, "h": 60, "d": 1440})


def _seconds(name: str, given: Any) -> Any:
    return _time(name, given, {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600, "": 1})


def _time(name: str, given: Any, units: Mapping[str, int]) -> Any:
    if not isinstance(given, str):
        return given
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", given)
    if match is None or match[2] not in units:
        raise InputError(f"{spelt(name)} takes a time such as 15min or 1h; got {given!r}")
    value = float(match[1]) * units[match[2]]
    return int(value) if math.isclose(value, round(value)) else value
