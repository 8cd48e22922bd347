"""Each reason to drop a fix, its number, and what is kept with a note."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from tripcloak.trajectories.reading import TrajectorySource, read_tracks, read_trajectories
from worlds.fix_lines import HEADER, NOON, ReadLines, fix, walk

GOOD = [*walk("a"), *walk("b")]

BAD = {
    "unparsable": [fix("a", 7, "north"), "a,yesterday,48.85,2.35", "a,7"],
    "missing_person": [fix("", 7)],
    "missing_time": ["a,,48.85,2.35"],
    "bad_time": [fix("a", -NOON - 86_400), fix("a", -NOON), fix("a", time.time() - NOON + 40 * 86_400)],
    "missing_coordinate": [fix("a", 7, ""), fix("a", 7, 48.85, "nan"), fix("a", 7, "inf", 2.35)],
    "swapped": [fix("a", 7, 139.7, 35.6)],
    "out_of_range": [fix("a", 7, 48.85, 200)],
    "null_island": [fix("a", 7, 0, 0)],
    "duplicate": [GOOD[0], GOOD[7]],
    "jump": [fix("a", 7, 35.6, 139.7)],
    "repeated": [fix("a", 301, 48.851001)],
}


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_fix_is_counted_under_its_reason(reason: str, read: ReadLines) -> None:
    bad = BAD[reason]
    reading = read([*bad, *GOOD])
    assert reading.cleaning.dropped == {reason: len(bad)}
    assert (reading.cleaning.word, reading.cleaning.kept) == ("fixes", len(GOOD))
    assert reading.trajectories.n_samples == len(GOOD)
    clean = read(GOOD).trajectories
    assert np.array_equal(reading.trajectories.t, clean.t)
    assert np.array_equal(reading.trajectories.y, clean.y)


@pytest.mark.parametrize("reason", BAD)
def test_people_who_lose_more_than_a_repetition_are_counted(reason: str, read: ReadLines) -> None:
    nobody = reason in {"missing_person", "duplicate", "repeated"}
    assert read([*BAD[reason], *GOOD]).cleaning.to_dict()["people_lacking"] == (0 if nobody else 1)


def test_who_lost_fixes_is_counted_once_and_though_nothing_is_left(read: ReadLines) -> None:
    lost = [fix("a", 7, 0, 0), fix("a", 7, 35.6, 139.7), fix("c", 7, 0, 0), fix("c", 7, 48.85, 200)]
    assert read([*lost, *GOOD]).cleaning.lacking == 2
    assert read(GOOD).cleaning.lacking == 0


def test_all_reasons_together_and_in_two_files(read: ReadLines) -> None:
    bad = [line for lines in BAD.values() for line in lines]
    reading = read(bad, GOOD)
    assert reading.cleaning.dropped == {reason: len(lines) for reason, lines in BAD.items()}
    assert reading.cleaning.rows == len(bad) + len(GOOD)


def test_fixes_outside_the_box_the_polygon_and_the_window(read: ReadLines, tmp_path: Path) -> None:
    away = [*walk("a", lat=48.2), *walk("c", lat=48.2)]
    assert read([*GOOD, *away], box=(48.5, 2.0, 49.0, 3.0)).cleaning.dropped == {"outside_box": 10}
    ring = [[2, 48.5], [3, 48.5], [3, 49], [2, 49], [2, 48.5]]
    polygon = tmp_path / "area.geojson"
    polygon.write_text(f'{{"type": "Polygon", "coordinates": [{ring}]}}')
    reading = read([*GOOD, *away], polygon=str(polygon))
    assert reading.cleaning.dropped == {"outside_polygon": 10}
    assert reading.trajectories.users.tolist() == ["a", "b"]
    windowed = read(GOOD, since="2024-05-01T12:05:00", until="2024-05-01T12:20:00")
    assert windowed.cleaning.dropped == {"outside_window": 4}
    assert windowed.trajectories.lengths.tolist() == [3, 3]
    local = read(GOOD, since="2024-05-01T14:05:00", until="2024-05-01 14:20", timezone="Europe/Paris")
    assert local.cleaning.dropped == windowed.cleaning.dropped


def test_an_empty_taxi_goes_somewhere_too(tmp_path: Path) -> None:
    for cab in ("abc", "xyz"):
        lines = [f"37.75 -122.39 {second % 2} {NOON + 60 * second}" for second in range(4)]
        (tmp_path / f"new_{cab}.txt").write_text("\n".join(lines))
    reading = read_trajectories(TrajectorySource(paths=(str(tmp_path),), preset="cabspotting"))
    assert reading.trajectories.lengths.tolist() == [4, 4]
    assert reading.cleaning.dropped == {}


def test_one_instant_in_two_places_is_kept_unless_nobody_can_be_in_both(read: ReadLines) -> None:
    twice = [fix("a", 0, 48.9), fix("a", 600, 48.8)]
    reading = read([*GOOD, *twice])
    assert reading.cleaning.dropped == {}
    assert any("same person and instant" in note and "some" in note for note in reading.notes)
    assert reading.trajectories.t[0] == reading.trajectories.t[1]
    apart = read([*GOOD, fix("a", 600, 49.5)])
    assert apart.cleaning.dropped == {"jump": 1}
    assert read([*GOOD, fix("a", 600, 49.5)], max_speed=6000).cleaning.dropped == {}


def test_people_with_a_single_fix_are_kept_and_noted(read: ReadLines) -> None:
    reading = read([*GOOD, *(fix(f"single{number}") for number in range(12))])
    assert reading.trajectories.n_users == 14
    assert "12 people have a single fix; they are kept" in reading.notes


def test_time_going_backwards_is_noted_and_put_in_order(read: ReadLines) -> None:
    many = walk("a", 20)
    forth, back = read([*many, *GOOD[5:]]), read([*many[::-1], *GOOD[5:]])
    assert not any("backwards" in note for note in forth.notes)
    assert any("time goes backwards" in note and "some times" in note for note in back.notes)
    assert np.array_equal(forth.trajectories.t, back.trajectories.t)
    # People after each other are no step back, each begins anew.
    assert not any("backwards" in note for note in read([*many, *walk("b", 20)]).notes)


def test_tracks_are_the_fixes_of_the_samples(tmp_path: Path) -> None:
    path = tmp_path / "fixes.csv"
    path.write_text("\n".join([HEADER, *GOOD, GOOD[0], fix("a", 7, 35.6, 139.7), fix("b", 7, 0, 0)]))
    tracks = read_tracks(TrajectorySource(paths=(str(path),)))
    assert tracks.cleaning.dropped == {"null_island": 1, "duplicate": 1, "jump": 1}
    assert tracks.users.tolist() == ["a", "b"]
    assert tracks.owner.tolist() == [0] * 5 + [1] * 5
    assert tracks.lat[:2].tolist() == [48.85, 48.851]
    assert tracks.instant[:2].tolist() == [NOON * 10**6, (NOON + 300) * 10**6]


def test_a_sample_of_people_is_drawn_by_its_seed(read: ReadLines) -> None:
    lines = [line for user in range(40) for line in walk(user, 3)]
    first, again, other = (read(lines, sample=(10, seed)).trajectories for seed in (1, 1, 2))
    assert first.n_users == again.n_users == other.n_users == 10
    assert first.users.tolist() == again.users.tolist() != other.users.tolist()
