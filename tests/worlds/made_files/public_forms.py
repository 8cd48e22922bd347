"""Public data sets in exactly the form in which they are published."""

# Lines of data files are as long as they are.
# ruff: noqa: E501

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from worlds.made_files.made import Made


def parquet(columns: Mapping[str, Any]) -> bytes:
    """Return a Parquet file of these columns."""
    out = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), out)
    return out.getvalue()


def squares(rows: Sequence[Mapping[str, Any]], west: float, south: float) -> str:
    """Return GeoJSON of a row of squares, each with the properties of its row."""
    features = []
    for at, properties in enumerate(rows):
        x = west + 0.02 * at
        ring = [[x, south], [x + 0.02, south], [x + 0.02, south + 0.02], [x, south + 0.02], [x, south]]
        outline = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": properties, "geometry": outline})
    return json.dumps({"type": "FeatureCollection", "features": features})


# As the city has it: names are not unique, and one id stands in several rows.
TAXI_ZONES = squares(
    [
        {"OBJECTID": 1, "Shape_Leng": 0.11, "zone": "Newark Airport", "LocationID": 1, "borough": "EWR"},
        {
            "OBJECTID": 43,
            "Shape_Leng": 0.12,
            "zone": "Central Park",
            "LocationID": 43,
            "borough": "Manhattan",
        },
        {"OBJECTID": 56, "Shape_Leng": 0.13, "zone": "Corona", "LocationID": 56, "borough": "Queens"},
        {"OBJECTID": 57, "Shape_Leng": 0.14, "zone": "Corona", "LocationID": 56, "borough": "Queens"},
        {
            "OBJECTID": 79,
            "Shape_Leng": 0.15,
            "zone": "East Village",
            "LocationID": 79,
            "borough": "Manhattan",
        },
    ],
    -74.0,
    40.7,
)

YELLOW = {
    "VendorID": pa.array([2, 1, 1, 2, 1], pa.int32()),
    "tpep_pickup_datetime": pa.array([1704070675_000000 + n for n in range(5)], pa.timestamp("us")),
    "tpep_dropoff_datetime": pa.array([1704071675_000000 + n for n in range(5)], pa.timestamp("us")),
    "passenger_count": pa.array([1, None, 1, 1, 1], pa.int64()),
    "trip_distance": [1.72, 1.8, 4.7, 0.0, 9.1],
    "RatecodeID": pa.array([1, None, 1, 1, 1], pa.int64()),
    "store_and_fwd_flag": ["N", None, "N", "N", "N"],
    "PULocationID": pa.array([43, 56, 79, 264, 1], pa.int32()),
    "DOLocationID": pa.array([79, 43, 56, 264, 265], pa.int32()),
    "payment_type": pa.array([2, 0, 1, 1, 1], pa.int64()),
    "fare_amount": [17.7, 10.0, 23.3, 3.0, 60.0],
}

NYC_YELLOW = Made(
    name="yellow taxis of New York with the city's zones",
    files={"yellow_tripdata_2024-01.parquet": parquet(YELLOW), "taxi_zones.geojson": TAXI_ZONES},
    options={"preset": "nyc-tlc", "zones": "taxi_zones.geojson"},
    rows={"yellow_tripdata_2024-01.parquet": 5},
    used=3,
    dropped={"yellow_tripdata_2024-01.parquet": {"unknown_zone": 2}},
    told=(
        '"hierarchy": "dendrogram"',
        "zone ids are those of column 'LocationID'",
        "those rows are one zone",
    ),
)

NYC_BOROUGHS = Made(
    name="yellow taxis of New York without a preset, under boroughs",
    files={"yellow_tripdata_2024-01.parquet": parquet(YELLOW), "taxi_zones.geojson": TAXI_ZONES},
    options={"hierarchy": "table:borough", "zones": "taxi_zones.geojson", "zone_id": "locationid"},
    rows={"yellow_tripdata_2024-01.parquet": 5},
    used=3,
    dropped={"yellow_tripdata_2024-01.parquet": {"outside_tiling": 2}},
)

NYC_GREEN = Made(
    name="green taxis of New York with the city's zones",
    files={
        "green_tripdata_2018-01.csv": "VendorID,lpep_pickup_datetime,lpep_dropoff_datetime,store_and_fwd_flag,RatecodeID,PULocationID,DOLocationID,passenger_count,trip_distance,fare_amount,extra,mta_tax,tip_amount,tolls_amount,ehail_fee,improvement_surcharge,total_amount,payment_type,trip_type\r\n"
        "2,2018-01-01 00:18:50,2018-01-01 00:24:39,N,1,56,43,5,.70,6,0.5,0.5,0,0,,0.3,7.3,2,1\r\n"
        "2,2018-01-01 00:30:26,2018-01-01 00:46:42,N,1,43,79,5,3.50,14.5,0.5,0.5,0,0,,0.3,15.8,2,1\r\n"
        "2,2018-01-01 00:07:25,2018-01-01 00:19:45,N,1,43,200,1,2.14,10,0.5,0.5,0,0,,0.3,11.3,2,1\r\n",
        "taxi_zones.geojson": TAXI_ZONES,
    },
    options={"preset": "nyc-tlc", "zones": "taxi_zones.geojson"},
    rows={"green_tripdata_2018-01.csv": 3},
    used=2,
    dropped={"green_tripdata_2018-01.csv": {"outside_tiling": 1}},
)

