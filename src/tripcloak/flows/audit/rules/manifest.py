"""Rules about the manifest: it agrees with the tables, and its totals hide small numbers."""

from __future__ import annotations

from typing import Any

from tripcloak.flows.audit.evidence import BOOK, FlowEvidence, column_names
from tripcloak.flows.audit.withheld import ENTRY, band_around, told_band
from tripcloak.ground.entries import close, figures, unreadable, whole

KEYS = {
    "format", "kind", "version", "method", "parameters", "promise", "seed", "hierarchy", "homogeneous",
    "groups", "zones", "columns", "steps", "columns_words", "volume", "released", "withheld",
    "smallest", "largest_parts", "bound", "measures", "dropped_rows", "files", "zone_form", "tile_km2",
    "box_grid_degrees", "segment", "during", "counted", "typical_zone_km2", "tables", "title", "names",
    "background",
}  # fmt: skip
MEASURES = {"G", "C_AVG"}
"""Those that anyone can compute from the released table; others may tell what was withheld."""


@BOOK.rule("manifest-consistent", "flows", "zones")
def manifest_consistent(case: FlowEvidence) -> str | None:
    """The manifest says what the released tables say, and nothing beyond."""
    if set(case.facts) - KEYS:
        return "the manifest holds an entry that this audit does not know"
    wrong = next((words for words in _statements(case) if words), None)
    wrong = wrong or _known_items(case) or _beyond_the_table(case) or _typical(case)
    return wrong or _band(case) or _measures(case) or _sentence(case)


def _statements(case: FlowEvidence) -> list[str | None]:
    """Return what is wrong with the numbers that can be read off the released table."""
    axes = case.promise.axes
    ((rows, *zones),) = case.con.execute(
        f"select count(*), {', '.join(f'count(distinct {axis})' for axis in axes)} from audit_flows"
    ).fetchall()
    numbers = {f"{axis}s": number for axis, number in zip(axes, zones, strict=True)}
    columns = [name for name in case.promise.columns if name in case.columns("audit_flows")]
    smallest = {name: case.value(f"select min({name}) from audit_flows") for name in columns}
    return [
        _unless(case.facts.get("groups") == rows, "number of groups"),
        _unless(case.facts.get("zones") == numbers, "zones"),
        _unless(case.facts.get("smallest") == smallest, "smallest numbers"),
        _unless(_released_fits(case, rows), "released volume"),
    ]


def _known_items(case: FlowEvidence) -> str | None:
    """Return what is wrong if a method was run for readers who know more or less than is promised."""
    if "m" not in case.facts["parameters"]:
        return None
    # Whoever knows every item is who plain k is promised against.
    items = len(case.promise.axes)
    asked = case.facts["parameters"]["m"]
    fits = (items if asked is None else asked) == (case.promise.known_items or items)
    return None if fits else "the parameters name another number of known items than the promise"


def _unless(right: bool, what: str) -> str | None:
    return None if right else f"the manifest's {what} differ from the released table"


def _released_fits(case: FlowEvidence, rows: int) -> bool:
    volume = case.promise.volume
    if volume not in case.columns("audit_flows"):
        return False
    in_table = int(case.value(f"select coalesce(sum({volume}), 0) from audit_flows"))
    # Each released population is rounded to whole people, the manifest's sum only once.
    slack = (rows + 1) // 2 if volume == "population" else 0
    return abs(whole(case.facts, "released") - in_table) <= slack


def _band(case: FlowEvidence) -> str | None:
    """Return what is wrong with the words on the withheld volume, given the band."""
    told = told_band(case.facts)
    right = [] if told is None or case.promise.privacy is not None else band_around(case, told[0])[2]
    if figures(case.facts[ENTRY]["words"]) != right:
        return "the manifest's words on the withheld volume do not fit the band that it tells"
    return None


def _beyond_the_table(case: FlowEvidence) -> str | None:
    """Return what is wrong with what cannot be read off the released table: area, period, bound, seed."""
    bound, seed = case.facts.get("bound"), case.facts.get("seed")
    recorded = case.recorded.get("tiling")
    if isinstance(recorded, dict) and any(
        case.facts["hierarchy"].get(name) != recorded.get(name) for name in ("area", "period")
    ):
        return "the manifest tells another study area or period than the input was read with"
    if bound is not None:
        if case.promise.privacy is not None:
            return "the manifest tells a bound, which is worked out from exact numbers"
        if not isinstance(bound, dict) or set(bound) != {"within_percent", "relaxation"}:
            raise unreadable("bound", "whole percent and a relaxation")
        if not isinstance(bound["relaxation"], str) or type(bound["within_percent"]) is not int:
            raise unreadable("bound", "whole percent and a relaxation")
    if seed is not None and type(seed) is not int:
        raise unreadable("seed", "a whole number")
    if case.promise.privacy is None:
        return None
    if seed is not None or case.facts["parameters"].get("seed") is not None:
        return "the manifest tells the seed of the noise, with which anybody could take it off again"
    return None


def _sentence(case: FlowEvidence) -> str | None:
    """Return what is wrong with the words on what is promised."""
    spoken, words = case.promise.spoken, case.facts["promise"].get("sentence")
    if not isinstance(words, str):
        raise unreadable("promise.sentence", "what is promised, in words")
    return None if tuple(figures(words)) == spoken else "the manifest's words on its promise do not fit it"


