"""Rules on what is promised beyond thresholds: diverse zones, close destinations, noise, safe segments."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tripcloak.flows.audit.cells import cells_above
from tripcloak.flows.audit.columns import UNITS
from tripcloak.flows.audit.dominance import in_words, largest_sql, said_of_halves, weaker_than_ordered
from tripcloak.flows.audit.evidence import BOOK, FlowEvidence, column_names
from tripcloak.flows.audit.noise import (
    CANNOT_TELL,
    NO_NOISE,
    TOO_CLOSE,
    TOO_MANY,
    Counted,
    NoisyNumbers,
    beside,
    counted_trips,
    id_marks,
    too_few_made_up,
    too_many,
    verdict,
)
from tripcloak.flows.audit.privacy import Privacy, too_little
from tripcloak.flows.audit.promise import SPACE, least
from tripcloak.flows.audit.queries import segment_sql, too_far_sql
from tripcloak.flows.audit.raw import WITHHELD
from tripcloak.flows.audit.rules.files import differs_from_csv
from tripcloak.flows.audit.scaling import Rows, ZonesAbove, scaled_numbers
from tripcloak.flows.audit.trees import holders, lineage
from tripcloak.ground.arrays import Ints
from tripcloak.ground.entries import unreadable
from tripcloak.ground.manifest import read_run
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import NotPromised, Remark


@BOOK.rule("zones-diverse", "flows", "raw", "tree")
def zones_diverse(case: FlowEvidence) -> str | Remark | None:
    """Every released zone covers as many different places that occur in the raw input as promised."""
    promised, ordered = case.promise.floors, case.request.diversity
    if not promised and not ordered:
        return NotPromised("not promised: how many different places a zone covers (no l-diversity)")
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
                return f"{mask_small(narrow, f'{axis} zones')} cover fewer than {least:,} {what} that occur"
    return None


@BOOK.rule("no-traveller-dominates", "recount")
def no_traveller_dominates(case: FlowEvidence) -> str | Remark | None:
    """Where it is promised, no traveller has too large a part of a released flow."""
    if weaker := weaker_than_ordered(case.promise.part_rules, case.request.parts):
        return weaker
    if not case.promise.part_rules:
        return NotPromised(
            "not promised: how much of a flow one traveller may have (no dominance, no p percent)"
        )
    keys = "o, d, t" if case.promise.slot is not None else "o, d"
    for rule in case.promise.part_rules:
        for volume in rule.of:
            part = "trips" if volume == "trips" else "weight"
            parts = f"select pair, person, {part} as part from audit_presence join audit_links using ({keys})"
            broken = case.value(
                f"""select count(*) from (select * from audit_recount where pair > {WITHHELD}) flow
                left join ({largest_sql(parts, "pair")}) largest using (pair)
                where {rule.broken(f"flow.{volume}", "largest.first", "largest.second", volume)}"""
            )
            if broken:
                return in_words(rule, mask_small(broken, "released flows"))
    return None


@BOOK.rule("choices-hidden", "recount")
def choices_hidden(case: FlowEvidence) -> str | Remark | None:
    """Where it is promised, every released flow reaches the threshold that the secret draws for it."""
    hidden = case.promise.hidden
    if hidden is None:
        return NotPromised("not promised: that nobody can reason backwards from how coarse a flow is")
    secret = read_run(case.folder).get("secret")
    if not isinstance(secret, str):
        return "private/run.json does not hold the secret that choices were hidden by"
    axes = ", ".join(case.promise.axes)
    flows = case.rows(f"select {hidden.unit}, {axes} from audit_recount where pair > {WITHHELD}")
    short = sum(support < hidden.drawn(secret, zones) for support, *zones in flows)
    return (
        f"{mask_small(short, 'released flows')} do not reach the threshold drawn for them" if short else None
    )


@BOOK.rule("largest-parts-told", "recount")
def largest_parts_told(case: FlowEvidence) -> str | Remark | None:
    """What is said of travellers who make half or more of a flow's trips is right, and coarse."""
    told = case.facts.get("largest_parts")
    if told is None:
        return NotPromised("not told: how often one traveller makes half or more of a flow's trips")
    if case.promise.privacy is not None or "trips" not in case.promise.columns:
        return "the manifest tells of parts of numbers that it does not tell"
    flows, half = next(
        case.rows(
            f"""select count(*), count(*) filter (2 * coalesce(largest, 0) >= trips)
            from audit_recount where pair > {WITHHELD}"""
        )
    )
    if told != said_of_halves(flows, half):
        return "the manifest is wrong about how often one traveller makes half or more of a flow's trips"
    return None