NYC_HIGH_VOLUME = Made(
    name="high-volume rides of New York with the city's zones",
    files={
        "fhvhv_tripdata_2024-01.parquet": parquet(
            {
                "hvfhs_license_num": ["HV0003", "HV0005"],
                "dispatching_base_num": ["B03404", "B03406"],
                "originating_base_num": ["B03404", None],
                "request_datetime": pa.array([1704070000_000000, 1704070100_000000], pa.timestamp("us")),
                "on_scene_datetime": pa.array([1704070300_000000, None], pa.timestamp("us")),
                "pickup_datetime": pa.array([1704070675_000000, 1704070775_000000], pa.timestamp("us")),
                "dropoff_datetime": pa.array([1704071675_000000, 1704071775_000000], pa.timestamp("us")),
                "PULocationID": pa.array([43, 79], pa.int32()),
                "DOLocationID": pa.array([79, 43], pa.int32()),
                "trip_miles": [2.8, 1.4],
                "shared_request_flag": ["N", "N"],
            }
        ),
        "taxi_zones.geojson": TAXI_ZONES,
    },
    options={"preset": "nyc-tlc", "zones": "taxi_zones.geojson"},
    rows={"fhvhv_tripdata_2024-01.parquet": 2},
    used=2,
    told=('"start_time": "pickup_datetime"',),
)

NYC_WITHOUT_ZONES = Made(
    name="taxis of New York without zones",
    files={"yellow_tripdata_2024-01.parquet": parquet(YELLOW)},
    options={"preset": "nyc-tlc"},
    refused=("These are zone ids: give zones='FILE' (the city's taxi_zones)", "hierarchy='dendrogram'"),
)

ZONES_OF_ELSEWHERE = Made(
    name="taxis of New York with zones of elsewhere",
    files={
        "yellow_tripdata_2024-01.parquet": parquet(YELLOW),
        "zones.geojson": squares([{"code": "E1", "name": "a"}, {"code": "E2", "name": "b"}], 0.0, 51.0),
    },
    options={"preset": "nyc-tlc", "zones": "zones.geojson"},
    refused=("not those of zones file zones.geojson", "zone_id=...", "it has code, name"),
)

CHICAGO_HEADER = "Trip ID,Taxi ID,Trip Start Timestamp,Trip End Timestamp,Trip Seconds,Trip Miles,Pickup Census Tract,Dropoff Census Tract,Pickup Community Area,Dropoff Community Area,Fare,Tips,Tolls,Extras,Trip Total,Payment Type,Company,Pickup Centroid Latitude,Pickup Centroid Longitude,Pickup Centroid Location,Dropoff Centroid Latitude,Dropoff Centroid Longitude,Dropoff Centroid  Location\n"
CHICAGO = CHICAGO_HEADER + (
    "0000184e7cd53cee95af32eba49c44e4d20adcd8,f538e6b729d1aaad4230e9dcd9dc2fd9a168826ddadbd67c2f79331875dc,01/31/2023 11:45:00 PM,02/01/2023 12:00:00 AM,1054,5.29,,,8,32,26.25,6.15,0,0.5,33.4,Credit Card,Flash Cab,41.899602111,-87.633308037,POINT (-87.6333080367 41.899602111),41.878865584,-87.625192142,POINT (-87.6251921424 41.8788655841)\n"
    "000072ee076c9038868e239ca54185eff43959db,d08c3a1b6a8ab4f95e2fc2bd4b9d9cf25dbf93cb7f7c0f9f1d2f81a64a91,02/01/2023 12:15:00 AM,02/01/2023 12:30:00 AM,700,2.10,,,32,8,10.25,0,0,0,10.25,Cash,Sun Taxi,41.878865584,-87.625192142,POINT (-87.6251921424 41.8788655841),41.899602111,-87.633308037,POINT (-87.6333080367 41.899602111)\n"
    "000074019d598c2b1d6e77fbae79e40b0461a2fc,d08c3a1b6a8ab4f95e2fc2bd4b9d9cf25dbf93cb7f7c0f9f1d2f81a64a91,02/01/2023 12:15:00 AM,02/01/2023 12:30:00 AM,700,2.10,,,32,,10.25,0,0,0,10.25,Cash,Sun Taxi,41.878865584,-87.625192142,POINT (-87.6251921424 41.8788655841),,,\n"
)
COMMUNITY_AREAS = squares(
    [
        {"community": "NEAR NORTH SIDE", "area_numbe": "8", "area_num_1": "8", "shape_area": "76675895.9728"},
        {"community": "LOOP", "area_numbe": "32", "area_num_1": "32", "shape_area": "46335565.9586"},
        {"community": "OHARE", "area_numbe": "76", "area_num_1": "76", "shape_area": "371835607.687"},
    ],
    -87.65,
    41.88,
)

