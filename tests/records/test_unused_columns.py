"""Columns that nothing is taken from are named, so that nobody wonders what became of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tripcloak.cli.screen import taken_columns
from tripcloak.flows.describe import describe
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.engine import connect
from tripcloak.records.opening import open_rows
from tripcloak.records.source import TripSource
from tripcloak.trajectories.reading.reading import describe_fixes
from tripcloak.trajectories.reading.source import TrajectorySource

TRIPS = "user_id,o_lat,o_lon,d_lat,d_lon,Fee,mood,city\n" + "".join(
    f"u{n},48.8{n % 5},2.3,48.86,2.36,3,fine,Paris\n" for n in range(12)
)


@pytest.mark.parametrize(
    ("options", "unused"),
    [
        ({}, ("Fee", "mood", "city")),
        ({"where": "CITY = 'Paris'"}, ("Fee", "mood")),
        ({"attributes": ("mood",)}, ("Fee", "city")),
        ({"columns": {"weight": "Fee"}}, ("mood", "city")),
        ({"columns": {"person": "none"}}, ("user_id", "Fee", "mood", "city")),
    ],
)
def test_of_trips(tmp_path: Path, options: dict[str, Any], unused: tuple[str, ...]) -> None:
    (tmp_path / "trips.csv").write_text(TRIPS)
    source = TripSource(paths=(str(tmp_path / "trips.csv"),), **options)
    found = describe(source, Zoning(spec="h3:8"))
    assert found.unused == unused
    assert found.to_dict()["unused"] == unused


def test_of_a_preset_what_it_derives_from_is_used(tmp_path: Path) -> None:
    """Whole numbers of trips are rounded from another column."""
    header = "fecha|periodo|origen|destino|distancia|viajes|viajes_km"
    (tmp_path / "trips.csv").write_text(f"{header}\n20220201|08|01001|01002|2-10|12.5|99\n")
    with connect() as con:
        opened = open_rows(con, TripSource(paths=(str(tmp_path / "trips.csv"),), preset="mitma"))
    assert opened.unused == ("fecha", "periodo", "distancia", "viajes_km")


def test_of_calls_the_base_station_is_used(tmp_path: Path) -> None:
    (tmp_path / "stations.csv").write_text("antenna_id,lat,lon\na,48.8,2.3\nb,48.9,2.4\n")
    calls = "".join(f"u{n % 9},2024-05-01 0{n % 9}:00,{'ab'[n % 2]},4G\n" for n in range(40))
    (tmp_path / "calls.csv").write_text(f"user_id,timestamp,antenna_id,network\n{calls}")
    source = TrajectorySource(paths=(str(tmp_path / "calls.csv"),), stations=str(tmp_path / "stations.csv"))
    assert describe_fixes(source).unused == ("network",)


def test_names_are_told_below_the_table_and_never_what_looks_like_data() -> None:
    told = taken_columns({}, {}, ("Fee", "mood"))
    assert told[1] == "Columns that are not used: Fee, mood."
    assert taken_columns({}, {}, ("p17", "48.8566"))[1].endswith("2 columns with names that look like data.")
    assert len(taken_columns({}, {}, ())) == 1
