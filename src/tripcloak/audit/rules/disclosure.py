"""Rules on what zones and destinations give away, where a release promises more than thresholds."""

from __future__ import annotations

from tripcloak.audit.closeness import too_far_sql
from tripcloak.audit.evidence import Evidence
from tripcloak.audit.promise import SPACE
from tripcloak.audit.rules.book import BOOK
from tripcloak.audit.trees import holders, lineage
from tripcloak.findings import some


@BOOK.rule("zones-diverse", "flows", "raw", "tree")
def zones_diverse(case: Evidence) -> str | None:
    """Every released zone covers as many different places that occur in the raw input as promised."""
    promised, ordered = case.promise.floors, case.order.diversity
    for what in {**promised, **ordered}:
        least = promised.get(what, 0)
        if least < ordered.get(what, 0):
            return f"the manifest promises less than the {ordered[what]:,} {what} that were ordered"
        if case.promise.boxes:
            return "the manifest promises different places in every box, which cannot be told"
        for axis in SPACE:
            held = holders(case, axis, f"select distinct {axis} from audit_input")
            if what == "places":
                places = f"select tile, place from audit_places where axis = '{axis}'"
                seen = f"select zone, place as one from {held} join ({places}) using (tile)"
            else:
                seen = f"select zone, tile as one from {held}"
            narrow = case.value(
                f"""select count(*) from (select distinct {axis} as zone from audit_flows) left join (
                    select zone, count(distinct one) as n from ({seen}) group by zone
                ) using (zone) where coalesce(n, 0) < {least}"""
            )
            if narrow:
                return f"{some(narrow, f'{axis} zones')} cover fewer than {least:,} {what} that occur"
    return None


@BOOK.rule("destinations-close", "flows", "zones", "tree")
def destinations_close(case: Evidence) -> str | None:
    """The destinations of every released origin zone are as close to those of all as promised."""
    t, volume, ordered = case.promise.closeness, case.promise.volume, case.order.closeness
    if ordered is not None and (t is None or t > ordered):
        return f"the manifest does not promise the closeness of {ordered:g} that was ordered"
    if t is None:
        return None
    if case.promise.boxes:
        return "the manifest promises close destinations of boxes, which means nothing"
    if case.promise.slot is not None:
        return "the manifest promises close destinations over slots of time, which means nothing"
    if volume not in case.columns("audit_flows"):
        return f"the released flows lack the column {volume!r}"
    far = case.value(
        too_far_sql(
            f"select origin, destination, {volume}::double as volume from audit_flows",
            lineage=lineage(case, "destination"),
            sizes="select zone, any_value(tiles)::double as tiles from audit_zones "
            "where axis = 'destination' group by zone",
            t=t,
        )
    )
    return f"the destinations of {some(far, 'origin zones')} give away more than promised" if far else None
