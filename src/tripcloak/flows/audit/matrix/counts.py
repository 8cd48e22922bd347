"""Rules that hold the release against the recount of the matrix."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from tripcloak.flows.audit.columns import TOLERANCE
from tripcloak.flows.audit.dominance import in_words, largest_sql
from tripcloak.flows.audit.matrix.case import BOOK, MatrixCase
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
    too_many,
    verdict,
)
from tripcloak.flows.audit.privacy import Privacy, too_little
from tripcloak.flows.audit.promise import least
from tripcloak.flows.audit.rounding import EXACT
from tripcloak.flows.audit.scaling import Rows, ZonesAbove, scaled_numbers
from tripcloak.flows.model import SegmentPart
from tripcloak.flows.release import segments_told
from tripcloak.ground.arrays import Bools
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark


def count_shared(case: MatrixCase, known_items: int) -> None:
    """Make ``shared``: trips, travellers and population of all groups that share any so many items."""
    sharing = " union all ".join(
        f"select number, {n} as items, {', '.join(_kept(case, known))} from groups"
        for n, known in enumerate(combinations(case.axes, known_items))
    )
    case.con.execute(
        f"""create or replace temp table sharing as select number,
        dense_rank() over (order by items, {", ".join(case.axes)}) as share from ({sharing})"""
    )
    population = "null" if case.matrix.flows.population is None else "population"
    case.con.execute(
        f"""create or replace temp table shared_volumes as
        select share, sum(trips)::bigint as trips, fsum({population}::double) as population
        from flows join sharing using (number) group by share"""
    )
    case.con.execute(
        f"""create or replace temp table shared as
        select share, coalesce(volumes.trips, 0) as trips, population, {_travellers(case)} as travellers
        from (select distinct share from sharing)
        left join shared_volumes volumes using (share) left join shared_people people using (share)"""
    )


def _kept(case: MatrixCase, known: tuple[str, ...]) -> list[str]:
    return [f"{axis if axis in known else 'null'} as {axis}" for axis in case.axes]


def _travellers(case: MatrixCase) -> str:
    """Return SQL for the number of travellers, after counting them where people are told apart."""
    case.con.execute("create or replace temp table shared_people (share bigint, travellers bigint)")
    if case.matrix.flows.travellers is None:
        return "volumes.trips" if case.matrix.each_trip_is_a_person else "null::bigint"
    for turn, turns in case.passes():
        case.con.register("presence", case.presence())
        case.con.execute(
            f"""insert into shared_people select share, count(*) from (
                select distinct share, person from presence join sharing using (number)
                where share % {turns} = {turn}
            ) group by share"""
        )
        case.con.unregister("presence")
    return "coalesce(people.travellers, 0)"


@BOOK.rule("every-flow-accounted", "recount")
def every_flow_accounted(case: MatrixCase) -> str | None:
    """Every input flow is in one released group or withheld, and no group is empty."""
    groups = case.release.n_groups
    found = case.value(f"select count(*) from recount where number between 0 and {groups - 1}")
    lost = case.value(f"select count(*) from recount where number not between -1 and {groups - 1}")
    # Noise makes up groups that no flow is in.
    empty = found != groups and case.promise.privacy is None
    return "some flows are in no group, or some groups have no flow" if lost or empty else None


@BOOK.rule("every-group-safe", "recount")
def every_group_safe(case: MatrixCase) -> str | Remark | None:
    """Every released group reaches every threshold in a recount of the matrix."""
    if not case.release.n_groups:
        return "nothing is released"
    if case.promise.privacy is not None:
        return NotPromised(
            "not promised: under differential privacy a flow may stand for few people, or nobody"
        )
    known, table = case.promise.known_items, "groups left join recount using (number)"
    if known is not None:
        count_shared(case, known)
        table = "shared recount"
    for unit, k in case.promise.thresholds.items():
        short = case.value(
            f"select count(*) from {table} where not coalesce(recount.{unit}, 0) >= {least(unit, k)!r}"
        )
        if short:
            return f"{mask_small(short, 'groups')} hold fewer than {k:g} {unit}"
    if known is not None:
        return NotPromised(
            "not promised of a flow alone, which may hold fewer than k: all flows together that share any "
            f"{known} of {', '.join(case.axes)} reach every threshold"
        )
    return None


@BOOK.rule("flows-match-recount", "recount")
def flows_match_recount(case: MatrixCase) -> str | Remark | None:
    """Every number of the release equals the recount of its group, and no pair of zones occurs twice."""
    if case.value(f"select count(*) > count(distinct ({', '.join(case.axes)})) from groups"):
        return "a pair of zones is released twice"
    if case.promise.privacy is not None:
        return NotPromised("not promised: numbers are noisy, and whole; each pair of zones is released once")
    differ = " or ".join(
        f"not coalesce(abs(groups.{unit} - recount.{unit}) <= {TOLERANCE!r} * recount.{unit}, false)"
        for unit in case.numbers
    )
    wrong = case.value(f"select count(*) from groups left join recount using (number) where {differ}")
    return f"{mask_small(wrong, 'groups')} differ from the recount" if wrong else None


@BOOK.rule("sums-close", "recount")
def sums_close(case: MatrixCase) -> str | Remark | None:
    """Where rounding is promised, numbers are multiples close to the recount, and so are promised sums."""
    rounding, numbers = case.promise.rounding, case.release.rounded
    if rounding is None or numbers is None:
        both = rounding is None and numbers is None
        return NotPromised(EXACT) if both else "numbers are promised to be rounded, or are, and not both"
    if len(numbers) != case.release.n_groups or np.any(numbers % rounding.base):
        return "some published numbers are no multiples"
    error = numbers - case.release.trips
    sums = [error]
    if rounding.sums:
        sides = (case.release.group_origin, case.release.group_destination, np.zeros_like(error))
        sums += [np.bincount(side, error) for side in sides]
    far = sum(int(np.count_nonzero(np.abs(part) >= rounding.base)) for part in sums)
    return f"{mask_small(far, 'published numbers or sums')} are too far from the recount" if far else None


@BOOK.rule("totals-add-up", "recount")
def totals_add_up(case: MatrixCase) -> str | Remark | None:
    """Released and withheld volume add up to the matrix's."""
    if case.promise.privacy is not None:
        return NotPromised("not promised: noisy numbers do not add up to the input's")
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
    if case.promise.privacy is not None:
        return NotPromised(
            "not promised: under differential privacy there is no limit on what is not published"
        )
    volume, limit = case.release.volume, case.release.suppression_limit
    withheld = float(case.value(f"select coalesce(sum({volume}), 0) from recount where number < 0"))
    total = float(case.value(f"select sum({volume}) from flows"))
    return f"more than {limit:.2%} are withheld" if withheld > limit * total * (1 + TOLERANCE) else None


