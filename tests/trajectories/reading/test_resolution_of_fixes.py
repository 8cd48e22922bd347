"""Resolution is declared, or found where the fixes show it, and never finer than a second and a metre."""

from __future__ import annotations

import numpy as np
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.records.cleaning import CleaningReport
from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.reading import Tracks, TrajectorySource
from tripcloak.trajectories.reading.sampling import find_metres, find_seconds, start_of
from worlds.fix_lines import NOON, ReadLines, fix


@pytest.mark.parametrize("found", [60, 300, 900, 3600, 86_400])
def test_times_on_whole_steps(found: int) -> None:
    random = np.random.default_rng(1)
    instant = random.integers(0, 50_000, 5000) * found * 10**6
    assert find_seconds(instant) == found
    assert find_seconds(instant + 7) == 60
    assert find_seconds(instant[:500]) == 60, "too few fixes to tell"
    stray = instant.copy()
    stray[:3] += 1_000_000
    assert find_seconds(stray) == found
    stray[:50] += 1_000_000
    assert find_seconds(stray) == 60


def test_places_that_come_again_show_how_far_apart_they_are() -> None:
    random = np.random.default_rng(2)
    for apart, found in ((50.0, 100), (100.0, 100), (250.0, 200), (700.0, 500), (1000.0, 1000)):
        column, row = random.integers(0, 20, (2, 20_000))
        assert find_metres(column * apart, row * apart) == found
    anywhere = random.uniform(0, 50_000, (2, 20_000))
    assert find_metres(*anywhere) == 100
    venues = random.uniform(0, 5_000, (2, 400))[:, random.integers(0, 400, 20_000)]
    assert find_metres(*venues) == 100
    few = random.integers(0, 5, (2, 20_000)) * 5000.0
    assert find_metres(*few) == 100, "too few places to tell"


def test_what_was_found_is_noted_and_what_was_declared_is_used(read: ReadLines) -> None:
    lines = [fix(user, 900 * step, 48.85 + 0.001 * step) for user in range(40) for step in range(26)]
    reading = read(lines)
    assert reading.trajectories.grid.seconds == 900
    assert any("multiples of 900 seconds" in note for note in reading.notes)
    assert (reading.source.seconds, reading.source.metres) == (900, 100)
    declared = read(lines, seconds=30, metres=10)
    assert (declared.trajectories.grid.seconds, declared.trajectories.grid.metres) == (30, 10)
    assert not any("multiples" in note for note in declared.notes)
    assert declared.trajectories.t[0] == NOON // 30


@pytest.mark.parametrize("step", [{"seconds": 0}, {"metres": 0}, {"seconds": -5}])
def test_nothing_is_finer_than_a_second_and_a_metre(step: dict[str, int]) -> None:
    with pytest.raises(InputError, match="one second or more"):
        TrajectorySource(paths=("a.csv",), **step)


def test_steps_that_are_too_many_since_1970_are_counted_from_later() -> None:
    def track(last: int) -> Tracks:
        column = np.zeros(1)
        return Tracks(
            offsets=np.array([0, 1]),
            instant=np.array([last * 10**6]),
            lat=column,
            lon=column,
            users=np.array(["a"]),
            cleaning=CleaningReport(kept=1),
            notes=[],
            now=0,
        )

    assert start_of(track(2**31 - 2), 1) == 0
    assert start_of(track(2**33), 60) == 0
    assert start_of(track(2**31 + 5), 1) == 2_000_000_000
    assert start_of(track(2**31 + 5), 7) == 0
    assert Grid(seconds=1, start=2_000_000_000).steps(seconds=[2**31 + 5], x=[0], y=[0])[0] == 147_483_653
