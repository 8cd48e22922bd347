"""Hierarchies of time against Python's own calendar."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.soundness import assert_sound
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy import time_hierarchy
from tripcloak.hierarchy.time import PARTS

EPOCH = datetime(1970, 1, 1)
LENGTHS = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440]


def slot_at(text: str, minutes: int) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(minutes=minutes)


def expected_chain(slot: int, minutes: int) -> list[tuple[str, int]]:
    """Return the zones above a slot with their numbers of slots, by the calendar."""
    start = EPOCH + timedelta(minutes=slot * minutes)
    day, (year, week, _) = start.date().isoformat(), start.isocalendar()
    levels = [
        (60, f"{day}T{start.hour:02}"),
        (360, f"{day}/{PARTS[start.hour // 6]}"),
        (1440, day),
        (10080, f"{year}-W{week:02}"),
    ]
    return [
        (name, length // minutes) for length, name in levels if length > minutes and length % minutes == 0
    ]


@settings(deadline=None)
@given(st.sampled_from(LENGTHS), st.lists(st.integers(-3_000_000, 60_000_000), min_size=1, max_size=12))
def test_every_slot_hangs_where_the_calendar_says(length: int, minutes: list[int]) -> None:
    slots = np.array(minutes) // length
    tree = time_hierarchy(slots, length)
    assert_sound(tree, grid=True, places=False)
    unique = np.unique(slots)
    assert tree.n_tiles == len(unique)
    for row, slot in enumerate(unique.tolist()):
        start = EPOCH + timedelta(minutes=slot * length)
        assert start.isoformat().startswith(str(tree.zones.ids[row]))
        up = int(tree.parent[row])
        for name, tiles in expected_chain(slot, length):
            assert (str(tree.zones.ids[up]), int(tree.zones.tiles[up])) == (name, tiles)
            up = int(tree.parent[up])
        assert up == -1 or tree.zones.ids[up] == "all time"


def test_a_new_year_inside_a_week() -> None:
    slots = [slot_at(text, 15) for text in ("2025-12-31T23:45", "2026-01-01T00:00", "2026-01-05T08:15")]
    tree = time_hierarchy(np.array(slots), 15)
    assert tree.zones.ids[:3].tolist() == ["2025-12-31T23:45", "2026-01-01T00:00", "2026-01-05T08:15"]
    assert tree.zones.ids[-3:].tolist() == ["2026-W01", "2026-W02", "all time"]
    assert tree.zones.tiles[-3:].tolist() == [672, 672, 1344]
    assert "2026-01-05/morning" in tree.zones.ids


def test_the_root_counts_the_weeks_between_too() -> None:
    slots = [slot_at(text, 60) for text in ("2026-01-05T08:00", "2026-01-26T08:00")]
    tree = time_hierarchy(np.array(slots), 60)
    assert tree.zones.tiles[tree.root] == 4 * 7 * 24


def test_one_slot_reaches_up_to_its_week() -> None:
    tree = time_hierarchy(np.array([slot_at("2026-01-05T08:15", 15)]), 15)
    assert tree.zones.ids.tolist() == [
        "2026-01-05T08:15",
        "2026-01-05T08",
        "2026-01-05/morning",
        "2026-01-05",
        "2026-W02",
    ]


@pytest.mark.parametrize(
    ("minutes", "tile"),
    [(60, "2026-01-05T06"), (360, "2026-01-05T06:00"), (240, "2026-01-05T04:00"), (1440, "2026-01-05")],
)
def test_levels_that_coincide_or_do_not_fit_are_left_out(minutes: int, tile: str) -> None:
    tree = time_hierarchy(np.array([slot_at("2026-01-05T06:00", minutes)]), minutes)
    assert tree.zones.ids[0] == tile
    heights = {60: 3, 360: 2, 240: 2, 1440: 1}
    assert tree.zones.height[tree.root] == heights[minutes]


@pytest.mark.parametrize("minutes", [0, -15, 7, 45, 90, 300, 2880])
def test_slots_that_do_not_tile_a_day_are_refused(minutes: int) -> None:
    with pytest.raises(HierarchyError, match=f"found {minutes}"):
        time_hierarchy(np.array([1]), minutes)


def test_no_slots_are_refused() -> None:
    with pytest.raises(HierarchyError, match="at least one slot"):
        time_hierarchy(np.array([], dtype=int), 15)
