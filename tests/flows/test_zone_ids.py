"""A release of trips between zones by their ids, with the city's own file, and its audit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tripcloak as tc
from tripcloak.flows.checking import audit_against
from tripcloak.ground.errors import InputError
from worlds.made_files.public_rides import TAXI_ZONES

HEADER = "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,PULocationID,DOLocationID\n"


@pytest.fixture
def taxis(tmp_path: Path) -> Path:
    rides = [(43, 79), (43, 79), (56, 43), (56, 43), (79, 1), (1, 264)]
    rows = [
        f"2,2024-01-01 00:0{n}:00,2024-01-01 01:0{n}:00,{start},{end}\n"
        for n, (start, end) in enumerate(rides)
    ]
    (tmp_path / "yellow.csv").write_text(HEADER + "".join(rows))
    (tmp_path / "taxi_zones.geojson").write_text(TAXI_ZONES)
    return tmp_path


def test_the_release_keeps_how_ids_were_found_and_is_audited_by_it(taxis: Path) -> None:
    asked = {"preset": "nyc-tlc", "zones": str(taxis / "taxi_zones.geojson"), "k": 2, "suppress": 0.5}
    made = tc.anonymise(taxis / "yellow.csv", out=taxis / "out", **asked)
    assert made.facts["hierarchy"]["spec"] == "dendrogram"
    assert audit_against(taxis / "out", (str(taxis / "yellow.csv"),)).safe
    told = dict(
        zip(zip(made.flows.origin, made.flows.destination, strict=True), made.flows.trips, strict=True)
    )
    assert told["43", "79"] == 2


def test_ids_saved_as_decimals_are_read_and_audited(taxis: Path) -> None:
    text = (taxis / "yellow.csv").read_text()
    (taxis / "saved.csv").write_text(re.sub(r"(\d+),(\d+)\n", r"\1.0,\2\n", text))
    asked = {"hierarchy": "dendrogram", "zones": str(taxis / "taxi_zones.geojson"), "k": 2, "suppress": 0.5}
    made = tc.anonymise(taxis / "saved.csv", out=taxis / "out", **asked)
    assert audit_against(taxis / "out", (str(taxis / "saved.csv"),)).safe
    assert "43" in {*made.flows.origin}


def test_zones_in_memory_are_kept_under_the_ids_that_trips_name(taxis: Path) -> None:
    import geopandas

    zones = geopandas.read_file(taxis / "taxi_zones.geojson")
    made = tc.anonymise(
        taxis / "yellow.csv", preset="nyc-tlc", zones=zones, k=2, suppress=0.5, out=taxis / "out"
    )
    assert audit_against(taxis / "out", (str(taxis / "yellow.csv"),)).safe
    assert {"43", "79"} <= {*made.flows.origin, *made.flows.destination}


def test_ids_of_cells_that_are_too_coarse_ask_for_their_own_resolution(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("origin,destination\n881fb46625fffff,881fb46627fffff\n")
    with pytest.raises(InputError, match=r"hold H3 cells, but none of h3:10; ask for hierarchy='h3:8'"):
        tc.describe(tmp_path / "cells.csv")
