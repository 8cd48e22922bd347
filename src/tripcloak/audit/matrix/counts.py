"""Rules that hold the release against the recount of the matrix."""

from __future__ import annotations

from tripcloak.audit.findings import TOLERANCE, least
from tripcloak.audit.matrix.book import BOOK
from tripcloak.audit.matrix.case import MatrixCase
from tripcloak.audit.matrix.itemsets import count_shared
from tripcloak.audit.rulebook import BrokenPart, Remark
from tripcloak.findings import some


@BOOK.rule("every-flow-accounted", "recount")
def every_flow_accounted(case: MatrixCase) -> str | None:
    """Every input flow is in one released group or withheld, and no group is empty."""
    groups = case.release.n_groups
    found = case.value(f"select count(*) from recount where number between 0 and {groups - 1}")
    lost = case.value(f"select count(*) from recount where number not between -1 and {groups - 1}")
    # Noise makes up groups that no flow is in.
    empty = found != groups and case.release.privacy is None
    return "some flows are in no group, or some groups have no flow" if lost or empty else None


@BOOK.rule("every-group-safe", "recount")
def every_group_safe(case: MatrixCase) -> str | Remark | None:
    """Every released group reaches every threshold in a recount of the matrix."""
    if not case.release.n_groups:
        return "nothing is released"
    if case.release.privacy is not None:
        return Remark("not promised: under differential privacy a flow may stand for few people, or nobody")
    if not case.release.criterion.thresholds:
        return "the criterion protects nobody"
    known, table = case.release.known_items, "groups left join recount using (number)"
    if known is not None:
        count_shared(case, known)
        table = "shared recount"
    for unit, k in case.release.criterion.thresholds.items():
        short = case.value(
            f"select count(*) from {table} where not coalesce(recount.{unit}, 0) >= {least(unit, k)!r}"
        )
        if short:
            return f"{some(short, 'groups')} hold fewer than {k:g} {unit}"
    if known is not None:
        return Remark(
            "not promised of a flow alone, which may hold fewer than k: all flows together that share any "
            f"{known} of {', '.join(case.axes)} reach every threshold"
        )
    return None


@BOOK.rule("flows-match-recount", "recount")
def flows_match_recount(case: MatrixCase) -> str | Remark | None:
    """Every number of the release equals the recount of its group, and no pair of zones occurs twice."""
    if case.value(f"select count(*) > count(distinct ({', '.join(case.axes)})) from groups"):
        return "a pair of zones is released twice"
    if case.release.privacy is not None:
        return Remark("not promised: numbers are noisy, and whole; each pair of zones is released once")
    differ = " or ".join(
        f"not coalesce(abs(groups.{unit} - recount.{unit}) <= {TOLERANCE!r} * recount.{unit}, false)"
        for unit in case.numbers
    )
    wrong = case.value(f"select count(*) from groups left join recount using (number) where {differ}")
    return f"{some(wrong, 'groups')} differ from the recount" if wrong else None


@BOOK.rule("totals-add-up", "recount")
def totals_add_up(case: MatrixCase) -> str | Remark | None:
    """Released and withheld volume add up to the matrix's."""
    if case.release.privacy is not None:
        return Remark("not promised: noisy numbers do not add up to the input's")
    volume = case.release.volume
    released = float(case.value(f"select coalesce(sum({volume}), 0) from groups"))
    withheld = float(case.value(f"select coalesce(sum({volume}), 0) from recount where number < 0"))
    total = float(case.value(f"select sum({volume}) from flows"))
    if abs(released + withheld - total) > TOLERANCE * total:
        return f"released and withheld {volume} do not add up to the input's"
    return None


@BOOK.rule("suppression-within-limit", "recount")
def suppression_within_limit(case: MatrixCase) -> str | Remark | None:
    """The withheld share of the volume is within the limit."""
    if case.release.privacy is not None:
        return Remark("not promised: under differential privacy there is no limit on what is not published")
    volume, limit = case.release.volume, case.release.suppression_limit
    withheld = float(case.value(f"select coalesce(sum({volume}), 0) from recount where number < 0"))
    total = float(case.value(f"select sum({volume}) from flows"))
    return f"more than {limit:.2%} are withheld" if withheld > limit * total * (1 + TOLERANCE) else None


def smallest_support(case: MatrixCase) -> dict[str, float]:
    """Return, per threshold, the support of the smallest released group in the recount.

    Under differential privacy there is no threshold; then trips and travellers are given, 0 included.
    """
    try:
        case.load("recount")
    except BrokenPart:
        return {}
    units = list(case.release.criterion.thresholds) or ["trips", "travellers"]
    found = {
        unit: case.value(
            f"select min(coalesce(recount.{unit}, 0)) from groups left join recount using (number)"
        )
        for unit in units
        if unit in case.matrix.units
    }
    return {str(unit): number for unit, number in found.items() if number is not None}
