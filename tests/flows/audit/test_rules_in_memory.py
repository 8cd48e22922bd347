"""Rules of the audit of flows on a few rows in memory: the line holds, and one step past it is told."""

from __future__ import annotations

from typing import Any

import pytest

from tripcloak.flows.audit.encoding import H3Encoder
from tripcloak.flows.audit.promise import AuditRequest
from tripcloak.flows.audit.queries import segment_sql
from tripcloak.flows.audit.rules import counts, during, manifest, privacy, tables
from tripcloak.flows.audit.totals import StatedTables, _lifted_by_tree
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.hierarchy.tiling import OUTSIDE
from worlds.made_evidence import PEOPLE, TRIPS, WEIGHTS, made, released

FLOWS = [("a", "b", 9, 3), ("b", "a", 4, 4)]
ROUNDED = {"kind": "all of", "promises": [PEOPLE, {"kind": "rounding", "base": 3, "sums": True}]}
FEW = {"kind": "k^m-anonymity", "m": 1, "of": ["origin", "destination"], "promise": PEOPLE}
LAPLACE = {
    "kind": "differential privacy",
    "epsilon": 1.0,
    "delta": 0,
    "unit": "trip",
    "contributions": 1,
    "mechanism": "discrete Laplace noise",
    "noise_scale": 1.0,
    "study_area": "world",
}
NOISY: dict[str, Any] = {"parameters": {"epsilon": 1.0, "contributions": 1, "height": 1}}


def noisy(facts: Any = None, **other: Any) -> Any:
    case = made({**LAPLACE, **other}, parameters={})
    case.facts = {**NOISY, **(facts or {})}
    return case


def kind(found: Any) -> Any:
    return type(found) if isinstance(found, Remark) else found and "wrong"


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (None, None),
        (AuditRequest(k=3), None),
        (AuditRequest(k=4), "promises less than the 4 travellers"),
        (AuditRequest(k=3, unit="trips"), "promises less than the 3 trips"),
        (AuditRequest(k=3, known_items=1), None),
    ],
)
def test_no_less_is_promised_than_was_ordered(order: Any, words: str | None) -> None:
    found = counts.every_group_safe(released(made(order=order), FLOWS))
    assert found is None if words is None else words in str(found)


def test_readers_may_know_as_much_as_was_ordered() -> None:
    for order, wrong in ((AuditRequest(k=3, known_items=1), False), (AuditRequest(k=3), True), (None, False)):
        case = released(made(FEW, order), FLOWS)
        case.table("audit_shared", "trips bigint, travellers bigint", [(3, 3)])
        assert ("know fewer" in str(counts.every_group_safe(case))) == wrong
        if not wrong:
            assert isinstance(counts.every_group_safe(case), NotPromised)
            case.table("audit_shared", "trips bigint, travellers bigint", [(3, 3), (9, 2)])
            assert "sets of released flows" in str(counts.every_group_safe(case))


@pytest.mark.parametrize(("people", "wrong"), [(3, None), (2, "wrong"), (None, "wrong")])
def test_k_people_are_enough_and_one_fewer_are_not(people: Any, wrong: Any) -> None:
    case = released(made(), [*FLOWS, ("c", "c", 9, people)], withheld=(1, 1))
    assert kind(counts.every_group_safe(case)) == wrong
    assert counts.every_group_safe(released(made(), [])) == "nothing is released"


def test_weights_reach_k_up_to_what_sums_lose() -> None:
    case = released(made(WEIGHTS, volume="population"), [("a", "b", 3, 3)])
    for held, wrong in ((3.0, None), (3 * (1 - 5e-10), None), (3 * (1 - 5e-9), "wrong")):
        case.con.execute(f"update audit_recount set population = {held!r} where pair = 1")
        assert kind(counts.every_group_safe(case)) == wrong


def test_every_number_is_that_of_the_recount() -> None:
    case = released(made(), FLOWS, withheld=(1, 1))
    assert counts.flows_match_recount(case) is None
    for wrong in ("trips = 10", "travellers = 4"):
        changed = released(made(), FLOWS)
        changed.con.execute(f"update audit_flows set {wrong} where origin = 'a'")
        assert "differ from the recount" in str(counts.flows_match_recount(changed))
    assert "twice" in str(counts.flows_match_recount(released(made(), [*FLOWS, FLOWS[0]])))
    less, more = released(made(), FLOWS), released(made(), FLOWS)
    less.con.execute("delete from audit_flows where origin = 'a'")
    more.con.execute("delete from audit_recount where origin = 'a'")
    assert kind(counts.flows_match_recount(less)) == kind(counts.flows_match_recount(more)) == "wrong"


