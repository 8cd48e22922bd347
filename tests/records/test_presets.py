"""Every preset reads made files in exactly the layout of its public data set."""

# Lines of data files are as long as they are.
# ruff: noqa: E501

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.records.presets import PRESETS
from tripcloak.records.schema import ROLES
from worlds.made_files.public_forms import CASES
from worlds.trip_readings import ReadPaths, WriteParquet, WriteText

ENDS = "o_lat, o_lon, d_lat, d_lon"


def seconds(*moment: int) -> float:
    return datetime(*moment, tzinfo=UTC).timestamp()


def test_presets_use_known_roles() -> None:
    assert {role for preset in PRESETS.values() for role in preset.columns} <= set(ROLES)
    assert list(PRESETS) == [
        *("porto-taxi", "nyc-tlc", "chicago-taxi", "citibike", "divvy", "capital-bikeshare", "bay-wheels"),
        *("la-metro-bike", "mds", "gbfs", "cabspotting", "geolife", "tdrive", "foursquare", "gowalla"),
        *("brightkite", "cdr", "lodes", "mitma", "ine", "uk-census"),
    ]
    tried = {made.options.get("preset") for made in CASES if not made.refused}
    assert {name for name in PRESETS if name not in tried} == UNTRIED


UNTRIED = {"cabspotting", "cdr"}
"""Presets that are tried elsewhere: without a word, and with a table of base stations."""


PORTO = """"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE","MISSING_DATA","POLYLINE"
"1372636858620000589","C","","","20000589","1372636858","A","False","[[-8.618643,41.141412],[-8.618499,41.141376],[-8.630838,41.154489]]"
"1372637303620000596","B","","7","20000596","1372637303","A","False","[[-8.639847,41.159826],[-8.665740,41.170671]]"
"1372636951620000320","C","","","20000320","1372636951","A","False","[]"
"1372636951620000321","C","","","20000320","1372636951","A","False","[[-8.612964,41.140359]]"
"1372636854620000520","A","31508","","20000520","1372636854","A","True","[[-8.574678,41.151951],[-8.573940,41.152395]]"
"""


@pytest.mark.parametrize("preset", ["porto-taxi", None])
def test_porto(preset: str | None, write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text("train.csv", PORTO), preset=preset)
    assert result.rows(f"person, epoch(start_time), {ENDS}") == [
        ("20000589", 1372636858, 41.141412, -8.618643, 41.154489, -8.630838),
        ("20000596", 1372637303, 41.159826, -8.639847, 41.170671, -8.66574),
    ]
    assert result.report.dropped == {"incomplete": 1, "single_fix": 2}


def test_nyc_tlc_since_2016(write_parquet: WriteParquet, read: ReadPaths) -> None:
    start, end = datetime(2024, 1, 1, 0, 57, 55), datetime(2024, 1, 1, 1, 17, 43)
    columns = {
        "VendorID": pa.array([2, 1, 1], pa.int32()),
        "tpep_pickup_datetime": pa.array([start, start, end], pa.timestamp("us")),
        "tpep_dropoff_datetime": pa.array([end, end, start], pa.timestamp("us")),
        "passenger_count": pa.array([1, None, 1], pa.int64()),
        "trip_distance": [1.72, 1.8, 4.7],
        "RatecodeID": pa.array([1, 1, 1], pa.int64()),
        "store_and_fwd_flag": ["N", "N", "N"],
        "PULocationID": pa.array([186, 140, 236], pa.int32()),
        "DOLocationID": pa.array([79, 236, 79], pa.int32()),
        "payment_type": pa.array([2, 1, 1], pa.int64()),
        "fare_amount": [17.7, 10.0, 23.3],
    }
    result = read(write_parquet("yellow_tripdata_2024-01.parquet", columns), preset="nyc-tlc")
    assert result.canonical.endpoints == "zones"
    assert not result.canonical.has_person
    assert result.rows("o_id, d_id, epoch(start_time)") == [
        ("140", "236", seconds(2024, 1, 1, 0, 57, 55)),
        ("186", "79", seconds(2024, 1, 1, 0, 57, 55)),
    ]
    assert result.report.dropped == {"end_before_start": 1}


