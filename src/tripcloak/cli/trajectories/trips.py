"""tripcloak trajectories trips."""

from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.options import Force, Given, Inputs, Json, takes
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.trajectories.keywords import keywords, trajectory_source


@takes(lambda: keywords("trips"))
def command(
    given: Given,
    inputs: Inputs,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="File to write: CSV if its name ends so, else Parquet.")
    ],
    stay: Annotated[
        float,
        typer.Option(
            metavar="MINUTES", help="Time at a place that makes it an end of trips; 0 for check-ins."
        ),
    ] = 20.0,
    place: Annotated[
        float, typer.Option(metavar="METRES", help="Samples within this distance are at one place.")
    ] = 200.0,
    longest: Annotated[
        float, typer.Option(metavar="HOURS", help="After a longer silence, a change of place is no trip.")
    ] = 24.0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Extract trips from trajectories, for the commands on origins and destinations.

    A trip leads from a stay to the next one elsewhere.

    INPUT is raw, or a folder written by anonymise, whose boxes are taken at their centres.

    The file is what `tripcloak anonymise` reads without further options.

    Places are told to 10 metres, unless --metres says otherwise.

    [bold]Examples[/bold]

      tripcloak trajectories trips calls.parquet --out trips.parquet

      tripcloak trajectories trips out --out released-trips.parquet

      tripcloak trajectories trips checkins.csv --preset foursquare --stay 0 --out trips.parquet
    """
    from tripcloak.trajectories.trips import TripRules, write_trips_of_trajectories

    rules = TripRules(minutes=stay, metres=place, hours=longest)
    source = trajectory_source(inputs, given)
    with progress_on_stderr() as progress:
        made = write_trips_of_trajectories(
            source, out, rules, memory=given["memory"], force=force, progress=progress
        )
    if json:
        print_json(made.to_dict())
        return
    rows = [
        ("trajectories", number(made.trajectories)),
        ("stays", number(made.stays)),
        ("trips", number(made.trips)),
        ("left out: silence too long", number(made.too_long)),
    ]
    show(table("Trips between stays", ("", "number"), rows))
    for note in made.notes:
        show(f"Note: {note}")
