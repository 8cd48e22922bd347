"""The rule on releases in which every segment is promised to be safe in every flow."""

from __future__ import annotations

from tripcloak.audit.evidence import Evidence, column_names
from tripcloak.audit.findings import least, some
from tripcloak.audit.promise import UNITS
from tripcloak.audit.rules.book import BOOK
from tripcloak.audit.rules.files import differs_from_csv
from tripcloak.audit.segments import segment_sql


@BOOK.rule("segments-safe", "recount")
def segments_safe(case: Evidence) -> str | None:
    """Where it is promised, every segment of every released flow is safe and told right."""
    if not case.promise.segments:
        return None
    case.load("segments")
    if case.promise.privacy is not None or case.promise.known_items is not None:
        return (
            "segments are promised together with noise or with readers who know little, which means nothing"
        )
    units = [unit for unit in UNITS if unit in case.columns("audit_segments")]
    if tuple(units) != case.promise.columns:
        return "release/segments.parquet must tell the same numbers as the released flows"
    wrong = case.value(_wrongly_told(case, units))
    if wrong:
        return f"release/segments.parquet is wrong about {some(wrong, 'segments of released flows')}"
    for unit, k in case.promise.thresholds.items():
        short = case.value(f"select count(*) from audit_segments where {unit} < {least(unit, k)!r}")
        if short:
            return f"{some(short, 'segments of released flows')} hold fewer than {k:g} {unit}"
    return _names(case) or differs_from_csv(case, "segments")


@BOOK.rule("segment-as-read", "raw")
def segment_as_read(case: Evidence) -> str | None:
    """Where a release is about one segment, the raw records it was counted from are of that segment."""
    segment = case.promise.segment
    if not segment:
        return None
    label = segment_sql(tuple(segment), column_names(case.con, "canonical"))
    name = ", ".join(f"{by.rpartition(':')[0] or by}={value}" for by, value in segment.items())
    others = case.value(f"select count(*) from canonical where reason = 0 and {label} <> {_literal(name)}")
    return (
        "the release was counted from records of another segment than the manifest names" if others else None
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _wrongly_told(case: Evidence, units: list[str]) -> str:
    """Return SQL for the number of (flow, segment) that are missing, too many or told wrongly."""
    axes = ", ".join(case.promise.axes)
    keys = "o, d, t" if case.promise.slot is not None else "o, d"
    counted = {
        "trips": "sum(trips)::bigint",
        "travellers": "count(distinct person)",
        "population": "round_even(fsum(weight), 0)",
    }
    told = {"trips": "trips", "travellers": "travellers", "population": "population::double"}
    numbers = ", ".join(f"{counted[unit]} as {unit}" for unit in units)
    columns = ", ".join(f"{told[unit]} as {unit}" for unit in units)
    return f"""
        with recounted as (
            select {axes}, segment, {numbers}
            from audit_segment_presence join audit_links using ({keys}) join audit_pairs using (pair)
            group by {axes}, segment
        ),
        told as (select {axes}, segment, {columns} from audit_segments)
        select count(*) from (
            (select * from recounted except all select * from told)
            union all
            (select * from told except all select * from recounted)
        )"""


def _names(case: Evidence) -> str | None:
    """Return what is wrong with the segments that are named."""
    found = {name for (name,) in case.rows("select distinct segment from audit_segments")}
    if found != set(case.promise.segments):
        return "release/segments.parquet does not hold the segments that the manifest names"
    rows = case.value("select count(*) from audit_segments")
    flows = case.value("select count(*) from audit_flows")
    if rows != flows * len(found):
        return "some released flows do not tell every segment"
    return None