@pytest.mark.parametrize(("told", "wrong"), [(9, Remark), (6, "wrong"), (12, "wrong"), (10, "wrong")])
def test_rounded_numbers_are_multiples_near_the_recount(told: int, wrong: Any) -> None:
    case = released(made(ROUNDED), [("a", "b", 9, 3)])
    case.con.execute("alter table audit_flows drop travellers")
    case._tables["audit_flows"] = ("origin", "destination", "trips")
    case.con.execute(f"update audit_flows set trips = {told}")
    assert kind(counts.flows_match_recount(case)) == wrong


@pytest.mark.parametrize(("trips", "wrong"), [(3, NotPromised), (2, "wrong")])
def test_noisy_numbers_reach_the_smallest_that_may_be_published(trips: int, wrong: Any) -> None:
    case = released(noisy(threshold=2.5), [("a", "b", trips, 3)])
    case.table("audit_pairs", "origin varchar, destination varchar", [("a", "b")])
    assert kind(counts.flows_match_recount(case)) == wrong
    case.table("audit_pairs", "origin varchar, destination varchar", [("a", "b"), ("a", "c")])
    assert "sends flows to a pair" in str(counts.flows_match_recount(case)) or trips == 2
    case._tables["audit_flows"] = ("origin", "destination")
    assert "lack the column" in str(counts.flows_match_recount(case))


GROUPS = (
    "origin varchar, destination varchar, released_origin varchar, released_destination varchar, trips bigint"
)


@pytest.mark.parametrize(
    ("ends", "wrong"),
    [(("a", "b"), None), ((None, None), None), (("a", None), "wrong"), ((None, "b"), "wrong")],
)
def test_both_ends_or_neither_are_released(ends: Any, wrong: Any) -> None:
    case = made().table("audit_groups", GROUPS, [("x", "y", "a", "b", 1), ("x", "z", *ends, 1)])
    assert kind(counts.both_or_neither(case)) == wrong


def test_every_flow_of_the_input_is_accounted_for() -> None:
    rows = [("x", "y", "a", "b", 1), ("x", "z", "a", "b", 2)]
    flows = [("x", "y", 1), ("x", "z", 2)]
    told = "origin varchar, destination varchar, trips bigint"

    def found(groups: list[Any], flows: list[Any]) -> Any:
        return counts.every_flow_accounted(
            made().table("audit_groups", GROUPS, groups).table("audit_input", told, flows)
        )

    assert found(rows, flows) is None
    assert "twice" in str(found([*rows, rows[0]], flows))
    assert isinstance(counts._weaker(noisy()), NotPromised)
    for groups, other in ((rows[:1], flows), (rows, flows[:1]), (rows, [flows[0], ("x", "z", 3)])):
        assert "is wrong about" in str(found(groups, other))


def test_weights_in_the_private_table_are_right_up_to_rounding() -> None:
    names = "origin varchar, destination varchar, population double"
    for told, wrong in (
        (5.0, None),
        (5 * (1 + 5e-10), None),
        (5 * (1 + 5e-9), "wrong"),
        (5 * (1 - 5e-9), "wrong"),
        (None, "wrong"),
    ):
        case = made(WEIGHTS, volume="population")
        case.table("audit_groups", names, [("x", "y", told)]).table("audit_input", names, [("x", "y", 5.0)])
        assert kind(counts.every_flow_accounted(case)) == wrong


def totals(withheld: int = 1, total: int = 14, told: int = 14, facts: int = 13, **stating: Any) -> Any:
    case = released(made(facts={"released": facts, "groups": 2}, **stating), FLOWS, withheld=(withheld, 1))
    case.table("audit_input", "trips bigint, population double", [(total, float(total))])
    return case.table("audit_groups", "trips bigint, population double", [(told, float(told))])


