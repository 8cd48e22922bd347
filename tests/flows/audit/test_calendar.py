"""The auditor's calendar against the hierarchy of time: two makers, the same zones."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows.audit import calendar
from tripcloak.flows.audit.raw import _slot
from tripcloak.hierarchy import time_hierarchy
from tripcloak.hierarchy.time import folded_hierarchy

SLOTS = (1, 5, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1440)


@given(
    minutes=st.sampled_from(SLOTS),
    days=st.lists(st.integers(-300_000, 2_000_000), min_size=1, max_size=6),
    into_day=st.lists(st.integers(0, 1439), min_size=6, max_size=6),
)
def test_both_know_the_same_zones_above_every_slot(
    minutes: int, days: list[int], into_day: list[int]
) -> None:
    moments = [day * 1440 + minute for day, minute in zip(days, into_day, strict=False)]
    tree = time_hierarchy(np.array(moments) // minutes, minutes)
    ids = tree.zones.ids
    first, last = (calendar.span(str(ids[tile]), minutes) for tile in (0, tree.n_tiles - 1))
    assert first is not None
    assert last is not None
    weeks = calendar.weeks_of(first.begin.date(), last.begin.date())
    for tile in range(tree.n_tiles):
        above, zone = [], tile
        while zone >= 0:
            above.append(str(ids[zone]))
            zone = tree.parent[zone]
        # A single week is the root of its tree; the calendar goes on to all time.
        assert list(calendar.above(ids[tile], minutes))[: len(above)] == above
        for name in ids:
            assert calendar.contains(name, ids[tile], minutes) == (name in above)
    for row, name in enumerate(ids):
        expected = (tree.zones.height[row], tree.zones.tiles[row])
        assert calendar.height_and_tiles(name, minutes, weeks) == expected


@pytest.mark.parametrize(
    ("zone", "slot"),
    [
        ("2026-01-05T08:10", 15),
        ("2026-01-05T08:00", 60),
        ("2026-01-05T08", 120),
        ("2026-01-05/morning", 360),
        ("2026-01-05/morning", 240),
        ("2026-01-05/noon", 60),
        ("2026-02-30", 60),
        ("2026-W54", 60),
        ("2026-01-05T24", 60),
        ("2026-01-05 08", 60),
        ("", 60),
    ],
)
def test_other_texts_name_no_time(zone: str, slot: int) -> None:
    assert calendar.span(zone, slot) is None
    assert calendar.height_and_tiles(zone, slot, 1) is None
    assert list(calendar.above(zone, slot)) == []


@pytest.mark.parametrize("fold", ["day", "week", "2weeks"])
@pytest.mark.parametrize("minutes", [5, 15, 60, 240, 360, 720, 1440])
def test_folded_times_are_those_of_the_hierarchy(fold: str, minutes: int) -> None:
    """The calendar writes folded times down on its own; both must name, stack and size them alike."""
    tree = folded_hierarchy(np.arange(calendar.FOLDS[fold] // minutes), minutes, fold)
    ids = tree.zones.ids.tolist()
    for row, zone in enumerate(ids):
        found = calendar.height_and_tiles(zone, minutes, 0, fold)
        assert found == (tree.zones.height[row], tree.zones.tiles[row])
        line = [row]
        while tree.parent[line[-1]] >= 0:
            line.append(int(tree.parent[line[-1]]))
        assert list(calendar.above(zone, minutes, fold)) == [ids[above] for above in line]
    assert calendar.span("2026-01-05T08", minutes, fold) is None


@pytest.mark.parametrize("minutes", SLOTS)
def test_raw_times_lie_in_the_slots_that_the_calendar_names(minutes: int) -> None:
    """By the clock of the place, an hour ahead of the world's in winter and two in summer."""
    into = {
        "2026-01-05 07:38:00+00": (datetime(2026, 1, 5), 518),
        "2026-07-06 22:00:00+00": (datetime(2026, 7, 7), 0),
    }
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        for written, (day, minute) in into.items():
            slot = _slot(minutes, "Europe/Paris", None, None)
            row = f"(select timestamptz '{written}' as start_time)"
            ((found,),) = con.execute(f"select {slot} from {row}").fetchall()
            begin = day + timedelta(minutes=minute // minutes * minutes)
            assert found == calendar.name(calendar.Span(begin, minutes), minutes)


@pytest.mark.parametrize(
    ("written", "there"),
    [
        ("2026-01-04 22:59:59+00", False),
        ("2026-01-04 23:00:00+00", True),
        ("2026-01-05 22:59:59+00", True),
        ("2026-01-05 23:00:00+00", False),
    ],
)
def test_a_period_ends_with_its_last_day_by_the_clock_of_the_place(written: str, there: bool) -> None:
    period = (date(2026, 1, 5), date(2026, 1, 5))
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        slot = _slot(1440, "Europe/Paris", None, period)
        row = f"(select timestamptz '{written}' as start_time)"
        ((found,),) = con.execute(f"select {slot} from {row}").fetchall()
    assert found == ("2026-01-05" if there else None)
