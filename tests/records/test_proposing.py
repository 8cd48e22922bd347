"""A public format is proposed by the names of its columns, and nobody's table is taken for one."""

from __future__ import annotations

import pytest

from tripcloak.ground.errors import MissingColumnError
from tripcloak.ground.spelling import spelt_as_flags
from tripcloak.records.proposing import proposed_presets
from worlds.trip_readings import ReadPaths, WriteText

MODERN = (
    "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,start_lat,start_lng,"
    "end_lat,end_lng"
)


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,PULocationID,DOLocationID", ["nyc-tlc"]),
        ("TRIP_ID,CALL_TYPE,TAXI_ID,TIMESTAMP,MISSING_DATA,POLYLINE", ["porto-taxi"]),
        (
            "Trip ID,Taxi ID,Trip Start Timestamp,Pickup Community Area,Dropoff Community Area",
            ["chicago-taxi"],
        ),
        ("w_geocode,h_geocode,S000,SA01", ["lodes"]),
        (
            "Duration,Start date,End date,Start station number,End station number,Bike number",
            ["capital-bikeshare"],
        ),
        ("trip_id,start_time,end_time,bikeid,from_station_id,to_station_id", ["divvy"]),
        ("o_lat,o_lon,d_lat,d_lon,user_id,start_time", []),
        ("start_lat,start_lng,end_lat,end_lng,started_at,user_id", []),
        ("origin,destination,trips", []),
        ("origin,destination,persons", []),
        ("user_id,time,lat,lon", []),
    ],
)
def test_what_a_header_looks_like(header: str, names: list[str]) -> None:
    assert list(proposed_presets(header.split(","))) == names


def test_bike_shares_are_written_alike() -> None:
    assert {"citibike", "divvy", "capital-bikeshare", "bay-wheels"} <= set(
        proposed_presets(MODERN.split(","))
    )


def test_an_error_proposes_the_preset(write_text: WriteText, read: ReadPaths) -> None:
    header = "trip_id,Trip Start Timestamp,Trip End Timestamp,Taxi ID,fare"
    path = write_text("taxis.csv", f"{header}\n1,2024-05-01 08:30,2024-05-01 08:45,a,9\n")
    with spelt_as_flags(), pytest.raises(MissingColumnError) as refused:
        read(path)
    assert "This looks like chicago-taxi: --preset chicago-taxi." in str(refused.value)
    with pytest.raises(MissingColumnError) as again:
        read(path, preset="chicago-taxi")
    assert "looks like" not in str(again.value)


def test_a_note_proposes_it_too(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("od.csv", "h_geocode,w_geocode,S000\n360610001001000,360610002001000,3\n")
    assert "this looks like lodes: preset='lodes'" in read(path).canonical.notes
    assert not [note for note in read(path, preset="lodes").canonical.notes if "looks like" in note]