def _typical(case: FlowEvidence) -> str | None:
    """Return what is wrong with the size of a typical zone: the one in which the middle trip begins."""
    told, volume = case.facts.get("typical_zone_km2"), case.promise.volume
    zones = "audit_zones where axis = 'origin' and isfinite(area_km2)"
    if volume not in case.columns("audit_zones"):
        return None if told is None else "the manifest tells the size of a zone that nobody can work out"
    half = case.value(f"select sum({volume}) / 2 from {zones}")
    middle = case.value(
        f"""select min(area_km2) from (
            select area_km2, sum({volume}) over (order by area_km2) as below from {zones}
        ) where below >= {half}"""
        if half is not None
        else "select null"
    )
    right = None if middle is None else float(f"{middle:.3g}")
    return None if told == right else "the manifest's typical zone is not the one of the released table"


def _measures(case: FlowEvidence) -> str | None:
    told = case.facts.get("measures")
    timed = case.promise.slot is not None
    expected = MEASURES - (set() if case.promise.privacy is None else {"C_AVG"})
    expected |= {"G_time"} if timed else set()
    if not isinstance(told, dict) or set(told) != expected:
        return f"the manifest's measures are not {' and '.join(sorted(expected))}"
    volume, smallest = case.promise.volume, case.facts["smallest"]
    generalisation = _mean_tiles(case, ("origin", "destination"))
    # Rounding moves a population by half a person, so by less than this share of any flow.
    slack = 1 / smallest[volume] if volume == "population" and smallest[volume] else 1e-9
    right = {"G": close(told["G"], generalisation, slack)}
    if "C_AVG" in expected:
        mean = whole(case.facts, "released") / whole(case.facts, "groups") / case.promise.k
        right["C_AVG"] = close(told["C_AVG"], mean)
    if not all(right.values()):
        return "the manifest's measures differ from those of the released table"
    if timed and not close(told["G_time"], _mean_tiles(case, ("time",)), slack):
        return "the manifest's measures differ from those of the released table"
    return None


def _mean_tiles(case: FlowEvidence, axes: tuple[str, ...]) -> float | None:
    """Return the mean number of tiles, or of slots of time, of a released trip on these axes together."""
    volume = f"flow.{case.promise.volume}::double"
    joins = " ".join(
        f"join audit_zones {axis}_zone on {axis}_zone.axis = '{axis}' and {axis}_zone.zone = flow.{axis}"
        for axis in axes
    )
    tiles = " + ".join(f"{axis}_zone.tiles" for axis in axes)
    mean: float | None = case.value(
        f"select sum(({tiles}) * {volume}) / sum({volume}) from audit_flows flow {joins}"
    )
    return mean


VIEWED = (
    *("unparsable", "incomplete", "single_fix", "missing_person", "missing_time", "bad_time"),
    *("outside_window", "unknown_antenna", "missing_coordinate", "swapped", "out_of_range", "null_island"),
    *("vacant", "missing_zone", "outside_box", "outside_polygon", "end_before_start", "missing_weight"),
    *("negative_weight", "bad_trips", "zero_trips"),
)
"""Reasons that the view of the raw input tells by their number, from 1 on; others show only later."""
NUMBERED = {**dict(enumerate(VIEWED, start=1)), 30: "unknown_zone"}
"""All that the view tells, by number: one came later than those that show only later."""


@BOOK.rule("dropped-told-safely")
def dropped_told_safely(case: FlowEvidence) -> str | None:
    """No small number of rows dropped in cleaning can be read from the manifest, and no words about one."""
    told = _dropped(case)
    if case.promise.privacy is not None:
        return "the manifest tells exact numbers of dropped rows, which are not private" if told else None
    least = _least(case)
    if not all(type(rows) is int and rows >= least for rows in told.values()):
        return f"the manifest tells of dropped rows that are none or fewer than {least:g}"
    return None


@BOOK.rule("dropped-match-recount", "raw")
def dropped_match_recount(case: FlowEvidence) -> str | None:
    """Every number of dropped rows is the true one, and enough different people stand behind it."""
    told = {reason: rows for reason, rows in _dropped(case).items() if reason in NUMBERED.values()}
    if not told:
        return None
    person = "person" if "person" in column_names(case.con, "canonical") else "null"
    counted = case.rows(
        f"select reason, count(*), count(distinct {person}) from canonical where reason > 0 group by reason"
    )
    found = {NUMBERED[number]: numbers for number, *numbers in counted if number in NUMBERED}
    for reason, rows in told.items():
        number, people = found.get(reason, [0, 0])
        # Lines that never became rows are in no view.
        if rows != number and not (reason == "unparsable" and rows > number):
            return "the manifest tells another number of dropped rows than the raw input has"
        if person != "null" and people < _least(case):
            return f"the manifest tells of dropped rows of fewer than {_least(case):g} people"
    return None


def _dropped(case: FlowEvidence) -> dict[str, Any]:
    told = case.facts.get("dropped_rows")
    if not isinstance(told, dict):
        raise unreadable("dropped_rows", "a number of rows for each reason")
    return told


def _least(case: FlowEvidence) -> float:
    """Return how many people, or rows without ids, must stand behind a number of dropped rows."""
    return max([case.promise.row_threshold, *case.ordered.values()])