@BOOK.rule("destinations-close", "flows", "zones", "tree")
def destinations_close(case: FlowEvidence) -> str | Remark | None:
    """The destinations of every released origin zone are as close to those of all as promised."""
    t, volume, ordered = case.promise.closeness, case.promise.volume, case.request.closeness
    if ordered is not None and (t is None or t > ordered):
        return f"the manifest does not promise the closeness of {ordered:g} that was ordered"
    if t is None:
        return NotPromised("not promised: that an origin hides where its trips go (no t-closeness)")
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
    return (
        f"the destinations of {mask_small(far, 'origin zones')} give away more than promised" if far else None
    )


@BOOK.rule("noise-suffices", "flows", "tree")
def noise_suffices(case: FlowEvidence) -> str | Remark | None:
    """Where differential privacy is promised, the stated noise gives the stated epsilon and delta."""
    privacy = case.promise.privacy
    if privacy is None:
        return NotPromised(NO_NOISE)
    return too_little(privacy) or _other_parameters(case, privacy) or _outside(case, privacy)


def _other_parameters(case: FlowEvidence, privacy: Privacy) -> str | None:
    """Return what is wrong if the method was run with other numbers than are promised."""
    asked = case.facts["parameters"]
    # Where nobody is told apart every trip counts, and where every pair has noise no chance is taken,
    # whatever was asked for.
    fits = (
        asked.get("epsilon") == privacy.epsilon
        and privacy.contributions in (asked.get("contributions"), 1)
        and privacy.delta in (asked.get("delta"), 0)
    )
    return None if fits else "the parameters name another epsilon, delta or contributions than the promise"


def _outside(case: FlowEvidence, privacy: Privacy) -> str | None:
    """Return what is wrong with the study area, which holds all zones there could be."""
    area = privacy.study_area
    if area is None:
        return "the manifest does not say which zones there could be: it names no study area"
    if case.promise.names is None:
        known = case.value("select zone from audit_tree where axis = 'origin' and parent is null") == area
        return None if known else "the study area is not the whole of the zones"
    zones = case.rows("select origin from audit_flows union select destination from audit_flows")
    outside = sum(not case.promise.names.inside(zone, area) for (zone,) in zones)
    return "some released zones lie outside the study area" if outside else None


@BOOK.rule("noise-as-stated", "recount", "tree")
def noise_as_stated(case: FlowEvidence) -> str | Remark | None:
    """Where noise is promised, published numbers are as far from the recount as it takes them."""
    privacy = case.promise.privacy
    if privacy is None:
        return NotPromised(NO_NOISE)
    if "trips" not in case.columns("audit_flows"):
        return "the released flows lack the column 'trips'"
    if case.value("select count(*) = 0 from audit_flows"):
        return "nothing is released"
    numbers = _numbers(case, privacy)
    if too_many(privacy, numbers):
        return TOO_MANY
    if privacy.noise == "Laplace" and not privacy.delta:
        # Every pair of zones got noise, so that many must have come out of nowhere.
        hidden = case.value("select count(*) from audit_groups where released_origin is null")
        known = int((numbers.counted > 0).sum()) + hidden
        if too_few_made_up(privacy, int((numbers.counted == 0).sum()), _all_pairs(case, privacy) - known):
            return "too few pairs of zones that do not occur are published: those that are would be true ones"
    found = verdict(privacy, numbers)
    return Remark(CANNOT_TELL) if found is None else None if found else TOO_CLOSE


def _all_pairs(case: FlowEvidence, privacy: Privacy) -> int:
    """Return how many pairs of zones there are of the height that is released."""
    height = case.facts["parameters"].get("height")
    if type(height) is not int or height < 0 or privacy.study_area is None:
        raise unreadable("parameters.height", "the height of the released zones")
    if case.promise.names is not None:
        return case.promise.names.number(privacy.study_area, height) ** 2
    sizes = case.rows(
        f"""select count(*) from audit_tree zone left join audit_tree above
        on above.axis = zone.axis and above.zone = zone.parent
        where zone.height <= {height} and coalesce(above.height > {height}, true) group by zone.axis"""
    )
    return math.prod(number for (number,) in sizes)


