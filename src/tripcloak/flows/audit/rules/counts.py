"""Rules that hold the release against the auditor's own recount of the raw input."""

from __future__ import annotations

import math

from tripcloak.flows.audit.columns import TOLERANCE, UNITS, differs
from tripcloak.flows.audit.evidence import BOOK, FlowEvidence
from tripcloak.flows.audit.privacy import Privacy
from tripcloak.flows.audit.promise import least
from tripcloak.flows.audit.raw import WITHHELD
from tripcloak.flows.audit.rounding import ROUNDED
from tripcloak.flows.audit.withheld import band_around, told_band
from tripcloak.ground.entries import whole
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import NotPromised, Remark


@BOOK.rule("every-group-safe", "recount")
def every_group_safe(case: FlowEvidence) -> str | Remark | None:
    """Every released group reaches every threshold, counted afresh from the raw input."""
    if case.value("select count(*) = 0 from audit_flows"):
        return "nothing is released"
    return _less_than_ordered(case) or _too_few(case) or _weaker(case)


def _less_than_ordered(case: FlowEvidence) -> str | None:
    for unit, k in case.ordered.items():
        if case.promise.thresholds.get(unit, 0) < k:
            return f"the manifest promises less than the {k:g} {unit} that were ordered"
    items = len(case.promise.axes)
    if case.ordered and (case.promise.known_items or items) < (case.request.known_items or items):
        return "the manifest promises k only to readers who know fewer of a trip's items than were ordered"
    return None


def _too_few(case: FlowEvidence) -> str | None:
    table, what = f"audit_recount where pair > {WITHHELD} and", "released flows"
    if case.promise.known_items is not None:
        table, what = "audit_shared where", "sets of released flows that a reader may tell apart"
    for unit, k in case.promise.thresholds.items():
        short = case.value(f"select count(*) from {table} not coalesce({unit}, 0) >= {least(unit, k)!r}")
        if short:
            return f"{mask_small(short, what)} hold fewer than {k:g} {unit}"
    return None


def _weaker(case: FlowEvidence) -> Remark | None:
    """Return what is promised where it is not that every flow reaches every threshold."""
    if case.promise.privacy is not None:
        return NotPromised(
            "not promised: under differential privacy a flow may stand for few people, or nobody"
        )
    if case.promise.known_items is not None:
        return NotPromised(
            "not promised of a flow alone, which may hold fewer than k: all flows together that share any "
            f"{case.promise.known_items} of {', '.join(case.promise.axes)} reach every threshold"
        )
    return None


@BOOK.rule("flows-match-recount", "recount")
def flows_match_recount(case: FlowEvidence) -> str | Remark | None:
    """Every released number equals the auditor's recount of its group."""
    axes = ", ".join(case.promise.axes)
    if case.value(f"select count(*) > count(distinct ({axes})) from audit_flows"):
        return "a pair of zones is released twice"
    if case.promise.privacy is not None:
        return _noisy_flows(case, case.promise.privacy)
    units = [unit for unit in UNITS if unit in case.columns("audit_flows")]
    differ = " or ".join(_differ(case, unit) for unit in units) or "false"
    wrong = case.value(
        f"""select count(*) from audit_flows flow full join (
            select * from audit_recount where pair > {WITHHELD}
        ) recount using ({axes})
        where flow.rowid is null or {differ}"""
    )
    if wrong:
        return f"{mask_small(wrong, 'released flows')} differ from the recount"
    return None if case.promise.rounding is None else Remark(ROUNDED)


def _noisy_flows(case: FlowEvidence, privacy: Privacy) -> str | Remark:
    """Return what is wrong with noisy flows, of which exact numbers are not expected."""
    axes = ", ".join(case.promise.axes)
    if not _has(case, "trips"):
        return "the released flows lack the column 'trips'"
    if case.value(f"select count(*) from audit_flows where trips < {math.ceil(privacy.threshold)}"):
        return "some noisy numbers are below the smallest that may be published"
    if case.value(f"select count(*) from audit_pairs anti join audit_flows using ({axes})"):
        return "private/groups.parquet sends flows to a pair of zones that is not released"
    return NotPromised("not promised: numbers are noisy, and whole; each pair of zones is released once")


@BOOK.rule("both-or-neither", "groups")
def both_or_neither(case: FlowEvidence) -> str | None:
    """A flow's two ends, and its time, are released together or withheld together."""
    _, *others = case.promise.axes
    half = case.value(
        "select count(*) from audit_groups where "
        + " or ".join(f"(released_origin is null) <> (released_{axis} is null)" for axis in others)
    )
    return f"{mask_small(half, 'flows')} are released by one end only" if half else None


@BOOK.rule("every-flow-accounted", "raw", "groups")
def every_flow_accounted(case: FlowEvidence) -> str | None:
    """The private table accounts for every flow of the raw input, once, with its right numbers."""
    axes = ", ".join(case.promise.axes)
    if case.value(f"select count(*) > count(distinct ({axes})) from audit_groups"):
        return "private/groups.parquet accounts for a flow twice"
    units = [unit for unit in UNITS if unit in case.columns("audit_groups")]
    differ = " or ".join(_not_the_same(f"told.{unit}", f"flow.{unit}", unit) for unit in units)
    wrong = case.value(
        f"""select count(*) from audit_groups told full join audit_input flow using ({axes})
        where told.rowid is null or flow.rowid is null or {differ}"""
    )
    return f"private/groups.parquet is wrong about {mask_small(wrong, 'flows')}" if wrong else None