def test_released_and_withheld_trips_are_those_of_the_input() -> None:
    assert counts.totals_add_up(totals()) is None
    assert "do not add up" in str(counts.totals_add_up(totals(withheld=2)))
    assert "do not add up" in str(counts.totals_add_up(totals(total=15)))
    assert "do not add up" in str(counts.totals_add_up(totals(told=13)))
    assert "the manifest's released" in str(counts.totals_add_up(totals(facts=14)))
    assert "the manifest's released" in str(counts.totals_add_up(totals(facts=12)))
    other = totals()
    other.con.execute("update audit_flows set trips = trips + 1 where origin = 'a'")
    assert "of all flows differ" in str(counts.totals_add_up(other))
    assert isinstance(counts.totals_add_up(noisy()), NotPromised)
    silent = totals()
    silent._tables["audit_groups"] = ()
    assert "do not add up" in str(counts.totals_add_up(silent))
    silent._tables["audit_flows"] = ()
    assert "of all flows differ" in str(counts.totals_add_up(silent))


@pytest.mark.parametrize(("away", "wrong"), [(0, None), (4, None), (5, "wrong"), (-4, None), (-5, "wrong")])
def test_rounded_numbers_add_up_to_within_what_each_may_be_away(away: int, wrong: Any) -> None:
    """Two groups, each away by two at most."""
    case = totals(promise=ROUNDED, facts=13 + away)
    assert kind(counts.totals_add_up(case)) == wrong
    case = totals(promise=ROUNDED)
    case.con.execute(f"update audit_flows set trips = trips + {away} where origin = 'a'")
    assert kind(counts.totals_add_up(case)) == wrong


@pytest.mark.parametrize(
    ("flow", "told", "wrong"),
    [(0.9, 0.4, None), (1.1, 0.0, "wrong"), (0.0, 0.6, "wrong"), (-1.1, 0.0, "wrong")],
)
def test_weights_are_rounded_flow_by_flow_and_once_in_all(flow: float, told: float, wrong: Any) -> None:
    case = released(made(WEIGHTS, volume="population", facts={"released": 13, "groups": 2}), FLOWS)
    case.con.execute("alter table audit_flows add column population double")
    case._tables["audit_flows"] = (*case._tables["audit_flows"], "population")
    case.con.execute(
        f"update audit_flows set population = trips + case origin when 'a' then {flow} else 0 end"
    )
    case.con.execute(f"update audit_recount set population = population + {told} where pair = 1")
    case.con.execute(f"update audit_flows set population = population + {told} where origin = 'a'")
    for name in ("audit_input", "audit_groups"):
        case.table(name, "population double", [(13 + told,)])
    assert kind(counts.totals_add_up(case)) == wrong


@pytest.mark.parametrize(("withheld", "wrong"), [(1, None), (2, "wrong")])
def test_the_withheld_share_is_within_the_limit(withheld: int, wrong: Any) -> None:
    case = released(made(), [("a", "b", 9, 3)], withheld=(withheld, 1))
    assert kind(counts.suppression_within_limit(case)) == wrong
    assert isinstance(counts.suppression_within_limit(noisy()), NotPromised)


def band(least: Any, most: Any) -> dict[str, Any]:
    return {"withheld": {"at_least": least, "at_most": most, "words": ""}, "released": 13}


def test_the_band_is_the_one_that_the_withheld_volume_lies_in() -> None:
    for told, wrong in (
        (band(0, 1), None),
        (band(0, 2), "wrong"),
        (band(1, 1), "wrong"),
        (band(None, None), "wrong"),
    ):
        case = released(made(facts=told), FLOWS, withheld=(1, 1))
        assert kind(counts.suppressed_told_safely(case)) == wrong
        assert kind(counts.suppressed_not_solvable(case)) == (None if told == band(None, None) else wrong)
    fine = [(f"o{at}", f"d{at}", 90, 90) for at in range(10)]
    for told, withheld, wrong in (
        ((0, 9), 9, None),
        ((0, 9), 10, "wrong"),
        ((10, 18), 10, None),
        ((10, 19), 10, "wrong"),
    ):
        case = released(made(facts={**band(*told), "released": 900}), fine, withheld=(withheld, 1))
        assert kind(counts.suppressed_told_safely(case)) == wrong
        assert kind(counts.suppressed_not_solvable(case)) == (None if told in ((0, 9), (10, 18)) else "wrong")
    for promise, case in (
        (ROUNDED, made(ROUNDED)),
        (LAPLACE, noisy()),
        (PEOPLE, made(columns=["travellers"], volume="travellers")),
    ):
        for told, wrong in ((band(None, None), None), (band(0, 1), "wrong")):
            case.facts = {**case.facts, **told}
            released(case, FLOWS)
            assert kind(counts.suppressed_told_safely(case)) == wrong
            if promise is not PEOPLE:
                assert kind(counts.suppressed_not_solvable(case)) == wrong


