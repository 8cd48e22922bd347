"""Rules on tables beside the flows: they add up, and whatever is subtracted is of enough people."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tripcloak.flows.audit.dominance import in_words, largest_sql
from tripcloak.flows.audit.evidence import BOOK, FlowEvidence
from tripcloak.flows.audit.promise import SPACE, least
from tripcloak.flows.audit.rules.files import differs_from_csv
from tripcloak.flows.audit.totals import ALL, OWN, PARTS, Pair, StatedTables, place_flows, read_tables
from tripcloak.flows.audit.withheld import told_band
from tripcloak.ground.entries import unreadable, whole
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import NotPromised, Remark

NONE_TOLD = NotPromised("not told: totals and other heights beside the flows")
LEVELS = ("origin_level", "destination_level")
COLUMNS = (*LEVELS, *SPACE, "trips")


@BOOK.rule("tables-add-up", "flows")
def tables_add_up(case: FlowEvidence) -> str | Remark | None:
    """Tables beside the flows hold all finer ones, and what they hold besides is nothing or enough."""
    stated = read_tables(case)
    if stated is None:
        return NONE_TOLD
    if case.promise.privacy is not None or "trips" not in case.promise.columns:
        return "the manifest tells of tables of numbers that it does not tell of flows"
    case.load("tables")
    if set(case.columns("audit_tables")) != set(COLUMNS):
        return "release/tables.parquet holds other columns than it may"
    if case.value(f"select count(*) > count(distinct ({', '.join(COLUMNS[:4])})) from audit_tables"):
        return "release/tables.parquet tells a cell twice"
    return (
        _stated(case, stated)
        or _zones_listed(case, stated)
        or _not_adding_up(case, stated)
        or differs_from_csv(case, "tables")
    )


def _not_adding_up(case: FlowEvidence, stated: StatedTables) -> str | None:
    """Return what is wrong with the sums of tables over each other."""
    _connect(case, stated)
    return next((words for step in stated.steps() if (words := _sums(case, stated, *step))), None)


def _stated(case: FlowEvidence, stated: StatedTables) -> str | None:
    """Return what is wrong with what the manifest says of every table."""
    found = {
        pair: numbers
        for *pair_of, cells, trips in case.rows(
            f"select {', '.join(LEVELS)}, count(*), sum(trips)::bigint from audit_tables group by all"
        )
        for pair, numbers in [(tuple(pair_of), (cells, trips))]
    }
    if set(found) - set(stated.names):
        return "release/tables.parquet holds a table that the manifest does not tell of"
    band, released = told_band(case.facts), whole(case.facts, "released")
    if band is None and case.promise.rounding is None:
        raise unreadable("withheld", "a band, where there are tables")
    for name, one in zip(stated.names, stated.counted, strict=True):
        cells, trips = found.get(name, (0, 0))
        room = [None, None] if band is None else [max(end - (trips - released), 0) for end in band]
        told = one["not_counted"]
        if not isinstance(told, dict) or set(told) != {"at_least", "at_most", "words"}:
            raise unreadable("tables.counted.not_counted", "at_least, at_most and words")
        if (one["cells"], one["trips"], told["at_least"], told["at_most"]) != (cells, trips, *room):
            return "the manifest is wrong about what a table counts"
    return None


def _zones_listed(case: FlowEvidence, stated: StatedTables) -> str | None:
    """Return what is wrong with the zones of levels: all that occur are listed, once, and no others."""
    if not stated.levels:
        return None
    case.load("levels")
    occurring = " union ".join(
        f"select '{axis}' as axis, {axis}_level as level, {axis} as zone from audit_tables "
        f"where {axis}_level <> '{ALL}' union select '{axis}', '{OWN}', {axis} from audit_flows"
        for axis in SPACE
    )
    listed = "select axis, level, zone from audit_levels"
    wrong = case.value(
        f"""select count(*) from (
            (({occurring}) except all ({listed})) union all (({listed}) except all ({occurring}))
        )"""
    )
    if wrong:
        return "release/levels.parquet lists other zones than the tables hold"
    names = case.promise.names
    if names is not None:
        rows = case.rows("select zone, height, tiles, parent from audit_levels")
        untrue = sum(not _true_zone(names, *row) for row in rows)
        if untrue:
            return f"release/levels.parquet is wrong about {mask_small(untrue, 'zones')}"
    return None


def _true_zone(names: Any, zone: str, height: int, tiles: int, parent: str | None) -> bool:
    """Return whether a zone that is known by its name has the right size and lies in its parent."""
    if names.height_and_tiles(zone) != (height, tiles):
        return False
    above = (height, tiles) if parent is None or parent == zone else names.height_and_tiles(parent)
    if above is None or above < (height, tiles):
        return False
    return parent is None or parent == zone or names.inside(zone.partition("/")[0], parent)


def _connect(case: FlowEvidence, stated: StatedTables) -> None:
    """Make ``audit_above``: every zone of a tier with the zones that hold it at this and coarser tiers."""
    tiers = stated.tiers[:-1]
    parts = [
        f"select '{axis}' as axis, '{OWN}' as tier, {axis} as zone, '{OWN}' as up, {axis} as above "
        f"from audit_flows group by {axis}"
        for axis in SPACE
    ]
    if stated.levels:
        parts = ["select axis, level as tier, zone, level as up, zone as above from audit_levels"]
    case.keep("audit_above", " union all ".join(parts))
    for below, up in pairwise(tiers):
        case.con.execute(
            f"""insert into audit_above select low.axis, low.tier, low.zone, '{up}', high.parent
            from audit_above low join audit_levels high
            on high.axis = low.axis and high.level = '{below}' and high.zone = low.above
            where low.up = '{below}' and high.parent is not null"""
        )


def _sums(case: FlowEvidence, stated: StatedTables, fine: Pair, coarse: Pair) -> str | None:
    """Return what is wrong with a table, given one that is finer and lies in it."""
    inner = "select origin, destination, sum(trips) as trips from audit_flows group by origin, destination"
    if fine != (OWN, OWN) or (stated.timed and coarse != (OWN, OWN)):
        inner = _rows_of(fine)
    joins, zones = "", []
    for axis, low, high in zip(SPACE, fine, coarse, strict=True):
        zones.append(f"'{ALL}'" if high == ALL else f"{axis}_up.above")
        if high != ALL:
            joins += (
                f" left join audit_above {axis}_up on {axis}_up.axis = '{axis}' and {axis}_up.tier = '{low}'"
                f" and {axis}_up.up = '{high}' and {axis}_up.zone = fine.{axis}"
            )
    enough = max(
        (least(unit, k) for unit, k in case.promise.thresholds.items() if unit != "population"), default=0
    )
    # Of rounded numbers tables are sums, and hold nothing besides.
    beyond = f"more < {enough!r}" if case.promise.rounding is None else "true"
    wrong = case.value(
        f"""with fine as ({inner}), summed as (
            select {zones[0]} as origin, {zones[1]} as destination, sum(fine.trips) as trips
            from fine{joins} group by all
        )
        select count(*) from (
            select told.trips, told.trips - coalesce(summed.trips, 0) as more
            from summed full join ({_rows_of(coarse)}) told
            on told.origin = summed.origin and told.destination = summed.destination
        ) where trips is null or (more <> 0 and {beyond})"""
    )
    return f"the table {','.join(coarse)} does not hold the finer ones, or tells of few" if wrong else None


def _rows_of(pair: Pair) -> str:
    return (
        "select origin, destination, trips from audit_tables "
        f"where origin_level = '{pair[0]}' and destination_level = '{pair[1]}'"
    )


@BOOK.rule("tables-match-recount", "recount")
def tables_match_recount(case: FlowEvidence) -> str | Remark | None:
    """Every number of a table beside the flows is a sum of whole safe sets of records, counted afresh."""
    stated = read_tables(case)
    if stated is None:
        return NONE_TOLD
    if "counted_from" not in case.columns("audit_groups"):
        return "private/groups.parquet does not say which table counts what"
    case.load("tables")
    names = [",".join(pair) for pair in stated.names]
    listed = ", ".join(f"'{name}'" for name in names)
    strange = case.value(
        f"""select count(*) from audit_groups where counted_from is not null
        and (released_origin is not null or counted_from not in ({listed}))"""
    )
    if strange:
        return "private/groups.parquet counts flows in a table that there is not, or twice"
    place_flows(case, stated)
    lost = case.value("select count(*) <> (select count(*) from audit_groups) from audit_placed")
    if lost:
        return "the zones of some flows at some level cannot be told"
    return (
        next((words for pair in stated.names if (words := _recounted(case, stated, pair))), None)
        or _parents(case, stated)
        or _unsafe(case, stated)
    )


def _recounted(case: FlowEvidence, stated: StatedTables, pair: Pair) -> str | None:
    """Return what is wrong with one table, counted afresh."""
    finer = [",".join(other) for other in stated.names if stated.finer(other, pair)]
    counted = f"released or counted_from in ({', '.join(f'{name!r}' for name in finer)})"
    afresh = f"""select origin_{pair[0]} as origin, destination_{pair[1]} as destination,
        sum(trips)::bigint as trips from audit_placed where {counted} group by all"""
    told, rounding = _rows_of(pair), case.promise.rounding
    if rounding is not None:
        return _recounted_about(case, pair, rounding.base)
    wrong = case.value(
        f"select count(*) from ((({afresh}) except all ({told})) union all (({told}) except all ({afresh})))"
    )
    return (
        f"{mask_small(wrong, 'cells')} of tables beside the flows differ from the recount" if wrong else None
    )


def _recounted_about(case: FlowEvidence, pair: Pair, base: int) -> str | None:
    """Return what is wrong with one table of rounded numbers: each is away by less than that of its flows."""
    wrong = case.value(
        f"""select count(*) from (
            select origin_{pair[0]} as origin, destination_{pair[1]} as destination,
                   sum(trips) as trips, count(*) as flows
            from audit_placed where released group by all
        ) recount full join ({_rows_of(pair)}) told using (origin, destination)
        where not coalesce(told.trips % {base} = 0
            and abs(told.trips - recount.trips) <= {base - 1} * recount.flows, false)"""
    )
    if case.value("select count(*) from audit_placed where counted_from is not null"):
        return "numbers are rounded, and withheld flows are counted in tables all the same"
    return (
        f"{mask_small(wrong, 'cells')} of tables beside the flows differ from the recount" if wrong else None
    )


def _parents(case: FlowEvidence, stated: StatedTables) -> str | None:
    """Return what is wrong with the zones that hold others at the next level."""
    if not stated.levels:
        return None
    case.load("levels")
    for axis in SPACE:
        for low, high in zip(stated.tiers[:-1], (*stated.tiers[1:-1], None), strict=True):
            above = "null" if high is None else f"{axis}_{high}"
            right = f"select distinct {axis}_{low} as zone, {above} as parent from audit_placed"
            told = f"select zone, parent from audit_levels where axis = '{axis}' and level = '{low}'"
            wrong = case.value(f"select count(*) from (({told}) except ({right}))")
            if wrong:
                return f"release/levels.parquet puts {mask_small(wrong, f'{axis} zones')} into a wrong zone"
    return None


def _unsafe(case: FlowEvidence, stated: StatedTables) -> str | None:
    """Return what is wrong with the sets of withheld flows that tables count."""
    if not case.promise.homogeneous and case.value(
        "select count(*) from audit_placed where counted_from is not null"
    ):
        return "zones overlap, and withheld flows are counted all the same"
    _bricks(case, stated)
    if case.value("select count(*) from audit_bricks where brick is null"):
        return "a withheld flow is counted in a cell that it does not lie in"
    keys = "o, d, t" if case.promise.slot is not None else "o, d"
    counted = f"select * from audit_presence join audit_brick_links using ({keys})"
    case.keep("audit_brick_presence", counted)
    return (
        _few(case, "audit_brick_presence", "brick")
        or _segments(case, keys)
        or _parts(case)
        or _room(case, stated)
    )


def _bricks(case: FlowEvidence, stated: StatedTables) -> None:
    """Make ``audit_bricks``: every withheld flow that is counted, its set, and its cell in every table."""
    sets = " ".join(
        f"when '{a},{b}' then concat_ws(chr(31), counted_from, origin_{a}, destination_{b})"
        for a, b in stated.names
    )
    lying = " or ".join(f"(counted_from = '{','.join(pair)}' and {_known(pair)})" for pair in stated.names)
    case.keep(
        "audit_bricks",
        f"""select *, case when {lying} then case counted_from {sets} end end as brick
            from audit_placed where counted_from is not null and not released""",
    )
    keys = "o.key as o, d.key as d" + (", flow.time as t" if case.promise.slot is not None else "")
    case.keep(
        "audit_brick_links",
        f"""select {keys}, brick from audit_bricks flow
            join audit_names o on o.name = flow.origin join audit_names d on d.name = flow.destination""",
    )


def _known(pair: Pair) -> str:
    return f"origin_{pair[0]} is not null and destination_{pair[1]} is not null"


def _few(case: FlowEvidence, presence: str, key: str) -> str | None:
    """Return which sets do not reach a threshold."""
    people = "count(distinct person)"
    if not case.value(f"select count(*) from {presence} where person is not null"):
        # Without ids trips are the people where each is somebody else's; the recount knows.
        alike = case.value("select count(*) = 0 from audit_recount where travellers is distinct from trips")
        people = "sum(trips)" if alike else "count(distinct person)"
    counted = f"""select {key}, sum(trips) as trips, {people} as travellers, fsum(weight) as population
        from {presence} group by {key}"""
    for unit, k in case.promise.thresholds.items():
        short = case.value(
            f"select count(*) from ({counted}) where not coalesce({unit}, 0) >= {least(unit, k)!r}"
        )
        if short:
            return f"{mask_small(short, 'sets of withheld flows')} in tables hold fewer than {k:g} {unit}"
    return None


def _segments(case: FlowEvidence, keys: str) -> str | None:
    """Return which sets are not safe for every segment, where that is promised."""
    if not case.promise.segments or case.promise.where_safe:
        return None
    case.keep(
        "audit_brick_segments",
        f"select * from audit_segment_presence join audit_brick_links using ({keys})",
    )
    missing = case.value(
        f"""select count(*) from (select brick from audit_brick_segments group by brick
        having count(distinct segment) < {len(case.promise.segments)})"""
    )
    if missing:
        return f"{mask_small(missing, 'sets of withheld flows')} in tables lack a segment"
    return _few(case, "audit_brick_segments", "brick, segment")


def _parts(case: FlowEvidence) -> str | None:
    """Return which sets are too much of one traveller, where that is promised."""
    for rule in case.promise.part_rules:
        for volume in rule.of:
            part = "trips" if volume == "trips" else "weight"
            parts = f"select brick, person, {part} as part from audit_brick_presence"
            broken = case.value(
                f"""select count(*) from (
                    select brick, sum({part}) as total from audit_brick_presence group by brick
                ) held left join ({largest_sql(parts, "brick")}) largest using (brick)
                where {rule.broken("held.total", "largest.first", "largest.second", volume)}"""
            )
            if broken:
                return in_words(rule, mask_small(broken, "sets of withheld flows"))
    return None


def _room(case: FlowEvidence, stated: StatedTables) -> str | None:
    """Return which sets tell that a cell of a finer table, which is not told, holds somebody."""
    heads = [k for unit, k in case.promise.thresholds.items() if unit != "population"]
    trips_bound = "trips" in case.promise.thresholds or bool(
        case.value("select count(*) = 0 from audit_presence where person is not null")
    )
    most = int(min(heads)) - 1
    times = ", time" if case.promise.slot is not None else ""
    own = f"(coalesce(origin_{OWN}, ''), coalesce(destination_{OWN}, ''){times})"
    for at, pair in enumerate(stated.names):
        finer = [own, *(f"(origin_{a}, destination_{b})" for a, b in stated.names[:at])]
        for cells in finer:
            bound = f" or (count(distinct {cells}) - 1) * {most} < sum(trips)" if trips_bound else ""
            tight = case.value(
                f"""select count(*) from (
                    select brick from audit_bricks where counted_from = '{",".join(pair)}' group by brick
                    having count(distinct {cells}) < {PARTS}{bound}
                )"""
            )
            if tight:
                return f"{mask_small(tight, 'sets of withheld flows')} tell that a flow is not empty"
    return None
