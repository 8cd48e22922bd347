"""Presets: the column names, layouts and quirks of public mobility data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tripcloak.ground.errors import InputError
from tripcloak.records.schema import KNOWN_NAMES, Form


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Text files without a line of column names."""

    columns: tuple[str, ...]
    delimiter: str
    skip: int = 0
    suffixes: tuple[str, ...]
    pattern: str
    """Which files of a folder belong to the data set; others (lists, manuals) are passed over."""
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A column made of others by an SQL expression, where those others exist."""

    name: str
    sql: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One public format.

    Attributes
    ----------
    columns : mapping
        Role to the names the column has had over the years; roles left out are not looked for.
    derived : tuple of Derived
        Columns that must be made first; ``filename`` is the path of the file.
    time_formats : tuple of str
        Ways of writing times besides ISO 8601.
    people_once : bool, optional
        Whether each counted person occurs in one row of the whole table.
    ids_in_paths : bool
        Names of files or folders are ids of people: no message may hold one.
    id_is : str, optional
        What an id of this format stands for.
    zone_ids : tuple of str
        Columns of ids in the zones files that belong to the data set.
    zones : str
        What those files are, for who has to find one.
    unknown_zones : tuple of str
        Ids that stand for no zone.
    """

    name: str
    words: str
    columns: Mapping[str, tuple[str, ...]]
    form: Form | None = None
    layout: Layout | None = None
    derived: tuple[Derived, ...] = ()
    time_formats: tuple[str, ...] = ()
    people_once: bool | None = None
    ids_in_paths: bool = False
    id_is: str | None = None
    zone_ids: tuple[str, ...] = ()
    zones: str = ""
    unknown_zones: tuple[str, ...] = ()


_US_TIMES = ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M")

_RIDES = {
    "origin_lat": ("start_lat", "start station latitude"),
    "origin_lon": ("start_lng", "start station longitude"),
    "destination_lat": ("end_lat", "end station latitude"),
    "destination_lon": ("end_lng", "end station longitude"),
}

_FLAT = {role: KNOWN_NAMES[role] for role in ("person", "time", "lat", "lon")}
"""Names in tables that others made of a data set."""

_PORTO = Preset(
    name="porto-taxi",
    words="taxi trips of Porto, 2013-2014, with the path of each trip as text",
    id_is="vehicle",
    form="polyline",
    columns={
        "polyline": ("POLYLINE",),
        "person": ("TAXI_ID",),
        "start_time": ("TIMESTAMP",),
        "incomplete": ("MISSING_DATA",),
    },
)

_NYC_TLC = Preset(
    name="nyc-tlc",
    words="taxi trips of New York: zones since mid-2016, coordinates before",
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

_CITIBIKE = Preset(
    name="citibike",
    words="bike-share trips of New York, both formats (before and since 2021)",
    id_is="vehicle",
    columns={
        **_RIDES,
        "person": ("bikeid",),
        "start_time": ("started_at", "starttime"),
        "end_time": ("ended_at", "stoptime"),
    },
    time_formats=_US_TIMES,
)

_DIVVY = Preset(
    name="divvy",
    words="bike-share trips of Chicago: coordinates since 2020, stations before",
    id_is="vehicle",
    columns={
        **_RIDES,
        "origin": ("from_station_id", "03 - Rental Start Station ID"),
        "destination": ("to_station_id", "02 - Rental End Station ID"),
        "person": ("bikeid", "01 - Rental Details Bike ID"),
        "start_time": ("started_at", "starttime", "start_time", "01 - Rental Details Local Start Time"),
        "end_time": ("ended_at", "stoptime", "end_time", "01 - Rental Details Local End Time"),
    },
    time_formats=_US_TIMES,
)

_CHICAGO_TAXI = Preset(
    name="chicago-taxi",
    words="taxi trips of Chicago, between the middles of census tracts or community areas",
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
    },
    time_formats=("%m/%d/%Y %I:%M:%S %p",),
    zone_ids=("area_numbe", "area_num_1"),
    zones="the city's community areas",
)

_CABSPOTTING = Preset(
    name="cabspotting",
    words="GPS fixes of San Francisco taxis, one file a cab; trips are runs with a passenger",
    id_is="vehicle",
    form="points",
    columns={
        "person": ("cab", *_FLAT["person"]),
        "time": ("unix_time", *_FLAT["time"]),
        "lat": ("latitude", *_FLAT["lat"]),
        "lon": ("longitude", *_FLAT["lon"]),
        "occupied": ("occupancy", "occupied"),
    },
    layout=Layout(
        columns=("latitude", "longitude", "occupancy", "unix_time"),
        delimiter=" ",
        suffixes=(".txt",),
        pattern="new_*.txt",
    ),
    derived=(
        Derived(
            name="cab",
            sql=r"regexp_extract(filename, '(?:new_)?([^/\\]*)\.txt$', 1)",
            needs=("unix_time",),
        ),
    ),
    ids_in_paths=True,
)

