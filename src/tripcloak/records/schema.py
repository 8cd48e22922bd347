"""Roles that a column can play, the names it usually has, and the forms that a table can have."""

from __future__ import annotations

from itertools import product
from typing import Literal, NamedTuple, get_args

from tripcloak.ground.spelling import spelt

Form = Literal["trips", "points", "polyline", "zones", "counts"]
FORMS: tuple[Form, ...] = get_args(Form)

Decimal = Literal["point", "comma"]
"""What begins a fraction in text."""

Endpoints = Literal["points", "zones"]
"""How the ends of a trip are given: as coordinates or as ids of zones."""

Kind = Literal["number", "time", "person", "zone", "polyline", "truth", "separator", "amount"]


class Role(NamedTuple):
    """What a column means, an example of what it should hold, and whether an option may name it."""

    name: str
    kind: Kind
    words: str
    example: str
    named: bool = True


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("origin_lat", "number", "latitude of the origin", "48.8566"),
        Role("origin_lon", "number", "longitude of the origin", "2.3522"),
        Role("destination_lat", "number", "latitude of the destination", "48.8566"),
        Role("destination_lon", "number", "longitude of the destination", "2.3522"),
        Role("origin", "zone", "id of the origin zone", "75056"),
        Role("destination", "zone", "id of the destination zone", "75056"),
        Role("origin_place", "separator", "id of the place at the origin", "station 17"),
        Role(
            "destination_place",
            "separator",
            "id of the place at the destination",
            "station 17",
        ),
        Role("person", "person", "id of the person or vehicle", "a17"),
        Role("weight", "number", "people a trip stands for", "112.5"),
        Role("trips", "number", "number of trips a row stands for", "12"),
        Role("start_time", "time", "start of the trip", "2024-05-01 08:30:00"),
        Role("end_time", "time", "end of the trip", "2024-05-01 08:52:00"),
        Role("lat", "number", "latitude of a GPS fix", "48.8566"),
        Role("lon", "number", "longitude of a GPS fix", "2.3522"),
        Role("time", "time", "time of a GPS fix", "2024-05-01 08:30:00"),
        Role("antenna", "zone", "id of the base station", "A17"),
        Role("polyline", "polyline", "path of the trip", "[[2.35,48.85],[2.36,48.86]]"),
        Role("trip_id", "separator", "id that sets trips apart", "7"),
        Role("fare", "amount", "fare of the trip", "12.50"),
        Role("distance", "amount", "length of the trip", "3.1", named=False),
        Role("incomplete", "truth", "mark of an incomplete record", "True", named=False),
        Role("occupied", "truth", "mark of a passenger on board", "1", named=False),
    )
}

FLAGGED: tuple[str, ...] = tuple(name for name, role in ROLES.items() if role.named)

COORDINATES = ("origin_lat", "origin_lon", "destination_lat", "destination_lon")
_ZONES = ("origin", "destination")
PLACES = ("origin_place", "destination_place")
TELLING = ("trip_id", "fare", "distance")
"""Roles that tell one trip from another that is equal to it in all else."""
_EXTRAS = ("person", "weight", "start_time", "end_time", "incomplete", *PLACES, *TELLING)

NEEDED: dict[Form, tuple[tuple[str, ...], ...]] = {
    "trips": (COORDINATES,),
    "polyline": (("polyline",),),
    "counts": ((*COORDINATES, "trips"), (*_ZONES, "trips")),
    "zones": (_ZONES,),
    "points": (("person", "time", "lat", "lon"), ("trip_id", "time", "lat", "lon")),
}
"""For each form the sets of roles, any one of which is enough."""

OPTIONAL: dict[Form, tuple[str, ...]] = {
    "trips": _EXTRAS,
    "polyline": _EXTRAS,
    "counts": _EXTRAS,
    "zones": _EXTRAS,
    "points": ("person", "weight", "trip_id", "occupied", "incomplete"),
}


def option_of(role: str, column: str | None = None) -> str:
    """Return the option that names the column of a role, as the reader would write it.

    Examples
    --------
    >>> option_of("origin_lat"), option_of("person", "NAME"), option_of("occupied")
    ('origin_lat=...', "person='NAME'", "the preset's occupied column")
    """
    return spelt(role, column) if ROLES[role].named else f"the preset's {role} column"


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
    "last_reported",
    "last_updated",
)

_ANTENNAS = (
    "antenna_id", "antenna", "cell_id", "cell", "cgi", "ecgi", "bts_id", "bts", "base_station_id",
    "base_station", "tower_id", "tower", "site_id", "site", "station_id", "station",
)  # fmt: skip

_PEOPLE = (
    "person_id", "person", "id_person", "user_id", "user", "uid", "traveller_id", "traveler_id",
    "individual_id", "participant_id", "participant", "respondent_id", "subscriber_id", "customer_id",
    "client_id", "member_id", "rider_id", "passenger_id", "driver_id", "card_id", "device_id", "device",
    "phone_id", "imsi", "msisdn", "caid", "maid", "ad_id", "agent_id", "agent", "object_id",
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
        "rental_id",
        "01 - Rental Details Rental ID",
        "booking_id",
        "order_id",
    ),
    "fare": ("fare_amount", "fare", "base_passenger_fare", "total_amount", "trip_total", "price"),
    "distance": ("trip_distance", "trip_miles", "trip_km", "trip_length", "distance"),
    "incomplete": ("missing_data",),
}
"""Role to usual names; case, spaces, dots and underscores do not matter."""