def test_the_band_of_weights_is_that_up_to_what_sums_lose() -> None:
    """A hair above a step is as good as on it; a whole one above is not."""
    for withheld, told, wrong in (
        (9.0, (0, 9), None),
        (9.0 + 1e-9, (0, 9), None),
        (9.0 + 1e-9, (10, 18), None),
        (9.5, (0, 9), "wrong"),
        (9.5, (10, 18), None),
    ):
        case = made(WEIGHTS, volume="population", facts={**band(*told), "released": 900})
        flows = [(f"o{at}", f"d{at}", 90, 90) for at in range(10)]
        released(case, flows, withheld=(9, 9))
        case.con.execute(f"update audit_recount set population = {withheld!r} where pair = 0")
        assert kind(counts.suppressed_told_safely(case)) == wrong


def test_the_smallest_group_is_told_by_unit() -> None:
    case = released(made(), FLOWS, withheld=(1, 1))
    assert counts.smallest_support(case) == {"travellers": 3}
    assert counts.smallest_support(released(made(order=AuditRequest(k=4, unit="trips")), FLOWS)) == {
        "travellers": 3,
        "trips": 4,
    }
    assert counts.smallest_support(released(noisy(), FLOWS)) == {"trips": 4, "travellers": 3}
    assert counts.smallest_support(released(made(), [])) == {}


@pytest.mark.parametrize(
    ("told", "order", "wrong"),
    [
        (["trips"], None, NotPromised),
        (["close"], None, "wrong"),
        ([], AuditRequest(closeness=0.3), "wrong"),
        (["close"], AuditRequest(closeness=0.2), "wrong"),
    ],
)
def test_close_destinations_are_promised_where_they_mean_something(told: Any, order: Any, wrong: Any) -> None:
    close = {"kind": "all of", "promises": [PEOPLE, {"kind": "t-closeness", "t": 0.25}]}
    grid = {"origins": 0.01, "destinations": 0.01}
    boxes = {
        "zone_form": "boxes",
        "tile_km2": {"origins": None, "destinations": None},
        "box_grid_degrees": grid,
    }
    case = made(close if told == ["close"] else PEOPLE, order, **(boxes if told == ["close"] else {}))
    assert kind(privacy.destinations_close(case)) == wrong


def test_no_study_area_no_zones_that_there_could_be() -> None:
    case = noisy()
    case.table("audit_flows", "origin varchar, destination varchar", [("891fb46622fffff", "891fb46622fffff")])
    assert privacy.noise_suffices(case) is None
    assert isinstance(privacy.noise_suffices(made()), NotPromised)
    for other, words in (
        ({"study_area": None}, "names no study area"),
        ({"study_area": "8001fffffffffff"}, "outside the study area"),
        ({"noise_scale": 0.5}, "too small"),
    ):
        case = noisy(**other)
        case.table(
            "audit_flows", "origin varchar, destination varchar", [("891fb46622fffff", "891fb46622fffff")]
        )
        assert words in str(privacy.noise_suffices(case))


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({"epsilon": 1.0, "contributions": 1, "delta": 0.0}, None),
        ({"epsilon": 1.0, "contributions": 7, "delta": 1e-6}, None),
        ({"epsilon": 2.0, "contributions": 1, "delta": 0.0}, "wrong"),
        ({"epsilon": [1.0], "contributions": [], "delta": {}}, "wrong"),
        ({"contributions": 1}, "wrong"),
    ],
)
def test_the_method_was_run_with_what_is_promised(asked: Any, wrong: Any) -> None:
    case = noisy({"parameters": asked})
    assert kind(privacy._other_parameters(case, case.promise.privacy)) == wrong
    several = noisy({"parameters": asked}, unit="traveller", contributions=7, noise_scale=7.0)
    fits = asked == {"epsilon": 1.0, "contributions": 7, "delta": 1e-6}
    assert (privacy._other_parameters(several, several.promise.privacy) is None) == fits
    for delta, right in ((1e-6, True), (0.0, False), (2e-6, False)):
        gauss = noisy({"parameters": {**asked, "delta": delta}}, delta=1e-6)
        told = privacy._other_parameters(gauss, gauss.promise.privacy)
        assert (told is None) == (right and wrong is None)