TLC_FILES = {
    # Yellow, 2015.
    "yellow_tripdata_2015-01.csv": (
        "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,pickup_longitude,"
        "pickup_latitude,RateCodeID,store_and_fwd_flag,dropoff_longitude,dropoff_latitude,payment_type,fare_amount,"
        "extra,mta_tax,tip_amount,tolls_amount,improvement_surcharge,total_amount\n"
        "2,2015-01-15 19:05:39,2015-01-15 19:23:42,1,1.59,-73.99,40.75,1,N,-73.97,40.76,1,12,1,0.5,3.25,0,0.3,17.05\n"
        "1,2015-01-15 19:05:39,2015-01-15 19:23:42,1,1.59,0,0,1,N,0,0,1,12,1,0.5,3.25,0,0.3,17.05\n"
    ),
    # Yellow, 2014: spaces before names and an empty second line.
    "yellow_tripdata_2014-06.csv": (
        "vendor_id, pickup_datetime, dropoff_datetime, passenger_count, trip_distance, pickup_longitude,"
        " pickup_latitude, rate_code, store_and_fwd_flag, dropoff_longitude, dropoff_latitude, payment_type,"
        " fare_amount, surcharge, mta_tax, tip_amount, tolls_amount, total_amount\r\n\r\n"
        "CMT,2015-01-15 19:05:39,2015-01-15 19:23:42,1,1.1,-73.99,40.75,1,N,-73.97,40.76,CRD,7.5,0,0.5,1,0,9\r\n"
    ),
    # Yellow, 2009.
    "yellow_tripdata_2009-01.csv": (
        "vendor_name,Trip_Pickup_DateTime,Trip_Dropoff_DateTime,Passenger_Count,Trip_Distance,Start_Lon,Start_Lat,"
        "Rate_Code,store_and_forward,End_Lon,End_Lat,Payment_Type,Fare_Amt,surcharge,mta_tax,Tip_Amt,Tolls_Amt,"
        "Total_Amt\n"
        "VTS,2015-01-15 19:05:39,2015-01-15 19:23:42,1,2.63,-73.99,40.75,,,-73.97,40.76,CASH,8.9,0.5,,0,0,9.4\n"
    ),
    # Green, 2014: two more commas in every row than in the first line.
    "green_tripdata_2014-01.csv": (
        "VendorID,lpep_pickup_datetime,Lpep_dropoff_datetime,Store_and_fwd_flag,RateCodeID,Pickup_longitude,"
        "Pickup_latitude,Dropoff_longitude,Dropoff_latitude,Passenger_count,Trip_distance,Fare_amount,Extra,MTA_tax,"
        "Tip_amount,Tolls_amount,Ehail_fee,Total_amount,Payment_type,Trip_type \n"
        "2,2015-01-15 19:05:39,2015-01-15 19:23:42,N,1,-73.99,40.75,-73.97,40.76,1,1.2,6,0,0.5,0,0,,6.5,2,,,\n"
    ),
}


@pytest.mark.parametrize("name", TLC_FILES)
def test_nyc_tlc_before_2016(name: str, write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text(name, TLC_FILES[name]), preset="nyc-tlc")
    start, end = seconds(2015, 1, 15, 19, 5, 39), seconds(2015, 1, 15, 19, 23, 42)
    assert result.rows(f"epoch(start_time), epoch(end_time), {ENDS}") == [
        (start, end, 40.75, -73.99, 40.76, -73.97)
    ]
    assert result.report.dropped == ({"null_island": 1} if "2015" in name else {})


def test_nyc_tlc_years_together(write_text: WriteText, read: ReadPaths, tmp_path: Path) -> None:
    for name, text in TLC_FILES.items():
        write_text(name, text)
    result = read(tmp_path, preset="nyc-tlc")
    assert (result.canonical.files, result.report.kept) == (4, 4)