def _numbers(case: FlowEvidence, privacy: Privacy) -> NoisyNumbers:
    axes = ", ".join(case.promise.axes)
    pair, published, recount = case.arrays(
        f"""select pair, flow.trips::bigint as published, recount.trips as trips from audit_flows flow
        join (select * from audit_recount where pair > {WITHHELD}) recount using ({axes}) order by pair"""
    )
    if privacy.unit == "trip" or case.value("select count(person) = 0 from audit_presence"):
        return NoisyNumbers(published, recount, recount, np.ones(len(pair), dtype=bool))
    keys = ", ".join(name for name in ("o", "d", "t") if name in case.columns("audit_presence"))
    of_row, person, trips, origin, destination = case.arrays(
        f"""select coalesce(pair, {WITHHELD}) as pair, dense_rank() over (order by person) as person,
            trips::bigint as trips, o, d
        from audit_presence left join audit_links using ({keys}) where person is not null"""
    )
    names = dict(case.rows("select key, name from audit_names"))
    if privacy.norms:
        sides = [_tree(case, axis, names.values()) for axis in ("origin", "destination")]
        (one, other), codes = (tree for tree, _ in sides), [code for _, code in sides]
        ends = [_coded(names, code, side) for code, side in zip(codes, (origin, destination), strict=True)]
        place = np.minimum(np.searchsorted(pair, of_row), len(pair) - 1)
        rows = Rows(person, ends[0], ends[1], trips, np.where(pair[place] == of_row, place, -1))
        one_height = case.promise.homogeneous
        return scaled_numbers(privacy, rows, (one, other), published, recount, one_height=one_height)
    known, marks = np.array(sorted(names), dtype=np.uint64), id_marks(names[key] for key in sorted(names))
    origin, destination = (marks[np.searchsorted(known, side)] for side in (origin, destination))
    assert privacy.contributions is not None
    counted = counted_trips(person, origin, destination, trips, privacy.contributions)
    total = int(counted.trips.sum())
    group = np.minimum(np.searchsorted(pair, of_row), len(pair) - 1)
    here = pair[group] == of_row
    counted = Counted(counted.trips[here], counted.busy[here])
    return beside(published, recount, group[here], trips[here], counted)._replace(all_counted=total)


def _tree(case: FlowEvidence, axis: str, tiles: Iterable[str]) -> tuple[ZonesAbove, dict[str, int]]:
    """Return the zones above the tiles of an axis, and the number of every zone among them."""
    resolution = case.promise.resolution
    if resolution is None:
        found = list(case.rows(f"select zone, parent, height from audit_tree where axis = '{axis}'"))
    else:
        found = cells_above(tiles, resolution)
    code = {zone: number for number, (zone, _, _) in enumerate(found)}
    parent = np.array([code.get(above, -1) for _, above, _ in found])
    return ZonesAbove(parent, np.array([height for *_, height in found])), code


def _coded(names: dict[int, str], code: dict[str, int], tiles: Ints) -> Ints:
    """Return the numbers of tiles that are given by their keys."""
    keys, at = np.unique(tiles, return_inverse=True)
    found: Ints = np.array([code[names[key]] for key in keys.tolist()])[at]
    return found


@BOOK.rule("segments-safe", "recount")
def segments_safe(case: FlowEvidence) -> str | Remark | None:
    """Where it is promised, every segment of every released flow is safe and told right."""
    if not case.promise.segments:
        return NotPromised("not promised: that every segment of the people is safe on its own")
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
        return f"release/segments.parquet is wrong about {mask_small(wrong, 'segments of released flows')}"
    for unit, k in case.promise.thresholds.items():
        short = case.value(f"select count(*) from audit_told_segments where {unit} < {least(unit, k)!r}")
        if short:
            return f"{mask_small(short, 'segments of released flows')} hold fewer than {k:g} {unit}"
    names = _names_where_safe(case) or _rest(case) if case.promise.where_safe else _names(case)
    return names or differs_from_csv(case, "segments")


