"""The keywords of the commands on flows, declared once for Python and command line, and what they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.flows.methods.registry import KEEPING, METHODS, find_method
from tripcloak.flows.options import (
    AUDITED,
    COMPARED_ZONES,
    DIVERSITY,
    HIDING,
    K_POPULATION,
    LEDGER,
    PARTS,
    PUBLISH,
    ROUND,
    SEGMENTS,
    SERIES,
    SUPPRESS,
    TABLES,
    UNIT,
    USUAL_HIERARCHY,
    VOLUME,
    ZONES,
    ZONES_FROM,
    K,
    privacy,
    several,
    zones,
)
from tripcloak.flows.protection import asked_promise, hiding_secret
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import Option
from tripcloak.ground.spelling import called, spelt
from tripcloak.ground.threads import processors
from tripcloak.pages.presenting import PRESENTED
from tripcloak.records.keywords import ENGINE, MASTER, MEMORY, SIGN, TRIP_COLUMNS, TRIP_READING

if TYPE_CHECKING:
    from tripcloak.flows.methods import FlowMethod
    from tripcloak.flows.model.kept import KeptZones
    from tripcloak.flows.reading.matrix import Zoning
    from tripcloak.flows.release.bricks import TablesWanted
    from tripcloak.records.segments import SegmentBy


def keywords(command: str) -> tuple[Option, ...]:
    """Return the keywords of a command on flows, beside its input and where its output goes.

    The options of methods are among them, as the methods declare them.

    Parameters
    ----------
    command
        ``anonymise``, ``series``, ``compare``, ``describe``, ``exposure``, ``audit`` or ``measures``.

    Examples
    --------
    >>> [one.name for one in keywords("anonymise") if one.group == "privacy"]
    ['k', 'unit', 'k_population', 'suppress', 'publish', 'round', 'with_margins', 'with_levels', 'l',
    'l_places', 't', 'dominance', 'p_percent', 'hide_choices', 'hide_up_to', 'secret']
    >>> next(one.help for one in keywords("anonymise") if one.name == "levels")
    'odkanon: heights its filter looks up, the same on both sides.'
    """
    read = (*TRIP_READING, *TRIP_COLUMNS, MEMORY)
    if command == "anonymise":
        asked = (K, UNIT, K_POPULATION, SUPPRESS, PUBLISH, ROUND, *TABLES, *DIVERSITY, *PARTS, *HIDING)
        own = (*asked, *ZONES, ZONES_FROM, *_times(), *SEGMENTS)
        return (_METHOD, *own, *PRESENTED, SIGN, *LEDGER, *read, ENGINE, MASTER, *METHODS.shared_options())
    if command == "series":
        times = tuple(one for one in _times() if one.name in ("time_slot", "fold"))
        wanted = (K, UNIT, K_POPULATION, SUPPRESS, PUBLISH, DIVERSITY[0], *PARTS)
        own = (_METHOD, *SERIES, *wanted, *ZONES, *times, *PRESENTED, SIGN, LEDGER[0], LEDGER[-1])
        return (*own, *read, *_timeless(_on_trees()))
    if command == "describe":
        return (privacy("k", "The k to look at.", metavar="K", kind="number", default=10), *ZONES, *read)
    if command == "compare":
        return (*_COMPARED, *_RUN, *ZONES, *read, *_timeless(METHODS, without="time_limit"))
    if command == "exposure":
        exact = [name for name in METHODS if not METHODS.fact(name, "noisy")]
        return (*_EXPOSED, *ZONES, *read, *_timeless(exact))
    return {"audit": (*AUDITED, COMPARED_ZONES, SIGN, MEMORY), "measures": (VOLUME, MEMORY)}[command]


_METHOD = Option(
    name="method", help="See `tripcloak methods`.", metavar="NAME", default="twincut", group="run"
)
_METHODS = Option(
    name="methods",
    help="Methods separated by commas, or all; see `tripcloak methods`.",
    metavar="NAMES",
    default="all",
    reads="names",
    group="compared",
)
_COMPARED = (
    _METHODS,
    several(K, "K,K"),
    replace(UNIT, group="compared"),
    replace(K_POPULATION, group="compared"),
    *(replace(one, group="compared") for one in (*PARTS, *HIDING)),
    several(SUPPRESS, "SHARE,SHARE", "shares"),
)
_RUN = (
    Option(
        name="time_limit",
        help="For each method: 60s, 5min.",
        metavar="TIME",
        default="5min",
        reads="duration",
        group="run",
    ),
    Option(
        name="jobs",
        help="Methods that run at a time.",
        unset="one a core, as memory allows",
        metavar="N",
        kind="whole number",
        group="run",
    ),
)
_EXPOSED = (
    replace(
        _METHODS,
        help="Methods to look at, separated by commas; see `tripcloak methods`.",
        default="twincut,odkanon,oigh,mondrian",
        group="run",
    ),
    replace(K, help="Participants in a released flow."),
    replace(UNIT, help="What a participant is: travellers or trips.", unset="travellers if told apart"),
    replace(
        K_POPULATION,
        help="Population in a released flow, or auto: k times the mean weight.",
        metavar="N",
        default="auto",
    ),
    SUPPRESS,
)


def _on_trees() -> list[str]:
    """Return the methods that choose zones of the hierarchy, and promise k."""
    return [
        name for name in METHODS if not (METHODS.fact(name, "noisy") or METHODS.fact(name, "draws_zones"))
    ]


def _timeless(among: Iterable[str], without: str = "") -> tuple[Option, ...]:
    """Return the options of methods where time is no axis, but for one that means something else there."""
    shared = METHODS.shared_options(among)
    return tuple(one for one in shared if one.axis != "time" and one.name != without)


def _times() -> tuple[Option, ...]:
    able = ", ".join(name for name in METHODS if METHODS.fact(name, "handles_time"))
    return (
        zones(
            "time_slot",
            f"Make time an axis, in slots of 15min, 1h, 2h ... by --timezone's clock ({able}).",
            metavar="TIME",
            reads="slot",
        ),
        zones(
            "slot",
            "One matrix per slot of 15min, 1h, 2h ..., each anonymised on its own.",
            metavar="TIME",
            reads="slot",
        ),
        zones("fold", "Fold slots over a period that repeats: day, week or 2weeks.", metavar="PERIOD"),
        zones(
            "period",
            "First and last day of the trips: 2024-05-01/2024-05-31; with slots of time, others are dropped.",
            unset="the weeks that k travellers reach",
            metavar="FROM/TO",
        ),
    )


def zoning(given: Mapping[str, Any]) -> Zoning:
    """Return how places become zones and times slots, from the values of keywords.

    >>> zoning({"hierarchy": "h3:9", "zones": None, "area": None, "slot": 60}).apart
    True
    """
    from tripcloak.flows.reading.matrix import Zoning
    from tripcloak.hierarchy.time import Days

    slot, time_slot = given.get("slot"), given.get("time_slot")
    if slot is not None and time_slot is not None:
        raise InputError(
            f"{called('slot')} keeps slots apart and {called('time_slot')} makes time an axis; give one of "
            "them"
        )
    if given.get("zones_from") is not None:
        return _kept_zoning(given)
    spec = given["hierarchy"] or (USUAL_HIERARCHY if given["zones"] is None else "dendrogram")
    _refuse_unused_zones(given, spec)
    return Zoning(
        spec=spec,
        zones=given["zones"],
        zone_id=given.get("zone_id"),
        area=given["area"],
        time_slot=time_slot if slot is None else slot,
        fold=given.get("fold"),
        apart=slot is not None,
        period=None if given.get("period") is None else Days.read(given["period"]),
    )


def _kept_zoning(given: Mapping[str, Any]) -> Zoning:
    """Return the zoning of an earlier release, or raise where something else is asked for beside it."""
    from tripcloak.flows.reading.matrix import Zoning
    from tripcloak.flows.release.keeping import needs_a_zones_file, read_kept, zones_file_of
    from tripcloak.hierarchy.time import Days

    folder = Path(given["zones_from"])
    kept = read_kept(folder)
    made = kept.hierarchy
    minutes, apart = made.get("time_slot_minutes"), made.get("slots") == "apart"
    area = None if made.get("area") is None else tuple(made["area"])
    period = made.get("period")
    stated = {
        "hierarchy": made["spec"],
        "area": area,
        "slot": minutes if apart else None,
        "time_slot": None if apart else minutes,
        "fold": made.get("fold"),
        "period": None if period is None else "/".join(period),
    }
    for name, there in stated.items():
        asked = given.get(name)
        if asked is not None and asked != there:
            other = f"was made with {spelt(name, there)}" if there is not None else f"knows no {called(name)}"
            raise InputError(
                f"{folder} {other}, and its zones are other tiles than those of {spelt(name, asked)}; leave "
                f"out {called(name)}, which is then taken from there"
            )
    zones = given["zones"] or zones_file_of(folder)
    if zones is None and needs_a_zones_file(kept):
        raise InputError(
            f"{folder} was made with {made['spec']} over the zones of a file; give that file with "
            f"{spelt('zones', 'FILE')}"
        )
    return Zoning(
        spec=made["spec"],
        zones=zones,
        zone_id=given.get("zone_id"),
        area=area,
        time_slot=minutes,
        fold=made.get("fold"),
        apart=apart,
        period=None if period is None else Days.read("/".join(period)),
        kept=kept,
    )


def _refuse_unused_zones(given: Mapping[str, Any], spec: str) -> None:
    """Raise an InputError where zones are given that the hierarchy would not look at."""
    from tripcloak.hierarchy.spec import needs_zones

    if given["zones"] is None and given.get("zone_id") is not None:
        raise InputError(f"{called('zone_id')} names a column of a zones file; give it with {spelt('zones')}")
    if given["zones"] is not None and not needs_zones(spec):
        raise InputError(
            f"{called('zones')} goes with {spelt('hierarchy', 'dendrogram')} or, where it names parents, "
            f"{spelt('hierarchy', 'table:county,state')}; {spec} makes its own zones"
        )


def flow_method(given: Mapping[str, Any], kept: KeptZones | None = None) -> FlowMethod:
    """Return the method that is asked for, with its promise and its own options, from the values of keywords.

    Parameters
    ----------
    kept
        Zones of an earlier release to use, in place of a method that finds some.

    >>> from tripcloak.ground.options import values_of
    >>> flow_method(values_of(keywords("anonymise"), {"method": "odkanon", "levels": 4})).levels
    4
    """
    from tripcloak.flows.methods.slots import SlotBySlot

    if kept is None:
        _refuse_time_without_slots(given)
        kind = find_method(given["method"])
        own = METHODS.own(given["method"], METHODS.asked(given))
    else:
        _refuse_methods(given)
    promise = asked_promise(
        given["k"],
        given["unit"],
        given["l"],
        given["l_places"],
        k_population=given["k_population"],
        t=given["t"],
        dominance=given["dominance"],
        p_percent=given["p_percent"],
        secret=hiding_secret(given),
        hide_up_to=given["hide_up_to"],
    )
    if kept is not None:
        from tripcloak.flows.methods.fixed_zones import FixedZones

        return FixedZones(zones=kept, promise=promise, suppression_limit=given["suppress"])
    chosen = kind(promise=promise, suppression_limit=given["suppress"], **own)
    return chosen if given["slot"] is None else SlotBySlot.of(chosen, jobs=processors())


def series_method(given: Mapping[str, Any]) -> FlowMethod:
    """Return the method that plans the zones of a series, from the values of its keywords."""
    others = {one.name: one.default for one in keywords("anonymise")}
    return flow_method({**others, **given})


def _refuse_methods(given: Mapping[str, Any]) -> None:
    """Raise where a method or an option of one is asked for, and zones are kept."""
    asked = METHODS.asked(given)
    others = [spelt("method", given["method"])] if given["method"] not in (KEEPING, _METHOD.default) else []
    for other in [*others, *map(called, asked)]:
        raise InputError(
            f"{spelt('zones_from')} keeps the zones of another release, and leaves a method nothing to "
            f"choose; leave out {other}"
        )


def _refuse_time_without_slots(given: Mapping[str, Any]) -> None:
    for one in METHODS.shared_options():
        if one.axis == "time" and given.get(one.name) is not None and given["time_slot"] is None:
            raise InputError(
                f"{called(one.name)} is about slots of time; give their length with {spelt('time_slot')}"
            )


def tables_wanted(given: Mapping[str, Any]) -> TablesWanted | None:
    """Return which tables are to be published beside the flows, from the values of keywords; None for none.

    >>> tables_wanted({"with_margins": False, "with_levels": (8, 6)})
    TablesWanted(levels=(8, 6), margins=False)
    """
    from tripcloak.flows.release.bricks import TablesWanted

    wanted = TablesWanted(levels=tuple(given["with_levels"] or ()), margins=given["with_margins"])
    return wanted or None


def segments(given: Mapping[str, Any]) -> tuple[SegmentBy, ...]:
    """Return what parts the people, from the values of keywords.

    >>> segments({"segment": ("sex", "age:10"), "segment_joint": False})
    (SegmentBy(column='sex', width=None), SegmentBy(column='age', width=10))
    """
    from tripcloak.records.segments import SegmentBy

    by = tuple(SegmentBy.parse(text) for text in given["segment"] or ())
    if given["segment_joint"] and not by:
        raise InputError(
            f"{called('segment_joint')} needs what parts the people; give it with {spelt('segment')}"
        )
    if given.get("segment_where_safe") and not given["segment_joint"]:
        raise InputError(
            f"{called('segment_where_safe')} is about one release of all segments; give it with "
            f"{spelt('segment_joint', True)}"
        )
    return by