def test_of_zones_of_a_file_the_study_area_is_the_root() -> None:
    rows = [("origin", "a", "all", 0), ("origin", "all", None, 1), ("destination", "b", None, 1)]
    for area, wrong in (("all", None), ("a", "wrong"), ("b", "wrong")):
        case = made({**LAPLACE, "study_area": area}, parameters={}, hierarchy={"spec": "table:a"})
        case.table("audit_tree", "axis varchar, zone varchar, parent varchar, height int", rows)
        assert kind(privacy._outside(case, case.promise.privacy)) == wrong


PRESENCE = "o bigint, d bigint, person bigint, trips bigint, weight double, segment varchar"


def told_by_segment(rows: list[Any], promise: Any = PEOPLE, **stating: Any) -> list[str]:
    every = {"kind": "every segment", "by": ["sex"], "names": ["f", "m"], "promise": promise}
    case = made(every, **stating).table("audit_segment_presence", PRESENCE, rows)
    return privacy._may_be_told(case)


def test_travellers_are_told_by_segment_where_nobody_is_in_two() -> None:
    one = [(1, 2, 7, 1, 1.0, "f"), (1, 3, 7, 1, 1.0, "f"), (1, 2, 8, 1, 1.0, "m"), (1, 2, None, 1, 1.0, "m")]
    assert told_by_segment(one) == ["trips", "travellers"]
    assert told_by_segment([*one, (1, 2, 7, 1, 1.0, "m")]) == ["trips"]
    assert told_by_segment(one, steps={"travellers": 3}) == ["trips"]


def where_safe(rows: list[Any], told: list[Any], names: tuple[str, ...] = ("f", "m", "x")) -> Any:
    """Return a case of one flow whose segments are told where they are safe."""
    promise = {"kind": "segments where safe", "by": ["sex"], "names": list(names), "promise": PEOPLE}
    case = made(promise).table("audit_segment_presence", PRESENCE, rows)
    case.table("audit_links", "o bigint, d bigint, pair bigint", [(1, 2, 1)])
    case.table("audit_pairs", "pair bigint, origin varchar, destination varchar", [(1, "a", "b")])
    return case.table(
        "audit_segments", "origin varchar, destination varchar, segment varchar, trips bigint", told
    )


def people(segment: str, first: int, many: int) -> list[Any]:
    return [(1, 2, first + at, 1, 1.0, segment) for at in range(many)]


def test_what_is_not_told_by_segment_is_several_segments_and_k_people() -> None:
    told = [("a", "b", "f", 3)]
    everybody = [*people("f", 0, 3), *people("m", 10, 2), *people("x", 20, 1)]
    assert privacy._rest(where_safe(everybody, told)) is None
    assert "fewer than 3 travellers" in str(privacy._rest(where_safe(everybody[:-1], told)))
    # Whoever is in two of the others is one person.
    assert "fewer than 3 travellers" in str(
        privacy._rest(where_safe([*everybody[:-1], *people("x", 10, 1)], told))
    )
    assert "all segments but one" in str(
        privacy._rest(where_safe([*everybody, *people("x", 30, 3)], [*told, ("a", "b", "m", 2)]))
    )
    assert privacy._rest(where_safe(everybody, [*told, ("a", "b", "m", 2), ("a", "b", "x", 1)])) is None


def test_segments_are_those_of_the_records() -> None:
    everybody = [*people("f", 0, 3), *people("m", 10, 2)]
    assert privacy._names_where_safe(where_safe(everybody, [], ("f", "m"))) is None
    assert privacy._names_where_safe(where_safe(everybody, [])) is not None
    named = "origin varchar, destination varchar, segment varchar"
    every = {"kind": "every segment", "by": ["sex"], "names": ["f", "m"], "promise": PEOPLE}
    for rows, words in (
        ([("a", "b", "f"), ("a", "b", "m")], None),
        ([("a", "b", "f"), ("a", "b", "x")], "does not hold the segments"),
        ([("a", "b", "f"), ("a", "b", "m"), ("b", "b", "m")], "every segment"),
    ):
        case = made(every).table("audit_segments", named, rows)
        case.table("audit_flows", "origin varchar, destination varchar", [("a", "b")])
        found = privacy._names(case)
        assert found is None if words is None else words in str(found)