CITIBIKE_OLD = (
    '"tripduration","starttime","stoptime","start station id","start station name","start station latitude",'
    '"start station longitude","end station id","end station name","end station latitude","end station longitude",'
    '"bikeid","usertype","birth year","gender"\n'
    '"634","{start}","{end}","164","E 47 St & 2 Ave","40.75323098","-73.97032517","504","1 Ave & E 15 St",'
    '"40.73221853","-73.98165557","16950","Customer","\\N","0"\n'
)
CITIBIKE_NEW = (
    "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,end_station_id,"
    "start_lat,start_lng,end_lat,end_lng,member_casual\n"
    "5B0F5D5A3F1D2C9E,classic_bike,2013-07-01 00:00:00.123,2013-07-01 00:10:34.000,E 47 St,6498.10,1 Ave,5779.10,"
    "40.75323098,-73.97032517,40.73221853,-73.98165557,member\n"
    "5B0F5D5A3F1D2C9F,electric_bike,2013-07-01 00:00:00,2013-07-01 00:10:34,E 47 St,6498.10,,,"
    "40.75323098,-73.97032517,,,casual\n"
)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2013-07-01 00:00:00", "2013-07-01 00:10:34"),
        ("7/1/2013 00:00:00", "7/1/2013 00:10:34"),
        ("7/1/2013 0:00", "7/1/2013 0:10"),
    ],
)
def test_citibike_before_2021(start: str, end: str, write_text: WriteText, read: ReadPaths) -> None:
    text = CITIBIKE_OLD.format(start=start, end=end)
    result = read(write_text("2013-07 - Citi Bike trip data.csv", text), preset="citibike")
    assert result.rows(f"person, epoch(start_time), {ENDS}") == [
        ("16950", seconds(2013, 7, 1), 40.75323098, -73.97032517, 40.73221853, -73.98165557)
    ]


def test_citibike_since_2021_and_both_together(write_text: WriteText, read: ReadPaths) -> None:
    new = write_text("202107-citibike-tripdata.csv", CITIBIKE_NEW)
    result = read(new, preset="citibike")
    assert not result.canonical.has_person
    assert result.rows(ENDS) == [(40.75323098, -73.97032517, 40.73221853, -73.98165557)]
    assert result.report.dropped == {"missing_coordinate": 1}
    old = write_text("old.csv", CITIBIKE_OLD.format(start="2013-07-01 00:00:00", end="2013-07-01 00:10:34"))
    both = read(old, new, preset="citibike")
    assert both.rows("person") == [("16950",), (None,)]


DIVVY_STATIONS = {
    "Divvy_Trips_2013.csv": (
        "trip_id,starttime,stoptime,bikeid,tripduration,from_station_id,from_station_name,to_station_id,"
        "to_station_name,usertype,gender,birthday\n"
        "4118,2013-06-27 12:11,2013-06-27 12:16,480,316,85,Michigan Ave,28,Larrabee St,Customer,,\n"
    ),
    "Divvy_Trips_2015-Q1.csv": (
        "trip_id,starttime,stoptime,bikeid,tripduration,from_station_id,from_station_name,to_station_id,"
        "to_station_name,usertype,gender,birthyear\n"
        "4738454,6/27/2013 12:11,6/27/2013 12:16,480,299,85,Michigan Ave,28,Larrabee St,Subscriber,Male,1965\n"
    ),
    "Divvy_Trips_2018_Q4.csv": (
        "trip_id,start_time,end_time,bikeid,tripduration,from_station_id,from_station_name,to_station_id,"
        "to_station_name,usertype,gender,birthyear\n"
        '20983530,2013-06-27 12:11:00,2013-06-27 12:16:00,480,"1,051.0",85,Michigan Ave,28,Larrabee St,Customer,,\n'
    ),
    "Divvy_Trips_2018_Q1.csv": (
        '"01 - Rental Details Rental ID","01 - Rental Details Local Start Time","01 - Rental Details Local End Time",'
        '"01 - Rental Details Bike ID","01 - Rental Details Duration In Seconds Uncapped",'
        '"03 - Rental Start Station ID","03 - Rental Start Station Name","02 - Rental End Station ID",'
        '"02 - Rental End Station Name","User Type","Member Gender","05 - Member Details Member Birthday Year"\n'
        '"17536702","2013-06-27 12:11:00","2013-06-27 12:16:00","480","323.0","85","Michigan Ave","28",'
        '"Larrabee St","Subscriber","Male","1986"\n'
    ),
}


