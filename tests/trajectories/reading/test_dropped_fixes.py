"""Dropped fixes that can be placed are remembered, wherever somebody's box could hold them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tripcloak.trajectories.reading import read_trajectories
from worlds.fix_lines import ReadLines, fix, walk

WIDE = [fix("w", -600, 47.5, 1.0), fix("w", 7200, 50.5, 4.0)]
GOOD = [*walk("a"), *walk("b"), *WIDE]
AREA = (47.0, 0.5, 51.0, 4.5)


def lost(reading) -> list[tuple[str, int]]:
    """Return who lost something, and how many seconds after noon (NOON is a whole step)."""
    told, grid = reading.trajectories.dropped, reading.trajectories.grid
    when = grid.times(told.t) - grid.times(reading.trajectories.t[reading.trajectories.offsets[0] : 1])[0]
    return list(zip(reading.trajectories.users[told.owner].tolist(), when.tolist(), strict=True))


JUMP = fix("a", 60, 50.0, 3.0)


@pytest.mark.parametrize(
    ("bad", "options"),
    [(JUMP, {}), (fix("a", 60, 3.0, 50.0), {"box": AREA})],
    ids=["a jump", "swapped, where it was meant"],
)
def test_a_dropped_fix_that_can_be_placed_is_remembered(bad, options, read: ReadLines):
    assert lost(read([*GOOD, bad], **options)) == [("a", 60)]


def test_a_fix_beside_the_box_may_lie_within_the_extent_in_metres(read: ReadLines):
    """A degree of longitude is shorter in the north: what is east of the box there is not in metres."""
    people = [*walk("a"), *walk("b"), fix("w", -600, 47.5, 3.9), fix("w", 7200, 50.5, 1.0)]
    for lat, expected in ((50.4, [("a", 60)]), (47.6, [])):
        reading = read([*people, fix("a", 60, lat, 3.95)], box=(47.0, 0.5, 51.0, 3.9))
        assert reading.cleaning.dropped == {"outside_box": 1}
        assert lost(reading) == expected


def test_a_fix_before_the_window_may_lie_in_the_step_in_which_it_begins(read: ReadLines):
    people = [fix(who, 40 + 300 * n, 48.85 + n / 100) for who in "ab" for n in range(4)]
    inside, outside = fix("a", 20, 48.86), fix("a", -5, 48.86)
    reading = read([*people, inside, outside], since="2024-05-01T12:00:30")
    assert reading.cleaning.dropped == {"outside_window": 2}
    assert [when for _, when in lost(reading)] == [0]


@pytest.mark.parametrize(
    "bad",
    [
        fix("a", 60, ""),
        "a,,48.85,2.36",
        fix("", 60, 48.86),
        fix("a", 60, 48.86, 200),
        fix("a", 60, 0, 0),
        fix("a", 60, 35.6, 139.7),
        walk("a")[1],
        fix("a", 301, 48.851001),
        fix("gone", 60, 0, 0),
    ],
    ids=["no place", "no time", "nobody", "nowhere", "in no box", "beyond", "twice", "same step", "gone"],
)
def test_what_cannot_be_placed_or_adds_nothing_is_not(bad, read: ReadLines):
    assert lost(read([*GOOD, bad])) == []


def test_the_same_is_remembered_when_read_again_and_the_digest_knows_it(read: ReadLines, tmp_path: Path):
    reading = read([*GOOD, JUMP])
    again = read_trajectories(reading.source).trajectories
    assert again.digest == reading.trajectories.digest
    assert read(GOOD).trajectories.digest != reading.trajectories.digest
    both = reading.trajectories.take(np.array([1, 0, 0]))
    assert both.dropped.owner.tolist() == [1, 2]
