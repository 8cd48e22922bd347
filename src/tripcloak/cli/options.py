"""Options that several commands share, said once."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.flows.reading.matrix import Zoning
    from tripcloak.records.source import TripSource

ROLE_FLAGS = (
    *("origin_lat", "origin_lon", "destination_lat", "destination_lon", "origin", "destination"),
    *("origin_place", "destination_place"),
    *("person", "weight", "trips", "start_time", "end_time", "lat", "lon", "time", "trip_id", "polyline"),
    "antenna",
)

COLUMNS, ROWS, ZONES = "Columns of the input", "Rows of the input", "Zones"

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Files, globs or folders: Parquet or CSV (also .gz, .zst).",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]
Timezone = Annotated[
    str, typer.Option(metavar="ZONE", help="Zone of times written without an offset.", rich_help_panel=ROWS)
]
Stations = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Table of base stations: where each id of --antenna is.", rich_help_panel=ROWS
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory to use, such as 1GB; half of the machine's if not given."),
]


@dataclass(frozen=True)
class TripInput:
    """What the shared input options said."""

    source: "TripSource"
    zoning: "Zoning"
    memory: str | None


def column(flag: str, words: str) -> Any:
    """Return the option that names a column of the input."""
    return typer.Option(flag, metavar="COLUMN", help=words, rich_help_panel=COLUMNS, show_default=False)


def input_options(
    inputs: Inputs,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A public format: porto-taxi, nyc-tlc, citibike, divvy, lodes; cabspotting, geolife, "
            "tdrive, foursquare, gowalla, cdr.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            metavar="FORM",
            help="trips, points, polyline, zones or counts; found from the columns if not given.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="SQL",
            help="Only rows for which this holds, for example \"system = 'la_metro'\".",
            rich_help_panel=ROWS,
        ),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            metavar="S,W,N,E", help="Drop trips with an end outside this box (degrees).", rich_help_panel=ROWS
        ),
    ] = None,
    polygon: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Drop trips with an end outside this GeoJSON area.", rich_help_panel=ROWS
        ),
    ] = None,
    silence: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="GPS points: a longer silence starts a new trip.", rich_help_panel=ROWS
        ),
    ] = 180.0,
    timezone: Timezone = "UTC",
    stations: Stations = None,
    people_once: Annotated[
        bool | None,
        typer.Option(
            "--people-once/--no-people-once",
            help="Counts: everybody is counted in one row only, so people add up.",
            rich_help_panel=ROWS,
            show_default=False,
        ),
    ] = None,
    zone_prefix: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Keep the first N characters of zone ids (11: census blocks to tracts).",
            rich_help_panel=ROWS,
        ),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Carry this column along (repeatable).",
            rich_help_panel=ROWS,
            show_default=False,
        ),
    ] = None,
    origin_lat: Annotated[str | None, column("--origin-lat", "Latitude of the origin.")] = None,
    origin_lon: Annotated[str | None, column("--origin-lon", "Longitude of the origin.")] = None,
    destination_lat: Annotated[
        str | None, column("--destination-lat", "Latitude of the destination.")
    ] = None,
    destination_lon: Annotated[
        str | None, column("--destination-lon", "Longitude of the destination.")
    ] = None,
    origin: Annotated[str | None, column("--origin", "Zone id of the origin.")] = None,
    destination: Annotated[str | None, column("--destination", "Zone id of the destination.")] = None,
    origin_place: Annotated[
        str | None, column("--origin-place", "Place at the origin, such as a station (for --l-places).")
    ] = None,
    destination_place: Annotated[
        str | None, column("--destination-place", "Place at the destination (for --l-places).")
    ] = None,
    person: Annotated[
        str | None, column("--person", "Person or vehicle id; `none` if a found one is not.")
    ] = None,
    weight: Annotated[str | None, column("--weight", "Population each trip stands for.")] = None,
    trips: Annotated[str | None, column("--trips", "Number of trips a row stands for.")] = None,
    start_time: Annotated[str | None, column("--start-time", "Start of the trip.")] = None,
    end_time: Annotated[str | None, column("--end-time", "End of the trip.")] = None,
    lat: Annotated[str | None, column("--lat", "GPS points: latitude.")] = None,
    lon: Annotated[str | None, column("--lon", "GPS points: longitude.")] = None,
    time: Annotated[str | None, column("--time", "GPS points: time.")] = None,
    trip_id: Annotated[str | None, column("--trip-id", "GPS points: id that sets trips apart.")] = None,
    antenna: Annotated[str | None, column("--antenna", "Calls: base station, with --stations.")] = None,
    polyline: Annotated[str | None, column("--polyline", r"Path as [\[lon,lat],...].")] = None,
    hierarchy: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="h3:RES, h3:RES/root=RES|CELL, h3:RES/binary, quadtree:DEPTH, dendrogram, table:COL,COL.",
            rich_help_panel=ZONES,
        ),
    ] = "h3:10",
    zones: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Zones of dendrogram and table: GeoJSON, GeoParquet or CSV.",
            rich_help_panel=ZONES,
        ),
    ] = None,
    area: Annotated[
        str | None, typer.Option(metavar="S,W,N,E", help="Study area of a quadtree.", rich_help_panel=ZONES)
    ] = None,
    memory: Memory = None,
) -> TripInput:
    """Return what the options say, as the objects the library works with."""
    from tripcloak.flows.reading.matrix import Zoning
    from tripcloak.records.source import TripSource

    given = locals()
    source = TripSource(
        paths=tuple(inputs),
        preset=preset,
        columns={role: given[role] for role in ROLE_FLAGS if given[role] is not None},
        form=form,  # type: ignore[arg-type]  # checked by TripSource itself
        where=where,
        box=box_of("--box", box),
        polygon=polygon,
        silence=silence,
        attributes=tuple(attribute or ()),
        timezone=timezone,
        stations=path_of(stations),
        people_once=people_once,
        zone_prefix=zone_prefix,
    )
    return TripInput(
        source, Zoning(spec=hierarchy, zones=path_of(zones), area=box_of("--area", area)), memory
    )


def path_of(text: str | None) -> str | None:
    """Return where a file is from anywhere: an audit may be made from another folder."""
    return None if text is None else str(Path(text).resolve())


def takes_input(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has all shared input options in place of its parameter ``given``."""
    return takes(input_options, "given", command)


