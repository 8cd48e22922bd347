"""Trips are parted by a silence that fits how often fixes come, and it is said which and why."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import tripcloak as tc
from worlds.fleets import Fix, drives, fixes_csv, fleet
from worlds.trip_readings import ReadPaths, WriteText

ENDS = "person, epoch(start_time), epoch(end_time), o_lat, o_lon, d_lat, d_lon"
SLOW = [300] * 12


def test_fixes_five_minutes_apart_are_not_parted_at_three(write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text("a.csv", fixes_csv(fleet(SLOW))))
    assert result.canonical.silence == 900
    assert (result.report.kept, result.report.dropped) == (24, {})
    assert any(
        "5 minutes apart or less, so a silence of more than 15" in note for note in result.canonical.notes
    )
    at_three = read(write_text("b.csv", fixes_csv(fleet(SLOW))), silence=180)
    assert (at_three.report.kept, at_three.report.dropped) == (0, {"single_fix": 96})


@pytest.mark.parametrize(
    ("paces", "silence"),
    [
        ([300] * 9, 180),
        ([300] * 10, 900),
        ([60] * 10, 180),
        ([61] * 10, 300),
        ([100] * 10, 300),
        ([101] * 10, 600),
        ([600] * 10, 1800),
        ([601] * 10, 3600),
        ([60] * 5 + [300] * 5, 180),
        ([60] * 5 + [300] * 6, 900),
        ([60] * 10 + [5] * 1 + [7200] * 10, 180),
    ],
)
def test_the_silence_is_that_of_a_typical_id_among_ten(
    paces: list[int], silence: float, write_text: WriteText, read: ReadPaths
) -> None:
    assert read(write_text("a.csv", fixes_csv(fleet(paces)))).canonical.silence == silence


def test_one_id_with_very_many_fixes_does_not_decide(write_text: WriteText, read: ReadPaths) -> None:
    fixes = [*fleet(SLOW), *drives("busy", 1, fixes=3000)]
    assert read(write_text("a.csv", fixes_csv(fixes))).canonical.silence == 900


def test_fixes_of_one_instant_are_no_interval(write_text: WriteText, read: ReadPaths) -> None:
    twice = [fix for fix in fleet(SLOW) for _ in range(3)]
    assert read(write_text("a.csv", fixes_csv(twice))).canonical.silence == 900


def test_neither_order_nor_files_nor_bad_fixes_matter(write_text: WriteText, read: ReadPaths) -> None:
    fixes: list[Fix] = [*fleet([60] * 5 + [300] * 6), *(("v0", 0, 0.0, 0.0) for _ in range(50))]
    whole = read(write_text("a.csv", fixes_csv(fixes)))
    random.Random(1).shuffle(fixes)
    parts = [write_text(f"p{n}.csv", fixes_csv(fixes[n::3])) for n in range(3)]
    parted = read(*parts)
    assert whole.canonical.silence == parted.canonical.silence == 900
    assert whole.rows(ENDS) == parted.rows(ENDS) != []


def test_a_silence_that_is_said_is_taken_without_a_word(write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text("a.csv", fixes_csv(fleet(SLOW))), silence=300)
    assert result.canonical.silence == 300
    assert [note for note in result.canonical.notes if "silence" in note] == []


def test_the_trips_of_a_found_silence_are_those_of_a_said_one(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("a.csv", fixes_csv(fleet([90, 250, 700, 300] * 4, drives_each=3, pause=800)))
    found = read(path)
    rows = found.rows(ENDS, kept=False)
    assert rows == read(path, silence=found.canonical.silence).rows(ENDS, kept=False) != []


@pytest.mark.parametrize(("lone", "told"), [(12, False), (13, True)])
def test_it_is_said_when_most_fixes_end_in_nothing(
    lone: int, told: bool, write_text: WriteText, read: ReadPaths
) -> None:
    fixes = [*drives("a", 60, fixes=12), *(fix for n in range(lone) for fix in drives(f"l{n}", 60, fixes=1))]
    notes = read(write_text("a.csv", fixes_csv(fixes))).canonical.notes
    assert any("most of the fixes (52%) are part of no trip" in note for note in notes) is told


def test_calls_and_check_ins_are_sent_to_the_stays_of_people(write_text: WriteText, read: ReadPaths) -> None:
    notes = read(write_text("a.csv", fixes_csv(fleet([40_000] * 10)))).canonical.notes
    (note,) = [note for note in notes if "no trip" in note]
    assert "tripcloak trajectories trips" in note


def test_a_silence_parts_no_seats(write_text: WriteText, read: ReadPaths) -> None:
    lines = [f"{lat} {lon} 1 {at}" for _, at, lat, lon in drives("a", 400)]
    result = read(write_text("new_a.txt", "\n".join(lines)), preset="cabspotting")
    assert result.canonical.silence is None
    assert result.report.kept == 1


def test_the_audit_reads_by_the_silence_that_was_found(tmp_path: Path) -> None:
    path, out = tmp_path / "fixes.csv", tmp_path / "out"
    path.write_text(fixes_csv(fleet(SLOW)))
    tc.anonymise(path, method="odkanon", k=5, hierarchy="h3:7").save(out)
    assert json.loads((out / "private" / "run.json").read_text())["source"]["silence"] == 900
    assert tc.audit(out, path).safe


def test_no_silence_is_found_from_the_data_before_noise_hides_everybody(tmp_path: Path) -> None:
    path = tmp_path / "fixes.csv"
    path.write_text(fixes_csv(fleet(SLOW)))
    # Parted at three minutes, nothing is left of these fixes.
    with pytest.raises(tc.InputError, match="single fix"):
        tc.anonymise(path, method="laplace", epsilon=1.0, hierarchy="h3:7")