def bricks(rows: list[Any], presence: list[Any], promise: Any = PEOPLE) -> Any:
    """Return a case of withheld flows in one set that a table counts, and who makes them."""
    columns = "brick varchar, counted_from varchar, origin_own varchar, destination_own varchar, trips bigint"
    case = made(promise).table("audit_bricks", columns, rows)
    return case.table("audit_presence", "brick varchar, person bigint, trips bigint, weight double", presence)


@pytest.mark.parametrize(("people", "wrong"), [(3, None), (2, "wrong")])
def test_a_set_of_withheld_flows_is_of_k_people(people: int, wrong: Any) -> None:
    rows = [("x", at, 1, 1.0) for at in range(people)]
    case = bricks([], [*rows, ("x", 0, 5, 1.0)])
    assert kind(tables._few(case, "audit_presence", "brick")) == wrong


def test_without_ids_trips_are_people_where_each_is_somebody_elses() -> None:
    for travellers, wrong in ((3, None), (2, "wrong")):
        case = bricks([], [("x", None, 1, 1.0)] * 3)
        released(case, [("a", "b", 3, travellers)])
        case.con.execute("delete from audit_recount where pair = 0")
        assert kind(tables._few(case, "audit_presence", "brick")) == wrong


@pytest.mark.parametrize(
    ("cells", "trips", "promise", "wrong"),
    [
        (3, 1, PEOPLE, None),
        (2, 1, PEOPLE, "wrong"),
        (3, 99, PEOPLE, None),
        (4, 1, TRIPS, None),
        (4, 2, TRIPS, "wrong"),
    ],
)
def test_every_flow_of_a_set_may_be_empty(cells: int, trips: int, promise: Any, wrong: Any) -> None:
    """Three cells at least; and where trips are counted, all but one may hold as many as there are."""
    rows = [("x", "8,8", f"o{at}", None, trips) for at in range(cells)]
    case = bricks(rows, [("x", 1, 1, 1.0)], promise)
    one = {"origin_level": 8, "destination_level": 8, "cells": 1, "trips": 1, "not_counted": {}}
    assert kind(tables._room(case, StatedTables((8,), False, False, (one,)))) == wrong


@pytest.mark.parametrize(
    ("zone", "height", "tiles", "parent", "true"),
    [
        ("891fb46622fffff", 0, 1, None, True),
        ("891fb46622fffff", 0, 1, "891fb46622fffff", True),
        ("891fb46622fffff", 0, 1, "881fb46623fffff", True),
        ("891fb46622fffff", 0, 1, "881fb46741fffff", False),
        ("891fb46622fffff", 1, 1, None, False),
        ("881fb46623fffff", 1, 7, "891fb46622fffff", False),
        ("891fb46622fffff", 0, 1, "x", False),
        ("x", 0, 1, None, False),
    ],
)
def test_a_zone_of_a_level_lies_in_its_parent(
    zone: str, height: int, tiles: int, parent: Any, true: bool
) -> None:
    assert tables._true_zone(made().promise.names, zone, height, tiles, parent) == true


@pytest.mark.parametrize(
    ("told", "first", "last"),
    [
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2024-12", "2024-12-01", "2024-12-31"),
        ("2024-W01", "2024-01-01", "2024-01-07"),
        ("2024-W52", "2024-12-23", "2024-12-29"),
        ("2024-05-01", "2024-05-01", "2024-05-01"),
    ],
)
def test_a_period_is_a_month_a_week_or_a_day(told: str, first: str, last: str) -> None:
    assert [day.isoformat() for day in during._days(told)] == [first, last]
    for wrong in (f"{told}x", "2024", "2024-13", "2024-W54", "2024-02-30", 202402, None):
        with pytest.raises(BrokenPart):
            during._days(wrong)


PARENT, TILE, OTHER = "881fb46623fffff", "891fb46622fffff", "891fb46741bffff"


