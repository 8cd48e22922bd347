"""The rules of cleaning as SQL over clean columns: one CASE that gives the first rule a row breaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tripcloak.trips.area import Area
from tripcloak.trips.cleaning import NUMBERS

_ENDS = (("o_lat", "o_lon"), ("d_lat", "d_lon"))
_MOST_TRIPS = 2**53
"""Beyond this a double no longer holds every whole number."""


class Rule(NamedTuple):
    """A reason, SQL that is true for rows that break it, and quick SQL that is true for most that do not."""

    reason: str
    breaks: str
    fine: str | None = None


def reason_sql(rules: Sequence[Rule]) -> str:
    """Return SQL of the number of the first rule that a row breaks, 0 if none.

    Good rows are nearly all rows, so one quick test of everything comes first; it may miss a good
    row but never passes a bad one.

    Examples
    --------
    >>> reason_sql([Rule("end_before_start", "e < s", "e >= s")])
    '(CASE WHEN e >= s THEN 0 WHEN e < s THEN 17 ELSE 0 END)::UTINYINT'
    """
    ordered = sorted(rules, key=lambda rule: NUMBERS[rule.reason])
    if not ordered:
        return "0::UTINYINT"
    fine = " AND ".join(rule.fine for rule in ordered if rule.fine)
    cases = " ".join(f"WHEN {rule.breaks} THEN {NUMBERS[rule.reason]}" for rule in ordered)
    return f"(CASE WHEN {fine} THEN 0 {cases} ELSE 0 END)::UTINYINT"


def place_rules(area: Area, places: Sequence[tuple[str, str]] = _ENDS) -> list[Rule]:
    """Return the rules on coordinates.

    Parameters
    ----------
    area
        Where both ends must lie.
    places
        Pairs of columns, latitude first.
    """
    earth = Area()
    finite = " AND ".join(f"isfinite({column})" for place in places for column in place)
    island = " OR ".join(f"({lat} = 0 AND {lon} = 0)" for lat, lon in places)
    # A range alone would let NaN through: the engine drops tests that a Parquet file's smallest and
    # largest value seem to settle, and NaN is in neither. A sum is finite only if all its parts are.
    total = " + ".join(column for place in places for column in place)
    rules = [
        Rule("missing_coordinate", f"NOT coalesce({finite}, false)", f"isfinite({total})"),
        Rule("swapped", _swapped(area, places)),
        Rule("out_of_range", f"NOT {_all_in(earth, places)}", _all_in(area, places)),
        Rule("null_island", f"({island})", f"NOT ({island})"),
    ]
    if area.box is not None:
        rules.append(Rule("outside_box", f"NOT {_all_in(area, places)}"))
    if area.has_polygon:
        inside = _all_in_polygon(area, places)
        rules.append(Rule("outside_polygon", f"NOT {inside}", inside))
    return rules


def zone_rules() -> list[Rule]:
    """Return the rules on zone ids."""
    return [Rule("missing_zone", "(o_id IS NULL OR d_id IS NULL)", "o_id IS NOT NULL AND d_id IS NOT NULL")]


def column_rules(columns: Sequence[str]) -> list[Rule]:
    """Return the rules on everything but places, for the columns that exist."""
    finite_trips = f"isfinite(trips) AND trips >= 0 AND trips <= {_MOST_TRIPS} AND trips = floor(trips)"
    rules = {
        "bad": [Rule("unparsable", "bad", "NOT bad")],
        "unplaced": [Rule("unknown_antenna", "unplaced", "NOT unplaced")],
        "incomplete": [Rule("incomplete", "incomplete", "NOT incomplete")],
        "single": [Rule("single_fix", "single", "NOT single")],
        "weight": [
            Rule("missing_weight", "NOT coalesce(isfinite(weight), false)", "isfinite(weight)"),
            Rule("negative_weight", "weight < 0", "weight >= 0"),
        ],
        "trips": [
            Rule("bad_trips", f"NOT coalesce({finite_trips}, false)", finite_trips),
            Rule("zero_trips", "trips = 0", "trips > 0"),
        ],
        "end_time": [Rule("end_before_start", "end_time < start_time", "end_time >= start_time")],
    }
    if "start_time" not in columns:
        del rules["end_time"]
    return [rule for column, of_column in rules.items() if column in columns for rule in of_column]


def fix_rules(columns: Sequence[str], area: Area | None = None) -> list[Rule]:
    """Return the rules on single GPS fixes, which are cleaned before they are joined to trips.

    Parameters
    ----------
    columns
        The columns there are; without ``occupied``, fixes of vacant vehicles are as good as others.
    area
        Where every fix must lie; anywhere on earth if not given.
    """
    rules = [
        Rule("missing_person", "key IS NULL", "key IS NOT NULL"),
        Rule("missing_time", "t IS NULL", "t IS NOT NULL"),
        *place_rules(area or Area(), (("lat", "lon"),)),
        *column_rules([column for column in columns if column in ("bad", "incomplete", "unplaced")]),
    ]
    return [*rules, Rule("vacant", "NOT occupied", "occupied")] if "occupied" in columns else rules


def _all_in(area: Area, places: Sequence[tuple[str, str]]) -> str:
    return "(" + " AND ".join(area.in_box(lat, lon) for lat, lon in places) + ")"


def _all_in_polygon(area: Area, places: Sequence[tuple[str, str]]) -> str:
    return "(" + " AND ".join(area.in_polygon(lat, lon) for lat, lon in places) + ")"


def _swapped(area: Area, places: Sequence[tuple[str, str]]) -> str:
    """Return SQL that is true where a place is impossible or unwanted as written, but fine the other way."""
    turned = [(lon, lat) for lat, lon in places]
    here, there = _all_in(area, places), _all_in(area, turned)
    if area.has_polygon:
        here = f"({here} AND {_all_in_polygon(area, places)})"
        there = f"({there} AND {_all_in_polygon(area, turned)})"
    return f"(NOT {here} AND {there})"
