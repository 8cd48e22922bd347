"""What the command says of its certificate where there is little to choose; the audit knows it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from worlds.trips import Row, some_trips, write_csv

BEST = "It is proven to be the best possible for this data, k and limit."


def trips_between(places: int) -> list[Row]:
    """Return two trips each of twenty people, between so many places side by side."""
    rows = some_trips(40, people=40)
    for number, row in enumerate(rows):
        row["person_id"] = f"p{number // 2}"
        row["start_lat"], row["start_lon"] = f"{52.5 + 0.01 * (number % places)}", "13.4"
        row["end_lat"], row["end_lon"] = f"{52.5 + 0.01 * (number // 2 % places)}", "13.41"
    return rows


EDGES = {
    "one tile an axis": (1, ["--k", "10"]),
    "a k that only the root meets": (7, ["--k", "20", "--suppress", "0"]),
    "a hierarchy of depth one": (
        7,
        ["--k", "20", "--suppress", "0", "--hierarchy", "quadtree:1", "--area", "52,13,53,14"],
    ),
}


@pytest.mark.parametrize("effort", [[], ["--certify", "0"], ["--certify", "1s"]])
@pytest.mark.parametrize("case", EDGES)
def test_it_says_what_it_is(tripcloak: Any, tmp_path: Path, case: str, effort: list[str]) -> None:
    places, options = EDGES[case]
    trips, out = write_csv(tmp_path / "trips.csv", trips_between(places)), tmp_path / "out"
    told = tripcloak("anonymise", trips, *options, *effort, "--out", out)
    assert (told.code, told.err) == (0, "")
    said = " ".join(told.out.replace("│", " ").split())
    assert BEST in said
    assert ("each problem by itself" in said) == ("0" in effort)
    assert tripcloak("audit", out, "--against", trips).code == 0


@pytest.mark.parametrize("time", ["-1s", "soon", "nan"])
def test_a_time_that_is_none_is_refused(tripcloak: Any, tmp_path: Path, time: str) -> None:
    trips = write_csv(tmp_path / "trips.csv", some_trips(40))
    told = tripcloak("anonymise", trips, "--certify", time, "--out", tmp_path / "out")
    assert told.code == 2
    assert "--certify takes a time such as 60s or 5min" in told.words
