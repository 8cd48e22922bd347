"""The keywords that say what an input is and how it is read: one declaration for Python and command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.ground.options import Option

if TYPE_CHECKING:
    from tripcloak.ground.keys import SigningKey
    from tripcloak.records.files.frames import Input
    from tripcloak.records.source import TripSource


def column(name: str, words: str) -> Option:
    """Return the keyword that names a column of the input."""
    return Option(name=name, help=words, metavar="COLUMN", group="column")


def reading(name: str, words: str, **said: Any) -> Option:
    """Return a keyword on the rows of the input."""
    return Option(name=name, help=words, group="reading", **said)


MEMORY = Option(
    name="memory",
    help="Memory to use, such as 1GB.",
    unset="half of the machine's",
    metavar="SIZE",
    group="run",
)
ENGINE = Option(
    name="engine",
    help="Where flows are counted: arrays in memory, parts on disk, or spark; the release is the same.",
    unset="parts where arrays would not fit the memory",
    metavar="NAME",
    values=("arrays", "parts", "spark"),
    group="run",
)
MASTER = Option(
    name="master",
    help="With --engine spark, where it runs: local[2], spark://HOST:7077 or yarn (extra spark).",
    unset="what spark-submit says, or the session that is there",
    metavar="URL",
    reads="line",
    group="run",
)
ID_IS = reading(
    "id_is",
    "What an id stands for: person, vehicle, device, card or household.",
    unset="told by the column's name and by how ids are used",
    metavar="KIND",
)
TIMEZONE = reading(
    "timezone",
    "Zone of times written without an offset, such as Europe/Paris.",
    unset="as they stand; what is published of them claims no zone",
    metavar="ZONE",
)
ENCODING = reading(
    "encoding",
    "Encoding of text: utf-8, windows-1252, utf-16 ...",
    unset="found from the text",
    metavar="NAME",
)
TOLERATE = reading(
    "tolerate",
    "Share of a file's rows that may be impossible to read, such as 5%; beyond it nothing is made.",
    metavar="SHARE",
    kind="number",
    reads="share",
    default=0.05,
)
TIME_FORMAT = reading(
    "time_format",
    "How times are written, as in '%d/%m/%Y %H:%M' (repeatable).",
    unset="found from the text",
    metavar="FORMAT",
    kind="texts",
)
DECIMAL = reading(
    "decimal",
    "What begins a fraction in text.",
    unset="found from the text",
    metavar="WHICH",
    values=("point", "comma"),
)
TEXT = (TIME_FORMAT, DECIMAL, ENCODING)
"""How text is written."""

STATIONS = reading(
    "stations", "Table of base stations: where each id of --antenna is.", metavar="FILE", reads="path"
)

TRIP_READING = (
    reading(
        "preset",
        "A public format such as nyc-tlc, citibike or geolife; see `tripcloak presets`.",
        metavar="NAME",
    ),
    reading(
        "form",
        "What a row is: trips, points, polyline, zones or counts.",
        unset="found from the columns",
        metavar="FORM",
    ),
    reading("where", "Only rows for which this holds, for example \"system = 'la_metro'\".", metavar="SQL"),
    reading("box", "Drop trips with an end outside this box (degrees).", metavar="S,W,N,E", reads="box"),
    reading("polygon", "Drop trips with an end outside this GeoJSON area.", metavar="FILE", reads="path"),
    reading(
        "silence",
        "GPS points: a longer silence starts a new trip.",
        unset="found from how often they come",
        metavar="SECONDS",
        kind="number",
    ),
    ID_IS,
    TIMEZONE,
    *TEXT,
    TOLERATE,
    STATIONS,
    reading("attribute", "Carry this column along (repeatable).", metavar="COLUMN", kind="texts"),
    Option(
        name="people_once",
        help="Counts: everybody is counted in one row only, so people add up.",
        unset="found from the columns",
        kind="switch",
        group="counts",
    ),
    Option(
        name="zone_prefix",
        help="Keep the first N characters of zone ids (11: census blocks to tracts).",
        metavar="N",
        kind="whole number",
        group="counts",
    ),
)
"""How tables of trips are read."""

TRIP_COLUMNS = (
    column("origin_lat", "Latitude of the origin."),
    column("origin_lon", "Longitude of the origin."),
    column("destination_lat", "Latitude of the destination."),
    column("destination_lon", "Longitude of the destination."),
    column("origin", "Zone id of the origin."),
    column("destination", "Zone id of the destination."),
    column("origin_place", "Place at the origin, such as a station (for --l-places)."),
    column("destination_place", "Place at the destination (for --l-places)."),
    column("person", "Id of the person, or of what --id-is says; `none` if a found one is not."),
    column("weight", "Population each trip stands for."),
    column("trips", "Number of trips a row stands for."),
    column("start_time", "Start of the trip."),
    column("end_time", "End of the trip."),
    column("lat", "GPS points: latitude."),
    column("lon", "GPS points: longitude."),
    column("time", "GPS points: time."),
    column("trip_id", "Id that sets trips apart: rows with different ones are no duplicates."),
    column("fare", "Fare: a row that takes it back is a refund; `none` if a found one is not."),
    column("antenna", "Calls: base station, with --stations."),
    column("polyline", "Path as [[lon,lat],...]."),
)
"""What the columns of a table of trips are, where their names do not tell."""

KEPT_IN = Option(
    name="ledger",
    help="Record the release in this ledger, beside all others of the same people.",
    metavar="DIR",
    reads="path",
    group="run",
)
NEEDS_APPROVALS = Option(
    name="needs_approvals",
    help="With --ledger: how many people must approve before it may be published, if more than it says.",
    metavar="N",
    kind="whole number",
    least=0,
    group="run",
)
SIGN = Option(
    name="sign",
    help="Audit against the raw input and sign the verdict with this private key (see `tripcloak keygen`).",
    metavar="KEY",
    reads="path",
    group="run",
)


def signing_key(given: Mapping[str, Any]) -> SigningKey | None:
    """Return the key to sign with, read from its file; None where nothing is to be signed."""
    from tripcloak.ground.keys import read_signing_key

    return None if given.get("sign") is None else read_signing_key(Path(given["sign"]))


def trip_source(inputs: Sequence[Input], given: Mapping[str, Any]) -> TripSource:
    """Return what to read and how, from inputs and the values of keywords.

    >>> trip_source(["trips.csv"], {"person": "rider", "silence": 60.0}).columns
    {'person': 'rider'}
    """
    from tripcloak.records.source import TripSource

    named = {one.name for one in TRIP_READING} & {name for name, value in given.items() if value is not None}
    wishes = {name: given[name] for name in named - {"attribute"}}
    return TripSource(
        paths=tuple(inputs),
        columns=columns_given(TRIP_COLUMNS, given),
        attributes=given.get("attribute") or (),
        **wishes,
    )


def columns_given(columns: Sequence[Option], given: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns that were named, by role."""
    return {one.name: given[one.name] for one in columns if given.get(one.name) is not None}