@pytest.mark.parametrize("name", DIVVY_STATIONS)
def test_divvy_with_stations(name: str, write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text(name, DIVVY_STATIONS[name]), preset="divvy")
    start, end = seconds(2013, 6, 27, 12, 11), seconds(2013, 6, 27, 12, 16)
    expected = [("85", "28", "480", start, end)]
    assert result.rows("o_id, d_id, person, epoch(start_time), epoch(end_time)") == expected


def test_divvy_with_coordinates(write_text: WriteText, read: ReadPaths) -> None:
    text = (
        "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,"
        "end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual\n"
        '"A847FADBBC638E45","docked_bike",2020-04-26 17:45:14,2020-04-26 18:12:03,"Eckhart Park",86,'
        '"Lincoln Ave",152,41.8964,-87.661,41.9322,-87.6586,"member"\n'
    )
    assert read(write_text("202004-divvy-tripdata.csv", text), preset="divvy").rows(ENDS) == [
        (41.8964, -87.661, 41.9322, -87.6586)
    ]


def test_cabspotting(write_text: WriteText, read: ReadPaths, tmp_path: Path) -> None:
    fixes = [
        "37.75134 -122.39488 0 1213084687",
        "37.75136 -122.39527 1 1213084659",
        "37.75199 -122.39460 1 1213081000",
        "37.75300 -122.39468 1 1213080940",
        "37.75149 -122.39447 0 1213080880",
        "37.75149 -122.39447 1 1213080820",
        "37.75156 -122.39459 0 1213080760",
        "0 0 1 1213080700",
    ]
    write_text("cabspottingdata/new_abboip.txt", "\n".join(fixes) + "\n")
    write_text("cabspottingdata/new_enyenewl.txt", "37.8 -122.4 1 1213080100\n37.7 -122.5 1 1213080000\n")
    write_text("cabspottingdata/_cabs.txt", '<cab id="abboip" updates="8"/>\n')
    write_text("cabspottingdata/README", "text")
    result = read(tmp_path / "cabspottingdata", preset="cabspotting")
    # A silence does not end a trip: the passenger is still on board.
    assert result.rows(f"person, epoch(start_time), epoch(end_time), {ENDS}") == [
        ("abboip", 1213080940, 1213084659, 37.753, -122.39468, 37.75136, -122.39527),
        ("enyenewl", 1213080000, 1213080100, 37.7, -122.5, 37.8, -122.4),
    ]
    report = result.report
    assert report.dropped == {"single_fix": 1}
    assert report.before is not None
    assert (report.before.rows, report.before.dropped) == (10, {"null_island": 1, "vacant": 3})