@BOOK.rule("no-traveller-dominates", "recount")
def no_traveller_dominates(case: MatrixCase) -> str | Remark | None:
    """Where it is promised, no traveller has too large a part of a released flow."""
    if not case.promise.part_rules:
        return NotPromised(
            "not promised: how much of a flow one traveller may have (no dominance, no p percent)"
        )
    for rule in case.promise.part_rules:
        for volume in rule.of:
            case.con.register("parts", case.parts(volume))
            case.con.execute(f"create or replace temp table largest as {largest_sql('from parts', 'number')}")
            case.con.unregister("parts")
            broken = case.value(
                f"""select count(*) from groups left join recount using (number)
                left join largest using (number)
                where {rule.broken(f"recount.{volume}", "largest.first", "largest.second", volume)}"""
            )
            if broken:
                return in_words(rule, mask_small(broken, "groups"))
    return None


def smallest_support(case: MatrixCase) -> dict[str, float]:
    """Return, per threshold, the support of the smallest released group in the recount.

    Under differential privacy there is no threshold; then trips and travellers are given, 0 included.
    """
    try:
        case.load("recount")
        units = list(case.promise.thresholds) or ["trips", "travellers"]
    except BrokenPart:
        return {}
    found = {
        unit: case.value(
            f"select min(coalesce(recount.{unit}, 0)) from groups left join recount using (number)"
        )
        for unit in units
        if unit in case.matrix.units
    }
    return {str(unit): number for unit, number in found.items() if number is not None}


