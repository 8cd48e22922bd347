"""What a manifest may state, read without any release: the last that makes sense, and the next step."""

from __future__ import annotations

from typing import Any

import pytest

from tripcloak.flows.audit import cells
from tripcloak.flows.audit.promise import read_promise
from tripcloak.flows.audit.rules.zones import _true_zone
from tripcloak.ground.rulebook import BrokenPart

PEOPLE = {"kind": "k-anonymity", "k": 3, "unit": "travellers", "id_is": "person"}
POPULATION = {"kind": "k-anonymity", "k": 3, "unit": "population"}
DAY = ["2024-01-01", "2024-01-01"]


def read(promise: dict[str, Any] = PEOPLE, hierarchy: dict[str, Any] | None = None, **more: Any) -> Any:
    facts = {
        "promise": {**promise, "sentence": "at least 3 people"},
        "homogeneous": True,
        "hierarchy": {"spec": "h3:6", **(hierarchy or {})},
        "parameters": {"suppression_limit": 0.1},
        "columns": ["trips", "travellers"],
        "volume": "trips",
    }
    return read_promise({**facts, **more})


def slotted(**entries: Any) -> dict[str, Any]:
    return {"time_slot_minutes": 60, "period": DAY, "timezone": "UTC", **entries}


def both(**entries: Any) -> Any:
    """Read a promise of people and of population, so that all three numbers are told."""
    return read({"kind": "all of", "promises": [PEOPLE, POPULATION]}, **entries)


@pytest.mark.parametrize(("k", "reads"), [(2, True), (1, False), (2.5, False), (2.0, True), ("2", False)])
def test_two_people_are_the_fewest_that_may_be_promised(k: Any, reads: bool) -> None:
    if reads:
        assert read({**PEOPLE, "k": k}).thresholds == {"travellers": 2}
        return
    with pytest.raises(BrokenPart):
        read({**PEOPLE, "k": k})


@pytest.mark.parametrize(
    "wrong",
    [
        {"time_slot_minutes": 60},
        slotted(period=["2024-01-02", "2024-01-01"]),
        slotted(period=["20240101", "2024-01-01"]),
        slotted(period=DAY * 2),
        slotted(timezone=1),
        slotted(timezone="Europe Paris"),
        slotted(timezone="x" * 65),
        slotted(time_slot_minutes=0),
        slotted(time_slot_minutes=-60),
        slotted(time_slot_minutes=0.5),
        slotted(time_slot_minutes=60.0),
        slotted(time_slot_minutes=2880),
        slotted(time_slot_minutes=90),
    ],
)
def test_other_slots_and_clocks_are_none(wrong: dict[str, Any]) -> None:
    with pytest.raises(BrokenPart):
        read(hierarchy=wrong)


@pytest.mark.parametrize("minutes", [1, 30, 60, 480, 1440])
@pytest.mark.parametrize("clock", ["UTC", "America/Port-au-Prince", "Etc/GMT+5", "x" * 64])
def test_slots_divide_an_hour_or_a_day(minutes: int, clock: str) -> None:
    told = read(hierarchy=slotted(time_slot_minutes=minutes, timezone=clock))
    assert (told.slot, told.timezone, len(told.period)) == (minutes, clock, 2)


def test_every_step_is_k_and_a_whole_number() -> None:
    assert both(steps={"travellers": 3, "population": 3}).told.steps == {"travellers": 3, "population": 3}
    for steps in (
        {"travellers": 3, "population": 3.0},
        {"travellers": 3},
        {"travellers": 3, "population": 2},
    ):
        with pytest.raises(BrokenPart):
            both(steps=steps)


@pytest.mark.parametrize("segment", ["sex", ["sex"], {"sex": 1}, {"sex": "f", "age": 3}])
def test_a_segment_is_a_text_by_column(segment: Any) -> None:
    assert read(segment={"sex": "f", "age": "3"}).segment == {"sex": "f", "age": "3"}
    with pytest.raises(BrokenPart):
        read(segment=segment)


@pytest.mark.parametrize(("limit", "reads"), [(0, True), (0.999999, True), (1, False), (-1e-9, False)])
def test_a_limit_is_less_than_all(limit: float, reads: bool) -> None:
    if reads:
        assert read(parameters={"suppression_limit": limit}).limit == limit
        return
    with pytest.raises(BrokenPart):
        read(parameters={"suppression_limit": limit})


@pytest.mark.parametrize("other", [None, "cells"])
@pytest.mark.parametrize("sizes", [{"origins": 1.0}, {"origins": 1.0, "destinations": 0.0}, 1.0, None])
def test_boxes_have_tiles_of_some_size(other: str | None, sizes: Any) -> None:
    grid = {"origins": 0.01, "destinations": 0.02}
    told = {
        "zone_form": "boxes",
        "tile_km2": {"origins": 0.7, "destinations": None},
        "box_grid_degrees": grid,
    }
    assert read(**told).tile_km2 == {"origin": 0.7, "destination": None}
    assert read(**told).box_grid == {"origin": 0.01, "destination": 0.02}
    for wrong in ({"tile_km2": sizes}, {"box_grid_degrees": sizes}, {"zone_form": other}):
        with pytest.raises(BrokenPart):
            read(**{**told, **wrong})


def test_where_readers_know_few_items_the_volume_alone_is_told() -> None:
    few = {"kind": "k^m-anonymity", "m": 1, "of": ["origin", "destination"], "promise": PEOPLE}
    assert read(few).columns == ("trips",)
    assert read().columns == ("trips", "travellers")
    assert read(columns=["travellers"], volume="travellers").columns == ("travellers",)


@pytest.mark.parametrize(
    ("height", "tiles", "north", "true"),
    [(1, 7, 0.0, True), (2, 7, 0.0, False), (1, 8, 0.0, False), (1, 7, 0.01, False), (1, 7, None, False)],
)
def test_a_cell_has_its_own_height_number_of_tiles_and_centre(
    height: int, tiles: int, north: float | None, true: bool
) -> None:
    stated, place = read(hierarchy={"spec": "h3:10"}), cells.centre("891fb46622fffff")
    assert place is not None
    lat = None if north is None else place[0] + north
    assert _true_zone(stated, "891fb46622fffff", height, tiles, lat, place[1]) == true
    assert not _true_zone(stated, "nowhere", height, tiles, lat, place[1])
