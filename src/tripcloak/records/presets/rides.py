"""Presets of taxi and bike-share trips, a row a trip."""

from __future__ import annotations

from tripcloak.records.presets.preset import US_TIMES, Derived, Preset
from tripcloak.records.schema import KNOWN_NAMES

_RIDES = {
    "origin_lat": ("start_lat", "start_station_latitude", "Starting Station Latitude"),
    "origin_lon": ("start_lng", "start_lon", "start_station_longitude", "Starting Station Longitude"),
    "destination_lat": ("end_lat", "end_station_latitude", "Ending Station Latitude"),
    "destination_lon": ("end_lng", "end_lon", "end_station_longitude", "Ending Station Longitude"),
    "trip_id": ("ride_id", "trip_id", "Trip ID", "01 - Rental Details Rental ID"),
}
_STATIONS = "the stations, as a table or as the station_information.json of the system's feed"
_SINCE_2020 = "202404-{}-tripdata.csv"

PORTO = Preset(
    name="porto-taxi",
    words="taxi trips of Porto, 2013-2014, with the path of each trip as text",
    like=("train.csv",),
    id_is="vehicle",
    form="polyline",
    columns={
        "polyline": ("POLYLINE",),
        "person": ("TAXI_ID",),
        "start_time": ("TIMESTAMP",),
        "incomplete": ("MISSING_DATA",),
        "trip_id": ("TRIP_ID",),
    },
)

NYC_TLC = Preset(
    name="nyc-tlc",
    words="taxi trips of New York (yellow, green, high-volume): zones since mid-2016, coordinates before",
    like=("yellow_tripdata_2024-01.parquet", "green_tripdata_2018-01.csv", "fhvhv_tripdata_2024-01.parquet"),
    id_is="vehicle",
    zone_ids=("LocationID",),
    zones="the city's taxi_zones",
    unknown_zones=("264", "265"),
    columns={
        "origin_lat": ("pickup_latitude", "start_lat"),
        "origin_lon": ("pickup_longitude", "start_lon"),
        "destination_lat": ("dropoff_latitude", "end_lat"),
        "destination_lon": ("dropoff_longitude", "end_lon"),
        "origin": ("PULocationID",),
        "destination": ("DOLocationID",),
        "person": ("medallion",),
        "start_time": (
            "tpep_pickup_datetime",
            "lpep_pickup_datetime",
            "pickup_datetime",
            "trip_pickup_datetime",
        ),
        "end_time": (
            "tpep_dropoff_datetime",
            "lpep_dropoff_datetime",
            "dropoff_datetime",
            "trip_dropoff_datetime",
        ),
    },
)

CHICAGO_TAXI = Preset(
    name="chicago-taxi",
    words="taxi trips of Chicago, between the middles of census tracts or community areas",
    like=("Taxi_Trips_2023.csv",),
    id_is="vehicle",
    columns={
        "origin_lat": ("Pickup Centroid Latitude",),
        "origin_lon": ("Pickup Centroid Longitude",),
        "destination_lat": ("Dropoff Centroid Latitude",),
        "destination_lon": ("Dropoff Centroid Longitude",),
        "origin": ("Pickup Community Area",),
        "destination": ("Dropoff Community Area",),
        "person": ("Taxi ID",),
        "start_time": ("Trip Start Timestamp",),
        "end_time": ("Trip End Timestamp",),
        "trip_id": ("Trip ID",),
    },
    time_formats=("%m/%d/%Y %I:%M:%S %p",),
    zone_ids=("area_numbe", "area_num_1"),
    zones="the city's community areas",
)

CITIBIKE = Preset(
    name="citibike",
    words="bike-share trips of New York and Jersey City, both formats (before and since 2021)",
    like=("201307-citibike-tripdata.csv", _SINCE_2020.format("citibike")),
    id_is="vehicle",
    columns={
        **_RIDES,
        "person": ("bikeid",),
        "start_time": ("started_at", "starttime"),
        "end_time": ("ended_at", "stoptime"),
    },
    time_formats=US_TIMES,
)

DIVVY = Preset(
    name="divvy",
    words="bike-share trips of Chicago: coordinates since 2020, stations before",
    like=("Divvy_Trips_2019_Q4.csv", _SINCE_2020.format("divvy")),
    id_is="vehicle",
    zone_ids=("station_id", "id"),
    zones=_STATIONS,
    columns={
        **_RIDES,
        "origin": ("from_station_id", "03 - Rental Start Station ID"),
        "destination": ("to_station_id", "02 - Rental End Station ID"),
        "person": ("bikeid", "01 - Rental Details Bike ID"),
        "start_time": ("started_at", "starttime", "start_time", "01 - Rental Details Local Start Time"),
        "end_time": ("ended_at", "stoptime", "end_time", "01 - Rental Details Local End Time"),
    },
    time_formats=US_TIMES,
)