@BOOK.rule("totals-add-up", "recount")
def totals_add_up(case: FlowEvidence) -> str | Remark | None:
    """Released and withheld volume add up to the raw input's."""
    if case.promise.privacy is not None:
        return NotPromised("not promised: noisy numbers do not add up to the input's")
    volume = case.promise.volume
    recount = float(
        case.value(f"select coalesce(sum({volume}), 0) from audit_recount where pair > {WITHHELD}")
    )
    in_table = case.value(f"select sum({volume}) from audit_flows") if _has(case, volume) else None
    slack = _rounding_slack(case)
    if in_table is None or abs(float(in_table) - recount) > slack + TOLERANCE * recount:
        return f"the released {volume} of all flows differ from the recount"
    once = slack if case.promise.rounding is not None else 0.5
    if abs(whole(case.facts, "released") - recount) > once + TOLERANCE * recount:
        return f"the manifest's released {volume} differ from the recount"
    volume = case.promise.told.limited
    released, withheld = _volumes(case)
    total = case.value(f"select coalesce(sum({volume}), 0) from audit_input")
    told = case.value(
        f"select coalesce(sum({volume}), 0) from audit_groups" if _told(case, volume) else "select 0"
    )
    if not _near(released + withheld, float(total)) or not _near(float(told), float(total)):
        return f"released and withheld {volume} do not add up to the input's"
    return None


def _rounding_slack(case: FlowEvidence) -> float:
    """Return by how much the sum of all released numbers may differ from the sum of the true ones."""
    groups = whole(case.facts, "groups")
    if case.promise.rounding is not None:
        return float((case.promise.rounding.base - 1) * groups)
    # Each released population is rounded to whole people.
    return 0.5 * groups if case.promise.volume == "population" else 0.0


@BOOK.rule("suppression-within-limit", "recount")
def suppression_within_limit(case: FlowEvidence) -> str | Remark | None:
    """The withheld share of the volume is within the limit that the manifest states."""
    if case.promise.privacy is not None:
        return NotPromised(
            "not promised: under differential privacy there is no limit on what is not published"
        )
    released, withheld = _volumes(case)
    if withheld > case.promise.limit * (released + withheld) * (1 + TOLERANCE):
        return f"more than {case.promise.limit:.2%} of the {case.promise.told.limited} are withheld"
    return None


@BOOK.rule("suppressed-told-safely", "recount")
def suppressed_told_safely(case: FlowEvidence) -> str | Remark | None:
    """The withheld volume is told as a band alone, and lies in it."""
    told = told_band(case.facts)
    if case.promise.privacy is not None:
        return None if told is None else "the manifest tells of the input what is not private"
    if case.promise.rounding is not None:
        return None if told is None else "the manifest tells withheld trips where numbers are rounded"
    if case.promise.told.limited not in case.promise.columns:
        return None if told is None else "the manifest tells withheld trips where trips are not published"
    withheld = _volumes(case)[1]
    slack = TOLERANCE * withheld if case.promise.volume == "population" else 0.0
    if told is None or not any(
        told == band_around(case, around)[:2] for around in (withheld - slack, withheld)
    ):
        return "the manifest's band is not the one that the withheld volume lies in"
    return None


def smallest_support(case: FlowEvidence) -> dict[str, float]:
    """Return, per threshold, the support of the smallest released group in the recount.

    Under differential privacy there is no threshold; then trips and travellers are given, 0 included.
    """
    case.load("recount")
    units = case.thresholds if case.promise.privacy is None else UNITS[:2]
    found = {
        unit: case.value(f"select min({unit}) from audit_recount where pair > {WITHHELD}") for unit in units
    }
    return {unit: number for unit, number in found.items() if number is not None}


def _differ(case: FlowEvidence, unit: str) -> str:
    """Return SQL that is true where a released number is not what comes of the recount."""
    if case.promise.rounding is not None:
        return case.promise.rounding.broken(f"flow.{unit}", f"recount.{unit}")
    step, base = case.promise.told.steps.get(unit), case.promise.thresholds.get(unit, 0.0)
    return differs(f"flow.{unit}", f"recount.{unit}", unit, step=step, base=base)


def _not_the_same(told: str, recount: str, unit: str) -> str:
    """Return SQL that is true where an exact number is not the recount's."""
    if unit != "population":
        return f"{told} is distinct from {recount}"
    return f"not coalesce(abs({told} - {recount}) <= {TOLERANCE!r} * {recount}, false)"


def _volumes(case: FlowEvidence) -> tuple[float, float]:
    """Return the released and the withheld volume of the recount, of what the limit is a share of."""
    query = f"select coalesce(sum({case.promise.told.limited}), 0) from audit_recount where pair"
    return float(case.value(f"{query} > {WITHHELD}")), float(case.value(f"{query} = {WITHHELD}"))


def _has(case: FlowEvidence, column: str) -> bool:
    return column in case.columns("audit_flows")


def _told(case: FlowEvidence, column: str) -> bool:
    return column in case.columns("audit_groups")


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE * max(one, other)


@BOOK.rule("suppressed-not-solvable", "flows")
def suppressed_not_solvable(case: FlowEvidence) -> str | None:
    """Nobody can solve for a number below k: the band follows from public numbers, and leaves room."""
    told = told_band(case.facts)
    if told is None:
        return None
    if case.promise.privacy is not None:
        return "the manifest tells of the input what is not private"
    if case.promise.rounding is not None:
        return "the manifest tells withheld trips where numbers are rounded"
    if told != band_around(case, told[0])[:2]:
        return "the withheld volume is told more finely than absent pairs of zones allow"
    return None
