"""tripcloak synth."""

from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.screen import progress_on_stderr
from tripcloak.errors import OutputExistsError

app = typer.Typer(no_args_is_help=True)


@app.callback()
def root() -> None:
    """Make seeded data to try things on.

    [bold]Example[/bold]

      tripcloak synth city --out city.parquet
    """


@app.command("city")
def city(
    out: Annotated[Path, typer.Option(metavar="FILE", help="Parquet file to write.")],
    trips: Annotated[int, typer.Option(help="Number of trips, exactly.")] = 200_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same city.")] = 1,
    people: Annotated[
        int | None, typer.Option(help="Number of people; one per ten trips if not given.")
    ] = None,
    days: Annotated[int, typer.Option(help="Length of the period in days.")] = 28,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is already there.")] = False,
) -> None:
    """Write the trips of a made-up city: homes, work places, repeat trips, hotspots, weights, age, sex.

    [bold]Example[/bold]

      tripcloak synth city --trips 1600000 --seed 1 --out city.parquet
    """
    from tripcloak.synth import City, write_city

    if out.exists() and not force:
        raise OutputExistsError(f"{out} is already there; choose another name, or replace it with --force")
    made = City(trips=trips, seed=seed, people=people, days=days)
    with progress_on_stderr() as progress:
        write_city(made, out, progress=lambda done, total: progress("making trips", done, total))
