"""Rules about rounded numbers: they are multiples, they add up, and sums are as close as promised."""

from __future__ import annotations

from tripcloak.flows.audit.evidence import BOOK, FlowEvidence
from tripcloak.flows.audit.promise import SPACE
from tripcloak.flows.audit.raw import WITHHELD
from tripcloak.flows.audit.rounding import EXACT
from tripcloak.ground.entries import whole
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import NotPromised, Remark


@BOOK.rule("numbers-rounded", "flows", "zones")
def numbers_rounded(case: FlowEvidence) -> str | Remark | None:
    """Where rounding is promised, every published number is a multiple of its base."""
    rounding = case.promise.rounding
    if rounding is None:
        return NotPromised(EXACT)
    for table in ("audit_flows", "audit_zones"):
        told = [unit for unit in ("travellers", "population") if unit in case.columns(table)]
        if told or "trips" not in case.columns(table):
            return "numbers are promised to be rounded, and others than trips are told"
        odd = case.value(f"select count(*) from {table} where trips % {rounding.base} <> 0")
        if odd:
            return f"{mask_small(odd, 'published numbers')} are no multiples of {rounding.base:,}"
    total = whole(case.facts, "released")
    return f"the manifest's total is no multiple of {rounding.base:,}" if total % rounding.base else None


@BOOK.rule("sums-close", "recount", "flows")
def sums_close(case: FlowEvidence) -> str | Remark | None:
    """Where it is promised, totals of zones and of all flows are as close to the recount as single flows."""
    rounding = case.promise.rounding
    if rounding is None or not rounding.sums:
        return NotPromised(EXACT if rounding is None else "not promised: that totals of zones are close")
    for keys in (*SPACE, "1"):
        told, recount = (
            f"select {keys} as of, sum(trips) as trips from {table} group by {keys}"
            for table in ("audit_flows", f"audit_recount where pair > {WITHHELD}")
        )
        far = case.value(
            f"""select count(*) from ({told}) told full join ({recount}) recount using (of)
            where {rounding.broken("told.trips", "recount.trips")}"""
        )
        if far:
            what = "the total of all flows is" if keys == "1" else f"{mask_small(far, f'{keys} zones')} are"
            return f"{what} told too far from the recount"
    return None
