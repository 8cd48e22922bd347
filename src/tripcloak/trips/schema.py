"""Roles that a column can play, forms that a table can have, and the columns of clean trips."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Form = Literal["trips", "points", "polyline", "zones", "counts"]
FORMS: tuple[Form, ...] = get_args(Form)

Endpoints = Literal["points", "zones"]
"""How the ends of a trip are given: as coordinates or as ids of zones."""

Kind = Literal["number", "time", "person", "zone", "polyline", "truth", "separator"]


class Role(NamedTuple):
    """What a column means, the flag that names it, and an example of what it should hold."""

    name: str
    kind: Kind
    flag: str | None
    words: str
    example: str


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("origin_lat", "number", "--origin-lat", "latitude of the origin", "48.8566"),
        Role("origin_lon", "number", "--origin-lon", "longitude of the origin", "2.3522"),
        Role("destination_lat", "number", "--destination-lat", "latitude of the destination", "48.8566"),
        Role("destination_lon", "number", "--destination-lon", "longitude of the destination", "2.3522"),
        Role("origin", "zone", "--origin", "id of the origin zone", "75056"),
        Role("destination", "zone", "--destination", "id of the destination zone", "75056"),
        Role("origin_place", "separator", "--origin-place", "id of the place at the origin", "station 17"),
        Role(
            "destination_place",
            "separator",
            "--destination-place",
            "id of the place at the destination",
            "station 17",
        ),
        Role("person", "person", "--person", "id of the person or vehicle", "a17"),
        Role("weight", "number", "--weight", "people a trip stands for", "112.5"),
        Role("trips", "number", "--trips", "number of trips a row stands for", "12"),
        Role("start_time", "time", "--start-time", "start of the trip", "2024-05-01 08:30:00"),
        Role("end_time", "time", "--end-time", "end of the trip", "2024-05-01 08:52:00"),
        Role("lat", "number", "--lat", "latitude of a GPS fix", "48.8566"),
        Role("lon", "number", "--lon", "longitude of a GPS fix", "2.3522"),
        Role("time", "time", "--time", "time of a GPS fix", "2024-05-01 08:30:00"),
        Role("antenna", "zone", "--antenna", "id of the base station", "A17"),
        Role("polyline", "polyline", "--polyline", "path of the trip", "[[2.35,48.85],[2.36,48.86]]"),
        Role("trip_id", "separator", "--trip-id", "id that sets one person's trips apart", "7"),
        Role("incomplete", "truth", None, "mark of an incomplete record", "True"),
        Role("occupied", "truth", None, "mark of a passenger on board", "1"),
    )
}

FLAGGED: tuple[str, ...] = tuple(name for name, role in ROLES.items() if role.flag)

COORDINATES = ("origin_lat", "origin_lon", "destination_lat", "destination_lon")
_ZONES = ("origin", "destination")
PLACES = ("origin_place", "destination_place")
_EXTRAS = ("person", "weight", "start_time", "end_time", "incomplete", *PLACES)

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


def flag_of(role: str) -> str:
    """Return the command-line flag that names the column of a role.

    Examples
    --------
    >>> flag_of("origin_lat")
    '--origin-lat'
    """
    return ROLES[role].flag or f"the preset's {role} column"