_GEOLIFE = Preset(
    name="geolife",
    words="GPS fixes of GeoLife, one folder a person and one .plt file a trajectory",
    id_is="person",
    form="points",
    columns={
        "person": ("person", *_FLAT["person"]),
        "time": ("date_time", *_FLAT["time"]),
        "lat": ("latitude", *_FLAT["lat"]),
        "lon": ("longitude", *_FLAT["lon"]),
        "trip_id": ("trajectory", "trip_id", "trajectory_id", "traj_id"),
    },
    layout=Layout(
        columns=("latitude", "longitude", "zero", "altitude_feet", "days", "date", "time"),
        delimiter=",",
        skip=6,
        suffixes=(".plt",),
        pattern="*.plt",
    ),
    derived=(
        Derived(
            name="person",
            sql=r"regexp_extract(filename, '([^/\\]+)[/\\]Trajectory[/\\][^/\\]*$', 1)",
            needs=("altitude_feet",),
        ),
        Derived(
            name="trajectory",
            sql=r"regexp_extract(filename, '([^/\\]*)\.plt$', 1)",
            needs=("altitude_feet",),
        ),
        Derived(name="date_time", sql='concat_ws(\' \', "date", "time")', needs=("date", "time")),
    ),
    ids_in_paths=True,
)

_TDRIVE = Preset(
    name="tdrive",
    words="GPS fixes of Beijing taxis (T-Drive), one file a taxi",
    id_is="vehicle",
    form="points",
    columns=_FLAT,
    layout=Layout(
        columns=("taxi_id", "date_time", "longitude", "latitude"),
        delimiter=",",
        suffixes=(".txt",),
        pattern="*.txt",
    ),
    ids_in_paths=True,
)

_FOURSQUARE = Preset(
    name="foursquare",
    words="check-ins of Foursquare in New York and Tokyo, 2012-2013",
    id_is="person",
    form="points",
    columns=_FLAT,
    layout=Layout(
        columns=(
            "user_id",
            "venue_id",
            "category_id",
            "category",
            "latitude",
            "longitude",
            "offset_minutes",
            "utc_time",
        ),
        delimiter="\t",
        suffixes=(".txt",),
        pattern="dataset_TSMC2014_*.txt",
        encoding="latin-1",
    ),
    time_formats=("%a %b %d %H:%M:%S %z %Y",),
)

_GOWALLA = Preset(
    name="gowalla",
    words="check-ins of Gowalla all over the world, 2009-2010",
    id_is="person",
    form="points",
    columns=_FLAT,
    layout=Layout(
        columns=("user_id", "checkin_time", "latitude", "longitude", "venue_id"),
        delimiter="\t",
        suffixes=(".txt",),
        pattern="*totalCheckins.txt*",
    ),
)

_CDR = Preset(
    name="cdr",
    words="call detail records: a subscriber, a time and a base station (or its place)",
    id_is="device",
    form="points",
    columns={
        **_FLAT,
        "person": ("subscriber", "caller_id", "caller", "imsi", "msisdn", *_FLAT["person"]),
        "antenna": KNOWN_NAMES["antenna"],
    },
)

_LODES = Preset(
    name="lodes",
    words="home-to-work tables of the US Census (LODES, OD files) between census blocks",
    id_is="person",
    form="counts",
    columns={"origin": ("home block",), "destination": ("work block",), "trips": ("S000",)},
    derived=(
        # Blocks have 15 digits; tables that took them for numbers lost a leading zero.
        Derived(name="home block", sql="lpad(h_geocode::VARCHAR, 15, '0')", needs=("h_geocode",)),
        Derived(name="work block", sql="lpad(w_geocode::VARCHAR, 15, '0')", needs=("w_geocode",)),
    ),
    people_once=True,
    zone_ids=("tabblk2020", "tabblk2010", "GEOID20", "GEOID10", "GEOID"),
    zones="census blocks, or tracts with the first 11 characters of ids, or the crosswalk of LODES",
)

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        _PORTO,
        _NYC_TLC,
        _CITIBIKE,
        _DIVVY,
        _CHICAGO_TAXI,
        _CABSPOTTING,
        _GEOLIFE,
        _TDRIVE,
        _FOURSQUARE,
        _GOWALLA,
        _CDR,
        _LODES,
    )
}


def find_preset(name: str) -> Preset:
    """Return the preset of that name, or raise an InputError that lists the known ones.

    Examples
    --------
    >>> find_preset("lodes").people_once
    True
    """
    if name not in PRESETS:
        raise InputError(f"unknown preset; expected one of {', '.join(PRESETS)}")
    return PRESETS[name]
