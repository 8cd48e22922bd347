"""The rule on releases in which every segment is promised to be safe in every flow."""

from __future__ import annotations

from tripcloak.audit.evidence import Evidence, column_names
from tripcloak.audit.findings import least
from tripcloak.audit.promise import UNITS
from tripcloak.audit.rules.book import BOOK
from tripcloak.audit.rules.files import differs_from_csv
from tripcloak.audit.segments import segment_sql
from tripcloak.findings import some
from tripcloak.io.folder import read_run


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
    if units != _may_be_told(case):
        return "release/segments.parquet tells other numbers than it may"
    _recount(case)
    wrong = case.value(_wrongly_told(case, units))
    if wrong:
        return f"release/segments.parquet is wrong about {some(wrong, 'segments of released flows')}"
    for unit, k in case.promise.thresholds.items():
        short = case.value(f"select count(*) from audit_by_segment where {unit} < {least(unit, k)!r}")
        if short:
            return f"{some(short, 'segments of released flows')} hold fewer than {k:g} {unit}"
    return _names(case) or differs_from_csv(case, "segments")


@BOOK.rule("segment-as-read", "raw")
def segment_as_read(case: Evidence) -> str | None:
    """Where a release is about one segment, the raw records it was counted from are of that segment."""
    segment = case.promise.segment
    recorded = read_run(case.folder).get("source", {})
    if not isinstance(recorded, dict) or (recorded.get("segment") or {}) != dict(segment):
        return "the manifest names another segment than the record of how the input was read"
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


def _may_be_told(case: Evidence) -> list[str]:
    """Return the numbers that may be told by segment: travellers only where nobody is in several.

    Otherwise the travellers of the segments are more than those of the flow by how many are in two, and
    that may be few.
    """
    several = case.value(
        "select count(distinct (person, segment)) > count(distinct person) from audit_segment_presence "
        "where person is not null"
    )
    return [unit for unit in case.promise.columns if unit != "travellers" or not several]


def _recount(case: Evidence) -> None:
    """Make ``audit_by_segment``: every segment of every released flow, counted afresh."""
    axes = ", ".join(case.promise.axes)
    keys = "o, d, t" if case.promise.slot is not None else "o, d"
    case.keep(
        "audit_by_segment",
        f"""select {axes}, segment, sum(trips)::bigint as trips, count(distinct person) as travellers,
                   fsum(weight) as population
            from audit_segment_presence join audit_links using ({keys}) join audit_pairs using (pair)
            group by {axes}, segment""",
    )


def _wrongly_told(case: Evidence, units: list[str]) -> str:
    """Return SQL for the number of (flow, segment) that are missing, too many or told wrongly."""
    axes = ", ".join(case.promise.axes)
    forms = {"trips": "trips", "travellers": "travellers", "population": "round_even(population::double, 0)"}
    columns = ", ".join([axes, "segment", *(f"{forms[unit]} as {unit}" for unit in units)])
    recounted, told = (f"select {columns} from {table}" for table in ("audit_by_segment", "audit_segments"))
    return f"""select count(*) from (
        ({recounted} except all {told}) union all ({told} except all {recounted})
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
