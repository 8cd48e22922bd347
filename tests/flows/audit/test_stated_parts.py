"""Every part of a promise that a manifest may state: read as it stands, refused by name one step past it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from tripcloak.flows.audit.columns import TOLERANCE, differs
from tripcloak.flows.audit.dominance import check_ordered, in_words, read_rule, said_of_halves
from tripcloak.flows.audit.dominance import weaker_than_ordered as weaker
from tripcloak.flows.audit.hidden import HiddenThresholds, read_hidden
from tripcloak.flows.audit.privacy import Privacy, concentrated_delta, read_privacy, shown_by_one
from tripcloak.flows.audit.privacy import too_little as lacks
from tripcloak.flows.audit.promise import AuditRequest, StatedPromise, least, read_promise
from tripcloak.flows.audit.rounding import StatedRounding
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import BrokenPart

PEOPLE = {"kind": "k-anonymity", "k": 10, "unit": "travellers", "id_is": "person"}
TRIPS = {"kind": "k-anonymity", "k": 10, "unit": "trips"}
WEIGHTS = {"kind": "k-anonymity", "k": 5000, "unit": "population"}
TILES = {"kind": "l-diversity", "l": 2, "of": "tiles"}
CLOSE = {"kind": "t-closeness", "t": 0.25}
SHARE = {"kind": "dominance", "share": 0.5, "of": ["trips"]}
WITHIN = {"kind": "p-percent", "p": 10, "of": ["trips", "population"]}
HIDDEN = {"kind": "hidden choices", "k": 10, "unit": "travellers", "up_to": 20}
ROUNDED = {"kind": "rounding", "base": 5, "sums": True}
LAPLACE = {
    "kind": "differential privacy",
    "epsilon": 1.0,
    "delta": 1e-6,
    "unit": "traveller",
    "id_is": "person",
    "contributions": 10,
    "mechanism": "discrete Laplace noise",
    "noise_scale": 10.0,
    "threshold": 168,
}
GAUSSIAN = {
    "kind": "differential privacy",
    "epsilon": 1.0,
    "delta": 1e-6,
    "unit": "trip",
    "contributions": 1,
    "mechanism": "discrete Gaussian noise",
    "noise_scale": 5.0,
    "rho": 0.02,
    "heights": 1,
}

# Travellers are scaled: nobody has more in all than the norm of a height, however many trips they make.
SCALED = {
    **GAUSSIAN,
    "unit": "traveller",
    "id_is": "person",
    "contributions": None,
    "norms": [1.0],
    "norm_heights": [0],
    "multipliers": [5.0, 5.0],
}


def all_of(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "all of", "promises": list(parts)}


def every(promise: Any = PEOPLE, **other: Any) -> dict[str, Any]:
    """Return a promise for every segment."""
    return {"kind": "every segment", "by": ["sex"], "names": ["f", "m"], "promise": promise, **other}


def few(promise: Any = PEOPLE, **other: Any) -> dict[str, Any]:
    """Return a promise against readers who know one item."""
    return {"kind": "k^m-anonymity", "m": 1, "of": ["origin", "destination"], "promise": promise, **other}


def where_safe(promise: Any = PEOPLE) -> dict[str, Any]:
    return every(promise, kind="segments where safe")


def read(promise: Any, **more: Any) -> StatedPromise:
    noisy = isinstance(promise, dict) and promise.get("kind") == "differential privacy"
    facts = {
        "promise": {**promise, "sentence": "in words"} if isinstance(promise, dict) else promise,
        "homogeneous": True,
        "hierarchy": {"spec": "h3:6"},
        "parameters": {} if noisy else {"suppression_limit": 0.1},
        "volume": "trips",
    }
    return read_promise({**facts, **more})


def timed(**entries: Any) -> dict[str, Any]:
    day = {"period": ["2024-01-01", "2024-01-01"]}
    return {"hierarchy": {"spec": "h3:6", "time_slot_minutes": 60, **day, **entries}}


READ: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (PEOPLE, {"thresholds": {"travellers": 10}, "id_is": "person", "spoken": ("10",), "row_threshold": 10}),
    (TRIPS, {"thresholds": {"trips": 10}, "id_is": None, "where_safe": False, "known_items": None}),
    (all_of(PEOPLE, WEIGHTS), {"row_threshold": 10, "spoken": ("10", "5,000")}),
    (all_of({**PEOPLE, "k": 12}, TRIPS), {"row_threshold": 12, "id_is": "person"}),
    (all_of(PEOPLE, {**PEOPLE, "k": 7}), {"thresholds": {"travellers": 10}}),
    (all_of({**PEOPLE, "k": 7}, PEOPLE), {"thresholds": {"travellers": 10}}),
    (all_of(PEOPLE, TILES, {**TILES, "l": 3}), {"floors": {"tiles": 3}, "spoken": ("10", "2", "3")}),
    (
        all_of(PEOPLE, {**TILES, "l": 3}, TILES, {**TILES, "of": "places"}),
        {"floors": {"tiles": 3, "places": 2}},
    ),
    (all_of(PEOPLE, CLOSE), {"closeness": 0.25, "spoken": ("10", "0.25")}),
    (all_of(PEOPLE, CLOSE, {**CLOSE, "t": 0.5}), {"closeness": 0.25}),
    (all_of(PEOPLE, {**CLOSE, "t": 0.5}, CLOSE), {"closeness": 0.25}),
    (all_of(PEOPLE, SHARE, WITHIN), {"spoken": ("10", "50", "10")}),
    (
        all_of(PEOPLE, HIDDEN),
        {"hidden": HiddenThresholds(10.0, 20, "travellers"), "spoken": ("10", "10", "20")},
    ),
    (all_of(PEOPLE, ROUNDED), {"rounding": StatedRounding(5, True), "columns": ("trips",)}),
    (all_of(PEOPLE, ROUNDED, SHARE, HIDDEN), {"spoken": ("10", "5", "5", "50", "10", "20")}),
    (every(), {"segments": ("f", "m"), "segmented_by": ("sex",), "where_safe": False, "spoken": ("10", "2")}),
    (every(all_of(PEOPLE, CLOSE)), {"closeness": 0.25, "spoken": ("10", "0.25", "2")}),
    (where_safe(), {"segments": ("f", "m"), "where_safe": True}),
    (where_safe(all_of(PEOPLE, ROUNDED)), {"where_safe": True, "rounding": StatedRounding(5, True)}),
    (few(), {"known_items": 1, "spoken": ("10",), "columns": ("trips",)}),
    (few(all_of(PEOPLE, TILES)), {"known_items": 1, "floors": {"tiles": 2}}),
    (LAPLACE, {"id_is": "person", "limit": 1.0, "row_threshold": 0, "spoken": ("1,", "1", "06,", "10")}),
    (GAUSSIAN, {"id_is": None, "thresholds": {}, "main": "trips", "columns": ("trips",)}),
]


@pytest.mark.parametrize(("promise", "told"), READ)
def test_what_is_stated_is_read(promise: dict[str, Any], told: dict[str, Any]) -> None:
    stated = read(promise)
    assert {name: getattr(stated, name) for name in told} == told


def test_a_reader_of_slots_may_know_two_items_and_that_is_said() -> None:
    knows_two = few(m=2, of=["origin", "destination", "time"])
    told = read(knows_two, **timed())
    assert (told.known_items, told.spoken, told.axes[-1]) == (2, ("10", "2"), "time")
    with pytest.raises(BrokenPart, match=r"promise\.m"):
        read({**knows_two, "m": 3}, **timed())


def test_people_alone_or_weights_alone_are_the_volume() -> None:
    assert read(WEIGHTS, volume="population").told.limited == "population"
    assert read(WEIGHTS, volume="population").row_threshold == 5000
    assert read(PEOPLE, volume="travellers", columns=["travellers"]).told.summed == ("travellers",)
    assert read(TRIPS, columns=["travellers"]).columns == ("trips",)
    assert read(all_of(PEOPLE, WEIGHTS)).told.summed == ("trips", "population")
    for promise, more in (
        (WEIGHTS, {}),
        (PEOPLE, {"volume": "travellers"}),
        (PEOPLE, {"volume": "population"}),
    ):
        with pytest.raises(BrokenPart, match="volume"):
            read(promise, **more)


WRONG: list[tuple[Any, str]] = [
    (None, "promise"),
    ("k-anonymity", "promise"),
    ({**PEOPLE, "more": 1}, "promise"),
    ({"kind": "k-anonymity", "k": 10}, "promise"),
    ({"k": 10, "unit": "trips"}, "promise.kind"),
    ({**TRIPS, "kind": "k"}, "promise.kind"),
    ({**TRIPS, "unit": "people"}, "promise.unit"),
    ({**TRIPS, "k": True}, "promise.k"),
    ({**TRIPS, "id_is": "person"}, "promise.id_is"),
    ({**PEOPLE, "id_is": "ghost"}, "promise.id_is"),
    ({**PEOPLE, "id_is": None}, "promise.id_is"),
    (all_of(PEOPLE, {**PEOPLE, "id_is": "vehicle"}), "promise.id_is"),
    (all_of(TILES), "promise"),
    (all_of(), "promise"),
    ({"kind": "all of", "promises": {"0": PEOPLE}}, "promise.promises"),
    (all_of(PEOPLE, 3), "promise"),  # type: ignore[arg-type]
    (all_of(PEOPLE, {**TILES, "l": 1}), "promise.l"),
    (all_of(PEOPLE, {**TILES, "l": 2.0}), "promise.l"),
    (all_of(PEOPLE, {**TILES, "of": "zones"}), "promise.of"),
    (all_of(PEOPLE, {**CLOSE, "t": 0}), "promise.t"),
    (all_of(PEOPLE, {**CLOSE, "t": 1}), "promise.t"),
    (all_of(PEOPLE, {**CLOSE, "t": "0.5"}), "promise.t"),
    (all_of(PEOPLE, {**SHARE, "share": 0}), "promise.share"),
    (all_of(PEOPLE, {**SHARE, "share": 1.5}), "promise.share"),
    (all_of(PEOPLE, {**SHARE, "share": "0.5"}), "promise.share"),
    (all_of(PEOPLE, {**SHARE, "p": 1}), "promise"),
    (all_of(PEOPLE, {**SHARE, "of": "trips"}), "promise.of"),
    (all_of(PEOPLE, {**SHARE, "of": []}), "promise.of"),
    (all_of(PEOPLE, {**WITHIN, "of": ["population", "trips"]}), "promise.of"),
    (all_of(PEOPLE, {**WITHIN, "p": 0}), "promise.p"),
    (all_of(PEOPLE, {**WITHIN, "p": 101}), "promise.p"),
    (all_of(PEOPLE, {**HIDDEN, "up_to": 19}), "promise"),
    (all_of(PEOPLE, {**HIDDEN, "up_to": 20.0}), "promise"),
    (all_of(PEOPLE, {**HIDDEN, "k": 9}), "promise"),
    (all_of(PEOPLE, {**HIDDEN, "k": 10.0}), "promise"),
    (all_of({**PEOPLE, "k": 2}, {**HIDDEN, "k": 1}), "promise"),
    (all_of(PEOPLE, {**HIDDEN, "unit": "people"}), "promise"),
    (all_of(PEOPLE, {**HIDDEN, "unit": "trips"}), "promise"),
    (all_of(PEOPLE, {**HIDDEN, "more": 1}), "promise"),
    (all_of(PEOPLE, ROUNDED, ROUNDED), "promise.kind"),
    (all_of(PEOPLE, {**ROUNDED, "base": 4}), "promise"),
    (all_of(PEOPLE, {**ROUNDED, "base": 1}), "promise"),
    (all_of(PEOPLE, {**ROUNDED, "base": 5.0}), "promise"),
    (all_of(PEOPLE, {**ROUNDED, "sums": 1}), "promise"),
    (all_of(PEOPLE, {**ROUNDED, "more": 1}), "promise"),
    (all_of(WEIGHTS, ROUNDED), "promise"),
    (all_of(PEOPLE, ROUNDED, CLOSE), "promise"),
    (every(all_of(PEOPLE, ROUNDED)), "promise"),
    (few(all_of(PEOPLE, ROUNDED)), "promise"),
    (few(all_of(PEOPLE, CLOSE)), "promise"),
    (few(all_of(PEOPLE, SHARE)), "promise"),
    (few(all_of(PEOPLE, HIDDEN)), "promise"),
    (every(all_of(PEOPLE, SHARE)), "promise"),
    (every(all_of(PEOPLE, HIDDEN)), "promise"),
    (where_safe(all_of(PEOPLE, SHARE)), "promise"),
    (where_safe(all_of(PEOPLE, HIDDEN)), "promise"),
    (every(every()), "promise.kind"),
    (every(by="sex"), "promise.by"),
    (every(by=[]), "promise.by"),
    (every(names=["f", 1]), "promise.names"),
    (every(names=["f", "f"]), "promise.names"),
    (every(more=1), "promise"),
    (every(None), "promise"),
    (few(m=0), "promise.m"),
    (few(m=2), "promise.m"),
    (few(m=1.0), "promise.m"),
    (few(of=["origin"]), "promise.of"),
    ({**LAPLACE, "mechanism": "noise"}, "promise.mechanism"),
    ({**LAPLACE, "mechanism": None}, "promise.mechanism"),
    ({**LAPLACE, "mechanism": "discrete Laplace noise 7"}, "promise.mechanism"),
    ({**LAPLACE, "rho": 1}, "promise"),
    ({**GAUSSIAN, "threshold": 2}, "promise"),
    ({**LAPLACE, "study_area": 1}, "promise.study_area"),
    ({**LAPLACE, "id_is": 1}, "promise.id_is"),
    ({**GAUSSIAN, "id_is": "person"}, "promise.id_is"),
    ({**LAPLACE, "epsilon": 0}, "promise.epsilon"),
    ({**LAPLACE, "epsilon": "1"}, "promise.epsilon"),
    ({**LAPLACE, "delta": -1e-9}, "promise.delta"),
    ({**LAPLACE, "delta": 1}, "promise.delta"),
    ({**LAPLACE, "delta": None}, "promise.delta"),
    ({**GAUSSIAN, "unit": "day"}, "promise.unit"),
    ({**LAPLACE, "contributions": 0}, "promise.contributions"),
    ({**LAPLACE, "contributions": 1.0}, "promise.contributions"),
    ({**LAPLACE, "contributions": 2**53}, "promise.contributions"),
    ({**GAUSSIAN, "contributions": 2}, "promise.contributions"),
    ({**LAPLACE, "noise_scale": 0}, "promise.noise_scale"),
    ({**LAPLACE, "noise_scale": None}, "promise.noise_scale"),
    ({**LAPLACE, "threshold": 0.5}, "promise.threshold"),
    ({**LAPLACE, "threshold": "1"}, "promise.threshold"),
    ({**GAUSSIAN, "rho": 0}, "promise.rho"),
    ({**GAUSSIAN, "rho": None}, "promise.rho"),
    ({**GAUSSIAN, "heights": 0}, "promise.heights"),
    ({**GAUSSIAN, "heights": 1000}, "promise.heights"),
    ({**GAUSSIAN, "heights": 1.0}, "promise.heights"),
    ({**SCALED, "contributions": 0}, "promise.contributions"),
    ({**SCALED, "norms": []}, "promise.contributions"),
    ({name: told for name, told in SCALED.items() if name != "norms"}, "promise.contributions"),
    (
        {**{name: told for name, told in SCALED.items() if name != "id_is"}, "unit": "trip"},
        "promise.contributions",
    ),
    ({**SCALED, "contributions": 3, "norms": []}, "promise.multipliers"),
    ({**SCALED, "multipliers": []}, "promise.multipliers"),
    ({**SCALED, "multipliers": [5.0]}, "promise.multipliers"),
    ({**SCALED, "norms": [1.0, 1.0], "multipliers": [5.0] * 3}, "promise.multipliers"),
    ({**SCALED, "heights": 2, "multipliers": [5.0] * 3}, "promise.multipliers"),
    ({**SCALED, "norms": [0.0]}, "promise.norms"),
    ({**SCALED, "norms": ["1"]}, "promise.norms"),
    ({**SCALED, "multipliers": [5.0, -5.0]}, "promise.multipliers"),
    ({**SCALED, "multipliers": 5.0}, "promise.multipliers"),
]


@pytest.mark.parametrize(("promise", "name"), WRONG)
def test_what_makes_no_sense_is_refused_by_name(promise: Any, name: str) -> None:
    with pytest.raises(BrokenPart, match=f": '{name}' must be"):
        read(promise)


@pytest.mark.parametrize(
    "last",
    [
        *(
            {**LAPLACE, **one}
            for one in ({"contributions": 2**53 - 1}, {"contributions": 1}, {"threshold": 1})
        ),
        *({**LAPLACE, "study_area": "a"}, {**LAPLACE, "delta": 0}),
        *({**GAUSSIAN, "heights": n} for n in (1, 999)),
        *(SCALED, {**SCALED, "contributions": 1}, {**SCALED, "multipliers": [5.0] * 3}),
        *(all_of(PEOPLE, {**SHARE, "share": n}) for n in (0.001, 1)),
        *(all_of(PEOPLE, {**WITHIN, "p": n}) for n in (0.5, 100)),
        *(all_of(PEOPLE, {**CLOSE, "t": n}) for n in (0.001, 0.999)),
        all_of({**PEOPLE, "k": 2}, {**HIDDEN, "k": 2, "up_to": 4}),
        all_of(PEOPLE, {**ROUNDED, "base": 2}),
    ],
)
def test_the_last_that_makes_sense_is_read(last: dict[str, Any]) -> None:
    assert read(last).told.volume == "trips"


def test_each_part_is_refused_on_its_own() -> None:
    with pytest.raises(BrokenPart):
        read_hidden({**HIDDEN, "k": 1, "up_to": 2})
    assert StatedRounding(5, True).fits({"travellers": 10, "population": 11})
    assert not StatedRounding(5, True).fits({"travellers": 10, "trips": 12})
    assert not StatedRounding(5, True).fits({})


BESIDE: list[tuple[dict[str, Any], str]] = [
    ({"homogeneous": 1}, "homogeneous"),
    ({"hierarchy": None}, "hierarchy.spec"),
    ({"hierarchy": {}}, "hierarchy.spec"),
    ({"hierarchy": {"spec": 3}}, "hierarchy.spec"),
    ({"hierarchy": "h3:6"}, "hierarchy.spec"),
    ({"hierarchy": {"spec": "h3:6", "fold": "day"}}, "hierarchy.fold"),
    (timed(fold="month"), "hierarchy.fold"),
    ({"hierarchy": {"spec": "h3:6", "slots": "apart"}}, "hierarchy.slots"),
    (timed(slots="together"), "hierarchy.slots"),
    ({"hierarchy": {"spec": "h3:6", "period": ["2024-01-01", "2024-01-01"]}}, "hierarchy.period"),
    ({"parameters": None}, "parameters"),
    ({"parameters": {"suppression_limit": "0.1"}}, "parameters.suppression_limit"),
    ({"tile_km2": {"origins": 1.0, "destinations": 1.0}}, "zone_form"),
    ({"zone_form": None}, "zone_form"),
    ({"box_grid_degrees": {"origins": 1.0}}, "box_grid_degrees"),
    ({"steps": {"travellers": 10.0}}, "steps"),
    ({"columns": ["trips"], "steps": {}}, "steps"),
]


@pytest.mark.parametrize(("facts", "name"), BESIDE)
def test_what_stands_beside_the_promise_is_refused_by_name(facts: dict[str, Any], name: str) -> None:
    with pytest.raises(BrokenPart, match=f": '{name}' must be"):
        read(PEOPLE, **facts)


def test_noise_keeps_to_no_limit() -> None:
    with pytest.raises(BrokenPart, match="suppression_limit' must be left out"):
        read(LAPLACE, parameters={"suppression_limit": 0.1})


def test_slots_are_folded_joined_or_kept_apart() -> None:
    assert read(PEOPLE, **timed(fold="week")).fold == "week"
    apart, joined = read(PEOPLE, **timed(slots="apart")), read(PEOPLE, **timed())
    assert apart.apart
    assert (joined.apart, joined.fold) == (False, None)
    assert read(PEOPLE, hierarchy={"spec": "h3:6", "time_slot_minutes": 60, "fold": "day"}).period is None
    assert read(PEOPLE, hierarchy={"spec": "h3:6", "time_slot_minutes": 60, "slots": "apart"}).period is None


@pytest.mark.parametrize(
    ("spec", "grid", "unions", "resolution"),
    [
        ("h3:6", True, False, 6),
        ("h3:6/binary", True, True, 6),
        ("quadtree:4", True, False, None),
        ("dendrogram", False, False, None),
    ],
)
def test_tiles_of_a_grid_are_known_by_their_names(
    spec: str, grid: bool, unions: bool, resolution: Any
) -> None:
    told = read(PEOPLE, hierarchy={"spec": spec})
    assert (told.grid, told.unions, told.resolution) == (grid, unions, resolution)


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"k": 10, "unit": "people"}, "unit must be one of"),
        ({"unit": "trips"}, "give k together"),
        ({"k": 1.99}, "at least 2"),
        ({"known_items": 1}, "known items"),
        ({"k": 2, "known_items": 0}, "known items"),
        ({"diversity": {"tiles": 1}}, "l must be"),
        ({"diversity": {"zones": 2}}, "l must be"),
        ({"closeness": 0}, "t is a share"),
        ({"closeness": 1}, "t is a share"),
        ({"parts": {"dominance": 1}}, "largest share"),
        ({"parts": {"dominance": 0}}, "largest share"),
        ({"parts": {"p-percent": 0}}, "at most 100"),
        ({"parts": {"p-percent": 100.5}}, "at most 100"),
    ],
)
def test_an_order_that_means_nothing_is_refused(order: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        AuditRequest(**order)


def test_the_least_that_may_be_ordered() -> None:
    order = AuditRequest(k=2, known_items=1, diversity={"tiles": 2, "places": 2}, closeness=0.001)
    assert order.thresholds("travellers") == {"travellers": 2}
    assert AuditRequest(k=2, unit="population").thresholds("travellers") == {"population": 2}
    assert AuditRequest(closeness=0.999, diversity={"tiles": 2}).thresholds("trips") == {}
    check_ordered({"dominance": 0.999, "p-percent": 100})
    check_ordered({"dominance": 0.001, "p-percent": 0.5})


def test_weights_reach_a_threshold_up_to_what_sums_lose() -> None:
    assert least("population", 5000) == 5000 * (1 - TOLERANCE) < 5000 == least("trips", 5000)


def test_what_is_promised_must_be_as_strict_as_what_was_ordered() -> None:
    half, within = read_rule(SHARE), read_rule(WITHIN)
    assert weaker([half, within], {"dominance": 0.5, "p-percent": 10}) is None
    assert weaker([half, within], {"dominance": 0.49, "p-percent": 10}) is not None
    assert weaker([half, within], {"dominance": 0.5, "p-percent": 11}) is not None
    assert weaker([within], {"p-percent": 10.05}) is not None
    assert weaker([half, within], {"dominance": 0.6, "p-percent": 9}) is None
    assert weaker([within], {"dominance": 0.5}) is not None
    assert weaker([half], {"p-percent": 10}) is not None
    looser = read_rule({**SHARE, "share": 0.6}), read_rule({**WITHIN, "p": 5})
    assert weaker([half, looser[0]], {"dominance": 0.5}) is not None
    assert weaker([within, looser[1]], {"p-percent": 10}) is not None


def holds(sql: str) -> bool:
    return bool(duckdb.sql(f"select {sql}").fetchall()[0][0])


@pytest.mark.parametrize(
    ("rule", "volume", "total", "first", "second", "broken"),
    [
        (SHARE, "trips", 10, 5, 1, False),
        (SHARE, "trips", 10, 6, 1, True),
        (SHARE, "population", 10.0, 5.0 * (1 + TOLERANCE / 2), 1.0, False),
        (SHARE, "population", 10.0, 5.0 * (1 + 4 * TOLERANCE), 1.0, True),
        (WITHIN, "trips", 31, 20, 9, False),
        (WITHIN, "trips", 30, 20, 9, True),
        (WITHIN, "trips", 22, 20, "null", False),
        (WITHIN, "trips", 21, 20, "null", True),
        (WITHIN, "population", 31.0, 20.0, 9.0 + 1e-8, False),
        (WITHIN, "population", 31.0, 20.0, 9.0 + 1e-6 + 1, True),
        (WITHIN, "trips", 31, "null", 9, True),
    ],
)
def test_one_travellers_part_of_a_flow(
    rule: dict[str, Any], volume: str, total: Any, first: Any, second: Any, broken: bool
) -> None:
    assert holds(read_rule(rule).broken(str(total), str(first), str(second), volume)) == broken


def test_how_often_one_id_makes_half_is_told_in_three_words() -> None:
    told = {n: said_of_halves(20, n) for n in (1, 2, 10, 11)}
    assert "fewer than one in ten" in told[1]
    assert "one in ten to one in two" in told[2] == told[10]
    assert "more than one in two" in told[11]
    assert "fewer than" in said_of_halves(21, 2)
    assert said_of_halves(19, 1).startswith("not told")


def test_what_is_wrong_with_parts_is_said_in_percent() -> None:
    assert in_words(read_rule(SHARE), "3 flows") == "one traveller has more than 50 % of 3 flows"
    assert "within 10 % by another one" in in_words(read_rule(WITHIN), "3 flows")


@pytest.mark.parametrize(
    ("unit", "step", "told", "recount", "wrong"),
    [
        ("trips", None, 5, 5, False),
        ("trips", None, 5, 6, True),
        ("trips", None, "null", 5, True),
        ("population", None, 5, 5.5, False),
        ("population", None, 5, 5.51, True),
        ("population", None, 5, 4.49, True),
        ("population", None, "null", 4.49, True),
        ("trips", 10, 20, 20, False),
        ("trips", 10, 20, 29, False),
        ("trips", 10, 20, 30, True),
        ("trips", 10, 20, 19, True),
        ("trips", 10, 21, 25, True),
        ("trips", 10, 0, 5, True),
        ("trips", 10, 10, 10, False),
        ("trips", 10, "null", 10, True),
        ("population", 10, 20, 20 * (1 - 5e-10), False),
        ("population", 10, 20, 20 * (1 - 5e-9), True),
        ("population", 10, 20, 30 * (1 + 5e-10), False),
        ("population", 10, 20, 30 * (1 + 5e-9), True),
    ],
)
def test_a_published_number_is_what_comes_of_the_recount(
    unit: str, step: int | None, told: Any, recount: Any, wrong: bool
) -> None:
    assert holds(differs(f"({told})", f"({recount!r})", unit, step=step, base=10.0)) == wrong


def privacy(**other: Any) -> Privacy:
    told = {"epsilon": 1.0, "delta": 1e-6, "unit": "traveller", "contributions": 10, "noise_scale": 10.0}
    return Privacy(**{**told, "noise": "Laplace", "threshold": 156, **other})


def tail(z: int, scale: float) -> Iterator[float]:
    """Yield the chances of discrete Laplace noise of z and more, one by one."""
    q = math.exp(-1 / scale)
    for n in range(z, z + 4000):
        yield (1 - q) / (1 + q) * q ** abs(n)


@pytest.mark.parametrize(
    ("scale", "each", "threshold"), [(2.0, 3, 5), (2.0, 3, 4.5), (1.0, 4, 3), (3.0, 2, 2)]
)
def test_what_one_person_shows_is_the_worse_of_one_pair_and_of_many(
    scale: float, each: int, threshold: float
) -> None:
    need = math.ceil(threshold)
    together = math.fsum(tail(need - each, scale))
    apart = 1 - (1 - math.fsum(tail(need - 1, scale))) ** each
    told = privacy(noise_scale=scale, contributions=each, threshold=threshold)
    assert math.isclose(shown_by_one(told), max(together, apart), rel_tol=1e-9)
    assert shown_by_one(privacy(noise_scale=1e-3, contributions=1, threshold=1)) == 1.0
    assert shown_by_one(privacy(noise_scale=0.03, contributions=1, threshold=1)) < 1.0


def test_the_stated_noise_is_enough_and_a_little_less_is_not() -> None:
    assert lacks(privacy()) is None
    assert lacks(privacy(noise_scale=10 * (1 - 5e-10))) is None
    assert "noise is too small" in (lacks(privacy(noise_scale=10 * (1 - 5e-9))) or "")
    assert "threshold is too low" in (lacks(privacy(threshold=155)) or "")
    worst = shown_by_one(privacy())
    assert lacks(privacy(delta=worst * (1 - 5e-10))) is None
    assert lacks(privacy(delta=worst * (1 - 5e-9))) is not None
    assert lacks(privacy(delta=0.0, threshold=1)) is None


def test_the_stated_rho_is_enough_and_a_little_less_is_not() -> None:
    proven = concentrated_delta(0.02, 1.0)
    told = {"noise": "Gaussian", "rho": 0.02, "heights": 2, "contributions": 1, "noise_scale": 50**0.5}
    assert lacks(privacy(**told, delta=proven)) is None
    assert lacks(privacy(**told, delta=proven * (1 - 5e-7))) is None
    assert "rho is too large" in (lacks(privacy(**told, delta=proven * (1 - 5e-6))) or "")
    two = {**told, "contributions": 2, "noise_scale": 200**0.5 + 1e-9}
    assert lacks(privacy(**two, delta=proven)) is None
    assert lacks(privacy(**{**two, "noise_scale": 14.14}, delta=proven)) is not None
    for less in ({"heights": 3}, {"contributions": 2}, {"noise_scale": 7.07}, {"rho": 0.0199}):
        assert "small for the stated rho" in (lacks(privacy(**{**told, **less}, delta=proven)) or "")


@pytest.mark.parametrize(("rho", "epsilon"), [(0.02, 1.0), (0.1, 2.0), (0.5, 3.0)])
def test_the_best_order_proves_the_smallest_delta(rho: float, epsilon: float) -> None:
    def proven(a: float) -> float:
        return math.exp((a - 1) * (a * rho - epsilon)) * (1 - 1 / a) ** a / (a - 1)

    best = min(proven(1 + step / 100) for step in range(1, 3000))
    assert best * (1 - 1e-4) < concentrated_delta(rho, epsilon) <= min(best, 1.0)


def test_words_on_noise_give_its_numbers() -> None:
    assert read_privacy(LAPLACE).figures == "(epsilon 1, delta 1e-06, at most 10 trips each)"
    assert (read_privacy(LAPLACE).rho, read_privacy(LAPLACE).heights) == (0.0, 1)
    assert read_privacy({**LAPLACE, "noise_scale": 0.5}).noise_scale == 0.5
    assert read_privacy(GAUSSIAN).figures == "(epsilon 1, delta 1e-06)"
    assert read_privacy({**LAPLACE, "delta": 0, "contributions": 1200}).figures == (
        "(epsilon 1, at most 1,200 trips each)"
    )
    told = read_privacy({**GAUSSIAN, "heights": 3, "study_area": "a"})
    assert (told.noise, told.rho, told.heights, told.study_area, told.threshold) == (
        "Gaussian",
        0.02,
        3,
        "a",
        1,
    )


def scaled(**other: Any) -> Privacy:
    told = {"epsilon": 3.0, "delta": 1e-3, "unit": "traveller", "contributions": 2, "noise": "Gaussian"}
    told |= {"noise_scale": 10.0, "rho": 0.04, "heights": 1, "norms": (2.0,), "multipliers": (5.0, 5.0)}
    return Privacy(**{**told, **other})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        ({"rho": 0.04 * (1 - 1e-10)}, None),
        ({"rho": 0.04 * (1 - 1e-8)}, "too small for the stated rho"),
        ({"multipliers": (4.99, 5.0)}, "too small for the stated rho"),
        ({"noise_scale": 10.0 * (1 - 1e-10)}, None),
        ({"noise_scale": 10.0 * (1 - 1e-8)}, "too small for the stated norms"),
        # The finest height is the last one, of norms and of draws.
        ({"multipliers": (5.0, 5.1)}, "too small for the stated norms"),
        ({"multipliers": (5.1, 5.0)}, None),
        ({"norms": (1.0, 2.0), "heights": 2}, None),
        ({"norms": (2.0, 1.0), "heights": 2}, None),
        ({"norms": (3.0, 1.0), "heights": 2}, "longer than the stated contributions"),
        ({"norms": (2.0 * (1 + 1e-8), 1.0), "heights": 2}, "longer than the stated contributions"),
        ({"norms": (3.0, 1.0), "heights": 2, "contributions": None}, None),
        ({"epsilon": 0.1}, "too large for the stated epsilon and delta"),
    ],
)
def test_scaled_travellers_have_the_noise_that_is_stated(changes: Any, words: str | None) -> None:
    found = lacks(scaled(**changes))
    assert found is None if words is None else words in str(found)