def test_ids_name_cells_that_are_as_fine_as_tiles_or_finer() -> None:
    child = "8a1fb46622dffff"
    ids = [TILE, child, PARENT, "x", OTHER]
    outside = int(OUTSIDE)
    assert H3Encoder(9, None).of_ids(ids).tolist() == [
        int(TILE, 16),
        int(TILE, 16),
        outside,
        outside,
        int(OTHER, 16),
    ]
    assert H3Encoder(9, PARENT).of_ids(ids).tolist() == [int(TILE, 16), int(TILE, 16), *[outside] * 3]
    base = "801ffffffffffff"
    found = H3Encoder(9, base).of_ids(ids).tolist()
    assert found == [int(TILE, 16), int(TILE, 16), outside, outside, int(OTHER, 16)]


TABLES = "origin_level varchar, destination_level varchar, origin varchar, destination varchar, trips bigint"


@pytest.mark.parametrize(
    ("told", "promise", "wrong"),
    [
        (13, PEOPLE, None),
        (16, PEOPLE, None),
        (15, PEOPLE, "wrong"),
        (12, PEOPLE, "wrong"),
        (None, PEOPLE, "wrong"),
        (13, ROUNDED, None),
        (16, ROUNDED, "wrong"),
    ],
)
def test_a_table_holds_the_flows_and_besides_nothing_or_enough(told: Any, promise: Any, wrong: Any) -> None:
    case = released(made(promise), FLOWS)
    rows = [] if told is None else [("all", "all", "all", "all", told)]
    case.table("audit_tables", TABLES, [*rows, ("own", "all", "a", "all", 99)])
    stated = StatedTables((), True, False, ())
    assert kind(tables._sums(case, stated, ("own", "own"), ("all", "all"))) == wrong


def test_zones_of_a_quadtree_are_lifted_by_what_is_left_of_its_depth() -> None:
    tree = [("q", None, 2), ("q0", "q", 1), ("q01", "q0", 0), ("q1", "q", 1), ("q12", "q1", 0)]
    for spec, levels in (
        ("quadtree:2", {2: "q01", 1: "q0", 0: "q"}),
        ("table:a", {0: "q01", 1: "q0", 2: "q"}),
    ):
        case = made(hierarchy={"spec": spec})
        case.table(
            "audit_tree",
            "axis varchar, zone varchar, parent varchar, height int",
            [("origin", *row) for row in tree],
        )
        case.table("audit_origin_own", "base varchar", [("q01",), ("q01",), ("q",)])
        found = _lifted_by_tree(case, "origin", levels)
        assert found == {level: {"q01": zone, "q": "q"} for level, zone in levels.items()}


@pytest.mark.parametrize(
    ("words", "found"), [("at least 3 people", None), ("at least 4 people", "wrong"), ("people", "wrong")]
)
def test_the_words_of_a_promise_give_its_numbers(words: str, found: Any) -> None:
    assert kind(manifest._sentence(made(facts={"promise": {"sentence": words}}))) == found
    with pytest.raises(BrokenPart, match="sentence"):
        manifest._sentence(made(facts={"promise": {"sentence": 3}}))


def test_as_many_people_stand_behind_dropped_rows_as_are_promised_or_ordered() -> None:
    assert manifest._least(made()) == 3
    assert manifest._least(made(order=AuditRequest(k=5))) == 5
    assert manifest._least(made(order=AuditRequest(k=2))) == 3
    assert manifest._least(noisy()) == 0


@pytest.mark.parametrize(
    ("by", "at", "named"),
    [
        ("start_time:6h@UTC", "05:59:59", "00:00-06:00"),
        ("start_time:6h@UTC", "06:00:00", "06:00-12:00"),
        ("start_time:24h@UTC", "23:59:59", "00:00-24:00"),
        ("start_time:90min@Europe/Paris", "05:00:00", "06:00-07:30"),
    ],
)
def test_a_part_of_the_day_is_named_by_both_ends(by: str, at: str, named: str) -> None:
    case = made().table("canonical", "start_time timestamptz", [(f"2024-01-05 {at}+00",), (None,)])
    found = [text for (text,) in case.rows(f"select {segment_sql((by,), ('start_time',))} from canonical")]
    assert found == [f"start_time={named}", "start_time=unknown"]
    with pytest.raises(InputError, match="without times"):
        segment_sql((by,), ("attr_sex",))
    for wrong in ("start_time:0h@UTC", "start_time:5h@UTC", "start_time:7min@UTC"):
        with pytest.raises(BrokenPart, match="divide a day"):
            segment_sql((wrong,), ("start_time",))
