"""The names that columns usually have, best first for every role."""

from __future__ import annotations

from itertools import product

_LAT = ("lat", "latitude")
_LON = ("lon", "lng", "long", "longitude")

_ORIGIN = (
    "origin",
    "orig",
    "o",
    "start",
    "from",
    "pickup",
    "begin",
    "source",
    "src",
    "departure",
    "dep",
    "home",
)
_DESTINATION = (
    "destination",
    "dest",
    "d",
    "end",
    "to",
    "dropoff",
    "stop",
    "target",
    "dst",
    "arrival",
    "arr",
    "work",
)

_PLACE = ("", "station", "centroid", "point", "location", "loc", "zone", "trip")

_ZONE_WORDS = (
    "zone", "zone_id", "taz", "tract", "area", "area_id", "district", "municipality", "code", "geoid", "id",
    "h3", "h3_cell", "cell", "cell_id", "hex", "tile", "geocode",
    "location_id", "station_id", "station", "stop_id", "station_name",
)  # fmt: skip

_START = ("start", "begin", "departure", "pickup", "origin", "trip_start", "depart")
_END = ("end", "stop", "arrival", "dropoff", "destination", "trip_end", "finish", "arrive")
_CLOCK = ("time", "datetime", "date_time", "timestamp", "at", "local_time", "utc", "date")

_FIX_TIME = (
    "time",
    "timestamp",
    "datetime",
    "date_time",
    "t",
    "utc",
    "gps_time",
    "time_utc",
    "unixtime",
    "epoch",
    "utc_timestamp",
    "utc_time",
    "event_time",
    "checkin_time",
    "check_in_time",
    "call_time",
)

_ANTENNAS = (
    "antenna_id", "antenna", "cell_id", "cell", "cgi", "ecgi", "bts_id", "bts", "base_station_id",
    "base_station", "tower_id", "tower", "site_id", "site", "station_id", "station",
)  # fmt: skip

_PEOPLE = (
    "person_id", "person", "id_person", "user_id", "user", "uid", "traveller_id", "traveler_id",
    "individual_id", "participant_id", "participant", "respondent_id", "subscriber_id", "customer_id",
    "client_id", "member_id", "rider_id", "passenger_id", "driver_id", "card_id", "device_id", "device",
    "phone_id", "imsi", "msisdn", "caid", "maid", "ad_id", "agent_id", "agent",
)  # fmt: skip

_VEHICLES = (
    "vehicle_id", "vehicle", "veh_id", "taxi_id", "taxi", "cab_id", "cab", "medallion", "hack_license",
    "car_id", "bike_id", "bike", "bike_number", "scooter_id", "plate",
)  # fmt: skip

_TRIPS = (
    "trips", "n_trips", "num_trips", "number_of_trips", "trip_count", "total_trips", "count", "n", "flow",
    "flows", "volume", "commuters", "workers", "jobs", "s000", "persons", "people", "viajes",
)  # fmt: skip

_WEIGHTS = (
    "weight", "weight_indiv", "person_weight", "trip_weight", "sample_weight", "expansion_factor",
    "expansion", "expansionfactor", "population", "weights", "w",
)  # fmt: skip

PEOPLE_ONCE = frozenset({"commuters", "workers", "jobs", "s000"})
"""Columns of home-to-work tables: everybody is counted in exactly one row."""

VEHICLES = frozenset(name.replace("_", "") for name in _VEHICLES)


def _coordinates(ends: tuple[str, ...], axis: tuple[str, ...]) -> tuple[str, ...]:
    before = tuple(f"{end}{place}{word}" for place, end, word in product(_PLACE, ends, axis))
    after = tuple(f"{word}{end}" for end, word in product(ends, axis))
    return (*before, *(f"trip{end}{word}" for end, word in product(ends, axis)), *after)


def _zones(ends: tuple[str, ...], alone: tuple[str, ...], special: tuple[str, ...]) -> tuple[str, ...]:
    before = tuple(f"{end}_{word}" for word, end in product(_ZONE_WORDS, ends))
    after = tuple(f"{word}_{end}" for word, end in product(("h3", "zone", "taz", "cell", "id"), ends))
    return (*alone, *special, *before, *after)


def _times(ends: tuple[str, ...], special: tuple[str, ...]) -> tuple[str, ...]:
    written = tuple(f"{end}_{clock}" for end, clock in product(ends, _CLOCK))
    after = tuple(f"{clock}_{end}" for end, clock in product(ends, ("time", "timestamp", "datetime")))
    return (*special, *written, *after)


KNOWN_NAMES: dict[str, tuple[str, ...]] = {
    "origin_lat": _coordinates(_ORIGIN, _LAT),
    "origin_lon": _coordinates(_ORIGIN, _LON),
    "destination_lat": _coordinates(_DESTINATION, _LAT),
    "destination_lon": _coordinates(_DESTINATION, _LON),
    "origin": _zones(
        _ORIGIN, ("origin", "orig", "o", "from", "source"), ("PULocationID", "h_geocode", "origen")
    ),
    "destination": _zones(
        _DESTINATION, ("destination", "dest", "d", "to", "target"), ("DOLocationID", "w_geocode", "destino")
    ),
    "person": (*_PEOPLE, *_VEHICLES),
    "weight": _WEIGHTS,
    "trips": _TRIPS,
    "start_time": (
        *_times(
            _START, ("started_at", "tpep_pickup_datetime", "lpep_pickup_datetime", "trip_pickup_datetime")
        ),
        *_FIX_TIME,
    ),
    "end_time": _times(
        _END, ("ended_at", "tpep_dropoff_datetime", "lpep_dropoff_datetime", "trip_dropoff_datetime")
    ),
    "lat": (*_LAT, "gps_lat", "gps_latitude", "position_lat"),
    "lon": (*_LON, "gps_lon", "gps_longitude", "position_lon"),
    "time": (*_FIX_TIME, *_times(_START, ("started_at",))),
    "antenna": _ANTENNAS,
    "polyline": ("polyline", "path", "trajectory", "coordinates"),
    "trip_id": (
        "trip_id",
        "trajectory_id",
        "traj_id",
        "track_id",
        "journey_id",
        "ride_id",
        "trip",
        "segment_id",
    ),
    "incomplete": ("missing_data",),
}
"""Role to usual names; case, spaces, dots and underscores do not matter."""
