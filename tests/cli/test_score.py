"""tripcloak score nist, of tables in the contest's schema and of a release."""

from __future__ import annotations

from pathlib import Path

import pytest

HEAD = "epsilon,taxi_id,shift,pickup_community_area,dropoff_community_area,fare\n"
TRUTH = HEAD + "".join(f"1,{1000000 + n},{n % 3},{n % 2 + 1},8,{n}\n" for n in range(30))


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "truth.csv"
    path.write_text(TRUTH)
    return path


def test_the_truth_itself_has_a_thousand(tripcloak, truth):
    told = tripcloak("score", "nist", truth, "--against", truth, "--subsamples", "10%,100%", "--json")
    assert told.code == 0
    rows = {row["name"]: row["score"] for row in told.json["rows"]}
    assert rows["epsilon 1"] == rows["100 %"] == told.json["score"] == 1000
    assert rows["10 %"] < 1000
    assert told.json["rows"][0]["columns"] == ["dropoff_community_area", "fare"]


def test_a_person_reads_a_table_and_what_was_left_out(tripcloak, truth):
    told = tripcloak("score", "nist", truth, "--against", truth, "--subsamples", "")
    assert told.code == 0
    assert "1000.0" in told.out
    said = " ".join(told.out.split())
    assert "left out of the marginals, since not both tables have them: company_id, payment_type" in said


def test_a_release_is_scored_against_its_trips(tripcloak, trips, tmp_path):
    folder = tmp_path / "out"
    assert tripcloak("anonymise", trips, "--k", "2", "--out", folder, "--json").code == 0
    told = tripcloak("score", "nist", folder, "--against", trips, "--areas", "h3:5", "--json")
    assert told.code == 0, told.err
    assert [row["name"] for row in told.json["rows"]] == ["release", "10 %", "40 %", "70 %"]