@BOOK.rule("segments-safe", "recount")
def segments_safe(case: MatrixCase) -> str | Remark | None:
    """Where it is promised, every segment reaches every threshold in every group that it is told of."""
    stated, parts = case.promise.segments, case.release.promise.segments
    if tuple(part.name for part in parts) != stated:
        return "the release promises other segments than it was made for"
    if not parts:
        return NotPromised("not promised: that every segment of the people is safe on its own")
    told = np.array(segments_told(case.release, parts)) if case.promise.where_safe else None
    reach = [_reached(case, part) for part in parts]
    for unit, k in case.promise.thresholds.items():
        reached = np.array([one[unit] for one in reach])
        for number, enough in enumerate(reached):
            short = int((~enough if told is None else told[number] & ~enough).sum())
            if short:
                return f"{mask_small(short, 'groups')} hold fewer than {k:g} {unit} of a segment"
        if told is not None:
            hidden = ~told
            bare = hidden.any(axis=0) & ~(reached & hidden).any(axis=0) & told.any(axis=0)
            if bare.any() or (hidden.sum(axis=0) == 1).any():
                return "some groups tell so many segments that the others are too few"
    return None


def _reached(case: MatrixCase, part: SegmentPart) -> dict[str, Bools]:
    """Return, for every unit, the groups in which a segment reaches its threshold."""
    groups = case.release.group_of_flow[part.row]
    alone = MatrixCase(part.matrix, replace(case.release, group_of_flow=groups), case.con.cursor())
    alone.load("recount")
    found = {}
    for unit, k in case.promise.thresholds.items():
        query = f"select number from recount where number >= 0 and {unit} >= {least(unit, k)!r}"
        enough = alone.con.execute(query).fetchnumpy()["number"]
        found[unit] = np.isin(np.arange(case.release.n_groups), enough)
    return found


@BOOK.rule("noise-suffices", "recount")
def noise_suffices(case: MatrixCase) -> str | Remark | None:
    """Where differential privacy is promised, the stated noise gives the stated epsilon and delta."""
    privacy = case.promise.privacy
    if privacy is None:
        return NotPromised(NO_NOISE)
    if case.release.seed is not None:
        return "noise goes with no seed, which could take it off again"
    if not (
        case.release.trips.dtype.kind == "i" and case.release.trips.min() >= math.ceil(privacy.threshold)
    ):
        return "some noisy numbers are not whole, or below the smallest that may be published"
    return too_little(privacy)


@BOOK.rule("noise-as-stated", "recount")
def noise_as_stated(case: MatrixCase) -> str | Remark | None:
    """Where noise is promised, published numbers are as far from the recount as it takes them."""
    privacy = case.promise.privacy
    if privacy is None:
        return NotPromised(NO_NOISE)
    numbers = _numbers(case, privacy)
    if too_many(privacy, numbers):
        return TOO_MANY
    found = verdict(privacy, numbers)
    return Remark(CANNOT_TELL) if found is None else None if found else TOO_CLOSE


def _numbers(case: MatrixCase, privacy: Privacy) -> NoisyNumbers:
    release, flows = case.release, case.matrix.flows
    group, groups = release.group_of_flow, release.n_groups
    kept = (group >= 0) & (group < groups)
    recount = np.bincount(group[kept], flows.trips[kept], minlength=groups).astype(np.int64)
    if flows.travellers is None:
        return NoisyNumbers(release.trips, recount, recount, np.ones(groups, dtype=bool))
    if flows.repeats is None:
        raise BrokenPart("the matrix does not tell how many trips each traveller makes in each flow")
    flow = np.repeat(np.arange(case.matrix.n_flows), np.diff(flows.travellers.offsets))
    if privacy.norms:
        trees = [ZonesAbove(tree.parent, tree.zones.height) for tree, _ in case.matrix.axes[:2]]
        ends = [tile[flow] for _, tile in case.matrix.axes[:2]]
        rows = Rows(flows.travellers.people, ends[0], ends[1], flows.repeats, group[flow])
        numbers = (trees[0], trees[1]), release.trips, recount
        return scaled_numbers(privacy, rows, *numbers, one_height=release.homogeneous)
    origin, destination = (
        id_marks(tree.zones.ids[: tree.n_tiles].tolist())[tile[flow]] for tree, tile in case.matrix.axes[:2]
    )
    assert privacy.contributions is not None
    counted = counted_trips(
        flows.travellers.people, origin, destination, flows.repeats, privacy.contributions
    )
    total = int(counted.trips.sum())
    here = kept[flow]
    counted = Counted(counted.trips[here], counted.busy[here])
    found = beside(release.trips, recount, group[flow][here], flows.repeats[here], counted)
    return found._replace(all_counted=total)