def takes(options: Callable[..., Any], name: str, command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has shared options in place of one parameter, and gets what they make."""
    shared = inspect.signature(options).parameters
    own = {n: p for n, p in inspect.signature(command).parameters.items() if n != name}

    @functools.wraps(command)
    def wrapped(**values: Any) -> None:
        made = options(**{option: values.pop(option) for option in shared})
        command(**{name: made}, **values)

    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*shared.values(), *own.values())]
    # Typer reads a command's options from its signature and its annotations.
    wrapped.__dict__["__signature__"] = inspect.Signature(parameters)
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    wrapped.__dict__.pop("__wrapped__")
    return wrapped


def numbers(flag: str, text: str) -> Sequence[float]:
    """Return comma-separated numbers.

    >>> numbers("--box", "1,2.5")
    [1.0, 2.5]
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} takes numbers separated by commas; got {text!r}") from None


def box_of(flag: str, text: str | None) -> tuple[float, float, float, float] | None:
    """Return the box of an option; None where there is none.

    >>> box_of("--box", "48.8,2.2,48.9,2.4")
    (48.8, 2.2, 48.9, 2.4)
    """
    if text is None:
        return None
    values = numbers(flag, text)
    if len(values) != 4:
        raise InputError(f"{flag} takes south,west,north,east in degrees; got {len(values)} numbers")
    return values[0], values[1], values[2], values[3]