CHICAGO_AREAS = Made(
    name="taxis of Chicago between community areas",
    files={"Taxi_Trips.csv": CHICAGO, "community_areas.geojson": COMMUNITY_AREAS},
    options={
        "preset": "chicago-taxi",
        "zones": "community_areas.geojson",
        "origin": "Pickup Community Area",
        "destination": "Dropoff Community Area",
    },
    rows={"Taxi_Trips.csv": 3},
    used=2,
    dropped={"Taxi_Trips.csv": {"missing_zone": 1}},
    told=("zone ids are those of column 'area_numbe'",),
)

CHICAGO_AREAS_WITHOUT_ZONES = Made(
    name="community areas of Chicago without zones",
    files={"Taxi_Trips.csv": CHICAGO},
    options={
        "preset": "chicago-taxi",
        "origin": "Pickup Community Area",
        "destination": "Dropoff Community Area",
    },
    refused=("These are zone ids: give zones='FILE'", "community areas"),
)

CHICAGO_TAXI = Made(
    name="taxis of Chicago",
    files={"Taxi_Trips.csv": CHICAGO},
    options={"preset": "chicago-taxi"},
    rows={"Taxi_Trips.csv": 3},
    used=2,
    dropped={"Taxi_Trips.csv": {"missing_coordinate": 1}},
    told=('"person": "Taxi ID"', '"start_time": "Trip Start Timestamp"'),
)

LODES = "w_geocode,h_geocode,S000,SA01,SA02,SA03,SE01,SE02,SE03,SI01,SI02,SI03,createdate\n"
LODES_FILES = {
    "ca_od_main_JT00_2021.csv": LODES
    + "060750101001001,060750102001001,12,3,5,4,1,2,9,0,3,9,20231016\n060750102001001,060750101002002,1,0,1,0,0,0,1,0,0,1,20231016\n",
    "ca_xwalk.csv": "tabblk2020,st,cty,trct,bgrp,blklatdd,blklondd,createdate\n"
    "060750101001001,06,06075,06075010100,060750101001,37.80,-122.41,20231016\n"
    "060750101002002,06,06075,06075010100,060750101002,37.81,-122.41,20231016\n"
    "060750102001001,06,06075,06075010200,060750102001,37.80,-122.42,20231016\n",
}

LODES_BLOCKS = Made(
    name="LODES between blocks with the crosswalk",
    files=LODES_FILES,
    options={"preset": "lodes", "zones": "ca_xwalk.csv", "hierarchy": "table:trct,cty"},
    rows={"ca_od_main_JT00_2021.csv": 2},
    used=2,
    told=("zone ids are those of column 'tabblk2020'",),
)

LODES_TRACTS = Made(
    name="LODES between tracts with the crosswalk",
    files=LODES_FILES,
    options={"preset": "lodes", "zones": "ca_xwalk.csv", "zone_prefix": 11},
    rows={"ca_od_main_JT00_2021.csv": 2},
    used=2,
    told=("zone ids are those of column 'trct'", "those rows are one zone"),
)

LODES_WITHOUT_ZONES = Made(
    name="LODES without zones",
    files={"ca_od_main_JT00_2021.csv": LODES_FILES["ca_od_main_JT00_2021.csv"]},
    options={"preset": "lodes"},
    refused=("These are zone ids: give zones='FILE'", "crosswalk"),
)

PORTO = Made(
    name="Porto taxis",
    files={
        "train.csv": """"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE","MISSING_DATA","POLYLINE"
"1372636858620000589","C","","","20000589","1372636858","A","False","[[-8.618643,41.141412],[-8.618499,41.141376],[-8.630838,41.154489]]"
"1372637303620000596","B","","7","20000596","1372637303","A","False","[[-8.639847,41.159826],[-8.665740,41.170671]]"
"1372636951620000320","C","","","20000320","1372636951","A","False","[]"
"1372636854620000520","A","31508","","20000520","1372636854","A","True","[[-8.574678,41.151951],[-8.573940,41.152395]]"
"""
    },
    options={"preset": "porto-taxi"},
    rows={"train.csv": 4},
    used=2,
    dropped={"train.csv": {"incomplete": 1, "single_fix": 1}},
)

GOWALLA = Made(
    name="Gowalla",
    kind="fixes",
    files={
        "loc-gowalla_totalCheckins.txt": "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n"
        "0\t2010-10-18T22:17:43Z\t30.2691029532\t-97.7493953705\t420315\n"
        "1\t2010-10-17T23:42:03Z\t30.2557309927\t-97.7633857727\t316637\n"
    },
    options={"preset": "gowalla"},
    rows={"loc-gowalla_totalCheckins.txt": 3},
    used=3,
)

NO_SUCH_PRESET = Made(
    name="a preset that there is not",
    files={"trips.csv": "o_lat,o_lon,d_lat,d_lon\n48.8,2.3,48.9,2.4\n"},
    options={"preset": "citybike"},
    refused=("unknown preset", "citibike"),
)

CASES: tuple[Made, ...] = tuple(made for made in list(globals().values()) if isinstance(made, Made))