CAPITAL = Preset(
    name="capital-bikeshare",
    words="bike-share trips of Washington: coordinates since mid-2020, stations before",
    like=("2019Q4-capitalbikeshare-tripdata.csv", _SINCE_2020.format("capitalbikeshare")),
    id_is="vehicle",
    zone_ids=("station_id", "short_name", "terminal_number"),
    zones=_STATIONS,
    columns={
        **_RIDES,
        "origin": ("Start station number",),
        "destination": ("End station number",),
        "person": ("Bike number",),
        "start_time": ("started_at", "Start date"),
        "end_time": ("ended_at", "End date"),
    },
    time_formats=US_TIMES,
)

BAY_WHEELS = Preset(
    name="bay-wheels",
    words="bike-share trips of San Francisco and around (Bay Area Bike Share, Ford GoBike, Bay Wheels)",
    like=("201402_trip_data.csv", "201801-fordgobike-tripdata.csv", _SINCE_2020.format("baywheels")),
    passed_over=("*_station_data.csv", "*_status_data.csv", "*_weather_data.csv", "*_rebalancing_data.csv"),
    id_is="vehicle",
    zone_ids=("station_id",),
    zones="the station_data.csv that comes along",
    columns={
        **_RIDES,
        "origin": ("Start Terminal",),
        "destination": ("End Terminal",),
        "person": ("bike_id", "Bike #"),
        "start_time": ("started_at", "start_time", "Start Date"),
        "end_time": ("ended_at", "end_time", "End Date"),
    },
    time_formats=US_TIMES,
)

LA_METRO = Preset(
    name="la-metro-bike",
    words="bike-share trips of Los Angeles (Metro Bike Share)",
    like=("metro-trips-2023-q4.csv",),
    id_is="vehicle",
    columns={
        **_RIDES,
        "person": ("bike_id",),
        "start_time": ("start_time",),
        "end_time": ("end_time",),
    },
    time_formats=US_TIMES,
)

_ROUTE = "json_extract_string(route, '$.features[{}].geometry.coordinates[{}]')"

MDS = Preset(
    name="mds",
    words="trips of shared vehicles by the Mobility Data Specification, JSON or a table of it",
    like=("trips.json", "trips.csv"),
    documents=True,
    id_is="vehicle",
    columns={
        "origin_lat": ("route_start_lat", "start_location_lat", *KNOWN_NAMES["origin_lat"]),
        "origin_lon": ("route_start_lon", "start_location_lng", *KNOWN_NAMES["origin_lon"]),
        "destination_lat": ("route_end_lat", "end_location_lat", *KNOWN_NAMES["destination_lat"]),
        "destination_lon": ("route_end_lon", "end_location_lng", *KNOWN_NAMES["destination_lon"]),
        "person": ("device_id", "vehicle_id"),
        "start_time": ("start_time",),
        "end_time": ("end_time",),
        "trip_id": ("trip_id", "id"),
    },
    derived=tuple(
        Derived(name=f"route_{end}_{axis}", sql=_ROUTE.format(at, place), needs=("route",))
        for end, at in (("start", "0"), ("end", "#-1"))
        for axis, place in (("lon", 0), ("lat", 1))
    ),
    time_formats=US_TIMES,
)

GBFS = Preset(
    name="gbfs",
    words="what is made of a bike-share feed (GBFS): snapshots of free vehicles, or trips between them",
    like=("free_bike_status.json", "vehicle_status.json"),
    documents=True,
    id_is="vehicle",
    zone_ids=("station_id",),
    zones="the station_information.json of the feed",
    columns={
        **{role: KNOWN_NAMES[role] for role in ("origin_lat", "origin_lon")},
        **{role: KNOWN_NAMES[role] for role in ("destination_lat", "destination_lon", "end_time")},
        "start_time": ("started_at", "start_time", *KNOWN_NAMES["start_time"]),
        "person": ("bike_id", "vehicle_id"),
        "time": ("last_reported", "last_updated", *KNOWN_NAMES["time"]),
        "lat": KNOWN_NAMES["lat"],
        "lon": KNOWN_NAMES["lon"],
    },
    notes=(
        "feeds that follow the specification change the ids of vehicles after every trip: then an id is a "
        "trip rather than a vehicle",
    ),
)

RIDES = (
    PORTO,
    NYC_TLC,
    CHICAGO_TAXI,
    CITIBIKE,
    DIVVY,
    CAPITAL,
    BAY_WHEELS,
    LA_METRO,
    MDS,
    GBFS,
)
