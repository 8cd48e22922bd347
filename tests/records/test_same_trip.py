"""Rows are one trip if all that identifies it agrees: its own id, or else its fare and length too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc

NAMES = "start_time,end_time,start_lat,start_lon,end_lat,end_lon"
TRIP = "2024-05-01 08:00:00,2024-05-01 08:15:00,41.88,-87.63,41.9,-87.64"
LATER = TRIP.replace("05-01", "05-02")


def dropped(folder: Path, names: str, cells: list[str], **keywords: Any) -> dict[str, int]:
    """Return what is dropped of equal trips that differ by some cells, beside another one."""
    empty = "," * names.count(",")
    lines = [f"{TRIP},{cell}" for cell in cells] + [f"{LATER},{empty}"]
    path = folder / "trips.csv"
    path.write_text("\n".join([f"{NAMES},{names}", *lines, ""]))
    found: dict[str, int] = tc.describe(path, k=2, **keywords).to_dict()["cleaning"]["dropped"]
    return found


@pytest.mark.parametrize("name", ["trip_id", "Trip ID", "ride_id", "rental_id"])
def test_an_id_of_its_own_makes_a_trip(tmp_path: Path, name: str) -> None:
    assert dropped(tmp_path, name, ["a1", "a2"]) == {}
    assert dropped(tmp_path, name, ["a1", "a1"]) == {"duplicate": 1}


def test_where_a_trip_has_an_id_its_fare_says_no_more(tmp_path: Path) -> None:
    assert dropped(tmp_path, "Trip ID,Fare,Trip Miles", ["a,5.00,1", "a,6.00,2"]) == {"duplicate": 1}
    assert dropped(tmp_path, "Trip ID,Fare,Trip Miles", ["a,5.00,1", "b,5.00,1"]) == {}


def test_without_an_id_fare_and_length_count(tmp_path: Path) -> None:
    assert dropped(tmp_path, "fare_amount,trip_distance", ["5.0,1.1", "5.0,1.1"]) == {"duplicate": 1}
    assert dropped(tmp_path, "fare_amount,trip_distance", ["5.0,1.1", "5.5,1.1"]) == {}
    assert dropped(tmp_path, "fare_amount,trip_distance", ["5.0,1.1", "5.0,1.2"]) == {}
    # Rows without an id among rows that have one are compared so too.
    assert dropped(tmp_path, "trip_id,fare_amount", [",5.0", ",6.0", ",6.0", "a,6.0"]) == {"duplicate": 1}


def test_a_refund_is_no_trip(tmp_path: Path) -> None:
    assert dropped(tmp_path, "fare_amount", ["5.0", "-5.0", "5.0"]) == {"duplicate": 1, "refund": 1}
    assert dropped(tmp_path, "fare_amount", ["5.0", "-4.0"]) == {}
    assert dropped(tmp_path, "Trip ID,Fare", ["a,$1005.00", "a,-$1005"]) == {"refund": 1}


def test_a_column_may_be_none(tmp_path: Path) -> None:
    assert dropped(tmp_path, "trip_id", ["a1", "a2"], trip_id="none") == {"duplicate": 1}
    assert dropped(tmp_path, "fare", ["5.0", "-5.0"], fare="none") == {"duplicate": 1}


def test_a_fare_that_cannot_be_read_makes_no_row_bad(tmp_path: Path) -> None:
    assert dropped(tmp_path, "fare", ["free", "5.0"]) == {}


def test_presets_know_the_ids_of_trips(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    names = "ride_id,started_at,ended_at,start_lat,start_lng,end_lat,end_lng"
    path.write_text("\n".join([names, *(f"{one},{TRIP}" for one in ("a1", "a2", "a2")), ""]))
    told = tc.describe(path, k=2, preset="divvy").to_dict()
    assert (told["columns"]["trip_id"], told["cleaning"]["dropped"]) == ("ride_id", {"duplicate": 1})


def test_an_id_tells_duplicates_without_a_time(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    names = "trip_id,start_lat,start_lon,end_lat,end_lon"
    path.write_text(
        "\n".join([names, *["a,41.88,-87.63,41.9,-87.64"] * 2, *[",41.88,-87.63,41.9,-87.64"] * 2, ""])
    )
    assert tc.describe(path, k=2).to_dict()["cleaning"]["dropped"] == {"duplicate": 1}


def test_the_audit_counts_the_same_trips(tmp_path: Path) -> None:
    path = tmp_path / "taxis.csv"
    rows = [f"{TRIP.replace('08:00', f'08:{n:02}', 1)},{sign}5.0" for n in range(12) for sign in ("", "-")]
    path.write_text("\n".join([f"{NAMES},fare_amount", *rows, ""]))
    release = tc.anonymise(path, k=10, hierarchy="h3:7", out=tmp_path / "out")
    assert int(release.flows["trips"].sum()) == 12
    assert tc.audit(tmp_path / "out", path).safe