@BOOK.rule("segment-as-read", "raw")
def segment_as_read(case: FlowEvidence) -> str | Remark | None:
    """Where a release is about one segment, the raw records it was counted from are of that segment."""
    segment = case.promise.segment
    recorded = read_run(case.folder).get("source", {})
    if not isinstance(recorded, dict) or (recorded.get("segment") or {}) != dict(segment):
        return "the manifest names another segment than the record of how the input was read"
    if not segment:
        return NotPromised("not promised: the release is about all records that were read, not one segment")
    label = segment_sql(tuple(segment), column_names(case.con, "canonical"))
    name = ", ".join(f"{by.rpartition(':')[0] or by}={value}" for by, value in segment.items())
    others = case.value(f"select count(*) from canonical where reason = 0 and {label} <> {_literal(name)}")
    return (
        "the release was counted from records of another segment than the manifest names" if others else None
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _may_be_told(case: FlowEvidence) -> list[str]:
    """Return the numbers that may be told by segment: travellers only where nobody is in several.

    Otherwise the travellers of the segments are more than those of the flow by how many are in two, and
    that may be few.
    """
    several = case.value(
        "select count(distinct (person, segment)) > count(distinct person) from audit_segment_presence "
        "where person is not null"
    )
    # Segments add up to the flow, so numbers in steps of both would narrow each other.
    told = [case.promise.volume] if case.promise.told.steps else case.promise.columns
    return [unit for unit in told if unit != "travellers" or not several]


def _recount(case: FlowEvidence) -> None:
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
    only = f"semi join audit_segments using ({axes}, segment)" if case.promise.where_safe else ""
    case.keep("audit_told_segments", f"select * from audit_by_segment {only}")


def _wrongly_told(case: FlowEvidence, units: list[str]) -> str:
    """Return SQL for the number of (flow, segment) that are missing, too many or told wrongly."""
    axes = ", ".join(case.promise.axes)
    forms = {"trips": "trips", "travellers": "travellers", "population": "round_even(population::double, 0)"}
    columns = ", ".join([axes, "segment", *(f"{forms[unit]} as {unit}" for unit in units)])
    tables = ("audit_told_segments", "audit_segments")
    recounted, told = (f"select {columns} from {table}" for table in tables)
    return f"""select count(*) from (
        ({recounted} except all {told}) union all ({told} except all {recounted})
    )"""


def _names(case: FlowEvidence) -> str | None:
    """Return what is wrong with the segments that are named."""
    found = {name for (name,) in case.rows("select distinct segment from audit_segments")}
    if found != set(case.promise.segments):
        return "release/segments.parquet does not hold the segments that the manifest names"
    rows = case.value("select count(*) from audit_segments")
    flows = case.value("select count(*) from audit_flows")
    if rows != flows * len(found):
        return "some released flows do not tell every segment"
    return None


def _names_where_safe(case: FlowEvidence) -> str | None:
    """Return what is wrong with the segments that are named, where they need not be told of every flow."""
    found = {name for (name,) in case.rows("select distinct segment from audit_segment_presence")}
    if found != set(case.promise.segments):
        return "the manifest names other segments than the records have"
    return None


def _rest(case: FlowEvidence) -> str | None:
    """Return what is wrong with the segments that are not told of a flow: they must be several, and safe."""
    axes = ", ".join(case.promise.axes)
    keys = "o, d, t" if case.promise.slot is not None else "o, d"
    case.keep(
        "audit_rest",
        f"""select {axes}, sum(trips)::bigint as trips, count(distinct person) as travellers,
                   fsum(weight) as population
            from audit_segment_presence join audit_links using ({keys}) join audit_pairs using (pair)
            anti join audit_segments using ({axes}, segment)
            group by {axes}""",
    )
    for unit, k in case.promise.thresholds.items():
        short = case.value(f"select count(*) from audit_rest where {unit} < {least(unit, k)!r}")
        if short:
            return (
                f"what is not told by segment holds fewer than {k:g} {unit} in {mask_small(short, 'flows')}"
            )
    every = len(case.promise.segments)
    alone = case.value(
        f"select count(*) from (select count(*) as told from audit_segments group by {axes}) "
        f"where told = {every - 1}"
    )
    return f"all segments but one are told of {mask_small(alone, 'flows')}" if alone else None
