"""Options that several commands on trajectories share, said once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import ROWS, Inputs, Memory, Stations, Timezone, box_of, column, path_of, takes
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.trajectories.methods.method import TrajectoryMethod
    from tripcloak.trajectories.reading import TrajectorySource

ROLES = (
    *("person", "time", "lat", "lon", "antenna"),
    *("origin_lat", "origin_lon", "destination_lat", "destination_lon", "start_time", "end_time"),
)
SAMPLES, OWN = "Samples", "Options of single methods"


@dataclass(frozen=True)
class FixInput:
    """What the shared input options said."""

    source: "TrajectorySource"
    memory: str | None


def input_options(
    inputs: Inputs,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A public format: geolife, cabspotting, tdrive, foursquare, gowalla, cdr.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="Only rows for which this holds.", rich_help_panel=ROWS),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            metavar="S,W,N,E", help="Drop what lies outside this box (degrees).", rich_help_panel=ROWS
        ),
    ] = None,
    polygon: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Drop what lies outside this GeoJSON area.", rich_help_panel=ROWS),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Drop what is earlier, such as 2024-05-01.", rich_help_panel=ROWS),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Drop this moment and what is later.", rich_help_panel=ROWS),
    ] = None,
    timezone: Timezone = "UTC",
    stations: Stations = None,
    sample_users: Annotated[
        int | None,
        typer.Option(metavar="N", help="Only so many people, drawn by a hash.", rich_help_panel=ROWS),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same people.", rich_help_panel=ROWS)] = 1,
    person: Annotated[str | None, column("--person", "Whose fix it is.")] = None,
    time: Annotated[str | None, column("--time", "When.")] = None,
    lat: Annotated[str | None, column("--lat", "Latitude.")] = None,
    lon: Annotated[str | None, column("--lon", "Longitude.")] = None,
    antenna: Annotated[str | None, column("--antenna", "Base station, with --stations.")] = None,
    origin_lat: Annotated[str | None, column("--origin-lat", "Trips: latitude of the origin.")] = None,
    origin_lon: Annotated[str | None, column("--origin-lon", "Trips: longitude of the origin.")] = None,
    destination_lat: Annotated[
        str | None, column("--destination-lat", "Trips: latitude of the destination.")
    ] = None,
    destination_lon: Annotated[
        str | None, column("--destination-lon", "Trips: longitude of the destination.")
    ] = None,
    start_time: Annotated[str | None, column("--start-time", "Trips: when they begin.")] = None,
    end_time: Annotated[str | None, column("--end-time", "Trips: when they end.")] = None,
    seconds: Annotated[
        int | None,
        typer.Option(
            metavar="SECONDS",
            help="Length of a sample; found from the times if not given.",
            rich_help_panel=SAMPLES,
        ),
    ] = None,
    metres: Annotated[
        int | None,
        typer.Option(
            metavar="METRES",
            help="Width of a sample; found from the places if not given.",
            rich_help_panel=SAMPLES,
        ),
    ] = None,
    max_speed: Annotated[
        float | None,
        typer.Option(
            metavar="KM/H", help="Drop samples that nobody can have reached.", rich_help_panel=SAMPLES
        ),
    ] = None,
    memory: Memory = None,
) -> FixInput:
    """Return what the options say, as the objects the library works with."""
    from tripcloak.trajectories.reading import TrajectorySource

    given = locals()
    source = TrajectorySource(
        paths=tuple(inputs),
        preset=preset,
        columns={role: given[role] for role in ROLES if given[role] is not None},
        where=where,
        box=box_of("--box", box),
        polygon=path_of(polygon),
        timezone=timezone,
        stations=path_of(stations),
        sample=None if sample_users is None else (sample_users, seed),
        since=since,
        until=until,
        seconds=seconds,
        metres=metres,
        max_speed=max_speed,
    )
    return FixInput(source, memory)


def takes_input(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has all input options in place of its parameter ``given``."""
    return takes(input_options, "given", command)


def method_options(
    neighbours: Annotated[
        int | None,
        typer.Option(metavar="N", help="k-scale: candidates looked at for each person.", rich_help_panel=OWN),
    ] = None,
    constraint: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="k-scale: full, k-pick or nu-k-pick.", rich_help_panel=OWN),
    ] = None,
    picking: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="k-scale: how nu-k-pick is met, together or, as in the paper, alone.",
            rich_help_panel=OWN,
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            metavar="METRES", help="w4m, nwa: how far apart the hidden may be.", rich_help_panel=OWN
        ),
    ] = None,
    trash: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="w4m, nwa: share of the people that may be deleted.", rich_help_panel=OWN
        ),
    ] = None,
    chunk: Annotated[
        int | None,
        typer.Option(metavar="N", help="w4m, nwa: people that are clustered at a time.", rich_help_panel=OWN),
    ] = None,
    period: Annotated[
        int | None,
        typer.Option(
            metavar="SECONDS",
            help="nwa: trajectories begin and end at multiples of this.",
            rich_help_panel=OWN,
        ),
    ] = None,
    sampling: Annotated[
        int | None,
        typer.Option(metavar="SECONDS", help="nwa: time between two released points.", rich_help_panel=OWN),
    ] = None,
    radius: Annotated[
        float | None,
        typer.Option(
            metavar="METRES", help="w4m, nwa: radius of clusters to begin with.", rich_help_panel=OWN
        ),
    ] = None,
    growth: Annotated[
        float | None,
        typer.Option(metavar="FACTOR", help="w4m, nwa: by which the radius grows.", rich_help_panel=OWN),
    ] = None,
    unmatched: Annotated[
        float | None,
        typer.Option(metavar="METRES", help="w4m: cost of a point without a match.", rich_help_panel=OWN),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Threads; one a core if not given. The result is the same.", rich_help_panel=OWN
        ),
    ] = None,
) -> dict[str, Any]:
    """Return the options of single methods that were given."""
    return {name: value for name, value in locals().items() if value is not None}


def takes_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has the options of single methods in place of its parameter ``own``."""
    return takes(method_options, "own", command)


def chosen(method: str, k: int, own: dict[str, Any]) -> "TrajectoryMethod":
    """Return a method with its options; an option of another method is an error."""
    from tripcloak.trajectories.methods.registry import find_trajectory_method

    chosen = find_trajectory_method(method)
    for name in own:
        if name not in chosen.__dataclass_fields__:
            raise InputError(f"{method} has no option --{name.replace('_', '-')}")
    return chosen(k=k, **own)
