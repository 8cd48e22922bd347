"""Taxi and bike-share trips in exactly the form in which they are published."""

# Lines of data files are as long as they are.
# ruff: noqa: E501

from __future__ import annotations

import json

import pyarrow as pa

from worlds.made_files.made import Made
from worlds.made_files.shapes import parquet, squares

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

NYC_WITHOUT_A_WORD = Made(
    name="taxis of New York without zones and without a preset",
    files={"yellow_tripdata_2024-01.parquet": parquet(YELLOW)},
    refused=("These are zone ids: give zones='FILE'", "this looks like nyc-tlc: preset='nyc-tlc'"),
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

NO_SUCH_PRESET = Made(
    name="a preset that there is not",
    files={"trips.csv": "o_lat,o_lon,d_lat,d_lon\n48.8,2.3,48.9,2.4\n"},
    options={"preset": "citybike"},
    refused=("unknown preset", "citibike"),
)


LYFT = (
    "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,end_station_id,"
    "start_lat,start_lng,end_lat,end_lng,member_casual\n"
)

CITIBIKE_BOTH = Made(
    name="Citi Bike old and new together",
    files={
        "201307-citibike-tripdata.csv": '"tripduration","starttime","stoptime","start station id","start station name","start station latitude","start station longitude","end station id","end station name","end station latitude","end station longitude","bikeid","usertype","birth year","gender"\n'
        '"634","2013-07-01 00:00:00","2013-07-01 00:10:34","164","E 47 St & 2 Ave","40.75323098","-73.97032517","504","1 Ave & E 15 St","40.73221853","-73.98165557","16950","Customer","\\N","0"\n',
        "JC-201609-citibike-tripdata.csv": "Trip Duration,Start Time,Stop Time,Start Station ID,Start Station Name,Start Station Latitude,Start Station Longitude,End Station ID,End Station Name,End Station Latitude,End Station Longitude,Bike ID,User Type,Birth Year,Gender\n"
        "362,2016-09-01 00:02:52,2016-09-01 00:08:54,3183,Exchange Place,40.7162469,-74.0334588,3203,Hamilton Park,40.727595966,-74.044247311,24393,Subscriber,1984,1\n",
        "202404-citibike-tripdata.csv": LYFT
        + "5B0F5D5A3F1D2C9E,classic_bike,2024-04-01 00:00:00.123,2024-04-01 00:10:34.000,E 47 St,6498.10,1 Ave,5779.10,40.75323098,-73.97032517,40.73221853,-73.98165557,member\n"
        + "5B0F5D5A3F1D2C9F,electric_bike,2024-04-01 00:00:00,2024-04-01 00:10:34,E 47 St,6498.10,,,40.75323098,-73.97032517,,,casual\n",
    },
    options={"preset": "citibike"},
    rows={
        "201307-citibike-tripdata.csv": 1,
        "JC-201609-citibike-tripdata.csv": 1,
        "202404-citibike-tripdata.csv": 2,
    },
    used=3,
    dropped={"202404-citibike-tripdata.csv": {"missing_coordinate": 1}},
)

STATIONS_FEED = json.dumps(
    {
        "last_updated": 1713000000,
        "ttl": 60,
        "version": "1.1",
        "data": {
            "stations": [
                {"station_id": "85", "name": "Michigan Ave", "lat": 41.9009, "lon": -87.6237, "capacity": 15},
                {"station_id": "28", "name": "Larrabee St", "lat": 41.8945, "lon": -87.6534, "capacity": 11},
            ]
        },
    }
)

DIVVY_OLD = Made(
    name="Divvy before 2020 with the stations of its feed",
    files={
        "Divvy_Trips_2015-Q1.csv": "trip_id,starttime,stoptime,bikeid,tripduration,from_station_id,from_station_name,to_station_id,to_station_name,usertype,gender,birthyear\n"
        "4738454,3/31/2015 23:58,4/1/2015 0:03,1095,299,85,Michigan Ave,28,Larrabee St,Subscriber,Male,1965\n"
        "4738455,3/31/2015 23:59,4/1/2015 0:15,1048,1000,28,Larrabee St,85,Michigan Ave,Customer,,\n"
        "4738456,3/31/2015 23:59,4/1/2015 0:15,1049,1000,28,Larrabee St,999,Depot,Customer,,\n",
        "station_information.json": STATIONS_FEED,
    },
    options={"preset": "divvy", "zones": "station_information.json"},
    rows={"Divvy_Trips_2015-Q1.csv": 3},
    used=2,
    dropped={"Divvy_Trips_2015-Q1.csv": {"outside_tiling": 1}},
    told=("zone ids are those of column 'station_id'",),
)

DIVVY_NEW = Made(
    name="Divvy since 2020",
    files={
        "202404-divvy-tripdata.csv": LYFT
        + '"743252713F32516B","classic_bike","2024-04-22 19:08:21","2024-04-22 19:12:56","Aberdeen St & Jackson Blvd","13157","Desplaines St & Jackson Blvd","15539","41.87772613","-87.65478743","41.878119","-87.643948","member"\n'
    },
    options={"preset": "divvy"},
    rows={"202404-divvy-tripdata.csv": 1},
    used=1,
)

CAPITAL_OLD = Made(
    name="Capital Bikeshare before 2020 with a table of stations",
    files={
        "2012Q1-capitalbikeshare-tripdata.csv": '"Duration","Start date","End date","Start station number","Start station","End station number","End station","Bike number","Member type"\n'
        '"475","2012-01-01 00:04:00","2012-01-01 00:11:56","31245","7th & R St NW / Shaw Library","31109","7th & T St NW","W01412","Member"\n'
        '"1162","2012-01-01 00:10:05","2012-01-01 00:29:28","31109","7th & T St NW","31245","7th & R St NW / Shaw Library","W00524","Casual"\n',
        "stations.csv": "terminal_number,name,lat,lon\n31245,7th & R St NW,38.9126,-77.0223\n31109,7th & T St NW,38.9155,-77.0222\n",
    },
    options={"preset": "capital-bikeshare", "zones": "stations.csv"},
    rows={"2012Q1-capitalbikeshare-tripdata.csv": 2},
    used=2,
    told=("zone ids are those of column 'terminal_number'", '"person": "Bike number"'),
)

CAPITAL_NEW = Made(
    name="Capital Bikeshare since 2020",
    files={
        "202404-capitalbikeshare-tripdata.csv": LYFT
        + "E4B2E9B9B5A6E5F0,classic_bike,2024-04-01 08:00:00.000,2024-04-01 08:12:00.000,7th & R St NW,31245,7th & T St NW,31109,38.9126,-77.0223,38.9155,-77.0222,member\n"
    },
    options={"preset": "capital-bikeshare"},
    rows={"202404-capitalbikeshare-tripdata.csv": 1},
    used=1,
)

BAY_AREA_2014 = Made(
    name="Bay Area Bike Share of 2014, all that comes along",
    files={
        "201402_trip_data.csv": "Trip ID,Duration,Start Date,Start Station,Start Terminal,End Date,End Station,End Terminal,Bike #,Subscription Type,Zip Code\n"
        "4576,63,8/29/2013 14:13,South Van Ness at Market,66,8/29/2013 14:14,Spear at Folsom,49,520,Subscriber,94127\n"
        "4607,70,8/29/2013 14:42,Spear at Folsom,49,8/29/2013 14:43,South Van Ness at Market,66,661,Subscriber,95138\n",
        "201402_station_data.csv": "station_id,name,lat,long,dockcount,landmark,installation\n66,South Van Ness at Market,37.774814,-122.418954,19,San Francisco,8/23/2013\n49,Spear at Folsom,37.789625,-122.390264,19,San Francisco,8/20/2013\n",
        "201402_weather_data.csv": "Date,Max_Temperature_F,Zip\n9/1/2013,74,94107\n",
    },
    inputs=("201402_*.csv",),
    options={"preset": "bay-wheels", "zones": "201402_station_data.csv"},
    rows={"201402_trip_data.csv": 2},
    used=2,
    told=('"person": "Bike #"', "zone ids are those of column 'station_id'"),
)

FORD_GOBIKE = Made(
    name="Ford GoBike of 2018",
    files={
        "201801-fordgobike-tripdata.csv": "duration_sec,start_time,end_time,start_station_id,start_station_name,start_station_latitude,start_station_longitude,end_station_id,end_station_name,end_station_latitude,end_station_longitude,bike_id,user_type,member_birth_year,member_gender,bike_share_for_all_trip\n"
        "75284,2018-01-31 22:52:35.2390,2018-02-01 19:47:19.8240,120,Mission Dolores Park,37.7614205,-122.4264353,285,Webster St at O'Farrell St,37.7835208,-122.4311577,2765,Subscriber,1986,Male,No\n"
    },
    options={"preset": "bay-wheels"},
    rows={"201801-fordgobike-tripdata.csv": 1},
    used=1,
)

BAY_WHEELS = Made(
    name="Bay Wheels since 2020",
    files={
        "202404-baywheels-tripdata.csv": LYFT
        + "6B81B2E8E2F9C9C1,electric_bike,2024-04-01 08:00:00.000,2024-04-01 08:12:00.000,,,,,37.77,-122.42,37.79,-122.4,casual\n"
    },
    options={"preset": "bay-wheels"},
    rows={"202404-baywheels-tripdata.csv": 1},
    used=1,
)

LA_METRO = Made(
    name="Metro bikes of Los Angeles",
    files={
        "metro-bike-share-trips-2019-q1.csv": "trip_id,duration,start_time,end_time,start_station,start_lat,start_lon,end_station,end_lat,end_lon,bike_id,plan_duration,trip_route_category,passholder_type,bike_type\n"
        "112536773,37,1/1/2019 0:07,1/1/2019 0:14,3046,34.05302,-118.247948,3051,34.045422,-118.253517,06468,30,One Way,Monthly Pass,standard\n"
        "112536772,6,1/1/2019 0:08,1/1/2019 0:14,3046,34.05302,-118.247948,3000,,,12311,30,One Way,Monthly Pass,standard\n"
    },
    options={"preset": "la-metro-bike"},
    rows={"metro-bike-share-trips-2019-q1.csv": 2},
    used=1,
    dropped={"metro-bike-share-trips-2019-q1.csv": {"missing_coordinate": 1}},
)

MDS_TRIP = {
    "provider_id": "c20e08cf-8488-46a6-a66c-5d8fb827f7e0",
    "device_id": "dev-1",
    "vehicle_id": "0001",
    "vehicle_type": "scooter",
    "trip_id": "t-1",
    "trip_duration": 600,
    "start_time": 1529968782421,
    "end_time": 1531007628377,
    "route": {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"timestamp": 1529968782421},
                "geometry": {"type": "Point", "coordinates": [-118.46710503, 33.9909333]},
            },
            {
                "type": "Feature",
                "properties": {"timestamp": 1531007628377},
                "geometry": {"type": "Point", "coordinates": [-118.464851975, 33.990366257]},
            },
        ],
    },
}
MDS = Made(
    name="trips by MDS as JSON",
    files={
        "trips.json": json.dumps(
            {
                "version": "1.0.0",
                "data": {
                    "trips": [
                        MDS_TRIP,
                        {
                            **{key: value for key, value in MDS_TRIP.items() if key != "route"},
                            "trip_id": "t-2",
                            "start_location": {"lat": 33.99, "lng": -118.46},
                            "end_location": {"lat": 33.98, "lng": -118.45},
                        },
                        {
                            **MDS_TRIP,
                            "trip_id": "t-3",
                            "route": {"type": "FeatureCollection", "features": []},
                        },
                    ]
                },
            }
        )
    },
    options={"preset": "mds"},
    rows={"trips.json": 3},
    used=2,
    dropped={"trips.json": {"missing_coordinate": 1}},
    told=('"person": "device_id"',),
)
MDS_TABLE = Made(
    name="trips by MDS as a table with routes",
    files={
        "trips.csv": "provider_id,device_id,vehicle_id,trip_id,start_time,end_time,route\n"
        + 'c20e08cf,dev-1,0001,t-1,1529968782421,1531007628377,"'
        + json.dumps(MDS_TRIP["route"]).replace('"', '""')
        + '"\n'
    },
    options={"preset": "mds"},
    rows={"trips.csv": 1},
    used=1,
    told=('"origin_lat": "route_start_lat"',),
)

CASES: tuple[Made, ...] = tuple(made for made in list(globals().values()) if isinstance(made, Made))
