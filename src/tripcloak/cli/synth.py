"""tripcloak synth."""

from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.options import Force
from tripcloak.cli.screen import progress_on_stderr
from tripcloak.ground.errors import OutputExistsError

Out = Annotated[
    Path, typer.Option(metavar="FILE", help="File to write: CSV if its name ends so, else Parquet.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed gives the same rows.")]


def root() -> None:
    """Make seeded data to try things on.

    [bold]Example[/bold]

      tripcloak synth city --out city.parquet

      tripcloak synth survey --out survey.parquet

      tripcloak synth cdr --out cdr.parquet
    """


def city(
    out: Out,
    trips: Annotated[int, typer.Option(metavar="N", help="Number of trips, exactly.")] = 200_000,
    seed: Seed = 1,
    people: Annotated[
        int | None, typer.Option(metavar="N", help="Number of people; one per ten trips if not given.")
    ] = None,
    days: Annotated[int, typer.Option(metavar="N", help="Length of the period in days.")] = 28,
    force: Force = False,
) -> None:
    """Write the trips of a made-up city: homes, work places, repeat trips, hotspots, weights, age, sex.

    [bold]Example[/bold]

      tripcloak synth city --trips 1600000 --seed 1 --out city.parquet
    """
    from tripcloak.synth import City, write_city

    _refuse_if_there(out, force)
    made = City(trips=trips, seed=seed, people=people, days=days)
    with progress_on_stderr() as progress:
        write_city(made, out, progress=lambda done, total: progress("making trips", done, total))


def survey(
    out: Out,
    people: Annotated[int, typer.Option(metavar="N", help="Number of participants.")] = 3300,
    seed: Seed = 1,
    days: Annotated[int, typer.Option(metavar="N", help="Length of the period in days.")] = 7,
    form: Annotated[
        str, typer.Option(metavar="FORM", help="points: GPS points; trips: the trips they are of.")
    ] = "points",
    force: Force = False,
) -> None:
    """Write the GPS points of a made-up survey: a week of each participant, weight, age, sex, category.

    [bold]Example[/bold]

      tripcloak synth survey --people 3300 --seed 7 --out survey.parquet
    """
    from tripcloak.synth import Survey, write_survey

    _refuse_if_there(out, force)
    # What FORM may be is checked by the survey itself.
    made = Survey(people=people, seed=seed, days=days, form=form)  # type: ignore[arg-type]
    with progress_on_stderr() as progress:
        write_survey(made, out, progress=lambda done, total: progress("following participants", done, total))


def cdr(
    out: Out,
    users: Annotated[int, typer.Option(metavar="N", help="Number of users.")] = 1000,
    samples: Annotated[int, typer.Option(metavar="N", help="Calls of a user, on average.")] = 144,
    days: Annotated[int, typer.Option(metavar="N", help="Length of the period in days.")] = 14,
    seed: Seed = 1,
    antennas: Annotated[int, typer.Option(metavar="N", help="Number of antennas.")] = 2000,
    equal: Annotated[
        bool, typer.Option("--equal", metavar="", help="Exactly as many calls for every user.")
    ] = False,
    stations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write the antennas to as well.")
    ] = None,
    positions: Annotated[
        bool,
        typer.Option(
            "--positions/--no-positions", metavar="", help="Positions of antennas in every row, or ids alone."
        ),
    ] = True,
    force: Force = False,
) -> None:
    """Write the calls of made-up phone users: user, time, antenna; nights at home, days at work, bursts.

    [bold]Example[/bold]

      tripcloak synth cdr --users 10000 --seed 1 --out cdr.parquet

      tripcloak synth cdr --no-positions --stations stations.csv --out cdr.csv
    """
    from tripcloak.synth import Cdr, write_cdr

    for file in (out, stations):
        if file is not None:
            _refuse_if_there(file, force)
    made = Cdr(
        users=users,
        samples=samples,
        days=days,
        seed=seed,
        antennas=antennas,
        equal=equal,
        positions=positions,
    )
    with progress_on_stderr() as progress:
        write_cdr(
            made,
            out,
            progress=lambda done, total: progress("following users", done, total),
            stations=stations,
        )


def _refuse_if_there(out: Path, force: bool) -> None:
    if out.exists() and not force:
        raise OutputExistsError(f"{out} is already there; choose another name, or replace it with --force")