def test_cabspotting_errors_name_no_cab(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("new_abboip.txt", "37.75134 -122.39488 0 1213084687\n")
    for options in ({"columns": {"person": "nobody"}}, {"where": "nothing = 1"}, {"where": "cab::int > 1"}):
        with pytest.raises(InputError) as caught:
            assert read(path, preset="cabspotting", **options).report
        assert "abboip" not in str(caught.value)
    empty = write_text("new_abgibo.txt", "")
    with pytest.raises(InputError, match="is empty") as caught:
        read(empty, preset="cabspotting")
    assert "abgibo" not in str(caught.value)


PLT_TOP = "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n"


def test_geolife(write_text: WriteText, read: ReadPaths, tmp_path: Path) -> None:
    first = [
        "39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04",
        "39.984683,116.31845,0,492,39744.1202546296,2008-10-23,02:53:10",
        "39.984686,116.318417,0,492,39744.1203125,2008-10-23,02:53:15",
        "40.000000,116.400000,0,-777,39744.1303125,2008-10-23,04:00:00",
        "40.000100,116.400100,0,-777,39744.1303125,2008-10-23,04:02:00",
        "400.166700,116.400100,0,-777,39744.1303125,2008-10-23,04:03:00",
    ]
    second = [
        "39.9,116.3,0,492,39744.13,2008-10-23,04:02:30",
        "39.8,116.2,0,492,39744.13,2008-10-23,04:03:30",
    ]
    root = "Geolife Trajectories 1.3/Data"
    write_text(f"{root}/000/Trajectory/20081023025304.plt", PLT_TOP + "\r\n".join(first) + "\r\n")
    write_text(f"{root}/000/Trajectory/20081023040230.plt", PLT_TOP + "\r\n".join(second) + "\r\n")
    write_text(f"{root}/010/Trajectory/20081023025304.plt", PLT_TOP + "\r\n".join(first[:2]) + "\r\n")
    write_text(f"{root}/010/labels.txt", "Start Time\tEnd Time\tTransportation Mode\n")
    result = read(tmp_path / "Geolife Trajectories 1.3", preset="geolife")
    day = seconds(2008, 10, 23)
    assert result.rows(f"person, epoch(start_time) - {day}, {ENDS}") == [
        ("000", 10384, 39.984702, 116.318417, 39.984686, 116.318417),
        ("000", 14400, 40.0, 116.4, 40.0001, 116.4001),
        ("000", 14550, 39.9, 116.3, 39.8, 116.2),
        ("010", 10384, 39.984702, 116.318417, 39.984683, 116.31845),
    ]
    before = result.report.before
    assert before is not None
    assert (before.rows, before.dropped) == (10, {"out_of_range": 1})


LODES = (
    "w_geocode,h_geocode,S000,SA01,SA02,SA03,SE01,SE02,SE03,SI01,SI02,SI03,createdate\n"
    "060750101001000,060014001001007,3,1,2,0,1,1,1,0,3,0,20201117\n"
    "060750101001001,060014001001007,1,0,1,0,0,0,1,0,0,1,20201117\n"
)


def test_lodes(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("ca_od_main_JT00_2018.csv", LODES)
    result = read(path, preset="lodes")
    assert result.canonical.people_once
    assert result.rows("o_id, d_id, trips") == [
        ("060014001001007", "060750101001000", 3),
        ("060014001001007", "060750101001001", 1),
    ]
    assert read(path, preset="lodes", zone_prefix=11).rows("o_id, d_id, trips") == [
        ("06001400100", "06075010100", 1),
        ("06001400100", "06075010100", 3),
    ]


def test_lodes_blocks_read_as_numbers_get_their_zero_back(
    write_parquet: WriteParquet, read: ReadPaths
) -> None:
    columns = {"w_geocode": [60750101001000], "h_geocode": [60014001001007], "S000": [3]}
    result = read(write_parquet("od.parquet", columns), preset="lodes")
    assert result.rows("o_id, d_id") == [("060014001001007", "060750101001000")]


def test_a_home_to_work_table_is_found_without_a_preset(write_parquet: WriteParquet, read: ReadPaths) -> None:
    columns = {
        "area": ["06075"],
        "origin": ["06075010100"],
        "destination": ["06075010200"],
        "commuters": [16],
    }
    result = read(write_parquet("od.parquet", columns))
    assert (result.canonical.form, result.canonical.people_once) == ("counts", True)
    assert result.rows("o_id, d_id, trips") == [("06075010100", "06075010200", 16)]


def test_ready_made_taxi_trips_are_found_without_a_preset(
    write_parquet: WriteParquet, read: ReadPaths
) -> None:
    columns = {
        "trip_id": [1],
        "vehicle_id": ["abboip"],
        "start_time": [datetime(2008, 5, 17, 14, 51, 10)],
        "start_lat": [37.74977],
        "start_lon": [-122.39724],
        "end_time": [datetime(2008, 5, 17, 14, 55, 58)],
        "end_lat": [37.75552],
        "end_lon": [-122.41438],
        "n_points": [5],
    }
    result = read(write_parquet("cabs.parquet", columns))
    assert (result.canonical.form, result.canonical.columns["person"]) == ("trips", "vehicle_id")
    assert result.rows(ENDS) == [(37.74977, -122.39724, 37.75552, -122.41438)]
